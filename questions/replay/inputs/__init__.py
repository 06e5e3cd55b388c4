"""Inputs of a replay: manifests, recordings, published traces and scenarios."""
