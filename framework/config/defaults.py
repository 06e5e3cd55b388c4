"""The default plugins of a profile, by release and version of the configuration API.

Upstream: pkg/scheduler/apis/config/v1/default_plugins.go, and those of v1beta3 and v1beta2.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...api.objects.quantity import Int32
from .fielderrors import Context

GROUP = "kubescheduler.config.k8s.io"


@attrs.frozen
class PluginEntry:
    """A plugin in a list of a configuration; weight 0: none given."""

    name: str = ""
    weight: Int32 = 0


@attrs.frozen
class PluginSet:
    """The enabled and disabled plugins of one extension point."""

    enabled: tuple[PluginEntry, ...] = ()
    disabled: tuple[PluginEntry, ...] = ()


Plugins = Mapping[str, PluginSet]
"""Extension point, or ``multiPoint`` -> plugins."""


def _listed(text: str) -> PluginSet:
    names = (word.partition("=") for word in text.split())
    return PluginSet(tuple(PluginEntry(name, int(weight or 0)) for name, _, weight in names))


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


def _multi_point(context: Context) -> Plugins:
    found = [PluginEntry(name, weight) for name, weight in context.cells.default_plugins.items()]
    for gate, (plugin, successor) in context.cells.gated_plugins.items():
        if context.gates[gate]:
            names = [entry.name for entry in found]
            found.insert(names.index(successor) if successor else len(found), PluginEntry(plugin))
    return {"multiPoint": PluginSet(tuple(found))}


def _each_point(context: Context) -> Plugins:
    found = dict(_EACH_POINT)
    if context.scores_capacity:
        found["score"] = PluginSet((*found["score"].enabled, PluginEntry("VolumeBinding", 1)))
    if context.gates["PodSchedulingReadiness"]:
        found["preEnqueue"] = _listed("SchedulingGates")
    return found


LATEST = "v1"
"""The version of the configuration API that every release reads."""
BY_POINT = "v1beta2"
"""The version with a list for each extension point."""


def default_plugins(version: str, context: Context) -> Plugins:
    """The plugins of a profile that says nothing, in *version* of the configuration API."""
    return _each_point(context) if version == BY_POINT else _multi_point(context)


def merged(defaults: Plugins, custom: Plugins) -> dict[str, PluginSet]:
    """The defaults changed by a user's plugins, point by point. Upstream: mergePlugins."""
    points = dict.fromkeys([*defaults, *custom])
    return {point: _merged(defaults.get(point, PluginSet()), custom.get(point, PluginSet())) for point in points}


def _merged(default: PluginSet, custom: PluginSet) -> PluginSet:
    disabled = {plugin.name for plugin in custom.disabled}
    latest = {plugin.name: i for i, plugin in enumerate(custom.enabled)}
    replaced: set[int] = set()
    enabled: list[PluginEntry] = []
    for plugin in default.enabled if "*" not in disabled else ():
        if plugin.name in disabled:
            continue
        if plugin.name in latest:
            # Upstream: the user's entry replaces the default, and its weight counts even if it has none.
            replaced.add(latest[plugin.name])
            plugin = custom.enabled[latest[plugin.name]]
        enabled.append(plugin)
    enabled += [plugin for i, plugin in enumerate(custom.enabled) if i not in replaced]
    return PluginSet(tuple(enabled), tuple(PluginEntry(plugin.name) for plugin in custom.disabled))
