"""Which nodes, pods and namespaces match selectors and owners, and which topology domains nodes are in."""
