"""Simulations of a cluster, explanations, edits, comparisons of two sides, and conformance cases."""
