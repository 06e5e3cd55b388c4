"""``kubeclassic capacity``: how many more pods fit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .declaring.commands import command
from .declaring.options import ClusterChoice, input_options, scheduler_options
from .declaring.paramtypes import FILE, FileName, TextType, Whole, plain_number
from .declaring.paths import takes_paths
from .declaring.reportoption import takes_report

if TYPE_CHECKING:
    from .engines.setup import Setup

FORMS = ("table", "wide", "json", "yaml", "csv", "html")


class Ratio(TextType):
    """Whole numbers with colons between them, such as ``3:1``."""

    name = "ratio"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """*value* as numbers of 1 or more."""
        numbers = [plain_number(part) for part in str(value).split(":")]
        if any(number is None or number < 1 for number in numbers):
            self.fail(f"got {value!r}, wanted whole numbers of 1 or more with colons between them, such as 3:1", param, ctx)
        return tuple(numbers)


@command(short_help="How many more pods fit, and what stops the next?", outputs=["--plot"])
@takes_paths
@scheduler_options
@input_options
@click.option(
    "--pod", "--podspec", "templates", type=FILE, multiple=True,
    help="A Pod, a PodTemplate or a workload, of which copies are placed. Several take turns.",
)  # fmt: skip
@click.option("--ratio", type=Ratio(), metavar="N:N...", help="How many copies of each --pod come in turn.  [default: one of each]")
@click.option("--pods", "wanted", type=Whole(1), metavar="N", help="Ask whether N copies fit; stop there. Exit status 1 if fewer do.")
@click.option("--max-limit", type=Whole(0), metavar="N", default=0, help="Stop after N copies.  [default: 0, no limit]")
@click.option(
    "--exclude-nodes", "exclude", multiple=True, metavar="NAMES|SELECTOR",
    help="Leave these nodes out, and the pods on them: a,b or pool=gpu,zone!=z1.",
)  # fmt: skip
@click.option("--pending-first", is_flag=True, help="Place the pods that wait before all copies. Else they are left out.")
@click.option("--preemption", "preempts", is_flag=True, help="Let copies evict pods of lower priority. Else they take free room only.")
@click.option(
    "--curve", multiple=True, metavar="RESOURCE=FROM..TO[:STEPS][:log],...",
    help="Count for many sizes of the pod, such as cpu=100m..4:20,memory=1Gi..8Gi. Without --pod: of one that requests nothing else.",
)  # fmt: skip
@click.option("--plot", type=FileName(allow_dash=False), help="With --curve: draw the counts into this file too: .svg, .png or .pdf.")
@click.option(
    "--add-node", multiple=True, metavar="FILE|like:NODE",
    help="Say how many new nodes are needed: of the Node in FILE, or copies of a node. Several: the cheapest mix of them.",
)  # fmt: skip
@click.option("--cost", multiple=True, metavar="NAME=NUMBER", help="What a new node costs, by the name of its kind.  [default: 1 each]")
@click.option("--most-nodes", type=Whole(1), metavar="N", help="Add N nodes at most.  [default: as many as there are pods]")
@click.option("--most-trials", type=Whole(1), metavar="N", help="Simulate N cheaper mixes at most for the proof that none of them does.")
@click.option(
    "-o", "form", type=click.Choice(FORMS), default="table", show_default=True,
    help="How to write it; csv: a line a node; html: a page.",
)  # fmt: skip
@click.option("--no-headers", is_flag=True, help="Leave out the headers of tables and CSV.")
@click.option("--output", metavar="FILE", help="Write the answer there, whole or not at all, instead of to standard output.")
@takes_report
@click.option("--verbose", "-v", is_flag=True, help="As -o wide: what a copy requests, and every node; and what runs, on standard error.")
def capacity(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, **asked: Any) -> None:
    """Count how many more copies of a pod fit into the cluster in PATHS, and say what stops the next one.

    PATHS are manifests or dumps of a cluster, as for `simulate`. Copies are placed one by one, as kube-scheduler would place them, until
    the next one fits nowhere. Nothing is evicted, unless with --preemption. Pods that wait in the cluster are left out, unless with
    --pending-first. Copies are admitted as the API server would do it: LimitRanges of their namespace give requests and limits, and
    ResourceQuotas stop them (dump them too: add quota,limits to the kinds that `simulate --help` lists). With several --pod the first
    copy that finds no place stops all, so that the ratio holds.

    `room for copies by it alone` is how many copies would fit if no other resource counted, on nodes that take such pods.

    With --curve the count is made for each of many sizes of the pod's first container, each time in the same cluster: in even steps, or
    with :log in steps that grow. The table then has a row a size, or, for two resources, a row and a column.

    With --add-node it says how many new nodes are needed so that all pods that wait find a node, or with --pod and --pods N copies do, and
    simulates it with one node less. Several kinds: the mix that costs least. Exit status 1: no number of them is enough.

    Exit status 0: some fit, or all that --pods wants; 1: none, or fewer; 2: bad input.

    \b
    kubeclassic capacity cluster.json --pod small-pod.yaml
    kubeclassic capacity cluster/ --pod web.yaml --pod db.yaml --ratio 3:1 -o wide
    kubeclassic capacity cluster/ --pod deployment.yaml --pods 20 --exclude-nodes pool=gpu -o json
    kubeclassic capacity cluster/ --curve cpu=100m..4:20,memory=1Gi..16Gi:6:log --plot sizes.svg
    kubeclassic capacity cluster/ --pod web.yaml --report capacity.html
    kubeclassic capacity cluster/ --add-node big.yaml --add-node like:node-7 --cost big=3,node-7=1
    """
    from .running.questions.capacity import CapacityOptions, run

    sys.exit(run(paths, setup, cluster, CapacityOptions(**asked)))
