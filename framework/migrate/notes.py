"""Notes on the translation of a Policy, for the user to read."""

from __future__ import annotations

import attrs

from .deviations import Deviation


@attrs.frozen
class Note:
    """One part of a Policy without an exact equivalent, and what replaces it."""

    subject: str
    """A predicate, a priority, a plugin, or a field of the Policy."""
    text: str
    deviation: Deviation | None = None
    """Set if upstream's own translation treats it differently."""

    def __str__(self) -> str:
        if self.deviation is None:
            return f"{self.subject}: {self.text}"
        return f"{self.subject}: {self.text} ({self.deviation.name}: upstream's translation {self.deviation.upstream})"
