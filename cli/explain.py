"""``kubeclassic explain``: why a pod goes where it goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .declaring.commands import command
from .declaring.options import ClusterChoice, cluster_options, scheduler_options
from .declaring.outputs import takes_report
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from .engines.setup import Setup


@command(short_help="Why does a pod go there, or nowhere?", outputs=["--node", "--all"])
@takes_paths
@click.argument("pod")
@scheduler_options
@cluster_options
@click.option("--namespace", "-n", metavar="NAME", help="The namespace of POD.")
@click.option("--node", metavar="NAME", help="All about this node: each rule in order with its verdict, room, scores.")
@click.option("--all", "every", is_flag=True, help="Show every node, not only the best and the nearest ones; or every change that helps.")
@click.option("--what-if", is_flag=True, help="Tell the smallest single changes after which the pod fits. Each is tried.")
@click.option("--want", metavar="NODE", help="As --what-if, for this node: what keeps the pod from it, and what would bring it there.")
@click.option("--alone", is_flag=True, help="Explain on the cluster as it is, without scheduling the pods before it.")
@click.option(
    "-o",
    "form",
    type=click.Choice(["table", "wide", "json", "yaml", "csv", "html"]),
    default="table",
    show_default=True,
    help="wide: how each score comes about; csv: one line a node; html: a page.",
)
@click.option("--output", metavar="FILE", help="Write the record there, whole or not at all, instead of to standard output.")
@takes_report
@click.option("--verbose", "-v", is_flag=True, help="Say what runs, on standard error.")
def explain(
    paths: tuple[Path, ...], pod: str, setup: Setup, cluster: ClusterChoice, namespace: str | None, node: str | None, every: bool,
    what_if: bool, want: str | None, alone: bool, form: str, output: str | None, report: str | None, verbose: bool,
) -> None:  # fmt: skip
    """Say why POD goes where it goes, or nowhere.

    If it finds no node: the reasons against the nodes in PATHS, the nearest to fitting first, and whether evicting pods would help.
    If it finds one: how the nodes that fit score, which rule decided, and why the others do not fit.

    POD is namespace/name, or name. It may be a workload too, of which one pod stands for all: deploy/web, sts/db, ds/agent, job/report,
    rs/..., by kubectl's short names. The pods that `kubeclassic simulate` tries before it are scheduled first, so that both say the same.
    A pod that has a node is decided as if it had none, and as if it were not there: why is it on that node, could it be elsewhere?

    With --what-if: what would help, the changes that disturb least first. Edits are for --set, which takes them as they are printed.

    Exit status 0: it finds a node (with --node: it fits there; with --what-if: or something helps), 1: it does not, 2: bad input.

    \b
    kubeclassic explain cluster/ shop/web-0
    kubeclassic explain cluster/ deploy/web -n shop --node worker-7
    kubeclassic explain cluster/ shop/web-0 --report web.html
    kubeclassic explain cluster/ shop/web-0 --what-if
    kubeclassic explain cluster/ shop/web-0 --want worker-7
    """
    if what_if or want is not None:
        from .running.questions.whatif import WhatIfOptions
        from .running.questions.whatif import run as run_what_if

        run_what_if(paths, pod, setup, cluster, WhatIfOptions(want, namespace, node, every, alone, form, output, verbose, report))
    from .running.explain import run

    run(
        paths, pod, setup, cluster, namespace=namespace, node=node, every=every, alone=alone, form=form, output=output, report=report,
        verbose=verbose,
    )  # fmt: skip
