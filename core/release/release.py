"""What a release is, as a table of cells: every point in which two releases of the scheduler differ.

The values are in ``algorithmprovider/releases.py`` and ``framework/tables``; all other code reads cells and never asks for a version.
A cell is a value or, where behaviour differs, a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from .framework import ConfigurationCells, DeviceCells, FrameworkCells
from .policies import PolicyCells
from .queueing import QueueingCells

if TYPE_CHECKING:
    from ...api.meaning.labels import SelectorError
    from ...api.objects import Pod

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


class VolumeCells(Struct, frozen=True, kw_only=True):
    """How a release counts, binds and matches volumes (reference C.9 to C.12 and G)."""

    counts_unresolved_claims: bool
    """An unresolvable claim counts towards the limit of every disk type; else only if its class names the type's provisioner."""
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
    """A claim with the selected-node annotation is no longer delayed; else only that node is acceptable."""
    keeps_stale_decisions: bool
    """Volume decisions of earlier cycles remain if a later cycle stores none."""
    claim_text_has_namespace: bool
    """``error getting PVC "ns/name"`` rather than ``"name"``."""
    checks_phase: bool
    """Only Available volumes are matched."""
    volume_mode: str
    """``strict``: nil mode is an error with gate BlockVolume; ``default``: nil is Filesystem, gate off ignores; ``reject``: gate
    off, Block never matches; ``always``: nil is Filesystem, and there is no gate."""
    matches_by_beta_class: bool
    """The class of a claim is read from the beta annotation first, when volumes are matched."""
    groups_by_beta_class: bool = False
    """The class of a volume is read from the beta annotation first, when the volumes of a class are looked up."""
    ephemeral_claims: bool = False
    """Generic ephemeral volumes have claims, named after pod and volume."""
    ephemeral_gate: str = ""
    """The gate for that; empty: they always have."""
    counts_ephemeral_claims: bool = True
    """Their claims count towards limits."""
    missing_claim_errs: bool = False
    """A missing claim of the incoming pod is an error of the count rules; else only a claim without a name is."""
    missing_claim_is_reason: bool = False
    """It rejects the nodes instead."""
    limits_gate: str = "AttachVolumeLimit"
    """The gate for limits from the node's allocatable; empty: they always count."""
    node_limits: bool = True
    """CSI drivers can have a limit in the node's allocatable; else only in its CSINode."""
    counts_attachments: bool = False
    """VolumeAttachments of a node count towards the limits of CSI drivers."""
    instance_type_labels: tuple[str, ...] = ("beta.kubernetes.io/instance-type",)
    """The labels with a node's machine type, in order of precedence."""
    zone_labels: tuple[str, ...] = ("failure-domain.beta.kubernetes.io/zone",)
    """The labels with the zone of a GCE disk, for its CSI handle, in order of precedence."""
    migration_gate: str = "CSIMigration"
    """The gate for CSI migration as a whole; empty: only the gate of each plugin counts."""
    always_migrated: frozenset[str] = frozenset()
    """Plugins that are migrated on every node with a CSINode, whatever its annotation says."""
    migratable: frozenset[str]
    """Provisioners whose volumes count for a CSI driver only where the plugin is migrated."""
    inline_migrates: bool = False
    """A pod's inline disks count for the CSI driver where their plugin is migrated."""
    beta_zones_alone: bool = False
    """A migrated volume's zone is that of its beta label, which replaces its node affinity and must name a zone; else the newer label
    counts first, and the zone is added to the node affinity."""
    translates_bound_volumes: bool = False
    """The node affinity of a bound volume is translated to the driver's labels where its plugin is migrated."""
    missing_volume_is_reason: bool = False
    """A claim bound to a missing volume rejects nodes; else it is an error."""
    checks_storage_capacity: bool = False
    """A volume can be provisioned only where a CSIStorageCapacity allows it, if the driver reports capacity."""
    reads_maximum_size: bool = True
    """The largest volume that it allows counts before its capacity."""
    storage_capacity_gate: str = ""
    """The gate for that; empty: it is always so."""
    attributes_class_gate: str = ""
    """The gate for the VolumeAttributesClass of claims and volumes, which must match; empty: it is not read."""


class PreemptionCells(Struct, frozen=True, kw_only=True):
    """How a release preempts (reference E).

    Three differences are not cells, because they change no decision:

    * Up to 1.15 the candidate nodes come from the informer's lister, in 1.16 from the cache. Both hold the nodes that exist.
    * Up to 1.15 a node is judged a second time if any pod is nominated to it, in 1.16 only if such a pod counts. If none counts, both
      answers are the same. The equivalence cache skips all nodes with nominated pods, whether these count or not.
    * The event on a victim is a cell of :class:`LiveCells`.
    """

    refreshes_snapshot: bool
    """Preemption takes a new snapshot before it looks for victims."""
    never_policy: bool
    """Gate NonPreemptingPriority and preemptionPolicy Never stop preemption."""
    by_start_time: bool
    """Victims of equal priority are sorted by start time, which is also the last criterion in the choice of a node."""
    needs_priority_gate: bool
    """Without gate PodPriority nothing is preempted."""
    excludes_self: bool
    """A nominated pod does not count against itself (same UID) in the first pass."""
    nominates_before_api: bool
    """The preemptor enters the nominated map before the API call."""
    extender_names_victims: bool
    """A node that an extender leaves without victims is an error, or no candidate if the extender is ignorable."""


class NominationCells(Struct, frozen=True, kw_only=True):
    """How a release keeps which pods are nominated to which node (reference F.5)."""

    by_uid: bool
    """The map stores a pod's node by UID, and an explicit node wins over the pod's status; else the status alone counts."""
    keeps_on_update: bool
    """An update without a nomination keeps the one in the map."""
    empty_name_counts: bool
    """The explicit node can be the empty name, which has a list of its own; else the empty name means none."""
    asks_lister: bool
    """A pod that was deleted or has a node cannot be nominated; trying to removes its earlier nomination."""
    placed_are_nominated: bool = False
    """With the above, a pod that has a node can be nominated all the same."""


class QueueCells(Struct, frozen=True, kw_only=True):
    """How a release queues pods (reference F)."""

    by_timestamp: bool
    """Pods of equal priority are sorted by their times."""
    pod_timestamps: bool
    """A pod's time is that of its condition PodScheduled, or of its creation if it has none; else when it entered the queue."""
    has_backoff: bool
    """A failed pod waits before its next attempt; after a move it waits in the backoff queue."""
    backoff_forget_after: float | None
    """Seconds after which a pod's failures are forgotten; None: never."""
    update_ends_backoff: bool
    """An update of a pod that backs off makes it active, and a change of a parked pod clears its failures; else the backoff goes on."""
    parked_at_most: float | None
    """Pods leave the unschedulable map if their time is longer ago than these seconds; this is checked every 30 s. None: never."""
    move_marker: str
    """How an attempt learns that pods were moved while it ran: ``flag``, which each pop clears, or ``cycle`` numbers."""
    pop_removes_nomination: bool
    """A pod that is popped loses its nomination."""
    parks_by_condition: bool
    """A failed pod is parked as unschedulable only with condition PodScheduled False, reason Unschedulable."""
    finalizers_count: bool
    """An update of the finalizers alone is a change, so that a parked pod is tried again."""
    refusals: tuple[str, str, str]
    """The errors for a failed pod that is in the unschedulable map, active, or backing off; ``{}`` takes its key."""
    fifo_without_priority: bool
    """Without gate PodPriority the queue is a plain FIFO; failed pods enter it again after a wait."""
    fifo_wait_doubles: bool
    """That wait grows from 1 s to 60 s; else it is always 1 s."""
    node_update_filter: bool
    """A node update moves pods only if a property that scheduling reads has changed."""
    csi_node_events: bool
    """With gate CSINodeInfo, an added or changed CSINode moves pods."""
    skips_condition_updates: bool
    """An update of an assumed pod's conditions or finalizers does not put it into the queue again."""
    probe_times: bool
    """Each failed attempt writes its time into the condition PodScheduled, as lastProbeTime."""


class LiveCells(Struct, frozen=True, kw_only=True):
    """What a release writes to the API server as it schedules."""

    binding_failure_texts: bool = True
    """After a binding that failed the condition PodScheduled has the error as its message; else it has none."""
    preempted_text: str = "by {pod} on node {node}"
    """The event on a victim; ``{pod}`` takes the key of the pod that made it leave, ``{node}`` the node."""
    wrong_node_text: str = 'selectedNode annotation value "{got}" not set to scheduled node "{node}"'
    """The error for a claim whose selected node was changed; takes ``claim``, ``got`` and ``node``."""
    assumed_pods_expire: float | None = 30.0
    """A pod whose binding was carried out loses its place that many seconds later if no informer has seen the binding; None: never."""


class ClientCells(Struct, frozen=True, kw_only=True):
    """How a release's clients ask an API server, list and watch. Recordings of 1.15.5 and 1.28.7 hold these."""

    resources: Mapping[str, str]
    """The kinds that the scheduler lists and watches -> API group and version."""
    pod_selector: str
    """The fields of pods that are listed: none that have finished."""
    bookmarks: bool
    """Watches ask for bookmarks."""
    sends_duration: bool
    """Watches send their time-out twice, once as a duration."""
    pods_send_duration: bool
    """The watch of pods does so, too; else it has a client of its own."""
    relists_from_last: bool
    """A second list asks for what is not older than what is known, without pages; else for any version. The later pages of a list
    name no version; else they name that of the first."""
    pauses: tuple[float, float]
    """Seconds between two lists after an error: the shortest and the longest pause. A pause doubles each time, and up to its own length
    is added at random; where both are equal, it is neither."""
    rewatches_refused: bool
    """If a connection is refused, the watch is sent again after a pause; else there is a list."""
    rewatches_limited: bool
    """The same for an answer 429."""
    resends_reads: bool
    """A read is sent again if the server closed the connection without an answer; else only if its connection was reset."""
    attempts: int
    """How often a request is sent at most, while the server answers 429 or 5xx and names a time to wait."""
    resends_watches: bool = False
    """A watch is sent again, too, also after a time-out, 429 and 5xx."""
    device_api: str = ""
    """With gate DynamicResourceAllocation, the API group and version in which claims, device classes and slices are listed, too."""


class ExtenderCells(Struct, frozen=True, kw_only=True):
    """How a release talks to extenders (reference H)."""

    adds_nodes: bool
    """A filter may name any node of the snapshot; else only nodes that it was sent."""
    unknown_node: str
    """The error for a node that a filter may not return; takes ``url`` and ``node``. Upstream: up to 1.15 it crashes there."""
    unknown_candidate: str
    """The error for a node of a preempt reply that is not there; takes ``url`` and ``node``. Upstream: up to 1.16 it crashes there."""
    keeps_violations: bool
    """The number of victims that a budget protects is sent without node objects too, and read from the reply; else it is 0."""
    failure: str
    """The error for a status other than 200; takes ``verb``, ``url`` and ``code``."""
    package: str
    """The Go package of the replies' types, as texts of the decoder name it."""
    integer: str
    """The Go type of scores and counts in replies."""


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
    default_percentage: int
    """The value that the component configuration puts in place of percentageOfNodesToScore 0."""
    texts: Mapping[str, str]
    """Format strings of error messages, by subject: ``predicate``, ``priority``, ``overflow``, ``locked gate``..."""
    ignorable_extenders_last: bool
    extenders: ExtenderCells
    equivalence_cache: bool
    """Gate EnableEquivalenceClassCache exists."""
    # --- the table (reference C.7, D.4, F) ---
    incoming: Footprint
    """The requests of the pod that is being scheduled."""
    footprint: Footprint
    """The requests that a pod adds to the sums of its node."""
    incoming_nonzero: Footprint
    """cpu and memory of the incoming pod, with the defaults for absent requests."""
    footprint_nonzero: Footprint
    """cpu and memory that a pod adds to the sums of its node, with the defaults for absent requests."""
    incoming_scored: Footprint | None = None
    """What the incoming pod counts in scores without defaults; None: what it adds to the sums of its node."""
    resized: Callable[[Pod, Gates], Pod] = as_specified
    """A pod with the requests that count where its containers are resized in place; the pod itself where they are those of the spec."""
    zone_key: Callable[[Mapping[str, str]], str]
    """(labels of a node) -> the zone that it belongs to in the visiting order."""
    snapshot_keeps_nodeless: bool
    """Snapshots hold NodeInfos without a node (then predicate metadata is nil); else they keep the last state that had one."""
    transient_reset_all: bool
    """Transient volume counts are reset on every node each cycle; else on changed ones only."""
    snapshot_drops_nodeless: bool = False
    """A deleted node leaves the snapshot at once, with all its pods."""
    forgets_pods_with_node: bool = False
    """A deleted node leaves the cache with its pods; if it comes back it has none of them."""
    cache_replaces_confirmed: bool = False
    """A confirmed pod replaces the assumed object and moves to the end of its node's list; else that stays until the next update."""
    selects_namespaces: bool = False
    """Pod affinity terms may select namespaces by their labels."""
    # --- the cycle (reference B) ---
    nodes_to_find: Callable[[int, int], int]
    """(nodes, percentage) -> the number of feasible nodes after which a search stops."""
    pick_host: Callable[[int, int], tuple[int, bool]]
    """(number of feasible nodes with the best total, lastNodeIndex) -> (index of the host among them, whether lastNodeIndex moves)."""
    error_joiner: Callable[[Any], str]
    """Several error texts -> the text of their aggregate."""
    binding_failed_reason: str
    """The reason of condition PodScheduled if the API refuses the binding."""
    # --- rules (reference C and D) ---
    reads_out_of_disk: bool
    """CheckNodeCondition fails for OutOfDisk."""
    best_effort_sees_init_containers: bool
    affinity_texts: Mapping[str, str]
    """Error texts of MatchInterPodAffinity without metadata: ``existing`` takes ``pod`` and ``error``, ``affinity`` also ``node``."""
    spread_matches_any_selector: bool
    """SelectorSpreadPriority counts pods that match any of the selectors; else pods that match all of them."""
    ratio_mean: Callable[[Any, Any], Any]
    """How RequestedToCapacityRatioPriority combines per-resource scores: (int64[R, n], weights[R]) -> int64[n]."""
    ratio_reads_resources: bool
    """requestedToCapacityRatioArguments may name resources."""
    selector_text: Callable[[SelectorError], str]
    """The error text for an invalid selector."""
    interpod_counts_by_name: bool
    """InterPodAffinityPriority adds up by node name, so a node that is twice among the feasible ones counts double."""
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
