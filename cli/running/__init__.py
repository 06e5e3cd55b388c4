"""What the commands run: imported when a command is called, so that ``--help`` needs none of it."""
