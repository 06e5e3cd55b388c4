"""What can be done to a configuration: another release, other rules, a switch, a weight, a setting. Each gives a new configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...algorithmprovider.cells import TIE_BREAKS
from ...api.objects import Map
from ...exceptions import did_you_mean
from ...framework.releases import FRAMEWORK_RELEASES
from ..scenario import ORDERS
from .labconfiguration import LabConfiguration
from .labrules import filters_of, scorers_of
from .source import LabError, Source, check_release, default_source

MOST_WEIGHT = 1_000_000
CHOICES: Mapping[str, tuple[str, ...]] = {"order": ORDERS, "tieBreak": tuple(TIE_BREAKS)}
FIELDS = {"order": "order", "tieBreak": "tie_break", "seed": "seed", "preemption": "preemption", "percentage": "percentage",
          "hardPodAffinityWeight": "hard_weight"}  # fmt: skip
"""Name of a setting -> the field of :class:`~.labconfiguration.LabConfiguration`."""


def with_release(configuration: LabConfiguration, release: str, source: Source | None = None) -> LabConfiguration:
    """The same on another release. What that release does not have falls away. Raises :class:`~.source.LabError`."""
    check_release(release)
    kept = source or (configuration.source if configuration.source.runs_on(release) else default_source(release))
    return _known(attrs.evolve(configuration, release=release, source=kept))


def with_source(configuration: LabConfiguration, source: Source) -> LabConfiguration:
    """The rules of *source*, as it has them. Raises :class:`~.source.LabError`."""
    if not source.runs_on(configuration.release):
        versions = FRAMEWORK_RELEASES[configuration.release].configuration.api_versions if configuration.runs_profiles else ()
        wanted = f"a configuration of {' or '.join(versions)}" if versions else "a Policy or a provider"
        raise LabError(f"{source.name}: release {configuration.release} wants {wanted}", "source")
    return attrs.evolve(configuration, source=source, switches=Map(), weights=Map())


def _check_moves(configuration: LabConfiguration, field: str) -> None:
    if not configuration.moves_rules:
        raise LabError(configuration.why_fixed, field)


def switched(configuration: LabConfiguration, name: str, on: bool) -> LabConfiguration:
    """With a predicate, or a plugin that filters, on or off. Raises :class:`~.source.LabError`."""
    _check_moves(configuration, f"switch:{name}")
    rules = {rule.name: rule for rule in filters_of(configuration)}
    if name not in rules:
        raise LabError(f'got the rule "{name}", wanted one of {configuration.release}{did_you_mean(name, rules)}', f"switch:{name}")
    if rules[name].is_mandatory and not on:
        raise LabError(f"{name}: release {configuration.release} always runs it", f"switch:{name}")
    moved = {key: value for key, value in configuration.switches.items() if key != name}
    return attrs.evolve(configuration, switches=Map(moved if on == rules[name].is_default else {**moved, name: on}))


def weighed(configuration: LabConfiguration, name: str, weight: object) -> LabConfiguration:
    """With another weight of a priority, or of a plugin that scores; 0 is off. Raises :class:`~.source.LabError`."""
    _check_moves(configuration, f"weight:{name}")
    rules = {rule.name: rule for rule in scorers_of(configuration)}
    if name not in rules:
        raise LabError(f'got the rule "{name}", wanted one of {configuration.release}{did_you_mean(name, rules)}', f"weight:{name}")
    number = whole(weight, 0, MOST_WEIGHT, f"weight:{name}")
    moved = {key: value for key, value in configuration.weights.items() if key != name}
    return attrs.evolve(configuration, weights=Map(moved if number == rules[name].default else {**moved, name: number}))


def with_setting(configuration: LabConfiguration, name: str, value: object) -> LabConfiguration:
    """With another value of one of :data:`FIELDS`; None: what the source or the release says. Raises :class:`~.source.LabError`."""
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
    """*value*, a whole number in these bounds. Raises :class:`~.source.LabError`."""
    if type(value) is not int or not least <= value <= most:
        raise LabError(f"{field.rpartition(':')[2]}: got {value!r}, wanted a whole number from {least} to {most}", field)
    return value


def _evolved(configuration: LabConfiguration, name: str, value: object) -> LabConfiguration:
    changes: dict[str, Any] = {FIELDS[name]: value}
    return attrs.evolve(configuration, **changes)


def _known(configuration: LabConfiguration) -> LabConfiguration:
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
