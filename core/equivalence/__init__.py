"""The equivalence cache of releases 1.12 and 1.13, with its gaps. It is not the cache of :mod:`..incremental`."""
