"""What a command has to do with the process: the standard streams, files that it writes, signals and how it
ends."""
