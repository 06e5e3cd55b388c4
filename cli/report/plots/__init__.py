"""Pictures that ``--plot`` writes, drawn by matplotlib (the extra ``plot``)."""
