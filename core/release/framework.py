"""In what two releases of the framework differ, beside the cells that all releases have. See :mod:`kubeclassic.core.release.release`.

The values are in ``framework/releases.py``. A cell that a release does not name is as in 1.27. A cell says what it means in words that
``releases`` shows: a statement where it is yes or no, else a subject of which the value says how it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import attrs

T = TypeVar("T")


def cell(words: str, default: T) -> T:
    """A field of a class of cells: what it means in *words*, and its value in 1.27."""
    field: T = attrs.field(default=default, metadata={"words": words})
    return field


def words_of(cells: Any) -> Iterator[tuple[str, str]]:
    """The name and the words of each cell of the class or value *cells*."""
    return ((field.name, field.metadata["words"]) for field in attrs.fields(cells if isinstance(cells, type) else type(cells)))


@attrs.frozen(kw_only=True, repr=False)
class FrameworkCells:
    """How a release of the framework decides."""

    # --- the search -------------------------------------------------------------------------------------------------
    outside_text: str | None = cell(
        "the reason of a node outside those that a PreFilter plugin names (none: it has no status)",
        "node is filtered out by the prefilter result",
    )
    counts_outside: bool = cell(
        "nodes outside those of a PreFilter plugin count where the next search starts; nodes without a status may be preempted on", True
    )
    index_of_all_nodes: bool = cell("the next search starts at a place among all nodes (no: among those of PreFilter)", False)
    narrowing_rejects: bool = cell("a plugin whose PreFilter leaves out nodes is among those that reject the pod", False)
    rejection_ends_pre_filter: bool = cell(
        "PreFilter ends with the first plugin that rejects the pod (no: only if removing pods cannot help; else the last one counts)", True
    )
    disjoint_is_unresolvable: bool = cell("removing pods cannot help where PreFilter plugins together leave no node", False)
    disjoint_sorts_plugins: bool = cell("the message then names the plugins in ascending order (no: in running order)", False)
    one_is_enough: bool = cell("without score plugins and extenders a search ends at the first node that fits", False)
    extender_replaces_reasons: bool = cell("a node that an extender rejects has the extender's reason alone", False)
    post_filter_full_stop: bool = cell("a full stop is added after the message of PostFilter, even if it has one", True)
    fit_errors_after: frozenset[str] = cell(
        "the steps after a decision at which a rejection reads like that of a cluster of one node", frozenset()
    )
    # --- scores -----------------------------------------------------------------------------------------------------
    skips_scoring: frozenset[str] = cell("the plugins that give no score where each node would get the same", frozenset())
    counts_images_late: bool = cell(
        "nodes that have an image are counted whenever a node's snapshot is taken (no: when the node was added or updated)", False
    )
    init_images_count: bool = cell("images of init containers count, as do those containers where sizes are scaled", False)
    points_lacked: frozenset[tuple[str, str]] = cell(
        "the extension points at which a plugin does not run, though later it does",
        frozenset(
            [
                ("VolumeBinding", "preScore"),
                *((f"{kind}Limits", "preFilter") for kind in ("AzureDisk", "Cinder", "EBS", "GCEPD", "NodeVolume")),
            ]
        ),
    )
    # --- requests ---------------------------------------------------------------------------------------------------
    rejects_sidecars: str = cell("where NodeResourcesFit rejects pods with sidecars without gate SidecarContainers", "")
    sidecars_have_ports: bool = cell("host ports of sidecars count (no: only those of containers)", False)
    fit_checks_requested: bool = cell(
        "NodeResourcesFit looks at what the pod requests alone (no: if it requests anything, at all native resources)", False
    )
    too_small_is_unresolvable: bool = cell("removing pods cannot help on a node that is too small even when it is empty", False)
    fit_scores_containers: bool = cell(
        "NodeResourcesFit scores a pod by its containers' requests in the spec (no: also by its status, and those of the pod as a whole)",
        False,
    )
    keeps_namespace_selectors: bool = cell(
        "a namespaceSelector of the incoming pod that a namespace without labels matches takes in every namespace", False
    )
    constraints_text: str = cell("the beginning of PodTopologySpread's error for a pod with an invalid selector", "")
    counts_apart: bool = cell("topology spread constraints of one key each count their own pods (no: their counts are added up)", False)
    # --- preemption -------------------------------------------------------------------------------------------------
    sorts_victims_again: bool = cell(
        "victims are sorted by importance at the end (no: those that violate a disruption budget come first)", False
    )
    waits_for_preempted_alone: bool = cell(
        "a pod waits for one that leaves its nominated node only if that was preempted (no: with gate PodDisruptionConditions)", False
    )
    leaving_victims_keep_nominations: bool = cell(
        "with gate SchedulerAsyncPreemption lower nominations of a node stay where all victims are being deleted already", False
    )
    # --- volumes ----------------------------------------------------------------------------------------------------
    narrows_to_local_volumes: bool = cell("VolumeBinding leaves only the nodes that local volumes name (no: it looks at every node)", True)
    volume_node_text: str = cell(
        "the reason of a node from which a bound volume cannot be reached", "node(s) had volume node affinity conflict"
    )
    zone_labels_match: bool = cell("VolumeZone reads the newer zone label of a node that lacks the beta label of the volume", False)
    idle_restrictions_skip: bool = cell(
        "VolumeRestrictions does not count nominated pods where no pod on a node uses a ReadWriteOncePod claim of the pod", False
    )
    sole_user_text: str = cell(
        "the reason of a node while another pod uses the pod's ReadWriteOncePod claim",
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
    )
    # --- texts ------------------------------------------------------------------------------------------------------
    faults_list_operators: bool = cell("the fault of an unknown operator of node affinity lists the known ones", False)
    faults_as_json: bool = cell("lists in faults of fields are shown as JSON (no: as Go writes them)", False)


_NONE: Mapping[str, str] = MappingProxyType({})


@attrs.frozen(kw_only=True, repr=False)
class ConfigurationCells:
    """How a release of the framework reads its component configuration, and which plugins it has."""

    capacity_gate: str = cell("the gate with which VolumeBinding scores the capacity of volumes", "VolumeCapacityPriority")
    api_versions: tuple[str, ...] = cell("the versions of the configuration that are read", ("v1beta2", "v1beta3", "v1"))
    default_plugins: Mapping[str, int] = cell("", MappingProxyType({}))
    """The default plugins in order, with their weights; 0: none is given."""
    gated_plugins: Mapping[str, tuple[str, str]] = cell("", MappingProxyType({}))
    """Gate that adds a default plugin -> that, and the one that it comes before; empty: it is the last."""
    gone_plugins: frozenset[str] = cell("", frozenset())
    """The plugins of older releases that no profile may name."""
    refused_plugins: frozenset[str] = cell(
        "the plugins that version v1 of the configuration refuses, but for multiPoint", frozenset({"SelectorSpread"})
    )
    settled_gates: frozenset[str] = cell("", frozenset())
    """The gates of older releases whose features are always there."""
    capacity_shape: tuple[tuple[int, int], ...] = cell(
        "the default shape of the score of VolumeBinding, utilization and score in turn", ((0, 0), (100, 10))
    )
    device_args: bool = cell("plugin DynamicResources has arguments", False)
    delays_cache: bool = cell("the configuration has a field delayCacheUntilActive", False)
    queue_sort_text: str = cell("the fault of profiles with different queueSort plugins", "has to match for all profiles")
    queue_sort_args_text: str = cell("the fault of profiles with different arguments of that plugin", "has to match for all profiles")
    shape_text: str = cell("the fault of a shape that is not in order", "utilization values must be sorted in increasing order")
    shares_waiting_pods: bool = cell("plugins see the pods of all profiles that wait for Permit (no: those of their own)", False)
    not_modelled: Mapping[str, str] = cell("", _NONE)
    """Gate that cannot be switched on here -> the feature that is not modelled."""


Room = Literal["requested", "again", "left"]


@attrs.frozen(kw_only=True, repr=False)
class DeviceCells:
    """How a release allocates devices."""

    alternatives: bool = cell("a request may name alternatives (firstAvailable), with gate DRAPrioritizedList", False)
    admin_takes_once: bool = cell("admin access never takes a device twice for one claim, and others of the pod cannot have it", False)
    all_wants_one: bool = cell("allocation mode All needs one device at least", False)
    all_stops: bool = cell("a device in use ends the search of mode All (no: what came before it is tried again)", True)
    all_gives_back: bool = cell("what mode All took is free again when the search backs up", False)
    room: Room = attrs.field(default="requested", metadata={"words": "what counts towards 32 devices of a claim while they are chosen"})
    invalid_pool_errs: bool = cell("an invalid pool is an error once a search comes to it (no: once a device in it matches)", False)
    distinct_attribute: bool = cell("constraints may be a distinctAttribute", False)
    leaves_counter_slices: bool = cell("slices with shared counters are left out", False)
    leaves_counted_devices: bool = cell("devices that consume counters cannot be allocated", False)
    leaves_per_device_selection: bool = cell("slices in which each device says its nodes are left out", False)
    leaves_binding_conditions: bool = cell("devices with binding conditions cannot be allocated, and come last", False)
    speaks_without_claims: bool = cell("PostFilter has something to say of a pod without claims", True)


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
