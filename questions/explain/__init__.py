"""Explain: why a pod has its node, or none, and what would help."""
