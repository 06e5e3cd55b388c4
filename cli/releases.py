"""``kubeclassic releases``: the releases, one release, or the differences of two."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from .declaring.commands import command
from .report.tables import GAP, TextTable, width_of, wrapped

if TYPE_CHECKING:
    from ..api.record import DocumentRecord
    from ..framework.describe import ClassicRelease, PluginRelease, ReleaseDiff
    from ..framework.facts.facttable import ReleaseFact

Blocks = dict[tuple[str, ...], list[Sequence[str]]]
"""Headers -> rows of a table. With one header a row is a line, and the lines below it."""
HEADINGS: Mapping[str, str] = {
    "predicate": "predicates",
    "priority": "priorities",
    "priority argument": "priorities of a Policy's own",
}


def described(found: ClassicRelease | PluginRelease) -> tuple[str, Blocks]:
    """One release: rules or plugins in running order, gates, and its facts."""
    from ..framework.describe import plugin_in_words

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
    return f"Release {found.release} (as {found.like}) runs {found.runs}.{other}", blocks


def add_facts(blocks: Blocks, facts: Sequence[ReleaseFact]) -> None:
    """Add what releases do otherwise, a line each, by release."""
    for fact in facts:
        more = [f"a bug, which {fact.fixed} took back"] if fact.fixed else []
        lines = blocks.setdefault((f"what {fact.release} does differently",), [])
        lines.append([f"{fact.rule}: {fact.sentence}", *more])


def differing(found: ReleaseDiff) -> tuple[str, Blocks]:
    """What two releases do differently, by subject."""
    from ..framework.describe import SAME

    blocks: Blocks = {}
    if not (found.differences or found.successors or found.facts):
        return f"{found.before} and {found.after} are the same", blocks
    older, newer = (found.after, found.before) if found.is_backwards else (found.before, found.after)
    told = f"What {found.after} does differently from {found.before}:"
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
    return told, blocks


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
        told, blocks = differing(diff)
        lines = [*wrapped([told], width), *lines_of(blocks, width)]
    elif release is not None:
        found = one = describe_any(release, all_gates=all_gates)
        told, blocks = described(one)
        lines = [*wrapped([told], width), *lines_of(blocks, width)]
    else:
        found = ReleaseList(summaries())
        taken = {"plugins": "with a profile", "predicates and priorities": "yes"}
        rows: list[Sequence[str]] = [
            [each.release, each.like, each.runs, taken[each.runs] if each.is_default else "-"]
            for each in found.releases
        ]
        _, *lines = lines_of({("release", "patch level", "runs", "default"): rows}, width)
        if others := [f"{each.other_patches}." for each in found.releases if each.other_patches]:
            lines += ["", *wrapped(others, width)]
    if form == "table":
        sys.stdout.writelines(f"{line}\n" for line in lines)
    else:
        write_answer(form, found, sys.stdout)
