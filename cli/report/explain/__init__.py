"""What an explanation looks like: the whole of it, and one node in full."""
