"""Manifests as the API server and the controllers complete them: defaults, admission, the pods of
workloads."""
