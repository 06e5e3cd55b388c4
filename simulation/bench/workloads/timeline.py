"""From the operations of a workload to its phases, on a virtual clock: a decision counts as one millisecond."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from ....exceptions import ManifestError
from .objects import Maker
from .ops import Barrier, Churn, CreateNamespaces, CreateNodes, CreatePods, Op, Sleep
from .phases import ADD, DELETE, SCHEDULE, WorkloadPhase

Json = dict[str, Any]
Event = tuple[str, Json]


@attrs.define
class _Churning:
    """One churn, which goes on in the background until the workload ends."""

    op: Churn
    namespace: str
    maker: Maker
    due: int
    """The virtual time of the next turn, in milliseconds."""
    _turns: int = 0
    _there: dict[int, list[Json]] = attrs.field(factory=dict)
    """Place -> the objects that are there now; mode recreate has ``number`` places."""

    def events_until(self, now: int) -> Iterator[Event]:
        """The events of all turns that are due."""
        while self.due <= now and not self._is_over:
            yield from self._turn()
            self.due += self.op.milliseconds

    @property
    def _is_over(self) -> bool:
        return not self.op.recreates and 0 < self.op.number <= self._turns

    def _turn(self) -> Iterator[Event]:
        place = self._turns % self.op.number if self.op.recreates else self._turns
        self._turns += 1
        gone = self._there.pop(place, None)
        if gone is not None:
            yield from ((DELETE, document) for document in gone)
            return
        made = self.maker.churned(self.op, self.namespace)
        yield from ((SCHEDULE if document["kind"] == "Pod" else ADD, document) for document in made)
        if self.op.recreates:
            self._there[place] = made


@attrs.define
class Timeline:
    """Takes operations in order; :attr:`objects` and :attr:`phases` are what becomes of them."""

    maker: Maker
    objects: list[Json] = attrs.field(factory=list)
    """What is there before the first pod is scheduled."""
    phases: list[WorkloadPhase] = attrs.field(factory=list)
    _now: int = 0
    _events: list[Event] = attrs.field(factory=list)
    """What has happened since the last wait."""
    _churns: list[_Churning] = attrs.field(factory=list)
    _namespaces: set[str] = attrs.field(factory=set)

    def take(self, op: Op, index: int) -> None:
        """Let *op*, the operation of number *index*, have its effect."""
        if isinstance(op, CreateNodes):
            self._add(self.maker.nodes(op, index))
        elif isinstance(op, CreateNamespaces):
            found = list(self.maker.namespaces(op))
            self._namespaces |= {document["metadata"]["name"] for document in found}
            self._add(found)
        elif isinstance(op, CreatePods):
            self._schedule(op, self._namespace(op.namespace, index))
        elif isinstance(op, Churn):
            namespace = self._namespace(op.namespace, index)
            self._churns.append(_Churning(op, namespace, self.maker, self._now + op.milliseconds))
        elif isinstance(op, Sleep):
            self._now += op.milliseconds
            self._let_churn()
        else:
            self._wait_for(op)

    def _namespace(self, given: str | None, index: int) -> str:
        """The namespace of an operation, which is made if it is not there yet."""
        name = given or f"namespace-{index}"
        if name not in self._namespaces:
            self._namespaces.add(name)
            self._add([{"kind": "Namespace", "metadata": {"name": name}}])
        return name

    def _add(self, documents: Iterable[Json]) -> None:
        if self.phases or self._events:
            self._events += ((ADD, document) for document in documents)
        else:
            self.objects += documents

    def _schedule(self, op: CreatePods, namespace: str) -> None:
        documents = list(self.maker.pods(op, namespace))
        self._add(document for document in documents if document["kind"] != "Pod")
        pods = [document for document in documents if document["kind"] == "Pod"]
        if op.is_measured:
            self._set_up()
        for pod in pods:
            self._events.append((SCHEDULE, pod))
            self._now += 1
            self._let_churn()
        if op.is_measured:
            self._end_phase(is_measured=True, counted=frozenset(f"{namespace}/{pod['metadata']['name']}" for pod in pods))
        elif op.waits:
            self._end_phase()

    def _set_up(self) -> None:
        """What happens before any pod is scheduled is a phase of its own. Pods that nothing has waited for are decided while others are
        measured.
        """
        first = next((at for at, (verb, _) in enumerate(self._events) if verb == SCHEDULE), len(self._events))
        waiting = self._events[first:]
        self._events = self._events[:first]
        self._end_phase()
        self._events = waiting

    def _let_churn(self) -> None:
        for churn in self._churns:
            self._events += churn.events_until(self._now)

    def _wait_for(self, op: Barrier) -> None:
        for name in op.namespaces:
            if name not in self._namespaces:
                raise ManifestError(f"{op.where}.namespaces: got {name}, wanted a namespace of the operations before")
        self._end_phase()

    def _end_phase(self, is_measured: bool = False, counted: frozenset[str] = frozenset()) -> None:
        """All pods so far are decided."""
        if self._events:
            self.phases.append(WorkloadPhase(events=tuple(self._events), is_measured=is_measured, counted=counted))
            self._events = []
