"""What ``/configz`` shows, the configuration with its defaults by the names of the Go fields, and the same as a file.

Upstream: k8s.io/component-base/configz, which writes the internal type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...api.meaning.durations import duration_text
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...framework.config.configuration import KubeSchedulerConfiguration
from ..scheduler.flags import ElectionSettings, RunSettings
from .cells import OPTIONAL_FIELDS, PLUGINS, PROFILE_PERCENTAGE
from .configprofiles import shown_profiles, titled

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
