"""The pods that want a node by shape, and how many of a shape an empty new node takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import attrs
from msgspec.structs import replace

from ...api.objects import Container, CSINode, KubeObject, Map, Node, Pod, PodSpec, Toleration
from ...api.objects.quantity import Quantity
from ...core.engine import Engine
from ...core.pods.requests import CPU, PODS
from ...core.run import Run
from ..capacity.room import FreeRoom, short_of
from .kinds import NodeKind
from .permanentreasons import keeps_apart, lasts
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
        found = {name for name in names if all(_is_checked(run, room, pod, name) for run, room in lone for pod in subjects)}
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


def _is_checked(run: Run, room: Mapping[str, int], pod: Pod, resource: str) -> bool:
    """Whether a pod that differs from *pod* in nothing but requests and tolerations is turned down if it requests too much."""
    unit = "m" if resource == CPU else ""
    too_much = Container(name="main", requests=Map({resource: Quantity.parse(f"{room.get(resource, 0) + 1}{unit}")}))
    spec = PodSpec(scheduler_name=pod.spec.scheduler_name, containers=(too_much,), tolerations=(Toleration(operator="Exists"),))
    decision = run.ask(Pod(metadata=replace(pod.metadata, name=f"{pod.name}-probe", uid=""), spec=spec))
    return any(resource in short_of([text]) for texts in decision.failed.values() for text in texts)
