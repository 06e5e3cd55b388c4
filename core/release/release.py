"""What a release is, as a table of cells: every point in which two releases of the scheduler differ.

The values are in ``algorithmprovider/releases.py`` and ``framework/tables``; all other code reads cells and never asks for a version.
A cell is a value or, where behaviour differs, a function. It says what it means in words, as :mod:`.framework` has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Struct, field

from ...api.record import says
from .framework import CellGroup, ConfigurationCells, DeviceCells, FrameworkCells

if TYPE_CHECKING:
    from ...api.meaning.labels import SelectorError
    from ...api.objects import Pod


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


_NONE: Mapping[str, str] = MappingProxyType({})


class PolicyCells(CellGroup, frozen=True, kw_only=True):
    """How a release makes a profile of a Policy."""

    # --- rules and plugins ------------------------------------------------------------------------------------------
    predicates: Mapping[str, str] = _NONE
    """Predicate -> its Filter plugins, in the order in which they run."""
    priorities: Mapping[str, str] = _NONE
    """Priority -> its Score plugin."""
    rule_gates: Mapping[str, str] = _NONE
    """Rule that needs a gate -> the gate."""
    default_predicates: tuple[str, ...] = ()
    """Those of a Policy without ``predicates``."""
    mandatory_predicates: tuple[str, ...] = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
    default_priorities: Mapping[str, int] = field(default_factory=dict)
    """Those of a Policy without ``priorities``, with their weights."""
    aliases: Mapping[str, str] = MappingProxyType(
        {"PodFitsPorts": "PodFitsHostPorts", "ServiceSpreadingPriority": "SelectorSpreadPriority"}
    )
    """Older name of a rule -> the name that counts."""
    pre_filters: frozenset[str] = frozenset()
    """The plugins whose PreFilter runs where their Filter does."""
    pre_scores: frozenset[str] = frozenset()
    """The plugins whose PreScore runs where their Score does."""
    spread_gate: Annotated[str, says("the gate with which SelectorSpreadPriority is PodTopologySpread with the system's constraints")] = ""
    # --- how they are put together ----------------------------------------------------------------------------------
    merges_plugins: Annotated[bool, says("a plugin of two rules of a Policy runs once, at its first place (no: the Policy is refused)")] = (
        True
    )
    arguments_first: Annotated[bool, says("the argument of a Policy's rule says what it is (no: only where no rule has that name)")] = False
    fills_arguments: Annotated[bool, says("rules of a Policy without arguments have empty ones (no: their plugins refuse)")] = False
    fills_resources: Annotated[bool, says("resources without a weight, or no resources, of a Policy get defaults")] = False
    plugin_reserves: Annotated[bool, says("volumes are assumed by plugin VolumeBinding (no: by the scheduler, whatever a Policy says)")] = (
        True
    )
    preempts: Annotated[bool, says("pods preempt others under a Policy")] = True
    checks_all: Annotated[
        bool, says("with alwaysCheckAllPredicates a node is asked about by all plugins (no: up to the first that rejects it)")
    ] = True
    weight_of_configuration_counts: Annotated[
        bool,
        says(
            "hardPodAffinitySymmetricWeight of a Policy is only checked, and that of the configuration counts"
            " (no: the Policy's own, else 1)"
        ),
    ] = False
    sums_weights_first: Annotated[bool, says("weights that are too high together refuse a Policy before they are cut to 32 bits")] = False
    # --- texts ------------------------------------------------------------------------------------------------------
    unknown_predicate: Annotated[str, says("the fault of a predicate that does not exist")] = 'predicate type not found for "{name}"'
    unknown_priority: Annotated[str, says("the fault of a priority that does not exist")] = 'priority type not found for "{name}"'
    two_arguments: Annotated[str, says("the fault of a rule with two arguments")] = (
        "exactly 1 {kind} argument is required, numArgs: {number}, {kind} {{{entry} 0x0}}"
    )
    bad_weight: Annotated[str, says("the fault of a weight that is not above 0, or too high")] = (
        "priority {name} should have a positive weight applied to it or it has overflown"
    )
    no_argument: Annotated[str, says("the fault of a priority with an empty argument")] = "no priority arguments set for priority {name}"
    declared_again: Annotated[str, says("the fault of a second priority by capacity ratio")] = (
        'priority "{name}" redeclares custom priority "RequestedToCapacityRatio", from: "{first}"'
    )
    bad_affinity_weight: Annotated[str, says("the fault of a hardPodAffinitySymmetricWeight out of range")] = (
        "hardPodAffinitySymmetricWeight: Invalid value: {weight}: not in valid range [0-100]"
    )
    older_extender_texts: Annotated[bool, says("faults of a Policy's extenders read as up to 1.16 (no: as those of a configuration)")] = (
        False
    )
    # --- providers --------------------------------------------------------------------------------------------------
    providers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Provider -> the default plugins that others replace, with these; empty: a provider's name means nothing."""
    weight_is_argument: Annotated[bool, says("the configuration's hardPodAffinitySymmetricWeight is that of InterPodAffinity")] = False
    least_affinity_weight: Annotated[int, says("the lowest hardPodAffinitySymmetricWeight")] = 0


Gates = Mapping[str, bool]
"""Feature gate -> on or off."""
Requests = dict[str, int]
"""Resource -> whole number; cpu in millicores."""
Footprint = Callable[["Pod", Gates], Requests]


def as_specified(pod: Pod, gates: Gates) -> Pod:
    """*pod* itself: what its spec says counts, whatever its status says."""
    return pod


class FeatureGate(Struct, frozen=True):
    """A feature gate of a release: its default, its stage, and whether it is locked to the default."""

    default: bool
    stage: str = "ALPHA"
    locked: bool = False


GATE_KINDS: Mapping[str, FeatureGate] = MappingProxyType({
    "alpha": FeatureGate(False),
    "alpha_on": FeatureGate(True),
    "beta_off": FeatureGate(False, "BETA"),
    "beta": FeatureGate(True, "BETA"),
    "ga": FeatureGate(True, ""),
    "ga_off": FeatureGate(False, ""),
    "locked": FeatureGate(True, "", locked=True),
    "deprecated": FeatureGate(False, "DEPRECATED"),
    "deprecated_on": FeatureGate(True, "DEPRECATED"),
    "deprecated_locked": FeatureGate(False, "DEPRECATED", locked=True),
})  # fmt: skip
"""The words of :func:`gates_after`."""


def gates_after(last: Mapping[str, FeatureGate], *, gone: str = "", **now: str) -> Mapping[str, FeatureGate]:
    """The gates of a release: those of the *last* one without those that are *gone*; *now*: a kind -> the names that are new or changed."""
    changed = {name: GATE_KINDS[kind] for kind, names in now.items() for name in names.split()}
    removed = frozenset(gone.split())
    return MappingProxyType({name: gate for name, gate in sorted({**last, **changed}.items()) if name not in removed})


class GateEffect(Struct, frozen=True, kw_only=True):
    """What a gate changes in the names of a release when it is on."""

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
    """How a release counts, binds and matches volumes (reference C.9 to C.12 and G)."""

    counts_unresolved_claims: Annotated[bool, says("a claim that cannot be resolved counts towards the limit of every type of disk")]
    """Else only if its class names the type's provisioner."""
    csi_reads_unbound_claims: Annotated[bool, says("MaxCSIVolumeCountPred counts unbound claims by the provisioner of their class")]
    csi_reads_migration: Annotated[bool, says("limits come from CSINode, and volumes of built-in drivers that moved to CSI count there")]
    """The driver is in the key then, and the beta annotation for the class counts."""
    unbound_claim_text: Annotated[str, says("the error for a claim without a volume, where zones are checked ({}: its name)")]
    zone_needs_scheduling_gate: Annotated[bool, says("NoVolumeZoneConflict reads a claim's class only with gate VolumeScheduling")]
    binding_gate: Annotated[bool, says("gate VolumeScheduling can switch CheckVolumeBinding off")]
    selected_node_is_immediate: Annotated[
        bool, says("a claim with the annotation selected-node no longer waits for its pod (no: that node alone is accepted)")
    ]
    keeps_stale_decisions: Annotated[bool, says("a choice of volumes from an earlier cycle stays if a later cycle makes none")]
    claim_text_has_namespace: Annotated[bool, says("the error for a missing claim has its namespace")]
    checks_phase: Annotated[bool, says("only volumes in phase Available are matched to claims")]
    volume_mode: Annotated[
        Literal["strict", "default", "reject", "always"], says("the volume mode of a claim and a volume, where they are matched")
    ]
    matches_by_beta_class: Annotated[bool, says("the beta annotation for the class of a claim counts before its field")]
    groups_by_beta_class: Annotated[bool, says("the beta annotation for the class of a volume counts before its field")] = False
    ephemeral_claims: Annotated[bool, says("generic ephemeral volumes have claims")] = False
    ephemeral_gate: Annotated[str, says("the gate for generic ephemeral volumes (none: they are always read)")] = ""
    counts_ephemeral_claims: Annotated[bool, says("the claims of generic ephemeral volumes count towards limits")] = True
    missing_claim_errs: Annotated[bool, says("a missing claim of the pod is an error where volumes are counted")] = False
    """Else only a claim without a name is one."""
    missing_claim_is_reason: Annotated[bool, says("a missing claim of the pod turns nodes down where volumes are counted")] = False
    limits_gate: Annotated[str, says("the gate for limits of volumes from the node's allocatable")] = "AttachVolumeLimit"
    """Empty: they always count."""
    node_limits: Annotated[bool, says("CSI drivers can have limits in the node's allocatable (no: in its CSINode alone)")] = True
    counts_attachments: Annotated[bool, says("VolumeAttachments of a node count towards the limits of CSI drivers")] = False
    instance_type_labels: Annotated[tuple[str, ...], says("the labels with a node's machine type")] = ("beta.kubernetes.io/instance-type",)
    """In order of precedence, as the next."""
    zone_labels: Annotated[tuple[str, ...], says("the labels with the zone of a GCE disk")] = ("failure-domain.beta.kubernetes.io/zone",)
    migration_gate: Annotated[str, says("the gate for CSI migration as a whole")] = "CSIMigration"
    """Empty: only the gate of each plugin counts."""
    always_migrated: Annotated[frozenset[str], says("built-in drivers that count as moved to CSI on each node with a CSINode")] = (
        frozenset()
    )
    migratable: Annotated[frozenset[str], says("built-in drivers that can move to CSI")]
    """By their provisioners."""
    inline_migrates: Annotated[
        bool, says("disks that a pod names without a claim count for the CSI driver where their driver has moved")
    ] = False
    beta_zones_alone: Annotated[
        bool, says("the beta label of a moved volume replaces its node affinity (no: its zones are added, and newer labels are read)")
    ] = False
    """It must name a zone then; else the newer label counts first."""
    translates_bound_volumes: Annotated[
        bool, says("the node affinity of a bound volume is read with the CSI driver's labels where its driver has moved")
    ] = False
    missing_volume_is_reason: Annotated[bool, says("a claim bound to a missing volume turns nodes down (no: it is an error)")] = False
    checks_storage_capacity: Annotated[bool, says("a new volume needs free capacity by CSIStorageCapacity")] = False
    """If the driver reports any."""
    reads_maximum_size: Annotated[bool, says("the largest volume that a CSIStorageCapacity allows counts before its capacity")] = True
    storage_capacity_gate: Annotated[str, says("the gate for that (none: it is always so)")] = ""
    attributes_class_gate: Annotated[str, says("the gate for the VolumeAttributesClass of claims and volumes (none: it is not read)")] = ""


class PreemptionCells(CellGroup, frozen=True, kw_only=True):
    """How a release preempts (reference E).

    Three differences are not cells, because they change no decision:

    * Up to 1.15 the candidate nodes come from the informer's lister, in 1.16 from the cache. Both hold the nodes that exist.
    * Up to 1.15 a node is judged a second time if any pod is nominated to it, in 1.16 only if such a pod counts. If none counts, both
      answers are the same. The equivalence cache skips all nodes with nominated pods, whether these count or not.
    * The event on a victim is a cell of :class:`LiveCells`.
    """

    refreshes_snapshot: Annotated[bool, says("preemption looks at the cluster as it is then, not as the cycle saw it")]
    never_policy: Annotated[bool, says("preemptionPolicy Never is honoured (up to 1.16 with gate NonPreemptingPriority)")]
    by_start_time: Annotated[bool, says("among pods of equal priority those that started last leave first")]
    """Start times are also the last criterion in the choice of a node."""
    needs_priority_gate: Annotated[bool, says("without gate PodPriority nothing is preempted")]
    excludes_self: Annotated[bool, says("a pod that waits for a node does not count against itself there")]
    """In the first pass, by its UID."""
    nominates_before_api: Annotated[bool, says("a pod counts as waiting for its node before the API server confirms it")]
    extender_names_victims: Annotated[bool, says("a node that an extender leaves without victims is an error")]
    """Or no candidate, if the extender is ignorable."""


class NominationCells(CellGroup, frozen=True, kw_only=True):
    """How a release keeps which pods are nominated to which node (reference F.5)."""

    by_uid: Annotated[bool, says("pods that wait for a node are told apart by UID (no: by name)")]
    """An explicit node wins over the pod's status then; else the status alone counts."""
    keeps_on_update: Annotated[bool, says("a change of such a pod that does not name the node keeps it waiting there")]
    empty_name_counts: Annotated[bool, says("a pod can wait for the node with the empty name")]
    """That has a list of its own then; else the empty name means none."""
    asks_lister: Annotated[bool, says("a pod that was deleted or has a node cannot wait for one")]
    """Trying to removes its earlier nomination."""
    placed_are_nominated: Annotated[bool, says("all the same, a pod that has a node can wait for one")] = False


class QueueCells(CellGroup, frozen=True, kw_only=True):
    """How a release queues pods (reference F)."""

    by_timestamp: Annotated[bool, says("pods of equal priority are tried by age (no: in no order)")]
    pod_timestamps: Annotated[bool, says("that age is the pod's own (no: since it entered the queue)")]
    """It is that of its condition PodScheduled, or of its creation if it has none."""
    has_backoff: Annotated[bool, says("a pod that failed waits before its next attempt")]
    """After a move it waits in the backoff queue."""
    backoff_forget_after: Annotated[float | None, says("seconds after which a pod's failures are forgotten")]
    update_ends_backoff: Annotated[bool, says("a change of a pod ends its waiting time")]
    """A change of a parked pod clears its failures then."""
    parked_at_most: Annotated[float | None, says("seconds after which a pod that fits nowhere is tried again in any case")]
    """This is checked every 30 s."""
    move_marker: Annotated[Literal["flag", "cycle"], says("how an attempt notices that the cluster changed while it ran")]
    pop_removes_nomination: Annotated[bool, says("a pod that is tried again gives up the node that it waits for")]
    parks_by_condition: Annotated[bool, says("a pod that failed is set aside only if its condition PodScheduled says Unschedulable")]
    finalizers_count: Annotated[bool, says("a change of the finalizers alone lets a pod be tried again")]
    refusals: Annotated[tuple[str, str, str], says("the errors for a failed pod that is in the queue already")]
    """In the unschedulable map, active, or backing off; ``{}`` takes its key."""
    fifo_without_priority: Annotated[bool, says("without gate PodPriority the queue is first in, first out")]
    """Failed pods enter it again after a wait."""
    fifo_wait_doubles: Annotated[bool, says("there the wait after a failure grows from 1 s to 60 s (no: always 1 s)")]
    node_update_filter: Annotated[bool, says("a change of a node lets pods be tried again only if scheduling reads what changed")]
    csi_node_events: Annotated[bool, says("an added or changed CSINode lets pods be tried again")]
    """With gate CSINodeInfo."""
    skips_condition_updates: Annotated[bool, says("a change of the conditions of a pod that was just placed is ignored")]
    """A change of its finalizers, too."""
    probe_times: Annotated[bool, says("each failed attempt writes its time into condition PodScheduled")]


class LiveCells(CellGroup, frozen=True, kw_only=True):
    """What a release writes to the API server as it schedules."""

    binding_failure_texts: Annotated[bool, says("after a binding that failed condition PodScheduled has the error as its message")] = True
    preempted_text: Annotated[str, says("the event on a pod that had to leave")] = "by {pod} on node {node}"
    """``{pod}`` takes the key of the pod that made it leave, ``{node}`` the node."""
    wrong_node_text: Annotated[str, says("the error for a claim whose selected node was changed")] = (
        'selectedNode annotation value "{got}" not set to scheduled node "{node}"'
    )
    """It takes ``claim``, ``got`` and ``node``."""
    assumed_pods_expire: Annotated[
        float | None, says("seconds after which a bound pod loses its place if no informer sees it (none: never)")
    ] = 30.0


class ClientCells(CellGroup, frozen=True, kw_only=True):
    """How a release's clients ask an API server, list and watch. Recordings of 1.15.5 and 1.28.7 hold these."""

    resources: Annotated[Mapping[str, str], says("the kinds that it lists and watches, with the version of the API")]
    pod_selector: Annotated[str, says("the field selector of the pods that are listed")]
    bookmarks: Annotated[bool, says("watches ask for bookmarks")]
    sends_duration: Annotated[bool, says("watches send their time-out twice, once as a duration")]
    pods_send_duration: Annotated[bool, says("the watch of pods does so, too")]
    """Else it has a client of its own."""
    relists_from_last: Annotated[bool, says("a second list asks for what is not older than the last version seen (no: for any version)")]
    """Without pages, and the later pages of a list name no version; else they name that of the first."""
    pauses: Annotated[tuple[float, float], says("seconds between two tries after an error, the shortest and the longest")]
    """A pause doubles each time, and up to its own length is added at random; where both are equal, it is neither."""
    rewatches_refused: Annotated[bool, says("after a refused connection the watch is sent again (no: a list)")]
    rewatches_limited: Annotated[bool, says("after an answer 429 the watch is sent again (no: a list)")]
    resends_reads: Annotated[bool, says("a read is sent again if the server closed the connection (no: only if it was reset)")]
    attempts: Annotated[int, says("how often a request is sent at most, while the server names a time to wait")]
    """And answers 429 or 5xx."""
    resends_watches: Annotated[bool, says("a watch is sent again then, too, also after a time-out and errors of the server")] = False
    device_api: Annotated[str, says("with gate DynamicResourceAllocation, the version of the API in which it lists claims and devices")] = (
        ""
    )


class ExtenderCells(CellGroup, frozen=True, kw_only=True):
    """How a release talks to extenders (reference H)."""

    adds_nodes: Annotated[bool, says("an extender's filter may answer with nodes that it was not sent")]
    unknown_node: Annotated[str, says("the error for a node that an extender's filter may not answer with")]
    """It takes ``url`` and ``node``. Upstream: up to 1.15 it crashes there."""
    unknown_candidate: Annotated[str, says("the error for a node that an extender's preempt may not answer with")]
    """It takes ``url`` and ``node``. Upstream: up to 1.16 it crashes there."""
    keeps_violations: Annotated[
        bool, says("an extender that is sent names is told how many victims a budget protects, and may say so (no: it is 0)")
    ]
    failure: Annotated[str, says("the error for an HTTP status other than 200")]
    """It takes ``verb``, ``url`` and ``code``."""
    reads_unresolvable: Annotated[bool, says("an extender's filter may say on which nodes the removal of pods does not help")] = False


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
    """What gates change in the names above, which are those with every gate off."""
    default_percentage: Annotated[int, "search", says("percentageOfNodesToScore if nothing is set (0: the release chooses)")]
    texts: Annotated[
        Mapping[str, str],
        "messages",
        {
            "predicate": "the message for an unknown predicate in a Policy",
            "priority": "the message for an unknown priority in a Policy",
            "overflow": "the message for weights that are too large together",
        },
    ]
    """Format strings, by subject."""
    ignorable_extenders_last: Annotated[bool, "extenders", says("extenders that may be ignored are called last")]
    extenders: ExtenderCells
    equivalence_cache: Annotated[bool, "search", says("there is an equivalence cache (gate EnableEquivalenceClassCache)")]
    # --- the table (reference C.7, D.4, F) ---
    incoming: Annotated[Footprint, "requests", says("what the pod that is scheduled asks for, where room is checked")]
    footprint: Annotated[Footprint, "requests", says("what a pod takes up on its node, where room is checked")]
    incoming_nonzero: Annotated[
        Footprint, "requests", says("what the pod that is scheduled asks for, in scores (without a request: 100m cpu, 200 MiB)")
    ]
    footprint_nonzero: Annotated[
        Footprint, "requests", says("what a pod takes up on its node, in scores (without a request: 100m cpu, 200 MiB)")
    ]
    incoming_scored: Annotated[
        Footprint | None,
        "requests",
        says("what the pod that is scheduled asks for, in scores without defaults (none: what it takes up on its node)"),
    ] = None
    resized: Annotated[
        Callable[[Pod, Gates], Pod],
        "requests",
        says("what a container counts while it is resized in place (gate InPlacePodVerticalScaling)"),
    ] = as_specified
    """A pod with these requests; the pod itself where they are those of the spec."""
    zone_key: Annotated[Callable[[Mapping[str, str]], str], "search", says("the labels that say in which zone a node is")]
    """(labels of a node) -> the zone that it belongs to in the visiting order."""
    snapshot_keeps_nodeless: Annotated[
        bool, "search", says("a node that is gone while pods remain on it stays known, as a node without data")
    ]
    """Predicate metadata is nil then; else snapshots keep the last state that had a node."""
    transient_reset_all: Annotated[
        bool, "search", says("counts of volumes for BalanceAttachedNodeVolumes start at zero on every node in each cycle")
    ]
    """Else on changed ones only."""
    snapshot_drops_nodeless: Annotated[bool, "search", says("a node that is gone is forgotten at once, with all its pods")] = False
    snapshot_keeps_ghosts: Annotated[
        bool, "search", says("preemption also tries nodes that are gone while pods remain on them, as they were last seen")
    ] = False
    forgets_pods_with_node: Annotated[
        bool, "search", says("a node that is gone is forgotten with its pods, and comes back without them")
    ] = False
    cache_replaces_confirmed: Annotated[
        bool, "search", says("a pod that is confirmed on its node replaces what was assumed, and moves to the end of the node's list")
    ] = False
    """Else the assumed object stays until the next update."""
    selects_namespaces: Annotated[bool, "rules", says("pod affinity terms may select namespaces by their labels")] = False
    # --- the cycle (reference B) ---
    nodes_to_find: Annotated[Callable[[int, int], int], "search", says("how many nodes that fit a search looks for")]
    """(nodes, percentage) -> the number of feasible nodes after which a search stops."""
    pick_host: Annotated[Callable[[int, int], tuple[int, bool]], "search", says("which of several best nodes is taken")]
    """(number of feasible nodes with the best total, lastNodeIndex) -> (index of the host among them, whether lastNodeIndex moves)."""
    error_joiner: Annotated[Callable[[Any], str], "messages", says("several errors in one message")]
    binding_failed_reason: Annotated[str, "messages", says("the reason in condition PodScheduled if a binding is refused")]
    # --- rules (reference C and D) ---
    reads_out_of_disk: Annotated[bool, "rules", says("CheckNodeCondition turns down nodes with condition OutOfDisk")]
    best_effort_sees_init_containers: Annotated[
        bool, "rules", says("CheckNodeMemoryPressure: requests of init containers count, so that the pod is not best effort")
    ]
    affinity_texts: Annotated[
        Mapping[str, str],
        "messages",
        {
            "existing": "MatchInterPodAffinity: the error for a bad term of another pod",
            "affinity": "MatchInterPodAffinity: the error for a bad term of the pod's own",
        },
    ]
    """Those without metadata: ``existing`` takes ``pod`` and ``error``, ``affinity`` also ``node``."""
    spread_matches_any_selector: Annotated[
        bool, "rules", says("SelectorSpreadPriority counts pods that match any selector of the pod's owners (no: all of them)")
    ]
    ratio_mean: Annotated[Callable[[Any, Any], Any], "rules", says("RequestedToCapacityRatioPriority: the mean over the resources")]
    """(scores, int64[R, n], weights[R]) -> int64[n]."""
    ratio_reads_resources: Annotated[bool, "rules", says("requestedToCapacityRatioArguments may name resources")]
    selector_text: Annotated[Callable[[SelectorError], str], "messages", says("the error for a bad value in a selector")]
    interpod_counts_by_name: Annotated[
        bool, "rules", says("InterPodAffinityPriority counts a node double that is twice among those that fit")
    ]
    volumes: VolumeCells
    preemption: PreemptionCells
    queue: QueueCells
    nominations: NominationCells
    live: LiveCells
    client: ClientCells
    framework: FrameworkCells = field(default_factory=FrameworkCells)
    configuration: ConfigurationCells = field(default_factory=ConfigurationCells)
    """Means nothing where predicates and priorities run."""
    queueing: QueueingCells = field(default_factory=QueueingCells)
    """Its events; means nothing where predicates and priorities run."""
    devices: DeviceCells = field(default_factory=DeviceCells)
    """Means nothing where plugin DynamicResources does not run."""
    policies: PolicyCells | None = None
    """How it makes a profile of a Policy; None: where predicates and priorities run, and where there are no Policies."""

    def __repr__(self) -> str:
        return f"<Release {self.version}>"
