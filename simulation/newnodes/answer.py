"""From a question and kinds of nodes to the answer: which nodes to add, what became of the pods, and what was proven."""

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
from ..capacity.question import CapacityQuestion
from ..scenario import Scenario
from .demand import Demand, PodShape, Shapes, never_placed
from .kinds import DaemonPods, NewNodeError, NodeKind, kinds_of
from .search import MixesFound, MixSearch, whole_prices
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
    takes: Annotated[Count, says("How many of the pods that can be placed an empty one may take.")]
    why: str


class PodsWithoutNode(Record):
    """The pods that find no node: those that never can, then those that find none with any number, or with the mix that was tried last."""

    count: Count
    never: Annotated[Count, says("How many of them can never be placed, whatever number of these nodes is added.")]
    pods: Annotated[tuple[PodWithoutNode, ...], Meta(max_length=MOST_TOLD)]


class NewNodesDocument(ResultDocument, kw_only=True):
    """Which new nodes are needed so that pods find a node, what became of the pods, and what was proven."""

    KIND = "NewNodes"
    release: str
    added: Annotated[tuple[AddedNodes, ...], says("A row a kind, for the pods that can be placed; empty if none is needed or enough.")]
    not_taken: Annotated[tuple[KindNotTaken, ...], says("Kinds of which none is added though others are, and why.")]
    placed: Annotated[bool, says("Whether each pod finds a node with them.")]
    with_one_fewer: Annotated[str | None, says("What happens with one node less of each kind that is added; null if none is added.")]
    cost: Annotated[float | None, says("Of all new nodes; null if no number is enough.")]
    lower_bound: Annotated[float | None, says("No mix that costs less does: each was simulated, or has too little room.")]
    cheapest: Annotated[bool, says("That holds for every mix that costs less than this one, or as much with fewer nodes.")]
    none_from: Annotated[
        int | None, says("Of one kind: from this number of nodes up to one less than the answer, each was simulated, and none does.")
    ]
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
    """What was found for *kinds*; *scale*: whole prices of the search for one of cost."""

    release: str
    kinds: Sequence[NodeKind]
    shapes: Sequence[PodShape]
    """The pods that can be placed."""
    found: MixesFound
    scale: int
    most_nodes: int

    @property
    def is_yes(self) -> bool:
        """Whether each pod finds a node."""
        return self.found.is_placed and not self.found.never and not self.found.stuck

    @property
    def helps(self) -> bool:
        """Whether each pod that can be placed finds a node, and there is one, or no pod wants one."""
        return self.found.is_placed and (self.found.best.wanted > 0 or not self.found.never)

    @property
    def hopeless(self) -> int:
        """How many pods can never be placed."""
        return sum(shape.count for shape in self.found.never)

    @property
    def wanted(self) -> int:
        """How many pods want a node, with those that can never be placed."""
        return self.found.best.wanted + self.hopeless + len(self.found.stuck)

    @property
    def count(self) -> int:
        """How many nodes are added."""
        return sum(self.found.best.mix)

    @property
    def cost(self) -> Decimal:
        """What they cost in all."""
        return sum((kind.cost * count for kind, count in self._counts(self.found.best)), Decimal(0))

    @property
    def bound(self) -> Decimal:
        """What any mix costs at least that can do."""
        return Decimal(self.found.bound) / self.scale

    @property
    def without_place(self) -> list[tuple[str, str]]:
        """Pods that find no node, each with why: those that never can, then those that the best mix leaves."""
        never = [(key, _never(self.kinds, shape.refusals)) for shape in self.found.never for key in shape.keys]
        return [*never, *((missing.pod, missing.message) for missing in (*self.found.stuck, *self.found.best.missing))]

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
        takes = sum(shape.count for shape in self.shapes if shape.most[at])
        refused = [shape for shape in self.shapes if not shape.most[at]]
        why = "no mix with it that costs less does" if self.found.is_proven else "no mix with it that costs less was found"
        if refused:
            first = f"{refused[0].keys[0]}: {refused[0].refusals[at]}"
            pods = f"{sum(shape.count for shape in refused):,} of {count_of(self.found.best.wanted, 'pod')}"
            why = f"an empty one does not take {pods}, first {first}" + (f"; {why}" if takes else "")
        return KindNotTaken(kind.name, number_of(kind.cost), takes, why)

    def document(self, warnings: tuple[InputWarning, ...] = ()) -> NewNodesDocument:
        """Everything."""
        found, told = self.found, self.without_place
        pods = tuple(PodWithoutNode(key, why) for key, why in told[:MOST_TOLD])
        return NewNodesDocument(
            warnings=warnings, release=self.release, added=self.added(), placed=self.is_yes, with_one_fewer=self.with_one_fewer,
            not_taken=self.not_taken(), cost=number_of(self.cost) if self.helps else None,
            lower_bound=number_of(self.bound) if self.helps else None, cheapest=found.is_proven and self.helps,
            none_from=found.none_from, pods=self.wanted, nodes=self.nodes(),
            one_fewer=tuple(FewerNodes(self._mix(trial), len(trial.missing), left(trial)) for trial in found.fewer),
            without_node=PodsWithoutNode(len(told), self.hopeless, pods), tried=self._mix(found.best),
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


def _never(kinds: Sequence[NodeKind], refusals: Sequence[str]) -> str:
    told: dict[str, list[str]] = {}
    for kind, why in zip(kinds, refusals, strict=True):
        told.setdefault(why, []).append(kind.name)
    return "; ".join(f"on an empty {' or '.join(names)}: {why}" for why, names in told.items())


# --- from a question to the answer ----------------------------------------------------------------------------------


WORK = 20_000
"""How many pods the simulations of the proof place in all, if it is not given how many simulations it may take."""
LEAST_TRIALS, MOST_TRIALS = 10, 400


def fewest_nodes(
    question: CapacityQuestion, scenario: Scenario, spec: SchedulerSpec, given: Sequence[str | tuple[str, Loaded]],
    costs: Mapping[str, Decimal], *, most_nodes: int | None = None, most_trials: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> NewNodesAnswer:  # fmt: skip
    """The cheapest mix of the kinds of nodes that are *given* with which each pod of *question* finds a node that can find one.

    *scenario*: the whole cluster; *spec*: of the scheduler; *given*: ``like:NODE``, or what was read from where; *costs*: by the name of
    a kind. *most_nodes*: more are not added; by default as many as there are pods. *most_trials*: how many simulations the proof may take.
    Raises :class:`~.kinds.NewNodeError` for numbers below 1, and for copies without a number of them.
    """
    kinds = kinds_of(given, scenario.objects, costs, DaemonPods(scenario, question.admits, spec.keeps_priorities))
    for name, number in (("most-nodes", most_nodes), ("most-trials", most_trials)):
        if number is not None and number < 1:
            raise NewNodeError(f"{name}: got {number}, wanted 1 or more")
    if question.templates and question.limit is None:
        raise NewNodeError("pods: got none, wanted the number of copies that new nodes are for")
    trials = MixTrials(question, kinds, lambda: spec.engine(scenario.config_maps), on_progress)
    sorting = Shapes(trials)
    copies = [pod for _, pod in trials.copies()] if question.templates else []
    waiting = question.scenario.pending if question.pending_first or not question.templates else ()
    shapes = sorting.of([*waiting, *copies])
    demand = Demand(sorting, shapes, spec.preemption)
    prices, scale = whole_prices([kind.cost for kind in kinds])
    never = never_placed(shapes, demand)
    if never:
        trials.leave_out(key for shape in never for key in shape.keys)
        shapes = [shape for shape in shapes if shape not in never]
        demand = Demand(sorting, shapes, spec.preemption)
    most = most_nodes or max(trials.wanted, 1)
    budget = most_trials or min(max(WORK // max(trials.wanted, 1), LEAST_TRIALS), MOST_TRIALS)
    found = MixSearch(trials, shapes, demand, prices, most, budget).run()
    stuck = [] if question.templates or most_nodes is not None else _stuck(found, shapes)
    if stuck:
        trials.leave_out(key for shape in stuck for key in shape.keys)
        rest = [shape for shape in shapes if shape not in stuck]
        demand = Demand(sorting, rest, spec.preemption)
        again = MixSearch(trials, rest, demand, prices, most, budget).run()
        if again.is_placed:
            found, shapes = attrs.evolve(again, stuck=found.best.missing, simulated=found.simulated + again.simulated), rest
    found = attrs.evolve(found, never=tuple(never))
    return NewNodesAnswer(release=spec.version, kinds=kinds, shapes=shapes, found=found, scale=scale, most_nodes=most)


def _stuck(found: MixesFound, shapes: Sequence[PodShape]) -> list[PodShape]:
    """The shapes whose pods all stay without a node whatever number is added, where others find one; none if all pods find one."""
    missing = {one.pod for one in found.best.missing}
    stuck = [shape for shape in shapes if missing.issuperset(shape.keys)]
    everyone = sum(shape.count for shape in stuck) == len(missing) and len(stuck) < len(shapes)
    return stuck if everyone else []
