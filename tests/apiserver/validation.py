"""What the server refuses, in its words: as much as the recordings show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from .answers import Json, Object, bad_request, cause, fault
from .resources import Flavour, Resource

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[-+]\d\d:\d\d)")
NAME_RULE = (
    "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def decoded(body: bytes, resource: Resource, flavour: Flavour) -> Object:
    """The object that *body* holds; what is no object of the resource's kind is a 400."""
    text = body.decode("utf-8", "replace")
    try:
        item = json.loads(text)
    except ValueError:
        shown = text or "<empty>"
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): couldn't get version/kind; "
            f"json parse error: unexpected end of JSON input ({shown})"
        ) from None
    if not isinstance(item, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind}): couldn't get version/kind")
    _check_kind(item, resource, flavour)
    _check_types(item, resource, flavour)
    return item


def _check_kind(item: Object, resource: Resource, flavour: Flavour) -> None:
    kind, version = item.get("kind", resource.kind), item.get("apiVersion", resource.api_version)
    if kind != resource.kind:
        what = f"converting ({version}.{kind}) to (core.{resource.kind}): unknown conversion"
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a {resource.kind}: {what}')


def _check_types(item: Object, resource: Resource, flavour: Flavour) -> None:
    for wrong in _wrong_times(item) if resource.kind == "Lease" else ():
        raise bad_request(f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {wrong}')


def _wrong_times(item: Object) -> Iterable[str]:
    for name in ("acquireTime", "renewTime"):
        time = (item.get("spec") or {}).get(name)
        if time is not None and not _MICRO_TIME.fullmatch(time):
            yield f'parsing time "{time}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"'


# --- 422 ------------------------------------------------------------------------------------------------------------


def invalid(resource: Resource, name: str, causes: list[Object]) -> Exception:
    """422: the object is invalid, with all causes."""
    # Upstream: a Lease without a resourceVersion is refused by its resource's name, others by their kind.
    kind, group = resource.plural if resource.kind == "Lease" else resource.kind, "" if resource.kind == "Event" else resource.group
    parts = list(dict.fromkeys(f"{each['field']}: {each['message']}" for each in causes))
    text = parts[0] if len(parts) == 1 else f"[{', '.join(parts)}]"
    details: Json = {"name": name, **({"group": group} if group else {}), "kind": kind, "causes": causes}
    return fault(422, "Invalid", f'{kind}{"." if group else ""}{group} "{name}" is invalid: {text}', details)


def check_new(resource: Resource, item: Object, flavour: Flavour) -> None:
    """Refuse a new object that is not valid."""
    name, causes = item["metadata"]["name"], []
    if not _NAME.fullmatch(name) and resource.group != "rbac.authorization.k8s.io":
        rule = f"a DNS-1123 subdomain {NAME_RULE}" if flavour.has_self_link else f"a lowercase RFC 1123 subdomain {NAME_RULE}"
        causes.append(cause("FieldValueInvalid", f'Invalid value: "{name}": {rule}', "metadata.name"))
    if resource.kind == "Pod" and not (item.get("spec") or {}).get("containers"):
        causes.append(cause("FieldValueRequired", "Required value", "spec.containers"))
    if causes:
        raise invalid(resource, name, causes)


def check_update(resource: Resource, old: Object, new: Object, flavour: Flavour) -> None:
    """Refuse a change of what may not change."""
    if resource.kind == "Pod" and _frozen_spec(old["spec"]) != _frozen_spec(new["spec"]):
        message = "Forbidden: pod updates may not change other fields than images and tolerations"
        raise invalid(resource, old["metadata"]["name"], [cause("FieldValueForbidden", message, "spec")])


def _frozen_spec(spec: Object) -> Object:
    """What of a pod's spec may not change."""
    changing = ("containers", "initContainers", "activeDeadlineSeconds", "tolerations", "schedulingGates")
    lists = {name: [{**each, "image": ""} for each in spec.get(name, ())] for name in ("containers", "initContainers")}
    return {key: part for key, part in spec.items() if key not in changing} | lists
