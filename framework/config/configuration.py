"""A KubeSchedulerConfiguration: its profiles with their defaults, validated with upstream's texts.

Upstream: pkg/scheduler/apis/config (v1, v1beta3, v1beta2: defaults.go), apis/config/validation/validation.go.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs

from ...algorithmprovider.extenders import DEFAULT_TIMEOUT, ExtenderConfig
from ...algorithmprovider.gates import resolved_gates
from ...api.meaning.durations import duration
from ...api.meaning.label_syntax import is_valid_label_key
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.objects.quantity import Int32
from ...api.reading.derive import UNREAD, Field, Override, Schema
from ...api.reading.documents import PathLike, only_document
from ...api.reading.fields import Mismatch, entries, record, shown
from ...api.reading.schema import TYPE_META
from ...api.reading.shapes import Shape, named, unknown_fields
from ...core.pods.requests import is_extended_resource
from ...core.release import ConfigurationCells, Gates, Release
from ...exceptions import KubeclassicError, PolicyError
from ..extensionpoints import POINTS
from ..plugin import Plugin
from ..releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, PROFILE_RELEASE
from .args import SCHEMA, read_args, takes_args, unknown_args
from .defaults import BY_POINT, GROUP, LATEST, PluginSet, default_plugins, merged
from .fielderrors import Context, aggregated, invalid, unknown
from .profiles import PluginArgs, ProfileConfig, percentage_faults, profile_faults

EXTENDER = {"tls": Field("tlsConfig"), "timeout": Field("httpTimeout", read=lambda value: duration(value) or DEFAULT_TIMEOUT)}
"""How an item of ``extenders`` differs from :class:`~kubeclassic.algorithmprovider.extenders.ExtenderConfig`."""


def extender_faults(extenders: Sequence[ExtenderConfig]) -> Iterator[str]:
    """The faults that upstream's validation finds in *extenders*, with its texts and in its order."""
    seen: set[str] = set()
    for i, extender in enumerate(extenders):
        if extender.prioritize_verb and extender.weight <= 0:
            yield invalid(f"extenders[{i}].weight", extender.weight, "must have a positive weight applied to it")
        for j, resource in enumerate(extender.managed_resources):
            path = f"extenders[{i}].managedResources[{j}].name"
            yield from _name_faults(resource.name, path)
            if resource.name in seen:
                yield invalid(path, resource.name, "duplicate extender managed resource name")
            seen.add(resource.name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        yield invalid("extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind")


def _name_faults(name: str, path: str) -> Iterator[str]:
    if faults := is_valid_label_key(name):
        yield from (invalid(path, name, fault) for fault in faults)
    elif not is_extended_resource(name):
        yield invalid(path, name, "is an invalid extended resource name")


KIND = "KubeSchedulerConfiguration"


@attrs.frozen(kw_only=True)
class KubeSchedulerConfiguration:
    """What scheduling reads from a component configuration, with defaults."""

    release: Release = PROFILE_RELEASE
    """The release that reads it."""
    api_version: str = f"{GROUP}/v1"
    gates: Gates = attrs.field(factory=lambda: resolved_gates(PROFILE_RELEASE))
    parallelism: Int32 = 16
    percentage: Int32 = 0
    initial_backoff: int = 1
    """Seconds."""
    max_backoff: int = 10
    """Seconds."""
    profiles: tuple[ProfileConfig, ...] = ()
    extenders: tuple[ExtenderConfig, ...] = ()

    @property
    def context(self) -> Context:
        """The release and the gates that it is read with."""
        return Context(self.release, self.gates)

    def validate(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.PolicyError` with all faults that upstream's validation finds, in one text."""
        if found := aggregated(self._faults()):
            raise PolicyError(found)

    def _faults(self) -> Iterator[str]:
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


# --- reading --------------------------------------------------------------------------------------------------------

_IGNORED = named(
    "enableProfiling enableContentionProfiling healthzBindAddress metricsBindAddress delayCacheUntilActive",
    leaderElection=Shape(named("leaderElect leaseDuration renewDeadline retryPeriod resourceLock resourceName resourceNamespace")),
    clientConnection=Shape(named("kubeconfig acceptContentTypes contentType qps burst")),
)
"""Fields of a configuration that scheduling does not read."""
_PERCENTAGE_OF_NODES = Field("percentageOfNodesToScore")


@cache
def configuration_schema() -> Schema:
    read, shape = SCHEMA.reader(PluginSet), SCHEMA.shape(PluginSet)
    points = (*POINTS, "multiPoint")
    plugins = Field(read=record(dict, {point: (point, read) for point in points}), shape=Shape(dict.fromkeys(points, shape)))
    config: dict[str, Override] = {
        "release": UNREAD,
        "api_version": UNREAD,
        "gates": UNREAD,
        "percentage": _PERCENTAGE_OF_NODES,
        "initial_backoff": Field("podInitialBackoffSeconds"),
        "max_backoff": Field("podMaxBackoffSeconds"),
    }
    return SCHEMA.extended(
        {
            KubeSchedulerConfiguration: config,
            ProfileConfig: {"percentage": _PERCENTAGE_OF_NODES, "plugins": plugins},
            PluginArgs: {"args": entries},
            ExtenderConfig: EXTENDER,
        },
        known={KubeSchedulerConfiguration: TYPE_META | _IGNORED},
    )


def fields_of(version: str, cells: ConfigurationCells) -> Shape:
    """The fields of a configuration in *version* of the API, as a release with *cells* has it."""
    fields = dict(configuration_schema().shape(KubeSchedulerConfiguration).fields or {})
    profile = dict(fields["profiles"].fields or {})
    if version != BY_POINT:
        del fields["healthzBindAddress"], fields["metricsBindAddress"]
    if version != LATEST:
        del profile["percentageOfNodesToScore"]
    if not cells.delays_cache:
        del fields["delayCacheUntilActive"]
    return Shape({**fields, "profiles": Shape(profile)})


def read_configuration(
    document: Mapping[str, Any] | None = None,
    gates: Mapping[str, bool] | str | None = None,
    release: Release = PROFILE_RELEASE,
) -> KubeSchedulerConfiguration:
    """The validated configuration of *document*, its JSON form, as *release* reads it; None: the defaults.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text.
    """
    known = resolved_gates(release, gates)
    document = {"apiVersion": f"{GROUP}/v1", "kind": KIND} if document is None else document
    version = _version(document, release.configuration.api_versions)
    try:
        raw = configuration_schema().reader(KubeSchedulerConfiguration)(document)
    except Mismatch as mismatch:
        raise PolicyError(str(mismatch)) from None
    context = Context(release, known)
    profiles, strict = _decoded(raw.profiles, context)
    own = unknown(unknown_fields(document, fields_of(version, release.configuration)))
    if found := ", ".join(filter(None, [own, *strict])):
        raise PolicyError(f"strict decoding error: {found}")
    defaults = default_plugins(version, context)
    profiles = tuple(attrs.evolve(profile, plugins=merged(defaults, profile.plugins)) for profile in profiles or (ProfileConfig(),))
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (attrs.evolve(profiles[0], scheduler_name=DEFAULT_SCHEDULER),)
    config = attrs.evolve(raw, release=release, api_version=f"{GROUP}/{version}", gates=known, profiles=profiles)
    config.validate()
    return config


def _version(document: Mapping[str, Any], known: Collection[str]) -> str:
    kind, api_version = document.get("kind", ""), document.get("apiVersion", "")
    group, _, version = str(api_version).rpartition("/")
    if not kind:
        raise PolicyError("Object 'Kind' is missing")
    if group != GROUP or version not in known or kind != KIND:
        raise PolicyError(f'no kind "{kind}" is registered for version "{api_version}" in scheme "k8s.io/kubernetes/pkg/scheduler"')
    return version


def _decoded(profiles: tuple[ProfileConfig, ...], context: Context) -> tuple[tuple[ProfileConfig, ...], list[str]]:
    """The profiles with decoded plugin arguments, and the errors about unknown fields of arguments."""
    found: list[ProfileConfig] = []
    strict: list[str] = []
    for i, profile in enumerate(profiles):
        made: list[PluginArgs] = []
        for j, entry in enumerate(profile.plugin_config):
            where = f"decoding .profiles[{i}].pluginConfig[{j}]"
            made.append(attrs.evolve(entry, args=_args(entry, where, context)))
            if takes_args(entry.name, context) and (words := unknown(unknown_args(entry.name, entry.args or {}))):
                strict.append(f"{where}: strict decoding error: decoding args for plugin {entry.name}: strict decoding error: {words}")
        found.append(attrs.evolve(profile, plugin_config=tuple(made)))
    return tuple(found), strict


def _args(entry: PluginArgs, where: str, context: Context) -> Any:
    if not takes_args(entry.name, context):
        return MappingProxyType(entry.args or {})
    raw = entry.args or {}
    kind = raw.get("kind", f"{entry.name}Args")
    if kind != f"{entry.name}Args":
        raise PolicyError(f"{where}: args for plugin {entry.name} were not of type {entry.name}Args.{GROUP}, got {kind}.{GROUP}")
    try:
        return read_args(entry.name, raw, context)
    except Mismatch as mismatch:
        raise PolicyError(f"{where}: decoding args for plugin {entry.name}: {mismatch}") from None


def load_configuration(
    path: PathLike, gates: Mapping[str, bool] | str | None = None, release: Release = PROFILE_RELEASE
) -> KubeSchedulerConfiguration:
    """The configuration in the file *path*, JSON or YAML, as *release* reads it; its errors name the file."""
    resolved_gates(release, gates)
    try:
        document = only_document(path, KIND)
    except KubeclassicError as error:
        raise PolicyError(str(error)) from None
    if repeated := document.repeated:
        raise PolicyError(f"{path}: strict decoding error: {', '.join(f'duplicate field {shown(field)}' for field in repeated)}")
    try:
        return read_configuration(document.data, gates, release)
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from None


GivenProfile: TypeAlias = "KubeSchedulerConfiguration | Mapping[str, Any] | str | os.PathLike[str]"
"""A KubeSchedulerConfiguration, its JSON form, or its file."""


def given_configuration(
    profile: GivenProfile | None = None,
    *,
    gates: Mapping[str, bool] | str | None = None,
    percentage: int | None = None,
    plugins: Iterable[type[Plugin]] = (),
    release: str = DEFAULT_FRAMEWORK,
) -> KubeSchedulerConfiguration:
    """The configuration in *profile*; without it the default profile, with *plugins* at all of their points.

    *release* reads it, unless *profile* has been read already. *gates* are the changes to the default gates, if it has not. A *percentage*
    replaces that of the profiles. Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text.
    """
    found = _read(profile, gates, [plugin.name for plugin in plugins], FRAMEWORK_RELEASES[release])
    if percentage is None:
        return found
    profiles = tuple(attrs.evolve(profile, percentage=None) for profile in found.profiles)
    changed = attrs.evolve(found, percentage=percentage, profiles=profiles)
    changed.validate()
    return changed


def _read(
    profile: GivenProfile | None, gates: Mapping[str, bool] | str | None, plugins: list[str], release: Release
) -> KubeSchedulerConfiguration:
    if isinstance(profile, KubeSchedulerConfiguration):
        if gates:
            raise PolicyError("gates: got some beside a configuration that was read with its own, wanted them there")
        return profile
    if isinstance(profile, str | os.PathLike):
        return load_configuration(profile, gates, release)
    return read_configuration(_default(plugins) if profile is None else profile, gates, release)


def _default(plugins: list[str]) -> dict[str, Any]:
    enabled = {"multiPoint": {"enabled": [{"name": name} for name in plugins]}}
    return {"apiVersion": f"{GROUP}/v1", "kind": KIND, "profiles": [{"plugins": enabled}]}
