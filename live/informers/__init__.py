"""List and watch: the objects of an API server as they are now."""
