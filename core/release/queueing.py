"""In what the queues of two releases of the framework differ. See :mod:`kubeclassic.core.release.framework`."""

from __future__ import annotations

from typing import Annotated

from ...api.record import says
from .framework import CellGroup


class QueueingCells(CellGroup, frozen=True, kw_only=True):
    """Which events a release of the framework has, which plugins wait for them, and what its queue does with them."""

    # --- events -----------------------------------------------------------------------------------------------------
    each_node_change: Annotated[
        bool,
        says("an update of a node is an event for each kind of change, annotations and equal amounts told apart (no: for the first one)"),
    ] = False
    node_delete: Annotated[bool, says("a node that goes is an event")] = False
    pod_changes: Annotated[tuple[str, ...], says("the changes of a pod that are events of their own")] = ()
    any_event_moves: Annotated[bool, says("any event moves every parked pod (no: those that a plugin rejected which waits for it)")] = False
    fixed_events: Annotated[
        bool,
        says("events of volumes, claims, CSINodes, services and new StorageClasses reach the queue (no: those that a plugin waits for)"),
    ] = False
    checks_nodes: Annotated[bool, says("an event of a node moves only pods that the node may take")] = True
    checks_no_execute: Annotated[bool, says("such a node's NoExecute taints are looked at, too")] = False
    idle_updates_count: Annotated[bool, says("any update of a node counts as a move while no pod is parked")] = False
    given_up_moves: Annotated[bool, says("a pod that loses the place that it was reserved is an event")] = True
    nomination_ends: Annotated[bool, says("a pod that goes or changes its nominated node is an event for pods of no higher priority")] = (
        False
    )
    drops_unwanted: Annotated[bool, says("an event that no plugin waits for does not count as a move")] = False
    full_labels: Annotated[bool, says("labels of events name the kind and the change in full")] = False
    # --- what plugins wait for --------------------------------------------------------------------------------------
    default_kinds: Annotated[
        tuple[str, ...], says("the kinds whose events wake the pods of extenders, and of plugins that do not say what they wait for")
    ] = ("Pod", "Node", "CSINode", "PersistentVolume", "PersistentVolumeClaim", "StorageClass")
    registering: Annotated[tuple[str, ...], says("the only plugins that say what they wait for (none: each can)")] = ()
    own_changes_of_nodes: Annotated[bool, says("plugins wait for those changes of nodes alone that they read")] = False
    binding_waits_for_nodes: Annotated[bool, says("VolumeBinding waits for any change of a node (no: of its labels)")] = False
    only_rejecting_plugins: Annotated[bool, says("a plugin at points that reject no pod waits for nothing")] = False
    taints_wake: Annotated[bool, says("changed taints wake the pods of every plugin that waits for new nodes")] = False
    narrow_events: Annotated[bool, says("plugins wait for those changes of nodes and CSIDrivers alone that they read")] = False
    narrow_claim_events: Annotated[bool, says("VolumeZone waits for changed claims, VolumeRestrictions for new ones alone")] = False
    limits_wait_for: Annotated[tuple[str, ...], says("what NodeVolumeLimits waits for besides pods that go and new CSINodes")] = ()
    amounts_wake_claims: Annotated[bool, says("DynamicResources waits for changed amounts of nodes, too")] = False
    without_hints: Annotated[tuple[str, ...], says("upstream's plugins that cannot say yet whether an event may help a pod")] = ()
    comparing_hints: Annotated[tuple[str, ...], says("the plugins whose hints compare a node with what it was")] = ()
    # --- which pods are moved ---------------------------------------------------------------------------------------
    skips_gated: Annotated[bool, says("events do not wake pods that wait for scheduling gates")] = False
    holder_decides: Annotated[bool, says("events do not wake pods that a plugin has gated, unless that plugin waits for the event")] = False
    spread_is_woken: Annotated[bool, says("a pod on a node wakes those of its namespace that PodTopologySpread rejected, too")] = False
    hints_for_pods: Annotated[
        bool, says("with SchedulerQueueingHints, hints decide about the events of pods, those of waiting pods too")
    ] = False
    hints_replace_checks: Annotated[
        bool, says("with SchedulerQueueingHints, nodes and new StorageClasses are not checked before hints")
    ] = False
    # --- the queue --------------------------------------------------------------------------------------------------
    names_refusing_plugin: Annotated[bool, says("the queue notes which plugin rejected a pod that had a node in Reserve or Permit")] = False
    errors_back_off: Annotated[bool, says("a pod that failed by an error backs off (no: it is parked until an event)")] = False
    gated_back_off: Annotated[bool, says("a pod that a plugin had gated may have to back off, too")] = False
    counts_rejections: Annotated[bool, says("the backoff grows with rejections, or with errors in a row (no: with all attempts)")] = False
    backs_off_to_the_end: Annotated[
        bool, says("a pod still backs off at the moment when its backoff ends; pods that failed by an error back off apart")
    ] = False
    keeps_nominations: Annotated[bool, says("a pod that is activated keeps its nomination (no: it gets that of its status)")] = False
    activates_tried_pods: Annotated[bool, says("a pod that is activated while it is tried is tried again")] = False
