"""What any release is, and what two of them differ in, as values and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from ..algorithmprovider.description import CELLS, behaviour, describe, gate_in_words, value_in_words
from ..algorithmprovider.releases import DEFAULT_RELEASE
from ..api.record import DocumentRecord, Record, field, replace, says
from ..core.release import Release
from .changes import Change, changes, messages
from .correspondences import Successor, points_in, successors, weights
from .facts.facttable import OtherPatches, ReleaseFact, facts_between, facts_of
from .migrate.equivalents import PRIORITIES
from .registry import registry_of
from .releases import ALL_PATCH_LEVELS, ALL_RELEASES, DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, OTHER_PATCHES, find_any_release

DECIDING: Mapping[str, str] = {
    "CSIMigrationGCE": "whether volumes of GCE disks can count for their CSI driver",
    "CSIMigrationPortworx": "whether volumes of Portworx can count for their CSI driver",
    "CSIMigrationRBD": "whether volumes of RBD can count for their CSI driver",
    "DRAAdminAccess": "whether a claim may ask for devices that are in use",
    "DRAPrioritizedList": "whether a request may list alternatives",
    "DynamicResourceAllocation": "whether claims for devices are looked at",
    "InPlacePodVerticalScaling": "whether the resources in a pod's status count",
    "MatchLabelKeysInPodTopologySpread": "whether matchLabelKeys of spread constraints count",
    "MinDomainsInPodTopologySpread": "whether minDomains of spread constraints counts",
    "NodeInclusionPolicyInPodTopologySpread": "whether the two inclusion policies of spread constraints count",
    "PodDisruptionConditions": "whether pods that leave for another reason keep a pod from preempting again",
    "PodLevelResources": "whether the requests of the pod as a whole count",
    "PodSchedulingReadiness": "whether pods with scheduling gates are not tried",
    "ReadWriteOncePod": "whether a claim with that access mode keeps a second pod out",
    "SchedulerAsyncPreemption": "whether a pod waits until its victims are being deleted",
    "SchedulerPopFromBackoffQ": "whether pods that wait after a failure are tried once no other is left",
    "SchedulerQueueingHints": "which events make a pod that failed be tried again",
    "SidecarContainers": "whether pods with restartable init containers are taken",
    "StorageCapacityScoring": "whether nodes are preferred by the storage that is left",
    "VolumeAttributesClass": "whether claims and volumes with a class of attributes match",
    "VolumeCapacityPriority": "whether volumes are preferred that are hardly larger than their claims",
}
"""Gate that an answer may depend on -> what it decides."""

EARLIER: Mapping[str, str] = {
    "BalanceAttachedNodeVolumes": "whether NodeResourcesBalancedAllocation counts volumes",
    "CSIMigration": "whether volumes of built-in drivers can count for their CSI driver",
    "CSIMigrationAWS": "whether volumes of AWS disks can count for their CSI driver",
    "CSIMigrationAzureDisk": "whether volumes of Azure disks can count for their CSI driver",
    "CSIMigrationOpenStack": "whether volumes of Cinder can count for their CSI driver",
    "CSIStorageCapacity": "whether a new volume needs free capacity where its pod runs",
    "DefaultPodTopologySpread": "whether default constraints spread the pods of a service or controller, in place of SelectorSpread",
    "EvenPodsSpread": "whether topology spread constraints count",
    "GenericEphemeralVolume": "whether generic ephemeral volumes have claims",
    "LocalStorageCapacityIsolation": "whether ephemeral storage counts",
    "NonPreemptingPriority": "whether preemptionPolicy Never is honoured",
    "PodAffinityNamespaceSelector": "whether terms of pod affinity may select namespaces by labels",
    "PodOverhead": "whether the overhead of pods counts",
    "PreferNominatedNode": "whether the node that a pod waits for is tried first",
    "ResourceLimitsPriorityFunction": "whether nodes are preferred that have room for the pod's limits",
}
"""Gate of earlier releases -> what it decides; it is shown where it can be switched."""

IDLE: Mapping[str, str] = {
    "ClearingNominatedNodeNameAfterBinding": "the API server alone asks it",
    "DRAControlPlaneController": "it means nothing without DynamicResourceAllocation, which is not modelled where it is known",
    "DRAResourceClaimDeviceStatus": "drivers alone write what it guards; all allocators give the same devices",
    "DRASchedulerFilterTimeout": "a search for devices takes no time here that upstream would cut short",
    "MatchLabelKeysInPodAffinity": "the API server alone asks it, as a pod is created",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": "the API server alone asks it; a requirement counts the same if it is there twice",
    "PodObservedGenerationTracking": "it adds a number to the conditions of pods, which decides nothing",
    "SchedulerAsyncAPICalls": "calls to the API server are not awaited either way",
}
"""Gate that changes no answer here -> why."""

DECISIVE = frozenset((*DECIDING, *IDLE))
"""The gates that ``releases`` shows, besides those that are not modelled."""


Json = dict[str, Any]
Part = Literal["predicates", "priorities", "plugins", "gates", "behaviour"]

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


Generation = Literal["predicates and priorities", "plugins"]
InWords = Annotated[Mapping[str, str], says("Name -> in words.")]
Facts = Annotated[tuple[ReleaseFact, ...], says("What it does otherwise than the release before it, one entry each.")]
Value = Annotated[Any, says("Of a cell, as the tables of releases have it.")]


class ReleaseSummary(Record):
    """A release in a line."""

    release: str
    like: Annotated[str, says("The patch level that it is like.")]
    runs: Generation
    is_default: Annotated[bool, says("Taken where none is named: without a profile, or with one.")] = field(name="default")
    other_patches: OtherPatches = ""


class ReleaseList(DocumentRecord):
    """All releases, oldest first."""

    KIND = "ReleaseList"
    releases: tuple[ReleaseSummary, ...]


class DescribedCell(Record):
    """A cell of the table of releases: one thing that they do differently."""

    cell: str
    about: str
    words: Annotated[str, says("What the cell says, or what its value is about.")]
    value: Value


class DescribedPlugin(Record):
    """A plugin of a release."""

    points: tuple[str, ...]
    weight: Annotated[int | None, says("Null for a plugin that does not score.")]
    is_default: bool = field(name="default")


class ClassicRelease(DocumentRecord):
    """A release with predicates and priorities."""

    KIND = "Release"
    release: str
    like: str
    runs: Literal["predicates and priorities"]
    predicates: Annotated[InWords, says("Name -> in words, in running order.")]
    priorities: InWords
    gates: InWords
    behaviour: tuple[DescribedCell, ...]
    facts: Facts = ()
    other_patches: OtherPatches = ""


class PluginRelease(DocumentRecord):
    """A release with plugins."""

    KIND = "Release"
    release: str
    like: str
    runs: Literal["plugins"]
    plugins: Annotated[Mapping[str, DescribedPlugin], says("In the order of the default profile.")]
    gates: InWords
    behaviour: tuple[DescribedCell, ...]
    facts: Facts = ()
    other_patches: OtherPatches = ""


class ReleaseDifference(Record):
    """One thing in which two releases of a kind differ; null where one of them does not have it."""

    about: Part
    what: Annotated[str, says("The name of the rule, gate or cell.")]
    words: Annotated[str | None, says("What a cell says, or a gate of the framework decides; null for names.")]
    before: Value
    after: Value
    before_words: str | None
    after_words: str | None

    @classmethod
    def of(cls, about: Part, what: str, words: str | None, before: Any, after: Any) -> ReleaseDifference:
        """With both values in words."""
        return cls(about, what, words, before, after, value_in_words(before), value_in_words(after))


class ReleaseDiff(DocumentRecord):
    """Everything in which two releases differ."""

    KIND = "ReleaseDiff"
    before: str
    after: str
    differences: Annotated[tuple[ReleaseDifference, ...], says("In names, gates and cells.")] = ()
    successors: Annotated[
        tuple[Successor, ...],
        says(
            "Between a release with predicates and priorities and one with plugins: what took the place of each rule. "
            "This and the next are always from the older to the newer release."
        ),
    ] = ()
    changes: Annotated[tuple[Change, ...], says("What is different besides single rules.")] = ()
    messages: Annotated[tuple[Change, ...], says("Reasons that are worded differently.")] = ()
    facts: Annotated[
        tuple[ReleaseFact, ...], says("What the releases after the older one, up to the newer one, do otherwise, oldest first.")
    ] = ()

    @property
    def is_backwards(self) -> bool:
        """Whether the newer release of two generations was named first."""
        return bool(self.successors) and has_plugins(self.before)


ReleasesDocument = Annotated[
    ReleaseList | ClassicRelease | PluginRelease | ReleaseDiff,
    says("The list of releases, one release, or what two of them do differently."),
]


# --- one release ----------------------------------------------------------------------------------------------------


def summaries() -> tuple[ReleaseSummary, ...]:
    """Every release, oldest first."""
    defaults = (DEFAULT_RELEASE, DEFAULT_FRAMEWORK)
    return tuple(
        ReleaseSummary(
            name,
            ALL_PATCH_LEVELS[name],
            "plugins" if has_plugins(name) else "predicates and priorities",
            name in defaults,
            OTHER_PATCHES.get(name, ""),
        )
        for name in ALL_RELEASES
    )


def has_plugins(version: str) -> bool:
    """Whether the release *version* runs plugins."""
    return version in FRAMEWORK_RELEASES


def describe_any(name: str, *, all_gates: bool = False) -> ClassicRelease | PluginRelease:
    """The release called *name*: rules or plugins in running order, gates, and every cell of behaviour.

    Gates are those that decisions may depend on, or *all_gates*. Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    release = find_any_release(name)
    found = _described(release, all_gates)
    cells = tuple(DescribedCell(cell, *CELLS[cell], value) for cell, value in found["behaviour"].items())
    like, facts = ALL_PATCH_LEVELS[release.version], tuple(map(ReleaseFact.of, facts_of(release.version)))
    rest = found["gates"], cells, facts, OTHER_PATCHES.get(release.version, "")
    if "plugins" in found:
        return PluginRelease(release.version, like, "plugins", found["plugins"], *rest)
    return ClassicRelease(release.version, like, "predicates and priorities", found["predicates"], found["priorities"], *rest)


def _described(release: Release, all_gates: bool) -> Json:
    """As :func:`~kubeclassic.algorithmprovider.description.describe`, for both generations."""
    if not has_plugins(release.version):
        return describe(release.version, all_gates=all_gates)
    gates = dict(_gates(release, all_gates))
    cells = {cell: value for cell, value in behaviour(release) if cell not in OLDER_CELLS}
    # Each plugin, in the order of the default profile; not the priorities that some releases run as if they were plugins.
    known = weights(release)
    names = dict.fromkeys([*known, *(name for name in registry_of(release) if name not in PRIORITIES)])
    points = {name: points_in(release, name) for name in names}
    return {
        "release": release.version,
        "plugins": {name: DescribedPlugin(found, _weight(found, known.get(name, 0)), name in known) for name, found in points.items()},
        "gates": gates,
        "behaviour": cells,
    }


def _gates(release: Release, all_gates: bool) -> Iterator[tuple[str, str]]:
    cells = release.configuration
    shown = DECISIVE.union(cells.not_modelled)
    for name in sorted({*release.gates, *(shown & cells.settled_gates)}):
        if name in cells.settled_gates:
            yield name, "gone, always on"
        elif all_gates or name in shown or (name in EARLIER and not release.gates[name].locked):
            yield name, gate_in_words(release.gates[name]) + (", not modelled" if name in cells.not_modelled else "")


def gate_words(gate: str) -> str | None:
    """What *gate* decides in the framework, or why it changes no answer; None for one that decisions do not ask."""
    missing = next((found for release in FRAMEWORK_RELEASES.values() if (found := release.configuration.not_modelled.get(gate))), None)
    return DECIDING.get(gate) or EARLIER.get(gate) or IDLE.get(gate) or missing


def plugin_in_words(plugin: DescribedPlugin) -> str:
    """When a plugin runs, in a few words."""
    weight = f", weight {plugin.weight}" if plugin.weight is not None else ""
    return f"default{weight}" if plugin.is_default else "named by a profile"


def _weight(points: Sequence[str], weight: int) -> int | None:
    return (weight or 1) if "score" in points else None


# --- two releases ---------------------------------------------------------------------------------------------------


def diff_any(before: str, after: str, *, all_gates: bool = False) -> ReleaseDiff:
    """Everything in which the releases *before* and *after* differ. Raises :class:`~kubeclassic.exceptions.UnknownNameError`."""
    releases = find_any_release(before), find_any_release(after)
    return replace(_diff(releases, all_gates), facts=tuple(map(ReleaseFact.of, facts_between(*_in_order(releases)))))


def _in_order(releases: tuple[Release, Release]) -> tuple[str, ...]:
    """The versions of both, the older one first."""
    known = list(ALL_RELEASES)
    return tuple(sorted((release.version for release in releases), key=known.index))


def _diff(releases: tuple[Release, Release], all_gates: bool) -> ReleaseDiff:
    old, new = (_described(release, all_gates) for release in releases)
    pair = releases[0].version, releases[1].version
    older = [release for release in releases if not has_plugins(release.version)]
    if len(older) != 1:
        parts: tuple[Part, ...] = ("predicates", "priorities", "gates", "behaviour") if older else ("plugins", "gates", "behaviour")
        sides = [
            side if older else {**side, "plugins": {name: plugin_in_words(plugin) for name, plugin in side["plugins"].items()}}
            for side in (old, new)
        ]
        return ReleaseDiff(*pair, tuple(_differences(parts, *sides)))
    cells = old["behaviour"].keys() & new["behaviour"].keys() - OLDER_CELLS
    sides = [{**side, "behaviour": {cell: side["behaviour"][cell] for cell in side["behaviour"] if cell in cells}} for side in (old, new)]
    newer = next(release for release in releases if has_plugins(release.version))
    rules = tuple(successors(older[0], old if "predicates" in old else new, newer))
    return ReleaseDiff(*pair, tuple(_differences(("gates", "behaviour"), *sides)), rules, tuple(changes(newer)), tuple(messages(newer)))


def _differences(parts: tuple[Part, ...], old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[ReleaseDifference]:
    for about in parts:
        for what in dict.fromkeys((*old[about], *new[about])):
            before, after = old[about].get(what), new[about].get(what)
            if before != after:
                yield ReleaseDifference.of(about, what, _words(about, what), before, after)


def _words(about: str, what: str) -> str | None:
    if about == "behaviour":
        return CELLS[what][1]
    return gate_words(what) if about == "gates" else None
