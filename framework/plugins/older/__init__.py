"""Plugins that the first releases of the framework have, up to 1.22, and later ones lack."""
