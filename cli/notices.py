"""Warnings about the input, in the one form that all commands print."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import IO

from ..api.reading.notices import Notice, in_groups, unread_sentences
from ..api.words import count_of
from .console.output import note, one_line
from .report.tables import width_of, wrapped

LABEL = "warning: "
NARROWEST = 40
"""Columns below which lines are not broken."""


def tell_notices(notices: Iterable[Notice], verbose: bool = False, concerns: Collection[str] | None = None) -> None:
    """Print *notices* on standard error: one line for all that say the same, with their number; if *verbose*, a line for each.

    *concerns*: the objects that were asked about, kind and key; of those about others that are in a namespace, only the number is told.
    On a terminal lines are broken between words, so that they fit.
    """
    found = list(notices)
    told = found if concerns is None or verbose else [notice for notice in found if notice.bears_on(concerns)]
    lines = [str(notice) for notice in found] if verbose else in_groups(told)
    for line in lines:
        tell_line(LABEL + one_line(line))
    if len(lines) < len(found):
        count, others = count_of(len(found), "warning"), len(found) - len(told)
        some = f", {others:,} of them about other objects" if others else ""
        note(f"(--verbose lists all {count}{some})" if told else f"({count} about other objects: see --verbose)")


def tell_unread(notices: Iterable[Notice]) -> None:
    """Say on standard error, with the outcome, what does not count in it."""
    for text in unread_sentences(notices):
        tell_line(f"{one_line(text)}.")


def write_unread(notices: Iterable[Notice], stream: IO[str], width: int | None) -> None:
    """Write what does not count in an answer at the end of its text, after an empty line; lines have at most *width* characters."""
    found = [f"{text}." for text in unread_sentences(notices)]
    if found:
        stream.writelines(f"{line}\n" for line in ("", *wrapped(found, width, "  ")))


def tell_line(line: str) -> None:
    """Print *line* on standard error; on a terminal it is broken between words, so that it fits."""
    width = width_of(sys.stderr)
    for part in wrapped([line], width if width and width >= NARROWEST else None, "  "):
        note(part)
