"""The releases 1.17 to 1.36 by their texts: 1.27 from the last with predicates, the others from it, up and
down.

The texts (``core/release/facts``) have every cell that is a plain value; here are the others, as changes over
the release before, or from 1.26 down over the one after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType

from msgspec.structs import replace

from ...algorithmprovider import cells
from ...algorithmprovider.releases import RELEASES
from ...core.decision.ties import TopOfHeap
from ...core.pods import requests, resized
from ...core.release import PolicyCells, Release
from ...core.release.fact import Cells, changed, changed_by, text_of
from ...core.release.gates import gates_of
from . import versions

_FIRST = "1.27"
_DEFAULT_PLUGINS = (
    "PrioritySort=0 NodeUnschedulable=0 NodeName=0 TaintToleration=3 NodeAffinity=2 NodePorts=0 NodeResourcesFit=1"
    " VolumeRestrictions=0 EBSLimits=0 GCEPDLimits=0 NodeVolumeLimits=0 AzureDiskLimits=0 VolumeBinding=0 VolumeZone=0"
    " PodTopologySpread=2 InterPodAffinity=2 DefaultPreemption=0 NodeResourcesBalancedAllocation=1 ImageLocality=1"
    " DefaultBinder=0"
)
_DEFAULTS = {
    name: int(weight) for name, _, weight in (word.partition("=") for word in _DEFAULT_PLUGINS.split())
}
_OTHERWISE: Mapping[str, Cells] = {
    "1.17": {"incoming": requests.with_overhead, "footprint": requests.with_overhead},
    "1.18": {},
    "1.19": {"incoming": requests.half_gated_sums, "footprint": requests.half_gated_sums},
    "1.20": {},
    "1.21": {"incoming": requests.gated_sums, "footprint": requests.gated_sums},
    "1.22": {"policies": PolicyCells()},
    "1.23": {},
    "1.24": {},
    "1.25": {},
    "1.26": {
        "incoming": requests.rounded_sums,
        "footprint": requests.rounded_sums,
        "incoming_nonzero": requests.nonzero_with_whole_overhead,
        "footprint_nonzero": requests.nonzero_with_overhead,
        "incoming_scored": requests.sums_with_whole_overhead,
    },
    "1.27": {
        "incoming": requests.exact_sums,
        "footprint": requests.exact_sums,
        "incoming_nonzero": requests.exact_sums_with_defaults,
        "footprint_nonzero": requests.nonzero_with_any_overhead,
        "resized": resized.by_allocated,
        "zone_key": cells.zone_key,
        "gate_effects": (),
        "configuration.default_plugins": _DEFAULTS,
    },
    "1.28": {
        "incoming": requests.with_sidecars,
        "footprint": requests.with_sidecars,
        "incoming_nonzero": requests.with_sidecars_and_defaults,
        "footprint_nonzero": requests.nonzero_of_uses,
    },
    "1.29": {},
    "1.30": {"configuration.default_plugins": {"SchedulingGates": 0, **_DEFAULTS}},
    "1.31": {},
    "1.32": {
        "incoming": requests.of_pod,
        "footprint": requests.of_pod,
        "incoming_nonzero": requests.of_pod_with_defaults,
        "footprint_nonzero": requests.nonzero_of_pod,
        "resized": resized.by_reported,
    },
    "1.33": {
        "incoming": requests.of_pod_with_huge_pages,
        "footprint": requests.of_pod_with_huge_pages,
        "incoming_nonzero": requests.with_sidecars_and_defaults,
        "footprint_nonzero": requests.nonzero_of_pod_with_huge_pages,
        "resized": resized.by_reported_and_allocated,
    },
    "1.34": {},
    "1.35": {"pick_host": TopOfHeap(), "resized": resized.by_both_and_of_pod},
    "1.36": {},
}
"""Release -> the cells that are no plain values, and that differ."""


def _in_turn() -> Iterator[Release]:
    """1.27 and the releases after it, then those before it: each from its neighbour, by the text of the later
    one of both."""
    names = list(_OTHERWISE)
    middle = names.index(_FIRST)
    yield (base := _with_cells(next(reversed(RELEASES.values())), _FIRST, text_of(f"1.16-{_FIRST}").values))
    release = base
    for version in names[middle + 1 :]:
        yield (release := _with_cells(release, version, *text_of(version).cells))
    release = base
    for later, version in pairwise(reversed(names[: middle + 1])):
        yield (release := _with_cells(release, version, *text_of(later).cells))


def _with_cells(release: Release, version: str, *values: Cells) -> Release:
    """*release* with other *values* of cells, as *version*, from which its gates and more cells follow."""
    found = changed_by(changed(release, _OTHERWISE[version]), values)
    gates = gates_of(version)
    configuration = replace(found.configuration, settled_gates=gates.settled, gate_needs=gates.needs)
    return replace(
        found, version=version, gates=gates.known, configuration=versions.with_versions(configuration)
    )


FRAMEWORK_RELEASES: Mapping[str, Release] = MappingProxyType(
    {release.version: release for release in sorted(_in_turn(), key=lambda found: found.version)}
)
"""Version -> release of the framework, oldest first."""
