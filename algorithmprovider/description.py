"""What a release with predicates and priorities is, as plain data, and what its cells mean in words.

A cell that is yes or no has a statement, which is true or not; any other cell has a subject, of which the value says how it is. For any
release see ``framework/describe.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from ..core.release import (
    ClientCells,
    ConfigurationCells,
    DeviceCells,
    ExtenderCells,
    FeatureGate,
    FrameworkCells,
    LiveCells,
    NominationCells,
    PolicyCells,
    PreemptionCells,
    QueueCells,
    QueueingCells,
    Release,
    VolumeCells,
    words_of,
)
from .releases import find_release

GROUPS: Mapping[str, type[Struct]] = {
    "volumes": VolumeCells, "preemption": PreemptionCells, "queue": QueueCells, "nominations": NominationCells, "client": ClientCells,
    "extenders": ExtenderCells, "live": LiveCells, "framework": FrameworkCells, "configuration": ConfigurationCells,
    "devices": DeviceCells, "queueing": QueueingCells, "policies": PolicyCells,
}  # fmt: skip
"""The classes of cells that a release has, by the name of its field."""


def _told() -> Iterator[tuple[str, str, str]]:
    """Each cell of a release with what it is about, and what it says."""
    yield from words_of(Release)
    for group, cells in GROUPS.items():
        about = "queue" if group == "nominations" else group
        yield from ((f"{group}.{name}", about, words) for name, _, words in words_of(cells))


CELLS: Mapping[str, tuple[str, str]] = {name: (about, words) for name, about, words in _told() if words}
"""Cell -> the part of scheduling that it is about, and what it says."""

_SIDECARS = "the sum of its containers and sidecars, or what an init container needs beside the sidecars before it; overhead"
_AS_A_WHOLE = f"{_SIDECARS}; with gate PodLevelResources cpu and memory of the pod as a whole in place of sums"
VALUES: Mapping[str, str] = {
    "of_containers": "the sum of its containers",
    "of_all_containers": "the sum of its containers, or an init container that asks for more",
    "with_overhead": "the sum of its containers, or an init container that asks for more; overhead with gate PodOverhead",
    "gated_sums": "the sum of its containers, or an init container that asks for more; overhead and local storage with their gates",
    "half_gated_sums": "the sum of its containers, or an init container that asks for more; overhead with its gate, and local storage, "
    "that of init containers whatever its gate says",
    "rounded_sums": "the sum of its containers, each rounded, or an init container that asks for more, even 0; overhead and local storage "
    "with their gates",
    "sums_with_whole_overhead": "the sum of its containers, or an init container that asks for more; overhead in whole cores",
    "exact_sums": "the sum of its containers, or an init container that asks for more; overhead; only the sum is rounded",
    "with_sidecars": _SIDECARS,
    "with_sidecars_and_defaults": _SIDECARS,
    "nonzero_of_uses": "the sum of its containers (no sidecars), or what an init container needs beside sidecars before it; overhead",
    **dict.fromkeys(("of_pod", "of_pod_with_defaults", "nonzero_of_pod", "nonzero_of_pod_with_huge_pages"), _AS_A_WHOLE),
    "of_pod_with_huge_pages": f"{_SIDECARS}; with gate PodLevelResources cpu, memory and huge pages of the pod as a whole in place of sums",
    "as_specified": "what its spec says",
    "by_allocated": "what its spec says or its status has in allocatedResources, whichever is more; if infeasible the latter",
    "by_reported": "what its spec says or its status has in resources, whichever is more; if infeasible the latter",
    "by_reported_and_allocated": "the most of what its spec says and its status has in resources and allocatedResources, sidecars too; "
    "if condition PodResizePending says infeasible, without the spec",
    "nonzero_of_containers": "the sum of its containers",
    "nonzero_with_overhead": "the sum of its containers, or an init container that asks for more; overhead with gate PodOverhead",
    "nonzero_with_whole_overhead": "the sum of its containers, or an init container that asks for more; overhead in whole cores",
    "exact_sums_with_defaults": "the sum of its containers, or an init container that asks for more; overhead; only the sum is rounded",
    "nonzero_with_any_overhead": "the sum of its containers, or an init container that asks for more; overhead",
    "beta_zone_key": "failure-domain.beta.kubernetes.io/region and /zone",
    "zone_key": "failure-domain.beta.kubernetes.io/region and /zone; without these topology.kubernetes.io/region and /zone",
    "fixed_share": "a fixed share of all nodes, 100 at least",
    "adaptive_share": "a share that falls as the cluster grows, from 50 % to 5 %, 100 at least",
    "round_robin": "they take turns",
    "first_best": "one at random (here: the first in visiting order, see --tie-break)",
    "truncated_mean": "of all resources, cut to a whole number",
    "rounded_mean_of_positive": "of those that score above 0, by weight, rounded",
    "listed": "one after another",
    "listed_once": "one after another, equal ones once",
    "without_key": "without the label's name",
    "with_key": "with the label's name",
    "strict": "a missing one is an error with gate BlockVolume",
    "default": "a missing one means Filesystem; ignored without gate BlockVolume",
    "reject": "a missing one means Filesystem; without gate BlockVolume nothing matches Block",
    "always": "a missing one means Filesystem",
    "flag": "by a mark that each new attempt clears, so that it can miss a change",
    "cycle": "by the number of the cycle",
    "requested": "nothing; what the requests ask for is counted before",
    "again": "what was taken so far, and the whole number of the request, even if some of it was taken",
    "left": "what was taken so far, and what the request has left to take",
}
"""Name of a function or mode -> what it does."""


def value_in_words(value: Any) -> str | None:
    """The value of a cell for people; None for nothing.

    >>> value_in_words(True), value_in_words("round_robin"), value_in_words(("a", "b")), value_in_words(None), value_in_words("")
    ('yes', 'they take turns', 'a, b', None, 'none')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list | frozenset):
        parts = value if isinstance(value, tuple | list) else sorted(value)
        return ", ".join(value_in_words(part) or "none" for part in parts) or "none"
    if isinstance(value, str):
        return VALUES.get(value, value) or "none"
    return None if value is None else str(value)


Json = dict[str, Any]

SHOWN_ELSEWHERE = (
    *("version", "ordering", "predicates", "default_predicates", "mandatory_predicates"),
    *("priorities", "default_priorities", "gates", "gate_effects"),
    *(
        f"configuration.{name}"
        for name in ("default_plugins", "point_plugins", "gated_plugins", "gone_plugins", "settled_gates", "not_modelled", "versions")
    ),
    *(f"policies.{name}" for name, _, words in words_of(PolicyCells) if not words),
)
DECISIVE_GATES = (
    *("TaintNodesByCondition", "PodPriority", "AttachVolumeLimit", "VolumeScheduling", "BalanceAttachedNodeVolumes", "BlockVolume"),
    *("ResourceLimitsPriorityFunction", "EnableEquivalenceClassCache", "EvenPodsSpread", "PodOverhead", "NonPreemptingPriority"),
    *("CSINodeInfo", "CSIMigration", "CSIMigrationAWS", "CSIMigrationGCE", "CSIMigrationAzureDisk", "CSIMigrationOpenStack"),
)
"""The gates that a decision may depend on."""
WITH_ARGUMENT = ("CheckNodeLabelPresence", "CheckServiceAffinity")
"""Predicates that a Policy makes under a name of its own, by an argument."""
NEWER = ("framework.", "configuration.", "devices.", "policies.")
"""The cells of releases with plugins alone."""
WHOLE = ("client.resources",)
"""Mappings that are one cell, as their keys differ from release to release."""
WHERE_ANY = ("policies",)
"""Groups of cells that some releases do not have."""


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
        "gates": {name: gate_in_words(gate) for name, gate in release.gates.items() if all_gates or name in DECISIVE_GATES},
        "behaviour": {name: value for name, value in behaviour(release) if not name.startswith(NEWER)},
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


# --- behaviour ------------------------------------------------------------------------------------------------------


def behaviour(release: Release) -> Iterator[tuple[str, Any]]:
    """Every cell that is not a name, a gate or a default: (its name, its value as plain data)."""
    for name in Release.__struct_fields__:
        yield from _cells(name, getattr(release, name))


def _cells(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if name in SHOWN_ELSEWHERE or (value is None and name in WHERE_ANY):
        return
    if name in GROUPS:
        for inner in GROUPS[name].__struct_fields__:
            yield from _cells(f"{name}.{inner}", getattr(value, inner))
    elif name in WHOLE:
        yield name, [f"{key} {item}" for key, item in value.items()]
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{name}.{key}", item
    else:
        yield name, getattr(value, "__name__", value) if callable(value) else _plain(value)


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else list(value) if isinstance(value, tuple) else value
