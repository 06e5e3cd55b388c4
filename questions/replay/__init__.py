"""What would have happened: a cluster and its scheduler on a virtual clock."""
