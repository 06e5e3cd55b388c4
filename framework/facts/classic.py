"""The facts of 1.13 to 1.16."""

from __future__ import annotations

from .fact import CONFIGURATION, PREEMPTION, SEARCH, TIES, Fact

_BINDING, _FIT, _BALANCED = "CheckVolumeBinding", "PodFitsResources", "BalancedResourceAllocation"
_BINDER = "controller/volume/persistentvolume/scheduler_binder.go"
_USAGE = ("GeneralPredicates", "LeastRequestedPriority", "MostRequestedPriority", _BALANCED, "RequestedToCapacityRatioPriority")
_COUNTS = ("MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "MaxCSIVolumeCountPred", "MaxCinderVolumeCount")
_PREDICATES, _PRIORITIES = "algorithm/predicates/predicates.go", "algorithm/priorities"

CLASSIC_FACTS = (
    # --- 1.13 -----------------------------------------------------------------------------------------------------------
    Fact(
        "available-volumes-alone", "1.13", _BINDING, sentence="only volumes in phase Available are matched to claims", needs=("volumes",),
        elsewhere=("volumes.checks_phase",), upstream=_BINDER,
    ),
    Fact(
        "volume-mode-defaults", "1.13", _BINDING, sentence="a volume without a mode is a Filesystem, and gate BlockVolume is on",
        elsewhere=("volumes.volume_mode", "gates.BlockVolume"), needs=("volumes",), upstream=_BINDER,
    ),
    Fact(
        "own-nomination-left-out", "1.13", PREEMPTION, sentence="a pod that waits for a node does not count against itself there",
        elsewhere=("preemption.excludes_self",), needs=("nominations",), upstream="core/generic_scheduler.go",
    ),
    Fact(
        "nominated-at-once", "1.13", PREEMPTION, sentence="a pod counts as waiting for its node before the API server confirms it",
        elsewhere=("preemption.nominates_before_api",), decides=False, upstream="scheduler.go",
    ),
    Fact(
        "claim-errors-with-namespace", "1.13", _BINDING, sentence="the error for a missing claim has its namespace", decides=False,
        elsewhere=("volumes.claim_text_has_namespace",), upstream=_BINDER,
    ),
    Fact(
        "limits-priority-by-gate", "1.13", "ResourceLimitsPriority", elsewhere=("gate_effects",), needs=("gates set",),
        sentence="gate ResourceLimitsPriorityFunction adds its priority to the default ones",
        upstream="algorithmprovider/defaults/defaults.go",
    ),
    # --- 1.14 -----------------------------------------------------------------------------------------------------------
    Fact(
        "share-of-nodes-adapts", "1.14", SEARCH, elsewhere=("nodes_to_find", "default_percentage"), upstream="core/generic_scheduler.go",
        sentence="the share of nodes that a search looks at falls from 50 % to 5 % as the cluster grows", needs=("100 nodes",),
    ),
    Fact(
        "no-equivalence-cache", "1.14", SEARCH, sentence="the equivalence cache is gone", elsewhere=("equivalence_cache",),
        needs=("equivalence cache",), upstream="core/equivalence/eqivalence.go",
    ),
    Fact(
        "gone-nodes-leave-snapshots", "1.14", "MatchInterPodAffinity", elsewhere=("snapshot_keeps_nodeless",), needs=("orphans",),
        sentence="a node that is gone leaves the snapshot with its last state", others=("InterPodAffinityPriority",),
        upstream="internal/cache/cache.go",
    ),
    Fact(
        "transient-counts-kept", "1.14", _BALANCED, sentence="counts of volumes start at zero on nodes that changed alone",
        elsewhere=("transient_reset_all",), needs=("volumes", "gates set"), upstream="internal/cache/cache.go",
    ),
    Fact(
        "out-of-disk-unread", "1.14", "CheckNodeCondition", sentence="condition OutOfDisk of a node is not read", needs=("gates set",),
        elsewhere=("reads_out_of_disk",), upstream=_PREDICATES,
    ),
    Fact(
        "spread-matches-all-selectors", "1.14", "SelectorSpreadPriority", elsewhere=("spread_matches_any_selector",), needs=("owners",),
        sentence="pods are spread from those that match all selectors of their owners, not any of them",
        others=("ServiceSpreadingPriority",), upstream=f"{_PRIORITIES}/selector_spreading.go",
    ),
    Fact(
        "zones-without-gate", "1.14", "NoVolumeZoneConflict", sentence="a claim's class is read without gate VolumeScheduling",
        elsewhere=("volumes.zone_needs_scheduling_gate", "gates.VolumeScheduling"), needs=("volumes", "gates set"), upstream=_PREDICATES,
    ),
    Fact(
        "binding-without-gate", "1.14", _BINDING, sentence="no gate switches CheckVolumeBinding off", needs=("volumes", "gates set"),
        elsewhere=("volumes.binding_gate", "gates.VolumeScheduling"), upstream=_PREDICATES,
    ),
    Fact(
        "selected-node-alone", "1.14", _BINDING, sentence="a claim with a selected node fits that node alone", needs=("volumes",),
        elsewhere=("volumes.selected_node_is_immediate",), upstream=_BINDER,
    ),
    Fact(
        "no-stale-volumes", "1.14", _BINDING, sentence="a choice of volumes from an earlier cycle is dropped", needs=("volumes",),
        elsewhere=("volumes.keeps_stale_decisions",), upstream=_BINDER,
    ),
    Fact(
        "cinder-limit", "1.14", "MaxCinderVolumeCount", sentence="a Policy may name MaxCinderVolumeCount", needs=("policy", "volumes"),
        elsewhere=("ordering", "predicates"), upstream="algorithmprovider/defaults/register_predicates.go",
    ),
    Fact(
        "preemption-on-the-snapshot", "1.14", PREEMPTION, sentence="preemption looks at the cluster as the cycle saw it", decides=False,
        elsewhere=("preemption.refreshes_snapshot",), upstream="core/generic_scheduler.go",
    ),
    Fact(
        "lower-case-errors", "1.14", CONFIGURATION, sentence="errors begin in lower case and are listed once", decides=False,
        elsewhere=("texts", "error_joiner", "binding_failed_reason"), upstream="factory/plugins.go",
    ),
    # --- 1.15 -----------------------------------------------------------------------------------------------------------
    Fact(
        "affinity-scores-by-node", "1.15", "InterPodAffinityPriority", sentence="a node that is twice among those that fit counts once",
        elsewhere=("interpod_counts_by_name",), needs=("pod affinity", "100 nodes"), upstream=f"{_PRIORITIES}/interpod_affinity.go",
    ),
    Fact(
        "unbound-csi-claims-count", "1.15", "MaxCSIVolumeCountPred", elsewhere=("volumes.csi_reads_unbound_claims",), needs=("volumes",),
        sentence="claims without a volume count by the provisioner of their class",
        upstream="algorithm/predicates/csi_volume_predicate.go",
    ),
    Fact(
        "block-mode-rejected", "1.15", _BINDING, sentence="without gate BlockVolume nothing matches mode Block", needs=("volumes",),
        elsewhere=("volumes.volume_mode",), upstream=_BINDER,
    ),
    Fact(
        "preemption-never", "1.15", PREEMPTION, sentence="with gate NonPreemptingPriority preemptionPolicy Never is honoured",
        elsewhere=("preemption.never_policy",), needs=("priorities", "gates set"), upstream="core/generic_scheduler.go",
    ),
    Fact(
        "youngest-leave-first", "1.15", PREEMPTION, sentence="among pods of equal priority those that started last leave first",
        elsewhere=("preemption.by_start_time",), needs=("priorities",), upstream="util/utils.go",
    ),
    Fact(
        "ignorable-extenders-last", "1.15", SEARCH, sentence="extenders that may be ignored are called last", needs=("extenders",),
        elsewhere=("ignorable_extenders_last",), upstream="factory/factory.go",
    ),
    Fact(
        "errors-with-labels", "1.15", CONFIGURATION, sentence="errors of selectors have the label's name", decides=False,
        elsewhere=("affinity_texts", "selector_text", "volumes.unbound_claim_text"), upstream=_PREDICATES,
    ),
    # --- 1.16 -----------------------------------------------------------------------------------------------------------
    Fact(
        "init-containers-and-overhead", "1.16", _FIT, elsewhere=("incoming", "footprint", "incoming_nonzero", "footprint_nonzero"),
        sentence="init containers of pods on a node count, and overhead with gate PodOverhead", others=_USAGE,
        needs=("init containers|overhead",), upstream="nodeinfo/node_info.go",
    ),
    Fact(
        "ties-at-random", "1.16", TIES, elsewhere=("pick_host",), upstream="core/generic_scheduler.go",
        sentence="one of several best nodes is taken at random, no longer in turn (here: the first in visiting order)",
    ),
    Fact(
        "best-effort-by-init-containers", "1.16", "CheckNodeMemoryPressure", elsewhere=("best_effort_sees_init_containers",),
        sentence="a pod whose init containers alone have requests is not best effort", needs=("init containers", "gates set"),
        upstream="v1helper/qos",
    ),
    Fact(
        "ratio-by-resource", "1.16", "RequestedToCapacityRatioPriority", elsewhere=("ratio_mean", "ratio_reads_resources"),
        sentence="the ratio may weigh resources by name, and the mean is rounded", needs=("policy",),
        upstream=f"{_PRIORITIES}/requested_to_capacity_ratio.go",
    ),
    Fact(
        "unknown-claims-uncounted", "1.16", _COUNTS[0], sentence="a claim that cannot be resolved no longer counts for every type of disk",
        elsewhere=("volumes.counts_unresolved_claims",), others=_COUNTS, needs=("volumes",), upstream=_PREDICATES,
    ),
    Fact(
        "csi-limits-by-csinode", "1.16", "MaxCSIVolumeCountPred", elsewhere=("volumes.csi_reads_migration",), others=_COUNTS,
        sentence="limits of CSI drivers come from the CSINode, and migrated in-tree volumes count there", needs=("volumes",),
        upstream="algorithm/predicates/csi_volume_predicate.go",
    ),
    Fact(
        "beta-class-first", "1.16", _BINDING, sentence="the beta annotation for a claim's class counts before its field", upstream=_BINDER,
        elsewhere=("volumes.matches_by_beta_class",), needs=("volumes",),
    ),
    Fact(
        "preemption-without-gate", "1.16", PREEMPTION, elsewhere=("preemption.needs_priority_gate", "gates.PodPriority"),
        sentence="preemption no longer asks for gate PodPriority", needs=("priorities", "gates set"), upstream="core/generic_scheduler.go",
    ),
    Fact(
        "spread-constraints", "1.16", "EvenPodsSpread", sentence="with gate EvenPodsSpread topology spread constraints count",
        elsewhere=("gate_effects",), others=("EvenPodsSpreadPriority",), needs=("gates set",), upstream=_PREDICATES,
    ),
)
"""In the order of releases."""
