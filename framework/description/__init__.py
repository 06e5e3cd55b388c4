"""Releases in words: what each has, and what two of them do differently, of either generation."""
