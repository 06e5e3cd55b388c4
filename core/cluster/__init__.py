"""The cluster as the scheduler knows it: the cache of nodes and pods, the visiting order, the snapshot,
listings and nominations."""
