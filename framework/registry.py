"""The registry: which plugins a profile may name. Upstream: pkg/scheduler/framework/plugins/registry.go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType

from ..core.release import Release
from ..exceptions import PolicyError
from .plugin import Plugin
from .profile import check_methods

_MODULES = (
    "defaultbinder defaultpreemption dynamicresources imagelocality interpodaffinity nodeaffinity nodedeclaredfeatures nodename"
    " nodeports noderesources nodeunschedulable older podtopologyspread prioritysort schedulinggates selectorspread"
    " tainttoleration volumebinding volumelimits volumerestrictions volumezone"
)
_PLUGINS = (
    kind
    for module in _MODULES.split()
    for kind in vars(import_module(f".plugins.{module}", __package__)).values()
    if isinstance(kind, type) and issubclass(kind, Plugin) and kind.name
)
DEFAULT_REGISTRY: Mapping[str, type[Plugin]] = MappingProxyType(
    {plugin.name: plugin for plugin in sorted(_PLUGINS, key=lambda plugin: plugin.name)}
)
"""Name -> class, of upstream's default plugins in all releases."""


def registry_of(release: Release) -> Mapping[str, type[Plugin]]:
    """Name -> class, of the default plugins that *release* has."""
    return MappingProxyType(
        {
            name: plugin
            for name, plugin in DEFAULT_REGISTRY.items()
            if name not in release.configuration.gone_plugins
        }
    )


def with_plugins(
    registry: Mapping[str, type[Plugin]], plugins: Iterable[type[Plugin]]
) -> Mapping[str, type[Plugin]]:
    """A registry with *plugins*, a user's own, added to *registry*: profiles may name them.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for a plugin without a name, with a name that is
    taken, or with a method that is called almost like an extension point.
    """
    extended = dict(registry)
    for plugin in plugins:
        if not plugin.name:
            raise PolicyError(f"plugin {plugin.__qualname__}: name: expected a name of its own, got nothing")
        if plugin.name in extended:
            raise PolicyError(f"a plugin named {plugin.name} already exists")
        check_methods(plugin)
        extended[plugin.name] = plugin
    return MappingProxyType(extended)
