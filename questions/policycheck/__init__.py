"""Policy check: the rules under a Policy or a configuration."""
