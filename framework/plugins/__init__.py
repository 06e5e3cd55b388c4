"""The default plugins, one module for each subject, as in upstream's pkg/scheduler/framework/plugins."""
