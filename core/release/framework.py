"""In what two releases of the framework differ, beside the cells that all releases have. See :mod:`kubeclassic.core.release.release`.

The values are in ``framework/tables``. A cell that a release does not name is as in 1.27. A cell says what it means in words that
``releases`` shows: a statement where it is yes or no, else a subject of which the value says how it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_type_hints

from msgspec import Struct

from ...api.record import says

Budgets = Literal["counted down", "counted to the first", "used up"]
"""``counted down``: each victim takes one from each of its budgets; ``counted to the first``: but from none after the first that has
none left; ``used up``: only budgets that have none left count."""
ReadsByCursor = Literal["never", "after changes", "always"]
_NOT_READ: Any = {"Pod": object, "SelectorError": object}
"""What types name that no module of cells imports."""
MultiPoint = Literal["overrides", "shifting overrides", "single points"]
"""``overrides``: plugins of the point that multiPoint names too; ``shifting overrides``: the same, by a list that shrinks meanwhile;
``single points``: all plugins of the point."""


def words_of(cells: type[Struct]) -> Iterator[tuple[str, str, str]]:
    """The name, the subject and the words of each cell of a class; no words where it is shown elsewhere.

    Its notes are its words, or those of each name that it holds a cell under, and before them its subject, if that is not its class.
    """
    for field, kind in get_type_hints(cells, localns=_NOT_READ, include_extras=True).items():
        *subject, words = getattr(kind, "__metadata__", ("",))
        about = subject[0] if subject else ""
        if isinstance(words, dict):
            yield from ((f"{field}.{name}", about, text) for name, text in words.items())
        else:
            yield field, about, getattr(words, "description", None) or ""


class CellGroup(Struct, frozen=True, kw_only=True):
    """A group of cells: too many to be shown in full."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class FrameworkCells(CellGroup, frozen=True, kw_only=True):
    """How a release of the framework decides."""

    # --- the search -------------------------------------------------------------------------------------------------
    outside_text: Annotated[
        str | None, says("the reason of a node outside those that a PreFilter plugin names (none: it has no status)")
    ] = "node is filtered out by the prefilter result"
    pre_filter_narrows: Annotated[bool, says("a PreFilter plugin can name the only nodes that are looked at")] = True
    unknown_name_errs: Annotated[
        bool, says("a node that a PreFilter plugin names and that does not exist is an error (no: it is ignored)")
    ] = False
    counts_outside: Annotated[
        bool, says("nodes outside those of a PreFilter plugin count where the next search starts, if they have a status")
    ] = True
    tries_without_status: Annotated[bool, says("nodes without a status may be preempted on")] = True
    pre_filter_skips: Annotated[bool, says("where PreFilter has nothing to say of a pod, the plugin's Filter does not run")] = True
    nominated_gate: Annotated[str, says("the gate with which the nominated node is looked at first (none: it always is)")] = ""
    nominated_moves_start: Annotated[bool, says("a look at the nominated node alone lets the next search start at the first node")] = False
    index_of_all_nodes: Annotated[bool, says("the next search starts at a place among all nodes (no: among those of PreFilter)")] = False
    narrowing_rejects: Annotated[bool, says("a plugin whose PreFilter leaves out nodes is among those that reject the pod")] = False
    rejection_ends_pre_filter: Annotated[
        bool,
        says("PreFilter ends with the first plugin that rejects the pod (no: only if removing pods cannot help; else the last one counts)"),
    ] = True
    disjoint_is_unresolvable: Annotated[bool, says("removing pods cannot help where PreFilter plugins together leave no node")] = False
    disjoint_sorts_plugins: Annotated[bool, says("the message then names the plugins in ascending order (no: in running order)")] = False
    pre_filter_errors_lost: Annotated[bool, says("an error of PreFilter is told without its text")] = False
    one_is_enough: Annotated[bool, says("without score plugins and extenders a search ends at the first node that fits")] = False
    extender_replaces_reasons: Annotated[bool, says("a node that an extender rejects has the extender's reason alone")] = False
    counts_pre_filter: Annotated[bool, says("the message of a rejection by PreFilter is counted for each node (no: it is there once)")] = (
        False
    )
    shows_post_filter: Annotated[bool, says("the error of a pod that fits nowhere ends in the message of PostFilter")] = True
    post_filter_full_stop: Annotated[bool, says("a full stop is added after the message of PostFilter, even if it has one")] = True
    fit_errors_after: Annotated[
        frozenset[str], says("the steps after a decision at which a rejection reads like that of a cluster of one node")
    ] = frozenset()
    checks_plugin_by_plugin: Annotated[
        bool, says("of several scores out of range that of the first plugin is told (no: of the first node)")
    ] = False
    one_reason: Annotated[
        bool, says("a plugin gives one reason a node: the first that removing pods cannot help, else the first (no: all)")
    ] = False
    reads_order_by_cursor: Annotated[ReadsByCursor, says("when the list of nodes is read on from where the node tree's cursor stopped")] = (
        "never"
    )
    # --- scores -----------------------------------------------------------------------------------------------------
    skips_scoring: Annotated[frozenset[str], says("the plugins that give no score where each node would get the same")] = frozenset()
    pre_scores_one_node: Annotated[bool, says("PreScore runs even where one node is feasible")] = False
    counts_images_late: Annotated[
        bool, says("nodes that have an image are counted whenever a node's snapshot is taken (no: when the node was added or updated)")
    ] = False
    image_bound_of_one: Annotated[bool, says("images are worth no more than 1000 MB in all (no: than that for each container)")] = False
    init_images_count: Annotated[bool, says("images of init containers count, as do those containers where sizes are scaled")] = False
    points_lacked: Annotated[
        frozenset[tuple[str, str]], says("the extension points at which a plugin does not run, though later it does")
    ] = frozenset(
        [
            ("VolumeBinding", "preScore"),
            *((f"{kind}Limits", "preFilter") for kind in ("AzureDisk", "Cinder", "EBS", "GCEPD", "NodeVolume")),
        ]
    )
    overfull_scores_zero: Annotated[bool, says("MostAllocated scores 0 where more is requested than there is (no: as if full)")] = False
    lacking_resources_score: Annotated[
        bool, says("resources that a node lacks or the pod does not request count 0 in the scores of allocation (no: they do not count)")
    ] = False
    ratio_rounds_up: Annotated[bool, says("RequestedToCapacityRatio rounds up the share in use (no: down)")] = False
    # --- requests ---------------------------------------------------------------------------------------------------
    rejects_sidecars: Annotated[str, says("where NodeResourcesFit rejects pods with sidecars without gate SidecarContainers")] = ""
    sidecars_have_ports: Annotated[bool, says("host ports of sidecars count (no: only those of containers)")] = False
    fit_checks_requested: Annotated[
        bool, says("NodeResourcesFit looks at what the pod requests alone (no: if it requests anything, at all native resources)")
    ] = False
    too_small_is_unresolvable: Annotated[bool, says("removing pods cannot help on a node that is too small even when it is empty")] = False
    fit_scores_containers: Annotated[
        bool,
        says(
            "NodeResourcesFit scores a pod by its containers' requests in the spec"
            " (no: also by its status, and those of the pod as a whole)"
        ),
    ] = False
    gates_node_storage: Annotated[bool, says("without gate LocalStorageCapacityIsolation nodes have no ephemeral storage")] = False
    checks_zero_scalars: Annotated[bool, says("NodeResourcesFit looks at scalars of which the pod requests 0, too")] = False
    scored_by_name: Annotated[bool, says("a resource that is scored twice counts once, with its last weight")] = False
    fit_scores_overhead: Annotated[bool, says("NodeResourcesFit counts the overhead of the pod that it scores")] = True
    balance_of_two: Annotated[
        bool, says("NodeResourcesBalancedAllocation scores the difference of cpu and memory, and nothing where one would be used up")
    ] = False
    balances_without_volumes: Annotated[
        bool, says("with gate BalanceAttachedNodeVolumes it scores volumes for each pod (no: for those that have some)")
    ] = False
    fit_sums_wrap: Annotated[bool, says("what NodeResourcesFit adds up wraps around at 2**63 (no: it looks at what is left)")] = False
    # --- affinity and spread ----------------------------------------------------------------------------------------
    keeps_namespace_selectors: Annotated[
        bool, says("a namespaceSelector of the incoming pod that a namespace without labels matches takes in every namespace")
    ] = False
    soft_constraints_text: Annotated[
        str, says("the beginning of PodTopologySpread's error in PreScore for a pod with an invalid selector")
    ] = "calculating preScoreState: "
    constraints_text: Annotated[str, says("the beginning of PodTopologySpread's error for a pod with an invalid selector")] = ""
    empty_selectors_count: Annotated[bool, says("topology spread constraints with an empty selector count every pod (no: none)")] = False
    label_keys_alone_select: Annotated[bool, says("matchLabelKeys select pods where a topology spread constraint has no selector")] = False
    any_conflict_rejects: Annotated[
        bool,
        says("NodeAffinity rejects the pod where the node names of one term exclude each other (no: only where those of all terms do)"),
    ] = False
    checks_pairs: Annotated[
        bool, says("an invalid label in a nodeSelector, or in the selectors of a pod's services, makes it match everything (no: nothing)")
    ] = False
    names_nodes: Annotated[
        bool, says("NodeAffinity leaves only the nodes that the pod's required terms name (no: it looks at every node)")
    ] = True
    rounds_spread: Annotated[bool, says("PodTopologySpread rounds the score of a node before it normalizes (no: it cuts it off)")] = True
    counts_whole_domains: Annotated[
        bool,
        says("pods on every node of a domain count for hard topology spread constraints, if one node of it does (no: on nodes that count)"),
    ] = False
    system_needs_all_keys: Annotated[
        bool,
        says("nodes without a topology key score 0 for the default constraints of the system, too (no: they are scored by the other keys)"),
    ] = False
    liking_includes_zero: Annotated[bool, says("InterPodAffinity normalizes between the least and the most, but 0 always takes part")] = (
        False
    )
    owners_by_selector: Annotated[
        bool, says("a pod spreads with those of each controller whose selector matches it (no: with those of the one that owns it)")
    ] = False
    adds_up_constraints: Annotated[
        bool, says("hard topology spread constraints of one key all count a node's pods (no: for each node the last of them)")
    ] = False
    edits_count_anywhere: Annotated[
        bool, says("in a trial pods count for hard topology spread constraints on every node with the keys (no: on nodes that count)")
    ] = False
    no_domain_fits: Annotated[bool, says("without any node that counts, hard topology spread constraints reject no node")] = False
    reads_preferred_fields: Annotated[bool, says("NodeAffinity reads the matchFields of preferred terms")] = True
    affinity_sums_in_32_bits: Annotated[bool, says("NodeAffinity adds weights up in 32 bits")] = False
    any_term_counts: Annotated[
        bool, says("in a trial a pod that comes counts for all the pod's anti-affinity if one term matches it (no: for that term)")
    ] = False
    unreadable_terms_are_none: Annotated[
        bool, says("a pod with an invalid selector among its pod affinity terms of one kind has no terms of that kind (no: it is rejected)")
    ] = False
    spreads_by_share: Annotated[
        bool,
        says(
            "PodTopologySpread scores a node by the share of peers outside its domains (no: by their number, fewer domains counting more)"
        ),
    ] = False
    missing_key_is_uneven: Annotated[
        bool, says("a node without a topology key fails as one in a domain that is too full, which removing pods may help")
    ] = False
    edits_make_domains: Annotated[bool, says("a pod added or removed in a trial makes a domain of one without nodes that count")] = False
    terminating_peers_count: Annotated[bool, says("pods that are being deleted count for topology spread constraints")] = False
    soft_peers_anywhere: Annotated[bool, says("pods of every namespace count for soft topology spread constraints")] = False
    existing_pods_refuse_first: Annotated[bool, says("InterPodAffinity looks at the anti-affinity of existing pods first (no: last)")] = (
        False
    )
    first_pod_needs_keys: Annotated[bool, says("the first pod of those that require each other needs a node with the topology keys")] = True
    trial_terms_change_namespace: Annotated[
        bool, says("in a trial anti-affinity without namespaces is about that of the pod that is scheduled (no: of the pod that has it)")
    ] = False
    nominated_pods_lack_company: Annotated[
        bool, says("in a trial pods without a node in their spec do not count for the pod's own affinity")
    ] = False
    counts_apart: Annotated[
        bool, says("topology spread constraints of one key each count their own pods (no: their counts are added up)")
    ] = False
    # --- preemption -------------------------------------------------------------------------------------------------
    sorts_victims_again: Annotated[
        bool, says("victims are sorted by importance at the end (no: those that violate a disruption budget come first)")
    ] = False
    tries_idle_nodes: Annotated[bool, says("preemption may choose a node without a pod of lower priority")] = False
    needs_victims: Annotated[bool, says("a node on which no pod has to leave is an error of preemption (no: it is chosen)")] = True
    dry_run_errs: Annotated[bool, says("preemption without a candidate ends with the errors of the nodes that were tried")] = True
    samples_candidates: Annotated[bool, says("preemption ends when it has found enough candidates")] = True
    nomination_outlasts_tries: Annotated[bool, says("a pod keeps its nomination where nodes were tried in vain")] = False
    clears_itself: Annotated[
        bool, says("where no node can be helped, the pod is among those that lose their nomination, even if it has none")
    ] = False
    unresolvable_ends_wait: Annotated[bool, says("a pod does not wait for its nominated node if removing pods there cannot help")] = True
    waits_for_any_leaving: Annotated[bool, says("a pod waits for any pod of lower priority that leaves its nominated node")] = False
    waits_for_preempted_alone: Annotated[
        bool, says("a pod waits for one that leaves its nominated node only if that was preempted (no: with gate PodDisruptionConditions)")
    ] = False
    leaving_victims_keep_nominations: Annotated[
        bool, says("with gate SchedulerAsyncPreemption lower nominations of a node stay where all victims are being deleted already")
    ] = False
    budgets: Annotated[Budgets, says("how victims count for their disruption budgets")] = "counted down"
    exempts_disrupted: Annotated[bool, says("a pod that a disruption budget lists as disrupted does not count for it")] = True
    never_needs_gate: Annotated[bool, says("preemptionPolicy Never is read with gate NonPreemptingPriority alone")] = False
    # --- volumes ----------------------------------------------------------------------------------------------------
    narrows_to_local_volumes: Annotated[
        bool, says("VolumeBinding leaves only the nodes that local volumes name (no: it looks at every node)")
    ] = True
    volume_node_text: Annotated[str, says("the reason of a node from which a bound volume cannot be reached")] = (
        "node(s) had volume node affinity conflict"
    )
    missing_volume_text: Annotated[str, says("the reason of a node where a claim is bound to a volume that does not exist")] = (
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    )
    missing_claims_end_cycle: Annotated[
        bool,
        says(
            "a missing claim, or one that is being deleted, ends the cycle with an error before PreFilter"
            " (no: VolumeBinding rejects the pod)"
        ),
    ] = False
    assumes_volumes_first: Annotated[
        bool, says("volumes are assumed before the pod is, and bound before PreBind, whichever plugins run (no: by VolumeBinding)")
    ] = False
    ephemeral_off_text: Annotated[
        str, says("the error for a generic ephemeral volume beside a claim where the gate for such volumes is off (none: it is ignored)")
    ] = ""
    lost_claims_reject: Annotated[bool, says("VolumeBinding rejects pods with a claim in phase Lost")] = True
    awaited_claim_text: Annotated[str, says("the reason while the claim of a generic ephemeral volume does not exist")] = (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "{}"'
    )
    foreign_claim_text: Annotated[str, says("the reason where that claim was not made for the pod")] = (
        "PVC {namespace}/{name} was not created for pod {namespace}/{pod} (pod is not owner)"
    )
    zones_one_by_one: Annotated[
        bool,
        says(
            "VolumeZone looks at claims node by node, in order, up to a volume in another zone, and not at all on nodes without zone labels"
        ),
    ] = False
    zone_faults_are_errors: Annotated[bool, says("what is wrong with a claim is an error of VolumeZone (no: it rejects the pod)")] = False
    zone_without_class_text: Annotated[str, says("what VolumeZone says of a claim without volume and class")] = (
        "PersistentVolumeClaim had no pv name and storageClass name"
    )
    zone_missing_class_text: Annotated[str, says("what VolumeZone says of a claim of a class that does not exist")] = (
        'storageclass.storage.k8s.io "{kind}" not found'
    )
    newer_zone_labels: Annotated[bool, says("VolumeZone reads the newer labels of zones and regions (no: the beta labels alone)")] = True
    zone_labels_match: Annotated[bool, says("VolumeZone reads the newer zone label of a node that lacks the beta label of the volume")] = (
        False
    )
    idle_restrictions_skip: Annotated[
        bool, says("VolumeRestrictions does not count nominated pods where no pod on a node uses a ReadWriteOncePod claim of the pod")
    ] = False
    trials_change_users: Annotated[
        bool,
        says(
            "pods that come or go in trials change how many pods of the node use a claim with ReadWriteOncePod (no: trials change nothing)"
        ),
    ] = False
    sole_users_reject: Annotated[
        bool, says("a ReadWriteOncePod claim that is in use rejects the pod in PreFilter, and removing pods cannot help")
    ] = False
    sole_user_text: Annotated[str, says("the reason of a node while another pod uses the pod's ReadWriteOncePod claim")] = (
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    )
    # --- services ---------------------------------------------------------------------------------------------------
    spreads_constrained_pods: Annotated[bool, says("SelectorSpread scores pods with topology spread constraints, too")] = False
    first_peer_by_list: Annotated[
        bool, says("ServiceAffinity takes the first pod of the first node in the list of nodes (no: by name)")
    ] = False
    literal_pairs: Annotated[bool, says("ServiceAffinity compares labels as they are (no: by an invalid one everything matches)")] = False
    peer_node_text: Annotated[str, says("ServiceAffinity's error where the node of the first pod is unknown")] = 'node "{node}" not found'
    counts_without_labels: Annotated[bool, says("ServiceAffinity without labels is asked about each pod all the same")] = False
    # --- errors -----------------------------------------------------------------------------------------------------
    filter_error: Annotated[str, says("the error of a Filter plugin")] = 'running "{plugin}" filter plugin: {text}'
    pre_filter_error: Annotated[str, says("the error of a PreFilter plugin")] = 'running PreFilter plugin "{plugin}": {text}'
    pre_filter_rejection_errs: Annotated[
        bool, says("a rejection by PreFilter ends the cycle with an error (no: it rejects every node)")
    ] = False
    pre_score_error: Annotated[str, says("the error of a PreScore plugin")] = 'running PreScore plugin "{plugin}": {text}'
    score_error: Annotated[str, says("the error of a Score plugin")] = 'running Score plugins: plugin "{plugin}" failed with: {text}'
    normalize_error: Annotated[str, says("the error of a plugin that normalizes scores")] = (
        'running Normalize on Score plugins: plugin "{plugin}" failed with: {text}'
    )
    range_error: Annotated[str, says("the beginning of the error for a score out of range")] = (
        "applying score defaultWeights on Score plugins: "
    )
    # --- texts ------------------------------------------------------------------------------------------------------
    too_many_pods_text: Annotated[str, says("the reason of a node that has no place for another pod")] = "Too many pods"
    taint_text: Annotated[str, says("the reason of a node with a taint that is not tolerated")] = (
        "node(s) had untolerated taint {{{key}: {value}}}"
    )
    node_name_text: Annotated[str, says("the reason of another node than that which the pod names")] = (
        "node(s) didn't match the requested node name"
    )
    node_affinity_text: Annotated[str, says("the reason of a node that the pod's node affinity rejects")] = (
        "node(s) didn't match Pod's node affinity/selector"
    )
    pod_affinity_text: Annotated[str, says("a reason that comes before each reason of InterPodAffinity")] = ""
    plain_selector_faults: Annotated[
        bool, says("the faults of selectors are those of the first bad entry, without the path of the field")
    ] = False
    faults_list_operators: Annotated[bool, says("the fault of an unknown operator of node affinity lists the known ones")] = False
    faults_as_json: Annotated[bool, says("lists in faults of fields are shown as JSON (no: as Go writes them)")] = False


_NONE: Mapping[str, str] = MappingProxyType({})


class ConfigurationCells(CellGroup, frozen=True, kw_only=True):
    """How a release of the framework reads its component configuration, and which plugins it has."""

    capacity_gate: Annotated[str, says("the gate with which VolumeBinding scores the capacity of volumes")] = "VolumeCapacityPriority"
    api_versions: Annotated[tuple[str, ...], says("the versions of the configuration that are read")] = ("v1beta2", "v1beta3", "v1")
    default_plugins: Mapping[str, int] = MappingProxyType({})
    """The default plugins in order, with their weights; 0: none is given."""
    point_plugins: Mapping[str, str] = MappingProxyType({})
    """Extension point -> the default plugins of the versions without multiPoint, with their weights; ``+gate:`` or ``-gate:`` before a
    plugin says that it is there with the gate, or without it."""
    default_version: Annotated[str, says("the version of the configuration whose default profile runs where none is given")] = "v1"
    versions: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    """Another version of the configuration -> its cells that are not those of the default one."""
    lists_points: Annotated[bool, says("the default plugins are listed for each extension point (no: under multiPoint)")] = False
    replaces_defaults: Annotated[
        bool, says("a profile's entry of a default plugin takes its place (no: it comes after it, which is refused)")
    ] = True
    adds_plugins_alone: Annotated[
        bool, says("a configuration's plugins run besides those of the Policy or the provider, whatever it disables")
    ] = False
    has_unreserve: Annotated[bool, says("unreserve is an extension point of its own (no: plugins of reserve have it)")] = False
    unread_points: Annotated[frozenset[str], says("the extension points of a profile that are accepted and not read")] = frozenset()
    fields_lacked: Annotated[frozenset[str], says("the fields of other versions of the configuration that are unknown")] = frozenset()
    args_lacked: Annotated[frozenset[str], says("the arguments of plugins of other releases that are unknown")] = frozenset()
    """Plugins without any, or ``PLUGIN.field``."""
    lenient_fields: Annotated[bool, says("unknown fields of the configuration are ignored, with a warning")] = False
    first_args: Annotated[bool, says("RequestedToCapacityRatio and ServiceAffinity have arguments of other names")] = False
    lenient_args: Annotated[bool, says("fields of arguments that a plugin does not have are ignored")] = False
    args_with_configuration: Annotated[
        bool, says("plugins' arguments are checked with the configuration (no: by each plugin that is enabled, when it is made)")
    ] = True
    fills_ratio_weights: Annotated[bool, says("resources of RequestedToCapacityRatio without a weight have weight 1")] = True
    conflicting_scores: Annotated[frozenset[str], says("the plugins that may not score beside NodeResourcesFit")] = frozenset()
    gated_plugins: Mapping[str, tuple[str, str]] = MappingProxyType({})
    """Gate that adds a default plugin -> that, and the one that it comes before; empty: it is the last. With ``-`` before the gate it is
    added where the gate is off; the plugin may have a weight."""
    system_constraints: Annotated[bool, says("PodTopologySpread has default constraints of the system")] = True
    constraints_are_the_list: Annotated[bool, says("default constraints of PodTopologySpread alone mean defaultingType List")] = False
    gone_plugins: frozenset[str] = frozenset()
    """The plugins of older releases that no profile may name."""
    refused_plugins: Annotated[frozenset[str], says("the plugins that are refused, but for multiPoint")] = frozenset({"SelectorSpread"})
    refused_text: Annotated[str, says("the fault of such a plugin")] = 'was invalid in version "v1"'
    settled_gates: frozenset[str] = frozenset()
    """The gates of older releases whose features are always there."""
    capacity_shape: Annotated[
        tuple[tuple[int, int], ...], says("the default shape of the score of VolumeBinding, utilization and score in turn")
    ] = ((0, 0), (100, 10))
    multi_point: Annotated[MultiPoint, says("which plugins of a point come first where multiPoint names some too")] = "overrides"
    sorters_text: Annotated[str, says("the refusal of a profile without a queueSort plugin")] = (
        'only one queue sort plugin required for profile with scheduler name "{name}", but got {count}'
    )
    refusal_text: Annotated[str, says("what comes before the beginning of a profile's refusal, without a Policy")] = ""
    weights_come_first: Annotated[bool, says("weights of Score plugins are checked before plugins are built")] = False
    strategy_path: Annotated[str, says("where faults of NodeResourcesFit find its strategy")] = "scoringStrategy."
    checks_strategy_type: Annotated[bool, says("the type of a scoring strategy is checked with the arguments")] = True
    compares_sorters: Annotated[
        Literal["with defaults", "as given", "as given, or not"],
        says("how the queueSort plugins of profiles are compared (or not: an empty list is not the same as none)"),
    ] = "with defaults"
    sorters_first: Annotated[bool, says("a profile's queueSort plugins are counted before it is made")] = False
    queue_sort_text: Annotated[str, says("the fault of profiles with different queueSort plugins")] = "has to match for all profiles"
    queue_sort_args_text: Annotated[str, says("the fault of profiles with different arguments of that plugin")] = (
        "has to match for all profiles"
    )
    shape_text: Annotated[str, says("the fault of a shape that is not in order")] = "utilization values must be sorted in increasing order"
    plain_arg_faults: Annotated[bool, says("of the faults of plugins' arguments only the first is told, without its field's path")] = False
    profile_prefix: Annotated[str, says("the beginning of a profile's refusal")] = (
        "initializing profiles: creating profile for scheduler name {name}: "
    )
    plugin_prefix: Annotated[str, says("the beginning of a plugin's refusal")] = 'initializing plugin "{name}": '
    adds_up_weights: Annotated[bool, says("a profile is refused whose weights are too high together")] = True
    shares_waiting_pods: Annotated[bool, says("plugins see the pods of all profiles that wait for Permit (no: those of their own)")] = False
    not_modelled: Mapping[str, str] = _NONE
    """Gate that cannot be switched on here -> the feature that is not modelled."""


Room = Literal["requested", "again", "left"]


class DeviceCells(CellGroup, frozen=True, kw_only=True):
    """How a release allocates devices."""

    alternatives: Annotated[bool, says("a request may name alternatives (firstAvailable), with gate DRAPrioritizedList")] = False
    admin_takes_once: Annotated[
        bool, says("admin access never takes a device twice for one claim, and others of the pod cannot have it")
    ] = False
    all_wants_one: Annotated[bool, says("allocation mode All needs one device at least")] = False
    all_stops: Annotated[bool, says("a device in use ends the search of mode All (no: what came before it is tried again)")] = True
    all_gives_back: Annotated[bool, says("what mode All took is free again when the search backs up")] = False
    room: Annotated[Room, says("what counts towards 32 devices of a claim while they are chosen")] = "requested"
    invalid_pool_errs: Annotated[bool, says("an invalid pool is an error once a search comes to it (no: once a device in it matches)")] = (
        False
    )
    distinct_attribute: Annotated[bool, says("constraints may be a distinctAttribute")] = False
    leaves_counter_slices: Annotated[bool, says("slices with shared counters are left out")] = False
    leaves_counted_devices: Annotated[bool, says("devices that consume counters cannot be allocated")] = False
    leaves_per_device_selection: Annotated[bool, says("slices in which each device says its nodes are left out")] = False
    leaves_binding_conditions: Annotated[bool, says("devices with binding conditions cannot be allocated, and come last")] = False
    speaks_without_claims: Annotated[bool, says("PostFilter has something to say of a pod without claims")] = True
