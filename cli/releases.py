"""``kubeclassic releases``: the releases, one release, or the differences of two."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from .declaring.commands import command
from .declaring.flags import options_of

if TYPE_CHECKING:
    from ..api.record import DocumentRecord


@command(short_help="What the releases are, and how two of them differ.")
@click.argument("release", required=False)
@click.option(
    "--diff", "pair", nargs=2, metavar="A B", help="What release B does differently from release A."
)
@options_of("""
--all-gates | switch | | Show gates that no decision depends on, too.
-o form | table,json,yaml table | |
""")
def releases(release: str | None, pair: tuple[str, str] | None, all_gates: bool, form: str) -> None:
    """List the releases, or describe RELEASE: its predicates and priorities or its plugins in running order,
    its gates, and what it does differently.

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
    if all_gates and not pair and release is None:
        raise click.UsageError("--all-gates needs RELEASE or --diff")
    from ..framework.describe import ReleaseList, describe_any, diff_any, summaries
    from .answering import write_answer
    from .report.releasetables import described, differing, of_all
    from .report.tables import width_of

    width = width_of(sys.stdout)
    document: DocumentRecord
    if pair:
        document = diff = diff_any(*pair, all_gates=all_gates)
        lines = differing(diff, width)
    elif release is not None:
        document = description = describe_any(release, all_gates=all_gates)
        lines = described(description, width)
    else:
        document = listed = ReleaseList(summaries())
        lines = of_all(listed, width)
    if form == "table":
        sys.stdout.writelines(f"{line}\n" for line in lines)
    else:
        write_answer(form, document, sys.stdout)
