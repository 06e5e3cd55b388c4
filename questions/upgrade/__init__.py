"""The same pods through every release on the way of an upgrade: which one moves which pod, and by which
fact."""
