"""What a release with predicates and priorities is, as plain data. For any release see ``framework/describe.py``."""

from __future__ import annotations

from typing import Any

from ..core.release import FeatureGate, Release
from ..core.release.gates import gates_that
from .releases import find_release

Json = dict[str, Any]

WITH_ARGUMENT = ("CheckNodeLabelPresence", "CheckServiceAffinity")
"""Predicates that a Policy makes under a name of its own, by an argument."""


def describe(name: str, *, all_gates: bool = False) -> Json:
    """The release *name* as JSON: predicates in running order, priorities with their weights, gates.

    Gates are those that decisions may depend on, or *all_gates* that the release knows.
    Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    release, decisive = find_release(name), gates_that("decides up to 1.16")
    return {
        "release": release.version,
        "predicates": {name: _predicate(release, name) for name in _predicates(release)},
        "priorities": {name: _priority(release, name) for name in _priorities(release)},
        "gates": {name: gate_in_words(gate) for name, gate in release.gates.items() if all_gates or name in decisive},
    }


# --- names ----------------------------------------------------------------------------------------------------------


def _predicates(release: Release) -> list[str]:
    gated = (name for effect in release.gate_effects for name in effect.registers)
    return list(dict.fromkeys((*release.ordering, *release.predicates, *gated)))


def _predicate(release: Release, name: str) -> str:
    """When *name* runs, in a few words."""
    if name not in release.ordering:
        return "accepted, never runs"
    switch = _gate_of(release, name)
    if name in release.default_predicates or (switch is not None and name in release.default_predicates + _added(release)):
        return f"default{switch or ''}"
    if name in release.predicates:
        return f"named by a Policy{switch or ''}"
    return "with an argument only" if name in WITH_ARGUMENT else "no Policy can name it"


def _added(release: Release) -> tuple[str, ...]:
    return tuple(name for effect in release.gate_effects for name in effect.adds)


def _gate_of(release: Release, name: str) -> str | None:
    for effect in release.gate_effects:
        if name in effect.unregisters:
            return f" without {effect.gate}"
        if name in effect.registers:
            return f" with {effect.gate}"
    return None


def _priorities(release: Release) -> list[str]:
    gated = (effect.registers_priority for effect in release.gate_effects if effect.registers_priority)
    return list(dict.fromkeys((*release.priorities, *gated)))


def _priority(release: Release, name: str) -> str:
    for effect in release.gate_effects:
        if name == effect.registers_priority:
            return f"{'default, weight 1,' if effect.adds_priority else 'named by a Policy'} with {effect.gate}"
    weight = release.default_priorities.get(name)
    return "named by a Policy" if weight is None else f"default, weight {weight}"


def gate_in_words(gate: FeatureGate) -> str:
    """A gate's default, its stage, and whether it is locked."""
    locked = ", locked" if gate.locked else ""
    return f"{'on' if gate.default else 'off'}, {gate.stage or 'GA'}{locked}"
