"""What the API server and the controllers make of manifests: defaults, admission, the pods of workloads."""
