"""Plugins of a profile that no release has. The schedulers of others have them compiled in; here they can be left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from ..api.words import count_of
from .config.configuration import KubeSchedulerConfiguration
from .config.defaults import PluginEntry, PluginSet
from .config.profiles import ProfileConfig
from .plugin import Plugin
from .plugins.defaultbinder import DefaultBinder
from .plugins.prioritysort import PrioritySort
from .registry import DEFAULT_REGISTRY

LEAVE_OUT = "leave-out"
_NEEDED: Mapping[str, type[Plugin]] = {"queueSort": PrioritySort, "bind": DefaultBinder}
"""Extension point that needs a plugin -> the default one."""


def without_unknown(config: KubeSchedulerConfiguration, plugins: Iterable[type[Plugin]] = ()) -> KubeSchedulerConfiguration:
    """*config* without the plugins that no release has, nor the user's own *plugins*; a note says which these are."""
    known = {**DEFAULT_REGISTRY, **{plugin.name: plugin for plugin in plugins}}
    left = sorted(config.plugin_names - known.keys())
    if not left:
        return config
    are, they = ("is", "it decides") if len(left) == 1 else ("are", "they decide")
    told = f"{count_of(len(left), 'plugin')} of the configuration {are} left out, so what {they} does not count: {', '.join(left)}"
    profiles = tuple(_without(profile, known) for profile in config.profiles)
    return attrs.evolve(config, profiles=profiles, notes=(*config.notes, told))


def _without(profile: ProfileConfig, known: Mapping[str, type[Plugin]]) -> ProfileConfig:
    plugins = {
        point: attrs.evolve(found, enabled=tuple(entry for entry in found.enabled if entry.name in known))
        for point, found in profile.plugins.items()
    }
    everywhere = plugins.get("multiPoint", PluginSet()).names
    for point, default in _NEEDED.items():
        given = plugins.get(point, PluginSet())
        off = {entry.name for entry in given.disabled}
        others = [name for name in everywhere if known[name].joins(point) and off.isdisjoint((name, "*"))]
        if not (given.enabled or others):
            plugins[point] = PluginSet((PluginEntry(default.name),))
    kept = tuple(entry for entry in profile.plugin_config if entry.name in known)
    return attrs.evolve(profile, plugins=plugins, plugin_config=kept)
