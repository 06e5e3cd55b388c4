"""Requests of the live scheduler to an API server, their errors, changes of a pod's status, and a dry run of
it all.

Upstream: the typed clients of k8s.io/client-go; UpdatePodCondition in pkg/api/v1/pod/util.go, PatchPodStatus
in pkg/scheduler/util/utils.go, and CreateTwoWayMergePatch in k8s.io/apimachinery.
"""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import attrs

from ...api.objects import JsonObject, KubeObject, Pod
from ...api.reading import decode_kind
from ...exceptions import ManifestError
from ..client.api import NOT_THERE, PODS, REFUSED, Api, ApiError, Resource, TransportError

Json = dict[str, Any]
K = TypeVar("K", bound=KubeObject)
FAILED = 500
UNAVAILABLE = 503
TIMED_OUT = 504
DELETE_OPTIONS = {"kind": "DeleteOptions", "apiVersion": "v1"}
STORE = "etcdserver: "
"""What the message of a server begins with whose store said no, or nothing: the store may have written all
the same."""


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


@attrs.define(eq=False)
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
    ) -> Json:
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

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
        """Write *pod* with *status*; *node_name*: the node that it was to be bound to."""
        await self.ask(
            "PUT", PODS, pod.namespace, pod.name, "status", _pod_with_status(pod, status, node_name)
        )

    async def patch_status(self, pod: Pod, patch: Json) -> None:
        """Change the status of *pod* by a strategic merge patch, unless it is empty; what may pass is tried
        again, four times in all."""
        pause = 0.01
        for left in reversed(range(4 if patch else 0)):
            try:
                await self.ask("PATCH", PODS, pod.namespace, pod.name, "status", patch)
                return
            except ApiError as error:
                # Upstream: Retriable in pkg/scheduler/util/utils.go.
                if not left or not (isinstance(error, NoAnswer) or error.status in (FAILED, UNAVAILABLE)):
                    raise
            await asyncio.sleep(pause)
            pause *= 5

    async def delete_pod(self, pod: Pod) -> None:
        """Delete *pod*."""
        await self.ask("DELETE", PODS, pod.namespace, pod.name, body=DELETE_OPTIONS)


def decoded(kind: type[K], document: Any) -> K:
    """The object in an answer; raises ApiError for one that cannot be read."""
    try:
        found = decode_kind(kind.kind, document, strict=False, keeps_manifest=True)
    except ManifestError as error:
        raise ApiError(200, "", str(error)) from error
    assert isinstance(found, kind)
    return found


@attrs.define(eq=False)
class DryApi(ClusterApi):
    """The same in a dry run, which sends nothing. A binding lasts until the cluster has bound the pod, or
    deleted it."""

    known: dict[str, Pod] = attrs.Factory(dict)
    """The pods as the informer knows them, by key."""
    _written: dict[str, Pod] = attrs.Factory(dict)
    """Pods with the status that would have been written; the queues of old releases look at it."""
    _bindings: dict[str, asyncio.Future[None]] = attrs.Factory(dict)

    async def bind(self, pod: Pod, node_name: str) -> None:
        end = self._bindings[pod.key] = asyncio.get_running_loop().create_future()
        await end

    def settle(self, key: str, *, is_bound: bool) -> None:
        """The pod was bound by somebody, or is gone."""
        self._written.pop(key, None)
        end = self._bindings.pop(key, None)
        if end is None or end.done():
            return
        if is_bound:
            end.set_result(None)
        else:
            end.set_exception(_not_found(key.partition("/")[2]))

    async def read_pod(self, pod: Pod) -> Pod:
        if pod.key not in self.known:
            raise _not_found(pod.name)
        known = self.known[pod.key]
        written = self._written.get(pod.key)
        return written if written is not None and written.metadata == known.metadata else known

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
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


def binding(name: str, namespace: str, uid: str, node_name: str) -> Json:
    """A Binding of a pod to a node; the UID keeps it from another pod of the same name."""
    metadata = {"name": name, "namespace": namespace, **({"uid": uid} if uid else {})}
    return {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": metadata,
        "target": {"kind": "Node", "name": node_name},
    }


def _pod_with_status(pod: Pod, status: Json, node_name: str = "") -> Json:
    """The whole *pod* with another *status*, and its kind, which those in lists do not say.

    Upstream: the pod that failed to be bound has the node that it was assumed on; the server ignores it in an
    update of the status.
    """
    manifest = pod.manifest or {}
    spec = {"spec": {**(manifest.get("spec") or {}), "nodeName": node_name}} if node_name else {}
    return {**manifest, **spec, "status": status, "kind": "Pod", "apiVersion": "v1"}


@attrs.frozen(kw_only=True)
class NewCondition:
    """A condition that is to be in a status. Times are in the API's form."""

    type: str = "PodScheduled"
    status: str = "False"
    reason: str
    message: str = ""
    probed: str | None = None
    """Its lastProbeTime."""


def with_condition(status: JsonObject, condition: NewCondition, now: str) -> Json | None:
    """*status* with *condition* in the place of one of its type, else at the end; None if this changes
    nothing."""
    conditions = list(status.get("conditions") or [])
    place = next(
        (i for i, one in enumerate(conditions) if one.get("type") == condition.type), len(conditions)
    )
    old = conditions[place] if place < len(conditions) else {}
    made = {
        "type": condition.type,
        "status": condition.status,
        "lastProbeTime": condition.probed,
        "lastTransitionTime": old.get("lastTransitionTime") if old.get("status") == condition.status else now,
        "reason": condition.reason,
        "message": condition.message,
    }
    if old and all((old.get(field) or None) == (value or None) for field, value in made.items()):
        return None
    conditions[place : place + 1] = [made]
    return {**status, "conditions": conditions}


def with_nomination(status: JsonObject, node_name: str) -> Json:
    """*status* with another nominated node; the empty name removes it."""
    found = {key: value for key, value in status.items() if key != "nominatedNodeName"}
    return found | ({"nominatedNodeName": node_name} if node_name else {})


def status_patch(before: JsonObject, after: JsonObject) -> Json:
    """The strategic merge patch between two statuses that differ in conditions or in the nominated node;
    empty if they do not."""
    changed = {}
    new = after.get("conditions") or []
    if new != before.get("conditions", []):
        changed["conditions"] = new
        if "conditions" in before:
            changed["$setElementOrder/conditions"] = [{"type": one["type"]} for one in new]
            changed["conditions"] = []
            known = {one["type"]: one for one in before["conditions"] or ()}
            for one in new:
                old = known.get(one["type"], {})
                differing = {
                    key: one.get(key)
                    for key in sorted({*old, *one})
                    if key not in old or old[key] != one.get(key)
                }
                if differing:
                    changed["conditions"].append({**differing, "type": one["type"]})
    if (node_name := after.get("nominatedNodeName")) != before.get("nominatedNodeName"):
        changed["nominatedNodeName"] = node_name
    return {"status": changed} if changed else {}
