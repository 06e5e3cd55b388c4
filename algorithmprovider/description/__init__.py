"""Releases with predicates and priorities in words."""
