"""The rules of a configuration as switches and sliders, and what can be done to it: a release, a source, a switch, a weight, a setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import attrs

from ...algorithmprovider.cells import TIE_BREAKS
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.registry import Registry
from ...api.objects import Map
from ...core.rule import Algorithm
from ...exceptions import did_you_mean
from ...framework.releases import ALL_RELEASES, FRAMEWORK_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from ..scenario import ORDERS
from .labconfiguration import LabConfiguration, LabError, Source, check_release, default_source


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


# --- changes ----------------------------------------------------------------------------------------------------------


MOST_WEIGHT = 1_000_000
CHOICES: Mapping[str, tuple[str, ...]] = {"order": ORDERS, "tieBreak": tuple(TIE_BREAKS)}
FIELDS = {"order": "order", "tieBreak": "tie_break", "seed": "seed", "preemption": "preemption", "percentage": "percentage",
          "hardPodAffinityWeight": "hard_weight"}  # fmt: skip
"""Name of a setting -> the field of :class:`~.labconfiguration.LabConfiguration`."""


def with_release(configuration: LabConfiguration, release: str, source: Source | None = None) -> LabConfiguration:
    """The same on another release. What that release does not have falls away. Raises :class:`~.labconfiguration.LabError`."""
    check_release(release)
    kept = source or (configuration.source if configuration.source.runs_on(release) else default_source(release))
    return _still_moved(attrs.evolve(configuration, release=release, source=kept))


def with_source(configuration: LabConfiguration, source: Source) -> LabConfiguration:
    """The rules of *source*, as it has them. Raises :class:`~.labconfiguration.LabError`."""
    if not source.runs_on(configuration.release):
        versions = FRAMEWORK_RELEASES[configuration.release].configuration.api_versions if configuration.runs_profiles else ()
        wanted = f"a configuration of {' or '.join(versions)}" if versions else "a Policy or a provider"
        raise LabError(f"{source.name}: release {configuration.release} wants {wanted}", "source")
    return attrs.evolve(configuration, source=source, switches=Map(), weights=Map())


def _check_moves(configuration: LabConfiguration, field: str) -> None:
    if not configuration.moves_rules:
        raise LabError(configuration.why_fixed, field)


def switched(configuration: LabConfiguration, name: str, on: bool) -> LabConfiguration:
    """With a predicate, or a plugin that filters, on or off. Raises :class:`~.labconfiguration.LabError`."""
    _check_moves(configuration, f"switch:{name}")
    rules = {rule.name: rule for rule in filters_of(configuration)}
    if name not in rules:
        raise LabError(f'got the rule "{name}", wanted one of {configuration.release}{did_you_mean(name, rules)}', f"switch:{name}")
    if rules[name].is_mandatory and not on:
        raise LabError(f"{name}: release {configuration.release} always runs it", f"switch:{name}")
    moved = {key: value for key, value in configuration.switches.items() if key != name}
    return attrs.evolve(configuration, switches=Map(moved if on == rules[name].is_default else {**moved, name: on}))


def weighed(configuration: LabConfiguration, name: str, weight: object) -> LabConfiguration:
    """With another weight of a priority, or of a plugin that scores; 0 is off. Raises :class:`~.labconfiguration.LabError`."""
    _check_moves(configuration, f"weight:{name}")
    rules = {rule.name: rule for rule in scorers_of(configuration)}
    if name not in rules:
        raise LabError(f'got the rule "{name}", wanted one of {configuration.release}{did_you_mean(name, rules)}', f"weight:{name}")
    number = whole(weight, 0, MOST_WEIGHT, f"weight:{name}")
    moved = {key: value for key, value in configuration.weights.items() if key != name}
    return attrs.evolve(configuration, weights=Map(moved if number == rules[name].default else {**moved, name: number}))


def with_setting(configuration: LabConfiguration, name: str, value: object) -> LabConfiguration:
    """With another value of one of :data:`FIELDS`; None: as the source or the release says. Raises :class:`~.labconfiguration.LabError`."""
    if name not in FIELDS:
        raise LabError(f'setting: got "{name}", wanted one of {", ".join(FIELDS)}', name)
    if value is None and name in ("percentage", "hardPodAffinityWeight"):
        return _evolved(configuration, name, None)
    if name == "preemption" and not isinstance(value, bool):
        raise LabError(f"{name}: got {value!r}, wanted true or false", name)
    if name in CHOICES and value not in CHOICES[name]:
        raise LabError(f"{name}: got {value!r}, wanted one of {', '.join(CHOICES[name])}", name)
    if name == "seed":
        value = whole(value, -(2**53), 2**53, name)
    elif name in ("percentage", "hardPodAffinityWeight"):
        value = whole(value, 1 if name != "percentage" and not configuration.runs_profiles else 0, 100, name)
    return _evolved(configuration, name, value)


def whole(value: object, least: int, most: int, field: str) -> int:
    """*value*, a whole number in these bounds. Raises :class:`~.labconfiguration.LabError`."""
    if type(value) is not int or not least <= value <= most:
        raise LabError(f"{field.rpartition(':')[2]}: got {value!r}, wanted a whole number from {least} to {most}", field)
    return value


def _evolved(configuration: LabConfiguration, name: str, value: object) -> LabConfiguration:
    changes: dict[str, Any] = {FIELDS[name]: value}
    return attrs.evolve(configuration, **changes)


def _still_moved(configuration: LabConfiguration) -> LabConfiguration:
    """Without what was moved of rules that the release does not have, or has so already."""
    plain = attrs.evolve(configuration, switches=Map(), weights=Map())
    if not configuration.moves_rules:
        return plain
    filters, scorers = {rule.name: rule for rule in filters_of(plain)}, {rule.name: rule for rule in scorers_of(plain)}
    switches = {
        name: on for name, on in configuration.switches.items()
        if name in filters and filters[name].is_default != on and (on or not filters[name].is_mandatory)
    }  # fmt: skip
    weights = {name: weight for name, weight in configuration.weights.items() if name in scorers and scorers[name].default != weight}
    return attrs.evolve(configuration, switches=Map(switches), weights=Map(weights))
