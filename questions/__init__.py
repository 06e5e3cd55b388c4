"""What the commands do, as functions that are called from Python: one file each, all of them names of
``kubeclassic``."""
