"""Which fields of a snapshot a redaction keeps, and how each is renamed. What is not named here is left out.

A shape is a function (names, value) -> value; the tables are made of few kinds of shapes: see the part after the names. A value of another
shape than the field has, which only an odd server sends, is left out, too.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias

PUBLIC_NAMESPACES = frozenset({"", "default", "kube-system", "kube-public", "kube-node-lease"})
PUBLIC_NAMES = frozenset({"", "0.0.0.0", "127.0.0.1", "::", "system-cluster-critical", "system-node-critical", "default-scheduler"})
PUBLIC_VALUES = frozenset({"", "true", "false"})
PUBLIC_PARTS = frozenset({"", "aws:", "gce:", "azure:", "openstack:", "projects", "UNSPECIFIED", "zones", "regions", "disks"})
_SYSTEMS, _MACHINES = r"linux|windows", r"amd64|arm64|arm|386|ppc64le|s390x|riscv64"
_INSTANCES = r"[a-z0-9-]+\.(nano|micro|small|medium|metal|\d*x?large)"
PUBLIC_FORMS: Mapping[str, re.Pattern[str]] = {
    f"{prefix}{name}": re.compile(form)
    for name, form in (("os", _SYSTEMS), ("arch", _MACHINES), ("instance-type", _INSTANCES))
    for prefix in ("kubernetes.io/", "beta.kubernetes.io/", "node.kubernetes.io/")
}
"""Labels with values that rules look up, or that tell nothing -> the values that stay: systems, machines, types of a public cloud."""
PLACES = ("/zone", "/region")
"""The ends of labels with zones or regions: releases read the parts of their values."""
_WORDS = re.compile(r"([^-_/]+)")
_DIGITS = 8


class Names:
    """New names for old ones. Until :meth:`rank` has been called names are only noted, and stay as they are."""

    def __init__(self, public_forms: Mapping[str, re.Pattern[str]] = PUBLIC_FORMS) -> None:
        self.public_forms = public_forms
        self.names: dict[str, str] = {}
        self.namespaces: dict[str, str] = {}
        self._is_ranked = False

    def name(self, text: str) -> str:
        """The name of an object or anything else that is only compared."""
        return text if text in PUBLIC_NAMES else self._new(self.names, text)

    def namespace(self, text: str) -> str:
        """The name of a namespace."""
        return text if text in PUBLIC_NAMESPACES else self._new(self.namespaces, text)

    def value(self, key: str, text: str) -> str:
        """The value of the label or taint *key*."""
        form = self.public_forms.get(key)
        if text in PUBLIC_VALUES or (form is not None and form.fullmatch(text)):
            return text
        if key == "kubernetes.io/metadata.name":
            return self.namespace(text)
        return self.parts(text) if key.endswith(PLACES) else self._new(self.names, text)

    def image(self, text: str) -> str:
        """The name of an image. The tag ``latest`` stays, as no tag means the same."""
        base, colon, tag = text.rpartition(":")
        if not colon or "/" in tag:
            return self._new(self.names, text)
        return f"{self._new(self.names, base)}:{tag if tag == 'latest' else self._new(self.names, tag)}"

    def parts(self, text: str) -> str:
        """The name of a disk or zone, whose parts between dashes, underscores and slashes have a meaning."""
        return _WORDS.sub(lambda word: word[0] if word[0] in PUBLIC_PARTS else self._new(self.names, word[0]), text)

    def _new(self, known: dict[str, str], text: str) -> str:
        return known[text] if self._is_ranked else known.setdefault(text, text)

    def rank(self, salt: bytes, claims: Mapping[str, tuple[str, str]]) -> None:
        """Give all that was noted new names. *claims* are those of generic ephemeral volumes, with their pod and volume."""
        self._is_ranked = True
        # Keys are sorted as ``namespace/name``, so a namespace has its slash when it is ranked.
        self.namespaces = _ranked(sorted(self.namespaces, key=lambda text: f"{text}/"), salt)
        self.names = _ranked(sorted(self.names), salt)
        for claim, (pod, volume) in claims.items():
            self.names[claim] = f"{self.name(pod)}-{self.name(volume)}"


def _ranked(texts: Iterable[str], salt: bytes) -> dict[str, str]:
    digests = ((text, hmac.new(salt, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()) for text in texts)
    return {text: f"r{rank:06d}x{digest[:_DIGITS]}" for rank, (text, digest) in enumerate(digests)}


Json: TypeAlias = Any


Shape: TypeAlias = Callable[[Names, Json], Json]


def keep(to: Names, value: Json) -> Json:
    """A number, an enumeration, a time, the name of a driver or a key; or a list of such."""
    if isinstance(value, list):
        return [item for item in value if not isinstance(item, list | dict)]
    return None if isinstance(value, dict) else value


def amounts(to: Names, value: Json) -> Json:
    """Numbers and quantities by the name of a resource."""
    return {key: item for key, item in value.items() if not isinstance(item, list | dict)} if isinstance(value, dict) else None


def described(to: Names, value: Json) -> Json:
    """What a driver says of its devices, and expressions about it, as they are."""
    return value


def one_of(*known: str) -> Shape:
    """One of these words, which rules know."""
    return lambda to, value: value if value in known else None


def _text(rename: Callable[[Names, str], str]) -> Shape:
    return lambda to, value: rename(to, value) if isinstance(value, str) else None


name: Shape = _text(lambda to, text: to.name(text))
namespace: Shape = _text(lambda to, text: to.namespace(text))
image: Shape = _text(lambda to, text: to.image(text))
parts: Shape = _text(lambda to, text: to.parts(text))


def fields(**shapes: Shape) -> Shape:
    """An object with these fields."""
    return lambda to, value: (
        {key: shapes[key](to, item) for key, item in value.items() if key in shapes} if isinstance(value, Mapping) else None
    )


def all_of(shape: Shape, names: str) -> dict[str, Shape]:
    """Fields of one shape, by their names with blanks between them."""
    return dict.fromkeys(names.split(), shape)


def each(shape: Shape) -> Shape:
    """A list of such values."""
    return lambda to, value: [found for item in value if (found := shape(to, item)) is not None] if isinstance(value, list) else None


def with_known(field: str, known: Collection[str], shape: Shape) -> Shape:
    """A list of such objects, of which only those count that have one of the *known* words in *field*."""
    kept = each(shape)
    return lambda to, value: (
        kept(to, [item for item in value if isinstance(item, dict) and item.get(field) in known]) if isinstance(value, list) else None
    )


# --- labels and selectors -------------------------------------------------------------------------------------------


def labels(to: Names, value: Json) -> Json:
    """Labels, or what selects by equality: keys stay."""
    return {key: to.value(key, item) for key, item in value.items() if isinstance(item, str)} if isinstance(value, Mapping) else None


def _values_of(to: Names, value: Json, rename: Callable[[str, str], str]) -> Json:
    """A requirement: key, operator, values."""
    if not isinstance(value, Mapping):
        return None
    kept = {field: value[field] for field in ("key", "operator") if field in value}
    if isinstance(value.get("values"), list):
        key = str(value.get("key") or "")
        kept["values"] = [rename(key, item) for item in value["values"] if isinstance(item, str)]
    return kept


def _requirement(to: Names, value: Json) -> Json:
    return _values_of(to, value, to.value)


def _field_requirement(to: Names, value: Json) -> Json:
    """A requirement on a node's field, which is its name."""
    return _values_of(to, value, lambda key, text: to.name(text))


def _keyed(to: Names, value: Json) -> Json:
    """A taint or toleration."""
    if not isinstance(value, Mapping):
        return None
    kept = {field: value[field] for field in ("key", "operator", "effect", "tolerationSeconds") if field in value}
    return {**kept, "value": to.value(str(value.get("key") or ""), value["value"])} if isinstance(value.get("value"), str) else kept


selector: Shape = fields(matchLabels=labels, matchExpressions=each(_requirement))
node_term: Shape = fields(matchExpressions=each(_requirement), matchFields=each(_field_requirement))
node_selector: Shape = fields(nodeSelectorTerms=each(node_term))
_pod_term = fields(
    namespaces=each(namespace), **all_of(selector, "labelSelector namespaceSelector"),
    **all_of(keep, "topologyKey matchLabelKeys mismatchLabelKeys"),
)  # fmt: skip
_REQUIRED, _PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
_pod_affinity = fields(**{_REQUIRED: each(_pod_term), _PREFERRED: each(fields(weight=keep, podAffinityTerm=_pod_term))})
_affinity = fields(
    nodeAffinity=fields(**{_REQUIRED: node_selector, _PREFERRED: each(fields(weight=keep, preference=node_term))}),
    podAffinity=_pod_affinity,
    podAntiAffinity=_pod_affinity,
)


# --- metadata -------------------------------------------------------------------------------------------------------


def _avoided(to: Names, value: Json) -> Json:
    """The annotation preferAvoidPods: the controllers in it by kind and UID. What cannot be read is kept out."""
    try:
        document = json.loads(value)
        avoided = [item["podSignature"]["podController"] for item in document["preferAvoidPods"]]
        controllers = [{"kind": one["kind"], "uid": to.name(one["uid"]), "controller": True} for one in avoided]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    return json.dumps({"preferAvoidPods": [{"podSignature": {"podController": controller}} for controller in controllers]})


def _there(to: Names, value: Json) -> Json:
    """An annotation of which rules read only that it is given."""
    return "yes"


_default = one_of("true", "false")


def _plugins(to: Names, value: Json) -> Json:
    """The in-tree plugins in a list of them."""
    return ",".join(part for part in str(value).split(",") if part.startswith("kubernetes.io/"))


_annotations = fields(
    **{
        "scheduler.alpha.kubernetes.io/preferAvoidPods": _avoided,
        "volume.beta.kubernetes.io/storage-class": name,
        "volume.kubernetes.io/selected-node": name,
        "rbd.csi.ceph.com/volume-handle": parts,
        "pv.kubernetes.io/bind-completed": _there,
        "pv.kubernetes.io/bound-by-controller": _there,
        "storage.alpha.kubernetes.io/migrated-plugins": _plugins,
        "kubernetes.io/config.mirror": name,
        "storageclass.kubernetes.io/is-default-class": _default,
        "storageclass.beta.kubernetes.io/is-default-class": _default,
    }
)
"""The annotations that a rule, admission or a drain reads."""
_owner = fields(apiVersion=keep, kind=keep, name=name, uid=name, controller=keep)
_times = all_of(keep, "creationTimestamp deletionTimestamp")
_meta = fields(name=name, namespace=namespace, uid=name, labels=labels, annotations=_annotations, ownerReferences=each(_owner), **_times)
_namespace_meta = fields(name=namespace, uid=name, labels=labels, **_times)


# --- kinds ----------------------------------------------------------------------------------------------------------

_disks: Mapping[str, Shape] = {
    "gcePersistentDisk": fields(pdName=parts, readOnly=keep),
    "awsElasticBlockStore": fields(volumeID=parts, readOnly=keep),
    "iscsi": fields(iqn=name, targetPortal=name, lun=keep, readOnly=keep),
    "rbd": fields(monitors=each(name), pool=name, image=name, readOnly=keep),
    "azureDisk": fields(diskName=parts, diskURI=parts, readOnly=keep),
    "cinder": fields(volumeID=parts, readOnly=keep),
    "portworxVolume": fields(volumeID=parts),
    "csi": fields(driver=keep, volumeHandle=parts, readOnly=keep),
}
_resources = fields(requests=amounts, limits=amounts)
_claim_spec = fields(
    resources=_resources, selector=selector, **all_of(name, "volumeName storageClassName volumeAttributesClassName"),
    **all_of(keep, "accessModes volumeMode"),
)  # fmt: skip
_template = fields(metadata=fields(labels=labels, annotations=_annotations), spec=_claim_spec)
_volume = fields(
    name=name, persistentVolumeClaim=fields(claimName=name, readOnly=keep), ephemeral=fields(volumeClaimTemplate=_template),
    emptyDir=fields(), **_disks,
)  # fmt: skip
_port = fields(**all_of(name, "hostIP name"), **all_of(keep, "containerPort hostPort protocol"))
_container = fields(name=name, image=image, resources=_resources, ports=each(_port), restartPolicy=keep)
_constraint = fields(
    labelSelector=selector,
    **all_of(keep, "maxSkew topologyKey whenUnsatisfiable minDomains nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys"),
)
_CONDITIONS = (
    "Ready", "OutOfDisk", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "PodScheduled", "DisruptionTarget",
    "PodResizePending", "PodResizeInProgress",
)  # fmt: skip
_REASONS = ("Unschedulable", "SchedulingGated", "PreemptionByScheduler", "Infeasible", "Deferred")
_condition = fields(reason=one_of(*_REASONS), **all_of(keep, "type status lastProbeTime lastTransitionTime"))
_conditions = with_known("type", _CONDITIONS, _condition)
"""The conditions that rules know; what others are called may say whose cluster it is."""
_claim_source = all_of(name, "resourceClaimName resourceClaimTemplateName")
_pod_spec = fields(
    **all_of(name, "nodeName schedulerName priorityClassName"),
    **all_of(keep, "priority activeDeadlineSeconds preemptionPolicy hostNetwork"),
    **all_of(each(_container), "containers initContainers"),
    nodeSelector=labels,
    affinity=_affinity,
    tolerations=each(_keyed),
    overhead=amounts,
    volumes=each(_volume),
    topologySpreadConstraints=each(_constraint),
    schedulingGates=each(fields(name=name)),
    resourceClaims=each(fields(name=name, source=fields(**_claim_source), **_claim_source)),
    resources=_resources,
)
_container_status = fields(name=name, resources=_resources, allocatedResources=amounts)
_reference = fields(kind=keep, namespace=namespace, name=name, uid=name)
_topology_term = fields(matchLabelExpressions=each(_requirement))
_driver = fields(name=keep, nodeID=name, topologyKeys=keep, allocatable=amounts)


def _keys_renamed(to: Names, value: Json) -> Json:
    return {to.name(key): keep(to, item) for key, item in value.items()} if isinstance(value, Mapping) else None


_OF_CLASS = ".storageclass.storage.k8s.io/"


def _quota(to: Names, value: Json) -> Json:
    """Amounts by the name of a resource, which may have the name of a StorageClass before it."""
    found = {}
    for key, item in (amounts(to, value) or {}).items():
        storage_class, dot, rest = key.partition(_OF_CLASS)
        found[f"{to.name(storage_class)}{dot}{rest}" if dot else key] = item
    return found


def _version(to: Names, value: Json) -> Json:
    """The release of a kubelet, without what its distribution adds."""
    found = re.match(r"v?\d+\.\d+(\.\d+)?", value) if isinstance(value, str) else None
    return found[0] if found else None


def _kind(metadata: Shape = _meta, **shapes: Shape) -> Shape:
    return fields(apiVersion=keep, kind=keep, metadata=metadata, **shapes)


_pod_template = fields(metadata=fields(labels=labels), spec=_pod_spec)
_exact = all_of(described, "name allocationMode count adminAccess selectors tolerations capacity")
_exactly = fields(deviceClassName=name, **_exact)
_request = fields(deviceClassName=name, exactly=_exactly, firstAvailable=each(_exactly), **_exact)
_claimed = fields(devices=fields(requests=each(_request), constraints=described))
_user = fields(apiGroup=keep, resource=keep, name=name, uid=name)
_allocated = fields(pool=name, **all_of(keep, "request driver device adminAccess"))
_allocation = fields(devices=fields(results=each(_allocated)), nodeSelector=node_selector)
_device_parts = "name attributes capacity allNodes consumesCounters taints bindingConditions allowMultipleAllocations"
_device_fields: Mapping[str, Shape] = {**all_of(described, _device_parts), "nodeName": name, "nodeSelector": node_selector}
_device = fields(basic=fields(**_device_fields), **_device_fields)
_scope = fields(scopeName=keep, operator=keep, values=each(name))
_limit = fields(type=keep, **all_of(amounts, "max min default defaultRequest maxLimitRequestRatio"))
_replicating = _kind(spec=fields(selector=selector, template=_pod_template))

SHAPES: Mapping[str, Shape] = {
    "Node": _kind(
        spec=fields(unschedulable=keep, taints=each(_keyed), providerID=parts),
        status=fields(
            **all_of(amounts, "allocatable capacity"), conditions=_conditions, images=each(fields(names=each(image), sizeBytes=keep)),
            nodeInfo=fields(kubeletVersion=_version),
        ),
    ),
    "Pod": _kind(
        spec=_pod_spec,
        status=fields(
            **all_of(keep, "phase startTime resize"), nominatedNodeName=name, conditions=_conditions,
            **all_of(each(_container_status), "containerStatuses initContainerStatuses"),
            resourceClaimStatuses=each(fields(name=name, resourceClaimName=name)),
        ),
    ),
    "Namespace": _kind(_namespace_meta),
    "PriorityClass": _kind(value=keep, globalDefault=keep, preemptionPolicy=keep),
    "StorageClass": _kind(provisioner=keep, volumeBindingMode=keep, allowedTopologies=each(_topology_term)),
    "PersistentVolume": _kind(
        spec=fields(
            **all_of(name, "storageClassName volumeAttributesClassName"), **all_of(keep, "accessModes volumeMode"), capacity=amounts,
            claimRef=_reference, nodeAffinity=fields(required=node_selector), **_disks,
        ),
        status=fields(phase=keep),
    ),
    "PersistentVolumeClaim": _kind(spec=_claim_spec, status=fields(phase=keep)),
    "CSINode": _kind(spec=fields(drivers=each(_driver))),
    "CSIDriver": _kind(_meta, spec=fields(storageCapacity=keep)),
    "VolumeAttachment": _kind(spec=fields(attacher=keep, nodeName=name, source=fields(persistentVolumeName=name))),
    "CSIStorageCapacity": _kind(storageClassName=name, nodeTopology=selector, capacity=keep, maximumVolumeSize=keep),
    "Service": _kind(spec=fields(selector=labels)),
    "ReplicationController": _kind(spec=fields(selector=labels, template=_pod_template)),
    "ReplicaSet": _replicating,
    "StatefulSet": _replicating,
    "PodDisruptionBudget": _kind(
        spec=fields(selector=selector, minAvailable=keep, maxUnavailable=keep),
        status=fields(disruptionsAllowed=keep, expectedPods=keep, disruptedPods=_keys_renamed),
    ),
    "ResourceQuota": _kind(
        spec=fields(hard=_quota, scopes=keep, scopeSelector=fields(matchExpressions=each(_scope))), status=fields(hard=_quota, used=_quota)
    ),
    "LimitRange": _kind(spec=fields(limits=each(_limit))),
    "DeviceClass": _kind(spec=fields(selectors=described, extendedResourceName=keep)),
    "ResourceClaim": _kind(spec=_claimed, status=fields(allocation=_allocation, reservedFor=each(_user))),
    "ResourceClaimTemplate": _kind(spec=fields(metadata=fields(labels=labels), spec=_claimed)),
    "ResourceSlice": _kind(
        spec=fields(
            **all_of(keep, "driver allNodes perDeviceNodeSelection"), nodeName=name, nodeSelector=node_selector, sharedCounters=described,
            pool=fields(name=name, **all_of(keep, "generation resourceSliceCount")), devices=each(_device),
        )
    ),
}  # fmt: skip
"""Kind -> what of it is kept."""
