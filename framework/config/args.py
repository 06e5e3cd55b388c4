"""The arguments of the default plugins: what they are, their defaults, and how they are read.

Upstream: pkg/scheduler/apis/config/types_pluginargs.go, v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...api.objects import NodeAffinity, TopologySpreadConstraint
from ...api.reading.fields import Reader, Table, flag, list_of, member, record, text, text_list, whole
from ...api.reading.schema import spread_constraints
from ...api.reading.schema_selectors import node_affinity


@attrs.frozen
class ResourceSpec:
    """A resource that counts in a score, and how much."""

    name: str = ""
    weight: int = 0


@attrs.frozen
class ShapePoint:
    """At this utilization, 0 to 100, the score is this, 0 to 10."""

    utilization: int = 0
    score: int = 0


CPU_AND_MEMORY = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))
WHOLE_RANGE = (ShapePoint(0, 0), ShapePoint(100, 10))


@attrs.frozen
class ScoringStrategy:
    """How NodeResourcesFit scores: ``LeastAllocated``, ``MostAllocated`` or ``RequestedToCapacityRatio``."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    shape: tuple[ShapePoint, ...] | None = None
    """requestedToCapacityRatio.shape; None where there is no such object."""


LEAST_ALLOCATED = ScoringStrategy("LeastAllocated", CPU_AND_MEMORY)


@attrs.frozen
class NodeResourcesFitArgs:
    """Which extended resources are not looked at, and how nodes are scored."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = LEAST_ALLOCATED

    def with_defaults(self, capacity_priority: bool) -> NodeResourcesFitArgs:
        strategy = self.scoring_strategy
        return attrs.evolve(self, scoring_strategy=attrs.evolve(strategy, resources=_weighted(strategy.resources)))


@attrs.frozen
class NodeResourcesBalancedAllocationArgs:
    """Which resources should be used in equal shares."""

    resources: tuple[ResourceSpec, ...] = ()

    def with_defaults(self, capacity_priority: bool) -> NodeResourcesBalancedAllocationArgs:
        return attrs.evolve(self, resources=_weighted(self.resources))


@attrs.frozen
class InterPodAffinityArgs:
    """How much required affinity of pods that are there counts in the score."""

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


@attrs.frozen
class NodeAffinityArgs:
    """A node affinity that every pod of the profile has besides its own."""

    added_affinity: NodeAffinity | None = None


@attrs.frozen
class PodTopologySpreadArgs:
    """The constraints of pods that bring none."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = ""

    def with_defaults(self, capacity_priority: bool) -> PodTopologySpreadArgs:
        return attrs.evolve(self, defaulting_type=self.defaulting_type or "System")


@attrs.frozen
class VolumeBindingArgs:
    """How long a binding may take, and how the use of volumes is scored."""

    bind_timeout_seconds: int = 600
    shape: tuple[ShapePoint, ...] | None = None

    def with_defaults(self, capacity_priority: bool) -> VolumeBindingArgs:
        return attrs.evolve(self, shape=WHOLE_RANGE) if capacity_priority and not self.shape else self


@attrs.frozen
class DefaultPreemptionArgs:
    """How many nodes are looked at before one is chosen."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


def _weighted(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    if not resources:
        return CPU_AND_MEMORY
    return tuple(attrs.evolve(resource, weight=resource.weight or 1) for resource in resources)


# --- reading --------------------------------------------------------------------------------------------------------


def _any_word(*allowed: str, optional: bool = True) -> Reader[str]:
    return text


_RESOURCES = list_of(record(ResourceSpec, {"name": ("name", text), "weight": ("weight", whole)}), ResourceSpec())
_SHAPE = list_of(record(ShapePoint, {"utilization": ("utilization", whole), "score": ("score", whole)}), ShapePoint())
_STRATEGY: Table = {
    "type": ("type", text),
    "resources": ("resources", _RESOURCES),
    "requestedToCapacityRatio": ("shape", member("shape", _SHAPE, ())),
}

READERS: Mapping[str, Reader[Any]] = {
    "DefaultPreemption": record(
        DefaultPreemptionArgs,
        {
            "minCandidateNodesPercentage": ("min_candidate_nodes_percentage", whole),
            "minCandidateNodesAbsolute": ("min_candidate_nodes_absolute", whole),
        },
    ),
    "InterPodAffinity": record(
        InterPodAffinityArgs,
        {
            "hardPodAffinityWeight": ("hard_pod_affinity_weight", whole),
            "ignorePreferredTermsOfExistingPods": ("ignore_preferred_terms_of_existing_pods", flag),
        },
    ),
    "NodeAffinity": record(NodeAffinityArgs, {"addedAffinity": ("added_affinity", node_affinity(_any_word))}),
    "NodeResourcesBalancedAllocation": record(NodeResourcesBalancedAllocationArgs, {"resources": ("resources", _RESOURCES)}),
    "NodeResourcesFit": record(
        NodeResourcesFitArgs,
        {
            "ignoredResources": ("ignored_resources", text_list),
            "ignoredResourceGroups": ("ignored_resource_groups", text_list),
            "scoringStrategy": ("scoring_strategy", record(ScoringStrategy, _STRATEGY)),
        },
    ),
    "PodTopologySpread": record(
        PodTopologySpreadArgs,
        {"defaultConstraints": ("default_constraints", spread_constraints(_any_word)), "defaultingType": ("defaulting_type", text)},
    ),
    "VolumeBinding": record(VolumeBindingArgs, {"bindTimeoutSeconds": ("bind_timeout_seconds", whole), "shape": ("shape", _SHAPE)}),
}
"""Plugin -> the reader of its arguments; a plugin that is not here takes none, or is a user's."""


def read_args(plugin: str, value: Mapping[str, Any], capacity_priority: bool = False) -> Any:
    """The arguments of *plugin* with their defaults; raises :class:`~kubeclassic.api.reading.fields.Mismatch`."""
    found = READERS[plugin](value)
    fill = getattr(found, "with_defaults", None)
    return found if fill is None else fill(capacity_priority)
