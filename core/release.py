"""What a release *is*, field by field: every point in which two releases of the scheduler differ.

The values are in ``algorithmprovider/releases.py`` and nowhere else; the rest of the code reads cells and never asks for a version.
A cell is a value or, where the difference is behaviour, the function that behaves so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from ..api.meaning.labels import SelectorError
    from ..api.objects import Pod

Gates = Mapping[str, bool]
"""Feature gate -> on or off."""
Requests = dict[str, int]
"""Resource -> whole number; cpu in millicores."""
Footprint = Callable[["Pod", Gates], Requests]


@attrs.frozen
class Gate:
    """A feature gate of a release: its default, its maturity, and whether it may be set to anything else."""

    default: bool
    stage: str = "ALPHA"
    locked: bool = False


@attrs.frozen(kw_only=True)
class GateEffect:
    """What a gate that is on does to the names of a release."""

    gate: str
    registers: tuple[str, ...] = ()
    """Predicates that may be named with the gate only."""
    unregisters: tuple[str, ...] = ()
    """Predicates that may not be named, nor run, with the gate."""
    adds: tuple[str, ...] = ()
    """Predicates that every provider's set gets."""
    mandatory: tuple[str, ...] | None = None
    """What becomes of the mandatory predicates; None leaves them."""
    registers_priority: str | None = None
    adds_priority: bool = False
    """Whether every provider's set gets that priority, with weight 1."""


@attrs.frozen(kw_only=True)
class VolumeCells:
    """How a release counts, binds and matches volumes (reference C.9 to C.12 and G)."""

    counts_unresolved_claims: bool
    """An unresolvable claim counts towards every disk type's limit; else only where its class names the type's provisioner."""
    csi_reads_unbound_claims: bool
    """MaxCSIVolumeCountPred counts unbound claims by their class's provisioner."""
    csi_reads_migration: bool
    """Limits from CSINode, translation of migrated in-tree volumes, driver in the key, beta class annotation."""
    unbound_claim_text: str
    """NoVolumeZoneConflict's error for a claim without a volume; ``{}`` takes the quoted claim name."""
    zone_needs_scheduling_gate: bool
    """NoVolumeZoneConflict looks at the class only with gate VolumeScheduling."""
    binding_gate: bool
    """Gate VolumeScheduling switches CheckVolumeBinding off."""
    selected_node_is_immediate: bool
    """A claim with the selected-node annotation is no longer delayed; else only its node is acceptable."""
    keeps_stale_decisions: bool
    """Decisions of earlier cycles remain where a later one stores nothing."""
    claim_text_has_namespace: bool
    """``error getting PVC "ns/name"`` rather than ``"name"``."""
    checks_phase: bool
    """Only Available volumes are matched."""
    volume_mode: str
    """``strict``: nil mode is an error with gate BlockVolume; ``default``: nil is Filesystem, gate off ignores; ``reject``: gate
    off, Block never matches; ``always``: nil is Filesystem, and there is no gate."""
    matches_by_beta_class: bool
    """A claim's class for matching is its beta annotation first."""
    groups_by_beta_class: bool = False
    """So is the class of a volume where those of a class are looked up."""
    ephemeral_claims: bool = False
    """Generic ephemeral volumes have claims, named for pod and volume."""
    missing_claim_errs: bool = False
    """The count rules err where a claim of the incoming pod is not there; else only a claim without a name is an error."""
    limits_gate: str = "AttachVolumeLimit"
    """The gate without which nodes do not limit volumes themselves; empty: they always do."""
    instance_type_labels: tuple[str, ...] = ("beta.kubernetes.io/instance-type",)
    """Where a node's machine type is looked for."""
    zone_labels: tuple[str, ...] = ("failure-domain.beta.kubernetes.io/zone",)
    """Where the zone of a GCE disk is looked for when it gets its CSI handle."""
    migration_gate: str = "CSIMigration"
    """The gate without which no plugin is replaced by a driver; empty: it takes the plugin's own alone."""
    always_migrated: frozenset[str] = frozenset()
    """Plugins that are replaced on every node with a CSINode, whatever it says."""
    migratable: frozenset[str]
    """Provisioners whose volumes a driver counts only where it has taken over."""
    inline_migrates: bool = False
    """A pod's own disks count with the driver that has taken over."""
    translates_bound_volumes: bool = False
    """A bound volume is reached by the driver's own labels where that has taken over."""
    missing_volume_is_reason: bool = False
    """A claim bound to a volume that is not there turns nodes down; else it is an error."""
    checks_storage_capacity: bool = False
    """A volume can only be made where a CSIStorageCapacity says so, if its driver reports them."""


@attrs.frozen(kw_only=True)
class PreemptionCells:
    """How a release preempts (reference E).

    Three differences are not cells, as no decision shows them:

    * Up to 1.15 the nodes to try come from the informer's lister, in 1.16 from the cache. Both hold the nodes that are there.
    * Up to 1.15 a node is judged a second time when any pod is nominated to it, in 1.16 only when such a pod counts. Where none counts the
      second answer is the first one again. The equivalence cache leaves out all nodes with nominated pods, whether these count or not.
    * The event on a victim is ``by NS/NAME on node N``, in 1.16 ``Preempted by NS/NAME on node N``, and in the framework ``Preempted by a
      pod on node N``. Nothing here writes events.
    """

    refreshes_snapshot: bool
    never_policy: bool
    """Gate NonPreemptingPriority and preemptionPolicy Never stop preemption."""
    by_start_time: bool
    """Victims of equal priority go by start time, and the choice among nodes has a last criterion by start time."""
    needs_priority_gate: bool
    """Gate PodPriority off switches preemption off."""
    excludes_self: bool
    """A nominated pod is not counted against itself (same UID) in the first pass."""
    nominates_before_api: bool
    """The preemptor enters the nominated map before the API call."""


@attrs.frozen(kw_only=True)
class QueueCells:
    """How a release queues pods (reference F)."""

    by_timestamp: bool
    """Equal priorities go by the time of entering the queue."""
    has_backoff: bool
    """Pods that failed wait before the next try, and those that fail after a move do so in a backoff queue."""
    flushes_unschedulable: bool
    """Pods are moved out of the unschedulable map after 60 s, looked at every 30 s."""
    move_marker: str
    """``flag``, cleared by each pop, or ``cycle`` numbers."""
    pop_removes_nomination: bool
    parks_by_condition: bool
    """A failed pod is parked as unschedulable only with condition PodScheduled False, reason Unschedulable."""
    fifo_without_priority: bool
    """Gate PodPriority off: a plain FIFO, which failed pods enter again after a wait."""
    fifo_wait_doubles: bool
    """That wait grows from 1 s to 60 s; else it always is 1 s."""
    backoff_forget_after: float
    """Seconds after which an unused backoff entry is forgotten."""
    node_update_filter: bool
    """A node update moves pods only where a property that scheduling reads changed."""
    nominations_by_uid: bool
    """The nominated map stores a pod's node by UID."""
    refuses_placed_nominations: bool = False
    """A pod that has a node is nominated to none."""
    keeps_nomination_on_update: bool
    """An update without nomination keeps the one that the map has."""
    csi_node_events: bool
    """With gate CSINodeInfo, CSINodes that come or change move pods."""
    skips_condition_updates: bool
    """An update of an assumed pod's conditions does not bring it into the queue again."""


@attrs.frozen(kw_only=True)
class Release:
    """One release of the scheduler: names, gates, defaults and every cell of behaviour."""

    version: str
    # --- names and defaults (reference A) ---
    ordering: tuple[str, ...]
    """The order in which predicates run; a name that is not here never runs."""
    predicates: tuple[str, ...]
    """Names that a Policy may give without an argument, gates aside."""
    default_predicates: tuple[str, ...]
    mandatory_predicates: tuple[str, ...]
    """Added to whatever set is chosen."""
    priorities: tuple[str, ...]
    default_priorities: Mapping[str, int]
    """Name to weight, of the DefaultProvider."""
    gates: Mapping[str, Gate]
    gate_effects: tuple[GateEffect, ...]
    """What gates do to the names above, which stand as with every gate off."""
    default_percentage: int
    """What the component configuration makes of percentageOfNodesToScore 0."""
    texts: Mapping[str, str]
    """Messages of refusal by what they are about: ``predicate``, ``priority``, ``overflow``, ``locked gate``..., to be formatted."""
    ignorable_extenders_last: bool
    extender_adds_nodes: bool
    """An extender's filter may bring back any node of the snapshot; else only nodes that it was sent."""
    extender_unknown_node: str
    """The error for a node that a filter may not bring back; takes ``url`` and ``node``. Upstream: up to 1.15 it crashes there."""
    equivalence_cache: bool
    """Gate EnableEquivalenceClassCache exists."""
    # --- the table (reference C.7, D.4, F) ---
    incoming: Footprint
    """What the pod that is being scheduled requests."""
    footprint: Footprint
    """What a pod that is on a node counts there."""
    incoming_nonzero: Footprint
    """cpu and memory of the incoming pod with the defaults for absent requests."""
    footprint_nonzero: Footprint
    zone_key: Callable[[Mapping[str, str]], str]
    snapshot_keeps_nodeless: bool
    """Snapshots hold NodeInfos without a node (then predicate metadata is nil); else they keep the last state with one."""
    transient_reset_all: bool
    """Transient volume counts are reset on every node each cycle; else on changed ones only."""
    snapshot_drops_nodeless: bool = False
    """A node that is gone leaves the snapshot at once, with all its pods."""
    cache_replaces_confirmed: bool = False
    """A confirmed pod takes the assumed one's place, at the end of its node's list; else the assumed object stays until the next update."""
    selects_namespaces: bool = False
    """Pod affinity terms may take in namespaces by their labels."""
    # --- the cycle (reference B) ---
    nodes_to_find: Callable[[int, int], int]
    """(nodes, percentage) -> how many feasible nodes are looked for."""
    pick_host: Callable[[int, int], tuple[int, bool]]
    """(how many feasible nodes share the best total, times it ran before) -> (which of them, whether the counter moves)."""
    error_joiner: Callable[[Any], str]
    """Several error texts -> one aggregate's text."""
    binding_failed_reason: str
    """The reason of condition PodScheduled where the API refused the binding."""
    # --- rules (reference C and D) ---
    reads_out_of_disk: bool
    """CheckNodeCondition fails for OutOfDisk."""
    best_effort_sees_init_containers: bool
    affinity_texts: Mapping[str, str]
    """Error texts of MatchInterPodAffinity without metadata: ``existing`` takes ``pod`` and ``error``, ``affinity`` also ``node``."""
    spread_matches_any_selector: bool
    """SelectorSpreadPriority counts pods that match any selector; else all."""
    ratio_mean: Callable[[Any, Any], Any]
    """How RequestedToCapacityRatioPriority combines per-resource scores: (int64[R, n], weights[R]) -> int64[n]."""
    ratio_reads_resources: bool
    """requestedToCapacityRatioArguments may name resources."""
    selector_text: Callable[[SelectorError], str]
    """The text of a selector that is not valid."""
    interpod_counts_by_name: bool
    """InterPodAffinityPriority adds up by node name, so that a node that stands twice among the feasible counts twice over."""
    volumes: VolumeCells
    preemption: PreemptionCells
    queue: QueueCells
