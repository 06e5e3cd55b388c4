"""What is to be known of a Policy that became a profile."""

from __future__ import annotations

import attrs


@attrs.frozen
class Note:
    """One thing without an exact equal, and what was done instead."""

    subject: str
    """A predicate, a priority, a plugin, or a field of the Policy."""
    text: str
    upstream: str = ""
    """How upstream's own translation treats it otherwise; empty where it does the same."""

    def __str__(self) -> str:
        deviation = f" (upstream's translation {self.upstream})" if self.upstream else ""
        return f"{self.subject}: {self.text}{deviation}"
