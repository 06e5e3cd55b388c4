"""A comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ....api.view import Table
from ....questions.compare import CompareResult
from ....questions.comparisonview import against_line, agreement_lines, headline, hints, left_out, meaning_lines, verdict
from ..tables import shown


def comparison_markdown(found: CompareResult) -> str:
    """The tables of ``-o table`` in Markdown."""
    return "\n\n".join(_parts(found)) + "\n"


def _parts(found: CompareResult) -> Iterator[str]:
    document, view = found.document, found.view()
    yield "# " + " and ".join(one.name for one in document.configurations)
    yield "\n".join(map(_quiet, headline(document, verdict(document))))
    yield "\n".join(f"* **{_quiet(one.name)}**: {_quiet(one.text or one.release)}" for one in document.configurations)
    yield "## Pods\n\n" + _table(view.table("counts"))
    for against in document.against:
        yield f"## {against.second} against {against.first}"
        yield _bullets([against_line(against), *agreement_lines(against), *hints(against)])
        if against.causes:
            yield _table(view.table(f"causes-{against.second}"))
        yield _table(view.table(f"correlation-{against.second}"))
    yield "## Use in the end\n\n" + _table(view.table("use"))
    yield _bullets(line.strip("()") for line in meaning_lines(document))
    if view.table("differences").rows:
        yield "## Decisions that differ\n\n" + _table(view.table("differences"))
    yield from map(_quiet, left_out(document, found.show))


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"* {_quiet(line.strip())}" for line in lines)


def _table(table: Table) -> str:
    return markdown_table([column.title for column in table.columns], table.rows)


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
    """*text* with the characters escaped that are marks in Markdown."""
    return "".join(f"\\{letter}" if letter in "\\`*_|<>[]" else letter for letter in text)
