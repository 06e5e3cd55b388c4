"""Rules that a Policy makes by giving arguments, and how its entries enter the registry.

Upstream: RegisterCustomFitPredicate and RegisterCustomPriorityFunction in pkg/scheduler/factory/plugins.go.
"""

from __future__ import annotations

import attrs

from ..core.rule import Predicate, Priority
from ..exceptions import PolicyError
from ..predicates.labelpresence import node_label_presence
from ..predicates.serviceaffinity import service_affinity
from ..priorities.nodelabel import node_label
from ..priorities.requestedtocapacity import requested_to_capacity_ratio_of
from ..priorities.serviceantiaffinity import service_anti_affinity
from .catalogue import check_name
from .policy import PredicateArgument, PredicateEntry, PriorityArgument, PriorityEntry, RatioArguments
from .registry import Registry


def register_predicate(registry: Registry, entry: PredicateEntry) -> str:
    """Register the predicate that *entry* asks for under its name, in place of any other; returns the name."""
    if entry.argument is not None:
        _check_one(attrs.astuple(entry.argument, recurse=False), "predicate", "Predicate", entry.name)
        check_name(entry.name)
        registry.predicates[entry.name] = _predicate(entry.name, entry.argument)
    elif entry.name not in registry.predicates:
        raise PolicyError(f"Invalid configuration: Predicate type not found for {entry.name}")
    return entry.name


def register_priority(registry: Registry, entry: PriorityEntry) -> str:
    """Register the priority that *entry* asks for under its name and weight, in place of any other; returns the name."""
    name, argument = entry.name, entry.argument
    if argument is not None:
        _check_one(attrs.astuple(argument, recurse=False), "priority", "Priority", name)
        check_name(name)
        # Upstream: an argument is checked when the list of priorities is made, unless another entry has replaced it.
        registry.priorities[name] = lambda: _priority(name, argument, registry.release.ratio_reads_resources)
    elif name not in registry.priorities:
        raise PolicyError(f"Invalid configuration: Priority type not found for {name}")
    registry.weights[name] = entry.weight
    return name


def _check_one(arguments: tuple[object, ...], what: str, title: str, name: str) -> None:
    given = sum(argument is not None for argument in arguments)
    if given != 1:
        raise PolicyError(f"Exactly 1 {what} argument is required, numArgs: {given}, {title}: {name}")


def _predicate(name: str, argument: PredicateArgument) -> Predicate:
    if argument.service_affinity is not None:
        return service_affinity(name, argument.service_affinity.labels)
    assert argument.labels_presence is not None
    return node_label_presence(name, argument.labels_presence.labels, argument.labels_presence.presence)


def _priority(name: str, argument: PriorityArgument, reads_resources: bool) -> Priority:
    if argument.service_anti_affinity is not None:
        return service_anti_affinity(name, argument.service_anti_affinity.label)
    if argument.label_preference is not None:
        return node_label(name, argument.label_preference.label, argument.label_preference.presence)
    assert argument.ratio is not None
    return _ratio(name, argument.ratio, reads_resources)


def _ratio(name: str, arguments: RatioArguments, reads_resources: bool) -> Priority:
    shape = [(point.utilization, point.score) for point in arguments.shape]
    resources = {resource.name: resource.weight for resource in arguments.resources} if reads_resources else {}
    return requested_to_capacity_ratio_of(name, shape, resources)
