"""What of a cluster its release does not read: fields and kinds of newer releases, and nodes that run another release.

What a release reads follows from its cells and gates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import attrs

from ..algorithmprovider.cells import ZONE_LABEL
from ..api.objects import (
    CSINode,
    CSIStorageCapacity,
    KubeObject,
    Namespace,
    Node,
    PersistentVolume,
    Pod,
    PodAffinityTerm,
    PodSpec,
)
from ..api.objects.metadata import Map
from ..api.objects.quantity import Quantity
from ..api.reading.notices import Notice
from ..core.release import Release
from ..core.rule import Algorithm
from ..framework.releases import FRAMEWORK_RELEASES, TOPOLOGY_ZONE, is_of, minor_of, nearest_release

Known: TypeAlias = Callable[[Algorithm], bool]

NO_CSI_NODES = "got no CSINode in the input, so limits of CSI volumes do not count (kubectl get csinodes)"
NO_NAMESPACES = "got no Namespace in the input, though pods select some by labels (kubectl get namespaces)"
SPREADING = "EvenPodsSpread"


@attrs.frozen
class NewerField:
    """A field of a pod that not every release reads."""

    path: str
    is_read: Known
    gate: str = ""
    """The gate that it needs in releases that have the gate."""


def _by(gate: str) -> Known:
    return lambda algorithm: algorithm.enabled(gate)


def _never(algorithm: Algorithm) -> bool:
    return False


def _reads_overhead(algorithm: Algorithm) -> bool:
    """Whether a pod that has nothing but overhead has a footprint."""
    pod = Pod(spec=PodSpec(overhead=Map(cpu=Quantity.parse("1"))))
    return bool(algorithm.release.footprint(pod, algorithm.gates).get("cpu"))


def _reads_spreading(algorithm: Algorithm) -> bool:
    gates = [effect.gate for effect in algorithm.release.gate_effects if SPREADING in effect.adds]
    version = algorithm.release.version
    return version in FRAMEWORK_RELEASES or any(map(algorithm.enabled, gates))


def _reads_never_policy(algorithm: Algorithm) -> bool:
    gate = "NonPreemptingPriority"
    return algorithm.release.preemption.never_policy and (gate not in algorithm.gates or algorithm.enabled(gate))


PREEMPTION_POLICY = NewerField("spec.preemptionPolicy", _reads_never_policy, "NonPreemptingPriority")
OVERHEAD = NewerField("spec.overhead", _reads_overhead, "PodOverhead")
SCHEDULING_GATES = NewerField("spec.schedulingGates", _by("PodSchedulingReadiness"), "PodSchedulingReadiness")
RESOURCE_CLAIMS = NewerField("spec.resourceClaims", _never)
POD_RESOURCES = NewerField("spec.resources", _never)
SIDECARS = NewerField("spec.initContainers[].restartPolicy", _never)
EPHEMERAL = NewerField("spec.volumes[].ephemeral", lambda algorithm: algorithm.release.volumes.ephemeral_claims)
NAMESPACES = NewerField("namespaceSelector of pod affinity", lambda algorithm: algorithm.release.selects_namespaces)
AFFINITY_KEYS = NewerField("matchLabelKeys of pod affinity", _never)
CONSTRAINTS = NewerField("spec.topologySpreadConstraints", _reads_spreading, SPREADING)
MIN_DOMAINS = NewerField("minDomains of topologySpreadConstraints", _by("MinDomainsInPodTopologySpread"), "MinDomainsInPodTopologySpread")
LABEL_KEYS = NewerField(
    "matchLabelKeys of topologySpreadConstraints", _by("MatchLabelKeysInPodTopologySpread"), "MatchLabelKeysInPodTopologySpread"
)
INCLUSION = NewerField(
    "nodeAffinityPolicy or nodeTaintsPolicy of topologySpreadConstraints",
    _by("NodeInclusionPolicyInPodTopologySpread"),
    "NodeInclusionPolicyInPodTopologySpread",
)

KINDS: Mapping[type[KubeObject], Callable[[Release], bool]] = {
    CSINode: lambda release: release.volumes.csi_reads_migration,
    CSIStorageCapacity: lambda release: release.volumes.checks_storage_capacity,
}
"""Kinds that not every release reads -> whether one does."""


def release_notices(algorithm: Algorithm, objects: Sequence[KubeObject], pending: Sequence[Pod]) -> Iterator[Notice]:
    """What of *objects* and of the waiting pods *pending* the release does not read, one notice a place."""
    yield from _zones(algorithm.release, objects)
    used: set[str] = set()
    asked: dict[NewerField, str] = {}
    for pod in (*(item for item in objects if type(item) is Pod), *pending):
        for field in newer_fields(pod.spec):
            used.add(field.path)
            if field not in asked:
                asked[field] = "" if field.is_read(algorithm) else _unread(field, algorithm)
            if asked[field]:
                yield Notice(f"Pod {pod.key}", asked[field])
    for item in objects:
        reads = KINDS.get(type(item))
        if reads is not None and not reads(algorithm.release):
            yield Notice(f"{item.kind} {item.key}", f"release {algorithm.release.version} does not read this kind")
    yield from _missing(algorithm.release, objects, pending, NAMESPACES.path in used)


def _unread(field: NewerField, algorithm: Algorithm) -> str:
    told = f"release {algorithm.release.version} does not read {field.path}"
    return f"{told} without --feature-gates {field.gate}=true" if field.gate in algorithm.gates else told


def newer_fields(spec: PodSpec) -> list[NewerField]:
    """The fields of newer releases that a pod has. Most pods have none, so most of these questions are one look each."""
    found = []
    if spec.preemption_policy == "Never":
        found.append(PREEMPTION_POLICY)
    if spec.overhead:
        found.append(OVERHEAD)
    if spec.scheduling_gates:
        found.append(SCHEDULING_GATES)
    if spec.resource_claims:
        found.append(RESOURCE_CLAIMS)
    if spec.requests:
        found.append(POD_RESOURCES)
    if spec.topology_spread_constraints:
        found += _of_constraints(spec)
    if spec.affinity is not None:
        found += _of_affinity(spec)
    if spec.volumes and any(volume.ephemeral is not None for volume in spec.volumes):
        found.append(EPHEMERAL)
    if spec.init_containers and any(container.restart_policy == "Always" for container in spec.init_containers):
        found.append(SIDECARS)
    return found


def _of_constraints(spec: PodSpec) -> Iterator[NewerField]:
    constraints = spec.topology_spread_constraints
    yield CONSTRAINTS
    if any(one.min_domains is not None for one in constraints):
        yield MIN_DOMAINS
    if any(one.match_label_keys for one in constraints):
        yield LABEL_KEYS
    if any((one.node_affinity_policy or "Honor", one.node_taints_policy or "Ignore") != ("Honor", "Ignore") for one in constraints):
        yield INCLUSION


def _of_affinity(spec: PodSpec) -> Iterator[NewerField]:
    terms = list(_terms(spec))
    if any(term.namespace_selector is not None for term in terms):
        yield NAMESPACES
    if any(term.match_label_keys or term.mismatch_label_keys for term in terms):
        yield AFFINITY_KEYS


def _terms(spec: PodSpec) -> Iterator[PodAffinityTerm]:
    affinity = spec.affinity
    for part in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        if part is not None:
            yield from part.required
            yield from (preferred.pod_affinity_term for preferred in part.preferred)


# --- nodes and other objects ----------------------------------------------------------------------------------------


def _zones(release: Release, objects: Iterable[KubeObject]) -> Iterator[Notice]:
    if release.zone_key({TOPOLOGY_ZONE: "a"}):
        return
    what = f"release {release.version} does not read its zone: it has label {TOPOLOGY_ZONE} and not {ZONE_LABEL}"
    for item in objects:
        if isinstance(item, Node) and TOPOLOGY_ZONE in item.labels and ZONE_LABEL not in item.labels:
            yield Notice(f"Node {item.name}", what)


def _missing(release: Release, objects: Sequence[KubeObject], pending: Sequence[Pod], selects_namespaces: bool) -> Iterator[Notice]:
    """Kinds that this release reads and waiting pods could need."""
    kinds = {type(item) for item in objects}
    if KINDS[CSINode](release) and CSINode not in kinds and _use_csi(objects, pending):
        yield Notice("", NO_CSI_NODES)
    if release.selects_namespaces and selects_namespaces and Namespace not in kinds:
        yield Notice("", NO_NAMESPACES)


def _use_csi(objects: Iterable[KubeObject], pending: Iterable[Pod]) -> bool:
    """Whether waiting pods have claims, in a cluster with volumes of CSI drivers, or such volumes themselves."""
    volumes = [volume for pod in pending for volume in pod.spec.volumes]
    if any(volume.csi is not None for volume in volumes):
        return True
    has_claims = any(volume.persistent_volume_claim for volume in volumes)
    return has_claims and any(item.spec.source.csi is not None for item in objects if isinstance(item, PersistentVolume))


def other_release(release: Release, nodes: Iterable[Node]) -> Iterator[Notice]:
    """A notice for each node of another release than *release*, which is the default that nobody asked for."""
    for node in nodes:
        version = node.status.kubelet_version
        if not is_of(version, release):
            told = f"its kubelet is of {minor_of(version)}, and the release is {release.version} by default"
            yield Notice(f"Node {node.name}", f"{told} (--release auto takes that of the nodes)")


def auto_told(release: Release, nodes: Iterable[Node]) -> str:
    """Why ``auto`` took *release*, in a line."""
    found = nearest_release(node.status.kubelet_version for node in nodes)
    if found is None:
        return f"release {release.version}, the default: no node says status.nodeInfo.kubeletVersion"
    told = f"release {release.version}: the newest node runs {found[1]}"
    return told if is_of(found[1], release) else f"{told}, to which it is the nearest that is known"
