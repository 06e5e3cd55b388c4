"""Replay: a cluster and its scheduler on a virtual clock."""
