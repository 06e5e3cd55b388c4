"""Capacity: how many more copies of a pod fit, where they go, and what stops the next one. ``counting``
places them one by one."""
