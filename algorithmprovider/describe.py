"""What a release is, and what two releases differ in, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ..core.release import ClientCells, Gate, NominationCells, PreemptionCells, QueueCells, Release, VolumeCells
from .releases import find_release

Json = dict[str, Any]

SHOWN_ELSEWHERE = (
    *("version", "ordering", "predicates", "default_predicates", "mandatory_predicates"),
    *("priorities", "default_priorities", "gates", "gate_effects"),
)
DECISIVE_GATES = (
    *("TaintNodesByCondition", "PodPriority", "AttachVolumeLimit", "VolumeScheduling", "BalanceAttachedNodeVolumes", "BlockVolume"),
    *("ResourceLimitsPriorityFunction", "EnableEquivalenceClassCache", "EvenPodsSpread", "PodOverhead", "NonPreemptingPriority"),
    *("CSINodeInfo", "CSIMigration", "CSIMigrationAWS", "CSIMigrationGCE", "CSIMigrationAzureDisk", "CSIMigrationOpenStack"),
)
"""The gates that a decision may depend on."""
GROUPS = (VolumeCells, PreemptionCells, QueueCells, NominationCells, ClientCells)


@attrs.frozen
class Difference:
    """One thing in which two releases differ; None where one of them does not have it."""

    about: str
    """``predicates``, ``priorities``, ``gates`` or ``behaviour``."""
    what: str
    before: Any
    after: Any


def describe(name: str, *, all_gates: bool = False) -> Json:
    """The release *name* as JSON: predicates in running order, priorities with their weights, gates, and every cell of behaviour.

    Functions are shown by name; gates are those that decisions may depend on, or *all_gates* that the release knows.
    Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    release = find_release(name)
    return {
        "release": release.version,
        "predicates": {name: _predicate(release, name) for name in _predicates(release)},
        "priorities": {name: _priority(release, name) for name in _priorities(release)},
        "gates": {name: _gate(gate) for name, gate in release.gates.items() if all_gates or name in DECISIVE_GATES},
        "behaviour": dict(_behaviour(release)),
    }


def diff(before: str, after: str, *, all_gates: bool = False) -> list[Difference]:
    """Everything in which the releases *before* and *after* differ, by subject; *all_gates* as for :func:`describe`."""
    old, new = describe(before, all_gates=all_gates), describe(after, all_gates=all_gates)
    found = (_differences(about, old[about], new[about]) for about in ("predicates", "priorities", "gates", "behaviour"))
    return [difference for part in found for difference in part]


def _differences(about: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for what in dict.fromkeys((*old, *new)):
        if old.get(what) != new.get(what):
            yield Difference(about, what, old.get(what), new.get(what))


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
    return f"named by a Policy{switch or ''}" if name in release.predicates else "with an argument only"


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


def _gate(gate: Gate) -> str:
    locked = ", locked" if gate.locked else ""
    return f"{'on' if gate.default else 'off'}, {gate.stage or 'GA'}{locked}"


# --- behaviour ------------------------------------------------------------------------------------------------------


def _behaviour(release: Release) -> Iterator[tuple[str, Any]]:
    for field in attrs.fields(Release):
        if field.name not in SHOWN_ELSEWHERE:
            yield from _cells(field.name, getattr(release, field.name))


def _cells(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, GROUPS):
        for field in attrs.fields(type(value)):
            yield from _cells(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{name}.{key}", item
    else:
        yield name, getattr(value, "__name__", value) if callable(value) else value
