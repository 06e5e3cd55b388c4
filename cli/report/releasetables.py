"""Releases for people: a list of them, one release, or what two of them do differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...framework.describe import SAME, ClassicRelease, PluginRelease, ReleaseDiff, ReleaseSummary, Successor, plugin_in_words
from ...framework.facts.facttable import ReleaseFact
from .tables import GAP, TextTable, wrapped


def list_lines(summaries: Sequence[ReleaseSummary], width: int | None) -> Iterator[str]:
    """One line a release, and what other patch levels decide otherwise."""
    taken = {"plugins": "with a profile", "predicates and priorities": "yes"}
    rows = [[found.release, found.like, found.runs, taken[found.runs] if found.is_default else "-"] for found in summaries]
    yield from list(_listed(["release", "patch level", "runs", "default"], rows, width))[1:]
    if told := [f"{found.other_patches}." for found in summaries if found.other_patches]:
        yield from ["", *wrapped(told, width)]


def description_lines(found: ClassicRelease | PluginRelease, width: int | None) -> Iterator[str]:
    """One release: rules or plugins in running order, gates, and its facts."""
    other = f" {found.other_patches}." if found.other_patches else ""
    yield from wrapped([f"Release {found.release} (as {found.like}) runs {found.runs}.{other}"], width)
    if isinstance(found, PluginRelease):
        plugins = [[name, plugin_in_words(plugin), ", ".join(plugin.points)] for name, plugin in found.plugins.items()]
        yield from _listed(["plugins", "runs", "extension points"], plugins, width)
    else:
        yield from _listed(["predicates", "in running order"], [*map(list, found.predicates.items())], width)
        yield from _listed(["priorities", "runs"], [*map(list, found.priorities.items())], width)
    yield from _listed(["gates", "default"], [*map(list, found.gates.items())], width)
    yield from _facts(found.facts, width)


def _facts(facts: Sequence[ReleaseFact], width: int | None) -> Iterator[str]:
    """What releases do otherwise, a line each, by release."""
    entries = (
        (
            f"what {fact.release} does differently",
            f"{fact.rule}: {fact.sentence}",
            [f"a bug, which {fact.fixed} took back"] if fact.fixed else [],
        )
        for fact in facts
    )
    yield from _entries(entries, width)


# --- two releases ---------------------------------------------------------------------------------------------------


def diff_lines(found: ReleaseDiff, width: int | None) -> Iterator[str]:
    """What two releases do differently, by subject."""
    if not (found.differences or found.successors or found.facts):
        yield f"{found.before} and {found.after} are the same"
        return
    if found.successors:
        pair = (found.after, found.before) if found.is_backwards else (found.before, found.after)
        told = "{} runs predicates and priorities, {} runs plugins. What took the place of each rule, and what is different:"
        yield from wrapped([told.format(*pair)], width)
        yield from _entries((_successor_entry(successor, pair) for successor in found.successors), width)
    else:
        yield from wrapped([f"What {found.after} does differently from {found.before}:"], width)
    for about in ("predicates", "priorities", "plugins", "gates"):
        if items := [item for item in found.differences if item.about == about]:
            rows = [[item.what, item.before or "-", item.after or "-", item.words or "-"] for item in items]
            told_of = 4 if any(item.words for item in items) else 3
            headers = [about, found.before, found.after, "what"]
            yield from _listed(headers[:told_of], [row[:told_of] for row in rows], width)
    yield from _facts(found.facts, width)


Entry = tuple[str, str, Sequence[str]]
"""What it is about, its first line, and further lines."""
HEADINGS: Mapping[str, str] = {"predicate": "predicates", "priority": "priorities", "priority argument": "priorities of a Policy's own"}


def _listed(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """A table if it fits, else a line for each row."""
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    if width is None or sum(widths) + len(GAP) * (len(widths) - 1) <= width:
        yield from ["", *TextTable(headers, rows).lines()]
    else:
        yield from _entries((_row_entry(headers, row) for row in rows), width)


def _row_entry(headers: Sequence[str], row: Sequence[str]) -> Entry:
    """A row as an entry: a pair on one line, else each further cell with its header below."""
    name, *cells = row
    if len(cells) == 1:
        return headers[0], f"{name}: {cells[0]}", ()
    return headers[0], name, [f"{header}: {cell}" for header, cell in zip(headers[1:], cells, strict=True)]


def _entries(entries: Iterable[Entry], width: int | None) -> Iterator[str]:
    """Entries under a heading for each subject."""
    subjects: dict[str, list[str]] = {}
    for about, first, more in entries:
        subjects.setdefault(about, []).extend([f"  {first}", *(f"      {line}" for line in more)])
    for about, lines in subjects.items():
        yield from ["", about.upper(), *wrapped(lines, width)]


def _successor_entry(successor: Successor, pair: tuple[str, str]) -> Entry:
    plugins = ", ".join(f"{one.plugin} ({', '.join(one.points)})" for one in successor.plugins)
    if successor.rule is None:
        return "plugins without such a rule", plugins, [successor.words]
    older, newer = (f"{name}: " for name in pair)
    told = [f"{newer}{plugins}, {successor.after}", successor.words] if plugins else [f"{newer}{successor.words}"]
    return HEADINGS[successor.kind], successor.rule, [f"{older}{successor.before}", *(line for line in told if line != SAME)]
