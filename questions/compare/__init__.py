"""Two or more schedulers on the same pods: where they differ, and why."""
