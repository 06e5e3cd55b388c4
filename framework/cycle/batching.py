"""Opportunistic batching: a pod may take the next best node of an equal pod that was scored in the cycle
before.

Pods are equal if their *signatures* are, which consist of all that the plugins of the profile read of them. A
pod has none if a plugin reads more than it can express. Upstream: pkg/scheduler/framework/runtime/batch.go;
k8s.io/kube-scheduler/framework/signers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.objects import DEFAULT_SCHEDULER, NodeSelectorTerm, Volume
from ...core.decision import Details, judge
from ...priorities.imagelocality import normalized_image_name
from ..plugin import OURS, Batch, FrameworkCycle, Rows, Scores, StateKey, Template, is_scalar_resource
from ..profile import Profile

GATE = "OpportunisticBatching"
POINTS = ("preFilter", "filter", "preScore", "score")
UNSIGNED = object()
"""A part of a signature for pods that have no signature."""


# --- signatures ---------------------------------------------------------------------------------------------


def _tolerations(plugin: Any, pod: Template) -> Hashable:
    return tuple(sorted(pod.spec.tolerations, key=lambda toleration: (toleration.key, toleration.value)))


def _node_affinity(plugin: Any, pod: Template) -> Hashable:
    affinity = pod.affinity.node_affinity
    if affinity is None:
        return None, pod.spec.node_selector
    terms = () if affinity.required is None else affinity.required.node_selector_terms
    preferred = sorted(
        repr((preferred_term.weight, _term(preferred_term.preference)))
        for preferred_term in affinity.preferred
    )
    return tuple(sorted(repr(_term(term)) for term in terms)), tuple(preferred), pod.spec.node_selector


def _term(term: NodeSelectorTerm) -> list[list[str]]:
    return [
        sorted(
            repr((requirement.key, requirement.operator, sorted(requirement.values)))
            for requirement in requirements
        )
        for requirements in (term.match_expressions, term.match_fields)
    ]


def _ports(plugin: Any, pod: Template) -> Hashable:
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return frozenset(port.host_port for container in containers for port in container.ports if port.host_port)


def _requests(plugin: Any, pod: Template) -> Hashable:
    if pod.device_resources or (
        plugin.handle.cells.extended_devices_unsign and plugin.handle.enabled("DRAExtendedResource")
    ):
        return UNSIGNED
    # Upstream: a scalar of zero is a request of its own, unlike none; of cpu and the like it is not.
    return frozenset(item for item in pod.requests.items() if item[1] or is_scalar_resource(item[0]))


def _images(plugin: Any, pod: Template) -> Hashable:
    return frozenset(
        normalized_image_name(container.image)
        for container in (*pod.spec.containers, *pod.spec.init_containers)
    )


def _labels(plugin: Any, pod: Template) -> Hashable:
    if pod.has_pod_affinity:
        return UNSIGNED
    return None if plugin.args.ignore_preferred_terms_of_existing_pods else pod.labels


def _constraints(plugin: Any, pod: Template) -> Hashable:
    return UNSIGNED if pod.spec.topology_spread_constraints or plugin.defaults else None


def _nothing(plugin: Any, pod: Template) -> Hashable:
    return None


SIGNERS: Mapping[str, Callable[[Any, Template], Hashable]] = {
    "DynamicResources": lambda plugin, pod: UNSIGNED if pod.spec.resource_claims else None,
    "ImageLocality": _images,
    "InterPodAffinity": _labels,
    "NodeAffinity": _node_affinity,
    "NodeDeclaredFeatures": lambda plugin, pod: plugin.needs(pod.spec),
    "NodeName": lambda plugin, pod: pod.spec.node_name,
    "NodePorts": _ports,
    "NodeResourcesBalancedAllocation": _requests,
    "NodeResourcesFit": _requests,
    "NodeUnschedulable": _tolerations,
    "NodeVolumeLimits": _nothing,
    "PodTopologySpread": _constraints,
    "TaintToleration": _tolerations,
    "VolumeBinding": _nothing,
    "VolumeRestrictions": _nothing,
    "VolumeZone": _nothing,
}
"""Plugin that can sign -> the parts of a pod that it reads. Volumes are left out, as pods of one template
differ in them."""
_NO_SOURCE = Volume()
READ_VOLUMES = frozenset({"NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone"})


@attrs.frozen(eq=False, repr=False)
class Signer:
    """The signatures of a profile's pods."""

    plugins: tuple[Any, ...]
    reads_volumes: bool
    slot: StateKey[Hashable] = attrs.field(factory=lambda: StateKey("signature"))

    @classmethod
    def of(cls, profile: Profile, has_extenders: bool) -> Signer | None:
        """The signer of *profile*; None where no pod can have a signature."""
        plugins = {plugin.name: plugin for point in POINTS for plugin in profile.points[point]}
        can_sign = all(
            name in SIGNERS and type(plugin).__module__.startswith(OURS) for name, plugin in plugins.items()
        )
        if has_extenders or not can_sign or not profile.handle.enabled(GATE):
            return None
        spread = plugins.get("PodTopologySpread")
        if spread is not None and spread.defaults:
            return None
        return cls(tuple(plugins.values()), not READ_VOLUMES.isdisjoint(plugins))

    def of_template(self, pod: Template) -> Hashable:
        """The signature of a template's pods in the profile, without their volumes; None: they have none."""
        if self.slot not in pod.notes:
            parts = tuple(SIGNERS[plugin.name](plugin, pod) for plugin in self.plugins)
            pod.notes[self.slot] = None if UNSIGNED in parts else parts
        signature: Hashable = pod.notes[self.slot]
        return signature

    def sign(self, cycle: FrameworkCycle) -> Hashable:
        """The signature of the pod of *cycle*; None: it has none."""
        template_signature = self.of_template(cycle.template)
        if template_signature is None or not self.reads_volumes:
            return template_signature
        # Config maps and secrets do not count.
        sources = (replace(volume, name="") for volume in cycle.pod.spec.volumes)
        return template_signature, tuple(sorted(repr(source) for source in sources if source != _NO_SOURCE))


# --- what is kept -------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class StoredBatch:
    """The hints that a profile's latest cycle with a host leaves for the next one."""

    signature: Hashable
    cycle: int
    """The number of that cycle."""
    host: str
    rest: tuple[tuple[int, str], ...]
    """The scored nodes that no pod has taken yet, with their totals, in heap order; empty: none are left."""


@attrs.define(eq=False, repr=False)
class Batches:
    """The batches of all profiles of a scheduler that sign pods."""

    signers: Mapping[str, Signer]
    on_undo: Callable[..., None]
    """Called with a function that undoes a step, and its arguments."""
    number: int = 0
    """The number of the latest cycle."""
    kept: dict[str, StoredBatch] = attrs.Factory(dict)
    """Profile -> its stored batch."""

    def begin(self) -> None:
        """A cycle begins."""
        self.on_undo(setattr, self, "number", self.number)
        self.number += 1

    def _keep(self, profile: str, batch: StoredBatch) -> None:
        self.on_undo(setattr, self, "kept", self.kept)
        self.kept = {**self.kept, profile: batch}

    def signs(self, cycle: FrameworkCycle, profile: str) -> bool:
        """Whether the pod of *cycle* has a signature."""
        signer = self.signers.get(profile)
        return signer is not None and signer.of_template(cycle.template) is not None

    def hint(self, cycle: FrameworkCycle, profile: str) -> str:
        """The node that the pod of *cycle* may try first; empty: none. It is taken off the batch, whether or
        not it is tried."""
        batch = self.kept.get(profile)
        if (
            batch is None
            or not batch.rest
            or batch.cycle + 1 != self.number
            or self.signers[profile].sign(cycle) != batch.signature
        ):
            return ""
        row = cycle.table.row_of.get(batch.host)
        if row is None or not cycle.table.has_node[row]:
            return ""
        findings = judge(cycle, Batch(cycle.table, np.array([row], np.intp)), False)
        if findings.fits[0] or findings.error(0) is not None:
            return ""
        hint, rest = _pop(list(batch.rest))
        self._keep(profile, attrs.evolve(batch, rest=tuple(rest)))
        return hint

    def store(self, cycle: FrameworkCycle, details: Details, host: str) -> None:
        """Update the batch: the pod of *cycle* gets *host*, one of the feasible nodes of *details*."""
        profile = cycle.pod.spec.scheduler_name or DEFAULT_SCHEDULER
        if profile not in self.signers:
            return
        batch = self.kept.get(profile)
        if cycle.hint == host and batch is not None:
            batch = attrs.evolve(batch, cycle=self.number, host=host)
        else:
            signature = None if details.ranking is None else self.signers[profile].sign(cycle)
            heap = []
            if signature is not None and details.ranking is not None:
                heap = _heap(cycle, details.feasible_rows, details.ranking.totals)
            batch = StoredBatch(signature, self.number, host, tuple(_pop(heap)[1] if heap else ()))
        self._keep(profile, batch)


# --- the heap, as Go's container/heap has it ----------------------------------------------------------------

Heap = list[tuple[int, str]]


def _heap(cycle: FrameworkCycle, rows: Rows, totals: Scores) -> Heap:
    names = cycle.table.names
    heap = list(zip(totals.tolist(), (names[row] for row in rows.tolist()), strict=True))
    for at in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, at, len(heap))
    return heap


def _pop(heap: Heap) -> tuple[str, Heap]:
    """The node on top of *heap*, and the rest."""
    last = len(heap) - 1
    heap[0], heap[last] = heap[last], heap[0]
    _sink(heap, 0, last)
    return heap.pop()[1], heap


def _sink(heap: Heap, at: int, size: int) -> None:
    while (child := 2 * at + 1) < size:
        if child + 1 < size and heap[child + 1][0] > heap[child][0]:
            child += 1
        if heap[child][0] <= heap[at][0]:
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child
