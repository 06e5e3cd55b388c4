"""The two ways to compare; this file imports nothing, so that the command line can offer them at once."""

from __future__ import annotations

LOCKED, FREE = "locked", "free"
MODES = (LOCKED, FREE)
"""``locked``: all decide on the same state each time, and only the first one's decisions take effect; ``free``: each goes its own way."""
