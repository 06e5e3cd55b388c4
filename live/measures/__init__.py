"""Metrics: which there are, and how they are written."""
