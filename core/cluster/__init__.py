"""What a scheduler knows of its cluster: the cache of nodes and pods, the visiting order, the snapshot, listings, nominations."""
