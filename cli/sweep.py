"""How ``kubeclassic sweep`` prints: what ran, and what is odd in the input, on standard error."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .answering import answer
from .console.output import note

if TYPE_CHECKING:
    from .commands import Asking


def answered(asking: Asking) -> int:
    """Sweep, and print; the exit status."""
    found = asking.answer()
    status = answer(found, asking.output, partial(asking.about, found), unread=False)
    note(found.summary)
    for group in found.warnings:
        note(f"{group.text}." if group.is_unread else f"warning: {group}")
    return status
