"""The facts of 1.22 to 1.27."""

from __future__ import annotations

from .fact import CONFIGURATION, EVERYTHING, PREEMPTION, SEARCH, TIES, Fact

_FIT, _BALANCED, _BINDING, _ZONE = "NodeResourcesFit", "NodeResourcesBalancedAllocation", "VolumeBinding", "VolumeZone"
_SPREAD, _AFFINITY, _PODS = "PodTopologySpread", "NodeAffinity", "InterPodAffinity"
_LIMIT_RULES = ("NodeVolumeLimits", "EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
_LIMITS = _LIMIT_RULES[0]
_USAGE = ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")
_SELECTOR_SPREAD = ("SelectorSpread", "DefaultPodTopologySpread", "SelectorSpreadPriority", "ServiceSpreadingPriority")
_RESTRICTIONS = "VolumeRestrictions"
_PLUGINS = "framework/plugins"
_RESOURCES, _TOPOLOGY = f"{_PLUGINS}/noderesources", f"{_PLUGINS}/podtopologyspread"
_PREEMPT = f"{_PLUGINS}/defaultpreemption/default_preemption.go"
_CLAIMS = f"{_PLUGINS}/volumebinding/volume_binding.go"
_AMOUNTS = ("incoming", "footprint")

_1_22 = (
    Fact(
        id="least-allocated-is-fit", release="1.22", plugin=_FIT, others=(*_USAGE, "NodePreferAvoidPods"),
        needs=("two nodes", "avoiding nodes|profile|policy"),
        cells=(
            "configuration.point_plugins", "configuration.default_version", "configuration.api_versions", "configuration.versions",
            "configuration.replaces_defaults", "configuration.args_lacked", "configuration.refused_plugins", "framework.points_lacked",
        ),
        sentence="NodeResourcesFit scores what NodeResourcesLeastAllocated did, and NodePreferAvoidPods is no default plugin",
        upstream="apis/config/v1beta2/default_plugins.go",
    ),
    Fact(
        id="lacking-resources-left-out", release="1.22", plugin=_FIT, others=_USAGE, cells=("framework.lacking_resources_score",),
        needs=("lacking nodes|profile|policy",), sentence="resources that a node lacks do not count in the score for room",
        upstream=f"{_RESOURCES}/resource_allocation.go",
    ),
    Fact(
        id="ratio-rounds-down", release="1.22", plugin="RequestedToCapacityRatio", others=(_FIT,), cells=("framework.ratio_rounds_up",),
        needs=("policy|profile",), sentence="the share in use is rounded down", upstream=f"{_RESOURCES}/requested_to_capacity_ratio.go",
    ),
    Fact(
        id="own-overhead-unscored", release="1.22", plugin=_FIT, cells=("framework.fit_scores_overhead",), needs=("overhead",),
        sentence="the overhead of the pod does not count in the score for room", upstream=f"{_RESOURCES}/fit.go", fixed="1.24",
    ),
    Fact(
        id="balance-by-deviation", release="1.22", plugin=_BALANCED, cells=("framework.balance_of_two",), needs=("two nodes",),
        sentence="balance is the standard deviation of the shares in use, and nodes that would be full score, too",
        upstream=f"{_RESOURCES}/balanced_allocation.go",
    ),
    Fact(
        id="spread-with-the-owner", release="1.22", plugin=_SPREAD, others=_SELECTOR_SPREAD, cells=("framework.owners_by_selector",),
        needs=("owners",), sentence="a pod spreads with the pods of the controller that owns it, not of each that matches it",
        upstream=f"{_PLUGINS}/helper/spread.go",
    ),
    Fact(
        id="preemption-needs-victims", release="1.22", plugin=PREEMPTION, cells=("framework.needs_victims",), needs=("priorities",),
        sentence="a node on which no pod has to leave is no candidate", upstream=_PREEMPT,
    ),
    Fact(
        id="own-nomination-unlisted", release="1.22", plugin=PREEMPTION, cells=("framework.clears_itself",), needs=("nominations",),
        sentence="where no node can be helped the pod loses its own nomination alone", upstream="scheduler.go",
    ),
    Fact(
        id="gates-of-1.22", release="1.22", plugin=_PODS, others=(SEARCH,), needs=("pod affinity|nominations",),
        cells=("gates.PodAffinityNamespaceSelector", "gates.PreferNominatedNode"), upstream="features/kube_features.go",
        sentence="gates PodAffinityNamespaceSelector and PreferNominatedNode are on",
    ),
    Fact(
        id="zero-scalars-asked", release="1.22", plugin=_FIT, cells=_AMOUNTS, needs=("init containers",), upstream="framework/types.go",
        sentence="a pod whose init containers ask for 0 of a scalar resource asks for it, so that its node must not be overcommitted",
    ),
    Fact(
        id="policies-of-1.22", release="1.22", plugin=CONFIGURATION, needs=("policy",), cells=("policies",),
        sentence="there are no providers, hardPodAffinitySymmetricWeight of a configuration is not read, and rules without arguments fail",
        upstream="factory.go",
    ),
    Fact(
        id="texts-of-1.22", release="1.22", plugin=CONFIGURATION, decides=False, upstream=_PLUGINS,
        cells=(
            "framework.pod_affinity_text", "configuration.constraints_are_the_list", "configuration.refusal_text",
            "configuration.args_with_configuration", "configuration.fills_ratio_weights", "configuration.compares_sorters",
        ),
        sentence="affinity to pods gives one reason",
    ),
)

_1_23 = (
    Fact(
        id="weights-of-v1beta3", release="1.23", plugin="TaintToleration", others=(_AFFINITY, _PODS, EVERYTHING),
        needs=("preferring taints|node preferences|pod affinity|profile",),
        cells=(
            "configuration.default_version", "configuration.api_versions", "configuration.versions", "configuration.lists_points",
            "configuration.fields_lacked", "configuration.args_lacked",
        ),
        upstream="apis/config/v1beta3/default_plugins.go",
        sentence="TaintToleration weighs 3, NodeAffinity and InterPodAffinity 2; all weighed 1",
    ),
    Fact(
        id="ephemeral-claims-count", release="1.23", plugin=_LIMITS, others=(*_LIMIT_RULES, "error"), needs=("volumes",),
        cells=("volumes.counts_ephemeral_claims", "volumes.missing_claim_errs", "volumes.migratable", "volumes.ephemeral_gate"),
        sentence="generic ephemeral volumes count towards limits, and a missing claim of the pod is an error",
        upstream=f"{_PLUGINS}/nodevolumelimits/csi.go",
    ),
    Fact(
        id="cloud-disks-move", release="1.23", plugin=_LIMITS, others=(_BINDING, *_LIMIT_RULES), needs=("volumes",),
        cells=("gates.CSIMigrationAWS", "gates.CSIMigrationGCE", "gates.CSIMigrationAzureDisk"), upstream="features/kube_features.go",
        sentence="in-tree volumes of AWS, GCE and Azure count for their CSI drivers where nodes say so",
    ),
    Fact(
        id="lost-claims-reject", release="1.23", plugin=_BINDING, cells=("framework.lost_claims_reject",), needs=("volumes",),
        sentence="a claim in phase Lost rejects the pod", upstream=_CLAIMS,
    ),
    Fact(
        id="vain-tries-clear", release="1.23", plugin=PREEMPTION, needs=("nominations",), upstream=_PREEMPT,
        cells=("framework.nomination_outlasts_tries", "framework.dry_run_errs"),
        sentence="a pod loses its nomination where nodes were tried in vain",
    ),
    Fact(
        id="policies-go", release="1.23", plugin=CONFIGURATION, needs=("policy",), upstream="apis/config/legacy_types.go",
        cells=(
            "policies", "configuration.gone_plugins", "configuration.weights_come_first", "framework.first_peer_by_list",
            "framework.literal_pairs", "framework.peer_node_text",
        ),
        sentence="no Policy is read any more: it is a profile, which differs where plugins are gone",
    ),
    Fact(
        id="texts-of-1.23", release="1.23", plugin=CONFIGURATION, decides=False, upstream=_CLAIMS,
        cells=(
            "framework.missing_volume_text", "framework.ephemeral_off_text", "framework.awaited_claim_text", "framework.foreign_claim_text",
            "configuration.refused_plugins", "configuration.refused_text", "configuration.listens_without_tls",
            "configuration.sorters_first",
        ),
        sentence="reasons of ephemeral volumes are worded otherwise",
    ),
)

_1_24 = (
    Fact(
        id="named-nodes-alone", release="1.24", plugin=_AFFINITY, others=(SEARCH, PREEMPTION, "error"), needs=("named nodes",),
        cells=("framework.pre_filter_narrows", "framework.names_nodes", "framework.pre_filter_errors_lost"),
        sentence="only the nodes that required terms name are looked at", upstream=f"{_PLUGINS}/nodeaffinity/node_affinity.go",
    ),
    Fact(
        id="spread-rounded", release="1.24", plugin=_SPREAD, cells=("framework.rounds_spread",), needs=("constraints|owners",),
        sentence="the score of a node is rounded before it is scaled; it was cut off", upstream=f"{_TOPOLOGY}/scoring.go",
    ),
    Fact(
        id="counting-nodes-alone", release="1.24", plugin=_SPREAD, others=(PREEMPTION,), needs=("constraints",),
        cells=("framework.counts_whole_domains", "framework.adds_up_constraints", "framework.edits_count_anywhere"),
        sentence="pods count for hard constraints on the nodes that count alone", upstream=f"{_TOPOLOGY}/filtering.go",
    ),
    Fact(
        id="own-overhead-scored", release="1.24", plugin=_FIT, cells=("framework.fit_scores_overhead",), needs=("overhead",),
        sentence="the overhead of the pod counts in the score for room again", upstream=f"{_RESOURCES}/fit.go",
    ),
    Fact(
        id="cinder-moves", release="1.24", plugin=_LIMITS, others=(_BINDING, *_LIMIT_RULES), needs=("volumes",),
        cells=("volumes.always_migrated", "volumes.storage_capacity_gate"), upstream="features/kube_features.go",
        sentence="in-tree Cinder volumes count for their CSI driver on each node with a CSINode",
    ),
    Fact(
        id="overrides-shift", release="1.24", plugin=CONFIGURATION, cells=("configuration.multi_point",), needs=("profile",),
        sentence="with three or more plugins named beside multiPoint some run twice", upstream="framework/runtime/framework.go",
        fixed="1.26",
    ),
    Fact(
        id="texts-of-1.24", release="1.24", plugin=CONFIGURATION, decides=False, upstream="framework/types.go",
        cells=("framework.shows_post_filter", "framework.taint_text", "configuration.refusal_text"),
        sentence="the message ends in what preemption says, and taints give another reason",
    ),
)

_1_25 = (
    Fact(
        id="nominated-keeps-start", release="1.25", plugin=SEARCH, others=(TIES,), needs=("priorities|nominations",),
        cells=("framework.nominated_moves_start", "framework.nominated_gate"), upstream="schedule_one.go",
        sentence="a look at the nominated node alone no longer lets the next search start at the first node",
    ),
    Fact(
        id="inline-disks-move", release="1.25", plugin=_LIMITS, others=_LIMIT_RULES, needs=("volumes",),
        cells=("volumes.migration_gate", "volumes.inline_migrates"), upstream=f"{_PLUGINS}/nodevolumelimits/csi.go",
        sentence="disks that a pod names without a claim count for the CSI driver where their driver has moved",
    ),
    Fact(
        id="trials-leave-users", release="1.25", plugin=_RESTRICTIONS, others=(PREEMPTION,), needs=("volumes", "priorities"),
        cells=("framework.trials_change_users",), upstream="framework/types.go",
        sentence="trials of preemption no longer change how many pods use a ReadWriteOncePod claim",
    ),
    Fact(
        id="storage-always-counts", release="1.25", plugin=_FIT, needs=("gates set",),
        cells=("framework.gates_node_storage", "gates.LocalStorageCapacityIsolation"), upstream="framework/types.go",
        sentence="ephemeral storage counts without a gate",
    ),
    Fact(
        id="configuration-v1", release="1.25", plugin=CONFIGURATION, decides=False, upstream="apis/config/v1",
        cells=(
            "configuration.api_versions", "configuration.default_version", "configuration.sorters_text", "configuration.strategy_path",
            "configuration.checks_strategy_type", "framework.pre_filter_errors_lost", "configuration.refused_plugins",
            "configuration.versions",
        ),
        sentence="version v1 of the configuration is read",
    ),
)

_1_26 = (
    Fact(
        id="zero-scalars-pass", release="1.26", plugin=_FIT, cells=("framework.checks_zero_scalars",), needs=("zero scalars",),
        sentence="a scalar resource of which the pod asks 0 is ignored", upstream=f"{_RESOURCES}/fit.go",
    ),
    Fact(
        id="inclusion-policies", release="1.26", plugin=_SPREAD, cells=("gates.NodeInclusionPolicyInPodTopologySpread",),
        needs=("constraints",), upstream="features/kube_features.go",
        sentence="gate NodeInclusionPolicyInPodTopologySpread is on: constraints may leave out nodes by taints and affinity",
    ),
    Fact(
        id="overrides-in-order", release="1.26", plugin=CONFIGURATION, needs=("profile",), upstream="framework/runtime/framework.go",
        cells=("configuration.multi_point",), sentence="plugins named beside multiPoint run once",
    ),
    Fact(
        id="percentage-of-a-profile", release="1.26", plugin=SEARCH, needs=("profile",),
        cells=("configuration.fields_lacked", "configuration.versions"),
        sentence="a profile has a percentageOfNodesToScore of its own", upstream="scheduler.go",
    ),
    Fact(
        id="texts-of-1.26", release="1.26", plugin=CONFIGURATION, decides=False, upstream="framework/types.go",
        cells=("framework.counts_pre_filter", "framework.post_filter_full_stop", "framework.checks_plugin_by_plugin"),
        sentence="what PreFilter says is there once, without counts",
    ),
    Fact(
        id="gates-plugin-comes", release="1.26", plugin=CONFIGURATION, cells=("configuration.gated_plugins", "configuration.not_modelled"),
        sentence="with gate PodSchedulingReadiness pods with scheduling gates are not tried",
        upstream=f"{_PLUGINS}/schedulinggates/scheduling_gates.go", needs=("scheduling gates", "gates set"),
    ),
    Fact(
        id="confirmed-pods-move", release="1.26", plugin=PREEMPTION, cells=("cache_replaces_confirmed",), needs=("priorities", "events"),
        sentence="a pod that is confirmed moves to the end of its node's list", upstream="internal/cache/cache.go",
    ),
)

_1_27 = (
    Fact(
        id="amounts-added-exactly", release="1.27", plugin=_FIT, others=(_BALANCED,),
        needs=("fine amounts|overhead",), upstream="framework/types.go",
        cells=(*_AMOUNTS, "incoming_nonzero", "footprint_nonzero", "incoming_scored"),
        sentence="quantities are added exactly and rounded once, and overhead of cpu counts in millicores where pods are scored",
    ),
    Fact(
        id="resources-as-a-list", release="1.27", plugin=_FIT, others=(_BALANCED,), cells=("framework.scored_by_name",), needs=("profile",),
        sentence="a resource that is scored twice counts twice", upstream=f"{_RESOURCES}/resource_allocation.go",
    ),
    Fact(
        id="empty-selectors-count-nothing", release="1.27", plugin=_SPREAD, needs=("constraints",), upstream=f"{_TOPOLOGY}/common.go",
        cells=("framework.empty_selectors_count", "framework.label_keys_alone_select"),
        sentence="a constraint with an empty selector counts no pods; it counted all",
    ),
    Fact(
        id="spread-gates-on", release="1.27", plugin=_SPREAD, needs=("constraints",), upstream="features/kube_features.go",
        cells=("gates.MinDomainsInPodTopologySpread", "gates.MatchLabelKeysInPodTopologySpread"),
        sentence="minDomains and matchLabelKeys of constraints count: their gates are on",
    ),
    Fact(
        id="one-contradiction-passes", release="1.27", plugin=_AFFINITY, others=(SEARCH,), cells=("framework.any_conflict_rejects",),
        needs=("named nodes",), upstream=f"{_PLUGINS}/nodeaffinity/node_affinity.go",
        sentence="a pod is rejected only where the node names of all its terms exclude each other",
    ),
    Fact(
        id="unknown-names-pass", release="1.27", plugin=SEARCH, others=("error",), needs=("named nodes",), upstream="schedule_one.go",
        cells=("framework.unknown_name_errs", "framework.outside_text"),
        sentence="a node that a term names and that does not exist is ignored; it was an error",
    ),
    Fact(
        id="pre-filter-skips", release="1.27", plugin=PREEMPTION, needs=("priorities",), upstream="framework/runtime/framework.go",
        cells=("framework.pre_filter_skips", "framework.points_lacked"),
        sentence="where PreFilter has nothing to say of a pod, the plugin's Filter does not run",
    ),
    Fact(
        id="waits-for-evicted", release="1.27", plugin=PREEMPTION, cells=("framework.waits_for_any_leaving",), upstream=_PREEMPT,
        needs=("priorities", "terminating"),
        sentence="a pod waits only for pods of lower priority that the scheduler evicted, not for any that leaves its nominated node",
    ),
    Fact(
        id="local-volumes-name-nodes", release="1.27", plugin=_BINDING, others=(SEARCH,), cells=("framework.narrows_to_local_volumes",),
        needs=("volumes",), sentence="VolumeBinding names the nodes of local volumes", upstream=_CLAIMS,
    ),
    Fact(
        id="zones-before-nodes", release="1.27", plugin=_ZONE, others=("error",), cells=("framework.zones_one_by_one",), needs=("volumes",),
        sentence="claims are looked at before the nodes are", upstream=f"{_PLUGINS}/volumezone/volume_zone.go",
    ),
    Fact(
        id="sole-users-are-preempted", release="1.27", plugin=_RESTRICTIONS, others=(PREEMPTION,), needs=("volumes",),
        cells=("framework.sole_users_reject", "gates.ReadWriteOncePod"),
        sentence="gate ReadWriteOncePod is on, and the user of such a claim may be preempted",
        upstream=f"{_PLUGINS}/volumerestrictions/volume_restrictions.go",
    ),
    Fact(
        id="aws-and-azure-move", release="1.27", plugin=_LIMITS, others=(_BINDING, *_LIMIT_RULES), cells=("volumes.always_migrated",),
        needs=("volumes",), sentence="in-tree AWS and Azure disks count for their CSI driver on each node with a CSINode",
        upstream="features/kube_features.go",
    ),
    Fact(
        id="scheduling-gates", release="1.27", plugin="gated", others=("SchedulingGates",), cells=("gates.PodSchedulingReadiness",),
        needs=("scheduling gates",), sentence="gate PodSchedulingReadiness is on: pods with scheduling gates are not tried",
        upstream="features/kube_features.go",
    ),
    Fact(
        id="default-points-of-1.27", release="1.27", plugin=CONFIGURATION, decides=False,
        cells=("configuration.point_plugins", "configuration.args_lacked", "configuration.leases_alone"),
        sentence="VolumeZone and the scores of resources have a PreFilter and a PreScore",
        upstream="apis/config/v1beta2/default_plugins.go",
    ),
)

MIDDLE_FACTS: tuple[Fact, ...] = (*_1_22, *_1_23, *_1_24, *_1_25, *_1_26, *_1_27)
"""In the order of releases."""
