"""A configuration as the lab has it: a release, the source of its rules, what was moved since, and the scheduler that it makes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration, AlgorithmSource
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.policy import read_policy
from ...algorithmprovider.registry import DEFAULT_PROVIDER, PROVIDERS, Registry
from ...api.objects import Map
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.reading.documents import parsed
from ...core.release import ConfigurationCells, Release
from ...exceptions import KubeclassicError
from ...framework.config.apiversions import WEIGHT, is_flat
from ...framework.config.configuration import KIND, default_document, given_configuration
from ...framework.releases import ALL_RELEASES, FRAMEWORK_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from ...framework.tables.versions import cells_in

Json = dict[str, Any]
PROVIDER, POLICY, PROFILE = "provider", "policy", "profile"
DEFAULT_PROFILE = "the default profile"


class LabError(KubeclassicError):
    """Something that the lab was asked and cannot do; *field* names the part of the page that it is about."""

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field


@attrs.frozen(eq=False)
class Source:
    """A provider by name, or a Policy or a profile with its document."""

    kind: str
    """:data:`PROVIDER`, :data:`POLICY` or :data:`PROFILE`."""
    name: str
    document: Mapping[str, Any] | None = None
    """The JSON form; None for a provider, and for the default profile, which each release has in its own version."""
    file: str | None = None
    """The file that it was read from, as it was given; None if a page sent it."""

    @property
    def key(self) -> str:
        """Its identity among the others."""
        return f"{self.kind}:{self.name}"

    def runs_on(self, version: str) -> bool:
        """Whether release *version* reads it."""
        release = FRAMEWORK_RELEASES.get(version)
        if release is None or self.kind != PROFILE:
            return release is None and self.kind != PROFILE
        return self.document is None or version_of(self.document) in release.configuration.api_versions

    def record(self) -> Json:
        """As plain data."""
        return {"key": self.key, "kind": self.kind, "name": self.name}


def check_release(version: str) -> None:
    """Raise :class:`LabError` for a release that there is not."""
    if version not in ALL_RELEASES:
        raise LabError(f'release: expected one of {", ".join(ALL_RELEASES)}, got "{version}"', "release")


def providers() -> list[Source]:
    """The sources that need no file: the providers, and the default profile."""
    return [*(Source(PROVIDER, name) for name in PROVIDERS), Source(PROFILE, DEFAULT_PROFILE)]


def default_source(version: str) -> Source:
    """What release *version* runs if nothing is said."""
    return next(source for source in providers() if source.runs_on(version))


def version_of(document: Mapping[str, Any]) -> str:
    """The version of the configuration that *document* is in."""
    return str(document.get("apiVersion", "")).rpartition("/")[2]


def read_source(text: str, name: str) -> Source:
    """The Policy or profile that *text* holds, JSON or YAML. Raises :class:`LabError`."""
    try:
        values = parsed(text, name)
    except KubeclassicError as error:
        raise LabError(str(error), "source") from None
    if len(values) != 1 or not isinstance(values[0], dict):
        raise LabError(f"{name}: expected one Policy or one {KIND}, got {len(values)} documents", "source")
    (document,) = values
    kind = document.get("kind", "Policy")
    if kind not in ("Policy", KIND):
        raise LabError(f'{name}: expected Policy or {KIND}, got kind "{kind}"', "source")
    return Source(PROFILE if kind == KIND else POLICY, name, document)


# --- in the JSON form -----------------------------------------------------------------------------------------------


AFFINITY = "InterPodAffinity"


def _weighed(entries: list[Json], weights: Mapping[str, int]) -> list[Json]:
    moved = [{**entry, "weight": weights.get(entry.get("name", ""), entry.get("weight", 0))} for entry in entries]
    there = {entry.get("name") for entry in entries}
    moved += [{"name": name, "weight": weight} for name, weight in weights.items() if name not in there]
    return [entry for entry in moved if entry.get("name") not in weights or entry["weight"]]


# --- profiles -------------------------------------------------------------------------------------------------------


def changed_profile(
    document: Mapping[str, Any], switches: Mapping[str, bool], weights: Mapping[str, int], hard_weight: int | None,
    cells: ConfigurationCells,
) -> Json:  # fmt: skip
    """*document* with the changes in each of its profiles. What a point says itself counts before multiPoint.

    *cells*: how the release reads the version that *document* is in.
    """
    found: Json = copy.deepcopy(dict(document))
    if not (switches or weights or hard_weight is not None):
        return found
    for profile in [found] if is_flat(cells) else _profiles(found):
        plugins = profile["plugins"] = dict(profile.get("plugins") or {})
        filters = {name: None if on else 0 for name, on in switches.items()}
        if filters:
            plugins["filter"] = _point(plugins.get("filter"), filters, cells)
        if weights:
            plugins["score"] = _point(plugins.get("score"), weights, cells)
        if hard_weight is not None and is_flat(cells):
            profile[WEIGHT] = hard_weight
        elif hard_weight is not None:
            entries = profile.get("pluginConfig") or []
            args = next((entry.get("args") or {} for entry in entries if entry.get("name") == AFFINITY), {})
            others = [entry for entry in entries if entry.get("name") != AFFINITY]
            profile["pluginConfig"] = [*others, {"name": AFFINITY, "args": {**args, "hardPodAffinityWeight": hard_weight}}]
    return found


def _profiles(found: Json) -> list[Json]:
    profiles: list[Json] = [dict(profile) for profile in found.get("profiles") or [{}]]
    if len(profiles) == 1:
        profiles[0].setdefault("schedulerName", DEFAULT_SCHEDULER)
    found["profiles"] = profiles
    return profiles


def _point(given: Json | None, moved: Mapping[str, int | None], cells: ConfigurationCells) -> Json:
    """One extension point: 0 takes a plugin out, None puts it in, another number is its weight.

    Where an entry does not replace the default one, that has to go first.
    """
    plugins = given or {}
    enabled = [entry for entry in plugins.get("enabled") or [] if entry.get("name") not in moved]
    disabled = [entry for entry in plugins.get("disabled") or [] if entry.get("name") not in moved]
    enabled += [{"name": name, **({} if weight is None else {"weight": weight})} for name, weight in moved.items() if weight != 0]
    disabled += [{"name": name} for name, weight in moved.items() if weight == 0 or not cells.replaces_defaults]
    return {**({"enabled": enabled} if enabled else {}), **({"disabled": disabled} if disabled else {})}


# --- a configuration ------------------------------------------------------------------------------------------------


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
        percentage = start.config.percentage or None if start.profiles is None else None
        return cls(
            start=start, release=start.version, source=source or default_source(start.version),
            preemption=start.preemption and not start.config.disable_preemption, tie_break=tie_break, seed=start.seed, order=order,
            percentage=percentage, hard_weight=start.config.hard_pod_affinity_weight or None,
        )  # fmt: skip

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def runs_profiles(self) -> bool:
        """Whether it is a release of the framework."""
        return FRAMEWORK_RELEASES.get(self.release) is not None

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
        # *policy*, whose lists are both written out, with the changes. *hard_weight* counts where the Policy has one of its own.
        policy = self.base_policy()
        switches = self.switches
        weights = self.weights
        hard_weight = self.hard_weight
        found = dict(policy)
        if switches:
            entries = policy["predicates"]
            kept = [entry for entry in entries if switches.get(entry.get("name", ""), True)]
            there = {entry.get("name") for entry in kept}
            found["predicates"] = [*kept, *({"name": name} for name, on in switches.items() if on and name not in there)]
        if weights:
            found["priorities"] = _weighed(policy["priorities"], weights)
        if hard_weight is not None and found.get("hardPodAffinitySymmetricWeight"):
            found["hardPodAffinitySymmetricWeight"] = hard_weight
        return found

    def base_policy(self) -> Json:
        """The Policy of the source, with both lists written out."""
        # The Policy that means what *source* means on *release*, with both lists written out.
        source = self.source
        gates = resolved_gates(self._release, self.gates)
        registry = Registry.of(self._release, gates, self.start.catalogue)
        named = source.name if source.kind == PROVIDER else DEFAULT_PROVIDER
        predicates, priorities = registry.provider(named)
        written: Json = {"kind": "Policy", "apiVersion": "v1", **copy.deepcopy(dict(source.document or {}))}
        if written.get("predicates") is None:
            written["predicates"] = [{"name": name} for name in predicates]
        if written.get("priorities") is None:
            written["priorities"] = [{"name": name, "weight": registry.weights[name]} for name in dict.fromkeys(priorities)]
        return written

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
