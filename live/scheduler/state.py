"""The state that the parts of a live scheduler share: the engine, its queue, the clock, and the API server.

Also here: requests to that server, their errors, changes of a pod's status, and a dry run of all this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar

from attrs import Factory, define, field, frozen

from ...api.objects import DEFAULT_SCHEDULER, JsonDict, JsonObject, KubeObject, Pod
from ...api.reading import decode_kind
from ...core.driver import SchedulingState
from ...core.queue.backoff import Clock, nanoseconds
from ...core.release import Release
from ...exceptions import ManifestError
from ..client.api import NOT_THERE, PODS, REFUSED, Api, ApiError, Resource, TransportError, loop_time
from ..process.logs import Log
from ..process.metering import SchedulerMetrics
from .events import Recorder, in_seconds

# --- Requests -----------------------------------------------------------------------------------------------
# Upstream: the typed clients of k8s.io/client-go; UpdatePodCondition in pkg/api/v1/pod/util.go,
# PatchPodStatus in pkg/scheduler/util/utils.go, and CreateTwoWayMergePatch in k8s.io/apimachinery.


K = TypeVar("K", bound=KubeObject)
FAILED = 500
UNAVAILABLE = 503
TIMED_OUT = 504
DELETE_OPTIONS = {"kind": "DeleteOptions", "apiVersion": "v1"}
STORE = "etcdserver: "
"""The beginning of a server's message about a refusal of its store, or no answer: it may have written all the
same."""


class NoAnswer(ApiError):
    """No answer came, so it is unknown whether the request was carried out."""


def is_unknown(error: ApiError) -> bool:
    """Whether the request may have been carried out: no answer came, or the server gave up waiting for its
    store."""
    return (
        isinstance(error, NoAnswer)
        or error.status == TIMED_OUT
        or (error.status == FAILED and STORE in str(error))
    )


@define(eq=False)
class ClusterApi:
    """The writes of a scheduler; each may raise :class:`~kubeclassic.live.client.api.ApiError`."""

    api: Api | None = None
    device_api: str = ""
    """The API group and version in which claims to devices are written."""
    names_requests: bool = False
    """As :attr:`~kubeclassic.core.release.ClientCells.names_device_requests`."""

    async def ask(
        self,
        method: str,
        resource: Resource,
        namespace: str,
        name: str,
        subresource: str = "",
        body: JsonObject | None = None,
    ) -> JsonDict:
        """The server's answer to a request; without a server the body itself."""
        if self.api is None:
            return dict(body or {})
        try:
            return await self.api.ask(method, resource, namespace, name, subresource, body)
        except TransportError as error:  # a connection that failed is an error of the API, too
            raise (
                ApiError(UNAVAILABLE, "", str(error))
                if error.cause == REFUSED
                else NoAnswer(0, "", str(error))
            ) from error

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind *pod* to a node."""
        await self.ask(
            "POST",
            PODS,
            pod.namespace,
            pod.name,
            "binding",
            binding(pod.name, pod.namespace, pod.metadata.uid, node_name),
        )

    async def read_pod(self, pod: Pod) -> Pod:
        """The pod as the server has it now."""
        return decoded(Pod, await self.ask("GET", PODS, pod.namespace, pod.name))

    async def put_status(self, pod: Pod, status: JsonDict, node_name: str = "") -> None:
        """Write *pod* with *status*; *node_name*: the node that it was to be bound to."""
        await self.ask(
            "PUT", PODS, pod.namespace, pod.name, "status", _pod_with_status(pod, status, node_name)
        )

    async def patch_status(self, pod: Pod, patch: JsonDict, tries: int = 4) -> None:
        """Change the status of *pod* by a strategic merge patch, unless it is empty; what may pass is tried
        again, *tries* times in all."""
        pause = 0.01
        for tries_left in reversed(range(tries if patch else 0)):
            try:
                await self.ask("PATCH", PODS, pod.namespace, pod.name, "status", patch)
                return
            except ApiError as error:
                # Upstream: Retriable in pkg/scheduler/util/utils.go.
                if not tries_left or not (
                    isinstance(error, NoAnswer) or error.status in (FAILED, UNAVAILABLE)
                ):
                    raise
            await asyncio.sleep(pause)
            pause *= 5

    async def delete_pod(self, pod: Pod) -> None:
        """Delete *pod*."""
        await self.ask("DELETE", PODS, pod.namespace, pod.name, body=DELETE_OPTIONS)


def decoded(kind: type[K], document: Any) -> K:
    """The object in an answer; raises ApiError for one that cannot be read."""
    try:
        item = decode_kind(kind.kind, document, strict=False, keeps_manifest=True)
    except ManifestError as error:
        raise ApiError(200, "", str(error)) from error
    assert isinstance(item, kind)
    return item


@define(eq=False)
class DryApi(ClusterApi):
    """The API of a dry run, which sends nothing. A binding lasts until the cluster has bound the pod, or
    deleted it."""

    pods: dict[str, Pod] = Factory(dict)
    """The pods as the informer knows them, by key."""
    _written: dict[str, Pod] = Factory(dict)
    """Pods with the status that would have been written; the queues of old releases look at it."""
    _bindings: dict[str, tuple[str, asyncio.Future[None]]] = Factory(dict)
    """Key -> the UID of the pod that would be bound, and the end of that."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        end = asyncio.get_running_loop().create_future()
        self._bindings[pod.key] = pod.uid, end
        await end

    def settle(self, pod: Pod, *, is_gone: bool = False) -> None:
        """End the binding of *pod* if it has a node or is gone, or is another one of that name."""
        uid, end = self._bindings.get(pod.key, (pod.uid, None))
        is_gone |= uid != pod.uid
        if not is_gone and not pod.node_name:
            return
        self._written.pop(pod.key, None)
        self._bindings.pop(pod.key, None)
        if end is None or end.done():
            return
        if is_gone:
            end.set_exception(_not_found(pod.name))
        else:
            end.set_result(None)

    async def read_pod(self, pod: Pod) -> Pod:
        if pod.key not in self.pods:
            raise _not_found(pod.name)
        current = self.pods[pod.key]
        written = self._written.get(pod.key)
        return written if written is not None and written.metadata == current.metadata else current

    async def put_status(self, pod: Pod, status: JsonDict, node_name: str = "") -> None:
        self._written[pod.key] = decoded(Pod, _pod_with_status(pod, status))


def _not_found(name: str) -> ApiError:
    return ApiError(NOT_THERE, "NotFound", f'pods "{name}" not found')


async def read_until_answered(api: ClusterApi, pod: Pod, pause: float, longest: float) -> Pod | None:
    """*pod* as the server has it, None if it has none; without an answer it is read again, after pauses that
    double."""
    while True:
        try:
            return await api.read_pod(pod)
        except ApiError as error:
            if error.status == NOT_THERE:
                return None
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)


def status_of(pod: Pod) -> JsonObject:
    """The status of *pod* in its JSON form, as it was received."""
    return (pod.manifest or {}).get("status") or {}


# --- bodies -------------------------------------------------------------------------------------------------


def binding(name: str, namespace: str, uid: str, node_name: str) -> JsonDict:
    """A Binding of a pod to a node; the UID keeps it from another pod of the same name."""
    return {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, **({"uid": uid} if uid else {})},
        "target": {"kind": "Node", "name": node_name},
    }


def _pod_with_status(pod: Pod, status: JsonDict, node_name: str = "") -> JsonDict:
    """The whole *pod* with another *status*, and its kind, which those in lists do not say.

    Upstream: the pod that failed to be bound has the node that it was assumed on; the server ignores it in an
    update of the status.
    """
    manifest = pod.manifest or {}
    spec = {"spec": {**(manifest.get("spec") or {}), "nodeName": node_name}} if node_name else {}
    return {**manifest, **spec, "status": status, "kind": "Pod", "apiVersion": "v1"}


@frozen(kw_only=True)
class NewCondition:
    """A condition that is to be in a status. Times are in the API's form."""

    type: str = "PodScheduled"
    status: str = "False"
    reason: str
    message: str = ""
    probed: str | None = None
    """Its lastProbeTime."""
    generation: int = 0
    """The generation of the pod, where the release notes it."""


def with_condition(status: JsonObject, condition: NewCondition, now: str) -> JsonDict | None:
    """*status* with *condition* in the place of one of its type, else at the end; None if this changes
    nothing."""
    conditions = list(status.get("conditions") or [])
    place = next(
        (i for i, entry in enumerate(conditions) if entry.get("type") == condition.type), len(conditions)
    )
    old = conditions[place] if place < len(conditions) else {}
    new = {
        "type": condition.type,
        "status": condition.status,
        "lastProbeTime": condition.probed,
        "lastTransitionTime": old.get("lastTransitionTime") if old.get("status") == condition.status else now,
        "reason": condition.reason,
        "message": condition.message,
    }
    if old and all((old.get(name) or None) == (value or None) for name, value in new.items()):
        return None
    if generation := condition.generation or old.get("observedGeneration"):
        new["observedGeneration"] = generation
    conditions[place : place + 1] = [new]
    return {**status, "conditions": conditions}


def with_nomination(status: JsonObject, node_name: str) -> JsonDict:
    """*status* with another nominated node; the empty name removes it."""
    changed = {key: value for key, value in status.items() if key != "nominatedNodeName"}
    return changed | ({"nominatedNodeName": node_name} if node_name else {})


def status_patch(before: JsonObject, after: JsonObject) -> JsonDict:
    """The strategic merge patch between two statuses that differ in conditions or in the nominated node;
    empty if they do not."""
    changed = {}
    new = after.get("conditions") or []
    if new != before.get("conditions", []):
        changed["conditions"] = new
        if "conditions" in before:
            changed["$setElementOrder/conditions"] = [{"type": condition["type"]} for condition in new]
            changed["conditions"] = []
            by_type = {condition["type"]: condition for condition in before["conditions"] or ()}
            for condition in new:
                old = by_type.get(condition["type"], {})
                differing = {
                    key: condition.get(key)
                    for key in sorted({*old, *condition})
                    if key not in old or old[key] != condition.get(key)
                }
                if differing:
                    changed["conditions"].append({**differing, "type": condition["type"]})
    if (node_name := after.get("nominatedNodeName")) != before.get("nominatedNodeName"):
        changed["nominatedNodeName"] = node_name
    return {"status": changed} if changed else {}


# --- The state ----------------------------------------------------------------------------------------------


T = TypeVar("T")
LEASE_LOOK = 0.1
"""Seconds between two checks whether this replica leads."""


@define(eq=False)
class LiveState(SchedulingState):
    """The state of one live scheduler. All that changes it happens on the thread of the event loop, so
    between two awaits nothing changes.

    Only a decision for which extenders are called is made on another thread (:meth:`apart`). While it is made
    events wait, and tasks that use the engine wait at :meth:`free`.
    """

    api: ClusterApi
    recorder: Recorder
    wall: Callable[[], float]
    """The time in seconds since 1970."""
    scheduler_name: str = DEFAULT_SCHEDULER
    log: Log = Factory(Log)
    observer: SchedulerMetrics = field(
        default=Factory(
            lambda self: SchedulerMetrics(has_profiles=bool(self.engine.flow.profiles)), takes_self=True
        )
    )
    leads: Callable[[], bool] = lambda: True
    """Whether this replica leads for certain; true where there is no other one."""
    awake: asyncio.Event = Factory(asyncio.Event)
    """Set when something happened that may let a pod be tried."""
    worker: Executor = field(init=False, factory=lambda: ThreadPoolExecutor(1, "decisions"))
    """The thread for decisions that call extenders."""
    pre_bound: dict[str, bool] = Factory(dict)
    """UID of a pod that waits for its volumes or devices -> whether it was preempted meanwhile."""
    tasks: set[asyncio.Task[None]] = Factory(set)
    """The tasks beside the cycles: bindings, and pods that are read again."""

    def __attrs_post_init__(self) -> None:
        start = self.now()
        self.begin(
            Clock(now=nanoseconds(start), origin=nanoseconds(self.wall() - start)), self.scheduler_name
        )
        if isinstance(self.api, DryApi):
            self.api.pods = self.router.pods

    @property
    def is_dry(self) -> bool:
        """Nothing is written: a binding ends when somebody else has bound the pod."""
        return isinstance(self.api, DryApi)

    @property
    def release(self) -> Release:
        return self.engine.release

    now = staticmethod(loop_time)

    # --- time -----------------------------------------------------------------------------------------------

    def touch(self) -> None:
        """Set the clock, before anything is done that depends on the time. No two events have the same time,
        as with real clocks."""
        self.clock.now = max(nanoseconds(self.now()), self.clock.now + 1)

    @property
    def timestamp(self) -> str:
        """The time as the API writes it: whole seconds."""
        return in_seconds(self.wall())

    async def leading(self) -> None:
        """Wait until this replica leads for certain: before a pod is bound or deleted. It ends if it never
        leads again."""
        while not self.leads():
            await asyncio.sleep(LEASE_LOOK)

    # --- decisions on another thread ------------------------------------------------------------------------

    async def apart(self, work: Callable[[], T]) -> T:
        """The result of *work*, which uses the engine, on the thread of :attr:`worker`."""
        self._is_busy = True
        self._freed.clear()
        task = asyncio.get_running_loop().run_in_executor(self.worker, work)
        try:
            return await task
        finally:
            if not task.cancelled():  # else the scheduler is ending, and the thread is still at work
                self._is_busy = False
                backlog = self._backlog
                self._backlog = []
                for tell, item in backlog:
                    self._tell(tell, item)
                self._freed.set()

    async def free(self) -> None:
        """Wait until no other thread uses the engine. Until the next await it stays so."""
        while self._is_busy:
            await self._freed.wait()

    # --- events ---------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An informer saw that an object was added or updated. In a dry run a pod with a node ends its
        binding."""
        self._tell(self.router.put, item)
        if isinstance(self.api, DryApi) and isinstance(item, Pod):
            self.api.settle(item)

    def delete(self, item: KubeObject) -> None:
        """An informer saw that an object was deleted."""
        self._tell(self.router.delete, item)
        if isinstance(self.api, DryApi) and isinstance(item, Pod):
            self.api.settle(item, is_gone=True)

    def _tell(self, tell: Callable[[KubeObject], None], item: KubeObject) -> None:
        if self._is_busy:
            self._backlog.append((tell, item))
            return
        self.touch()
        tell(item)
        self.awake.set()

    # --- tasks ----------------------------------------------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run *work* as a task beside the others."""

        def done(task: asyncio.Task[None]) -> None:
            self.tasks.discard(task)
            self.awake.set()
            if not task.cancelled() and (error := task.exception()) is not None:
                self.broken.append(error)

        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(done)

    broken: list[BaseException] = Factory(list)
    """Defects in tasks; the scheduler ends with the first one."""
    _is_busy: bool = False
    _freed: asyncio.Event = Factory(asyncio.Event)
    _backlog: list[tuple[Callable[[KubeObject], None], KubeObject]] = Factory(list)
    """Events that wait for the end of a decision on another thread."""
