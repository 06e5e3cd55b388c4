"""Which nodes, pods and namespaces selectors and owners mean, and which topology domains nodes are in."""
