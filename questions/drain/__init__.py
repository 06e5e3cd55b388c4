"""Which nodes can go: every pod on them is evicted as ``kubectl drain`` does it, and placed elsewhere as its
controller makes it again."""
