"""The facts of 1.13 to 1.16."""

from __future__ import annotations

from .fact import CONFIGURATION, PREEMPTION, SEARCH, TIES, Fact

_BINDING, _FIT, _BALANCED = "CheckVolumeBinding", "PodFitsResources", "BalancedResourceAllocation"
_BINDER = "controller/volume/persistentvolume/scheduler_binder.go"
_AMOUNTS = ("incoming", "footprint", "incoming_nonzero", "footprint_nonzero")
_USAGE = ("GeneralPredicates", "LeastRequestedPriority", "MostRequestedPriority", _BALANCED, "RequestedToCapacityRatioPriority")
_COUNTS = ("MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "MaxCSIVolumeCountPred", "MaxCinderVolumeCount")
_PREDICATES, _PRIORITIES = "algorithm/predicates/predicates.go", "algorithm/priorities"

CLASSIC_FACTS = (
    # --- 1.13 -------------------------------------------------------------------------------------------------------
    Fact(
        id="available-volumes-alone", release="1.13", plugin=_BINDING, cells=("volumes.checks_phase",), needs=("volumes",),
        sentence="only volumes in phase Available are matched to claims", upstream=_BINDER,
    ),
    Fact(
        id="volume-mode-defaults", release="1.13", plugin=_BINDING, cells=("volumes.volume_mode", "gates.BlockVolume"),
        needs=("volumes",), sentence="a volume without a mode is a Filesystem, and gate BlockVolume is on", upstream=_BINDER,
    ),
    Fact(
        id="own-nomination-left-out", release="1.13", plugin=PREEMPTION, cells=("preemption.excludes_self",), needs=("nominations",),
        sentence="a pod that waits for a node does not count against itself there", upstream="core/generic_scheduler.go",
    ),
    Fact(
        id="nominated-at-once", release="1.13", plugin=PREEMPTION, cells=("preemption.nominates_before_api",), decides=False,
        sentence="a pod counts as waiting for its node before the API server confirms it", upstream="scheduler.go",
    ),
    Fact(
        id="claim-errors-with-namespace", release="1.13", plugin=_BINDING, cells=("volumes.claim_text_has_namespace",), decides=False,
        sentence="the error for a missing claim has its namespace", upstream=_BINDER,
    ),
    Fact(
        id="limits-priority-by-gate", release="1.13", plugin="ResourceLimitsPriority", cells=("gate_effects",), needs=("gates set",),
        sentence="gate ResourceLimitsPriorityFunction adds its priority to the default ones",
        upstream="algorithmprovider/defaults/defaults.go",
    ),
    # --- 1.14 -------------------------------------------------------------------------------------------------------
    Fact(
        id="share-of-nodes-adapts", release="1.14", plugin=SEARCH, cells=("nodes_to_find", "default_percentage"), needs=("100 nodes",),
        sentence="the share of nodes that a search looks at falls from 50 % to 5 % as the cluster grows",
        upstream="core/generic_scheduler.go",
    ),
    Fact(
        id="no-equivalence-cache", release="1.14", plugin=SEARCH, cells=("equivalence_cache",), needs=("equivalence cache",),
        sentence="the equivalence cache is gone", upstream="core/equivalence/eqivalence.go",
    ),
    Fact(
        id="gone-nodes-leave-snapshots", release="1.14", plugin="MatchInterPodAffinity", others=("InterPodAffinityPriority",),
        cells=("snapshot_keeps_nodeless",), needs=("orphans",), sentence="a node that is gone leaves the snapshot with its last state",
        upstream="internal/cache/cache.go",
    ),
    Fact(
        id="transient-counts-kept", release="1.14", plugin=_BALANCED, cells=("transient_reset_all",), needs=("volumes", "gates set"),
        sentence="counts of volumes start at zero on nodes that changed alone", upstream="internal/cache/cache.go",
    ),
    Fact(
        id="out-of-disk-unread", release="1.14", plugin="CheckNodeCondition", cells=("reads_out_of_disk",), needs=("gates set",),
        sentence="condition OutOfDisk of a node is not read", upstream=_PREDICATES,
    ),
    Fact(
        id="spread-matches-all-selectors", release="1.14", plugin="SelectorSpreadPriority", cells=("spread_matches_any_selector",),
        others=("ServiceSpreadingPriority",), needs=("owners",), upstream=f"{_PRIORITIES}/selector_spreading.go",
        sentence="pods are spread from those that match all selectors of their owners, not any of them",
    ),
    Fact(
        id="zones-without-gate", release="1.14", plugin="NoVolumeZoneConflict", needs=("volumes", "gates set"),
        cells=("volumes.zone_needs_scheduling_gate", "gates.VolumeScheduling"), upstream=_PREDICATES,
        sentence="a claim's class is read without gate VolumeScheduling",
    ),
    Fact(
        id="binding-without-gate", release="1.14", plugin=_BINDING, needs=("volumes", "gates set"),
        cells=("volumes.binding_gate", "gates.VolumeScheduling"), sentence="no gate switches CheckVolumeBinding off", upstream=_PREDICATES,
    ),
    Fact(
        id="selected-node-alone", release="1.14", plugin=_BINDING, cells=("volumes.selected_node_is_immediate",), needs=("volumes",),
        sentence="a claim with a selected node fits that node alone", upstream=_BINDER,
    ),
    Fact(
        id="no-stale-volumes", release="1.14", plugin=_BINDING, cells=("volumes.keeps_stale_decisions",), needs=("volumes",),
        sentence="a choice of volumes from an earlier cycle is dropped", upstream=_BINDER,
    ),
    Fact(
        id="cinder-limit", release="1.14", plugin="MaxCinderVolumeCount", cells=("ordering", "predicates"), needs=("policy", "volumes"),
        sentence="a Policy may name MaxCinderVolumeCount", upstream="algorithmprovider/defaults/register_predicates.go",
    ),
    Fact(
        id="preemption-on-the-snapshot", release="1.14", plugin=PREEMPTION, cells=("preemption.refreshes_snapshot",), decides=False,
        sentence="preemption looks at the cluster as the cycle saw it", upstream="core/generic_scheduler.go",
    ),
    Fact(
        id="lower-case-errors", release="1.14", plugin=CONFIGURATION, cells=("texts", "error_joiner", "binding_failed_reason"),
        sentence="errors begin in lower case and are listed once", upstream="factory/plugins.go", decides=False,
    ),
    # --- 1.15 -------------------------------------------------------------------------------------------------------
    Fact(
        id="affinity-scores-by-node", release="1.15", plugin="InterPodAffinityPriority", cells=("interpod_counts_by_name",),
        needs=("pod affinity", "100 nodes"), upstream=f"{_PRIORITIES}/interpod_affinity.go",
        sentence="a node that is twice among those that fit counts once",
    ),
    Fact(
        id="unbound-csi-claims-count", release="1.15", plugin="MaxCSIVolumeCountPred", cells=("volumes.csi_reads_unbound_claims",),
        needs=("volumes",), sentence="claims without a volume count by the provisioner of their class",
        upstream="algorithm/predicates/csi_volume_predicate.go",
    ),
    Fact(
        id="block-mode-rejected", release="1.15", plugin=_BINDING, cells=("volumes.volume_mode",), needs=("volumes",),
        sentence="without gate BlockVolume nothing matches mode Block", upstream=_BINDER,
    ),
    Fact(
        id="preemption-never", release="1.15", plugin=PREEMPTION, cells=("preemption.never_policy",), needs=("priorities", "gates set"),
        sentence="with gate NonPreemptingPriority preemptionPolicy Never is honoured", upstream="core/generic_scheduler.go",
    ),
    Fact(
        id="youngest-leave-first", release="1.15", plugin=PREEMPTION, cells=("preemption.by_start_time",), needs=("priorities",),
        sentence="among pods of equal priority those that started last leave first", upstream="util/utils.go",
    ),
    Fact(
        id="ignorable-extenders-last", release="1.15", plugin=SEARCH, cells=("ignorable_extenders_last",), needs=("extenders",),
        sentence="extenders that may be ignored are called last", upstream="factory/factory.go",
    ),
    Fact(
        id="errors-with-labels", release="1.15", plugin=CONFIGURATION, decides=False, upstream=_PREDICATES,
        cells=("affinity_texts", "selector_text", "volumes.unbound_claim_text"),
        sentence="errors of selectors have the label's name",
    ),
    # --- 1.16 -------------------------------------------------------------------------------------------------------
    Fact(
        id="init-containers-and-overhead", release="1.16", plugin=_FIT, others=_USAGE, cells=_AMOUNTS,
        needs=("init containers|overhead",), upstream="nodeinfo/node_info.go",
        sentence="init containers of pods on a node count, and overhead with gate PodOverhead",
    ),
    Fact(
        id="ties-at-random", release="1.16", plugin=TIES, cells=("pick_host",), upstream="core/generic_scheduler.go",
        sentence="one of several best nodes is taken at random, no longer in turn (here: the first in visiting order)",
    ),
    Fact(
        id="best-effort-by-init-containers", release="1.16", plugin="CheckNodeMemoryPressure",
        cells=("best_effort_sees_init_containers",), needs=("init containers", "gates set"), upstream="v1helper/qos",
        sentence="a pod whose init containers alone have requests is not best effort",
    ),
    Fact(
        id="ratio-by-resource", release="1.16", plugin="RequestedToCapacityRatioPriority", cells=("ratio_mean", "ratio_reads_resources"),
        needs=("policy",), sentence="the ratio may weigh resources by name, and the mean is rounded",
        upstream=f"{_PRIORITIES}/requested_to_capacity_ratio.go",
    ),
    Fact(
        id="unknown-claims-uncounted", release="1.16", plugin=_COUNTS[0], others=_COUNTS, cells=("volumes.counts_unresolved_claims",),
        needs=("volumes",), sentence="a claim that cannot be resolved no longer counts for every type of disk", upstream=_PREDICATES,
    ),
    Fact(
        id="csi-limits-by-csinode", release="1.16", plugin="MaxCSIVolumeCountPred", others=_COUNTS, needs=("volumes",),
        cells=("volumes.csi_reads_migration",), upstream="algorithm/predicates/csi_volume_predicate.go",
        sentence="limits of CSI drivers come from the CSINode, and migrated in-tree volumes count there",
    ),
    Fact(
        id="beta-class-first", release="1.16", plugin=_BINDING, cells=("volumes.matches_by_beta_class",), needs=("volumes",),
        sentence="the beta annotation for a claim's class counts before its field", upstream=_BINDER,
    ),
    Fact(
        id="preemption-without-gate", release="1.16", plugin=PREEMPTION, cells=("preemption.needs_priority_gate", "gates.PodPriority"),
        needs=("priorities", "gates set"), sentence="preemption no longer asks for gate PodPriority",
        upstream="core/generic_scheduler.go",
    ),
    Fact(
        id="spread-constraints", release="1.16", plugin="EvenPodsSpread", others=("EvenPodsSpreadPriority",), needs=("gates set",),
        cells=("gate_effects",), sentence="with gate EvenPodsSpread topology spread constraints count", upstream=_PREDICATES,
    ),
)
"""In the order of releases."""
