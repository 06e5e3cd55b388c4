"""``kubeclassic.simulate``: where do the waiting pods go?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.notebooks import NodeMap, Share
from ...api.reading.notices import NoticeGroup
from ...api.record import replace
from ...core.arrays.table import NodeTable
from ...core.decision.decision import Decision
from ..records import SimulationDocument, WholeSimulation
from ..replacements import Replacements
from ..simulate import Outcome, Simulation
from ..summary import Summary
from .given import GivenCluster, GivenScheduler, check_order, scenario_of, spec_of, warnings_of
from .results import Result, Row, Table


@attrs.frozen(eq=False, repr=False)
class SimulationResult(Result):
    """What became of the pods that waited."""

    document: SimulationDocument
    """What ``-o json`` prints, without the cycles."""
    decisions: tuple[Decision, ...]
    """Of each cycle, in order; a pod that preempted others has two."""
    outcomes: Mapping[str, Outcome]
    """Pod -> what became of it in the end."""
    evicted: Mapping[str, str]
    """Pod that had to leave -> the pod that took its place."""
    nodes: tuple[Row, ...]
    """A row a node at the end: its pods, and of each resource what is requested and what is allocatable."""
    ok: bool
    """Whether each pod that waited has a node and need not wait there, or another pod in its place that has: what the command's exit
    status says."""
    warnings: tuple[NoticeGroup, ...] = ()
    details: bool = False

    @property
    def release(self) -> str:
        """The release that scheduled."""
        return self.document.release

    @property
    def summary(self) -> Summary:
        """How many pods found a node, and how full the nodes are."""
        return self.document.summary

    @property
    def hosts(self) -> dict[str, str | None]:
        """Pod -> its node; None where it has none."""
        return {key: outcome.host for key, outcome in self.outcomes.items()}

    def record(self) -> dict[str, Any]:
        cycles = [decision.cycle(details=self.details) for decision in self.decisions]
        return self._plain(lambda warnings: replace(self.document, cycles=cycles, warnings=warnings))

    def tables(self) -> Mapping[str, Table]:
        pods = [{"pod": key, "host": outcome.host, "error": outcome.error} for key, outcome in self.outcomes.items()]
        return {"pods": Table(("pod", "host", "error"), pods), "nodes": Table.of(self.nodes, ("node", "pods"))}

    def facts(self) -> Mapping[str, object]:
        told = self.summary
        return {
            "release": self.release, "pods": told.pods, "placed": told.placed, "unschedulable": told.unschedulable or None,
            "gated": told.gated or None, "evicted": told.evicted or None, "nodes": told.nodes,
        }  # fmt: skip

    def verdict(self) -> str:
        told = self.summary
        if told.placed == told.pods:
            return f"All {told.pods:,} pods get a node." if told.pods else "No pod waits."
        others = told.pods - told.placed
        return f"{told.placed:,} of {told.pods:,} pods get a node; {others:,} {'gets' if others == 1 else 'get'} none."

    def shares(self) -> Sequence[Share]:
        told = self.summary
        others = told.pods - told.placed - told.unschedulable - told.gated
        parts = (("placed", told.placed, "good"), ("unschedulable", told.unschedulable, "bad"), ("gated", told.gated, "held"))
        return [Share(*part) for part in (*parts, ("other", others, "near")) if part[1] > 0]

    def node_map(self) -> NodeMap | None:
        resources = [name for name in ("cpu", "memory") if any(row.get(name) for row in self.nodes)]
        uses = {name: [_use(row, name) for row in self.nodes] for name in resources}
        return NodeMap([row["node"] for row in self.nodes], uses) if uses else None


def simulate(
    cluster: GivenCluster, scheduler: GivenScheduler = None, *, pods: GivenCluster = (), order: str = "input", details: bool = False,
    defaults: bool = True, edits: str | Iterable[str] = (), reschedule_evicted: bool = False,
) -> SimulationResult:  # fmt: skip
    """Schedule the pods that wait in *cluster*, as kube-scheduler would; the cluster itself does not change.

    :param cluster: a Cluster; a path or several; objects and manifests.
    :param pods: more pods (or workloads) that wait, given like the cluster.
    :param order: in which order pods are tried: ``input``, ``priority`` or ``queue``.
    :param details: whether decisions keep the nodes that fit, reasons and scores.
    :param defaults: False: take objects as they are, without the API server's defaults.
    :param edits: changes before anything runs, such as ``"pod web/* requests.cpu=500m"``: what ``--set`` takes.
    :param reschedule_evicted: whether owners of evicted pods make new ones, which are tried after the others.
    :param scheduler: its options, such as ``Classic(policy="policy.json")``, or a release.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> simulate([node, {"kind": "Pod", "metadata": {"name": "web"}}], "1.14")
    <SimulationResult: release 1.14, pods 1, placed 1, nodes 1>
    """
    spec = spec_of(scheduler, cluster)
    scenario = scenario_of(
        cluster,
        pods,
        scheduler_names=spec.scheduler_names,
        defaults=defaults,
        edits=edits,
        priorities=spec.keeps_priorities,
    )
    engine = spec.engine(scenario.config_maps)
    simulation = Simulation(scenario, engine, check_order(order), details)
    if reschedule_evicted:
        simulation.replacements = Replacements.of_scenario(scenario, spec.scheduler_names)
    whole = WholeSimulation(simulation)
    simulation.on_begin = whole.begin
    decisions = tuple(simulation.decisions())
    return SimulationResult(
        document=whole.document(), decisions=decisions, outcomes=dict(simulation.outcomes), evicted=simulation.evicted,
        nodes=tuple(_nodes(engine.table)), ok=simulation.all_placed, warnings=warnings_of(scenario, scheduler, engine), details=details,
    )  # fmt: skip


def _use(row: Row, resource: str) -> float | None:
    return row[f"{resource} requested"] / row[resource] if row.get(resource) else None


def _nodes(table: NodeTable) -> Iterator[Row]:
    for name, row in table.row_of.items():
        if table.has_node[row]:
            found: Row = {"node": name, "pods": int(table.pod_count[row]), "max pods": int(table.max_pods[row])}
            for resource, at in table.resources.items():
                found |= {f"{resource} requested": int(table.requested[at, row]), resource: int(table.allocatable[at, row])}
            yield found
