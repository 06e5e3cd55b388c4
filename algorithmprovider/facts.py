"""The facts of 1.13 to 1.16."""

from __future__ import annotations

from ..core.pods import requests
from ..core.release.fact import CONFIGURATION, PREEMPTION, SEARCH, TIES, Fact, also
from . import cells

_BINDING, _FIT, _BALANCED = "CheckVolumeBinding", "PodFitsResources", "BalancedResourceAllocation"
_BINDER = "controller/volume/persistentvolume/scheduler_binder.go"
_USAGE = ("GeneralPredicates", "LeastRequestedPriority", "MostRequestedPriority", _BALANCED, "RequestedToCapacityRatioPriority")
_COUNTS = ("MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount", "MaxCSIVolumeCountPred", "MaxCinderVolumeCount")
_PREDICATES, _PRIORITIES, _PLUGINS = "algorithm/predicates/predicates.go", "algorithm/priorities", "framework/v1alpha1/framework.go"
_TEXTS = {
    "predicate": 'invalid predicate name "{name}" specified - no corresponding function found',
    "priority": "invalid priority name {name} specified - no corresponding function found",
    "overflow": "total priority of priority functions has overflown",
}
_AFFINITY_TEXTS = {
    "existing": "Failed to get all terms that match pod {pod}: {error}",
    "affinity": "Cannot schedule pod {pod} onto node {node}, because of PodAffinity: {error}",
}

NAMING_PLUGINS = ("plugins", "pluginConfig")
_IDLE_POINTS = ("plugins.preFilter", "plugins.filter", "plugins.score", "plugins.postFilter", "plugins.bind")

CLASSIC_FACTS = (
    # --- 1.13 -----------------------------------------------------------------------------------------------------------
    Fact(
        "available-volumes-alone", "1.13", _BINDING, sentence="only volumes in phase Available are matched to claims", needs=("volumes",),
        now={"volumes.checks_phase": True}, upstream=_BINDER,
    ),
    Fact(
        "volume-mode-defaults", "1.13", _BINDING, sentence="a volume without a mode is a Filesystem, and gate BlockVolume is on",
        now={"volumes.volume_mode": "default"}, elsewhere=("gates.BlockVolume",), needs=("volumes",), upstream=_BINDER,
    ),
    Fact(
        "own-nomination-left-out", "1.13", PREEMPTION, sentence="a pod that waits for a node does not count against itself there",
        now={"preemption.excludes_self": True}, needs=("nominations",), upstream="core/generic_scheduler.go",
    ),
    Fact(
        "nominated-at-once", "1.13", PREEMPTION, sentence="a pod counts as waiting for its node before the API server confirms it",
        now={"preemption.nominates_before_api": True}, decides=False, upstream="scheduler.go",
    ),
    Fact(
        "claim-errors-with-namespace", "1.13", _BINDING, sentence="the error for a missing claim has its namespace", decides=False,
        now={"volumes.claim_text_has_namespace": True}, upstream=_BINDER,
    ),
    Fact(
        "limits-priority-by-gate", "1.13", "ResourceLimitsPriority", elsewhere=("gate_effects",), needs=("gates set",),
        sentence="gate ResourceLimitsPriorityFunction adds its priority to the default ones",
        upstream="algorithmprovider/defaults/defaults.go",
    ),
    # --- 1.14 -----------------------------------------------------------------------------------------------------------
    Fact(
        "share-of-nodes-adapts", "1.14", SEARCH, upstream="core/generic_scheduler.go",
        now={"nodes_to_find": cells.adaptive_share, "default_percentage": 0},
        sentence="the share of nodes that a search looks at falls from 50 % to 5 % as the cluster grows", needs=("100 nodes",),
    ),
    Fact(
        "no-equivalence-cache", "1.14", SEARCH, sentence="the equivalence cache is gone", now={"equivalence_cache": False},
        needs=("equivalence cache",), upstream="core/equivalence/eqivalence.go",
    ),
    Fact(
        "gone-nodes-leave-snapshots", "1.14", "MatchInterPodAffinity", now={"snapshot_keeps_nodeless": False}, needs=("orphans",),
        sentence="a node that is gone leaves the snapshot with its last state", others=("InterPodAffinityPriority",),
        upstream="internal/cache/cache.go",
    ),
    Fact(
        "transient-counts-kept", "1.14", _BALANCED, sentence="counts of volumes start at zero on nodes that changed alone",
        now={"transient_reset_all": False}, needs=("volumes", "gates set"), upstream="internal/cache/cache.go",
    ),
    Fact(
        "out-of-disk-unread", "1.14", "CheckNodeCondition", sentence="condition OutOfDisk of a node is not read", needs=("gates set",),
        now={"reads_out_of_disk": False}, upstream=_PREDICATES,
    ),
    Fact(
        "spread-matches-all-selectors", "1.14", "SelectorSpreadPriority", now={"spread_matches_any_selector": False}, needs=("owners",),
        sentence="pods are spread from those that match all selectors of their owners, not any of them",
        others=("ServiceSpreadingPriority",), upstream=f"{_PRIORITIES}/selector_spreading.go",
    ),
    Fact(
        "zones-without-gate", "1.14", "NoVolumeZoneConflict", sentence="a claim's class is read without gate VolumeScheduling",
        now={"volumes.zone_needs_scheduling_gate": False}, elsewhere=("gates.VolumeScheduling",), needs=("volumes", "gates set"),
        upstream=_PREDICATES,
    ),
    Fact(
        "binding-without-gate", "1.14", _BINDING, sentence="no gate switches CheckVolumeBinding off", needs=("volumes", "gates set"),
        now={"volumes.binding_gate": False}, elsewhere=("gates.VolumeScheduling",), upstream=_PREDICATES,
    ),
    Fact(
        "selected-node-alone", "1.14", _BINDING, sentence="a claim with a selected node fits that node alone", needs=("volumes",),
        now={"volumes.selected_node_is_immediate": False}, upstream=_BINDER,
    ),
    Fact(
        "no-stale-volumes", "1.14", _BINDING, sentence="a choice of volumes from an earlier cycle is dropped", needs=("volumes",),
        now={"volumes.keeps_stale_decisions": False}, upstream=_BINDER,
    ),
    Fact(
        "cinder-limit", "1.14", "MaxCinderVolumeCount", sentence="a Policy may name MaxCinderVolumeCount", needs=("policy", "volumes"),
        now={"predicates": also("MaxCinderVolumeCount")}, elsewhere=("ordering",),
        upstream="algorithmprovider/defaults/register_predicates.go",
    ),
    Fact(
        "preemption-on-the-snapshot", "1.14", PREEMPTION, sentence="preemption looks at the cluster as the cycle saw it", decides=False,
        now={"preemption.refreshes_snapshot": False}, upstream="core/generic_scheduler.go",
    ),
    Fact(
        "lower-case-errors", "1.14", CONFIGURATION, sentence="errors begin in lower case and are listed once", decides=False,
        now={"texts": _TEXTS, "error_joiner": cells.listed_once, "binding_failed_reason": "SchedulerError"}, upstream="factory/plugins.go",
    ),
    # --- 1.15 -----------------------------------------------------------------------------------------------------------
    Fact(
        "affinity-scores-by-node", "1.15", "InterPodAffinityPriority", sentence="a node that is twice among those that fit counts once",
        now={"interpod_counts_by_name": False}, needs=("pod affinity", "100 nodes"), upstream=f"{_PRIORITIES}/interpod_affinity.go",
    ),
    Fact(
        "unbound-csi-claims-count", "1.15", "MaxCSIVolumeCountPred", now={"volumes.csi_reads_unbound_claims": True}, needs=("volumes",),
        sentence="claims without a volume count by the provisioner of their class",
        upstream="algorithm/predicates/csi_volume_predicate.go",
    ),
    Fact(
        "block-mode-rejected", "1.15", _BINDING, sentence="without gate BlockVolume nothing matches mode Block", needs=("volumes",),
        now={"volumes.volume_mode": "reject"}, upstream=_BINDER,
    ),
    Fact(
        "preemption-never", "1.15", PREEMPTION, sentence="with gate NonPreemptingPriority preemptionPolicy Never is honoured",
        now={"preemption.never_policy": True}, needs=("priorities", "gates set"), upstream="core/generic_scheduler.go",
    ),
    Fact(
        "youngest-leave-first", "1.15", PREEMPTION, sentence="among pods of equal priority those that started last leave first",
        now={"preemption.by_start_time": True}, needs=("priorities",), upstream="util/utils.go",
    ),
    Fact(
        "policies-in-yaml", "1.15", CONFIGURATION, sentence="a Policy may be YAML", now={"policy_form": "YAML"}, decides=False,
        upstream="api/latest/latest.go",
    ),
    Fact(
        "plugins-refused", "1.15", CONFIGURATION, decides=False,
        sentence="a configuration that names plugins is refused, as there are none",
        now={
            "missing_plugins": cells.missing_plugins("reserve preBind postBind unreserve permit queueSort", "{name}"),
            "configuration.fields_lacked": also("failureDomains", *_IDLE_POINTS, but=NAMING_PLUGINS),
        }, upstream=_PLUGINS,
    ),
    Fact(
        "ignorable-extenders-last", "1.15", SEARCH, sentence="extenders that may be ignored are called last", needs=("extenders",),
        now={"ignorable_extenders_last": True}, upstream="factory/factory.go",
    ),
    Fact(
        "errors-with-labels", "1.15", CONFIGURATION, sentence="errors of selectors have the label's name", decides=False,
        now={
            "affinity_texts": _AFFINITY_TEXTS, "selector_text": cells.with_key,
            "volumes.unbound_claim_text": "PersistentVolumeClaim was not found: {}",
        }, upstream=_PREDICATES,
    ),
    # --- 1.16 -----------------------------------------------------------------------------------------------------------
    Fact(
        "all-points-refused", "1.16", CONFIGURATION, sentence="plugins are refused at each extension point", decides=False,
        now={
            "missing_plugins": cells.missing_plugins(
                "preFilter filter score reserve postFilter preBind bind postBind unreserve permit queueSort", '"{name}"'
            ),
            "configuration.fields_lacked": also(but=_IDLE_POINTS),
        }, upstream=_PLUGINS,
    ),
    Fact(
        "init-containers-and-overhead", "1.16", _FIT,
        now={
            "incoming": requests.with_overhead, "footprint": requests.with_overhead,
            "incoming_nonzero": requests.nonzero_with_whole_overhead, "footprint_nonzero": requests.nonzero_with_overhead,
        },
        sentence="init containers of pods on a node count, and overhead with gate PodOverhead", others=_USAGE,
        needs=("init containers|overhead",), upstream="nodeinfo/node_info.go",
    ),
    Fact(
        "ties-at-random", "1.16", TIES, now={"pick_host": cells.first_best}, upstream="core/generic_scheduler.go",
        sentence="one of several best nodes is taken at random, no longer in turn (here: the first in visiting order)",
    ),
    Fact(
        "best-effort-by-init-containers", "1.16", "CheckNodeMemoryPressure", now={"best_effort_sees_init_containers": True},
        sentence="a pod whose init containers alone have requests is not best effort", needs=("init containers", "gates set"),
        upstream="v1helper/qos",
    ),
    Fact(
        "ratio-by-resource", "1.16", "RequestedToCapacityRatioPriority",
        now={"ratio_mean": cells.rounded_mean_of_positive, "ratio_reads_resources": True},
        sentence="the ratio may weigh resources by name, and the mean is rounded", needs=("policy",),
        upstream=f"{_PRIORITIES}/requested_to_capacity_ratio.go",
    ),
    Fact(
        "unknown-claims-uncounted", "1.16", _COUNTS[0], sentence="a claim that cannot be resolved no longer counts for every type of disk",
        now={"volumes.counts_unresolved_claims": False}, others=_COUNTS, needs=("volumes",), upstream=_PREDICATES,
    ),
    Fact(
        "csi-limits-by-csinode", "1.16", "MaxCSIVolumeCountPred", now={"volumes.csi_reads_migration": True}, others=_COUNTS,
        sentence="limits of CSI drivers come from the CSINode, and migrated in-tree volumes count there", needs=("volumes",),
        upstream="algorithm/predicates/csi_volume_predicate.go",
    ),
    Fact(
        "beta-class-first", "1.16", _BINDING, sentence="the beta annotation for a claim's class counts before its field", upstream=_BINDER,
        now={"volumes.matches_by_beta_class": True}, needs=("volumes",),
    ),
    Fact(
        "preemption-without-gate", "1.16", PREEMPTION, now={"preemption.needs_priority_gate": False}, elsewhere=("gates.PodPriority",),
        sentence="preemption no longer asks for gate PodPriority", needs=("priorities", "gates set"), upstream="core/generic_scheduler.go",
    ),
    Fact(
        "spread-constraints", "1.16", "EvenPodsSpread", sentence="with gate EvenPodsSpread topology spread constraints count",
        elsewhere=("gate_effects",), others=("EvenPodsSpreadPriority",), needs=("gates set",), upstream=_PREDICATES,
    ),
)
"""In the order of releases."""
