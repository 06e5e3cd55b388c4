"""Objects in the form in which the server keeps and shows them: self links, defaults, what it refuses, and
the patches that it takes."""

import json
import re

from .answers import bad_request, fault


def stored_form(resource, item, flavour):
    """*item* as the server keeps it: without what is empty in its metadata, with a self link where the
    version has them."""
    resource = flavour.resource(resource.plural)
    found = {key: part for key, part in item.items() if part is not None}
    metadata = {
        key: part for key, part in (found.get("metadata") or {}).items() if part not in (None, {}, [], "")
    }
    if flavour.has_self_link:
        metadata["selfLink"] = resource.path(metadata.get("namespace", ""), metadata.get("name", ""))
        metadata.pop("managedFields", None)
    else:
        metadata.pop("selfLink", None)
        managed = {
            "manager": "test",
            "operation": "Update",
            "apiVersion": resource.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": {},
        }
        metadata.setdefault("managedFields", [{**managed, "time": metadata.get("creationTimestamp")}])
        address = (found.get("status") or {}).get("podIP")
        if address is not None:
            # Upstream: the addresses of a pod are a list too; the single one counts where both are given.
            found["status"] = {**found["status"], "podIPs": [{"ip": address}]}
    return {**found, "kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}


# --- defaults -----------------------------------------------------------------------------------------------

NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
TOLERATIONS = tuple(
    {
        "key": f"node.kubernetes.io/{what}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for what in ("not-ready", "unreachable")
)
VOLUMES = {
    **{source: {"defaultMode": 420} for source in ("configMap", "secret", "downwardAPI", "projected")},
    "hostPath": {"type": ""},
}
"""Source of a volume -> its defaults."""
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def with_defaults(kind, item, flavour, storage):
    """*item* as the server stores it when it is created."""
    metadata = item["metadata"]
    spec = item.get("spec") or {}
    status = item.get("status") or {}
    match kind:
        case "Pod":
            spec = _pod_spec(metadata["name"], spec, flavour, storage)
            return {**item, "spec": spec, "status": {"phase": "Pending", "qosClass": "Burstable"}}
        case "Node":
            taints = [
                taint
                for taint in spec.get("taints") or ()
                if (taint["key"], taint["effect"]) != tuple(NOT_READY.values())
            ]
            if status.get("capacity") and not status.get("allocatable"):
                status = {**status, "allocatable": status["capacity"]}
            return {**item, "spec": {**spec, "taints": [*taints, NOT_READY]}, "status": status}
        case "PersistentVolumeClaim" | "PersistentVolume":
            short, more = (
                ("pvc", {})
                if kind == "PersistentVolumeClaim"
                else ("pv", {"persistentVolumeReclaimPolicy": "Retain"})
            )
            metadata = {
                **metadata,
                "finalizers": [*metadata.get("finalizers", ()), f"kubernetes.io/{short}-protection"],
            }
            return {
                **item,
                "metadata": metadata,
                "spec": {"volumeMode": "Filesystem", **more, **spec},
                "status": {"phase": "Pending"},
            }
        case "StorageClass":
            return {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", **item}
        case "PriorityClass":
            return {**flavour.pod_defaults, **item, "metadata": {**metadata, "generation": 1}}
        case "PodDisruptionBudget":
            status = dict.fromkeys(
                ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"), 0
            )
            return {**item, "metadata": {**metadata, "generation": 1}, "status": status}
        case "Namespace":
            if not flavour.has_self_link:
                metadata = {
                    **metadata,
                    "labels": {**metadata.get("labels", {}), "kubernetes.io/metadata.name": metadata["name"]},
                }
            return {
                **item,
                "metadata": metadata,
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            }
    return item


def _pod_spec(name, given, flavour, storage):
    tolerations = given.get("tolerations") or []
    # Upstream: DefaultTolerationSeconds adds the two where no toleration of the pod covers them.
    covered = {old.get("key", "") for old in tolerations if old.get("effect", "") in ("", "NoExecute")}
    spec = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
        **flavour.pod_defaults,
        **given,
        "containers": [_container(each) for each in given.get("containers") or ()],
        "tolerations": [*tolerations, *(new for new in TOLERATIONS if not covered & {"", new["key"]})],
    }
    if given.get("initContainers"):
        spec["initContainers"] = [_container(each) for each in given["initContainers"]]
    if given.get("volumes"):
        spec["volumes"] = [
            {
                **volume,
                **{
                    source: {**VOLUMES[source], **part}
                    for source, part in volume.items()
                    if source in VOLUMES
                },
            }
            for volume in given["volumes"]
        ]
    wanted = spec.get("priorityClassName")
    classes = {cls["metadata"]["name"]: cls for cls in storage.of("priorityclasses").values()}
    if not wanted:
        default = next((cls for cls in classes.values() if cls.get("globalDefault")), None)
        named = {} if default is None else {"priorityClassName": default["metadata"]["name"]}
        return {**spec, "priority": 0 if default is None else default["value"], **named}
    if wanted in SYSTEM_CLASSES:
        return {**spec, "priority": SYSTEM_CLASSES[wanted]}
    if wanted not in classes:
        message = f'pods "{name}" is forbidden: no PriorityClass with name {wanted} was found'
        raise fault(403, "Forbidden", message, {"name": name, "kind": "pods"})
    policy = {"preemptionPolicy": classes[wanted]["preemptionPolicy"]} if "preemptionPolicy" in spec else {}
    return {**spec, "priority": classes[wanted]["value"], **policy}


def _container(given):
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


# --- what is refused ----------------------------------------------------------------------------------------

_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[-+]\d\d:\d\d)")


def decoded(body, resource):
    """The object that *body* holds; what is no object of the resource's kind is a 400."""
    try:
        item = json.loads(body)
    except ValueError:
        item = None
    if not isinstance(item, dict) or item.get("kind", resource.kind) != resource.kind:
        raise bad_request(f"expected a {resource.kind}, got {body[:100]!r}")
    times = (
        [(item.get("spec") or {}).get(name) for name in ("acquireTime", "renewTime")]
        if resource.kind == "Lease"
        else []
    )
    if not all(time is None or _MICRO_TIME.fullmatch(time) for time in times):
        raise bad_request(f"expected times with six digits, got {times}")
    return item


def invalid(resource, name, why):
    """422: the object is invalid."""
    return fault(
        422, "Invalid", f'{resource.kind} "{name}" is invalid: {why}', {"name": name, "kind": resource.kind}
    )


def frozen_spec(spec):
    """The part of a pod's spec that may not change."""
    changing = ("containers", "initContainers", "activeDeadlineSeconds", "tolerations", "schedulingGates")
    lists = {
        name: [{**each, "image": ""} for each in spec.get(name, ())]
        for name in ("containers", "initContainers")
    }
    return {key: part for key, part in spec.items() if key not in changing} | lists


# --- patches ------------------------------------------------------------------------------------------------

MERGE_KEYS = {
    **dict.fromkeys(("containers", "initContainers", "env", "volumes"), "name"),
    **dict.fromkeys(("conditions", "addresses"), "type"),
    "ownerReferences": "uid",
    "hostAliases": "ip",
    "volumeMounts": "mountPath",
    "taints": "key",
}
"""Field -> the key by which a strategic merge patch finds an item of the list; a list that is not here is
replaced."""
ORDER = "$setElementOrder/"


def merge_patch(value, patch):
    """RFC 7386: a null removes, a list replaces."""
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for key, part in patch.items():
        if part is None:
            found.pop(key, None)
        else:
            found[key] = merge_patch(found.get(key), part)
    return found


def strategic_patch(value, patch):
    """Merge lists by the key of their items, with ``$patch: delete`` and ``$setElementOrder``."""
    found = dict(value)
    for key, part in patch.items():
        if part is None:
            found.pop(key, None)
        elif not key.startswith("$"):
            before = found.get(key)
            if isinstance(part, dict):
                found[key] = strategic_patch(before if isinstance(before, dict) else {}, part)
            elif isinstance(part, list) and key in MERGE_KEYS:
                found[key] = _merged(before or [], part, MERGE_KEYS[key], patch.get(ORDER + key))
            else:
                found[key] = part
    for key in (key.removeprefix(ORDER) for key in patch if key.startswith(ORDER)):
        if key not in patch and key in found and key in MERGE_KEYS:
            found[key] = _merged(found[key], [], MERGE_KEYS[key], patch[ORDER + key])
    return found


def _merged(items, patch, key, order):
    found = {item.get(key): item for item in items}
    for part in patch:
        name = part.get(key)
        if part.get("$patch") == "delete":
            found.pop(name, None)
        else:
            found[name] = strategic_patch(found.get(name, {}), part)
    before = [item.get(key) for item in items]
    named = [
        name for name in (part.get(key) for part in (patch if order is None else order)) if name in found
    ]
    others = [name for name in before if name in found and name not in named]
    merged = []
    for name in named:
        # Upstream: the items that the patch names are in its order; another comes first only if it was before
        # the next one.
        while others and name in before and before.index(others[0]) < before.index(name):
            merged.append(others.pop(0))
        merged.append(name)
    return [found[name] for name in (*merged, *others)]
