"""``kubeclassic upgrade``: the same pods through every release on the way."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..choices import DEFAULT_RELEASE, LOCKED, MODES, NEWEST_RELEASE
from ..exceptions import UnknownNameError
from .declaring.commands import CommonOption, command
from .declaring.options import ClusterChoice, cluster_options, process_options
from .declaring.outputs import Output, check_together, output_options
from .declaring.paramtypes import FILE
from .declaring.paths import takes_paths

FORMS = ("table", "wide", "json", "yaml", "csv", "html")


@command(short_help="Which upgrade moves which pod, and why?")
@takes_paths()
@click.option(
    "--from", "start", cls=CommonOption, metavar="RELEASE",
    help=f"The release of today.  [default: that of the nodes; {DEFAULT_RELEASE} with --policy, or where they say none]",
)  # fmt: skip
@click.option(
    "--to", "end", cls=CommonOption, metavar="RELEASE", default=NEWEST_RELEASE, show_default=True,
    help="The release at the end of the way.",
)  # fmt: skip
@click.option("--steps", metavar="A,B", help="These releases alone, oldest first, in place of every one from --from to --to.")
@click.option(
    "--policy", cls=CommonOption, type=FILE, metavar="FILE",
    help="The Policy of today; it is carried over by its own releases, then migrated.",
)  # fmt: skip
@click.option("--profile", cls=CommonOption, type=FILE, metavar="FILE", help="The component configuration of today.")
@click.option("--percentage", type=click.IntRange(0, 100), metavar="N", help="percentageOfNodesToScore in all releases.")
@click.option(
    "--pod", cls=CommonOption, metavar="NAMESPACE/NAME", default="",
    help="The way of this pod alone, and the first release that moves it.",
)  # fmt: skip
@click.option(
    "--mode", type=click.Choice(MODES), default=LOCKED, show_default=True,
    help="locked: all on the states of --from; free: each on its own.",
)  # fmt: skip
@process_options(1, "1")
@cluster_options
@output_options(
    FORMS, "wide: the rule and the fact too; csv: one line a decision; html: a page.", verbose="List every warning, on standard error.",
)  # fmt: skip
@click.option("--show", type=click.IntRange(min=0), default=20, show_default=True, help="table: list this many decisions.")
def upgrade(
    paths: tuple[Path, ...], start: str | None, end: str, steps: str | None, policy: Path | None, profile: Path | None,
    percentage: int | None, pod: str, mode: str, jobs: int, dask: str | None, cluster: ClusterChoice, output: Output, show: int,
) -> None:  # fmt: skip
    """Schedule the pods that wait in PATHS in each release from --from to --to, and say which release moves which pod, and why.

    For each step from one release to the next: how many decisions differ, who gains a node and who loses one, and the cause of each
    difference: the rule, and what the release does otherwise, in a sentence with its number. A cause is found by trying: the newer
    release without that one change decides as the older one did.

    With --mode locked all releases decide on the same states, which the decisions of --from make, so that no difference results from
    another. With --mode free each places the pods in its own copy of the cluster; where the nodes are only filled otherwise by then, the
    cause is an earlier decision.

    With --jobs or --dask the releases run beside each other; the answer is the same.

    A Policy runs by the translation of each release that reads one, and then as the profile that `policy migrate` makes of it.

    Exit status 0: no decision differs (with --pod: none on that pod), 1: some do, 2: bad input.

    \b
    kubeclassic upgrade cluster/ --from 1.16 --to 1.36
    kubeclassic upgrade cluster/ --from 1.16 --policy policy.json --to 1.27 --report upgrade.html
    kubeclassic upgrade cluster/ --steps 1.16,1.22,1.27 --pod shop/web-0
    kubeclassic upgrade cluster/ --from 1.12 --mode free --jobs 4
    """
    from ..framework.releases import find_any_release, nearest_release, telling_versions
    from ..questions.upgrade import UpgradeOptions, ask, started_with
    from ..simulation.executors import executor_of
    from .answering import about, answer
    from .console.output import note
    from .opening import Console, scenario_of_default, version_read

    check_together({"--policy": policy is not None, "--profile": profile is not None}, [], [("--policy", "--profile")])
    given = started_with(policy, profile, percentage)
    ways = tuple(filter(None, (steps or "").split(",")))
    scenario = None
    if start is None and not ways:
        scenario = scenario_of_default(paths, cluster)
        runs = telling_versions((node.status.kubelet_version for node in scenario.nodes), version_read())
        nearest = nearest_release(runs) if policy is None else None
        start = DEFAULT_RELEASE if nearest is None else nearest[0].version
        if nearest is not None:
            note(f"from {start}: the cluster runs {nearest[1]}")
        if start == find_any_release(end).version:
            raise UnknownNameError(f"--from: got none, and the cluster runs {start}, wanted an earlier release")
    options = UpgradeOptions(
        start=start or "", end=end, steps=ways, given=given, mode=mode, pod=pod, show=None if output.wide else show
    )  # fmt: skip
    versions = options.versions  # mistakes are told before the cluster is read
    scenario = scenario or scenario_of_default(paths, cluster)
    with executor_of(jobs, dask) as executor:
        found = ask(scenario, options, cluster.order, Console(output.verbose), executor)
    sys.exit(answer(found, output, lambda: about(scenario, (*paths, *cluster.pods), releases=versions)))
