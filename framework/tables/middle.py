"""The releases 1.26 down to 1.22: in which cells each differs from the one after it, so that what 1.27 has is said once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from ...core.pods import requests
from ...core.release import Release
from ...core.volumes import intree
from ..config.gatetable import gates_of, settled_by
from . import around, newer, policies, versions


def points(later: Release, **changed: str) -> Mapping[str, str]:
    """The default plugins of a release by extension point: those of the *later* one but for the *changed* points; empty: none."""
    found = {**later.configuration.point_plugins, **changed}
    return MappingProxyType({point: plugins for point, plugins in found.items() if plugins})


PRIORITIES = frozenset({"RequestedToCapacityRatioPriority", "ResourceLimitsPriority", "ServiceSpreadingPriority"})
"""The priorities that are no plugins in the first release with plugins."""
TO_COME = frozenset({"DynamicResources", "SchedulingGates"})
"""The plugins that came with 1.26."""
_GONE_UP_TO_1_22 = PRIORITIES | TO_COME | {"DefaultPodTopologySpread", "NodeResourceLimits"}

V1_26 = attrs.evolve(
    newer.V1_27,
    version="1.26",
    gates=gates_of("1.26"),
    incoming=requests.rounded_sums,
    footprint=requests.rounded_sums,
    incoming_nonzero=requests.nonzero_with_whole_overhead,
    footprint_nonzero=requests.nonzero_with_overhead,
    incoming_scored=requests.sums_with_whole_overhead,
    configuration=attrs.evolve(
        newer.V1_27.configuration,
        settled_gates=settled_by("1.26"),
        point_plugins=points(
            newer.V1_27,
            preFilter="NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread InterPodAffinity VolumeBinding NodeAffinity",
            preScore="InterPodAffinity PodTopologySpread TaintToleration NodeAffinity",
        ),
        args_lacked=newer.V1_27.configuration.args_lacked | {"InterPodAffinity.ignorePreferredTermsOfExistingPods"},
        leases_alone=False,
    ),
    framework=attrs.evolve(
        newer.V1_27.framework,
        scored_by_name=True,
        empty_selectors_count=True,
        label_keys_alone_select=True,
        any_conflict_rejects=True,
        points_lacked=newer.V1_27.framework.points_lacked | {("VolumeZone", "preFilter")},
        narrows_to_local_volumes=False,
        zones_one_by_one=True,
        sole_users_reject=True,
        outside_text=None,
        unknown_name_errs=True,
        pre_filter_skips=False,
        waits_for_any_leaving=True,
    ),
    volumes=attrs.evolve(newer.V1_27.volumes, always_migrated=frozenset({intree.CINDER})),
)

V1_25 = attrs.evolve(
    V1_26,
    version="1.25",
    **around.of("1.25"),
    cache_replaces_confirmed=False,
    gates=gates_of("1.25"),
    framework=attrs.evolve(
        V1_26.framework,
        checks_zero_scalars=True,
        counts_pre_filter=True,
        post_filter_full_stop=False,
        checks_plugin_by_plugin=True,
    ),
    configuration=versions.with_versions(
        attrs.evolve(
            V1_26.configuration,
            settled_gates=settled_by("1.25"),
            gone_plugins=newer.V1_27.configuration.gone_plugins | TO_COME,
            gated_plugins=MappingProxyType({}),
            not_modelled=MappingProxyType({}),
            point_plugins=points(V1_26, preEnqueue=""),
            fields_lacked=V1_26.configuration.fields_lacked | {versions.PERCENTAGE, versions.PRE_ENQUEUE},
            multi_point="shifting overrides",
        ),
        *("v1beta2", "v1beta3"),
    ),
)

V1_24 = attrs.evolve(
    V1_25,
    version="1.24",
    **around.of("1.24"),
    gates=gates_of("1.24"),
    configuration=versions.with_versions(
        attrs.evolve(
            V1_25.configuration,
            settled_gates=settled_by("1.24"),
            default_version="v1beta3",
            api_versions=("v1beta2", "v1beta3"),
            sorters_text='one queue sort plugin required for profile with scheduler name "{name}"',
            strategy_path="",
            checks_strategy_type=False,
            refused_plugins=frozenset(),
        ),
        "v1beta2",
    ),
    framework=attrs.evolve(
        V1_25.framework,
        trials_change_users=True,
        pre_filter_errors_lost=True,
        nominated_gate="PreferNominatedNode",
        nominated_moves_start=True,
        gates_node_storage=True,
    ),
    volumes=attrs.evolve(V1_25.volumes, migration_gate="CSIMigration", inline_migrates=False),
)

V1_23 = attrs.evolve(
    V1_24,
    version="1.23",
    **around.of("1.23"),
    gates=gates_of("1.23"),
    framework=attrs.evolve(
        V1_24.framework,
        pre_filter_errors_lost=False,
        names_nodes=False,
        fit_scores_overhead=False,
        rounds_spread=False,
        counts_whole_domains=True,
        taint_text="node(s) had taint {{{key}: {value}}}, that the pod didn't tolerate",
        pre_filter_narrows=False,
        shows_post_filter=False,
        adds_up_constraints=True,
        edits_count_anywhere=True,
    ),
    configuration=attrs.evolve(
        V1_24.configuration,
        settled_gates=settled_by("1.23"),
        gated_plugins=MappingProxyType({"-DefaultPodTopologySpread": ("SelectorSpread=1", "")}),
        point_plugins=points(
            V1_24,
            preScore=f"{V1_24.configuration.point_plugins['preScore']} -DefaultPodTopologySpread:SelectorSpread",
            score=f"{V1_24.configuration.point_plugins['score']} -DefaultPodTopologySpread:SelectorSpread=1",
        ),
        refusal_text="couldn't create scheduler: ",
        multi_point="single points",
    ),
    volumes=attrs.evolve(V1_24.volumes, always_migrated=frozenset(), storage_capacity_gate="CSIStorageCapacity"),
)

_USAGE = frozenset({"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"})
"""The plugins whose scores NodeResourcesFit took over."""
OLD_SCORES = (
    "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
    " NodePreferAvoidPods=10000 PodTopologySpread=2 TaintToleration=1 +VolumeCapacityPriority:VolumeBinding=1"
    " -DefaultPodTopologySpread:SelectorSpread=1"
)
"""The Score plugins of v1beta1."""
_V1BETA1 = {
    "point_plugins": points(V1_23, score=OLD_SCORES),
    "replaces_defaults": False,
    "constraints_are_the_list": True,
    "args_lacked": V1_23.configuration.args_lacked,
    "refused_plugins": frozenset(),
    "conflicting_scores": _USAGE,
}

V1_22 = attrs.evolve(
    V1_23,
    version="1.22",
    **around.of("1.22"),
    gates=gates_of("1.22"),
    configuration=attrs.evolve(
        V1_23.configuration,
        settled_gates=settled_by("1.22"),
        sorters_first=True,
        default_version="v1beta2",
        gone_plugins=_GONE_UP_TO_1_22,
        api_versions=("v1beta1", "v1beta2"),
        versions=MappingProxyType({"v1beta1": MappingProxyType(_V1BETA1)}),
        listens_without_tls=True,
        lists_points=True,
        fields_lacked=(V1_23.configuration.fields_lacked - versions.ADDRESSES) | {versions.MULTI_POINT},
        args_lacked=V1_23.configuration.args_lacked | _USAGE | {"NodeLabel", "ServiceAffinity"},
        weights_come_first=True,
        refused_plugins=_USAGE | {"NodeLabel", "NodePreferAvoidPods", "ServiceAffinity"},
        refused_text='was removed in version "kubescheduler.config.k8s.io/v1beta2"',
    ),
    framework=attrs.evolve(
        V1_23.framework,
        peer_node_text="node not found",
        literal_pairs=True,
        first_peer_by_list=True,
        missing_volume_text="pvc(s) bound to non-existent pv(s)",
        lost_claims_reject=False,
        awaited_claim_text='persistentvolumeclaim "{}" not found',
        ephemeral_off_text="volume {} is a generic ephemeral volume, but that feature is disabled in kube-scheduler",
        foreign_claim_text='persistentvolumeclaim "{name}" was not created for the pod',
        dry_run_errs=False,
        nomination_outlasts_tries=True,
    ),
    volumes=attrs.evolve(
        V1_23.volumes,
        ephemeral_gate="GenericEphemeralVolume",
        counts_ephemeral_claims=False,
        missing_claim_errs=False,
        migratable=V1_23.volumes.migratable - {intree.PORTWORX, intree.RBD},
    ),
    policies=policies.V1_22,
)

MIDDLE: Mapping[str, Release] = MappingProxyType(
    {"1.22.6": V1_22, "1.23.5": V1_23, "1.24.16": V1_24, "1.25.12": V1_25, "1.26.15": V1_26}
)
"""Patch level -> the release that is like it."""
