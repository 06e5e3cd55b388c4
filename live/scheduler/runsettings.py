"""What ``kubeclassic run`` is started with: kube-scheduler's flags and the options that other commands have too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from ...api.reading.documents import only_document
from ...choices import DEFAULT_RELEASE, KIND
from ...exceptions import PolicyError
from ...framework.config.configuration import KubeSchedulerConfiguration
from ...framework.options import GivenOptions
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ..client.api import Api
from ..client.credentials import Access, KubeconfigError
from ..client.kubeconfig import in_cluster, read_kubeconfig
from ..client.replies import error_of, object_of
from ..client.transport import Request, Transport
from ..settings.configz import config_document
from ..settings.flagtable import SHARED
from ..settings.livereleases import LIVE_RELEASES
from .flags import FlagError, RunSettings, read_settings

OK = 200
PLACES = {False: frozenset({"address", "port"}), True: frozenset({"bind-address", "secure-port"})}
"""Whether it is HTTPS -> the flags that say where to listen."""


def release_of_config(file: Path) -> str | None:
    """The release that the configuration in *file* is for; None where it is the default, or no release reads it.

    Raises :class:`~.flags.FlagError` where several others read it: the file alone does not say which is meant.
    """
    version = only_document(str(file), KIND).data.get("apiVersion")
    reading = [name for name, release in LIVE_RELEASES.items() if version in release.config_versions]
    if not reading or DEFAULT_RELEASE in reading:
        return None
    if len(reading) > 1:
        raise FlagError(
            f'{file}: apiVersion: got "{version}", which releases {reading[0]} to {reading[-1]} read, wanted --release with one of them'
        )
    return reading[0]


def settings_of(
    options: GivenOptions, flags: Mapping[str, str], kubeconfig: Path | None = None, *, is_dry: bool = False
) -> tuple[GivenOptions, RunSettings]:
    """The options of the scheduler that count, and all that is around it. Raises :class:`~kubeclassic.exceptions.KubeclassicError`.

    A dry run elects no leader, and listens only where a flag says so: it may run beside another scheduler on the same machine.
    """
    given = {**flags, **_shared(options)}
    if kubeconfig is not None:
        given["kubeconfig"] = str(kubeconfig)
    settings = read_settings(given, options.version)
    if is_dry:
        listeners = tuple(listener for listener in settings.listeners if PLACES[listener.is_secure] & set(flags))
        settings = attrs.evolve(settings, election=None, listeners=listeners)
    return _as_settings(options, settings), settings


def _shared(options: GivenOptions) -> dict[str, str]:
    """The options of all schedulers that are kube-scheduler's flags too."""
    found = {flag: getattr(options, name, None) for flag, name in SHARED.items()}
    found["config"] = found["config"] or getattr(options, "profile", None)
    if found["policy-configmap"] is None:
        del found["policy-configmap-namespace"]
    return {flag: str(value) for flag, value in found.items() if value is not None}


def _as_settings(options: GivenOptions, settings: RunSettings) -> GivenOptions:
    """*options* with the algorithm that counts: of a file, a ConfigMap and a provider the first, and none beside ``--config``."""
    algorithm = settings.algorithm
    namespace, name = algorithm.policy_config_map or (getattr(options, SHARED["policy-configmap-namespace"], None), None)
    counting: dict[str, Any] = {
        "policy": Path(algorithm.policy_file) if algorithm.policy_file else None, "policy_configmap": name,
        "policy_configmap_namespace": namespace, "provider": algorithm.provider or None,
        "hard_pod_affinity_weight": algorithm.hard_pod_affinity_weight, "scheduler_name": settings.scheduler_name or None,
    }  # fmt: skip
    return attrs.evolve(options, **{name: value for name, value in counting.items() if hasattr(options, name)})


def access_of(settings: RunSettings, context: str | None) -> Access:
    """How the API server is reached. Raises :class:`~kubeclassic.live.client.credentials.KubeconfigError`."""
    client = settings.client
    if client.kubeconfig:
        access = read_kubeconfig(client.kubeconfig, context)
        return attrs.evolve(access, server=client.master) if client.master else access
    if context is not None:
        raise FlagError("--context needs --kubeconfig")
    if client.master:
        return Access(server=client.master)
    try:
        return in_cluster()
    except KubeconfigError as error:
        if not settings.config:
            raise
        raise KubeconfigError(f"{error}; beside --config: clientConnection.kubeconfig in {settings.config}") from None


async def config_maps_of(spec: SchedulerSpec, link: Transport) -> ConfigMaps:
    """The ConfigMap that holds the Policy, read from the API server; none if the Policy is not in one."""
    source = spec.config.source.policy
    if source is None or source.config_map is None:
        return {}
    place = source.config_map.namespace, source.config_map.name
    path = f"/api/v1/namespaces/{place[0]}/configmaps/{place[1]}"
    found = await Api(link).send(Request("GET", path, headers={"accept": "application/json"}))
    if found.status != OK:
        raise PolicyError(f"couldn't get policy config map {place[0]}/{place[1]}: {error_of(found)}")
    return {place: object_of(found, f"GET {path}")}


def written_config(settings: RunSettings, default_percentage: int, config: KubeSchedulerConfiguration | None = None) -> str:
    """The configuration as a file, for ``--write-config-to``; *config*: its profiles with their defaults."""
    text: str = yaml.safe_dump(config_document(settings, default_percentage, config), sort_keys=False)
    return text
