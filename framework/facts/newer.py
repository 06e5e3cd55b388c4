"""The facts of 1.28 to 1.34."""

from __future__ import annotations

from .fact import CONFIGURATION, EVERYTHING, PREEMPTION, SEARCH, Fact

_AMOUNTS = ("incoming", "footprint", "incoming_nonzero", "footprint_nonzero")
_FIT, _BALANCED, _BINDING = "NodeResourcesFit", "NodeResourcesBalancedAllocation", "VolumeBinding"
_DEVICES, _SPREAD, _LIMITS, _IMAGES = "DynamicResources", "PodTopologySpread", "NodeVolumeLimits", "ImageLocality"
_RESOURCES = "framework/plugins/noderesources"
_ALLOCATOR = "k8s.io/dynamic-resource-allocation/structured/allocator.go"
_VALIDATION = "apis/config/validation/validation.go"
_LIMIT_RULES = ("NodeVolumeLimits", "EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")

NEWER_FACTS = (
    # --- 1.28 -------------------------------------------------------------------------------------------------------
    Fact(
        id="sidecars-count", release="1.28", plugin=_FIT, others=(_BALANCED,), cells=_AMOUNTS, needs=("init containers",),
        sentence="init containers that are restarted always count for as long as the pod runs", upstream="framework/types.go",
    ),
    Fact(
        id="sidecars-are-refused", release="1.28", plugin=_FIT, cells=("framework.rejects_sidecars",), needs=("sidecars",),
        sentence="a pod with sidecars fits nowhere while gate SidecarContainers is off", upstream=f"{_RESOURCES}/fit.go",
    ),
    Fact(
        id="fit-reads-what-is-asked", release="1.28", plugin=_FIT, cells=("framework.fit_checks_requested",),
        sentence="a resource is compared only if the pod asks for it: a node that is overcommitted in another one takes the pod",
        upstream=f"{_RESOURCES}/fit.go", needs=("overcommitted nodes",),
    ),
    Fact(
        id="outside-without-status", release="1.28", plugin=SEARCH,
        cells=("framework.outside_text", "framework.counts_outside", "framework.tries_without_status"),
        sentence="nodes that a PreFilter plugin leaves out have no reason, and do not move the place where the next search begins",
        upstream="schedule_one.go", needs=("named nodes",),
    ),
    Fact(
        id="index-of-all-nodes", release="1.28", plugin=SEARCH, cells=("framework.index_of_all_nodes",), needs=("named nodes",),
        sentence="the next search begins at a place among all nodes, not among those that PreFilter plugins name",
        upstream="schedule_one.go",
    ),
    Fact(
        id="gce-disks-moved", release="1.28", plugin=_LIMITS, others=_LIMIT_RULES, cells=("volumes.always_migrated",),
        needs=("volumes",), sentence="in-tree GCE disks count for their CSI driver on every node with a CSINode",
        upstream="framework/plugins/nodevolumelimits/utils.go",
    ),
    Fact(
        id="equal-scores-skipped", release="1.28", plugin="InterPodAffinity", others=(_SPREAD,), decides=False,
        cells=("framework.skips_scoring", "framework.points_lacked"),
        sentence="PreScore leaves out plugins that would score each node the same", upstream="framework/interface.go",
    ),
    Fact(
        id="idle-restrictions-skip", release="1.28", plugin="VolumeRestrictions", cells=("framework.idle_restrictions_skip",),
        needs=("volumes", "priorities"), upstream="framework/plugins/volumerestrictions/volume_restrictions.go",
        sentence="nominated pods with the same ReadWriteOncePod claim no longer count where no pod on a node uses it",
    ),
    Fact(
        id="late-fit-errors", release="1.28", plugin=SEARCH, cells=("framework.fit_errors_after",), decides=False,
        sentence="a rejection after the decision reads like that of a cluster of one node", upstream="schedule_one.go",
    ),
    Fact(
        id="operators-listed", release="1.28", plugin=CONFIGURATION, cells=("framework.faults_list_operators",), decides=False,
        sentence="the fault of an unknown operator lists the known ones", upstream=_VALIDATION,
    ),
    Fact(
        id="no-v1beta2", release="1.28", plugin=CONFIGURATION, decides=False,
        cells=("configuration.api_versions", "configuration.fields_lacked", "configuration.versions"),
        sentence="v1beta2 of the configuration is gone", upstream="apis/config/scheme/scheme.go",
    ),
    # --- 1.29 -------------------------------------------------------------------------------------------------------
    Fact(
        id="images-on-all-nodes", release="1.29", plugin=_IMAGES, cells=("framework.counts_images_late",), needs=("images",),
        sentence="the image is counted on all nodes that have it, not on those that were known when a node was last updated",
        upstream="internal/cache/cache.go",
    ),
    Fact(
        id="newer-zone-label-of-volumes", release="1.29", plugin="VolumeZone", cells=("framework.zone_labels_match",),
        needs=("volumes",), upstream="framework/plugins/volumezone/volume_zone.go",
        sentence="a volume with the beta zone label fits a node that has the newer label alone",
    ),
    Fact(
        id="sidecars-by-default", release="1.29", plugin=_FIT, others=(_BALANCED,), cells=("gates.SidecarContainers",),
        needs=("sidecars",), sentence="gate SidecarContainers is on: pods with sidecars are taken", upstream="features/kube_features.go",
    ),
    Fact(
        id="one-full-stop", release="1.29", plugin=PREEMPTION, cells=("framework.post_filter_full_stop",), decides=False,
        sentence="the message of PostFilter gets no second full stop", upstream="framework/types.go",
    ),
    Fact(
        id="wait-fit-errors", release="1.29", plugin=SEARCH, cells=("framework.fit_errors_after",), decides=False,
        sentence="a rejection while a pod waits on Permit reads like that of a cluster of one node", upstream="schedule_one.go",
    ),
    Fact(
        id="no-v1beta3", release="1.29", plugin=CONFIGURATION, decides=False,
        cells=(
            "configuration.api_versions", "configuration.refused_plugins", "configuration.gone_plugins", "configuration.versions",
        ),
        sentence="v1beta3 of the configuration and plugin SelectorSpread are gone", upstream="apis/config/scheme/scheme.go",
    ),
    # --- 1.30 -------------------------------------------------------------------------------------------------------
    Fact(
        id="init-images-count", release="1.30", plugin=_IMAGES, cells=("framework.init_images_count",),
        needs=("images", "init containers"), sentence="images of init containers count",
        upstream="framework/plugins/imagelocality/image_locality.go",
    ),
    Fact(
        id="pre-filter-goes-on", release="1.30", plugin=SEARCH, cells=("framework.rejection_ends_pre_filter",),
        others=(EVERYTHING,), needs=("volumes",), upstream="framework/runtime/framework.go",
        sentence="PreFilter goes on after a plugin that rejects the pod, unless removing pods cannot help",
    ),
    Fact(
        id="disjoint-names-are-final", release="1.30", plugin=SEARCH, cells=("framework.disjoint_is_unresolvable",),
        needs=("named nodes",), upstream="framework/runtime/framework.go",
        sentence="where PreFilter plugins together leave no node, removing pods cannot help",
    ),
    Fact(
        id="one-node-is-enough", release="1.30", plugin=SEARCH, cells=("framework.one_is_enough",), needs=("no scores",),
        sentence="without score plugins a search ends at the first node that fits", upstream="schedule_one.go",
    ),
    Fact(
        id="victims-by-importance", release="1.30", plugin=PREEMPTION, cells=("framework.sorts_victims_again",),
        needs=("priorities", "budgets"), upstream="framework/plugins/defaultpreemption/default_preemption.go",
        sentence="victims are sorted by importance, those that violate a disruption budget among the others",
    ),
    Fact(
        id="every-node-for-local-volumes", release="1.30", plugin=_BINDING, cells=("framework.narrows_to_local_volumes",),
        others=(SEARCH,), needs=("volumes",), sentence="VolumeBinding no longer names the nodes of local volumes: it looks at every node",
        upstream="framework/plugins/volumebinding/volume_binding.go",
    ),
    Fact(
        id="missing-claim-is-no-error", release="1.30", plugin=_LIMITS, others=_LIMIT_RULES, cells=("volumes.missing_claim_is_reason",),
        needs=("volumes",), sentence="a missing claim turns nodes down where volumes are counted; it was an error",
        upstream="framework/plugins/nodevolumelimits/csi.go",
    ),
    Fact(
        id="sidecars-refused-early", release="1.30", plugin=_FIT, cells=("framework.rejects_sidecars",), needs=("sidecars",),
        sentence="pods with sidecars are refused in PreFilter while gate SidecarContainers is off", upstream=f"{_RESOURCES}/fit.go",
        decides=False,
    ),
    Fact(
        id="more-scores-skipped", release="1.30", plugin="NodeAffinity", others=(_BINDING,), decides=False,
        cells=("framework.skips_scoring", "framework.points_lacked"),
        sentence="NodeAffinity and VolumeBinding are left out where they would score each node the same",
        upstream="framework/plugins/nodeaffinity/node_affinity.go",
    ),
    Fact(
        id="constraint-errors-named", release="1.30", plugin=_SPREAD, cells=("framework.constraints_text",), decides=False,
        sentence="an invalid selector of a constraint is reported with the words `get constraints from pod`",
        upstream="framework/plugins/podtopologyspread/filtering.go",
    ),
    Fact(
        id="gates-plugin-always", release="1.30", plugin=CONFIGURATION, decides=False,
        cells=(
            "configuration.default_plugins", "configuration.gated_plugins", "configuration.queue_sort_text",
            "configuration.queue_sort_args_text",
        ),
        sentence="SchedulingGates is a default plugin, and unlike queueSort plugins are refused in other words", upstream=_VALIDATION,
    ),
    # --- 1.31 -------------------------------------------------------------------------------------------------------
    Fact(
        id="cloud-disk-limits-moved", release="1.31", plugin=_LIMITS, others=_LIMIT_RULES, needs=("volumes",),
        cells=("configuration.default_plugins", "configuration.refused_plugins"),
        sentence="EBSLimits, GCEPDLimits and AzureDiskLimits are gone; limits of CSI drivers count alone",
        upstream="apis/config/v1/default_plugins.go",
    ),
    Fact(
        id="rbd-stays-in-tree", release="1.31", plugin=_LIMITS, others=_LIMIT_RULES, needs=("volumes", "gates set"),
        cells=("volumes.migratable", "gates.CSIMigrationRBD"),
        sentence="volumes of RBD no longer count for a CSI driver", upstream="framework/plugins/nodevolumelimits/utils.go",
    ),
    Fact(
        id="attributes-classes-match", release="1.31", plugin=_BINDING, needs=("volumes",), cells=("volumes.attributes_class_gate",),
        sentence="with gate VolumeAttributesClass a claim takes only a volume of its class of attributes",
        upstream="framework/plugins/volumebinding/binder.go",
    ),
    Fact(
        id="narrowing-rejects", release="1.31", plugin=SEARCH, cells=("framework.narrowing_rejects",), decides=False,
        sentence="a plugin that leaves out nodes in PreFilter is among those that reject the pod", upstream="schedule_one.go",
    ),
    Fact(
        id="disjoint-names-sorted", release="1.31", plugin=SEARCH, cells=("framework.disjoint_sorts_plugins",), decides=False,
        sentence="plugins that together leave no node are named in ascending order", upstream="framework/runtime/framework.go",
    ),
    Fact(
        id="waits-for-preempted", release="1.31", plugin=PREEMPTION, needs=("priorities", "terminating"),
        cells=("framework.waits_for_preempted_alone", "gates.PodDisruptionConditions"),
        upstream="framework/plugins/defaultpreemption/default_preemption.go",
        sentence="a pod waits for one that leaves its nominated node only if that was preempted, whatever the gates say",
    ),
    Fact(
        id="waiting-pods-shared", release="1.31", plugin=CONFIGURATION, cells=("configuration.shares_waiting_pods",), decides=False,
        sentence="plugins see the waiting pods of all profiles", upstream="profile/profile.go",
    ),
    # --- 1.32 -------------------------------------------------------------------------------------------------------
    Fact(
        id="pod-level-resources", release="1.32", plugin=_FIT, others=(_BALANCED,), cells=_AMOUNTS, needs=("pod resources",),
        sentence="with gate PodLevelResources cpu and memory of the pod as a whole count", upstream="framework/types.go",
    ),
    Fact(
        id="resize-by-status", release="1.32", plugin=_FIT, others=(_BALANCED,), cells=("resized",), needs=("resized pods",),
        sentence="while a pod is resized its status says what it holds, not allocatedResources", upstream="framework/types.go",
    ),
    Fact(
        id="limits-by-csinode", release="1.32", plugin=_LIMITS, cells=("volumes.node_limits",), needs=("volumes",),
        sentence="limits of CSI drivers come from the CSINode alone", upstream="framework/plugins/nodevolumelimits/csi.go",
    ),
    Fact(
        id="attachments-count", release="1.32", plugin=_LIMITS, cells=("volumes.counts_attachments",), needs=("attachments",),
        sentence="VolumeAttachments of a node count towards the limits of CSI drivers",
        upstream="framework/plugins/nodevolumelimits/csi.go",
    ),
    Fact(
        id="outside-named", release="1.32", plugin=SEARCH, cells=("framework.outside_text",), decides=False,
        sentence="the reason of a node that PreFilter leaves out names the plugins", upstream="schedule_one.go",
    ),
    Fact(
        id="extender-reasons-alone", release="1.32", plugin=SEARCH, cells=("framework.extender_replaces_reasons",), decides=False,
        sentence="a node that an extender rejects has the extender's reason alone", upstream="schedule_one.go",
    ),
    Fact(
        id="cloud-disk-plugins-gone", release="1.32", plugin=CONFIGURATION, decides=False,
        cells=("configuration.gone_plugins", "configuration.not_modelled"),
        sentence="no profile may name the limits of in-tree disks; devices are allocated by the scheduler alone",
        upstream="framework/plugins/registry.go",
    ),
    # --- 1.33 -------------------------------------------------------------------------------------------------------
    Fact(
        id="huge-pages-of-pods", release="1.33", plugin=_FIT, others=(_BALANCED,), needs=("pod resources",),
        cells=("incoming", "footprint", "footprint_nonzero"),
        sentence="with gate PodLevelResources huge pages of the pod as a whole count, too", upstream="framework/types.go",
    ),
    Fact(
        id="resize-by-both", release="1.33", plugin=_FIT, others=(_BALANCED,), cells=("resized", "gates.InPlacePodVerticalScaling"),
        needs=("resized pods",), sentence="gate InPlacePodVerticalScaling is on: a pod holds the most of what spec and status say",
        upstream="framework/types.go",
    ),
    Fact(
        id="best-effort-not-balanced", release="1.33", plugin=_BALANCED, cells=("framework.skips_scoring",),
        needs=("pods without requests",), upstream=f"{_RESOURCES}/balanced_allocation.go",
        sentence="a pod without requests is not scored for balance",
    ),
    Fact(
        id="fit-scores-containers", release="1.33", plugin=_FIT, cells=("framework.fit_scores_containers", "incoming_nonzero"),
        needs=("pod resources",), sentence="the score for room counts the requests of containers alone",
        upstream=f"{_RESOURCES}/resource_allocation.go",
    ),
    Fact(
        id="constraints-count-apart", release="1.33", plugin=_SPREAD, cells=("framework.counts_apart",), needs=("constraints",),
        sentence="two constraints of one topology key each count their own pods",
        upstream="framework/plugins/podtopologyspread/filtering.go",
    ),
    Fact(
        id="volume-affinity-text", release="1.33", plugin=_BINDING, cells=("framework.volume_node_text",), decides=False,
        sentence="a volume that cannot be reached gives another reason", upstream="framework/plugins/volumebinding/binder.go",
    ),
    Fact(
        id="storage-capacity-scored", release="1.33", plugin=_BINDING, needs=("volumes",),
        cells=("configuration.capacity_gate", "configuration.capacity_shape"),
        sentence="the gate of scores for storage is StorageCapacityScoring, and nodes with most room come first",
        upstream="framework/plugins/volumebinding/scorer.go",
    ),
    Fact(
        id="device-alternatives", release="1.33", plugin=_DEVICES, needs=("devices",), upstream=_ALLOCATOR,
        cells=("devices.alternatives", "devices.all_wants_one", "devices.all_stops", "devices.room", "devices.invalid_pool_errs"),
        sentence="requests for devices may list alternatives, and mode All needs one device at least",
    ),
    Fact(
        id="counter-slices-left-out", release="1.33", plugin=_DEVICES, needs=("devices",), upstream=_ALLOCATOR,
        cells=(
            "devices.leaves_counter_slices", "devices.leaves_per_device_selection", "devices.speaks_without_claims",
            "configuration.not_modelled",
        ),
        sentence="slices with shared counters, and those in which each device names its nodes, are left out",
    ),
    # --- 1.34 -------------------------------------------------------------------------------------------------------
    Fact(
        id="too-small-is-final", release="1.34", plugin=_FIT, others=(PREEMPTION,), cells=("framework.too_small_is_unresolvable",),
        needs=("priorities",), sentence="a node that is too small even when it is empty is not tried for preemption",
        upstream=f"{_RESOURCES}/fit.go",
    ),
    Fact(
        id="sidecar-ports", release="1.34", plugin="NodePorts", cells=("framework.sidecars_have_ports",), needs=("sidecars",),
        sentence="host ports of sidecars count", upstream="framework/plugins/nodeports/node_ports.go",
    ),
    Fact(
        id="namespace-selectors-kept", release="1.34", plugin="InterPodAffinity", cells=("framework.keeps_namespace_selectors",),
        needs=("pod affinity",), upstream="framework/plugins/interpodaffinity/plugin.go",
        sentence="a namespaceSelector of the pod is kept, so that a namespace without labels may match it",
    ),
    Fact(
        id="leaving-victims-keep-nominations", release="1.34", plugin=PREEMPTION, needs=("priorities", "terminating"),
        cells=("framework.leaving_victims_keep_nominations",), upstream="framework/preemption/preemption.go",
        sentence="lower nominations of a node stay where all victims are being deleted already",
    ),
    Fact(
        id="sole-user-text", release="1.34", plugin="VolumeRestrictions", cells=("framework.sole_user_text",), decides=False,
        sentence="a ReadWriteOncePod claim in use gives another reason",
        upstream="framework/plugins/volumerestrictions/volume_restrictions.go",
    ),
    Fact(
        id="faults-as-json", release="1.34", plugin=CONFIGURATION, decides=False, upstream=_VALIDATION,
        cells=(
            "framework.faults_as_json", "configuration.args_lacked", "configuration.queue_sort_text", "configuration.shape_text",
            "configuration.not_modelled",
        ),
        sentence="DynamicResources has arguments, and faults of lists are shown as JSON",
    ),
    Fact(
        id="pod-level-by-default", release="1.34", plugin=_FIT, others=(_BALANCED,), cells=("gates.PodLevelResources",),
        needs=("pod resources",), sentence="gate PodLevelResources is on: resources of the pod as a whole count",
        upstream="features/kube_features.go",
    ),
    Fact(
        id="devices-by-default", release="1.34", plugin=_DEVICES, needs=("devices",), upstream="features/kube_features.go",
        cells=("gates.DynamicResourceAllocation", "gates.DRAPrioritizedList", "gates.DRAAdminAccess"),
        sentence="gate DynamicResourceAllocation is on: claims for devices are looked at",
    ),
    Fact(
        id="attributes-classes-by-default", release="1.34", plugin=_BINDING, needs=("volumes",), cells=("gates.VolumeAttributesClass",),
        sentence="gate VolumeAttributesClass is on: a claim takes only a volume of its class of attributes",
        upstream="features/kube_features.go",
    ),
    Fact(
        id="distinct-attributes", release="1.34", plugin=_DEVICES, needs=("devices",), upstream=_ALLOCATOR,
        cells=("devices.distinct_attribute", "devices.admin_takes_once", "devices.all_gives_back", "devices.room"),
        sentence="constraints may ask for a distinctAttribute, and mode All gives devices back when the search backs up",
    ),
    Fact(
        id="counted-devices-left-out", release="1.34", plugin=_DEVICES, needs=("devices",), upstream=_ALLOCATOR,
        cells=(
            "devices.leaves_counter_slices", "devices.leaves_counted_devices", "devices.leaves_binding_conditions",
            "devices.speaks_without_claims",
        ),
        sentence="devices that consume counters or have binding conditions are left out",
    ),
)
"""In the order of releases."""
