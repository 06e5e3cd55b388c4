"""What is to be known of a Policy that became a profile."""

from __future__ import annotations

import attrs

from .deviations import Deviation


@attrs.frozen
class Note:
    """One thing without an exact equal, and what was done instead."""

    subject: str
    """A predicate, a priority, a plugin, or a field of the Policy."""
    text: str
    deviation: Deviation | None = None
    """Where upstream's own translation treats it otherwise."""

    def __str__(self) -> str:
        if self.deviation is None:
            return f"{self.subject}: {self.text}"
        return f"{self.subject}: {self.text} ({self.deviation.name}: upstream's translation {self.deviation.upstream})"
