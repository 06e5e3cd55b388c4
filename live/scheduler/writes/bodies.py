"""The bodies of the scheduler's requests, in the form of its release: fields in the original's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....api.objects import KubeObject, PersistentVolume, Pod
from ....api.wire.goform import go_form
from .api import Json

DELETE_OPTIONS: Mapping[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}


def binding(pod: Pod, node_name: str) -> Json:
    """A Binding of *pod* to a node; the UID keeps it from another pod of the same name."""
    uid = {"uid": pod.metadata.uid} if pod.metadata.uid else {}
    metadata = {"name": pod.name, "namespace": pod.namespace, **uid, "creationTimestamp": None}
    return {"kind": "Binding", "apiVersion": "v1", "metadata": metadata, "target": {"kind": "Node", "name": node_name}}


def pod_with_status(pod: Pod, status: Json, version: str, node_name: str = "") -> Json:
    """The whole *pod* with another *status*.

    Upstream: the pod that failed to be bound has the node that it was assumed on; the server ignores it in an update of the status.
    """
    manifest = dict(pod.manifest or {})
    if node_name:
        manifest["spec"] = {**(manifest.get("spec") or {}), "nodeName": node_name}
    return _typed("Pod", {**manifest, "status": status}, version)


def volume(item: KubeObject, claim: KubeObject | None, version: str) -> Json:
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
