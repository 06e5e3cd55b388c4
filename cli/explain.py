"""``kubeclassic explain``: why a pod goes where it goes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .declaring.commands import CommonOption, command
from .declaring.options import ClusterChoice, cluster_options, scheduler_options
from .declaring.outputs import Output, check_together, output_options
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from .declaring.setup import Setup

FORMS = ("table", "wide", "json", "yaml", "csv", "html")
NOT_WITH_CHANGES = ("--node", "--want NODE asks about it")
"""What cannot be combined with --what-if and --want, and why."""


@command(short_help="Why does a pod go there, or nowhere?", outputs=["--node", "--all"])
@takes_paths()
@click.argument("pod")
@scheduler_options
@cluster_options
@click.option("--namespace", "-n", cls=CommonOption, metavar="NAME", help="The namespace of POD.")
@click.option("--node", metavar="NAME", help="All about this node: each rule in order with its verdict, room, scores.")
@click.option("--all", "every", is_flag=True, help="Show every node, not only the best and the nearest ones; or every change that helps.")
@click.option("--what-if", cls=CommonOption, is_flag=True, help="Tell the smallest changes after which the pod fits. Each is tried.")
@click.option(
    "--want", cls=CommonOption, metavar="NODE",
    help="As --what-if, for this node: what keeps the pod from it, and what would bring it there.",
)  # fmt: skip
@click.option("--alone", is_flag=True, help="Explain on the cluster as it is, without scheduling the pods before it.")
@output_options(
    FORMS, "wide: how each score comes about; csv: one line a node; html: a page.", what="the record", headers=False,
    verbose="Say what runs, on standard error.",
)  # fmt: skip
def explain(
    paths: tuple[Path, ...], pod: str, setup: Setup, cluster: ClusterChoice, output: Output, what_if: bool, want: str | None, **asked: Any
) -> None:
    """Say why POD goes where it goes, or nowhere.

    If it finds no node: the reasons against the nodes in PATHS, the nearest to fitting first, and whether evicting pods would help.
    If it finds one: how the nodes that fit score, which rule decided, and why the others do not fit.

    POD is namespace/name, or name. It may be a workload too: deploy/web, sts/db, ds/agent, job/report, rs/..., by kubectl's short
    names. Then all its pods have their turn, and the first that finds no node is explained; if all find one, one pod stands for all.
    The pods that `kubeclassic simulate` tries before it are scheduled first, so that both say the same.
    A pod that has a node is decided as if it had none, and as if it were not there: why is it on that node, could it be elsewhere?

    With --what-if: what would help, the changes that disturb least first. Edits are for --set, which takes them as they are printed.

    Exit status 0: it finds a node, if only by evicting others, or all pods of the workload do (with --node: it fits there; with
    --what-if: or something helps), 1: it does not, 2: bad input.

    \b
    kubeclassic explain cluster/ shop/web-0
    kubeclassic explain cluster/ deploy/web -n shop --node worker-7
    kubeclassic explain cluster/ shop/web-0 --report web.html
    kubeclassic explain cluster/ shop/web-0 --what-if --report help.html
    kubeclassic explain cluster/ shop/web-0 --want worker-7
    """
    if "," in (setup.release or ""):
        start, *_, end = (setup.release or "").split(",")
        instead = f"kubeclassic upgrade ... --from {start} --to {end} --pod {pod}"
        raise click.UsageError(f"--release: got {setup.release}, wanted one release; what differs between two: {instead}")
    if what_if or want is not None:
        sys.exit(_what_if(paths, setup, cluster, output, pod=pod, want=want, **asked))
    from ..questions.explain import ExplainOptions, ask
    from .answering import about_input, answer
    from .opening import Console, opened

    given = opened(paths, cluster, setup)
    found = ask(given, ExplainOptions(pod=pod, maps=output.makes_page, **asked), Console(output.verbose))
    sys.exit(answer(found, output, lambda: about_input(given, [*paths, *cluster.pods])))


def _what_if(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, output: Output, node: str | None, **asked: Any) -> int:
    option = "--what-if" if asked["want"] is None else "--want"
    check_together({"--node": node is not None, option: True}, (), [(option, *NOT_WITH_CHANGES)])
    from ..questions.whatif import WhatIfOptions, ask
    from .answering import about_input, answer
    from .opening import Console, opened

    given = opened(paths, cluster, setup)
    found = ask(given, WhatIfOptions(maps=output.makes_page, **asked), Console(output.verbose))
    return answer(found, output, lambda: about_input(given, [*paths, *cluster.pods]))
