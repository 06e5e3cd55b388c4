"""Upstream's validation of the arguments of the default plugins.

Upstream: pkg/scheduler/apis/config/validation/validation_pluginargs.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from msgspec.structs import replace

from ...api.meaning.durations import duration_text
from ...api.meaning.label_syntax import int64_or_none, is_valid_label_key, is_valid_label_value, quoted
from ...api.meaning.labels import SelectorError, compile_selector, match_expressions_selector
from ...api.objects import (
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
    Requirement,
    TopologySpreadConstraint,
)
from ...core.release import FrameworkCells
from . import args as a
from .args import takes_args
from .fielderrors import Context, aggregated, duplicate, forbidden, invalid, required, unsupported

MOST = 100
TOP = 10


def ratio_faults(args: a.RequestedToCapacityRatioArgs) -> Iterator[str]:
    """The faults of RequestedToCapacityRatio's arguments, the points of the line before the weights; only the
    first is told."""
    if not args.shape:
        yield "at least one point must be specified"
    for i, (left, right) in enumerate(pairwise(args.shape)):
        if left.utilization >= right.utilization:
            pair = f"Utilization[{i}]=={left.utilization} >= Utilization[{i + 1}]=={right.utilization}"
            yield f"utilization values must be sorted. {pair}"
    for i, point in enumerate(args.shape):
        for name, value, most in (("Utilization", point.utilization, MOST), ("Score", point.score, TOP)):
            if not 0 <= value <= most:
                bound = "less than 0" if value < 0 else f"greater than {most}"
                yield f"{name.lower()} values must not be {bound}. {name}[{i}]=={value}"
    for resource in args.resources:
        if resource.weight < 1:
            yield f"resource {resource.name} weight {resource.weight} must not be less than 1"


def weight_fault(resources: Sequence[a.ResourceSpec]) -> Iterator[str]:
    """The first fault of the weights of NodeResourcesLeastAllocated and NodeResourcesMostAllocated."""
    for resource in resources:
        if not 0 < resource.weight <= MOST:
            wanted = "a positive value" if resource.weight <= 0 else "less than 100"
            yield f"resource Weight of {resource.name} should be {wanted}, got {resource.weight}"
            return


_PLAIN = FrameworkCells()
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def node_selector_faults(selector: NodeSelector, cells: FrameworkCells, path: str = "") -> list[str]:
    """The faults of all terms; an empty term has none."""
    within = _child(path, "nodeSelectorTerms")
    return [
        fault
        for i, term in enumerate(selector.node_selector_terms)
        for fault in term_faults(term, cells, f"{within}[{i}]")
    ]


def preferred_faults(
    terms: Sequence[PreferredSchedulingTerm], cells: FrameworkCells, path: str = ""
) -> list[str]:
    """The faults of preferred terms; terms of weight 0 are skipped."""
    counted = ((i, term.preference) for i, term in enumerate(terms) if term.weight)
    return [fault for i, term in counted for fault in term_faults(term, cells, f"{path}[{i}]")]


def term_faults(term: NodeSelectorTerm, cells: FrameworkCells, path: str) -> list[str]:
    """The faults of one term, at most one text per expression."""
    if cells.plain_selector_faults:
        # The first fault of a term in plain words; none without one.
        reads_fields = cells.reads_preferred_fields
        try:
            match_expressions_selector(term.match_expressions)
        except SelectorError as error:
            return [str(error)]
        for field in term.match_fields if reads_fields else ():
            if field.operator not in ("In", "NotIn"):
                return [f"{quoted(field.operator)} is not a valid node field selector operator"]
            if len(field.values) != 1:
                return [
                    f"unexpected number of value ({len(field.values)}) for node field selector operator {quoted(field.operator)}"
                ]
        return []
    found = [
        _expression(e, cells, f"{_child(path, 'matchExpressions')}[{i}]")
        for i, e in enumerate(term.match_expressions)
    ]
    found += [
        _field(e, cells, f"{_child(path, 'matchFields')}[{i}]") for i, e in enumerate(term.match_fields)
    ]
    return [fault for fault in found if fault]


def label_selector_fault(selector: LabelSelector | None, cells: FrameworkCells = _PLAIN) -> str:
    """The first fault of a label selector, pairs in order of their keys; empty without one."""
    if selector is None:
        return ""
    if cells.plain_selector_faults:
        try:
            compile_selector(selector)
        except SelectorError as error:
            return str(error)
        return ""
    pairs = [
        Requirement(key=key, operator="In", given_values=(value,))
        for key, value in sorted(selector.match_labels.items())
    ]
    for expression in (*pairs, *selector.match_expressions):
        if expression.operator not in OPERATORS[:4]:
            return f"{quoted(expression.operator)} is not a valid label selector operator"
        # Upstream: the values of a label selector are copied, and the copy of an empty list is nil.
        if fault := aggregated(
            _requirement_faults(replace(expression, given_values=expression.values or None), cells, "")
        ):
            return fault
    return ""


def _child(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _expression(expression: Requirement, cells: FrameworkCells, path: str) -> str:
    if expression.operator not in OPERATORS:
        return unsupported(
            f"{path}.operator", expression.operator, OPERATORS if cells.faults_list_operators else ()
        )
    return aggregated(_requirement_faults(expression, cells, path))


def _requirement_faults(expression: Requirement, cells: FrameworkCells, path: str) -> Iterator[str]:
    key = expression.key
    operator = expression.operator
    values = _values(expression)
    if faults := is_valid_label_key(key):
        yield invalid(_child(path, "key"), key, "; ".join(faults))
    path = _child(path, "values")
    if operator in ("In", "NotIn") and not values:
        yield invalid(path, values, "for 'in', 'notin' operators, values set can't be empty", cells)
    elif operator in ("Exists", "DoesNotExist") and values:
        yield invalid(path, values, "values set must be empty for exists and does not exist", cells)
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required", cells)
        for i, value in enumerate(values):
            if int64_or_none(value) is None:
                yield invalid(f"{path}[{i}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
    for i, value in enumerate(values):
        if faults := is_valid_label_value(value):
            yield invalid(f"{path}[{i}][{key}]", value, "; ".join(faults))


def _values(expression: Requirement) -> Sequence[str]:
    """The values as :func:`shown` distinguishes an empty list from an absent one."""
    return [] if expression.given_values == () else expression.values


def _field(requirement: Requirement, cells: FrameworkCells, path: str) -> str:
    if requirement.operator not in ("In", "NotIn"):
        return unsupported(f"{path}.operator", requirement.operator, ("In", "NotIn"))
    if len(requirement.values) == 1:
        return ""
    return invalid(f"{path}.values", _values(requirement), "must have one element", cells)


STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_PERCENT = "not in valid range [0, 100]"
_TEN = "not in valid range [0, 10]"
Faults = Iterator[str]


def _preemption(args: a.DefaultPreemptionArgs, path: str, context: Context) -> Faults:
    share = args.min_candidate_nodes_percentage
    number = args.min_candidate_nodes_absolute
    percentage = f"{path}minCandidateNodesPercentage"
    absolute = f"{path}minCandidateNodesAbsolute"
    if not 0 <= share <= 100:
        yield invalid(percentage, share, _PERCENT)
    if number < 0:
        yield invalid(absolute, number, "not in valid range [0, inf)")
    if share == number == 0:
        yield invalid(percentage, share, "cannot be zero at the same time as minCandidateNodesAbsolute")
        yield invalid(absolute, number, "cannot be zero at the same time as minCandidateNodesPercentage")


def _pod_affinity(args: a.InterPodAffinityArgs, path: str, context: Context) -> Faults:
    if not 0 <= args.hard_pod_affinity_weight <= 100:
        text = "not in valid range [0-100]" if context.cells.plain_arg_faults else _PERCENT
        yield invalid(f"{path}hardPodAffinityWeight", args.hard_pod_affinity_weight, text)


def _node_affinity(args: a.NodeAffinityArgs, path: str, context: Context) -> Faults:
    added = args.added_affinity
    if added is None:
        return
    within = f"{path}addedAffinity."
    if added.required is not None:
        yield from node_selector_faults(
            added.required, context.framework, f"{within}requiredDuringSchedulingIgnoredDuringExecution"
        )
    yield from preferred_faults(
        added.preferred, context.framework, f"{within}preferredDuringSchedulingIgnoredDuringExecution"
    )


def _balanced(args: a.NodeResourcesBalancedAllocationArgs, path: str, context: Context) -> Faults:
    seen: set[str] = set()
    for i, resource in enumerate(args.resources):
        if resource.name in seen:
            yield duplicate(f"{path}resources[{i}].name", resource.name)
        seen.add(resource.name)
        if resource.weight != 1:
            yield invalid(f"{path}resources[{i}].weight", resource.weight, "must be 1")


def _fit(args: a.NodeResourcesFitArgs, path: str, context: Context) -> Faults:
    for i, name in enumerate(args.ignored_resources):
        yield from _label_name(name, f"{path}ignoredResources[{i}]")
    for i, group in enumerate(args.ignored_resource_groups):
        if "/" in group:
            yield invalid(f"{path}ignoredResourceGroups[{i}]", group, "resource group name can't contain '/'")
        yield from _label_name(group, f"{path}ignoredResourceGroups[{i}]")
    yield from _strategy(args.scoring_strategy, f"{path}{context.cells.strategy_path}", context)


def _allocation(args: a.NodeResourcesLeastAllocatedArgs, path: str, context: Context) -> Faults:
    yield from (
        weight_fault(args.resources)
        if context.cells.plain_arg_faults
        else _weights(args.resources, f"{path}resources")
    )


def _weights(
    resources: Sequence[a.ResourceSpec], path: str, wanted: str = "(0, 100]", most: float = MOST
) -> Faults:
    for i, resource in enumerate(resources):
        if not 0 < resource.weight <= most:
            yield invalid(
                f"{path}[{i}].weight",
                resource.weight,
                f"resource weight of {resource.name} not in valid range {wanted}",
            )


def _ratio(args: a.RequestedToCapacityRatioArgs, path: str, context: Context) -> Faults:
    if context.cells.plain_arg_faults:
        if (
            args.resources or not context.cells.first_args
        ):  # Upstream: where no resource counts, the line is never read.
            yield from islice(ratio_faults(args), 1)
        return
    yield from _shape(args.shape, f"{path}shape", context)
    yield from _weights(args.resources, f"{path}resources", "[1, inf)", math.inf)


def _node_label(args: a.NodeLabelArgs, path: str, context: Context) -> Faults:
    sides = {
        "Labels": (args.present_labels, args.absent_labels),
        "LabelsPreference": (args.present_labels_preference, args.absent_labels_preference),
    }
    for kind, (present, absent) in sides.items():
        places = {label: i for i, label in enumerate(present)}
        for i, label in enumerate(absent):
            if label in places and context.cells.plain_arg_faults:
                lists = f"the present([{' '.join(present)}]) and absent([{' '.join(absent)}]) label list"
                yield f"detecting at least one label (e.g., {quoted(label)}) that exist in both {lists}"
                return
            if label in places:
                yield invalid(
                    f"{path}present{kind}[{places[label]}]", label, f"conflict with {path}absent{kind}[{i}]"
                )


def _strategy(strategy: a.ScoringStrategy, path: str, context: Context) -> Faults:
    if strategy.type not in STRATEGIES and context.cells.checks_strategy_type:
        yield unsupported(f"{path}type", strategy.type, STRATEGIES)
    yield from _weights(strategy.resources, f"{path}resources")
    if strategy.shape is not None:
        if "." in context.cells.shape_field and strategy.type != "RequestedToCapacityRatio":
            yield forbidden(
                f"{path}requestedToCapacityRatio", "must be nil when type is not RequestedToCapacityRatio"
            )
        else:
            yield from _shape(strategy.shape, f"{path}{context.cells.shape_field}", context)
    if strategy.type not in STRATEGIES and not context.cells.checks_strategy_type:
        # Upstream: the plugin itself refuses it, after its arguments.
        yield f"scoring strategy {strategy.type} is not supported"
    elif strategy.shape is None and strategy.type == "RequestedToCapacityRatio":
        # Upstream: up to 1.35 it crashes at start without the object; here that is an error.
        yield required(
            f"{path}requestedToCapacityRatio", "must be specified when type is RequestedToCapacityRatio"
        )


def _shape(shape: Sequence[a.ShapePoint], path: str, context: Context) -> Faults:
    if not shape:
        yield required(path, "at least one point must be specified")
        return
    for i in range(1, len(shape)):
        if shape[i - 1].utilization >= shape[i].utilization:
            yield invalid(f"{path}[{i}].utilization", shape[i].utilization, context.cells.shape_text)
            break
    for i, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            yield invalid(f"{path}[{i}].utilization", point.utilization, _PERCENT)
        if not 0 <= point.score <= 10:
            yield invalid(f"{path}[{i}].score", point.score, _TEN)


def _spread(args: a.PodTopologySpreadArgs, path: str, context: Context) -> Faults:
    if args.defaulting_type not in ("System", "List"):
        where = f"{path}defaultingType"
        plain = context.cells.plain_arg_faults
        text = 'must be one of {"System", "List"}'
        yield (
            invalid(where, args.defaulting_type, text)
            if plain
            else unsupported(where, args.defaulting_type, ("System", "List"))
        )
    elif args.defaulting_type == "System" and args.default_constraints:
        yield invalid(f"{path}defaultingType", args.defaulting_type, "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for i, constraint in enumerate(args.default_constraints):
        yield from _constraint(constraint, f"{path}defaultConstraints[{i}]", context)
        key = (constraint.topology_key, constraint.when_unsatisfiable)
        if key in seen:
            yield duplicate(f"{path}defaultConstraints[{i}]", f"{{{key[0]}, {key[1]}}}")
        seen.add(key)


def _constraint(constraint: TopologySpreadConstraint, path: str, context: Context) -> Faults:
    if constraint.max_skew <= 0:
        if context.cells.plain_arg_faults:
            text = "must be greater than zero"
        else:
            text = "not in valid range (0, inf)"
        yield invalid(f"{path}.maxSkew", constraint.max_skew, text)
    if not constraint.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    else:
        yield from _label_name(constraint.topology_key, f"{path}.topologyKey")
    if not constraint.when_unsatisfiable:
        yield required(f"{path}.whenUnsatisfiable", "can not be empty")
    elif constraint.when_unsatisfiable not in ("DoNotSchedule", "ScheduleAnyway"):
        yield unsupported(
            f"{path}.whenUnsatisfiable", constraint.when_unsatisfiable, ("DoNotSchedule", "ScheduleAnyway")
        )
    if constraint.label_selector is not None:
        yield forbidden(
            f"{path}.labelSelector", "constraint must not define a selector, as they deduced for each pod"
        )


def _volume_binding(args: a.VolumeBindingArgs, path: str, context: Context) -> Faults:
    # Upstream: the first releases with this argument want more than 0.
    if args.bind_timeout_seconds < context.cells.plain_arg_faults:
        message = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(f"{path}bindTimeoutSeconds", args.bind_timeout_seconds, message)
    if context.scores_capacity:
        yield from _shape(args.shape or (), f"{path}shape", context)
    elif args.shape is not None:
        message = (
            f"unexpected field `shape`, remove it or turn on the feature gate {context.cells.capacity_gate}"
        )
        yield forbidden(f"{path}shape", message)


def _devices(args: a.DynamicResourcesArgs, path: str, context: Context) -> Faults:
    seconds = args.filter_timeout
    if seconds is not None and not context.times_devices:
        yield forbidden(f"{path}filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
    elif seconds is not None and seconds < 0:
        yield invalid(f"{path}filterTimeout", duration_text(seconds), "must be zero or positive")
    waits = args.binding_timeout
    if waits is not None and not context.waits_for_devices:
        told = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
        yield forbidden(f"{path}bindingTimeout", told)
    elif waits is not None and waits < 1:
        yield invalid(f"{path}bindingTimeout", duration_text(waits), "must be at least 1 second")


def _label_name(name: str, path: str) -> Faults:
    return (invalid(path, name, fault) for fault in is_valid_label_key(name))


_CHECKS: Mapping[str, Callable[[Any, str, Context], Faults]] = {
    "DefaultPreemption": _preemption,
    "DynamicResources": _devices,
    "InterPodAffinity": _pod_affinity,
    "NodeAffinity": _node_affinity,
    "NodeLabel": _node_label,
    "NodeResourcesBalancedAllocation": _balanced,
    "NodeResourcesFit": _fit,
    "NodeResourcesLeastAllocated": _allocation,
    "NodeResourcesMostAllocated": _allocation,
    "PodTopologySpread": _spread,
    "RequestedToCapacityRatio": _ratio,
    "VolumeBinding": _volume_binding,
}
CHECKED_BY_PLUGIN_ALONE = frozenset({"NodeResourcesFit"})
"""Upstream: the validation of a configuration uses a wrong name for these arguments, so only the plugin's
constructor checks them."""


def arg_faults(plugin: str, args: Any, path: str, context: Context) -> list[str]:
    """The faults of *plugin*'s arguments; *path*, empty or ending in a dot, is put before the field."""
    check = _CHECKS.get(plugin) if takes_args(plugin, context) else None
    if check is None or args is None or isinstance(args, Mapping):
        return []
    return list(check(args, path, context))
