"""The arguments of the default plugins: what they are, their defaults, and how they are read.

Upstream: pkg/scheduler/apis/config/types_pluginargs.go, v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import attrs

from ...api.meaning.durations import duration
from ...api.objects import NodeAffinity, TopologySpreadConstraint
from ...api.objects.quantity import Int32
from ...api.reading.typed import ReadBy, read
from ...api.reading.unknownfields import TYPE_META, fields_of, unknown_fields
from ...exceptions import PolicyError
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
class RatioParameters:
    """What RequestedToCapacityRatio scores each share with."""

    shape: tuple[ShapePoint, ...] = ()


@attrs.frozen
class ScoringStrategy:
    """How NodeResourcesFit scores: ``LeastAllocated``, ``MostAllocated`` or ``RequestedToCapacityRatio``."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RatioParameters | None = None

    @property
    def shape(self) -> tuple[ShapePoint, ...] | None:
        """The points of a RequestedToCapacityRatio; None without its parameters."""
        return None if self.requested_to_capacity_ratio is None else self.requested_to_capacity_ratio.shape


LEAST_ALLOCATED = ScoringStrategy("LeastAllocated", CPU_AND_MEMORY)


@attrs.frozen
class NodeResourcesFitArgs:
    """Which extended resources are ignored, and how nodes are scored."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = LEAST_ALLOCATED

    def with_defaults(self, context: Context) -> NodeResourcesFitArgs:
        strategy = self.scoring_strategy
        return attrs.evolve(
            self, scoring_strategy=attrs.evolve(strategy, resources=_weighted(strategy.resources))
        )


@attrs.frozen
class NodeResourcesBalancedAllocationArgs:
    """Which resources should be used equally."""

    resources: tuple[ResourceSpec, ...] = ()

    def with_defaults(self, context: Context) -> NodeResourcesBalancedAllocationArgs:
        return attrs.evolve(self, resources=_weighted(self.resources))


@attrs.frozen
class NodeResourcesLeastAllocatedArgs:
    """Which resources should stay free."""

    resources: tuple[ResourceSpec, ...] = ()

    def with_defaults(self, context: Context) -> NodeResourcesLeastAllocatedArgs:
        return attrs.evolve(self, resources=self.resources or CPU_AND_MEMORY)


class NodeResourcesMostAllocatedArgs(NodeResourcesLeastAllocatedArgs):
    """Which resources should be used up."""


@attrs.frozen
class RequestedToCapacityRatioArgs:
    """Which resources count, and what each share of them scores."""

    shape: tuple[ShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = ()

    def with_defaults(self, context: Context) -> RequestedToCapacityRatioArgs:
        if context.cells.first_args:
            return self
        fills = context.cells.fills_ratio_weights
        return attrs.evolve(
            self, resources=_weighted(self.resources) if fills else self.resources or CPU_AND_MEMORY
        )


@attrs.frozen
class NodeLabelArgs:
    """Which labels a node must have, must not have, should have, and should not have."""

    present_labels: tuple[str, ...] = ()
    absent_labels: tuple[str, ...] = ()
    present_labels_preference: tuple[str, ...] = ()
    absent_labels_preference: tuple[str, ...] = ()


@attrs.frozen
class ServiceAffinityArgs:
    """The labels whose values the pods of a service have in common, and those over whose values they are
    spread."""

    affinity_labels: tuple[str, ...] = ()
    anti_affinity_labels_preference: tuple[str, ...] = ()


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
        cells = context.cells
        is_system = cells.system_constraints and context.gates.get("DefaultPodTopologySpread", True)
        if self.default_constraints and cells.constraints_are_the_list:
            is_system = False
        return attrs.evolve(self, defaulting_type=self.defaulting_type or ("System" if is_system else "List"))


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


def _duration(value: Any) -> float:
    is_negative = isinstance(value, str) and value.startswith("-")
    return -duration(value[1:]) if is_negative else duration(value)


@attrs.frozen
class DynamicResourcesArgs:
    """How long the search for devices on one node may take, and how long they may take to become ready."""

    filter_timeout: Annotated[float | None, ReadBy(_duration)] = None
    """Seconds; 0: as long as it takes."""
    binding_timeout: Annotated[float | None, ReadBy(_duration)] = None
    """Seconds."""

    def with_defaults(self, context: Context) -> DynamicResourcesArgs:
        seconds = self.filter_timeout
        waits = self.binding_timeout
        return DynamicResourcesArgs(
            10.0 if seconds is None and context.times_devices else seconds,
            600.0 if waits is None and context.waits_for_devices else waits,
        )


def _weighted(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    if not resources:
        return CPU_AND_MEMORY
    return tuple(attrs.evolve(resource, weight=resource.weight or 1) for resource in resources)


# --- reading ------------------------------------------------------------------------------------------------


_PLUGIN_ARGS: Mapping[str, Any] = {
    kind.__name__.removesuffix("Args"): kind
    for kind in (
        DefaultPreemptionArgs,
        DynamicResourcesArgs,
        InterPodAffinityArgs,
        NodeAffinityArgs,
        NodeLabelArgs,
        NodeResourcesBalancedAllocationArgs,
        NodeResourcesFitArgs,
        NodeResourcesLeastAllocatedArgs,
        NodeResourcesMostAllocatedArgs,
        PodTopologySpreadArgs,
        RequestedToCapacityRatioArgs,
        ServiceAffinityArgs,
        VolumeBindingArgs,
    )
}


def takes_args(plugin: str, context: Context = PLAIN) -> bool:
    """Whether *plugin* is a default plugin that is made with arguments, if with their defaults alone."""
    return plugin in _PLUGIN_ARGS and plugin not in context.cells.gone_plugins


def reads_args(plugin: str, context: Context = PLAIN) -> bool:
    """Whether a configuration can give *plugin* arguments that are known; others stay plain data."""
    return takes_args(plugin, context) and plugin not in context.cells.args_lacked


def read_args(plugin: str, value: Mapping[str, Any], context: Context = PLAIN) -> Any:
    """The arguments of *plugin* with their defaults; raises
    :class:`~kubeclassic.api.reading.mismatch.Mismatch`."""
    found = read(_PLUGIN_ARGS[plugin], value)
    fill = getattr(found, "with_defaults", None)
    return found if fill is None else fill(context)


def unknown_args(plugin: str, value: Mapping[str, Any], context: Context = PLAIN) -> Iterator[str]:
    """The paths of the fields in *value* that the arguments of *plugin* do not have."""
    if not reads_args(plugin, context):
        return
    lacked = {
        field
        for owner, _, field in (name.partition(".") for name in context.cells.args_lacked)
        if owner == plugin
    }
    known = {**(fields_of(_PLUGIN_ARGS[plugin]) or {}), **TYPE_META}
    yield from unknown_fields(value, {name: part for name, part in known.items() if name not in lacked})


STEP = 10
"""Scores are up to 100 there, and up to 10 in later arguments."""


def _same(value: Any) -> Any:
    return value


def _shape(value: Any) -> Any:
    """Points of the later form; what is no list, and no point, as it is."""
    if isinstance(value, list):
        return [_shape(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    found = {str(name).lower(): item for name, item in value.items()}
    score = found.get("score", 0)
    if type(score) is int and score % STEP:
        raise PolicyError(
            f"FunctionShape: expected a multiple of {STEP}, got score {score}: others are not modelled"
        )
    return {**found, "score": score // STEP if type(score) is int else score}


def _resources(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [{"name": name, "weight": weight} for name, weight in value.items()]
    return value


_NAMES: Mapping[str, Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "RequestedToCapacityRatio": {
        "functionshape": ("shape", _shape),
        "resourcetoweightmap": ("resources", _resources),
    },
    "ServiceAffinity": {
        "labels": ("affinityLabels", _same),
        "antiaffinitylabelspreference": ("antiAffinityLabelsPreference", _same),
    },
}
"""Plugin -> its arguments there in lower case -> the later name, and how the value is written then."""


def later_args(plugin: str, args: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """*args* of *plugin* in the later form, and the names of those that it does not have.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for a score that the later form cannot have.

    >>> later_args("ServiceAffinity", {"labels": ["rack"], "affinityLabels": ["zone"]})
    ({'affinityLabels': ['rack']}, ['affinityLabels'])
    """
    names = _NAMES.get(plugin)
    if names is None:
        return args, []
    known = {name: names[str(name).lower()] for name in args if str(name).lower() in names}
    return {later: form(args[name]) for name, (later, form) in known.items()}, [
        name for name in args if name not in known
    ]
