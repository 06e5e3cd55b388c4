"""Searches new nodes, by trial: a mix that does, with as few nodes of each kind as do, then kinds swapped for others that cost less.

Scheduling is not monotone: with a node more a pod can find no place that found one before. So nothing follows for other mixes. What is
found does, and with one node fewer of any of its kinds it does not: both were simulated. A mix that costs less can still exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from math import ceil
from typing import TypeAlias

import attrs

from ...api.garbage import settled
from ...api.objects import CSINode, KubeObject, Node, Pod
from ...api.record import Amounts, Count, Record
from ...core.engine import Engine
from ...core.pods.requests import PODS
from ...core.run import Run
from ...simulation.nodekinds import NodeKind
from ...simulation.nodesbyuse import FreeRoom
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from ..capacity.answer import Counting
from ..capacity.question import CapacityQuestion

Mix: TypeAlias = tuple[int, ...]
"""How many new nodes of each kind, in the order of the kinds."""
NOT_TRIED = "not tried: a copy before it found no node"


class PodWithoutNode(Record):
    """A pod that finds no node."""

    pod: str
    message: str


class NewNode(Record):
    """A new node after the simulation."""

    name: str
    node: str
    """Its kind."""
    pods: Count
    """Pods that wanted a node; what DaemonSets run does not count."""
    requested: Amounts
    """By all pods on it."""
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
    """Evicted pod -> the pod that evicted it."""

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
        if mix in self.known:
            return self.known[mix]
        engine, scenario, question = self.new_engine(), self.scenario(mix), self.question
        with settled():
            if question.templates:
                missing, evicted = self._copies(engine, scenario)
            else:
                simulation = Simulation(scenario, engine, question.order)
                for _ in simulation.decisions():
                    pass
                outcomes, evicted = simulation.outcomes.values(), dict(simulation.evicted)
                missing = [PodWithoutNode(found.pod.key, found.error or "") for found in outcomes if found.word != "placed"]
        counted, nodes = tuple(found for found in missing if found.pod not in self.hopeless), list[NewNode]()
        room = FreeRoom.of(engine)
        for kind, count in zip(self.kinds, mix, strict=True):
            for name in kind.names(count):
                at = room.names.index(name)
                requested, allocatable = (
                    dict(zip(room.resources, amounts[:, at].tolist(), strict=True)) for amounts in (room.requested, room.allocatable)
                )
                pods = int(room.requested[-1, at]) - len(kind.daemons)
                nodes.append(NewNode(name, kind.name, pods, requested, allocatable))
        self.known[mix] = MixTrial(mix=mix, wanted=self.wanted, missing=counted, nodes=tuple(nodes), evicted=evicted)
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

    def _copies(self, engine: Engine, scenario: Scenario) -> tuple[list[PodWithoutNode], Mapping[str, str]]:
        counted = Counting(attrs.evolve(self.question, scenario=scenario), engine).count()
        waiting = self.question.scenario.pending if self.question.pending_first else ()
        missing = [
            PodWithoutNode(pod.key, f"evicted to make room for {by}" if (by := counted.evicted.get(pod.key)) else "found no node")
            for pod in waiting if engine.pod_state(pod) is None
        ]  # fmt: skip
        # The copies that are not there: first that of the template whose turn it was.
        seen, why = [0] * len(counted.placed), counted.stop.message
        for at, pod in self.copies():
            seen[at] += 1
            if seen[at] > counted.placed[at].fits:
                missing.append(PodWithoutNode(pod.key, why))
                why = NOT_TRIED
        return missing, counted.evicted

    def copies(self) -> Iterator[tuple[int, Pod]]:
        """Each copy that is wanted, with the number of its template, in the order in which they come."""
        return ((at, pod) for at, pod, _ in islice(self.question.copies(), self.question.limit or 0))


# --- the search -------------------------------------------------------------------------------------------------------


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
        question, runs, rooms = trials.question, list[Run](), []
        others: list[KubeObject] = [item for item in question.scenario.objects if not isinstance(item, Node | Pod | CSINode)]
        others += [item for template in question.templates for item in (*template.objects, *template.copy(0)[1])]
        for kind in trials.kinds:
            # A scheduler of one new node, and nothing else that takes room.
            run = Run(trials.new_engine(), details=False)
            for item in (*others, *kind.copies(1)):
                run.put(item)
            room = FreeRoom.of(run.engine)
            runs.append(run)
            rooms.append(dict(zip(room.resources, room.free[:, 0].tolist(), strict=True)))
        template_of, grouped = runs[0].engine.template_of, dict[object, list[Pod]]()
        for pod in pods:
            grouped.setdefault(template_of(pod), []).append(pod)
        shapes = []
        for members in grouped.values():
            requests = {**template_of(members[0]).requests, PODS: 1}
            asked = [run.ask(members[0]) for run in runs]
            refusals = tuple("" if found.host is not None else ", ".join(found.reasons) for found in asked)
            shapes.append(PodShape(keys=tuple(pod.key for pod in members), requests=requests, refusals=refusals))
        return cls(shapes, rooms, [kind.cost for kind in trials.kinds])

    def needed(self, keys: Collection[str], only: int | None = None) -> Mix:
        """About how many nodes the pods *keys* need by their requests, each of the kind that is cheapest for it, or of the kind *only*."""
        wanted, kinds = set(keys), range(len(self.rooms)) if only is None else (only,)
        asked: list[Counter[str]] = [Counter() for _ in self.rooms]
        for shape in self.shapes:
            count, worth = sum(key in wanted for key in shape.keys), dict[int, tuple[bool, Decimal]]()
            for at in kinds:
                fits = (Decimal(self.rooms[at].get(name, 0)) / amount for name, amount in shape.requests.items() if amount)
                worth[at] = not shape.refusals[at], min(fits, default=Decimal(1)) / self.prices[at]
            if count and worth:
                asked[max(worth, key=worth.__getitem__)].update({name: count * amount for name, amount in shape.requests.items()})
        return tuple(
            max((ceil(Decimal(amount) / room[name]) for name, amount in into.items() if room.get(name)), default=int(bool(into)))
            for into, room in zip(asked, self.rooms, strict=True)
        )


WORK = 20_000
"""How many pods are placed in all before nothing is swapped any more."""
LEAST_TRIALS, MOST_TRIALS = 10, 400
SWAPPED = 3
"""That many nodes of a kind are swapped for nodes of another at once."""


@attrs.frozen(kw_only=True, eq=False)
class MixesFound:
    """What the search has found."""

    best: MixTrial
    """The mix that does; if none does the one with which fewest pods were left."""
    stuck: tuple[PodWithoutNode, ...] = ()
    """Pods that found no node with any mix that was tried: the search is for the others."""
    fewer: tuple[MixTrial, ...] = ()
    """With one node less of each kind that the mix has: none of them does."""
    simulated: int = 0
    """How many mixes were simulated."""


@attrs.define(eq=False)
class MixSearch:
    """Searches among *trials* for the mix that *demand* needs, of at most *most_nodes* new nodes.

    *sets_aside*: where no mix does for all pods, look for one that does for those that find a node in the best of them.
    """

    trials: MixTrials
    demand: Demand
    most_nodes: int
    sets_aside: bool = False

    def run(self) -> MixesFound:
        """Search."""
        found, stuck = [mix for mix in self._starts() if self._does(mix)], tuple[PodWithoutNode, ...]()
        if not found:
            tried = min(self.trials.known.values(), key=lambda trial: (len(trial.missing), self._key(trial.mix)))
            if not self.sets_aside or len(tried.missing) == tried.wanted:
                return MixesFound(best=tried, simulated=len(self.trials.known))
            stuck, found = tried.missing, [tried.mix]
            self.trials.leave_out(one.pod for one in stuck)
        best = self._swapped(min(map(self._trimmed, found), key=self._key))
        fewer = tuple(map(self.trials.of, _one_less(best)))
        return MixesFound(best=self.trials.of(best), stuck=stuck, fewer=fewer, simulated=len(self.trials.known))

    def _key(self, mix: Mix) -> tuple[Decimal, int]:
        """What *mix* costs, and how many nodes it has."""
        return sum((count * price for count, price in zip(mix, self.demand.prices, strict=True)), Decimal(0)), sum(mix)

    def _does(self, mix: Mix) -> bool:
        return self.trials.of(mix).is_placed

    # --- any mix that does ------------------------------------------------------------------------------------------

    def _starts(self) -> Iterator[Mix]:
        """Mixes that may do: of all kinds and of each alone, from what pods request on; then as many nodes as allowed."""
        kinds = len(self.demand.prices)
        none = (0,) * kinds
        if self._does(none):
            yield none
            return
        for only in (None, *(range(kinds) if kinds > 1 else ())):
            if (mix := self._grown(only)) is not None:
                yield mix
        if not any(trial.is_placed for trial in self.trials.known.values()):
            share, rest = divmod(self.most_nodes, kinds)
            yield tuple(share + (at < rest) for at in range(kinds))
            yield from (tuple(self.most_nodes if at == only else 0 for at in range(kinds)) for only in range(kinds))

    def _grown(self, only: int | None) -> Mix | None:
        """A mix that does, of the kind *only* or of all, to which what the pods need that are left is added step by step."""
        mix, step = (0,) * len(self.demand.prices), 1
        while not (trial := self.trials.of(mix)).is_placed:
            more = self.demand.needed([missing.pod for missing in trial.missing], only)
            if not any(more):
                return None
            times = max(Decimal(1), Decimal(step) / sum(more))
            grown = tuple(count + ceil(added * times) for count, added in zip(mix, more, strict=True))
            if sum(grown) > self.most_nodes:
                grown = tuple(count * self.most_nodes // sum(grown) for count in grown)
            if sum(grown) <= sum(mix):
                return None
            mix, step = grown, 2 * step
        return mix

    # --- less ---------------------------------------------------------------------------------------------------------

    def _trimmed(self, mix: Mix) -> Mix:
        """*mix* with as few nodes of each kind as do while the others stay: by halves, then one by one."""
        for at in sorted(range(len(mix)), key=lambda at: -self.demand.prices[at]):
            low, high = -1, mix[at]  # low nodes of this kind are too few, as far as can be guessed
            while high - low > 1:
                middle = (low + high) // 2
                if self._does((*mix[:at], middle, *mix[at + 1 :])):
                    high = middle
                else:
                    low = middle
            mix = (*mix[:at], high, *mix[at + 1 :])
        while (less := next(filter(self._does, _one_less(mix)), None)) is not None:
            mix = less
        return mix

    def _swapped(self, mix: Mix) -> Mix:
        """*mix* with some nodes of one kind swapped for nodes of another that cost less, as long as that does."""
        most = min(max(WORK // max(self.trials.wanted, 1), LEAST_TRIALS), MOST_TRIALS)
        for other in self._swaps(mix):
            if len(self.trials.known) >= most:
                break
            if self._does(other):
                return self._swapped(self._trimmed(other))
        return mix

    def _swaps(self, mix: Mix) -> Iterator[Mix]:
        """Mixes with up to :data:`SWAPPED` nodes of a kind less and as many of another more as cost less than these."""
        prices = self.demand.prices
        for out, count in enumerate(mix):
            for gone in range(1, min(count, SWAPPED) + 1):
                for into in (into for into in range(len(mix)) if into != out):
                    come = ceil(gone * prices[out] / prices[into]) - 1
                    changed = list(mix)
                    changed[out], changed[into] = count - gone, mix[into] + min(come, self.most_nodes - sum(mix) + gone)
                    yield tuple(changed)


def _one_less(mix: Mix) -> list[Mix]:
    return [(*mix[:at], count - 1, *mix[at + 1 :]) for at, count in enumerate(mix) if count]
