"""A scheduler that others ask over HTTP."""
