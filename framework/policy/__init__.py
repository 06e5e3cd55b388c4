"""Policies in the releases that make a profile of plugins of them."""
