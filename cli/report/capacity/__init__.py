"""How many more fit, for people."""
