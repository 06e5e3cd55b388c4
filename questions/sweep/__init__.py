"""Many configurations, one table: a grid of runs, what each comes to, and a search for the best weights."""
