"""The pods that want a node by shape, what an empty new node says to them, and about how many new nodes they need by their requests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from math import ceil

import attrs

from ...api.objects import CSINode, KubeObject, Node, Pod
from ...core.pods.requests import PODS
from ...core.run import Run
from ..capacity.room import FreeRoom
from .kinds import NodeKind
from .trials import Mix, MixTrials


@attrs.frozen(kw_only=True, eq=False)
class PodShape:
    """Pods that scheduling cannot tell apart."""

    keys: tuple[str, ...]
    requests: Mapping[str, int]
    refusals: tuple[str, ...]
    """For each kind why an empty new node does not take one; empty if it does."""


@attrs.frozen(eq=False)
class Demand:
    """The pods of some trials; *rooms*: for each kind what an empty new node has left; *prices*: what a node of each kind costs."""

    shapes: Sequence[PodShape]
    rooms: Sequence[Mapping[str, int]]
    prices: Sequence[Decimal]

    @classmethod
    def of(cls, trials: MixTrials, pods: Sequence[Pod]) -> Demand:
        """That of *pods*, in shapes in the order in which they first occur."""
        alone = [_lone(trials, kind) for kind in trials.kinds]
        grouped: dict[object, list[Pod]] = {}
        for pod in pods:
            grouped.setdefault(alone[0].engine.template_of(pod), []).append(pod)
        shapes = []
        for members in grouped.values():
            requests = {**alone[0].engine.template_of(members[0]).requests, PODS: 1}
            asked = [run.ask(members[0]) for run in alone]
            refusals = tuple("" if found.host is not None else found.error or "" for found in asked)
            shapes.append(PodShape(keys=tuple(pod.key for pod in members), requests=requests, refusals=refusals))
        return cls(shapes, [_free(run) for run in alone], [kind.cost for kind in trials.kinds])

    def needed(self, keys: Collection[str], only: int | None = None) -> Mix:
        """About how many nodes the pods *keys* need by their requests, each of the kind that is cheapest for it, or of the kind *only*."""
        wanted, kinds = set(keys), range(len(self.rooms)) if only is None else (only,)
        asked: list[dict[str, int]] = [{} for _ in self.rooms]
        for shape in self.shapes:
            count = sum(key in wanted for key in shape.keys)
            worth = {at: self._fits(shape, at) / self.prices[at] for at in kinds}
            if count and worth:
                into = asked[max(worth, key=lambda at: (not shape.refusals[at], worth[at]))]
                for name, amount in shape.requests.items():
                    into[name] = into.get(name, 0) + count * amount
        return tuple(
            max((ceil(Decimal(amount) / room[name]) for name, amount in into.items() if room.get(name)), default=int(bool(into)))
            for into, room in zip(asked, self.rooms, strict=True)
        )

    def _fits(self, shape: PodShape, at: int) -> Decimal:
        room = self.rooms[at]
        return min((Decimal(room.get(name, 0)) / amount for name, amount in shape.requests.items() if amount), default=Decimal(1))


def _lone(trials: MixTrials, kind: NodeKind) -> Run:
    """A scheduler of one new node, and nothing else that takes room."""
    question = trials.question
    others: list[KubeObject] = [item for item in question.scenario.objects if not isinstance(item, Node | Pod | CSINode)]
    templates = [item for template in question.templates for item in (*template.objects, *template.copy(0)[1])]
    run = Run(trials.new_engine(), details=False)
    for item in (*others, *templates, *kind.copies(1)):
        run.put(item)
    return run


def _free(run: Run) -> dict[str, int]:
    room = FreeRoom.of(run.engine)
    return {resource: int(room.free[row, 0]) for row, resource in enumerate(room.resources)}
