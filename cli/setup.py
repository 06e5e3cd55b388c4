"""From options to a scheduler: release, gates, Policy or provider, tie-break, and a user's own rules."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from ..algorithmprovider.catalogue import CATALOGUE, Catalogue
from ..algorithmprovider.config import (
    AlgorithmSource,
    ConfigMapSource,
    KubeSchedulerConfiguration,
    PolicySource,
    load_configuration,
)
from ..algorithmprovider.gates import parse_gates
from ..algorithmprovider.registry import check_names
from ..algorithmprovider.releases import find_release
from ..algorithmprovider.tiebreak import TIE_BREAKS
from ..core.engine import Engine
from ..core.rule import Algorithm
from ..exceptions import PolicyError, UnknownNameError, did_you_mean

ConfigMaps = Mapping[tuple[str, str], Mapping[str, Any]]


@attrs.frozen(kw_only=True)
class Setup:
    """Which scheduler, as the command line says it; an absent option leaves the word to ``--config``, then to the release."""

    release: str
    provider: str | None = None
    policy: Path | None = None
    policy_configmap: str | None = None
    policy_configmap_namespace: str = "kube-system"
    config: Path | None = None
    gates: str | None = None
    percentage: int | None = None
    hard_pod_affinity_weight: int | None = None
    scheduler_name: str | None = None
    disable_preemption: bool = False
    equivalence_cache: bool = False
    tie_break: str = "release"
    seed: int = 0
    rules: tuple[str, ...] = ()

    def configuration(self) -> KubeSchedulerConfiguration:
        """The component configuration that the options come to."""
        written = load_configuration(self.config) if self.config else KubeSchedulerConfiguration(folder=Path())
        changes: dict[str, Any] = {
            "percentage": self.percentage,
            "hard_pod_affinity_weight": self.hard_pod_affinity_weight,
            "scheduler_name": self.scheduler_name,
            "disable_preemption": self.disable_preemption or None,
            "source": self._source(),
            "folder": Path() if self.policy else None,
        }
        gates = {**written.gates, **parse_gates(self.gates or "")}
        return attrs.evolve(written, gates=gates, **{name: value for name, value in changes.items() if value is not None})

    def _source(self) -> AlgorithmSource | None:
        if self.policy is not None:
            return AlgorithmSource(policy=PolicySource(file=str(self.policy)))
        if self.policy_configmap is not None:
            named = ConfigMapSource(self.policy_configmap_namespace, self.policy_configmap)
            return AlgorithmSource(policy=PolicySource(config_map=named))
        return AlgorithmSource(provider=self.provider) if self.provider else None

    def algorithm(self, configuration: KubeSchedulerConfiguration, config_maps: ConfigMaps | None = None) -> Algorithm:
        """What runs; *config_maps* are where ``--policy-configmap`` is looked for."""
        release = find_release(self.release)
        check_names(release, configuration.gates, configuration.source.provider)
        found = configuration.resolve(release, config_maps=config_maps, catalogue=self.catalogue())
        if not self.equivalence_cache:
            return found
        if not release.equivalence_cache:
            raise UnknownNameError(f"--equivalence-cache: {release.version} has none")
        return attrs.evolve(found, equivalence_cache=True)

    def engine(self, algorithm: Algorithm) -> Engine:
        """A scheduler that runs *algorithm*."""
        return Engine(algorithm, pick_host=TIE_BREAKS[self.tie_break](algorithm.release, self.seed))

    def catalogue(self) -> Catalogue:
        """Upstream's rules and those of ``--rules``."""
        catalogue = CATALOGUE
        for place in self.rules:
            catalogue = _together(catalogue, _imported(place))
        return catalogue


# --- a user's own rules ---------------------------------------------------------------------------------------------


def _together(catalogue: Catalogue, other: Catalogue) -> Catalogue:
    for name in other.added_predicates:
        catalogue = catalogue.with_(other.predicates[name])
    for name, weight in other.added_priorities.items():
        catalogue = catalogue.with_(other.priorities[name], weight)
    return catalogue


def _imported(place: str) -> Catalogue:
    module_name, colon, name = place.partition(":")
    if not (module_name and colon and name):
        raise UnknownNameError(f'--rules: got "{place}", wanted MODULE:CATALOGUE')
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except PolicyError:
        raise
    except Exception as error:  # whatever a user's module raises is told in one line
        raise UnknownNameError(f'--rules: got "{place}": {type(error).__name__}: {error}') from None
    found = getattr(module, name, None)
    if not isinstance(found, Catalogue):
        names = [key for key, value in vars(module).items() if isinstance(value, Catalogue)]
        raise UnknownNameError(f'--rules: got "{place}", which is no Catalogue{did_you_mean(name, names)}')
    return found
