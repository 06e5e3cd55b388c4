"""The rules that a Policy names, and the arguments of their plugins.

Upstream: ProcessPredicatePolicy and ProcessPriorityPolicy in
pkg/scheduler/framework/plugins/legacy_registry.go.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...algorithmprovider.policy import Policy, PredicateEntry, PriorityEntry, RatioArguments, check_arguments
from ...algorithmprovider.providers import int32
from ...api.objects import MAX_INT64, wrap_int64
from ...core.release import Gates, PolicyCells
from ...exceptions import PolicyError
from ...priorities.requestedtocapacityratio import check_shape
from ..config.args import (
    CPU_AND_MEMORY,
    NodeLabelArgs,
    RequestedToCapacityRatioArgs,
    ResourceSpec,
    ServiceAffinityArgs,
    ShapePoint,
)
from ..plugin import MAX_NODE_SCORE

BY_ARGUMENT = frozenset(
    {
        "CheckNodeLabelPresence",
        "CheckServiceAffinity",
        "NodeLabel",
        "RequestedToCapacityRatio",
        "ServiceAffinity",
    }
)
"""The rules that an argument makes of an entry of another name."""
EQUAL = "EqualPriority"


@attrs.define(repr=False)
class PolicyRules:
    """The predicates and the priorities that run, and what their plugins get."""

    cells: PolicyCells
    gates: Gates
    predicates: dict[str, None] = attrs.Factory(dict)
    priorities: dict[str, int] = attrs.Factory(dict)
    """Priority -> weight."""
    node_label: NodeLabelArgs | None = None
    service_affinity: ServiceAffinityArgs | None = None
    ratio: RequestedToCapacityRatioArgs | None = None

    @classmethod
    def of(cls, policy: Policy, cells: PolicyCells, gates: Gates) -> PolicyRules:
        """The rules of *policy*. Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for
        a rule that does not exist."""
        found = cls(cells, gates)
        if policy.predicates is None:
            found.predicates = dict.fromkeys(name for name in cells.default_predicates if found._is_on(name))
        for predicate in policy.predicates or ():
            check_arguments(predicate, cells.two_arguments)
            found.predicates[found._predicate(predicate)] = None
        if policy.priorities is None:
            found.priorities = {
                name: weight for name, weight in cells.default_priorities.items() if found._is_on(name)
            }
        for priority in policy.priorities or ():
            if priority.name != EQUAL:
                check_arguments(priority, cells.two_arguments)
                found.priorities[found._priority(priority)] = priority.weight
        found.predicates |= dict.fromkeys(cells.mandatory_predicates)
        return found

    def _is_on(self, name: str) -> bool:
        gate = self.cells.rule_gates.get(name)
        return gate is None or self.gates.get(gate, False)

    def _is_known(self, name: str, rules: Mapping[str, str], argument: object) -> bool:
        # Upstream: where the name of a rule wins, its argument is lost.
        by_argument = self.cells.arguments_first and (name in BY_ARGUMENT or argument is not None)
        return name in rules and self._is_on(name) and not by_argument

    def _predicate(self, entry: PredicateEntry) -> str:
        name = self.cells.aliases.get(entry.name, entry.name)
        argument = entry.argument
        if self._is_known(name, self.cells.predicates, argument):
            return name
        if argument is not None and argument.service_affinity is not None:
            args = self.service_affinity or ServiceAffinityArgs()
            self.service_affinity = attrs.evolve(
                args, affinity_labels=args.affinity_labels + argument.service_affinity.labels
            )
            return "CheckServiceAffinity"
        if argument is None or argument.labels_presence is None:
            raise PolicyError(self.cells.unknown_predicate.format(name=name))
        labels = argument.labels_presence.labels
        kind = "present" if argument.labels_presence.presence else "absent"
        self._add_labels(f"{kind}_labels", labels)
        return "CheckNodeLabelPresence"

    def _add_labels(self, field: str, labels: tuple[str, ...]) -> None:
        args = self.node_label or NodeLabelArgs()
        self.node_label = attrs.evolve(args, **{field: getattr(args, field) + labels})

    def _priority(self, entry: PriorityEntry) -> str:
        name = self.cells.aliases.get(entry.name, entry.name)
        argument = entry.argument
        if self._is_known(name, self.cells.priorities, argument):
            return name
        if argument is None:
            raise PolicyError(self.cells.unknown_priority.format(name=name))
        if argument.service_anti_affinity is not None:
            args = self.service_affinity or ServiceAffinityArgs()
            self.service_affinity = attrs.evolve(
                args,
                anti_affinity_labels_preference=(
                    *args.anti_affinity_labels_preference,
                    argument.service_anti_affinity.label,
                ),
            )
            return "ServiceAffinity"
        if argument.label_preference is not None:
            kind = "present" if argument.label_preference.presence else "absent"
            self._add_labels(f"{kind}_labels_preference", (argument.label_preference.label,))
            return "NodeLabel"
        wanted = argument.ratio or RatioArguments()
        if self.cells.sums_weights_first:
            check_shape([(point.utilization, point.score * 10) for point in wanted.shape], MAX_NODE_SCORE)
        resources = tuple(ResourceSpec(resource.name, resource.weight) for resource in wanted.resources)
        if self.cells.fills_resources:
            resources = tuple(attrs.evolve(r, weight=r.weight or 1) for r in resources) or CPU_AND_MEMORY
        self.ratio = RequestedToCapacityRatioArgs(
            tuple(ShapePoint(point.utilization, point.score) for point in wanted.shape), resources
        )
        return "RequestedToCapacityRatio"

    def weight(self, name: str) -> int:
        """The weight of the Score plugin of priority *name*: 32 bits."""
        weight = int32(self.priorities[name])
        # Upstream: each label scores a share, so the weight counts once for each.
        if name == "NodeLabel":
            args = self.node_label or NodeLabelArgs()
            weight *= len(args.present_labels_preference) + len(args.absent_labels_preference)
        elif name == "ServiceAffinity":
            weight *= len((self.service_affinity or ServiceAffinityArgs()).anti_affinity_labels_preference)
        return int32(weight)

    def check_total(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.PolicyError` where the weights, before they are cut, are too
        high together."""
        total = 0
        for name in sorted(self.priorities):
            scaled = wrap_int64(self.priorities[name] * MAX_NODE_SCORE)
            if scaled > wrap_int64(MAX_INT64 - total):
                raise PolicyError("total priority of priority functions has overflown")
            total = wrap_int64(total + scaled)
