"""Binding."""

from __future__ import annotations

from .answers import Answer, Object, bad_request, fault, success
from .call import Call
from .writes import _check_preconditions


def bind(call: Call) -> Answer:
    """POST of a Binding: to the pod's subresource, or to the collection of bindings."""
    binding = call.given_json() or {}
    metadata, target = binding.get("metadata") or {}, binding.get("target") or {}
    _check_names(call, metadata)
    _check_target(target)
    name = metadata.get("name", "")
    pod = call.storage.of("pods").get((call.namespace, name))
    if pod is None:
        call.missing(name)
    if call.flavour.checks_binding:
        wanted = {key: metadata[key] for key in ("uid", "resourceVersion") if metadata.get(key)}
        _check_preconditions(call, pod, wanted)
    _check_free(call, pod)
    if not call.is_dry_run:
        call.storage.put(call.resource, _bound(call, pod, target["name"], metadata.get("annotations") or {}))
    return success(201)


def _check_names(call: Call, metadata: Object) -> None:
    if not call.flavour.checks_binding:
        return
    if call.name and metadata.get("name") != call.name:
        raise bad_request("name in URL does not match name in Binding object")
    if metadata.get("namespace") not in (None, "", call.namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def _check_target(target: Object) -> None:
    kind = target.get("kind", "")
    if kind not in ("", "Node"):
        raise fault(500, "", f'target.kind: Unsupported value: "{kind}": supported values: "Node", "<empty>"')
    if not target.get("name"):
        raise fault(500, "", "target.name: Required value")


def _check_free(call: Call, pod: Object) -> None:
    """409 for a pod that goes, or has a node, or is gated."""
    name, node = pod["metadata"]["name"], pod["spec"].get("nodeName")
    if "deletionTimestamp" in pod["metadata"]:
        call.conflict(name, f"pod {name} is being deleted, cannot be assigned to a host", "pods/binding")
    if node:
        call.conflict(name, f'pod {name} is already assigned to node "{node}"', "pods/binding")
    if pod["spec"].get("schedulingGates"):
        call.conflict(name, f"pod {name} has non-empty .spec.schedulingGates", "pods/binding")


def _bound(call: Call, pod: Object, node: str, annotations: Object) -> Object:
    """*pod* on its node, with the condition PodScheduled. Upstream: labels of the Binding are left aside."""
    metadata = pod["metadata"]
    if annotations:
        metadata = {**metadata, "annotations": {**metadata.get("annotations", {}), **annotations}}
    new = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": call.storage.now()}
    old: list[Object] = pod["status"].get("conditions") or []
    conditions = [new if each["type"] == "PodScheduled" else each for each in old]
    if new not in conditions:
        conditions.append(new)
    return {
        **pod,
        "metadata": metadata,
        "spec": {**pod["spec"], "nodeName": node},
        "status": {**pod["status"], "conditions": conditions},
    }
