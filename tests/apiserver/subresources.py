"""Binding and eviction."""

from __future__ import annotations

from .answers import Answer, Object, bad_request, fault, success
from .call import Call
from .deletes import deleted
from .selectors import chosen
from .writes import _check_preconditions

BUDGET_FAULT = "Cannot evict pod as it would violate the pod's disruption budget."


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


# --- eviction -------------------------------------------------------------------------------------------------------


def evict(call: Call) -> Answer:
    """POST of an Eviction: as a deletion, if the budgets of the pod allow it, else 429."""
    pod = call.stored()
    budgets = call.flavour.resource("poddisruptionbudgets")
    labels = pod["metadata"].get("labels") or {}
    for key, budget in list(call.storage.of(budgets.plural).items()):
        if key[0] == call.namespace and chosen(budget["spec"].get("selector") or {}, labels):
            _spend(call, budget)
    deleted(call, pod, (call.given_json() or {}).get("deleteOptions") or {})
    return success(201)


def _spend(call: Call, budget: Object) -> None:
    """Take one disruption from a budget; 429 if it allows none, or if nobody has counted for it yet."""
    name, status = budget["metadata"]["name"], budget["status"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        _refuse(call, f"The disruption budget {name} is still being processed by the server.")
    if status["disruptionsAllowed"] <= 0:
        needs, has = status["desiredHealthy"], status["currentHealthy"]
        _refuse(call, f"The disruption budget {name} needs {needs} healthy pods and has {has} currently")
    resource = call.flavour.resource("poddisruptionbudgets")
    call.storage.put(resource, {**budget, "status": {**status, "disruptionsAllowed": status["disruptionsAllowed"] - 1}})


def _refuse(call: Call, message: str) -> None:
    causes = {"causes": [{"reason": "DisruptionBudget", "message": message}]}
    if call.flavour.checks_binding:
        raise fault(429, "TooManyRequests", BUDGET_FAULT, {**causes, "retryAfterSeconds": 10}, retry_after="10")
    raise fault(429, "TooManyRequests", BUDGET_FAULT, causes)
