"""From a question and kinds of nodes to the answer: which nodes to add, and what became of the pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from math import ceil
from typing import Annotated

import attrs

from ...api.controlplane import admit, expand
from ...api.load import each_once, identity_of
from ...api.meaning import ServerRules
from ...api.objects import CSINode, KubeObject, Node, Pod, of_kind
from ...api.reading import ResultDocument
from ...api.record import UNSET, Amounts, Count, Counts, Meta, Names, Positive, Record, UnsetType, replace
from ...api.words import count_of
from ...core.engine import Engine
from ...core.pods import PODS
from ...core.run import Run
from ...simulation.explain.faileddemands import spread_counts
from ...simulation.input import Input
from ...simulation.nodekinds import HOSTNAME, NodeKind
from ...simulation.nodesbyuse import FreeRoom
from ...simulation.simulate import Scenario, Simulation
from ..capacity.answer import CapacityQuestion, Counting

Kinds = Sequence[NodeKind]
Mix = tuple[int, ...]
"""How many new nodes of each kind, in the order of the kinds."""


# New nodes are searched by trial: first a mix that is enough, then as few nodes of each kind as are enough,
# then kinds swapped for others that cost less. Scheduling is not monotone: a pod that found a node can find
# none once there is a node more. So one mix says nothing about others. The mix found is enough, and with one
# node fewer of any of its kinds it is not: both were simulated. A mix that costs less can still exist.


class PodWithoutNode(Record):
    """A pod that finds no node."""

    pod: str
    message: str


class NewNode(Record):
    """A new node after the simulation."""

    name: str
    node: str
    """Its kind of node."""
    pods: Count
    """Pods on it, without those of DaemonSets and static ones."""
    requested: Amounts
    """The requests of all pods on it."""
    allocatable: Amounts


@attrs.frozen(kw_only=True, eq=False)
class MixTrial:
    """The outcome of one mix."""

    mix: Mix
    pod_count: int
    """How many pods need a node, without those that are set aside."""
    missing: tuple[PodWithoutNode, ...]
    """The counted pods that found none, in the order in which they were tried."""
    missing_aside: tuple[PodWithoutNode, ...]
    """The pods that are set aside and found none."""
    nodes: tuple[NewNode, ...]
    evicted: Mapping[str, str]
    """Evicted pod -> the pod that evicted it."""

    @property
    def is_placed(self) -> bool:
        """Whether each counted pod has a node."""
        return not self.missing

    @property
    def all_missing(self) -> tuple[PodWithoutNode, ...]:
        """The pods that found none."""
        return *self.missing_aside, *self.missing


@attrs.define(eq=False)
class MixTrials:
    """Mixes of *kinds*, tried for the pods of *question*: its copies, and the pending pods if they come first
    or alone."""

    question: CapacityQuestion
    kinds: Kinds
    new_engine: Callable[[], Engine]
    on_progress: Callable[[int], None]
    """Called after each simulation with the number of simulations."""
    hopeless: frozenset[str] = frozenset()
    """Pods that are set aside: they are tried, and do not count."""
    by_mix: dict[Mix, MixTrial] = attrs.Factory(dict)

    def leave_out(self, keys: Iterable[str]) -> None:
        """Set the pods *keys* aside: they do not count any more, in past trials either."""
        self.hopeless |= frozenset(keys)
        for mix, trial in self.by_mix.items():
            missing, aside = self._split((*trial.missing_aside, *trial.missing))
            self.by_mix[mix] = attrs.evolve(
                trial, pod_count=self.pod_count, missing=missing, missing_aside=aside
            )

    def _split(
        self, missing: Iterable[PodWithoutNode]
    ) -> tuple[tuple[PodWithoutNode, ...], tuple[PodWithoutNode, ...]]:
        """The pods of *missing* that count, and those that are set aside."""
        every = tuple(missing)
        counted = tuple(pod for pod in every if pod.pod not in self.hopeless)
        return counted, tuple(pod for pod in every if pod.pod in self.hopeless)

    def of(self, mix: Mix) -> MixTrial:
        """The outcome of *mix*, which is simulated only once."""
        if mix in self.by_mix:
            return self.by_mix[mix]
        engine = self.new_engine()
        scenario = self.scenario(mix)
        question = self.question
        if question.templates:
            missing, evicted = self._count_copies(engine, scenario)
        else:
            simulation = Simulation(scenario, engine, question.order)
            outcomes = simulation.finish().values()
            evicted = dict(simulation.evicted)
            missing = [
                PodWithoutNode(outcome.pod.key, outcome.error or "")
                for outcome in outcomes
                if outcome.word != "placed"
            ]
        counted, aside = self._split(missing)
        nodes = []
        room = FreeRoom.of(engine)
        for kind, count in zip(self.kinds, mix, strict=True):
            for name in kind.names(count):
                at = room.names.index(name)
                requested, allocatable = (
                    dict(zip(room.resources, amounts[:, at].tolist(), strict=True))
                    for amounts in (room.requested, room.allocatable)
                )
                pods = int(room.requested[-1, at]) - len(kind.daemons)
                nodes.append(NewNode(name, kind.name, pods, requested, allocatable))
        self.by_mix[mix] = MixTrial(
            mix=mix,
            pod_count=self.pod_count,
            missing=counted,
            missing_aside=aside,
            nodes=tuple(nodes),
            evicted=evicted,
        )
        self.on_progress(len(self.by_mix))
        return self.by_mix[mix]

    def scenario(self, mix: Mix) -> Scenario:
        """The cluster with the new nodes of *mix*, which come after all others."""
        scenario = self.question.scenario
        new = [item for kind, count in zip(self.kinds, mix, strict=True) for item in kind.copies(count)]
        return attrs.evolve(scenario, objects=(*scenario.objects, *new))

    @property
    def pod_count(self) -> int:
        """The number of pods that need a node and count."""
        copies = self.question.limit or 0
        waiting = len(self.question.scenario.pending)
        return (
            copies
            + (waiting if self.question.pending_first or not self.question.templates else 0)
            - len(self.hopeless)
        )

    def _count_copies(
        self, engine: Engine, scenario: Scenario
    ) -> tuple[list[PodWithoutNode], Mapping[str, str]]:
        counted = Counting(attrs.evolve(self.question, scenario=scenario), engine).count()
        waiting = self.question.scenario.pending if self.question.pending_first else ()
        missing = [
            PodWithoutNode(
                pod.key,
                f"evicted to make room for {by}" if (by := counted.evicted.get(pod.key)) else "found no node",
            )
            for pod in waiting
            if engine.pod_state(pod) is None
        ]
        # The copies without a node, the one that ended the count first.
        counts = [0] * len(counted.placed)
        reason = counted.stop.message
        for at, pod, _ in self.copies():
            counts[at] += 1
            if counts[at] > counted.placed[at].fits:
                missing.append(PodWithoutNode(pod.key, reason))
                reason = "not tried: a copy before it found no node"
        return missing, counted.evicted

    def copies(self) -> Iterator[tuple[int, Pod, Sequence[KubeObject]]]:
        """Each copy to place, with the number of its template and its new claims, in order."""
        return islice(self.question.copies(), self.question.limit or 0)


# --- the search ---------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, eq=False)
class PodShape:
    """Pods that scheduling cannot tell apart."""

    keys: Names
    requests: Mapping[str, int]
    refusals: Names
    """For each kind the reasons why an empty new node rejects such a pod; "" if it does not."""


@attrs.frozen(eq=False)
class Demand:
    """The pods of some trials; *rooms*: for each kind the free amounts of an empty new node; *prices*: for
    each kind the cost of a node."""

    shapes: Sequence[PodShape]
    rooms: Sequence[Mapping[str, int]]
    prices: Sequence[Decimal]

    @classmethod
    def of(cls, trials: MixTrials, pods: Sequence[Pod], claims: Iterable[KubeObject]) -> Demand:
        """The demand of *pods*, with new *claims*, in shapes in the order in which they first occur."""
        question = trials.question
        runs = []
        rooms = []
        others = [item for item in question.scenario.objects if not isinstance(item, Node | Pod | CSINode)]
        others += (item for template in question.templates for item in template.objects)
        others += claims
        for kind in trials.kinds:
            # A scheduler with one new node, and nothing else that takes room.
            run = Run(trials.new_engine(), details=False)
            for item in (*others, *kind.copies(1)):
                run.put(item)
            room = FreeRoom.of(run.engine)
            runs.append(run)
            rooms.append(dict(zip(room.resources, room.free[:, 0].tolist(), strict=True)))
        template_of = runs[0].engine.template_of
        grouped = dict[object, list[Pod]]()
        for pod in pods:
            grouped.setdefault(template_of(pod), []).append(pod)
        shapes = []
        for members in grouped.values():
            requests = {**template_of(members[0]).requests, PODS: 1}
            decisions = [run.ask(members[0]) for run in runs]
            refusals = tuple(
                "" if decision.host is not None else ", ".join(decision.reasons) for decision in decisions
            )
            shapes.append(
                PodShape(keys=tuple(pod.key for pod in members), requests=requests, refusals=refusals)
            )
        return cls(shapes, rooms, [kind.cost for kind in trials.kinds])

    def needed(self, keys: Collection[str], only: int | None) -> Mix:
        """An estimate of the nodes that the pods *keys* need by their requests. Each pod goes to the kind
        that is cheapest for it, or to the kind *only*."""
        counted = set(keys)
        kinds = range(len(self.rooms)) if only is None else (only,)
        requested: list[Counter[str]] = [Counter() for _ in self.rooms]
        for shape in self.shapes:
            count = sum(key in counted for key in shape.keys)
            worth = {}
            for at in kinds:
                fits = (
                    Decimal(self.rooms[at].get(name, 0)) / amount
                    for name, amount in shape.requests.items()
                    if amount
                )
                worth[at] = not shape.refusals[at], min(fits, default=Decimal(1)) / self.prices[at]
            if count and worth:
                requested[max(worth, key=worth.__getitem__)].update(
                    {name: count * amount for name, amount in shape.requests.items()}
                )
        return tuple(
            max(
                (ceil(Decimal(amount) / room[name]) for name, amount in into.items() if room.get(name)),
                default=int(bool(into)),
            )
            for into, room in zip(requested, self.rooms, strict=True)
        )


WORK = 20_000
"""How many pods all trials place together before swapping ends."""
LEAST_TRIALS = 10
MOST_TRIALS = 400
SWAPPED = 3
"""How many nodes of one kind are swapped at most for nodes of another at once."""


@attrs.frozen(kw_only=True, eq=False)
class MixesFound:
    """The results of the search."""

    best: MixTrial
    """The mix that is enough; if none is, the one that leaves the fewest pods."""
    aside_count: int = 0
    """How many pods are set aside, as no mix that was tried first is enough for all; the search is for the
    others."""
    fewer: tuple[MixTrial, ...] = ()
    """The trials with one node less of each kind that the mix has; none is enough."""
    simulated: int
    """How many mixes were simulated."""


@attrs.define(eq=False)
class MixSearch:
    """A search by *trials* for the mix that *demand* needs, of at most *most_nodes* new nodes.

    *sets_aside*: if no mix is enough for all pods, search for those that find a node in the best mix.
    """

    trials: MixTrials
    demand: Demand
    most_nodes: int
    sets_aside: bool

    def run(self) -> MixesFound:
        """The outcome of the search."""
        trials = self.trials
        mixes = [mix for mix in self._starting_mixes() if self._suffices(mix)]
        aside_count = 0
        if not mixes:
            nearest = min(
                trials.by_mix.values(), key=lambda trial: (len(trial.missing), self._key(trial.mix))
            )
            if not self.sets_aside or len(nearest.missing) == nearest.pod_count:
                return MixesFound(best=nearest, simulated=len(trials.by_mix))
            aside_count = len(nearest.missing)
            mixes = [nearest.mix]
            trials.leave_out(pod.pod for pod in nearest.missing)
        best = self._swap(min(map(self._trim, mixes), key=self._key))
        fewer = tuple(map(trials.of, _one_less(best)))
        return MixesFound(
            best=trials.of(best), aside_count=aside_count, fewer=fewer, simulated=len(trials.by_mix)
        )

    def _key(self, mix: Mix) -> tuple[Decimal, int]:
        """The cost of *mix*, and its number of nodes."""
        return sum(
            (count * price for count, price in zip(mix, self.demand.prices, strict=True)), Decimal(0)
        ), sum(mix)

    def _suffices(self, mix: Mix) -> bool:
        return self.trials.of(mix).is_placed

    # --- any mix that is enough -----------------------------------------------------------------------------

    def _starting_mixes(self) -> Iterator[Mix]:
        """Mixes that may be enough: of all kinds and of each alone, grown from the pods' requests; failing
        these, as many nodes as allowed."""
        kinds = len(self.demand.prices)
        none = (0,) * kinds
        if self._suffices(none):
            yield none
            return
        for only in (None, *(range(kinds) if kinds > 1 else ())):
            if (mix := self._grow(only)) is not None:
                yield mix
        if not any(trial.is_placed for trial in self.trials.by_mix.values()):
            share, rest = divmod(self.most_nodes, kinds)
            yield tuple(share + (at < rest) for at in range(kinds))
            yield from (
                tuple(self.most_nodes if at == only else 0 for at in range(kinds)) for only in range(kinds)
            )

    def _grow(self, only: int | None) -> Mix | None:
        """A mix that is enough, of the kind *only* or of all; None if none is found. Each step adds what the
        remaining pods need."""
        mix = (0,) * len(self.demand.prices)
        step = 1
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
            mix = grown
            step = 2 * step
        return mix

    # --- less -----------------------------------------------------------------------------------------------

    def _trim(self, mix: Mix) -> Mix:
        """*mix* with as few nodes of each kind as are enough while the others stay: by bisection, then one by
        one."""
        for at in sorted(range(len(mix)), key=lambda at: -self.demand.prices[at]):
            low = -1
            high = mix[at]  # low nodes of this kind are too few, as far as can be guessed
            while high - low > 1:
                middle = (low + high) // 2
                if self._suffices((*mix[:at], middle, *mix[at + 1 :])):
                    high = middle
                else:
                    low = middle
            mix = (*mix[:at], high, *mix[at + 1 :])
        while (less := next(filter(self._suffices, _one_less(mix)), None)) is not None:
            mix = less
        return mix

    def _swap(self, mix: Mix) -> Mix:
        """*mix* with nodes of one kind swapped for nodes of another that cost less, while the result is
        enough. Up to :data:`SWAPPED` nodes go at once, for as many as cost less together."""
        most = min(max(WORK // max(self.trials.pod_count, 1), LEAST_TRIALS), MOST_TRIALS)
        prices = self.demand.prices
        for out, count in enumerate(mix):
            for taken_out in range(1, min(count, SWAPPED) + 1):
                for into in (into for into in range(len(mix)) if into != out):
                    if len(self.trials.by_mix) >= most:
                        return mix
                    put_in = ceil(taken_out * prices[out] / prices[into]) - 1
                    changed = list(mix)
                    changed[out] -= taken_out
                    changed[into] += min(put_in, self.most_nodes - sum(mix) + taken_out)
                    if self._suffices(tuple(changed)):
                        return self._swap(self._trim(tuple(changed)))
        return mix


def _one_less(mix: Mix) -> list[Mix]:
    return [(*mix[:at], count - 1, *mix[at + 1 :]) for at, count in enumerate(mix) if count]


# --- the answer ---------------------------------------------------------------------------------------------


MOST_LISTED = 10
"""How many pods without a node are listed at most."""


class AddedNodes(Record):
    """The new nodes of one kind."""

    node: str
    """The name of the template, or of the node that is copied."""
    count: Positive
    """The number of new nodes."""
    cost: float
    """The cost of all nodes of the row; each costs 1 if no costs were given."""
    cost_of_one: float


class FewerNodes(Record):
    """A simulation with one node less."""

    mix: Counts
    """Kind -> new nodes of it."""
    without_node: Count
    """How many pods find no node."""
    message: str


class KindNotTaken(Record):
    """A kind of node of which none is added."""

    node: str
    """The name of the template, or of the node that is copied."""
    cost_of_one: float
    takes: Count
    """How many of the pods that find a node fit on an empty node of this kind."""
    why: str


class PodsWithoutNode(Record):
    """The pods that find no node with the mix to add; if none is enough, with the one that leaves the fewest
    pods."""

    count: Count
    pods: Annotated[tuple[PodWithoutNode, ...], Meta(max_length=MOST_LISTED)]


class NewNodesDocument(ResultDocument, kw_only=True):
    """The new nodes that let pods find a node, and the fates of the pods."""

    KIND = "NewNodes"
    release: str
    added: tuple[AddedNodes, ...]
    """The nodes to add for the pods that find a node, a row for each kind; empty if none is needed or
    enough."""
    not_taken: tuple[KindNotTaken, ...]
    """Kinds of which none is added although others are, and why."""
    placed: bool
    """Whether every pod finds a node with them."""
    with_one_fewer: str | None
    """The outcome with one node less of each kind that is added; null if none is added."""
    cost: float | None
    """The cost of all new nodes; null if no number is enough."""
    pods: Count
    """How many pods need a node."""
    nodes: tuple[NewNode, ...]
    """The new nodes."""
    one_fewer: tuple[FewerNodes, ...]
    """The simulations behind withOneFewer."""
    without_node: PodsWithoutNode
    tried: Counts
    """The mix of the answer; if no number is enough, the one that leaves the fewest pods."""
    daemons: Mapping[str, Names]
    """Kind -> the DaemonSets that run a pod on a new node of it, and its static pods."""
    evicted: Mapping[str, str]
    """--preemption: evicted pod -> the pod that evicted it."""
    most_nodes: Positive
    """The most new nodes that may be added."""
    simulated: Count
    """How many mixes were simulated."""
    wanted_domains: Counts | UnsetType = UNSET
    """Label that no node to add has -> pods whose hard topology spread wants room there; absent: none."""

    @property
    def fewer(self) -> list[str]:
        """A sentence for each simulation with one node less."""
        return [f"{in_words(row.mix)}: {row.message}" for row in self.one_fewer]


def in_words(mix: Mapping[str, int]) -> str:
    """A mix in words.

    >>> in_words({"big": 2, "mid": 0, "small": 1})
    '2 big and 1 small'
    """
    *first, last = [f"{count:,} {name}" for name, count in mix.items() if count] or ["no new node"]
    return " and ".join([", ".join(first), last] if first else [last])


def number_of(number: Decimal) -> int | float:
    """*number* for JSON: an int if it is whole.

    >>> number_of(Decimal("2.50")), number_of(Decimal("3.0"))
    (2.5, 3)
    """
    return int(number) if number == int(number) else float(number)


# --- from a question to the answer --------------------------------------------------------------------------


def nodes_to_add(
    question: CapacityQuestion,
    inputs: Input,
    kinds: Kinds,
    *,
    most_nodes: int | None,
    on_progress: Callable[[int], None],
) -> tuple[NewNodesDocument, dict[str, str]]:
    """A mix of *kinds* of nodes with which the pods of *question* find a node; and why the others find none,
    by pod.

    *inputs*: the whole cluster and its scheduler. *most_nodes*: the most new nodes, by default as many as
    there are pods.
    """
    scenario = inputs.scenario
    spec = inputs.spec
    kinds = [
        attrs.evolve(kind, daemons=_daemons_on(kind, scenario, defaults=question.admits, server=spec.server))
        for kind in kinds
    ]
    trials = MixTrials(question, kinds, lambda: spec.engine(scenario.config_maps), on_progress)
    copies = [*trials.copies()]
    waiting = question.scenario.pending if question.pending_first or not question.templates else ()
    pods = [*waiting, *(pod for _, pod, _ in copies)]
    demand = Demand.of(trials, pods, [claim for _, _, claims in copies for claim in claims])
    most = most_nodes or max(trials.pod_count, 1)
    # Copies come in turn, and the first one without a node ends them: none of them is set aside.
    mixes = MixSearch(trials, demand, most, sets_aside=not question.templates).run()
    unplaced = _without_place(kinds, demand.shapes, mixes)
    domains = _wanted_domains(trials, mixes) if unplaced and not question.templates else {}
    best = mixes.best
    counts = list(zip(kinds, best.mix, strict=True)) if best.is_placed else []
    added = tuple(
        AddedNodes(kind.name, count, number_of(kind.cost * count), number_of(kind.cost))
        for kind, count in counts
        if count
    )
    unused = [at for at, (_, count) in enumerate(counts) if added and not count]
    fewer = tuple(
        FewerNodes(_mix_by_name(kinds, trial), len(trial.missing), missing_text(trial))
        for trial in mixes.fewer
    )
    document = NewNodesDocument(
        warnings=(),
        release=spec.version,
        added=added,
        placed=best.is_placed and not best.missing_aside,
        with_one_fewer="; ".join(f"{in_words(row.mix)}: {row.message}" for row in fewer) or None,
        not_taken=tuple(
            _not_taken(kinds, at, demand.shapes, mixes)
            for at in sorted(unused, key=lambda at: kinds[at].cost)
        ),
        cost=number_of(sum((kind.cost * count for kind, count in counts), Decimal(0)))
        if best.is_placed
        else None,
        pods=best.pod_count + mixes.aside_count,
        nodes=best.nodes if best.is_placed else (),
        one_fewer=fewer,
        without_node=PodsWithoutNode(
            len(unplaced), tuple(PodWithoutNode(*pair) for pair in [*unplaced.items()][:MOST_LISTED])
        ),
        tried=_mix_by_name(kinds, best),
        daemons={kind.name: tuple(pod.key for pod in kind.daemons) for kind in kinds},
        evicted=dict(best.evicted),
        most_nodes=most,
        simulated=mixes.simulated,
        wanted_domains=domains or UNSET,
    )
    return document, unplaced


def _daemons_on(
    kind: NodeKind, scenario: Scenario, *, defaults: bool, server: ServerRules
) -> tuple[Pod, ...]:
    """The pods that the DaemonSets of *scenario* run on a node of *kind*, with the names of their
    DaemonSets."""
    manifests, _ = each_once(scenario.daemon_sets)
    described = {identity_of(manifest)[1:] for manifest in manifests}
    everyone = (*scenario.objects, *scenario.pending, *scenario.set_aside)
    daemons = list(kind.daemons_among(of_kind(Pod, everyone), described))
    (name,) = kind.names(1)
    node = replace(kind.node, metadata=replace(kind.node.metadata, name=name))
    for manifest in manifests:
        objects = expand([manifest], [node], strict=defaults).objects
        pods = of_kind(Pod, objects)
        for pod in admit(pods, scenario.objects, server=server).objects if defaults else pods:
            if isinstance(pod, Pod):
                daemons.append(replace(pod, metadata=replace(pod.metadata, name=identity_of(manifest)[2])))
    return tuple(sorted(daemons, key=lambda pod: pod.key))


def _wanted_domains(trials: MixTrials, mixes: MixesFound) -> dict[str, int]:
    """Emptiest domain of a hard topology spread, in which no node to add is -> pods without a node."""
    simulation = Simulation(trials.scenario(mixes.best.mix), trials.new_engine(), trials.question.order)
    outcomes = simulation.finish()
    domains = Counter[str]()
    for pod in (outcomes[missing.pod].pod for missing in mixes.best.all_missing):
        for constraint in pod.spec.topology_spread_constraints:
            single = replace(pod, spec=replace(pod.spec, topology_spread_constraints=(constraint,)))
            counts = (
                spread_counts(simulation.engine, single)
                if constraint.when_unsatisfiable == "DoNotSchedule"
                else None
            )
            node_domains = {kind.node.labels.get(constraint.topology_key) for kind in trials.kinds}
            if counts is not None and constraint.topology_key != HOSTNAME:
                emptiest = [domain for domain, count in counts.counts.items() if count == counts.least]
                domains.update(
                    f"{constraint.topology_key}={domain}"
                    for domain in emptiest
                    if not node_domains.intersection(emptiest)
                )
    return dict(domains)


def _mix_by_name(kinds: Kinds, trial: MixTrial) -> dict[str, int]:
    return {kind.name: count for kind, count in zip(kinds, trial.mix, strict=True)}


def missing_text(trial: MixTrial) -> str:
    """The pods that *trial* leaves, in words: their number, and the first with the scheduler's message."""
    if not trial.missing:
        return "all pods find a node"
    number = len(trial.missing)
    first = trial.missing[0]
    return f"{number:,} of {trial.pod_count:,} pods {'finds' if number == 1 else 'find'} no node, first {first.pod}: {first.message}"


def _not_taken(kinds: Kinds, at: int, shapes: Sequence[PodShape], mixes: MixesFound) -> KindNotTaken:
    """The kind number *at*, of which none is added though others are, with why."""
    missing = {pod.pod for pod in mixes.best.all_missing}
    reason = "no mix with it that costs less was found"
    placed = [(key, shape.refusals[at]) for shape in shapes for key in shape.keys if key not in missing]
    refused = [": ".join(pair) for pair in placed if pair[1]]
    takes = len(placed) - len(refused)
    if refused:
        pods = f"{len(refused):,} of {count_of(len(placed), 'pod')}"
        reason = f"an empty one does not take {pods}, first {refused[0]}" + (f"; {reason}" if takes else "")
    return KindNotTaken(kinds[at].name, number_of(kinds[at].cost), takes, reason)


def _without_place(kinds: Kinds, shapes: Sequence[PodShape], mixes: MixesFound) -> dict[str, str]:
    """Pods that find no node, each with why: on an empty new node where none takes it, else what the
    scheduler says."""
    refused = {key: shape for shape in shapes if all(shape.refusals) for key in shape.keys}
    unplaced = {}
    for pod in mixes.best.all_missing:
        kinds_by_reason = dict[str, list[str]]()
        for kind, reason in zip(kinds, refused[pod.pod].refusals, strict=True) if pod.pod in refused else ():
            kinds_by_reason.setdefault(reason, []).append(kind.name)
        words = "; ".join(
            f"on an empty {' or '.join(names)}: {reason}" for reason, names in kinds_by_reason.items()
        )
        unplaced[pod.pod] = words or pod.message
    return unplaced
