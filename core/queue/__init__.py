"""Which pod is tried next, and how long the others wait."""
