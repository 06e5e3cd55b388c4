"""Simulate: the nodes of the pods that wait."""
