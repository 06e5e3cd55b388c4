"""Explanations of decisions as values, of which the command line makes tables and JSON."""
