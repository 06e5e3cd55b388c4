"""The releases 1.26 down to 1.17 by the facts of the one after each, so that what 1.27 has is said once.

Here are the cells besides those that a fact tells (``facts/older.py``, ``facts/middle.py``): which plugins and arguments there are, and
what is around a decision. Patch levels: 1.17 as cluster-autoscaler 1.17 has it, 1.18.2 with the requests of later patch levels,
1.19.0-rc.4, 1.20.15, 1.21.9. Upstream of what is around it: pkg/scheduler/internal/queue, pkg/scheduler/scheduler.go; client-go
(tools/cache/reflector.go, rest/request.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...algorithmprovider.cells import FIRST_CLIENT
from ...core.release import Release
from ...core.release.fact import Cells, also
from ..facts.middle import MIDDLE_FACTS
from ..facts.older import OLDER_FACTS
from . import newer, policies, versions

_PRIORITIES = ("RequestedToCapacityRatioPriority", "ResourceLimitsPriority", "ServiceSpreadingPriority")
"""The priorities that are no plugins in the first release with plugins."""
_SPREAD, _GATED_SPREAD = "-DefaultPodTopologySpread:SelectorSpread", "+EvenPodsSpread:PodTopologySpread"
_FILTERS = (
    "NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions TaintToleration EBSLimits GCEPDLimits"
    " NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone"
)
_SCORES = (
    "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
    f" NodePreferAvoidPods=10000 DefaultPodTopologySpread=1 TaintToleration=1 {_GATED_SPREAD}=1"
)


def _before(release: Release, version: str, more: Cells) -> Release:
    """The release before *release*: with what was before its facts, and with *more* cells."""
    facts = (fact.was for fact in (*OLDER_FACTS, *MIDDLE_FACTS) if fact.release == release.version)
    return newer.with_cells(release, version, *facts, more)


V1_26 = _before(newer.V1_27, "1.26", {
    "extenders.reads_unresolvable": False,
    "configuration.point_plugins.preFilter":
        "NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread InterPodAffinity VolumeBinding NodeAffinity",
    "configuration.point_plugins.preScore": "InterPodAffinity PodTopologySpread TaintToleration NodeAffinity",
})  # fmt: skip
V1_25 = _before(V1_26, "1.25", {
    "configuration.fields_lacked": also(versions.PERCENTAGE, versions.PRE_ENQUEUE),
    "configuration.gone_plugins": also("DynamicResources", "SchedulingGates"),
    "configuration.point_plugins.preEnqueue": None,
    "live.preempted_text": "Preempted by {pod} on node {node}",
})  # fmt: skip
V1_24 = _before(V1_25, "1.24", {"live.assumed_pods_expire": 900.0})
V1_23 = _before(V1_24, "1.23", {
    "configuration.gated_plugins": {"-DefaultPodTopologySpread": ("SelectorSpread=1", "")},
    "configuration.point_plugins.preScore": f"InterPodAffinity PodTopologySpread TaintToleration NodeAffinity {_SPREAD}",
    "configuration.point_plugins.score": f"{V1_24.configuration.point_plugins['score']} {_SPREAD}=1",
    "queue.parked_at_most": 60.0,
    "queueing.checks_no_execute": True,
    "queueing.own_changes_of_nodes": True,
    "client.resources.CSIStorageCapacity": "storage.k8s.io/v1beta1",
    "nominations.empty_name_counts": False,
    "nominations.placed_are_nominated": True,
})  # fmt: skip
V1_22 = _before(V1_23, "1.22", {
    "configuration.fields_lacked": also(versions.MULTI_POINT, but=versions.ADDRESSES),
    "configuration.args_lacked": also(*versions.USAGE_AND_LABELS),
    "queueing.given_up_moves": False,
    "queueing.binding_waits_for_nodes": True,
    "live.assumed_pods_expire": 120.0,
    "policies": policies.V1_22,
})  # fmt: skip
V1_21 = _before(V1_22, "1.21", {
    "configuration.args_lacked": also(
        *("NodeResourcesBalancedAllocation", "NodeResourcesFit.scoringStrategy", "VolumeBinding.shape"), but=versions.USAGE_AND_LABELS
    ),
    "configuration.point_plugins.preFilter": "NodeResourcesFit NodePorts PodTopologySpread InterPodAffinity VolumeBinding NodeAffinity",
    "configuration.point_plugins.score": versions.OLD_SCORES,
    "queue.finalizers_count": True,
    "queueing.default_kinds": also("Service"),
    "queueing.registering": ("NodeResourcesFit",),
    "queueing.fixed_events": True,
    "queueing.checks_nodes": False,
    "queueing.checks_no_execute": False,
    "queueing.binding_waits_for_nodes": False,
    "client.resources.Namespace": None,
    "client.rewatches_limited": False,
    "client.resends_watches": False,
    "nominations.asks_lister": False,
    "policies": policies.V1_21,
})  # fmt: skip
V1_20 = _before(V1_21, "1.20", {
    "configuration.point_plugins.preFilter": "NodeResourcesFit NodePorts PodTopologySpread InterPodAffinity VolumeBinding",
    "configuration.point_plugins.preScore": f"InterPodAffinity PodTopologySpread TaintToleration {_SPREAD}",
    "queue.update_ends_backoff": True,
    "queue.refusals": (
        "pod: {} is already present in unschedulable queue",
        "pod: {} is already present in the active queue",
        "pod {} is already present in the backoff queue",
    ),
    "queueing.any_event_moves": True,
    "queueing.registering": (),
    "queueing.own_changes_of_nodes": False,
    "queueing.idle_updates_count": True,
    "client.resources.CSIDriver": None,
    "client.resources.CSIStorageCapacity": None,
    "client.resources.PodDisruptionBudget": "policy/v1beta1",
    "nominations.asks_lister": True,
    "policies": policies.V1_20,
})  # fmt: skip
V1_19 = _before(V1_20, "1.19", {
    "configuration.fields_lacked": also("parallelism"),
    "configuration.args_lacked": also("DefaultPreemption", "NodeAffinity", "PodTopologySpread.defaultingType"),
    "configuration.point_plugins.filter": f"{_FILTERS} PodTopologySpread InterPodAffinity",
    "client.pod_selector": FIRST_CLIENT.pod_selector,
    "client.pods_send_duration": False,
    "live.assumed_pods_expire": 30.0,
    "nominations.asks_lister": False,
    "policies": policies.V1_19,
})  # fmt: skip
V1_18 = _before(V1_19, "1.18", {
    "configuration.fields_lacked": also(versions.POST_FILTER, versions.NEW_HTTPS, but={*versions.ALPHA, versions.OLD_HTTPS}),
    "configuration.args_lacked": also(
        "NodeResourcesFit.ignoredResourceGroups", "NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "VolumeBinding"
    ),
    "configuration.gone_plugins": also("SelectorSpread", but=("DefaultPodTopologySpread", "NodeResourceLimits")),
    "configuration.point_plugins.reserve": None,
    "configuration.point_plugins.preBind": None,
    "configuration.point_plugins.preFilter": f"NodeResourcesFit NodePorts InterPodAffinity {_GATED_SPREAD}",
    "configuration.point_plugins.filter": f"{_FILTERS} InterPodAffinity {_GATED_SPREAD}",
    "configuration.point_plugins.preScore": f"InterPodAffinity DefaultPodTopologySpread TaintToleration {_GATED_SPREAD}"
    " +ResourceLimitsPriorityFunction:NodeResourceLimits",
    "configuration.point_plugins.score": f"{_SCORES} +ResourceLimitsPriorityFunction:NodeResourceLimits=1",
    "queue.skips_condition_updates": False,
    "client.attempts": FIRST_CLIENT.attempts,
    "policies": policies.V1_18,
})  # fmt: skip
V1_17 = _before(V1_18, "1.17", {
    "snapshot_keeps_ghosts": True,
    "configuration.fields_lacked": also(*versions.PROFILED, *versions.FLAT_POINTS, but=versions.FLAT),
    "configuration.args_lacked": also("InterPodAffinity", "NodeResourcesFit", "PodTopologySpread"),
    "configuration.gone_plugins": also("NodeResourceLimits", but=_PRIORITIES),
    "configuration.point_plugins.filter": f"{_FILTERS} {_GATED_SPREAD} InterPodAffinity",
    "configuration.point_plugins.preScore": f"InterPodAffinity DefaultPodTopologySpread TaintToleration {_GATED_SPREAD}",
    "configuration.point_plugins.score": f"{_SCORES} +ResourceLimitsPriorityFunction:ResourceLimitsPriority=1",
    "queue.skips_condition_updates": True,
    "queue.backoff_forget_after": 20.0,
    "queue.refusals": (
        "pod is already present in unschedulableQ",
        "pod is already present in the activeQ",
        "pod is already present in the backoffQ",
    ),
    "client.pauses": FIRST_CLIENT.pauses,
    "client.relists_from_last": False,
    "client.resends_reads": False,
    "policies": policies.V1_17,
})  # fmt: skip

OLDER: Mapping[str, Release] = MappingProxyType(
    {
        "1.17 of cluster-autoscaler": V1_17, "1.18.2, requests of later patches": V1_18, "1.19.0-rc.4": V1_19, "1.20.15": V1_20,
        "1.21.9": V1_21, "1.22.6": V1_22, "1.23.5": V1_23, "1.24.16": V1_24, "1.25.12": V1_25, "1.26.15": V1_26,
    }
)  # fmt: skip
"""Patch level -> the release that is like it."""
OTHER_PATCHES: Mapping[str, str] = MappingProxyType(
    {
        "1.18": "Patch levels after 1.18.2 place no pod whose hard topology spread is over a key that no node has, as 1.20 does",
        "1.19": "1.19.8 and later let pods preempt others under a Policy, too",
        "1.20": "1.20.0 to 1.20.2 let no pod preempt others under a Policy",
        "1.29": "Patch levels after 1.29.10 sort victims on a node again before nodes are compared, as 1.30 does",
    }
)
"""Release -> what other patch levels of it are known to decide otherwise."""
