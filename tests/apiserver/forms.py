"""Objects in the form in which the server keeps and shows them: self links, and defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from .answers import Object, fault
from .resources import Flavour, Resource
from .storage import Storage


def stored_form(resource: Resource, item: Object, flavour: Flavour) -> Object:
    """*item* as the server keeps it: without what is empty in its metadata, with a self link where the
    version has them."""
    resource = flavour.resource(resource.plural)
    found = _with_addresses({key: part for key, part in item.items() if part is not None}, flavour)
    metadata = {
        key: part for key, part in (found.get("metadata") or {}).items() if part not in (None, {}, [], "")
    }
    if flavour.has_self_link:
        metadata["selfLink"] = resource.path(metadata.get("namespace", ""), metadata.get("name", ""))
    else:
        metadata.pop("selfLink", None)
    if not flavour.has_self_link:
        managed = {
            "manager": "test",
            "operation": "Update",
            "apiVersion": resource.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": {},
        }
        metadata.setdefault("managedFields", [{**managed, "time": metadata.get("creationTimestamp")}])
    else:
        metadata.pop("managedFields", None)
    return {**found, "kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}


def _with_addresses(item: Object, flavour: Flavour) -> Object:
    """The addresses of a pod as a list too. Upstream: the single one counts where both are given."""
    address = (item.get("status") or {}).get("podIP")
    if address is None or flavour.has_self_link:
        return item
    return {**item, "status": {**item["status"], "podIPs": [{"ip": address}]}}


def blank(resource: Resource, version: str) -> Object:
    """What a bookmark carries: an object with nothing but a revision."""
    metadata = {"resourceVersion": version, "creationTimestamp": None}
    return {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}


def list_item(item: Object) -> Object:
    """*item* as it stands in a list. Upstream: without its kind and API version."""
    return {key: part for key, part in item.items() if key not in ("kind", "apiVersion")}


NOT_READY: Object = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
TOLERATIONS = tuple(
    {
        "key": f"node.kubernetes.io/{what}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for what in ("not-ready", "unreachable")
)
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def with_defaults(kind: str, item: Object, flavour: Flavour, storage: Storage) -> Object:
    """*item* as the server stores it when it is created."""
    default = _DEFAULTS.get(kind)
    return item if default is None else default(item, flavour, storage)


# --- pods ---------------------------------------------------------------------------------------------------


def _pod(item: Object, flavour: Flavour, storage: Storage) -> Object:
    given = item.get("spec") or {}
    containers = [_container(each) for each in given.get("containers") or ()]
    spec = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
        **flavour.pod_defaults,
        **given,
        "containers": containers,
        "tolerations": _tolerations(given.get("tolerations") or []),
    }
    if given.get("initContainers"):
        spec["initContainers"] = [_container(each) for each in given["initContainers"]]
    if given.get("volumes"):
        spec["volumes"] = [_volume(each) for each in given["volumes"]]
    spec |= _priority(item["metadata"]["name"], spec, storage)
    return {**item, "spec": spec, "status": {"phase": "Pending", "qosClass": "Burstable"}}


def _container(given: Object) -> Object:
    resources = given.get("resources") or {}
    if limits := resources.get("limits"):
        resources = {**resources, "requests": {**limits, **(resources.get("requests") or {})}}
    found = {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        **given,
        "resources": resources,
    }
    if given.get("ports"):
        found["ports"] = [{"protocol": "TCP", **port} for port in given["ports"]]
    return found


def _volume(given: Object) -> Object:
    found = dict(given)
    for source in ("configMap", "secret", "downwardAPI", "projected"):
        if source in found:
            found[source] = {"defaultMode": 420, **found[source]}
    if "hostPath" in found:
        found["hostPath"] = {"type": "", **found["hostPath"]}
    return found


def _tolerations(given: list[Object]) -> list[Object]:
    """Upstream: DefaultTolerationSeconds adds the two where no toleration of the pod covers them."""
    return [*given, *(new for new in TOLERATIONS if not any(_covers(old, new["key"]) for old in given))]


def _covers(toleration: Object, key: object) -> bool:
    return toleration.get("key", "") in ("", key) and toleration.get("effect", "") in ("", "NoExecute")


def _priority(name: str, spec: Object, storage: Storage) -> Object:
    wanted = spec.get("priorityClassName")
    classes = {cls["metadata"]["name"]: cls for cls in storage.of("priorityclasses").values()}
    if not wanted:
        default = [cls for cls in classes.values() if cls.get("globalDefault")]
        return (
            {"priority": default[0]["value"], "priorityClassName": default[0]["metadata"]["name"]}
            if default
            else {"priority": 0}
        )
    if wanted in SYSTEM_CLASSES:
        return {"priority": SYSTEM_CLASSES[wanted]}
    if wanted not in classes:
        message = f'pods "{name}" is forbidden: no PriorityClass with name {wanted} was found'
        raise fault(403, "Forbidden", message, {"name": name, "kind": "pods"})
    policy = {"preemptionPolicy": classes[wanted]["preemptionPolicy"]} if "preemptionPolicy" in spec else {}
    return {"priority": classes[wanted]["value"], **policy}


# --- others -------------------------------------------------------------------------------------------------


def _node(item: Object, flavour: Flavour, storage: Storage) -> Object:
    spec = item.get("spec") or {}
    taints = [
        taint
        for taint in spec.get("taints") or ()
        if (taint["key"], taint["effect"]) != tuple(NOT_READY.values())
    ]
    status = item.get("status") or {}
    if status.get("capacity") and not status.get("allocatable"):
        status = {**status, "allocatable": status["capacity"]}
    return {**item, "spec": {**spec, "taints": [*taints, NOT_READY]}, "status": status}


def _claim(item: Object, flavour: Flavour, storage: Storage, finalizer: str = "pvc", **more: str) -> Object:
    finalizers = [*item["metadata"].get("finalizers", ()), f"kubernetes.io/{finalizer}-protection"]
    spec = {"volumeMode": "Filesystem", **more, **(item.get("spec") or {})}
    return {
        **item,
        "metadata": {**item["metadata"], "finalizers": finalizers},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def _budget(item: Object, flavour: Flavour, storage: Storage) -> Object:
    status = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
    return {**item, "metadata": {**item["metadata"], "generation": 1}, "status": status}


def _namespace(item: Object, flavour: Flavour, storage: Storage) -> Object:
    name = item["metadata"]["name"]
    labels = (
        {}
        if flavour.has_self_link
        else {"labels": {**item["metadata"].get("labels", {}), "kubernetes.io/metadata.name": name}}
    )
    return {
        **item,
        "metadata": {**item["metadata"], **labels},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


_DEFAULTS: Mapping[str, Callable[[Object, Flavour, Storage], Object]] = {
    "Pod": _pod,
    "Node": _node,
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": partial(_claim, finalizer="pv", persistentVolumeReclaimPolicy="Retain"),
    "StorageClass": lambda item, flavour, storage: {
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
        **item,
    },
    "PriorityClass": lambda item, flavour, storage: {
        **flavour.pod_defaults,
        **item,
        "metadata": {**item["metadata"], "generation": 1},
    },
    "PodDisruptionBudget": _budget,
    "Namespace": _namespace,
}
