"""The catalogue: all rules by name, upstream's and a user's own. A release says which names may be used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from ..core.cycle import Predicate, Priority
from ..core.guard import guarded_predicate, guarded_priority
from ..exceptions import PolicyError, check_type
from ..predicates import CATALOGUE as PREDICATES
from ..priorities import CATALOGUE as PRIORITIES

VALID_NAME = re.compile(r"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])\Z")


def check_name(name: str) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` where *name* may not be a rule's: two characters or
    more, none of ``_ . /``."""
    if not VALID_NAME.match(name):
        raise PolicyError(
            f'Algorithm name {name} does not match the name validation regexp "^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$".'
        )


@attrs.frozen(repr=False)
class Catalogue:
    """Predicates and priorities by name. It is immutable: :meth:`with_` makes a new one.

    ``added_predicates`` and ``added_priorities`` (with their weights) are a user's own, in the order in which
    they were added.
    """

    predicates: Mapping[str, Predicate] = MappingProxyType({})
    priorities: Mapping[str, Priority] = MappingProxyType({})
    added_predicates: tuple[str, ...] = ()
    added_priorities: Mapping[str, int] = MappingProxyType({})

    def __repr__(self) -> str:
        names = [*self.added_predicates, *self.added_priorities]
        counts = f"{len(self.predicates)} predicates, {len(self.priorities)} priorities"
        return f"<Catalogue: {counts}{', with ' + ', '.join(names) if names else ''}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and pickles: upstream's rules by name alone."""
        # Each name with its rule, None where it is upstream's.
        rules_by_name = [
            {name: None if upstream.get(name) is rule else rule for name, rule in rules.items()}
            for rules, upstream in ((self.predicates, PREDICATES), (self.priorities, PRIORITIES))
        ]
        return _restored, (*rules_by_name, self.added_predicates, dict(self.added_priorities))

    def with_(self, rule: Predicate | Priority, weight: int = 1) -> Catalogue:
        """A catalogue with *rule* as well. The rule becomes part of every provider's set, and a Policy may
        name it.

        A predicate runs after upstream's ordering and after those added earlier; a priority counts with
        *weight*. Whatever it does wrong later is a :class:`~kubeclassic.exceptions.RuleError` that names it.
        Raises :class:`~kubeclassic.exceptions.PolicyError` for a name that is taken or that upstream would
        not register.
        """
        check_type("rule", rule, (Predicate, Priority), "a predicate or a priority")
        check_type("weight", weight, int, "a whole number")
        check_name(rule.name)
        if rule.name in self.predicates or rule.name in self.priorities:
            raise PolicyError(f'rule: expected a name of its own, got "{rule.name}", which there is already')
        if isinstance(rule, Predicate):
            rule = guarded_predicate(rule)
            return attrs.evolve(
                self,
                predicates=MappingProxyType({**self.predicates, rule.name: rule}),
                added_predicates=(*self.added_predicates, rule.name),
            )
        rule = guarded_priority(rule)
        return attrs.evolve(
            self,
            priorities=MappingProxyType({**self.priorities, rule.name: rule}),
            added_priorities=MappingProxyType({**self.added_priorities, rule.name: weight}),
        )


def _restored(
    predicates: dict[str, Predicate | None],
    priorities: dict[str, Priority | None],
    added: tuple[str, ...],
    weights: dict[str, int],
) -> Catalogue:
    own_predicates = {name: rule or PREDICATES[name] for name, rule in predicates.items()}
    own_priorities = {name: rule or PRIORITIES[name] for name, rule in priorities.items()}
    return Catalogue(
        MappingProxyType(own_predicates), MappingProxyType(own_priorities), added, MappingProxyType(weights)
    )


CATALOGUE = Catalogue(PREDICATES, PRIORITIES)
"""Upstream's own rules."""
