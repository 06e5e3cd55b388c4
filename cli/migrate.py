"""``kubeclassic policy migrate``: a Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from ..choices import DEFAULT_FRAMEWORK, DEFAULT_RELEASE, DEVIATIONS
from ..exceptions import UnknownNameError
from .declaring.commands import command
from .declaring.options import environments_max_pd_vols
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
NEEDS = (("--report", "--check"), ("--newer-labels", "--check"))


@command("migrate", short_help="The Policy as a KubeSchedulerConfiguration.")
@click.argument("file", type=FILE)
@click.option(
    "--release", metavar="RELEASE", default=DEFAULT_RELEASE, show_default=True,
    help="The release that runs it now; one with plugins is short for --to.",
)  # fmt: skip
@click.option("--to", "target", metavar="RELEASE", help=f"The release that is to run the profile.  [default: {DEFAULT_FRAMEWORK}]")
@click.option("--feature-gates", "gates", metavar="A=true,...", help="Gates that differ from the release's defaults.")
@click.option(
    "--without", "undone", multiple=True, metavar="NAME",
    help=f"Translate this point, or all, as upstream's own translation of 1.19 to 1.22 did: {', '.join(DEVIATIONS)}.",
)  # fmt: skip
@click.option("--selector-spread", is_flag=True, help="Spread pods with plugin SelectorSpread, the old formula (to 1.28).")
@click.option("--check", "paths", type=FILE, multiple=True, metavar="PATH", help="Try both on this cluster; more paths may follow.")
@takes_cluster
@click.option("--newer-labels", is_flag=True, help="Check with the node labels of newer releases beside the old ones, as after an upgrade.")
@output_options(
    FormOrFile(FORMS), "How to write it.", default="yaml", what="the profile", headers=False, page=False,
    verbose="List every warning about the cluster of --check.",
)  # fmt: skip
@click.option("--report", metavar="FILE", help="Write the whole proof there: .html (a page to file), .json or .txt.")
@click.option("--show", type=Whole(0), default=20, show_default=True, help="Show at most this many different decisions.")
@click.argument("more", type=FILE, nargs=-1)
def migrate_policy(
    file: Path, release: str, target: str | None, gates: str | None, undone: tuple[str, ...], selector_spread: bool,
    paths: tuple[Path, ...], newer_labels: bool, output: Output, report: str | None, show: int, more: tuple[Path, ...],
) -> None:  # fmt: skip
    """Translate the Policy in FILE to a profile of plugins, and list on standard error what has no exact equivalent.

    FILE may be a ConfigMap, or a KubeSchedulerConfiguration (v1alpha1) that points to a Policy; - is standard input.

    With --check the old release and the profile both decide on every waiting pod, on the same state, as `compare --mode locked` does; only
    the decisions of the old release take effect. All nodes are looked at. A decision is the same; or among the best, if the profile takes
    another node that the old release scores as high as its own; or different. --report FILE.html holds all that an audit wants: the Policy,
    the profile, the notes, the check, what to do next, and for each point in which this is not upstream's translation what undoing it
    would change on these pods.

    Exit status 0: migrated, and under --check no decision is different; 1: some are; 2: bad input.

    \b
    kubeclassic policy migrate scheduler.json --release 1.16 --to 1.34 --output profile.yaml --check cluster/
    """
    from ..algorithmprovider.config import read_policy_file
    from ..algorithmprovider.gates import parse_gates
    from ..framework.migrate.deviations import named
    from ..questions.migrate import MigrateOptions, ask
    from ..simulation.scenario import read_scenario
    from .answering import answer, write_yaml
    from .notices import tell_line
    from .opening import Console, reading

    output = output.settled(FORMS)
    if more and not paths:
        raise click.UsageError(f"got {more[0]} after FILE, wanted --check before it")
    check_together({"--check": bool(paths), "--report": report is not None, "--newer-labels": newer_labels}, NEEDS, ())
    if report is not None and Path(report).suffix not in REPORTS:
        raise UnknownNameError(f'--report: got "{report}", wanted a name that ends in {", ".join(REPORTS)}')
    before, after = _releases(release, target)
    read = read_policy_file(file)
    options = MigrateOptions(
        policy=read.policy, config=attrs.evolve(read.config, gates={**read.config.gates, **parse_gates(gates or "")}),
        written=None if read.document is None else read.document.data, release=before, target=after, without=named(undone),
        selector_spread=selector_spread, max_pd_vols=environments_max_pd_vols(),
    )  # fmt: skip
    cluster = None
    if paths:
        with reading((*paths, *more)):
            cluster = read_scenario((*paths, *more), scheduler_name=options.config.scheduler_name)
    console, reports = Console(output.verbose), report is not None
    found = ask(options, cluster, newer_labels=newer_labels, tries=reports, correlates=reports, observer=console)
    forms: Mapping[str, Writer] = {
        "yaml": lambda stream: write_yaml(found.profile, stream),
        "json": lambda stream: stream.write(json.dumps(found.profile, indent=2) + "\n"),
    }
    status = answer(found, output, forms=forms)
    for told in found.notes:
        tell_line(told)
    if cluster is not None:
        _tell_check(found, show)
        if report is not None:
            _report(found, report, cluster, (file, *paths, *more))
    sys.exit(status)


def _tell_check(found: MigrateResult, show: int) -> None:
    """Say what the check found on standard error, with *show* decisions at most."""
    from .console.output import note
    from .notices import tell_unread
    from .report.viewtext import write_view

    note("")
    with suppress(OSError):
        write_view(attrs.evolve(found, show=show).view(), sys.stderr)
    tell_unread(notice for group in found.warnings for notice in group.notices)


def _releases(release: str, target: str | None) -> tuple[Release, Release]:
    """The release that runs the Policy, and the one that is to run the profile."""
    from ..algorithmprovider.config import release_of_policies
    from ..framework.releases import FRAMEWORK_RELEASES, framework_release

    if target is None and framework_release(release) is not None:
        release, target = DEFAULT_RELEASE, release
    found = framework_release(target or DEFAULT_FRAMEWORK)
    if found is None:
        raise UnknownNameError(f"--to: got {target}, wanted {', '.join(FRAMEWORK_RELEASES)}")
    return release_of_policies(release), found


def _report(found: MigrateResult, report: str, cluster: Scenario, read: Sequence[Path]) -> None:
    """Write the whole proof to the file *report*, in the form that its name says."""
    from .answering import about, write_report
    from .report.documents import indented
    from .report.page.markup import code, named, sentence
    from .report.questions.migrationpage import migration_html
    from .report.viewtext import write_view

    def made() -> str:
        form = Path(report).suffix
        if form == ".json":
            return indented(found.proof())
        if form == ".txt":
            text = io.StringIO()
            write_view(found.proof_view(), text)
            return text.getvalue()
        undone = found.report.undone
        rules = [sentence("Policy: ", code(str(read[0])))]
        rules += [sentence("as upstream in: ", named(", ".join(undone)))] if undone else []
        noted = attrs.evolve(cluster, warnings=tuple(notice for group in found.warnings for notice in group.notices))
        releases = [found.report.release, found.report.target]
        return migration_html(found, about(noted, read, releases=releases, rules=rules))

    write_report(report, made)
