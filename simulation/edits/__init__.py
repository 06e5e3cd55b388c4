"""Edits of a cluster in words, for what-ifs without touching files: ``pod web/* requests.cpu=500m``."""
