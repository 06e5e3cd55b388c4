"""The arguments of the default plugins: what they are, their defaults, and how they are read.

Upstream: pkg/scheduler/apis/config/types_pluginargs.go, v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ...api.meaning.durations import duration
from ...api.objects import NodeAffinity, TopologySpreadConstraint
from ...api.objects.quantity import Int32
from ...api.reading.derive import Field
from ...api.reading.schema import TYPE_META, schema
from ...api.reading.shapes import unknown_fields
from .fielderrors import PLAIN, Context


@attrs.frozen
class ResourceSpec:
    """A resource that counts in a score, and how much."""

    name: str = ""
    weight: int = 0


@attrs.frozen
class ShapePoint:
    """A utilization, 0 to 100, and its score, 0 to 10."""

    utilization: Int32 = 0
    score: Int32 = 0


WHOLE_RANGE = (ShapePoint(0, 0), ShapePoint(100, 10))
CPU_AND_MEMORY = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))


@attrs.frozen
class ScoringStrategy:
    """How NodeResourcesFit scores: ``LeastAllocated``, ``MostAllocated`` or ``RequestedToCapacityRatio``."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    shape: tuple[ShapePoint, ...] | None = None
    """requestedToCapacityRatio.shape; None without that object."""


LEAST_ALLOCATED = ScoringStrategy("LeastAllocated", CPU_AND_MEMORY)


@attrs.frozen
class NodeResourcesFitArgs:
    """Which extended resources are ignored, and how nodes are scored."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = LEAST_ALLOCATED

    def with_defaults(self, context: Context) -> NodeResourcesFitArgs:
        strategy = self.scoring_strategy
        return attrs.evolve(self, scoring_strategy=attrs.evolve(strategy, resources=_weighted(strategy.resources)))


@attrs.frozen
class NodeResourcesBalancedAllocationArgs:
    """Which resources should be used equally."""

    resources: tuple[ResourceSpec, ...] = ()

    def with_defaults(self, context: Context) -> NodeResourcesBalancedAllocationArgs:
        return attrs.evolve(self, resources=_weighted(self.resources))


@attrs.frozen
class InterPodAffinityArgs:
    """How much the required affinity of existing pods counts in the score."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


@attrs.frozen
class NodeAffinityArgs:
    """A node affinity for every pod of the profile, in addition to its own."""

    added_affinity: NodeAffinity | None = None


@attrs.frozen
class PodTopologySpreadArgs:
    """The constraints of pods that have none."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = ""

    def with_defaults(self, context: Context) -> PodTopologySpreadArgs:
        return attrs.evolve(self, defaulting_type=self.defaulting_type or "System")


@attrs.frozen
class VolumeBindingArgs:
    """How long a binding may take, and how the use of volumes is scored."""

    bind_timeout_seconds: int = 600
    shape: tuple[ShapePoint, ...] | None = None

    def with_defaults(self, context: Context) -> VolumeBindingArgs:
        if self.shape or not context.scores_capacity:
            return self
        return attrs.evolve(self, shape=tuple(ShapePoint(*point) for point in context.cells.capacity_shape))


@attrs.frozen
class DefaultPreemptionArgs:
    """How many candidate nodes preemption looks for."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


@attrs.frozen
class DynamicResourcesArgs:
    """How long the search for devices on one node may take."""

    filter_timeout: float | None = None
    """Seconds; 0: as long as it takes."""

    def with_defaults(self, context: Context) -> DynamicResourcesArgs:
        return attrs.evolve(self, filter_timeout=10.0) if self.filter_timeout is None and context.times_devices else self


def _weighted(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    if not resources:
        return CPU_AND_MEMORY
    return tuple(attrs.evolve(resource, weight=resource.weight or 1) for resource in resources)


# --- reading --------------------------------------------------------------------------------------------------------


_PLUGIN_ARGS: Mapping[str, type[Any]] = {
    kind.__name__.removesuffix("Args"): kind
    for kind in (
        DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs, NodeAffinityArgs, NodeResourcesBalancedAllocationArgs,
        NodeResourcesFitArgs, PodTopologySpreadArgs, VolumeBindingArgs,
    )
}  # fmt: skip


def _duration(value: Any) -> float:
    is_negative = isinstance(value, str) and value.startswith("-")
    return -duration(value[1:]) if is_negative else duration(value)


SCHEMA = schema(strict=False).extended(
    {
        ScoringStrategy: {"shape": Field(inside="requestedToCapacityRatio", absent=())},
        DynamicResourcesArgs: {"filter_timeout": Field(read=_duration)},
    },
    known=dict.fromkeys(_PLUGIN_ARGS.values(), TYPE_META),
)


def takes_args(plugin: str, context: Context = PLAIN) -> bool:
    """Whether *plugin* is a default plugin with arguments; those of other plugins stay plain data."""
    return plugin in _PLUGIN_ARGS and (context.cells.device_args or plugin != "DynamicResources")


def read_args(plugin: str, value: Mapping[str, Any], context: Context = PLAIN) -> Any:
    """The arguments of *plugin* with their defaults; raises :class:`~kubeclassic.api.reading.fields.Mismatch`."""
    found = SCHEMA.reader(_PLUGIN_ARGS[plugin])(value)
    fill = getattr(found, "with_defaults", None)
    return found if fill is None else fill(context)


def unknown_args(plugin: str, value: Mapping[str, Any]) -> Iterator[str]:
    """The paths of the fields in *value* that the arguments of *plugin* do not have."""
    return unknown_fields(value, SCHEMA.shape(_PLUGIN_ARGS[plugin]))
