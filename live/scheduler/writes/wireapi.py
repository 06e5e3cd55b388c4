"""The requests of a live scheduler, through a client of the API server.

Upstream: the typed clients of k8s.io/client-go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

import attrs

from ....api.objects import KubeObject, PersistentVolume, Pod, ResourceClaim
from ....api.reading.decode import decode_kind
from ....api.wire.claimjson import with_finalizers, with_status
from ....api.wire.goform import go_form
from ....exceptions import ManifestError
from ...client.api import Api
from ...client.resources import PODS, Resource, resource
from ...client.transport import REFUSED, TransportError
from .api import ApiError, Json, NoAnswer

CONFLICT, CONFLICTS = 409, 5
"""The status of a write to an object that somebody else has changed, and how often it is tried."""


@attrs.define(eq=False)
class WireApi:
    """A :class:`~.api.ClusterApi` whose requests have the form of release *version*."""

    api: Api
    version: str
    device_api: str = ""
    """The API group and version in which claims to devices are written."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        await _answer(self.api.bind(pod.namespace, pod.name, _binding(pod, node_name)))

    async def read_pod(self, pod: Pod) -> Pod:
        found = _decoded("Pod", await _answer(self.api.get(PODS, pod.namespace, pod.name)))
        assert isinstance(found, Pod)
        return found

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
        body = _pod_with_status(pod, status, self.version, node_name)
        await _answer(self.api.update_status(PODS, pod.namespace, pod.name, body))

    async def patch_status(self, pod: Pod, patch: Json) -> None:
        await _answer(self.api.patch(PODS, pod.namespace, pod.name, patch, subresource="status"))

    async def delete_pod(self, pod: Pod) -> None:
        await _answer(self.api.delete(PODS, pod.namespace, pod.name))

    async def put_volume(self, item: KubeObject, claim: KubeObject | None) -> KubeObject:
        body = _volume(item, claim, self.version)
        return _decoded(item.kind, await _answer(self.api.update(resource(item.kind), item.namespace, item.name, body)))

    async def put_claim(self, before: ResourceClaim, after: ResourceClaim, classes: Mapping[str, Mapping[str, Any]]) -> ResourceClaim:
        claims, place = resource("ResourceClaim", self.device_api), (before.namespace, before.name)
        manifest: Mapping[str, Any] = {"apiVersion": self.device_api, "kind": "ResourceClaim", **(before.manifest or {})}
        if after.metadata.finalizers != before.metadata.finalizers:
            manifest = await _answer(self.api.update(claims, *place, with_finalizers(manifest, after)))
        for _ in range(CONFLICTS):
            try:
                found = await _answer(self.api.update_status(claims, *place, with_status(manifest, after, classes)))
            except ApiError as error:
                manifest = await self._read_again(claims, before, error)
            else:
                written = _decoded("ResourceClaim", found)
                assert isinstance(written, ResourceClaim)
                return written
        raise ApiError(409, "Conflict", f'resourceclaims "{before.name}" changes all the time')

    async def _read_again(self, claims: Resource, before: ResourceClaim, error: ApiError) -> Mapping[str, Any]:
        """The claim after a conflict; raises *error* where it is another one, or the claim has devices that it had not."""
        if error.status != CONFLICT:
            raise error
        manifest = await _answer(self.api.get(claims, before.namespace, before.name))
        found = _decoded("ResourceClaim", manifest)
        if not isinstance(found, ResourceClaim) or found.status.allocation != before.status.allocation:
            raise error
        return manifest


async def _answer(call: Awaitable[Json]) -> Json:
    """The answer to *call*; a connection that failed is an error of the API, too."""
    try:
        return await call
    except TransportError as error:
        raise (ApiError(503, "", str(error)) if error.cause == REFUSED else NoAnswer(0, "", str(error))) from error


def _decoded(kind: str, document: Any) -> KubeObject:
    """The object in an answer; raises ApiError for one that cannot be read."""
    try:
        found = decode_kind(kind, document, strict=False, keeps_manifest=True)
    except ManifestError as error:
        raise ApiError(200, "", str(error)) from error
    assert found is not None
    return found


DELETE_OPTIONS: Mapping[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}


def _binding(pod: Pod, node_name: str) -> Json:
    """A Binding of *pod* to a node; the UID keeps it from another pod of the same name."""
    uid = {"uid": pod.metadata.uid} if pod.metadata.uid else {}
    metadata = {"name": pod.name, "namespace": pod.namespace, **uid, "creationTimestamp": None}
    return {"kind": "Binding", "apiVersion": "v1", "metadata": metadata, "target": {"kind": "Node", "name": node_name}}


def _pod_with_status(pod: Pod, status: Json, version: str, node_name: str = "") -> Json:
    """The whole *pod* with another *status*.

    Upstream: the pod that failed to be bound has the node that it was assumed on; the server ignores it in an update of the status.
    """
    manifest = dict(pod.manifest or {})
    if node_name:
        manifest["spec"] = {**(manifest.get("spec") or {}), "nodeName": node_name}
    return _typed("Pod", {**manifest, "status": status}, version)


def _volume(item: KubeObject, claim: KubeObject | None, version: str) -> Json:
    """A volume that *claim* gets, or, without one, a claim that chose its node."""
    manifest = dict(item.manifest or {})
    manifest["metadata"] = {**(manifest.get("metadata") or {}), "annotations": dict(item.annotations)}
    if isinstance(item, PersistentVolume) and claim is not None:
        manifest["spec"] = {**(manifest.get("spec") or {}), "claimRef": _claim_reference(item, claim)}
    return _typed(item.kind, manifest, version)


def _claim_reference(item: PersistentVolume, claim: KubeObject) -> Json:
    """The reference that is there if it has the claim's UID, else a new one."""
    there: Json = dict(((item.manifest or {}).get("spec") or {}).get("claimRef") or {})
    if there.get("uid") == claim.metadata.uid and there.get("name") == claim.name and there.get("namespace") == claim.namespace:
        return there
    metadata = claim.metadata
    reference = {"kind": claim.kind, "namespace": claim.namespace, "name": claim.name, "uid": metadata.uid, "apiVersion": "v1"}
    return reference | {"resourceVersion": metadata.resource_version}


def _typed(kind: str, manifest: Mapping[str, Any], version: str) -> Json:
    return {"kind": kind, "apiVersion": "v1", **go_form(kind, manifest, version)}
