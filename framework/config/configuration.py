"""A KubeSchedulerConfiguration as read and with its defaults, and its faults in upstream's texts.

Upstream: pkg/scheduler/apis/config (v1, v1beta3, v1beta2: defaults.go), apis/config/validation/validation.go.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import attrs

from ...algorithmprovider.config import configuration_document, is_policy
from ...algorithmprovider.extenders import ExtenderConfig, faults_of
from ...algorithmprovider.gates import GivenGates, resolved_gates
from ...algorithmprovider.policy import unread_field
from ...api.objects import DEFAULT_SCHEDULER, Int32, JsonDict, JsonObject
from ...api.reading import (
    TYPE_META,
    Fields,
    Mismatch,
    PathLike,
    Reader,
    fields_of,
    misnamed,
    pruned,
    read,
    reader,
    record,
    shown,
)
from ...api.record import copied
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
from .args import later_args, plugins_with_args, read_args, reads_args, unknown_args
from .component import ClientConnection, LeaderElection, address_faults
from .fielderrors import ConfigurationError, Context, ProfileFault, aggregated, invalid, mismatched, unknown
from .profiles import (
    ALL_POINTS,
    GROUP,
    PERCENTAGE,
    PluginArgs,
    PluginSet,
    ProfileConfig,
    default_plugins,
    merged,
    percentage_faults,
    profile_faults,
)


def extender_faults(extenders: Sequence[ExtenderConfig], cells: FrameworkCells) -> Iterator[str]:
    """The faults that upstream's validation finds in *extenders*, with their fields."""
    for path, value, text, text_with_name in faults_of(extenders, cells.label_words):
        is_of_resource = path.endswith("].name")
        if is_of_resource and text == text_with_name and cells.resource_name_faults == "unquoted":
            yield f"{path}: Invalid value: {value}: {text}"
        elif is_of_resource and "invalid" in text and cells.resource_name_faults == "with name":
            yield invalid(path, value, text_with_name)
        else:
            yield invalid(path, value, text)


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
    client_connection: ClientConnection = attrs.Factory(ClientConnection)
    leader_election: LeaderElection = attrs.Factory(LeaderElection)
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    healthz_bind_address: str = ""
    metrics_bind_address: str = ""
    delay_cache_until_active: bool = False
    begins: str = attrs.field(default="", metadata=_UNREAD)
    """The beginning of the refusal of one of its profiles."""
    checks_all: bool = attrs.field(default=False, metadata=_UNREAD)
    """Whether all Filter plugins check each node, even after one rejects it: ``alwaysCheckAllPredicates`` of
    a Policy."""

    unread: tuple[str, ...] = attrs.field(default=(), metadata=_UNREAD)
    """The fields without effect: unknown ones, where these are ignored."""
    notes: tuple[str, ...] = attrs.field(default=(), metadata=_UNREAD)
    """Notes on other input without effect, in sentences."""

    @property
    def context(self) -> Context:
        """The release, the gates and the version with which it is read."""
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
        yield from self.client_connection.faults("clientConnection")
        yield from self.leader_election.faults("leaderElection", self.context)
        if self.parallelism <= 0:
            yield invalid("parallelism", self.parallelism, "should be an integer value greater than zero")
        yield from profile_faults(self.profiles, self.api_version, self.context)
        yield from address_faults("healthzBindAddress", self.healthz_bind_address, self.context)
        yield from address_faults("metricsBindAddress", self.metrics_bind_address, self.context)
        yield from percentage_faults(self.percentage, "percentageOfNodesToScore")
        if self.initial_backoff <= 0:
            yield invalid("podInitialBackoffSeconds", self.initial_backoff, "must be greater than 0")
        if self.max_backoff < self.initial_backoff:
            message = "must be greater than or equal to PodInitialBackoffSeconds"
            yield invalid("podMaxBackoffSeconds", self.max_backoff, message)
        yield from extender_faults(self.extenders, self.release.framework)


# --- reading ------------------------------------------------------------------------------------------------


@cache
def configuration_fields() -> Fields:
    """The fields of a configuration, in the newest version."""
    fields = {**(fields_of(KubeSchedulerConfiguration) or {}), **TYPE_META}
    plugins = dict.fromkeys(ALL_POINTS, fields_of(PluginSet))
    return {**fields, "profiles": {**(fields["profiles"] or {}), "plugins": plugins}}


TAKEN_BY_POLICY = "this is a Policy: --policy takes it for releases up to 1.22, and `kubeclassic policy migrate` makes a profile of it"


@cache
def fields_without(lacked: frozenset[str]) -> Fields:
    """The fields of a configuration in all versions, without those *lacked*."""
    return without(of_all_versions(configuration_fields()), lacked)


def as_read(value: Any, fields: Fields | None) -> Any:
    """A copy of *value* with its *fields* alone; null items of their lists are empty objects, null names
    empty texts."""
    if fields is None:
        return copied(value)
    if isinstance(value, list):
        return [as_read({} if item is None else item, fields) for item in value]
    if not isinstance(value, Mapping):
        return value
    names = {"name": value.get("name") or ""} if "name" in fields else {}
    return {name: as_read(item, fields[name]) for name, item in value.items() if name in fields} | names


def unread_of_first(document: JsonObject, release: Release) -> tuple[str, ...]:
    """The fields of *document* that *release* ignores, in sentences. *document* is of the first version of
    the configuration, or empty."""
    lacked = cells_in(FRAMEWORK_RELEASES[FIRST_FRAMEWORK].configuration, "v1alpha1").fields_lacked
    if release.predicates:
        lacked = lacked - {FAILURE_DOMAINS} | release.configuration.fields_lacked
    # Gates are no field of a profile configuration upstream, but count here.
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
    if not api_version:
        versions_text = " or ".join(f"{GROUP}/{name}" for name in versions)
        fault = ProfileFault("apiVersion", "missing", None, versions_text)
        raise ConfigurationError("Object 'apiVersion' is missing", [fault])
    if group != GROUP or version not in versions or kind != KIND:
        expected = " or ".join(f"{GROUP}/{name}" for name in versions)
        fault = ProfileFault(
            "apiVersion",
            "not read by this release",
            f"{shown(api_version)} and kind {shown(kind)}",
            f"{expected} and kind {KIND}",
        )
        raise ConfigurationError(unregistered(kind, api_version), [fault])
    return version


_type_meta: Reader[JsonDict] = record(dict, {name: (name, reader(str)) for name in TYPE_META})


def _check_kind(plugin: str, raw: JsonObject, place: str, context: Context) -> None:
    """Refuse arguments of *plugin* with another kind, or an unknown version."""
    given = _type_meta(raw)
    own_kind = f"{plugin}Args"
    kind = given.get("kind") or own_kind
    own_version = f"{GROUP}/{context.version}"
    api_version = given.get("apiVersion") or own_version
    versions = {f"{GROUP}/{name}": name for name in context.release.configuration.api_versions}
    known = {KIND, *(f"{name}Args" for name in plugins_with_args(context))}
    if api_version not in versions or kind not in known:
        text = f"decoding args for plugin {plugin}: {unregistered(kind, api_version)}"
        where = "kind" if api_version in versions else "apiVersion"
        fault = ProfileFault(f"{place}.args.{where}", "not read by this release", shown(raw[where]), own_kind)
    elif kind == own_kind and api_version != own_version:
        # Upstream: they are decoded, and then have no internal form for the version of the configuration.
        text = f'no kind is registered for the type {versions[api_version]}.{own_kind} in scheme "k8s.io/kubernetes/pkg/scheduler"'
        where = place.replace("p", "P")
        fault = ProfileFault(
            f"{place}.args.apiVersion", "of another version", shown(api_version), own_version
        )
        raise ConfigurationError(f"converting .{where}.Args into internal type: {text}", [fault])
    elif kind != own_kind:
        text = f"args for plugin {plugin} were not of type {own_kind}.{GROUP}, got {kind}.{GROUP}"
        fault = ProfileFault(f"{place}.args.kind", "not the arguments of the plugin", shown(kind), own_kind)
    else:
        return
    raise ConfigurationError(f"decoding .{place}: {text}", [fault])


def unregistered(kind: Any, api_version: Any) -> str:
    """The original's text for a kind that a version of the configuration does not have."""
    return f'no kind {shown(kind)} is registered for version {shown(api_version)} in scheme "k8s.io/kubernetes/pkg/scheduler"'


def _with_decoded_args(
    profiles: tuple[ProfileConfig, ...], context: Context
) -> tuple[tuple[ProfileConfig, ...], dict[str, str]]:
    """The profiles with decoded plugin arguments, and path -> error for unknown fields of arguments."""
    decoded_profiles = []
    strict: dict[str, str] = {}
    for i, profile in enumerate(profiles):
        decoded_entries = []
        for j, entry in enumerate(profile.plugin_config):
            place = f"profiles[{i}].pluginConfig[{j}]"
            if (reads_args(entry.name, context) or context.cells.first_args) and not isinstance(
                entry.args, Mapping | None
            ):
                raise Mismatch(entry.args, "an object").under(f"{place}.args")
            if context.cells.first_args:
                args, unread = later_args(entry.name, entry.args or {})
                entry = attrs.evolve(entry, args=args)
                strict |= {f"{place}.args.{name}": "" for name in unread}
            raw = {} if entry.args is None else entry.args
            args = MappingProxyType(raw) if isinstance(raw, Mapping) else raw
            if reads_args(entry.name, context):
                try:
                    if not context.cells.lenient_args:
                        _check_kind(entry.name, raw, place, context)
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
