"""What the commands run: imported when a command runs, so that help texts come fast."""
