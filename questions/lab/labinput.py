"""What the lab's files hold, and the scenario that small changes make of it: edits in words, and copies of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar

import attrs

from ...api.inventory import ON_A_NODE, Inventory, take_in, why_not_waiting
from ...api.load import Loaded, load_documents
from ...api.objects import KubeObject, Node, Pod
from ...api.reading.documents import Document
from ...api.wire.ownfields import current_manifest
from ...exceptions import KubeclassicError
from ...simulation.drainrules import stays_with_node
from ...simulation.edits import Edit, Edited, Edits
from ...simulation.scenario import Files, Scenario, sorted_out
from ..newnodes.answer import kinds_of
from .differences import other_places
from .labconfiguration import Json, LabError

MOST_COPIES = 5000
GROUPS = {
    "apps/v1": ("ReplicaSet", "StatefulSet"),
    "storage.k8s.io/v1": ("StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"),
    "policy/v1": ("PodDisruptionBudget",),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "resource.k8s.io/v1": ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"),
}
VERSIONS = {kind: version for version, kinds in GROUPS.items() for kind in kinds}
KEPT = 60
T = TypeVar("T")
Objects = tuple[KubeObject, ...]


class EditOne(Protocol[T]):
    """Makes one edit of something, and says what it did."""

    def __call__(self, edits: Edits, before: T, /) -> tuple[T, list[Edited]]: ...


@attrs.frozen
class Copies:
    """New nodes, like one that is there."""

    like: str
    count: int


@attrs.frozen
class Changes:
    """What was changed of the cluster, in order."""

    edits: tuple[str, ...] = ()
    """In the words of ``--set``."""
    copies: tuple[Copies, ...] = ()

    def edited(self, *texts: str) -> Changes:
        """With more edits."""
        return attrs.evolve(self, edits=(*self.edits, *texts))

    def without(self, *texts: str) -> Changes:
        """Without these edits."""
        return attrs.evolve(self, edits=tuple(text for text in self.edits if text not in texts))


@attrs.define(eq=False)
class LabInput:
    """What the files hold; the edits that the command line gave are the first :class:`Changes`."""

    files: Files
    cron_jobs: bool = False
    _taken: dict[bool, tuple[Loaded, Inventory]] = attrs.field(factory=dict)
    """What was taken in last, with gate PodPriority or without."""
    _pods_edited: tuple[tuple[object, ...], Objects, Objects, tuple[Edited, ...]] | None = None
    """The latest edits of pods, the objects before and after them, and what each did."""
    _sorted: tuple[frozenset[str], Inventory, Scenario] | None = None
    """What was sorted out last, for schedulers of which names, and the scenario."""
    _latest: dict[Any, Any] = attrs.field(factory=dict)
    """What the latest scenarios were made from, by the changes in it: one more edit need not repeat those before it."""

    def scenario(self, changes: Changes, names: frozenset[str], priorities: bool) -> Scenario:
        """The scenario after *changes*; *names*: whose pods wait, *priorities*: whether gate PodPriority is on.

        Raises :class:`~.labconfiguration.LabError` for an edit or a node that does not fit.
        """
        try:
            every = Edits.parse(changes.edits, defaults=self.files.defaults).edits
            others, of_pods = ([edit for edit in every if edit.is_about_pods is about] for about in (False, True))
            key: tuple[Any, ...] = ("files", changes.copies, priorities)
            loaded, edited = self._edited(key, others, lambda: self.with_nodes(changes).loaded, _of_loaded)
            key = ("objects", changes.copies, priorities, tuple(edit.text for edit in others))
            inventory = self._once((*key, "taken in"), lambda: self._taken_in(loaded, priorities))
            objects, more = self._with_pods_edited(key, of_pods, inventory.objects, priorities)
            return attrs.evolve(self._sorted_out(attrs.evolve(inventory, objects=objects), names), edited=(*edited, *more))
        except KubeclassicError as error:
            raise error if isinstance(error, LabError) else LabError(str(error), "edit") from None

    def _edited(self, key: tuple[Any, ...], edits: list[Edit], first: Callable[[], T], made: EditOne[T]) -> tuple[T, tuple[Edited, ...]]:
        """What *edits* make of the *first* one after the other, and what each did; most of them were made for the state before."""
        texts = tuple(edit.text for edit in edits)
        known = next((at for at in range(len(edits), 0, -1) if (*key, *texts[:at]) in self._latest), 0)
        nothing: tuple[Edited, ...] = ()
        found, told = self._once((*key, *texts[:known]), lambda: (first(), nothing))
        if known < len(edits):
            found, more = made(Edits(tuple(edits[known:]), self.files.defaults), found)
            told = (*told, *more)
        return self._once((*key, *texts), lambda: (found, told))

    def _with_pods_edited(
        self, key: tuple[Any, ...], edits: list[Edit], objects: Objects, priorities: bool
    ) -> tuple[Objects, tuple[Edited, ...]]:
        """*objects* after *edits* of pods, and what each did; the latest ones are not made again where only nodes are others."""
        texts, before = (priorities, *(edit.text for edit in edits)), self._pods_edited
        if before is not None and texts[: len(before[0])] == before[0] and not any(edit.verb for edit in edits):
            places = other_places(before[1], objects)
            if places is not None and all(isinstance(objects[at], Node) for at in places):
                made = tuple(objects[at] if at in places else item for at, item in enumerate(before[2])), before[3]
                self._once((*key, *before[0][1:]), lambda: made)
        found, told = self._edited(key, edits, lambda: objects, partial(_of_objects, priorities=priorities))
        self._pods_edited = texts, objects, found, told
        return found, told

    def _sorted_out(self, inventory: Inventory, names: frozenset[str]) -> Scenario:
        """The scenario of *inventory*: that of the one before, where each object that is another is of its sort."""
        found, before = None, self._sorted
        if before is not None and before[0] == names:
            found = _with_others(before[1], before[2], inventory, names)
        if found is None:
            found = sorted_out(inventory, names)
        self._sorted = names, inventory, found
        return found

    def _taken_in(self, loaded: Loaded, priorities: bool) -> Inventory:
        """The objects of *loaded*, and those that controllers still make."""
        before, found = self._taken.get(priorities), None
        if before is not None:
            found = _with_other_nodes(*before, loaded)
        if found is None:
            found = take_in([loaded], defaults=self.files.defaults, cron_jobs=self.cron_jobs, priorities=priorities, whole=True)
        self._taken[priorities] = loaded, found
        return found

    def _once(self, key: tuple[Any, ...], made: Callable[[], T]) -> T:
        """What *made* gives, which is kept for a while."""
        found: T = self._latest.pop(key) if key in self._latest else made()
        self._latest[key] = found
        while len(self._latest) > KEPT:
            del self._latest[next(iter(self._latest))]
        return found

    def new_nodes(self, changes: Changes) -> list[Json]:
        """The manifests of the nodes that are added."""
        nothing: Objects = ()
        all_copies, base = changes.copies, self.files.loaded.objects
        known = next((at for at in range(len(all_copies), 0, -1) if ("nodes", *all_copies[:at]) in self._latest), 0)
        made = self._once(("nodes", *all_copies[:known]), lambda: nothing)
        for copies in all_copies[known:]:
            made = (*made, *self._copies(copies, (*base, *made)))
        made = self._once(("nodes", *all_copies), lambda: made)
        return [{"apiVersion": VERSIONS.get(item.kind, "v1"), "kind": item.kind, **current_manifest(item)} for item in made]

    def with_nodes(self, changes: Changes) -> Files:
        """The files with the nodes that are added. Raises :class:`~.labconfiguration.LabError`."""
        if not changes.copies:
            return self.files
        documents = [Document(manifest, f"the copy {manifest['metadata']['name']}") for manifest in self.new_nodes(changes)]
        made = load_documents(documents, defaults=self.files.defaults).objects
        loaded = self.files.loaded
        return attrs.evolve(self.files, loaded=attrs.evolve(loaded, objects=(*loaded.objects, *made)))

    def _copies(self, copies: Copies, known: Objects) -> list[KubeObject]:
        try:
            (kind,) = kinds_of([f"like:{copies.like}"], known, {}, lambda kind: ())
        except KubeclassicError as error:
            raise LabError(str(error).replace("add-node: ", "", 1), "copy") from None
        return kind.copies(copies.count)


def _with_other_nodes(before: Loaded, taken: Inventory, now: Loaded) -> Inventory | None:
    """What is taken in of *now*, where it differs from *before* in nodes alone, and in nothing that DaemonSets read of them; else None."""
    places = other_places(before.objects, now.objects)
    if places is None or before.warnings != now.warnings:
        return None
    raw = [(one, other) for kind, found in before.raw.items() for one, other in zip(found, now.raw.get(kind, ()), strict=False)]
    changed = {id(before.objects[at]): (before.objects[at], now.objects[at]) for at in places}
    is_same = all(one is other for one, other in raw) and all(
        isinstance(old, Node) and isinstance(new, Node) and old.labels == new.labels and old.spec.taints == new.spec.taints
        for old, new in changed.values()
    )
    if not is_same:
        return None
    return attrs.evolve(taken, objects=_swapped(taken.objects, {old: new for old, (_, new) in changed.items()}))


def _with_others(before: Inventory, sorted_then: Scenario, now: Inventory, names: frozenset[str]) -> Scenario | None:
    """The scenario of *now*, if it has only other nodes than *before*, and other pods that are or wait where those were; else None."""
    places = other_places(before.objects, now.objects)
    if places is None or attrs.evolve(before, objects=()) != attrs.evolve(now, objects=()):
        return None
    pairs = [(before.objects[at], now.objects[at]) for at in places]
    if not all((sort := _sort(old, names)) is not None and sort == _sort(new, names) for old, new in pairs):
        return None
    new = {id(old): new for old, new in pairs}
    waiting = [pod for pod in sorted_then.pending if id(pod) in new]
    pending = _swapped(sorted_then.pending, new) if waiting else sorted_then.pending
    objects = sorted_then.objects if len(waiting) == len(pairs) else _swapped(sorted_then.objects, new)
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


def _of_loaded(edits: Edits, loaded: Loaded) -> tuple[Loaded, list[Edited]]:
    (after,), told = edits.of_loaded([loaded])
    return after, told


def _of_objects(edits: Edits, objects: Objects, priorities: bool) -> tuple[Objects, list[Edited]]:
    return edits.of_pods(objects, priorities=priorities)


# --- edits that buttons make ----------------------------------------------------------------------------------------


def cordon(node: str) -> str:
    """The edit that lets no more pods come to *node*."""
    return f"node {node} unschedulable=true"


def drain(node: str, scenario: Scenario) -> list[str]:
    """The edits that cordon *node* and let its pods wait; those of DaemonSets and of the node itself stay."""
    pods = [item for item in scenario.objects if isinstance(item, Pod) and item.spec.node_name == node]
    leaving = [pod for pod in pods if not stays_with_node(pod)]
    return [cordon(node), *(f"pod {pod.key} nodeName-" for pod in leaving)]


def check_node(name: str, scenario: Scenario, field: str) -> Node:
    """The node called *name*. Raises :class:`~.labconfiguration.LabError`."""
    found = next((node for node in scenario.nodes if node.name == name), None)
    if found is None:
        raise LabError(f'node: expected a node of the cluster, got "{name}"', field)
    return found


def counted(changes: Changes) -> dict[str, Any]:
    """*changes* as plain data."""
    copies: Counter[str] = Counter()
    for one in changes.copies:
        copies[one.like] += one.count
    return {"edits": list(changes.edits), "copies": [{"like": like, "count": count} for like, count in copies.items()]}
