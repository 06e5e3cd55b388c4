"""Drain: the nodes that can go, with every pod evicted as ``kubectl drain`` does it and placed elsewhere."""
