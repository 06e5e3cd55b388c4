"""New names for everything that shows whose cluster a snapshot is from; apart from names, decisions stay the
same.

A new name is ``r``, the rank of the old name among all of them, ``x``, and a salted hash. Because of the rank
new names sort as the old ones do: some rules and lists go by name. The fields of the classes of objects are
kept, and no others. A value whose shape does not fit its field, which only an odd server sends, is left out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import attrs

from ..api import objects as o
from ..api.load import metadata_of
from ..api.objects import KINDS, JsonDict, Map, OneOf, Part, Quantity, annotated
from ..api.reading import Mismatch, newer
from .client.api import Manifest


@attrs.frozen
class Redaction:
    """Redacted objects, and their old names."""

    items: tuple[Manifest, ...]
    salt: str
    names: Mapping[str, str]
    """Old name -> new name."""
    namespaces: Mapping[str, str]
    """The same for namespaces."""

    def map(self) -> dict[str, Any]:
        """The map to keep: with it the old names can be recovered."""
        return {"salt": self.salt, "names": dict(self.names), "namespaces": dict(self.namespaces)}


def redact(items: tuple[Manifest, ...], salt: bytes | None = None) -> Redaction:
    """*items* with new names, in their order. By default the *salt* is random, so that names cannot be
    guessed and tried.

    Label keys, resources, times, sizes, CSI drivers and provisioners stay, and so do the drivers'
    descriptions of devices, and numbers as values of labels that are compared as numbers. Environments,
    commands, messages, and annotations that no rule reads are left out.
    """
    salt = secrets.token_bytes(16) if salt is None else salt
    # The labels that an expression with Gt or Lt names.
    numeric = set()
    stack: list[Any] = [*items]
    while stack:
        top = stack.pop()
        if isinstance(top, dict):
            if top.get("operator") in ("Gt", "Lt") and isinstance(top.get("key"), str):
                numeric.add(top["key"])
            stack += top.values()
        elif isinstance(top, list | tuple):
            stack += top
    names = Names({**dict.fromkeys(numeric, re.compile(r"[-+]?\d{1,19}")), **PUBLIC_FORMS})
    for item in items:
        _redacted(item, names)
    # The names of claims of generic ephemeral volumes, with pod and volume: rules put them together.
    claims = {}
    for pod in (item for item in items if item["kind"] == "Pod"):
        name = metadata_of(pod).get("name")
        spec = pod.get("spec")
        volumes = spec.get("volumes") if isinstance(spec, dict) else None
        for volume in volumes if isinstance(volumes, list) else ():
            if (
                isinstance(volume, dict)
                and volume.get("ephemeral")
                and isinstance(name, str)
                and isinstance(volume.get("name"), str)
            ):
                claims[f"{name}-{volume['name']}"] = name, volume["name"]
    names.rank(salt, claims)
    return Redaction(
        tuple(_redacted(item, names) for item in items), salt.hex(), names.names, names.namespaces
    )


def _redacted(item: Manifest, to: Names) -> Manifest:
    kind = item["kind"]
    with suppress(Mismatch):  # what is odd about it is left out
        item = newer(kind, item)
    redacted: Manifest = shape_of(KINDS[kind])(to, item)
    name = str(metadata_of(item).get("name") or "")
    if kind in ("Namespace", "CSIDriver"):  # a driver is known by its name, which storage classes keep, too
        new_name = to.namespace(name) if kind == "Namespace" else name
        redacted["metadata"] = {**(redacted.get("metadata") or {}), "name": new_name}
    if kind in ("ReplicaSet", "ReplicationController", "StatefulSet"):
        # The names of their pods, some of which are numbers, have changed, so it could not be seen which are
        # missing.
        redacted["spec"] = {**(redacted.get("spec") or {}), "replicas": 0}
    return redacted


PUBLIC_NAMESPACES = frozenset({"", "default", "kube-system", "kube-public", "kube-node-lease"})
PUBLIC_NAMES = frozenset(
    {"", "0.0.0.0", "127.0.0.1", "::", "system-cluster-critical", "system-node-critical", "default-scheduler"}
)
PUBLIC_VALUES = frozenset({"", "true", "false"})
PUBLIC_PARTS = frozenset(
    {"", "aws:", "gce:", "azure:", "openstack:", "projects", "UNSPECIFIED", "zones", "regions", "disks"}
)
PUBLIC_FORMS = {
    f"{prefix}{name}": re.compile(form)
    for name, form in (
        ("os", r"linux|windows"),
        ("arch", r"amd64|arm64|arm|386|ppc64le|s390x|riscv64"),
        ("instance-type", r"[a-z0-9-]+\.(nano|micro|small|medium|metal|\d*x?large)"),
    )
    for prefix in ("kubernetes.io/", "beta.kubernetes.io/", "node.kubernetes.io/")
}
"""Label whose values rules look up, or that reveals nothing -> the values that stay: systems, machines, types
of a public cloud."""
PLACES = ("/zone", "/region")
"""The ends of labels with zones or regions: releases read the parts of their values."""
_WORDS = re.compile(r"([^-_/]+)")
_DIGITS = 8


class Names:
    """New names for old ones. Until :meth:`rank` is called, names are only noted, and stay as they are."""

    def __init__(self, public_forms: Mapping[str, re.Pattern[str]] = PUBLIC_FORMS) -> None:
        self.public_forms = public_forms
        self.names: dict[str, str] = {}
        self.namespaces: dict[str, str] = {}
        self._is_ranked = False

    def name(self, text: str) -> str:
        """The new name of an object, or of anything else that is only compared."""
        return text if text in PUBLIC_NAMES else self._new_text(self.names, text)

    def namespace(self, text: str) -> str:
        """The new name of a namespace."""
        return text if text in PUBLIC_NAMESPACES else self._new_text(self.namespaces, text)

    def value(self, key: str, text: str) -> str:
        """The new value of the label or taint *key*."""
        form = self.public_forms.get(key)
        if text in PUBLIC_VALUES or (form is not None and form.fullmatch(text)):
            return text
        if key == "kubernetes.io/metadata.name":
            return self.namespace(text)
        return self.parts(text) if key.endswith(PLACES) else self._new_text(self.names, text)

    def image(self, text: str) -> str:
        """The new name of an image. The tag ``latest`` stays, as no tag means the same."""
        base, colon, tag = text.rpartition(":")
        if not colon or "/" in tag:
            return self._new_text(self.names, text)
        return f"{self._new_text(self.names, base)}:{tag if tag == 'latest' else self._new_text(self.names, tag)}"

    def parts(self, text: str) -> str:
        """The new name of a disk or zone, whose parts between dashes, underscores and slashes have a
        meaning."""
        return _WORDS.sub(
            lambda word: word[0] if word[0] in PUBLIC_PARTS else self._new_text(self.names, word[0]), text
        )

    def _new_text(self, renamed: dict[str, str], text: str) -> str:
        return renamed[text] if self._is_ranked else renamed.setdefault(text, text)

    def rank(self, salt: bytes, claims: Mapping[str, tuple[str, str]]) -> None:
        """Give all that was noted new names. *claims* are those of generic ephemeral volumes, with their pod
        and volume."""
        self._is_ranked = True
        # Keys are sorted as ``namespace/name``, so a namespace has its slash when it is ranked.
        self.namespaces = _ranked(sorted(self.namespaces, key=lambda text: f"{text}/"), salt)
        self.names = _ranked(sorted(self.names), salt)
        for claim, (pod, volume) in claims.items():
            self.names[claim] = f"{self.name(pod)}-{self.name(volume)}"


def _ranked(texts: Iterable[str], salt: bytes) -> dict[str, str]:
    digests = (
        (text, hmac.new(salt, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest())
        for text in texts
    )
    return {text: f"r{rank:06d}x{digest[:_DIGITS]}" for rank, (text, digest) in enumerate(digests)}


Fields = JsonDict
"""An object in JSON form."""
Shape = Callable[[Names, Any], Any]
"""Renames a value; None leaves it out."""


# --- ways to rename a value ---------------------------------------------------------------------------------


def _text(rename: Callable[[Names, str], str]) -> Shape:
    return lambda to, value: rename(to, value) if isinstance(value, str) else None


def _object(rename: Callable[[Names, Fields], Any]) -> Shape:
    return lambda to, value: rename(to, value) if isinstance(value, dict) else None


def _keep(to: Names, value: Any) -> Any:
    """A number, an enumeration, a time, the name of a driver or a key; or a list of such."""
    if isinstance(value, list):
        return [item for item in value if not isinstance(item, list | dict)]
    return None if isinstance(value, dict) else value


def _amounts(to: Names, value: Fields) -> Fields:
    """Numbers and quantities by the name of a resource."""
    return {key: item for key, item in value.items() if not isinstance(item, list | dict)}


def _quota(to: Names, value: Fields) -> Any:
    """Amounts by the name of a resource, which may have the name of a StorageClass before it."""
    renamed = {}
    for key, item in _amounts(to, value).items():
        storage_class, dot, rest = key.partition(".storageclass.storage.k8s.io/")
        renamed[f"{to.name(storage_class)}{dot}{rest}" if dot else key] = item
    return renamed


def _labels(to: Names, value: Fields) -> Any:
    """Labels, or what selects by equality: keys stay."""
    return {key: to.value(key, item) for key, item in value.items() if isinstance(item, str)}


def _requirement(to: Names, value: Fields, is_field: bool = False) -> Any:
    """Key, operator and values of a requirement on labels; *is_field*: on a node's field, which is its
    name."""
    kept: Fields = {field: value[field] for field in ("key", "operator") if field in value}
    if isinstance(value.get("values"), list):
        key = str(value.get("key") or "")
        texts = [item for item in value["values"] if isinstance(item, str)]
        kept["values"] = [to.name(text) if is_field else to.value(key, text) for text in texts]
    return kept


def _keyed(to: Names, value: Fields) -> Any:
    """A taint or toleration."""
    kept = {
        field: value[field] for field in ("key", "operator", "effect", "tolerationSeconds") if field in value
    }
    if isinstance(value.get("value"), str):
        return {**kept, "value": to.value(str(value.get("key") or ""), value["value"])}
    return kept


def _avoided(to: Names, value: Any) -> Any:
    """The annotation preferAvoidPods: the controllers in it by kind and UID. What cannot be read is kept
    out."""
    try:
        document = json.loads(value)
        avoided = [item["podSignature"]["podController"] for item in document["preferAvoidPods"]]
        controllers = [
            {"kind": controller["kind"], "uid": to.name(controller["uid"]), "controller": True}
            for controller in avoided
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    return json.dumps(
        {"preferAvoidPods": [{"podSignature": {"podController": controller}} for controller in controllers]}
    )


def _condition(to: Names, value: Fields) -> Any:
    """A condition that rules know; None for others, whose types may reveal whose cluster it is."""
    if value.get("type") not in CONDITIONS:
        return None
    kept = {
        key: _keep(to, value[key])
        for key in ("type", "status", "lastProbeTime", "lastTransitionTime")
        if key in value
    }
    if "reason" in value:
        return {**kept, "reason": value["reason"] if value["reason"] in REASONS else None}
    return kept


def _version(to: Names, value: Any) -> Any:
    """The release of a kubelet, without what its distribution adds."""
    match = re.match(r"v?\d+\.\d+(\.\d+)?", value) if isinstance(value, str) else None
    return match[0] if match else None


CONDITIONS = (
    "Ready",
    "OutOfDisk",
    "MemoryPressure",
    "DiskPressure",
    "PIDPressure",
    "NetworkUnavailable",
    "PodScheduled",
    "DisruptionTarget",
    "PodResizePending",
    "PodResizeInProgress",
)
REASONS = ("Unschedulable", "SchedulingGated", "PreemptionByScheduler", "Infeasible", "Deferred")
WORDS: Mapping[str, Shape] = {
    "name": _text(Names.name),
    "namespace": _text(Names.namespace),
    "image": _text(Names.image),
    "parts": _text(Names.parts),
    "keep": _keep,
    "amounts": _object(_amounts),
    "quota": _object(_quota),
    "labels": _object(_labels),
    "requirement": _object(_requirement),
    "keyed": _object(_keyed),
    "avoided": _avoided,
    "condition": _object(_condition),
    "version": _version,
    "field requirement": _object(partial(_requirement, is_field=True)),
    "by name": _object(lambda to, value: {to.name(key): _keep(to, item) for key, item in value.items()}),
    "annotations": _object(
        lambda to, value: {
            key: WORDS[ANNOTATIONS[key]](to, item) for key, item in value.items() if key in ANNOTATIONS
        }
    ),
    "left out": lambda to, value: None,
    "described": lambda to, value: value,  # What a driver says of its devices, and expressions about it.
    # What drivers say of devices, without their words.
    "said": lambda to, value: (
        [{key: entry.get(key) for key in ("type", "status")} for entry in value if isinstance(entry, dict)]
        if isinstance(value, list)
        else None
    ),
    "there": lambda to, value: "yes",  # Rules read only that it is given.
    "switch": lambda to, value: value if value in ("true", "false") else None,
    "plugins": lambda to, value: ",".join(
        part for part in str(value).split(",") if part.startswith("kubernetes.io/")
    ),
}
"""Word -> the way to rename a value."""


ANNOTATIONS: Mapping[str, str] = dict(
    re.findall(
        r"(\S+) (\S+)",
        """
scheduler.alpha.kubernetes.io/preferAvoidPods avoided
volume.beta.kubernetes.io/storage-class name
volume.kubernetes.io/selected-node name
rbd.csi.ceph.com/volume-handle parts
pv.kubernetes.io/bind-completed there
pv.kubernetes.io/bound-by-controller there
storage.alpha.kubernetes.io/migrated-plugins plugins
kubernetes.io/config.mirror name
storageclass.kubernetes.io/is-default-class switch
resource.kubernetes.io/extended-resource-claim switch
storageclass.beta.kubernetes.io/is-default-class switch
""",
    )
)
"""The annotations that a rule, admission or a drain reads."""


# --- which value is renamed how -----------------------------------------------------------------------------

_TYPES = {
    str: "name",
    bool: "keep",
    int: "keep",
    Quantity: "keep",
    Map[Quantity]: "amounts",
    Map[str]: "labels",
    Map[Any]: "by name",
    o.Requirement: "requirement",
    o.TopologySelectorLabelRequirement: "requirement",
    o.Taint: "keyed",
    o.Toleration: "keyed",
    o.Condition: "condition",
}
"""Type -> how its values are renamed; words of an enumeration stay."""
_FIELDS = {
    "keep": "ObjectMeta.creation_timestamp ObjectMeta.deletion_timestamp OwnerReference.kind OwnerReference.api_version"
    " Container.restart_policy PodAffinityTerm.topology_key PodAffinityTerm.match_label_keys PodAffinityTerm.mismatch_label_keys"
    " TopologySpreadConstraint.topology_key TopologySpreadConstraint.match_label_keys PodStatus.phase PodStatus.start_time"
    " PodStatus.resize VolumeStatus.phase StorageClass.provisioner VolumeAttachmentSpec.attacher ObjectReference.kind CSI.driver"
    " CSINodeDriver.name CSINodeDriver.topology_keys ResourceQuotaSpec.scopes ScopedResourceSelectorRequirement.scope_name"
    " ScopedResourceSelectorRequirement.operator LimitRangeItem.type ResourceSliceSpec.driver DeviceClassSpec.extended_resource_name"
    " DeviceRequestAllocationResult.request DeviceRequestAllocationResult.driver DeviceRequestAllocationResult.device"
    " AllocatedDeviceStatus.driver AllocatedDeviceStatus.device AllocationResult.allocation_timestamp"
    " ResourceClaimConsumerReference.resource ResourceClaimConsumerReference.api_group",
    "namespace": "ObjectMeta.namespace ObjectReference.namespace PodAffinityTerm.namespaces",
    "left out": "ObjectMeta.resource_version ObjectMeta.generation ObjectMeta.finalizers",
    "annotations": "ObjectMeta.annotations TemplateMeta.annotations",
    "field requirement": "NodeSelectorTerm.match_fields",
    "image": "Container.image ContainerImage.names",
    "parts": "NodeSpec.provider_id GCEPersistentDisk.pd_name AWSElasticBlockStore.volume_id AzureDisk.disk_name AzureDisk.disk_uri"
    " Cinder.volume_id PortworxVolume.volume_id CSI.volume_handle",
    "version": "NodeSystemInfo.kubelet_version",
    "quota": "ResourceQuotaSpec.hard ResourceQuotaStatus.hard ResourceQuotaStatus.used",
    "described": "Device.name Device.attributes Device.capacity Device.consumes_counters Device.taints Device.binding_conditions"
    " DeviceRequest.name _Request.allocation_mode _Request.selectors DeviceSubRequest.name DeviceClaim.constraints"
    " DeviceClassSpec.selectors ResourceSliceSpec.shared_counters Device.binding_failure_conditions _Request.tolerations"
    " CapacityRequirements.requests DeviceRequestAllocationResult.tolerations DeviceRequestAllocationResult.consumed_capacity"
    " DeviceRequestAllocationResult.binding_conditions DeviceRequestAllocationResult.binding_failure_conditions",
    "said": "AllocatedDeviceStatus.conditions",
}
"""Way to rename -> the fields that are not renamed as others of their type."""
_WAYS = {field: way for way, fields in _FIELDS.items() for field in fields.split()}


class ControllerTemplate(Part):
    """The template of a controller, whose objects otherwise say only which pods they have."""

    metadata: o.TemplateMeta = o.TemplateMeta()
    spec: o.PodSpec = o.PodSpec()


@cache
def shape_of(annotation: Any, way: str = "") -> Shape:
    """The renaming of values in JSON form of a type: fields that it does not have are left out."""
    origin = get_origin(annotation)
    parts = [part for part in get_args(annotation) if part is not NoneType and part is not ...]
    way = way or _TYPES.get(annotation, "")
    if origin is Annotated:
        return shape_of(parts[0], way or ("keep" if isinstance(parts[1], OneOf) else ""))
    if origin in (Union, UnionType):
        return shape_of(parts[0], way or ("keep" if len(parts) > 1 else ""))
    if origin is tuple:
        item = shape_of(parts[0], way)
        return lambda to, value: (
            [kept for entry in value if (kept := item(to, entry)) is not None]
            if isinstance(value, list)
            else None
        )
    if way:
        return WORDS[way]
    fields = {}
    for attribute, name, inner in annotated(annotation):
        # A class may have the field from a class before.
        named = (f"{base.__name__}.{attribute}" for base in annotation.__mro__)
        fields[name] = shape_of(inner, next((_WAYS[path] for path in named if path in _WAYS), ""))
    if issubclass(annotation, o.KubeObject):
        fields |= dict.fromkeys(("apiVersion", "kind"), _keep)
    if annotation in (o.ControllerSpec, o.ServiceSpec):
        fields["template"] = shape_of(ControllerTemplate)
    return _object(
        lambda to, value: {key: fields[key](to, entry) for key, entry in value.items() if key in fields}
    )
