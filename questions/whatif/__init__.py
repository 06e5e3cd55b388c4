"""The smallest single changes after which a pod fits, or another node is its host; each of them is tried."""
