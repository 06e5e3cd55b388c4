"""The state of the cluster: the cache of nodes and pods, the visiting order, the snapshot, listings and nominations."""
