"""The default plugins, one module a subject."""
