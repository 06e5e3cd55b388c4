"""A Policy as the profile that decides like it, and the check on a cluster."""
