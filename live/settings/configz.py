"""What ``/configz`` shows, the configuration with its defaults by the names of the Go fields, and the same as a file.

Profiles are shown with their defaults: plugins by extension point, and the arguments of each.
Upstream: k8s.io/component-base/configz, which writes the internal type, and setDefaults_KubeSchedulerProfile in
pkg/scheduler/apis/config/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ...api.meaning.durations import duration_text
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...framework.config.args import ScoringStrategy, reads_args
from ...framework.config.configuration import KubeSchedulerConfiguration
from ...framework.config.defaults import PluginEntry, PluginSet
from ...framework.config.fielderrors import Context
from ...framework.config.profiles import ProfileConfig
from ...framework.extensionpoints import POINTS
from ..process.metrictables import camel
from ..scheduler.flags import ElectionSettings, RunSettings
from .cells import OPTIONAL_FIELDS, PLUGINS, PROFILE_PERCENTAGE

_VERBATIM = ("addedAffinity", "defaultConstraints")
"""Arguments that are objects of the API: they are shown as they were given."""


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]


def titled(value: Any, spelled: Mapping[str, str]) -> Any:
    """JSON with its keys as Go fields are called; *spelled*: those that are called otherwise."""
    if isinstance(value, Mapping):
        return {spelled.get(key, _title(key)): titled(item, spelled) for key, item in value.items()}
    return [titled(item, spelled) for item in value] if isinstance(value, list) else value


def shown_profiles(config: KubeSchedulerConfiguration, given: Any, *, has_percentage: bool) -> list[dict[str, Any]]:
    """The profiles of *config*, which were *given* so; *has_percentage*: each profile has a percentageOfNodesToScore of its own."""
    raw = given if isinstance(given, list) else []
    return [
        _profile(profile, raw[i] if i < len(raw) else {}, config.context, has_percentage=has_percentage)
        for i, profile in enumerate(config.profiles)
    ]


def _profile(profile: ProfileConfig, given: Mapping[str, Any], context: Context, *, has_percentage: bool) -> dict[str, Any]:
    points = (point for point in (*POINTS, "multiPoint") if f"profiles.plugins.{point}" not in context.cells.fields_lacked)
    sets = {point: profile.plugins.get(point, PluginSet()) for point in points}
    raw = {str(entry.get("name")): entry.get("args") or {} for entry in given.get("pluginConfig") or () if isinstance(entry, Mapping)}
    return {
        "SchedulerName": profile.scheduler_name or "",
        **({"PercentageOfNodesToScore": profile.percentage} if has_percentage else {}),
        "Plugins": {_title(point): _set(found) for point, found in sets.items()},
        "PluginConfig": [
            {"Name": name, "Args": _args(name, profile.args_of(name, context), raw.get(name, {}), context)}
            for name in _with_args(profile, sets.values(), context)
        ] or None,
    }  # fmt: skip


def _with_args(profile: ProfileConfig, sets: Any, context: Context) -> list[str]:
    """The plugins whose arguments are shown: those with given ones first, then the others in alphabetical order."""
    given = [entry.name for entry in profile.plugin_config]
    names = {plugin.name for found in sets for plugin in found.enabled}
    return [*given, *sorted(name for name in names if name not in given and reads_args(name, context))]


def _set(found: PluginSet) -> dict[str, Any]:
    return {"Enabled": _entries(found.enabled), "Disabled": _entries(found.disabled)}


def _entries(plugins: Sequence[PluginEntry]) -> list[dict[str, Any]] | None:
    return [{"Name": plugin.name, "Weight": plugin.weight} for plugin in plugins] or None


def _args(plugin: str, args: Any, given: Mapping[str, Any], context: Context) -> Any:
    """The arguments of *plugin*: those of a plugin of one's own as they were given, of others by the fields that the release has."""
    if not attrs.has(type(args)):
        return dict(given)
    lacked = {field for owner, _, field in (name.partition(".") for name in context.cells.args_lacked) if owner == plugin}
    found = {}
    for field in attrs.fields(type(args)):
        name = camel(field.name)
        if name not in lacked:
            found[_title(name)] = given.get(name) if name in _VERBATIM else _value(field.name, getattr(args, field.name))
    return found


def _value(name: str, value: Any) -> Any:
    if isinstance(value, ScoringStrategy):
        ratio = None if value.shape is None else {"Shape": _value("shape", value.shape)}
        return {"Type": value.type, "Resources": _value("resources", value.resources), "RequestedToCapacityRatio": ratio}
    if attrs.has(type(value)):
        return {_title(camel(field.name)): getattr(value, field.name) for field in attrs.fields(type(value))}
    if isinstance(value, tuple):
        return [_value(name, item) for item in value] or None
    return duration_text(value) if name.endswith("_timeout") and value is not None else value


_SPELLED = {"qps": "QPS", "apiVersion": "apiVersion"}


def componentconfig(settings: RunSettings, default_percentage: int, config: KubeSchedulerConfiguration | None = None) -> dict[str, Any]:
    """The configuration of a scheduler that was started with *settings*; *config*: its profiles with their defaults."""
    if settings.release.config_profiles:
        return _framework(settings, config)
    return _classic(settings, default_percentage)


def config_document(settings: RunSettings, default_percentage: int, config: KubeSchedulerConfiguration | None = None) -> dict[str, Any]:
    """The same as a file of the release's configuration API, as ``--write-config-to`` writes it; keys in alphabetical order.

    Profiles and extenders that were given are written as they were given.
    """
    shown = {key: value for key, value in componentconfig(settings, default_percentage, config).items() if value not in (None, "")}
    if settings.release.config_profiles:
        shown.pop("AlgorithmSource", None)  # Upstream: it is a field of the internal type alone.
    shown |= {"ApiVersion": shown.pop("apiVersion", settings.release.config_versions[0]), "Kind": "KubeSchedulerConfiguration"}
    given = settings.document
    written: dict[str, Any] = _untitled(shown)
    for entry in (entry for profile in written.get("profiles", ()) for entry in profile.get("pluginConfig", ())):
        kind = {"apiVersion": written["apiVersion"], "kind": f"{entry['name']}Args"}
        entry["args"] = dict(sorted((entry["args"] | kind).items()))
    return {key: given.get(key, value) if key in ("profiles", "extenders") else value for key, value in sorted(written.items())}


def _untitled(value: Any) -> Any:
    """JSON with its keys as the API calls them, without nulls."""
    if isinstance(value, list):
        return [_untitled(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    keys = {key: "qps" if key == "QPS" else key[:1].lower() + key[1:] for key in value}
    return {keys[key]: _untitled(value[key]) for key in sorted(value) if value[key] is not None}


def _classic(settings: RunSettings, default_percentage: int) -> dict[str, Any]:
    given = settings.document
    return {
        "SchedulerName": settings.scheduler_name or DEFAULT_SCHEDULER,
        "AlgorithmSource": _source(settings),
        "HardPodAffinitySymmetricWeight": settings.algorithm.hard_pod_affinity_weight or given.get("hardPodAffinitySymmetricWeight") or 1,
        **_shared(settings, "LockObjectNamespace", "LockObjectName"),
        "PercentageOfNodesToScore": given.get("percentageOfNodesToScore") or default_percentage,
        "BindTimeoutSeconds": given.get("bindTimeoutSeconds", 600),
        "Plugins": None,
        "PluginConfig": None,
    }


def _framework(settings: RunSettings, config: KubeSchedulerConfiguration | None) -> dict[str, Any]:
    given, has = settings.document, settings.release.config_fields
    found = {
        "apiVersion": given.get("apiVersion", settings.release.config_versions[0]),
        "Parallelism": given.get("parallelism", 16),
        "AlgorithmSource": _source(settings),
        **_shared(settings, "ResourceName", "ResourceNamespace"),
        "PercentageOfNodesToScore": given.get("percentageOfNodesToScore", 0),
        "BindTimeoutSeconds": given.get("bindTimeoutSeconds", 600),
        "PodInitialBackoffSeconds": given.get("podInitialBackoffSeconds", 1),
        "PodMaxBackoffSeconds": given.get("podMaxBackoffSeconds", 10),
        "Profiles": _profiles(settings, config),
        "Extenders": titled(given.get("extenders"), _SPELLED),
        "DelayCacheUntilActive": bool(given.get("delayCacheUntilActive")),
    }
    return {name: value for name, value in found.items() if name not in OPTIONAL_FIELDS or name in has}


def _shared(settings: RunSettings, *lock: str) -> dict[str, Any]:
    """The middle of both forms; *lock*: the fields that name the lock."""
    address = _address(settings)
    return {
        "LeaderElection": _election(settings, *lock),
        "ClientConnection": _client(settings),
        "HealthzBindAddress": address,
        "MetricsBindAddress": address,
        "EnableProfiling": settings.profiling,
        "EnableContentionProfiling": False,
        "DisablePreemption": bool(settings.document.get("disablePreemption")),
    }


def _profiles(settings: RunSettings, config: KubeSchedulerConfiguration | None) -> list[dict[str, Any]]:
    given, has = settings.document.get("profiles"), settings.release.config_fields
    if config is not None and PLUGINS in has:
        return shown_profiles(config, given, has_percentage=PROFILE_PERCENTAGE in has)
    return titled(given, _SPELLED) or [{"SchedulerName": settings.scheduler_name or DEFAULT_SCHEDULER}]


def _election(settings: RunSettings, *names: str) -> dict[str, Any]:
    election = settings.election or ElectionSettings(kind=settings.release.leader.default_lock)
    return {
        "LeaderElect": settings.election is not None,
        "LeaseDuration": duration_text(election.times.lease),
        "RenewDeadline": duration_text(election.times.renew),
        "RetryPeriod": duration_text(election.times.retry),
        "ResourceLock": election.kind,
        **{name: election.namespace if name.endswith("Namespace") else election.name for name in names},
    }


def _client(settings: RunSettings) -> dict[str, Any]:
    client = settings.client
    qps = int(client.qps) if client.qps == int(client.qps) else client.qps
    common = {"AcceptContentTypes": "", "ContentType": "application/json", "QPS": qps, "Burst": client.burst}
    return {"Kubeconfig": client.kubeconfig, **common}


def _address(settings: RunSettings) -> str:
    plain = [listener for listener in settings.listeners if not listener.is_secure]
    return f"{plain[0].address}:{plain[0].port}" if plain else ""


def _source(settings: RunSettings) -> dict[str, Any]:
    algorithm, given = settings.algorithm, settings.document.get("algorithmSource")
    if isinstance(given, Mapping):
        named = titled(given, _SPELLED)
        return {"Policy": named.get("Policy"), "Provider": named.get("Provider")}
    if algorithm.policy_file:
        return {"Policy": {"File": {"Path": algorithm.policy_file}, "ConfigMap": None}, "Provider": None}
    if algorithm.policy_config_map is not None:
        namespace, name = algorithm.policy_config_map
        return {"Policy": {"File": None, "ConfigMap": {"Namespace": namespace, "Name": name}}, "Provider": None}
    return {"Policy": None, "Provider": algorithm.provider or "DefaultProvider"}
