"""``kubeclassic explain``: why a pod goes where it goes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ..simulation.explain import explain as explain_now
from ..simulation.explain import explain_in
from ..simulation.simulate import Simulation
from .commands import command
from .options import ClusterChoice, cluster_options, scheduler_options
from .output import writing
from .paths import takes_paths
from .report.explanation import explanation_text
from .running.cluster import opened
from .running.simulate import tell
from .setup import Setup


@command(short_help="Why does a pod go there, or nowhere?")
@takes_paths
@click.argument("pod")
@scheduler_options
@cluster_options
@click.option("--alone", is_flag=True, help="Explain on the cluster as it is, without scheduling the pods before it.")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--output", metavar="FILE", help="Write the record there, whole or not at all, instead of to standard output.")
@click.option("--verbose", "-v", is_flag=True, help="Say what runs, on standard error.")
def explain(
    paths: tuple[Path, ...], pod: str, setup: Setup, cluster: ClusterChoice, alone: bool, form: str, output: str | None, verbose: bool
) -> None:
    """Show for every node in PATHS why it rejects POD, or how it scores; and which resources are short, by how much.

    POD is namespace/name, or a name that only one waiting pod has. The pods that `kubeclassic simulate` tries before it are scheduled
    first, so that both say the same.

    Exit status 0: it finds a node, 1: it finds none, 2: bad input.

    \b
    kubeclassic explain cluster/ shop/web-0
    """
    given = opened(paths, cluster, setup)
    scenario, engine = given.scenario, given.engine
    wanted = scenario.find_pod(pod)
    tell(scenario, engine, verbose)
    simulation = Simulation(scenario, engine, cluster.order)
    if alone:
        simulation.begin()
    explanation = explain_now(simulation.engine, wanted) if alone else explain_in(simulation, wanted)
    with writing(output) as stream:
        stream.write((json.dumps(explanation.record(), indent=2) if form == "json" else explanation_text(explanation)) + "\n")
    sys.exit(0 if explanation.decision.host is not None else 1)
