"""Objects in the form in which the server keeps and shows them: typed fields, self links, and the two APIs of events."""

from __future__ import annotations

from collections.abc import Mapping

from kubeclassic.api.wire.goform import go_form

from .answers import Object
from .resources import Flavour, Resource

TYPED = {"Pod", "Node", "PersistentVolume", "PersistentVolumeClaim"}
"""Kinds whose fields are those of a table: unknown ones are dropped, quantities and times get their canonical form."""
PARTS = ("metadata", "spec", "status")
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
NO_PODS: Object = {"replicas": 0, "selector": None, "template": {"metadata": {"creationTimestamp": None}, "spec": {"containers": None}}}
BLANKS: Mapping[str, Object] = {
    "CSIDriver": {"spec": {}},
    "CSINode": {"spec": {"drivers": None}},
    "CSIStorageCapacity": {"storageClassName": ""},
    "Namespace": {"spec": {}, "status": {}},
    "PodDisruptionBudget": {
        "spec": {},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0},
    },
    "ReplicaSet": {"spec": NO_PODS, "status": {"replicas": 0}},
    "ReplicationController": {"spec": {"replicas": 0}, "status": {"replicas": 0}},
    "Service": {"spec": {}, "status": {"loadBalancer": {}}},
    "StatefulSet": {"spec": {**NO_PODS, "serviceName": "", "updateStrategy": {}}, "status": {"replicas": 0, "availableReplicas": 0}},
    "StorageClass": {"provisioner": ""},
    "VolumeAttachment": {"spec": {"attacher": "", "source": {}, "nodeName": ""}, "status": {"attached": False}},
}
"""Kind -> what is always written of its objects, for those that are not typed here."""
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


def stored_form(resource: Resource, item: Object, flavour: Flavour, old: Object | None = None) -> Object:
    """*item* as the server keeps it: in the form of its kind, with a self link where the version has them.

    What it shares with the stored object *old* has that form already.
    """
    resource = flavour.resource(resource.plural)
    found = _typed(resource.kind, item, flavour, old or {})
    metadata = {key: part for key, part in (found.get("metadata") or {}).items() if part not in (None, {}, [], "")}
    if flavour.has_self_link:
        metadata["selfLink"] = resource.path(metadata.get("namespace", ""), metadata.get("name", ""))
    else:
        metadata.pop("selfLink", None)
    metadata.pop("managedFields", None)
    return {**found, "kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}


def _typed(kind: str, item: Object, flavour: Flavour, old: Object) -> Object:
    if kind in TYPED:
        return _with_addresses({name: _part(kind, name, item, flavour, old) for name in PARTS}, flavour)
    if kind == "Event":
        return {**EVENT_BLANKS, **{key: part for key, part in item.items() if part is not None}}
    return {key: part for key, part in item.items() if part is not None}


def _part(kind: str, name: str, item: Object, flavour: Flavour, old: Object) -> Object:
    part: Object = item.get(name) or {}
    if id(part) == id(old.get(name)):
        return part
    form = "ObjectMeta" if name == "metadata" else kind + name.capitalize()
    return go_form(form, part, flavour.form)


def _with_addresses(item: Object, flavour: Flavour) -> Object:
    """The addresses of a pod as a list too. Upstream: the single one counts where both are given."""
    address = item.get("status", {}).get("podIP")
    if address is None or flavour.has_self_link:
        return item
    return {**item, "status": {**item["status"], "podIPs": [{"ip": address}]}}


def blank(resource: Resource, version: str, flavour: Flavour) -> Object:
    """What a bookmark carries: an object with nothing but a revision, in the form of its kind."""
    metadata = {"resourceVersion": version, "creationTimestamp": None}
    found = go_form(resource.kind, {}, flavour.form) if resource.kind in TYPED else BLANKS.get(resource.kind, {})
    return {"kind": resource.kind, "apiVersion": resource.api_version, **found, "metadata": metadata}


def to_core_event(item: Object) -> Object:
    """An event of events.k8s.io in the form of the core API."""
    return {CORE_FIELDS.get(key, key): part for key, part in item.items()} | {"apiVersion": "v1"}


def to_new_event(item: Object, api_version: str) -> Object:
    """A core event in the form of events.k8s.io."""
    found = {EVENT_FIELDS.get(key, key): part for key, part in item.items()} | {"apiVersion": api_version}
    if "series" in found and api_version.endswith("v1beta1"):
        found["series"] = {"state": "", **found["series"]}
    return {key: part for key, part in found.items() if part != "" and (key, part) != ("regarding", {})}


def list_item(item: Object) -> Object:
    """*item* as it stands in a list. Upstream: without its kind and API version."""
    return {key: part for key, part in item.items() if key not in ("kind", "apiVersion")}
