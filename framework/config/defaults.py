"""The default plugins of a profile, for each version of the configuration API.

Upstream: pkg/scheduler/apis/config/v1/default_plugins.go, and those of v1beta3 and v1beta2.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...api.objects.integers import Int32
from ...core.release import Gates

GROUP = "kubescheduler.config.k8s.io"


@attrs.frozen
class Named:
    """A plugin in a list of a configuration; weight 0: none given."""

    name: str = ""
    weight: Int32 = 0


@attrs.frozen
class PluginSet:
    """The enabled and disabled plugins of one extension point."""

    enabled: tuple[Named, ...] = ()
    disabled: tuple[Named, ...] = ()


Plugins = Mapping[str, PluginSet]
"""Extension point, or ``multiPoint`` -> plugins."""


def _listed(text: str) -> PluginSet:
    names = (word.partition("=") for word in text.split())
    return PluginSet(tuple(Named(name, int(weight or 0)) for name, _, weight in names))


MULTI_POINT: Plugins = {
    "multiPoint": _listed(
        "PrioritySort NodeUnschedulable NodeName TaintToleration=3 NodeAffinity=2 NodePorts NodeResourcesFit=1 VolumeRestrictions EBSLimits"
        " GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread=2 InterPodAffinity=2 DefaultPreemption"
        " NodeResourcesBalancedAllocation=1 ImageLocality=1 DefaultBinder"
    )
}
_EACH_POINT: Plugins = {
    "queueSort": _listed("PrioritySort"),
    "preFilter": _listed(
        "NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread InterPodAffinity VolumeBinding VolumeZone NodeAffinity"
    ),
    "filter": _listed(
        "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions EBSLimits GCEPDLimits"
        " NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity"
    ),
    "postFilter": _listed("DefaultPreemption"),
    "preScore": _listed("InterPodAffinity PodTopologySpread TaintToleration NodeAffinity NodeResourcesFit NodeResourcesBalancedAllocation"),
    "score": _listed(
        "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=1 PodTopologySpread=2"
        " TaintToleration=1"
    ),
    "reserve": _listed("VolumeBinding"),
    "preBind": _listed("VolumeBinding"),
    "bind": _listed("DefaultBinder"),
}


def _multi_point(gates: Gates) -> Plugins:
    added = (Named("SchedulingGates"),) if gates.get("PodSchedulingReadiness", True) else ()
    return {"multiPoint": PluginSet(MULTI_POINT["multiPoint"].enabled + added)}


def _each_point(gates: Gates) -> Plugins:
    found = dict(_EACH_POINT)
    if gates.get("VolumeCapacityPriority", False):
        found["score"] = PluginSet((*found["score"].enabled, Named("VolumeBinding", 1)))
    if gates.get("PodSchedulingReadiness", True):
        found["preEnqueue"] = _listed("SchedulingGates")
    return found


DEFAULTS = {"v1": _multi_point, "v1beta3": _multi_point, "v1beta2": _each_point}
"""Version of the configuration API -> gates -> plugins."""


def merged(defaults: Plugins, custom: Plugins) -> dict[str, PluginSet]:
    """The defaults changed by a user's plugins, point by point. Upstream: mergePlugins."""
    points = dict.fromkeys([*defaults, *custom])
    return {point: _merged(defaults.get(point, PluginSet()), custom.get(point, PluginSet())) for point in points}


def _merged(default: PluginSet, custom: PluginSet) -> PluginSet:
    disabled = {plugin.name for plugin in custom.disabled}
    latest = {plugin.name: i for i, plugin in enumerate(custom.enabled)}
    replaced: set[int] = set()
    enabled: list[Named] = []
    for plugin in default.enabled if "*" not in disabled else ():
        if plugin.name in disabled:
            continue
        if plugin.name in latest:
            # Upstream: the user's entry replaces the default, and its weight counts even if it has none.
            replaced.add(latest[plugin.name])
            plugin = custom.enabled[latest[plugin.name]]
        enabled.append(plugin)
    enabled += [plugin for i, plugin in enumerate(custom.enabled) if i not in replaced]
    return PluginSet(tuple(enabled), tuple(Named(plugin.name) for plugin in custom.disabled))
