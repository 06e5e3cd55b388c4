"""The parts of a cluster that its release does not read, or we do not judge: fields and kinds of newer
releases, and nodes of another release.

What a release reads follows from its cells and gates; for requests, from the release's own count of a pod
that has the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from msgspec.structs import replace

from ..algorithmprovider.extenders import UncalledExtender
from ..api.controlplane import affinity_terms
from ..api.meaning import BETA_ZONE, COMPARISONS, TOPOLOGY_ZONE
from ..api.objects import (
    Container,
    ContainerStatus,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    Device,
    DeviceClass,
    KubeObject,
    Map,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    PodSpec,
    PodStatus,
    Quantity,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceRequirements,
    ResourceSlice,
    StorageClass,
    TopologySpreadConstraint,
    VolumeAttachment,
    of_kind,
)
from ..api.reading import Notice, Unread
from ..api.words import count_of
from ..core.cycle import Algorithm
from ..core.pods import GATE as RESIZE
from ..core.pods import POD_LEVEL_GATE, by_reported_and_allocated, claim_keys
from ..core.release import Release
from ..framework.releases import (
    framework_release,
    is_auto,
    is_newest,
    is_of,
    judged_as,
    minor_of,
    nearest_release,
    telling_versions,
)
from .simulate import Scenario

ReadsField = Callable[[Algorithm], object]

NO_CSI_NODES = "no CSINode in the input, so limits of CSI volumes are ignored (kubectl get csinodes)"
NO_NAMESPACES = "no Namespace in the input, although pods select some by labels (kubectl get namespaces)"
CAPACITY_STAYS = (
    "the storage capacity its driver publishes (CSIStorageCapacity) is not reduced by volumes created here, so more pods may be placed than"
    " there is room for"
)
SPREADING = "EvenPodsSpread"


# --- fields -------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class NewerField:
    """A field that not every release reads. Without its gate a release does not read it."""

    path: str
    thing: str
    """The field in words."""
    gate: str
    """The gate that it needs in releases that have the gate; empty for none."""
    has: Callable[[Any], object]
    """Whether an object of the kind has it."""
    is_read: ReadsField = attrs.field()
    """Whether a release reads it; by default as its gate says."""
    otherwise: str = ""
    """Why it is not read although its gate is on."""
    kind: type[KubeObject] = Pod

    @is_read.default
    def _is_enabled_by_gate(self) -> ReadsField:
        return lambda algorithm: algorithm.enabled(self.gate)

    def unread(self, where: str, algorithm: Algorithm) -> Unread:
        """A notice that *algorithm* does not read it."""
        version = algorithm.release.version
        them = "them" if self.thing.endswith("s") else "it"
        gate = self.gate
        what = f"release {version} ignores {self.path}"
        reason = f"{version} does not support {them}"
        missing_gate = ""
        if algorithm.enabled(gate):
            what = f"{self.path} is ignored"
            reason = self.otherwise or f"kubeclassic does not support {them}"
        elif gate in algorithm.gates:
            reason = f"{version} supports {them} only with feature gate {gate}"
            if gate in algorithm.release.configuration.not_modelled:
                what += f" without feature gate {gate}"
                reason += ", and that is not modelled"
            else:
                what += f" without --feature-gates {gate}=true"
                missing_gate = gate
        return Unread(where, what, self.thing, reason, self.path, version, missing_gate)


def _cpu_of(algorithm: Algorithm, pod: Pod) -> int:
    """The millicores that a pod on a node counts with."""
    return int(algorithm.release.footprint(pod, algorithm.gates).get("cpu", 0))


def _reads_resizes(algorithm: Algorithm) -> bool:
    """Whether a container counts with the resources in its status."""
    status = PodStatus(
        container_statuses=(ContainerStatus(name="main", resources=CPU_ASKED, allocated_resources=CPU),)
    )
    pod = Pod(spec=PodSpec(containers=(Container(name="main"),)), status=status)
    return bool(_cpu_of(algorithm, algorithm.release.resized(pod, algorithm.gates)))


def _reads_claims(algorithm: Algorithm) -> bool:
    """Whether a plugin allocates devices."""
    return any(rule.name == "DynamicResources" for rule in algorithm.predicates)


def _constraints(has: Callable[[TopologySpreadConstraint], object]) -> Callable[[Pod], bool]:
    """Whether a spread constraint of a pod has something."""
    return lambda pod: any(map(has, pod.spec.topology_spread_constraints))


def _is_unmerged(pod: Pod, term: PodAffinityTerm) -> bool:
    """Whether a term of *pod* has label keys that no API server has put into its selector."""
    selector = term.label_selector
    return selector is not None and not pod.labels.keys() & {
        *term.match_label_keys,
        *term.mismatch_label_keys,
    } <= {
        expression.key for expression in selector.match_expressions if expression.operator in ("In", "NotIn")
    }


CPU = Map(cpu=Quantity.parse("1"))
CPU_ASKED = ResourceRequirements(requests=CPU)
ALONE = PodSpec(containers=(Container(name="main", resources=CPU_ASKED),))
WITH_SIDECAR = replace(
    ALONE, init_containers=(Container(name="sidecar", resources=CPU_ASKED, restart_policy="Always"),)
)
NAMESPACES = NewerField(
    "namespaceSelector of pod affinity",
    "selectors of namespaces",
    "",
    lambda pod: (
        pod.spec.affinity and any(term.namespace_selector is not None for term in affinity_terms(pod))
    ),
    lambda algorithm: algorithm.release.selects_namespaces,
)
FIELDS = (
    NewerField(
        "spec.preemptionPolicy",
        "preemption policy",
        "NonPreemptingPriority",
        lambda pod: pod.spec.preemption_policy == "Never",
        lambda algorithm: (
            algorithm.release.preemption.never_policy and algorithm.gates.get("NonPreemptingPriority", True)
        ),
    ),
    NewerField(
        "spec.overhead",
        "overhead",
        "PodOverhead",
        lambda pod: pod.spec.overhead,
        lambda algorithm: _cpu_of(algorithm, Pod(spec=PodSpec(overhead=CPU))),
    ),
    NewerField(
        "spec.schedulingGates",
        "scheduling gates",
        "PodSchedulingReadiness",
        lambda pod: pod.spec.scheduling_gates,
    ),
    NewerField(
        "spec.resourceClaims",
        "resource claims",
        "DynamicResourceAllocation",
        lambda pod: pod.spec.resource_claims,
        _reads_claims,
        "the profile does not run plugin DynamicResources",
    ),
    NewerField(
        "spec.resources",
        "pod-level requests",
        "PodLevelResources",
        lambda pod: pod.spec.requests,
        lambda algorithm: _cpu_of(algorithm, Pod(spec=PodSpec(resources=CPU_ASKED))),
    ),
    NewerField(
        "spec.topologySpreadConstraints",
        "spread constraints",
        SPREADING,
        lambda pod: pod.spec.topology_spread_constraints,
        lambda algorithm: (
            framework_release(algorithm.release.version) is not None
            or any(
                algorithm.enabled(effect.gate)
                for effect in algorithm.release.gate_effects
                if SPREADING in effect.adds
            )
        ),
    ),
    NewerField(
        "minDomains of topologySpreadConstraints",
        "least numbers of domains",
        "MinDomainsInPodTopologySpread",
        _constraints(lambda constraint: constraint.min_domains is not None),
    ),
    NewerField(
        "matchLabelKeys of topologySpreadConstraints",
        "label keys of spread constraints",
        "MatchLabelKeysInPodTopologySpread",
        _constraints(lambda constraint: constraint.match_label_keys),
    ),
    NewerField(
        "nodeAffinityPolicy or nodeTaintsPolicy of topologySpreadConstraints",
        "spread constraints' node policies",
        "NodeInclusionPolicyInPodTopologySpread",
        _constraints(
            lambda constraint: (
                constraint.node_affinity_policy not in (None, "", "Honor")
                or constraint.node_taints_policy not in (None, "", "Ignore")
            )
        ),
    ),
    NAMESPACES,
    NewerField(
        "matchLabelKeys of pod affinity",
        "label keys of affinity terms",
        "MatchLabelKeysInPodAffinity",
        lambda pod: pod.spec.affinity and any(_is_unmerged(pod, term) for term in affinity_terms(pod)),
        lambda algorithm: False,
    ),
    NewerField(
        "spec.volumes[].ephemeral",
        "ephemeral volumes",
        "",
        lambda pod: any(volume.ephemeral is not None for volume in pod.spec.volumes),
        lambda algorithm: algorithm.release.volumes.ephemeral_claims,
    ),
    NewerField(
        "spec.initContainers[].restartPolicy",
        "sidecars",
        "",
        lambda pod: any(container.is_sidecar for container in pod.spec.init_containers),
        lambda algorithm: _cpu_of(algorithm, Pod(spec=WITH_SIDECAR)) > _cpu_of(algorithm, Pod(spec=ALONE)),
    ),
    NewerField(
        "status.containerStatuses[].resources",
        "resizes",
        RESIZE,
        lambda pod: (
            (pod.status.container_statuses or pod.status.init_container_statuses)
            and by_reported_and_allocated(pod, {RESIZE: True}) is not pod
        ),
        _reads_resizes,
    ),
    NewerField(
        "status.resources",
        "pod-level resizes",
        POD_LEVEL_GATE,
        lambda pod: pod.spec.requests and pod.status.resources is not None,
    ),
    NewerField(
        "restartPolicyRules of containers",
        "restart rules",
        "NodeDeclaredFeatures",
        lambda pod: any(container.restarts_all for container in pod.spec.all_containers),
    ),
    NewerField(
        "operator Gt or Lt of tolerations",
        "comparing tolerations",
        "TaintTolerationComparisonOperators",
        lambda pod: any(toleration.operator in COMPARISONS for toleration in pod.spec.tolerations),
    ),
    NewerField(
        "spec.volumes[].image",
        "image volumes",
        "",
        lambda pod: any(volume.image is not None for volume in pod.spec.volumes),
        lambda algorithm: algorithm.release.framework.volume_images_count,
    ),
)
"""Fields of pods that not every release reads."""


def _feature(
    path: str, thing: str, gate: str, has: Callable[[Any], object], kind: type[KubeObject] = ResourceSlice
) -> NewerField:
    def is_read(algorithm: Algorithm) -> bool:
        return gate in algorithm.release.devices.gated and algorithm.enabled(gate)

    return NewerField(path, thing, gate, has, is_read, kind=kind)


def _devices(has: Callable[[Device], object]) -> Callable[[ResourceSlice], bool]:
    return lambda resource_slice: any(map(has, resource_slice.spec.devices))


FEATURES = (
    _feature(
        "spec.devices[].taints", "device taints", "DRADeviceTaints", _devices(lambda device: device.taints)
    ),
    _feature(
        "spec.devices[].consumesCounters",
        "counters",
        "DRAPartitionableDevices",
        lambda resource_slice: (
            resource_slice.spec.shared_counters
            or any(device.consumes_counters for device in resource_slice.spec.devices)
        ),
    ),
    _feature(
        "spec.devices[].allowMultipleAllocations",
        "shared devices",
        "DRAConsumableCapacity",
        _devices(lambda device: device.allow_multiple_allocations),
    ),
    _feature(
        "capacity of spec.devices.requests",
        "capacity",
        "DRAConsumableCapacity",
        lambda claim: any(
            subrequest.capacity for request in claim.spec.devices.requests for subrequest in request.asks
        ),
        ResourceClaim,
    ),
    _feature(
        "spec.devices[].bindingConditions",
        "binding conditions",
        "DRADeviceBindingConditions",
        _devices(lambda device: device.binding_conditions),
    ),
    _feature(
        "spec.extendedResourceName",
        "extended resource",
        "DRAExtendedResource",
        lambda device_class: device_class.spec.extended_resource_name,
        DeviceClass,
    ),
)
"""Fields of devices that not every release reads."""

KINDS: Mapping[type[KubeObject], Callable[[Release], bool]] = {
    CSINode: lambda release: release.volumes.csi_reads_migration,
    CSIStorageCapacity: lambda release: release.volumes.checks_storage_capacity,
    VolumeAttachment: lambda release: release.volumes.counts_attachments,
}
"""Kinds that not every release reads -> whether one does."""
DEVICE_KINDS = (DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice)


def release_notices(
    algorithm: Algorithm, objects: Sequence[KubeObject], pending: Sequence[Pod]
) -> Iterator[Notice]:
    """A notice for each place of *objects* and of the *pending* pods with parts that the release does not
    read."""
    yield from _zones(algorithm.release, objects)
    # Configured extenders that are not called, as no option asks for it.
    count = sum(isinstance(extender, UncalledExtender) for extender in algorithm.extenders)
    if count:
        are, their = ("are", "their") if count > 1 else ("is", "its")
        extenders = count_of(count, "configured extender")
        yield Unread(
            "", f"{extenders} {are} not called, so {their} answers are ignored (see --extenders of simulate)"
        )
    yield from (Unread("", sentence) for sentence in algorithm.unread)
    unread = [(field, field.unread("", algorithm)) for field in FIELDS if not field.is_read(algorithm)]
    pods = [*of_kind(Pod, objects), *pending]
    for pod in pods:
        for field, notice in unread:
            if field.has(pod):
                yield attrs.evolve(notice, where=f"Pod {pod.key}")
    yield from _kinds(algorithm, objects)
    # Kinds that this release reads and pending pods could need.
    if KINDS[CSINode](algorithm.release) and CSINode not in map(type, objects):
        volumes = [volume for pod in pending for volume in pod.spec.volumes]
        has_csi = any(item.spec.csi is not None for item in of_kind(PersistentVolume, objects))
        if any(
            volume.csi is not None or (has_csi and volume.persistent_volume_claim is not None)
            for volume in volumes
        ):
            yield Notice("", NO_CSI_NODES)
    if (
        algorithm.release.selects_namespaces
        and Namespace not in map(type, objects)
        and any(map(NAMESPACES.has, pods))
    ):
        yield Notice("", NO_NAMESPACES)
    # A single pod has all published capacity to itself.
    if len(published := list(_published(algorithm, objects, pending))) > 1:
        yield from published


def _kinds(algorithm: Algorithm, objects: Sequence[KubeObject]) -> Iterator[Notice]:
    """Objects of kinds that the release does not read, and features of devices that do not count."""
    unread = {kind for kind, reads in KINDS.items() if not reads(algorithm.release)}
    features = FEATURES if _reads_claims(algorithm) else ()
    if not features:
        unread.update(DEVICE_KINDS)
    for item in objects:
        if type(item) in unread:
            yield Notice(f"{item.kind} {item.key}", f"release {algorithm.release.version} ignores this kind")
        for feature in features:
            if type(item) is feature.kind and feature.has(item) and not feature.is_read(algorithm):
                yield feature.unread(f"{item.kind} {item.key}", algorithm)


def fields_of(pod: Pod) -> list[NewerField]:
    """The fields of newer releases that *pod* has. Most pods have none."""
    return [field for field in FIELDS if field.has(pod)]


# --- nodes and other objects --------------------------------------------------------------------------------


def has_newer_zone_alone(node: Node) -> bool:
    """Whether older releases do not read the zone of *node*. Other notices about single nodes are about their
    versions alone."""
    return TOPOLOGY_ZONE in node.labels and BETA_ZONE not in node.labels


def _zones(release: Release, objects: Iterable[KubeObject]) -> Iterator[Notice]:
    if release.zone_key({TOPOLOGY_ZONE: "a"}):
        return
    what = f"release {release.version} ignores its zone: it has label {TOPOLOGY_ZONE} and not {BETA_ZONE}"
    reason = f"{release.version} does not support label {TOPOLOGY_ZONE}"
    for item in objects:
        if isinstance(item, Node) and has_newer_zone_alone(item):
            yield Unread(f"Node {item.name}", what, "zone", reason, "metadata.labels", release.version)


def _published(algorithm: Algorithm, objects: Sequence[KubeObject], pods: Iterable[Pod]) -> Iterator[Notice]:
    """A notice for each of *pods* with a volume still to be made from capacity that its driver publishes."""
    cells = algorithm.release.volumes
    kinds = {item.storage_class_name for item in of_kind(CSIStorageCapacity, objects)}
    if (
        not kinds
        or not cells.checks_storage_capacity
        or not algorithm.gates.get(cells.storage_capacity_gate, True)
    ):
        return
    drivers = {item.name for item in of_kind(CSIDriver, objects) if item.spec.storage_capacity}
    classes = {
        item.name
        for item in of_kind(StorageClass, objects)
        if item.name in kinds and item.provisioner in drivers
    }
    claims = {item.key: item for item in of_kind(PersistentVolumeClaim, objects)}
    for pod in pods:
        for key in claim_keys(pod, ephemeral=True) if classes else ():
            claim = claims.get(key)
            if claim is None or (claim.storage_class in classes and not claim.spec.volume_name):
                yield Notice(f"Pod {pod.key}", CAPACITY_STAYS)
                break


def other_release(release: Release, nodes: Iterable[Node]) -> Iterator[Notice]:
    """A notice for each node of another release than *release*, which is the default that was not asked
    for."""
    for node in nodes:
        version = node.status.kubelet_version
        if not is_of(version, release):
            reason = f"its kubelet is of {minor_of(version)}, and the release is {release.version} by default"
            yield Notice(f"Node {node.name}", f"{reason} (--release auto takes that of the nodes)")


def auto_notice(release: Release, nodes: Iterable[Node], server: str = "") -> Iterator[Unread]:
    """A notice that ``auto`` took another release than that of the newest node, which is not known. If no
    node states a version, that of the API *server* counts."""
    newest = _newest(nodes, server)
    if newest is not None and not is_of(newest[1], release):
        nearest = f"{release.version}, {'the newest' if is_newest(release) else 'the nearest'} release that is known"
        minor = minor_of(newest[1])
        reason = f"the nodes run {minor}, and are"
        if server:
            reason = f"the API server is of {minor}, and the cluster is"
        yield Unread("", f"{reason} evaluated as {nearest}", release=release.version)


def with_release_notices(
    scenario: Scenario,
    algorithms: Sequence[Algorithm],
    by_default: Sequence[Algorithm] = (),
    by_nodes: Sequence[Algorithm] = (),
    named: Iterable[str | None] = (),
) -> Scenario:
    """*scenario* with warnings of parts that some of *algorithms* do not read.

    *by_default*: those whose release was not named; *by_nodes*: those that have the release of the nodes;
    *named*: releases as they were named, perhaps by another patch level than theirs.
    """
    notices = [
        *(
            Notice("", sentence)
            for name in named
            if name is not None and not is_auto(name) and (sentence := judged_as(name))
        ),
        *(notice for algorithm in by_nodes for notice in auto_notice(algorithm.release, scenario.nodes)),
        *(notice for algorithm in by_default for notice in other_release(algorithm.release, scenario.nodes)),
        *(
            notice
            for algorithm in algorithms
            for notice in release_notices(algorithm, scenario.objects, scenario.pending)
        ),
    ]
    return attrs.evolve(scenario, warnings=(*scenario.warnings, *dict.fromkeys(notices)))


def with_pod_notices(scenario: Scenario, algorithm: Algorithm, pods: Sequence[Pod]) -> Scenario:
    """*scenario* with warnings of parts that *algorithm* does not read of *pods*, which are to come."""
    notices = [
        *(release_notices(algorithm, scenario.objects, pods) if pods else ()),
        *_published(algorithm, scenario.objects, pods),
    ]
    return attrs.evolve(scenario, warnings=tuple(dict.fromkeys([*scenario.warnings, *notices])))


def input_notices(
    objects: Sequence[KubeObject], algorithm: Algorithm, release: str | None
) -> tuple[Notice, ...]:
    """The warnings about the release for the *objects* of a replay; *release*: as it was given."""
    nodes = of_kind(Node, objects)
    pods = of_kind(Pod, objects)
    notices = [
        *(auto_notice(algorithm.release, nodes) if is_auto(release) else ()),
        *release_notices(algorithm, [item for item in objects if not isinstance(item, Pod)], pods),
        *(other_release(algorithm.release, nodes) if release is None else ()),
    ]
    return tuple(dict.fromkeys(notices))


def _newest(nodes: Iterable[Node], server: str) -> tuple[Release, str] | None:
    """The :func:`nearest_release` to the newest node, or else to the API server."""
    return nearest_release(telling_versions([node.status.kubelet_version for node in nodes], server))


def auto_reason(release: Release, nodes: Iterable[Node], server: str = "") -> str:
    """The reason why ``auto`` took *release*, in a line; *server*: the version of the API server, where no
    node says one."""
    newest = _newest(nodes, server)
    silent = "no node says a release in status.nodeInfo.kubeletVersion"
    if newest is None:
        return f"release {release.version} by default: {silent}"
    why = f"{silent}, and the API server runs {server}" if server else f"the newest node runs {newest[1]}"
    reason = f"release {release.version}: {why}"
    return reason if is_of(newest[1], release) else f"{reason}, to which it is the nearest that is known"
