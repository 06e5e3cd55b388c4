"""Settings of a live scheduler, and the differences between releases there."""
