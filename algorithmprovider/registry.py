"""The names that may be used: those of a release with its gates, with the functions of a catalogue.

One registry is made for each configuration and dropped afterwards. Upstream keeps a single one for the whole process, and a Policy changes
it permanently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import attrs

from ..core.release import GateEffect, Gates, Release
from ..core.rule import Predicate, Priority
from ..exceptions import PolicyError, UnknownNameError, did_you_mean
from .catalogue import Catalogue
from .gates import UNKNOWN_GATE

R = TypeVar("R", Predicate, Priority)
DEFAULT_PROVIDER = "DefaultProvider"
PROVIDERS: Mapping[str, Mapping[str, str]] = {
    DEFAULT_PROVIDER: {},
    "ClusterAutoscalerProvider": {"LeastRequestedPriority": "MostRequestedPriority"},
}
"""The providers, each with the priorities that replace default ones."""


@attrs.define(kw_only=True, repr=False)
class Registry:
    """Everything that is registered: functions by name, the providers' sets, and what is mandatory."""

    release: Release
    predicates: dict[str, Predicate]
    priorities: dict[str, Callable[[], Priority]]
    weights: dict[str, int]
    """Weights of priorities."""
    mandatory: tuple[str, ...]
    default_predicates: list[str]
    default_priorities: list[str]

    @classmethod
    def of(cls, release: Release, gates: Gates, catalogue: Catalogue) -> Registry:
        """What *release* registers with *gates*, and the rules that a user added to *catalogue*."""
        on = [effect for effect in release.gate_effects if gates[effect.gate]]
        priorities = [*release.priorities, *_priorities_of(on), *catalogue.added_priorities]
        predicates = [*_with(release.predicates, on), *catalogue.added_predicates]
        return cls(
            release=release,
            predicates={name: _of(catalogue.predicates, name, release.texts["predicate"]) for name in predicates},
            priorities={name: _always(_of(catalogue.priorities, name, release.texts["priority"])) for name in priorities},
            weights=dict.fromkeys(priorities, 1) | {**release.default_priorities} | {**catalogue.added_priorities},
            mandatory=next((effect.mandatory for effect in on if effect.mandatory is not None), release.mandatory_predicates),
            default_predicates=[*_with(release.default_predicates, on, adding=True), *catalogue.added_predicates],
            default_priorities=[*release.default_priorities, *_priorities_of(on, adding=True), *catalogue.added_priorities],
        )

    def provider(self, name: str) -> tuple[list[str], list[str]]:
        """The predicates and priorities of the provider *name*; raises :class:`~kubeclassic.exceptions.PolicyError` if there is none."""
        if name not in PROVIDERS:
            raise PolicyError(f'plugin "{name}" has not been registered')
        instead = PROVIDERS[name]
        return self.default_predicates, [instead.get(priority, priority) for priority in self.default_priorities]


def check_names(release: Release, gates: Iterable[str], provider: str | None, called: Callable[[str], str] = str) -> None:
    """Refuse unknown gates and providers in upstream's words, with what there is; *called*: how messages name an option.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    for name in gates:
        if name not in release.gates:
            raise UnknownNameError(f"{called('gates')}: {UNKNOWN_GATE}{name}{gates_of(name, release)}")
    if provider and provider not in PROVIDERS:
        wanted = f", expected {' or '.join(PROVIDERS)}"
        raise UnknownNameError(f'{called("provider")}: plugin "{provider}" has not been registered{wanted}')


def gates_of(name: str, release: Release) -> str:
    """Which gates may be meant by *name*, which *release* does not have, or where they are listed."""
    return did_you_mean(name, release.gates) or f"; `kubeclassic releases {release.version}` lists those of {release.version}"


def _with(names: Iterable[str], effects: Iterable[GateEffect], *, adding: bool = False) -> list[str]:
    found = dict.fromkeys(names)
    for effect in effects:
        found |= dict.fromkeys(effect.adds if adding else effect.registers)
        for name in effect.unregisters:
            found.pop(name, None)
    return list(found)


def _priorities_of(effects: Iterable[GateEffect], *, adding: bool = False) -> list[str]:
    wanted = (effect for effect in effects if effect.adds_priority or not adding)
    return [effect.registers_priority for effect in wanted if effect.registers_priority is not None]


def _of(rules: Mapping[str, R], name: str, text: str) -> R:
    if name not in rules:
        raise PolicyError(text.format(name=name))
    return rules[name]


def _always(rule: Priority) -> Callable[[], Priority]:
    return lambda: rule
