"""``kubeclassic releases``: the releases, one release, or the differences of two."""

from __future__ import annotations

import json
from typing import Any

import attrs
import click

from ..algorithmprovider.describe import Difference, describe, diff
from ..algorithmprovider.releases import RELEASES
from .commands import command
from .report.text import format_table


@command(short_help="What the releases are, and how two of them differ.")
@click.argument("release", required=False)
@click.option("--diff", "pair", nargs=2, metavar="A B", help="What release B does differently from release A.")
@click.option("--all-gates", is_flag=True, help="Show gates that no decision depends on, too.")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def releases(release: str | None, pair: tuple[str, str] | None, all_gates: bool, form: str) -> None:
    """List the releases, or describe RELEASE: its predicates in running order, its priorities, gates and behaviour.

    \b
    kubeclassic releases 1.16
    kubeclassic releases --diff 1.15 1.16
    """
    if pair and release:
        raise click.UsageError("got RELEASE and --diff, wanted one of them")
    if pair:
        found = diff(*pair, all_gates=all_gates)
        _show(form, [attrs.asdict(difference) for difference in found], _differences(pair, found))
    elif release:
        record = describe(release, all_gates=all_gates)
        _show(form, record, _description(record))
    else:
        _show(form, list(RELEASES), "\n".join(RELEASES))


def _show(form: str, record: Any, text: str) -> None:
    click.echo(json.dumps(record, indent=2) if form == "json" else text)


def _differences(pair: tuple[str, str], found: list[Difference]) -> str:
    rows = [[difference.about, _words(difference.what), _cell(difference.before), _cell(difference.after)] for difference in found]
    return format_table(["about", "what", *pair], rows) if rows else f"{pair[0]} and {pair[1]} are the same"


def _description(record: dict[str, Any]) -> str:
    parts = (("predicates", "in running order"), ("priorities", "how"), ("gates", "default"), ("behaviour", "value"))
    rows = {part: [[_words(name), _cell(value)] for name, value in record[part].items()] for part, _ in parts}
    return "\n\n".join(format_table([part, what], rows[part]) for part, what in parts)


def _words(name: str) -> str:
    """A cell's name for people: ``volumes: has cinder``."""
    return name.replace(".", ": ").replace("_", " ")


def _cell(value: Any) -> str | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.replace("_", " ") if isinstance(value, str) else None if value is None else str(value)
