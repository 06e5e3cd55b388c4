"""What a check of a migrated Policy found, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...simulation.compare.agreement import DIFFERENT
from ...simulation.compare.migration import POLICY, PROFILE
from .comparison.text import agreement_lines, cause_table, cause_text, decision_text
from .prose import wrapped
from .tables import Table

Record = dict[str, Any]


def check_text(record: Record, most: int, width: int | None = None) -> str:
    """The decisions of ``Comparison.record()`` that are different, *most* at most; why they are; and the counts.

    Lines have *width* characters at most.
    """
    (against,) = record["against"]
    causes = Table(*cause_table(against)).text(width) if against["causes"] else ""
    different, counts = (wrapped(lines, width, "  ") for lines in (_different(record, most), agreement_lines(against)))
    parts = ["\n".join(different), causes, "\n".join(counts)]
    return "\n\n".join(part for part in parts if part)


def _different(record: Record, most: int) -> Iterator[str]:
    found = [difference for difference in record["differences"] if difference["causes"][PROFILE]["verdict"] == DIFFERENT]
    for difference in found[:most]:
        before, after = (decision_text(difference["decisions"][name]) for name in (POLICY, PROFILE))
        yield f"{DIFFERENT}: {difference['pod']}: {before} before, {after} with the profile: {cause_text(difference['causes'][PROFILE])}"
    if len(found) > most:
        yield f"{len(found) - most} more are different; --report FILE has all, with both tables"
