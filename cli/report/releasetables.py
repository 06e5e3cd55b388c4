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


def described(release: ClassicRelease | PluginRelease, width: int | None) -> Iterator[str]:
    """One release: rules or plugins in running order, gates, and its facts."""
    blocks: Blocks = {}
    if release.runs == "plugins":
        blocks["plugins", "runs", "extension points"] = [
            [name, plugin_in_words(plugin), ", ".join(plugin.points)]
            for name, plugin in release.plugins.items()
        ]
    else:
        blocks["predicates", "in running order"] = [*release.predicates.items()]
        blocks["priorities", "runs"] = [*release.priorities.items()]
    blocks["gates", "default"] = [*release.gates.items()]
    add_facts(blocks, release.facts)
    other_patches = f" {release.other_patches}." if release.other_patches else ""
    yield from wrapped(
        [f"Release {release.release} (as {release.like}) runs {release.runs}.{other_patches}"], width
    )
    yield from lines_of(blocks, width)


def add_facts(blocks: Blocks, facts: Sequence[ReleaseFact]) -> None:
    """Add what releases do otherwise, a line each, by release."""
    for fact in facts:
        more = [f"a bug, which {fact.fixed} took back"] if fact.fixed else []
        lines = blocks.setdefault((f"what {fact.release} does differently",), [])
        lines.append([f"{fact.rule}: {fact.sentence}", *more])


def differing(diff: ReleaseDiff, width: int | None) -> Iterator[str]:
    """The differences of two releases, by subject."""
    blocks: Blocks = {}
    older, newer = (diff.after, diff.before) if diff.is_backwards else (diff.before, diff.after)
    sentence = f"What {diff.after} does differently from {diff.before}:"
    if not (diff.differences or diff.successors or diff.facts):
        sentence = f"{diff.before} and {diff.after} are the same"
    if diff.successors:
        took = "What took the place of each rule, and what is different:"
        sentence = f"{older} runs predicates and priorities, {newer} runs plugins. {took}"
    for item in diff.successors:
        plugins = ", ".join(f"{plugin.plugin} ({', '.join(plugin.points)})" for plugin in item.plugins)
        if item.rule is None:
            blocks.setdefault(("plugins without such a rule",), []).append([plugins, item.words])
            continue
        lines = [f"{newer}: {plugins}, {item.after}", item.words] if plugins else [f"{newer}: {item.words}"]
        more = [f"{older}: {item.before}", *(line for line in lines if line != SAME)]
        blocks.setdefault((HEADINGS[item.kind],), []).append([item.rule, *more])
    for about in ("predicates", "priorities", "plugins", "gates"):
        if items := [item for item in diff.differences if item.about == about]:
            rows = [[item.what, item.before or "-", item.after or "-", item.words or "-"] for item in items]
            count = 4 if any(item.words for item in items) else 3
            headers = (about, diff.before, diff.after, "what")
            blocks[headers[:count]] = [row[:count] for row in rows]
    add_facts(blocks, diff.facts)
    yield from wrapped([sentence], width)
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
        for label, *more in rows:
            if len(headers) == 2:
                lines.append(f"  {label}: {more[0]}")
                continue
            if len(headers) > 2:
                more = [f"{header}: {cell}" for header, cell in zip(headers[1:], more, strict=True)]
            lines += [f"  {label}", *(f"      {line}" for line in more)]
        yield from [headers[0].upper(), *wrapped(lines, width)]


def of_all(listed: ReleaseList, width: int | None) -> Iterator[str]:
    """The releases, a line each, and the patch levels that decide otherwise."""
    words = {"plugins": "if no node says one", "predicates and priorities": "with a Policy"}
    rows: list[Sequence[str]] = [
        [release.release, release.like, release.runs, words[release.runs] if release.is_default else "-"]
        for release in listed.releases
    ]
    _, *lines = lines_of({("release", "patch level", "runs", "default"): rows}, width)
    yield from lines
    if others := [f"{release.other_patches}." for release in listed.releases if release.other_patches]:
        yield from ["", *wrapped(others, width)]
