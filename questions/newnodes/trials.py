"""Simulates mixes of new nodes, each by a new scheduler, and keeps what came of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, TypeAlias

import attrs

from ...api.garbage import settled
from ...api.objects import Pod
from ...api.record import Amounts, Count, Record, says
from ...core.engine import Engine
from ...simulation.nodekinds import NodeKind
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from ..capacity.counting import count_copies
from ..capacity.question import CapacityQuestion
from ..capacity.room import FreeRoom

Mix: TypeAlias = tuple[int, ...]
"""How many new nodes of each kind, in the order of the kinds."""
NOT_TRIED = "not tried: a copy before it found no node"
NO_NODE = "found no node"


class PodWithoutNode(Record):
    """A pod that finds no node."""

    pod: str
    message: str


class NewNode(Record):
    """A new node after the simulation."""

    name: str
    node: Annotated[str, says("Its kind.")]
    pods: Annotated[Count, says("Pods that wanted a node; what DaemonSets run does not count.")]
    requested: Annotated[Amounts, says("By all pods on it.")]
    allocatable: Amounts


@attrs.frozen(kw_only=True, eq=False)
class MixTrial:
    """What came of one mix."""

    mix: Mix
    wanted: int
    """How many pods wanted a node, without those that found none with any mix."""
    missing: tuple[PodWithoutNode, ...]
    """Those of them that have none, in the order in which they were tried."""
    nodes: tuple[NewNode, ...]
    evicted: Mapping[str, str]
    """Pod that had to leave -> the pod that took its place."""

    @property
    def is_placed(self) -> bool:
        """Whether each of these pods has a node."""
        return not self.missing


@attrs.define(eq=False)
class MixTrials:
    """Mixes of *kinds*, tried for the pods that *question* is about: its copies, and the waiting pods if they come first or alone."""

    question: CapacityQuestion
    kinds: Sequence[NodeKind]
    new_engine: Callable[[], Engine]
    on_progress: Callable[[int], None] | None = None
    """Called after each simulation with how many there were."""
    hopeless: frozenset[str] = frozenset()
    """Pods that found no node with any mix: they are tried, and do not count."""
    known: dict[Mix, MixTrial] = attrs.field(factory=dict)

    def leave_out(self, keys: Iterable[str]) -> None:
        """From now on the pods *keys* do not count."""
        self.hopeless |= frozenset(keys)
        for mix, trial in self.known.items():
            missing = tuple(one for one in trial.missing if one.pod not in self.hopeless)
            self.known[mix] = attrs.evolve(trial, wanted=self.wanted, missing=missing)

    def of(self, mix: Mix) -> MixTrial:
        """What comes of *mix*: simulated once."""
        if mix not in self.known:
            self.known[mix] = self._simulated(mix)
            if self.on_progress is not None:
                self.on_progress(len(self.known))
        return self.known[mix]

    def scenario(self, mix: Mix) -> Scenario:
        """The cluster with the new nodes of *mix*, which come after all others."""
        given = self.question.scenario
        new = [item for kind, count in zip(self.kinds, mix, strict=True) for item in kind.copies(count)]
        return attrs.evolve(given, objects=(*given.objects, *new))

    @property
    def wanted(self) -> int:
        """How many pods want a node and count."""
        copies, waiting = self.question.limit or 0, len(self.question.scenario.pending)
        return copies + (waiting if self.question.pending_first or not self.question.templates else 0) - len(self.hopeless)

    def _simulated(self, mix: Mix) -> MixTrial:
        engine = self.new_engine()
        with settled():
            missing, evicted = self._copies(mix, engine) if self.question.templates else self._waiting(mix, engine)
        counted = tuple(found for found in missing if found.pod not in self.hopeless)
        return MixTrial(mix=mix, wanted=self.wanted, missing=counted, nodes=_new_nodes(engine, self.kinds, mix), evicted=evicted)

    # --- pods that wait ---------------------------------------------------------------------------------------------

    def _waiting(self, mix: Mix, engine: Engine) -> tuple[list[PodWithoutNode], Mapping[str, str]]:
        simulation = Simulation(self.scenario(mix), engine, self.question.order)
        for _ in simulation.decisions():
            pass
        outcomes = simulation.outcomes.values()
        missing = [PodWithoutNode(found.pod.key, found.error or "") for found in outcomes if found.word != "placed"]
        return missing, dict(simulation.evicted)

    # --- copies -----------------------------------------------------------------------------------------------------

    def _copies(self, mix: Mix, engine: Engine) -> tuple[list[PodWithoutNode], Mapping[str, str]]:
        counted = count_copies(attrs.evolve(self.question, scenario=self.scenario(mix)), engine)
        waiting = self.question.scenario.pending if self.question.pending_first else ()
        missing = [
            PodWithoutNode(pod.key, f"evicted to make room for {by}" if (by := counted.evicted.get(pod.key)) else NO_NODE)
            for pod in waiting if engine.pod_state(pod) is None
        ]  # fmt: skip
        lacking = self._lacking([placed.fits for placed in counted.placed])
        missing += [PodWithoutNode(pod.key, NOT_TRIED if number else counted.stop.message) for number, pod in enumerate(lacking)]
        return missing, counted.evicted

    def _lacking(self, fits: Sequence[int]) -> list[Pod]:
        """The copies that are not there: first that of the template whose turn it was."""
        seen, lacking = [0] * len(fits), []
        for at, pod in self.copies():
            seen[at] += 1
            if seen[at] > fits[at]:
                lacking.append(pod)
        return lacking

    def copies(self) -> Iterator[tuple[int, Pod]]:
        """Each copy that is wanted, with the number of its template, in the order in which they come."""
        return ((at, pod) for at, pod, _ in islice(self.question.copies(), self.question.limit or 0))


def _new_nodes(engine: Engine, kinds: Sequence[NodeKind], mix: Mix) -> tuple[NewNode, ...]:
    room = FreeRoom.of(engine)
    column = {name: at for at, name in enumerate(room.names)}
    found = []
    for kind, count in zip(kinds, mix, strict=True):
        for name in kind.names(count):
            requested, allocatable = (
                dict(zip(room.resources, amounts[:, column[name]].tolist(), strict=True)) for amounts in (room.requested, room.allocatable)
            )
            pods = int(room.requested[-1, column[name]]) - len(kind.daemons)
            found.append(NewNode(name=name, node=kind.name, pods=pods, requested=requested, allocatable=allocatable))
    return tuple(found)
