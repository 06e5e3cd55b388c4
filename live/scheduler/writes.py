"""What the live scheduler asks of an API server, the errors that it gets, changes of a pod's status, and a
dry run of it all. Before a pod is bound its volumes are written, one after another, which then have to be
bound, and its claims to devices.

Upstream: the typed clients of k8s.io/client-go; UpdatePodCondition in pkg/api/v1/pod/util.go, PatchPodStatus
in pkg/scheduler/util/utils.go, and CreateTwoWayMergePatch in k8s.io/apimachinery. BindPodVolumes in
pkg/controller/volume/scheduling/scheduler_binder.go (before 1.15 in pkg/controller/volume/persistentvolume;
1.27: pkg/scheduler/framework/plugins/volumebinding/binder.go); bindClaim, PostFilter and Unreserve in
pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.objects import KubeObject, PersistentVolume, PersistentVolumeClaim, Pod, ResourceClaim
from ...api.reading.decode import decode_kind
from ...api.wire.ownfields import own_fields, with_finalizers, with_status
from ...core.arrays.batch import Batch
from ...core.cluster.listings import ClaimWrite, ResourceClaims
from ...core.matching.nodeselectors import node_selector_mask
from ...core.volumes.assumecache import VolumeError
from ...core.volumes.volumesearch import SELECTED_NODE, is_fully_bound
from ...exceptions import KubeclassicError, ManifestError
from ..client.api import NOT_THERE, PODS, REFUSED, Api, ApiError, Resource, TransportError, resource

if TYPE_CHECKING:
    from .state import LiveState


Json = dict[str, Any]
K = TypeVar("K", bound=KubeObject)
FAILED = 500
UNAVAILABLE = 503
TIMED_OUT = 504
DELETE_OPTIONS: Mapping[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}
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
        body: Mapping[str, Any] | None = None,
    ) -> Json:
        """What the server answers to a request; without a server the body itself."""
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
        pause = FIRST_PATCH_PAUSE
        for left in reversed(range(PATCH_TRIES if patch else 0)):
            try:
                await self.ask("PATCH", PODS, pod.namespace, pod.name, "status", patch)
                return
            except ApiError as error:
                # Upstream: Retriable in pkg/scheduler/util/utils.go.
                if not left or not (isinstance(error, NoAnswer) or error.status in (FAILED, UNAVAILABLE)):
                    raise
            await asyncio.sleep(pause)
            pause *= PATCH_PAUSE_FACTOR

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


def status_of(pod: Pod) -> Mapping[str, Any]:
    """The status of *pod* in its JSON form, as it was received."""
    found: Mapping[str, Any] = (pod.manifest or {}).get("status") or {}
    return found


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


PATCH_TRIES = 4
FIRST_PATCH_PAUSE = 0.01
PATCH_PAUSE_FACTOR = 5.0


@attrs.frozen(kw_only=True)
class NewCondition:
    """A condition that is to be in a status. Times are in the API's form."""

    type: str = "PodScheduled"
    status: str = "False"
    reason: str
    message: str = ""
    probed: str | None = None
    """Its lastProbeTime."""


def with_condition(status: Mapping[str, Any], condition: NewCondition, now: str) -> Json | None:
    """*status* with *condition* in the place of one of its type, else at the end; None if this changes
    nothing."""
    conditions = list(status.get("conditions") or [])
    place = next(
        (i for i, one in enumerate(conditions) if one.get("type") == condition.type), len(conditions)
    )
    old: Json = conditions[place] if place < len(conditions) else {}
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


def with_nomination(status: Mapping[str, Any], node_name: str) -> Json:
    """*status* with another nominated node; the empty name removes it."""
    found = {key: value for key, value in status.items() if key != "nominatedNodeName"}
    return found | ({"nominatedNodeName": node_name} if node_name else {})


def status_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """The strategic merge patch between two statuses that differ in conditions or in the nominated node;
    empty if they do not."""
    changed: Json = {}
    new: list[Json] = after.get("conditions") or []
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


CONFLICT = 409
CONFLICTS = 5
"""The status of a write to an object that somebody else has changed, and how often it is tried."""


@attrs.define(eq=False)
class ClaimWork:
    """Writes what the engine notes of claims."""

    state: LiveState

    def __attrs_post_init__(self) -> None:
        self.claims.writes = []

    @property
    def claims(self) -> ResourceClaims:
        return self.state.listings.resource_claims

    def taken(self) -> list[ClaimWrite]:
        """What is to be written, and is no longer noted."""
        found = self.claims.writes or []
        self.claims.writes = []
        return found

    async def write(self, wanted: list[ClaimWrite]) -> str | None:
        """Write *wanted* in order; the first error ends it, and what was not written is as before."""
        for number, each in enumerate(wanted):
            try:
                written = await self._one(each)
            except ApiError as error:
                await self.state.free()
                for undone in reversed(wanted[number:]):
                    before = undone.before
                    after = undone.after
                    if after is not None and self.claims.get(after.key) is after:
                        self.claims.drop(after.key)
                    if before is not None and self.claims.get(before.key) is None:
                        self.claims.put(before)
                return str(error)
            await self.state.free()
            if written is not None:
                self.claims.put(written)
        return None

    async def _one(self, wanted: ClaimWrite) -> ResourceClaim | None:
        """Write one claim; gives it with its new version."""
        api = self.state.api
        before = wanted.before
        after = wanted.after
        claims = resource("ResourceClaim", api.device_api)
        head = {"apiVersion": api.device_api, "kind": "ResourceClaim"}
        if after is None:
            if before is not None:
                place = before.namespace, before.name
                if before.metadata.finalizers:  # they go first
                    bare = replace(before, metadata=replace(before.metadata, finalizers=()))
                    await api.ask(
                        "PUT", claims, *place, body=with_finalizers({**head, **(before.manifest or {})}, bare)
                    )
                await api.ask("DELETE", claims, *place, body=DELETE_OPTIONS)
            return None
        if before is not None:
            return await self._put(before, after)
        manifest = {**head, **own_fields(after)}
        manifest["metadata"].pop("uid", None)
        manifest.pop("status", None)
        made = decoded(ResourceClaim, await api.ask("POST", claims, after.namespace, "", body=manifest))
        made = await self._put(made, replace(after, metadata=made.metadata))
        if wanted.told is not None:
            pod, status = wanted.told
            await api.patch_status(pod, {"status": status})
        return made

    async def _put(self, before: ResourceClaim, after: ResourceClaim) -> ResourceClaim:
        """Write the finalizers and the status of a claim that is there."""
        api = self.state.api
        place = (before.namespace, before.name)
        claims = resource("ResourceClaim", api.device_api)
        classes = {one.name: one.manifest or {} for one in self.state.listings.device_classes}
        manifest: Mapping[str, Any] = {
            "apiVersion": api.device_api,
            "kind": "ResourceClaim",
            **(before.manifest or {}),
        }
        if after.metadata.finalizers != before.metadata.finalizers:
            manifest = await api.ask("PUT", claims, *place, body=with_finalizers(manifest, after))
        for _ in range(CONFLICTS):
            try:
                body = with_status(manifest, after, classes, api.names_requests)
                found = await api.ask("PUT", claims, *place, "status", body)
            except ApiError as error:
                if error.status != CONFLICT:
                    raise
                manifest = await api.ask("GET", claims, *place)
                if decoded(ResourceClaim, manifest).status.allocation != before.status.allocation:
                    raise
            else:
                return decoded(ResourceClaim, found)
        raise ApiError(CONFLICT, "Conflict", f'resourceclaims "{before.name}" changes all the time')

    def write_beside(self) -> None:
        """Write what was noted just now, beside what goes on; an error is reported, and the next attempt
        notes it once more."""

        async def reported(wanted: list[ClaimWrite]) -> None:
            error = await self.write(wanted)
            if error is not None:
                self.state.log.warning(f"resourceclaims: {error}")

        if wanted := self.taken():
            self.state.spawn(reported(wanted))


POLL = 1.0
"""Seconds between two looks at the volumes."""
BIND_TIMEOUT = 600.0


class NotWritten(KubeclassicError):
    """A volume or claim could not be written; the text is the API server's."""


class NotBound(KubeclassicError):
    """The volumes were written, and will not be bound to the pod's claims; the text is upstream's."""


@attrs.define(eq=False)
class VolumeWork:
    """Binds the volumes of pods."""

    state: LiveState
    timeout: float = BIND_TIMEOUT

    def is_needed(self, pod: Pod) -> bool:
        """Whether a claim of *pod*, which was just assumed, has no volume yet."""
        if not pod.spec.volumes or not self.state.binding.waits_for_claims(pod):
            return False
        claims = self.state.listings.claims
        found = (claims.get(key) for key in self.state.engine.claims_of(pod))
        return not all(claim is not None and is_fully_bound(claim) for claim in found)

    async def bind(self, pod: Pod) -> None:
        """Write what was assumed for *pod*, which has its node, and wait until it is so. Raises NotWritten
        and NotBound."""
        try:
            wanted = self.state.engine.bind_volumes(pod)
        except VolumeError as error:
            raise NotWritten(str(error)) from error
        written = list[KubeObject]()
        for item in wanted:
            try:
                written.append(await self._put(item))
            except ApiError as error:
                await self.state.free()
                self.state.engine.binder.restore(wanted[len(written) :])
                raise NotWritten(str(error)) from error
        end = self.state.now() + self.timeout
        while True:
            await asyncio.sleep(POLL)
            await self.state.free()
            node = pod.spec.node_name
            if self.state.engine.row_of(node) is None:
                raise NotBound(f'failed to get node "{node}": node "{node}" not found')
            known = self.state.pod(pod.key)
            if known is None or known.uid != pod.uid:
                raise NotBound(f'pod "{pod.key}" does not exist any more')
            if all(
                self._is_volume_bound(item, node)
                if isinstance(item, PersistentVolume)
                else self._is_provisioned(item, node)
                for item in written
            ):
                return
            if self.state.now() >= end:
                raise NotBound("timed out waiting for the condition")

    async def _put(self, item: KubeObject) -> KubeObject:
        """Write a volume for its claim, or a claim that chose its node; answers the object with its new
        version."""
        manifest = dict(item.manifest or {})
        claim = self._claim_of(item)
        manifest["metadata"] = {**(manifest.get("metadata") or {}), "annotations": dict(item.annotations)}
        if claim is not None:
            spec: dict[str, Any] = manifest.get("spec") or {}
            reference: dict[str, Any] = spec.get("claimRef") or {}
            wanted = {"namespace": claim.namespace, "name": claim.name, "uid": claim.metadata.uid}
            if not wanted.items() <= reference.items():  # one that is there for this claim stays
                reference = {
                    "kind": claim.kind,
                    **wanted,
                    "apiVersion": "v1",
                    "resourceVersion": claim.metadata.resource_version,
                }
            manifest["spec"] = {**spec, "claimRef": reference}
        body = {**manifest, "kind": item.kind, "apiVersion": "v1"}
        return decoded(
            type(item),
            await self.state.api.ask("PUT", resource(item.kind), item.namespace, item.name, body=body),
        )

    def _claim_of(self, item: KubeObject) -> PersistentVolumeClaim | None:
        reference = item.spec.claim_ref if isinstance(item, PersistentVolume) else None
        return (
            None
            if reference is None
            else self.state.listings.claims.get(f"{reference.namespace}/{reference.name}")
        )

    # --- waiting --------------------------------------------------------------------------------------------

    def _is_volume_bound(self, written: PersistentVolume, node_name: str) -> bool:
        volume = self.state.listings.volumes.get(written.key)
        claim = self._claim_of(written)
        if volume is None or claim is None:
            missing = f'PersistentVolume "{written.key}"' if volume is None else "PersistentVolumeClaim"
            raise NotBound(f"failed to check binding: could not find v1.{missing}")
        if _is_older(volume, written):
            return False
        self._check_reach(volume, node_name)
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise NotBound(f'ClaimRef got reset for pv "{volume.name}"')
        return is_fully_bound(claim)

    def _is_provisioned(self, written: KubeObject, node_name: str) -> bool:
        claim = self.state.listings.claims.get(written.key)
        if claim is None:
            raise NotBound(
                f'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "{written.key}"'
            )
        if _is_older(claim, written):
            return False
        if not claim.annotations:
            raise NotBound(f'selectedNode annotation reset for PVC "{claim.name}"')
        selected = claim.annotations.get(SELECTED_NODE, "")
        if selected != node_name:
            raise NotBound(
                self.state.release.live.wrong_node_text.format(claim=claim.name, got=selected, node=node_name)
            )
        if claim.spec.volume_name:
            volume = self.state.listings.volumes.get(claim.spec.volume_name)
            if volume is None:
                return False
            self._check_reach(volume, node_name)
        return is_fully_bound(claim)

    def _check_reach(self, volume: PersistentVolume, node_name: str) -> None:
        affinity = volume.spec.node_affinity
        table = self.state.engine.table
        if affinity is None:
            return
        batch = Batch(table, np.array([table.row_of[node_name]], np.intp))
        if not node_selector_mask(affinity, batch, fields=False)[0]:
            raise NotBound(
                f'pv "{volume.name}" node affinity doesn\'t match node "{node_name}": no matching NodeSelectorTerms'
            )


def _is_older(known: KubeObject, written: KubeObject) -> bool:
    """Whether the informer has not seen yet what was written."""
    versions = known.metadata.resource_version, written.metadata.resource_version
    return all(version.isdecimal() for version in versions) and int(versions[0]) < int(versions[1])
