"""From a Policy to a profile."""
