"""Runs ``kubeclassic releases``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ...framework.description.describe import describe_any, diff_any, summaries
from ..report.releases import description_lines, diff_lines, list_lines
from ..report.tables import width_of
from .documents import write_document


def run(release: str | None, pair: tuple[str, str] | None, *, all_gates: bool, form: str) -> None:
    """Write the list of releases, *release*, or what the two of *pair* do differently, in *form*, to standard output."""
    width = width_of(sys.stdout)
    if pair is not None:
        found = diff_any(*pair, all_gates=all_gates)
        _write(form, "ReleaseDiff", found.record(), diff_lines(found, width))
    elif release is not None:
        record = describe_any(release, all_gates=all_gates)
        _write(form, "Release", record, description_lines(record, width))
    else:
        listed = summaries()
        _write(form, "ReleaseList", {"releases": [summary.record() for summary in listed]}, list_lines(listed, width))


def _write(form: str, kind: str, record: dict[str, Any], lines: Iterable[str]) -> None:
    if form == "table":
        sys.stdout.writelines(f"{line}\n" for line in lines)
    else:
        write_document(form, kind, record, sys.stdout)
