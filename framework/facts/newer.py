"""The facts of 1.28 to 1.36."""

from __future__ import annotations

from ...core.decision.ties import TopOfHeap
from ...core.pods import requests, resized
from ...core.release.fact import CONFIGURATION, EVERYTHING, PLUGINS, PREEMPTION, SEARCH, TIES, Fact, also
from ...core.volumes import intree
from .devices import DEVICES_1_35, DEVICES_1_36
from .groups import CLOUD_DISKS, LIMIT_RULES

_ALLOCATOR = "k8s.io/dynamic-resource-allocation/structured/allocator.go"
_FEATURES = f"{PLUGINS}/nodedeclaredfeatures/nodedeclaredfeatures.go"
_VALIDATION = "apis/config/validation/validation.go"

NEWER_FACTS = (
    # --- 1.28 -----------------------------------------------------------------------------------------------------------
    Fact(
        "sidecars-count", "1.28", "NodeResourcesFit", others=("NodeResourcesBalancedAllocation",), needs=("init containers",),
        sentence="init containers that are restarted always count for as long as the pod runs", upstream="framework/types.go",
        now={
            "incoming": requests.with_sidecars, "footprint": requests.with_sidecars,
            "incoming_nonzero": requests.with_sidecars_and_defaults, "footprint_nonzero": requests.nonzero_of_uses,
        },
    ),
    Fact(
        "sidecars-are-refused", "1.28", "NodeResourcesFit", now={"framework.rejects_sidecars": "Filter"}, needs=("sidecars",),
        sentence="a pod with sidecars fits nowhere while gate SidecarContainers is off", upstream=f"{PLUGINS}/noderesources/fit.go",
    ),
    Fact(
        "fit-reads-what-is-asked", "1.28", "NodeResourcesFit", now={"framework.fit_checks_requested": True},
        sentence="a resource is compared only if the pod asks for it: a node that is overcommitted in another one takes the pod",
        needs=("overcommitted nodes|nominations",), upstream=f"{PLUGINS}/noderesources/fit.go",
    ),
    Fact(
        "outside-without-status", "1.28", SEARCH, needs=("named nodes",), upstream="schedule_one.go",
        sentence="nodes that a PreFilter plugin leaves out have no reason, and do not move the place where the next search begins",
        now={"framework.outside_text": None, "framework.counts_outside": False, "framework.tries_without_status": False},
    ),
    Fact(
        "index-of-all-nodes", "1.28", SEARCH, now={"framework.index_of_all_nodes": True}, upstream="schedule_one.go",
        sentence="the next search begins at a place among all nodes, not among those that PreFilter plugins name", needs=("named nodes",),
    ),
    Fact(
        "gce-disks-moved", "1.28", "NodeVolumeLimits", now={"volumes.always_migrated": also(intree.GCE_PD)}, others=LIMIT_RULES,
        sentence="in-tree GCE disks count for their CSI driver on every node with a CSINode", needs=("volumes",),
        upstream=f"{PLUGINS}/nodevolumelimits/utils.go",
    ),
    Fact(
        "equal-scores-skipped", "1.28", "InterPodAffinity", sentence="PreScore leaves out plugins that would score each node the same",
        now={
            "framework.skips_scoring": frozenset({"InterPodAffinity", "PodTopologySpread"}),
            "framework.points_lacked": frozenset({("VolumeBinding", "preScore"), ("DynamicResources", "score")}),
        },
        others=("PodTopologySpread",), decides=False, upstream="framework/interface.go",
    ),
    Fact(
        "idle-restrictions-skip", "1.28", "VolumeRestrictions", now={"framework.idle_restrictions_skip": True},
        sentence="nominated pods with the same ReadWriteOncePod claim no longer count where no pod on a node uses it",
        needs=("volumes", "priorities"), upstream=f"{PLUGINS}/volumerestrictions/volume_restrictions.go",
    ),
    Fact(
        "late-fit-errors", "1.28", SEARCH, sentence="a rejection after the decision reads like that of a cluster of one node",
        now={"framework.fit_errors_after": frozenset({"Reserve", "Permit"})}, decides=False, upstream="schedule_one.go",
    ),
    Fact(
        "operators-listed", "1.28", CONFIGURATION, sentence="the fault of an unknown operator lists the known ones", decides=False,
        now={"framework.faults_list_operators": True}, upstream=_VALIDATION,
    ),
    Fact(
        "no-v1beta2", "1.28", CONFIGURATION, sentence="v1beta2 of the configuration is gone", decides=False,
        now={"configuration.api_versions": ("v1beta3", "v1")}, elsewhere=("configuration.fields_lacked", "configuration.versions"),
        upstream="apis/config/scheme/scheme.go",
    ),
    # --- 1.29 -----------------------------------------------------------------------------------------------------------
    Fact(
        "images-on-all-nodes", "1.29", "ImageLocality", now={"framework.counts_images_late": True}, needs=("images",),
        sentence="the image is counted on all nodes that have it, not on those that were known when a node was last updated",
        upstream="internal/cache/cache.go",
    ),
    Fact(
        "newer-zone-label-of-volumes", "1.29", "VolumeZone", needs=("volumes",), upstream=f"{PLUGINS}/volumezone/volume_zone.go",
        sentence="a volume with the beta zone label fits a node that has the newer label alone", now={"framework.zone_labels_match": True},
    ),
    Fact(
        "sidecars-by-default", "1.29", "NodeResourcesFit", sentence="gate SidecarContainers is on: pods with sidecars are taken",
        elsewhere=("gates.SidecarContainers",), others=("NodeResourcesBalancedAllocation",), needs=("sidecars",),
        upstream="features/kube_features.go",
    ),
    Fact(
        "one-full-stop", "1.29", PREEMPTION, sentence="the message of PostFilter gets no second full stop", decides=False,
        now={"framework.post_filter_full_stop": False}, upstream="framework/types.go",
    ),
    Fact(
        "wait-fit-errors", "1.29", SEARCH, sentence="a rejection while a pod waits on Permit reads like that of a cluster of one node",
        now={"framework.fit_errors_after": frozenset({"Reserve", "Permit", "Wait"})}, decides=False, upstream="schedule_one.go",
    ),
    Fact(
        "no-v1beta3", "1.29", CONFIGURATION, sentence="v1beta3 of the configuration and plugin SelectorSpread are gone", decides=False,
        now={
            "configuration.api_versions": ("v1",), "configuration.refused_plugins": frozenset(),
            "configuration.gone_plugins": also("SelectorSpread"),
        },
        elsewhere=("configuration.versions",), upstream="apis/config/scheme/scheme.go",
    ),
    # --- 1.30 -----------------------------------------------------------------------------------------------------------
    Fact(
        "init-images-count", "1.30", "ImageLocality", sentence="images of init containers count", needs=("images", "init containers"),
        now={"framework.init_images_count": True}, upstream=f"{PLUGINS}/imagelocality/image_locality.go",
    ),
    Fact(
        "pre-filter-goes-on", "1.30", SEARCH, now={"framework.rejection_ends_pre_filter": False}, others=(EVERYTHING,), needs=("volumes",),
        sentence="PreFilter goes on after a plugin that rejects the pod, unless removing pods cannot help",
        upstream="framework/runtime/framework.go",
    ),
    Fact(
        "disjoint-names-are-final", "1.30", SEARCH, sentence="where PreFilter plugins together leave no node, removing pods cannot help",
        now={"framework.disjoint_is_unresolvable": True}, needs=("named nodes",), upstream="framework/runtime/framework.go",
    ),
    Fact(
        "one-node-is-enough", "1.30", SEARCH, sentence="without score plugins a search ends at the first node that fits",
        now={"framework.one_is_enough": True}, needs=("no scores",), upstream="schedule_one.go",
    ),
    Fact(
        "victims-by-importance", "1.30", PREEMPTION, now={"framework.sorts_victims_again": True}, needs=("priorities", "budgets"),
        sentence="victims are sorted by importance, those that violate a disruption budget among the others",
        upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "every-node-for-local-volumes", "1.30", "VolumeBinding", now={"framework.narrows_to_local_volumes": False}, others=(SEARCH,),
        sentence="VolumeBinding no longer names the nodes of local volumes: it looks at every node", needs=("volumes",),
        upstream=f"{PLUGINS}/volumebinding/volume_binding.go",
    ),
    Fact(
        "missing-claim-is-no-error", "1.30", "NodeVolumeLimits", now={"volumes.missing_claim_is_reason": True}, others=LIMIT_RULES,
        sentence="a missing claim turns nodes down where volumes are counted; it was an error", needs=("volumes",),
        upstream=f"{PLUGINS}/nodevolumelimits/csi.go",
    ),
    Fact(
        "sidecars-refused-early", "1.30", "NodeResourcesFit", now={"framework.rejects_sidecars": "PreFilter"}, needs=("sidecars",),
        sentence="pods with sidecars are refused in PreFilter while gate SidecarContainers is off", decides=False,
        upstream=f"{PLUGINS}/noderesources/fit.go",
    ),
    Fact(
        "more-scores-skipped", "1.30", "NodeAffinity", others=("VolumeBinding",), upstream=f"{PLUGINS}/nodeaffinity/node_affinity.go",
        sentence="NodeAffinity and VolumeBinding are left out where they would score each node the same", decides=False,
        now={
            "framework.skips_scoring": also("NodeAffinity", "VolumeBinding"),
            "framework.points_lacked": also(but=[("VolumeBinding", "preScore")]),
        },
    ),
    Fact(
        "constraint-errors-named", "1.30", "PodTopologySpread", now={"framework.constraints_text": "get constraints from pod: "},
        sentence="an invalid selector of a constraint is reported with the words `get constraints from pod`", decides=False,
        upstream=f"{PLUGINS}/podtopologyspread/filtering.go",
    ),
    Fact(
        "gates-plugin-always", "1.30", CONFIGURATION, elsewhere=("configuration.default_plugins", "configuration.gated_plugins"),
        sentence="SchedulingGates is a default plugin, and unlike queueSort plugins are refused in other words", decides=False,
        now={
            "configuration.queue_sort_text": "queueSort must be the same for all profiles",
            "configuration.queue_sort_args_text": "queueSort must be the same for all profiles",
        },
        upstream=_VALIDATION,
    ),
    # --- 1.31 -----------------------------------------------------------------------------------------------------------
    Fact(
        "cloud-disk-limits-moved", "1.31", "NodeVolumeLimits", now={"configuration.refused_plugins": CLOUD_DISKS}, others=LIMIT_RULES,
        sentence="EBSLimits, GCEPDLimits and AzureDiskLimits are gone; limits of CSI drivers count alone", needs=("volumes",),
        elsewhere=("configuration.default_plugins",), upstream="apis/config/v1/default_plugins.go",
    ),
    Fact(
        "rbd-stays-in-tree", "1.31", "NodeVolumeLimits", sentence="volumes of RBD no longer count for a CSI driver", others=LIMIT_RULES,
        now={"volumes.migratable": also(but=(intree.RBD,))}, elsewhere=("gates.CSIMigrationRBD",), needs=("volumes", "gates set"),
        upstream=f"{PLUGINS}/nodevolumelimits/utils.go",
    ),
    Fact(
        "portworx-moves", "1.31", "NodeVolumeLimits", sentence="in-tree Portworx volumes count for their CSI driver where nodes say so",
        elsewhere=("gates.CSIMigrationPortworx",), others=("VolumeBinding", *LIMIT_RULES), needs=("volumes",),
        upstream="features/kube_features.go",
    ),
    Fact(
        "attributes-classes-match", "1.31", "VolumeBinding", now={"volumes.attributes_class_gate": "VolumeAttributesClass"},
        sentence="with gate VolumeAttributesClass a claim takes only a volume of its class of attributes", needs=("volumes",),
        upstream=f"{PLUGINS}/volumebinding/binder.go",
    ),
    Fact(
        "narrowing-rejects", "1.31", SEARCH, sentence="a plugin that leaves out nodes in PreFilter is among those that reject the pod",
        now={"framework.narrowing_rejects": True}, decides=False, upstream="schedule_one.go",
    ),
    Fact(
        "disjoint-names-sorted", "1.31", SEARCH, sentence="plugins that together leave no node are named in ascending order",
        now={"framework.disjoint_sorts_plugins": True}, decides=False, upstream="framework/runtime/framework.go",
    ),
    Fact(
        "waits-for-preempted", "1.31", PREEMPTION, now={"framework.waits_for_preempted_alone": True}, needs=("priorities", "terminating"),
        sentence="a pod waits for one that leaves its nominated node only if that was preempted, whatever the gates say",
        elsewhere=("gates.PodDisruptionConditions",), upstream=f"{PLUGINS}/defaultpreemption/default_preemption.go",
    ),
    Fact(
        "waiting-pods-shared", "1.31", CONFIGURATION, sentence="plugins see the waiting pods of all profiles", decides=False,
        now={"configuration.shares_waiting_pods": True}, upstream="profile/profile.go",
    ),
    # --- 1.32 -----------------------------------------------------------------------------------------------------------
    Fact(
        "sidecars-on-nodes-scored", "1.32", "NodeResourcesFit", others=("NodeResourcesBalancedAllocation",), needs=("sidecars",),
        sentence="sidecars of pods on a node count in scores beside the containers; they counted as init containers do",
        now={"footprint_nonzero": requests.nonzero_of_pod}, upstream="framework/types.go",
    ),
    Fact(
        "pod-level-resources", "1.32", "NodeResourcesFit", others=("NodeResourcesBalancedAllocation",), needs=("pod resources",),
        sentence="with gate PodLevelResources cpu and memory of the pod as a whole count", upstream="framework/types.go",
        now={
            "incoming": requests.of_pod, "footprint": requests.of_pod, "incoming_nonzero": requests.of_pod_with_defaults,
            "footprint_nonzero": requests.nonzero_of_pod,
        },
    ),
    Fact(
        "resize-by-status", "1.32", "NodeResourcesFit", now={"resized": resized.by_reported}, others=("NodeResourcesBalancedAllocation",),
        sentence="while a pod is resized its status says what it holds, not allocatedResources", needs=("resized pods",),
        upstream="framework/types.go",
    ),
    Fact(
        "limits-by-csinode", "1.32", "NodeVolumeLimits", sentence="limits of CSI drivers come from the CSINode alone", needs=("volumes",),
        now={"volumes.node_limits": False}, upstream=f"{PLUGINS}/nodevolumelimits/csi.go",
    ),
    Fact(
        "attachments-count", "1.32", "NodeVolumeLimits", sentence="VolumeAttachments of a node count towards the limits of CSI drivers",
        now={"volumes.counts_attachments": True}, needs=("attachments",), upstream=f"{PLUGINS}/nodevolumelimits/csi.go",
    ),
    Fact(
        "outside-named", "1.32", SEARCH, sentence="the reason of a node that PreFilter leaves out names the plugins", decides=False,
        now={"framework.outside_text": "node(s) didn't satisfy plugin(s) [{plugins}]"}, upstream="schedule_one.go",
    ),
    Fact(
        "extender-reasons-alone", "1.32", SEARCH, sentence="a node that an extender rejects has the extender's reason alone",
        now={"framework.extender_replaces_reasons": True}, decides=False, upstream="schedule_one.go",
    ),
    Fact(
        "cloud-disk-plugins-gone", "1.32", CONFIGURATION, decides=False, upstream=f"{PLUGINS}/registry.go",
        sentence="no profile may name the limits of in-tree disks; devices are allocated by the scheduler alone",
        now={"configuration.gone_plugins": also(*CLOUD_DISKS), "configuration.not_modelled": {}},
    ),
    # --- 1.33 -----------------------------------------------------------------------------------------------------------
    Fact(
        "huge-pages-of-pods", "1.33", "NodeResourcesFit", others=("NodeResourcesBalancedAllocation",), needs=("pod resources",),
        sentence="with gate PodLevelResources huge pages of the pod as a whole count, too", upstream="framework/types.go",
        now={
            "incoming": requests.of_pod_with_huge_pages, "footprint": requests.of_pod_with_huge_pages,
            "footprint_nonzero": requests.nonzero_of_pod_with_huge_pages,
        },
    ),
    Fact(
        "resize-by-both", "1.33", "NodeResourcesFit", now={"resized": resized.by_reported_and_allocated}, needs=("resized pods",),
        sentence="gate InPlacePodVerticalScaling is on: a pod holds the most of what spec and status say", upstream="framework/types.go",
        elsewhere=("gates.InPlacePodVerticalScaling",), others=("NodeResourcesBalancedAllocation",),
    ),
    Fact(
        "best-effort-not-balanced", "1.33", "NodeResourcesBalancedAllocation",
        sentence="a pod that asks for neither cpu nor memory is not scored for balance",
        now={"framework.skips_scoring": also("NodeResourcesBalancedAllocation")}, needs=("pods without cpu and memory",),
        upstream=f"{PLUGINS}/noderesources/balanced_allocation.go",
    ),
    Fact(
        "fit-scores-containers", "1.33", "NodeResourcesFit", sentence="the score for room counts the requests of containers alone",
        now={"framework.fit_scores_containers": True, "incoming_nonzero": requests.with_sidecars_and_defaults}, needs=("pod resources",),
        upstream=f"{PLUGINS}/noderesources/resource_allocation.go",
    ),
    Fact(
        "constraints-count-apart", "1.33", "PodTopologySpread", sentence="two constraints of one topology key each count their own pods",
        now={"framework.counts_apart": True}, needs=("constraints",), upstream=f"{PLUGINS}/podtopologyspread/filtering.go",
    ),
    Fact(
        "volume-affinity-text", "1.33", "VolumeBinding", sentence="a volume that cannot be reached gives another reason", decides=False,
        now={"framework.volume_node_text": "node(s) didn't match PersistentVolume's node affinity"},
        upstream=f"{PLUGINS}/volumebinding/binder.go",
    ),
    Fact(
        "storage-capacity-scored", "1.33", "VolumeBinding", needs=("volumes",), upstream=f"{PLUGINS}/volumebinding/scorer.go",
        sentence="the gate of scores for storage is StorageCapacityScoring, and nodes with most room come first",
        now={"configuration.capacity_gate": "StorageCapacityScoring", "configuration.capacity_shape": ((0, 10), (100, 0))},
    ),
    Fact(
        "device-alternatives", "1.33", "DynamicResources", needs=("devices",), upstream=_ALLOCATOR,
        sentence="requests for devices may list alternatives, and mode All needs one device at least",
        now={
            "devices.alternatives": True, "devices.all_wants_one": True, "devices.all_stops": False, "devices.room": "again",
            "devices.invalid_pool_errs": True,
        },
    ),
    Fact(
        "counter-slices-left-out", "1.33", "DynamicResources", elsewhere=("configuration.not_modelled",), needs=("devices",),
        sentence="slices with shared counters, and those in which each device names its nodes, are left out", upstream=_ALLOCATOR,
        now={"devices.leaves_counter_slices": True, "devices.leaves_per_device_selection": True, "devices.speaks_without_claims": False},
    ),
    # --- 1.34 -----------------------------------------------------------------------------------------------------------
    Fact(
        "too-small-is-final", "1.34", "NodeResourcesFit", now={"framework.too_small_is_unresolvable": True}, others=(PREEMPTION,),
        sentence="a node that is too small even when it is empty is not tried for preemption", needs=("priorities",),
        upstream=f"{PLUGINS}/noderesources/fit.go",
    ),
    Fact(
        "sidecar-ports", "1.34", "NodePorts", sentence="host ports of sidecars count", now={"framework.sidecars_have_ports": True},
        needs=("sidecars",), upstream=f"{PLUGINS}/nodeports/node_ports.go",
    ),
    Fact(
        "namespace-selectors-kept", "1.34", "InterPodAffinity", now={"framework.keeps_namespace_selectors": True}, needs=("pod affinity",),
        sentence="a namespaceSelector of the pod is kept, so that a namespace without labels may match it",
        upstream=f"{PLUGINS}/interpodaffinity/plugin.go",
    ),
    Fact(
        "leaving-victims-keep-nominations", "1.34", PREEMPTION, now={"framework.leaving_victims_keep_nominations": True},
        sentence="lower nominations of a node stay where all victims are being deleted already", needs=("priorities", "terminating"),
        upstream="framework/preemption/preemption.go",
    ),
    Fact(
        "sole-user-text", "1.34", "VolumeRestrictions", sentence="a ReadWriteOncePod claim in use gives another reason", decides=False,
        now={
            "framework.sole_user_text": "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already"
            " in-use by another pod",
        },
        upstream=f"{PLUGINS}/volumerestrictions/volume_restrictions.go",
    ),
    Fact(
        "faults-as-json", "1.34", CONFIGURATION, sentence="DynamicResources has arguments, and faults of lists are shown as JSON",
        now={
            "framework.faults_as_json": True, "configuration.args_lacked": frozenset(),
            "configuration.queue_sort_text": "must be the same for all profiles",
            "configuration.shape_text": "values must be sorted in increasing order",
        },
        elsewhere=("configuration.not_modelled",), decides=False, upstream=_VALIDATION,
    ),
    Fact(
        "pod-level-by-default", "1.34", "NodeResourcesFit", sentence="gate PodLevelResources is on: resources of the pod as a whole count",
        elsewhere=("gates.PodLevelResources",), others=("NodeResourcesBalancedAllocation",), needs=("pod resources",),
        upstream="features/kube_features.go",
    ),
    Fact(
        "devices-by-default", "1.34", "DynamicResources", needs=("devices",), upstream="features/kube_features.go",
        sentence="gate DynamicResourceAllocation is on: claims for devices are looked at",
        elsewhere=("gates.DynamicResourceAllocation", "gates.DRAPrioritizedList", "gates.DRAAdminAccess"),
    ),
    Fact(
        "attributes-classes-by-default", "1.34", "VolumeBinding", elsewhere=("gates.VolumeAttributesClass",), needs=("volumes",),
        sentence="gate VolumeAttributesClass is on: a claim takes only a volume of its class of attributes",
        upstream="features/kube_features.go",
    ),
    Fact(
        "distinct-attributes", "1.34", "DynamicResources", needs=("devices",), upstream=_ALLOCATOR,
        sentence="constraints may ask for a distinctAttribute, and mode All gives devices back when the search backs up",
        now={"devices.distinct_attribute": True, "devices.admin_takes_once": True, "devices.all_gives_back": True, "devices.room": "left"},
    ),
    Fact(
        "counted-devices-left-out", "1.34", "DynamicResources", needs=("devices",), upstream=_ALLOCATOR,
        sentence="devices that consume counters or have binding conditions are left out",
        now={
            "devices.leaves_counter_slices": False, "devices.leaves_counted_devices": True, "devices.leaves_binding_conditions": True,
            "devices.speaks_without_claims": True, "devices.conditions_last": "slices and pools", "devices.refuses_capacity": True,
        },
    ),
    # --- 1.35 -----------------------------------------------------------------------------------------------------------
    Fact(
        "ties-by-heap", "1.35", TIES, sentence="of several best nodes the one on top of the heap of scored nodes is taken; none is drawn",
        now={"pick_host": TopOfHeap()}, needs=("two nodes",), upstream="schedule_one.go",
    ),
    Fact(
        "taints-unnamed", "1.35", "TaintToleration", sentence="the reason of a node with a taint does not say which", decides=False,
        now={"framework.taint_text": "node(s) had untolerated taint(s)"}, upstream=f"{PLUGINS}/tainttoleration/taint_toleration.go",
    ),
    Fact(
        "features-declared", "1.35", "NodeDeclaredFeatures", needs=("declared features",), upstream=_FEATURES,
        sentence="with gate NodeDeclaredFeatures a node must declare the features that the pod needs",
        now={
            "framework.lacking_features_text": "node declared features check failed - unsatisfied requirements: {features}",
            "configuration.gated_plugins.NodeDeclaredFeatures": ("NodeDeclaredFeatures", ""),
            "configuration.gone_plugins": also(but=("NodeDeclaredFeatures",)),
        },
    ),
    Fact(
        "devices-score", "1.35", "DynamicResources", needs=("devices",), upstream=f"{PLUGINS}/dynamicresources/dynamicresources.go",
        sentence="nodes are preferred on which the first alternatives of requests for devices are free",
        now={"framework.points_lacked": frozenset()},
    ),
    Fact(
        "tolerations-compare", "1.35", "TaintToleration", others=("PodTopologySpread",), needs=("comparing tolerations",),
        sentence="with gate TaintTolerationComparisonOperators operators Gt and Lt of tolerations compare numbers",
        elsewhere=("gates.TaintTolerationComparisonOperators",), upstream="k8s.io/api/core/v1/toleration.go",
    ),
    Fact(
        "resize-of-whole-pods", "1.35", "NodeResourcesFit", now={"resized": resized.by_both_and_of_pod},
        others=("NodeResourcesBalancedAllocation",), needs=("resized pods", "pod resources"),
        sentence="with gate InPlacePodLevelResourcesVerticalScaling the most of what spec and status say of the pod as a whole counts",
        upstream="k8s.io/component-helpers/resource/helpers.go",
    ),
    Fact(
        "no-post-filter-no-nomination", "1.35", PREEMPTION, needs=("nominations", "profile"), upstream="schedule_one.go",
        sentence="a pod that fits nowhere loses its nomination if the profile has no PostFilter plugin",
        now={"framework.failure_needs_post_filter": True},
    ),
    Fact(
        "missing-drivers", "1.35", "NodeVolumeLimits", elsewhere=("gates.VolumeLimitScaling",), needs=("volumes",),
        sentence="with gate VolumeLimitScaling a node must have the CSI drivers of the pod's volumes",
        upstream=f"{PLUGINS}/nodevolumelimits/csi.go",
    ),
    Fact(
        "gates-need-gates", "1.35", CONFIGURATION, sentence="a gate that is on while one is off that it needs is refused", decides=False,
        elsewhere=("configuration.gate_needs",), upstream="k8s.io/component-base/featuregate/feature_gate.go",
    ),
    Fact(
        "batches", "1.35", SEARCH, needs=("profile",), upstream="framework/runtime/batch.go", elsewhere=("gates.OpportunisticBatching",),
        sentence="where nothing spreads pods, a pod like the one before it first tries the node that came next",
        now={"framework.extended_devices_unsign": True},
    ),
    *DEVICES_1_35,
    # --- 1.36 -----------------------------------------------------------------------------------------------------------
    Fact(
        "balance-by-change", "1.36", "NodeResourcesBalancedAllocation", now={"framework.scores_change_of_balance": True},
        sentence="nodes are preferred whose balance the pod makes better; before, those that are balanced with it", needs=("two nodes",),
        upstream=f"{PLUGINS}/noderesources/balanced_allocation.go",
    ),
    Fact(
        "migration-always-on", "1.36", "NodeVolumeLimits", now={"volumes.always_migrated": also(intree.PORTWORX)}, needs=("volumes",),
        sentence="in-tree volumes of every kind that moved to CSI count for their drivers on each node with a CSINode",
        upstream=f"{PLUGINS}/nodevolumelimits/utils.go",
    ),
    Fact(
        "missing-drivers-opt-in", "1.36", "NodeVolumeLimits", now={"volumes.missing_drivers_opt_in": True}, needs=("volumes",),
        sentence="with gate VolumeLimitScaling a node must have a CSI driver only if the driver has preventPodSchedulingIfMissing",
        upstream=f"{PLUGINS}/nodevolumelimits/csi.go",
    ),
    Fact(
        "shapes-of-ratios-alone", "1.36", CONFIGURATION, now={"configuration.shape_field": "requestedToCapacityRatio.shape"},
        sentence="NodeResourcesFit has a shape with type RequestedToCapacityRatio, and with no other", decides=False, upstream=_VALIDATION,
    ),
    Fact(
        "extended-resources-batch", "1.36", SEARCH, needs=("profile", "devices"), upstream=f"{PLUGINS}/noderesources/fit.go",
        sentence="with gate DRAExtendedResource pods that ask for nothing that devices provide take part in batches",
        now={"framework.extended_devices_unsign": False},
    ),
    Fact(
        "image-volumes-count", "1.36", "ImageLocality", sentence="images of volumes count", needs=("image volumes", "image lists"),
        now={"framework.volume_images_count": True}, upstream=f"{PLUGINS}/imagelocality/image_locality.go",
    ),
    Fact(
        "resize-of-whole-pods-by-default", "1.36", "NodeResourcesFit", others=("NodeResourcesBalancedAllocation",),
        sentence="gate InPlacePodLevelResourcesVerticalScaling is on: the most of what spec and status say of the pod as a whole counts",
        elsewhere=("gates.InPlacePodLevelResourcesVerticalScaling",), needs=("resized pods", "pod resources"),
        upstream="features/kube_features.go",
    ),
    Fact(
        "features-by-default", "1.36", "NodeDeclaredFeatures", needs=("declared features",), upstream="features/kube_features.go",
        sentence="gate NodeDeclaredFeatures is on: a node must declare the features that the pod needs",
        elsewhere=("gates.NodeDeclaredFeatures",),
    ),
    Fact(
        "features-of-host-users", "1.36", "NodeDeclaredFeatures", now={"framework.host_users_are_a_feature": True}, upstream=_FEATURES,
        sentence="a pod on the host's network with users of its own needs a node that declares it", needs=("declared features",),
    ),
    Fact(
        "features-unnamed", "1.36", "NodeDeclaredFeatures", sentence="the reason of a node without them does not say which",
        now={"framework.lacking_features_text": "node(s) didn't match Pod's required features"}, decides=False, upstream=_FEATURES,
    ),
    *DEVICES_1_36,
)
"""In the order of releases."""
