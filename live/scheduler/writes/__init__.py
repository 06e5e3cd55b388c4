"""What the live scheduler writes to the API server: the requests and their bodies."""
