"""What a live scheduler is started with, and in what the releases differ there."""
