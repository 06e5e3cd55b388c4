"""A KubeSchedulerConfiguration: its profiles with their defaults, validated with upstream's texts.

Upstream: pkg/scheduler/apis/config (v1, v1beta3, v1beta2: defaults.go), apis/config/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs

from ...algorithmprovider.extenders import ExtenderConfig
from ...api.objects.integers import Int32
from ...api.reading.derive import UNREAD, Field, Override, Schema
from ...api.reading.documents import PathLike, read_documents
from ...api.reading.fields import Mismatch, entries, record, shown
from ...api.reading.schema import TYPE_META
from ...api.reading.shapes import Shape, named, unknown_fields
from ...core.release import Gates, Release
from ...exceptions import KubeclassicError, PolicyError
from ..extensionpoints import POINTS
from ..releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES
from .argfaults import CHECKED_BY_PLUGIN_ALONE, arg_faults
from .args import SCHEMA, read_args, takes_args, unknown_args
from .defaults import DEFAULTS, GROUP, Plugins, PluginSet, merged
from .extenders import EXTENDER, extender_faults
from .fielderrors import aggregated, duplicate, invalid, required, unknown
from .gates import resolved_gates

KIND = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER = "default-scheduler"
_PERCENTAGE = "not in valid range [0-100]"


@attrs.frozen
class PluginArgs:
    """An entry of ``pluginConfig``: decoded arguments of a default plugin, plain data for other plugins."""

    name: str = ""
    args: Any = None


@attrs.frozen
class ProfileConfig:
    """One profile, with its defaults."""

    scheduler_name: str | None = None
    percentage: Int32 | None = None
    plugins: Plugins = attrs.field(factory=dict)
    plugin_config: tuple[PluginArgs, ...] = ()

    def args_of(self, plugin: str, capacity_priority: bool = False) -> Any:
        """The arguments of *plugin*: the given ones, else its defaults; None if it takes none."""
        for entry in self.plugin_config:
            if entry.name == plugin:
                return entry.args
        return read_args(plugin, {}, capacity_priority) if takes_args(plugin) else None


@attrs.frozen(kw_only=True)
class KubeSchedulerConfiguration:
    """What scheduling reads from a component configuration, with defaults."""

    release: Release = FRAMEWORK_RELEASES[DEFAULT_FRAMEWORK]
    """The release that reads it."""
    api_version: str = f"{GROUP}/v1"
    gates: Gates = attrs.field(factory=resolved_gates)
    parallelism: Int32 = 16
    percentage: Int32 = 0
    initial_backoff: int = 1
    """Seconds."""
    max_backoff: int = 10
    """Seconds."""
    profiles: tuple[ProfileConfig, ...] = ()
    extenders: tuple[ExtenderConfig, ...] = ()

    def validate(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.PolicyError` with all faults that upstream's validation finds, in one text."""
        if found := aggregated(self._faults()):
            raise PolicyError(found)

    def _faults(self) -> Iterator[str]:
        if self.parallelism <= 0:
            yield invalid("parallelism", self.parallelism, "should be an integer value greater than zero")
        yield from self._profile_faults()
        yield from _percentage_faults(self.percentage, "percentageOfNodesToScore")
        if self.initial_backoff <= 0:
            yield invalid("podInitialBackoffSeconds", self.initial_backoff, "must be greater than 0")
        if self.max_backoff < self.initial_backoff:
            message = "must be greater than or equal to PodInitialBackoffSeconds"
            yield invalid("podMaxBackoffSeconds", self.max_backoff, message)
        yield from extender_faults(self.extenders)

    def _profile_faults(self) -> Iterator[str]:
        seen: dict[str | None, int] = {}
        for i, profile in enumerate(self.profiles):
            path = f"profiles[{i}]"
            yield from _faults_of_profile(profile, path, self.api_version, self.gates.get("VolumeCapacityPriority", False))
            if (profile.scheduler_name or "") in seen:
                yield duplicate(f"{path}.schedulerName", f"profiles[{seen[profile.scheduler_name or '']}].schedulerName").replace('"', "")
            seen[profile.scheduler_name or ""] = i
        yield from self._queue_sort_faults()

    def _queue_sort_faults(self) -> Iterator[str]:
        sets = [profile.plugins.get("queueSort", PluginSet()) for profile in self.profiles]
        if len(sets[0].enabled) > 1:
            yield invalid("profiles[0].plugins.queueSort.Enabled", len(sets[0].enabled), "only one queue sort plugin can be enabled")
        for i, other in enumerate(sets):
            if other != sets[0]:
                shown = " ".join(plugin.name for plugin in other.enabled)
                yield f"profiles[{i}].plugins.queueSort: Invalid value: [{shown}]: has to match for all profiles"


def _percentage_faults(percentage: int | None, path: str) -> Iterator[str]:
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(path, percentage, _PERCENTAGE)


def _faults_of_profile(profile: ProfileConfig, path: str, version: str, capacity_priority: bool) -> Iterator[str]:
    if not profile.scheduler_name:
        yield required(f"{path}.schedulerName")
    yield from _percentage_faults(profile.percentage, f"{path}.percentageOfNodesToScore")
    for point in POINTS:
        for i, plugin in enumerate(profile.plugins.get(point, PluginSet()).enabled):
            yield from _removed(plugin.name, f"{path}.plugins.{point}.enabled[{i}]", version)
    seen: set[str] = set()
    for i, entry in enumerate(profile.plugin_config):
        within = f"{path}.pluginConfig[{i}]"
        if entry.name in seen:
            yield duplicate(within, entry.name)
        seen.add(entry.name)
        yield from _removed(entry.name, within, version)
        if entry.name not in CHECKED_BY_PLUGIN_ALONE:
            yield from arg_faults(entry.name, entry.args, f"{within}.args.", capacity_priority)


def _removed(plugin: str, path: str, version: str) -> Iterator[str]:
    # Upstream: multiPoint is not checked, so the plugin works there.
    if plugin == "SelectorSpread" and version == f"{GROUP}/v1":
        yield invalid(path, plugin, f'was invalid in version "{version}" (KubeSchedulerConfiguration is version "{version}")')


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


def read_configuration(
    document: Mapping[str, Any] | None = None,
    gates: Mapping[str, bool] | str | None = None,
    release: Release = FRAMEWORK_RELEASES[DEFAULT_FRAMEWORK],
) -> KubeSchedulerConfiguration:
    """The validated configuration of *document*, its JSON form, as *release* reads it; None: the defaults.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text.
    """
    known = resolved_gates(gates, release.gates)
    document = {"apiVersion": f"{GROUP}/v1", "kind": KIND} if document is None else document
    version = _version(document)
    try:
        raw = configuration_schema().reader(KubeSchedulerConfiguration)(document)
    except Mismatch as mismatch:
        raise PolicyError(str(mismatch)) from None
    profiles, strict = _decoded(raw.profiles, known.get("VolumeCapacityPriority", False))
    own = unknown(unknown_fields(document, configuration_schema().shape(KubeSchedulerConfiguration)))
    if found := ", ".join(filter(None, [own, *strict])):
        raise PolicyError(f"strict decoding error: {found}")
    defaults = DEFAULTS[version](known)
    profiles = tuple(attrs.evolve(profile, plugins=merged(defaults, profile.plugins)) for profile in profiles or (ProfileConfig(),))
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (attrs.evolve(profiles[0], scheduler_name=DEFAULT_SCHEDULER),)
    config = attrs.evolve(raw, release=release, api_version=f"{GROUP}/{version}", gates=known, profiles=profiles)
    config.validate()
    return config


def _version(document: Mapping[str, Any]) -> str:
    kind, api_version = document.get("kind", ""), document.get("apiVersion", "")
    group, _, version = str(api_version).rpartition("/")
    if not kind:
        raise PolicyError("Object 'Kind' is missing")
    if group != GROUP or version not in DEFAULTS or kind != KIND:
        raise PolicyError(f'no kind "{kind}" is registered for version "{api_version}" in scheme "k8s.io/kubernetes/pkg/scheduler"')
    return version


def _decoded(profiles: tuple[ProfileConfig, ...], capacity_priority: bool) -> tuple[tuple[ProfileConfig, ...], list[str]]:
    """The profiles with decoded plugin arguments, and the errors about unknown fields of arguments."""
    found: list[ProfileConfig] = []
    strict: list[str] = []
    for i, profile in enumerate(profiles):
        made: list[PluginArgs] = []
        for j, entry in enumerate(profile.plugin_config):
            where = f"decoding .profiles[{i}].pluginConfig[{j}]"
            made.append(attrs.evolve(entry, args=_args(entry, where, capacity_priority)))
            if takes_args(entry.name) and (words := unknown(unknown_args(entry.name, entry.args or {}))):
                strict.append(f"{where}: strict decoding error: decoding args for plugin {entry.name}: strict decoding error: {words}")
        found.append(attrs.evolve(profile, plugin_config=tuple(made)))
    return tuple(found), strict


def _args(entry: PluginArgs, where: str, capacity_priority: bool) -> Any:
    if not takes_args(entry.name):
        return MappingProxyType(entry.args or {})
    raw = entry.args or {}
    kind = raw.get("kind", f"{entry.name}Args")
    if kind != f"{entry.name}Args":
        raise PolicyError(f"{where}: args for plugin {entry.name} were not of type {entry.name}Args.{GROUP}, got {kind}.{GROUP}")
    try:
        return read_args(entry.name, raw, capacity_priority)
    except Mismatch as mismatch:
        raise PolicyError(f"{where}: decoding args for plugin {entry.name}: {mismatch}") from None


def load_configuration(
    path: PathLike, gates: Mapping[str, bool] | str | None = None, release: Release = FRAMEWORK_RELEASES[DEFAULT_FRAMEWORK]
) -> KubeSchedulerConfiguration:
    """The configuration in the file *path*, JSON or YAML, as *release* reads it; its errors name the file."""
    resolved_gates(gates, release.gates)
    try:
        documents = list(read_documents(path))
    except KubeclassicError as error:
        raise PolicyError(str(error)) from None
    if len(documents) != 1:
        raise PolicyError(f"{Path(str(path))}: got {len(documents)} documents, wanted one {KIND}")
    if repeated := documents[0].repeated:
        raise PolicyError(f"{path}: strict decoding error: {', '.join(f'duplicate field {shown(field)}' for field in repeated)}")
    try:
        return read_configuration(documents[0].data, gates, release)
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from None
