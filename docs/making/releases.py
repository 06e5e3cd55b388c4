"""The pages of releases: each of them, and what changed from one to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from making.markdown import block, code, escaped, table
from making.rules import plugin_link

from kubeclassic.framework.describe import (
    ClassicRelease,
    DescribedPlugin,
    PluginRelease,
    ReleaseDiff,
    ReleaseDifference,
    Successor,
    describe_any,
    diff_any,
    summaries,
)
from kubeclassic.framework.releases import ALL_RELEASES, ReleaseFact

FOLDER = "reference/releases"
NONE = "none"


def pages() -> Iterator[tuple[str, str]]:
    """(path, text) of the list, of each release, and of each step from one release to the next."""
    pairs = list(pairwise(ALL_RELEASES))
    yield f"{FOLDER}/index.md", _index(pairs)
    for release in ALL_RELEASES:
        yield f"{FOLDER}/{release}.md", _page(describe_any(release))
    for before, after in pairs:
        yield f"{FOLDER}/{before}-to-{after}.md", _step(diff_any(before, after))


def _index(pairs: Sequence[tuple[str, str]]) -> str:
    rows = [
        [f"[{found.release}]({found.release}.md)", found.like, found.runs, _changed(found.release, pairs)]
        for found in summaries()
    ]
    head = "Each release decides as one patch level does, which the table names. `kubeclassic releases` prints what these pages say."
    shown = block("$ kubeclassic releases --diff 1.15 1.16\n...", "console")
    other = "\n".join(f"* {found.other_patches}." for found in summaries() if found.other_patches)
    return f"# Releases\n\n{head}\n\n{table(['release', 'patch level', 'runs', 'what changed'], rows)}\n{other}\n\n{shown}"


def _changed(release: str, pairs: Sequence[tuple[str, str]]) -> str:
    return next(
        (f"[since {before}]({before}-to-{after}.md)" for before, after in pairs if after == release), "-"
    )


# --- one release ----------------------------------------------------------------------------------------------------


def _page(found: ClassicRelease | PluginRelease) -> str:
    parts = [
        f"# Release {found.release}\n",
        f"It is as patch level {found.like} and runs {found.runs}.{_other(found.other_patches)}",
    ]
    if isinstance(found, PluginRelease):
        parts += [
            "## Plugins\n",
            table(["plugin", "weight", "default", "extension points"], _plugins(found.plugins)),
        ]
    else:
        ordered = {
            "predicates": (found.predicates, "predicate, in running order"),
            "priorities": (found.priorities, "priority"),
        }
        for part, (rules, kind) in ordered.items():
            rows = [[f"[{name}](../{part}/{name}.md)", how] for name, how in rules.items()]
            parts += [f"## {part.capitalize()}\n", table([kind, "how it runs"], rows)]
    parts += _facts(found.facts)
    parts += [
        "## Feature gates\n",
        table(["gate", "default"], [[code(name), how] for name, how in found.gates.items()]),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _other(patches: str) -> str:
    return f" {patches}." if patches else ""


def _facts(facts: Sequence[ReleaseFact]) -> Iterator[str]:
    """What releases do otherwise than those before them."""
    rows = [
        [code(fact.rule), escaped(fact.sentence), f"in {fact.fixed}" if fact.fixed else "-"] for fact in facts
    ]
    if rows:
        yield "## What it does otherwise\n"
        yield table(["rule", "what", "a bug, taken back"], rows)


def _plugins(found: Mapping[str, DescribedPlugin]) -> list[list[str]]:
    return [
        [f"[{name}](../plugins/{name}.md)", "-" if how.weight is None else str(how.weight), "yes" if how.is_default else "no",
         ", ".join(how.points)]
        for name, how in found.items()
    ]  # fmt: skip


# --- from one release to the next -----------------------------------------------------------------------------------


def _step(found: ReleaseDiff) -> str:
    pair = found.before, found.after
    parts = [
        f"# From {pair[0]} to {pair[1]}\n",
        f"What [{pair[1]}]({pair[1]}.md) does differently from [{pair[0]}]({pair[0]}.md).",
    ]
    parts += _facts(found.facts)
    if found.successors:
        parts += [
            "## Rules\n",
            table(
                ["rule", f"in {pair[0]}", f"in {pair[1]}", "what is different"],
                map(_successor, found.successors),
            ),
        ]
    for about in ("predicates", "priorities", "plugins", "gates"):
        items = [item for item in found.differences if item.about == about]
        if items:
            parts += [f"## {about.capitalize()}\n", table(["name", *pair, "what"], map(_named, items))]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _named(item: ReleaseDifference) -> list[str]:
    return [code(item.what), item.before or "-", item.after or "-", item.words or "-"]


def _successor(found: Successor) -> list[str]:
    folder = "predicates" if found.kind == "predicate" else "priorities"
    rule = "-" if found.rule is None else f"[{found.rule}](../{folder}/{found.rule}.md)"
    plugins = ", ".join(plugin_link(one.plugin) for one in found.plugins) or NONE
    return [rule, found.before or "-", f"{plugins}; {found.after}" if found.after else plugins, found.words]
