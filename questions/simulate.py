"""``kubeclassic.simulate``: where do the waiting pods go?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from ..api.reading.notices import NoticeGroup
from ..api.record import replace
from ..api.view import NodeMap, Share, View, table_of
from ..core.arrays.table import NodeTable
from ..core.decision.decision import Decision
from ..simulation.input import GivenCluster, GivenScheduler, check_order, scenario_of, spec_of, warnings_of
from ..simulation.records import SimulationDocument, WholeSimulation
from ..simulation.replacements import Replacements
from ..simulation.simulate import Outcome, Simulation
from ..simulation.summary import Summary
from .result import Result, Row


@attrs.frozen(eq=False, repr=False)
class SimulationResult(Result):
    """What became of the pods that waited."""

    outcome: SimulationDocument
    """The document without the cycles and the warnings."""
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
        return self.outcome.release

    @property
    def summary(self) -> Summary:
        """How many pods found a node, and how full the nodes are."""
        return self.outcome.summary

    @property
    def hosts(self) -> dict[str, str | None]:
        """Pod -> its node; None where it has none."""
        return {key: outcome.host for key, outcome in self.outcomes.items()}

    @property
    def document(self) -> SimulationDocument:
        cycles = [decision.cycle(details=self.details) for decision in self.decisions]
        return replace(self.outcome, cycles=cycles, warnings=self.told_warnings())

    def view(self) -> View:
        found = self.summary
        others = found.placed + found.unschedulable + found.gated
        parts = (("placed", found.placed, "good"), ("unschedulable", found.unschedulable, "bad"), ("gated", found.gated, "held"))
        pods = [{"pod": key, "host": outcome.host, "error": outcome.error} for key, outcome in self.outcomes.items()]
        return View(
            title=type(self).__name__,
            verdict=_verdict(found),
            facts={
                "release": self.release, "pods": found.pods, "placed": found.placed, "unschedulable": found.unschedulable or None,
                "gated": found.gated or None, "evicted": found.evicted or None, "nodes": found.nodes,
            },
            shares=[Share(*part) for part in (*parts, ("other", found.pods - others, "near")) if part[1] > 0],
            tables=[table_of("pods", pods, ("pod", "host", "error")), table_of("nodes", self.nodes, ("node", "pods"))],
            map=self._map(),
        )  # fmt: skip

    def _map(self) -> NodeMap | None:
        resources = [name for name in ("cpu", "memory") if any(row.get(name) for row in self.nodes)]
        uses = {name: [_use(row, name) for row in self.nodes] for name in resources}
        return NodeMap([row["node"] for row in self.nodes], uses) if uses else None

def _verdict(found: Summary) -> str:
    if found.placed == found.pods:
        return f"All {found.pods:,} pods get a node." if found.pods else "No pod waits."
    others = found.pods - found.placed
    return f"{found.placed:,} of {found.pods:,} pods get a node; {others:,} {'gets' if others == 1 else 'get'} none."



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
        outcome=whole.document(), decisions=decisions, outcomes=dict(simulation.outcomes), evicted=simulation.evicted,
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
