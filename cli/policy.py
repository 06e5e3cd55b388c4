"""``kubeclassic policy``: what a Policy means, and how it migrates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..choices import DEFAULT_RELEASE
from .declaring.commands import CommandGroup
from .declaring.paramtypes import FILE
from .migrate import migrate_policy

if TYPE_CHECKING:
    from ..algorithmprovider.check import PolicyCheck
    from ..algorithmprovider.extenders import ExtenderConfig


@click.group(cls=CommandGroup, short_help="What a Policy means, and what replaces it.")
def policy() -> None:
    """Work with Policy files: JSON or YAML, by themselves or in a ConfigMap."""


policy.add_command(migrate_policy)


@policy.command("check", short_help="What runs, in which order, with which weights.")
@click.argument("file", type=FILE)
@click.option("--release", metavar="RELEASE", default=DEFAULT_RELEASE, show_default=True, help="The release that is to read it.")
@click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults.")
@click.option("--rules", multiple=True, metavar="FILE.py:NAME", help="Your own rules: a Python file or module, and the Catalogue in it.")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def check_policy(file: Path, release: str, gates: str | None, rules: tuple[str, ...], form: str) -> None:
    """Show what runs under the Policy in FILE (- is standard input), with warnings of what is accepted but never runs.

    FILE may be a ConfigMap, or a KubeSchedulerConfiguration (v1alpha1) that points to a Policy or names a provider.

    Exit status 0: accepted, 1: the release refuses it, 2: bad input.

    \b
    kubeclassic policy check scheduler.json --release 1.13
    """
    from ..algorithmprovider.check import check
    from ..algorithmprovider.config import read_policy_file, release_of_policies
    from ..algorithmprovider.extenders import in_calling_order
    from ..algorithmprovider.gates import parse_gates
    from ..framework.userrules import catalogue_of
    from .answering import write_answer
    from .console.output import note, one_line
    from .notices import tell_line

    found_release = release_of_policies(release, f", or `kubeclassic policy migrate {file}` for a profile")
    read = read_policy_file(file)
    config = read.config.with_defaults(found_release)
    config.validate()
    written = None if read.document is None else read.document.data
    report = check(
        written, found_release, {**config.gates, **parse_gates(gates or "")}, catalogue_of(rules),
        provider=config.source.provider, hard_pod_affinity_weight=config.hard_pod_affinity_weight,
    )  # fmt: skip
    if form == "json":
        write_answer(form, report, sys.stdout)
    elif report.refused is not None:
        note(one_line(f"refused by {report.release}: {report.refused}"))
    else:
        extenders = () if read.policy is None else read.policy.extenders
        click.echo(_text(report, in_calling_order(extenders, found_release.ignorable_extenders_last)))
    for warning in report.warnings if form == "table" else ():
        tell_line(f"warning: {one_line(warning)}")
    sys.exit(0 if report.refused is None else 1)


def _text(report: PolicyCheck, extenders: Sequence[ExtenderConfig]) -> str:
    """What runs, with the *extenders* in calling order."""
    from .report.prose import wrapped
    from .report.tables import TextTable, width_of

    width = width_of(sys.stdout)
    rows: list[list[object]] = [[place, found.name, found.origin] for place, found in enumerate(report.predicates, 1)]
    rows += [[None, name, "never runs"] for name in report.never_run]
    parts = [TextTable(["order", "predicate", "from"], rows).text(width)]
    priorities = [[found.name, found.weight] for found in report.priorities]
    parts.append(TextTable(["priority", "weight"], priorities).text(width) if priorities else "no priorities")
    if extenders:
        called = [[extender.url_prefix, "yes" if extender.ignorable else "no"] for extender in extenders]
        parts.append(TextTable(["extender", "may be ignored"], called).text(width))
    everything = "all predicates are checked" if report.check_all else "the first predicate that fails ends a node's check"
    told = f"{everything}; hardPodAffinitySymmetricWeight {report.hard_pod_affinity_weight}"
    return "\n\n".join([*parts, *wrapped([told], width)])
