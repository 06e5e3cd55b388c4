"""Play scripts of the scheduling queue over virtual time: what each part of the queue holds after each operation.

The operations (:data:`OPERATIONS`) are the methods of upstream's queue, and ``advance``, which lets time pass. The rest of the scheduler
is left out: its error function and the filters of its event handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
OPERATIONS = (
    "add", "addIfNotPresent", "update", "pop", "unschedulable", "delete", "assignedPodAdded", "assignedPodUpdated", "move", "nominate",
    "unnominate", "advance",
)  # fmt: skip


def answer_script(case: Json) -> Json:
    """Our answer to a script: ``steps``, each with the keys of the pods in every part, and the popped key or the text of a refusal."""
    release, clock = find_any_release(case["version"]), Clock(origin=START)
    if case["version"] in FRAMEWORK_RELEASES:
        config = read_configuration(gates=case.get("gates"), release=release)
        engine = framework_engine(config)
        for number, document in enumerate(case.get("namespaces", ()), 1):
            namespace = decode({"kind": "Namespace", **document}, f"{case['name']}, namespace {number}", strict=False)
            assert isinstance(namespace, Namespace)
            engine.listings.namespaces.put(namespace)
        nominations = engine.new_nominations()
        newer = queue_for(engine, config, clock, nominations, partial(held_by, engine.profiles))
        player = Player(newer, clock, nominations, lambda event: newer.move_all(EVENTS[event]))
    else:
        nominations = Nominations(release.nominations)
        algorithm = resolve(release, gates={} if case["podPriority"] else {"PodPriority": False})
        older = make_queue(algorithm, nominations, clock, waits=False)
        player = Player(older, clock, nominations, lambda event: older.move_all())
    return {"name": case["name"], "steps": list(player.play(case["script"]))}


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
                told = self._perform(operation["op"], operation)
            except CacheError as refused:
                told = {"error": str(refused)}
            parts = {name: [pod.key for pod in pods] for name, pods in self.queue.contents()._asdict().items()}
            yield told | parts | {"nominated": {node: [pod.key for pod in self.nominations.on(node)] for node in self.nominations}}

    def _perform(self, op: str, operation: Json) -> Json:
        queue, given = self.queue, operation.get("pod")
        if isinstance(given, dict):
            pod = _pod(given)
            old = self._known.get(pod.key, pod)  # one that was never added is not in the queue, which then does not read the old object
            self._listed[pod.key] = pod
            if not op.startswith("assigned"):
                self._known[pod.key] = pod
            match op:
                case "add":
                    queue.add(pod)
                case "addIfNotPresent":
                    queue.add_if_not_present(pod)
                case "update":
                    queue.update(old, pod)
                case "assignedPodAdded":
                    queue.assigned_pod_added(pod)
                case "assignedPodUpdated":
                    queue.assigned_pod_updated(pod)
        elif op == "pop":
            item = queue.pop()
            if item is not None:
                self._flights[item.pod.key] = item, queue.cycle
            return {"popped": None if item is None else item.pod.key}
        elif op == "advance":
            self.clock.now += nanoseconds(operation["seconds"])
            queue.tick()
        elif op == "move":
            self.move(operation.get("event", ""))
        elif op == "unschedulable":
            flight = self._flights.pop(operation["pod"], None)
            if flight is not None:
                popped = flight[0].read_again(_pod(operation["object"])) if "object" in operation else flight[0]
                popped.plugins = frozenset(operation.get("plugins", ()))
                queue.add_unschedulable(popped, flight[1])
        elif given in self._known:
            pod = self._known[given]
            match op:
                case "delete":
                    self._listed.pop(given, None)
                    queue.delete(pod)
                case "nominate":
                    queue.nominate(pod, operation["node"])
                case "unnominate":
                    queue.withdraw(pod)
        elif op != "delete":
            raise ManifestError(f"script: pod: expected a pod that was added before, got {shown(given)}")
        return {}

def _pod(document: Json) -> Pod:
    pod = decode({"kind": "Pod", **document}, "pod", strict=False)
    assert isinstance(pod, Pod)
    return pod
