"""The facts of 1.22 to 1.27."""

from __future__ import annotations

from ...core.pods import requests
from ...core.release.fact import CONFIGURATION, EVERYTHING, PLUGINS, PREEMPTION, SEARCH, TIES, Fact, also
from ...core.volumes import intree
from .groups import LIMIT_RULES, SELECTOR_SPREAD, USAGE

MIDDLE_FACTS = (
    # --- 1.22 -----------------------------------------------------------------------------------------------------------
    Fact(
        "least-allocated-is-fit", "1.22", "NodeResourcesFit", others=(*USAGE, "NodePreferAvoidPods"),
        sentence="NodeResourcesFit scores what NodeResourcesLeastAllocated did, and NodePreferAvoidPods is no default plugin",
        was={
            "configuration.default_version": "v1beta1", "configuration.api_versions": ("v1beta1",),
            "configuration.replaces_defaults": False, "configuration.refused_plugins": frozenset(),
            "framework.points_lacked": also(("VolumeRestrictions", "preFilter")),
        },
        elsewhere=("configuration.point_plugins", "configuration.versions", "configuration.args_lacked"),
        needs=("two nodes", "avoiding nodes|profile|policy"), upstream="apis/config/v1beta2/default_plugins.go",
    ),
    Fact(
        "lacking-resources-left-out", "1.22", "NodeResourcesFit", was={"framework.lacking_resources_score": True}, others=USAGE,
        sentence="resources that a node lacks do not count in the score for room", needs=("lacking nodes|profile|policy",),
        upstream=f"{PLUGINS}/noderesources/resource_allocation.go",
    ),
    Fact(
        "ratio-rounds-down", "1.22", "RequestedToCapacityRatio", sentence="the share in use is rounded down", others=("NodeResourcesFit",),
        was={"framework.ratio_rounds_up": True}, needs=("policy|profile",),
        upstream=f"{PLUGINS}/noderesources/requested_to_capacity_ratio.go",
    ),
    Fact(
        "own-overhead-unscored", "1.22", "NodeResourcesFit", sentence="the overhead of the pod does not count in the score for room",
        was={"framework.fit_scores_overhead": True}, needs=("overhead",), fixed="1.24", upstream=f"{PLUGINS}/noderesources/fit.go",
    ),
    Fact(
        "balance-by-deviation", "1.22", "NodeResourcesBalancedAllocation", was={"framework.balance_of_two": True}, needs=("two nodes",),
        sentence="balance is the standard deviation of the shares in use, and nodes that would be full score, too",
        upstream=f"{PLUGINS}/noderesources/balanced_allocation.go",
    ),
    Fact(
        "spread-with-the-owner", "1.22", "PodTopologySpread", was={"framework.owners_by_selector": True}, others=SELECTOR_SPREAD,
        sentence="a pod spreads with the pods of the controller that owns it, not of each that matches it", needs=("owners",),
        upstream=f"{PLUGINS}/helper/spread.go",
    ),
    Fact(
        "preemption-needs-victims", "1.22", PREEMPTION, sentence="a node on which no pod has to leave is no candidate",
        was={"framework.needs_victims": False}, needs=("priorities",), upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "own-nomination-unlisted", "1.22", PREEMPTION, sentence="where no node can be helped the pod loses its own nomination alone",
        was={"framework.clears_itself": True}, needs=("nominations",), upstream="scheduler.go",
    ),
    Fact(
        "gates-of-1.22", "1.22", "InterPodAffinity", sentence="gates PodAffinityNamespaceSelector and PreferNominatedNode are on",
        elsewhere=("gates.PodAffinityNamespaceSelector", "gates.PreferNominatedNode"), others=(SEARCH,),
        needs=("pod affinity|nominations",), upstream="features/kube_features.go",
    ),
    Fact(
        "zero-scalars-asked", "1.22", "NodeResourcesFit", was={"incoming": requests.gated_sums, "footprint": requests.gated_sums},
        sentence="a pod whose init containers ask for 0 of a scalar resource asks for it, so that its node must not be overcommitted",
        needs=("init containers",), upstream="framework/types.go",
    ),
    Fact(
        "policies-of-1.22", "1.22", CONFIGURATION, elsewhere=("policies",), needs=("policy",), upstream="factory.go",
        sentence="there are no providers, hardPodAffinitySymmetricWeight of a configuration is not read, and rules without arguments fail",
    ),
    Fact(
        "texts-of-1.22", "1.22", CONFIGURATION, sentence="affinity to pods gives one reason", decides=False, upstream=PLUGINS,
        was={
            "framework.pod_affinity_text": "node(s) didn't match pod affinity/anti-affinity rules",
            "configuration.constraints_are_the_list": True, "configuration.refusal_text": "",
            "configuration.args_with_configuration": False, "configuration.fills_ratio_weights": False,
            "configuration.compares_sorters": "as given",
        },
    ),
    # --- 1.23 -----------------------------------------------------------------------------------------------------------
    Fact(
        "weights-of-v1beta3", "1.23", "TaintToleration", others=("NodeAffinity", "InterPodAffinity", EVERYTHING),
        sentence="TaintToleration weighs 3, NodeAffinity and InterPodAffinity 2; all weighed 1",
        was={
            "configuration.default_version": "v1beta2", "configuration.api_versions": ("v1beta1", "v1beta2"),
            "configuration.lists_points": True,
        },
        elsewhere=("configuration.versions", "configuration.fields_lacked", "configuration.args_lacked"),
        needs=("preferring taints|node preferences|pod affinity|profile",), upstream="apis/config/v1beta3/default_plugins.go",
    ),
    Fact(
        "ephemeral-claims-count", "1.23", "NodeVolumeLimits", others=(*LIMIT_RULES, "error"), needs=("volumes",),
        sentence="generic ephemeral volumes count towards limits, and a missing claim of the pod is an error",
        was={
            "volumes.counts_ephemeral_claims": False, "volumes.missing_claim_errs": False,
            "volumes.migratable": also(but=(intree.PORTWORX, intree.RBD)), "volumes.ephemeral_gate": "GenericEphemeralVolume",
        },
        upstream=f"{PLUGINS}/nodevolumelimits/csi.go",
    ),
    Fact(
        "cloud-disks-move", "1.23", "NodeVolumeLimits", others=("VolumeBinding", *LIMIT_RULES), needs=("volumes",),
        sentence="in-tree volumes of AWS, GCE and Azure count for their CSI drivers where nodes say so",
        elsewhere=("gates.CSIMigrationAWS", "gates.CSIMigrationGCE", "gates.CSIMigrationAzureDisk"), upstream="features/kube_features.go",
    ),
    Fact(
        "lost-claims-reject", "1.23", "VolumeBinding", sentence="a claim in phase Lost rejects the pod", needs=("volumes",),
        was={"framework.lost_claims_reject": False}, upstream=f"{PLUGINS}/volumebinding/volume_binding.go",
    ),
    Fact(
        "vain-tries-clear", "1.23", PREEMPTION, sentence="a pod loses its nomination where nodes were tried in vain",
        was={"framework.nomination_outlasts_tries": True, "framework.dry_run_errs": False}, needs=("nominations",),
        upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "policies-go", "1.23", CONFIGURATION, sentence="no Policy is read any more: it is a profile, which differs where plugins are gone",
        was={
            "configuration.gone_plugins": also(but=("NodeLabel", "NodePreferAvoidPods", "ServiceAffinity", *USAGE)),
            "configuration.weights_come_first": True, "framework.first_peer_by_list": True, "framework.literal_pairs": True,
            "framework.peer_node_text": "node not found",
        },
        elsewhere=("policies",), needs=("policy",), upstream="apis/config/legacy_types.go",
    ),
    Fact(
        "texts-of-1.23", "1.23", CONFIGURATION, sentence="reasons of ephemeral volumes are worded otherwise", decides=False,
        was={
            "framework.missing_volume_text": "pvc(s) bound to non-existent pv(s)",
            "framework.ephemeral_off_text": "volume {} is a generic ephemeral volume, but that feature is disabled in kube-scheduler",
            "framework.awaited_claim_text": 'persistentvolumeclaim "{}" not found',
            "framework.foreign_claim_text": 'persistentvolumeclaim "{name}" was not created for the pod',
            "configuration.refused_plugins": frozenset(("NodeLabel", "NodePreferAvoidPods", "ServiceAffinity", *USAGE)),
            "configuration.refused_text": 'was removed in version "kubescheduler.config.k8s.io/v1beta2"',
            "configuration.sorters_first": True,
        },
        upstream=f"{PLUGINS}/volumebinding/volume_binding.go",
    ),
    # --- 1.24 -----------------------------------------------------------------------------------------------------------
    Fact(
        "named-nodes-alone", "1.24", "NodeAffinity", sentence="only the nodes that required terms name are looked at",
        was={"framework.pre_filter_narrows": False, "framework.names_nodes": False, "framework.pre_filter_errors_lost": False},
        others=(SEARCH, PREEMPTION, "error"), needs=("named nodes",), upstream=f"{PLUGINS}/nodeaffinity/node_affinity.go",
    ),
    Fact(
        "spread-rounded", "1.24", "PodTopologySpread", sentence="the score of a node is rounded before it is scaled; it was cut off",
        was={"framework.rounds_spread": False}, needs=("constraints|owners",), upstream=f"{PLUGINS}/podtopologyspread/scoring.go",
    ),
    Fact(
        "counting-nodes-alone", "1.24", "PodTopologySpread", sentence="pods count for hard constraints on the nodes that count alone",
        was={"framework.counts_whole_domains": True, "framework.adds_up_constraints": True, "framework.edits_count_anywhere": True},
        others=(PREEMPTION,), needs=("constraints",), upstream=f"{PLUGINS}/podtopologyspread/filtering.go",
    ),
    Fact(
        "own-overhead-scored", "1.24", "NodeResourcesFit", sentence="the overhead of the pod counts in the score for room again",
        was={"framework.fit_scores_overhead": False}, needs=("overhead",), upstream=f"{PLUGINS}/noderesources/fit.go",
    ),
    Fact(
        "cinder-moves", "1.24", "NodeVolumeLimits", others=("VolumeBinding", *LIMIT_RULES), needs=("volumes",),
        sentence="in-tree Cinder volumes count for their CSI driver on each node with a CSINode", upstream="features/kube_features.go",
        was={"volumes.always_migrated": frozenset(), "volumes.storage_capacity_gate": "CSIStorageCapacity"},
    ),
    Fact(
        "overrides-shift", "1.24", CONFIGURATION, sentence="with three or more plugins named beside multiPoint some run twice",
        was={"configuration.multi_point": "single points"}, needs=("profile",), fixed="1.26", upstream="framework/runtime/framework.go",
    ),
    Fact(
        "texts-of-1.24", "1.24", CONFIGURATION, sentence="the message ends in what preemption says, and taints give another reason",
        was={
            "framework.shows_post_filter": False,
            "framework.taint_text": "node(s) had taint {{{key}: {value}}}, that the pod didn't tolerate",
            "configuration.refusal_text": "couldn't create scheduler: ",
        },
        decides=False, upstream="framework/types.go",
    ),
    # --- 1.25 -----------------------------------------------------------------------------------------------------------
    Fact(
        "nominated-keeps-start", "1.25", SEARCH, others=(TIES,), needs=("priorities|nominations",), upstream="schedule_one.go",
        sentence="a look at the nominated node alone no longer lets the next search start at the first node",
        was={"framework.nominated_moves_start": True, "framework.nominated_gate": "PreferNominatedNode"},
    ),
    Fact(
        "inline-disks-move", "1.25", "NodeVolumeLimits", was={"volumes.migration_gate": "CSIMigration", "volumes.inline_migrates": False},
        sentence="disks that a pod names without a claim count for the CSI driver where their driver has moved", others=LIMIT_RULES,
        needs=("volumes",), upstream=f"{PLUGINS}/nodevolumelimits/csi.go",
    ),
    Fact(
        "trials-leave-users", "1.25", "VolumeRestrictions", was={"framework.trials_change_users": True}, others=(PREEMPTION,),
        sentence="trials of preemption no longer change how many pods use a ReadWriteOncePod claim", needs=("volumes", "priorities"),
        upstream="framework/types.go",
    ),
    Fact(
        "storage-always-counts", "1.25", "NodeResourcesFit", sentence="ephemeral storage counts without a gate", needs=("gates set",),
        was={"framework.gates_node_storage": True}, elsewhere=("gates.LocalStorageCapacityIsolation",), upstream="framework/types.go",
    ),
    Fact(
        "configuration-v1", "1.25", CONFIGURATION, sentence="version v1 of the configuration is read", decides=False,
        was={
            "configuration.api_versions": ("v1beta2", "v1beta3"), "configuration.default_version": "v1beta3",
            "configuration.sorters_text": 'one queue sort plugin required for profile with scheduler name "{name}"',
            "configuration.strategy_path": "", "configuration.checks_strategy_type": False, "framework.pre_filter_errors_lost": True,
            "configuration.refused_plugins": frozenset(),
        },
        elsewhere=("configuration.versions",), upstream="apis/config/v1",
    ),
    # --- 1.26 -----------------------------------------------------------------------------------------------------------
    Fact(
        "zero-scalars-pass", "1.26", "NodeResourcesFit", sentence="a scalar resource of which the pod asks 0 is ignored",
        was={"framework.checks_zero_scalars": True}, needs=("zero scalars",), upstream=f"{PLUGINS}/noderesources/fit.go",
    ),
    Fact(
        "inclusion-policies", "1.26", "PodTopologySpread", elsewhere=("gates.NodeInclusionPolicyInPodTopologySpread",),
        sentence="gate NodeInclusionPolicyInPodTopologySpread is on: constraints may leave out nodes by taints and affinity",
        needs=("constraints",), upstream="features/kube_features.go",
    ),
    Fact(
        "overrides-in-order", "1.26", CONFIGURATION, sentence="plugins named beside multiPoint run once", needs=("profile",),
        was={"configuration.multi_point": "shifting overrides"}, upstream="framework/runtime/framework.go",
    ),
    Fact(
        "percentage-of-a-profile", "1.26", SEARCH, sentence="a profile has a percentageOfNodesToScore of its own", needs=("profile",),
        elsewhere=("configuration.fields_lacked", "configuration.versions"), upstream="scheduler.go",
    ),
    Fact(
        "texts-of-1.26", "1.26", CONFIGURATION, sentence="what PreFilter says is there once, without counts", decides=False,
        was={"framework.counts_pre_filter": True, "framework.post_filter_full_stop": False, "framework.checks_plugin_by_plugin": True},
        upstream="framework/types.go",
    ),
    Fact(
        "gates-plugin-comes", "1.26", CONFIGURATION, sentence="with gate PodSchedulingReadiness pods with scheduling gates are not tried",
        was={"configuration.gated_plugins": {}, "configuration.not_modelled": {}}, needs=("scheduling gates", "gates set"),
        upstream=f"{PLUGINS}/schedulinggates/scheduling_gates.go",
    ),
    Fact(
        "confirmed-pods-move", "1.26", PREEMPTION, sentence="a pod that is confirmed moves to the end of its node's list",
        was={"cache_replaces_confirmed": False}, needs=("priorities", "events"), upstream="internal/cache/cache.go",
    ),
    # --- 1.27 -----------------------------------------------------------------------------------------------------------
    Fact(
        "amounts-added-exactly", "1.27", "NodeResourcesFit", others=("NodeResourcesBalancedAllocation",), needs=("fine amounts|overhead",),
        sentence="quantities are added exactly and rounded once, and overhead of cpu counts in millicores where pods are scored",
        was={
            "incoming": requests.rounded_sums, "footprint": requests.rounded_sums,
            "incoming_nonzero": requests.nonzero_with_whole_overhead, "footprint_nonzero": requests.nonzero_with_overhead,
            "incoming_scored": requests.sums_with_whole_overhead,
        },
        upstream="framework/types.go",
    ),
    Fact(
        "resources-as-a-list", "1.27", "NodeResourcesFit", sentence="a resource that is scored twice counts twice", needs=("profile",),
        was={"framework.scored_by_name": True}, others=("NodeResourcesBalancedAllocation",),
        upstream=f"{PLUGINS}/noderesources/resource_allocation.go",
    ),
    Fact(
        "empty-selectors-count-nothing", "1.27", "PodTopologySpread", needs=("constraints",),
        sentence="a constraint with an empty selector counts no pods; it counted all", upstream=f"{PLUGINS}/podtopologyspread/common.go",
        was={"framework.empty_selectors_count": True, "framework.label_keys_alone_select": True},
    ),
    Fact(
        "spread-gates-on", "1.27", "PodTopologySpread", sentence="minDomains and matchLabelKeys of constraints count: their gates are on",
        elsewhere=("gates.MinDomainsInPodTopologySpread", "gates.MatchLabelKeysInPodTopologySpread"), needs=("constraints",),
        upstream="features/kube_features.go",
    ),
    Fact(
        "one-contradiction-passes", "1.27", "NodeAffinity", was={"framework.any_conflict_rejects": True}, others=(SEARCH,),
        sentence="a pod is rejected only where the node names of all its terms exclude each other", needs=("named nodes",),
        upstream=f"{PLUGINS}/nodeaffinity/node_affinity.go",
    ),
    Fact(
        "unknown-names-pass", "1.27", SEARCH, sentence="a node that a term names and that does not exist is ignored; it was an error",
        was={"framework.unknown_name_errs": True, "framework.outside_text": None}, others=("error",), needs=("named nodes",),
        upstream="schedule_one.go",
    ),
    Fact(
        "pre-filter-skips", "1.27", PREEMPTION, sentence="where PreFilter has nothing to say of a pod, the plugin's Filter does not run",
        was={"framework.pre_filter_skips": False, "framework.points_lacked": also(("VolumeZone", "preFilter"))}, needs=("priorities",),
        upstream="framework/runtime/framework.go",
    ),
    Fact(
        "waits-for-evicted", "1.27", PREEMPTION, was={"framework.waits_for_any_leaving": True}, needs=("priorities", "terminating"),
        sentence="a pod waits only for pods of lower priority that the scheduler evicted, not for any that leaves its nominated node",
        upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "local-volumes-name-nodes", "1.27", "VolumeBinding", sentence="VolumeBinding names the nodes of local volumes", others=(SEARCH,),
        was={"framework.narrows_to_local_volumes": False}, needs=("volumes",), upstream=f"{PLUGINS}/volumebinding/volume_binding.go",
    ),
    Fact(
        "zones-before-nodes", "1.27", "VolumeZone", sentence="claims are looked at before the nodes are", others=("error",),
        was={"framework.zones_one_by_one": True}, needs=("volumes",), upstream=f"{PLUGINS}/volumezone/volume_zone.go",
    ),
    Fact(
        "sole-users-are-preempted", "1.27", "VolumeRestrictions", was={"framework.sole_users_reject": True}, others=(PREEMPTION,),
        sentence="gate ReadWriteOncePod is on, and the user of such a claim may be preempted", elsewhere=("gates.ReadWriteOncePod",),
        needs=("volumes",), upstream=f"{PLUGINS}/volumerestrictions/volume_restrictions.go",
    ),
    Fact(
        "aws-and-azure-move", "1.27", "NodeVolumeLimits", was={"volumes.always_migrated": frozenset({intree.CINDER})}, needs=("volumes",),
        sentence="in-tree AWS and Azure disks count for their CSI driver on each node with a CSINode",
        others=("VolumeBinding", *LIMIT_RULES), upstream="features/kube_features.go",
    ),
    Fact(
        "scheduling-gates", "1.27", "gated", sentence="gate PodSchedulingReadiness is on: pods with scheduling gates are not tried",
        elsewhere=("gates.PodSchedulingReadiness",), others=("SchedulingGates",), needs=("scheduling gates",),
        upstream="features/kube_features.go",
    ),
    Fact(
        "default-points-of-1.27", "1.27", CONFIGURATION, sentence="VolumeZone and the scores of resources have a PreFilter and a PreScore",
        was={"configuration.args_lacked": also("InterPodAffinity.ignorePreferredTermsOfExistingPods")},
        elsewhere=("configuration.point_plugins",), decides=False, upstream="apis/config/v1beta2/default_plugins.go",
    ),
)
"""In the order of releases."""
