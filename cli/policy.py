"""``kubeclassic policy``: what a Policy means, and how it migrates."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ..algorithmprovider.check import Report, check
from ..algorithmprovider.config import policy_document
from ..algorithmprovider.releases import DEFAULT_RELEASE, find_release
from .migrate import migrate_policy
from .output import note, one_line, warn
from .report.documents import document
from .report.text import format_table


@click.group(short_help="What a Policy means, and what replaces it.")
def policy() -> None:
    """Work with Policy files: JSON or YAML, by themselves or in a ConfigMap."""


policy.add_command(migrate_policy)


@policy.command("check", short_help="What runs, in which order, with which weights.")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--release", default=DEFAULT_RELEASE, show_default=True, help="The release that is to read it.")
@click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults.")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def check_policy(file: Path, release: str, gates: str | None, form: str) -> None:
    """Show what runs under the Policy in FILE (- is standard input), with warnings of what is accepted but never runs.

    Exit status 0: accepted, 1: the release refuses it, 2: bad input.

    \b
    kubeclassic policy check scheduler.json --release 1.13
    """
    report = check(policy_document(file).data, find_release(release), gates)
    if form == "json":
        click.echo(json.dumps(document("PolicyCheck", report.record()), indent=2))
    elif report.refused is not None:
        note(one_line(f"refused by {report.release}: {report.refused}"))
    else:
        click.echo(_text(report))
    for warning in report.warnings if form == "table" else ():
        warn(warning)
    sys.exit(0 if report.refused is None else 1)


def _text(report: Report) -> str:
    predicates = [[place, *row] for place, row in enumerate(report.predicates, 1)]
    tables = [format_table(["order", "predicate", "from"], [*predicates, *([None, name, "never runs"] for name in report.never_run)])]
    tables.append(format_table(["priority", "weight"], report.priorities) if report.priorities else "no priorities")
    if report.extenders:
        rows = [[extender.url_prefix, "yes" if extender.ignorable else "no"] for extender in report.extenders]
        tables.append(format_table(["extender", "may be ignored"], rows))
    everything = "all predicates are checked" if report.check_all else "the first predicate that fails ends a node's check"
    return "\n\n".join([*tables, f"{everything}; hardPodAffinitySymmetricWeight {report.hard_pod_affinity_weight}"])
