"""The records of an answer: how many fit, where they are, what stops the next one, and what is left there that cannot be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Literal

import attrs

from ...api.controlplane.admission import admit
from ...api.controlplane.deviceclaims import claims_made_for, claims_of_volumes, templates_in
from ...api.garbage import no_garbage_collection
from ...api.objects import Pod, StorageClass
from ...api.reading.notices import ResultDocument
from ...api.record import Amounts, Count, Counts, Record, field
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...core.run import Run
from ...simulation.nodesbyuse import FreeRoom, short_of
from ...simulation.scenario import in_order
from ...simulation.summary import Unit
from .question import CapacityQuestion, Gate, PodTemplate

MOST = 500_000
"""How many copies are placed at most where nothing else ends the count, such as a policy without any predicate on resources."""
STEP = 500
"""How many copies lie between two calls of ``on_progress``."""


@attrs.frozen(kw_only=True, repr=False)
class Counted:
    """The answer: copies by template, why there are not more, and the nodes before and after."""

    placed: tuple[PlacedTemplate, ...]
    stop: Stop
    before: FreeRoom
    after: FreeRoom
    barred: frozenset[str] = frozenset()
    """The nodes that turned the first copy down for another reason than a shortage."""
    pending: int = 0
    """Pods that waited in the cluster and were placed before all copies."""
    still_waiting: int = 0
    """Pods that waited in the cluster and were left out, or that found no node."""
    evicted: Mapping[str, str] = attrs.field(factory=dict)
    """Evicted pod -> the pod that evicted it."""

    @property
    def fits(self) -> int:
        """How many copies have a node, of all templates."""
        return sum(placed.fits for placed in self.placed)

    @property
    def nodes(self) -> dict[str, int]:
        """Node -> copies on it, of all templates; most copies first."""
        total: Counter[str] = Counter()
        for placed in self.placed:
            total.update(placed.nodes)
        return dict(total.most_common())


def count_copies(question: CapacityQuestion, engine: Engine, on_progress: Callable[[int], None] | None = None) -> Counted:
    """The answer to *question* by *engine*, which must be new; *on_progress* is called with how many copies are placed.

    >>> from kubeclassic.algorithmprovider import RELEASES, resolve
    >>> from kubeclassic.api.objects import Node, ObjectMeta
    >>> from kubeclassic.api.objects.pods import NodeStatus
    >>> from kubeclassic.api.objects.quantity import Quantity
    >>> from kubeclassic.api.objects import Map
    >>> from kubeclassic.core.classic import classic_engine
    >>> from kubeclassic.questions.capacity.question import PodTemplate
    >>> from kubeclassic.simulation.scenario import Scenario
    >>> status = NodeStatus(allocatable=Map(pods=Quantity.of(3)))
    >>> scenario = Scenario(objects=(Node(metadata=ObjectMeta(name="a"), status=status),), pending=())
    >>> template = PodTemplate(name="web", kind="Pod", pod=Pod(metadata=ObjectMeta(name="web")))
    >>> counted = count_copies(CapacityQuestion(scenario=scenario, templates=(template,)), classic_engine(resolve(RELEASES["1.15"])))
    >>> counted.fits, counted.stop.message
    (3, '0/1 nodes are available: 1 Insufficient pods.')
    """
    return _Counting(question, engine, on_progress).count()


@attrs.define(eq=False, repr=False)
class _Counting:
    """A count under way."""

    question: CapacityQuestion
    engine: Engine
    on_progress: Callable[[int], None] | None
    _run: Run = attrs.field(init=False)
    _gate: Gate = attrs.field(init=False)
    _hosts: dict[str, tuple[int, str]] = attrs.field(factory=dict)
    """Key of a copy -> the number of its template, and its node."""
    _barred: frozenset[str] = frozenset()
    _there: dict[str, Pod] = attrs.field(factory=dict)
    """The pods of the cluster by key, once one of them had to leave."""
    _charged: int = 0
    """How many evictions the gate knows of."""

    def __attrs_post_init__(self) -> None:
        self._run, self._gate = Run(self.engine, details=False), self.question.gate()

    def count(self) -> Counted:
        """Place copies until no more fit, or the limit is reached."""
        run, pending = self._run, self.question.scenario.pending
        with no_garbage_collection():
            for item in self.question.objects:
                run.put(item)
        waiting = self._place_pending() if self.question.pending_first else len(pending)
        before = FreeRoom.of(self.engine)
        with no_garbage_collection():
            stop = self._place_copies()
        return Counted(
            placed=self._placed(), stop=stop, before=before, after=FreeRoom.of(self.engine), barred=self._barred,
            still_waiting=waiting, pending=len(pending) - waiting, evicted=dict(run.evicted),
        )  # fmt: skip

    def _place_pending(self) -> int:
        """Schedule the pods that wait, as ``simulate`` does; how many of them have no node then."""
        run, pending = self._run, self.question.scenario.pending
        for pod in pending:
            run.put(pod)
        for pod in in_order(pending, self.question.order, self.engine):
            run.cycle(pod)
        for pod in run.retries():
            run.cycle(pod, retry=True)
        self._note_evictions()
        return sum(self.engine.pod_state(pod) is None for pod in pending)

    # --- copies -----------------------------------------------------------------------------------------------------

    def _place_copies(self) -> Stop:
        limit = MOST if self.question.limit is None else self.question.limit
        for done, (at, pod) in enumerate(self._copies()):
            if done == limit:
                return at_limit(done)
            if (stop := self._place(at, pod)) is not None:
                return stop
            if self.on_progress is not None and done % STEP == 0:
                self.on_progress(done)
        raise AssertionError("there is always one more copy")

    def _copies(self) -> Iterator[tuple[int, Pod]]:
        """Copies without end, each with the number of its template; the claims of a copy are there when it comes."""
        made_from = templates_in(self.question.objects)
        classes = [item for item in self.question.objects if isinstance(item, StorageClass)]
        for at, copied, volumes in self.question.copies():
            pod, devices = claims_made_for(copied, made_from)
            own = admit(claims_of_volumes(pod), classes).objects if pod.spec.volumes else ()
            for claim in (*own, *volumes, *devices):
                self._run.put(claim)
            yield at, pod

    def _place(self, at: int, pod: Pod) -> Stop | None:
        """One copy; why it has no node, if it has none."""
        run, name = self._run, self.question.templates[at].name
        if (refusal := self._gate.refusal(at, pod)) is not None:
            return Stop(kind="Forbidden", message=refusal, template=name)
        self._gate.admitted(at)
        if not self._hosts:
            self._barred = frozenset(node for node, reasons in run.ask(pod).failed.items() if not short_of(reasons))
        decision = run.cycle(pod)
        for again in run.retries():
            decision = run.cycle(again, retry=True)
        if len(run.evicted) != self._charged:
            self._note_evictions()
        if decision.host is None:
            return self._stop(decision, name)
        self._hosts[pod.key] = at, decision.host
        return None

    def _stop(self, decision: Decision, name: str) -> Stop:
        failed = self._run.ask(decision.pod).failed if decision.is_fit_error else {}
        return after(decision, failed, name, FreeRoom.of(self.engine))

    def _note_evictions(self) -> None:
        """Pods that had to leave count for no quota any more."""
        evicted = self._run.evicted
        if evicted and not self._there:
            self._there = {item.key: item for item in self.question.scenario.objects if isinstance(item, Pod)}
        for key in islice(evicted, self._charged, None):
            at = self._hosts.pop(key, None)
            pod = self.question.templates[at[0]].pod if at is not None else self._there.get(key)
            if pod is not None:
                self._gate.removed(pod)
        self._charged = len(evicted)

    def _placed(self) -> tuple[PlacedTemplate, ...]:
        """The copies that have a node and need not wait there for Permit plugins."""
        lost = {decision.pod.key for decision, failure in self._run.take_ended() if failure is not None}
        without = lost.union(pod.key for pod in self._run.held)
        nodes: list[Counter[str]] = [Counter() for _ in self.question.templates]
        for key, (at, host) in self._hosts.items():
            if key not in without:
                nodes[at][host] += 1
        return tuple(map(self._placed_of, self.question.templates, nodes))

    def _placed_of(self, template: PodTemplate, nodes: Counter[str]) -> PlacedTemplate:
        requests = {name: number for name, number in self.engine.template_of(template.pod).requests.items() if number}
        return PlacedTemplate(template.name, nodes.total(), template.kind, template.pod.namespace, requests, dict(nodes.most_common()))


# --- the count --------------------------------------------------------------------------------------------------------


LIMIT = "Maximum number of pods simulated: {}"
MOST_NAMED = 3


class CopyShortage(Record):
    """A resource of which nodes have too little for one more copy."""

    resource: str
    nodes: Count
    """Nodes that have too little of it, and reject the copy only because of shortages."""
    examples: tuple[str, ...]
    """The first of these nodes."""
    left: int
    """The total free amount on these nodes."""


class Stop(Record, kw_only=True):
    """Why no more copies were placed."""

    message: str
    """The message of the scheduler, or of the API server, for the first copy that does not fit."""
    reasons: Counts = field(default_factory=dict)
    """Reason -> number of nodes that reject this copy for it, most frequent first. A node can have several."""
    kind: Literal["Unschedulable", "LimitReached", "Forbidden", "SchedulingGated", "SchedulerError"]
    """Forbidden: the API server refuses the copy. SchedulerError: the decision failed."""
    template: str | None = None
    """The template of that copy; null: the limit was reached."""
    shortages: tuple[CopyShortage, ...] = ()
    """Resources that ran out, most nodes first."""
    stranded: Amounts = field(default_factory=dict)
    """Resource -> free amount on nodes that lack something else."""
    out_of_reach: Amounts = field(default_factory=dict)
    """Resource -> free amount on nodes that reject the copy for a reason other than a shortage."""


def at_limit(limit: int) -> Stop:
    """As many copies were placed as were wanted."""
    return Stop(kind="LimitReached", message=LIMIT.format(limit))


def after(decision: Decision, failed: Mapping[str, list[str]], template: str, room: FreeRoom) -> Stop:
    """The stop at *decision* on a copy that got no node; *failed*: node -> reasons; *room*: the nodes as they are then."""
    reasons = Counter(reason for found in failed.values() for reason in found)
    short = {name: missing for name, found in failed.items() if (missing := short_of(found))}
    stranded, out_of_reach = _left(room, short, failed)
    return Stop(
        kind=_kind(decision), message=decision.error or "", template=template, reasons=dict(reasons.most_common()),
        shortages=_shortages(room, short), stranded=stranded, out_of_reach=out_of_reach,
    )  # fmt: skip


def _kind(decision: Decision) -> Literal["Unschedulable", "SchedulingGated", "SchedulerError"]:
    if decision.is_fit_error:
        return "Unschedulable"
    return "SchedulingGated" if decision.is_gated else "SchedulerError"


def _shortages(room: FreeRoom, short: Mapping[str, tuple[str, ...]]) -> tuple[CopyShortage, ...]:
    nodes: dict[str, list[str]] = {}
    for name, missing in short.items():
        for resource in missing:
            nodes.setdefault(resource, []).append(name)
    free, at = room.free, {name: column for column, name in enumerate(room.names)}
    found = []
    for resource, names in nodes.items():
        row = room.resources.index(resource) if resource in room.resources else None
        left = 0 if row is None else int(free[row, [at[name] for name in names]].sum())
        found.append(CopyShortage(resource=resource, nodes=len(names), examples=tuple(names[:MOST_NAMED]), left=left))
    return tuple(sorted(found, key=lambda shortage: -shortage.nodes))


def _left(room: FreeRoom, short: Mapping[str, tuple[str, ...]], failed: Mapping[str, list[str]]) -> tuple[dict[str, int], dict[str, int]]:
    """What is stranded, and what is out of reach, by resource."""
    free, barred = room.free, room.at(failed) & ~room.at(short)
    stranded, out_of_reach = {}, {}
    for row, resource in enumerate(room.resources):
        others = room.at({name: missing for name, missing in short.items() if resource not in missing})
        if amount := int(free[row, others].sum()):
            stranded[resource] = amount
        if amount := int(free[row, barred].sum()):
            out_of_reach[resource] = amount
    return stranded, out_of_reach


# --- the whole answer -----------------------------------------------------------------------------------------------


class PlacedTemplate(Record):
    """A template, and where its copies are."""

    name: str
    """The name of the pod or workload."""
    fits: Count
    kind: str
    """The kind in the file, such as Pod or Deployment."""
    namespace: str
    requests: Amounts
    """The requests of one copy, as counted by the release."""
    nodes: Counts


class Headroom(Record):
    """A resource over all nodes."""

    resource: str
    unit: Unit
    allocatable: int
    requested_before: int
    requested: int
    """With the copies."""
    free: Count
    copies: int | None
    """How many copies would fit if only this resource counted, on nodes that do not turn them down for something else. null: they do not
    request it, or are of several templates."""


class PendingPods(Record):
    """Pods that were pending in the cluster."""

    placed_first: Count
    """Those that --pending-first placed."""
    waiting: Count
    """Those that were left out or found no place."""


class CapacityDocument(ResultDocument, kw_only=True):
    """How many more copies of one or several pods fit into a cluster, where they go, and what stops the next one."""

    KIND = "Capacity"
    release: str
    fits: Count
    """How many copies fit, of all templates together."""
    wanted: int | None
    """How many copies were asked for (--pods); null: as many as fit."""
    templates: tuple[PlacedTemplate, ...]
    nodes: Counts
    """Node -> copies on it; nodes without any are left out. Most copies come first."""
    zones: Counts
    """Zone -> copies on its nodes; empty if no node has a zone."""
    stop: Stop
    headroom: tuple[Headroom, ...]
    """Each resource over all nodes, pods last."""
    excluded_nodes: tuple[str, ...]
    pending: PendingPods
    evicted: Mapping[str, str]
    """--preemption: evicted pod -> the pod that evicted it."""
