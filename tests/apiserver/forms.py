"""Objects in the form in which the server keeps and shows them: typed fields, self links, and the two APIs of events."""

from __future__ import annotations

from collections.abc import Mapping

from kubeclassic.live.wire.goform import go_form

from .answers import Object
from .resources import Flavour, Resource

TYPED = {"Pod", "Node", "PersistentVolume", "PersistentVolumeClaim"}
"""Kinds whose fields are those of a table: unknown ones are dropped, quantities and times get their canonical form."""
EVENT_FIELDS: Mapping[str, str] = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
"""Field of a core event -> its name in events.k8s.io."""
CORE_FIELDS = {new: old for old, new in EVENT_FIELDS.items()}
EVENT_BLANKS: Object = {
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "",
    "reportingInstance": "",
}
"""What is always written of a core event."""


def stored_form(resource: Resource, item: Object, flavour: Flavour) -> Object:
    """*item* as the server keeps it: in the form of its kind, with a self link where the version has them."""
    found = _typed(resource.kind, item, flavour)
    metadata = {key: part for key, part in (found.get("metadata") or {}).items() if part not in (None, {}, [], "")}
    if flavour.has_self_link:
        metadata["selfLink"] = resource.path(metadata.get("namespace", ""), metadata.get("name", ""))
    else:
        metadata.pop("selfLink", None)
    metadata.pop("managedFields", None)
    return {"kind": resource.kind, "apiVersion": resource.api_version, **found, "metadata": metadata}


def _typed(kind: str, item: Object, flavour: Flavour) -> Object:
    if kind in TYPED:
        return go_form(kind, item, flavour.form)
    if kind == "Event":
        return {**EVENT_BLANKS, **{key: part for key, part in item.items() if part is not None}}
    return {key: part for key, part in item.items() if part is not None}


def blank(resource: Resource, version: str, flavour: Flavour) -> Object:
    """What a bookmark carries: an object with nothing but a revision, in the form of its kind."""
    metadata = {"resourceVersion": version, "creationTimestamp": None}
    found = go_form(resource.kind, {}, flavour.form) if resource.kind in TYPED else {}
    return {"kind": resource.kind, "apiVersion": resource.api_version, **found, "metadata": metadata}


def to_core_event(item: Object) -> Object:
    """An event of events.k8s.io in the form of the core API."""
    return {CORE_FIELDS.get(key, key): part for key, part in item.items()} | {"apiVersion": "v1"}


def to_new_event(item: Object, api_version: str) -> Object:
    """A core event in the form of events.k8s.io."""
    found = {EVENT_FIELDS.get(key, key): part for key, part in item.items()} | {"apiVersion": api_version}
    return {key: part for key, part in found.items() if part != "" and (key, part) != ("regarding", {})}


def list_item(item: Object) -> Object:
    """*item* as it stands in a list. Upstream: without its kind and API version."""
    return {key: part for key, part in item.items() if key not in ("kind", "apiVersion")}
