"""The rules of a configuration as switches and sliders: which there are, which are on, and what the source says of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import attrs

from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.registry import Registry
from ...api.objects import Map
from ...core.rule import Algorithm
from ...framework.releases import ALL_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from .labconfiguration import LabConfiguration
from .source import Source


@attrs.frozen
class FilterRule:
    """A predicate, or a plugin that filters."""

    name: str
    is_on: bool
    is_default: bool
    """Whether it is on in the source."""
    is_mandatory: bool = False
    """The release always runs it."""
    runs: bool = True
    """False for a name that the release accepts and never runs."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {"name": self.name, "on": self.is_on, "default": self.is_default, "mandatory": self.is_mandatory, "runs": self.runs}


@attrs.frozen
class ScoreRule:
    """A priority, or a plugin that scores."""

    name: str
    weight: int
    """0: off."""
    default: int
    """The weight in the source."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return attrs.asdict(self)


def filters_of(configuration: LabConfiguration) -> list[FilterRule]:
    """The predicates, or the plugins that filter, in running order."""
    return list(_filters(_Asked.of(configuration), configuration.switches))


def scorers_of(configuration: LabConfiguration) -> list[ScoreRule]:
    """The priorities, or the plugins that score: those of the source first."""
    known = _known(_Asked.of(configuration))
    moved = configuration.weights
    found = [ScoreRule(name, moved.get(name, weight), weight) for name, weight in known.weights.items()]
    return sorted(found, key=lambda rule: not rule.default)


def _filters(asked: _Asked, switches: Map[bool]) -> Iterable[FilterRule]:
    known = _known(asked)
    for name, runs in known.filters.items():
        default = name in known.on
        mandatory = name in known.mandatory
        yield FilterRule(name, mandatory or switches.get(name, default), default or mandatory, mandatory, runs)


@attrs.frozen
class _Known:
    filters: Map[bool]
    """Name -> whether it ever runs."""
    on: frozenset[str]
    mandatory: frozenset[str]
    weights: Map[int]


@attrs.frozen(eq=False)
class _Asked:
    """A configuration as its source has it."""

    plain: LabConfiguration

    @classmethod
    def of(cls, configuration: LabConfiguration) -> _Asked:
        return cls(attrs.evolve(configuration, switches=Map(), weights=Map(), hard_weight=None, percentage=None))

    @property
    def key(self) -> tuple[SchedulerSpec, str, Source]:
        return self.plain.start, self.plain.release, self.plain.source

    def __hash__(self) -> int:
        return hash((id(self.plain.start), self.plain.release, id(self.plain.source)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and all(a is b or a == b for a, b in zip(self.key, other.key, strict=True))


@lru_cache(maxsize=64)
def _known(asked: _Asked) -> _Known:
    plain = asked.plain
    if plain.runs_profiles:
        return _of_algorithm(plain.spec().engine().algorithm)
    release = ALL_RELEASES[plain.release]
    registry = Registry.of(release, resolved_gates(release, plain.gates), plain.start.catalogue)
    policy = plain.base_policy()
    on = [entry.get("name", "") for entry in policy["predicates"]]
    order = {name: at for at, name in enumerate((*release.ordering, *plain.start.catalogue.added_predicates))}
    names = sorted(dict.fromkeys((*registry.predicates, *on)), key=lambda name: order.get(name, len(order)))
    weights = dict.fromkeys(registry.priorities, 0) | {entry.get("name", ""): entry.get("weight", 0) for entry in policy["priorities"]}
    return _Known(Map({name: name in order for name in names}), frozenset(on), frozenset(registry.mandatory), Map(weights))


def _of_algorithm(algorithm: Algorithm) -> _Known:
    names = [predicate.name for predicate in algorithm.predicates]
    weights = {priority.name: weight for priority, weight in algorithm.priorities}
    return _Known(Map(dict.fromkeys(names, True)), frozenset(names), frozenset(), Map(weights))
