"""Requests to an API server: kubeconfig, transport, verbs."""
