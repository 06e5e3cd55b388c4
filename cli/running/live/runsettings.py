"""What ``kubeclassic run`` is started with: kube-scheduler's flags and the options that other commands have too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs
import yaml

from ....exceptions import PolicyError
from ....framework.schedulerspec import ConfigMaps, SchedulerSpec
from ....live.client.access import Access, KubeconfigError
from ....live.client.api import Api
from ....live.client.kubeconfig import in_cluster, read_kubeconfig
from ....live.client.replies import error_of, object_of
from ....live.client.transport import Request, Transport
from ....live.scheduler.flags import RunSettings, read_settings
from ....live.settings.configz import config_document
from ....live.settings.values import FlagError
from ...engines.setup import Setup

OK = 200
PLACES = frozenset({"address", "port", "bind-address", "secure-port"})
"""Flags that say where to listen."""


def settings_of(setup: Setup, flags: Mapping[str, str], kubeconfig: Path | None, *, is_dry: bool) -> tuple[Setup, RunSettings]:
    """The setup of the scheduler, and all that is around it. Raises :class:`~kubeclassic.exceptions.KubeclassicError`.

    A dry run elects no leader, and listens only where a flag says so: it may run beside another scheduler on the same machine.
    """
    setup.spec  # noqa: B018  # Its errors say more.
    given = {**flags, **_shared(setup)}
    if kubeconfig is not None:
        given["kubeconfig"] = str(kubeconfig)
    settings = read_settings(given, setup.version)
    if is_dry:
        listeners = settings.listeners if PLACES & set(flags) else ()
        settings = attrs.evolve(settings, election=None, listeners=listeners)
    return (setup if setup.runs_profiles else _as_settings(setup, settings)), settings


def _shared(setup: Setup) -> dict[str, str]:
    """The options of all commands that are kube-scheduler's too."""
    found = {
        "config": setup.get("config") or setup.get("profile"),
        "policy-config-file": setup.get("policy"),
        "policy-configmap": setup.get("policy_configmap"),
        "policy-configmap-namespace": setup.get("policy_configmap") and setup.get("policy_configmap_namespace"),
        "algorithm-provider": setup.get("provider"),
        "hard-pod-affinity-symmetric-weight": setup.get("hard_pod_affinity_weight"),
        "scheduler-name": setup.get("scheduler_name"),
        "feature-gates": setup.get("gates"),
    }
    return {name: str(value) for name, value in found.items() if value is not None}


def _as_settings(setup: Setup, settings: RunSettings) -> Setup:
    """*setup* with the algorithm that counts: of a file, a ConfigMap and a provider the first, and none beside ``--config``."""
    algorithm = settings.algorithm
    namespace, name = algorithm.policy_config_map or (setup.get("policy_configmap_namespace"), None)
    return setup.with_(
        policy=Path(algorithm.policy_file) if algorithm.policy_file else None,
        policy_configmap=name,
        policy_configmap_namespace=namespace,
        provider=algorithm.provider or None,
        hard_pod_affinity_weight=algorithm.hard_pod_affinity_weight,
        scheduler_name=settings.scheduler_name or None,
    )


def access_of(settings: RunSettings, context: str | None) -> Access:
    """How the API server is reached. Raises :class:`~kubeclassic.live.client.access.KubeconfigError`."""
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


def written_config(settings: RunSettings, default_percentage: int) -> str:
    """The configuration as a file, for ``--write-config-to``."""
    text: str = yaml.safe_dump(config_document(settings, default_percentage), sort_keys=False)
    return text
