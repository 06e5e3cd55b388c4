"""The live scheduler: it decides, binds, reports and elects a leader."""
