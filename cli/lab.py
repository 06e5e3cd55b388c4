"""``kubeclassic lab``: a page on which configurations are tried."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .declaring.commands import INPUT, SECTIONS, command
from .declaring.options import ClusterChoice, cluster_options, scheduler_options
from .declaring.paramtypes import FILE, Whole
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from .engines.setup import Setup

SECTIONS["--replay"] = INPUT


@command(short_help="Try it: move weights and edit the cluster on a page, and see what changes.")
@takes_paths
@scheduler_options
@cluster_options
@click.option("--replay", "replays", type=FILE, multiple=True, help="More events for the clock: recordings or scenarios, as for `replay`.")
@click.option("--port", type=Whole(0, 65535), metavar="N", default=0, show_default="any free one", help="The port to listen on.")
@click.option("--no-open", is_flag=True, help="Do not open the page in the browser; the address is on standard error.")
@click.option("--verbose", "-v", is_flag=True, help="Say what runs, on standard error.")
def lab(
    paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, replays: tuple[Path, ...], port: int, no_open: bool, verbose: bool
) -> None:
    """Open a page on the cluster in PATHS: choose release and rules, move weights, edit pods and nodes, and see what changes.

    PATHS are as `simulate` takes them, and so are the options, with which the lab begins. Each picture is what `simulate` would answer.
    The page compares it with the step before, with the start, or with a pinned configuration; says why a pod goes there and not to
    another node; steps through a replay; and saves a Policy, a profile, manifests, a report, or the commands that give the same placement.

    The server listens on 127.0.0.1 alone, and answers only to who knows the token in its address. What was tried is kept until it ends:
    pages can be closed and opened again. Ctrl-C ends it.

    Exit status 0: it was told to end, 2: bad input.

    \b
    kubeclassic lab examples/cluster
    kubeclassic lab cluster.json --release auto --policy policy.json
    kubeclassic lab --kubeconfig ~/.kube/config --no-open --port 8080
    """
    from .running.lab.asked import LabOptions
    from .running.lab.lab import run

    given = click.get_current_context().params
    live = [word for name in ("kubeconfig", "context") if given.get(name) is not None for word in (f"--{name}", str(given[name]))]
    sys.exit(run(setup, LabOptions(
        paths=paths, live=tuple(live), cluster=cluster, replays=replays, port=port, opens=not no_open, verbose=verbose,
    )))  # fmt: skip
