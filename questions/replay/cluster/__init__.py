"""The rest of the cluster in a replay: pods that run and end, nodes that fail, controllers that react."""
