"""A release as a table of cells: every point in which two releases of the scheduler differ.

The values are in ``facts``, and where releases are made; all other code reads cells and never asks for a
version. A cell is a value or, where behaviour differs, a function. Its docstring tells its meaning, as in
:mod:`.framework`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from .framework import CellGroup, ConfigurationCells, DeviceCells, FrameworkCells

if TYPE_CHECKING:
    from ...api.meaning import ServerRules
    from ...api.meaning.labels import SelectorError
    from ...api.objects import Pod


class QueueingCells(CellGroup, frozen=True, kw_only=True):
    """The events of a release of the framework, the plugins that wait for them, and the moves of its
    queue."""

    # --- events ---------------------------------------------------------------------------------------------
    names_extenders: bool = True
    """Extenders count as one more plugin that rejects a pod, which waits for every event."""
    each_node_change: bool = False
    """An update of a node is an event for each kind of change, annotations included (no: only for the first).
    If false, equal amounts in another notation count as a change."""
    declared_features_wake: bool = False
    """Changed features that a node declares are a change of their own."""
    node_delete: bool = False
    """The deletion of a node is an event."""
    pod_changes: tuple[str, ...] = ()
    """The changes of a pod that are events of their own."""
    any_update_wakes_all: bool = False
    """A change of a pod on a node counts as any update, unless only affine pods are checked."""
    any_event_moves: bool = False
    """Any event moves every parked pod (no: only pods rejected by a plugin that waits for it)."""
    fixed_events: bool = False
    """Events of volumes, claims, CSINodes, services and new StorageClasses reach the queue (no: those that a
    plugin waits for)."""
    checks_nodes: bool = True
    """An event of a node moves only pods that the node may take."""
    checks_no_execute: bool = False
    """NoExecute taints of such a node are checked, too."""
    idle_updates_count: bool = False
    """Any update of a node counts as a move while no pod is parked."""
    given_up_moves: bool = True
    """A pod that loses its reserved place is an event."""
    nomination_ends: bool = False
    """A pod that is deleted or changes its nominated node is an event for pods of no higher priority."""
    passes_over_assumed: bool = True
    """An update of a pod that is assumed on a node is no event for the queue, whatever has changed."""
    tells_removal_from_binding: bool = False
    """A pod that gets its node ends no nomination. One deleted while assumed on a node is forgotten there at
    once, which is an event."""
    drops_unwanted: bool = False
    """An event that no plugin waits for does not count as a move."""
    full_labels: bool = False
    """Labels of events name the kind and the change in full."""
    # --- what plugins wait for ------------------------------------------------------------------------------
    default_kinds: tuple[str, ...] = (
        "Pod",
        "Node",
        "CSINode",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
    )
    """The kinds whose events wake the pods of extenders, and of plugins that register no events."""
    registering: tuple[str, ...] = ()
    """The only plugins that register events (none: each can)."""
    own_changes_of_nodes: bool = False
    """Plugins wait only for those changes of nodes that they read."""
    binding_waits_for_nodes: bool = False
    """VolumeBinding waits for any change of a node (no: of its labels)."""
    only_rejecting_plugins: bool = False
    """A plugin waits for nothing if it has no point that rejects pods."""
    taints_wake: bool = False
    """Changed taints wake the pods of every plugin that waits for new nodes."""
    narrow_events: bool = False
    """Plugins wait only for those changes of nodes and CSIDrivers that they read."""
    narrow_claim_events: bool = False
    """VolumeZone waits for changed claims, VolumeRestrictions for new ones only."""
    limits_wait_for: tuple[str, ...] = ()
    """The events that NodeVolumeLimits waits for besides deleted pods and new CSINodes."""
    amounts_wake_claims: bool = False
    """DynamicResources waits for changed amounts of nodes, too."""
    without_hints: tuple[str, ...] = ()
    """Upstream's plugins without hints whether an event may help a pod."""
    comparing_hints: tuple[str, ...] = ()
    """The plugins whose hints compare a node with its earlier state."""
    compares_own_requests: bool = False
    """For the hint of NodeResourcesFit, a pod's own requests become smaller only in resources that it still
    requests."""
    wider_pod_hints: bool = False
    """Hints of InterPodAffinity and PodTopologySpread treat nominated pods like those on nodes; the former's
    also look at the pod's own labels, and at deleted pods that avoided it."""
    # --- which pods are moved -------------------------------------------------------------------------------
    skips_gated: bool = False
    """Events do not wake pods that wait for scheduling gates."""
    holder_decides: bool = False
    """Events wake a pod that a plugin has gated only if that plugin waits for the event."""
    spread_is_woken: bool = False
    """A new pod on a node also wakes those of its namespace that PodTopologySpread rejected."""
    hints_for_pods: bool = False
    """With SchedulerQueueingHints, hints decide about the events of pods, those of waiting pods included."""
    hints_replace_checks: bool = False
    """With SchedulerQueueingHints, nodes and new StorageClasses are not checked before hints."""
    # --- the queue ------------------------------------------------------------------------------------------
    gates_asked_once: bool = False
    """With gate SchedulerPopFromBackoffQ, activating a pod that backs off does not run PreEnqueue again."""
    drops_recreated: bool = False
    """A failed pod is not queued again if it has since been created anew under its name."""
    names_refusing_plugin: bool = False
    """The queue notes the plugin that rejected a pod in Reserve or Permit, after it had a node."""
    errors_back_off: bool = False
    """A pod that failed with an error backs off (no: it is parked until an event)."""
    gated_back_off: bool = False
    """A pod that a plugin had gated may have to back off, too."""
    counts_rejections: bool = False
    """The backoff grows with rejections, or with errors in a row (no: with all attempts)."""
    backs_off_to_the_end: bool = False
    """A pod still backs off at the very end of its backoff; pods that failed with an error have a backoff
    queue of their own."""
    updates_renominate: bool = False
    """Without hints, a pod that its update makes ready to be tried keeps only the nomination in its
    status."""
    keeps_nominations: bool = False
    """An activated pod keeps its nomination (no: it gets that of its status)."""
    activates_tried_pods: bool = False
    """A pod that is activated during its attempt is tried again."""


_NONE: Mapping[str, str] = MappingProxyType({})


class PolicyCells(CellGroup, frozen=True, kw_only=True):
    """The profile that a release makes of a Policy."""

    # --- rules and plugins ----------------------------------------------------------------------------------
    predicates: Mapping[str, str] = _NONE
    """Predicate -> its Filter plugins, in the order in which they run."""
    priorities: Mapping[str, str] = _NONE
    """Priority -> its Score plugin."""
    rule_gates: Mapping[str, str] = _NONE
    """Rule that needs a gate -> the gate."""
    default_predicates: tuple[str, ...] = ()
    """The predicates of a Policy without ``predicates``."""
    mandatory_predicates: tuple[str, ...] = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
    default_priorities: Mapping[str, int] = field(default_factory=dict)
    """The priorities of a Policy without ``priorities``, with their weights."""
    aliases: Mapping[str, str] = MappingProxyType(
        {"PodFitsPorts": "PodFitsHostPorts", "ServiceSpreadingPriority": "SelectorSpreadPriority"}
    )
    """Older name of a rule -> the current name."""
    pre_filters: frozenset[str] = frozenset()
    """The plugins whose PreFilter runs together with their Filter."""
    pre_scores: frozenset[str] = frozenset()
    """The plugins whose PreScore runs together with their Score."""
    spread_gate: str = ""
    """The gate with which SelectorSpreadPriority is PodTopologySpread with the system's constraints."""
    # --- how they are put together --------------------------------------------------------------------------
    merges_plugins: bool = True
    """A plugin of two rules of a Policy runs once, at its first place (no: the Policy is refused)."""
    arguments_first: bool = False
    """The argument of a rule in a Policy decides what the rule is (no: only where no rule has that name)."""
    fills_arguments: bool = False
    """Rules of a Policy without arguments have empty ones (no: their plugins refuse)."""
    fills_resources: bool = False
    """Resources without a weight, or no resources, of a Policy get defaults."""
    plugin_reserves: bool = True
    """Volumes are assumed by plugin VolumeBinding (no: by the scheduler, whatever a Policy says)."""
    preempts: bool = True
    """Pods preempt others under a Policy."""
    checks_all: bool = True
    """With alwaysCheckAllPredicates, all plugins check a node (no: those up to the first that rejects it)."""
    weight_of_configuration_counts: bool = False
    """HardPodAffinitySymmetricWeight of a Policy is only checked, and that of the configuration counts (no:
    the Policy's own, else 1)."""
    checks_before_conversion: bool = False
    """Weights are summed before they are cut to 32 bits, and scores of a shape are checked after they are
    scaled: a Policy is checked before it becomes a configuration."""
    # --- texts ----------------------------------------------------------------------------------------------
    unknown_predicate: str = 'predicate type not found for "{name}"'
    """The fault of a predicate that does not exist."""
    unknown_priority: str = 'priority type not found for "{name}"'
    """The fault of a priority that does not exist."""
    two_arguments: str = "exactly 1 {kind} argument is required, numArgs: {number}, {kind} {{{entry} 0x0}}"
    """The fault of a rule with two arguments."""
    bad_weight: str = "priority {name} should have a positive weight applied to it or it has overflown"
    """The fault of a weight that is not positive, or too high."""
    no_argument: str = "no priority arguments set for priority {name}"
    """The fault of a priority with an empty argument."""
    declared_again: str = (
        'priority "{name}" redeclares custom priority "RequestedToCapacityRatio", from: "{first}"'
    )
    """The fault of a second priority by capacity ratio."""
    bad_affinity_weight: str = (
        "hardPodAffinitySymmetricWeight: Invalid value: {weight}: not in valid range [0-100]"
    )
    """The fault of a hardPodAffinitySymmetricWeight out of range."""
    older_extender_texts: bool = False
    """Faults of a Policy's extenders read as up to 1.16 (no: as those of a configuration)."""
    # --- providers ------------------------------------------------------------------------------------------
    providers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Provider -> default plugins to be replaced, each with its replacement; empty: the name of a provider is
    ignored."""
    weight_is_argument: bool = False
    """The configuration's hardPodAffinitySymmetricWeight is an argument of InterPodAffinity."""
    least_affinity_weight: int = 0
    """The lowest hardPodAffinitySymmetricWeight."""


Gates = Mapping[str, bool]
"""Feature gate -> on or off."""
Requests = dict[str, int]
"""Resource -> whole number; cpu in millicores."""
Footprint = Callable[["Pod", Gates], Requests]


def as_specified(pod: Pod, gates: Gates) -> Pod:
    """*pod* itself: only its spec counts, not its status."""
    return pod


class FeatureGate(Struct, frozen=True):
    """A feature gate of a release: its default, its stage, and whether it is locked to the default."""

    default: bool
    stage: str = "ALPHA"
    locked: bool = False


class GateEffect(Struct, frozen=True, kw_only=True):
    """The effect of a gate on the names of a release when it is on."""

    gate: str
    registers: tuple[str, ...] = ()
    """Predicates that a Policy may name only with the gate."""
    unregisters: tuple[str, ...] = ()
    """Predicates that a Policy may not name with the gate; they do not run."""
    adds: tuple[str, ...] = ()
    """Predicates that are added to every provider's set."""
    mandatory: tuple[str, ...] | None = None
    """The mandatory predicates with the gate; None: unchanged."""
    registers_priority: str | None = None
    """A priority that a Policy may name only with the gate."""
    adds_priority: bool = False
    """Whether that priority is added to every provider's set, with weight 1."""


class VolumeCells(CellGroup, frozen=True, kw_only=True):
    """Volumes in a release: how they are counted, bound and matched (reference C.9 to C.12 and G)."""

    counts_unresolved_claims: bool
    """A claim that cannot be resolved counts towards the limit of every type of disk (no: only of the type
    whose provisioner its class names)."""
    csi_reads_unbound_claims: bool
    """MaxCSIVolumeCountPred counts unbound claims by the provisioner of their class."""
    csi_reads_migration: bool
    """Limits come from CSINode, and volumes of built-in drivers that moved to CSI count there. The key then
    has the driver, and the beta annotation for the class counts."""
    unbound_claim_text: str
    """The error for a claim without a volume, where zones are checked ({}: its name)."""
    zone_needs_scheduling_gate: bool
    """NoVolumeZoneConflict reads a claim's class only with gate VolumeScheduling."""
    binding_gate: bool
    """Gate VolumeScheduling can switch CheckVolumeBinding off."""
    selected_node_is_immediate: bool
    """A claim with the annotation selected-node no longer waits for its pod (no: that node alone is
    accepted)."""
    keeps_stale_decisions: bool
    """A choice of volumes from an earlier cycle stays if a later cycle makes none."""
    claim_text_has_namespace: bool
    """The error for a missing claim has its namespace."""
    checks_phase: bool
    """Only volumes in phase Available are matched to claims."""
    volume_mode: Literal["strict", "default", "reject", "always"]
    """The treatment of the volume modes of a claim and a volume that are matched."""
    matches_by_beta_class: bool
    """The beta annotation for the class of a claim counts before its field."""
    groups_by_beta_class: bool = False
    """The beta annotation for the class of a volume counts before its field."""
    ephemeral_claims: bool = False
    """Generic ephemeral volumes have claims."""
    ephemeral_gate: str = ""
    """The gate for generic ephemeral volumes (empty: they are always read)."""
    counts_ephemeral_claims: bool = True
    """The claims of generic ephemeral volumes count towards limits."""
    missing_claim_errs: bool = False
    """A missing claim of the pod is an error where volumes are counted (no: only a claim without a name
    is)."""
    missing_claim_is_reason: bool = False
    """A missing claim of the pod rejects nodes where volumes are counted."""
    limits_gate: str = "AttachVolumeLimit"
    """The gate for limits of volumes from the node's allocatable. Empty: they always count."""
    node_limits: bool = True
    """CSI drivers can have limits in the node's allocatable (no: in its CSINode alone)."""
    counts_attachments: bool = False
    """VolumeAttachments of a node count towards the limits of CSI drivers."""
    instance_type_labels: tuple[str, ...] = ("beta.kubernetes.io/instance-type",)
    """The labels with a node's machine type. In order of precedence, as the next."""
    zone_labels: tuple[str, ...] = ("failure-domain.beta.kubernetes.io/zone",)
    """The labels with the zone of a GCE disk."""
    migration_gate: str = "CSIMigration"
    """The gate for CSI migration as a whole. Empty: only the gate of each plugin counts."""
    always_migrated: frozenset[str] = frozenset()
    """Built-in drivers that count as moved to CSI on each node with a CSINode."""
    migratable: frozenset[str]
    """Built-in drivers that can move to CSI. By their provisioners."""
    missing_drivers_opt_in: bool = False
    """With gate VolumeLimitScaling, a node without a CSI driver is rejected only if the driver opts in (no:
    for any driver)."""
    inline_migrates: bool = False
    """Disks that a pod names without a claim count for the CSI driver if theirs has moved to it."""
    beta_zones_alone: bool = False
    """The beta zone label of a moved volume replaces its node affinity, and must name a zone (no: its zones
    are added, and the newer label counts first)."""
    translates_bound_volumes: bool = False
    """The node affinity of a bound volume is read with the CSI driver's labels if its driver has moved."""
    missing_volume_is_reason: bool = False
    """A claim bound to a missing volume rejects nodes (no: it is an error)."""
    checks_storage_capacity: bool = False
    """A new volume needs free capacity by CSIStorageCapacity, if the driver reports any."""
    reads_maximum_size: bool = True
    """The largest volume that a CSIStorageCapacity allows counts before its capacity."""
    storage_capacity_gate: str = ""
    """The gate for that (empty: it is always so)."""
    attributes_class_gate: str = ""
    """The gate for the VolumeAttributesClass of claims and volumes (empty: it is not read)."""


class PreemptionCells(CellGroup, frozen=True, kw_only=True):
    """Preemption in a release (reference E).

    Three differences are not cells, because they change no decision:

    * Up to 1.15 the candidate nodes come from the informer's lister, in 1.16 from the cache. Both hold the
      nodes that exist.
    * Up to 1.15 a node is judged a second time if any pod is nominated to it, in 1.16 only if such a pod
      counts. If none counts, both answers are the same. The equivalence cache skips all nodes with nominated
      pods, whether these count or not.
    * The event on a victim is a cell of :class:`LiveCells`.
    """

    refreshes_snapshot: bool
    """Preemption looks at the cluster at that moment, not at the cycle's snapshot."""
    never_policy: bool
    """PreemptionPolicy Never is honoured (up to 1.16 with gate NonPreemptingPriority)."""
    by_start_time: bool
    """Of pods with equal priority, those that started last leave first. Start times are also the last
    criterion in the choice of a node."""
    needs_priority_gate: bool
    """Without gate PodPriority nothing is preempted."""
    excludes_self: bool
    """A pod that waits for a node does not count against itself there. Compared by UID, in the pass with
    nominated pods."""
    nominates_before_api: bool
    """A pod counts as waiting for its node before the API server confirms it."""


class NominationCells(CellGroup, frozen=True, kw_only=True):
    """Nominations of pods to nodes in a release (reference F.5)."""

    by_uid: bool
    """Pods that wait for a node are told apart by UID (no: by name). An explicit node wins over the pod's
    status then; else the status alone counts."""
    keeps_on_update: bool
    """A change of such a pod that does not name the node keeps it waiting there."""
    empty_name_counts: bool
    """A pod can wait for the node with the empty name. That has a list of its own then; else the empty name
    means none."""
    asks_lister: bool
    """A pod that was deleted or has a node cannot be nominated. The attempt removes its earlier
    nomination."""
    placed_are_nominated: bool = False
    """All the same, a pod that has a node can wait for one."""


class QueueCells(CellGroup, frozen=True, kw_only=True):
    """The queue of a release (reference F)."""

    by_timestamp: bool
    """Pods of equal priority are tried by age (no: in no order)."""
    pod_timestamps: bool
    """The age is the pod's own (no: since it entered the queue). It is that of its condition PodScheduled, or
    of its creation if it has none."""
    has_backoff: bool
    """A failed pod waits before its next attempt. After a move it waits in the backoff queue."""
    backoff_forget_after: float | None
    """Seconds after which a pod's failures are forgotten."""
    update_ends_backoff: bool
    """A change of a pod ends its waiting time. A change of a parked pod clears its failures then."""
    parked_at_most: float | None
    """Seconds after which a pod that fits nowhere is tried again in any case. This is checked every 30 s."""
    move_marker: Literal["flag", "cycle"]
    """The way an attempt notices that the cluster changed while it ran."""
    pop_removes_nomination: bool
    """A pod that is tried again gives up its nomination."""
    parks_by_condition: bool
    """A failed pod is parked only if its condition PodScheduled has reason Unschedulable."""
    finalizers_count: bool
    """A change of only the finalizers lets a pod be tried again."""
    refusals: tuple[str, str, str]
    """The errors for a failed pod that is already in the queue: unschedulable, active, or backing off; ``{}``
    takes its key."""
    fifo_without_priority: bool
    """Without gate PodPriority the queue is first in, first out. Failed pods enter it again after a wait."""
    fifo_wait_doubles: bool
    """There the wait after a failure grows from 1 s to 60 s (no: always 1 s)."""
    node_update_filter: bool
    """A change of a node lets pods be tried again only if scheduling reads what changed."""
    csi_node_events: bool
    """An added or changed CSINode lets pods be tried again. With gate CSINodeInfo."""
    skips_condition_updates: bool
    """A change of the conditions or finalizers of a pod that was just placed is ignored."""
    probe_times: bool
    """Each failed attempt writes its time into condition PodScheduled."""


class LiveCells(CellGroup, frozen=True, kw_only=True):
    """The writes of a release to the API server."""

    binding_failure_texts: bool = True
    """After a binding that failed condition PodScheduled has the error as its message."""
    preempted_text: str = "by {pod} on node {node}"
    """The event on a preempted pod. ``{pod}`` takes the key of the preemptor, ``{uid}`` its UID, ``{node}``
    the node."""
    disruption: tuple[str, str] = (
        "PreemptionByScheduler",
        "{scheduler}: preempting to accommodate a higher priority pod",
    )
    """Reason and message of condition DisruptionTarget. ``{scheduler}`` takes that of the preemptor."""
    puts_status: bool = True
    """Statuses are written whole, and after a failure the pod is read again (no: a patch, and the informer's)."""
    patch_tries: int = 1
    """The most times that a patch of a status is sent, while the server fails."""
    preempts_first: bool = False
    """Victims leave before a failure is reported (no: afterwards)."""
    deletes_waiting: bool = True
    """A victim that waits for Permit plugins is deleted, too."""
    evicts_at_once: bool = False
    """All victims are deleted at the same time (no: one after another, until an error)."""
    gone_victims: frozenset[str] = frozenset()
    """The requests about a victim, ``PATCH`` and ``DELETE``, for which it is no error that it is gone; then it
    gets no event."""
    tries_after_gone: bool = False
    """Where all victims were gone, the pod is tried again at once."""
    spares_last_victim: bool = False
    """The last victim stays where another one could not be deleted."""
    measures_failures: bool = False
    """The metric of the time of decisions has those without a node, too."""
    ends_pre_bind: bool = False
    """A victim whose volumes or devices are waited for is not bound, and tried again (no: it is deleted)."""
    patches_latest: bool = False
    """The status after a failure changes the pod's latest one (no: that of its attempt)."""
    binds_by_plugin: bool = False
    """The text about a binding that the server refused names plugin DefaultBinder."""
    rejected_text: str = "Binding rejected: "
    """The beginning of the text about a binding that failed."""
    unbound_text: str = ""
    """The beginning of the text about volumes that are not bound in time."""
    waits_in_context: bool = False
    """Where volumes are waited for no longer, this is an exceeded deadline, and 0 seconds are none (no: 0 is no
    limit)."""
    wrong_node_text: str = 'selectedNode annotation value "{got}" not set to scheduled node "{node}"'
    """The error for a claim whose selected node was changed. It takes ``claim``, ``got`` and ``node``."""
    assumed_pods_expire: float | None = 30.0
    """Seconds after its binding at which an assumed pod expires, if no informer has seen it (none: never)."""


class ClientCells(CellGroup, frozen=True, kw_only=True):
    """Requests, lists and watches of a release's clients. Recordings of 1.15.5 and 1.28.7 hold these."""

    resources: Mapping[str, str]
    """The kinds that it lists and watches, with the version of the API."""
    pod_selector: str
    """The field selector of the pods that are listed."""
    bookmarks: bool
    """Watches ask for bookmarks."""
    sends_duration: bool
    """Watches send their time-out twice, once as a duration."""
    pods_send_duration: bool
    """The watch of pods does so, too (no: it has a client of its own)."""
    relists_from_last: bool
    """A second list asks for objects no older than the last version seen, without pages (no: of any version).
    Later pages of a list name no version (no: that of the first)."""
    pauses: tuple[float, float]
    """Seconds between two tries after an error, the shortest and the longest. A pause doubles each time, and
    up to its own length is added at random; where both are equal, it is neither."""
    rewatches_refused: bool
    """After a refused connection the watch is sent again (no: a list)."""
    rewatches_limited: bool
    """After an answer 429 the watch is sent again (no: a list)."""
    resends_reads: bool
    """A read is sent again if the server closed the connection (no: only if it was reset)."""
    attempts: int
    """The most times that a request is sent, while the server answers 429 or 5xx with a time to wait."""
    resends_watches: bool = False
    """A watch is sent again, too, after a closed connection, a time-out or an error of the server."""
    device_api: str = ""
    """With gate DynamicResourceAllocation, the version of the API in which it lists claims and devices."""
    renews_unread: bool = False
    """A leader renews its lease without reading it first, unless that fails."""
    names_device_requests: bool = False
    """The configuration that a class has for the drivers of devices is written once, with its requests (no:
    once per request, without them)."""


class ExtenderCells(CellGroup, frozen=True, kw_only=True):
    """Extenders in a release (reference H)."""

    adds_nodes: bool
    """An extender's filter may answer with nodes that it was not sent."""
    unknown_node: str
    """The error for a node that an extender's filter may not answer with. It takes ``url`` and ``node``.
    Upstream: up to 1.15 it crashes there."""
    unknown_candidate: str
    """The error for a node that an extender's preempt may not answer with. It takes ``url`` and ``node``.
    Upstream: up to 1.17 it crashes there."""
    keeps_violations: bool
    """An extender that gets names also gets the number of budget violations, and may answer with one (no: it
    is 0)."""
    failure: str
    """The error for an HTTP status other than 200. It takes ``verb``, ``url`` and ``code``."""
    reads_unresolvable: bool = False
    """An extender's filter may say on which nodes the removal of pods does not help."""
    asked_to_preempt: bool = True
    """Extenders with a preempt verb are asked which candidates they leave."""
    names_victims: bool = False
    """A node that an extender leaves without victims is an error; or it is no candidate, if the extender is
    ignorable."""
    ignores_failed_binding: bool = False
    """The API server binds where an ignorable extender fails to."""
    errors_are_formats: bool = True
    """An error from an extender is used as a format string without arguments."""


class Release(Struct, frozen=True, kw_only=True):
    """One release of the scheduler: names, gates, defaults and every cell of behaviour."""

    version: str
    # --- names and defaults (reference A) ---
    ordering: tuple[str, ...]
    """The order in which predicates run; a name that is not here never runs."""
    predicates: tuple[str, ...]
    """Names that a Policy may use without an argument, before gates."""
    default_predicates: tuple[str, ...]
    mandatory_predicates: tuple[str, ...]
    """Added to every set, whichever is chosen."""
    priorities: tuple[str, ...]
    default_priorities: Mapping[str, int]
    """Name -> weight, of the DefaultProvider."""
    gates: Mapping[str, FeatureGate]
    gate_effects: tuple[GateEffect, ...]
    """The changes by gates of the names above, which are those with every gate off."""
    default_percentage: int
    """PercentageOfNodesToScore if nothing is set (0: the release chooses)."""
    texts: Mapping[str, str]
    """Predicate: the message for an unknown predicate in a Policy; priority: the message for an unknown
    priority in a Policy; overflow: the message for weights that are too large together. Format strings, by
    subject."""
    policy_form: Literal["JSON", "YAML", "strict"]
    """The form of a Policy: only JSON, also YAML, or strict, with no unknown or repeated key."""
    ignorable_extenders_last: bool
    """Ignorable extenders are called last."""
    extenders: ExtenderCells
    equivalence_cache: bool
    """There is an equivalence cache (gate EnableEquivalenceClassCache)."""
    # --- the table (reference C.7, D.4, F) ---
    incoming: Footprint
    """The requests of the incoming pod, where room is checked."""
    footprint: Footprint
    """The requests of a pod on its node, where room is checked."""
    incoming_nonzero: Footprint
    """The requests of the incoming pod, in scores (without a request: 100m cpu, 200 MiB)."""
    footprint_nonzero: Footprint
    """The requests of a pod on its node, in scores (without a request: 100m cpu, 200 MiB)."""
    incoming_scored: Footprint | None = None
    """The requests of the incoming pod, in scores without defaults (none: those of a pod on its node)."""
    resized: Callable[[Pod, Gates], Pod] = as_specified
    """The pod with the requests that count while it is resized in place (gate InPlacePodVerticalScaling). The
    same object where these are the spec's."""
    zone_key: Callable[[Mapping[str, str]], str]
    """(labels of a node) -> the zone that it belongs to in the visiting order."""
    snapshot_keeps_nodeless: bool
    """A deleted node whose pods remain stays known, as a node without data. Predicate metadata is then nil
    (no: snapshots keep the last state that had a node)."""
    transient_reset_all: bool
    """Counts of volumes for BalanceAttachedNodeVolumes start at zero on every node in each cycle. Else on
    changed ones only."""
    snapshot_drops_nodeless: bool = False
    """A deleted node is forgotten at once, with all its pods."""
    snapshot_keeps_ghosts: bool = False
    """Preemption also tries nodes that are not in the list: nodes that it misses, and deleted ones whose pods
    remain, in their last state."""
    forgets_pods_with_node: bool = False
    """A deleted node is forgotten with its pods, and comes back without them."""
    cache_replaces_confirmed: bool = False
    """A pod that is confirmed on its node replaces the assumed object, and moves to the list's end (no: the
    assumed object stays until the next update)."""
    selects_namespaces: bool = False
    """Pod affinity terms may select namespaces by their labels."""
    # --- the cycle (reference B) ---
    nodes_to_find: Callable[[int, int], int]
    """(nodes, percentage) -> the number of feasible nodes after which a search stops."""
    pick_host: Callable[[int, int], tuple[int, bool]]
    """The choice among several best nodes: (number of feasible nodes with the best total, lastNodeIndex) ->
    (index of the host among them, whether lastNodeIndex moves)."""
    error_joiner: Callable[[Any], str]
    """A function that joins several errors into one message."""
    binding_failed_reason: str
    """The reason in condition PodScheduled if a binding is refused."""
    # --- rules (reference C and D) ---
    reads_out_of_disk: bool
    """CheckNodeCondition turns down nodes with condition OutOfDisk."""
    best_effort_sees_init_containers: bool
    """CheckNodeMemoryPressure: requests of init containers count, so that the pod is not best effort."""
    affinity_texts: Mapping[str, str]
    """Existing: MatchInterPodAffinity: the error for a bad term of another pod; affinity:
    MatchInterPodAffinity: the error for a bad term of the pod's own. Those without metadata: ``existing``
    takes ``pod`` and ``error``, ``affinity`` also ``node``."""
    spread_matches_any_selector: bool
    """SelectorSpreadPriority counts pods that match any selector of the pod's owners (no: all of them)."""
    ratio_mean: Callable[[Any, Any], Any]
    """RequestedToCapacityRatioPriority: the mean over the resources. (scores, int64[R, n], weights[R]) ->
    int64[n]."""
    ratio_reads_resources: bool
    """RequestedToCapacityRatioArguments may name resources."""
    selector_text: Callable[[SelectorError], str]
    """The error for a bad value in a selector."""
    interpod_counts_by_name: bool
    """InterPodAffinityPriority counts a node double that is twice among those that fit."""
    volumes: VolumeCells
    preemption: PreemptionCells
    queue: QueueCells
    nominations: NominationCells
    live: LiveCells
    server: ServerRules
    """The API server's admission of new objects, and of evictions, without its gates."""
    client: ClientCells
    framework: FrameworkCells = field(default_factory=FrameworkCells)
    configuration: ConfigurationCells = field(default_factory=ConfigurationCells)
    """The cells of the component configuration. For predicates and priorities only ``fields_lacked`` counts,
    beside what the first release of the framework lacks."""
    missing_plugins: Mapping[str, str] = _NONE
    """Extension point -> the refusal of a configuration that names a plugin there, where there are none."""
    queueing: QueueingCells = field(default_factory=QueueingCells)
    """Its events; means nothing where predicates and priorities run."""
    devices: DeviceCells = field(default_factory=DeviceCells)
    """Means nothing where plugin DynamicResources does not run."""
    policies: PolicyCells | None = None
    """The translation of a Policy into a profile; None: where predicates and priorities run, and where there
    are no Policies."""

    def __repr__(self) -> str:
        return f"<Release {self.version}>"
