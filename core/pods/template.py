"""Pods as the scheduler compares them: all pods that scheduling cannot tell apart share one template."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import attrs

from ...api.objects import NO_STRINGS, Affinity, Map, Pod, PodAffinityTerm, PodSpec, WeightedPodAffinityTerm
from ..release import Release, Requests
from .claims import claim_keys

Port = tuple[str, str, int]
"""Host IP, protocol, port."""


@attrs.frozen
class Group:
    """What a selector can see of an existing pod: namespace, labels, and whether it is being deleted."""

    namespace: str
    labels: Map[str]
    terminating: bool = False


NO_AFFINITY = Affinity()


@attrs.frozen(eq=False)
class Template:
    """An equivalence class of pods, with everything that rules read worked out once.

    Equal templates are the same object, so a template is its own key.
    """

    pod: Pod
    """One of its pods; only what all share may be read from it."""
    number: int
    group: Group
    requests: Requests
    """What a pod of the class requests when it is scheduled."""
    footprint: Requests
    """What it counts on its node."""
    nonzero: tuple[int, int]
    """cpu and memory when it is scheduled, with defaults for absent requests."""
    nonzero_footprint: tuple[int, int]
    ports: tuple[Port, ...]
    """Its host ports, in order, defaults filled in."""
    claims: tuple[str, ...]
    """The claims that its volumes name, in order, as ``namespace/name``."""
    size: Hashable
    """What it adds to the sums of its node: templates of one size add the same."""
    selects_namespaces: bool = False
    """The namespace selectors of its pod affinity terms count."""
    memo: dict[Any, Any] = attrs.field(factory=dict)
    """What rules worked out for the class: for a rule's own use, keyed by the rule's name."""

    @property
    def spec(self) -> PodSpec:
        """The spec that all pods of the class share."""
        return self.pod.spec

    @property
    def namespace(self) -> str:
        return self.group.namespace

    @property
    def labels(self) -> Map[str]:
        return self.group.labels

    @property
    def affinity(self) -> Affinity:
        return self.pod.spec.affinity or NO_AFFINITY

    @property
    def has_pod_affinity(self) -> bool:
        """Whether a podAffinity or podAntiAffinity object is there, be it empty: "pods with affinity"."""
        return self.affinity.pod_affinity is not None or self.affinity.pod_anti_affinity is not None

    @property
    def required_affinity(self) -> tuple[PodAffinityTerm, ...]:
        affinity = self.affinity.pod_affinity
        return () if affinity is None else affinity.required

    @property
    def required_anti_affinity(self) -> tuple[PodAffinityTerm, ...]:
        affinity = self.affinity.pod_anti_affinity
        return () if affinity is None else affinity.required

    @property
    def preferred_affinity(self) -> tuple[WeightedPodAffinityTerm, ...]:
        affinity = self.affinity.pod_affinity
        return () if affinity is None else affinity.preferred

    @property
    def preferred_anti_affinity(self) -> tuple[WeightedPodAffinityTerm, ...]:
        affinity = self.affinity.pod_anti_affinity
        return () if affinity is None else affinity.preferred

    @property
    def node_selector(self) -> Map[str]:
        return self.pod.spec.node_selector or NO_STRINGS


@attrs.define(eq=False, slots=True)
class Entry:
    """One pod on a row (or nominated to one): the object, its class, and what changes from pod to pod."""

    pod: Pod
    template: Template
    nominated: bool = False
    """Added for a nomination alone; its ``spec.node_name`` is empty upstream."""

    @property
    def priority(self) -> int:
        return self.pod.priority


def host_ports(pod: Pod) -> Iterator[Port]:
    """The host ports that the containers ask for; init containers have none."""
    for container in pod.spec.containers:
        for port in container.ports:
            if port.host_port > 0:
                yield (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)


@attrs.define(eq=False)
class Templates:
    """Interns pods: equal in everything that scheduling reads, equal template. One per scheduler, as the release decides what counts."""

    release: Release
    gates: Any
    _known: dict[Hashable, Template] = attrs.field(factory=dict)
    _sizes: dict[Hashable, Hashable] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self._known)

    def of(self, pod: Pod) -> Template:
        """The template of *pod* as one that is to be scheduled."""
        return self._intern(pod, pod.spec.node_name)

    def _intern(self, pod: Pod, node_name: str) -> Template:
        key = (node_name, *self._key(pod))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._make(pod if pod.spec.node_name == node_name else pod.bound_to(node_name))
        return found

    def entry(self, pod: Pod, *, nominated: bool = False) -> Entry:
        """*pod* as it stands on a row; which row is not part of its class."""
        return Entry(pod, self._intern(pod, ""), nominated)

    @staticmethod
    def _key(pod: Pod) -> tuple[Hashable, ...]:
        spec, meta = pod.spec, pod.metadata
        return (
            pod.namespace, meta.labels, meta.deletion_timestamp is not None, meta.controller,
            spec.containers, spec.init_containers, spec.overhead, spec.node_selector, spec.affinity, spec.tolerations, spec.volumes,
            spec.topology_spread_constraints, spec.scheduling_gates,
            # Claims of generic ephemeral volumes go by the pod's own name.
            (pod.name, pod.uid) if any(volume.ephemeral is not None for volume in spec.volumes) else None,
        )  # fmt: skip

    def _make(self, pod: Pod) -> Template:
        release, gates = self.release, self.gates
        nonzero, footprint = release.incoming_nonzero(pod, gates), release.footprint_nonzero(pod, gates)
        requests = release.footprint(pod, gates)
        size = tuple(sorted(requests.items())), footprint["cpu"], footprint["memory"]
        return Template(
            pod=pod,
            number=len(self._known),
            group=Group(pod.namespace, pod.labels, pod.is_terminating),
            requests=release.incoming(pod, gates),
            footprint=requests,
            nonzero=(nonzero["cpu"], nonzero["memory"]),
            nonzero_footprint=(footprint["cpu"], footprint["memory"]),
            size=self._sizes.setdefault(size, size),
            ports=tuple(host_ports(pod)),
            claims=claim_keys(pod, release.volumes.ephemeral_claims),
            selects_namespaces=release.selects_namespaces,
        )
