"""Where do the waiting pods go? What became of each pod, who was evicted, and the document that ``-o json``
prints.

A column of ``simulate`` is a field of :class:`PodRecord` with its entry in :data:`POD_COLUMNS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar

import attrs

from ...api.inventory import REFUSED
from ...api.objects import Pod
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.reading.notices import NoticeGroup, ResultDocument
from ...api.record import UNSET, Count, Names, PodKey, Record, UnsetType, astuple, field, replace
from ...api.view import (
    MEANINGS,
    PAGE,
    REST,
    SEEN,
    SEEN_AND_DATA,
    TEXT,
    WIDE,
    Amount,
    BulletList,
    Chart,
    Column,
    MapSide,
    NodeMap,
    PodOutcome,
    PodOutcomes,
    Section,
    Share,
    Table,
    View,
    bar,
    block,
    kind_of,
    on_page,
)
from ...api.words import count_of, short_name
from ...core.decision.decision import CycleRecord, Decision
from ...core.decision.verdict import reasons_in
from ...core.engine import Engine
from ...core.pods.requests import PODS
from ...core.pods.template import Template
from ...simulation.nodesbyuse import (
    ALWAYS,
    NodeRecord,
    NodesByUse,
    NodeUse,
    NodeUses,
    labels_of,
    node_table,
    nodes_by_use,
    pods_on,
    share_of,
)
from ...simulation.reasons import about, leading
from ...simulation.replacements import Replacements
from ...simulation.simulate import Outcome, OutcomeWord, Simulation
from ...simulation.summary import Summary, Usage, summarise, usages
from ..asking import SILENT, Input, Observer, asked_by
from ..result import Result, Row, for_reasons, help_for
from .options import SimulationOptions

MADE_ROOM = "makes room"
NO_NODE = "no node"
RESULTS = {
    "placed": MEANINGS["good"],
    "waiting": MEANINGS["near"],
    MADE_ROOM: MEANINGS["near"],
    NO_NODE: MEANINGS["bad"],
}
SHOWN = 5
"""That many nodes are in the details of a pod for each reason, and that many of the best."""


class PodRecord(Record):
    """What became of a pod in the end."""

    pod: PodKey
    namespace: str
    name: str
    outcome: OutcomeWord
    """placed: it has a node in the end; evicted: it found a node and lost it; gated: not tried; waiting: it
    has a node, but Permit plugins have not allowed it yet."""
    host: str | None
    """The node that it has in the end."""
    error: str | None
    """Why it has none, or waits: upstream's last message, or who evicted it."""
    tries: Count
    """How often it was tried: more than 1 if it made room and was tried again."""
    nominated: str | None
    """The node for which a pod without one is nominated in the end."""
    victims: tuple[PodKey, ...]
    """The pods that were evicted for it."""
    evicted_by: PodKey | None
    """The pod that took its place."""
    evicted_from: str | None
    """The node that it lost."""
    replacement: PodKey | None
    """--reschedule-evicted: its replacement."""
    replaces: PodKey | None
    """--reschedule-evicted: the evicted pod that it replaces."""
    priority: int
    requests: Mapping[str, Count]
    """Resource -> millicores of cpu, bytes of memory, ephemeral-storage and hugepages, else pieces; resources
    of which it requests none are absent."""

    @classmethod
    def of(cls, simulation: Simulation, outcome: Outcome) -> PodRecord:
        """The record of a pod of *simulation*."""
        pod = outcome.pod
        eviction = outcome.eviction
        engine = simulation.engine
        nominated = engine.nominations.node_of(pod) if outcome.host is None and eviction is None else ""
        by, lost, replacement = (
            (None, None, None) if eviction is None else (eviction.by, eviction.node, eviction.replacement)
        )
        return cls(
            pod.key,
            pod.namespace,
            pod.name,
            outcome.word,
            outcome.host,
            outcome.error,
            outcome.tries,
            nominated or None,
            outcome.victims,
            by,
            lost,
            replacement,
            outcome.replaces,
            pod.priority,
            {name: number for name, number in engine.template_of(pod).requests.items() if number},
        )

    @property
    def reason(self) -> str | None:
        """Why it has no node, shortly: what most nodes have against it, or that another took its place."""
        if self.outcome == "evicted":
            return "evicted to make room"
        return next(iter(reasons_in(self.error))) if self.error else None


class ScoredPod(PodRecord):
    """What became of a pod, with what wide tables say of its last cycle."""

    nodes_that_fit: int | None = None
    score: int | None = None
    """Of the node that it got."""


OUTCOMES = {
    "placed": MEANINGS["good"],
    "waiting": MEANINGS["near"],
    "evicted": MEANINGS["near"],
    "gated": MEANINGS["held"],
    "unschedulable": MEANINGS["bad"],
}
POD_COLUMNS = (
    ("pod", Column("pod", "name")),
    ("outcome", Column("outcome", "tag", filter=True, colours=OUTCOMES, forms=PAGE)),
    ("host", Column("node", "host", forms=SEEN_AND_DATA, field="host")),
    ("reason", Column("reason", filter=True, forms=PAGE)),
    ("priority", Column("priority", "count", forms=("wide", "page"))),
    ("requests", Column("requests", forms=("wide", "page"))),
    ("decision", Column("decision", "count", forms=PAGE)),
    ("nodes_that_fit", Column("nodes that fit", "count", forms=WIDE)),
    ("score", Column("score", "count", forms=WIDE)),
    ("tries", Column("tries", "count", forms=WIDE)),
    ("nominated", Column("nominated node", "name", forms=WIDE)),
    ("namespace", Column("namespace", "name", filter=True, forms=PAGE)),
    ("error", Column("message", forms=(*TEXT, "data"), field="error")),
)
"""Field of :class:`ScoredPod`, and its column in tables, in their order: ``requests`` is a column for each
resource, ``decision`` the number of the pod's last one, and the message is in short tables where any pod has
one. CSV and custom columns have all fields as they are."""


class EvictionRecord(Record):
    """A pod that had to leave."""

    pod: PodKey
    by: PodKey
    """The pod for which it was evicted."""
    node: str = field(name="from")
    """The node."""
    priority: int
    owner: str | None
    """KIND/NAME of its controller; null for a bare pod, which does not come back."""
    replacement: PodKey | None
    """--reschedule-evicted: its replacement."""


class UnplacedPods(Record):
    """Pods that find no node."""

    reason: str
    pods: tuple[PodKey, ...]


class RefusedPod(Record):
    """A running pod that the scheduler would not put on its node now."""

    pod: PodKey
    node: str
    reasons: Names
    """Why, in the scheduler's words."""


class SimulationDocument(ResultDocument, kw_only=True):
    """Also of -o yaml. -n and -l choose among pods, evicted and decisions (with --nodes, -l among nodes); the
    summary is of all."""

    KIND: ClassVar[str] = "Simulation"
    release: str
    """The release that scheduled."""
    pods: Sequence[PodRecord]
    """One entry a pod that was tried, with its final outcome."""
    evicted: Sequence[EvictionRecord]
    """The pods that had to leave, in order."""
    nodes: Sequence[NodeRecord] | UnsetType = UNSET
    """--nodes: each node before and after."""
    refused: Sequence[RefusedPod] | UnsetType = UNSET
    """--recheck: running pods that their nodes would reject now, before the first decision."""
    decisions: Sequence[CycleRecord] = ()
    """One entry each, in order: a pod that makes room has two."""
    reasons: tuple[UnplacedPods, ...]
    """Pods without a node, by the reason that alone keeps them from most nodes, else by the most frequent
    reason."""
    nodes_by_use_before: NodesByUse
    resources_before: tuple[Usage, ...]
    """As resources of the summary, before the first decision."""
    nodes_by_use: NodesByUse
    summary: Summary


# --- why pods have no node ----------------------------------------------------------------------------------


def unplaced(outcomes: Iterable[Outcome], engine: Engine) -> tuple[UnplacedPods, ...]:
    """The pods that find no node by the first reason (see :func:`leading`), that of most pods first."""
    found: dict[str, list[str]] = {}
    alone: dict[Template, Mapping[str, int]] = {}
    for outcome in outcomes:
        if outcome.word != "unschedulable":
            continue
        only: Mapping[str, int] = {}
        if (
            len(outcome.reasons) > 1
        ):  # the reasons that alone keep nodes from the pod; pods of one template share them
            template = engine.template_of(outcome.pod)
            if template not in alone:
                alone[template] = engine.only_reasons(outcome.pod)
            only = alone[template]
        found.setdefault(next(iter(leading(outcome.reasons, only)), ""), []).append(outcome.pod.key)
    return tuple(
        UnplacedPods(reason, tuple(pods))
        for reason, pods in sorted(found.items(), key=lambda pair: -len(pair[1]))
    )


# --- pods ---------------------------------------------------------------------------------------------------


def pod_table(
    found: SimulationDocument, cycles: Sequence[CycleRecord], forms: Collection[str], *, in_text: bool
) -> Table:
    """Every pod that was tried; *cycles*: for a page alone; *forms*: those that will be shown."""
    pods = found.pods
    reasons = {pod: one.reason for one in found.reasons for pod in one.pods}
    last = {cycle.pod: at for at, cycle in enumerate(cycles)}
    columns = list[Column]()
    cells = list[list[Any]]()
    for name, column in POD_COLUMNS:
        if set(column.forms).isdisjoint(forms):
            continue
        if name == "requests":
            for resource in dict.fromkeys(
                [*ALWAYS, *(resource for pod in pods for resource in pod.requests)]
            ):
                page = PAGE if any(resource in pod.requests for pod in pods) else ()
                title = short_name(resource)
                columns += [Column(title, "amount", forms=WIDE), Column(title, kind_of(resource), forms=page)]
                cells += [
                    [Amount(resource, pod.requests.get(resource, 0)) for pod in pods],
                    [pod.requests.get(resource) for pod in pods],
                ]
            continue
        if name == "error" and not any(pod.error for pod in pods):
            column = attrs.evolve(column, forms=[form for form in column.forms if form != "table"])
        columns.append(column)
        if name == "decision":
            cells.append([last.get(pod.pod, -1) + 1 or None for pod in pods])
        elif name == "reason":
            cells.append([reasons.get(pod.pod) or pod.reason for pod in pods])
        else:
            cells.append(list(map(attrgetter(name), pods)))
    details = []
    for pod in pods if "page" in forms else ():
        said = {
            "message": pod.error,
            "evicted": ", ".join(pod.victims),
            "evicted by": pod.evicted_by,
            "evicted from": pod.evicted_from,
            "replaced by": pod.replacement,
            "takes the place of": pod.replaces,
            "nominated for": pod.nominated,
            "tries": str(pod.tries) if pod.tries > 1 else None,
            **(_of_nodes(cycles[last[pod.pod]]) if pod.pod in last else {}),
        }
        details.append([[name, text] for name, text in said.items() if text] or None)
    shown = (*(TEXT if in_text else ()), "page", "data")
    return Table(
        "pods",
        columns,
        list(zip(*cells, strict=True)),
        noun="pod",
        details=details if any(details) else None,
        forms=shown,
    )


def _of_nodes(cycle: CycleRecord) -> dict[str, str]:
    """What details of a cycle say of nodes: reasons with the nodes that have them, and the best scores."""
    found: dict[str, str] = {}
    failed = cycle.failed or {}
    scores = cycle.scores or {}
    priorities = cycle.priorities or {}
    for reason, nodes in Counter(reason for reasons in failed.values() for reason in reasons).most_common():
        found[reason] = (
            f"{nodes:,} of {len(failed):,} nodes turned down: {_some([name for name, has in failed.items() if reason in has])}"
        )
    if cycle.feasible:
        found["nodes that fit"] = f"{len(set(cycle.feasible)):,}: {_some(cycle.feasible)}"
    for node, total in sorted(scores.items(), key=lambda pair: -pair[1])[:SHOWN]:
        parts = ", ".join(f"{rule} {score[node]}" for rule, score in priorities.items() if score.get(node))
        found[f"score of {node}"] = f"{total:,}" + (f" (before weights: {parts})" if parts else "")
    return found


def _some(names: Sequence[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:SHOWN]) + (", ..." if len(shown) > SHOWN else "")


# --- evictions and cycles -----------------------------------------------------------------------------------


def eviction_table(evicted: Sequence[EvictionRecord], *, in_text: bool) -> Table:
    """Who had to leave, in order: for whom, from where; and what came in its place, where something did."""
    again = any(one.replacement for one in evicted)
    columns = (
        Column("evicted", "name"),
        Column("by", "name", filter=True),
        Column("from", "name", filter=True),
        Column("priority", "count"),
        Column("owner", "name"),
        Column("replaced by", "name", forms=SEEN if again else ()),
    )
    forms = ("page", *(TEXT if in_text else ())) if evicted else ()
    return Table("evicted", columns, list(map(astuple, evicted)), noun="eviction", forms=forms)


def cycle_table(cycles: Sequence[CycleRecord]) -> Table:
    """Every cycle in order."""
    columns = (
        Column("decision", "count"),
        Column("pod", "name"),
        Column("result", "tag", filter=True, colours=RESULTS),
        Column("node", "name"),
        Column("try", "tag", filter=True),
        Column("has to leave", "names"),
        Column("reason", filter=True),
    )
    rows: list[list[Any]] = []
    for at, cycle in enumerate(cycles, 1):
        room = None if cycle.preemption is None else cycle.preemption.node
        result = (
            "waiting" if cycle.waiting is True else "placed" if cycle.host else MADE_ROOM if room else NO_NODE
        )
        victims = list(cycle.preemption.victims) if cycle.preemption is not None and room else []
        reason = next(iter(reasons_in(cycle.error))) if cycle.error else None
        rows.append(
            [at, cycle.pod, result, cycle.host or room, "again" if cycle.retry else "first", victims, reason]
        )
    return Table("decisions", columns, rows, noun="decision", forms=PAGE)


# --- asking -------------------------------------------------------------------------------------------------


TAKES = "takes pods"
"""A node of the map."""
LISTED = 60
NAMED = 16
"""That many pods are listed under each reason, and are named above all else."""
REJECTED = (
    "running pod would be rejected by its node now",
    "running pods would be rejected by their nodes now",
)
FEW = 24
"""Up to that many nodes are full as the list of nodes says; of more it is told how many are how full."""


@attrs.define(eq=False, repr=False)
class SimulationRun:
    """A simulation under way: :meth:`decisions` takes all of them, and then there is a :meth:`result`."""

    given: Input
    options: SimulationOptions
    simulation: Simulation = attrs.field(init=False)
    _uses: NodeUses = attrs.field(init=False)
    _kept: list[Decision] = attrs.Factory(list)
    _scores: dict[str, tuple[int, int | None]] = attrs.Factory(dict)
    """Pod -> how many nodes fitted in its last cycle, and the score of the one that it got."""
    _pods_before: list[list[str]] = attrs.Factory(list)
    _before: tuple[dict[str, list[int]], tuple[Usage, ...]] = ({}, ())

    def __attrs_post_init__(self) -> None:
        given = self.given
        options = self.options
        details = options.details or options.makes("wide")
        self.simulation = Simulation(given.scenario, given.engine, given.order, details, on_begin=self._begin)
        if options.reschedule_evicted:
            self.simulation.replacements = Replacements.beside(
                (*given.scenario.objects, *given.scenario.pending), given.spec.scheduler_names
            )
        self._uses = NodeUses(given.engine)

    def begin(self, observer: Observer) -> None:
        """Say that all input is read: of lists with some pods alone, with the warnings about those."""
        options = self.options
        scenario = self.given.scenario
        chooses = options.namespace is not None or (bool(options.selector) and not options.nodes)
        refused = (pod for pod, _ in scenario.refused_pods)
        pods = (*scenario.pending, *refused, *(item for item in scenario.objects if isinstance(item, Pod)))
        observer.ready(
            self.given, {f"Pod {pod.key}" for pod in pods if options.shows(pod)} if chooses else None
        )

    def decisions(self, observer: Observer = SILENT) -> Iterator[Decision]:
        """The decisions on pods that are shown, as they are taken."""
        keeps = self.options.makes("data", "document", "page")
        scores = self.options.makes("wide")
        with observer.counting(len(self.given.scenario.pending), "scheduling", "pods") as progress:
            for done, decision in enumerate(self.simulation.decisions(), 1):
                if self.options.shows(decision.pod):
                    if keeps:
                        self._kept.append(decision)
                    if scores:
                        score = decision.scores.get(decision.host) if decision.host else None
                        self._scores[decision.pod.key] = len(set(decision.feasible)), score
                    yield decision
                progress(done, "")

    def _begin(self) -> None:
        """Note how full the nodes are before the first cycle."""
        engine = self.given.engine
        self._before = nodes_by_use(engine), tuple(usages(engine.fresh_table()))
        if self.options.nodes or self.options.makes("data", "page", "wide"):
            self._uses.begin()
        if self.options.makes("page"):
            self._pods_before = pods_on(engine, [use.node for use in self._uses.found()])

    def result(self) -> SimulationResult:
        """What came of it."""
        simulation = self.simulation
        options = self.options
        given = self.given
        before = self._before
        outcomes = simulation.outcomes
        engine = given.engine
        wide = options.makes("wide")
        uses = self._uses.found() if options.nodes or options.makes("data", "page", "wide") else []
        evictions = list[EvictionRecord]()
        shown = list[EvictionRecord]()
        for one in simulation.evictions:
            owner = one.pod.metadata.controller
            by = outcomes.get(one.by)
            named = f"{owner.kind}/{owner.name}" if owner else None
            evictions.append(
                EvictionRecord(one.pod.key, one.by, one.node, one.pod.priority, named, one.replacement)
            )
            if options.shows(one.pod) or (by is not None and options.shows(by.pod)):
                shown.append(evictions[-1])
        pods = []
        for outcome in outcomes.values():
            if options.shows(outcome.pod):
                found = PodRecord.of(simulation, outcome)
                pods.append(ScoredPod(*astuple(found), *self._scores.get(found.pod, ())) if wide else found)
        rejected: Sequence[RefusedPod] | UnsetType = UNSET
        if options.recheck:
            from ...simulation.explain.explain import refused  # it brings in the rules of every release

            # The running pods that are shown and that their nodes would no longer take.
            spec = attrs.evolve(given.spec, preemption=False)
            names = given.spec.scheduler_names
            ours = lambda pod: options.shows(pod) and (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in names  # noqa: E731
            found_now = refused(given.scenario, spec.engine(given.scenario.config_maps), ours)
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
            warnings=given.warnings,
            pods_before=self._pods_before,
            options=attrs.evolve(options, scheduler=None, pods=()),
            pods_after=pods_on(engine, [use.node for use in uses]) if options.makes("page") else (),
        )


@attrs.frozen(eq=False, repr=False, slots=False)
class SimulationResult(Result):
    """What became of the pods that waited."""

    outcome: SimulationDocument
    """The document without decisions, nodes and warnings."""
    decisions: tuple[Decision, ...]
    """Of each cycle, in order; a pod that preempted others has two."""
    outcomes: Mapping[str, Outcome]
    """Pod -> what became of it in the end."""
    evictions: tuple[EvictionRecord, ...]
    """The pods that had to leave, in order."""
    uses: tuple[NodeUse, ...]
    """Each node before and after."""
    shown_nodes: Sequence[NodeRecord]
    """Those that lists have."""
    all_placed: bool
    warnings: tuple[NoticeGroup, ...] = ()
    options: SimulationOptions = SimulationOptions()  # noqa: RUF009  # it is frozen
    pods_before: Sequence[Sequence[str]] = ()
    """For a page: the pods on each node before the first cycle."""
    pods_after: Sequence[Sequence[str]] = ()

    @property
    def ok(self) -> bool:
        """Whether each pod that waited has a node and need not wait there, or another pod in its place that
        has, and no running one is refused.
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
        """How many pods found a node, and how full the nodes are."""
        return self.outcome.summary

    @property
    def hosts(self) -> dict[str, str | None]:
        """Pod -> its node; None where it has none."""
        return {key: outcome.host for key, outcome in self.outcomes.items()}

    @property
    def evicted(self) -> dict[str, str]:
        """Evicted pod -> the pod that evicted it."""
        return {one.pod: one.by for one in self.evictions}

    @property
    def nodes(self) -> tuple[Row, ...]:
        """A row a node at the end: its pods, and of each resource what is requested and what is allocatable."""
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

    def view(self) -> View:
        found = self.summary
        options = self.options
        others = found.placed + found.unschedulable + found.gated
        parts = (
            ("placed", found.placed, "good"),
            ("unschedulable", found.unschedulable, "bad"),
            ("gated", found.gated, "held"),
        )
        pages = options.makes("page")
        in_text = not options.nodes
        return View(
            title=type(self).__name__,
            verdict=verdict(found, self.outcome.reasons)
            + (f" {count_of(len(self.refused), *REJECTED)}." if self.refused else ""),
            facts={
                "release": self.release,
                "pods": found.pods,
                "placed": found.placed,
                "unschedulable": found.unschedulable or None,
                "gated": found.gated or None,
                "evicted": found.evicted or None,
                "nodes": found.nodes,
            },
            shares=[Share(*part) for part in (*parts, ("other", found.pods - others, "near")) if part[1] > 0],
            who=_who(self.outcome),
            next=[help_for(one.pods[0]) for one in self.outcome.reasons[:1]],
            sections=list(self._sections(pages, in_text)),
        )

    def _sections(self, pages: bool, in_text: bool) -> Iterator[Section]:
        options = self.options
        outcome = self.outcome
        pods = pod_table(outcome, self.decision_records if pages else (), options.forms, in_text=in_text)
        if len(outcome.reasons) > 1 or sum(len(one.pods) for one in outcome.reasons) > NAMED:
            lead = "A pod can have several reasons; what counts is the one that alone keeps it from most nodes, else the one of most nodes."
            lists = [
                BulletList(
                    title=f"{one.reason}: {count_of(len(one.pods), 'pod')}",
                    items=list(one.pods[:LISTED]),
                    folded=True,
                )
                for one in outcome.reasons
                if len(one.pods) > 1
            ]
            rows = [
                [one.reason, len(one.pods), len(one.pods) / len(outcome.reasons[0].pods)]
                for one in outcome.reasons
            ]
            table = Table(
                "reasons",
                (Column("the reason", "name"), Column("pods", "count"), bar("bad")),
                rows,
                forms=PAGE,
            )
            yield Section("Why pods find no node", [table, *lists], lead)
        if self.uses:
            yield Section("Before and after", [self._map()], forms=REST)
        some = (
            "The lists show some of the pods alone; the numbers above are of all."
            if len(self.outcomes) > len(outcome.pods)
            else ""
        )
        yield Section("Pods", [*on_page(some, look="note"), pods], name="all-pods")
        lead = "As they are now, without them on it. They are not evicted for that, but a new pod in their place would go elsewhere."
        refused = [[one.pod, one.node, "; ".join(one.reasons)] for one in self.refused]
        columns = (
            Column("running pod", "name"),
            Column("node", "name", filter=True),
            Column("why it would be rejected", filter=True),
        )
        table = Table("refused", columns, refused, noun="running pod", forms=SEEN_AND_DATA if refused else ())
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
            yield Section("Use of each resource", [_resources(outcome, PAGE), *charts])
        yield Section("Nodes", [node_table(self.shown_nodes, alone=options.nodes)], name="all-nodes")
        if pages and len({one.pod.key for one in self.decisions}) < len(
            self.decisions
        ):  # else the list of pods has the same rows
            lead = "In the order of the decisions. A pod that makes room is tried again after the others."
            yield Section("Decisions", [cycle_table(self.decision_records)], lead, name="all-decisions")

    def _map(self) -> NodeMap:
        """The nodes before and after; resources that no pod requests in the end are left out."""
        before = self.pods_before
        after = self.pods_after
        taking = [bool(set(later) - set(earlier)) for earlier, later in zip(before, after, strict=True)]
        # Where most nodes take pods, a mark on each of them would say nothing and hide their colour.
        marks = [TAKES if takes and 2 * sum(taking) <= len(taking) else "" for takes in taking]
        shares: list[dict[str, list[float | None]]] = [{}, {}]
        for name in dict.fromkeys(name for node in self.uses for name in (*node.resources, PODS)):
            found = [node.pods if name == PODS else node.resources[name] for node in self.uses]
            if any(one.requested or one.requested_before for one in found):
                for uses, earlier in zip(shares, (True, False), strict=True):
                    uses[name] = [share_of(node, name, before=earlier) for node in self.uses]
        sides = [MapSide("before", shares[0], before, ()), MapSide("after", shares[1], after, marks)]
        colours = {TAKES: MEANINGS["good"]} if any(marks) else {}
        return NodeMap([one.node for one in self.uses], sides, labels_of(self.uses), colours, True)

    def in_short(self) -> View:
        """The counts in sentences, and the use of resources."""
        lines = summary_lines(self.summary)
        if self.options.recheck:
            lines.append(count_of(len(self.refused), *REJECTED))
        return View(title=type(self).__name__, sections=[block(*lines, _resources(self.outcome, TEXT))])


# --- asking -------------------------------------------------------------------------------------------------


@asked_by(SimulationOptions, "cluster", "scheduler")
def simulate(given: Input, options: SimulationOptions, observer: Observer = SILENT) -> SimulationResult:
    """Schedule the pods that wait in *cluster*, as kube-scheduler would; the cluster itself does not change.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> simulate([node, {"kind": "Pod", "metadata": {"name": "web"}}], "1.14")
    <SimulationResult: release 1.14, pods 1, placed 1, nodes 1>
    """
    run = SimulationRun(given, options)
    run.begin(observer)
    for _ in run.decisions(observer):
        pass
    return run.result()


# --- in words -----------------------------------------------------------------------------------------------


def verdict(summary: Summary, reasons: Sequence[UnplacedPods]) -> str:
    """How many pods find a place, what the others lack, and who has to leave."""
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
        first = "The pod finds a node" if placed == 1 else f"All {pods} pods find a node"
    elif not missing:
        first = f"{having} of {pods} pods{finds} a node"
    elif missing == summary.pods:
        none = f"{reasons[0].pods[0]} finds no node, " if missing == 1 else "No pod finds a node: "
        first = f"{none}{lacking}"
    else:
        who = reasons[0].pods[0] if missing == 1 else f"{missing:,}"
        does_not = " does not, " if missing == 1 else " do not: "
        first = f"{having} of {pods} pods{finds} a node; {who}{does_not}{lacking}"
    left = count_of(summary.evicted, "pod is evicted to make room", "pods are evicted to make room")
    # Those that the API server would refuse are not among the pods that wait.
    count = summary.refused_pods
    more = f"; {count_of(count, 'more is', 'more are')} refused by the API server" if count else ""
    return f"{first}{(f'; {left}' if summary.evicted else '')}{more}."


def summary_lines(summary: Summary) -> list[str]:
    """The counts in sentences."""
    nodes = count_of(summary.nodes, "node")
    told = [
        f"{summary.placed:,} of {count_of(summary.pods, 'pod')} placed on {nodes}",
        f"{summary.unschedulable:,} unschedulable",
    ]
    if summary.waiting:
        told.append(f"{summary.waiting:,} waiting for Permit plugins")
    if summary.gated:
        told.append(f"{summary.gated:,} gated by scheduling gates")
    if summary.refused_pods:
        told.append(f"{summary.refused_pods:,} more {REFUSED}")
    lines = [", ".join(told) if summary.pods else f"no pod is pending; {nodes}"]
    if summary.evicted:
        lines.append(f"{count_of(summary.evicted, 'pod')} evicted to make room")
    if summary.replaced:
        lines[-1] += f"; their controllers created {count_of(summary.replaced, 'new pod')}, tried last"
    others = {why: count for why, count in summary.ignored.items() if why != REFUSED}
    ignored = ", ".join(f"{count} {why}" for why, count in others.items())
    return [*lines, *([f"ignored: {ignored}"] if others else [])]


def _who(found: SimulationDocument) -> PodOutcomes:
    """The pods without a node by name, and those that have to leave."""
    waiting = [PodOutcome(pod, "waits", group.reason) for group in found.reasons for pod in group.pods]
    evicted = [PodOutcome(one.pod, "evicted", f"for {one.by}") for one in found.evicted]
    title = "Who finds no node" if waiting else "Who has to leave"
    return PodOutcomes(
        title, [*waiting, *evicted], "pods?is-outcome=unschedulable" if waiting else "evictions"
    )


# --- tables -------------------------------------------------------------------------------------------------


def _resources(found: SimulationDocument, forms: Sequence[str]) -> Table:
    """The use of each resource over all nodes."""
    before = {usage.resource: usage for usage in found.resources_before}
    columns = (
        Column("resource", "name"),
        Column("requested before", "amount", forms=PAGE),
        Column("requested", "amount"),
        Column("allocatable", "amount"),
        Column("use before", "share", forms=PAGE),
        Column("use", "share"),
        bar("good"),
        Column("emptiest node", "share"),
        Column("fullest node", "share"),
    )
    rows = []
    for usage in found.summary.resources:
        name = usage.resource
        earlier = before.get(usage.resource)
        first, use = (None, None) if earlier is None else (Amount(name, earlier.requested), earlier.use)
        amounts = [Amount(name, usage.requested), Amount(name, usage.allocatable)]
        rows.append([name, first, *amounts, use, usage.use, usage.use, usage.emptiest, usage.fullest])
    return Table("resources", columns, rows, forms=forms)
