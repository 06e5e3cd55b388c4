"""``kubeclassic simulate``: schedule what waits."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import attrs
import click
import yaml

from ..core.decision.decision import Decision
from ..core.engine import Engine
from ..simulation.gcpause import settled
from ..simulation.scenario import Scenario
from ..simulation.simulate import Simulation
from ..simulation.summary import Summary, summarise
from .options import ClusterChoice, cluster_options, scheduler_options
from .output import note, warn, writing
from .progress import following
from .report.simulation import outcome_table, summary_text, wide_table
from .report.words import count_doing, count_of
from .running.cluster import opened
from .running.notices import tell_notices
from .setup import Setup


@click.command(short_help="Where do the waiting pods go?")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@scheduler_options
@cluster_options
@click.option("-o", "form", type=click.Choice(["table", "wide", "json", "jsonl", "yaml", "name"]), default="table", show_default=True)
@click.option("--details", is_flag=True, help="json, jsonl, yaml: feasible nodes, reasons and scores of each cycle too.")
@click.option("--output", metavar="FILE", help="Write the records there, whole or not at all, instead of to standard output.")
@click.option("--verbose", "-v", is_flag=True, help="Say what runs, on standard error.")
def simulate(
    paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, form: str, details: bool, output: str | None, verbose: bool
) -> None:
    """Schedule the pods without a node in PATHS, as kube-scheduler would.

    PATHS are manifests or dumps of a cluster: YAML, JSON, JSON Lines, gzipped or not, directories of them, - for standard input. Nodes
    and pods with a node are the cluster. Pods without a node wait, and so do the pods that Deployments, StatefulSets, DaemonSets, Jobs and
    other workloads still lack. Records go to standard output; summary and warnings to standard error.

    Exit status 0: all placed, 1: some unschedulable, 2: bad input.

    All that scheduling of any release reads, from a live cluster; leave out, from the end, the kinds
    that yours does not know:

    \b
    kubectl get no,po,pv,pvc,sc,svc,rc,rs,sts,deploy,ds,jobs,cj,pdb,pc,ns,csinodes,csidrivers,csistoragecapacities -A -o json > cluster.json

    \b
    kubeclassic simulate cluster.json --release auto --pods new.yaml
    kubeclassic simulate cluster/ --release 1.13 -o jsonl
    kubeclassic simulate cluster/ --profile profile.yaml
    """
    given = opened(paths, cluster, setup)
    scenario, engine = given.scenario, given.engine
    tell(scenario, engine, verbose)
    simulation = Simulation(scenario, engine, cluster.order, details or form == "wide")
    with writing(output) as stream, settled():
        FORMS[form](Records(simulation, stream, details))
    note(summary_text(summarise(simulation)))
    sys.exit(0 if simulation.all_placed else 1)


def tell(scenario: Scenario, engine: Engine, verbose: bool) -> None:
    """Warnings and, where asked for, what runs."""
    algorithm, profiles = engine.algorithm, engine.flow.profiles
    tell_notices(scenario.warnings, verbose)
    if algorithm.extenders:
        warn(f"the {'configuration' if profiles else 'Policy'}'s extenders are not called: {len(algorithm.extenders)}")
    if not verbose:
        return
    waiting = count_doing(len(scenario.pending), "pod", "wait")
    note(f"release {algorithm.release.version}, {count_of(scenario.node_count, 'node')}, {waiting}")
    for line in engine.flow.describe():
        note(line)


# --- forms ----------------------------------------------------------------------------------------------------------


@attrs.frozen
class Records:
    """What a form writes, and where to."""

    simulation: Simulation
    stream: IO[str]
    details: bool

    def decisions(self) -> Iterator[Decision]:
        """The decisions as they are taken, under a progress bar."""
        return following(self.simulation.decisions(), len(self.simulation.scenario.pending))

    def cycles(self) -> Iterator[dict[str, Any]]:
        """The decisions as plain data."""
        return (decision.record(details=self.details) for decision in self.decisions())

    def document(self) -> dict[str, Any]:
        """All cycles and the summary."""
        cycles = list(self.cycles())
        return {"cycles": cycles, "summary": self.summary().record()}

    def summary(self) -> Summary:
        """The summary, once all decisions are taken."""
        return summarise(self.simulation)


def _table(records: Records) -> None:
    for _ in records.decisions():
        pass
    records.stream.write(outcome_table(records.simulation) + "\n")


def _wide(records: Records) -> None:
    decisions = {decision.pod.key: decision for decision in records.decisions()}
    records.stream.write(wide_table(records.simulation, decisions) + "\n")


def _json(records: Records) -> None:
    json.dump(records.document(), records.stream, indent=2)
    records.stream.write("\n")


def _jsonl(records: Records) -> None:
    for cycle in records.cycles():
        records.stream.write(json.dumps(cycle) + "\n")


def _yaml(records: Records) -> None:
    yaml.dump(records.document(), records.stream, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False, allow_unicode=True)


def _name(records: Records) -> None:
    for decision in records.decisions():
        if decision.host is not None:
            records.stream.write(f"{decision.pod.key} {decision.host}\n")


FORMS: dict[str, Callable[[Records], None]] = {
    "table": _table,
    "wide": _wide,
    "json": _json,
    "jsonl": _jsonl,
    "yaml": _yaml,
    "name": _name,
}
