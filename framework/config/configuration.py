"""A KubeSchedulerConfiguration: profiles, their defaults, and faults in upstream's texts.

Upstream: pkg/scheduler/apis/config (v1, v1beta3, v1beta2: defaults.go), apis/config/validation/validation.go.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any

import attrs

from ...algorithmprovider.config import configuration_document, is_policy
from ...algorithmprovider.extenders import ExtenderConfig, faults_of
from ...algorithmprovider.gates import GivenGates, resolved_gates
from ...algorithmprovider.policy import unread_field
from ...api.meaning import quoted
from ...api.objects import DEFAULT_SCHEDULER, Int32, JsonDict, JsonObject
from ...api.reading import (
    TYPE_META,
    Fields,
    Mismatch,
    PathLike,
    ReadBy,
    Reader,
    entries,
    fields_of,
    misnamed,
    named,
    pruned,
    read,
    reader,
    record,
    shown,
)
from ...choices import FIRST_FRAMEWORK
from ...choices import KIND as KIND
from ...core.release import ConfigurationCells, FrameworkCells, Gates, Release
from ...exceptions import PolicyError
from ..plugin import POINTS, Plugin
from ..releases import FRAMEWORK_RELEASES, PROFILE_RELEASE
from . import apiversions
from .apiversions import (
    FAILURE_DOMAINS,
    WEIGHT,
    cells_in,
    disables_preemption,
    is_flat,
    of_all_versions,
    own_path,
    with_plugins,
    with_profiles,
    without,
)
from .args import (
    CHECKED_BY_PLUGIN_ALONE,
    arg_faults,
    later_args,
    read_args,
    reads_args,
    takes_args,
    unknown_args,
)
from .fielderrors import (
    ConfigurationError,
    Context,
    ProfileFault,
    aggregated,
    as_json,
    duplicate,
    invalid,
    mismatched,
    outside,
    required,
    unknown,
)

# --- Profiles, and their faults -----------------------------------------------------------------------------
# Upstream: pkg/scheduler/apis/config/validation/validation.go.


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
            # Upstream: what sorts and binds by default is no plugin there.
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
    """Its own queueSort plugins; None: it names none."""

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


# --- The configuration --------------------------------------------------------------------------------------


def extender_faults(extenders: Sequence[ExtenderConfig]) -> Iterator[str]:
    """The faults that upstream's validation finds in *extenders*, with their fields."""
    return (invalid(path, value, text) for path, value, text, _ in faults_of(extenders))


AFFINITY = "InterPodAffinity"
_UNREAD = {"unread": True}


@attrs.frozen(kw_only=True)
class KubeSchedulerConfiguration:
    """A component configuration with defaults, as far as scheduling reads it."""

    release: Release = attrs.field(default=PROFILE_RELEASE, metadata=_UNREAD)
    """The release that reads it."""
    api_version: str = attrs.field(default=f"{GROUP}/v1", metadata=_UNREAD)
    gates: Gates = attrs.field(factory=lambda: resolved_gates(PROFILE_RELEASE), metadata=_UNREAD)
    parallelism: Int32 = 16
    percentage: Int32 = attrs.field(default=0, metadata=PERCENTAGE)
    initial_backoff: int = attrs.field(default=1, metadata={"name": "podInitialBackoffSeconds"})
    """Seconds."""
    max_backoff: int = attrs.field(default=10, metadata={"name": "podMaxBackoffSeconds"})
    """Seconds."""
    profiles: tuple[ProfileConfig, ...] = ()
    extenders: tuple[ExtenderConfig, ...] = ()
    begins: str = attrs.field(default="", metadata=_UNREAD)
    """The beginning of the refusal of one of its profiles."""
    checks_all: bool = attrs.field(default=False, metadata=_UNREAD)
    """Each node is asked about by all Filter plugins, even after one rejects it: ``alwaysCheckAllPredicates``
    of a Policy."""

    unread: tuple[str, ...] = attrs.field(default=(), metadata=_UNREAD)
    """The fields that it has in vain: unknown ones, where these are ignored."""
    notes: tuple[str, ...] = attrs.field(default=(), metadata=_UNREAD)
    """Notes on other input that does not count, in sentences."""

    @property
    def context(self) -> Context:
        """The release, the gates and the version that it is read with."""
        return Context(self.release, self.gates, self.api_version.rpartition("/")[2])

    @property
    def plugin_names(self) -> set[str]:
        """The plugins that its profiles enable."""
        return {
            name
            for profile in self.profiles
            for plugin_set in profile.plugins.values()
            for name in plugin_set.names
        }

    def validate(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.PolicyError` with all faults that upstream's validation
        finds, in one text."""
        if text := aggregated(self.faults()):
            raise PolicyError(text)

    def faults(self) -> Iterator[str]:
        """The faults that upstream's validation finds, in its words and in its order."""
        if self.parallelism <= 0:
            yield invalid("parallelism", self.parallelism, "should be an integer value greater than zero")
        yield from profile_faults(self.profiles, self.api_version, self.context)
        yield from percentage_faults(self.percentage, "percentageOfNodesToScore")
        if self.initial_backoff <= 0:
            yield invalid("podInitialBackoffSeconds", self.initial_backoff, "must be greater than 0")
        if self.max_backoff < self.initial_backoff:
            message = "must be greater than or equal to PodInitialBackoffSeconds"
            yield invalid("podMaxBackoffSeconds", self.max_backoff, message)
        yield from extender_faults(self.extenders)


# --- reading ------------------------------------------------------------------------------------------------

_IGNORED = named(
    "enableProfiling enableContentionProfiling healthzBindAddress metricsBindAddress delayCacheUntilActive",
    leaderElection=named(
        "leaderElect leaseDuration renewDeadline retryPeriod resourceLock resourceName resourceNamespace"
    ),
    clientConnection=named("kubeconfig acceptContentTypes contentType qps burst"),
)
"""Fields of a configuration that scheduling does not read."""


@cache
def configuration_fields() -> Fields:
    """The fields of a configuration, in the newest version."""
    fields = {**(fields_of(KubeSchedulerConfiguration) or {}), **TYPE_META, **_IGNORED}
    plugins = dict.fromkeys(ALL_POINTS, fields_of(PluginSet))
    return {**fields, "profiles": {**(fields["profiles"] or {}), "plugins": plugins}}


TAKEN_BY_POLICY = "this is a Policy: --policy takes it for releases up to 1.22, and `kubeclassic policy migrate` makes a profile of it"


@cache
def fields_without(lacked: frozenset[str]) -> Fields:
    """The fields of a configuration, of all versions but for those that are *lacked*."""
    return without(of_all_versions(configuration_fields()), lacked)


def unread_of_first(document: JsonObject, release: Release) -> tuple[str, ...]:
    """The fields that *release* ignores of *document*, which is of the first version of the configuration or
    empty, in sentences."""
    lacked = cells_in(FRAMEWORK_RELEASES[FIRST_FRAMEWORK].configuration, "v1alpha1").fields_lacked
    if release.predicates:
        lacked = lacked - {FAILURE_DOMAINS} | release.configuration.fields_lacked
    # Gates are no field of it upstream, but count here.
    return tuple(
        unread_field(path, release)
        for path, _ in misnamed(document, {**fields_without(lacked), "featureGates": None})
    )


def read_configuration(
    document: JsonObject | None = None, gates: GivenGates = None, release: Release = PROFILE_RELEASE
) -> KubeSchedulerConfiguration:
    """The validated configuration of *document*, its JSON form, as *release* reads it; None: the defaults.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text.
    """
    config = decoded_configuration(document, gates, release)
    config.validate()
    return config


def decoded_configuration(
    document: JsonObject | None, gates: GivenGates, release: Release
) -> KubeSchedulerConfiguration:
    """As :func:`read_configuration`, but not validated."""
    resolved = resolved_gates(release, gates)
    if document is None:
        document = {"apiVersion": f"{GROUP}/{release.configuration.default_version}", "kind": KIND}
    version = _version_of(document, release.configuration.api_versions)
    context = Context(release, resolved, version)
    cells = context.cells
    document = apiversions.without_unreserve(document, cells)
    known_fields = fields_without(cells.fields_lacked)
    misnamed_fields = tuple(misnamed(document, known_fields))
    ignored = [path for path, _ in misnamed_fields if cells.lenient_fields]
    if ignored:
        document = pruned(document, known_fields)
        misnamed_fields = ()
    try:
        raw = read(KubeSchedulerConfiguration, with_profiles(document, cells))
        profiles, strict = _with_decoded_args(raw.profiles, context)
        if is_flat(cells) and document.get(WEIGHT) is not None:
            args = read_args(AFFINITY, {"hardPodAffinityWeight": document[WEIGHT]}, context)
            profiles = tuple(
                attrs.evolve(profile, plugin_config=(*profile.plugin_config, PluginArgs(AFFINITY, args)))
                for profile in profiles
            )
    except Mismatch as mismatch:
        raise ConfigurationError(str(mismatch), mismatched(mismatch)) from None
    if cells.lenient_args:
        ignored = [*ignored, *(own_path(path, document) for path in strict)]
        strict = {}
    if errors := ", ".join(filter(None, [unknown(path for path, _ in misnamed_fields), *strict.values()])):
        faults = [
            ProfileFault(path, f"unknown field{suggestion}")
            for path, suggestion in (*misnamed_fields, *((path, "") for path in strict))
        ]
        raise ConfigurationError(f"strict decoding error: {errors}", faults)
    defaults = default_plugins(context)
    if disables_preemption(document, cells):
        defaults = {**defaults, "postFilter": PluginSet()}
    profiles = tuple(
        attrs.evolve(p, plugins=merged(defaults, p.plugins, cells), sorters=p.plugins.get("queueSort"))
        for p in profiles or (ProfileConfig(),)
    )
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (attrs.evolve(profiles[0], scheduler_name=DEFAULT_SCHEDULER),)
    return attrs.evolve(
        raw,
        release=release,
        begins=release.configuration.refusal_text,
        api_version=f"{GROUP}/{version}",
        gates=resolved,
        profiles=profiles,
        unread=tuple(ignored),
    )


def _version_of(document: JsonObject, versions: Collection[str]) -> str:
    kind = document.get("kind", "")
    api_version = document.get("apiVersion", "")
    group, _, version = str(api_version).rpartition("/")
    if not kind:
        raise ConfigurationError("Object 'Kind' is missing", [ProfileFault("kind", "missing", None, KIND)])
    if group != GROUP or version not in versions or kind != KIND:
        expected = " or ".join(f"{GROUP}/{name}" for name in versions)
        fault = ProfileFault(
            "apiVersion",
            "not read by this release",
            f"{shown(api_version)} and kind {shown(kind)}",
            f"{expected} and kind {KIND}",
        )
        raise ConfigurationError(
            f'no kind {shown(kind)} is registered for version {shown(api_version)} in scheme "k8s.io/kubernetes/pkg/scheduler"',
            [fault],
        )
    return version


def _with_decoded_args(
    profiles: tuple[ProfileConfig, ...], context: Context
) -> tuple[tuple[ProfileConfig, ...], dict[str, str]]:
    """The profiles with decoded plugin arguments, and the errors about unknown fields of arguments, by the
    paths of these."""
    decoded_profiles = []
    strict: dict[str, str] = {}
    for i, profile in enumerate(profiles):
        decoded_entries = []
        for j, entry in enumerate(profile.plugin_config):
            place = f"profiles[{i}].pluginConfig[{j}]"
            if context.cells.first_args:
                args, unread = later_args(entry.name, entry.args or {})
                entry = attrs.evolve(entry, args=args)
                strict |= {f"{place}.args.{name}": "" for name in unread}
            raw = entry.args or {}
            args = MappingProxyType(raw)
            if reads_args(entry.name, context):
                kind_of_args = f"{entry.name}Args"
                kind = raw.get("kind", kind_of_args)
                if kind != kind_of_args and not context.cells.lenient_args:
                    fault = ProfileFault(
                        f"{place}.args.kind", "not the arguments of the plugin", shown(kind), kind_of_args
                    )
                    raise ConfigurationError(
                        f"decoding .{place}: args for plugin {entry.name} were not of type {kind_of_args}.{GROUP}, got {kind}.{GROUP}",
                        [fault],
                    )
                try:
                    args = read_args(entry.name, raw, context)
                except Mismatch as mismatch:
                    raise ConfigurationError(
                        f"decoding .{place}: decoding args for plugin {entry.name}: {mismatch}",
                        mismatched(mismatch, f"{place}.args."),
                    ) from None
            decoded_entries.append(attrs.evolve(entry, args=args))
            paths = tuple(unknown_args(entry.name, raw, context))
            if paths:
                prefix = f"decoding .{place}: strict decoding error: decoding args for plugin {entry.name}: strict decoding error"
                strict |= dict.fromkeys((f"{place}.args.{path}" for path in paths), "")
                strict[f"{place}.args.{paths[0]}"] = f"{prefix}: {unknown(paths)}"
        decoded_profiles.append(attrs.evolve(profile, plugin_config=tuple(decoded_entries)))
    return tuple(decoded_profiles), strict


def passes_over(document: JsonObject, release: Release) -> bool:
    """Whether *release* ignores fields of *document* that are unknown, or given more than once."""
    return cells_in(
        release.configuration, str(document.get("apiVersion", "")).rpartition("/")[2]
    ).lenient_fields


def load_configuration(
    path: PathLike, gates: GivenGates = None, release: Release = PROFILE_RELEASE
) -> KubeSchedulerConfiguration:
    """The configuration in the file *path*, JSON or YAML, as *release* reads it; its errors name the file."""
    resolved_gates(release, gates)
    document = configuration_document(path)
    if document.repeated and not passes_over(document.data, release):
        raise PolicyError(
            f"{path}: strict decoding error: {', '.join(f'duplicate field {shown(field)}' for field in document.repeated)}"
        )
    try:
        return read_configuration(document.data, gates, release)
    except PolicyError as error:
        located = PolicyError(f"{path}: {error}")
        if is_policy(document):
            located.add_note(TAKEN_BY_POLICY)
        raise located from None


def given_configuration(
    profile: KubeSchedulerConfiguration | JsonObject | str | os.PathLike[str] | None,
    *,
    gates: GivenGates,
    percentage: int | None,
    plugins: Iterable[type[Plugin]],
    release: str,
) -> KubeSchedulerConfiguration:
    """The configuration in *profile*; without it the default profile, with *plugins* at all of their points.

    *release* reads it, unless *profile* has been read already. *gates* are the changes to the default gates,
    if it has not. A *percentage* replaces that of the profiles. Raises
    :class:`~kubeclassic.exceptions.PolicyError` with upstream's text.
    """
    reader = FRAMEWORK_RELEASES[release]
    if isinstance(profile, KubeSchedulerConfiguration):
        if gates:
            raise PolicyError("gates: expected none beside a configuration that was read with its own")
        config = profile
    elif isinstance(profile, str | os.PathLike):
        config = load_configuration(profile, gates, reader)
    else:
        config = read_configuration(
            default_document(tuple(plugins), reader.configuration) if profile is None else profile,
            gates,
            reader,
        )
    if percentage is None:
        return config
    changed_config = attrs.evolve(
        config,
        percentage=percentage,
        profiles=tuple(attrs.evolve(profile, percentage=None) for profile in config.profiles),
    )
    changed_config.validate()
    return changed_config


def default_document(plugins: Sequence[type[Plugin]], cells: ConfigurationCells) -> JsonDict:
    """The default profile with *plugins* at all of their points."""
    points = {"multiPoint": plugins}
    if cells.lists_points:
        points = {point: [plugin for plugin in plugins if point in plugin.joined()] for point in POINTS}
    enabled = {
        point: {"enabled": [{"name": plugin.name} for plugin in plugin_classes]}
        for point, plugin_classes in points.items()
        if plugin_classes
    }
    return {"apiVersion": f"{GROUP}/{cells.default_version}", "kind": KIND, **with_plugins(enabled, cells)}
