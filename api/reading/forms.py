"""The forms of fields in new objects of every kind: names, words, numbers, labels; and fields that must agree.

A field's form depends on the type of the object around it, wherever that is. Only what API servers of all
releases refuse is in the tables. Upstream: pkg/apis/*/validation
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any

from ...exceptions import QuantityError
from ..objects import JsonObject, Quantity
from .decode import api_types
from .typed import shown

Faults = Iterator[str]
"""The paths of faults, with the value there and the expected one."""
Form = Callable[[Any, str], Faults]
"""Takes a value and its path."""

_TABLE = """
AWSElasticBlockStoreVolumeSource: volumeID=any!
CELDeviceSelector: expression=any!
CSIPersistentVolumeSource: driver=any! volumeHandle=any!
CSIVolumeSource: driver=any!
Container: name=name imagePullPolicy=Always|IfNotPresent|Never restartPolicy=Always|OnFailure|Never*
ContainerPort: containerPort=1..65535 hostPort=0..65535 name=port protocol=TCP|UDP|SCTP
CronJobSpec: concurrencyPolicy=Allow|Forbid|Replace
DaemonSetUpdateStrategy: type=RollingUpdate|OnDelete
DeploymentSpec: replicas=0.. minReadySeconds=0..
DeploymentStrategy: type=Recreate|RollingUpdate
Device: name=name!
DeviceClassSpec: extendedResourceName=extended
DeviceConstraint: matchAttribute=attribute distinctAttribute=attribute
DeviceRequest: name=name! allocationMode=ExactCount|All deviceClassName=subdomain
DeviceSelector: cel=any!
DeviceSubRequest: name=name! allocationMode=ExactCount|All deviceClassName=subdomain!
DeviceTaint: key=key! value=value effect=NoSchedule|NoExecute|None!
DeviceToleration: key=key value=value
ExactDeviceRequest: allocationMode=ExactCount|All deviceClassName=subdomain!
GCEPersistentDiskVolumeSource: pdName=any!
JobSpec: parallelism=0.. completions=0.. backoffLimit=0.. completionMode=NonIndexed|Indexed*
LabelSelector: matchLabels=labels
LabelSelectorRequirement: key=key! operator=In|NotIn|Exists|DoesNotExist!
LimitRangeItem: type=limit! max=resources min=resources default=resources defaultRequest=resources
NodeSelectorRequirement: key=key! operator=In|NotIn|Exists|DoesNotExist|Gt|Lt!
ObjectMeta: namespace=name labels=labels annotations=annotations
Overhead: podFixed=amounts
PersistentVolumeClaimSpec: storageClassName=subdomain volumeMode=Filesystem|Block*
  accessModes=ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod
PersistentVolumeClaimVolumeSource: claimName=any!
PersistentVolumeSpec: capacity=amounts storageClassName=subdomain volumeMode=Filesystem|Block*
  accessModes=ReadWriteOnce|ReadOnlyMany|ReadWriteMany|ReadWriteOncePod persistentVolumeReclaimPolicy=Retain|Recycle|Delete
PodAffinityTerm: topologyKey=key! namespaces=name matchLabelKeys=key mismatchLabelKeys=key
PodDisruptionBudgetSpec: minAvailable=share maxUnavailable=share unhealthyPodEvictionPolicy=IfHealthyBudget|AlwaysAllow*
PodSchedulingGate: name=key!
PodSpec: nodeName=subdomain nodeSelector=labels priorityClassName=subdomain runtimeClassName=subdomain*
  restartPolicy=Always|OnFailure|Never dnsPolicy=ClusterFirstWithHostNet|ClusterFirst|Default|None
  activeDeadlineSeconds=1.. preemptionPolicy=PreemptLowerPriority|Never*
PreferredSchedulingTerm: weight=1..100!
PriorityClass: preemptionPolicy=PreemptLowerPriority|Never*
RBDVolumeSource: monitors=any! image=any!
ReplicaSetSpec: replicas=0..
ReplicationControllerSpec: replicas=0.. selector=labels
ResourcePool: name=any! generation=0.. resourceSliceCount=1..
ResourceQuotaSpec: hard=amounts
  scopes=Terminating|NotTerminating|BestEffort|NotBestEffort|PriorityClass|CrossNamespacePodAffinity|VolumeAttributesClass
ResourceSliceSpec: driver=subdomain! nodeName=subdomain
RuntimeClass: handler=name
Scheduling: nodeSelector=labels
ScopedResourceSelectorRequirement: operator=In|NotIn|Exists|DoesNotExist!
  scopeName=Terminating|NotTerminating|BestEffort|NotBestEffort|PriorityClass|CrossNamespacePodAffinity|VolumeAttributesClass!
StatefulSetSpec: replicas=0.. podManagementPolicy=OrderedReady|Parallel
StatefulSetUpdateStrategy: type=RollingUpdate|OnDelete
StorageClass: provisioner=any! reclaimPolicy=Delete|Retain volumeBindingMode=Immediate|WaitForFirstConsumer*
Taint: key=key! value=value effect=NoSchedule|PreferNoSchedule|NoExecute!
Toleration: key=key effect=NoSchedule|PreferNoSchedule|NoExecute
TopologySelectorLabelRequirement: key=key! values=any!
TopologySpreadConstraint: maxSkew=1..! minDomains=1.. topologyKey=any! whenUnsatisfiable=DoNotSchedule|ScheduleAnyway!
  nodeAffinityPolicy=Honor|Ignore* nodeTaintsPolicy=Honor|Ignore* matchLabelKeys=key
Volume: name=name
WeightedPodAffinityTerm: weight=1..100!
"""
"""Type: its fields, each with its form. ``!``: it must be given; ``*``: an empty text counts as given."""

# --- single values ------------------------------------------------------------------------------------------


_NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
SUBDOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_NAME}(\.{_NAME})*")
KEY = re.compile(rf"((?=[^/]{{1,253}}/){_NAME}(\.{_NAME})*/)?(?=.{{1,63}}\Z){_LABEL_NAME}")
VALUE = re.compile(rf"(?=.{{0,63}}\Z)({_LABEL_NAME})?")
_STANDARD = re.compile(
    r"((requests|limits)\.)?(cpu|memory|ephemeral-storage|storage|hugepages-.*)|pods|services(\..*)?|secrets"
    r"|replicationcontrollers|resourcequotas|configmaps|persistentvolumeclaims"
)
"""Resources without a domain, of quotas too."""
_SHARE = re.compile(r"0*([0-9]{1,2}|100)%")
_TEXTS = {
    "any": (re.compile(".+", re.DOTALL), "a value"),
    "attribute": (
        re.compile(rf"{_NAME}(\.{_NAME})*/[A-Za-z_][A-Za-z0-9_]{{0,31}}"),
        "a domain and a name such as a.b/c",
    ),
    "name": (re.compile(rf"(?=.{{1,63}}\Z){_NAME}"), "lower case letters, digits and -, at most 63"),
    "subdomain": (SUBDOMAIN, "lower case letters, digits, - and ."),
    "port": (
        re.compile(rf"(?=.{{1,15}}\Z)(?=.*[a-z])(?!.*--){_NAME}"),
        "lower case letters, digits and -, at most 15",
    ),
    "limit": (
        re.compile(r"Pod|Container|PersistentVolumeClaim|.*/.*"),
        "Pod, Container or PersistentVolumeClaim",
    ),
    "extended": (
        re.compile(rf"(?!requests\.)(?!.*kubernetes\.io/)(?=.+/){KEY.pattern}"),
        "a name with a domain such as example.com/gpu",
    ),
    "key": (KEY, "a label's key"),
    "value": (VALUE, "a label's value"),
}
"""Form of texts -> the pattern and its words."""
_RANGE = re.compile(r"(\d+)\.\.(\d*)")


def _unless(is_right: bool, value: Any, path: str, expected: str) -> Faults:
    if not is_right:
        yield f"{path}: expected {expected}, got {'nothing' if value == '' else shown(value)}"


def _text(pattern: re.Pattern[str], expected: str, value: Any, path: str) -> Faults:
    return _unless(not isinstance(value, str) or bool(pattern.fullmatch(value)), value, path, expected)


def _word(words: list[str], value: Any, path: str) -> Faults:
    expected = f"{', '.join(words[:-1])} or {words[-1]}"
    return _unless(not isinstance(value, str) or value in words, value, path, expected)


def _number(least: int, most: int | None, value: Any, path: str) -> Faults:
    if isinstance(value, int):
        expected = f"{least} or more" if most is None else f"{least} to {most}"
        yield from _unless(least <= value and (most is None or value <= most), value, path, expected)


def _share(value: Any, path: str) -> Faults:
    is_right = value >= 0 if isinstance(value, int) else bool(_SHARE.fullmatch(value))
    return _unless(is_right, value, path, "0 or more, or a percentage up to 100%")


# --- maps ---------------------------------------------------------------------------------------------------


def _labels(labels: JsonObject, path: str) -> Faults:
    for key, value in labels.items():
        yield from _text(KEY, "a label's key", key, path)
        yield from _text(VALUE, "a label's value", "" if value is None else value, f"{path}[{key}]")


def _annotations(annotations: JsonObject, path: str) -> Faults:
    for key in annotations:
        yield from _text(KEY, "a label's key", key.lower(), path)


def _resources(amounts: JsonObject, path: str) -> Faults:
    for name in amounts:
        is_right = KEY.fullmatch(name) and ("/" in name or _STANDARD.fullmatch(name))
        yield from _unless(bool(is_right), name, path, "the name of a resource")


def _amounts(amounts: JsonObject, path: str) -> Faults:
    yield from _resources(amounts, path)
    for name, value in amounts.items():
        with suppress(QuantityError):
            is_right = value is None or Quantity.parse(value).nanos >= 0
            yield from _unless(is_right, value, f"{path}[{name}]", "0 or more")


_FORMS: Mapping[str, Form] = {
    **{name: partial(_text, *text) for name, text in _TEXTS.items()},
    "labels": _labels,
    "annotations": _annotations,
    "amounts": _amounts,
    "resources": _resources,
    "share": _share,
}


def _form_of(written: str) -> Form:
    """The form that the table writes so."""
    required, pointed = (written.endswith(mark) for mark in "!*")
    name = written.rstrip("!*")
    is_number = _RANGE.fullmatch(name)
    if is_number:
        inner: Form = partial(_number, int(is_number[1]), int(is_number[2]) if is_number[2] else None)
    else:
        inner = _FORMS.get(name) or partial(_word, name.split("|"))

    def check(value: Any, path: str) -> Faults:
        if isinstance(value, list) and value:
            for index, item in enumerate(value):
                yield from inner("" if item is None else item, f"{path}[{index}]")
        elif value or (pointed and value == "") or (is_number and value is not None):
            yield from inner(value, path)
        elif required:
            yield from inner(0 if is_number else "", path)

    return check


# --- fields that must agree ---------------------------------------------------------------------------------


_ORDERED = (
    ("min", "max"),
    ("min", "defaultRequest"),
    ("min", "default"),
    ("defaultRequest", "default"),
    ("defaultRequest", "max"),
    ("default", "max"),
)
"""Amounts of a LimitRange, of which the first must not be above the second."""
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The PriorityClasses that each cluster has -> their values."""
_HIGHEST = 1_000_000_000
_SOURCES = (
    "awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk glusterfs"
    " hostPath iscsi local nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume"
)


def _each_once(field: str, holder: JsonObject, path: str) -> Faults:
    names = [item["name"] for item in holder.get(field) or ()]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{path}.{field}: expected each once, got name {shown(name)} twice"


def _one_of(fields: str, least: int, holder: JsonObject, path: str) -> Faults:
    given = [name for name in fields.split() if holder.get(name) is not None]
    if not least <= len(given) <= 1:
        yield f"{path}: expected one of {', '.join(fields.split())}, got {' and '.join(given) or 'none'}"


def _one_source(volume: JsonObject, path: str) -> Faults:
    given = sorted(
        name for name, part in volume.items() if api_types()["Volume"].get(name) and part is not None
    )
    if len(given) > 1:
        yield f"{path}: expected one kind of volume, got {' and '.join(given)}"


def _volume(spec: JsonObject, path: str) -> Faults:
    capacity = spec.get("capacity") or {}
    if capacity.keys() != {"storage"} or Quantity.parse(capacity["storage"]).nanos <= 0:
        yield f"{path}.capacity: expected storage above 0 and nothing else, got {shown(capacity)}"
    if not spec.get("accessModes"):
        yield f"{path}.accessModes: expected one at least, got none"
    if spec.get("local") and not (spec.get("nodeAffinity") or {}).get("required"):
        yield f"{path}.nodeAffinity.required: expected the node of a local volume, got nothing"


def _mounted(spec: JsonObject, path: str) -> Faults:
    """Mounts of volumes that a pod does not have."""
    names = {volume.get("name") for volume in spec.get("volumes") or ()}
    for field in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(field) or ()):
            for at, mount in enumerate(container.get("volumeMounts") or ()):
                if mount.get("name") not in names:
                    place = f"{path}.{field}[{index}].volumeMounts[{at}].name"
                    yield f"{place}: expected one of the pod's volumes, got {shown(mount.get('name'))}"


def _bounds(item: JsonObject, path: str) -> Faults:
    for less, more in _ORDERED:
        smaller, larger = item.get(less) or {}, item.get(more) or {}
        for name in sorted(smaller.keys() & larger.keys()):
            amounts = [Quantity.parse(bound[name]).rounded_to_milli() for bound in (smaller, larger)]
            if amounts[0] > amounts[1]:
                yield f"{path}.{less}[{name}]: expected at most the {more}, {larger[name]}, got {shown(smaller[name])}"
    is_claim = item.get("type") == "PersistentVolumeClaim"
    if is_claim and not any("storage" in (item.get(name) or {}) for name in ("min", "max")):
        yield f"{path}: expected min or max of storage, got neither"
    if item.get("type") == "Pod" and (item.get("default") or item.get("defaultRequest")):
        yield f"{path}: expected no defaults of type Pod, got some"


def _each_type_once(spec: JsonObject, path: str) -> Faults:
    types = [item.get("type") for item in spec["limits"]]
    if len({*types}) < len(types):
        yield f"{path}.limits: expected each type once, got {', '.join(types)}"


def _scopes(spec: JsonObject, path: str) -> Faults:
    scopes = {*(spec.get("scopes") or ())}
    for pair in ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}):
        if pair <= scopes:
            yield f"{path}.scopes: expected one of {' and '.join(sorted(pair))}, got both"


def _values(scope: JsonObject, path: str) -> Faults:
    if (scope.get("operator") in ("In", "NotIn")) != bool(scope.get("values")):
        yield f"{path}.values: expected some beside In and NotIn alone, got {shown(scope.get('values'))}"


def _no_value(toleration: JsonObject, path: str) -> Faults:
    if toleration.get("operator") == "Exists" and toleration.get("value"):
        yield f"{path}.value: expected none, got {shown(toleration['value'])} beside Exists"


def _of_requests(claim: JsonObject, path: str) -> Faults:
    """Constraints on requests that a claim does not have."""
    requests = claim["requests"]
    inner = [
        f"{item['name']}/{part['name']}" for item in requests for part in item.get("firstAvailable") or ()
    ]
    for index, constraint in enumerate(claim.get("constraints") or ()):
        for name in constraint.get("requests") or ():
            if name not in (*inner, *(item["name"] for item in requests)):
                yield f"{path}.constraints[{index}].requests: expected requests of the claim, got {shown(name)}"


def _no_count_of_all(ask: JsonObject, path: str) -> Faults:
    if ask.get("allocationMode") == "All" and ask.get("count"):
        yield f"{path}.count: expected none beside the mode All, got {shown(ask['count'])}"


def _one_place(spec: JsonObject, path: str) -> Faults:
    """Devices with nodes of their own in a slice that has nodes."""
    for index, device in enumerate(() if spec.get("perDeviceNodeSelection") else spec.get("devices") or ()):
        if any(device.get(name) is not None for name in ("nodeName", "nodeSelector", "allNodes")):
            yield f"{path}.devices[{index}]: expected no nodes without perDeviceNodeSelection, got some"


def _no_gates_on_a_node(spec: JsonObject, path: str) -> Faults:
    if spec.get("schedulingGates") and spec.get("nodeName"):
        yield f"{path}.nodeName: expected none beside schedulingGates, got {shown(spec['nodeName'])}"


def _no_system_class(item: JsonObject, path: str) -> Faults:
    name = item["metadata"]["name"]
    value = item.get("value") or 0
    if name.startswith("system-") and SYSTEM_CLASSES.get(name) != value:
        yield f"metadata.name: expected no name of the system's own classes, got {shown(name)}"
    elif not name.startswith("system-") and value > _HIGHEST:
        yield f"value: expected at most {_HIGHEST:,}, got {value:,}"


_RULES: Mapping[str, tuple[Form, ...]] = {
    "DeploymentSpec": (lambda spec, path: _mounted(spec["template"]["spec"], f"{path}.template.spec"),),
    "DeviceClaim": (partial(_each_once, "requests"), _of_requests),
    "DeviceRequest": (partial(_one_of, "exactly firstAvailable deviceClassName", 1),),
    "DeviceSubRequest": (_no_count_of_all,),
    "DeviceToleration": (_no_value,),
    "ExactDeviceRequest": (_no_count_of_all,),
    "LimitRangeItem": (_bounds,),
    "LimitRangeSpec": (_each_type_once,),
    "Namespace": (lambda item, path: _FORMS["name"](item["metadata"]["name"], "metadata.name"),),
    "PersistentVolumeSpec": (_volume, partial(_one_of, _SOURCES, 1)),
    "Pod": (lambda pod, path: _mounted(pod["spec"], f"{path}.spec".removeprefix(".")),),
    "PodDisruptionBudgetSpec": (partial(_one_of, "minAvailable maxUnavailable", 0),),
    "PodSpec": (partial(_each_once, "schedulingGates"), _no_gates_on_a_node),
    "PriorityClass": (_no_system_class,),
    "ResourceQuotaSpec": (_scopes,),
    "ResourceSliceSpec": (
        partial(_each_once, "devices"),
        _one_place,
        partial(_one_of, "nodeName nodeSelector allNodes perDeviceNodeSelection", 1),
    ),
    "ScopedResourceSelectorRequirement": (_values,),
    "Volume": (_one_source,),
}
"""Type -> what must hold for fields of such an object together."""


# --- objects of any kind ------------------------------------------------------------------------------------


@cache
def _forms() -> Mapping[str, Mapping[str, Form]]:
    split = (line.partition(": ") for line in _TABLE.strip().replace("\n  ", " ").splitlines())
    return {
        kind: {name: _form_of(form) for name, _, form in (part.partition("=") for part in parts.split())}
        for kind, _, parts in split
    }


@cache
def _inner(kind: str) -> Mapping[str, str]:
    """The fields of a type with anything to check in them, and their types."""
    inner = {name: part for name, part in api_types().get(kind, {}).items() if part and name != "status"}
    return {name: part for name, part in inner.items() if part in _forms() or part in _RULES or _inner(part)}


def misformed(kind: str, value: Any, path: str = "") -> Faults:
    """The faults of a new object of the API type *kind* in JSON form; parts of other types have none."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from misformed(kind, item, f"{path}[{index}]")
    if not isinstance(value, dict):
        return
    prefix = f"{path}." if path else ""
    for name, form in _forms().get(kind, {}).items():
        with suppress(AttributeError, TypeError):
            yield from form(value.get(name), f"{prefix}{name}")
    if kind in _RULES:
        for rule in _RULES[kind]:
            with suppress(AttributeError, KeyError, TypeError, QuantityError):
                yield from rule(value, path)
    for name, part in _inner(kind).items():
        if (inner := value.get(name)) is not None:
            yield from misformed(part, inner, f"{prefix}{name}")
