"""The engine of a conformance case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..algorithmprovider import resolve
from ..algorithmprovider.extenders import ExtenderConfig
from ..algorithmprovider.policy import read_policy
from ..algorithmprovider.registry import DEFAULT_PROVIDER
from ..core.engine import Engine
from ..core.release import Release
from ..core.rule import Algorithm
from ..exceptions import UnknownNameError
from ..framework.building import build_engine
from ..framework.config.configuration import KIND, KubeSchedulerConfiguration, read_configuration
from ..framework.config.defaults import GROUP
from ..framework.policy.profile import configuration_of_policy, configuration_of_provider
from ..framework.releases import ALL_RELEASES as BY_VERSION
from ..framework.releases import FRAMEWORK_RELEASES

ALL_RELEASES = tuple(BY_VERSION)
"""Every supported release, oldest first."""


def engine_for(
    version: str, config: Mapping[str, Any], options: Mapping[str, Any] | None = None, release: Release | None = None, **engine: Any
) -> Engine:
    """A scheduler of release *version*; *config* is that of a conformance case, which *options* override; *engine*: fields of the Engine.

    *release*: one that is not quite the same, in its place.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for what the release refuses.
    """
    if version not in BY_VERSION:
        raise UnknownNameError(f"version: got {version!r}, wanted one of {', '.join(ALL_RELEASES)}")
    release = release or BY_VERSION[version]
    found = _profiles(release, config, options or {}) if version in FRAMEWORK_RELEASES else _algorithm(release, config, options or {})
    return build_engine(found, preempts=config.get("preemption", True), **engine)


def extender_configs(version: str, config: Mapping[str, Any], release: Release | None = None) -> Sequence[ExtenderConfig]:
    """The extenders that the configuration of a case names, in calling order; *release* as for :func:`engine_for`."""
    release = release or BY_VERSION[version]
    return (_profiles(release, config, {}) if version in FRAMEWORK_RELEASES else _algorithm(release, config, {})).extenders


def _algorithm(release: Release, config: Mapping[str, Any], options: Mapping[str, Any]) -> Algorithm:
    wanted = {
        "gates": config.get("featureGates") or {},
        "policy": config.get("policy"),
        "provider": config.get("provider") or "DefaultProvider",
        "hard_pod_affinity_weight": config.get("hardPodAffinitySymmetricWeight", 1),
        "percentage": config.get("percentageOfNodesToScore", 0),
        "preemption": config.get("preemption", True),
        "equivalence_cache": config.get("equivalenceCache", False),
    }
    return resolve(release, **(wanted | dict(options)))


def _profiles(release: Release, config: Mapping[str, Any], options: Mapping[str, Any]) -> KubeSchedulerConfiguration:
    gates = options.get("gates", config.get("featureGates"))
    started = {
        "gates": gates,
        "percentage": config.get("percentageOfNodesToScore", 0),
        "hard_pod_affinity_weight": config.get("hardPodAffinitySymmetricWeight", 1),
    }
    if config.get("policy") is not None and release.policies is not None:
        return configuration_of_policy(read_policy(config["policy"]), release, **started)
    if release.policies is not None and (config.get("profile") is None or release.policies.providers):
        # With providers the answers were made without the profile that a case may have.
        return configuration_of_provider(config.get("provider") or DEFAULT_PROVIDER, release, **started)
    default = {"apiVersion": f"{GROUP}/{release.configuration.default_version}", "kind": KIND}
    document = dict(config.get("profile") or default)
    document.setdefault("percentageOfNodesToScore", config.get("percentageOfNodesToScore", 0))
    return read_configuration(document, gates, release)
