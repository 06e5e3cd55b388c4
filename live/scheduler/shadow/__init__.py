"""Beside the cluster's own scheduler: a decision of our own for each pod that it binds, and why the two
differ."""
