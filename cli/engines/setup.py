"""From options to a scheduler: release, gates, Policy or provider or profile, tie-break, and a user's own rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from ...algorithmprovider.check import hint_of_rules
from ...algorithmprovider.config import (
    AlgorithmSource,
    ConfigMapSource,
    KubeSchedulerConfiguration,
    PolicySource,
    load_configuration,
)
from ...algorithmprovider.gates import parse_gates
from ...algorithmprovider.releases import DEFAULT_RELEASE
from ...api.objects import Node
from ...core.engine import Engine
from ...exceptions import PolicyError, UnknownNameError
from ...extenders.choice import ConfiguredExtenders
from ...framework.config import configuration as framework
from ...framework.config.loading import given_configuration
from ...framework.recipe import ConfigMaps, Recipe
from ...framework.releases import AUTO, DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, chosen_release, find_any_release, is_auto
from .userrules import catalogue_of, hint_of_plugins, plugins_of

Configuration = KubeSchedulerConfiguration | framework.KubeSchedulerConfiguration

MIGRATED = "--profile FILE, which `kubeclassic policy migrate` makes of a Policy"
OLDER_ALONE = {
    "provider": ("--provider", "--profile FILE"),
    "policy": ("--policy", MIGRATED),
    "policy_configmap": ("--policy-configmap", MIGRATED),
    "hard_pod_affinity_weight": ("--hard-pod-affinity-symmetric-weight", "hardPodAffinityWeight of InterPodAffinity in a profile"),
    "scheduler_name": ("--scheduler-name", "schedulerName of a profile"),
}
"""Options that only releases with predicates and priorities have: field -> flag, and its replacement."""


@contextmanager
def _hinting(hint: Callable[[str], str | None]) -> Iterator[None]:
    """What *hint* has to say about a refusal in the block is said after it, on a line of its own."""
    try:
        yield
    except PolicyError as error:
        if (more := hint(str(error))) is not None:
            error.add_note(more)
        raise


@attrs.frozen(kw_only=True)
class Setup:
    """The scheduler that the command line asks for. What no option says comes from ``--config``, then from the release.

    Without *release* it is the default one, or with *profile* the one that runs profiles.
    """

    release: str | None = None
    profile: Path | None = None
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
    extenders: str | None = None
    max_pd_vols: int | None = None

    @property
    def version(self) -> str:
        """The release without a patch level; raises :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown release."""
        default = DEFAULT_RELEASE if self.profile is None else DEFAULT_FRAMEWORK
        return find_any_release(self.release or default).version

    def settled(self, nodes: Iterable[Node]) -> Setup:
        """The same, with the release that *nodes* run in place of ``auto``."""
        if not is_auto(self.release):
            return self
        default = DEFAULT_RELEASE if self.profile is None else DEFAULT_FRAMEWORK
        found = chosen_release(AUTO, (node.status.kubelet_version for node in nodes), default)
        return attrs.evolve(self, release=found.version)

    @property
    def runs_profiles(self) -> bool:
        """Whether it is a release of the framework."""
        return self.version in FRAMEWORK_RELEASES

    def configuration(self) -> Configuration:
        """The component configuration that the options describe, of the kind that the release reads.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for options that the release does not have.
        """
        self._check()
        return self._profiles() if self.runs_profiles else self._classic()

    def recipe(self, configuration: Configuration) -> Recipe:
        """What a scheduler of *configuration* is made from."""
        shared: dict[str, Any] = {
            "version": self.version, "preemption": not self.disable_preemption, "tie_break": self.tie_break, "seed": self.seed,
            "extenders": ConfiguredExtenders(self.extenders), "max_pd_vols": self.max_pd_vols,
        }  # fmt: skip
        if isinstance(configuration, framework.KubeSchedulerConfiguration):
            return Recipe(profiles=configuration, plugins=tuple(plugins_of(self.rules)), **shared)
        rules = catalogue_of(self.rules)
        return Recipe(config=configuration, catalogue=rules, equivalence_cache=self.equivalence_cache, **shared).checked()

    def scheduler_names(self, configuration: Configuration) -> frozenset[str]:
        """The schedulerNames whose pods are scheduled."""
        if isinstance(configuration, framework.KubeSchedulerConfiguration):
            return Recipe(version=self.version, profiles=configuration).scheduler_names
        return Recipe(version=self.version, config=configuration).scheduler_names

    def engine(self, configuration: Configuration, config_maps: ConfigMaps | None = None) -> Engine:
        """A new scheduler of *configuration*; *config_maps* are those that ``--policy-configmap`` may name."""
        recipe, file = self.recipe(configuration), self._profile_file if self.runs_profiles else None
        with _hinting(hint_of_plugins if self.runs_profiles else hint_of_rules):
            try:
                return recipe.engine(config_maps)
            except PolicyError as error:
                raise PolicyError(f"{file}: {error}" if file else str(error)) from None

    def may_call_extenders(self) -> bool:
        """Whether extenders may be configured, as far as is known before the cluster is read."""
        given = (self.policy_configmap, self.policy, self.profile, self.config)
        if self.extenders == "off" or not any(given):
            return False
        if is_auto(self.release) or self.policy_configmap:
            return True
        configuration = self.configuration()
        if not isinstance(configuration, KubeSchedulerConfiguration):
            return bool(configuration.extenders)
        source = configuration.source.policy
        if source is None or source.file is None or not (configuration.folder / source.file).is_file():
            return source is not None
        policy = configuration.policy()
        return policy is not None and bool(policy.extenders)

    # --- predicates and priorities ----------------------------------------------------------------------------------

    def _classic(self) -> KubeSchedulerConfiguration:
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

    # --- profiles ---------------------------------------------------------------------------------------------------

    @property
    def _profile_file(self) -> Path | None:
        return self.profile or self.config

    def _profiles(self) -> framework.KubeSchedulerConfiguration:
        plugins = plugins_of(self.rules)
        return given_configuration(
            self._profile_file, gates=self.gates, percentage=self.percentage, plugins=plugins, release=self.version
        )

    # --- options that do not go together ----------------------------------------------------------------------------

    def _check(self) -> None:
        version = self.version
        if self.equivalence_cache and not find_any_release(version).equivalence_cache:
            raise UnknownNameError(f"--equivalence-cache: {version} has none")
        if not self.runs_profiles:
            if self.profile is not None:
                wanted = f"wanted --release {DEFAULT_FRAMEWORK}"
                raise UnknownNameError(f"--profile: got {self.profile}, which release {version} does not have, {wanted}")
            return
        for field, (flag, instead) in OLDER_ALONE.items():
            if getattr(self, field) is not None:
                raise UnknownNameError(f"{flag}: got {getattr(self, field)}, which release {version} does not have, wanted {instead}")
        if self.profile is not None and self.config is not None:
            raise UnknownNameError(f"--config: got {self.config} beside --profile {self.profile}, wanted one of them")
