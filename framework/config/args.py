"""The arguments of the default plugins: their fields, defaults, faults and reading.

Upstream: pkg/scheduler/apis/config/types_pluginargs.go, v1/defaults.go, validation/validation_pluginargs.go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Annotated, Any, Self

import attrs

from ...api.meaning import duration, duration_text, is_valid_label_key, quoted
from ...api.objects import Int32, JsonObject, NodeAffinity, TopologySpreadConstraint
from ...api.reading import TYPE_META, ReadBy, fields_of, read, unknown_fields
from ...api.record import Names
from ...core.release import ConfigurationCells
from ...exceptions import PolicyError
from ...priorities.requestedtocapacityratio import shape_faults
from .fielderrors import (
    PLAIN,
    Context,
    as_json,
    duplicate,
    forbidden,
    go_fields,
    invalid,
    node_selector_faults,
    outside,
    preferred_faults,
    required,
    unsupported,
)

Faults = Iterator[str]


class Arguments:
    """Arguments of a plugin, which may have neither defaults nor faults."""

    def with_defaults(self, context: Context) -> Self:
        return self

    def faults(self, path: str, context: Context) -> Faults:
        """The faults; *path*, empty or ending in a dot, is put before the field."""
        return iter(())


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


Resources = tuple[ResourceSpec, ...]
Shape = tuple[ShapePoint, ...]
WHOLE_RANGE = (ShapePoint(0, 0), ShapePoint(100, 10))
CPU_AND_MEMORY = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))


@attrs.frozen
class RatioParameters:
    """The shape of RequestedToCapacityRatio: a score for each share."""

    shape: Shape = ()


@attrs.frozen
class ScoringStrategy:
    """The strategy of NodeResourcesFit: ``LeastAllocated``, ``MostAllocated`` or
    ``RequestedToCapacityRatio``."""

    type: str = ""
    resources: Resources = ()
    requested_to_capacity_ratio: RatioParameters | None = None

    @property
    def shape(self) -> Shape | None:
        """The points of a RequestedToCapacityRatio; None without its parameters."""
        return None if self.requested_to_capacity_ratio is None else self.requested_to_capacity_ratio.shape


LEAST_ALLOCATED = ScoringStrategy("LeastAllocated", CPU_AND_MEMORY)
ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


def _weighted(resources: Resources) -> Resources:
    if not resources:
        return CPU_AND_MEMORY
    return tuple(attrs.evolve(resource, weight=resource.weight or 1) for resource in resources)


def _weights(
    resources: Sequence[ResourceSpec], path: str, range_text: str = "(0, 100]", most: float = 100
) -> Faults:
    for i, resource in enumerate(resources):
        if not 0 < resource.weight <= most:
            text = f"resource weight of {resource.name} not in valid range {range_text}"
            yield invalid(f"{path}[{i}].weight", resource.weight, text)


def _shape_faults(shape: Sequence[ShapePoint], path: str, context: Context) -> Faults:
    if not shape:
        yield required(path, "at least one point must be specified")
    for i, (left, right) in enumerate(pairwise(shape), 1):
        if left.utilization >= right.utilization:
            yield invalid(f"{path}[{i}].utilization", right.utilization, context.cells.shape_text)
            break
    for i, point in enumerate(shape):
        yield from outside(f"{path}[{i}].utilization", point.utilization)
        yield from outside(f"{path}[{i}].score", point.score, 10)


def _label_name(name: str, path: str, context: Context) -> Faults:
    words = context.release.framework.label_words
    return (invalid(path, name, fault) for fault in is_valid_label_key(name, words))


@attrs.frozen
class NodeResourcesFitArgs(Arguments):
    """Ignored extended resources, and the scoring strategy."""

    ignored_resources: Names = ()
    ignored_resource_groups: Names = ()
    scoring_strategy: ScoringStrategy = LEAST_ALLOCATED

    def with_defaults(self, context: Context) -> Self:
        strategy = self.scoring_strategy
        return attrs.evolve(
            self, scoring_strategy=attrs.evolve(strategy, resources=_weighted(strategy.resources))
        )

    def faults(self, path: str, context: Context) -> Faults:
        found = [*self._faults_of_fields(path, context)]
        yield from found
        cells = context.cells
        strategy = self.scoring_strategy
        if found and "." not in cells.shape_field:
            return
        if strategy.type not in STRATEGIES and not cells.checks_strategy_type:
            # Upstream: the plugin itself refuses it, after its arguments.
            yield f"scoring strategy {strategy.type} is not supported"
        elif strategy.shape is None and strategy.type == "RequestedToCapacityRatio":
            # Upstream: up to 1.35 it crashes at start without the object; here that is an error.
            where = f"{path}{cells.strategy_path}requestedToCapacityRatio"
            yield required(where, "must be specified when type is RequestedToCapacityRatio")

    def _faults_of_fields(self, path: str, context: Context) -> Faults:
        for i, name in enumerate(self.ignored_resources):
            yield from _label_name(name, f"{path}ignoredResources[{i}]", context)
        for i, group in enumerate(self.ignored_resource_groups):
            where = f"{path}ignoredResourceGroups[{i}]"
            if "/" in group:
                yield invalid(where, group, "resource group name can't contain '/'")
            yield from _label_name(group, where, context)
        cells = context.cells
        strategy = self.scoring_strategy
        path = f"{path}{cells.strategy_path}"
        is_ratio = strategy.type == "RequestedToCapacityRatio"
        if strategy.type not in STRATEGIES and cells.checks_strategy_type:
            yield unsupported(f"{path}type", strategy.type, STRATEGIES)
        yield from _weights(strategy.resources, f"{path}resources")
        if strategy.shape is not None and "." in cells.shape_field and not is_ratio:
            text = "must be nil when type is not RequestedToCapacityRatio"
            yield forbidden(f"{path}requestedToCapacityRatio", text)
        elif strategy.shape is not None:
            yield from _shape_faults(strategy.shape, f"{path}{cells.shape_field}", context)


@attrs.frozen
class NodeResourcesBalancedAllocationArgs(Arguments):
    """The resources to balance."""

    resources: Resources = ()

    def with_defaults(self, context: Context) -> Self:
        return attrs.evolve(self, resources=_weighted(self.resources))

    def faults(self, path: str, context: Context) -> Faults:
        names = set()
        for i, resource in enumerate(self.resources):
            if resource.name in names:
                yield duplicate(f"{path}resources[{i}].name", resource.name)
            names.add(resource.name)
            if resource.weight != 1:
                yield invalid(f"{path}resources[{i}].weight", resource.weight, "must be 1")


@attrs.frozen
class NodeResourcesLeastAllocatedArgs(Arguments):
    """The resources to leave free."""

    resources: Resources = ()

    def with_defaults(self, context: Context) -> Self:
        return attrs.evolve(self, resources=self.resources or CPU_AND_MEMORY)

    def faults(self, path: str, context: Context) -> Faults:
        if not context.cells.plain_arg_faults:
            yield from _weights(self.resources, f"{path}resources")
            return
        for resource in self.resources:
            if not 0 < resource.weight <= 100:
                expectation = "a positive value" if resource.weight <= 0 else "less than 100"
                yield f"resource Weight of {resource.name} should be {expectation}, got {resource.weight}"
                return


class NodeResourcesMostAllocatedArgs(NodeResourcesLeastAllocatedArgs):
    """The resources to use up."""


@attrs.frozen
class RequestedToCapacityRatioArgs(Arguments):
    """The resources that count, and the score of each share of them."""

    shape: Shape = ()
    resources: Resources = ()

    def with_defaults(self, context: Context) -> Self:
        if context.cells.first_args:
            return self
        if context.cells.fills_ratio_weights:
            return attrs.evolve(self, resources=_weighted(self.resources))
        return attrs.evolve(self, resources=self.resources or CPU_AND_MEMORY)

    def faults(self, path: str, context: Context) -> Faults:
        if not context.cells.plain_arg_faults:
            yield from _shape_faults(self.shape, f"{path}shape", context)
            yield from _weights(self.resources, f"{path}resources", "[1, inf)", math.inf)
        elif self.resources or not context.cells.first_args:
            # Upstream: without a resource that counts, the line is never read.
            yield from islice(self._plain_faults(context.cells), 1)

    def _plain_faults(self, cells: ConfigurationCells) -> Faults:
        points = [(point.utilization, point.score) for point in self.shape]
        if cells.fills_ratio_weights and not cells.first_args:
            # Upstream: scores are scaled before they are checked, and weights are not.
            scaled = [(utilization, score * STEP) for utilization, score in points]
            yield from shape_faults(scaled, 100, "score values not be")
            return
        yield from shape_faults(points, 10, "score values must not be")
        for resource in self.resources:
            if resource.weight < 1:
                yield f"resource {resource.name} weight {resource.weight} must not be less than 1"


@attrs.frozen
class NodeLabelArgs(Arguments):
    """The labels that a node must have, must not have, should have, and should not have."""

    present_labels: Names = ()
    absent_labels: Names = ()
    present_labels_preference: Names = ()
    absent_labels_preference: Names = ()

    def faults(self, path: str, context: Context) -> Faults:
        for kind, present, absent in (
            ("Labels", self.present_labels, self.absent_labels),
            ("LabelsPreference", self.present_labels_preference, self.absent_labels_preference),
        ):
            places = {label: i for i, label in enumerate(present)}
            for i, label in enumerate(absent):
                if label in places and context.cells.plain_arg_faults:
                    lists = f"the present([{' '.join(present)}]) and absent([{' '.join(absent)}]) label list"
                    yield f"detecting at least one label (e.g., {quoted(label)}) that exist in both {lists}"
                    return
                if label in places:
                    where = f"{path}present{kind}[{places[label]}]"
                    yield invalid(where, label, f"conflict with {path}absent{kind}[{i}]")


@attrs.frozen
class ServiceAffinityArgs(Arguments):
    """The labels whose values the pods of a service share, and the labels over whose values they are
    spread."""

    affinity_labels: Names = ()
    anti_affinity_labels_preference: Names = ()


@attrs.frozen
class InterPodAffinityArgs(Arguments):
    """The weight of the required affinity of existing pods in the score."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def faults(self, path: str, context: Context) -> Faults:
        return outside(
            f"{path}hardPodAffinityWeight",
            self.hard_pod_affinity_weight,
            text="not in valid range [0-100]" if context.cells.plain_arg_faults else "",
        )


@attrs.frozen
class NodeAffinityArgs(Arguments):
    """A node affinity for every pod of the profile, in addition to its own."""

    added_affinity: NodeAffinity | None = None

    def faults(self, path: str, context: Context) -> Faults:
        affinity = self.added_affinity
        if affinity is None:
            return
        cells = context.framework
        during = "DuringSchedulingIgnoredDuringExecution"
        if affinity.required is not None:
            yield from node_selector_faults(affinity.required, cells, f"{path}addedAffinity.required{during}")
        yield from preferred_faults(affinity.preferred, cells, f"{path}addedAffinity.preferred{during}")


@attrs.frozen
class PodTopologySpreadArgs(Arguments):
    """The constraints of pods that have none."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = ""

    def with_defaults(self, context: Context) -> Self:
        cells = context.cells
        is_system = cells.system_constraints and context.gates.get("DefaultPodTopologySpread", True)
        if self.default_constraints and cells.constraints_are_the_list:
            is_system = False
        return attrs.evolve(self, defaulting_type=self.defaulting_type or ("System" if is_system else "List"))

    def faults(self, path: str, context: Context) -> Faults:
        is_plain = context.cells.plain_arg_faults
        where = f"{path}defaultingType"
        if self.defaulting_type not in ("System", "List"):
            yield (
                invalid(where, self.defaulting_type, 'must be one of {"System", "List"}')
                if is_plain
                else unsupported(where, self.defaulting_type, ("System", "List"))
            )
        elif self.defaulting_type == "System" and self.default_constraints:
            yield invalid(where, self.defaulting_type, "when .defaultConstraints are not empty")
        pairs = set()
        for i, constraint in enumerate(self.default_constraints):
            path_of = f"{path}defaultConstraints[{i}]"
            key = constraint.topology_key
            action = constraint.when_unsatisfiable
            if constraint.max_skew <= 0:
                text = "must be greater than zero" if is_plain else "not in valid range (0, inf)"
                yield invalid(f"{path_of}.maxSkew", constraint.max_skew, text)
            if key:
                yield from _label_name(key, f"{path_of}.topologyKey", context)
            else:
                yield required(f"{path_of}.topologyKey", "can not be empty")
            if not action:
                yield required(f"{path_of}.whenUnsatisfiable", "can not be empty")
            elif action not in ACTIONS:
                yield unsupported(f"{path_of}.whenUnsatisfiable", action, ACTIONS)
            if constraint.label_selector is not None:
                text = "constraint must not define a selector, as they deduced for each pod"
                yield forbidden(f"{path_of}.labelSelector", text)
            if (key, action) in pairs:
                yield duplicate(path_of, f"{{{key}, {action}}}")
            pairs.add((key, action))


@attrs.frozen
class VolumeBindingArgs(Arguments):
    """The timeout of a binding, and the shape that scores the use of volumes."""

    bind_timeout_seconds: int = 600
    shape: Shape | None = None

    def with_defaults(self, context: Context) -> Self:
        if self.shape or not context.scores_capacity:
            return self
        return attrs.evolve(self, shape=tuple(ShapePoint(*point) for point in context.cells.capacity_shape))

    def faults(self, path: str, context: Context) -> Faults:
        seconds = self.bind_timeout_seconds
        if context.cells.plain_arg_faults and seconds <= 0:
            yield f"invalid BindTimeoutSeconds: {seconds}, must be positive integer"
        elif seconds < 0:
            message = "invalid BindTimeoutSeconds, should not be a negative value"
            yield invalid(f"{path}bindTimeoutSeconds", self.bind_timeout_seconds, message)
        if context.scores_capacity:
            yield from _shape_faults(self.shape or (), f"{path}shape", context)
        elif self.shape is not None:
            text = as_json(go_fields(self.shape))
            if not context.framework.faults_as_json:
                kind = "config.UtilizationShapePoint"
                items = (f"{kind}{{Utilization:{p.utilization}, Score:{p.score}}}" for p in self.shape)
                text = f"[]{kind}{{{', '.join(items)}}}"
            advice = f"remove it or turn on the feature gate {context.cells.capacity_gate}"
            yield f"{path}shape: Invalid value: {text}: unexpected field `shape`, {advice}"


@attrs.frozen
class DefaultPreemptionArgs(Arguments):
    """The number of candidate nodes of preemption."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100

    def faults(self, path: str, context: Context) -> Faults:
        share = self.min_candidate_nodes_percentage
        number = self.min_candidate_nodes_absolute
        percentage = f"{path}minCandidateNodesPercentage"
        absolute = f"{path}minCandidateNodesAbsolute"
        yield from outside(percentage, share)
        if number < 0:
            yield invalid(absolute, number, "not in valid range [0, inf)")
        if share == number == 0:
            yield invalid(percentage, share, "cannot be zero at the same time as minCandidateNodesAbsolute")
            yield invalid(absolute, number, "cannot be zero at the same time as minCandidateNodesPercentage")


@attrs.frozen
class DynamicResourcesArgs(Arguments):
    """The time limits of the search for devices on one node, and of devices to become ready."""

    filter_timeout: Annotated[float | None, ReadBy(duration)] = None
    """Seconds; 0: without a limit."""
    binding_timeout: Annotated[float | None, ReadBy(duration)] = None
    """Seconds."""

    def with_defaults(self, context: Context) -> Self:
        seconds = self.filter_timeout
        waits = self.binding_timeout
        return attrs.evolve(
            self,
            filter_timeout=10.0 if seconds is None and context.times_devices else seconds,
            binding_timeout=600.0 if waits is None and context.waits_for_devices else waits,
        )

    def faults(self, path: str, context: Context) -> Faults:
        seconds = self.filter_timeout
        waits = self.binding_timeout
        if seconds is not None and not context.times_devices:
            yield forbidden(f"{path}filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
        elif seconds is not None and seconds < 0:
            yield invalid(f"{path}filterTimeout", duration_text(seconds), "must be zero or positive")
        if waits is not None and not context.waits_for_devices:
            yield forbidden(
                f"{path}bindingTimeout",
                "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled",
            )
        elif waits is not None and waits < 1:
            yield invalid(f"{path}bindingTimeout", duration_text(waits), "must be at least 1 second")


# --- reading ------------------------------------------------------------------------------------------------


_PLUGIN_ARGS = {
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
    """Whether *plugin* is a default plugin constructed with arguments, even if only with their defaults."""
    return plugin in _PLUGIN_ARGS and plugin not in context.cells.gone_plugins


def reads_args(plugin: str, context: Context = PLAIN) -> bool:
    """Whether a configuration can give *plugin* known arguments; other arguments stay plain data."""
    return takes_args(plugin, context) and plugin not in context.cells.args_lacked


def passes_over_args(plugin: str, context: Context) -> bool:
    """Whether the release ignores arguments of *plugin* that later ones read."""
    return takes_args(plugin, context) and not reads_args(plugin, context)


def plugins_with_args(context: Context = PLAIN) -> list[str]:
    """The plugins to which a configuration can give known arguments."""
    return [plugin for plugin in _PLUGIN_ARGS if reads_args(plugin, context)]


def read_args(plugin: str, value: JsonObject, context: Context = PLAIN) -> Any:
    """The arguments of *plugin* with their defaults; raises
    :class:`~kubeclassic.api.reading.typed.Mismatch`."""
    return read(_PLUGIN_ARGS[plugin], value).with_defaults(context)


CHECKED_BY_PLUGIN_ALONE = frozenset({"NodeResourcesFit"})
"""Upstream: the validation of a configuration uses a wrong name for these arguments, so only the plugin's
constructor checks them."""


def arg_faults(plugin: str, args: Any, path: str, context: Context) -> list[str]:
    """The faults of *plugin*'s arguments; *path*, empty or ending in a dot, is put before the field."""
    return (
        list(args.faults(path, context))
        if isinstance(args, Arguments) and takes_args(plugin, context)
        else []
    )


def unknown_args(plugin: str, value: JsonObject, context: Context = PLAIN) -> Iterator[str]:
    """The paths of the fields in *value* that the arguments of *plugin* do not have."""
    if not reads_args(plugin, context):
        return
    lacked = {
        field
        for owner, _, field in (name.partition(".") for name in context.cells.args_lacked)
        if owner == plugin
    }
    fields = {**(fields_of(_PLUGIN_ARGS[plugin]) or {}), **TYPE_META}
    yield from unknown_fields(value, {name: part for name, part in fields.items() if name not in lacked})


STEP = 10
"""The scale between scores up to 100 there, and up to 10 in later arguments."""


def _unchanged(value: Any) -> Any:
    return value


def _shape(value: Any) -> Any:
    """Points in the later form; a value that is no list, or an item that is no point, stays as it is."""
    if isinstance(value, list):
        return [_shape(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    point = {str(name).lower(): item for name, item in value.items()}
    score = point.get("score", 0)
    if type(score) is int and score % STEP:
        raise PolicyError(
            f"FunctionShape: expected a multiple of {STEP}, got score {score}: others are not modelled"
        )
    return {**point, "score": score // STEP if type(score) is int else score}


def _resources(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [{"name": name, "weight": weight} for name, weight in value.items()]
    return value


_NAMES = {
    "RequestedToCapacityRatio": {
        "functionshape": ("shape", _shape),
        "resourcetoweightmap": ("resources", _resources),
    },
    "ServiceAffinity": {
        "labels": ("affinityLabels", _unchanged),
        "antiaffinitylabelspreference": ("antiAffinityLabelsPreference", _unchanged),
    },
}
"""Plugin -> argument of the first form, in lower case -> its later name, and a function for its value."""


def later_args(plugin: str, args: JsonObject) -> tuple[JsonObject, list[str]]:
    """*args* of *plugin* in the later form, and the names of those that it does not have.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for a score that the later form cannot have.

    >>> later_args("ServiceAffinity", {"labels": ["rack"], "affinityLabels": ["zone"]})
    ({'affinityLabels': ['rack']}, ['affinityLabels'])
    """
    names = _NAMES.get(plugin)
    if names is None:
        return args, []
    later_names = {name: names[str(name).lower()] for name in args if str(name).lower() in names}
    return {later: form(args[name]) for name, (later, form) in later_names.items()}, [
        name for name in args if name not in later_names
    ]
