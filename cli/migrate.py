"""``kubeclassic policy migrate``: a Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..choices import DEFAULT_FRAMEWORK, DEFAULT_RELEASE, DEVIATIONS
from .declaring.commands import command
from .declaring.paramtypes import FILE, FormOrFile, Whole, form_and_file
from .declaring.paths import takes_cluster

FORMS = ("yaml", "json")


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
@click.option("-o", "form", type=FormOrFile(FORMS), default="yaml", show_default=True)
@click.option("--output", metavar="FILE", help="Write the profile there, whole or not at all, instead of to standard output.")
@click.option("--report", metavar="FILE", help="Write the whole proof there: .html (a page to file), .json or .txt.")
@click.option("--verbose", "-v", is_flag=True, help="List every warning about the cluster of --check.")
@click.option("--show", type=Whole(0), default=20, show_default=True, help="Show at most this many different decisions.")
@click.argument("more", type=FILE, nargs=-1)
def migrate_policy(file: Path, release: str, form: str, output: str | None, **options: Any) -> None:
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
    from .running.policies.migrate import MigrateOptions, run

    form, output = form_and_file(form, FORMS, output)
    run(file, release, MigrateOptions(form=form, output=output, **options))
