"""Delete: preconditions, grace periods, finalizers, and collections."""

from __future__ import annotations

from typing import Any

from .answers import Answer, Object, cause, fault, success
from .call import Call

POLICIES = ("Foreground", "Background", "Orphan", "nil")


def delete(call: Call) -> Answer:
    """One object: it goes at once, or waits for its grace period or its finalizers."""
    options = call.given_json() or {}
    _check_policy(options)
    old = call.stored()
    _check_preconditions(call, old, options.get("preconditions") or {})
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
    if not call.is_dry_run:
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
    if call.is_dry_run:
        return old
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


def _check_policy(options: Object) -> None:
    policy = options.get("propagationPolicy")
    if policy is not None and policy not in POLICIES:
        known = ", ".join(f'"{each}"' for each in POLICIES)
        why = f'Unsupported value: "{policy}": supported values: {known}'
        details = {"group": "meta.k8s.io", "kind": "DeleteOptions", "causes": [cause("FieldValueNotSupported", why, "propagationPolicy")]}
        raise fault(422, "Invalid", f'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: {why}', details)


def _check_preconditions(call: Call, old: Object, wanted: Object) -> None:
    for field, named, done in (("uid", "UID", "deleted and then recreated"), ("resourceVersion", "ResourceVersion", "modified")):
        given, found = wanted.get(field), old["metadata"][field]
        if given is not None and given != found:
            why = f"the {named} in the precondition ({given}) does not match the {named} in record ({found}). "
            call.conflict(call.name, f"{why}The object might have been {done}", call.resource.kind)
