"""The scheduling framework, which followed the predicates and priorities: plugins in profiles, on the same columns."""
