"""The forms of conformance cases, and scripts of the queue over virtual time: what each part holds after each
operation.

The operations (:data:`OPERATIONS`) are the methods of upstream's queue, and ``advance``, which lets time
pass. The rest of the scheduler is left out: its error function and the filters of its event handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from attrs import Factory, define
from msgspec import UNSET, Meta, UnsetType

from ..algorithmprovider import resolve
from ..api.objects import JsonDict, Namespace, Pod
from ..api.reading import decode, shown
from ..core.cluster.nominations import Nominations
from ..core.queue.backoff import Clock, QueuedPod, nanoseconds
from ..core.queue.priority import SchedulingQueue, make_queue
from ..exceptions import CacheError, ManifestError, did_you_mean
from ..framework.config.configuration import read_configuration
from ..framework.flow import framework_engine, held_by
from ..framework.queue.events import EVENTS
from ..framework.queue.queue import queue_for
from ..framework.releases import FRAMEWORK_RELEASES, find_any_release

# --- scripts of the queue -----------------------------------------------------------------------------------

START = nanoseconds(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
"""The time at which every script begins, in nanoseconds since 1970."""


def answer_script(case: JsonDict) -> JsonDict:
    """Our answer to a script: ``steps``, each with the keys of the pods in every part, and the popped key or
    the text of a refusal."""
    release = find_any_release(case["version"])
    clock = Clock(origin=START)
    if case["version"] in FRAMEWORK_RELEASES:
        config = read_configuration(gates=case.get("gates"), release=release)
        engine = framework_engine(config)
        for number, document in enumerate(case.get("namespaces", ()), 1):
            namespace = decode(
                {"kind": "Namespace", **document}, f"{case['name']}, namespace {number}", strict=False
            )
            assert isinstance(namespace, Namespace)
            engine.listings.namespaces.put(namespace)
        nominations = engine.new_nominations()
        newer = queue_for(engine, config, clock, nominations, partial(held_by, engine.profiles))
        player = Player(newer, clock, nominations, lambda event: newer.move_all(EVENTS[event]))
    else:
        nominations = Nominations(release.nominations)
        algorithm = resolve(release, gates={} if case["podPriority"] else {"PodPriority": False})
        older = make_queue(
            release.queue, nominations, clock, fifo=not algorithm.queues_by_priority, waits=False
        )
        player = Player(older, clock, nominations, lambda event: older.move_all())
    return {"name": case["name"], "steps": list(player.play(case["script"]))}


@define(eq=False)
class Player:
    """A queue, and what its callers know: the objects of the API, and the pods that are being tried."""

    queue: SchedulingQueue
    clock: Clock
    nominations: Nominations
    move: Callable[[str], None]
    """Move pods for the event with this label."""
    _pods_by_key: dict[str, Pod] = Factory(dict)
    """Key -> pod as it was last added or updated, deleted or not."""
    _listed: dict[str, Pod] = Factory(dict)
    """Key -> pod that exists in the API."""
    _flights: dict[str, tuple[QueuedPod, int]] = Factory(dict)
    """Key -> popped pod and its cycle, until its attempt fails."""

    def __attrs_post_init__(self) -> None:
        self.nominations.lister = self._listed

    def play(self, script: list[JsonDict]) -> Iterator[JsonDict]:
        """The steps: what the queue holds after each operation."""
        for operation in script:
            try:
                result = self._perform(operation["op"], operation)
            except CacheError as refused:
                result = {"error": str(refused)}
            parts = {
                name: [pod.key for pod in pods] for name, pods in self.queue.contents()._asdict().items()
            }
            yield (
                result
                | parts
                | {
                    "nominated": {
                        node: [pod.key for pod in self.nominations.on(node)] for node in self.nominations
                    }
                }
            )

    def _perform(self, op: str, operation: JsonDict) -> JsonDict:
        queue = self.queue
        pod_or_key = operation.get("pod")
        if isinstance(pod_or_key, dict):
            pod = _pod(pod_or_key)
            # One that was never added is not in the queue, which then does not read the old object.
            old = self._pods_by_key.get(pod.key, pod)
            self._listed[pod.key] = pod
            if not op.startswith("assigned"):
                self._pods_by_key[pod.key] = pod
            handlers = {
                "add": queue.add,
                "addIfNotPresent": queue.add_if_not_present,
                "assignedPodAdded": queue.assigned_pod_added,
                "assignedPodUpdated": queue.assigned_pod_updated,
            }
            if op == "update":
                queue.update(old, pod)
            else:
                handlers[op](pod)
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
            if pod_or_key in self._flights:
                popped, cycle = self._flights.pop(pod_or_key)
                if "object" in operation:
                    popped = popped.read_again(_pod(operation["object"]))
                popped.plugins = frozenset(operation.get("plugins", ()))
                queue.add_unschedulable(popped, cycle)
        elif pod_or_key in self._pods_by_key:
            pod = self._pods_by_key[pod_or_key]
            match op:
                case "delete":
                    self._listed.pop(pod_or_key, None)
                    queue.delete(pod)
                case "nominate":
                    queue.nominate(pod, operation["node"])
                case "unnominate":
                    queue.withdraw(pod)
        elif op != "delete":
            raise ManifestError(f"script: pod: expected a pod that was added before, got {shown(pod_or_key)}")
        return {}


def _pod(document: JsonDict) -> Pod:
    pod = decode({"kind": "Pod", **document}, "pod", strict=False)
    assert isinstance(pod, Pod)
    return pod


# --- the forms of cases and answers -------------------------------------------------------------------------


WholeNumber = Annotated[int, Meta(gt=-(1 << 31), lt=1 << 31)]
CALLS = "http"
"""The field of a cycle with the requests to extenders; a case with scripts of extenders has it."""


class _Form(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """An object without other fields than these: everything else is refused, so no case passes that was not
    really compared."""


class CaseConfig(_Form):
    """The configuration of a case's scheduler."""

    policy: JsonDict | None = None
    profile: JsonDict | None = None
    provider: str | None = None
    feature_gates: dict[str, bool] | None = None
    preemption: bool = True
    equivalence_cache: bool = False
    hard_pod_affinity_symmetric_weight: WholeNumber = 1
    percentage_of_nodes_to_score: WholeNumber = 0


class CaseProblem(_Form):
    """A scheduling problem."""

    name: str
    version: str
    pending: list[JsonDict]
    config: CaseConfig | None = None
    objects: list[JsonDict] = []
    nominated: dict[str, str] | None = None
    extenders: dict[str, dict[str, dict[str, JsonDict]]] = {}
    """URL prefix -> role -> pod -> reply."""


class CaseEvent(_Form):
    """An event of an object among the pending pods."""

    event: Literal["add", "update", "delete"]
    object: JsonDict


_POD = ("pod", JsonDict)
_KEY = ("pod", str)
OPERATIONS: Mapping[str, Sequence[Any]] = {
    **dict.fromkeys(("add", "addIfNotPresent", "update"), (_POD,)),
    "pop": (),
    "unschedulable": [_KEY, ("object", JsonDict, {}), ("plugins", list[str], [])],
    "delete": [_KEY],
    **dict.fromkeys(("assignedPodAdded", "assignedPodUpdated"), (_POD,)),
    "move": [("event", str, "")],
    "nominate": [_KEY, ("node", str)],
    "unnominate": [_KEY],
    "advance": [("seconds", Annotated[float, Meta(ge=0, le=1e9)])],
}
"""Operation of a script -> its fields, besides ``op``."""
_FORMS = {
    name: msgspec.defstruct(name, fields, bases=(_Form,), tag_field="op", tag=name, rename="camel")
    for name, fields in OPERATIONS.items()
}


class CaseScript(_Form):
    """A script of the queue."""

    name: str
    version: str
    pod_priority: bool
    script: Annotated[list[JsonDict], Meta(min_length=1)]
    namespaces: list[JsonDict] = []


class CasePreemption(msgspec.Struct, rename="camel"):
    """The outcome of a preemption."""

    clear_nominations: list[str] | None = None


class CaseCycle(_Form):
    """The decision on a pod."""

    pod: str = ""
    host: str | None = None
    error: str | None = None
    feasible: list[str] | None = None
    failed: JsonDict | None = None
    priorities: JsonDict | None = None
    scores: JsonDict | None = None
    preemption: CasePreemption | None = None
    allocations: dict[str, list[str]] = {}
    http: list[JsonDict] = []


class ScriptStep(_Form):
    """The contents of the queue after an operation."""

    popped: str | None = None
    error: str = ""
    active: list[str] = []
    backoff: list[str] = []
    unschedulable: list[str] = []
    nominated: dict[str, list[str]] = {}


class CaseAnswer(_Form):
    """An error, the cycles of a problem or the steps of a script."""

    name: str
    error: str | UnsetType = UNSET
    cycles: Annotated[list[CaseCycle], Meta(min_length=1)] | UnsetType = UNSET
    steps: Annotated[list[ScriptStep], Meta(min_length=1)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if [self.error, self.cycles, self.steps].count(UNSET) != 2:
            raise ValueError("Expected one of error, cycles and steps, got several or none")


FIELDS = tuple(field for field in CaseCycle.__struct_fields__ if field != CALLS)
"""The fields of a cycle."""
STEP_FIELDS = ScriptStep.__struct_fields__


def check_case(case: Any, where: str) -> JsonDict:
    """Return *case* if it is a scheduling problem or a script of the queue; else raise ManifestError with
    *where*, its file and line."""
    if isinstance(case, dict) and "script" in case:
        _checked(case, CaseScript, where)
        for number, operation in enumerate(case["script"]):
            place = f"{where}: script[{number}]"
            name = operation.get("op")
            if name not in tuple(OPERATIONS):
                raise ManifestError(
                    f"{place}: op: expected one of {', '.join(OPERATIONS)}, got {shown(name)}"
                )
            _checked(operation, _FORMS[name], place)
            event = operation.get("event")
            if name == "move" and case["version"] in FRAMEWORK_RELEASES and event not in EVENTS:
                hint = did_you_mean(event or "", EVENTS)
                raise ManifestError(
                    f"{place}: event: expected an event of the framework, got {shown(event)}{hint}"
                )
        return case
    problem = _checked(case, CaseProblem, where)
    for number, item in enumerate(problem["pending"]):
        if "event" in item:
            _checked(item, CaseEvent, f"{where}: pending[{number}]")
    return problem


def check_answer(answer: Any, where: str) -> JsonDict:
    """Return *answer* if it is an error, or has cycles or steps; else raise ManifestError with *where*, its
    file and line."""
    return _checked(answer, CaseAnswer, where)


def _checked(value: Any, form: type[msgspec.Struct], where: str) -> JsonDict:
    try:
        msgspec.convert(value, form)
    except msgspec.ValidationError as error:
        message, _, path = str(error).replace("`", "").partition(" - at $")
        raise ManifestError(
            ": ".join(filter(None, [where, path.strip("."), f"{message[:1].lower()}{message[1:]}"]))
        ) from None
    document: JsonDict = value
    return document
