"""The pods that want a node by shape, and what new nodes have to bring at least for them: a bound below every mix that can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import attrs
import numpy as np

from ...api.objects import CSINode, KubeObject, Node, Pod
from ...core.arrays.types import Ints, Mask
from ...core.engine import Engine
from ...core.pods.requests import PODS
from ...core.run import Run
from ..capacity.room import FreeRoom, is_counted
from .kinds import HOSTNAME, NodeKind
from .permanentreasons import keeps_apart, lasts
from .setcover import CoverRow
from .trials import MixTrials


@attrs.frozen(kw_only=True, eq=False)
class PodShape:
    """Pods that scheduling cannot tell apart."""

    pod: Pod
    """The first of them."""
    keys: tuple[str, ...]
    requests: Mapping[str, int]
    most: tuple[int, ...]
    """For each kind how many of them a new node takes at most: 0 if it takes none, whatever the other pods do."""
    refusals: tuple[str, ...]
    """For each kind why an empty new node does not take one; empty if it does."""
    keeps_apart: bool = False
    """Two of them do not go on one node, for their host ports or their anti-affinity."""
    has_ports: bool = False
    """They ask for host ports."""

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.keys)


@attrs.define(eq=False)
class Shapes:
    """Sorts the pods of *trials* into shapes; *counted*: the resources that are checked on new nodes of every kind."""

    trials: MixTrials
    rooms: list[dict[str, int]] = attrs.field(factory=list)
    """For each kind what an empty new node has left."""
    counted: frozenset[str] = frozenset()
    _alone: list[Run] = attrs.field(factory=list)
    """For each kind a scheduler of one new node, and nothing else."""

    def __attrs_post_init__(self) -> None:
        self._alone = [self._lone(kind) for kind in self.trials.kinds]
        self.rooms = [_free(run.engine) for run in self._alone]

    def of(self, pods: Sequence[Pod]) -> list[PodShape]:
        """The shapes of *pods*, in the order in which they first occur."""
        grouped: dict[object, list[Pod]] = {}
        if not pods or not self._alone:
            return []
        engine = self._alone[0].engine
        for pod in pods:
            grouped.setdefault(engine.template_of(pod), []).append(pod)
        found = [self._shape(members) for members in grouped.values()]
        self.counted = self._checked(found)
        return found

    def _shape(self, pods: Sequence[Pod]) -> PodShape:
        template = self._alone[0].engine.template_of(pods[0])
        requests = {**template.requests, PODS: 1}
        answers = [_ask(run, kind, pods) for run, kind in zip(self._alone, self.trials.kinds, strict=True)]
        return PodShape(
            pod=pods[0], keys=tuple(pod.key for pod in pods), requests={name: number for name, number in requests.items() if number > 0},
            most=tuple(found.most for found in answers), refusals=tuple(found.refusal for found in answers),
            keeps_apart=any(found.keeps_apart for found in answers), has_ports=bool(template.ports),
        )  # fmt: skip

    # --- one new node -----------------------------------------------------------------------------------------------

    def _lone(self, kind: NodeKind) -> Run:
        question = self.trials.question
        others: list[KubeObject] = [item for item in question.scenario.objects if not isinstance(item, Node | Pod | CSINode)]
        templates = [item for template in question.templates for item in (*template.objects, *template.copy(0)[1])]
        run = Run(self.trials.new_engine(), details=False)
        for item in (*others, *templates, *kind.copies(1)):
            run.put(item)
        return run

    def _checked(self, shapes: Sequence[PodShape]) -> frozenset[str]:
        """The resources of which too much cannot be requested: a pod that does is turned down for it, by new nodes of every kind."""
        names = {name for shape in shapes for name in shape.requests} - {PODS}
        subjects = {shape.pod.spec.scheduler_name: shape.pod for shape in shapes}.values()
        lone = list(zip(self._alone, self.rooms, strict=True))
        found = {name for name in names if all(is_counted(run, pod, name, room.get(name, 0) + 1) for run, room in lone for pod in subjects)}
        return frozenset({*found, PODS} if found == names and names else found)


WITHOUT_END = 2**40
"""More pods than any cluster has."""


def _free(engine: Engine) -> dict[str, int]:
    room = FreeRoom.of(engine)
    return {resource: int(room.free[row, 0]) for row, resource in enumerate(room.resources)}


class _Answer(NamedTuple):
    most: int = WITHOUT_END
    refusal: str = ""
    keeps_apart: bool = False


def _ask(run: Run, kind: NodeKind, pods: Sequence[Pod]) -> _Answer:
    """How many of *pods*, which are of one shape, the node of *run* takes at most, resources aside; and why none if it is none."""
    first = run.ask(pods[0])
    if first.host is None:
        (name,) = kind.names(1)
        never = not first.is_fit_error or lasts(first.failed.get(name, ()))
        return _Answer(0, first.error or "") if never else _Answer()
    if len(pods) < 2 or pods[0].spec.volumes:
        return _Answer()
    with run.savepoint():
        if run.cycle(pods[0]).host is None:
            return _Answer()
        texts = run.ask(pods[1]).failed.get(first.host, ())
    return _Answer(1 if lasts(texts) else WITHOUT_END, keeps_apart=keeps_apart(texts))


# --- the bound ------------------------------------------------------------------------------------------------------


MOST_SIZES = 24
"""How many sizes of requests are distinguished for each resource."""
MOST_ASKED = 64
"""For that many shapes, the most frequent ones, it is asked which of the nodes that are there never take them."""


@attrs.define(eq=False)
class Demand:
    """The bound for *shapes*, which *sorting* has found."""

    sorting: Shapes
    shapes: Sequence[PodShape]
    preemption: bool = False
    _run: Run = attrs.field(init=False)
    _room: FreeRoom = attrs.field(init=False)
    _barred: dict[int, Mask] = attrs.field(factory=dict)
    """Number of a shape -> the nodes that never take it: bool[N]; for the shapes that were asked for."""

    def __attrs_post_init__(self) -> None:
        self._run = Run(self.sorting.trials.new_engine(), details=False)
        question = self.sorting.trials.question
        self._run.feed.put_all(item for item in question.scenario.objects)
        self._run.feed.put_all(item for template in question.templates for item in (*template.objects, *template.copy(0)[1]))
        self._room = FreeRoom.of(self._run.engine)
        often = sorted(range(len(self.shapes)), key=lambda at: -self.shapes[at].count)[:MOST_ASKED]
        self._barred = {} if self.preemption else {at: self._never(self.shapes[at]) for at in often}

    def takes(self, at: int) -> bool:
        """Whether some node that is there may take pods of shape number *at*."""
        if self.preemption:
            return True
        barred = self._barred[at] if at in self._barred else self._never(self.shapes[at])
        return not barred.all()

    def rows(self) -> list[CoverRow]:
        """What all pods need beyond what is there."""
        return [row for row in (*self._of_shapes(), *self._of_resources()) if row.need > 0]

    def beside(self, missing: Iterable[str]) -> list[CoverRow]:
        """What the pods *missing*, by key, need if new nodes have to bring all of it: a guess how many more are needed."""
        wanted, rows = set(missing), []
        left = [(shape, sum(key in wanted for key in shape.keys)) for shape in self.shapes]
        counts = [(shape, count) for shape, count in left if count]
        rows += [CoverRow(need=count, gains=self._gains(shape)) for shape, count in counts]
        for resource in {name for shape, _ in counts for name in shape.requests}:
            need = sum(count * shape.requests.get(resource, 0) for shape, count in counts)
            rows.append(CoverRow(need=need, gains=tuple(room.get(resource, 0) for room in self.sorting.rooms)))
        return [row for row in rows if any(row.gains)]

    # --- by shape ---------------------------------------------------------------------------------------------------

    def _of_shapes(self) -> Iterator[CoverRow]:
        for at in self._barred or range(min(len(self.shapes), MOST_ASKED)):
            shape = self.shapes[at]
            yield CoverRow(need=shape.count - self._there(at), gains=self._gains(shape))

    def _gains(self, shape: PodShape) -> tuple[int, ...]:
        """How many of *shape* an empty new node of each kind takes at most."""
        names = [name for name in shape.requests if name in self.sorting.counted]
        fits = (min((room.get(name, 0) // shape.requests[name] for name in names), default=shape.count) for room in self.sorting.rooms)
        return tuple(min(most, number, shape.count) for most, number in zip(shape.most, fits, strict=True))

    def _there(self, at: int) -> int:
        """How many of shape number *at* the nodes that are there take at most."""
        shape, free = self.shapes[at], self._free()
        each = np.full(len(self._room.names), shape.count)
        for name in (name for name in shape.requests if name in self.sorting.counted):
            row = free[self._room.resources.index(name)] if name in self._room.resources else np.zeros(len(each), np.int64)
            each = np.minimum(each, row // shape.requests[name])
        if shape.keeps_apart and not self.preemption:
            each[self._one_each(shape)] = np.minimum(each[self._one_each(shape)], 1)
        if at in self._barred:
            each[self._barred[at]] = 0
        return int(each.sum())

    def _one_each(self, shape: PodShape) -> Mask:
        """The nodes that take one at most of a shape whose pods keep apart: for its host ports, or its own anti-affinity."""
        pod, names = shape.pod, self._room.names
        if shape.has_ports:
            return np.ones(len(names), np.bool_)
        affinity = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity is not None else None
        keys = {term.topology_key for term in affinity.required} if affinity is not None else set()
        if keys != {HOSTNAME}:
            return np.zeros(len(names), np.bool_)
        nodes = {node.name: node for node in self.sorting.trials.question.scenario.nodes}
        return np.array([nodes[name].labels.get(HOSTNAME) == name for name in names], np.bool_)

    def _never(self, shape: PodShape) -> Mask:
        decision = self._run.ask(shape.pod)
        if decision.host is None and not decision.is_fit_error:
            return np.ones(len(self._room.names), np.bool_)
        return self._room.at({name for name, texts in decision.failed.items() if lasts(texts)})

    # --- by resource ------------------------------------------------------------------------------------------------

    def _of_resources(self) -> Iterator[CoverRow]:
        """Rows for each resource: for all pods, and for those that only some of the kinds take; of any size, and of a size at least."""
        taken = [tuple(most > 0 for most in shape.most) for shape in self.shapes]
        for kinds in dict.fromkeys([(True,) * len(self.sorting.rooms), *taken]):
            inside = [at for at, some in enumerate(taken) if all(here for here, there in zip(kinds, some, strict=True) if there)]
            for name in sorted({name for at in inside for name in self.shapes[at].requests if name in self.sorting.counted}):
                sizes = sorted({self.shapes[at].requests[name] for at in inside if name in self.shapes[at].requests})
                for size in sizes[:: -(-len(sizes) // MOST_SIZES)]:
                    asked = [at for at in inside if self.shapes[at].requests.get(name, 0) >= size]
                    yield from self._of_size(name, size, asked, kinds)

    def _of_size(self, resource: str, size: int, asked: Sequence[int], kinds: Sequence[bool]) -> Iterator[CoverRow]:
        """What the shapes *asked* need, which all request *size* of *resource* at least: in number, and in sum."""
        free = self._open_to(resource, asked)
        rooms = [room.get(resource, 0) if some else 0 for room, some in zip(self.sorting.rooms, kinds, strict=True)]
        count = sum(self.shapes[at].count for at in asked)
        yield CoverRow(need=count - int((free // size).sum()), gains=tuple(room // size for room in rooms))
        total = sum(self.shapes[at].count * self.shapes[at].requests[resource] for at in asked)
        yield CoverRow(need=total - int(free[free >= size].sum()), gains=tuple(room if room >= size else 0 for room in rooms))

    def _open_to(self, resource: str, asked: Sequence[int]) -> Ints:
        """int64[k]: what is free of *resource* on each node that may take one of the shapes *asked*."""
        if resource not in self._room.resources:
            return np.zeros(0, np.int64)
        free: Ints = self._free()[self._room.resources.index(resource)]
        if not all(at in self._barred for at in asked):
            return free
        open_to: Ints = free[~np.all([self._barred[at] for at in asked], axis=0)]
        return open_to

    def _free(self) -> Ints:
        """int64[R, N]: what pods can take on the nodes that are there; with preemption all that these have."""
        return self._room.allocatable if self.preemption else self._room.free


def never_placed(shapes: Sequence[PodShape], demand: Demand) -> list[PodShape]:
    """Those that no kind takes, whatever the other pods do, and no node that is there either."""
    return [shape for at, shape in enumerate(shapes) if not any(shape.most) and not demand.takes(at)]
