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
from .declaring.outputs import HTML, Output, output_options
from .declaring.paramtypes import FILE
from .migrate import migrate_policy

if TYPE_CHECKING:
    from ..algorithmprovider.extenders import ExtenderConfig
    from ..api.reading.documents import Document
    from .report.questions.checkpage import Check


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
@output_options(("table", "json", HTML), "html: a page.", verbose=None, headers=False)
def check_policy(file: Path, release: str | None, gates: str | None, rules: tuple[str, ...], output: Output) -> None:
    """Show what runs under the Policy in FILE (- is standard input), with warnings of what is accepted but never runs.

    From 1.17 to 1.22 a release makes plugins of a Policy; then these are shown.

    FILE may be a ConfigMap, or a KubeSchedulerConfiguration: one that points to a Policy or names a provider (v1alpha1), or one with
    profiles, of any version that the release reads. Every fault is listed, not the first alone.

    Exit status 0: accepted, 1: the release refuses it, 2: bad input.

    \b
    kubeclassic policy check scheduler.json --release 1.13
    """
    from ..algorithmprovider.check import check
    from ..algorithmprovider.config import read_policy_file
    from ..algorithmprovider.extenders import in_calling_order
    from ..algorithmprovider.gates import parse_gates
    from ..framework.policy.check import check_translated, release_with_policies
    from ..framework.userrules import catalogue_of

    read = read_policy_file(file)
    if read.profile is not None:
        _check_profile(file, read.profile, release, gates, rules, output)
    found_release = release_with_policies(release or DEFAULT_RELEASE, f", or `kubeclassic policy migrate {file}` for a profile")
    config = read.config.with_defaults(found_release)
    config.validate()
    written = None if read.document is None else read.document.data
    switches = {**config.gates, **parse_gates(gates or "")}
    provider, weight = config.source.provider, config.hard_pod_affinity_weight
    if rules and found_release.policies is not None:
        raise UnknownNameError(f"--rules: got some, but release {found_release.version} runs plugins, which a Policy cannot name")
    if found_release.policies is None:
        found = check(written, found_release, switches, catalogue_of(rules), provider=provider, hard_pod_affinity_weight=weight)
    else:
        found = check_translated(written, found_release, switches, provider=provider, hard_pod_affinity_weight=weight)
    policy = read.policy if found.refused is None else None
    extenders = () if policy is None else in_calling_order(policy.extenders, found_release.ignorable_extenders_last)
    _tell(found, file, output, extenders)


def _check_profile(
    file: Path, written: Document, release: str | None, gates: str | None, rules: Sequence[str], output: Output
) -> NoReturn:
    from ..framework.profilecheck import check_profile, release_with_profiles
    from ..framework.userrules import plugins_of

    _tell(check_profile(written, release_with_profiles(release, written.data), gates, plugins_of(rules)), file, output)


def _tell(found: Check, file: Path, output: Output, extenders: Sequence[ExtenderConfig] = ()) -> NoReturn:
    from .answering import about, write_answer, write_page, write_report
    from .console.output import note, one_line, writing
    from .notices import tell_line
    from .report.questions.checkpage import check_html, check_text, faults_of
    from .report.tables import width_of

    name, faults = "standard input" if str(file) == "-" else str(file), faults_of(found)

    def made() -> str:
        return check_html(found, about(None, [Path(name)], releases=[found.release], warnings=found.warnings), extenders)

    with writing(output.file) as stream:
        if output.form == "json":
            write_answer(output.form, found, stream)
        elif output.form == HTML:
            write_page(made(), stream)
        elif not faults:
            stream.write(check_text(found, width_of(stream), extenders) + "\n")
    for fault in faults if output.form == "table" else ():
        note(f"  {one_line(fault)}" if fault.startswith("  ") else one_line(f"refused by {found.release}: {name}: {fault}"))
    for warning in found.warnings if output.form == "table" else ():
        tell_line(f"warning: {one_line(warning)}")
    write_report(output.report, made)
    sys.exit(1 if faults else 0)
