"""``kubeclassic policy``: what a Policy means, and how it migrates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from ..choices import DEFAULT_RELEASE
from ..exceptions import UnknownNameError
from .declaring.commands import CommandGroup
from .declaring.options import scheduler_option
from .declaring.paramtypes import FILE
from .migrate import migrate_policy

if TYPE_CHECKING:
    from ..algorithmprovider.check import PolicyCheck
    from ..algorithmprovider.extenders import ExtenderConfig
    from ..api.reading.documents import Document
    from ..framework.config.fielderrors import ProfileFault


@click.group(cls=CommandGroup, short_help="What a Policy means, and what replaces it.")
def policy() -> None:
    """Work with Policy files: JSON or YAML, by themselves or in a ConfigMap."""


policy.add_command(migrate_policy)


@policy.command("check", short_help="What runs, in which order, with which weights.")
@click.argument("file", type=FILE)
@click.option(
    "--release", metavar="RELEASE",
    help=f"The release that is to read it.  [default: {DEFAULT_RELEASE}; of profiles the newest that reads them]",
)  # fmt: skip
@click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults.")
@click.option("--rules", multiple=True, metavar="FILE.py:NAME", help="Your own rules: a Python file or module, and the Catalogue in it.")
@scheduler_option("unknown_plugins")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def check_policy(
    file: Path, release: str | None, gates: str | None, rules: tuple[str, ...], unknown_plugins: str | None, form: str
) -> None:
    """Show what runs under the Policy in FILE (- is standard input), with warnings of what is accepted but never runs.

    From 1.17 to 1.22 a release makes plugins of a Policy; then these are shown.

    FILE may also hold a KubeSchedulerConfiguration: one that points to a Policy or names a provider (v1alpha1), or one with profiles, of
    any version that the release reads. Either may be in a ConfigMap, in a List, or beside other objects. Every fault is listed, not the
    first alone.

    Exit status 0: accepted, 1: the release refuses it, 2: bad input.

    \b
    kubeclassic policy check scheduler.json --release 1.13
    """
    from ..algorithmprovider.config import read_policy_file
    from ..algorithmprovider.extenders import in_calling_order
    from ..framework.policy.check import check_file, profile_to_check, release_with_policies
    from ..framework.userrules import catalogue_of
    from .answering import write_answer
    from .console.output import note, one_line
    from .notices import tell_line

    read, name = read_policy_file(file), "standard input" if str(file) == "-" else str(file)
    if (profile := profile_to_check(read, release)) is not None:
        _check_profile(name, profile, release, gates, rules, form, leaves_out=unknown_plugins is not None)
    found_release = release_with_policies(release or DEFAULT_RELEASE, f", or `kubeclassic policy migrate {file}` for a profile")
    if rules and found_release.policies is not None:
        raise UnknownNameError(f"--rules: got some, but release {found_release.version} runs plugins, which a Policy cannot name")
    report = check_file(read, found_release, gates, catalogue_of(rules))
    if form == "json":
        write_answer(form, report, sys.stdout)
    elif report.refused is not None:
        note(one_line(f"refused by {report.release}: {name}: {report.refused}"))
        listed = len(report.faults) > 1 or any(fault.got for fault in report.faults)
        for fault in report.faults if listed else ():
            note("  " + one_line(": ".join(filter(None, [fault.where, fault.what])) + (f", got {fault.got}" if fault.got else "")))
    else:
        extenders = () if read.policy is None else read.policy.extenders
        click.echo(_text(report, in_calling_order(extenders, found_release.ignorable_extenders_last)))
    for warning in report.warnings if form == "table" else ():
        tell_line(f"warning: {one_line(warning)}")
    sys.exit(0 if report.refused is None else 1)


def _check_profile(
    name: str, written: Document, release: str | None, gates: str | None, rules: Sequence[str], form: str, *, leaves_out: bool
) -> NoReturn:
    from ..framework.profilecheck import check_profile, release_with_profiles
    from ..framework.userrules import plugins_of
    from .answering import write_answer
    from .console.output import note, one_line
    from .notices import tell_line

    report = check_profile(written, release_with_profiles(release, written.data), gates, plugins_of(rules), leaves_out=leaves_out)
    if form == "json":
        write_answer(form, report, sys.stdout)
    else:
        for fault in report.faults:
            note(one_line(f"refused by {report.release}: {name}: {_in_words(fault)}"))
        if not report.faults:
            # What runs, profile by profile.
            from .report.tables import TextTable, width_of, wrapped

            width, parts = width_of(sys.stdout), list[str]()
            for profile in report.profiles:
                filters: list[list[object]] = [[place, found.name, found.origin] for place, found in enumerate(profile.filters, 1)]
                scores: list[list[object]] = [[found.name, found.weight] for found in profile.scores]
                parts += wrapped([f"pods of {profile.scheduler_name}"], width)
                parts.append(TextTable(["order", "Filter plugin", "from"], filters).text(width) if filters else "no Filter plugins")
                parts.append(TextTable(["Score plugin", "weight"], scores).text(width) if scores else "no Score plugins")
            parts += wrapped([f"extender {url}" for url in report.extenders], width)
            click.echo("\n\n".join(parts))
        for warning in report.warnings:
            tell_line(f"warning: {one_line(warning)}")
    sys.exit(1 if report.faults else 0)


def _in_words(fault: ProfileFault) -> str:
    """Where, what, got and wanted, as far as there are such."""
    parts = [fault.what] + [f"got {fault.got}"] * (fault.got is not None and fault.got not in fault.what)
    parts += [f"wanted {fault.wanted}"] * (fault.wanted is not None)
    return f"{fault.where}: {', '.join(parts)}".removeprefix(": ")


def _text(report: PolicyCheck, extenders: Sequence[ExtenderConfig]) -> str:
    """What runs, with the *extenders* in calling order."""
    from ..framework.releases import find_any_release
    from .report.tables import TextTable, width_of, wrapped

    width = width_of(sys.stdout)
    kinds = ("predicate", "priority") if find_any_release(report.release).policies is None else ("Filter plugin", "Score plugin")
    rows: list[list[object]] = [[place, found.name, found.origin] for place, found in enumerate(report.predicates, 1)]
    rows += [[None, name, "never runs"] for name in report.never_run]
    parts = [TextTable(["order", kinds[0], "from"], rows).text(width)]
    priorities = [[found.name, found.weight] for found in report.priorities]
    parts.append(TextTable([kinds[1], "weight"], priorities).text(width) if priorities else "no priorities")
    if extenders:
        called = [[extender.name, "yes" if extender.ignorable else "no"] for extender in extenders]
        parts.append(TextTable(["extender", "may be ignored"], called).text(width))
    everything = "all predicates are checked" if report.check_all else "the first predicate that fails ends a node's check"
    told = f"{everything}; hardPodAffinitySymmetricWeight {report.hard_pod_affinity_weight}"
    return "\n\n".join([*parts, *wrapped([told], width)])
