"""Create, update and patch."""

from __future__ import annotations

from typing import NoReturn

from .answers import Answer, Json, Object, bad_request, cause, fault
from .call import Call
from .deletes import is_finished
from .forms import stored_form, to_core_event, with_defaults
from .patches import merge_patch, strategic_patch
from .reads import ITSELF
from .validation import check_new, check_update, invalid

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
KEPT = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
"""Metadata that no update changes."""


def create(call: Call) -> Answer:
    """A new object; 409 if there is one of its name."""
    return call.answer(201, created(call, call.given()))


def created(call: Call, given: Object) -> Object:
    """*given*, stored with defaults; with ``dryRun`` it is only made."""
    storage, metadata = call.storage, given["metadata"]
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + storage.suffix()
    if not metadata.get("name"):
        raise invalid(call.resource, "", [cause("FieldValueRequired", "Required value: name or generateName is required", "metadata.name")])
    if call.namespace and ("", call.namespace) not in storage.of("namespaces"):
        message = f'namespaces "{call.namespace}" not found'
        raise fault(404, "NotFound", message, {"name": call.namespace, "kind": "namespaces"})
    metadata |= {"uid": storage.uid(), "creationTimestamp": storage.now()}
    metadata.pop("resourceVersion", None)
    item = with_defaults(call.resource.kind, given, call.flavour, storage)
    check_new(call.resource, item, call.flavour)
    new = stored_form(call.resource, item, call.flavour)
    if (call.namespace, metadata["name"]) in storage.of(call.resource.plural):
        message = f'{call.resource.qualified} "{metadata["name"]}" already exists'
        raise fault(409, "AlreadyExists", message, call.resource.details(metadata["name"]))
    return new if call.is_dry_run else storage.put(call.resource, new)


def update(call: Call) -> Answer:
    """PUT: the object as it is given, but for what is not the client's to change."""
    given = call.given()
    name = given["metadata"].get("name", "")
    if name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if call.key not in call.storage.of(call.resource.plural) and call.resource.creates_on_update and not call.subresource:
        return call.answer(201, created(call, given))
    return call.answer(200, updated(call, _existing(call, given["metadata"].get("uid")), given))


def _existing(call: Call, uid: str | None) -> Object:
    """The object to update. Upstream: the UID is compared first, so one that is missing is a 409 if a UID is given."""
    if uid and call.key not in call.storage.of(call.resource.plural):
        _check_preconditions(call, {"metadata": {"uid": ""}}, {"uid": uid})
    return call.stored()


def updated(call: Call, old: Object, given: Object) -> Object:
    """*given* in place of *old*, after all checks; what changes nothing keeps its revision."""
    _check_preconditions(call, old, given["metadata"])
    new = stored_form(call.resource, _prepared(call, old, given), call.flavour, old)
    check_update(call.resource, old, new, call.flavour)
    if new == old or call.is_dry_run:
        return new
    if is_finished(new):
        # Upstream: the answer lacks the finalizer but has the old revision; watchers see the object with its finalizer.
        call.storage.remove(call.resource, old)
        return new
    return call.storage.put(call.resource, new)


def _check_preconditions(call: Call, old: Object, given: Object) -> None:
    uid, version = given.get("uid"), given.get("resourceVersion")
    if uid and uid != old["metadata"]["uid"]:
        why = (
            f"StorageError: invalid object, Code: 4, Key: {_key(call)}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old['metadata']['uid']}"
        )
        call.conflict(call.name, why)
    if not version and call.resource.needs_version:
        why = "Invalid value: 0x0: must be specified for an update"
        raise invalid(call.resource, call.name, [cause("FieldValueInvalid", why, "metadata.resourceVersion")])
    if version and version != old["metadata"]["resourceVersion"]:
        call.conflict(call.name, MODIFIED)


def _key(call: Call) -> str:
    """The key in etcd."""
    folder = {"nodes": "minions", "services": "services/specs", "endpoints": "services/endpoints"}
    return "/".join(["/registry", folder.get(call.resource.plural, call.resource.plural), *filter(None, call.key)])


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
    view = call.view or ITSELF
    patch_, kind = call.given_json(), call.content_type.removeprefix("application/")
    if kind == "merge-patch+json":
        found = merge_patch(view(old), patch_)
    elif kind == "strategic-merge-patch+json":
        found = strategic_patch(view(old), patch_)
    else:
        raise fault(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    if found["metadata"].get("uid") != old["metadata"]["uid"]:
        _refuse_uid(call, found["metadata"].get("uid"))
    return to_core_event(found) if call.view is not None else found


def _refuse_uid(call: Call, uid: Json) -> NoReturn:
    # Upstream: two validations say the same.
    each = cause("FieldValueInvalid", f'Invalid value: "{uid}": field is immutable', "metadata.uid")
    raise invalid(call.resource, call.name, [each, each])
