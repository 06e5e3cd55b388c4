"""Runs ``kubeclassic releases``."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ...api.record import DocumentRecord
from ...framework.description.describe import ReleaseList, describe_any, diff_any, summaries
from ..answering import write_answer
from ..report.releasetables import description_lines, diff_lines, list_lines
from ..report.tables import width_of


def run(release: str | None, pair: tuple[str, str] | None, *, all_gates: bool, form: str) -> None:
    """Write the list of releases, *release*, or what the two of *pair* do differently, in *form*, to standard output."""
    width = width_of(sys.stdout)
    if pair is not None:
        found = diff_any(*pair, all_gates=all_gates)
        _write(form, found, diff_lines(found, width))
    elif release is not None:
        described = describe_any(release, all_gates=all_gates)
        _write(form, described, description_lines(described, width))
    else:
        listed = ReleaseList(summaries())
        _write(form, listed, list_lines(listed.releases, width))


def _write(form: str, answer: DocumentRecord, lines: Iterable[str]) -> None:
    if form == "table":
        sys.stdout.writelines(f"{line}\n" for line in lines)
    else:
        write_answer(form, answer, sys.stdout)
