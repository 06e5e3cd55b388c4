"""HTTP extenders as a client calls them."""
