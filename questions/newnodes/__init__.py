"""New nodes for pods that wait: the fewest, or the cheapest mix, found by simulation."""
