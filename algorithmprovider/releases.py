"""The releases 1.12 to 1.16: the first in full, the others by their texts (``core/release/facts``). No other file compares versions.

Where a difference is behaviour, the cell holds the function that does it, named after what it does (``cells.py``): such cells stand here,
as changes over the release before. The queue and the nominations of 1.13 are those of its late patch releases, as of 1.13.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from ..choices import DEFAULT_RELEASE as DEFAULT_RELEASE
from ..core.pods import requests
from ..core.release import (
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
from ..core.release.fact import Cells, Edit, changed_by, text_of
from ..core.release.gates import gates_of
from ..core.volumes.intree import MIGRATABLE
from ..exceptions import UnknownNameError
from . import cells

PRESSURE = ("CheckNodeMemoryPressure", "CheckNodePIDPressure", "CheckNodeDiskPressure")

TAINT_NODES_BY_CONDITION = GateEffect(
    gate="TaintNodesByCondition",
    registers=("CheckNodeUnschedulable",),
    unregisters=("CheckNodeCondition", *PRESSURE),
    adds=("PodToleratesNodeTaints", "CheckNodeUnschedulable"),
    mandatory=("PodToleratesNodeTaints", "CheckNodeUnschedulable"),
)
RESOURCE_LIMITS = GateEffect(gate="ResourceLimitsPriorityFunction", registers_priority="ResourceLimitsPriority")
EVEN_PODS_SPREAD = GateEffect(
    gate="EvenPodsSpread",
    registers=("EvenPodsSpread",),
    adds=("EvenPodsSpread",),
    registers_priority="EvenPodsSpreadPriority",
    adds_priority=True,
)

USUAL_PREDICATES = (
    "NoVolumeZoneConflict",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",
    "MatchInterPodAffinity",
    "NoDiskConflict",
    "GeneralPredicates",
    "CheckNodeCondition",
    *PRESSURE,
    "PodToleratesNodeTaints",
    "CheckVolumeBinding",
)
USUAL_PRIORITIES = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
}

V1_12 = Release(
    version="1.12",
    ordering=(
        "CheckNodeCondition",
        "CheckNodeUnschedulable",
        "GeneralPredicates",
        "HostName",
        "PodFitsHostPorts",
        "MatchNodeSelector",
        "PodFitsResources",
        "NoDiskConflict",
        "PodToleratesNodeTaints",
        "PodToleratesNodeNoExecuteTaints",
        "CheckNodeLabelPresence",
        "CheckServiceAffinity",
        "MaxEBSVolumeCount",
        "MaxGCEPDVolumeCount",
        "MaxCSIVolumeCountPred",
        "MaxAzureDiskVolumeCount",
        "CheckVolumeBinding",
        "NoVolumeZoneConflict",
        *PRESSURE,
        "MatchInterPodAffinity",
    ),
    predicates=("PodFitsPorts", "PodFitsHostPorts", "PodFitsResources", "HostName", "MatchNodeSelector", *USUAL_PREDICATES),
    default_predicates=USUAL_PREDICATES,
    mandatory_predicates=("CheckNodeCondition",),
    priorities=(
        *USUAL_PRIORITIES,
        "ServiceSpreadingPriority",
        "EqualPriority",
        "MostRequestedPriority",
        "RequestedToCapacityRatioPriority",
    ),
    default_priorities=MappingProxyType(USUAL_PRIORITIES),
    gates=gates_of("1.12").known,
    configuration=ConfigurationCells(
        fields_lacked=frozenset({"plugins", "pluginConfig", "leaderElection.resourceName", "leaderElection.resourceNamespace"})
    ),
    gate_effects=(TAINT_NODES_BY_CONDITION, RESOURCE_LIMITS),
    default_percentage=50,
    texts=MappingProxyType(
        {
            "predicate": 'Invalid predicate name "{name}" specified - no corresponding function found',
            "priority": "Invalid priority name {name} specified - no corresponding function found",
            "overflow": "Total priority of priority functions has overflown",
        }
    ),
    policy_form="JSON",
    ignorable_extenders_last=False,
    extenders=ExtenderCells(
        adds_nodes=True,
        unknown_node='extender "{url}" claims a filtered node "{node}" which is not found in nodeNameToInfo map',
        unknown_candidate="extender: {url} claims to preempt on node: {node} but the node is not found in nodeNameToInfo map",
        keeps_violations=False,
        failure="Failed {verb} with extender at URL {url}, code {code}",
    ),
    equivalence_cache=True,
    incoming=requests.of_all_containers,
    footprint=requests.of_containers,
    incoming_nonzero=requests.nonzero_of_containers,
    footprint_nonzero=requests.nonzero_of_containers,
    zone_key=cells.beta_zone_key,
    snapshot_keeps_nodeless=True,
    transient_reset_all=True,
    nodes_to_find=cells.fixed_share,
    pick_host=cells.round_robin,
    error_joiner=cells.listed,
    binding_failed_reason="BindingRejected",
    reads_out_of_disk=True,
    best_effort_sees_init_containers=False,
    affinity_texts=MappingProxyType(
        {
            "existing": "Failed to get all terms that pod {pod} matches, err: {error}",
            "affinity": "Cannot schedule pod {pod} onto node {node}, because of PodAffinity, err: {error}",
        }
    ),
    spread_matches_any_selector=True,
    ratio_mean=cells.truncated_mean,
    ratio_reads_resources=False,
    selector_text=cells.without_key,
    interpod_counts_by_name=True,
    volumes=VolumeCells(
        migratable=MIGRATABLE,
        counts_unresolved_claims=True,
        csi_reads_unbound_claims=False,
        csi_reads_migration=False,
        unbound_claim_text="PersistentVolumeClaim is not bound: {}",
        zone_needs_scheduling_gate=True,
        binding_gate=True,
        selected_node_is_immediate=True,
        keeps_stale_decisions=True,
        claim_text_has_namespace=False,
        checks_phase=False,
        volume_mode="strict",
        matches_by_beta_class=False,
    ),
    preemption=PreemptionCells(
        refreshes_snapshot=True,
        never_policy=False,
        by_start_time=False,
        needs_priority_gate=True,
        excludes_self=False,
        nominates_before_api=False,
        extender_names_victims=False,
    ),
    queue=QueueCells(
        by_timestamp=False,
        pod_timestamps=False,
        has_backoff=False,
        backoff_forget_after=None,
        update_ends_backoff=True,
        parked_at_most=None,
        move_marker="flag",
        pop_removes_nomination=True,
        parks_by_condition=True,
        finalizers_count=True,
        refusals=(
            "pod is already present in unschedulableQ",
            "pod is already present in the activeQ",
            "pod is already present in the backoffQ",
        ),
        fifo_without_priority=True,
        fifo_wait_doubles=True,
        node_update_filter=False,
        csi_node_events=False,
        skips_condition_updates=False,
        probe_times=False,
    ),
    nominations=NominationCells(by_uid=False, keeps_on_update=False, empty_name_counts=False, asks_lister=False),
    client=cells.FIRST_CLIENT,
    live=LiveCells(binding_failure_texts=False),
)


_OTHERWISE: Mapping[str, Cells] = {
    "1.13": {"gate_effects": (TAINT_NODES_BY_CONDITION, replace(RESOURCE_LIMITS, adds_priority=True))},
    "1.14": {
        "nodes_to_find": cells.adaptive_share,
        "error_joiner": cells.listed_once,
    },
    "1.15": {
        "missing_plugins": cells.missing_plugins("reserve preBind postBind unreserve permit queueSort", "{name}"),
        "selector_text": cells.with_key,
    },
    "1.16": {
        "missing_plugins": cells.missing_plugins(
            "preFilter filter score reserve postFilter preBind bind postBind unreserve permit queueSort", '"{name}"'
        ),
        "incoming": requests.with_overhead,
        "footprint": requests.with_overhead,
        "incoming_nonzero": requests.nonzero_with_whole_overhead,
        "footprint_nonzero": requests.nonzero_with_overhead,
        "pick_host": cells.first_best,
        "ratio_mean": cells.rounded_mean_of_positive,
        "gate_effects": Edit([EVEN_PODS_SPREAD]),
    },
}
"""Release -> the cells that are no plain values, and that differ from the release before."""


def _in_turn() -> Iterator[Release]:
    """The releases, each as the one before with what its text and its table say."""
    yield (release := V1_12)
    for version, more in _OTHERWISE.items():
        cells_told = (*text_of(version).cells, more, {"version": version, "gates": gates_of(version).known})
        yield (release := changed_by(release, cells_told))


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
        raise UnknownNameError(f'release: got "{name}", wanted {", ".join(RELEASES)}')
    return RELEASES[version]
