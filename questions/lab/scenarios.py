"""The scenarios of states: what the files hold after the edits, made from what the states before have come
to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any, TypeVar

import attrs
from msgspec import Meta, Struct
from msgspec.structs import replace

from ...api.garbage import settled
from ...api.inventory import ON_A_NODE, Inventory, take_in, why_not_waiting
from ...api.load import load_documents
from ...api.objects import KubeObject, Node, Pod
from ...api.reading.documents import Document
from ...api.reading.notices import Notice
from ...choices import ORDERS
from ...core.engine import Engine
from ...core.feed import EventFeed
from ...core.rule import Algorithm
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


# A state of the lab: the options of a scheduler with what is moved of its rules, and the edits of the
# cluster.


class LabState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A state of the lab, sent with each question; undo and redo are a list of such states."""

    scheduler: Json
    """Options of a scheduler by their names, of :data:`~.rules.MOVABLE`; others are as the lab was
    started."""
    weights: dict[str, Annotated[int, Meta(ge=0, le=MOST_WEIGHT)]] = {}
    """Priority, or plugin that scores -> its weight, where the Policy or profile says otherwise; 0: it is
    off."""
    switches: dict[str, bool] = {}
    """Predicate, or plugin that filters -> whether it is on, where the Policy or profile says otherwise."""
    order: Annotated[str, Meta(pattern=f"^({'|'.join(ORDERS)})$")] = "input"
    edits: Annotated[tuple[Annotated[str, Meta(max_length=2000)], ...], Meta(max_length=500)] = ()
    """As ``--set`` takes them."""
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
    _kept: dict[Any, Any] = attrs.Factory(dict)
    """What the latest scenarios were made from, by the edits in it."""
    _sorted: tuple[frozenset[str], Inventory, Scenario] | None = None
    """What was sorted out last, for schedulers of which names, and the scenario."""
    _noticed: tuple[Scenario, dict[Any, tuple[Notice, ...]]] | None = None
    """The latest scenario with its warnings by release and gates."""

    def scenario(self, state: LabState, spec: SchedulerSpec) -> Scenario:
        """The scenario of *state* for the scheduler of *spec*. Raises
        :class:`~kubeclassic.exceptions.KubeclassicError`."""
        edits = Edits.parse(state.edits, defaults=self.files.defaults)
        before, late = edits.split()
        of_nodes = [edit for edit in before if edit.kind == "Node"]
        # Only DaemonSets make pods by what nodes are, by their labels and taints: else edits of nodes are
        # made later, too.
        has_daemons = self.files.loaded.raw.get("DaemonSet") or any(
            one.get("kind") in ("DaemonSet", "List") for one in state.pods
        )
        fields = {step.name for edit in of_nodes for one in edit.changes for step in one.path}
        if not has_daemons or fields.isdisjoint(("labels", "taints")):
            before = [edit for edit in before if edit.kind != "Node"]
            late = [*of_nodes, *late]
        early = attrs.evolve(edits, edits=tuple(before))
        key = (str(state.pods), spec.keeps_priorities, *(edit.text for edit in early.edits))
        inventory, told = self._once(key, lambda: self._taken_in(state, early, spec.keeps_priorities))
        texts = tuple(edit.text for edit in late)
        known = next(at for at in range(len(late), -1, -1) if not at or (*key, texts[:at]) in self._kept)
        objects, more = self._kept.get((*key, texts[:known]), (inventory.objects, ()))
        for at in range(known, len(late)):
            change = partial(self._edited, late[at], objects, spec.keeps_priorities)
            objects, what = self._once((*key, texts[: at + 1]), change)
            more = (*more, *what)
            self._kept[*key, texts[: at + 1]] = objects, more
        # The scenario of the one before, where each object that is another is of its sort.
        inventory = attrs.evolve(inventory, objects=objects)
        names = spec.scheduler_names
        last = self._sorted
        found = _with_others(*last[1:], inventory, names) if last is not None and last[0] == names else None
        found = sorted_out(inventory, names) if found is None else found
        self._sorted = names, inventory, found
        return attrs.evolve(found, edited=(*told, *more))

    def _taken_in(
        self, state: LabState, early: Edits, priorities: bool
    ) -> tuple[Inventory, tuple[Edited, ...]]:
        """The objects of the files after *early* edits, with those that are added and those that controllers
        still make."""
        documents = [Document(manifest, f"added {number}") for number, manifest in enumerate(state.pods, 1)]
        parts, told = early.of_loaded([self.files.loaded, load_documents(documents, defaults=early.defaults)])
        return take_in(
            parts, defaults=early.defaults, cron_jobs=self.cron_jobs, priorities=priorities, whole=True
        ), tuple(told)

    def _edited(self, edit: Edit, objects: Objects, priorities: bool) -> tuple[Objects, tuple[Edited, ...]]:
        """*objects* after *edit*, and what it did."""
        pairs, told = Edits((edit,), self.files.defaults).pairs(objects, priorities=priorities)
        return applied(objects, pairs), tuple(told)

    def _once(self, key: Any, made: Callable[[], T]) -> T:
        """The value of *made*, kept for a while."""
        kept = self._kept
        found: T = kept.pop(key) if key in kept else made()
        kept[key] = found
        while len(kept) > KEPT:
            del kept[next(iter(kept))]
        return found

    def notices(self, scenario: Scenario, algorithm: Algorithm) -> tuple[Notice, ...]:
        """The notices about *scenario*, and the parts of it that *algorithm* does not read."""
        known = {}
        if self._noticed is not None and _warn_alike(self._noticed[0], scenario):
            known = self._noticed[1]
        key = algorithm.release.version, tuple(sorted(algorithm.gates.items()))
        if key not in known:
            known[key] = with_release_notices(scenario, [algorithm]).warnings
        self._noticed = scenario, known
        return known[key]


def _with_others(
    before: Inventory, sorted_then: Scenario, now: Inventory, names: frozenset[str]
) -> Scenario | None:
    """The scenario of *now*, if it has only other nodes than *before*, and other pods that are or wait where
    those were; else None."""
    if len(before.objects) != len(now.objects) or attrs.evolve(before, objects=()) != attrs.evolve(
        now, objects=()
    ):
        return None
    pairs = [pair for pair in zip(before.objects, now.objects, strict=True) if pair[0] is not pair[1]]
    if not all((sort := _sort(old, names)) is not None and sort == _sort(new, names) for old, new in pairs):
        return None
    new = {id(old): new for old, new in pairs}
    waiting = sum(id(pod) in new for pod in sorted_then.pending)
    pending = _swapped(sorted_then.pending, new) if waiting else sorted_then.pending
    objects = sorted_then.objects if waiting == len(new) else _swapped(sorted_then.objects, new)
    return attrs.evolve(sorted_then, objects=objects, pending=pending)


def _sort(item: KubeObject, names: frozenset[str]) -> tuple[str, ...] | None:
    """The properties that decide whether *item* is there or waits; None for a pod that is passed over."""
    if not isinstance(item, Pod):
        return item.kind, item.key
    why = why_not_waiting(item, names)
    return (why or "", item.key, item.spec.node_name) if why in (None, ON_A_NODE) else None


def _swapped(items: tuple[T, ...], new: Mapping[int, Any]) -> tuple[T, ...]:
    """*items* with those in *new*, by identity, in the places of others."""
    return tuple([new.get(id(item), item) for item in items]) if new else items


# --- warnings -----------------------------------------------------------------------------------------------


def _warn_alike(before: Scenario, now: Scenario) -> bool:
    """Whether no release says of *now* anything but what it says of *before*; of most objects releases say
    nothing."""
    for there, here in ((before.objects, now.objects), (before.pending, now.pending)):
        gone, come = differing(there, here)
        if any(_warned_of(gone.get(key)) != _warned_of(come.get(key)) for key in gone.keys() | come.keys()):
            return False
    return before.warnings == now.warnings


def _warned_of(item: KubeObject | None) -> object:
    """The fields of *item* that releases warn of; None where there are none."""
    if isinstance(item, Node):
        return item.labels if has_newer_zone_alone(item) else None
    if isinstance(item, Pod):
        if item.spec.rule_volumes or fields_of(item):
            return (fields_of(item), item.spec.rule_volumes)
        return None
    return None if item is None else object()


MOST_ENGINES = 4


# Schedulers that know the cluster already, for one question after the other: what is new of the next state
# comes to them as events. An answer on a new scheduler and an answer here are the same;
# ``tests/questions/lab`` compares them. What a question did is taken back by a savepoint. What the next
# question can use depends on what it has in common with the last one of its release and gates:
#
# | in common                                                | what is kept                          |
# |----------------------------------------------------------|---------------------------------------|
# | options of the scheduler, and all but nodes and pods     | the scheduler, with its boards        |
# | the same but for weights                                 | listings, and what the rules answered |
# | release and gates                                        | the table of nodes and pods           |
#
# Where an event would not leave the cluster as if it had been read so, as when a node goes, there is a new
# scheduler.


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
    """For each release and its gates a scheduler that knows the cluster as the last question had it."""

    _known: dict[Any, KnownCluster] = attrs.Factory(dict)

    @contextmanager
    def engine(self, state: LabState, spec: SchedulerSpec, scenario: Scenario) -> Iterator[Engine]:
        """A scheduler that was told of *scenario*, for the block; afterwards all that was done is taken back,
        or the scheduler forgotten.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release refuses.
        """
        key = spec.version, spec.switches
        before = self._known.pop(key, None)
        with settled():
            engine, events = self._told(state, spec, scenario, before)
            with engine.savepoint():
                yield engine
                # Ports that are taken back are in another order than they came.
                there = (engine.pod_state(pod) for pod in scenario.pending)
                mixed = {one.node_name for one in there if one is not None and one.entry.template.ports}
            has_moved = events is None or any(isinstance(item, Pod) for _, item in events)
            placed = _placed(scenario.objects) if before is None or has_moved else before.placed
            if EventFeed(engine).reorder(placed, mixed):
                self._known[key] = KnownCluster(engine, state, scenario.objects, placed)
                if len(self._known) > MOST_ENGINES:
                    del self._known[next(iter(self._known))]

    def _told(
        self, state: LabState, spec: SchedulerSpec, scenario: Scenario, before: KnownCluster | None
    ) -> tuple[Engine, list[Event] | None]:
        """A scheduler that knows *scenario*, and the events that told it of it; None: it is a new one."""
        events = (
            None if before is None else events_between(before.objects, scenario.objects, before.engine.cache)
        )
        if before is None or events is None:
            engine = spec.engine(scenario.config_maps)
            EventFeed(engine).put_all(scenario.objects)
        else:
            others = any(
                not is_handed_on(item)
                for found in differing(before.objects, scenario.objects)
                for item in found.values()
            )
            # What no answer depends on, and what is not the scheduler's.
            plain, other = (
                replace(
                    one,
                    edits=(),
                    pods=(),
                    order="input",
                    scheduler={**one.scheduler, "tie_break": None, "seed": None},
                )
                for one in (before.state, state)
            )
            knows_rest = not others and plain == replace(other, weights=plain.weights)
            engine = before.engine
            same = knows_rest and plain == other and before.state.scheduler == state.scheduler
            if not same or state.scheduler.get("tie_break") == "random" or spec.equivalence_cache:
                wanted = spec.profiles if spec.profiles is not None else spec.algorithm(scenario.config_maps)
                engine = spec.engine_of(wanted, reuse_snapshot_of=engine, reuse_answers=knows_rest)
            tell(EventFeed(engine), events)
            if not knows_rest:
                EventFeed(engine).put_all(item for item in scenario.objects if not is_handed_on(item))
        engine.told = scenario.objects
        return engine, events


def _placed(objects: Sequence[KubeObject]) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for item in objects:
        if isinstance(item, Pod) and not item.is_terminal:
            found.setdefault(item.spec.node_name, []).append(item)
    return found
