"""The cluster that a server decides on, and the verbs of an extender: from the body of a request to the body
of its answer.

The cluster follows events, those of an API server too; given nodes can stand in for its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Self

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.controlplane.admission import admit
from ...api.controlplane.defaults import with_defaults
from ...api.objects import KubeObject, Node, Pod, PriorityClass
from ...api.wire.ownfields import compact_json
from ...core.arrays.types import Ints, Mask, Rows, Scores
from ...core.decision.decision import Details
from ...core.decision.preemptionplan import Victims
from ...core.decision.score import ScoreError
from ...core.decision.verdict import Verdict
from ...core.engine import Engine, FilterError
from ...core.release import Release
from ...core.run import Run
from ...exceptions import KubeclassicError
from ...framework.schedulerspec import ConfigMaps
from ...simulation.scenario import Scenario
from ..client.api import PODS, Api, Transport
from ..informers.informers import Informers, informers_of
from ..scheduler.writes import binding
from .bodies import (
    UNPROCESSABLE,
    BindingArgs,
    NodesAsked,
    RequestError,
    binding_args,
    extender_args,
    filter_result,
    preemption_args,
    preemption_result,
    read_object,
)
from .serving import Worker

Identity = tuple[str, str]
Objects = dict[Identity, KubeObject]
MOST_ASKED = 2_000
"""Pods of earlier questions that are remembered, so that they can be bound."""
CONFLICT = 409


@attrs.define(eq=False)
class ServedCluster:
    """The objects of a cluster, and the engine that knows them. Not safe for threads: one thread has to own
    it.

    *make_engine* makes a new engine of the configuration; *defaults*: pods and nodes of requests get the
    defaults of the API server.
    """

    make_engine: Callable[[], Engine]
    defaults: bool = True
    objects: Objects = attrs.Factory(dict)
    run: Run = attrs.field(init=False)
    """What decides about the cluster's own nodes."""
    _guests: Run | None = None
    """Where nodes that were given stand in for the cluster's own; made when nodes of a request first differ
    from them."""
    _given: dict[str, Node] = attrs.Factory(dict)
    """The nodes that stand in now."""
    _read: dict[str, tuple[Mapping[str, Any], Node]] = attrs.Factory(dict)
    """Name -> a node's JSON form and what it says, of the latest request."""
    _asked: dict[str, Pod] = attrs.Factory(dict)
    """UID -> pod of an earlier question."""
    _classes: dict[Identity, PriorityClass] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.run = Run(self.make_engine())

    @classmethod
    def of(cls, scenario: Scenario, make_engine: Callable[[ConfigMaps], Engine], defaults: bool) -> Self:
        """The cluster of *scenario*; *make_engine* gets its ConfigMaps."""
        made = cls(partial(make_engine, scenario.config_maps), defaults)
        for item in (*scenario.objects, *scenario.pending):
            made.put(item)
        made.engine.warm()
        return made

    @property
    def engine(self) -> Engine:
        """The engine of :attr:`run`."""
        return self.run.engine

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods, with and without a node."""
        return tuple(item for item in self.objects.values() if isinstance(item, Pod))

    def count(self, kind: type[KubeObject]) -> int:
        """How many objects of a class there are."""
        return sum(type(item) is kind for item in self.objects.values())

    # --- events ---------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object was added or updated. Finished pods leave; a pod of another UID, or on another node, is
        another pod."""
        known = self.objects.get(_identity(item))
        if isinstance(item, Pod):
            node_names = "", item.spec.node_name
            if isinstance(known, Pod) and (known.uid != item.uid or known.spec.node_name not in node_names):
                self.delete(known)
            if item.is_terminal:
                self.delete(item)
                return
        self.objects[_identity(item)] = item
        if isinstance(item, PriorityClass):
            self._classes[_identity(item)] = item
        self.run.put(item)
        if self._guests is not None:
            self._given.pop(item.name if isinstance(item, Node) else "", None)
            self._guests.put(item)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted; only its kind and key matter. An unknown object is ignored."""
        known = self.objects.pop(_identity(item), None)
        if known is None:
            return
        self._classes.pop(_identity(item), None)
        self.run.delete(known)
        if self._guests is not None:
            self._given.pop(known.name if isinstance(known, Node) else "", None)
            self._guests.delete(known)

    # --- what a request names -------------------------------------------------------------------------------

    def completed(self, pod: Pod) -> Pod:
        """The pod of a request with defaults and its priority, as the API server would have it; it is
        remembered, not added."""
        if self.defaults:
            admitted = admit([with_defaults(pod)], self._classes.values())
            if admitted.refused:
                raise RequestError(
                    "Pod",
                    f"a pod that the API server would refuse ({admitted.refused[0][1]})",
                    "another",
                    UNPROCESSABLE,
                )
            pod = next(found for found in admitted.objects if isinstance(found, Pod))
        while len(self._asked) >= MOST_ASKED:
            del self._asked[next(iter(self._asked))]
        self._asked[pod.uid] = pod
        return pod

    def find(self, asked: NodesAsked) -> tuple[Engine, Rows]:
        """The engine that knows the nodes asked for as they were given, and their rows. Raises
        :class:`RequestError`."""
        if asked.manifests is None:
            return self.engine, _rows(self.engine, asked)
        # What is as it was in the last request is not read again.
        read: dict[str, tuple[Mapping[str, Any], Node]] = {}
        for i, (name, manifest) in enumerate(zip(asked.names, asked.manifests, strict=True)):
            last = self._read.get(name)
            if last is None or last[0] != manifest:
                node = read_object("Node", manifest, f"Nodes.items[{i}]")
                last = manifest, with_defaults(node) if self.defaults else node
            read[name] = last
        self._read = read
        differing = {
            name: node
            for name, (_, node) in read.items()
            if not _is_same(self.objects.get((Node.kind, name)), node)
        }
        engine = self._beside(differing).engine if differing else self.engine
        return engine, _rows(engine, asked)

    def _beside(self, differing: Mapping[str, Node]) -> Run:
        """The run where these nodes stand in for the cluster's own, and others for themselves again."""
        if self._guests is None:
            self._guests = Run(self.make_engine())
            for item in self.objects.values():
                self._guests.put(item)
        for name in [name for name in self._given if name not in differing]:
            given = self._given.pop(name)
            own = self.objects.get((Node.kind, name))
            if own is None:
                self._guests.delete(given)
            else:
                self._guests.put(own)
        for name, node in differing.items():
            if self._given.get(name) != node:
                self._given[name] = node
                self._guests.put(node)
        return self._guests

    def bindable(self, key: str, uid: str) -> Pod:
        """The pod to bind: one of the cluster, or of an earlier question. Raises :class:`RequestError`."""
        known = self.objects.get((Pod.kind, key))
        asked = self._asked.get(uid or key)
        for pod in (known, asked):
            if isinstance(pod, Pod) and pod.key == key and uid in ("", pod.uid):
                return pod
        if known is not None:
            raise RequestError("PodUID", f'"{uid}"', f'"{known.uid}", which {key} has', CONFLICT)
        raise RequestError(
            "PodName", f'"{key}", which the cluster does not have', "one of its pods", UNPROCESSABLE
        )

    # --- the verbs of an extender ---------------------------------------------------------------------------

    @property
    def verbs(self) -> dict[str, Callable[[bytes], bytes]]:
        """The verbs that only ask, by the path that asks for them."""
        return {"filter": self.filter, "prioritize": self.prioritize, "preemption": self.preempt}

    def filter(self, body: bytes) -> bytes:
        """Which of the nodes fit, and why the others do not. This and the others raise :class:`RequestError`."""
        pod, asked = extender_args(body)
        engine, rows = self.find(asked)
        pod = self.completed(pod)
        if not len(rows):
            return compact_json(filter_result(asked))
        try:
            with engine.preserving_state(pod):
                fits, unresolvable, texts = _judged(engine, _begun(engine, pod)[1], rows)
        except CannotDecide as error:
            return compact_json(filter_result(asked, error=str(error)))
        names = asked.names
        failed = np.flatnonzero(~fits)
        why, lasting = (
            {names[at]: texts[at] for at in found.tolist()}
            for found in (failed, failed[unresolvable[failed]])
        )
        return compact_json(filter_result(asked, np.flatnonzero(fits).tolist(), why, lasting))

    def prioritize(self, body: bytes) -> bytes:
        """The scores of the nodes, 0 to 10, as if they were those that fit; see :func:`scaled`."""
        pod, asked = extender_args(body)
        engine, rows = self.find(asked)
        pod = self.completed(pod)
        if not len(rows):
            return compact_json([])
        try:
            with engine.preserving_state(pod):
                scores = scaled(engine.flow.score(_begun(engine, pod)[0], rows).totals).tolist()
        except (CannotDecide, ScoreError) as error:
            # The answer of this verb has no field for an error; a scheduler goes on without these scores.
            raise RequestError(
                "Pod", f"a pod that cannot be scored ({error})", "one that can", UNPROCESSABLE
            ) from None
        return compact_json(
            [{"Host": name, "Score": score} for name, score in zip(asked.names, scores, strict=True)]
        )

    def preempt(self, body: bytes) -> bytes:
        """Who has to leave which of the nodes. The victims of the request stay victims, as its scheduler's
        own rules want them gone."""
        pod, asked, victims = preemption_args(body)
        engine, rows = self.find(asked)
        pod = self.completed(pod)
        candidates: Mapping[str, Victims] = {}
        if not len(rows):
            return compact_json(preemption_result(candidates, {}))
        try:
            with engine.preserving_state(pod):
                cycle, details = _begun(engine, pod)
                if details.search is not None:
                    unresolvable = details.search.verdict.unresolvable()
                    unresolvable[details.outside] = True
                    candidates = engine.flow.victims(
                        cycle, rows, unresolvable, {uid for uids in victims.values() for uid in uids}
                    )
        except CannotDecide as error:
            raise RequestError(
                "Pod", f"a pod that cannot be tried ({error})", "one that can", UNPROCESSABLE
            ) from None
        unknown = {}
        for name, uids in victims.items():
            there = {pod.uid for pod in self.engine.pods_on(name)}
            unknown[name] = [uid for uid in uids if uid not in there]
        return compact_json(preemption_result(candidates, unknown))

    def binding(self, body: bytes, *, checks: bool) -> tuple[BindingArgs, str | None]:
        """The binding that a request asks for, and why it cannot be; None if it can.

        With *checks* the pod has to be known and without a node; else an API server judges.
        """
        args = binding_args(body)
        if self.engine.node(args.node) is None:
            got = f'"{args.node[:200]}", which the cluster does not have'
            raise RequestError("Node", got, "one of its nodes", UNPROCESSABLE)
        pod = self.bindable(args.key, args.uid) if checks else None
        host = "" if pod is None else pod.spec.node_name
        return args, f"pod {args.key} is already assigned to node {host}" if host else None

    def bound(self, args: BindingArgs) -> None:
        """The pod is bound: its node counts it from now on, if it is known."""
        with suppress(RequestError):
            pod = self.bindable(args.key, args.uid)
            if not pod.spec.node_name:
                self.put(pod.bound_to(args.node))


def _identity(item: KubeObject) -> Identity:
    return item.kind, item.key


def _is_same(own: KubeObject | None, node: Node) -> bool:
    """Whether the cluster's *own* node is as the given one, but for its version and the like."""
    if not isinstance(own, Node):
        return False
    return (
        own.spec == node.spec
        and own.status == node.status
        and own.labels == node.labels
        and own.annotations == node.annotations
    )


def _rows(engine: Engine, asked: NodesAsked) -> Rows:
    """The rows of the nodes *asked* for, after the table was brought up to date. Raises :class:`RequestError`
    for an unknown one."""
    table = engine.fresh_table()
    found = np.array([table.row_of.get(name, -1) for name in asked.names], np.intp)
    is_known = found >= 0
    is_known[is_known] = table.has_node[found[is_known]]
    if table.deleted_rows:
        is_known &= ~np.isin(found, list(table.deleted_rows))
    if not is_known.all():
        i = int((~is_known).argmax())
        got = f'"{asked.names[i][:200]}", which the cluster does not have'
        raise RequestError(f"{asked.field}[{i}]", got, f"one of its {engine.node_count} nodes", UNPROCESSABLE)
    return found


# --- verbs --------------------------------------------------------------------------------------------------

MAX_EXTENDER_PRIORITY = 10
"""The highest score that an extender gives. Upstream: MaxExtenderPriority."""
UNSCHEDULABLE = "Unschedulable"
"""The code of a plugin's status where the removal of pods may help."""


class CannotDecide(KubeclassicError):
    """The scheduler's cycle ends in an error, with this text."""


def scaled(totals: Scores) -> Ints:
    """Totals as scores of an extender, 0 to 10: the lowest total becomes 0, the highest 10, others in
    proportion, rounded down.

    So 10 has who has the highest total, and no other. Where all totals are equal each gets 10.

    >>> scaled(np.array([100_007, 100_012, 100_019, 100_020])).tolist()
    [0, 3, 9, 10]
    """
    if not len(totals):
        return totals
    low = int(totals.min())
    high = int(totals.max())
    if low == high:
        return np.full(len(totals), MAX_EXTENDER_PRIORITY, np.int64)
    # In Python's numbers: a weight of a Policy may be so large that ten times a total is none of 64 bits.
    return np.array(
        [(total - low) * MAX_EXTENDER_PRIORITY // (high - low) for total in totals.tolist()], np.int64
    )


def _begun(engine: Engine, pod: Pod) -> tuple[Any, Details]:
    """A cycle for *pod* after its filter step."""
    refused = engine.flow.pre_check(pod)
    if refused is not None:
        raise CannotDecide(refused.error or "the pod may not be tried")
    cycle = engine.begin(pod)
    try:
        return cycle, engine.flow.filter(cycle)
    except FilterError as error:
        raise CannotDecide(str(error)) from None


def _judged(engine: Engine, details: Details, rows: Rows) -> tuple[Mask, Mask, list[str]]:
    """Which of *rows* fit, bool[k]; on which the removal of pods cannot help, bool[k]; and why they do not
    fit, empty where they do."""
    if details.search is None:
        refusal = details.refusal(engine.flow.node_list()[0])
        is_final = refusal is not None and refusal.code != UNSCHEDULABLE
        why = "" if refusal is None else ", ".join(refusal.reasons)
        return np.zeros(len(rows), np.bool_), np.full(len(rows), is_final), [why] * len(rows)
    verdict = details.search.verdict
    texts = [""] * len(rows)
    outside = np.isin(rows, details.outside)
    fits = verdict.fits[rows] & ~outside
    unresolvable = verdict.unresolvable()[rows] | outside
    failed = np.flatnonzero(~fits & ~outside)
    # Upstream: an error of a predicate on any node ends the cycle.
    for row in rows[failed].tolist() if verdict.has_errors else ():
        error = verdict.error(row)
        if error is not None:
            raise CannotDecide(error)
    for at, text in zip(failed.tolist(), _texts(verdict, rows[failed]), strict=True):
        texts[at] = text
    away = np.flatnonzero(outside).tolist()
    for at in away:
        refusal = details.refusal(int(rows[away[0]]))
        texts[at] = "" if refusal is None else ", ".join(refusal.reasons)
    return fits, unresolvable, texts


def _texts(verdict: Verdict, rows: Rows) -> list[str]:
    """Why each of *rows* fails; nodes with the same findings share the text."""
    if not len(rows):
        return []
    keys = np.zeros(len(rows), np.int64)
    for _, failures in verdict.plain.findings:
        codes = failures.codes[rows]
        keys = np.unique(keys * (int(codes.max()) + 1) + codes, return_inverse=True)[1].reshape(-1)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    shared = [
        ", ".join(reason.text for reason in verdict.plain.reasons(int(rows[i]))) for i in first.tolist()
    ]
    texts = [shared[i] for i in which.reshape(-1).tolist()]
    for at, row in enumerate(rows.tolist() if verdict.place else ()):
        if row in verdict.place:  # With nominated pods a node has findings of its own.
            texts[at] = ", ".join(reason.text for reason in verdict.reasons(row))
    return texts


# --- an API server ------------------------------------------------------------------------------------------

TOLERATED = 10.0
"""Seconds for which the API server may be away before answers say so: watches end and begin again."""
LOOK = 1.0
"""Seconds between two looks whether it is away."""
PAUSE = 1.0
"""Seconds until an API server that does not answer is asked once more."""


@attrs.define(eq=False, kw_only=True)
class Following:
    """Passes to *cluster* everything that a scheduler of *release* lists and watches through *transport*.

    A release asks for the versions of the API of its time. Here the newest version that the API server has is
    asked for, so that an old release can serve a newer cluster.
    """

    transport: Transport
    release: Release
    cluster: ServedCluster
    worker: Worker
    report: Callable[[str], None]
    """Is told of what fails or cannot be read, one line each, perhaps again and again."""
    news: Callable[[str], None] = lambda text: None
    """Is told when the API server is away for long, and when it is back."""
    on_event: Callable[[], None] = lambda: None
    is_complete: bool = False
    """Whether everything has been listed once."""
    _informers: Informers | None = None

    async def run(self, on_complete: Callable[[], None] = lambda: None) -> None:
        """List and watch until this is cancelled. Raises what the transport raises where no request can be
        sent at all."""
        try:
            await self._follow(on_complete)
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _follow(self, on_complete: Callable[[], None]) -> None:
        gates = self.cluster.engine.gates
        informers = self._informers = informers_of(self.release, gates, self.transport, self, self.report)
        async with asyncio.TaskGroup() as group:
            group.create_task(informers.run())
            await informers.synced()
            await self.worker.ask(self.cluster.engine.warm)
            self.is_complete = True
            on_complete()
            # Tell when the API server could not be followed for longer than is tolerated, and when it is
            # followed again.
            before = 0.0
            while True:
                await asyncio.sleep(LOOK)
                behind = self.seconds_behind
                if before < TOLERATED <= behind:
                    self.news(
                        f"the API server has not answered for {behind:.0f} s: answers say so, and /readyz fails"
                    )
                elif behind < TOLERATED <= before:
                    self.news(f"the API server answers again, after {before:.0f} s")
                before = behind

    @property
    def seconds_behind(self) -> float:
        """For how long the API server could not be followed; 0: it is."""
        return 0.0 if self._informers is None else self._informers.seconds_behind

    # --- events ---------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object was added or changed."""
        self._submit(self.cluster.put, item)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""
        self._submit(self.cluster.delete, item)

    def _submit(self, change: Callable[[KubeObject], None], item: KubeObject) -> None:
        self.on_event()
        self.worker.submit(self._apply, change, replace(item, manifest=None))

    def _apply(self, change: Callable[[KubeObject], None], item: KubeObject) -> None:
        try:
            change(item)
        except KubeclassicError as error:
            self.report(f"{item.kind} {item.key}: {error}")

    # --- bindings -------------------------------------------------------------------------------------------

    async def write_binding(self, wanted: BindingArgs) -> str | None:
        """Bind a pod; the answer is the API server's error, or None."""
        body = binding(wanted.name, wanted.namespace, wanted.uid, wanted.node)
        try:
            await Api(self.transport).ask("POST", PODS, wanted.namespace, wanted.name, "binding", body)
        except KubeclassicError as error:
            return str(error)
        return None
