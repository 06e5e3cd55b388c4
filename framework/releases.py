"""All releases by name, with the framework's built here, and the facts of all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated

from msgspec.structs import replace

from ..algorithmprovider import cells
from ..algorithmprovider.releases import RELEASES
from ..api.record import Record, says
from ..choices import DEFAULT_FRAMEWORK as DEFAULT_FRAMEWORK
from ..core.decision import TopOfHeap
from ..core.pods import requests, resized
from ..core.release import PolicyCells, Release
from ..core.release.fact import Cells, Fact, SetEdit, changed, changed_by, gates_of, text_of, value_of
from ..exceptions import UnknownNameError

# --- The versions of the component configuration, by the cells in which they differ -------------------------
# Upstream: k8s.io/kube-scheduler/config (types.go of each version), and defaults.go and default_plugins.go of
# each in pkg/scheduler/apis/config.


USAGE = frozenset({"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"})
"""The plugins whose scores are part of NodeResourcesFit in later releases."""

PERCENTAGE = "profiles.percentageOfNodesToScore"
ADDRESSES = frozenset({"healthzBindAddress", "metricsBindAddress"})
"""The fields of versions up to v1beta2."""
FLAT = frozenset(
    {
        "algorithmSource",
        "hardPodAffinitySymmetricWeight",
        "leaderElection.lockObjectName",
        "leaderElection.lockObjectNamespace",
        "pluginConfig",
        "plugins",
        "schedulerName",
    }
)
"""The fields of v1alpha1, which has only one profile."""
OLD_SCORES = (
    "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
    " NodePreferAvoidPods=10000 PodTopologySpread=2 TaintToleration=1 +VolumeCapacityPriority:VolumeBinding=1"
    " -DefaultPodTopologySpread:SelectorSpread=1"
)
"""The Score plugins of v1beta1."""

_VERSIONS = {
    # Upstream: plugins of preEnqueue are decoded, but not merged into the defaults.
    "v1beta3": {
        "fields_lacked": SetEdit([PERCENTAGE, "delayCacheUntilActive"]),
        "refused_plugins": (),
        "unread_points": ("preEnqueue",),
    },
    "v1beta2": {
        "fields_lacked": SetEdit([PERCENTAGE], ADDRESSES),
        "refused_plugins": (),
        "lists_points": True,
        "unread_points": ("multiPoint", "preEnqueue"),
    },
    "v1beta1": {
        "point_plugins.score": OLD_SCORES,
        "replaces_defaults": False,
        "constraints_are_the_list": True,
        "args_lacked": SetEdit(but=USAGE | {"NodeLabel", "ServiceAffinity"}),
        "refused_plugins": (),
        "conflicting_scores": USAGE,
    },
    # Its postFilter is called preScore later.
    "v1alpha1": {
        "fields_lacked": SetEdit(
            ["extenders", "profiles", "plugins.multiPoint", "plugins.preEnqueue", "plugins.preScore"], FLAT
        ),
        "lenient_fields": True,
    },
}
"""Version -> its cells that differ from those of the default version."""


# --- Releases 1.17 to 1.36 by their texts -------------------------------------------------------------------
# 1.27 is made from the last release with predicates, and the others from it, up and down. The texts
# (core/release/facts) have every cell that is a plain value. The others are here, as changes to the release
# before, or from 1.26 down to the one after.


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
"""Release -> the differing cells that are no plain values."""


def _in_turn() -> Iterator[Release]:
    """1.27 and the releases after it, then those before it. Each is made from its neighbour, by the text of
    the later of the two."""
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
    """*release* with other *values* of cells, as *version*, which decides its gates and more cells."""
    changed_release = changed_by(changed(release, _OTHERWISE[version]), values)
    gates = gates_of(version)
    cells = replace(changed_release.configuration, settled_gates=gates.settled, gate_needs=gates.needs)
    versions = {}
    for name in cells.api_versions:
        if name != cells.default_version:
            version_cells = changed(cells, _VERSIONS[name])
            fields = dict.fromkeys(path.partition(".")[0] for path in _VERSIONS[name])
            versions[name] = MappingProxyType({field: getattr(version_cells, field) for field in fields})
    cells = replace(cells, versions=MappingProxyType(versions))
    return replace(changed_release, version=version, gates=gates.known, configuration=cells)


FRAMEWORK_RELEASES: Mapping[str, Release] = MappingProxyType(
    {release.version: release for release in sorted(_in_turn(), key=lambda release: release.version)}
)
"""Version -> release of the framework, oldest first."""


# --- The table of releases ----------------------------------------------------------------------------------


ALL_RELEASES: Mapping[str, Release] = MappingProxyType({**RELEASES, **FRAMEWORK_RELEASES})
"""Version -> release, of all releases in this package, oldest first."""
NEWEST_RELEASE: str = tuple(ALL_RELEASES)[-1]
"""The newest release in this package."""

ALL_PATCH_LEVELS: Mapping[str, str] = MappingProxyType(
    {version: text_of(version).like for version in ALL_RELEASES}
)
"""Release -> the patch level that it behaves like."""
OTHER_PATCHES: Mapping[str, str] = MappingProxyType(
    {version: patches for version in ALL_RELEASES if (patches := text_of(version).other_patches)}
)
"""Release -> the known differences of its other patch levels."""

PROFILE_RELEASE = FRAMEWORK_RELEASES[DEFAULT_FRAMEWORK]
"""The default release for profiles."""

AUTO = "auto"
"""In place of a release: the release of the nodes."""
_MINOR = re.compile(r"v?1\.(\d+)\b")


def patch_level_in_words(version: str) -> str:
    """The patch level that a release is like, and what others are known to decide otherwise.

    >>> patch_level_in_words("1.19")
    'as 1.19.0-rc.4; 1.19.8 and later let pods preempt others under a Policy, too'
    """
    return "; ".join([f"as {ALL_PATCH_LEVELS[version]}", *filter(None, [OTHER_PATCHES.get(version)])])


def judged_as(name: str) -> str:
    """A sentence for a release that was asked for by another patch level than the one that it is like; else
    empty.

    >>> judged_as("v1.29.12")
    'release 1.29.12 is evaluated as 1.29.9. Patch levels after 1.29.10 sort victims ...'
    >>> judged_as("1.29.9"), judged_as("1.29")
    ('', '')
    """
    patch = name.removeprefix("v")
    version = _version_of(name)
    patch_level = ALL_PATCH_LEVELS.get(version, "")
    if patch == version or re.match(rf"{re.escape(patch)}(?![\d])", patch_level):
        return ""
    return ". ".join(
        [f"release {patch} is evaluated as {patch_level}", *filter(None, [OTHER_PATCHES.get(version)])]
    )


def is_auto(name: str | None) -> bool:
    """Whether *name* means the release of the nodes."""
    return name == AUTO


def _minor(version: str) -> int:
    match = _MINOR.match(version)
    return int(match[1]) if match else -1


def is_newest(release: Release) -> bool:
    """Whether no later release than *release* is known."""
    return release.version == NEWEST_RELEASE


def minor_of(kubelet_version: str) -> str:
    """The release of a kubelet, as ``1.27``; empty where the text says none.

    >>> minor_of("v1.26.9-gke.1200")
    '1.26'
    """
    minor = _minor(kubelet_version)
    return f"1.{minor}" if minor >= 0 else ""


def is_of(kubelet_version: str, release: Release) -> bool:
    """Whether a kubelet is of *release*, at any patch level, or has no version."""
    return minor_of(kubelet_version) in ("", release.version)


def telling_versions(kubelet_versions: Iterable[str], server: str = "") -> tuple[str, ...]:
    """The versions by which the release of a cluster is found: *kubelet_versions*, or where none says one,
    that of the API *server*.

    >>> telling_versions(["", "v1.14.1"], "v1.15.0"), telling_versions([""], "v1.15.0")
    (('', 'v1.14.1'), ('v1.15.0',))
    """
    versions = tuple(kubelet_versions)
    return versions if nearest_release(versions) is not None else (server,)


def nearest_release(
    kubelet_versions: Iterable[str], among: Iterable[str] = ALL_RELEASES
) -> tuple[Release, str] | None:
    """The release nearest to the newest of *kubelet_versions*, and that; of two as near the newer one. None
    if none says a release.

    Of several the newest counts, since no node may be newer than the control plane. *among*: versions, oldest
    first.

    >>> [found.version for found, version in [nearest_release(["v1.12.3", "v1.14.10-gke.27"])]]
    ['1.14']
    """
    newest = max(kubelet_versions, key=_minor, default="")
    if (minor := _minor(newest)) < 0:
        return None
    return ALL_RELEASES[min(reversed(list(among)), key=lambda version: abs(_minor(version) - minor))], newest


def find_any_release(name: str, more: str = "") -> Release:
    """The release called *name*, of either generation; see
    :func:`~kubeclassic.algorithmprovider.releases.find_release`.

    *more*: what else an error says is wanted.

    >>> find_any_release("v1.27.14").version in FRAMEWORK_RELEASES
    True
    """
    version = _version_of(name)
    if version not in ALL_RELEASES:
        raise UnknownNameError(
            f'release: expected {next(iter(ALL_RELEASES))} to {NEWEST_RELEASE}{more}, got "{name}"'
        )
    return ALL_RELEASES[version]


def framework_release(name: str) -> Release | None:
    """The release of the framework called *name*; None if none is."""
    return FRAMEWORK_RELEASES.get(_version_of(name))


def _version_of(name: str) -> str:
    return ".".join(name.removeprefix("v").split(".")[:2])


# --- Facts, and a release without some of its facts ---------------------------------------------------------


_GATE = re.compile(r"with gate (\w+)")
OtherPatches = Annotated[
    str, says("What other patch levels are known to decide differently; empty: nothing is known.")
]


class ReleaseFact(Record):
    """A difference of a release from the one before it."""

    id: str
    release: str
    rule: str
    """The plugin, predicate or priority; or search, ties, preemption, configuration; * for every rule."""
    sentence: str
    upstream: str
    """The file below pkg/scheduler that changed."""
    fixed: str
    """The release that undid it, where it was a bug; else empty."""
    decides: bool
    """Whether it can give a pod another node, or none; otherwise it changes messages only."""

    @classmethod
    def of(cls, fact: Fact) -> ReleaseFact:
        """*fact* as data; gates in its sentence are marked where they are off by default."""
        gates = ALL_RELEASES[fact.release].gates
        sentence = _GATE.sub(
            lambda match: match[0] if gates[match[1]].default else f"{match[0]}, off by default,",
            fact.sentence,
        )
        return cls(
            fact.id,
            fact.release,
            fact.plugin,
            sentence.removesuffix(","),
            fact.upstream,
            fact.fixed,
            fact.decides,
        )


FACTS: tuple[Fact, ...] = tuple(fact for release in ALL_RELEASES for fact in text_of(release).facts)
"""The facts of all releases, in the order of releases."""
BY_ID: Mapping[str, Fact] = MappingProxyType({fact.id: fact for fact in FACTS})
"""Id -> fact."""
_ORDER = list(ALL_RELEASES)


def facts_of(release: str) -> tuple[Fact, ...]:
    """The facts of one release: its differences from the one before it."""
    return text_of(release).facts


def facts_between(before: str, after: str) -> tuple[Fact, ...]:
    """The facts of the releases after *before*, up to *after*."""
    way = _ORDER[_ORDER.index(before) + 1 : _ORDER.index(after) + 1]
    return tuple(fact for release in way for fact in facts_of(release))


def release_before(release: str) -> Release:
    """The release before *release*."""
    return ALL_RELEASES[_ORDER[_ORDER.index(release) - 1]]


def undone(release: Release, facts: Iterable[Fact]) -> Release:
    """*release* without *facts*: with the cells of the release before each of them."""
    for fact in reversed(list(facts)):
        previous_release = release_before(fact.release)
        release = changed(release, {cell: value_of(previous_release, cell) for cell in fact.cells})
    return release


def life_of(rule: str) -> Sequence[Fact]:
    """The facts about *rule*, oldest first."""
    return [fact for fact in FACTS if fact.is_about(rule)]
