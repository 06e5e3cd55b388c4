"""``kubeclassic run``: a live scheduler."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .commands import command
from .options import scheduler_options
from .paramtypes import FILE

if TYPE_CHECKING:
    from .setup import Setup


@command(short_help="Schedule the pods of a live cluster.", outputs=("--explain",))
@click.option("--kubeconfig", type=FILE, help="How to reach the API server.  [default: as a pod of the cluster]")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig.  [default: its current context]")
@scheduler_options
@click.option("--dry-run", is_flag=True, help="Decide and tell, but write nothing to the cluster.")
@click.option("--explain", is_flag=True, help="Tell with each decision which nodes fit, how they score, and why the others do not.")
@click.option("-o", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How decisions are told: lines.")
def run(kubeconfig: Path | None, context: str | None, setup: Setup, dry_run: bool, explain: bool, form: str) -> None:
    """Watch an API server, and schedule its pods as the release does: bind them, or say why they wait.

    Pods that ask for another schedulerName are left alone. Beside the cluster's own scheduler give it a name of its own, or --dry-run.
    With --dry-run decisions go to standard output; otherwise only what fails is told, on standard error.

    Exit status 0: ended by SIGTERM, 2: bad input, 130: interrupted.

    \b
    kubeclassic run --kubeconfig ~/.kube/config --scheduler-name classic --release 1.14
    kubeclassic run --kubeconfig ~/.kube/config --dry-run --explain -o json
    """
    from .running.run import run_scheduler

    sys.exit(run_scheduler(kubeconfig, context, setup, dry_run=dry_run, explain=explain, form=form))
