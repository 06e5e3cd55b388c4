"""The nodes, pods and namespaces that selectors and owners match, and the topology domains of nodes."""
