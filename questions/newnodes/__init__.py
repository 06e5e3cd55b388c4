"""Which new nodes are needed so that pods that wait are placed: the fewest, or the cheapest mix, proven by
simulation."""
