"""What any release is, and what two of them differ in, as values and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ...algorithmprovider.description.cellwords import CELLS, value_in_words
from ...algorithmprovider.description.describe import behaviour, describe, gate_in_words
from ...algorithmprovider.releases import DEFAULT_RELEASE
from ...core.release import Release
from ..config.decisive import DECIDING, DECISIVE, IDLE
from ..registry import registry_of
from ..releases import ALL_PATCH_LEVELS, ALL_RELEASES, DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, find_any_release
from .changes import CHANGES, MESSAGES, Change
from .correspondences import Successor, points_of, successors, weights

Json = dict[str, Any]

PREDICATES_AND_PRIORITIES, PLUGINS = "predicates and priorities", "plugins"
"""What the releases of the two generations run."""

OLDER_CELLS = frozenset({
    "default_percentage", "equivalence_cache", "snapshot_keeps_nodeless", "transient_reset_all", "error_joiner", "texts.predicate",
    "texts.priority", "texts.overflow", "affinity_texts.existing", "affinity_texts.affinity", "selector_text", "reads_out_of_disk",
    "best_effort_sees_init_containers", "spread_matches_any_selector", "ratio_mean", "ratio_reads_resources", "interpod_counts_by_name",
    "volumes.zone_needs_scheduling_gate", "volumes.binding_gate", "volumes.selected_node_is_immediate", "volumes.keeps_stale_decisions",
    "volumes.claim_text_has_namespace", "preemption.refreshes_snapshot", "preemption.needs_priority_gate",
    "preemption.nominates_before_api", "queue.fifo_without_priority", "queue.fifo_wait_doubles", "queue.pop_removes_nomination",
    "queue.parks_by_condition", "queue.probe_times",
})  # fmt: skip
"""Cells that mean nothing in the framework."""


@attrs.frozen
class ReleaseSummary:
    """A release in a line."""

    release: str
    like: str
    """The patch level that it is like."""
    runs: str
    is_default: bool
    """Whether it is the one that is taken where none is named: without a profile, or with one."""

    def record(self) -> Json:
        """As plain data."""
        return {"release": self.release, "like": self.like, "runs": self.runs, "default": self.is_default}


@attrs.frozen
class CellDifference:
    """One thing in which two releases of a kind differ; None where one of them does not have it."""

    about: str
    """``predicates``, ``priorities``, ``plugins``, ``gates`` or ``behaviour``."""
    what: str
    """The name of the rule, gate or cell."""
    words: str | None
    """What a cell says, or a gate of the framework decides; None for names."""
    before: Any
    after: Any


@attrs.frozen
class ReleaseDiff:
    """Everything in which two releases differ."""

    before: str
    after: str
    differences: tuple[CellDifference, ...] = ()
    successors: tuple[Successor, ...] = ()
    """What took the place of each rule, between the two generations; this and the next are always from the older to the newer release."""
    changes: tuple[Change, ...] = ()
    messages: tuple[Change, ...] = ()

    @property
    def is_backwards(self) -> bool:
        """Whether the newer release of two generations was named first."""
        return bool(self.successors) and has_plugins(self.before)

    def record(self) -> Json:
        """As plain data, in the form of ``kubeclassic schema releases``."""
        return {
            "before": self.before,
            "after": self.after,
            "differences": [_difference_record(difference) for difference in self.differences],
            "successors": [_successor_record(successor) for successor in self.successors],
            "changes": [attrs.asdict(change) for change in self.changes],
            "messages": [attrs.asdict(change) for change in self.messages],
        }


def _difference_record(difference: CellDifference) -> Json:
    sides = {"before": difference.before, "after": difference.after}
    return {**attrs.asdict(difference), **{f"{side}Words": value_in_words(value) for side, value in sides.items()}}


def _successor_record(successor: Successor) -> Json:
    plugins = [{"plugin": plugin, "points": list(points)} for plugin, points in successor.plugins.items()]
    return {**attrs.asdict(successor, recurse=False), "plugins": plugins}


# --- one release ----------------------------------------------------------------------------------------------------


def summaries() -> list[ReleaseSummary]:
    """Every release, oldest first."""
    defaults = (DEFAULT_RELEASE, DEFAULT_FRAMEWORK)
    return [ReleaseSummary(name, ALL_PATCH_LEVELS[name], _runs(name), name in defaults) for name in ALL_RELEASES]


def _runs(version: str) -> str:
    return PLUGINS if has_plugins(version) else PREDICATES_AND_PRIORITIES


def has_plugins(version: str) -> bool:
    """Whether the release *version* runs plugins."""
    return version in FRAMEWORK_RELEASES


def describe_any(name: str, *, all_gates: bool = False) -> Json:
    """The release called *name* as plain data: rules or plugins in running order, gates, and every cell of behaviour.

    Gates are those that decisions may depend on, or *all_gates*. Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    release = find_any_release(name)
    found = _described(release, all_gates)
    cells = [{"cell": cell, "about": CELLS[cell][0], "words": CELLS[cell][1], "value": value} for cell, value in found["behaviour"].items()]
    head = {"release": release.version, "like": ALL_PATCH_LEVELS[release.version], "runs": _runs(release.version)}
    return {**head, **{part: found[part] for part in found if part != "release"}, "behaviour": cells}


def _described(release: Release, all_gates: bool) -> Json:
    """As :func:`~kubeclassic.algorithmprovider.description.describe.describe`, for both generations."""
    if not has_plugins(release.version):
        return describe(release.version, all_gates=all_gates)
    gates = dict(_gates(release, all_gates))
    cells = {cell: value for cell, value in behaviour(release) if cell not in OLDER_CELLS}
    return {"release": release.version, "plugins": _plugins(release), "gates": gates, "behaviour": cells}


def _gates(release: Release, all_gates: bool) -> Iterator[tuple[str, str]]:
    cells = release.configuration
    shown = DECISIVE.union(cells.not_modelled)
    for name in sorted({*release.gates, *(shown & cells.settled_gates)}):
        if name in cells.settled_gates:
            yield name, "gone, always on"
        elif all_gates or name in shown:
            yield name, gate_in_words(release.gates[name]) + (", not modelled" if name in cells.not_modelled else "")


def gate_words(gate: str) -> str | None:
    """What *gate* decides in the framework, or why it changes no answer; None for one that decisions do not ask."""
    missing = next((found for release in FRAMEWORK_RELEASES.values() if (found := release.configuration.not_modelled.get(gate))), None)
    return DECIDING.get(gate) or IDLE.get(gate) or missing


def _plugins(release: Release) -> dict[str, Json]:
    """Plugin -> its points, its weight (None: it does not score), and whether it is a default, in the order of the default profile."""
    known = weights(release)
    return {
        name: {"points": list(points_of(name)), "weight": _weight(name, known.get(name, 0)), "default": name in known}
        for name in dict.fromkeys([*known, *registry_of(release)])
    }


def plugin_in_words(plugin: Json) -> str:
    """When a plugin runs, in a few words."""
    weight = f", weight {plugin['weight']}" if plugin["weight"] is not None else ""
    return f"default{weight}" if plugin["default"] else "named by a profile"


def _weight(plugin: str, weight: int) -> int | None:
    return (weight or 1) if "score" in points_of(plugin) else None


# --- two releases ---------------------------------------------------------------------------------------------------


def diff_any(before: str, after: str, *, all_gates: bool = False) -> ReleaseDiff:
    """Everything in which the releases *before* and *after* differ. Raises :class:`~kubeclassic.exceptions.UnknownNameError`."""
    releases = find_any_release(before), find_any_release(after)
    old, new = (_described(release, all_gates) for release in releases)
    pair = releases[0].version, releases[1].version
    older = [release for release in releases if not has_plugins(release.version)]
    if len(older) != 1:
        parts = ("predicates", "priorities", "gates", "behaviour") if older else ("plugins", "gates", "behaviour")
        sides = [side if older else {**side, "plugins": _in_words(side["plugins"])} for side in (old, new)]
        return ReleaseDiff(*pair, tuple(_differences(parts, *sides)))
    cells = old["behaviour"].keys() & new["behaviour"].keys() - OLDER_CELLS
    sides = [{**side, "behaviour": {cell: side["behaviour"][cell] for cell in side["behaviour"] if cell in cells}} for side in (old, new)]
    newer = next(release for release in releases if has_plugins(release.version))
    rules = tuple(successors(older[0], old if "predicates" in old else new, newer))
    return ReleaseDiff(*pair, tuple(_differences(("gates", "behaviour"), *sides)), rules, CHANGES, MESSAGES)


def _in_words(plugins: Mapping[str, Json]) -> dict[str, str]:
    return {name: plugin_in_words(plugin) for name, plugin in plugins.items()}


def _differences(parts: tuple[str, ...], old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[CellDifference]:
    for about in parts:
        for what in dict.fromkeys((*old[about], *new[about])):
            before, after = old[about].get(what), new[about].get(what)
            if before != after:
                yield CellDifference(about, what, _words(about, what), before, after)


def _words(about: str, what: str) -> str | None:
    if about == "behaviour":
        return CELLS[what][1]
    return gate_words(what) if about == "gates" else None
