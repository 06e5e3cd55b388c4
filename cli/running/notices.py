"""Warnings about the input, in the one form that all commands print."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable

from ...api.reading.notices import Notice, in_groups
from ..console.output import note, one_line

LABEL = "warning: "
NARROWEST = 40
"""Columns below which lines are not broken."""


def tell_notices(notices: Iterable[Notice], verbose: bool = False) -> None:
    """Print *notices* on standard error: one line for all that say the same, with their number; if *verbose*, a line for each.

    On a terminal lines are broken between words, so that they fit.
    """
    found = list(notices)
    lines = [str(notice) for notice in found] if verbose else in_groups(found)
    for line in lines:
        note(_fitted(LABEL + one_line(line)))
    if len(lines) < len(found):
        note(f"(--verbose lists all {len(found):,} warnings)")


def _fitted(line: str) -> str:
    columns = shutil.get_terminal_size().columns
    if not sys.stderr.isatty() or columns < NARROWEST:
        return line
    return textwrap.fill(line, columns, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
