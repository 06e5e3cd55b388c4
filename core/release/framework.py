"""The differences between two releases of the framework, beside the cells that all releases have. See
:mod:`kubeclassic.core.release.release`.

The values are in ``facts``, those that are functions in ``framework/releases.py``. A cell that a release does
not name is as in 1.27. Facts explain the differences to users. The docstring of a cell tells its meaning:
what holds where it is true and, after *no*, where it is false.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct, field

from ...api.meaning import LABEL_WORDS, LabelWords

Budgets = Literal["counted down", "counted to the first", "used up"]
"""``counted down``: each victim takes one from each of its budgets; ``counted to the first``: only up to the
first that has none left; ``used up``: only budgets that have none left count."""
UnreadableTerms = Literal["reject", "reject for the last", "none", "error", "no scores"]
"""``reject``: the pod with the term is rejected; ``reject for the last``: the same, naming the last kind of
bad term; ``none``: there are no terms of that kind; ``error``: of any pod, in the cycle of every pod that
looks at them; ``no scores``: nor do terms of any pod give scores."""
ReadsByCursor = Literal["never", "after changes", "always"]
MultiPoint = Literal["overrides", "shifting overrides", "single points"]
"""``overrides``: plugins of the point that multiPoint names too; ``shifting overrides``: the same, by a list
that shrinks during the loop; ``single points``: all plugins of the point."""


class CellGroup(Struct, frozen=True, kw_only=True):
    """A group of cells: too many to be shown in full."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class FrameworkCells(CellGroup, frozen=True, kw_only=True):
    """The decisions of a release of the framework."""

    # --- the search -----------------------------------------------------------------------------------------
    outside_text: str | None = "node is filtered out by the prefilter result"
    """The reason of a node outside those that a PreFilter plugin names (None: it has no status)."""
    pre_filter_narrows: bool = True
    """A PreFilter plugin can name the only nodes that are looked at."""
    unknown_name_errs: bool = False
    """A node that a PreFilter plugin names and that does not exist is an error (no: it is ignored)."""
    counts_outside: bool = True
    """Nodes outside those of a PreFilter plugin count where the next search starts, if they have a status."""
    tries_without_status: bool = True
    """Nodes without a status may be preempted on."""
    pre_filter_skips: bool = True
    """Where PreFilter has nothing to say of a pod, the plugin's Filter does not run."""
    nominated_gate: str = ""
    """The gate with which the nominated node is looked at first (empty: it always is)."""
    nominated_moves_start: bool = False
    """A look at the nominated node alone lets the next search start at the first node."""
    index_of_all_nodes: bool = False
    """The next search starts at a place among all nodes (no: among those of PreFilter)."""
    narrowing_rejects: bool = False
    """A plugin whose PreFilter leaves out nodes is among those that reject the pod."""
    failure_needs_post_filter: bool = False
    """A pod that fits nowhere loses its nomination where the profile has no PostFilter plugin."""
    rejection_ends_pre_filter: bool = True
    """PreFilter ends with the first plugin that rejects the pod (no: only if removing pods cannot help; else
    the last one counts)."""
    disjoint_is_unresolvable: bool = False
    """Removing pods cannot help where PreFilter plugins together leave no node."""
    disjoint_sorts_plugins: bool = False
    """The message then names the plugins in ascending order (no: in running order)."""
    pre_filter_errors_lost: bool = False
    """The text of a PreFilter error is not reported."""
    one_is_enough: bool = False
    """Without score plugins and extenders a search ends at the first node that fits."""
    scores_sent_nodes: bool = False
    """Nodes that an extender sent back are scored as they came: without pods, and without images."""
    extender_replaces_reasons: bool = False
    """A node that an extender rejects has the extender's reason alone."""
    counts_pre_filter: bool = False
    """The message of a rejection by PreFilter is counted for each node (no: it is there once)."""
    shows_post_filter: bool = True
    """The error of a pod that fits nowhere ends in the message of PostFilter."""
    tells_post_filter_errors: bool = True
    """The message of PostFilter may be an error."""
    post_filter_full_stop: bool = True
    """A full stop is added after the message of PostFilter, even if it has one."""
    stops_without_reasons: bool = False
    """The error of a pod that fits nowhere has a full stop for its reasons even without any."""
    fit_errors_after: frozenset[str] = frozenset()
    """The steps after a decision at which a rejection reads as in a cluster of one node."""
    checks_plugin_by_plugin: bool = False
    """Of several scores out of range that of the first plugin is reported (no: of the first node)."""
    one_reason: bool = False
    """A plugin gives one reason a node: the first that removing pods cannot resolve, else the first (no:
    all)."""
    reads_order_by_cursor: ReadsByCursor = "never"
    """The times when the list of nodes continues from the node tree's cursor."""
    extended_devices_unsign: bool = False
    """With gate DRAExtendedResource no pod takes part in a batch (no: those that ask for what a DeviceClass
    provides)."""
    # --- scores ---------------------------------------------------------------------------------------------
    skips_scoring: frozenset[str] = frozenset()
    """The plugins that give no score where each node would get the same."""
    pre_scores_one_node: bool = False
    """PreScore runs even where one node is feasible or no plugin scores."""
    counts_images_late: bool = False
    """The nodes with an image are counted whenever a node's snapshot is taken (no: when the node was added or
    updated)."""
    image_bound_of_one: bool = False
    """Images are worth no more than 1000 MB in all (no: than that for each container)."""
    init_images_count: bool = False
    """Images of init containers count, as do those containers where sizes are scaled."""
    volume_images_count: bool = False
    """Image volumes count as images of containers do, except where sizes are scaled."""
    points_lacked: frozenset[tuple[str, str]] = frozenset(
        [
            ("VolumeBinding", "preScore"),
            ("DynamicResources", "preBind"),
            ("DynamicResources", "preEnqueue"),
            ("DynamicResources", "score"),
            *(
                (f"{kind}Limits", "preFilter")
                for kind in ("AzureDisk", "Cinder", "EBS", "GCEPD", "NodeVolume")
            ),
        ]
    )
    """The extension points at which a plugin does not run, though later it does."""
    overfull_scores_zero: bool = False
    """MostAllocated scores 0 where more is requested than there is (no: as if full)."""
    lacking_resources_score: bool = False
    """Resources that a node lacks or the pod does not request count 0 in the scores of allocation (no: they
    do not count)."""
    ratio_rounds_up: bool = False
    """RequestedToCapacityRatio rounds up the share in use (no: down)."""
    # --- requests -------------------------------------------------------------------------------------------
    rejects_sidecars: str = ""
    """The extension point where NodeResourcesFit rejects pods with sidecars without gate
    SidecarContainers."""
    sidecars_have_ports: bool = False
    """Host ports of sidecars count (no: only those of containers)."""
    fit_checks_requested: bool = False
    """NodeResourcesFit looks at what the pod requests alone (no: if it requests anything, at all native
    resources)."""
    requests_wrap: bool = False
    """If a pod's containers together request more than 64 bits hold, the request is negative where room is
    checked (no: zero)."""
    too_small_is_unresolvable: bool = False
    """Removing pods cannot help on a node that is too small even when it is empty."""
    fit_scores_containers: bool = False
    """NodeResourcesFit scores a pod by its containers' requests in the spec (no: also by its status, and
    those of the pod as a whole)."""
    gates_node_storage: bool = False
    """Without gate LocalStorageCapacityIsolation nodes have no ephemeral storage."""
    checks_zero_scalars: bool = False
    """NodeResourcesFit looks at scalars of which the pod requests 0, too."""
    scored_by_name: bool = False
    """A resource that is scored twice counts once, with its last weight."""
    fit_scores_overhead: bool = True
    """NodeResourcesFit counts the overhead of the pod that it scores."""
    scores_change_of_balance: bool = False
    """NodeResourcesBalancedAllocation scores how much the pod improves a node's balance (no: the balance with
    the pod)."""
    balance_of_two: bool = False
    """NodeResourcesBalancedAllocation scores the difference of cpu and memory, and nothing where one would be
    used up."""
    balances_without_volumes: bool = False
    """With gate BalanceAttachedNodeVolumes it scores volumes for each pod (no: for those that have some)."""
    fit_sums_wrap: bool = False
    """Sums of NodeResourcesFit wrap around at 2**63 (no: it compares with what is left)."""
    # --- affinity and spread --------------------------------------------------------------------------------
    keeps_namespace_selectors: bool = False
    """A namespaceSelector of the incoming pod selects every namespace if it matches a namespace without
    labels."""
    soft_constraints_text: str = "calculating preScoreState: "
    """The beginning of PodTopologySpread's error in PreScore for a pod with an invalid selector."""
    constraints_text: str = ""
    """The beginning of PodTopologySpread's error for a pod with an invalid selector."""
    empty_selectors_count: bool = False
    """Topology spread constraints with an empty selector count every pod (no: none)."""
    label_keys_alone_select: bool = False
    """MatchLabelKeys select pods where a topology spread constraint has no selector."""
    any_conflict_rejects: bool = False
    """NodeAffinity rejects the pod where the node names of one term exclude each other (no: only where those
    of all terms do)."""
    checks_pairs: bool = False
    """An invalid label in a nodeSelector, or in the selectors of a pod's services, makes it match everything
    (no: nothing)."""
    names_nodes: bool = True
    """NodeAffinity leaves only the nodes that the pod's required terms name (no: it looks at every node)."""
    rounds_spread: bool = True
    """PodTopologySpread rounds the score of a node before it normalizes (no: it cuts it off)."""
    counts_whole_domains: bool = False
    """Hard topology spread constraints count pods on every node of a domain that has one node that counts
    (no: only on nodes that count)."""
    system_needs_all_keys: bool = False
    """Nodes without a topology key score 0 for the default constraints of the system, too (no: they are
    scored by the other keys)."""
    liking_includes_zero: bool = False
    """InterPodAffinity normalizes between the least and the most, but 0 always takes part."""
    owners_by_selector: bool = False
    """A pod spreads with the pods of each controller whose selector matches it (no: of the one that owns
    it)."""
    adds_up_constraints: bool = False
    """All hard topology spread constraints of one key count a node's pods (no: for each node only the last
    one does)."""
    edits_count_anywhere: bool = False
    """In a trial pods count for hard topology spread constraints on every node with the keys (no: on nodes
    that count)."""
    no_domain_fits: bool = False
    """Without any node that counts, hard topology spread constraints reject no node."""
    reads_preferred_fields: bool = True
    """NodeAffinity reads the matchFields of preferred terms."""
    affinity_sums_in_32_bits: bool = False
    """NodeAffinity adds weights up in 32 bits."""
    any_term_counts: bool = False
    """In a trial a pod that matches one anti-affinity term of the scheduled pod counts for all (no: only for
    that term)."""
    unreadable_terms: UnreadableTerms = "reject"
    """An invalid selector among the pod affinity terms of one kind."""
    spreads_by_share: bool = False
    """PodTopologySpread scores a node by the share of peers outside its domains (no: by their number, fewer
    domains counting more)."""
    missing_key_is_uneven: bool = False
    """A node without a topology key fails like one in a domain that is too full. Removing pods may then
    help."""
    edits_make_domains: bool = False
    """A pod added or removed in a trial makes a domain out of a value without nodes that count."""
    terminating_peers_count: bool = False
    """Pods that are being deleted count for topology spread constraints."""
    soft_peers_anywhere: bool = False
    """Pods of every namespace count for soft topology spread constraints."""
    existing_pods_refuse_first: bool = False
    """InterPodAffinity looks at the anti-affinity of existing pods first (no: last)."""
    first_pod_needs_keys: bool = True
    """The first of several pods that require each other needs a node with the topology keys."""
    trial_terms_change_namespace: bool = False
    """In a trial anti-affinity without namespaces means the namespace of the scheduled pod (no: of the pod
    with the term)."""
    nominated_pods_lack_company: bool = False
    """In a trial pods without a node in their spec do not count for the pod's own affinity."""
    counts_apart: bool = False
    """Topology spread constraints of one key each count their own pods (no: their counts are added up)."""
    # --- preemption -----------------------------------------------------------------------------------------
    sorts_victims_again: bool = False
    """Victims are sorted by importance at the end (no: those that violate a disruption budget come first)."""
    tries_idle_nodes: bool = False
    """Preemption may choose a node without a pod of lower priority."""
    needs_victims: bool = True
    """A node on which no pod has to leave is an error of preemption (no: it is chosen)."""
    dry_run_errs: bool = True
    """Preemption without a candidate ends with the errors of the nodes that were tried."""
    samples_candidates: bool = True
    """Preemption ends when it has found enough candidates."""
    nomination_outlasts_tries: bool = False
    """A pod keeps its nomination where nodes were tried in vain, and where its cycle ends in an error."""
    clears_itself: bool = False
    """The pod itself loses its nomination where no node can be helped, even if it has none."""
    unresolvable_ends_wait: bool = True
    """A pod does not wait for its nominated node if removing pods there cannot help."""
    waits_for_any_leaving: bool = False
    """A pod waits for any pod of lower priority that leaves its nominated node."""
    waits_for_preempted_alone: bool = False
    """A pod waits for a pod that leaves its nominated node only if that was preempted (no: only with gate
    PodDisruptionConditions)."""
    leaving_victims_keep_nominations: bool = False
    """With gate SchedulerAsyncPreemption, lower nominations of a node stay where all victims are already
    being deleted."""
    budgets: Budgets = "counted down"
    """The way victims count for their disruption budgets."""
    exempts_disrupted: bool = True
    """A pod that a disruption budget lists as disrupted does not count for it."""
    never_needs_gate: bool = False
    """PreemptionPolicy Never is read with gate NonPreemptingPriority alone."""
    # --- volumes --------------------------------------------------------------------------------------------
    narrows_to_local_volumes: bool = True
    """VolumeBinding leaves only the nodes that local volumes name (no: it looks at every node)."""
    volume_node_text: str = "node(s) had volume node affinity conflict"
    """The reason of a node from which a bound volume cannot be reached."""
    missing_volume_text: str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    """The reason of a node where a claim is bound to a volume that does not exist."""
    missing_claims_end_cycle: bool = False
    """A missing claim, or one that is being deleted, ends the cycle with an error before PreFilter (no:
    VolumeBinding rejects the pod)."""
    assumes_volumes_first: bool = False
    """Volumes are assumed before the pod is, and bound before PreBind, whichever plugins run (no: by
    VolumeBinding)."""
    ephemeral_off_text: str = ""
    """The error for a generic ephemeral volume beside a claim where the gate for such volumes is off (empty:
    it is ignored)."""
    lost_claims_reject: bool = True
    """VolumeBinding rejects pods with a claim in phase Lost."""
    awaited_claim_text: str = (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "{}"'
    )
    """The reason while the claim of a generic ephemeral volume does not exist."""
    foreign_claim_text: str = (
        "PVC {namespace}/{name} was not created for pod {namespace}/{pod} (pod is not owner)"
    )
    """The reason where the claim was not made for the pod."""
    zones_one_by_one: bool = False
    """VolumeZone checks claims node by node, in order, up to a volume in another zone. Nodes without zone
    labels are not checked."""
    zone_faults_are_errors: bool = False
    """A fault of a claim is an error of VolumeZone (no: it rejects the pod)."""
    zone_without_class_text: str = "PersistentVolumeClaim had no pv name and storageClass name"
    """The text of VolumeZone for a claim without volume and class."""
    zone_missing_class_text: str = 'storageclass.storage.k8s.io "{kind}" not found'
    """The text of VolumeZone for a claim whose class does not exist."""
    newer_zone_labels: bool = True
    """VolumeZone reads the newer labels of zones and regions (no: the beta labels alone)."""
    zone_labels_match: bool = False
    """VolumeZone reads the newer zone label of a node that lacks the beta label of the volume."""
    idle_restrictions_skip: bool = False
    """VolumeRestrictions does not count nominated pods where no pod on a node uses a ReadWriteOncePod claim
    of the pod."""
    trials_change_users: bool = False
    """Pods that come or go in trials change the node's count of users of ReadWriteOncePod claims (no: trials
    change nothing)."""
    sole_users_reject: bool = False
    """A ReadWriteOncePod claim in use rejects the pod in PreFilter, and removing pods cannot help."""
    sole_user_text: str = (
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    )
    """The reason of a node while another pod uses the pod's ReadWriteOncePod claim."""
    # --- services -------------------------------------------------------------------------------------------
    spreads_constrained_pods: bool = False
    """SelectorSpread scores pods with topology spread constraints, too."""
    first_peer_by_list: bool = False
    """ServiceAffinity takes the first pod of the first node in the list of nodes (no: by name)."""
    literal_pairs: bool = False
    """ServiceAffinity compares labels literally (no: with an invalid one everything matches)."""
    peer_node_text: str = 'node "{node}" not found'
    """ServiceAffinity's error where the node of the first pod is unknown."""
    counts_without_labels: bool = False
    """ServiceAffinity without labels still runs for each pod."""
    # --- errors ---------------------------------------------------------------------------------------------
    filter_error: str = 'running "{plugin}" filter plugin: {text}'
    """The error of a Filter plugin."""
    pre_filter_error: str = 'running PreFilter plugin "{plugin}": {text}'
    """The error of a PreFilter plugin."""
    pre_filter_rejection_errs: bool = False
    """A rejection by PreFilter ends the cycle with an error (no: it rejects every node)."""
    pre_score_error: str = 'running PreScore plugin "{plugin}": {text}'
    """The error of a PreScore plugin."""
    score_error: str = 'running Score plugins: plugin "{plugin}" failed with: {text}'
    """The error of a Score plugin."""
    normalize_error: str = 'running Normalize on Score plugins: plugin "{plugin}" failed with: {text}'
    """The error of a plugin that normalizes scores."""
    reads_in_error: bool = False
    """The error for missing state of PreFilter or PreScore says "error reading" (no: the plugin's own
    words)."""
    range_error: str = "applying score defaultWeights on Score plugins: "
    """The beginning of the error for a score out of range."""
    # --- texts ----------------------------------------------------------------------------------------------
    too_many_pods_text: str = "Too many pods"
    """The reason of a node that has no place for another pod."""
    taint_text: str = "node(s) had untolerated taint {{{key}: {value}}}"
    """The reason of a node with a taint that is not tolerated."""
    node_name_text: str = "node(s) didn't match the requested node name"
    """The reason of a node that is not the one named by the pod."""
    lacking_features_text: str = "node(s) didn't match Pod's required features"
    """The reason of a node that does not declare a feature the pod needs. It may take the features as
    ``features``."""
    host_users_are_a_feature: bool = False
    """A pod on the host's network with users of its own needs a node with feature
    UserNamespacesHostNetworkSupport."""
    node_affinity_text: str = "node(s) didn't match Pod's node affinity/selector"
    """The reason of a node that the pod's node affinity rejects."""
    pod_affinity_text: str = ""
    """A reason that precedes each reason of InterPodAffinity."""
    plain_selector_faults: bool = False
    """Only the first bad entry of a selector is a fault, without the path of the field."""
    point_errors: tuple[tuple[str, str], ...] = ()
    """Extension points after the decision, and the errors of plugins there, where their wording differs."""
    label_operators_of: str = "label"
    """The noun in the error for an unknown operator of a label selector: it is no valid selector operator of
    this."""
    label_words: LabelWords = (LABEL_WORDS[0], "a lowercase RFC 1123 subdomain", LABEL_WORDS[2])
    """The words for faults of labels: see :data:`~kubeclassic.api.meaning.labels.LABEL_WORDS`."""
    faults_list_operators: bool = False
    """The fault of an unknown operator of node affinity lists the known ones."""
    faults_as_json: bool = False
    """Lists in faults of fields are shown as JSON (no: as Go writes them)."""
    resource_name_faults: Literal["with name", "unquoted", "quoted"] = "unquoted"
    """``with name``: a managed resource that is no extended one is named twice; ``unquoted``: a name that is
    not qualified is shown without quotes."""


_NONE: Mapping[str, str] = MappingProxyType({})


class ConfigurationCells(CellGroup, frozen=True, kw_only=True):
    """The component configuration of a release of the framework, and its plugins."""

    capacity_gate: str = "VolumeCapacityPriority"
    """The gate with which VolumeBinding scores the capacity of volumes."""
    api_versions: tuple[str, ...] = ("v1beta2", "v1beta3", "v1")
    """The versions of the configuration that are read."""
    default_plugins: Mapping[str, int] = MappingProxyType({})
    """The default plugins in order, with their weights; 0: without one."""
    point_plugins: Mapping[str, str] = MappingProxyType({})
    """Extension point -> the default plugins of versions without multiPoint, with their weights. ``+gate:``
    or ``-gate:`` before a plugin: it is there with the gate, or without it."""
    default_version: str = "v1"
    """The version of the configuration whose default profile runs where none is given."""
    versions: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    """Another version of the configuration -> its cells that are not those of the default one."""
    lists_points: bool = False
    """The default plugins are listed for each extension point (no: under multiPoint)."""
    replaces_defaults: bool = True
    """A profile's entry of a default plugin replaces it (no: it comes after it, which is refused)."""
    adds_plugins_alone: bool = False
    """A configuration's plugins run besides those of the Policy or the provider, whatever it disables."""
    has_unreserve: bool = False
    """Unreserve is an extension point of its own (no: plugins of reserve have it)."""
    unread_points: frozenset[str] = frozenset()
    """The extension points of a profile that are accepted and not read."""
    fields_lacked: frozenset[str] = frozenset()
    """The fields of other versions of the configuration that are unknown."""
    args_lacked: frozenset[str] = frozenset()
    """The unknown arguments of plugins, as only other releases have them: plugins without any, or
    ``PLUGIN.field``."""
    locks_leases_alone: bool = True
    """Leaders are elected by leases only."""
    lease_outlasts_renewal: bool = True
    """A lease has to last longer than its renewal (no: at least as long)."""
    closes_addresses: bool = True
    """Health and metrics have no addresses of their own (no: their addresses are not checked)."""
    lenient_fields: bool = False
    """Unknown fields of the configuration are ignored, with a warning."""
    first_args: bool = False
    """RequestedToCapacityRatio and ServiceAffinity have arguments of other names."""
    lenient_args: bool = False
    """Fields of arguments that a plugin does not have are ignored."""
    args_with_configuration: bool = True
    """Plugins' arguments are checked with the configuration (no: by each plugin that is enabled, when it is
    made)."""
    fills_ratio_weights: bool = True
    """Resources of RequestedToCapacityRatio without a weight have weight 1."""
    conflicting_scores: frozenset[str] = frozenset()
    """The plugins that may not score beside NodeResourcesFit."""
    gated_plugins: Mapping[str, tuple[str, str]] = MappingProxyType({})
    """Gate that adds a default plugin -> the plugin, and the one that it precedes (empty: it is the last).
    With ``-`` before the gate it is added where the gate is off; the plugin may have a weight."""
    system_constraints: bool = True
    """PodTopologySpread has default constraints of the system."""
    constraints_are_the_list: bool = False
    """PodTopologySpread with default constraints but no defaultingType has type List."""
    gone_plugins: frozenset[str] = frozenset()
    """The plugins of older releases that no profile may name."""
    refused_plugins: frozenset[str] = frozenset({"SelectorSpread"})
    """The plugins that are refused, except under multiPoint."""
    refused_text: str = 'was invalid in version "v1"'
    """The fault of such a plugin."""
    settled_gates: frozenset[str] = frozenset()
    """The gates of older releases whose features are always there."""
    capacity_shape: tuple[tuple[int, int], ...] = ((0, 0), (100, 10))
    """The default shape of the score of VolumeBinding: (utilization, score) pairs."""
    multi_point: MultiPoint = "overrides"
    """The plugins of a point that come first where multiPoint names some too."""
    binders_text: str = 'at least one bind plugin is needed for profile with scheduler name "{name}"'
    """The refusal of a profile without a plugin that binds."""
    sorters_text: str = (
        'only one queue sort plugin required for profile with scheduler name "{name}", but got {count}'
    )
    """The refusal of a profile without a queueSort plugin."""
    refusal_text: str = ""
    """A text before the beginning of a profile's refusal, without a Policy."""
    weight_of_last_point: bool = False
    """The weight of a plugin's scores is the one at the last extension point that names it (no: at Score)."""
    weights_come_first: bool = False
    """Weights of Score plugins are checked before plugins are built."""
    strategy_path: str = "scoringStrategy."
    """The path of the strategy in faults of NodeResourcesFit."""
    checks_strategy_type: bool = True
    """The type of a scoring strategy is checked with the arguments."""
    compares_sorters: Literal["with defaults", "as given", "as given, or not"] = "with defaults"
    """The comparison of the profiles' queueSort plugins (or not: an empty list is not the same as none)."""
    sorters_first: bool = False
    """A profile's queueSort plugins are counted before it is made."""
    queue_sort_text: str = "has to match for all profiles"
    """The fault of profiles with different queueSort plugins."""
    queue_sort_args_text: str = "has to match for all profiles"
    """The fault of profiles with different arguments of that plugin."""
    shape_text: str = "utilization values must be sorted in increasing order"
    """The fault of a shape that is not in order."""
    plain_arg_faults: bool = False
    """Only the first fault of a plugin's arguments is reported, without its field's path."""
    no_fit_args_text: str = "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config"
    """The refusal of a profile without arguments of NodeResourcesFit, where extenders manage resources that
    the scheduler ignores (empty: there is none)."""
    profile_prefix: str = "initializing profiles: creating profile for scheduler name {name}: "
    """The beginning of a profile's refusal."""
    plugin_prefix: str = 'initializing plugin "{name}": '
    """The beginning of a plugin's refusal."""
    adds_up_weights: bool = True
    """A profile is refused whose weights are too high together."""
    shares_waiting_pods: bool = False
    """Plugins see the pods of all profiles that wait for Permit (no: those of their own)."""
    gate_needs: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Gate -> the gates without which it cannot be on."""
    shape_field: str = "shape"
    """The path of the shape in faults of a scoring strategy; with a dot, only type RequestedToCapacityRatio
    has a shape."""
    not_modelled: Mapping[str, str] = _NONE
    """Gate that cannot be switched on here -> the feature that is not modelled."""


Room = Literal["requested", "again", "left"]
RefusedCapacity = Literal["", "request", "alternative"]


class DeviceCells(CellGroup, frozen=True, kw_only=True):
    """The allocation of devices in a release."""

    gated: Mapping[str, Mapping[str, Any]] = field(
        default_factory=lambda: {"DRAAdminAccess": {"admin_access": True}}
    )
    """Gate -> other values of these cells while it is on."""
    admin_access: bool = False
    """Requests may ask for devices that are in use."""
    alternatives: bool = False
    """A request may name alternatives (firstAvailable), with gate DRAPrioritizedList."""
    admin_takes_once: bool = False
    """Admin access never takes a device twice for one claim, and ordinary requests of the pod cannot have
    it."""
    all_wants_one: bool = False
    """Allocation mode All needs at least one device."""
    all_stops: bool = True
    """A device in use ends the search of mode All (no: earlier choices are tried again)."""
    all_gives_back: bool = False
    """Devices taken in mode All are free again when the search backs up."""
    room: Room = "requested"
    """The devices that count towards the limit of 32 for a claim while they are chosen."""
    alternatives_apart: bool = False
    """Each alternative keeps its own matches, and mode All stays with the alternative that is tried."""
    one_way: bool = False
    """The devices of one request are taken in one order only, so none of them twice."""
    invalid_pool_errs: bool = False
    """An invalid pool is an error as soon as a search reaches it (no: once a device in it matches)."""
    whole_pools: bool = False
    """Incomplete and invalid pools give no device, and all slices of a pool count, wherever they can be
    reached from."""
    distinct_attribute: bool = False
    """Constraints may be a distinctAttribute."""
    compares_distinct: bool = False
    """Its values are compared (no: any two count as different)."""
    taints: bool = False
    """A device with a taint goes to a request that tolerates it."""
    shares: bool = False
    """Devices may be shared, as their capacity allows, and requests say how much of it they want."""
    refuses_capacity: RefusedCapacity = ""
    """A request for capacity is an error where devices are not shared. It names the request, or the
    alternative."""
    keeps_counters: bool = False
    """A device that is rejected after taking its counters keeps them, and a shared device takes none."""
    leaves_counter_slices: bool = False
    """Slices with shared counters are left out (no: they define the counters of their pool)."""
    leaves_counted_devices: bool = False
    """Devices that consume counters cannot be allocated."""
    leaves_per_device_selection: bool = False
    """Slices in which each device names its own nodes are left out."""
    leaves_binding_conditions: bool = False
    """Devices with binding conditions cannot be allocated."""
    waits_for_conditions: bool = False
    """A pod is bound once the binding conditions of its devices are true."""
    conditions_last: Literal["", "slices and pools", "pools"] = ""
    """The slices or pools that come last if a device in them has binding conditions."""
    extended_resources: bool = False
    """Extended resources that a DeviceClass names are allocated as devices."""
    timeout_errs: bool = False
    """A search that takes too long is an error (no: it finds nothing)."""
    other_owner_text: str = "ResourceClaim {claim} was not created for pod {pod} (pod is not owner)"
    """The reason against a claim made for another pod. It takes ``claim`` and ``pod``."""
    condition_failed_text: str = "claim {claim} binding failed: reason={reason}, message={message}"
    """The error for a failed device of ``claim``, with the ``reason`` and the quoted ``message`` of its
    condition."""
    condition_late_text: str = "claim {claim} binding timeout"
    """The error where the conditions of ``claim`` took too long."""
    conditions_late_text: str = "device binding timeout"
    """The error where the pod waited too long."""
    speaks_without_claims: bool = True
    """PostFilter has a message for a pod without claims."""


def with_gates(cells: DeviceCells, gates: Mapping[str, bool]) -> DeviceCells:
    """*cells* as changed by the gates that are on."""
    values = {name: getattr(cells, name) for name in DeviceCells.__struct_fields__}
    for gate, changed_values in cells.gated.items():
        if gates.get(gate):
            values |= changed_values
    return DeviceCells(**values)
