"""What a release with predicates and priorities is, as plain data, and what its cells mean in words.

A cell that is yes or no has a statement, which is true or not; any other cell has a subject, of which the value says how it is. For any
release see ``framework/describe.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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

_REQUESTS: Mapping[str, str] = {
    "incoming": "what the pod that is scheduled asks for, where room is checked",
    "footprint": "what a pod takes up on its node, where room is checked",
    "incoming_nonzero": "what the pod that is scheduled asks for, in scores (without a request: 100m cpu, 200 MiB)",
    "incoming_scored": "what the pod that is scheduled asks for, in scores without defaults (none: what it takes up on its node)",
    "resized": "what a container counts while it is resized in place (gate InPlacePodVerticalScaling)",
    "footprint_nonzero": "what a pod takes up on its node, in scores (without a request: 100m cpu, 200 MiB)",
}
_SEARCH: Mapping[str, str] = {
    "default_percentage": "percentageOfNodesToScore if nothing is set (0: the release chooses)",
    "nodes_to_find": "how many nodes that fit a search looks for",
    "zone_key": "the labels that say in which zone a node is",
    "pick_host": "which of several best nodes is taken",
    "equivalence_cache": "there is an equivalence cache (gate EnableEquivalenceClassCache)",
    "snapshot_keeps_nodeless": "a node that is gone while pods remain on it stays known, as a node without data",
    "snapshot_drops_nodeless": "a node that is gone is forgotten at once, with all its pods",
    "transient_reset_all": "counts of volumes for BalanceAttachedNodeVolumes start at zero on every node in each cycle",
    "forgets_pods_with_node": "a node that is gone is forgotten with its pods, and comes back without them",
    "cache_replaces_confirmed": "a pod that is confirmed on its node replaces what was assumed, and moves to the end of the node's list",
}
_RULES: Mapping[str, str] = {
    "selects_namespaces": "pod affinity terms may select namespaces by their labels",
    "reads_out_of_disk": "CheckNodeCondition turns down nodes with condition OutOfDisk",
    "best_effort_sees_init_containers": "CheckNodeMemoryPressure: requests of init containers count, so that the pod is not best effort",
    "spread_matches_any_selector": "SelectorSpreadPriority counts pods that match any selector of the pod's owners (no: all of them)",
    "ratio_mean": "RequestedToCapacityRatioPriority: the mean over the resources",
    "ratio_reads_resources": "requestedToCapacityRatioArguments may name resources",
    "interpod_counts_by_name": "InterPodAffinityPriority counts a node double that is twice among those that fit",
}
_MESSAGES: Mapping[str, str] = {
    "texts.predicate": "the message for an unknown predicate in a Policy",
    "texts.priority": "the message for an unknown priority in a Policy",
    "texts.overflow": "the message for weights that are too large together",
    "error_joiner": "several errors in one message",
    "binding_failed_reason": "the reason in condition PodScheduled if a binding is refused",
    "affinity_texts.existing": "MatchInterPodAffinity: the error for a bad term of another pod",
    "affinity_texts.affinity": "MatchInterPodAffinity: the error for a bad term of the pod's own",
    "selector_text": "the error for a bad value in a selector",
}
_EXTENDERS: Mapping[str, str] = {
    "ignorable_extenders_last": "extenders that may be ignored are called last",
    "extenders.adds_nodes": "an extender's filter may answer with nodes that it was not sent",
    "extenders.unknown_node": "the error for a node that an extender's filter may not answer with",
    "extenders.unknown_candidate": "the error for a node that an extender's preempt may not answer with",
    "extenders.keeps_violations": "an extender that is sent names is told how many victims a budget protects, and may say so (no: it is 0)",
    "extenders.failure": "the error for an HTTP status other than 200",
    "extenders.package": "the Go package that errors about replies name",
    "extenders.integer": "the Go type that errors about scores name",
}
_VOLUMES: Mapping[str, str] = {
    "counts_unresolved_claims": "a claim that cannot be resolved counts towards the limit of every type of disk",
    "csi_reads_unbound_claims": "MaxCSIVolumeCountPred counts unbound claims by the provisioner of their class",
    "csi_reads_migration": "limits come from CSINode, and volumes of built-in drivers that moved to CSI count there",
    "unbound_claim_text": "the error for a claim without a volume, where zones are checked ({}: its name)",
    "zone_needs_scheduling_gate": "NoVolumeZoneConflict reads a claim's class only with gate VolumeScheduling",
    "binding_gate": "gate VolumeScheduling can switch CheckVolumeBinding off",
    "selected_node_is_immediate": "a claim with the annotation selected-node no longer waits for its pod (no: that node alone is accepted)",
    "keeps_stale_decisions": "a choice of volumes from an earlier cycle stays if a later cycle makes none",
    "claim_text_has_namespace": "the error for a missing claim has its namespace",
    "checks_phase": "only volumes in phase Available are matched to claims",
    "volume_mode": "the volume mode of a claim and a volume, where they are matched",
    "matches_by_beta_class": "the beta annotation for the class of a claim counts before its field",
    "groups_by_beta_class": "the beta annotation for the class of a volume counts before its field",
    "ephemeral_claims": "generic ephemeral volumes have claims",
    "ephemeral_gate": "the gate for generic ephemeral volumes (none: they are always read)",
    "counts_ephemeral_claims": "the claims of generic ephemeral volumes count towards limits",
    "missing_claim_errs": "a missing claim of the pod is an error where volumes are counted",
    "missing_claim_is_reason": "a missing claim of the pod turns nodes down where volumes are counted",
    "limits_gate": "the gate for limits of volumes from the node's allocatable",
    "node_limits": "CSI drivers can have limits in the node's allocatable (no: in its CSINode alone)",
    "counts_attachments": "VolumeAttachments of a node count towards the limits of CSI drivers",
    "instance_type_labels": "the labels with a node's machine type",
    "zone_labels": "the labels with the zone of a GCE disk",
    "migration_gate": "the gate for CSI migration as a whole",
    "always_migrated": "built-in drivers that count as moved to CSI on each node with a CSINode",
    "migratable": "built-in drivers that can move to CSI",
    "inline_migrates": "disks that a pod names without a claim count for the CSI driver where their driver has moved",
    "beta_zones_alone": "the beta label of a moved volume replaces its node affinity (no: its zones are added, and newer labels are read)",
    "translates_bound_volumes": "the node affinity of a bound volume is read with the CSI driver's labels where its driver has moved",
    "missing_volume_is_reason": "a claim bound to a missing volume turns nodes down (no: it is an error)",
    "checks_storage_capacity": "a new volume needs free capacity by CSIStorageCapacity",
    "reads_maximum_size": "the largest volume that a CSIStorageCapacity allows counts before its capacity",
    "storage_capacity_gate": "the gate for that (none: it is always so)",
    "attributes_class_gate": "the gate for the VolumeAttributesClass of claims and volumes (none: it is not read)",
}
_PREEMPTION: Mapping[str, str] = {
    "refreshes_snapshot": "preemption looks at the cluster as it is then, not as the cycle saw it",
    "never_policy": "preemptionPolicy Never is honoured (up to 1.16 with gate NonPreemptingPriority)",
    "by_start_time": "among pods of equal priority those that started last leave first",
    "needs_priority_gate": "without gate PodPriority nothing is preempted",
    "excludes_self": "a pod that waits for a node does not count against itself there",
    "nominates_before_api": "a pod counts as waiting for its node before the API server confirms it",
    "extender_names_victims": "a node that an extender leaves without victims is an error",
}
_QUEUE: Mapping[str, str] = {
    "by_timestamp": "pods of equal priority are tried by age (no: in no order)",
    "pod_timestamps": "that age is the pod's own (no: since it entered the queue)",
    "has_backoff": "a pod that failed waits before its next attempt",
    "backoff_forget_after": "seconds after which a pod's failures are forgotten",
    "update_ends_backoff": "a change of a pod ends its waiting time",
    "parked_at_most": "seconds after which a pod that fits nowhere is tried again in any case",
    "move_marker": "how an attempt notices that the cluster changed while it ran",
    "pop_removes_nomination": "a pod that is tried again gives up the node that it waits for",
    "parks_by_condition": "a pod that failed is set aside only if its condition PodScheduled says Unschedulable",
    "finalizers_count": "a change of the finalizers alone lets a pod be tried again",
    "refusals": "the errors for a failed pod that is in the queue already",
    "fifo_without_priority": "without gate PodPriority the queue is first in, first out",
    "fifo_wait_doubles": "there the wait after a failure grows from 1 s to 60 s (no: always 1 s)",
    "node_update_filter": "a change of a node lets pods be tried again only if scheduling reads what changed",
    "csi_node_events": "an added or changed CSINode lets pods be tried again",
    "skips_condition_updates": "a change of the conditions of a pod that was just placed is ignored",
    "probe_times": "each failed attempt writes its time into condition PodScheduled",
}
_NOMINATIONS: Mapping[str, str] = {
    "by_uid": "pods that wait for a node are told apart by UID (no: by name)",
    "keeps_on_update": "a change of such a pod that does not name the node keeps it waiting there",
    "empty_name_counts": "a pod can wait for the node with the empty name",
    "asks_lister": "a pod that was deleted or has a node cannot wait for one",
    "placed_are_nominated": "all the same, a pod that has a node can wait for one",
}
_CLIENT: Mapping[str, str] = {
    "resources": "the kinds that it lists and watches, with the version of the API",
    "device_api": "with gate DynamicResourceAllocation, the version of the API in which it lists claims and devices",
    "pod_selector": "the field selector of the pods that are listed",
    "bookmarks": "watches ask for bookmarks",
    "sends_duration": "watches send their time-out twice, once as a duration",
    "pods_send_duration": "the watch of pods does so, too",
    "relists_from_last": "a second list asks for what is not older than the last version seen (no: for any version)",
    "pauses": "seconds between two tries after an error, the shortest and the longest",
    "rewatches_refused": "after a refused connection the watch is sent again (no: a list)",
    "rewatches_limited": "after an answer 429 the watch is sent again (no: a list)",
    "resends_reads": "a read is sent again if the server closed the connection (no: only if it was reset)",
    "resends_watches": "a watch is sent again then, too, also after a time-out and errors of the server",
    "attempts": "how often a request is sent at most, while the server names a time to wait",
}
_LIVE: Mapping[str, str] = {
    "binding_failure_texts": "after a binding that failed condition PodScheduled has the error as its message",
    "preempted_text": "the event on a pod that had to leave",
    "assumed_pods_expire": "seconds after which a bound pod loses its place if no informer sees it (none: never)",
    "wrong_node_text": "the error for a claim whose selected node was changed",
}
_AREAS: Mapping[str, Mapping[str, str]] = {
    "search": _SEARCH,
    "requests": _REQUESTS,
    "rules": _RULES,
    "messages": _MESSAGES,
    "extenders": _EXTENDERS,
    "volumes": {f"volumes.{name}": words for name, words in _VOLUMES.items()},
    "preemption": {f"preemption.{name}": words for name, words in _PREEMPTION.items()},
    "queue": {f"queue.{name}": words for name, words in _QUEUE.items()}
    | {f"nominations.{name}": words for name, words in _NOMINATIONS.items()},
    "live": {f"live.{name}": words for name, words in _LIVE.items()},
    "client": {f"client.{name}": words for name, words in _CLIENT.items()},
    "framework": {f"framework.{name}": words for name, words in words_of(FrameworkCells)},
    "queueing": {f"queueing.{name}": words for name, words in words_of(QueueingCells)},
    "configuration": {f"configuration.{name}": words for name, words in words_of(ConfigurationCells)},
    "devices": {f"devices.{name}": words for name, words in words_of(DeviceCells)},
    "policies": {f"policies.{name}": words for name, words in words_of(PolicyCells)},
}
CELLS: Mapping[str, tuple[str, str]] = {name: (area, words) for area, cells in _AREAS.items() for name, words in cells.items() if words}
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
    *(f"policies.{name}" for name, words in words_of(PolicyCells) if not words),
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
GROUPS = (
    VolumeCells, PreemptionCells, QueueCells, NominationCells, ClientCells, ExtenderCells, LiveCells, FrameworkCells, ConfigurationCells,
    DeviceCells, QueueingCells, PolicyCells,
)  # fmt: skip
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
    if isinstance(value, GROUPS):
        for inner in value.__struct_fields__:
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
