"""``releases``: the releases, one release, or the differences of two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...framework.describe import (
    SAME,
    ClassicRelease,
    PluginRelease,
    ReleaseDiff,
    ReleaseList,
    plugin_in_words,
)
from ...framework.releases import ReleaseFact
from .tables import GAP, TextTable, wrapped

Blocks = dict[tuple[str, ...], list[Sequence[str]]]
"""Headers -> rows of a table. With one header a row is a line, and the lines below it."""
HEADINGS = {
    "predicate": "predicates",
    "priority": "priorities",
    "priority argument": "priorities of a Policy's own",
}


def described(found: ClassicRelease | PluginRelease, width: int | None) -> Iterator[str]:
    """One release: rules or plugins in running order, gates, and its facts."""
    blocks: Blocks = {}
    if found.runs == "plugins":
        blocks["plugins", "runs", "extension points"] = [
            [name, plugin_in_words(plugin), ", ".join(plugin.points)]
            for name, plugin in found.plugins.items()
        ]
    else:
        blocks["predicates", "in running order"] = [*found.predicates.items()]
        blocks["priorities", "runs"] = [*found.priorities.items()]
    blocks["gates", "default"] = [*found.gates.items()]
    add_facts(blocks, found.facts)
    other = f" {found.other_patches}." if found.other_patches else ""
    yield from wrapped([f"Release {found.release} (as {found.like}) runs {found.runs}.{other}"], width)
    yield from lines_of(blocks, width)


def add_facts(blocks: Blocks, facts: Sequence[ReleaseFact]) -> None:
    """Add what releases do otherwise, a line each, by release."""
    for fact in facts:
        more = [f"a bug, which {fact.fixed} took back"] if fact.fixed else []
        lines = blocks.setdefault((f"what {fact.release} does differently",), [])
        lines.append([f"{fact.rule}: {fact.sentence}", *more])


def differing(found: ReleaseDiff, width: int | None) -> Iterator[str]:
    """The differences of two releases, by subject."""
    blocks: Blocks = {}
    older, newer = (found.after, found.before) if found.is_backwards else (found.before, found.after)
    told = f"What {found.after} does differently from {found.before}:"
    if not (found.differences or found.successors or found.facts):
        told = f"{found.before} and {found.after} are the same"
    if found.successors:
        took = "What took the place of each rule, and what is different:"
        told = f"{older} runs predicates and priorities, {newer} runs plugins. {took}"
    for one in found.successors:
        plugins = ", ".join(f"{plugin.plugin} ({', '.join(plugin.points)})" for plugin in one.plugins)
        if one.rule is None:
            blocks.setdefault(("plugins without such a rule",), []).append([plugins, one.words])
            continue
        lines = [f"{newer}: {plugins}, {one.after}", one.words] if plugins else [f"{newer}: {one.words}"]
        more = [f"{older}: {one.before}", *(line for line in lines if line != SAME)]
        blocks.setdefault((HEADINGS[one.kind],), []).append([one.rule, *more])
    for about in ("predicates", "priorities", "plugins", "gates"):
        if items := [item for item in found.differences if item.about == about]:
            rows = [[item.what, item.before or "-", item.after or "-", item.words or "-"] for item in items]
            count = 4 if any(item.words for item in items) else 3
            headers = (about, found.before, found.after, "what")
            blocks[headers[:count]] = [row[:count] for row in rows]
    add_facts(blocks, found.facts)
    yield from wrapped([told], width)
    yield from lines_of(blocks, width)


def lines_of(blocks: Blocks, width: int | None) -> Iterator[str]:
    """Tables where they fit, else a line for each row: a pair on one line, else each further cell below with
    its header."""
    for headers, rows in blocks.items():
        yield ""
        if len(headers) > 1:
            widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
            if width is None or sum(widths) + len(GAP) * (len(widths) - 1) <= width:
                yield from TextTable(headers, rows).lines()
                continue
        lines = list[str]()
        for first, *more in rows:
            if len(headers) == 2:
                lines.append(f"  {first}: {more[0]}")
                continue
            if len(headers) > 2:
                more = [f"{header}: {cell}" for header, cell in zip(headers[1:], more, strict=True)]
            lines += [f"  {first}", *(f"      {line}" for line in more)]
        yield from [headers[0].upper(), *wrapped(lines, width)]


def of_all(found: ReleaseList, width: int | None) -> Iterator[str]:
    """The releases, a line each, and the patch levels that decide otherwise."""
    taken = {"plugins": "with a profile", "predicates and priorities": "yes"}
    rows: list[Sequence[str]] = [
        [one.release, one.like, one.runs, taken[one.runs] if one.is_default else "-"]
        for one in found.releases
    ]
    _, *lines = lines_of({("release", "patch level", "runs", "default"): rows}, width)
    yield from lines
    if others := [f"{one.other_patches}." for one in found.releases if one.other_patches]:
        yield from ["", *wrapped(others, width)]
