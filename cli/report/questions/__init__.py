"""What the answers about capacity look like: which nodes can go, which to add, what would help a pod."""
