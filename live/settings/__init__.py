"""The table of a live scheduler's flags."""
