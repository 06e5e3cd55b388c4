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
from .declaring.flags import scheduler_option
from .declaring.outputs import HTML, Output, output_options
from .declaring.paramtypes import FILE
from .migrate import migrate_policy

if TYPE_CHECKING:
    from ..algorithmprovider.extenders import ExtenderConfig
    from ..questions.migrate.policycheck import Check


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
@output_options(("table", "json", HTML), "html: a page.", verbose=None, headers=False)
def check_policy(
    file: Path, release: str | None, gates: str | None, rules: tuple[str, ...], unknown_plugins: str | None, output: Output
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
    from ..framework.profilecheck import check_profile, release_with_profiles
    from ..framework.userrules import catalogue_of, plugins_of

    read = read_policy_file(file)
    if (profile := profile_to_check(read, release)) is not None:
        reader = release_with_profiles(release, profile.data)
        leaves_out = unknown_plugins is not None
        _tell(check_profile(profile, reader, gates, plugins_of(rules), leaves_out=leaves_out), file, output)
    found_release = release_with_policies(release or DEFAULT_RELEASE, f", or `kubeclassic policy migrate {file}` for a profile")
    if rules and found_release.policies is not None:
        raise UnknownNameError(f"--rules: got some, but release {found_release.version} runs plugins, which a Policy cannot name")
    report = check_file(read, found_release, gates, catalogue_of(rules))
    extenders = () if report.refused is not None or read.policy is None else read.policy.extenders
    _tell(report, file, output, in_calling_order(extenders, found_release.ignorable_extenders_last))


def _tell(report: Check, file: Path, output: Output, extenders: Sequence[ExtenderConfig] = ()) -> NoReturn:
    from ..questions.migrate.policycheck import PolicyCheckResult
    from .answering import about, answer
    from .console.output import note, one_line
    from .notices import tell_line

    name = "standard input" if str(file) == "-" else str(file)
    found = PolicyCheckResult(report, name, extenders)
    status = answer(found, output, lambda: about(None, [Path(name)], releases=[report.release], warnings=report.warnings), unread=False)
    for fault in found.faults if output.form == "table" else ():
        note(f"  {one_line(fault)}" if fault.startswith("  ") else one_line(f"refused by {report.release}: {name}: {fault}"))
    for warning in report.warnings if output.form == "table" else ():
        tell_line(f"warning: {one_line(warning)}")
    sys.exit(status)
