"""Questions: the commands as functions that are called from Python, one folder each, all of them names of
``kubeclassic``."""
