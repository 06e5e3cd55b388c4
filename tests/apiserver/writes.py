"""Create, update and patch; delete, with preconditions, grace periods and finalizers; binding."""

from __future__ import annotations

from typing import Any

from .answers import Answer, Object, fault, success
from .call import Call
from .forms import stored_form, with_defaults
from .patches import merge_patch, strategic_patch
from .validation import check_update, invalid


def delete(call: Call) -> Answer:
    """One object: it goes at once, or waits for its grace period or its finalizers."""
    options = call.given_json() or {}
    old = call.stored()
    gone = deleted(call, old, options)
    if gone is not None:
        return call.answer(200, gone)
    details = {**call.resource.details(call.name), "uid": old["metadata"]["uid"]}
    return success(200, details)


def deleted(call: Call, old: Object, options: Object) -> Object | None:
    """Delete *old*: the object as it waits or went; None where the answer shows no object."""
    if call.resource.kind == "Pod":
        return _gracefully(call, old, options)
    if old["metadata"].get("finalizers"):
        return _marked(call, old, 0) if "deletionTimestamp" not in old["metadata"] else old
    call.storage.remove(call.resource, old)
    return None


def is_finished(item: Object) -> bool:
    """Whether an object that is being deleted has nothing left to wait for."""
    metadata = item["metadata"]
    waits = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
    return "deletionTimestamp" in metadata and not waits


def _gracefully(call: Call, old: Object, options: Object) -> Object:
    """A pod: its node has some time to end it, if it is on one and runs."""
    given = options.get("gracePeriodSeconds")
    before = old["metadata"].get("deletionGracePeriodSeconds")
    if before is not None:
        if given is None or given >= before:
            return old
        period = given
    else:
        period = _grace(old, given)
    # Upstream: it is marked first even if it goes at once, so its watchers see MODIFIED, then DELETED.
    new = _marked(call, old, period)
    if is_finished(new):
        last = call.storage.remove(call.resource, new)
        return last if call.flavour.shows_removal else new
    return new


def _grace(pod: Object, given: Any) -> int:
    is_over = pod["status"].get("phase") in ("Succeeded", "Failed")
    if not pod["spec"].get("nodeName") or is_over:
        return 0
    return int(pod["spec"].get("terminationGracePeriodSeconds", 30) if given is None else given)


def _marked(call: Call, old: Object, period: int) -> Object:
    mark = {"deletionTimestamp": call.storage.now(period), "deletionGracePeriodSeconds": period}
    return call.storage.put(call.resource, {**old, "metadata": {**old["metadata"], **mark}})


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
"""Metadata that no update changes."""


def create(call: Call) -> Answer:
    """A new object; 409 if there is one of its name."""
    return call.answer(201, created(call, call.given()))


def created(call: Call, given: Object) -> Object:
    """*given*, stored with defaults."""
    storage = call.storage
    metadata = given["metadata"]
    metadata |= {"uid": storage.uid(), "creationTimestamp": storage.now()}
    metadata.pop("resourceVersion", None)
    item = with_defaults(call.resource.kind, given, call.flavour, storage)
    new = stored_form(call.resource, item, call.flavour)
    if (call.namespace, metadata["name"]) in storage.of(call.resource.plural):
        message = f'{call.resource.qualified} "{metadata["name"]}" already exists'
        raise fault(409, "AlreadyExists", message, call.resource.details(metadata["name"]))
    return storage.put(call.resource, new)


def update(call: Call) -> Answer:
    """PUT: the object as it is given, but for what is not the client's to change."""
    given = call.given()
    return call.answer(200, updated(call, _existing(call, given["metadata"].get("uid")), given))


def _existing(call: Call, uid: str | None) -> Object:
    """The object to update. Upstream: the UID is compared first, so one that is missing is a 409 if a UID is
    given."""
    if uid and call.key not in call.storage.of(call.resource.plural):
        _check_preconditions(call, {"metadata": {"uid": ""}}, {"uid": uid})
    return call.stored()


def updated(call: Call, old: Object, given: Object) -> Object:
    """*given* in place of *old*, after all checks; what changes nothing keeps its revision."""
    _check_preconditions(call, old, given["metadata"])
    new = stored_form(call.resource, _prepared(call, old, given), call.flavour)
    check_update(call.resource, old, new)
    if new == old:
        return new
    if is_finished(new):
        # Upstream: the answer lacks the finalizer but has the old revision; watchers see the object with its
        # finalizer.
        call.storage.remove(call.resource, old)
        return new
    return call.storage.put(call.resource, new)


def _check_preconditions(call: Call, old: Object, given: Object) -> None:
    uid = given.get("uid")
    version = given.get("resourceVersion")
    if uid and uid != old["metadata"]["uid"]:
        call.conflict(
            call.name,
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old['metadata']['uid']}",
        )
    if not version and call.resource.needs_version:
        raise invalid(call.resource, call.name, "metadata.resourceVersion must be specified for an update")
    if version and version != old["metadata"]["resourceVersion"]:
        call.conflict(call.name, MODIFIED)


def _prepared(call: Call, old: Object, given: Object) -> Object:
    """*given* with those parts of *old* that this request may not change."""
    was = old["metadata"]
    metadata = {key: part for key, part in given["metadata"].items() if key not in KEPT}
    metadata |= {key: was[key] for key in KEPT if key in was} | {"resourceVersion": was["resourceVersion"]}
    found = {**given, "metadata": metadata}
    if call.subresource == "status":
        found["spec"] = old.get("spec")
    elif call.resource.has_status:
        found["status"] = old.get("status")
    if "generation" in was and found.get("spec") != old.get("spec"):
        metadata["generation"] = was["generation"] + 1
    return found


def patch(call: Call) -> Answer:
    """PATCH: merge patch or strategic merge patch, by the content type."""
    old = call.stored()
    return call.answer(200, updated(call, old, _patched(call, old)))


def _patched(call: Call, old: Object) -> Object:
    patch_ = call.given_json()
    kind = call.content_type.removeprefix("application/")
    if kind == "merge-patch+json":
        found = merge_patch(old, patch_)
    elif kind == "strategic-merge-patch+json":
        found = strategic_patch(old, patch_)
    else:
        raise fault(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return found


def bind(call: Call) -> Answer:
    """POST of a Binding: to the pod's subresource, or to the collection of bindings."""
    binding = call.given_json() or {}
    metadata = binding.get("metadata") or {}
    target = binding.get("target") or {}
    name = metadata.get("name", "")
    pod = call.storage.of("pods").get((call.namespace, name))
    if pod is None:
        call.missing(name)
    if call.flavour.checks_binding:
        wanted = {key: metadata[key] for key in ("uid", "resourceVersion") if metadata.get(key)}
        _check_preconditions(call, pod, wanted)
    _check_free(call, pod)
    call.storage.put(call.resource, _bound(call, pod, target["name"]))
    return success(201)


def _check_free(call: Call, pod: Object) -> None:
    """409 for a pod that goes, or has a node, or is gated."""
    name = pod["metadata"]["name"]
    node = pod["spec"].get("nodeName")
    if "deletionTimestamp" in pod["metadata"]:
        call.conflict(name, f"pod {name} is being deleted, cannot be assigned to a host", "pods/binding")
    if node:
        call.conflict(name, f'pod {name} is already assigned to node "{node}"', "pods/binding")
    if pod["spec"].get("schedulingGates"):
        call.conflict(name, f"pod {name} has non-empty .spec.schedulingGates", "pods/binding")


def _bound(call: Call, pod: Object, node: str) -> Object:
    """*pod* on its node, with the condition PodScheduled. Upstream: labels of the Binding are left aside."""
    new = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": call.storage.now(),
    }
    old: list[Object] = pod["status"].get("conditions") or []
    conditions = [new if each["type"] == "PodScheduled" else each for each in old]
    if new not in conditions:
        conditions.append(new)
    return {
        **pod,
        "spec": {**pod["spec"], "nodeName": node},
        "status": {**pod["status"], "conditions": conditions},
    }
