"""What runs under a Policy or a configuration."""
