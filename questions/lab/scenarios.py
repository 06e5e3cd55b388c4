"""The states of the lab: their scenarios, made from those of earlier states, schedulers that know them, and
their rules."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import attrs
import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from ...algorithmprovider.config import configuration_document
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.policy import DEFAULT_PROVIDER, Registry, read_policy
from ...api.garbage import settled
from ...api.load import Inventory, Loaded, Originals, config_maps, load_documents, take_in
from ...api.meaning import ServerRules
from ...api.objects import (
    DEFAULT_SCHEDULER,
    ON_A_NODE,
    JsonObject,
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    why_not_waiting,
)
from ...api.reading import Document, Notice, parsed
from ...choices import ORDERS
from ...core.cycle import Algorithm
from ...core.engine import Engine
from ...core.release import ConfigurationCells
from ...core.run import EventFeed
from ...exceptions import KubeclassicError, UnknownNameError
from ...framework.config.apiversions import WEIGHT, cells_in, is_flat
from ...framework.config.configuration import KIND, default_document
from ...framework.options import GivenOptions, options_of
from ...framework.releases import ALL_RELEASES, FRAMEWORK_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.edits import Edit, Edited, Edits, applied
from ...simulation.releasenotes import fields_of, has_newer_zone_alone, with_release_notices
from ...simulation.simulate import (
    Event,
    Files,
    Scenario,
    differing,
    events_between,
    is_handed_on,
    sorted_out,
    tell,
)

MOST_WEIGHT = 1_000_000
Json = dict[str, Any]


# A state of the lab: the options of a scheduler with its moved rules, and the edits of the cluster.


class LabState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A state of the lab, sent with each question; undo and redo are a list of such states."""

    scheduler: Json
    """Options of a scheduler by name, of :data:`MOVABLE`; the others are as at the start of the lab."""
    weights: dict[str, Annotated[int, Meta(ge=0, le=MOST_WEIGHT)]] = {}
    """Priority, or plugin that scores -> its weight, where the Policy or profile says otherwise; 0: it is
    off."""
    switches: dict[str, bool] = {}
    """Predicate, or plugin that filters -> whether it is on, where the Policy or profile says otherwise."""
    order: Annotated[str, Meta(pattern=f"^({'|'.join(ORDERS)})$")] = "priority"
    edits: Annotated[tuple[Annotated[str, Meta(max_length=2000)], ...], Meta(max_length=500)] = ()
    """Edits, as ``--set`` takes them."""
    pods: tuple[Json, ...] = ()
    """Manifests of pods and workloads that are added."""


KEPT = 60
T = TypeVar("T")
Objects = tuple[KubeObject, ...]


@attrs.define(eq=False)
class LabScenarios:
    """The scenarios of *files*, state by state. One more edit costs that edit alone."""

    files: Files
    cron_jobs: bool
    _cache: dict[Any, Any] = attrs.Factory(dict)
    """Key of the edits so far -> the inventory or the objects after them, for the latest scenarios."""
    _last_sorted: tuple[frozenset[str], Inventory, Scenario] | None = None
    """The names of the schedulers, the inventory and the scenario that were sorted out last."""
    _last_notices: tuple[Scenario, dict[Any, tuple[Notice, ...]]] | None = None
    """The latest scenario with its warnings by release and gates."""

    def scenario(self, state: LabState, spec: SchedulerSpec) -> Scenario:
        """The scenario of *state* for the scheduler of *spec*. Raises
        :class:`~kubeclassic.exceptions.KubeclassicError`."""
        edits = Edits.parse(state.edits, defaults=self.files.defaults)
        before, late = edits.split()
        of_nodes = [edit for edit in before if edit.kind == "Node"]
        # Only DaemonSets make pods that depend on nodes, by labels, taints and the conditions that taints
        # follow from: otherwise edits of nodes are made late, too.
        has_daemons = self.files.loaded.raw.get("DaemonSet") or any(
            manifest.get("kind") in ("DaemonSet", "List") for manifest in state.pods
        )
        paths = [change.path for edit in of_nodes for change in edit.changes]
        fields = {step.name for path in paths for step in path}
        is_whole = any(len(path) == 1 for path in paths)
        if not has_daemons or not (is_whole or fields & {"labels", "taints", "conditions"}):
            before = [edit for edit in before if edit.kind != "Node"]
            late = [*of_nodes, *late]
        early = attrs.evolve(edits, edits=tuple(before))
        key = (str(state.pods), spec.server, *(edit.text for edit in early.edits))
        inventory, early_effects = self._cached(key, lambda: self._inventory_of(state, early, spec.server))
        texts = tuple(edit.text for edit in late)
        start = next(at for at in range(len(late), -1, -1) if not at or (*key, texts[:at]) in self._cache)
        unedited = (inventory.objects, inventory.originals, ())
        objects, originals, more = self._cache.get((*key, texts[:start]), unedited)
        for at in range(start, len(late)):
            change = partial(self._after_edit, late[at], objects, spec.server, originals, inventory.jobs)
            objects, originals, effects = self._cached((*key, texts[: at + 1]), change)
            more = (*more, *effects)
            self._cache[*key, texts[: at + 1]] = objects, originals, more
        # The last scenario, with objects replaced, if each new object sorts like the one in its place.
        inventory = attrs.evolve(inventory, objects=objects)
        names = spec.scheduler_names
        last = self._last_sorted
        scenario = _updated(*last[1:], inventory, names) if last is not None and last[0] == names else None
        scenario = sorted_out(inventory, names) if scenario is None else scenario
        self._last_sorted = names, inventory, scenario
        return attrs.evolve(scenario, edited=(*early_effects, *more), originals=originals)

    def _inventory_of(
        self, state: LabState, early: Edits, server: ServerRules
    ) -> tuple[Inventory, tuple[Edited, ...]]:
        """The objects of the files after *early* edits, with those that are added and those that controllers
        still make."""
        documents = [Document(manifest, f"added {number}") for number, manifest in enumerate(state.pods, 1)]
        parts, effects = early.of_loaded(
            [self.files.loaded, load_documents(documents, defaults=early.defaults)]
        )
        return take_in(
            parts, defaults=early.defaults, cron_jobs=self.cron_jobs, server=server, whole=True
        ), tuple(effects)

    def _after_edit(
        self,
        edit: Edit,
        objects: Objects,
        server: ServerRules,
        originals: Originals,
        jobs: Sequence[JsonObject],
    ) -> tuple[Objects, Originals, tuple[Edited, ...]]:
        """*objects* and *originals* after *edit*, and what it did."""
        edits = Edits((edit,), self.files.defaults)
        known = dict(originals)  # it grows by the edited pods, which go with this state
        pairs, effects = edits.pairs(objects, server=server, originals=known, jobs=jobs)
        return applied(objects, pairs), known, tuple(effects)

    def _cached(self, key: Any, make: Callable[[], T]) -> T:
        """The value of *make*, kept for a while."""
        kept = self._cache
        value = kept.pop(key) if key in kept else make()
        kept[key] = value
        while len(kept) > KEPT:
            del kept[next(iter(kept))]
        return value

    def notices(self, scenario: Scenario, algorithm: Algorithm) -> tuple[Notice, ...]:
        """The notices about *scenario*, and the parts of it that *algorithm* does not read."""
        by_release = {}
        if self._last_notices is not None and _warn_alike(self._last_notices[0], scenario):
            by_release = self._last_notices[1]
        key = algorithm.release.version, tuple(sorted(algorithm.gates.items()))
        if key not in by_release:
            by_release[key] = with_release_notices(scenario, [algorithm]).warnings
        self._last_notices = scenario, by_release
        return by_release[key]


def _updated(
    before: Inventory, sorted_then: Scenario, now: Inventory, names: frozenset[str]
) -> Scenario | None:
    """The scenario of *now*, made from *sorted_then*, that of *before*. None unless each changed object sorts
    like the one in its place."""
    if len(before.objects) != len(now.objects) or attrs.evolve(before, objects=()) != attrs.evolve(
        now, objects=()
    ):
        return None
    pairs = [pair for pair in zip(before.objects, now.objects, strict=True) if pair[0] is not pair[1]]
    if not all(
        (sort := _sorting_key(old, names)) is not None and sort == _sorting_key(new, names)
        for old, new in pairs
    ):
        return None
    new = {id(old): new for old, new in pairs}
    waiting = sum(id(pod) in new for pod in sorted_then.pending)
    pending = _with_replaced(sorted_then.pending, new) if waiting else sorted_then.pending
    objects = sorted_then.objects if waiting == len(new) else _with_replaced(sorted_then.objects, new)
    return attrs.evolve(sorted_then, objects=objects, pending=pending)


def _sorting_key(item: KubeObject, names: frozenset[str]) -> tuple[str, ...] | None:
    """The properties that decide whether *item* exists or is pending; None where others could change, too."""
    if isinstance(item, PersistentVolumeClaim | PersistentVolume | StorageClass):
        return None  # new claims may be bound to others now
    if not isinstance(item, Pod):
        return item.identity
    reason = why_not_waiting(item, names)
    return (reason or "", item.key, item.spec.node_name) if reason in (None, ON_A_NODE) else None


def _with_replaced(items: tuple[T, ...], new: Mapping[int, Any]) -> tuple[T, ...]:
    """*items* with their replacements in *new*, by ``id``."""
    return tuple([new.get(id(item), item) for item in items]) if new else items


# --- warnings -----------------------------------------------------------------------------------------------


def _warn_alike(before: Scenario, now: Scenario) -> bool:
    """Whether all releases warn of the same in *now* and in *before*; most objects have no warnings."""
    for old_objects, new_objects in ((before.objects, now.objects), (before.pending, now.pending)):
        removed, added = differing(old_objects, new_objects)
        if any(
            _warned_of(removed.get(key)) != _warned_of(added.get(key))
            for key in removed.keys() | added.keys()
        ):
            return False
    return before.warnings == now.warnings


def _warned_of(item: KubeObject | None) -> object:
    """The fields of *item* that releases warn of; None if there are none."""
    if isinstance(item, Node):
        return item.labels if has_newer_zone_alone(item) else None
    if isinstance(item, Pod):
        if item.spec.rule_volumes or fields_of(item):
            return (fields_of(item), item.spec.rule_volumes)
        return None
    return None if item is None else object()


MOST_ENGINES = 4


# Schedulers that know the cluster already, for one question after the other: changes of the next state come
# to them as events. An answer on a new scheduler and an answer here are the same; ``tests/questions/lab``
# compares them. The effects of a question are undone by a savepoint. What the next question can reuse depends
# on what it has in common with the last one of its release and gates:
#
# | in common                                                | what is kept                          |
# |----------------------------------------------------------|---------------------------------------|
# | options of the scheduler, and all but nodes and pods     | the scheduler, with its boards        |
# | the same but for weights                                 | listings, and what the rules answered |
# | release and gates                                        | the table of nodes and pods           |
#
# Where events would not leave the cluster as if it had been read so, as when a node goes, a new scheduler is
# made.


@attrs.define(eq=False)
class KnownCluster:
    """A scheduler between two questions, and what it knows."""

    engine: Engine
    state: LabState
    objects: Sequence[KubeObject]
    placed: Mapping[str, Sequence[Pod]]
    """Node -> its pods, in order."""


@attrs.define(eq=False)
class WarmEngines:
    """A scheduler for each release and its gates, which knows the cluster of the last question."""

    _clusters: dict[Any, KnownCluster] = attrs.Factory(dict)

    @contextmanager
    def engine(self, state: LabState, spec: SchedulerSpec, scenario: Scenario) -> Iterator[Engine]:
        """A scheduler that knows *scenario*, for the block; afterwards its changes are undone, or the
        scheduler is dropped.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for rules that the release refuses.
        """
        key = spec.version, spec.switches
        before = self._clusters.pop(key, None)
        with settled():
            engine, events = self._engine_for(state, spec, scenario, before)
            with engine.savepoint():
                yield engine
                # Ports that are taken back are in another order than they came.
                states = (engine.pod_state(pod) for pod in scenario.pending)
                mixed = {
                    pod_state.node_name
                    for pod_state in states
                    if pod_state is not None and pod_state.entry.template.ports
                }
            has_moved = events is None or any(isinstance(item, Pod) for _, item in events)
            placed = _pods_by_node(scenario.objects) if before is None or has_moved else before.placed
            if EventFeed(engine).reorder(placed, mixed):
                self._clusters[key] = KnownCluster(engine, state, scenario.objects, placed)
                if len(self._clusters) > MOST_ENGINES:
                    del self._clusters[next(iter(self._clusters))]

    def _engine_for(
        self, state: LabState, spec: SchedulerSpec, scenario: Scenario, last: KnownCluster | None
    ) -> tuple[Engine, list[Event] | None]:
        """A scheduler that knows *scenario*, and the events that brought it there; None: it is new."""
        events = None if last is None else events_between(last.objects, scenario.objects, last.engine.cache)
        if last is None or events is None:
            engine = spec.engine(scenario.config_maps)
            EventFeed(engine).put_all(scenario.objects)
        else:
            others = any(
                not is_handed_on(item)
                for changed in differing(last.objects, scenario.objects)
                for item in changed.values()
            )
            # The states without the parts that no answer depends on, or that are not the scheduler's.
            plain_before, plain_now = (
                replace(
                    lab_state,
                    edits=(),
                    pods=(),
                    order="input",
                    scheduler={**lab_state.scheduler, "tie_break": None, "seed": None},
                )
                for lab_state in (last.state, state)
            )
            knows_rest = not others and plain_before == replace(plain_now, weights=plain_before.weights)
            engine = last.engine
            is_same = knows_rest and plain_before == plain_now and last.state.scheduler == state.scheduler
            if not is_same or state.scheduler.get("tie_break") == "random" or spec.equivalence_cache:
                rules = spec.profiles if spec.profiles is not None else spec.algorithm(scenario.config_maps)
                engine = spec.engine_of(rules, reuse_snapshot_of=engine, reuse_answers=knows_rest)
            tell(EventFeed(engine), events)
            if not knows_rest:
                EventFeed(engine).put_all(item for item in scenario.objects if not is_handed_on(item))
        engine.told = scenario.objects
        return engine, events


def _pods_by_node(objects: Sequence[KubeObject]) -> dict[str, list[Pod]]:
    pods_by_node: dict[str, list[Pod]] = {}
    for item in objects:
        if isinstance(item, Pod) and not item.is_terminal:
            pods_by_node.setdefault(item.spec.node_name, []).append(item)
    return pods_by_node


# --- the rules of a state -----------------------------------------------------------------------------------


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
    """The scheduler as the page shows it, from the *options* of the lab, and the *spec* made of them.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for a Policy in a release of the framework.
    """
    config = spec.config
    scheduler = Json(release=spec.version, seed=spec.seed, preemption=spec.preemption)
    if isinstance(spec.tie_break, str):
        scheduler["tie_break"] = spec.tie_break
    if spec.profiles is not None:
        for name in ("policy", "policy_configmap", "provider"):
            if getattr(options, name, None) is not None:
                sentence = f"{name}: release {options.release} runs a profile in the lab, which `kubeclassic policy migrate` makes of a Policy"
                raise KubeclassicError(sentence)
        profile: Any = getattr(options, "profile", None) or options.config
        scheduler |= {"percentage_of_nodes_to_score": options.percentage_of_nodes_to_score, HARD_WEIGHT: None}
        if profile is None:
            return scheduler
        return {**scheduler, "profile": dict(configuration_document(Path(profile)).data)}
    scheduler["preemption"] = spec.preemption and not config.disable_preemption
    scheduler |= {
        "percentage_of_nodes_to_score": config.percentage or None,
        HARD_WEIGHT: config.hard_pod_affinity_weight or None,
    }
    if config.source.provider or config.source.policy is None:
        return {**scheduler, "provider": config.source.provider or DEFAULT_PROVIDER}
    document = config.policy_document(config_maps(loaded))
    assert document is not None
    return {**scheduler, "policy": {"kind": "Policy", "apiVersion": "v1", **document.data}}


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
    """Rules that the release always runs."""
    idle: frozenset[str] = frozenset()
    """Names that the release accepts and never runs."""
    fixed: bool = False
    """Whether the release only adds plugins to its own, so that none can be moved."""


@attrs.frozen(eq=False)
class StateRules:
    """The rules of *state*; *start*: the scheduler at the start of the lab, with all options that a page does
    not send."""

    start: SchedulerSpec
    state: LabState

    @property
    def runs_profiles(self) -> bool:
        """Whether the release is one of the framework."""
        return self.values["release"] in FRAMEWORK_RELEASES

    @property
    def values(self) -> Json:
        """The options of a scheduler, without moved rules; options that the release does not read are left
        out."""
        values = {name: value for name, value in self.state.scheduler.items() if value is not None}
        for name, value in values.items():
            if name not in MOVABLE:
                raise UnknownNameError(f'expected one of the options {", ".join(MOVABLE)}, got "{name}"')
            if name in DOCUMENTS and not isinstance(value, dict):
                raise UnknownNameError(f"{name}: expected its JSON form, got {value!r}")
        start = self.start
        version = values.get("release")
        if not isinstance(version, str) or version not in ALL_RELEASES:
            raise UnknownNameError(f'release: expected one of {", ".join(ALL_RELEASES)}, got "{version}"')
        release = ALL_RELEASES[version]
        # The gates that the lab was started with, as far as the release knows them and lets them be set so.
        gates = dict(start.config.gates)
        if start.profiles is not None:
            plain = resolved_gates(ALL_RELEASES[start.version])
            gates = {name: on for name, on in start.profiles.gates.items() if plain[name] != on}
        release_gates = release.gates
        values |= {
            "gates": {
                name: on
                for name, on in gates.items()
                if name in release_gates
                and (not release_gates[name].locked or release_gates[name].default == on)
            },
            **{name: getattr(start, name) for name in ("max_pd_vols", "memory_bytes", "fresh_start")},
        }
        if version in FRAMEWORK_RELEASES:
            reads = _version_of(values.get("profile", {})) in release.configuration.api_versions
            return {
                **_without(values, ("policy", "provider") if reads else ("policy", "provider", "profile")),
                "plugins": start.plugins,
            }
        return {
            **_without(values, ("profile", "provider") if "policy" in values else ("profile",)),
            "catalogue": start.catalogue,
            "scheduler_name": None
            if start.config.scheduler_name == DEFAULT_SCHEDULER
            else start.config.scheduler_name or None,
            "equivalence_cache": start.equivalence_cache and release.equivalence_cache,
        }

    @property
    def known(self) -> KnownRules:
        """The rules before anything is moved."""
        return _known_rules(
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
        rules = self.known
        switches = {}
        for name, on in self.state.switches.items() if not rules.fixed else ():
            if rules.filters.get(name, on) != on and (on or name not in rules.mandatory):
                switches[name] = on
        return switches

    # --- what it comes to -----------------------------------------------------------------------------------

    def document(self) -> Json:
        """The Policy or the profile with all moved rules; with a percentage where it can have one."""
        values = self.values
        hard = values.get(HARD_WEIGHT)
        percentage = values.get("percentage_of_nodes_to_score")
        if not self.runs_profiles:
            policy = base_policy(self.start, values)
            if switches := self.switches:
                kept = [entry for entry in policy["predicates"] if switches.get(entry.get("name", ""), True)]
                kept_names = {entry.get("name") for entry in kept}
                policy["predicates"] = [
                    *kept,
                    *({"name": name} for name, on in switches.items() if on and name not in kept_names),
                ]
            if weights := self.weights:
                listed_names = {entry.get("name") for entry in policy["priorities"]}
                moved = [
                    {**entry, "weight": weights.get(entry.get("name", ""), entry.get("weight", 0))}
                    for entry in policy["priorities"]
                ]
                moved += [
                    {"name": name, "weight": weight}
                    for name, weight in weights.items()
                    if name not in listed_names
                ]
                policy["priorities"] = [
                    entry for entry in moved if entry["weight"] or entry.get("name") not in weights
                ]
            return policy if hard is None else {**policy, "hardPodAffinitySymmetricWeight": hard}
        cells = ALL_RELEASES[values["release"]].configuration
        document = values.get("profile") or default_document(self.start.plugins, cells)
        changed = changed_profile(
            document, self.switches, self.weights, hard, cells_in(cells, _version_of(document))
        )
        if percentage is None:
            return changed
        profiles = [
            _without(profile, ["percentageOfNodesToScore"]) for profile in changed.get("profiles", ())
        ]
        return {
            **changed,
            "percentageOfNodesToScore": percentage,
            **({"profiles": profiles} if profiles else {}),
        }

    def options(self) -> GivenOptions:
        """The options of the scheduler. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for options
        that the release refuses."""
        values = self.values
        profiles = self.runs_profiles
        # Moved rules need a Policy or a profile; otherwise the release, or the name of a provider, is enough.
        moved = self.switches or self.weights or (profiles and values.get(HARD_WEIGHT) is not None)
        if moved or not values.keys().isdisjoint(DOCUMENTS):
            values = {**_without(values, ["provider"]), "profile" if profiles else "policy": self.document()}
        return options_of(_without(values, [HARD_WEIGHT]) if profiles else values)

    def spec(self) -> SchedulerSpec:
        """The spec of its scheduler; raises as :meth:`options`."""
        return SchedulerSpec.of(self.options(), self.start.extenders)


@lru_cache(maxsize=64)
def _known_rules(start: SchedulerSpec, scheduler: bytes) -> KnownRules:
    rules = StateRules(start, LabState(scheduler=msgspec.json.decode(scheduler)))
    values = rules.values
    release = ALL_RELEASES[values["release"]]
    if rules.runs_profiles:
        algorithm = (
            SchedulerSpec.of(options_of(_without(values, [HARD_WEIGHT])), start.extenders).engine().algorithm
        )
        weights = {priority.name: weight for priority, weight in algorithm.priorities}
        filters = dict.fromkeys([predicate.name for predicate in algorithm.predicates], True)
        return KnownRules(filters, weights, fixed=release.configuration.adds_plugins_alone)
    registry = Registry.of(release, resolved_gates(release, values["gates"]), start.catalogue)
    policy = base_policy(start, values)
    enabled = [entry.get("name", "") for entry in policy["predicates"]]
    order = {name: at for at, name in enumerate((*release.ordering, *start.catalogue.added_predicates))}
    names = sorted(
        dict.fromkeys((*registry.predicates, *enabled)), key=lambda name: order.get(name, len(order))
    )
    weights = dict.fromkeys(registry.priorities, 0) | {
        entry.get("name", ""): entry.get("weight", 0) for entry in policy["priorities"]
    }
    mandatory = frozenset(registry.mandatory)
    return KnownRules(
        {name: name in enabled or name in mandatory for name in names},
        weights,
        mandatory,
        frozenset(names) - order.keys(),
    )


def base_policy(start: SchedulerSpec, values: JsonObject) -> Json:
    """The Policy of these options, or of their provider, with both lists written out. Raises
    :class:`~kubeclassic.exceptions.PolicyError`."""
    read_policy(values.get("policy", {}))
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
    document: JsonObject,
    switches: Mapping[str, bool],
    weights: Mapping[str, int],
    hard_weight: int | None,
    cells: ConfigurationCells,
) -> Json:
    """*document* with the changes in each of its profiles. What a point says itself counts before multiPoint.

    *cells*: how the release reads the version of *document*.
    """
    changed = copy.deepcopy(dict(document))
    if not (switches or weights or hard_weight is not None):
        return changed
    if not is_flat(cells):
        changed["profiles"] = [dict(profile or {}) for profile in changed.get("profiles") or [{}]]
        if len(changed["profiles"]) == 1:
            changed["profiles"][0].setdefault("schedulerName", DEFAULT_SCHEDULER)
    for profile in [changed] if is_flat(cells) else changed["profiles"]:
        plugins = profile["plugins"] = dict(profile.get("plugins") or {})
        for point, moved in (
            ("filter", {name: None if on else 0 for name, on in switches.items()}),
            ("score", weights),
        ):
            if not moved:
                continue
            # 0 takes a plugin out, None puts it in, another number is its weight. Where an entry does not
            # replace the default one, that has to go first.
            plugin_set = plugins.get(point) or {}
            enabled, disabled = (
                [entry for entry in plugin_set.get(key) or [] if (entry or {}).get("name") not in moved]
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
            plugins[point] = {
                **({"enabled": enabled} if enabled else {}),
                **({"disabled": disabled} if disabled else {}),
            }
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
    return changed


def _version_of(document: JsonObject) -> str:
    return str(document.get("apiVersion", "")).rpartition("/")[2]


def _without(values: JsonObject, names: Iterable[str]) -> Json:
    return {name: value for name, value in values.items() if name not in names}
