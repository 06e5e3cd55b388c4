"""What the commands do: one module a command, imported when it runs, so that its help is quick."""
