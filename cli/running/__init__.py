"""What the commands run, one file a command; imported only when the command runs."""
