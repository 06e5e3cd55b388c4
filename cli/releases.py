"""``kubeclassic releases``: the releases, one release, or the differences of two."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from .declaring.commands import command
from .report.tables import GAP, TextTable, width_of, wrapped

if TYPE_CHECKING:
    from ..api.record import DocumentRecord
    from ..framework.describe import ClassicRelease, PluginRelease, ReleaseDiff, ReleaseSummary
    from ..framework.facts.facttable import ReleaseFact


def list_lines(summaries: Sequence[ReleaseSummary], width: int | None) -> Iterator[str]:
    """One line a release, and what other patch levels decide otherwise."""
    taken = {"plugins": "with a profile", "predicates and priorities": "yes"}
    rows = [
        [found.release, found.like, found.runs, taken[found.runs] if found.is_default else "-"]
        for found in summaries
    ]
    yield from list(_listed(["release", "patch level", "runs", "default"], rows, width))[1:]
    if told := [f"{found.other_patches}." for found in summaries if found.other_patches]:
        yield from ["", *wrapped(told, width)]


def description_lines(found: ClassicRelease | PluginRelease, width: int | None) -> Iterator[str]:
    """One release: rules or plugins in running order, gates, and its facts."""
    from ..framework.describe import plugin_in_words

    other = f" {found.other_patches}." if found.other_patches else ""
    yield from wrapped([f"Release {found.release} (as {found.like}) runs {found.runs}.{other}"], width)
    if found.runs == "plugins":
        plugins = [
            [name, plugin_in_words(plugin), ", ".join(plugin.points)]
            for name, plugin in found.plugins.items()
        ]
        yield from _listed(["plugins", "runs", "extension points"], plugins, width)
    else:
        yield from _listed(["predicates", "in running order"], [*found.predicates.items()], width)
        yield from _listed(["priorities", "runs"], [*found.priorities.items()], width)
    yield from _listed(["gates", "default"], [*found.gates.items()], width)
    yield from _facts(found.facts, width)


def _facts(facts: Sequence[ReleaseFact], width: int | None) -> Iterator[str]:
    """What releases do otherwise, a line each, by release."""
    entries = list[Entry]()
    for fact in facts:
        more = [f"a bug, which {fact.fixed} took back"] if fact.fixed else []
        entries.append((f"what {fact.release} does differently", f"{fact.rule}: {fact.sentence}", more))
    return _entries(entries, width)


# --- two releases -------------------------------------------------------------------------------------------


def diff_lines(found: ReleaseDiff, width: int | None) -> Iterator[str]:
    """What two releases do differently, by subject."""
    from ..framework.describe import SAME

    if not (found.differences or found.successors or found.facts):
        yield f"{found.before} and {found.after} are the same"
        return
    older, newer = (found.after, found.before) if found.is_backwards else (found.before, found.after)
    told = f"What {found.after} does differently from {found.before}:"
    if found.successors:
        took = "What took the place of each rule, and what is different:"
        told = f"{older} runs predicates and priorities, {newer} runs plugins. {took}"
    yield from wrapped([told], width)
    entries = list[Entry]()
    for one in found.successors:
        plugins = ", ".join(f"{plugin.plugin} ({', '.join(plugin.points)})" for plugin in one.plugins)
        if one.rule is None:
            entries.append(("plugins without such a rule", plugins, [one.words]))
            continue
        lines = [f"{newer}: {plugins}, {one.after}", one.words] if plugins else [f"{newer}: {one.words}"]
        more = [f"{older}: {one.before}", *(line for line in lines if line != SAME)]
        entries.append((HEADINGS[one.kind], one.rule, more))
    yield from _entries(entries, width)
    for about in ("predicates", "priorities", "plugins", "gates"):
        if items := [item for item in found.differences if item.about == about]:
            rows = [[item.what, item.before or "-", item.after or "-", item.words or "-"] for item in items]
            count = 4 if any(item.words for item in items) else 3
            headers = [about, found.before, found.after, "what"]
            yield from _listed(headers[:count], [row[:count] for row in rows], width)
    yield from _facts(found.facts, width)


Entry = tuple[str, str, Sequence[str]]
"""What it is about, its first line, and further lines."""
HEADINGS: Mapping[str, str] = {
    "predicate": "predicates",
    "priority": "priorities",
    "priority argument": "priorities of a Policy's own",
}


def _listed(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """A table if it fits, else a line for each row: a pair on one line, else each further cell with its
    header below."""
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    if width is None or sum(widths) + len(GAP) * (len(widths) - 1) <= width:
        yield from ["", *TextTable(headers, rows).lines()]
    elif len(headers) == 2:
        yield from _entries([(headers[0], f"{name}: {cell}", ()) for name, cell in rows], width)
    else:
        told = (
            (name, [f"{header}: {cell}" for header, cell in zip(headers[1:], cells, strict=True)])
            for name, *cells in rows
        )
        yield from _entries([(headers[0], name, more) for name, more in told], width)


def _entries(entries: Iterable[Entry], width: int | None) -> Iterator[str]:
    """Entries under a heading for each subject."""
    subjects: dict[str, list[str]] = {}
    for about, first, more in entries:
        subjects.setdefault(about, []).extend([f"  {first}", *(f"      {line}" for line in more)])
    for about, lines in subjects.items():
        yield from ["", about.upper(), *wrapped(lines, width)]


@command(short_help="What the releases are, and how two of them differ.")
@click.argument("release", required=False)
@click.option(
    "--diff", "pair", nargs=2, metavar="A B", help="What release B does differently from release A."
)
@click.option("--all-gates", is_flag=True, help="Show gates that no decision depends on, too.")
@click.option("-o", "form", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True)
def releases(release: str | None, pair: tuple[str, str] | None, all_gates: bool, form: str) -> None:
    """List the releases, or describe RELEASE: its predicates and priorities or its plugins in running order,
    gates, behaviour.

    With --diff: what two releases do differently. Between one with predicates and priorities and one with
    plugins: what took the place of what, at which extension points, and what became different in arithmetic,
    messages and defaults.

    \b
    kubeclassic releases 1.16
    kubeclassic releases --diff 1.15 1.16
    kubeclassic releases --diff 1.16 1.36
    kubeclassic releases --diff 1.27 1.36
    """
    if pair and release:
        raise click.UsageError("expected RELEASE or --diff, got both")
    from ..framework.describe import ReleaseList, describe_any, diff_any, summaries
    from .answering import write_answer

    width = width_of(sys.stdout)
    found: DocumentRecord
    if pair:
        found = diff = diff_any(*pair, all_gates=all_gates)
        lines = diff_lines(diff, width)
    elif release is not None:
        found = one = describe_any(release, all_gates=all_gates)
        lines = description_lines(one, width)
    else:
        found = listed = ReleaseList(summaries())
        lines = list_lines(listed.releases, width)
    if form == "table":
        sys.stdout.writelines(f"{line}\n" for line in lines)
    else:
        write_answer(form, found, sys.stdout)
