"""What the live scheduler asks of an API server, the errors that it gets, changes of a pod's status, and a dry run of it all.

Upstream: the typed clients of k8s.io/client-go; UpdatePodCondition in pkg/api/v1/pod/util.go, PatchPodStatus in
pkg/scheduler/util/utils.go, and CreateTwoWayMergePatch in k8s.io/apimachinery.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

import attrs
from msgspec.structs import replace

from ...api.objects import KubeObject, PersistentVolume, Pod, ResourceClaim
from ...api.reading.decode import decode_kind
from ...api.wire.claimjson import with_finalizers, with_status
from ...api.wire.ownfields import own_fields
from ...exceptions import ManifestError
from ..client.api import Api, ApiError
from ..client.resources import PODS, Resource, resource
from ..client.transport import REFUSED, TransportError

Json = dict[str, Any]
K = TypeVar("K", bound=KubeObject)
FAILED, TIMED_OUT = 500, 504
DELETE_OPTIONS: Mapping[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}
CONFLICT, CONFLICTS = 409, 5
"""The status of a write to an object that somebody else has changed, and how often it is tried."""
STORE = "etcdserver: "
"""What the message of a server begins with whose store said no, or nothing: the store may have written all the same."""


class NoAnswer(ApiError):
    """No answer came, so it is unknown whether the request was carried out."""


def is_unknown(error: ApiError) -> bool:
    """Whether the request may have been carried out: no answer came, or the server gave up waiting for its store."""
    return isinstance(error, NoAnswer) or error.status == TIMED_OUT or (error.status == FAILED and STORE in str(error))


def is_not_found(error: ApiError) -> bool:
    """Whether the object is not there."""
    return error.status == 404


def may_pass(error: ApiError) -> bool:
    """Whether a patch of a status is tried again after *error*. Upstream: Retriable in pkg/scheduler/util/utils.go."""
    return isinstance(error, NoAnswer) or error.status in (500, 503)


class ClusterApi(ABC):
    """The writes of a scheduler; each may raise :class:`~kubeclassic.live.client.api.ApiError`."""

    device_api: str = ""
    """The API group and version in which claims to devices are written."""
    names_requests: bool = False
    """As :attr:`~kubeclassic.core.release.ClientCells.names_device_requests`."""

    @abstractmethod
    async def ask(
        self, method: str, resource: Resource, namespace: str, name: str, subresource: str = "", body: Mapping[str, Any] | None = None
    ) -> Json:  # fmt: skip
        """What the server answers to a request."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind *pod* to a node."""
        await self.ask("POST", PODS, pod.namespace, pod.name, "binding", binding(pod.name, pod.namespace, pod.metadata.uid, node_name))

    async def read_pod(self, pod: Pod) -> Pod:
        """The pod as the server has it now."""
        return _decoded(Pod, await self.ask("GET", PODS, pod.namespace, pod.name))

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
        """Write *pod* with *status*; *node_name*: the node that it was to be bound to."""
        body = _pod_with_status(pod, status, node_name)
        await self.ask("PUT", PODS, pod.namespace, pod.name, "status", body)

    async def patch_status(self, pod: Pod, patch: Json) -> None:
        """Change the status of *pod* by a strategic merge patch."""
        await self.ask("PATCH", PODS, pod.namespace, pod.name, "status", patch)

    async def delete_pod(self, pod: Pod) -> None:
        """Delete *pod*."""
        await self.ask("DELETE", PODS, pod.namespace, pod.name, body=DELETE_OPTIONS)

    async def put_volume(self, item: KubeObject, claim: KubeObject | None) -> KubeObject:
        """Write a volume, for *claim*, or a claim; answers the object with its new version."""
        body = _volume(item, claim)
        return _decoded(type(item), await self.ask("PUT", resource(item.kind), item.namespace, item.name, body=body))

    async def make_claim(self, claim: ResourceClaim, classes: Mapping[str, Mapping[str, Any]]) -> ResourceClaim:
        """Make a claim to devices, and write its devices to it; as :meth:`put_claim`."""
        body = own_fields(claim)
        body["metadata"].pop("uid", None)
        manifest = {"apiVersion": self.device_api, "kind": "ResourceClaim", **body}
        manifest.pop("status", None)
        claims = resource("ResourceClaim", self.device_api)
        found = _decoded(ResourceClaim, await self.ask("POST", claims, claim.namespace, "", body=manifest))
        return await self.put_claim(found, replace(claim, metadata=found.metadata), classes)

    async def delete_claim(self, claim: ResourceClaim) -> None:
        """Delete a claim to devices, which loses its finalizers first."""
        claims, place = resource("ResourceClaim", self.device_api), (claim.namespace, claim.name)
        if claim.metadata.finalizers:
            manifest: Mapping[str, Any] = {"apiVersion": self.device_api, "kind": "ResourceClaim", **(claim.manifest or {})}
            body = with_finalizers(manifest, replace(claim, metadata=replace(claim.metadata, finalizers=())))
            await self.ask("PUT", claims, *place, body=body)
        await self.ask("DELETE", claims, *place, body=DELETE_OPTIONS)

    async def put_claim(self, before: ResourceClaim, after: ResourceClaim, classes: Mapping[str, Mapping[str, Any]]) -> ResourceClaim:
        """Write a claim to devices; *classes*: the manifests of all device classes, by name. Answers the claim with its new version."""
        claims, place = resource("ResourceClaim", self.device_api), (before.namespace, before.name)
        manifest: Mapping[str, Any] = {"apiVersion": self.device_api, "kind": "ResourceClaim", **(before.manifest or {})}
        if after.metadata.finalizers != before.metadata.finalizers:
            manifest = await self.ask("PUT", claims, *place, body=with_finalizers(manifest, after))
        for _ in range(CONFLICTS):
            try:
                body = with_status(manifest, after, classes, self.names_requests)
                found = await self.ask("PUT", claims, *place, "status", body)
            except ApiError as error:
                manifest = await self._read_again(claims, before, error)
            else:
                return _decoded(ResourceClaim, found)
        raise ApiError(409, "Conflict", f'resourceclaims "{before.name}" changes all the time')

    async def _read_again(self, claims: Resource, before: ResourceClaim, error: ApiError) -> Mapping[str, Any]:
        """The claim after a conflict; raises *error* where it is another one, or the claim has devices that it had not."""
        if error.status != CONFLICT:
            raise error
        manifest = await self.ask("GET", claims, before.namespace, before.name)
        if _decoded(ResourceClaim, manifest).status.allocation != before.status.allocation:
            raise error
        return manifest


def _decoded(kind: type[K], document: Any) -> K:
    """The object in an answer; raises ApiError for one that cannot be read."""
    try:
        found = decode_kind(kind.kind, document, strict=False, keeps_manifest=True)
    except ManifestError as error:
        raise ApiError(200, "", str(error)) from error
    assert isinstance(found, kind)
    return found


@attrs.define(eq=False)
class WireApi(ClusterApi):
    """The writes as requests to an API server."""

    api: Api
    device_api: str = ""
    names_requests: bool = False

    async def ask(
        self, method: str, resource: Resource, namespace: str, name: str, subresource: str = "", body: Mapping[str, Any] | None = None
    ) -> Json:  # fmt: skip
        try:
            return await self.api.ask(method, resource, namespace, name, subresource, body)
        except TransportError as error:  # a connection that failed is an error of the API, too
            raise (ApiError(503, "", str(error)) if error.cause == REFUSED else NoAnswer(0, "", str(error))) from error


@attrs.define(eq=False)
class DryApi(ClusterApi):
    """The same in a dry run, which sends nothing. A binding lasts until the cluster has bound the pod, or deleted it."""

    known: dict[str, Pod] = attrs.field(factory=dict)
    """The pods as the informer knows them, by key."""
    _written: dict[str, Pod] = attrs.field(factory=dict)
    """Pods with the status that would have been written; the queues of old releases look at it."""
    _bindings: dict[str, asyncio.Future[None]] = attrs.field(factory=dict)

    async def ask(
        self, method: str, resource: Resource, namespace: str, name: str, subresource: str = "", body: Mapping[str, Any] | None = None
    ) -> Json:  # fmt: skip
        return dict(body or {})

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
            end.set_exception(ApiError(404, "NotFound", f'pods "{key.partition("/")[2]}" not found'))

    async def read_pod(self, pod: Pod) -> Pod:
        if pod.key not in self.known:
            raise ApiError(404, "NotFound", f'pods "{pod.name}" not found')
        known, written = self.known[pod.key], self._written.get(pod.key)
        return written if written is not None and written.metadata == known.metadata else known

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
        self._written[pod.key] = _decoded(Pod, _pod_with_status(pod, status))


async def read_until_answered(api: ClusterApi, pod: Pod, pause: float, longest: float) -> Pod | None:
    """*pod* as the server has it, None if it has none; without an answer it is read again, after pauses that double."""
    while True:
        try:
            return await api.read_pod(pod)
        except ApiError as error:
            if is_not_found(error):
                return None
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)


def status_of(pod: Pod) -> Mapping[str, Any]:
    """The status of *pod* in its JSON form, as it was received."""
    found: Mapping[str, Any] = (pod.manifest or {}).get("status") or {}
    return found


# --- bodies -----------------------------------------------------------------------------------------------------------


def binding(name: str, namespace: str, uid: str, node_name: str) -> Json:
    """A Binding of a pod to a node; the UID keeps it from another pod of the same name."""
    metadata = {"name": name, "namespace": namespace, **({"uid": uid} if uid else {})}
    return {"kind": "Binding", "apiVersion": "v1", "metadata": metadata, "target": {"kind": "Node", "name": node_name}}


def _pod_with_status(pod: Pod, status: Json, node_name: str = "") -> Json:
    """The whole *pod* with another *status*.

    Upstream: the pod that failed to be bound has the node that it was assumed on; the server ignores it in an update of the status.
    """
    manifest = dict(pod.manifest or {})
    if node_name:
        manifest["spec"] = {**(manifest.get("spec") or {}), "nodeName": node_name}
    return _typed("Pod", {**manifest, "status": status})


def _volume(item: KubeObject, claim: KubeObject | None) -> Json:
    """A volume that *claim* gets, or, without one, a claim that chose its node."""
    manifest = dict(item.manifest or {})
    manifest["metadata"] = {**(manifest.get("metadata") or {}), "annotations": dict(item.annotations)}
    if isinstance(item, PersistentVolume) and claim is not None:
        manifest["spec"] = {**(manifest.get("spec") or {}), "claimRef": _claim_reference(item, claim)}
    return _typed(item.kind, manifest)


def _claim_reference(item: PersistentVolume, claim: KubeObject) -> Json:
    """The reference that is there if it has the claim's UID, else a new one."""
    there: Json = dict(((item.manifest or {}).get("spec") or {}).get("claimRef") or {})
    if there.get("uid") == claim.metadata.uid and there.get("name") == claim.name and there.get("namespace") == claim.namespace:
        return there
    metadata = claim.metadata
    reference = {"kind": claim.kind, "namespace": claim.namespace, "name": claim.name, "uid": metadata.uid, "apiVersion": "v1"}
    return reference | {"resourceVersion": metadata.resource_version}


def _typed(kind: str, manifest: Mapping[str, Any]) -> Json:
    """The manifest that came with its kind, which those in lists do not say."""
    return {**manifest, "kind": kind, "apiVersion": "v1"}


PATCH_TRIES, FIRST_PATCH_PAUSE, PATCH_PAUSE_FACTOR = 4, 0.01, 5.0
COMPARED = ("status", "reason", "message", "lastProbeTime", "lastTransitionTime")


@attrs.frozen(kw_only=True)
class NewCondition:
    """A condition that is to be in a status. Times are in the API's form."""

    type: str = "PodScheduled"
    status: str = "False"
    reason: str
    message: str = ""
    probed: str | None = None
    """Its lastProbeTime."""

    def form(self, since: str | None) -> Json:
        """As JSON; *since*: when its status was another one."""
        found: Json = {"type": self.type, "status": self.status, "lastProbeTime": self.probed, "lastTransitionTime": since}
        return found | {"reason": self.reason, "message": self.message}


def with_condition(status: Mapping[str, Any], condition: NewCondition, now: str) -> Json | None:
    """*status* with *condition* in the place of one of its type, else at the end; None if this changes nothing."""
    conditions = list(status.get("conditions") or [])
    place = next((i for i, one in enumerate(conditions) if one.get("type") == condition.type), None)
    if place is None:
        return {**status, "conditions": [*conditions, condition.form(now)]}
    old = conditions[place]
    since = old.get("lastTransitionTime") if old.get("status") == condition.status else now
    made = condition.form(since)
    if all((old.get(field) or None) == (made[field] or None) for field in COMPARED):
        return None
    conditions[place] = made
    return {**status, "conditions": conditions}


def with_nomination(status: Mapping[str, Any], node_name: str) -> Json:
    """*status* with another nominated node; the empty name removes it."""
    found = {key: value for key, value in status.items() if key != "nominatedNodeName"}
    return found | ({"nominatedNodeName": node_name} if node_name else {})


def status_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """The strategic merge patch between two statuses that differ in conditions or in the nominated node; empty if they do not."""
    changed: Json = {}
    new: list[Json] = after.get("conditions") or []
    if new != before.get("conditions", []):
        if "conditions" in before:
            known = {one["type"]: one for one in before["conditions"] or ()}
            changed["$setElementOrder/conditions"] = [{"type": one["type"]} for one in new]
            new = [{**_difference(known.get(one["type"], {}), one), "type": one["type"]} for one in new if one != known.get(one["type"])]
        changed["conditions"] = new
    if (node_name := after.get("nominatedNodeName")) != before.get("nominatedNodeName"):
        changed["nominatedNodeName"] = node_name
    return {"status": changed} if changed else {}


def _difference(old: Json, new: Json) -> Json:
    return {key: new.get(key) for key in sorted({*old, *new}) if key not in old or old[key] != new.get(key)}


async def patch_status(api: ClusterApi, pod: Pod, patch: Json) -> None:
    """Send a patch, unless it is empty; what may pass is tried again, four times in all. Raises :class:`ApiError`."""
    pause = FIRST_PATCH_PAUSE
    for left in reversed(range(PATCH_TRIES if patch else 0)):
        try:
            await api.patch_status(pod, patch)
            return
        except ApiError as error:
            if not may_pass(error) or not left:
                raise
        await asyncio.sleep(pause)
        pause *= PATCH_PAUSE_FACTOR
