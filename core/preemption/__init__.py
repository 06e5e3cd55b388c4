"""Who has to leave so that a pod that fits nowhere fits somewhere."""
