"""The releases 1.12 to 1.16 by their texts (``core/release/facts``), the first in full. No other file
compares versions.

Where releases differ in behaviour, the cell holds a function, named after what it does (``cells.py``). Such
cells are defined here, as changes from the release before. The queue and the nominations of 1.13 are those of
its late patch releases, as of 1.13.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from ..api.meaning import ServerRules
from ..choices import DEFAULT_RELEASE as DEFAULT_RELEASE
from ..core.pods import requests
from ..core.release import (
    CellGroup,
    ClientCells,
    ConfigurationCells,
    ExtenderCells,
    GateEffect,
    LiveCells,
    NominationCells,
    PreemptionCells,
    QueueCells,
    Release,
    VolumeCells,
)
from ..core.release.fact import Cells, SetEdit, changed_by, gates_of, text_of
from ..exceptions import UnknownNameError
from . import cells

TAINT_NODES_BY_CONDITION = GateEffect(
    gate="TaintNodesByCondition",
    registers=("CheckNodeUnschedulable",),
    unregisters=(
        "CheckNodeCondition",
        "CheckNodeMemoryPressure",
        "CheckNodePIDPressure",
        "CheckNodeDiskPressure",
    ),
    adds=("PodToleratesNodeTaints", "CheckNodeUnschedulable"),
    mandatory=("PodToleratesNodeTaints", "CheckNodeUnschedulable"),
)
RESOURCE_LIMITS = GateEffect(
    gate="ResourceLimitsPriorityFunction", registers_priority="ResourceLimitsPriority"
)
EVEN_PODS_SPREAD = GateEffect(
    gate="EvenPodsSpread",
    registers=("EvenPodsSpread",),
    adds=("EvenPodsSpread",),
    registers_priority="EvenPodsSpreadPriority",
    adds_priority=True,
)

_GROUPS: Mapping[str, type[CellGroup | ServerRules]] = {
    "client": ClientCells,
    "configuration": ConfigurationCells,
    "extenders": ExtenderCells,
    "live": LiveCells,
    "nominations": NominationCells,
    "preemption": PreemptionCells,
    "queue": QueueCells,
    "server": ServerRules,
    "volumes": VolumeCells,
}


_OTHERWISE: Mapping[str, Cells] = {
    "1.12": {
        "gate_effects": (TAINT_NODES_BY_CONDITION, RESOURCE_LIMITS),
        "incoming": requests.of_all_containers,
        "footprint": requests.of_containers,
        "incoming_nonzero": requests.nonzero_of_containers,
        "footprint_nonzero": requests.nonzero_of_containers,
        "zone_key": cells.beta_zone_key,
        "nodes_to_find": cells.fixed_share,
        "pick_host": cells.round_robin,
        "error_joiner": cells.listed,
        "ratio_mean": cells.truncated_mean,
        "selector_text": cells.without_key,
    },
    "1.13": {"gate_effects": (TAINT_NODES_BY_CONDITION, replace(RESOURCE_LIMITS, adds_priority=True))},
    "1.14": {"nodes_to_find": cells.adaptive_share, "error_joiner": cells.listed_once},
    "1.15": {
        "missing_plugins": cells.missing_plugins(
            "reserve preBind postBind unreserve permit queueSort", "{name}"
        ),
        "selector_text": cells.with_key,
    },
    "1.16": {
        "missing_plugins": cells.missing_plugins(
            "preFilter filter score reserve postFilter preBind bind postBind unreserve permit queueSort",
            '"{name}"',
        ),
        "incoming": requests.with_overhead,
        "footprint": requests.with_overhead,
        "incoming_nonzero": requests.nonzero_with_whole_overhead,
        "footprint_nonzero": requests.nonzero_with_overhead,
        "pick_host": cells.first_best,
        "ratio_mean": cells.rounded_mean_of_positive,
        "gate_effects": SetEdit([EVEN_PODS_SPREAD]),
    },
}
"""Release -> the cells that differ from the release before and are not plain values."""


def _in_turn() -> Iterator[Release]:
    """The releases, each as the one before with what its text and its table say."""
    (first, functions), *later = _OTHERWISE.items()
    # The first release: with what its text says, and its cells that are functions.
    parts: dict[str, Any] = {name: {} for name in _GROUPS}
    for cell, value in {**text_of(first).values, **functions}.items():
        name, _, rest = cell.partition(".")
        if rest:
            parts[name][rest] = value
        else:
            parts[name] = MappingProxyType(value) if isinstance(value, dict) else value
    groups = {name: convert(parts[name], group) for name, group in _GROUPS.items()}
    yield (release := Release(**{**parts, **groups}, version=first, gates=gates_of(first).known))
    for version, extra in later:
        values = (*text_of(version).cells, extra, {"version": version, "gates": gates_of(version).known})
        yield (release := changed_by(release, values))


RELEASES: dict[str, Release] = {release.version: release for release in _in_turn()}
"""The releases by version, oldest first."""


def find_release(name: str) -> Release:
    """The release called *name*: ``1.16``, ``v1.16`` or, with any patch level, ``1.16.14``.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for any other.

    >>> find_release("v1.15.3").version
    '1.15'
    """
    version = ".".join(name.removeprefix("v").split(".")[:2])
    if version not in RELEASES:
        raise UnknownNameError(f'release: expected {", ".join(RELEASES)}, got "{name}"')
    return RELEASES[version]
