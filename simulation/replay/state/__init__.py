"""The state of a replay as plain data, and back: a checkpoint is data, and reading it runs nothing that it names."""
