"""The releases of the framework as tables: in which cells each differs from its neighbour."""
