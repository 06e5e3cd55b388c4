"""A configuration as the lab has it: a release, where its rules come from, and what was moved since; and the scheduler that it makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration, AlgorithmSource
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.policy import read_policy
from ...api.objects import Map
from ...core.release import Release
from ...framework.config.configuration import default_document, given_configuration
from ...framework.releases import ALL_RELEASES, FRAMEWORK_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from ...framework.tables.versions import cells_in
from .movedrules import changed_policy, changed_profile
from .source import PROVIDER, Json, Source, default_source, policy_of, version_of


@attrs.frozen(kw_only=True)
class LabConfiguration:
    """One configuration. *start* is what the lab was started with, and has all that is not moved here."""

    start: SchedulerSpec = attrs.field(eq=False)
    release: str
    source: Source
    switches: Map[bool] = attrs.field(factory=Map)
    """Predicate, or plugin that filters -> whether it is on, where the source says otherwise."""
    weights: Map[int] = attrs.field(factory=Map)
    """Priority, or plugin that scores -> its weight, where the source says otherwise; 0: it is off."""
    percentage: int | None = None
    """percentageOfNodesToScore; None: what the source or the release says."""
    hard_weight: int | None = None
    """The weight of required affinity in scoring; None: what the source or the release says."""
    preemption: bool = True
    tie_break: str = "release"
    seed: int = 0
    order: str = "input"

    @classmethod
    def of(cls, start: SchedulerSpec, source: Source | None = None, order: str = "input") -> LabConfiguration:
        """What the lab begins with."""
        tie_break = start.tie_break if isinstance(start.tie_break, str) else "release"
        return cls(
            start=start, release=start.version, source=source or default_source(start.version), preemption=_preempts(start),
            tie_break=tie_break, seed=start.seed, order=order, percentage=_given_percentage(start),
            hard_weight=start.config.hard_pod_affinity_weight or None,
        )  # fmt: skip

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def runs_profiles(self) -> bool:
        """Whether it is a release of the framework."""
        return FRAMEWORK_RELEASES.get(self.release) is not None

    @property
    def moves_rules(self) -> bool:
        """Whether a file can say that a rule of the default ones is off or has another weight."""
        return not self.why_fixed

    @property
    def why_fixed(self) -> str:
        """Why no rule can be moved, in a sentence; empty if they can be."""
        if not (self.runs_profiles and self._release.configuration.adds_plugins_alone):
            return ""
        return f"{self.release} runs its default plugins as they are, besides those of a profile: choose another release"

    @property
    def is_moved(self) -> bool:
        """Whether rules are not as the source has them."""
        return bool(self.switches or self.weights)

    @property
    def gates(self) -> dict[str, bool]:
        """The feature gates that the lab was started with, as far as the release knows them and lets them be set so."""
        known = self._release.gates
        if self.start.profiles is None:
            given = dict(self.start.config.gates)
        else:
            plain = resolved_gates(ALL_RELEASES[self.start.version])
            given = {name: on for name, on in self.start.profiles.gates.items() if plain[name] != on}
        return {name: on for name, on in given.items() if name in known and (not known[name].locked or known[name].default == on)}

    @property
    def _release(self) -> Release:
        return ALL_RELEASES[self.release]

    # --- documents --------------------------------------------------------------------------------------------------

    def document(self) -> Json | None:
        """The Policy or the profile that says all this about rules; None where the name of a provider says it."""
        if self.runs_profiles:
            cells = self._release.configuration
            document = self.source.document or default_document(self.start.plugins, cells)
            return changed_profile(document, self.switches, self.weights, self.hard_weight, cells_in(cells, version_of(document)))
        if self.source.kind == PROVIDER and not self.is_moved:
            return None
        return changed_policy(self.base_policy(), self.switches, self.weights, self.hard_weight)

    def base_policy(self) -> Json:
        """The Policy of the source, with both lists written out."""
        return policy_of(self.source, self._release, resolved_gates(self._release, self.gates), self.start.catalogue)

    def saved(self) -> Json:
        """The same as a file: a Policy or a profile, for a provider too."""
        found = self.document() or self.base_policy()
        if not self.runs_profiles and self.hard_weight is not None:
            found = {**found, "hardPodAffinitySymmetricWeight": self.hard_weight}
        return found

    # --- the scheduler ----------------------------------------------------------------------------------------------

    def spec(self) -> SchedulerSpec:
        """What its scheduler is made from. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release refuses."""
        shared: dict[str, Any] = {
            "version": self.release, "preemption": self.preemption, "tie_break": self.tie_break, "seed": self.seed, "file": "",
        }  # fmt: skip
        if self.runs_profiles:
            profiles = given_configuration(
                self.document(), gates=self.gates, percentage=self.percentage, plugins=self.start.plugins, release=self.release
            )
            return attrs.evolve(self.start, **shared, profiles=profiles, policy=None, config=_NO_CONFIG)
        document = self.document()
        config = attrs.evolve(
            self.start.config, source=AlgorithmSource(provider=None if document else self.source.name), folder=Path(), gates=self.gates,
            percentage=self.percentage or 0, hard_pod_affinity_weight=self.hard_weight or 0, disable_preemption=False,
        )  # fmt: skip
        policy = None if document is None else read_policy(document)
        return attrs.evolve(self.start, **shared, profiles=None, policy=policy, config=config).checked()


_NO_CONFIG = AlgorithmConfiguration(folder=Path())


def _preempts(start: SchedulerSpec) -> bool:
    return start.preemption and not start.config.disable_preemption


def _given_percentage(start: SchedulerSpec) -> int | None:
    return start.config.percentage or None if start.profiles is None else None
