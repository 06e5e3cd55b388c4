"""A command's process: the standard streams, files that it writes, signals and its end."""
