"""The default plugins of a profile, by release and version of the configuration API.

Upstream: pkg/scheduler/apis/config/v1/default_plugins.go, and those of v1beta3 and v1beta2.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...api.objects.quantity import Int32
from ...core.release import ConfigurationCells
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

    @property
    def names(self) -> list[str]:
        return [plugin.name for plugin in self.enabled]


Plugins = Mapping[str, PluginSet]
"""Extension point, or ``multiPoint`` -> plugins."""


def _entry(word: str, context: Context) -> PluginEntry | None:
    gate, _, plugin = word.rpartition(":")
    if gate and context.gates.get(gate[1:], False) != gate.startswith("+"):
        return None
    name, _, weight = plugin.partition("=")
    return PluginEntry(name, int(weight or 0))


LATEST = "v1"
"""The newest version of the configuration."""


def default_plugins(context: Context) -> Plugins:
    """The plugins of a profile that says nothing."""
    if not context.cells.lists_points:
        plugins = [PluginEntry(name, weight) for name, weight in context.cells.default_plugins.items()]
        for gate, (plugin, successor) in context.cells.gated_plugins.items():
            added = _entry(f"{gate if gate.startswith('-') else f'+{gate}'}:{plugin}", context)
            if added is not None:
                names = [entry.name for entry in plugins]
                plugins.insert(names.index(successor) if successor else len(plugins), added)
        return {"multiPoint": PluginSet(tuple(plugins))}
    return {
        point: PluginSet(tuple(found for word in words.split() if (found := _entry(word, context)) is not None))
        for point, words in context.cells.point_plugins.items()
    }


def merged(defaults: Plugins, custom: Plugins, cells: ConfigurationCells) -> dict[str, PluginSet]:
    """The defaults changed by a user's plugins, point by point. Upstream: mergePlugins."""
    custom = {point: found for point, found in custom.items() if point not in cells.unread_points}
    none = PluginSet()
    pairs = {point: (defaults.get(point, none), custom.get(point, none)) for point in [*defaults, *custom]}
    if cells.adds_plugins_alone:
        return {point: _added(point, *pair) for point, pair in pairs.items()}
    return {point: _merged(*pair, cells) for point, pair in pairs.items()}


def _added(point: str, default: PluginSet, custom: PluginSet) -> PluginSet:
    # Upstream: what sorts and binds by default is no plugin there.
    if point == "queueSort" and custom.enabled:
        return PluginSet(custom.enabled)
    return PluginSet((*custom.enabled, *default.enabled) if point == "bind" else (*default.enabled, *custom.enabled))


def _merged(default: PluginSet, custom: PluginSet, cells: ConfigurationCells) -> PluginSet:
    disabled = {plugin.name for plugin in custom.disabled}
    latest = {plugin.name: i for i, plugin in enumerate(custom.enabled)} if cells.replaces_defaults else {}
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
    # Upstream: versions that list plugins for each point forget what is disabled.
    return PluginSet(tuple(enabled), () if cells.lists_points else tuple(PluginEntry(plugin.name) for plugin in custom.disabled))
