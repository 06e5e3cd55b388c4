"""The facts of 1.17 to 1.21."""

from __future__ import annotations

from .fact import CONFIGURATION, EVERYTHING, PREEMPTION, REASONS, SEARCH, TIES, Fact

_FIT, _BALANCED, _BINDING, _ZONE = "NodeResourcesFit", "NodeResourcesBalancedAllocation", "VolumeBinding", "VolumeZone"
_SPREAD, _AFFINITY, _PODS, _IMAGES = "PodTopologySpread", "NodeAffinity", "InterPodAffinity", "ImageLocality"
_LIMIT_RULES = ("NodeVolumeLimits", "EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
_USAGE = ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")
_SELECTOR_SPREAD = ("SelectorSpread", "DefaultPodTopologySpread", "SelectorSpreadPriority", "ServiceSpreadingPriority")
_LABELS = ("CheckNodeLabelPresence", "CheckServiceAffinity", "ServiceAffinity", "ServiceAntiAffinity", "LabelPreference")
_PLUGINS = "framework/plugins"
_RESOURCES, _TOPOLOGY = f"{_PLUGINS}/noderesources", f"{_PLUGINS}/podtopologyspread"
_CLASSIC, _PREEMPT = "core/generic_scheduler.go", f"{_PLUGINS}/defaultpreemption/default_preemption.go"
_CLAIMS, _BINDER = f"{_PLUGINS}/volumebinding/volume_binding.go", "controller/volume/scheduling/scheduler_binder.go"
_DEFAULTS = "algorithmprovider/registry.go"
_AMOUNTS = ("incoming", "footprint")

_1_17 = (
    Fact(
        id="bad-affinity-is-no-error", release="1.17", plugin=_PODS, others=("error", "MatchInterPodAffinity"), needs=("pod affinity",),
        sentence="an invalid selector in affinity to pods is no error of the cycle where it only gives scores",
        upstream="algorithm/priorities/interpod_affinity.go",
    ),
    Fact(
        id="selectors-merged", release="1.17", plugin=_SELECTOR_SPREAD[1], others=_SELECTOR_SPREAD, needs=("owners",),
        sentence="the selectors of a pod's owners count as one, and spreading ranges over 0 to 100",
        upstream="algorithm/priorities/selector_spreading.go",
    ),
    Fact(
        id="label-rules-run", release="1.17", plugin="NodeLabel", others=_LABELS, needs=("policy",),
        sentence="label and service rules of a Policy run under any name", upstream=f"{_PLUGINS}/legacy_registry.go",
    ),
    Fact(
        id="bound-volumes-translated", release="1.17", plugin=_BINDING, others=("CheckVolumeBinding", *_LIMIT_RULES), needs=("volumes",),
        sentence="in-tree volumes are read as those of their CSI driver where it has moved (gate CSIMigration is on)", upstream=_BINDER,
    ),
    Fact(
        id="first-reason-alone", release="1.17", plugin=PREEMPTION, others=(REASONS,), needs=("priorities",), upstream=_CLASSIC,
        sentence="a node is out by the first plugin that rejects it, which decides whether removing pods may help",
    ),
    Fact(
        id="scores-to-100", release="1.17", plugin=EVERYTHING, needs=("two nodes",), upstream="framework/v1alpha1/interface.go",
        sentence="scores range from 0 to 100, so that divisions keep two digits more and fewer nodes tie",
    ),
    Fact(
        id="gone-nodes-with-pods", release="1.17", plugin=_PODS, others=("InterPodAffinityPriority", _SPREAD), needs=("orphans",),
        cells=("snapshot_drops_nodeless",), sentence="pods of a node that is gone do not count any more",
        upstream="algorithm/predicates/metadata.go",
    ),
    Fact(
        id="newer-zone-labels-order", release="1.17", plugin=SEARCH, others=(TIES,), needs=("two nodes",),
        sentence="the list of nodes is made anew in each cycle, by the newer zone labels too, and the search goes on where it ended",
        upstream="internal/cache/node_tree.go",
    ),
)

_1_18 = (
    Fact(
        id="spread-constraints-by-default", release="1.18", plugin=_SPREAD, cells=("gates.EvenPodsSpread",), needs=("constraints",),
        sentence="gate EvenPodsSpread is on: topology spread constraints count", upstream="features/kube_features.go",
    ),
    Fact(
        id="init-containers-on-nodes", release="1.18", plugin=_FIT, others=(_BALANCED, *_USAGE), needs=("init containers|overhead",),
        cells=(*_AMOUNTS, "gates.PodOverhead", "framework.gates_node_storage"), upstream="nodeinfo/node_info.go",
        sentence="init containers of pods on a node count wherever requests are added up, and gate PodOverhead is on",
    ),
    Fact(
        id="preferences-in-64-bits", release="1.18", plugin=_AFFINITY, cells=("framework.affinity_sums_in_32_bits",),
        needs=("node preferences",), sentence="weights of preferred node affinity are added up in 64 bits",
        upstream=f"{_PLUGINS}/nodeaffinity/node_affinity.go",
    ),
    Fact(
        id="terms-one-by-one", release="1.18", plugin=_PODS, others=(PREEMPTION,), cells=("framework.any_term_counts",),
        needs=("pod affinity",), upstream=f"{_PLUGINS}/interpodaffinity/filtering.go",
        sentence="in a trial a pod counts for those terms of anti-affinity that match it, not for all of them",
    ),
    Fact(
        id="all-reasons-of-a-plugin", release="1.18", plugin=PREEMPTION, cells=("framework.one_reason",), needs=("priorities",),
        sentence="a plugin gives all its reasons, and its code says whether removing pods may help",
        upstream="framework/v1alpha1/framework.go",
    ),
    Fact(
        id="leaving-peers-left-out", release="1.18", plugin=_SPREAD, cells=("framework.terminating_peers_count",), needs=("constraints",),
        sentence="pods that are being deleted do not count for topology spread constraints", upstream=f"{_TOPOLOGY}/common.go",
    ),
    Fact(
        id="peers-of-the-namespace", release="1.18", plugin=_SPREAD, cells=("framework.soft_peers_anywhere",), needs=("constraints",),
        sentence="soft topology spread constraints count pods of the pod's own namespace alone", upstream=f"{_TOPOLOGY}/scoring.go",
    ),
    Fact(
        id="constrained-pods-left-out", release="1.18", plugin=_SELECTOR_SPREAD[1], others=_SELECTOR_SPREAD,
        needs=("owners", "constraints"),
        cells=("framework.spreads_constrained_pods",), upstream=f"{_PLUGINS}/defaultpodtopologyspread/default_pod_topology_spread.go",
        sentence="pods with topology spread constraints are not spread by their owners besides",
    ),
    Fact(
        id="profiles-come", release="1.18", plugin=CONFIGURATION, decides=False, upstream="apis/config/v1alpha2",
        cells=(
            "configuration.api_versions", "configuration.default_version", "configuration.profile_prefix", "configuration.adds_up_weights",
            "configuration.point_plugins", "configuration.gone_plugins", "configuration.versions", "configuration.fields_lacked",
            "configuration.args_lacked", "configuration.lenient_fields", "configuration.sorters_first", "configuration.sorters_text",
            "configuration.first_args",
        ),
        sentence="the configuration has profiles, and refuses weights that are too high together",
    ),
    Fact(
        id="profiles-disable-plugins", release="1.18", plugin=CONFIGURATION, needs=("profile",), upstream="factory.go",
        cells=("configuration.adds_plugins_alone",),
        sentence="plugins that a profile disables do not run; a configuration could only add plugins",
    ),
    Fact(
        id="policies-of-1.18", release="1.18", plugin=CONFIGURATION, needs=("policy",), cells=("policies",),
        sentence="a rule of a Policy with the name of a built-in one is that one, whatever its argument says",
        upstream=f"{_PLUGINS}/legacy_registry.go",
    ),
    Fact(
        id="order-read-after-changes", release="1.18", plugin=SEARCH, others=(TIES,), cells=("framework.reads_order_by_cursor",),
        needs=("two nodes", "events"), upstream="internal/cache/cache.go",
        sentence="the list of nodes is made anew only where a node came or went",
    ),
    Fact(
        id="nodes-take-their-pods", release="1.18", plugin=_PODS, others=(_SPREAD,), needs=("orphans",), cells=("forgets_pods_with_node",),
        sentence="a node that is gone is forgotten with its pods, and comes back without them", upstream="internal/cache/cache.go",
    ),
    Fact(
        id="first-peer-by-list", release="1.18", plugin="ServiceAffinity", needs=("policy",), cells=("framework.first_peer_by_list",),
        sentence="the first pod of a service is that of the first node in the list",
        upstream=f"{_PLUGINS}/serviceaffinity/service_affinity.go",
    ),
    Fact(
        id="budgets-to-the-first", release="1.18", plugin=PREEMPTION, needs=("priorities", "budgets"), cells=("framework.budgets",),
        sentence="a victim counts for the budgets that match it up to the first that allows no more", upstream=_CLASSIC,
    ),
    Fact(
        id="trials-read-the-namespace", release="1.18", plugin=PREEMPTION, needs=("pod affinity", "priorities"),
        cells=("framework.trial_terms_change_namespace",), upstream=f"{_PLUGINS}/interpodaffinity/filtering.go", fixed="1.19",
        sentence="in a trial anti-affinity without namespaces is about the namespace of the pod that is scheduled",
    ),
    Fact(
        id="texts-of-1.18", release="1.18", plugin=CONFIGURATION, decides=False, upstream=_PLUGINS,
        cells=(
            "volumes.unbound_claim_text", "framework.zone_without_class_text", "framework.zone_missing_class_text",
            "framework.too_many_pods_text", "framework.taint_text", "framework.peer_node_text", "framework.filter_error",
            "framework.pre_score_error",
        ),
        sentence="reasons name the taint, and `Too many pods` takes the place of `Insufficient pods`",
    ),
)

_1_19 = (
    Fact(
        id="spreading-weighs-two", release="1.19", plugin=_SPREAD, needs=("constraints|owners",), upstream=_DEFAULTS,
        cells=(
            "configuration.point_plugins.filter", "configuration.point_plugins.preScore", "configuration.point_plugins.score",
            "configuration.gone_plugins", "configuration.default_version", "configuration.api_versions", "configuration.versions",
            "configuration.fields_lacked", "configuration.args_lacked", "configuration.lenient_args", "configuration.fills_ratio_weights",
            "configuration.has_unreserve",
        ),
        sentence="topology spread constraints have weight 2, and are looked at before affinity to pods",
    ),
    Fact(
        id="image-bound-by-container", release="1.19", plugin=_IMAGES, cells=("framework.image_bound_of_one",), needs=("images",),
        sentence="images are worth up to 1000 MB for each container, not in all", upstream=f"{_PLUGINS}/imagelocality/image_locality.go",
    ),
    Fact(
        id="invalid-labels-match-nothing", release="1.19", plugin=_AFFINITY, others=(*_SELECTOR_SPREAD, _SPREAD),
        cells=("framework.checks_pairs",), upstream="k8s.io/apimachinery/pkg/labels/selector.go",
        sentence="an invalid label in a nodeSelector or a service's selector matches nothing; it matched everything",
        needs=("node selectors|owners",),
    ),
    Fact(
        id="few-domains-count-more", release="1.19", plugin=_SPREAD, cells=("framework.spreads_by_share",), needs=("constraints",),
        sentence="a node scores by the number of peers in its domains, where few domains count more", upstream=f"{_TOPOLOGY}/scoring.go",
    ),
    Fact(
        id="missing-key-is-final", release="1.19", plugin=_SPREAD, others=(PREEMPTION,), cells=("framework.missing_key_is_uneven",),
        needs=("constraints",), sentence="a node without a topology key is out whichever pods leave", upstream=f"{_TOPOLOGY}/filtering.go",
    ),
    Fact(
        id="domains-counted-whole", release="1.19", plugin=_SPREAD, needs=("constraints",), upstream=f"{_TOPOLOGY}/filtering.go",
        cells=("framework.counts_whole_domains", "framework.edits_make_domains"),
        sentence="pods on every node of a domain count for hard constraints if one node of it does",
    ),
    Fact(
        id="existing-pods-last", release="1.19", plugin=_PODS, others=(PREEMPTION,), cells=("framework.existing_pods_refuse_first",),
        needs=("pod affinity",), sentence="the anti-affinity of existing pods is looked at last",
        upstream=f"{_PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        id="first-pod-needs-keys", release="1.19", plugin=_PODS, cells=("framework.first_pod_needs_keys",), needs=("pod affinity",),
        sentence="the first of pods that require each other needs a node with the topology keys",
        upstream=f"{_PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        id="nominated-company", release="1.19", plugin=_PODS, others=(PREEMPTION,), cells=("framework.nominated_pods_lack_company",),
        needs=("pod affinity", "priorities"), sentence="nominated pods count for the affinity of the pod in a trial",
        upstream=f"{_PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        id="no-idle-candidates", release="1.19", plugin=PREEMPTION, cells=("framework.tries_idle_nodes",), needs=("priorities",),
        sentence="a node without a pod of lower priority is no candidate for preemption", upstream=_PREEMPT,
    ),
    Fact(
        id="unresolvable-ends-wait", release="1.19", plugin=PREEMPTION, cells=("framework.unresolvable_ends_wait",), needs=("priorities",),
        sentence="a pod does not wait for its nominated node if removing pods there cannot help", upstream=_PREEMPT,
    ),
    Fact(
        id="no-preemption-under-policies", release="1.19", plugin=PREEMPTION, needs=("policy", "priorities"), cells=("policies",),
        sentence="under a Policy nothing is preempted, up to patch level 1.19.7", upstream="factory.go", fixed="1.20",
    ),
    Fact(
        id="volumes-assumed-by-plugin", release="1.19", plugin=_BINDING, needs=("volumes",), upstream=_CLAIMS,
        cells=(
            "framework.assumes_volumes_first", "framework.points_lacked", "configuration.point_plugins.preFilter",
            "configuration.point_plugins.reserve", "configuration.point_plugins.preBind",
        ),
        sentence="VolumeBinding rejects pods with unbound immediate claims before nodes are looked at, and reserves volumes itself",
    ),
    Fact(
        id="newer-zones-of-volumes", release="1.19", plugin=_ZONE, cells=("framework.newer_zone_labels",), needs=("volumes",),
        sentence="the newer labels of zones and regions are read", upstream=f"{_PLUGINS}/volumezone/volume_zone.go",
    ),
    Fact(
        id="ephemeral-claims", release="1.19", plugin=_BINDING, needs=("volumes",), upstream=_BINDER,
        cells=("volumes.ephemeral_claims", "volumes.migratable", "volumes.checks_storage_capacity"),
        sentence="with gates, generic ephemeral volumes have claims, and new volumes need free capacity",
    ),
    Fact(
        id="idle-service-affinity", release="1.19", plugin="ServiceAffinity", cells=("framework.counts_without_labels",), needs=("policy",),
        decides=False,
        sentence="ServiceAffinity without labels does nothing", upstream=f"{_PLUGINS}/serviceaffinity/service_affinity.go",
    ),
    Fact(
        id="order-read-from-the-start", release="1.19", plugin=SEARCH, others=(TIES,), cells=("framework.reads_order_by_cursor",),
        needs=("two nodes", "events"), sentence="the list of nodes is always read from its start", upstream="internal/cache/node_tree.go",
    ),
    Fact(
        id="literal-service-labels", release="1.19", plugin="ServiceAffinity", needs=("policy",), cells=("framework.literal_pairs",),
        sentence="labels are compared as they are", upstream=f"{_PLUGINS}/serviceaffinity/service_affinity.go",
    ),
    Fact(
        id="pre-filter-rejects", release="1.19", plugin=SEARCH, others=("error",), needs=("volumes|pod affinity",), decides=False,
        cells=("framework.pre_filter_rejection_errs", "framework.pre_filter_error"), upstream=_CLASSIC,
        sentence="a rejection by PreFilter rejects every node; it was an error",
    ),
    Fact(
        id="one-node-is-not-scored", release="1.19", plugin=EVERYTHING, others=("error",), needs=("pod affinity|constraints",),
        cells=("framework.pre_scores_one_node",), sentence="PreScore does not run where one node is feasible", upstream=_CLASSIC,
    ),
    Fact(
        id="budgets-counted-down", release="1.19", plugin=PREEMPTION, needs=("priorities", "budgets"), cells=("framework.budgets",),
        sentence="each victim uses up one disruption of each budget that matches it", upstream=_PREEMPT,
    ),
    Fact(
        id="trials-keep-the-namespace", release="1.19", plugin=PREEMPTION, needs=("pod affinity", "priorities"),
        cells=("framework.trial_terms_change_namespace",), upstream=f"{_PLUGINS}/interpodaffinity/filtering.go",
        sentence="in a trial anti-affinity without namespaces is about the namespace of the pod that has it",
    ),
    Fact(
        id="never-without-gate", release="1.19", plugin=PREEMPTION, needs=("priorities",), cells=("framework.never_needs_gate",),
        sentence="preemptionPolicy Never is honoured without a gate", upstream=_PREEMPT,
    ),
    Fact(
        id="system-constraints-come", release="1.19", plugin=_SPREAD,
        cells=("configuration.system_constraints", "configuration.gone_plugins"),
        needs=("gates set",), sentence="with gate DefaultPodTopologySpread pods are spread by default constraints",
        upstream=f"{_TOPOLOGY}/plugin.go",
    ),
)

_1_20 = (
    Fact(
        id="default-constraints", release="1.20", plugin=_SPREAD, others=_SELECTOR_SPREAD, needs=("owners",),
        cells=("gates.DefaultPodTopologySpread",), upstream="features/kube_features.go",
        sentence="default constraints over hosts and zones spread the pods of a service or controller, in place of SelectorSpread",
    ),
    Fact(
        id="taints-before-resources", release="1.20", plugin=PREEMPTION, others=(EVERYTHING,), needs=("priorities",),
        cells=("configuration.point_plugins",), upstream=_DEFAULTS,
        sentence="taints and node affinity are looked at before resources, so that fewer nodes are open to preemption",
    ),
    Fact(
        id="all-keys-for-defaults", release="1.20", plugin=_SPREAD, cells=("framework.system_needs_all_keys",), needs=("owners",),
        sentence="nodes without a zone label are scored by their other keys", upstream=f"{_TOPOLOGY}/scoring.go",
    ),
    Fact(
        id="no-domain-no-node", release="1.20", plugin=_SPREAD, cells=("framework.no_domain_fits",), needs=("constraints",),
        sentence="where no node counts for a hard constraint, none fits", upstream=f"{_TOPOLOGY}/filtering.go",
    ),
    Fact(
        id="overfull-is-full", release="1.20", plugin="NodeResourcesMostAllocated", cells=("framework.overfull_scores_zero",),
        needs=("policy|profile",), sentence="a node on which more is requested than there is counts as full",
        upstream=f"{_RESOURCES}/most_allocated.go",
    ),
    Fact(
        id="balance-by-own-volumes", release="1.20", plugin=_BALANCED, cells=("framework.balances_without_volumes",),
        needs=("volumes", "gates set"), upstream=f"{_RESOURCES}/balanced_allocation.go",
        sentence="with gate BalanceAttachedNodeVolumes volumes count for pods that have some",
    ),
    Fact(
        id="preferred-fields", release="1.20", plugin=_AFFINITY, cells=("framework.reads_preferred_fields",), needs=("node preferences",),
        sentence="matchFields of preferred terms are read", upstream="k8s.io/component-helpers/scheduling/corev1/nodeaffinity",
    ),
    Fact(
        id="bad-affinity-rejects", release="1.20", plugin=_PODS, others=("error",), cells=("framework.unreadable_terms_are_none",),
        needs=("pod affinity",), sentence="a pod with an invalid selector among its affinity terms is rejected",
        upstream=f"{_PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        id="candidates-sampled", release="1.20", plugin=PREEMPTION, cells=("framework.samples_candidates",), needs=("priorities",),
        sentence="preemption ends when it has found enough candidates", upstream=_PREEMPT,
    ),
    Fact(
        id="missing-claims-reject", release="1.20", plugin=_BINDING, others=("error", _ZONE, *_LIMIT_RULES), needs=("volumes",),
        cells=("framework.missing_claims_end_cycle", "volumes.missing_volume_is_reason", "volumes.groups_by_beta_class"),
        sentence="missing claims and volumes turn nodes down; they were errors", upstream=_CLAIMS,
    ),
    Fact(
        id="zone-faults-reject", release="1.20", plugin=_ZONE, others=("error",), cells=("framework.zone_faults_are_errors",),
        needs=("volumes",), sentence="what is wrong with a claim rejects the pod; it was an error",
        upstream=f"{_PLUGINS}/volumezone/volume_zone.go",
    ),
    Fact(
        id="pods-outlive-nodes", release="1.20", plugin=_PODS, others=(_SPREAD,), needs=("orphans",), cells=("forgets_pods_with_node",),
        sentence="pods of a node that is gone are kept in the cache until they go themselves", upstream="internal/cache/cache.go",
    ),
    Fact(
        id="policies-preempt-again", release="1.20", plugin=PREEMPTION, needs=("policy",), cells=("policies",), upstream="factory.go",
        sentence="a Policy preempts again, and SelectorSpreadPriority is the default constraints",
    ),
    Fact(
        id="storage-gated", release="1.20", plugin=_FIT, cells=_AMOUNTS, needs=("gates set",), upstream="framework/types.go",
        sentence="without gate LocalStorageCapacityIsolation pods request no ephemeral storage",
    ),
    Fact(
        id="texts-of-1.20", release="1.20", plugin=CONFIGURATION, decides=False, upstream=_PLUGINS,
        cells=(
            "framework.soft_constraints_text", "framework.node_affinity_text", "configuration.plugin_prefix",
            "framework.zone_missing_class_text", "framework.pre_filter_error", "framework.pre_score_error", "framework.score_error",
            "framework.normalize_error", "framework.range_error", "configuration.fields_lacked", "configuration.args_lacked",
        ),
        sentence="node affinity gives its own reason",
    ),
)

_1_21 = (
    Fact(
        id="namespaces-selected", release="1.21", plugin=_PODS, cells=("selects_namespaces",), needs=("pod affinity", "gates set"),
        sentence="with gate PodAffinityNamespaceSelector terms may select namespaces by labels",
        upstream=f"{_PLUGINS}/interpodaffinity/plugin.go",
    ),
    Fact(
        id="room-without-wrapping", release="1.21", plugin=_FIT, cells=("framework.fit_sums_wrap",), needs=("huge amounts|huge nodes",),
        sentence="what is asked is compared with what is left, which does not wrap around", upstream=f"{_RESOURCES}/fit.go",
    ),
    Fact(
        id="affinity-scale-of-scores", release="1.21", plugin=_PODS, cells=("framework.liking_includes_zero",), needs=("pod affinity",),
        sentence="scores of pod affinity range from the least to the most; 0 takes part no longer",
        upstream=f"{_PLUGINS}/interpodaffinity/scoring.go",
    ),
    Fact(
        id="volume-zones-added", release="1.21", plugin=_BINDING, others=_LIMIT_RULES, needs=("volumes",),
        cells=("volumes.zone_labels", "volumes.beta_zones_alone", "volumes.reads_maximum_size"),
        sentence="volumes that moved to CSI keep their node affinity, and newer zone labels are read",
        upstream="k8s.io/csi-translation-lib/plugins/in_tree_volume.go",
    ),
    Fact(
        id="capacity-by-default", release="1.21", plugin=_BINDING, needs=("volumes",), upstream="features/kube_features.go",
        cells=("gates.CSIStorageCapacity", "gates.GenericEphemeralVolume", "gates.CSIMigrationOpenStack"),
        sentence="gates CSIStorageCapacity and GenericEphemeralVolume are on",
    ),
    Fact(
        id="policies-of-1.21", release="1.21", plugin=CONFIGURATION, needs=("policy",), cells=("policies",), decides=False,
        sentence="a Policy that is refused says so without ending the scheduler", upstream="factory.go",
    ),
    Fact(
        id="texts-of-1.21", release="1.21", plugin=CONFIGURATION, decides=False, upstream=_PLUGINS,
        cells=(
            "framework.ephemeral_off_text", "framework.node_name_text", "framework.node_affinity_text", "framework.pod_affinity_text",
            "framework.plain_selector_faults", "configuration.plain_arg_faults", "framework.points_lacked", "configuration.point_plugins",
            "framework.filter_error", "configuration.compares_sorters",
        ),
        sentence="reasons of names and affinity are worded otherwise, and NodeAffinity has a PreFilter",
    ),
)

OLDER_FACTS: tuple[Fact, ...] = (*_1_17, *_1_18, *_1_19, *_1_20, *_1_21)
"""In the order of releases."""
