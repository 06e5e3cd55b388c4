"""The records of an answer: how many fit, where they are, what stops the next one, and what is left there that cannot be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
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
from .question import CapacityQuestion, Gate

MOST = 500_000
"""How many copies are placed at most where nothing else ends the count, such as a policy without any predicate on resources."""
STEP = 500
"""How many copies lie between two calls of ``on_progress``."""


@attrs.frozen(kw_only=True, repr=False)
class Counted:
    """A count: copies by template, why there are not more, and the nodes before and after."""

    placed: tuple[PlacedTemplate, ...]
    stop: Stop
    before: FreeRoom
    after: FreeRoom
    barred: frozenset[str]
    """The nodes that turned the first copy down for another reason than a shortage."""
    pending: int
    """Pods that waited in the cluster and were placed before all copies."""
    still_waiting: int
    """Pods that waited in the cluster and were left out, or that found no node."""
    evicted: Mapping[str, str]
    """Evicted pod -> the pod that evicted it."""


@attrs.define(eq=False, repr=False)
class Counting:
    """A count under way, by a new *engine*; *on_progress* is called with how many copies are placed."""

    question: CapacityQuestion
    engine: Engine
    on_progress: Callable[[int], None] | None = None
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
        run, question, engine = self._run, self.question, self.engine
        pending = question.scenario.pending
        with no_garbage_collection():
            for item in question.objects:
                run.put(item)
        still_waiting = len(pending)
        if question.pending_first:
            # As ``simulate`` does it.
            for pod in pending:
                run.put(pod)
            for pod in in_order(pending, question.order, engine):
                run.cycle(pod)
            for pod in run.retries():
                run.cycle(pod, retry=True)
            self._note_evictions()
            still_waiting = sum(engine.pod_state(pod) is None for pod in pending)
        before = FreeRoom.of(engine)
        with no_garbage_collection():
            stop = self._place_copies()
        # The copies that have a node and need not wait there for Permit plugins.
        lost = {decision.pod.key for decision, failure in run.take_ended() if failure is not None}
        without = lost.union(pod.key for pod in run.held)
        placed = []
        for number, template in enumerate(question.templates):
            hosts = (host for key, (at, host) in self._hosts.items() if at == number and key not in without)
            nodes, pod = Counter(hosts), template.pod
            requests = {name: amount for name, amount in engine.template_of(pod).requests.items() if amount}
            found = dict(nodes.most_common())
            placed.append(PlacedTemplate(template.name, nodes.total(), template.kind, pod.namespace, requests, found))
        return Counted(
            placed=tuple(placed), stop=stop, before=before, after=FreeRoom.of(engine), barred=self._barred,
            still_waiting=still_waiting, pending=len(pending) - still_waiting, evicted=dict(run.evicted),
        )  # fmt: skip

    def _place_copies(self) -> Stop:
        objects, limit = self.question.objects, MOST if self.question.limit is None else self.question.limit
        made_from, classes = templates_in(objects), [item for item in objects if isinstance(item, StorageClass)]
        for done, (at, copied, volumes) in enumerate(self.question.copies()):
            if done == limit:
                break
            # The claims of a copy are there when it comes.
            pod, devices = claims_made_for(copied, made_from)
            own = admit(claims_of_volumes(pod), classes).objects if pod.spec.volumes else ()
            for claim in (*own, *volumes, *devices):
                self._run.put(claim)
            if (stop := self._place(at, pod)) is not None:
                return stop
            if self.on_progress is not None and done % STEP == 0:
                self.on_progress(done)
        return Stop(kind="LimitReached", message=f"Maximum number of pods simulated: {limit}")

    def _place(self, at: int, pod: Pod) -> Stop | None:
        """One copy; why it has no node, if it has none."""
        run, name = self._run, self.question.templates[at].name
        if (refusal := self._gate.refusal(at, pod)) is not None:
            return Stop(kind="Forbidden", message=refusal, template=name)
        if not self._hosts:
            self._barred = frozenset(node for node, reasons in run.ask(pod).failed.items() if not short_of(reasons))
        decision = run.cycle(pod)
        for again in run.retries():
            decision = run.cycle(again, retry=True)
        self._note_evictions()
        if decision.host is None:
            failed = run.ask(decision.pod).failed if decision.is_fit_error else {}
            return after(decision, failed, name, FreeRoom.of(self.engine))
        self._hosts[pod.key] = at, decision.host
        return None

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


# --- the count --------------------------------------------------------------------------------------------------------


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


def after(decision: Decision, failed: Mapping[str, list[str]], template: str, room: FreeRoom) -> Stop:
    """The stop at *decision* on a copy that got no node; *failed*: node -> reasons; *room*: the nodes as they are then."""
    reasons = Counter(reason for found in failed.values() for reason in found)
    short = {name: missing for name, found in failed.items() if (missing := short_of(found))}
    nodes: dict[str, list[str]] = {}
    for name, missing in short.items():
        for resource in missing:
            nodes.setdefault(resource, []).append(name)
    free, shortages = dict(zip(room.resources, room.free, strict=True)), []
    for resource, names in nodes.items():
        left = int(free[resource][room.at(set(names))].sum()) if resource in free else 0
        shortages.append(CopyShortage(resource=resource, nodes=len(names), examples=tuple(names[:MOST_NAMED]), left=left))
    beyond, stranded, out_of_reach = room.at(failed) & ~room.at(short), {}, {}
    for resource, amounts in free.items():
        others = room.at({name: missing for name, missing in short.items() if resource not in missing})
        if amount := int(amounts[others].sum()):
            stranded[resource] = amount
        if amount := int(amounts[beyond].sum()):
            out_of_reach[resource] = amount
    kind: Literal["Unschedulable", "SchedulingGated", "SchedulerError"] = "Unschedulable"
    if not decision.is_fit_error:
        kind = "SchedulingGated" if decision.is_gated else "SchedulerError"
    return Stop(
        kind=kind, message=decision.error or "", template=template, reasons=dict(reasons.most_common()), stranded=stranded,
        shortages=tuple(sorted(shortages, key=lambda shortage: -shortage.nodes)), out_of_reach=out_of_reach,
    )  # fmt: skip


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
