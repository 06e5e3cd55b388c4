"""What would help: the smallest single changes after which a pod fits, or after which another node is its
host, each of them tried."""
