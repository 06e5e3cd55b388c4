"""The profiles of a component configuration: their plugins with the defaults, and faults in upstream's texts.

Upstream: pkg/scheduler/apis/config (v1, v1beta3, v1beta2: default_plugins.go, defaults.go),
apis/config/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import attrs

from ...api.meaning import quoted
from ...api.objects import Int32
from ...api.reading import ReadBy, Reader, reader, record
from ...core.release import ConfigurationCells, FrameworkCells
from ..plugin import POINTS
from .args import CHECKED_BY_PLUGIN_ALONE, Arguments, arg_faults, read_args, reads_args, takes_args
from .fielderrors import Context, as_json, duplicate, go_fields, invalid, outside, required

# --- plugins, and the defaults ------------------------------------------------------------------------------

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
    """The plugins of a profile without any settings."""
    cells = context.cells
    if not cells.lists_points:
        plugins = [PluginEntry(name, weight) for name, weight in cells.default_plugins.items()]
        for gate, (plugin, successor) in cells.gated_plugins.items():
            new_entry = _entry(f"{gate if gate.startswith('-') else f'+{gate}'}:{plugin}", context)
            if new_entry is not None:
                names = [entry.name for entry in plugins]
                plugins.insert(names.index(successor) if successor else len(plugins), new_entry)
        return {"multiPoint": PluginSet(tuple(plugins))}
    return {
        point: PluginSet(
            tuple(entry for word in words.split() if (entry := _entry(word, context)) is not None)
        )
        for point, words in cells.point_plugins.items()
    }


def merged(defaults: Plugins, custom: Plugins, cells: ConfigurationCells) -> dict[str, PluginSet]:
    """The defaults changed by a user's plugins, point by point. Upstream: mergePlugins."""
    custom = {point: plugin_set for point, plugin_set in custom.items() if point not in cells.unread_points}
    sets_by_point = {}
    for point in [*defaults, *custom]:
        default = defaults.get(point, PluginSet())
        custom_set = custom.get(point, PluginSet())
        if not cells.adds_plugins_alone:
            sets_by_point[point] = _merged_set(default, custom_set, cells)
        elif point == "queueSort" and custom_set.enabled:
            # Upstream: the default queue sort and binder are no plugins there.
            sets_by_point[point] = PluginSet(custom_set.enabled)
        else:
            earlier, later = (custom_set, default) if point == "bind" else (default, custom_set)
            sets_by_point[point] = PluginSet(earlier.enabled + later.enabled)
    return sets_by_point


def _merged_set(default: PluginSet, custom: PluginSet, cells: ConfigurationCells) -> PluginSet:
    disabled = {plugin.name for plugin in custom.disabled}
    latest = {plugin.name: i for i, plugin in enumerate(custom.enabled)} if cells.replaces_defaults else {}
    replaced = set()
    enabled = []
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


# --- profiles -----------------------------------------------------------------------------------------------

PERCENTAGE = {"name": "percentageOfNodesToScore"}
ALL_POINTS = (*POINTS, "multiPoint")
_plugins: Reader[Plugins] = record(dict, {point: (point, reader(PluginSet)) for point in ALL_POINTS})
FILLED = (
    "preFilter",
    "filter",
    "postFilter",
    "reserve",
    "preScore",
    "score",
    "preBind",
    "bind",
    "postBind",
    "permit",
    "preEnqueue",
    "queueSort",
)
"""The order in which upstream fills the extension points. It decides which error is reported, and which point
is the last."""


def _as_it_is(value: Any) -> Any:
    return value


@attrs.frozen
class PluginArgs:
    """An entry of ``pluginConfig``: decoded arguments of a default plugin, plain data for other plugins."""

    name: str = ""
    args: Annotated[Any, ReadBy(_as_it_is)] = None


@attrs.frozen
class ProfileConfig:
    """One profile, with its defaults."""

    scheduler_name: str | None = None
    percentage: Int32 | None = attrs.field(default=None, metadata=PERCENTAGE)
    plugins: Annotated[Plugins, ReadBy(_plugins)] = attrs.Factory(dict)
    plugin_config: tuple[PluginArgs, ...] = ()
    sorters: PluginSet | None = attrs.field(default=None, metadata={"unread": True})
    """Its own queueSort plugins; None: it names none."""

    def at(self, point: str) -> PluginSet:
        """The plugins of an extension point."""
        return self.plugins.get(point, PluginSet())

    def weights_of_last_points(self) -> dict[str, int]:
        """Plugin -> its weight at the last extension point that names it; 0 is 1."""
        return {entry.name: entry.weight or 1 for point in FILLED for entry in self.at(point).enabled}

    def args_of(self, plugin: str, context: Context) -> Any:
        """The arguments of *plugin*: the given ones, else its defaults; None if it takes none."""
        has_own = takes_args(plugin, context)
        for entry in self.plugin_config:
            if entry.name == plugin and (not has_own or isinstance(entry.args, Arguments | None)):
                return entry.args
        return read_args(plugin, {}, context) if has_own else None


# --- faults -------------------------------------------------------------------------------------------------


def percentage_faults(percentage: int | None, path: str) -> Iterator[str]:
    """The fault of a percentageOfNodesToScore."""
    return outside(path, percentage or 0, text="not in valid range [0-100]")


def profile_faults(profiles: Sequence[ProfileConfig], version: str, context: Context) -> Iterator[str]:
    """The faults of each profile, and of all together; *version*: the group and version of the configuration
    API."""
    cells = context.cells
    places: dict[str | None, int] = {}
    for i, profile in enumerate(profiles):
        path = f"profiles[{i}]"
        name = profile.scheduler_name or ""
        if not name:
            yield required(f"{path}.schedulerName")
        yield from percentage_faults(profile.percentage, f"{path}.percentageOfNodesToScore")
        for point in POINTS:
            for at, plugin in enumerate(profile.at(point).enabled):
                yield from _refusal(plugin.name, f"{path}.plugins.{point}.enabled[{at}]", version, cells)
        names = profile.at("score").names
        conflicts = " ".join(quoted(name) for name in names if name in cells.conflicting_scores)
        for at, scorer in enumerate(names):
            if scorer == "NodeResourcesFit" and conflicts:
                text = f'was conflict with [{conflicts}] in version "{version}" (KubeSchedulerConfiguration is version "{version}")'
                yield invalid(f"{path}.plugins.score.enabled[{at}]", scorer, text)
        configured = set()
        for at, entry in enumerate(profile.plugin_config if cells.args_with_configuration else ()):
            entry_path = f"{path}.pluginConfig[{at}]"
            if entry.name in configured:
                yield duplicate(entry_path, entry.name)
            configured.add(entry.name)
            yield from _refusal(entry.name, entry_path, version, cells)
            if entry.name not in CHECKED_BY_PLUGIN_ALONE:
                yield from arg_faults(entry.name, entry.args, f"{entry_path}.args.", context)
        if name in places:
            # Upstream: as JSON the path of the earlier one is an empty object.
            earlier = "{}" if context.framework.faults_as_json else f"profiles[{places[name]}].schedulerName"
            yield f"{path}.schedulerName: Duplicate value: {earlier}"
        places[name] = i
    yield from _queue_sort_faults(profiles, context)


def _refusal(plugin: str, path: str, version: str, cells: ConfigurationCells) -> Iterator[str]:
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
        expected, *others = (profile.sorters or absent for profile in profiles)
        for i, other in enumerate(others, 1):
            if other != expected:
                sorters_text = '"null"' if other is None else _set_text(other, context.framework)
                yield f"profiles[{i}].plugins.queueSort: Invalid value: {sorters_text}: {cells.queue_sort_text}"
        return
    first_sorters = profiles[0].at("queueSort")
    if len(first_sorters.enabled) > 1:
        yield invalid(
            "profiles[0].plugins.queueSort.Enabled",
            len(first_sorters.enabled),
            "only one queue sort plugin can be enabled",
        )
    name = first_sorters.enabled[0].name if first_sorters.enabled else None
    for i, profile in enumerate(profiles[1:], 1):
        sorters = profile.at("queueSort")
        if sorters != first_sorters:
            yield f"profiles[{i}].plugins.queueSort: Invalid value: {_set_text(sorters, context.framework)}: {cells.queue_sort_text}"
        args = args_with_defaults(profile, name, context)
        if args is not None and args != args_with_defaults(profiles[0], name, context):
            text = as_json(go_fields(args))
            yield f"profiles[{i}].pluginConfig.args: Invalid value: {text}: {cells.queue_sort_args_text}"


def args_with_defaults(profile: ProfileConfig, plugin: str | None, context: Context) -> Any:
    """The arguments of a plugin, given or, where it is enabled at some point, its defaults; None without
    any."""
    args = _args_of(profile, plugin)
    is_enabled = any(plugin in plugin_set.names for plugin_set in profile.plugins.values())
    if args is None and plugin is not None and is_enabled and reads_args(plugin, context):
        return read_args(plugin, {}, context)
    return args


def sorter_args(profile: ProfileConfig) -> Any:
    """The given arguments of the plugin by which *profile* sorts the queue; None without any."""
    return _args_of(profile, next(iter(profile.at("queueSort").names), None))


def _args_of(profile: ProfileConfig, plugin: str | None) -> Any:
    """The given arguments of a plugin; None without any."""
    return next((entry.args for entry in profile.plugin_config if entry.name == plugin), None)


def _set_text(plugins: PluginSet, cells: FrameworkCells) -> str:
    lists = {"Enabled": plugins.enabled, "Disabled": plugins.disabled}
    if cells.faults_as_json:
        plugins_by_list = {
            name: [{"Name": p.name, "Weight": p.weight} for p in plugins] or ()
            for name, plugins in lists.items()
        }
        return f"{{{','.join(f'{quoted(name)}:{as_json(plugins)}' for name, plugins in plugins_by_list.items())}}}"
    kind = "config.Plugin"
    texts = []
    for name, members in lists.items():
        items = ", ".join(f"{kind}{{Name:{quoted(p.name)}, Weight:{p.weight}}}" for p in members)
        texts.append(f"{name}:[]{kind}{{{items}}}" if members else f"{name}:[]{kind}(nil)")
    return f"config.PluginSet{{{', '.join(texts)}}}"
