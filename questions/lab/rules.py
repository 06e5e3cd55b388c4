"""The rules of a state: which there are, and the Policy or the profile that it comes to with what was moved."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import msgspec

from ...algorithmprovider.config import configuration_document
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.policy import DEFAULT_PROVIDER, Registry
from ...api.inventory import config_maps
from ...api.load import Loaded
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.reading.documents import parsed
from ...core.release import ConfigurationCells
from ...exceptions import KubeclassicError, UnknownNameError
from ...framework.config.apiversions import WEIGHT, cells_in, is_flat
from ...framework.config.configuration import KIND, default_document
from ...framework.options import GivenOptions, options_of
from ...framework.releases import ALL_RELEASES, FRAMEWORK_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from .scenarios import Json, LabState

MOVABLE = (
    "release",
    "provider",
    "policy",
    "profile",
    "percentage_of_nodes_to_score",
    "hard_pod_affinity_weight",
    "preemption",
    "tie_break",
    "seed",
)
"""The options that a page may send."""
DOCUMENTS = ("policy", "profile")
HARD_WEIGHT = "hard_pod_affinity_weight"
AFFINITY = "InterPodAffinity"


def scheduler_of(options: GivenOptions, spec: SchedulerSpec, loaded: Loaded) -> Json:
    """The scheduler as the page shows it, from the *options* of the lab, of which *spec* was made.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for a Policy in a release of the framework.
    """
    config = spec.config
    found = Json(release=spec.version, seed=spec.seed, preemption=spec.preemption)
    if isinstance(spec.tie_break, str):
        found["tie_break"] = spec.tie_break
    if spec.profiles is not None:
        for name in ("policy", "policy_configmap", "provider"):
            if getattr(options, name, None) is not None:
                told = f"{name}: release {options.release} runs a profile in the lab, which `kubeclassic policy migrate` makes of a Policy"
                raise KubeclassicError(told)
        given: Any = getattr(options, "profile", None) or options.config
        found |= {"percentage_of_nodes_to_score": options.percentage_of_nodes_to_score, HARD_WEIGHT: None}
        if given is None:
            return found
        return {**found, "profile": dict(configuration_document(Path(given)).data)}
    found["preemption"] = spec.preemption and not config.disable_preemption
    found |= {
        "percentage_of_nodes_to_score": config.percentage or None,
        HARD_WEIGHT: config.hard_pod_affinity_weight or None,
    }
    if config.source.provider or config.source.policy is None:
        return {**found, "provider": config.source.provider or DEFAULT_PROVIDER}
    document = config.policy_document(config_maps([loaded]))
    assert document is not None
    return {**found, "policy": {"kind": "Policy", "apiVersion": "v1", **document.data}}


def read_rules(text: str, name: str) -> Json:
    """The Policy or the profile that *text* holds, JSON or YAML, as an option. Raises
    :class:`~kubeclassic.exceptions.KubeclassicError`."""
    values = parsed(text, name)
    if len(values) != 1 or not isinstance(values[0], dict):
        raise KubeclassicError(f"{name}: expected one Policy or one {KIND}, got {len(values)} documents")
    kind = values[0].get("kind", "Policy")
    if kind not in ("Policy", KIND):
        raise KubeclassicError(f'{name}: expected kind Policy or {KIND}, got "{kind}"')
    return {"profile" if kind == KIND else "policy": values[0]}


# --- what there is ------------------------------------------------------------------------------------------


@attrs.frozen
class KnownRules:
    """The rules of a release with a Policy or profile, before anything is moved."""

    filters: Mapping[str, bool]
    """Predicate, or plugin that filters, in running order -> whether it is on."""
    scorers: Mapping[str, int]
    """Priority, or plugin that scores -> its weight; 0: it is off."""
    mandatory: frozenset[str] = frozenset()
    """The release always runs them."""
    idle: frozenset[str] = frozenset()
    """The release accepts these names and never runs them."""
    fixed: bool = False
    """The release only adds plugins to its own, so that none can be moved."""


@attrs.frozen(eq=False)
class StateRules:
    """The rules of *state*; *start* is what the lab was started with, and has all that a page does not send."""

    start: SchedulerSpec
    state: LabState

    @property
    def runs_profiles(self) -> bool:
        """Whether it is a release of the framework."""
        return self.values["release"] in FRAMEWORK_RELEASES

    @property
    def values(self) -> Json:
        """The options of a scheduler, without what is moved; what the release does not read is left out."""
        found = {name: value for name, value in self.state.scheduler.items() if value is not None}
        for name, value in found.items():
            if name not in MOVABLE:
                raise UnknownNameError(f'expected one of the options {", ".join(MOVABLE)}, got "{name}"')
            if name in DOCUMENTS and not isinstance(value, dict):
                raise UnknownNameError(f"{name}: expected its JSON form, got {value!r}")
        start = self.start
        version = found.get("release")
        if not isinstance(version, str) or version not in ALL_RELEASES:
            raise UnknownNameError(f'release: expected one of {", ".join(ALL_RELEASES)}, got "{version}"')
        release = ALL_RELEASES[version]
        found |= {
            "gates": self._gates(),
            **{name: getattr(start, name) for name in ("max_pd_vols", "memory_bytes", "fresh_start")},
        }
        if version in FRAMEWORK_RELEASES:
            reads = _version_of(found.get("profile", {})) in release.configuration.api_versions
            return {
                **_without(found, ("policy", "provider") if reads else ("policy", "provider", "profile")),
                "plugins": start.plugins,
            }
        return {
            **_without(found, ("profile", "provider") if "policy" in found else ("profile",)),
            "catalogue": start.catalogue,
            "scheduler_name": None
            if start.config.scheduler_name == DEFAULT_SCHEDULER
            else start.config.scheduler_name or None,
            "equivalence_cache": start.equivalence_cache and release.equivalence_cache,
        }

    def _gates(self) -> dict[str, bool]:
        """The feature gates that the lab was started with, as far as the release knows them and lets them be
        set so."""
        start = self.start
        known = ALL_RELEASES[self.state.scheduler["release"]].gates
        given = dict(start.config.gates)
        if start.profiles is not None:
            plain = resolved_gates(ALL_RELEASES[start.version])
            given = {name: on for name, on in start.profiles.gates.items() if plain[name] != on}
        return {
            name: on
            for name, on in given.items()
            if name in known and (not known[name].locked or known[name].default == on)
        }

    @property
    def known(self) -> KnownRules:
        """The rules before anything is moved."""
        return _known(
            self.start, msgspec.json.encode({**self.state.scheduler, "tie_break": None, "seed": None})
        )

    @property
    def weights(self) -> dict[str, int]:
        """The weights that are moved and that the release has."""
        scorers = self.known.scorers
        moved = {
            name: weight for name, weight in self.state.weights.items() if scorers.get(name, weight) != weight
        }
        return {} if self.known.fixed else moved

    @property
    def switches(self) -> dict[str, bool]:
        """The filtering rules that are switched and that the release has."""
        known = self.known
        found = {}
        for name, on in self.state.switches.items() if not known.fixed else ():
            if known.filters.get(name, on) != on and (on or name not in known.mandatory):
                found[name] = on
        return found

    # --- what it comes to -----------------------------------------------------------------------------------

    def document(self) -> Json:
        """The Policy or the profile with all that is moved; with a percentage where it can have one."""
        values = self.values
        hard = values.get(HARD_WEIGHT)
        percentage = values.get("percentage_of_nodes_to_score")
        if not self.runs_profiles:
            found = base_policy(self.start, values)
            if switches := self.switches:
                kept = [entry for entry in found["predicates"] if switches.get(entry.get("name", ""), True)]
                there = {entry.get("name") for entry in kept}
                found["predicates"] = [
                    *kept,
                    *({"name": name} for name, on in switches.items() if on and name not in there),
                ]
            if weights := self.weights:
                there = {entry.get("name") for entry in found["priorities"]}
                moved = [
                    {**one, "weight": weights.get(one.get("name", ""), one.get("weight", 0))}
                    for one in found["priorities"]
                ]
                moved += [
                    {"name": name, "weight": weight} for name, weight in weights.items() if name not in there
                ]
                found["priorities"] = [
                    entry for entry in moved if entry["weight"] or entry.get("name") not in weights
                ]
            return found if hard is None else {**found, "hardPodAffinitySymmetricWeight": hard}
        cells = ALL_RELEASES[values["release"]].configuration
        document = values.get("profile") or default_document(self.start.plugins, cells)
        found = changed_profile(
            document, self.switches, self.weights, hard, cells_in(cells, _version_of(document))
        )
        if percentage is None:
            return found
        profiles = [_without(profile, ["percentageOfNodesToScore"]) for profile in found.get("profiles", ())]
        return {
            **found,
            "percentageOfNodesToScore": percentage,
            **({"profiles": profiles} if profiles else {}),
        }

    def options(self) -> GivenOptions:
        """The options of the scheduler. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the
        release refuses."""
        values = self.values
        profiles = self.runs_profiles
        # A Policy or a profile has to say what is moved; else the release does, or the name of a provider.
        moved = self.switches or self.weights or (profiles and values.get(HARD_WEIGHT) is not None)
        if moved or not values.keys().isdisjoint(DOCUMENTS):
            values = {**_without(values, ["provider"]), "profile" if profiles else "policy": self.document()}
        return options_of(_without(values, [HARD_WEIGHT]) if profiles else values)

    def spec(self) -> SchedulerSpec:
        """The spec of its scheduler; raises as :meth:`options`."""
        return SchedulerSpec.of(self.options(), self.start.extenders)


@lru_cache(maxsize=64)
def _known(start: SchedulerSpec, scheduler: bytes) -> KnownRules:
    found = StateRules(start, LabState(scheduler=msgspec.json.decode(scheduler)))
    values = found.values
    release = ALL_RELEASES[values["release"]]
    if found.runs_profiles:
        algorithm = (
            SchedulerSpec.of(options_of(_without(values, [HARD_WEIGHT])), start.extenders).engine().algorithm
        )
        weights = {priority.name: weight for priority, weight in algorithm.priorities}
        filters = dict.fromkeys([predicate.name for predicate in algorithm.predicates], True)
        return KnownRules(filters, weights, fixed=release.configuration.adds_plugins_alone)
    registry = Registry.of(release, resolved_gates(release, values["gates"]), start.catalogue)
    policy = base_policy(start, values)
    on = [entry.get("name", "") for entry in policy["predicates"]]
    order = {name: at for at, name in enumerate((*release.ordering, *start.catalogue.added_predicates))}
    names = sorted(dict.fromkeys((*registry.predicates, *on)), key=lambda name: order.get(name, len(order)))
    weights = dict.fromkeys(registry.priorities, 0) | {
        entry.get("name", ""): entry.get("weight", 0) for entry in policy["priorities"]
    }
    mandatory = frozenset(registry.mandatory)
    return KnownRules(
        {name: name in on or name in mandatory for name in names},
        weights,
        mandatory,
        frozenset(names) - order.keys(),
    )


def base_policy(start: SchedulerSpec, values: Mapping[str, Any]) -> Json:
    """The Policy of these options, or of their provider, with both lists written out."""
    release = ALL_RELEASES[values["release"]]
    registry = Registry.of(release, resolved_gates(release, values["gates"]), start.catalogue)
    predicates, priorities = registry.provider(values.get("provider", DEFAULT_PROVIDER))
    written = {"kind": "Policy", "apiVersion": "v1", **copy.deepcopy(values.get("policy", {}))}
    if written.get("predicates") is None:
        written["predicates"] = [{"name": name} for name in predicates]
    if written.get("priorities") is None:
        written["priorities"] = [
            {"name": name, "weight": registry.weights[name]} for name in dict.fromkeys(priorities)
        ]
    return written


def changed_profile(
    document: Mapping[str, Any],
    switches: Mapping[str, bool],
    weights: Mapping[str, int],
    hard_weight: int | None,
    cells: ConfigurationCells,
) -> Json:
    """*document* with the changes in each of its profiles. What a point says itself counts before multiPoint.

    *cells*: how the release reads the version that *document* is in.
    """
    found: Json = copy.deepcopy(dict(document))
    if not (switches or weights or hard_weight is not None):
        return found
    if not is_flat(cells):
        found["profiles"] = [dict(profile) for profile in found.get("profiles") or [{}]]
        if len(found["profiles"]) == 1:
            found["profiles"][0].setdefault("schedulerName", DEFAULT_SCHEDULER)
    for profile in [found] if is_flat(cells) else found["profiles"]:
        plugins = profile["plugins"] = dict(profile.get("plugins") or {})
        for point, moved in (
            ("filter", {name: None if on else 0 for name, on in switches.items()}),
            ("score", weights),
        ):
            if moved:
                plugins[point] = _point(plugins.get(point) or {}, moved, cells)
        if hard_weight is not None and is_flat(cells):
            profile[WEIGHT] = hard_weight
        elif hard_weight is not None:
            entries = profile.get("pluginConfig") or []
            args = next((entry.get("args") or {} for entry in entries if entry.get("name") == AFFINITY), {})
            others = [entry for entry in entries if entry.get("name") != AFFINITY]
            profile["pluginConfig"] = [
                *others,
                {"name": AFFINITY, "args": {**args, "hardPodAffinityWeight": hard_weight}},
            ]
    return found


def _point(plugins: Json, moved: Mapping[str, int | None], cells: ConfigurationCells) -> Json:
    """One extension point: 0 takes a plugin out, None puts it in, another number is its weight.

    Where an entry does not replace the default one, that has to go first.
    """
    enabled, disabled = (
        [one for one in plugins.get(key) or [] if one.get("name") not in moved]
        for key in ("enabled", "disabled")
    )
    enabled += [
        {"name": name, **({} if weight is None else {"weight": weight})}
        for name, weight in moved.items()
        if weight != 0
    ]
    disabled += [
        {"name": name} for name, weight in moved.items() if weight == 0 or not cells.replaces_defaults
    ]
    return {**({"enabled": enabled} if enabled else {}), **({"disabled": disabled} if disabled else {})}


def _version_of(document: Mapping[str, Any]) -> str:
    return str(document.get("apiVersion", "")).rpartition("/")[2]


def _without(values: Mapping[str, Any], names: Iterable[str]) -> Json:
    return {name: value for name, value in values.items() if name not in names}
