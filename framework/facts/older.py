"""The facts of 1.17 to 1.21."""

from __future__ import annotations

from ...api.meaning.labels import BETA_ZONE
from ...core.pods import requests
from ...core.release.fact import CONFIGURATION, EVERYTHING, PLUGINS, PREEMPTION, REASONS, SEARCH, TIES, Fact, also
from .groups import LIMIT_RULES, SELECTOR_SPREAD, USAGE

_LABELS = ("CheckNodeLabelPresence", "CheckServiceAffinity", "ServiceAffinity", "ServiceAntiAffinity", "LabelPreference")
_CLASSIC, _DEFAULTS = "core/generic_scheduler.go", "algorithmprovider/registry.go"
_BINDER = "controller/volume/scheduling/scheduler_binder.go"

OLDER_FACTS = (
    # --- 1.17 -----------------------------------------------------------------------------------------------------------
    Fact(
        "bad-affinity-is-no-error", "1.17", "InterPodAffinity", others=("error", "MatchInterPodAffinity"), needs=("pod affinity",),
        sentence="an invalid selector in affinity to pods is no error of the cycle where it only gives scores",
        upstream="algorithm/priorities/interpod_affinity.go",
    ),
    Fact(
        "selectors-merged", "1.17", "DefaultPodTopologySpread", needs=("owners",), upstream="algorithm/priorities/selector_spreading.go",
        sentence="the selectors of a pod's owners count as one, and spreading ranges over 0 to 100", others=SELECTOR_SPREAD,
    ),
    Fact(
        "label-rules-run", "1.17", "NodeLabel", sentence="label and service rules of a Policy run under any name", others=_LABELS,
        needs=("policy",), upstream=f"{PLUGINS}/legacy_registry.go",
    ),
    Fact(
        "bound-volumes-translated", "1.17", "VolumeBinding", others=("CheckVolumeBinding", *LIMIT_RULES), needs=("volumes",),
        sentence="in-tree volumes are read as those of their CSI driver where it has moved (gate CSIMigration is on)", upstream=_BINDER,
    ),
    Fact(
        "first-reason-alone", "1.17", PREEMPTION, others=(REASONS,), needs=("priorities",), upstream=_CLASSIC,
        sentence="a node is out by the first plugin that rejects it, which decides whether removing pods may help",
    ),
    Fact(
        "scores-to-100", "1.17", EVERYTHING, needs=("two nodes",), upstream="framework/v1alpha1/interface.go",
        sentence="scores range from 0 to 100, so that divisions keep two digits more and fewer nodes tie",
    ),
    Fact(
        "gone-nodes-with-pods", "1.17", "InterPodAffinity", sentence="pods of a node that is gone do not count any more",
        elsewhere=("snapshot_drops_nodeless",), others=("InterPodAffinityPriority", "PodTopologySpread"), needs=("orphans",),
        upstream="algorithm/predicates/metadata.go",
    ),
    Fact(
        "newer-zone-labels-order", "1.17", SEARCH, others=(TIES,), needs=("two nodes",), upstream="internal/cache/node_tree.go",
        sentence="the list of nodes is made anew in each cycle, by the newer zone labels too, and the search goes on where it ended",
    ),
    # --- 1.18 -----------------------------------------------------------------------------------------------------------
    Fact(
        "spread-constraints-by-default", "1.18", "PodTopologySpread", elsewhere=("gates.EvenPodsSpread",), needs=("constraints",),
        sentence="gate EvenPodsSpread is on: topology spread constraints count", upstream="features/kube_features.go",
    ),
    Fact(
        "init-containers-on-nodes", "1.18", "NodeResourcesFit", others=("NodeResourcesBalancedAllocation", *USAGE),
        sentence="init containers of pods on a node count wherever requests are added up, and gate PodOverhead is on",
        was={"incoming": requests.with_overhead, "footprint": requests.with_overhead, "framework.gates_node_storage": False},
        elsewhere=("gates.PodOverhead",), needs=("init containers|overhead",), upstream="nodeinfo/node_info.go",
    ),
    Fact(
        "preferences-in-64-bits", "1.18", "NodeAffinity", sentence="weights of preferred node affinity are added up in 64 bits",
        was={"framework.affinity_sums_in_32_bits": True}, needs=("node preferences",), upstream=f"{PLUGINS}/nodeaffinity/node_affinity.go",
    ),
    Fact(
        "terms-one-by-one", "1.18", "InterPodAffinity", was={"framework.any_term_counts": True}, others=(PREEMPTION,),
        sentence="in a trial a pod counts for those terms of anti-affinity that match it, not for all of them", needs=("pod affinity",),
        upstream=f"{PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        "all-reasons-of-a-plugin", "1.18", PREEMPTION, was={"framework.one_reason": True}, upstream="framework/v1alpha1/framework.go",
        sentence="a plugin gives all its reasons, and its code says whether removing pods may help", needs=("priorities",),
    ),
    Fact(
        "leaving-peers-left-out", "1.18", "PodTopologySpread", was={"framework.terminating_peers_count": True}, needs=("constraints",),
        sentence="pods that are being deleted do not count for topology spread constraints",
        upstream=f"{PLUGINS}/podtopologyspread/common.go",
    ),
    Fact(
        "peers-of-the-namespace", "1.18", "PodTopologySpread", was={"framework.soft_peers_anywhere": True}, needs=("constraints",),
        sentence="soft topology spread constraints count pods of the pod's own namespace alone",
        upstream=f"{PLUGINS}/podtopologyspread/scoring.go",
    ),
    Fact(
        "constrained-pods-left-out", "1.18", "DefaultPodTopologySpread", was={"framework.spreads_constrained_pods": True},
        sentence="pods with topology spread constraints are not spread by their owners besides", others=SELECTOR_SPREAD,
        needs=("owners", "constraints"), upstream=f"{PLUGINS}/defaultpodtopologyspread/default_pod_topology_spread.go",
    ),
    Fact(
        "profiles-come", "1.18", CONFIGURATION, sentence="the configuration has profiles, and refuses weights that are too high together",
        was={
            "configuration.api_versions": ("v1alpha1",), "configuration.default_version": "v1alpha1",
            "configuration.profile_prefix": "error initializing the scheduling framework: ", "configuration.adds_up_weights": False,
            "configuration.lenient_fields": True, "configuration.sorters_first": False,
            "configuration.sorters_text": "only one queue sort plugin can be enabled", "configuration.first_args": True,
        },
        elsewhere=(
            "configuration.point_plugins", "configuration.gone_plugins", "configuration.versions", "configuration.fields_lacked",
            "configuration.args_lacked",
        ),
        decides=False, upstream="apis/config/v1alpha2",
    ),
    Fact(
        "profiles-disable-plugins", "1.18", CONFIGURATION, was={"configuration.adds_plugins_alone": True}, needs=("profile",),
        sentence="plugins that a profile disables do not run; a configuration could only add plugins", upstream="factory.go",
    ),
    Fact(
        "policies-of-1.18", "1.18", CONFIGURATION, elsewhere=("policies",), needs=("policy",), upstream=f"{PLUGINS}/legacy_registry.go",
        sentence="a rule of a Policy with the name of a built-in one is that one, whatever its argument says",
    ),
    Fact(
        "order-read-after-changes", "1.18", SEARCH, was={"framework.reads_order_by_cursor": "always"}, needs=("two nodes", "events"),
        sentence="the list of nodes is made anew only where a node came or went", others=(TIES,), upstream="internal/cache/cache.go",
    ),
    Fact(
        "nodes-take-their-pods", "1.18", "InterPodAffinity", was={"forgets_pods_with_node": False, "snapshot_keeps_ghosts": True},
        others=("PodTopologySpread", PREEMPTION), needs=("orphans",),
        sentence="a node that is gone is forgotten with its pods, comes back without them, and preemption does not try it",
        upstream="internal/cache/cache.go",
    ),
    Fact(
        "first-peer-by-list", "1.18", "ServiceAffinity", sentence="the first pod of a service is that of the first node in the list",
        was={"framework.first_peer_by_list": False}, needs=("policy",), upstream=f"{PLUGINS}/serviceaffinity/service_affinity.go",
    ),
    Fact(
        "budgets-to-the-first", "1.18", PREEMPTION, was={"framework.budgets": "used up"}, needs=("priorities", "budgets"),
        sentence="a victim counts for the budgets that match it up to the first that allows no more", upstream=_CLASSIC,
    ),
    Fact(
        "trials-read-the-namespace", "1.18", PREEMPTION, was={"framework.trial_terms_change_namespace": False}, fixed="1.19",
        sentence="in a trial anti-affinity without namespaces is about the namespace of the pod that is scheduled",
        needs=("pod affinity", "priorities"), upstream=f"{PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        "texts-of-1.18", "1.18", CONFIGURATION, decides=False, upstream=PLUGINS,
        sentence="reasons name the taint, and `Too many pods` takes the place of `Insufficient pods`",
        was={
            "volumes.unbound_claim_text": "PersistentVolumeClaim was not found: {}",
            "framework.zone_without_class_text": 'PersistentVolumeClaim was not found: "{claim}"',
            "framework.zone_missing_class_text": 'PersistentVolumeClaim was not found: "{claim}"',
            "framework.too_many_pods_text": "Insufficient pods", "framework.taint_text": "node(s) had taints that the pod didn't tolerate",
            "framework.peer_node_text": 'node "{node}" not found',
            "framework.filter_error": 'error while running "{plugin}" filter plugin for pod "{pod}": {text}',
            "framework.pre_score_error": 'error while running "{plugin}" postfilter plugin for pod "{pod}": {text}',
        },
    ),
    # --- 1.19 -----------------------------------------------------------------------------------------------------------
    Fact(
        "spreading-weighs-two", "1.19", "PodTopologySpread", needs=("constraints|owners",), upstream=_DEFAULTS,
        sentence="topology spread constraints have weight 2, and are looked at before affinity to pods",
        was={
            "configuration.default_version": "v1alpha2", "configuration.api_versions": ("v1alpha1", "v1alpha2"),
            "configuration.lenient_args": True, "configuration.fills_ratio_weights": True, "configuration.has_unreserve": True,
        },
        elsewhere=(
            "configuration.point_plugins.filter", "configuration.point_plugins.preScore", "configuration.point_plugins.score",
            "configuration.gone_plugins", "configuration.versions", "configuration.fields_lacked", "configuration.args_lacked",
        ),
    ),
    Fact(
        "image-bound-by-container", "1.19", "ImageLocality", sentence="images are worth up to 1000 MB for each container, not in all",
        was={"framework.image_bound_of_one": True}, needs=("images",), upstream=f"{PLUGINS}/imagelocality/image_locality.go",
    ),
    Fact(
        "invalid-labels-match-nothing", "1.19", "NodeAffinity", others=(*SELECTOR_SPREAD, "PodTopologySpread"),
        sentence="an invalid label in a nodeSelector or a service's selector matches nothing; it matched everything",
        was={"framework.checks_pairs": True}, needs=("node selectors|owners",), upstream="k8s.io/apimachinery/pkg/labels/selector.go",
    ),
    Fact(
        "few-domains-count-more", "1.19", "PodTopologySpread", was={"framework.spreads_by_share": True}, needs=("constraints",),
        sentence="a node scores by the number of peers in its domains, where few domains count more",
        upstream=f"{PLUGINS}/podtopologyspread/scoring.go",
    ),
    Fact(
        "missing-key-is-final", "1.19", "PodTopologySpread", sentence="a node without a topology key is out whichever pods leave",
        was={"framework.missing_key_is_uneven": True}, others=(PREEMPTION,), needs=("constraints",),
        upstream=f"{PLUGINS}/podtopologyspread/filtering.go",
    ),
    Fact(
        "domains-counted-whole", "1.19", "PodTopologySpread", needs=("constraints",), upstream=f"{PLUGINS}/podtopologyspread/filtering.go",
        sentence="pods on every node of a domain count for hard constraints if one node of it does",
        was={"framework.counts_whole_domains": False, "framework.edits_make_domains": True},
    ),
    Fact(
        "existing-pods-last", "1.19", "InterPodAffinity", sentence="the anti-affinity of existing pods is looked at last",
        was={"framework.existing_pods_refuse_first": True}, others=(PREEMPTION,), needs=("pod affinity",),
        upstream=f"{PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        "first-pod-needs-keys", "1.19", "InterPodAffinity", was={"framework.first_pod_needs_keys": False}, needs=("pod affinity",),
        sentence="the first of pods that require each other needs a node with the topology keys",
        upstream=f"{PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        "nominated-company", "1.19", "InterPodAffinity", sentence="nominated pods count for the affinity of the pod in a trial",
        was={"framework.nominated_pods_lack_company": True}, others=(PREEMPTION,), needs=("pod affinity", "priorities"),
        upstream=f"{PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        "no-idle-candidates", "1.19", PREEMPTION, sentence="a node without a pod of lower priority is no candidate for preemption",
        was={"framework.tries_idle_nodes": True}, needs=("priorities",), upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "unresolvable-ends-wait", "1.19", PREEMPTION, was={"framework.unresolvable_ends_wait": False}, needs=("priorities",),
        sentence="a pod does not wait for its nominated node if removing pods there cannot help",
        upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "no-preemption-under-policies", "1.19", PREEMPTION, sentence="under a Policy nothing is preempted, up to patch level 1.19.7",
        elsewhere=("policies",), needs=("policy", "priorities"), fixed="1.20", upstream="factory.go",
    ),
    Fact(
        "volumes-assumed-by-plugin", "1.19", "VolumeBinding", needs=("volumes",), upstream=f"{PLUGINS}/volumebinding/volume_binding.go",
        sentence="VolumeBinding rejects pods with unbound immediate claims before nodes are looked at, and reserves volumes itself",
        was={
            "framework.assumes_volumes_first": True,
            "framework.points_lacked": also(*(("VolumeBinding", point) for point in ("preFilter", "reserve", "preBind"))),
        },
        elsewhere=("configuration.point_plugins.preFilter", "configuration.point_plugins.reserve", "configuration.point_plugins.preBind"),
    ),
    Fact(
        "newer-zones-of-volumes", "1.19", "VolumeZone", sentence="the newer labels of zones and regions are read", needs=("volumes",),
        was={"framework.newer_zone_labels": False}, upstream=f"{PLUGINS}/volumezone/volume_zone.go",
    ),
    Fact(
        "ephemeral-claims", "1.19", "VolumeBinding", needs=("volumes",), upstream=_BINDER,
        sentence="with gates, generic ephemeral volumes have claims, and new volumes need free capacity",
        was={
            "volumes.ephemeral_claims": False, "volumes.migratable": also(but=("kubernetes.io/vsphere-volume",)),
            "volumes.checks_storage_capacity": False,
        },
    ),
    Fact(
        "idle-service-affinity", "1.19", "ServiceAffinity", sentence="ServiceAffinity without labels does nothing", needs=("policy",),
        was={"framework.counts_without_labels": True}, decides=False, upstream=f"{PLUGINS}/serviceaffinity/service_affinity.go",
    ),
    Fact(
        "order-read-from-the-start", "1.19", SEARCH, sentence="the list of nodes is always read from its start", others=(TIES,),
        was={"framework.reads_order_by_cursor": "after changes"}, needs=("two nodes", "events"), upstream="internal/cache/node_tree.go",
    ),
    Fact(
        "literal-service-labels", "1.19", "ServiceAffinity", sentence="labels are compared as they are", needs=("policy",),
        was={"framework.literal_pairs": False}, upstream=f"{PLUGINS}/serviceaffinity/service_affinity.go",
    ),
    Fact(
        "pre-filter-rejects", "1.19", SEARCH, sentence="a rejection by PreFilter rejects every node; it was an error", others=("error",),
        was={
            "framework.pre_filter_rejection_errs": True,
            "framework.pre_filter_error": 'error while running "{plugin}" prefilter plugin for pod "{pod}": {text}',
        },
        needs=("volumes|pod affinity",), decides=False, upstream=_CLASSIC,
    ),
    Fact(
        "one-node-is-not-scored", "1.19", EVERYTHING, sentence="PreScore does not run where one node is feasible", others=("error",),
        was={"framework.pre_scores_one_node": True}, needs=("pod affinity|constraints",), upstream=_CLASSIC,
    ),
    Fact(
        "budgets-counted-down", "1.19", PREEMPTION, sentence="each victim uses up one disruption of each budget that matches it",
        was={"framework.budgets": "counted to the first"}, needs=("priorities", "budgets"),
        upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "disrupted-pods-are-exempt", "1.19", PREEMPTION, sentence="a pod that a disruption budget lists in disruptedPods costs it nothing",
        was={"framework.exempts_disrupted": False}, needs=("priorities", "disrupted pods"),
        upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "trials-keep-the-namespace", "1.19", PREEMPTION, was={"framework.trial_terms_change_namespace": True},
        sentence="in a trial anti-affinity without namespaces is about the namespace of the pod that has it",
        needs=("pod affinity", "priorities"), upstream=f"{PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        "never-without-gate", "1.19", PREEMPTION, sentence="preemptionPolicy Never is honoured without a gate", needs=("priorities",),
        elsewhere=("gates.NonPreemptingPriority",),
        was={"framework.never_needs_gate": True}, upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "system-constraints-come", "1.19", "PodTopologySpread", was={"configuration.system_constraints": False}, needs=("gates set",),
        sentence="with gate DefaultPodTopologySpread pods are spread by default constraints", elsewhere=("configuration.gone_plugins",),
        upstream=f"{PLUGINS}/podtopologyspread/plugin.go",
    ),
    # --- 1.20 -----------------------------------------------------------------------------------------------------------
    Fact(
        "default-constraints", "1.20", "PodTopologySpread", elsewhere=("gates.DefaultPodTopologySpread",), others=SELECTOR_SPREAD,
        sentence="default constraints over hosts and zones spread the pods of a service or controller, in place of SelectorSpread",
        needs=("owners",), upstream="features/kube_features.go",
    ),
    Fact(
        "taints-before-resources", "1.20", PREEMPTION, elsewhere=("configuration.point_plugins",), others=(EVERYTHING,),
        sentence="taints and node affinity are looked at before resources, so that fewer nodes are open to preemption", upstream=_DEFAULTS,
        needs=("priorities",),
    ),
    Fact(
        "all-keys-for-defaults", "1.20", "PodTopologySpread", sentence="nodes without a zone label are scored by their other keys",
        was={"framework.system_needs_all_keys": True}, needs=("owners",), upstream=f"{PLUGINS}/podtopologyspread/scoring.go",
    ),
    Fact(
        "no-domain-no-node", "1.20", "PodTopologySpread", sentence="where no node counts for a hard constraint, none fits",
        was={"framework.no_domain_fits": True}, needs=("constraints",), upstream=f"{PLUGINS}/podtopologyspread/filtering.go",
    ),
    Fact(
        "overfull-is-full", "1.20", "NodeResourcesMostAllocated", was={"framework.overfull_scores_zero": True}, needs=("policy|profile",),
        sentence="a node on which more is requested than there is counts as full", upstream=f"{PLUGINS}/noderesources/most_allocated.go",
    ),
    Fact(
        "balance-by-own-volumes", "1.20", "NodeResourcesBalancedAllocation", was={"framework.balances_without_volumes": True},
        sentence="with gate BalanceAttachedNodeVolumes volumes count for pods that have some", needs=("volumes", "gates set"),
        upstream=f"{PLUGINS}/noderesources/balanced_allocation.go",
    ),
    Fact(
        "preferred-fields", "1.20", "NodeAffinity", sentence="matchFields of preferred terms are read", needs=("node preferences",),
        was={"framework.reads_preferred_fields": False}, upstream="k8s.io/component-helpers/scheduling/corev1/nodeaffinity",
    ),
    Fact(
        "bad-affinity-rejects", "1.20", "InterPodAffinity", sentence="a pod with an invalid selector among its affinity terms is rejected",
        was={"framework.unreadable_terms_are_none": True}, others=("error",), needs=("pod affinity",),
        upstream=f"{PLUGINS}/interpodaffinity/filtering.go",
    ),
    Fact(
        "candidates-sampled", "1.20", PREEMPTION, sentence="preemption ends when it has found enough candidates", needs=("priorities",),
        was={"framework.samples_candidates": False}, upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "missing-claims-reject", "1.20", "VolumeBinding", sentence="missing claims and volumes turn nodes down; they were errors",
        was={"framework.missing_claims_end_cycle": True, "volumes.missing_volume_is_reason": False, "volumes.groups_by_beta_class": False},
        others=("error", "VolumeZone", *LIMIT_RULES), needs=("volumes",), upstream=f"{PLUGINS}/volumebinding/volume_binding.go",
    ),
    Fact(
        "zone-faults-reject", "1.20", "VolumeZone", was={"framework.zone_faults_are_errors": True}, others=("error",), needs=("volumes",),
        sentence="what is wrong with a claim rejects the pod; it was an error", upstream=f"{PLUGINS}/volumezone/volume_zone.go",
    ),
    Fact(
        "pods-outlive-nodes", "1.20", "InterPodAffinity", was={"forgets_pods_with_node": True}, others=("PodTopologySpread",),
        sentence="pods of a node that is gone are kept in the cache until they go themselves", needs=("orphans",),
        upstream="internal/cache/cache.go",
    ),
    Fact(
        "policies-preempt-again", "1.20", PREEMPTION, elsewhere=("policies",), needs=("policy",), upstream="factory.go",
        sentence="a Policy preempts again, and SelectorSpreadPriority is the default constraints",
    ),
    Fact(
        "storage-gated", "1.20", "NodeResourcesFit", was={"incoming": requests.half_gated_sums, "footprint": requests.half_gated_sums},
        sentence="without gate LocalStorageCapacityIsolation pods request no ephemeral storage", needs=("gates set",),
        upstream="framework/types.go",
    ),
    Fact(
        "texts-of-1.20", "1.20", CONFIGURATION, sentence="node affinity gives its own reason", decides=False, upstream=PLUGINS,
        was={
            "framework.soft_constraints_text": "error when calculating preScoreState: ",
            "framework.node_affinity_text": "node(s) didn't match node selector",
            "configuration.plugin_prefix": 'error initializing plugin "{name}": ',
            "framework.zone_missing_class_text": 'StorageClass "{kind}" claimed by PersistentVolumeClaim "{claim}" not found',
            "framework.pre_filter_error": 'prefilter plugin "{plugin}" failed for pod "{pod}": {text}',
            "framework.pre_score_error": 'error while running "{plugin}" prescore plugin for pod "{pod}": {text}',
            "framework.score_error": 'error while running score plugin for pod "{pod}": {text}',
            "framework.normalize_error": 'error while running normalize score plugin for pod "{pod}": normalize score plugin "{plugin}"'
            " failed with error {text}",
            "framework.range_error": 'error while applying score defaultWeights for pod "{pod}": score ',
        },
        elsewhere=("configuration.fields_lacked", "configuration.args_lacked"),
    ),
    # --- 1.21 -----------------------------------------------------------------------------------------------------------
    Fact(
        "namespaces-selected", "1.21", "InterPodAffinity", was={"selects_namespaces": False}, needs=("pod affinity", "gates set"),
        sentence="with gate PodAffinityNamespaceSelector terms may select namespaces by labels",
        upstream=f"{PLUGINS}/interpodaffinity/plugin.go",
    ),
    Fact(
        "room-without-wrapping", "1.21", "NodeResourcesFit", was={"framework.fit_sums_wrap": True}, needs=("huge amounts|huge nodes",),
        sentence="what is asked is compared with what is left, which does not wrap around", upstream=f"{PLUGINS}/noderesources/fit.go",
    ),
    Fact(
        "affinity-scale-of-scores", "1.21", "InterPodAffinity", was={"framework.liking_includes_zero": True}, needs=("pod affinity",),
        sentence="scores of pod affinity range from the least to the most; 0 takes part no longer",
        upstream=f"{PLUGINS}/interpodaffinity/scoring.go",
    ),
    Fact(
        "volume-zones-added", "1.21", "VolumeBinding", others=LIMIT_RULES, upstream="k8s.io/csi-translation-lib/plugins/in_tree_volume.go",
        sentence="volumes that moved to CSI keep their node affinity, and newer zone labels are read", needs=("volumes",),
        was={"volumes.zone_labels": (BETA_ZONE,), "volumes.beta_zones_alone": True, "volumes.reads_maximum_size": False},
    ),
    Fact(
        "capacity-by-default", "1.21", "VolumeBinding", sentence="gates CSIStorageCapacity and GenericEphemeralVolume are on",
        elsewhere=("gates.CSIStorageCapacity", "gates.GenericEphemeralVolume", "gates.CSIMigrationOpenStack"), needs=("volumes",),
        upstream="features/kube_features.go",
    ),
    Fact(
        "policies-of-1.21", "1.21", CONFIGURATION, sentence="a Policy that is refused says so without ending the scheduler", decides=False,
        elsewhere=("policies",), needs=("policy",), upstream="factory.go",
    ),
    Fact(
        "texts-of-1.21", "1.21", CONFIGURATION, elsewhere=("configuration.point_plugins",), decides=False, upstream=PLUGINS,
        sentence="reasons of names and affinity are worded otherwise, and NodeAffinity has a PreFilter",
        was={
            "framework.ephemeral_off_text": "", "framework.node_name_text": "node(s) didn't match the requested hostname",
            "framework.node_affinity_text": "node(s) didn't match Pod's node affinity",
            "framework.pod_affinity_text": "node(s) didn't match pod affinity/anti-affinity", "framework.plain_selector_faults": True,
            "configuration.plain_arg_faults": True, "framework.points_lacked": also(("VolumeBinding", "score")),
            "framework.filter_error": 'running "{plugin}" filter plugin for pod "{pod}": {text}',
            "configuration.compares_sorters": "as given, or not",
        },
    ),
)
"""In the order of releases."""
