"""``kubeclassic policy migrate``: a Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from ..choices import DEFAULT_FRAMEWORK, DEFAULT_RELEASE
from ..exceptions import UnknownNameError
from .declaring.commands import command
from .declaring.options import EXTENDERS, environments_max_pd_vols
from .declaring.outputs import Output, check_together, output_options
from .declaring.paramtypes import FILE, FormOrFile, Whole
from .declaring.paths import takes_cluster

if TYPE_CHECKING:
    from ..core.release import Release
    from ..questions.migrate import MigrateResult
    from ..simulation.scenario import Scenario
    from .answering import Writer

FORMS = ("yaml", "json")
REPORTS = (".html", ".json", ".txt")
NEEDS = (("--report", "--check"), ("--newer-labels", "--check"), ("--extenders", "--check"))


@command("migrate", short_help="The Policy as a KubeSchedulerConfiguration.")
@click.argument("file", type=FILE)
@click.option(
    "--release", metavar="RELEASE",
    help="The release that runs it now; of a Policy one without Policies is short for --to."
    f"  [default: {DEFAULT_RELEASE}; of profiles the newest that reads them]",
)  # fmt: skip
@click.option("--to", "target", metavar="RELEASE", help=f"The release that is to run the profile.  [default: {DEFAULT_FRAMEWORK}]")
@click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults.")
@click.option("--selector-spread", is_flag=True, help="Spread pods with plugin SelectorSpread, the old formula (to 1.28).")
@click.option("--check", "paths", type=FILE, multiple=True, metavar="PATH", help="Try both on this cluster; more paths may follow.")
@takes_cluster()
@click.option("--newer-labels", is_flag=True, help="Check with the node labels of newer releases beside the old ones, as after an upgrade.")
@EXTENDERS
@output_options(
    FormOrFile(FORMS), "How to write it.", default="yaml", what="the profile", headers=False, page=False,
    verbose="List every warning about the cluster of --check.",
)  # fmt: skip
@click.option("--report", metavar="FILE", help="Write the whole proof there: .html (a page to file), .json or .txt.")
@click.option("--show", type=Whole(0), default=20, show_default=True, help="Show at most this many different decisions.")
@click.argument("more", type=FILE, nargs=-1)
def migrate_policy(
    file: Path, release: str | None, target: str | None, gates: str | None, selector_spread: bool,
    paths: tuple[Path, ...], newer_labels: bool, extenders: str | None, output: Output,
    report: str | None, show: int, more: tuple[Path, ...],
) -> None:  # fmt: skip
    """Translate the Policy in FILE to a profile of plugins, and list on standard error what has no exact equivalent.

    FILE may be a ConfigMap, or a KubeSchedulerConfiguration (v1alpha1) that points to a Policy; - is standard input. A
    KubeSchedulerConfiguration with profiles of an older version is carried over: as it is, in another version, or, where plugins are gone
    or defaults are others, with every plugin that runs. To 1.18 to 1.22 a Policy becomes the profile that this release makes of it.

    With --check the old release and the profile both decide on every waiting pod, on the same state, as `compare --mode locked` does; only
    the decisions of the old release take effect. All nodes are looked at. A decision is the same; or equally good, if the profile takes
    another node that the old release scores as high as its own; or different. --report FILE.html holds all that an audit wants: the Policy,
    the profile, the notes, the check, and what to do next. Notes say where upstream's own translation of 1.19 to 1.22 did something else.

    Exit status 0: migrated, and under --check no decision is different; 1: some are; 2: bad input.

    \b
    kubeclassic policy migrate scheduler.json --release 1.16 --to 1.36 --output profile.yaml --check cluster/
    """
    from ..algorithmprovider.config import read_policy_file
    from ..algorithmprovider.gates import parse_gates
    from ..questions.migrate import MigrateOptions, ask, check_spread
    from ..simulation.scenario import Files
    from .answering import answer, write_yaml
    from .notices import tell_line
    from .opening import Console, reading

    output = output.settled(FORMS)
    _check_given(paths, more, report, newer_labels, extenders)
    read = read_policy_file(file)
    profile = None if read.profile is None else read.profile.data
    before, after = _releases(release, target, profile)
    check_spread(before, after, selector_spread)
    options = MigrateOptions(
        policy=read.policy, config=attrs.evolve(read.config, gates={**read.config.gates, **parse_gates(gates or "")}),
        written=None if read.document is None else read.document.data, release=before, target=after,
        selector_spread=selector_spread, max_pd_vols=environments_max_pd_vols(), profile=profile, extenders=extenders,
    )  # fmt: skip
    cluster, reports = None, report is not None
    if paths:
        with reading((*paths, *more)):
            cluster = Files.read((*paths, *more), keeps_manifests=extenders is not None).scenario(options.scheduler_names)
    found = ask(options, cluster, newer_labels=newer_labels, with_ends=reports, observer=Console(output.verbose))
    forms: Mapping[str, Writer] = {
        "yaml": lambda stream: write_yaml(found.profile, stream),
        "json": lambda stream: stream.write(json.dumps(found.profile, indent=2) + "\n"),
    }
    if cluster is not None and report is not None:  # it is the larger one: where it cannot be written, nothing is
        _report(found, report, cluster, (file, *paths, *more))
    status = answer(found, output, forms=forms)
    for told in found.notes if cluster is None else ():
        tell_line(told)
    if cluster is not None:
        _tell_check(found, show)
    sys.exit(status)


def _check_given(paths: Sequence[Path], more: Sequence[Path], report: str | None, newer_labels: bool, extenders: str | None) -> None:
    """Raise for options that do not go together."""
    if more and not paths:
        raise click.UsageError(f"got {more[0]} after FILE, wanted --check before it")
    given = {"--check": bool(paths), "--report": report is not None, "--newer-labels": newer_labels, "--extenders": extenders is not None}
    check_together(given, NEEDS, ())
    if report is not None and Path(report).suffix not in REPORTS:
        raise UnknownNameError(f'--report: got "{report}", wanted a name that ends in {", ".join(REPORTS)}')


def _tell_check(found: MigrateResult, show: int) -> None:
    """Say what the check found on standard error, with *show* decisions at most."""
    from .console.output import note
    from .notices import tell_unread
    from .report.tables import write_view

    note("")
    with suppress(OSError):
        write_view(attrs.evolve(found, show=show).view(), sys.stderr)
    tell_unread(notice for group in found.warnings for notice in group.notices)


def _releases(release: str | None, target: str | None, profile: Mapping[str, Any] | None) -> tuple[Release, Release]:
    """The release that runs the Policy or the *profile*, and the one that is to run what becomes of it."""
    from ..framework.migrate.profiledocument import target_release
    from ..framework.policy.check import release_with_policies
    from ..framework.profilecheck import release_with_profiles
    from ..framework.releases import framework_release

    if profile is not None:
        return release_with_profiles(release, profile), target_release(target or DEFAULT_FRAMEWORK, "--to")
    release = release or DEFAULT_RELEASE
    named = framework_release(release)
    if target is None and named is not None and named.policies is None:
        release, target = DEFAULT_RELEASE, release
    found = target_release(target or DEFAULT_FRAMEWORK, "--to")
    return release_with_policies(release), found


def _report(found: MigrateResult, report: str, cluster: Scenario, read: Sequence[Path]) -> None:
    """Write the whole proof to the file *report*, in the form that its name says."""
    from ..api.view import CodeText, Words
    from .answering import about, page_of, write_report
    from .report.listing import indented
    from .report.tables import write_view

    def made() -> str:
        form = Path(report).suffix
        if form == ".json":
            return indented(found.proof())
        if form == ".txt":
            text = io.StringIO()
            write_view(found.proof_view(), text)
            return text.getvalue()
        rules = [Words(f"{found.report.source}: ", CodeText(str(read[0])))]
        noted = attrs.evolve(cluster, warnings=tuple(notice for group in found.warnings for notice in group.notices))
        releases = [found.report.release, found.report.target]
        return page_of(found.view(), about(noted, read, releases=releases, rules=rules))

    write_report(report, made)
