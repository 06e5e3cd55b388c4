"""The page of a replay: what happened over time, how long pods waited, and what was lost."""
