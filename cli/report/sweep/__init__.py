"""Sweeps for people: tables and a page."""
