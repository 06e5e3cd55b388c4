"""In what two releases of the framework differ in their events and their queue. See :mod:`kubeclassic.core.release.framework`."""

from __future__ import annotations

import attrs

from .framework import cell


@attrs.frozen(kw_only=True, repr=False)
class QueueingCells:
    """Which events a release of the framework has, which plugins wait for them, and what its queue does with them."""

    # --- events -----------------------------------------------------------------------------------------------------
    each_node_change: bool = cell(
        "an update of a node is an event for each kind of change, annotations and equal amounts told apart (no: for the first one)", False
    )
    node_delete: bool = cell("a node that goes is an event", False)
    pod_changes: tuple[str, ...] = cell("the changes of a pod that are events of their own", ())
    nomination_ends: bool = cell("a pod that goes or changes its nominated node is an event for pods of no higher priority", False)
    drops_unwanted: bool = cell("an event that no plugin waits for does not count as a move", False)
    full_labels: bool = cell("labels of events name the kind and the change in full", False)
    # --- what plugins wait for --------------------------------------------------------------------------------------
    default_kinds: tuple[str, ...] = cell(
        "the kinds whose events wake the pods of extenders, and of plugins that do not say what they wait for",
        ("Pod", "Node", "CSINode", "PersistentVolume", "PersistentVolumeClaim", "StorageClass"),
    )
    only_rejecting_plugins: bool = cell("a plugin at points that reject no pod waits for nothing", False)
    taints_wake: bool = cell("changed taints wake the pods of every plugin that waits for new nodes", False)
    narrow_events: bool = cell("plugins wait for those changes of nodes and CSIDrivers alone that they read", False)
    narrow_claim_events: bool = cell("VolumeZone waits for changed claims, VolumeRestrictions for new ones alone", False)
    limits_wait_for: tuple[str, ...] = cell("what NodeVolumeLimits waits for besides pods that go and new CSINodes", ())
    amounts_wake_claims: bool = cell("DynamicResources waits for changed amounts of nodes, too", False)
    without_hints: tuple[str, ...] = cell("upstream's plugins that cannot say yet whether an event may help a pod", ())
    comparing_hints: tuple[str, ...] = cell("the plugins whose hints compare a node with what it was", ())
    # --- which pods are moved ---------------------------------------------------------------------------------------
    skips_gated: bool = cell("events pass over pods that wait for scheduling gates", False)
    holder_decides: bool = cell("events pass over pods that a plugin holds back, unless that plugin waits for the event", False)
    spread_is_woken: bool = cell("a pod on a node wakes those of its namespace that PodTopologySpread rejected, too", False)
    hints_for_pods: bool = cell("with SchedulerQueueingHints, hints decide about the events of pods, those of waiting pods too", False)
    hints_replace_checks: bool = cell("with SchedulerQueueingHints, nodes and new StorageClasses are not checked before hints", False)
    # --- the queue --------------------------------------------------------------------------------------------------
    names_refusing_plugin: bool = cell("the queue notes which plugin rejected a pod that had a node in Reserve or Permit", False)
    errors_back_off: bool = cell("a pod that failed by an error backs off (no: it is parked until an event)", False)
    gated_back_off: bool = cell("a pod that a plugin held back may have to back off, too", False)
    counts_rejections: bool = cell("the backoff grows with rejections, or with errors in a row (no: with all attempts)", False)
    backs_off_to_the_end: bool = cell(
        "a pod still backs off at the moment when its backoff ends; pods that failed by an error back off apart", False
    )
    keeps_nominations: bool = cell("a pod that is activated keeps its nomination (no: it gets that of its status)", False)
    activates_tried_pods: bool = cell("a pod that is activated while it is tried is tried again", False)
