"""The objects by which replicas agree on a leader."""
