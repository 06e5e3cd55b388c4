"""Recorded decisions of original schedulers, compared with ours."""
