"""Which layer asks which rules: those of the row alone, those of node objects alone, and those that look further."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ..rule import Predicate, Priority
from .cachedanswer import Scope


@attrs.frozen(eq=False, repr=False)
class Plan:
    """Which layer asks which of the rules that concern a pod: the same for all pods that these concern."""

    near: Sequence[Predicate]
    """Of the row alone."""
    beyond: Sequence[Predicate]
    of_nodes: Sequence[Predicate]
    """Of node objects alone."""
    worth: Sequence[tuple[Priority, int]]
    """Of the row alone, without a reduce step."""
    wider: Sequence[tuple[Priority, int]]

    @classmethod
    def of(cls, predicates: Sequence[Predicate], priorities: Sequence[tuple[Priority, int]]) -> Plan:
        """That of these rules."""
        far = [rule for rule in predicates if not rule.is_of_row]
        beyond = [rule for rule in far if Scope.of(rule.reads).is_global]
        worth = [item for item in priorities if item[0].is_of_row and item[0].reduce is None]
        return cls(
            [rule for rule in predicates if rule.is_of_row], beyond, [rule for rule in far if rule not in beyond],
            worth, [item for item in priorities if item not in worth],
        )  # fmt: skip
