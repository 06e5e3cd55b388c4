"""The scenarios of states: what the files hold after the edits, made from what the states before have come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

from ...api.inventory import ON_A_NODE, Inventory, take_in, why_not_waiting
from ...api.load import load_documents
from ...api.objects import KubeObject, Node, Pod
from ...api.reading.documents import Document
from ...api.reading.notices import Notice
from ...core.rule import Algorithm
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.differences import ByKey, differing, other_places
from ...simulation.edits import Edit, Edited, Edits, applied
from ...simulation.releasenotes import fields_of, has_newer_zone_alone, with_release_notices
from ...simulation.scenario import Files, Scenario, sorted_out
from .states import LabState

KEPT = 60
T = TypeVar("T")
Objects = tuple[KubeObject, ...]


@attrs.define(eq=False)
class LabScenarios:
    """What *files* hold, state by state. One more edit costs that edit alone."""

    files: Files
    cron_jobs: bool = False
    _kept: dict[Any, Any] = attrs.field(factory=dict)
    """What the latest scenarios were made from, by the edits in it."""
    _sorted: tuple[frozenset[str], Inventory, Scenario] | None = None
    """What was sorted out last, for schedulers of which names, and the scenario."""
    _noticed: tuple[Scenario, dict[Any, tuple[Notice, ...]]] | None = None
    """The latest scenario with its warnings by release and gates."""

    def scenario(self, state: LabState, spec: SchedulerSpec) -> Scenario:
        """The scenario of *state* for the scheduler of *spec*. Raises :class:`~kubeclassic.exceptions.KubeclassicError`."""
        edits = Edits.parse(state.edits, defaults=self.files.defaults)
        before, late = edits.split()
        of_nodes = [edit for edit in before if edit.kind == "Node"]
        # Only DaemonSets make pods by what nodes are, by their labels and taints: else edits of nodes are made later, too.
        has_daemons = self.files.loaded.raw.get("DaemonSet") or any(one.get("kind") in ("DaemonSet", "List") for one in state.pods)
        names = {step.name for edit in of_nodes for one in edit.changes for step in one.path}
        if not has_daemons or names.isdisjoint(("labels", "taints")):
            before, late = [edit for edit in before if edit.kind != "Node"], [*of_nodes, *late]
        early = attrs.evolve(edits, edits=tuple(before))
        key: tuple[Any, ...] = (str(state.pods), spec.keeps_priorities, *(edit.text for edit in early.edits))
        inventory, told = self._once(key, lambda: self._taken_in(state, early, spec.keeps_priorities))
        texts = tuple(edit.text for edit in late)
        known = next(at for at in range(len(late), -1, -1) if not at or (*key, texts[:at]) in self._kept)
        objects, more = self._kept.get((*key, texts[:known]), (inventory.objects, ()))
        for at in range(known, len(late)):
            objects, what = self._once((*key, texts[: at + 1]), lambda: self._edited(late[at], objects, spec.keeps_priorities))  # noqa: B023
            more = (*more, *what)
            self._kept[*key, texts[: at + 1]] = objects, more
        found = self._sorted_out(attrs.evolve(inventory, objects=objects), spec.scheduler_names)
        return attrs.evolve(found, edited=(*told, *more))

    def _taken_in(self, state: LabState, early: Edits, priorities: bool) -> tuple[Inventory, tuple[Edited, ...]]:
        """The objects of the files after *early* edits, with those that are added and those that controllers still make."""
        documents = [Document(manifest, f"added {number}") for number, manifest in enumerate(state.pods, 1)]
        parts, told = early.of_loaded([self.files.loaded, load_documents(documents, defaults=early.defaults)])
        return take_in(parts, defaults=early.defaults, cron_jobs=self.cron_jobs, priorities=priorities, whole=True), tuple(told)

    def _edited(self, edit: Edit, objects: Objects, priorities: bool) -> tuple[Objects, tuple[Edited, ...]]:
        """*objects* after *edit*, and what it did."""
        pairs, told = Edits((edit,), self.files.defaults).pairs(objects, priorities=priorities)
        return applied(objects, pairs), tuple(told)

    def _once(self, key: Any, made: Callable[[], T]) -> T:
        """What *made* gives, which is kept for a while."""
        found: T = self._kept.pop(key) if key in self._kept else made()
        self._kept[key] = found
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
        return found

    def _sorted_out(self, inventory: Inventory, names: frozenset[str]) -> Scenario:
        """The scenario of *inventory*: that of the one before, where each object that is another is of its sort."""
        found = None
        if self._sorted is not None and self._sorted[0] == names:
            found = _with_others(*self._sorted[1:], inventory, names)
        if found is None:
            found = sorted_out(inventory, names)
        self._sorted = names, inventory, found
        return found

    def notices(self, scenario: Scenario, algorithm: Algorithm) -> tuple[Notice, ...]:
        """What is odd in *scenario*, and what of it *algorithm* does not read."""
        if self._noticed is None or not _warn_alike(self._noticed[0], scenario):
            self._noticed = scenario, {}
        key = algorithm.release.version, tuple(sorted(algorithm.gates.items()))
        known = self._noticed[1]
        if key not in known:
            known[key] = with_release_notices(scenario, [algorithm]).warnings
        self._noticed = scenario, known
        return known[key]


def _with_others(before: Inventory, sorted_then: Scenario, now: Inventory, names: frozenset[str]) -> Scenario | None:
    """The scenario of *now*, if it has only other nodes than *before*, and other pods that are or wait where those were; else None."""
    places = other_places(before.objects, now.objects)
    if places is None or attrs.evolve(before, objects=()) != attrs.evolve(now, objects=()):
        return None
    pairs = [(before.objects[at], now.objects[at]) for at in places]
    if not all((sort := _sort(old, names)) is not None and sort == _sort(new, names) for old, new in pairs):
        return None
    new = {id(old): new for old, new in pairs}
    waiting = sum(id(pod) in new for pod in sorted_then.pending)
    pending = _swapped(sorted_then.pending, new) if waiting else sorted_then.pending
    objects = sorted_then.objects if waiting == len(new) else _swapped(sorted_then.objects, new)
    return attrs.evolve(sorted_then, objects=objects, pending=pending)


def _sort(item: KubeObject, names: frozenset[str]) -> tuple[str, ...] | None:
    """What decides whether *item* is there or waits; None for a pod that is passed over."""
    if not isinstance(item, Pod):
        return item.kind, item.key
    why = why_not_waiting(item, names)
    return (why or "", item.key, item.spec.node_name) if why in (None, ON_A_NODE) else None


def _swapped(items: tuple[T, ...], new: Mapping[int, Any]) -> tuple[T, ...]:
    """*items* with those in *new*, by identity, in the places of others."""
    return tuple([new.get(id(item), item) for item in items]) if new else items


# --- warnings ---------------------------------------------------------------------------------------------------------


def _warn_alike(before: Scenario, now: Scenario) -> bool:
    """Whether no release says of *now* anything but what it says of *before*."""
    lists = (before.objects, now.objects), (before.pending, now.pending)
    return before.warnings == now.warnings and all(_say_alike(*differing(*held)) for held in lists)


def _say_alike(gone: ByKey, come: ByKey) -> bool:
    """Whether releases say of what has *come* what they say of what has *gone*; of most objects they say nothing."""
    return all(_says_nothing(item) or (key in come and _has_as(item, come[key])) for key, item in gone.items()) and all(
        key in gone or _says_nothing(item) for key, item in come.items()
    )


def _has_as(before: KubeObject, now: KubeObject) -> bool:
    """Whether *now* has the fields of *before* that releases warn of."""
    if isinstance(before, Node) and isinstance(now, Node):
        return before.labels == now.labels
    if isinstance(before, Pod) and isinstance(now, Pod):
        return fields_of(before) == fields_of(now) and before.spec.rule_volumes == now.spec.rule_volumes
    return False


def _says_nothing(item: KubeObject) -> bool:
    """Whether no release warns of *item*, or of its being there."""
    if isinstance(item, Node):
        return not has_newer_zone_alone(item)
    return isinstance(item, Pod) and not item.spec.rule_volumes and not fields_of(item)
