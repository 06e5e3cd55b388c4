"""From a question and kinds of nodes to the answer: which nodes to add, and what became of the pods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated

import attrs

from ...api.load import Loaded
from ...api.reading.notices import InputWarning, ResultDocument
from ...api.record import Count, Counts, Meta, Record, says
from ...api.words import count_of
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.nodekinds import NodeKind
from ...simulation.scenario import Scenario
from ..capacity.question import CapacityQuestion
from .kinds import DaemonPods, NewNodeError, kinds_of
from .search import Demand, MixesFound, MixSearch, PodShape
from .trials import MixTrial, MixTrials, NewNode, PodWithoutNode

MOST_TOLD = 10
"""How many pods without a node are listed at most."""


Mix = Annotated[Counts, says("Kind -> new nodes of it.")]


class AddedNodes(Record):
    """The new nodes of one kind."""

    node: Annotated[str, says("The name of the template, or of the node that is copied.")]
    count: Annotated[int, says("How many.", ge=1)]
    cost: Annotated[float, says("Of all nodes of the row; each counts 1 if no costs were given.")]
    cost_of_one: float


class FewerNodes(Record):
    """A simulation with one node less."""

    mix: Mix
    without_node: Annotated[Count, says("How many pods find no node.")]
    message: str


class KindNotTaken(Record):
    """A kind of node of which none is added."""

    node: Annotated[str, says("The name of the template, or of the node that is copied.")]
    cost_of_one: float
    takes: Annotated[Count, says("How many of the pods that find a node an empty one takes.")]
    why: str


class PodsWithoutNode(Record):
    """The pods that find no node: with any mix that was tried, or with the one that leaves the fewest pods."""

    count: Count
    pods: Annotated[tuple[PodWithoutNode, ...], Meta(max_length=MOST_TOLD)]


class NewNodesDocument(ResultDocument, kw_only=True):
    """Which new nodes let pods find a node, and what became of the pods."""

    KIND = "NewNodes"
    release: str
    added: Annotated[tuple[AddedNodes, ...], says("A row a kind, for the pods that find a node; empty if none is needed or enough.")]
    not_taken: Annotated[tuple[KindNotTaken, ...], says("Kinds of which none is added though others are, and why.")]
    placed: Annotated[bool, says("Whether each pod finds a node with them.")]
    with_one_fewer: Annotated[str | None, says("What happens with one node less of each kind that is added; null if none is added.")]
    cost: Annotated[float | None, says("Of all new nodes; null if no number is enough.")]
    pods: Annotated[Count, says("How many pods want a node.")]
    nodes: Annotated[tuple[NewNode, ...], says("The new nodes.")]
    one_fewer: Annotated[tuple[FewerNodes, ...], says("The simulations behind withOneFewer.")]
    without_node: PodsWithoutNode
    tried: Annotated[Mix, says("The mix of the answer; if no number is enough, the one that leaves the fewest pods.")]
    daemons: Annotated[Mapping[str, tuple[str, ...]], says("Kind -> the DaemonSets of which a new node of it has a pod.")]
    evicted: Annotated[Mapping[str, str], says("With --preemption: pod that had to leave -> the pod that took its place.")]
    most_nodes: Annotated[int, says("More nodes were not added.", ge=1)]
    simulated: Annotated[Count, says("How many mixes were simulated.")]


@attrs.frozen(kw_only=True, eq=False)
class NewNodesAnswer:
    """What was found for *kinds*."""

    release: str
    kinds: Sequence[NodeKind]
    shapes: Sequence[PodShape]
    """All pods that want a node."""
    found: MixesFound
    most_nodes: int

    @property
    def is_yes(self) -> bool:
        """Whether each pod finds a node."""
        return self.found.best.is_placed and not self.found.stuck

    @property
    def helps(self) -> bool:
        """Whether each pod finds a node but for those that found none with any mix."""
        return self.found.best.is_placed

    @property
    def wanted(self) -> int:
        """How many pods want a node, with those that found none with any mix."""
        return self.found.best.wanted + len(self.found.stuck)

    @property
    def count(self) -> int:
        """How many nodes are added."""
        return sum(self.found.best.mix)

    @property
    def cost(self) -> Decimal:
        """What they cost in all."""
        return sum((kind.cost * count for kind, count in self._counts(self.found.best)), Decimal(0))

    @property
    def without_place(self) -> list[tuple[str, str]]:
        """Pods that find no node, each with why: on an empty new node where none takes it, else what the scheduler says."""
        refused = {key: shape for shape in self.shapes if all(shape.refusals) for key in shape.keys}
        missing = (*self.found.stuck, *self.found.best.missing)
        return [(one.pod, _refused(self.kinds, refused[one.pod]) if one.pod in refused else one.message) for one in missing]

    @property
    def fewer(self) -> list[str]:
        """A sentence for each simulation with one node less."""
        return [f"{self.named(trial)}: {left(trial)}" for trial in self.found.fewer]

    @property
    def with_one_fewer(self) -> str | None:
        """These sentences in one; None if no node is added."""
        return "; ".join(self.fewer) or None

    def named(self, trial: MixTrial) -> str:
        """A mix in words: ``2 big and 1 small``."""
        told = [f"{count:,} {kind.name}" for kind, count in self._counts(trial) if count]
        return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told) or "no new node"

    def added(self) -> tuple[AddedNodes, ...]:
        """A row a kind that is needed."""
        counts = self._counts(self.found.best) if self.helps else ()
        return tuple(AddedNodes(kind.name, count, number_of(kind.cost * count), number_of(kind.cost)) for kind, count in counts if count)

    def nodes(self) -> tuple[NewNode, ...]:
        """The new nodes: the pods on each, without those of DaemonSets, and of each resource what is requested."""
        return self.found.best.nodes if self.helps else ()

    def not_taken(self) -> tuple[KindNotTaken, ...]:
        """The kinds of which none is added though others are, the cheapest first, each with why."""
        unused = [at for at, count in enumerate(self.found.best.mix) if not count] if self.added() else []
        found = (self._not_taken(at) for at in sorted(unused, key=lambda at: self.kinds[at].cost))
        return tuple(found)

    def _not_taken(self, at: int) -> KindNotTaken:
        kind = self.kinds[at]
        stuck, why = {one.pod for one in self.found.stuck}, "no mix with it that costs less was found"
        placed = [(key, shape.refusals[at]) for shape in self.shapes for key in shape.keys if key not in stuck]
        refused = [(key, told) for key, told in placed if told]
        takes = len(placed) - len(refused)
        if refused:
            first = ": ".join(refused[0])
            pods = f"{len(refused):,} of {count_of(len(placed), 'pod')}"
            why = f"an empty one does not take {pods}, first {first}" + (f"; {why}" if takes else "")
        return KindNotTaken(kind.name, number_of(kind.cost), takes, why)

    def document(self, warnings: tuple[InputWarning, ...] = ()) -> NewNodesDocument:
        """Everything."""
        found, told = self.found, self.without_place
        pods = tuple(PodWithoutNode(key, why) for key, why in told[:MOST_TOLD])
        return NewNodesDocument(
            warnings=warnings, release=self.release, added=self.added(), placed=self.is_yes, with_one_fewer=self.with_one_fewer,
            not_taken=self.not_taken(), cost=number_of(self.cost) if self.helps else None,
            pods=self.wanted, nodes=self.nodes(),
            one_fewer=tuple(FewerNodes(self._mix(trial), len(trial.missing), left(trial)) for trial in found.fewer),
            without_node=PodsWithoutNode(len(told), pods), tried=self._mix(found.best),
            daemons={kind.name: tuple(pod.key for pod in kind.daemons) for kind in self.kinds}, evicted=dict(found.best.evicted),
            most_nodes=self.most_nodes, simulated=found.simulated,
        )  # fmt: skip

    def _mix(self, trial: MixTrial) -> dict[str, int]:
        return {kind.name: count for kind, count in self._counts(trial)}

    def _counts(self, trial: MixTrial) -> list[tuple[NodeKind, int]]:
        return list(zip(self.kinds, trial.mix, strict=True))


def left(trial: MixTrial) -> str:
    """What *trial* leaves, in words: how many pods, and the first of them with the scheduler's message."""
    first = trial.missing[0] if trial.missing else None
    if first is None:
        return "all pods find a node"
    number = len(trial.missing)
    return f"{number:,} of {trial.wanted:,} pods {'finds' if number == 1 else 'find'} no node, first {first.pod}: {first.message}"


def number_of(number: Decimal) -> int | float:
    """*number* as JSON has it: whole where it is.

    >>> number_of(Decimal("2.50")), number_of(Decimal("3.0"))
    (2.5, 3)
    """
    return int(number) if number == int(number) else float(number)


def _refused(kinds: Sequence[NodeKind], shape: PodShape) -> str:
    told: dict[str, list[str]] = {}
    for kind, why in zip(kinds, shape.refusals, strict=True):
        told.setdefault(why, []).append(kind.name)
    return "; ".join(f"on an empty {' or '.join(names)}: {why}" for why, names in told.items())


# --- from a question to the answer ----------------------------------------------------------------------------------


def nodes_to_add(
    question: CapacityQuestion, scenario: Scenario, spec: SchedulerSpec, given: Sequence[str | tuple[str, Loaded]],
    costs: Mapping[str, Decimal], *, most_nodes: int | None = None, on_progress: Callable[[int], None] | None = None,
) -> NewNodesAnswer:  # fmt: skip
    """A mix of the kinds of nodes that are *given* with which the pods of *question* find a node.

    *scenario*: the whole cluster; *spec*: of the scheduler; *given*: ``like:NODE``, or what was read from where; *costs*: by the name of
    a kind. *most_nodes*: more are not added; by default as many as there are pods.
    Raises :class:`~.kinds.NewNodeError` for a number below 1, and for copies without a number of them.
    """
    kinds = kinds_of(given, scenario.objects, costs, DaemonPods(scenario, question.admits, spec.keeps_priorities))
    if question.templates and question.limit is None:
        raise NewNodeError("pods: got none, wanted the number of copies that new nodes are for")
    trials = MixTrials(question, kinds, lambda: spec.engine(scenario.config_maps), on_progress)
    copies = [pod for _, pod in trials.copies()] if question.templates else []
    waiting = question.scenario.pending if question.pending_first or not question.templates else ()
    demand, most = Demand.of(trials, [*waiting, *copies]), most_nodes or max(trials.wanted, 1)
    # Copies come in turn, and the first one without a node ends them: none of them is set aside.
    found = MixSearch(trials, demand, demand.prices, most, sets_aside=not question.templates).run()
    return NewNodesAnswer(release=spec.version, kinds=kinds, shapes=demand.shapes, found=found, most_nodes=most)
