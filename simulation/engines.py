"""The engine of a conformance case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..algorithmprovider import resolve
from ..algorithmprovider.extenders import ExtenderConfig
from ..algorithmprovider.releases import RELEASES
from ..core.engine import Engine
from ..core.rule import Algorithm
from ..exceptions import UnknownNameError
from ..framework.building import build_engine
from ..framework.config.configuration import KIND, KubeSchedulerConfiguration, read_configuration
from ..framework.config.defaults import GROUP
from ..framework.releases import ALL_RELEASES as BY_VERSION
from ..framework.releases import FRAMEWORK_RELEASES

ALL_RELEASES = tuple(BY_VERSION)
"""Every supported release, oldest first."""


def engine_for(version: str, config: Mapping[str, Any], options: Mapping[str, Any] | None = None, **engine: Any) -> Engine:
    """A scheduler of release *version*; *config* is that of a conformance case, which *options* override; *engine*: fields of the Engine.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for what the release refuses.
    """
    if version not in BY_VERSION:
        raise UnknownNameError(f"version: got {version!r}, wanted one of {', '.join(ALL_RELEASES)}")
    found = _profiles(version, config, options or {}) if version in FRAMEWORK_RELEASES else _algorithm(version, config, options or {})
    return build_engine(found, preempts=config.get("preemption", True), **engine)


def extender_configs(version: str, config: Mapping[str, Any]) -> Sequence[ExtenderConfig]:
    """The extenders that the configuration of a case names, in calling order."""
    return (_profiles(version, config, {}) if version in FRAMEWORK_RELEASES else _algorithm(version, config, {})).extenders


def _algorithm(version: str, config: Mapping[str, Any], options: Mapping[str, Any]) -> Algorithm:
    wanted = {
        "gates": config.get("featureGates") or {},
        "policy": config.get("policy"),
        "provider": config.get("provider") or "DefaultProvider",
        "hard_pod_affinity_weight": config.get("hardPodAffinitySymmetricWeight", 1),
        "percentage": config.get("percentageOfNodesToScore", 0),
        "preemption": config.get("preemption", True),
        "equivalence_cache": config.get("equivalenceCache", False),
    }
    return resolve(RELEASES[version], **(wanted | dict(options)))


def _profiles(version: str, config: Mapping[str, Any], options: Mapping[str, Any]) -> KubeSchedulerConfiguration:
    document = dict(config.get("profile") or {"apiVersion": f"{GROUP}/v1", "kind": KIND})
    document.setdefault("percentageOfNodesToScore", config.get("percentageOfNodesToScore", 0))
    return read_configuration(document, options.get("gates", config.get("featureGates")), FRAMEWORK_RELEASES[version])
