"""How fast the scheduler is."""
