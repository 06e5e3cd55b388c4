"""Simulate: the outcome of each pod, the evictions, and the document that ``-o json`` prints.

A column of ``simulate`` is a field of :class:`PodRecord` with its entry in :data:`POD_COLUMNS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from ...api.load import REFUSED
from ...api.objects import DEFAULT_SCHEDULER, Pod
from ...api.record import UNSET, UnsetType, astuple, replace
from ...api.view import (
    Amount,
    BulletList,
    Chart,
    MapSide,
    NodeMap,
    PodOutcome,
    PodOutcomes,
    Section,
    Share,
    Table,
    View,
    block,
    on_page,
)
from ...api.words import count_of, short_name
from ...core.decision import CycleRecord, Decision
from ...core.pods import PODS
from ...simulation.evictions import Replacements, retries_of
from ...simulation.nodesbyuse import (
    NodeRecord,
    NodeUse,
    NodeUses,
    Summary,
    Usage,
    labels_of,
    node_table,
    nodes_by_use,
    pods_on,
    share_of,
    summarise,
    usages,
)
from ...simulation.reasons import about
from ...simulation.simulate import Outcome, Simulation
from ..asking import SILENT, Input, Observer, Result, Row, asked_by, for_reasons, help_for
from .options import SimulationOptions
from .pods import (
    EvictionRecord,
    PodRecord,
    RefusedPod,
    ScoredPod,
    SimulationDocument,
    UnplacedPods,
    cycle_table,
    eviction_table,
    pod_table,
    unplaced,
)

# --- asking -------------------------------------------------------------------------------------------------


TAKES = "takes pods"
"""The state of a node on the map."""
LISTED = 60
NAMED = 16
"""How many pods each reason lists at most, and how many the top of a page can name."""
REJECTED = (
    "running pod would be rejected by its node now",
    "running pods would be rejected by their nodes now",
)
FEW = 24
"""With more nodes than this, charts show how many nodes are how full."""


@attrs.define(eq=False, repr=False)
class SimulationRun:
    """A simulation under way: first iterate over :meth:`decisions`, then take the :meth:`result`."""

    inputs: Input
    options: SimulationOptions
    simulation: Simulation = attrs.field(init=False)
    _uses: NodeUses = attrs.field(init=False)
    _kept: list[Decision] = attrs.Factory(list)
    _scores: dict[str, tuple[int, int | None]] = attrs.Factory(dict)
    """Pod -> the number of nodes that fitted in its last cycle, and the score of its own."""
    _pods_before: list[list[str]] = attrs.Factory(list)
    _before: tuple[dict[str, list[int]], tuple[Usage, ...]] = ({}, ())

    def __attrs_post_init__(self) -> None:
        inputs = self.inputs
        options = self.options
        details = options.details or options.makes("wide")
        self.simulation = Simulation(
            inputs.scenario, inputs.engine, inputs.order, details, on_begin=self._begin
        )
        if options.reschedule_evicted:
            self.simulation.replacements = Replacements.beside(
                (*inputs.scenario.objects, *inputs.scenario.pending), inputs.spec.scheduler_names
            )
            if inputs.spec.server.fails_deleted:
                self.simulation.replacements.retries = retries_of(inputs.scenario.jobs)
        self._uses = NodeUses(inputs.engine)

    def begin(self, observer: Observer) -> None:
        """Tell *observer* that the input is read; if lists show only some pods, with warnings about those."""
        options = self.options
        scenario = self.inputs.scenario
        refused = (pod for pod, _ in scenario.refused_pods)
        pods = (*scenario.pending, *refused, *(item for item in scenario.objects if isinstance(item, Pod)))
        observer.ready(
            self.inputs, {f"Pod {pod.key}" for pod in pods if options.shows(pod)} if options.chooses else None
        )

    def decisions(self, observer: Observer = SILENT) -> Iterator[Decision]:
        """The decisions on pods that are shown, as they are taken."""
        keeps = self.options.makes("data", "document", "page")
        scores = self.options.makes("wide")
        chooses = self.options.chooses
        with observer.counting(len(self.inputs.scenario.pending), "scheduling", "pods") as progress:
            for done, decision in enumerate(self.simulation.decisions(), 1):
                if not chooses or self.options.shows(decision.pod):
                    if keeps:
                        self._kept.append(decision)
                    if scores:
                        score = decision.scores.get(decision.host) if decision.host else None
                        self._scores[decision.pod.key] = len(set(decision.feasible)), score
                    yield decision
                progress(done, "")

    def _begin(self) -> None:
        """Note how full the nodes are before the first cycle."""
        engine = self.inputs.engine
        self._before = nodes_by_use(engine), tuple(usages(engine))
        if self.options.nodes or self.options.makes("data", "page", "wide"):
            self._uses.begin()
        if self.options.makes("page"):
            self._pods_before = pods_on(engine, [use.node for use in self._uses.found()])

    def result(self) -> SimulationResult:
        """The result of the simulation."""
        simulation = self.simulation
        options = self.options
        inputs = self.inputs
        before = self._before
        outcomes = simulation.outcomes
        engine = inputs.engine
        wide = options.makes("wide")
        uses = self._uses.found() if options.nodes or options.makes("data", "page", "wide") else []
        evictions = list[EvictionRecord]()
        shown = list[EvictionRecord]()
        for victim in simulation.evictions:
            owner = victim.pod.controller
            by = outcomes.get(victim.by)
            named = f"{owner.kind}/{owner.name}" if owner else None
            evictions.append(
                EvictionRecord(
                    victim.pod.key, victim.by, victim.node, victim.pod.priority, named, victim.replacement
                )
            )
            if options.shows(victim.pod) or (by is not None and options.shows(by.pod)):
                shown.append(evictions[-1])
        pods = []
        chooses = options.chooses
        for outcome in outcomes.values():
            if not chooses or options.shows(outcome.pod):
                pod = PodRecord.of(simulation, outcome)
                pods.append(ScoredPod(*astuple(pod), *self._scores.get(pod.pod, ())) if wide else pod)
        rejected: Sequence[RefusedPod] | UnsetType = UNSET
        if options.recheck:
            from ...simulation.explain.explain import refused  # it brings in the rules of every release

            # The running pods that are shown and that their nodes would no longer take.
            spec = attrs.evolve(inputs.spec, preemption=False)
            names = inputs.spec.scheduler_names
            found_now = refused(
                inputs.scenario,
                spec.engine(inputs.scenario.config_maps),
                lambda pod: options.shows(pod) and (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in names,
            )
            rejected = [RefusedPod(pod.key, pod.spec.node_name, reasons) for pod, reasons in found_now]
        return SimulationResult(
            outcome=SimulationDocument(
                warnings=(),
                release=engine.release.version,
                pods=tuple(pods),
                evicted=tuple(shown),
                reasons=unplaced(outcomes.values(), engine),
                nodes_by_use_before=before[0],
                resources_before=before[1],
                nodes_by_use=nodes_by_use(engine),
                summary=summarise(simulation),
                refused=rejected,
            ),
            decisions=tuple(self._kept),
            outcomes=dict(outcomes),
            evictions=tuple(evictions),
            uses=tuple(uses),
            shown_nodes=tuple(
                NodeRecord(use.node, use.pods, use.resources)
                for use in uses
                if not options.nodes or options.matches(use.labels)
            ),
            all_placed=simulation.all_placed,
            warnings=inputs.warnings,
            pods_before=self._pods_before,
            options=attrs.evolve(options, scheduler=None, pods=()),
            pods_after=pods_on(engine, [use.node for use in uses]) if options.makes("page") else (),
        )


@attrs.frozen(eq=False, repr=False, slots=False)
class SimulationResult(Result):
    """The outcome of the pending pods."""

    outcome: SimulationDocument
    """The document without decisions, nodes and warnings."""
    decisions: tuple[Decision, ...]
    """The decision of each cycle, in order; a pod that preempted others has several."""
    outcomes: Mapping[str, Outcome]
    """Pod -> its outcome in the end."""
    evictions: tuple[EvictionRecord, ...]
    """The pods that had to leave, in order."""
    uses: tuple[NodeUse, ...]
    """Each node before and after."""
    shown_nodes: Sequence[NodeRecord]
    """The nodes that lists show."""
    all_placed: bool
    options: SimulationOptions
    pods_before: Sequence[Sequence[str]]
    """For a page: the pods on each node before the first cycle."""
    pods_after: Sequence[Sequence[str]]

    @property
    def ok(self) -> bool:
        """Whether each pending pod, or its replacement, has a node without waiting on Permit, and no running
        pod is refused.
        """
        return self.all_placed and not self.refused

    @property
    def refused(self) -> Sequence[RefusedPod]:
        """The running pods that their nodes would no longer take, if that was asked for."""
        return self.outcome.refused or ()

    @property
    def release(self) -> str:
        """The release that scheduled."""
        return self.outcome.release

    @property
    def summary(self) -> Summary:
        """The number of pods that found a node, and the use of the nodes."""
        return self.outcome.summary

    @property
    def hosts(self) -> dict[str, str | None]:
        """Pod -> its node; None where it has none."""
        return {key: outcome.host for key, outcome in self.outcomes.items()}

    @property
    def evicted(self) -> dict[str, str]:
        """Evicted pod -> the pod that evicted it."""
        return {eviction.pod: eviction.by for eviction in self.evictions}

    @property
    def nodes(self) -> tuple[Row, ...]:
        """A row for each node at the end: its pods, and the requested and allocatable amounts of each
        resource."""
        return tuple(node_table(self.shown_nodes, alone=False).records())

    @cached_property
    def decision_records(self) -> tuple[CycleRecord, ...]:
        """The decisions as data."""
        return tuple(decision.cycle(details=self.options.details) for decision in self.decisions)

    @property
    def document(self) -> SimulationDocument:
        nodes = self.shown_nodes if self.options.nodes else UNSET
        return replace(
            self.outcome, decisions=self.decision_records, nodes=nodes, warnings=self.told_warnings()
        )

    def _view(self) -> View:
        summary = self.summary
        others = summary.placed + summary.unschedulable + summary.gated
        parts = (
            ("placed", summary.placed, "good"),
            ("unschedulable", summary.unschedulable, "bad"),
            ("gated", summary.gated, "held"),
        )
        # The pods without a node by name, and those that have to leave.
        waiting = [
            PodOutcome(pod, "waits", group.reason) for group in self.outcome.reasons for pod in group.pods
        ]
        evicted = [
            PodOutcome(eviction.pod, "evicted", f"for {eviction.by}") for eviction in self.outcome.evicted
        ]
        if waiting:
            who = PodOutcomes("Who finds no node", [*waiting, *evicted], "pods?is-outcome=unschedulable")
        else:
            who = PodOutcomes("Who has to leave", evicted, "evictions")
        return View(
            verdict=verdict(summary, self.outcome.reasons)
            + (f" {count_of(len(self.refused), *REJECTED)}." if self.refused else ""),
            facts={
                "release": self.release,
                "pods": summary.pods,
                "placed": summary.placed,
                "unschedulable": summary.unschedulable or None,
                "gated": summary.gated or None,
                "evicted": summary.evicted or None,
                "nodes": summary.nodes,
            },
            shares=[
                Share(*part) for part in (*parts, ("other", summary.pods - others, "near")) if part[1] > 0
            ],
            who=who,
            next=[help_for(group.pods[0]) for group in self.outcome.reasons[:1]],
            sections=list(self._sections()),
        )

    def _sections(self) -> Iterator[Section]:
        options = self.options
        pages = options.makes("page")
        in_text = not options.nodes
        outcome = self.outcome
        reasons = outcome.reasons
        pods = pod_table(outcome, self.decision_records if pages else (), options.forms, in_text=in_text)
        if len(reasons) > 1 or sum(len(group.pods) for group in reasons) > NAMED:
            lead = "A pod can have several reasons; what counts is the one that alone keeps it from most nodes, else the one of most nodes."
            lists = [
                BulletList(
                    title=f"{group.reason}: {count_of(len(group.pods), 'pod')}",
                    items=list(group.pods[:LISTED]),
                    folded=True,
                )
                for group in reasons
                if len(group.pods) > 1
            ]
            rows = [
                [group.reason, len(group.pods), len(group.pods) / len(reasons[0].pods)] for group in reasons
            ]
            columns = "the reason | name; pods | count; | bar | bad"
            table = Table("reasons", columns, rows, forms="page")
            yield Section("Why pods find no node", [table, *lists], lead)
        if self.uses:
            yield Section("Before and after", [self._node_map()], forms="rest")
        some = ""
        if len(self.outcomes) > len(outcome.pods):
            some = "The lists show some of the pods alone; the numbers above are of all."
        yield Section("Pods", [*on_page(some, look="note"), pods], name="all-pods")
        lead = "As they are now, without them on it. They are not evicted for that, but a new pod in their place would go elsewhere."
        refused = [[pod.pod, pod.node, "; ".join(pod.reasons)] for pod in self.refused]
        columns = "running pod | name; node | name | filter; why it would be rejected || filter"
        table = Table("refused", columns, refused, noun="running pod", forms="seen data" if refused else "")
        yield Section("Running pods that their nodes would reject now", [table], lead, name="refused")
        lead = "Evicted pods do not come back unless their owner makes them again (--reschedule-evicted)."
        yield Section(
            "Who has to leave", [eviction_table(outcome.evicted, in_text=in_text)], lead, name="evictions"
        )
        if pages:
            # How many nodes are how full, a chart for each resource in use.
            charts = []
            in_use = {usage.resource for usage in self.summary.resources if usage.requested}
            for name, counts in self.outcome.nodes_by_use.items():
                if name in in_use and len(self.uses) > FEW:
                    earlier_counts = self.outcome.nodes_by_use_before.get(name, [0] * 10)
                    charts.append(
                        Chart(
                            title=f"Nodes by use of {short_name(name)}",
                            description="how many nodes have how much of it requested",
                            labels=[f"{10 * tenth}" for tenth in range(10)],
                            up="nodes",
                            across=f"percent of {short_name(name)} in use, from",
                            series={"after": counts, "before": earlier_counts},
                        )
                    )
            yield Section("Use of each resource", [_resources_table(outcome, "page"), *charts])
        yield Section("Nodes", [node_table(self.shown_nodes, alone=options.nodes)], name="all-nodes")
        if pages and len({decision.pod.key for decision in self.decisions}) < len(
            self.decisions
        ):  # else the list of pods has the same rows
            lead = "In the order of the decisions. A pod that makes room is tried again after the others."
            yield Section("Decisions", [cycle_table(self.decision_records)], lead, name="all-decisions")

    def _node_map(self) -> NodeMap:
        """The nodes before and after; resources that no pod requests in the end are left out."""
        before = self.pods_before
        after = self.pods_after
        taking = [bool(set(later) - set(earlier)) for earlier, later in zip(before, after, strict=True)]
        # Where most nodes take pods, a mark on each of them would say nothing and hide their colour.
        marks = [TAKES if takes and 2 * sum(taking) <= len(taking) else "" for takes in taking]
        shares: list[dict[str, list[float | None]]] = [{}, {}]
        for name in dict.fromkeys(name for node in self.uses for name in (*node.resources, PODS)):
            resource_uses = [node.pods if name == PODS else node.resources[name] for node in self.uses]
            if any(use.requested or use.requested_before for use in resource_uses):
                for uses, earlier in zip(shares, (True, False), strict=True):
                    uses[name] = [share_of(node, name, before=earlier) for node in self.uses]
        sides = [MapSide("before", shares[0], before), MapSide("after", shares[1], after, marks)]
        colours = {TAKES: "good"} if any(marks) else {}
        return NodeMap([node.node for node in self.uses], sides, labels_of(self.uses), colours, True)

    def in_short(self) -> View:
        """The counts in sentences, and the use of resources."""
        lines = summary_lines(self.summary)
        if self.options.recheck:
            lines.append(count_of(len(self.refused), *REJECTED))
        return View(sections=[block(*lines, _resources_table(self.outcome, "text"))])


# --- asking -------------------------------------------------------------------------------------------------


@asked_by(SimulationOptions, "cluster", "scheduler")
def simulate(inputs: Input, options: SimulationOptions, observer: Observer) -> SimulationResult:
    """Schedule the pending pods of *cluster*, as kube-scheduler would; the cluster itself does not change.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> simulate([node, {"kind": "Pod", "metadata": {"name": "web"}}], "1.14")
    <SimulationResult: release 1.14, pods 1, placed 1, nodes 1>
    """
    run = SimulationRun(inputs, options)
    run.begin(observer)
    for _ in run.decisions(observer):
        pass
    return run.result()


# --- in words -----------------------------------------------------------------------------------------------


def verdict(summary: Summary, reasons: Sequence[UnplacedPods]) -> str:
    """The number of pods that find a node, the needs of the others, and the evictions."""
    placed = summary.placed + summary.waiting
    missing = summary.unschedulable
    pods = f"{summary.pods:,}"
    having = f"{placed:,}"
    finds = " finds" if placed == 1 else " find"
    counts = Counter[str]()
    for group in reasons:
        counts[about(group.reason)] += len(group.pods)
    lacking = for_reasons(counts)
    if not summary.pods:
        return "No pod is pending."
    if placed == summary.pods:
        sentence = "The pod finds a node" if placed == 1 else f"All {pods} pods find a node"
    elif not missing:
        sentence = f"{having} of {pods} pods{finds} a node"
    elif missing == summary.pods:
        none = f"{reasons[0].pods[0]} finds no node, " if missing == 1 else "No pod finds a node: "
        sentence = f"{none}{lacking}"
    else:
        who = reasons[0].pods[0] if missing == 1 else f"{missing:,}"
        does_not = " does not, " if missing == 1 else " do not: "
        sentence = f"{having} of {pods} pods{finds} a node; {who}{does_not}{lacking}"
    evicted = count_of(summary.evicted, "pod is evicted to make room", "pods are evicted to make room")
    # Pods that the API server would refuse are not among the pending ones.
    count = summary.refused_pods
    more = f"; {count_of(count, 'more is', 'more are')} refused by the API server" if count else ""
    return f"{sentence}{(f'; {evicted}' if summary.evicted else '')}{more}."


def summary_lines(summary: Summary) -> list[str]:
    """The counts in sentences."""
    nodes = count_of(summary.nodes, "node")
    parts = [
        f"{summary.placed:,} of {count_of(summary.pods, 'pod')} placed on {nodes}",
        f"{summary.unschedulable:,} unschedulable",
    ]
    if summary.waiting:
        parts.append(f"{summary.waiting:,} waiting for Permit plugins")
    if summary.gated:
        parts.append(f"{summary.gated:,} gated by scheduling gates")
    if summary.refused_pods:
        parts.append(f"{summary.refused_pods:,} more {REFUSED}")
    lines = [", ".join(parts) if summary.pods else f"no pod is pending; {nodes}"]
    if summary.evicted:
        lines.append(f"{count_of(summary.evicted, 'pod')} evicted to make room")
    if summary.replaced:
        lines[-1] += f"; their controllers created {count_of(summary.replaced, 'new pod')}, tried last"
    others = {reason: count for reason, count in summary.ignored.items() if reason != REFUSED}
    ignored = ", ".join(f"{count} {reason}" for reason, count in others.items())
    return [*lines, *([f"ignored: {ignored}"] if others else [])]


# --- tables -------------------------------------------------------------------------------------------------


def _resources_table(document: SimulationDocument, forms: str) -> Table:
    """The use of each resource over all nodes."""
    before = {usage.resource: usage for usage in document.resources_before}
    columns = """
        resource | name
        requested before | amount | page
        requested | amount
        allocatable | amount
        use before | share | page
        use | share
        | bar | good
        emptiest node | share
        fullest node | share
    """
    rows = []
    for usage in document.summary.resources:
        name = usage.resource
        earlier = before.get(usage.resource)
        old_amount, use = (None, None) if earlier is None else (Amount(name, earlier.requested), earlier.use)
        amounts = [Amount(name, usage.requested), Amount(name, usage.allocatable)]
        rows.append([name, old_amount, *amounts, use, usage.use, usage.use, usage.emptiest, usage.fullest])
    return Table("resources", columns, rows, forms=forms)
