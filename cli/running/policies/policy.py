"""What ``kubeclassic policy check`` does: it says what a Policy means on a release."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ....algorithmprovider.check import PolicyCheck, check
from ....algorithmprovider.config import read_policy_file, release_of_policies
from ....algorithmprovider.extenders import ExtenderConfig, in_calling_order
from ....algorithmprovider.gates import parse_gates
from ....framework.userrules import catalogue_of
from ...answering import write_answer
from ...console.output import note, one_line
from ...notices import tell_line
from ...report.prose import wrapped
from ...report.tables import TextTable, width_of


def run_check(file: Path, release: str, gates: str | None, rules: tuple[str, ...], form: str) -> None:
    """Print the report, and end with status 1 where the release refuses what is in *file*."""
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
        extenders = read.policy.extenders if read.policy is not None else ()
        in_order = in_calling_order(extenders, found_release.ignorable_extenders_last)
        click.echo(_text(report, in_order, width_of(sys.stdout)))
    for warning in report.warnings if form == "table" else ():
        tell_line(f"warning: {one_line(warning)}")
    sys.exit(0 if report.refused is None else 1)


def _text(report: PolicyCheck, extenders: Sequence[ExtenderConfig], width: int | None) -> str:
    predicates = [[place, found.name, found.origin] for place, found in enumerate(report.predicates, 1)]
    never = [[None, name, "never runs"] for name in report.never_run]
    tables = [TextTable(["order", "predicate", "from"], [*predicates, *never]).text(width)]
    tables.append(
        TextTable(["priority", "weight"], [[found.name, found.weight] for found in report.priorities]).text(width)
        if report.priorities
        else "no priorities"
    )
    if extenders:
        rows = [[extender.url_prefix, "yes" if extender.ignorable else "no"] for extender in extenders]
        tables.append(TextTable(["extender", "may be ignored"], rows).text(width))
    everything = "all predicates are checked" if report.check_all else "the first predicate that fails ends a node's check"
    told = f"{everything}; hardPodAffinitySymmetricWeight {report.hard_pod_affinity_weight}"
    return "\n\n".join([*tables, *wrapped([told], width)])
