"""A comparison for other programs to take in: a line of CSV for each decision that differs, and tables in Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from ..text import shown
from .comparisontext import (
    against_line,
    agreement_lines,
    cause_table,
    correlation_table,
    count_table,
    difference_table,
    headline,
    hints,
    left_out,
    meaning_lines,
    use_table,
)

Record = dict[str, Any]
COLUMNS = (
    "cycle", "pod", "retry", "first", "second", "firstHost", "secondHost", "firstRoomOn", "secondRoomOn",
    "verdict", "kind", "rule", "side", "node", "text",
)  # fmt: skip
"""Of the CSV: names as in ``-o json``. A node that is None there is empty."""


def comparison_csv(record: Record) -> str:
    """A line for each decision in which a configuration differs from the first one, under a line of names."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_lines(record))
    return stream.getvalue()


def _lines(record: Record) -> Iterator[Record]:
    first = record["configurations"][0]["name"]
    for found in record["differences"]:
        ours = found["decisions"][first]
        for second, cause in found["causes"].items():
            theirs = found["decisions"][second]
            where = {"cycle": found["cycle"], "pod": found["pod"], "retry": str(found["retry"]).lower(), "first": first, "second": second}
            hosts = {"firstHost": ours["host"], "secondHost": theirs["host"]}
            yield {**where, **hosts, "firstRoomOn": ours["roomOn"], "secondRoomOn": theirs["roomOn"], **cause}


# --- Markdown -------------------------------------------------------------------------------------------------------


def comparison_markdown(record: Record, most: int | None = None) -> str:
    """The tables of ``-o table`` in Markdown; of the decisions that differ *most* at most, None for all."""
    return "\n\n".join(_parts(record, most))


def _parts(record: Record, most: int | None) -> Iterator[str]:
    yield "# " + " and ".join(c["name"] for c in record["configurations"])
    yield "\n".join(_quiet(line) for line in headline(record))
    yield "\n".join(f"* **{_quiet(c['name'])}**: {_quiet(c['text'] or c['release'])}" for c in record["configurations"])
    yield "## Pods\n\n" + markdown_table(*count_table(record))
    for against in record["against"]:
        yield f"## {against['second']} against {against['first']}"
        yield "\n".join(f"* {_quiet(line.strip())}" for line in (against_line(against), *agreement_lines(against), *hints(against)))
        if against["causes"]:
            yield markdown_table(*cause_table(against))
        yield markdown_table(*correlation_table(against))
    yield "## Use in the end\n\n" + markdown_table(*use_table(record))
    yield "\n".join(f"* {_quiet(line.strip('()'))}" for line in meaning_lines(record))
    if record["differences"] and most != 0:
        yield "## Decisions that differ\n\n" + markdown_table(*difference_table(record, most))
    yield from map(_quiet, left_out(record, most))


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown.

    >>> print(markdown_table(["pod", "why"], [["a", "x|y"], ["b", None]]))
    | pod | why |
    |---|---|
    | a | x\\|y |
    | b | - |
    """
    lines = [f"| {' | '.join(_quiet(shown(cell)) for cell in row)} |" for row in (headers, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(headers), *lines[1:]])


def _quiet(text: str) -> str:
    """*text* with what Markdown would take for its own marks as it stands."""
    return "".join(f"\\{letter}" if letter in "\\`*_|<>[]" else letter for letter in text)
