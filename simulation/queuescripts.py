"""Play scripts of the scheduling queue over virtual time: what each part of the queue holds after each operation.

The operations (:data:`OPERATIONS`) are the methods of upstream's queue, and ``advance``, which lets time pass. The rest of the scheduler
is left out: its error function and the filters of its event handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import attrs

from ..algorithmprovider import resolve
from ..api.objects import Namespace, Pod
from ..api.reading.decode import decode
from ..api.reading.mismatch import shown
from ..core.cluster.nominations import Nominations
from ..core.queue.backoff import Clock, nanoseconds
from ..core.queue.parked import QueuedPod
from ..core.queue.priority import make_queue
from ..core.queue.protocol import SchedulingQueue
from ..exceptions import CacheError, ManifestError
from ..framework.config.configuration import read_configuration
from ..framework.flow import framework_engine, held_by
from ..framework.queue.eventhandlers import queue_for
from ..framework.queue.events import EVENTS
from ..framework.releases import FRAMEWORK_RELEASES, find_any_release

Json = dict[str, Any]
START = nanoseconds(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
"""When every script begins, in nanoseconds since 1970."""


def answer_script(case: Json) -> Json:
    """Our answer to a script: ``steps``, each with the keys of the pods in every part, and the popped key or the text of a refusal."""
    return {
        "name": case["name"],
        "steps": list((_framework_player if case["version"] in FRAMEWORK_RELEASES else _classic_player)(case).play(case["script"])),
    }


def _classic_player(case: Json) -> Player:
    release, clock = find_any_release(case["version"]), Clock(origin=START)
    nominations = Nominations(release.nominations)
    algorithm = resolve(release, gates={} if case["podPriority"] else {"PodPriority": False})
    queue = make_queue(algorithm, nominations, clock, waits=False)
    return Player(queue, clock, nominations, lambda event: queue.move_all())


def _framework_player(case: Json) -> Player:
    config, clock = read_configuration(gates=case.get("gates"), release=find_any_release(case["version"])), Clock(origin=START)
    engine = framework_engine(config)
    for number, document in enumerate(case.get("namespaces", ()), 1):
        namespace = decode({"kind": "Namespace", **document}, f"{case['name']}, namespace {number}", strict=False)
        assert isinstance(namespace, Namespace)
        engine.listings.namespaces.put(namespace)
    nominations = engine.new_nominations()
    queue = queue_for(engine, config, clock, nominations, partial(held_by, engine.profiles))
    return Player(queue, clock, nominations, lambda event: queue.move_all(EVENTS[event]))


@attrs.define(eq=False)
class Player:
    """A queue, and what its callers know: the objects of the API, and the pods that are being tried."""

    queue: SchedulingQueue
    clock: Clock
    nominations: Nominations
    move: Callable[[str], None]
    """Move pods for the event with this label."""
    _known: dict[str, Pod] = attrs.field(init=False, factory=dict)
    """Key -> pod as it was last added or updated, deleted or not."""
    _listed: dict[str, Pod] = attrs.field(init=False, factory=dict)
    """Key -> pod that exists in the API."""
    _flights: dict[str, tuple[QueuedPod, int]] = attrs.field(init=False, factory=dict)
    """Key -> popped pod and its cycle, until its attempt fails."""

    def __attrs_post_init__(self) -> None:
        self.nominations.lister = self._listed

    def play(self, script: list[Json]) -> Iterator[Json]:
        """The steps: what the queue holds after each operation."""
        for operation in script:
            try:
                told = OPERATIONS[operation["op"]](self, operation) or {}
            except CacheError as refused:
                told = {"error": str(refused)}
            yield told | self._state()

    def _state(self) -> Json:
        parts = self.queue.contents()
        keys = {name: [pod.key for pod in pods] for name, pods in parts._asdict().items()}
        return {**keys, "nominated": {node: [pod.key for pod in self.nominations.on(node)] for node in self.nominations}}

    # --- operations -------------------------------------------------------------------------------------------------

    def _bring(self, operation: Json) -> tuple[Pod | None, Pod]:
        """The pod before the operation, and now."""
        pod = _pod(operation["pod"])
        old = self._known.get(pod.key)
        self._known[pod.key] = self._listed[pod.key] = pod
        return old, pod

    def add(self, operation: Json) -> None:
        self.queue.add(self._bring(operation)[1])

    def add_if_not_present(self, operation: Json) -> None:
        self.queue.add_if_not_present(self._bring(operation)[1])

    def update(self, operation: Json) -> None:
        old, new = self._bring(operation)
        # A pod that was never added is not in the queue, which then does not read the old object.
        self.queue.update(new if old is None else old, new)

    def pop(self, operation: Json) -> Json:
        item = self.queue.pop()
        if item is not None:
            self._flights[item.pod.key] = item, self.queue.cycle
        return {"popped": None if item is None else item.pod.key}

    def unschedulable(self, operation: Json) -> None:
        item, cycle = self._flights.pop(operation["pod"], (None, 0))
        if item is None:
            return
        if "object" in operation:
            item = item.read_again(_pod(operation["object"]))
        item.plugins = frozenset(operation.get("plugins", ()))
        self.queue.add_unschedulable(item, cycle)

    def delete(self, operation: Json) -> None:
        pod = self._known.get(operation["pod"])
        if pod is not None:
            self._listed.pop(pod.key, None)
            self.queue.delete(pod)

    def assigned_pod_added(self, operation: Json) -> None:
        pod = _pod(operation["pod"])
        self._listed[pod.key] = pod
        self.queue.assigned_pod_added(pod)

    def assigned_pod_updated(self, operation: Json) -> None:
        pod = _pod(operation["pod"])
        self._listed[pod.key] = pod
        self.queue.assigned_pod_updated(pod)

    def move_all(self, operation: Json) -> None:
        self.move(operation.get("event", ""))

    def nominate(self, operation: Json) -> None:
        self.queue.nominate(self._added(operation["pod"]), operation["node"])

    def withdraw(self, operation: Json) -> None:
        self.queue.withdraw(self._added(operation["pod"]))

    def _added(self, key: str) -> Pod:
        if key not in self._known:
            raise ManifestError(f"script: pod: expected a pod that was added before, got {shown(key)}")
        return self._known[key]

    def advance(self, operation: Json) -> None:
        self.clock.now += nanoseconds(operation["seconds"])
        self.queue.tick()


OPERATIONS: Mapping[str, Callable[[Player, Json], Json | None]] = {
    "add": Player.add,
    "addIfNotPresent": Player.add_if_not_present,
    "update": Player.update,
    "pop": Player.pop,
    "unschedulable": Player.unschedulable,
    "delete": Player.delete,
    "assignedPodAdded": Player.assigned_pod_added,
    "assignedPodUpdated": Player.assigned_pod_updated,
    "move": Player.move_all,
    "nominate": Player.nominate,
    "unnominate": Player.withdraw,
    "advance": Player.advance,
}


def _pod(document: Json) -> Pod:
    pod = decode({"kind": "Pod", **document}, "pod", strict=False)
    assert isinstance(pod, Pod)
    return pod
