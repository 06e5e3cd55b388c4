"""The profiles of a configuration, and their faults with upstream's texts.

Upstream: pkg/scheduler/apis/config/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import attrs

from ...api.meaning import quoted
from ...api.objects import Int32
from ...api.reading import ReadBy, Reader, entries, reader, record
from ...core.release import ConfigurationCells, FrameworkCells
from ..status import POINTS
from .args import CHECKED_BY_PLUGIN_ALONE, arg_faults, read_args, takes_args
from .fielderrors import Context, as_json, duplicate, invalid, outside, required

# --- default plugins ----------------------------------------------------------------------------------------

# The default plugins of a profile, by release and version of the configuration API.
# Upstream: pkg/scheduler/apis/config/v1/default_plugins.go, and those of v1beta3 and v1beta2.

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
    cells = context.cells
    if not cells.lists_points:
        plugins = [PluginEntry(name, weight) for name, weight in cells.default_plugins.items()]
        for gate, (plugin, successor) in cells.gated_plugins.items():
            added = _entry(f"{gate if gate.startswith('-') else f'+{gate}'}:{plugin}", context)
            if added is not None:
                names = [entry.name for entry in plugins]
                plugins.insert(names.index(successor) if successor else len(plugins), added)
        return {"multiPoint": PluginSet(tuple(plugins))}
    return {
        point: PluginSet(
            tuple(found for word in words.split() if (found := _entry(word, context)) is not None)
        )
        for point, words in cells.point_plugins.items()
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
    both = (custom, default) if point == "bind" else (default, custom)
    return PluginSet(both[0].enabled + both[1].enabled)


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
    return PluginSet(
        tuple(enabled),
        () if cells.lists_points else tuple(PluginEntry(plugin.name) for plugin in custom.disabled),
    )


PERCENTAGE = {"name": "percentageOfNodesToScore"}
ALL_POINTS = (*POINTS, "multiPoint")
_plugins: Reader[Plugins] = record(dict, {point: (point, reader(PluginSet)) for point in ALL_POINTS})


@attrs.frozen
class PluginArgs:
    """An entry of ``pluginConfig``: decoded arguments of a default plugin, plain data for other plugins."""

    name: str = ""
    args: Annotated[Any, ReadBy(entries)] = None


@attrs.frozen
class ProfileConfig:
    """One profile, with its defaults."""

    scheduler_name: str | None = None
    percentage: Int32 | None = attrs.field(default=None, metadata=PERCENTAGE)
    plugins: Annotated[Plugins, ReadBy(_plugins)] = attrs.Factory(dict)
    plugin_config: tuple[PluginArgs, ...] = ()
    sorters: PluginSet | None = attrs.field(default=None, metadata={"unread": True})
    """What it says of queueSort itself; None: nothing."""

    def at(self, point: str) -> PluginSet:
        """The plugins of an extension point."""
        return self.plugins.get(point, PluginSet())

    def args_of(self, plugin: str, context: Context) -> Any:
        """The arguments of *plugin*: the given ones, else its defaults; None if it takes none."""
        has_own = takes_args(plugin, context)
        for entry in self.plugin_config:
            if entry.name == plugin and not (has_own and isinstance(entry.args, Mapping)):
                return entry.args
        return read_args(plugin, {}, context) if has_own else None


def percentage_faults(percentage: int | None, path: str) -> Iterator[str]:
    """The fault of a percentageOfNodesToScore."""
    return outside(path, percentage or 0, text="not in valid range [0-100]")


def profile_faults(profiles: Sequence[ProfileConfig], version: str, context: Context) -> Iterator[str]:
    """The faults of each profile, and of all together; *version*: the group and version of the configuration
    API."""
    seen: dict[str | None, int] = {}
    for i, profile in enumerate(profiles):
        path = f"profiles[{i}]"
        name = profile.scheduler_name or ""
        yield from _faults(profile, path, version, context)
        if name in seen:
            # Upstream: as JSON the path of the earlier one is an empty object.
            earlier = "{}" if context.framework.faults_as_json else f"profiles[{seen[name]}].schedulerName"
            yield f"{path}.schedulerName: Duplicate value: {earlier}"
        seen[name] = i
    yield from _queue_sort_faults(profiles, context)


def _faults(profile: ProfileConfig, path: str, version: str, context: Context) -> Iterator[str]:
    cells = context.cells
    if not profile.scheduler_name:
        yield required(f"{path}.schedulerName")
    yield from percentage_faults(profile.percentage, f"{path}.percentageOfNodesToScore")
    for point in POINTS:
        for i, plugin in enumerate(profile.at(point).enabled):
            yield from _refused(plugin.name, f"{path}.plugins.{point}.enabled[{i}]", version, cells)
    names = profile.at("score").names
    found = " ".join(quoted(name) for name in names if name in cells.conflicting_scores)
    for i, name in enumerate(names):
        if name == "NodeResourcesFit" and found:
            text = f'was conflict with [{found}] in version "{version}" (KubeSchedulerConfiguration is version "{version}")'
            yield invalid(f"{path}.plugins.score.enabled[{i}]", name, text)
    seen: set[str] = set()
    for i, entry in enumerate(profile.plugin_config if cells.args_with_configuration else ()):
        within = f"{path}.pluginConfig[{i}]"
        if entry.name in seen:
            yield duplicate(within, entry.name)
        seen.add(entry.name)
        yield from _refused(entry.name, within, version, cells)
        if entry.name not in CHECKED_BY_PLUGIN_ALONE:
            yield from arg_faults(entry.name, entry.args, f"{within}.args.", context)


def _refused(plugin: str, path: str, version: str, cells: ConfigurationCells) -> Iterator[str]:
    # Upstream: multiPoint is not checked, so the plugin works there.
    if plugin in cells.refused_plugins:
        # Upstream: from v1 on the text names the version of the core API in place of that of the
        # configuration.
        yield invalid(
            path, plugin, f'{cells.refused_text} (KubeSchedulerConfiguration is version "{version}")'
        )


def _queue_sort_faults(profiles: Sequence[ProfileConfig], context: Context) -> Iterator[str]:
    cells = context.cells
    if cells.compares_sorters != "with defaults":
        # Upstream: defaults come later there, and so does the count of plugins.
        absent = PluginSet() if cells.compares_sorters == "as given" else None
        given, *others = (profile.sorters or absent for profile in profiles)
        for i, other in enumerate(others, 1):
            if other != given:
                shown = '"null"' if other is None else _set_text(other, context.framework)
                yield f"profiles[{i}].plugins.queueSort: Invalid value: {shown}: {cells.queue_sort_text}"
        return
    first = profiles[0].at("queueSort")
    if len(first.enabled) > 1:
        yield invalid(
            "profiles[0].plugins.queueSort.Enabled",
            len(first.enabled),
            "only one queue sort plugin can be enabled",
        )
    name = first.enabled[0].name if first.enabled else None
    for i, profile in enumerate(profiles[1:], 1):
        sorters = profile.at("queueSort")
        if sorters != first:
            yield f"profiles[{i}].plugins.queueSort: Invalid value: {_set_text(sorters, context.framework)}: {cells.queue_sort_text}"
        args = _args_of(profile, name)
        if args is not None and args != _args_of(profiles[0], name):
            yield f"profiles[{i}].pluginConfig.args: Invalid value: {as_json(dict(args))}: {cells.queue_sort_args_text}"


def sorter_args(profile: ProfileConfig) -> Any:
    """The given arguments of the plugin by which *profile* sorts the queue; None without any."""
    return _args_of(profile, next(iter(profile.at("queueSort").names), None))


def _args_of(profile: ProfileConfig, plugin: str | None) -> Any:
    """The given arguments of a plugin that sorts the queue, which are plain data; None without any."""
    return next((entry.args for entry in profile.plugin_config if entry.name == plugin), None)


def _set_text(plugins: PluginSet, cells: FrameworkCells) -> str:
    lists = {"Enabled": plugins.enabled, "Disabled": plugins.disabled}
    if cells.faults_as_json:
        shown = {
            name: [{"Name": p.name, "Weight": p.weight} for p in found] or () for name, found in lists.items()
        }
        return f"{{{','.join(f'{quoted(name)}:{as_json(found)}' for name, found in shown.items())}}}"
    kind = "config.Plugin"
    texts: list[str] = []
    for name, found in lists.items():
        items = ", ".join(f"{kind}{{Name:{quoted(p.name)}, Weight:{p.weight}}}" for p in found)
        texts.append(f"{name}:[]{kind}{{{items}}}" if found else f"{name}:[]{kind}(nil)")
    return f"config.PluginSet{{{', '.join(texts)}}}"
