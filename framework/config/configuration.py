"""A KubeSchedulerConfiguration: its profiles with their defaults, validated with upstream's texts.

Upstream: pkg/scheduler/apis/config (v1, v1beta3, v1beta2: defaults.go), apis/config/validation/validation.go.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

import attrs

from ...algorithmprovider.config import configuration_document, is_policy
from ...algorithmprovider.extenders import ExtenderConfig, faults_of
from ...algorithmprovider.gates import GivenGates, resolved_gates
from ...algorithmprovider.policy import unread_field
from ...api.objects import DEFAULT_SCHEDULER, JsonDict, JsonObject
from ...api.objects.quantity import Int32
from ...api.reading.documents import PathLike
from ...api.reading.mismatch import Mismatch, shown
from ...api.reading.typed import read
from ...api.reading.unknownfields import TYPE_META, Fields, fields_of, misnamed, named, pruned
from ...choices import FIRST_FRAMEWORK
from ...choices import KIND as KIND
from ...core.release import ConfigurationCells, Gates, Release
from ...exceptions import PolicyError
from ..plugin import Plugin
from ..releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, PROFILE_RELEASE
from ..status import POINTS
from ..versions import cells_in
from . import apiversions
from .apiversions import (
    FAILURE_DOMAINS,
    WEIGHT,
    disables_preemption,
    is_flat,
    of_all_versions,
    own_path,
    with_plugins,
    with_profiles,
    without,
)
from .args import later_args, read_args, reads_args, unknown_args
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
    """How the refusal of one of its profiles begins."""
    checks_all: bool = attrs.field(default=False, metadata=_UNREAD)
    """Each node is asked about by all Filter plugins, even after one rejects it: ``alwaysCheckAllPredicates``
    of a Policy."""

    unread: tuple[str, ...] = attrs.field(default=(), metadata=_UNREAD)
    """The fields that it has in vain: unknown ones, where these are ignored."""
    notes: tuple[str, ...] = attrs.field(default=(), metadata=_UNREAD)
    """What else does not count of what was given, in sentences."""

    @property
    def context(self) -> Context:
        """The release, the gates and the version that it is read with."""
        return Context(self.release, self.gates, self.api_version.rpartition("/")[2])

    @property
    def plugin_names(self) -> set[str]:
        """The plugins that its profiles enable."""
        return {
            name for profile in self.profiles for found in profile.plugins.values() for name in found.names
        }

    def validate(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.PolicyError` with all faults that upstream's validation
        finds, in one text."""
        if found := aggregated(self.faults()):
            raise PolicyError(found)

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
    found = {**(fields_of(KubeSchedulerConfiguration) or {}), **TYPE_META, **_IGNORED}
    plugins = dict.fromkeys(ALL_POINTS, fields_of(PluginSet))
    return {**found, "profiles": {**(found["profiles"] or {}), "plugins": plugins}}


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
    known = resolved_gates(release, gates)
    if document is None:
        document = {"apiVersion": f"{GROUP}/{release.configuration.default_version}", "kind": KIND}
    version = _version(document, release.configuration.api_versions)
    context = Context(release, known, version)
    cells = context.cells
    document = apiversions.without_unreserve(document, cells)
    known_fields = fields_without(cells.fields_lacked)
    own = tuple(misnamed(document, known_fields))
    ignored = [path for path, _ in own if cells.lenient_fields]
    if ignored:
        document = pruned(document, known_fields)
        own = ()
    try:
        raw = read(KubeSchedulerConfiguration, with_profiles(document, cells))
        profiles, strict = _decoded(raw.profiles, context)
        if is_flat(cells) and document.get(WEIGHT) is not None:
            args = read_args(AFFINITY, {"hardPodAffinityWeight": document[WEIGHT]}, context)
            profiles = tuple(
                attrs.evolve(one, plugin_config=(*one.plugin_config, PluginArgs(AFFINITY, args)))
                for one in profiles
            )
    except Mismatch as mismatch:
        raise ConfigurationError(str(mismatch), mismatched(mismatch)) from None
    if cells.lenient_args:
        ignored = [*ignored, *(own_path(path, document) for path in strict)]
        strict = {}
    if found := ", ".join(filter(None, [unknown(path for path, _ in own), *strict.values()])):
        faults = [
            ProfileFault(path, f"unknown field{near}")
            for path, near in (*own, *((path, "") for path in strict))
        ]
        raise ConfigurationError(f"strict decoding error: {found}", faults)
    defaults = default_plugins(context)
    if disables_preemption(document, cells):
        defaults = {**defaults, "postFilter": PluginSet()}
    profiles = tuple(
        attrs.evolve(one, plugins=merged(defaults, one.plugins, cells), sorters=one.plugins.get("queueSort"))
        for one in profiles or (ProfileConfig(),)
    )
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (attrs.evolve(profiles[0], scheduler_name=DEFAULT_SCHEDULER),)
    return attrs.evolve(
        raw,
        release=release,
        begins=release.configuration.refusal_text,
        api_version=f"{GROUP}/{version}",
        gates=known,
        profiles=profiles,
        unread=tuple(ignored),
    )


def _version(document: JsonObject, known: Collection[str]) -> str:
    kind = document.get("kind", "")
    api_version = document.get("apiVersion", "")
    group, _, version = str(api_version).rpartition("/")
    if not kind:
        raise ConfigurationError("Object 'Kind' is missing", [ProfileFault("kind", "missing", None, KIND)])
    if group != GROUP or version not in known or kind != KIND:
        wanted = " or ".join(f"{GROUP}/{name}" for name in known)
        fault = ProfileFault(
            "apiVersion",
            "not read by this release",
            f"{shown(api_version)} and kind {shown(kind)}",
            f"{wanted} and kind {KIND}",
        )
        raise ConfigurationError(
            f'no kind {shown(kind)} is registered for version {shown(api_version)} in scheme "k8s.io/kubernetes/pkg/scheduler"',
            [fault],
        )
    return version


def _decoded(
    profiles: tuple[ProfileConfig, ...], context: Context
) -> tuple[tuple[ProfileConfig, ...], dict[str, str]]:
    """The profiles with decoded plugin arguments, and the errors about unknown fields of arguments, by the
    paths of these."""
    found: list[ProfileConfig] = []
    strict: dict[str, str] = {}
    for i, profile in enumerate(profiles):
        made: list[PluginArgs] = []
        for j, entry in enumerate(profile.plugin_config):
            place = f"profiles[{i}].pluginConfig[{j}]"
            if context.cells.first_args:
                args, unread = later_args(entry.name, entry.args or {})
                entry = attrs.evolve(entry, args=args)
                strict |= {f"{place}.args.{name}": "" for name in unread}
            raw = entry.args or {}
            args = MappingProxyType(raw)
            if reads_args(entry.name, context):
                wanted = f"{entry.name}Args"
                kind = raw.get("kind", wanted)
                if kind != wanted and not context.cells.lenient_args:
                    fault = ProfileFault(
                        f"{place}.args.kind", "not the arguments of the plugin", shown(kind), wanted
                    )
                    raise ConfigurationError(
                        f"decoding .{place}: args for plugin {entry.name} were not of type {wanted}.{GROUP}, got {kind}.{GROUP}",
                        [fault],
                    )
                try:
                    args = read_args(entry.name, raw, context)
                except Mismatch as mismatch:
                    raise ConfigurationError(
                        f"decoding .{place}: decoding args for plugin {entry.name}: {mismatch}",
                        mismatched(mismatch, f"{place}.args."),
                    ) from None
            made.append(attrs.evolve(entry, args=args))
            paths = tuple(unknown_args(entry.name, raw, context))
            if paths:
                begins = f"decoding .{place}: strict decoding error: decoding args for plugin {entry.name}: strict decoding error"
                strict |= dict.fromkeys((f"{place}.args.{path}" for path in paths), "")
                strict[f"{place}.args.{paths[0]}"] = f"{begins}: {unknown(paths)}"
        found.append(attrs.evolve(profile, plugin_config=tuple(made)))
    return tuple(found), strict


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
        refused = PolicyError(f"{path}: {error}")
        if is_policy(document):
            refused.add_note(TAKEN_BY_POLICY)
        raise refused from None


GivenProfile: TypeAlias = "KubeSchedulerConfiguration | JsonObject | str | os.PathLike[str]"
"""A KubeSchedulerConfiguration, its JSON form, or its file."""


def given_configuration(
    profile: GivenProfile | None = None,
    *,
    gates: GivenGates = None,
    percentage: int | None = None,
    plugins: Iterable[type[Plugin]] = (),
    release: str = DEFAULT_FRAMEWORK,
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
        found = profile
    elif isinstance(profile, str | os.PathLike):
        found = load_configuration(profile, gates, reader)
    else:
        found = read_configuration(
            default_document(tuple(plugins), reader.configuration) if profile is None else profile,
            gates,
            reader,
        )
    if percentage is None:
        return found
    changed = attrs.evolve(
        found,
        percentage=percentage,
        profiles=tuple(attrs.evolve(profile, percentage=None) for profile in found.profiles),
    )
    changed.validate()
    return changed


def default_document(plugins: Sequence[type[Plugin]], cells: ConfigurationCells) -> JsonDict:
    """The default profile with *plugins* at all of their points."""
    points: Mapping[str, Sequence[type[Plugin]]] = {"multiPoint": plugins}
    if cells.lists_points:
        points = {point: [plugin for plugin in plugins if point in plugin.joined()] for point in POINTS}
    enabled = {
        point: {"enabled": [{"name": plugin.name} for plugin in found]}
        for point, found in points.items()
        if found
    }
    return {"apiVersion": f"{GROUP}/{cells.default_version}", "kind": KIND, **with_plugins(enabled, cells)}
