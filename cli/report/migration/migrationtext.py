"""What a check of a migrated Policy found, in text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....simulation.compare.agreement import DIFFERENT
from ....simulation.compare.migration import POLICY, PROFILE
from ..comparison.comparisontext import agreement_lines, cause_table, cause_text, comparison_text, decision_text
from ..prose import wrapped
from ..tables import TextTable

Record = dict[str, Any]


def check_text(record: Record, most: int, width: int | None = None) -> str:
    """The decisions of ``Comparison.record()`` that are different, *most* at most; why they are; and the counts.

    Lines have *width* characters at most.
    """
    (against,) = record["against"]
    causes = TextTable(*cause_table(against)).text(width) if against["causes"] else ""
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


def report_text(record: Record) -> str:
    """The whole check with the notes on the translation and the trials of its deviations, as ``--report FILE.txt`` has it."""
    migration = record["migration"]
    notes = [f"{told['subject']}: {told['text']}" for told in migration["notes"]]
    headers = ["deviation", "same", "among the best", "different", "refused"]
    rows: list[list[object]] = [["this translation", *_counts(record["against"][0]["agreement"]), None]]
    rows += [[f"without {trial['name']}", *_counts(trial["agreement"]), trial["refused"] or None] for trial in migration["trials"]]
    trials = TextTable(headers, rows).text(None) if migration["trials"] else ""
    return "\n\n".join(part for part in (comparison_text(record), "\n".join(notes), trials) if part)


def _counts(agreement: Record | None) -> list[object]:
    return [None if agreement is None else agreement[key] for key in ("same", "amongBest", "different")]
