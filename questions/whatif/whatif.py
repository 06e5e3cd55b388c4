"""The search for changes that help a pod: every family is tried, and results come in the order of how much
they disturb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice, takewhile

import attrs

from ...algorithmprovider.gates import keeps_priorities
from ...api.objects import Node, Pod
from ...api.record import replace
from ...core.decision import Decision
from ...core.run import Run
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.edits import Edits, applied
from ...simulation.explain.explain import Subject, begun_without_node, explain, freed, missing_in
from ...simulation.explain.values import Explanation, ExplanationDocument
from ...simulation.fieldchanges import EditError
from ...simulation.input import SILENT, Observer
from ...simulation.simulate import Scenario, Simulation
from .families import (
    FAMILIES,
    WANTED_FAMILIES,
    Family,
    corrected,
    dropped_gates,
    higher_priority,
    leaving,
    moved_or_deleted,
)
from .suggestion import DISTURBS, Change, Effect, Helpful, Suggestion, WhatIfContext

FIRSTS = 4
"""How many changes of the pod are tried as the first one."""
SECONDS = 10
"""How many changes of a kind are tried after it."""
SHOWN = 3
"""How many suggestions of a kind there are, unless all are asked for."""
TRIALS = 100
"""How many changes of a kind are tried, unless all are asked for: those of the nodes that are the nearest to
fitting."""


# --- from the beginning -------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Start:
    """A scheduler that knows the cluster, before any pod is tried: whatever is done then is taken back."""

    simulation: Simulation
    run: Run
    pods: Mapping[str, Sequence[Pod]]
    """Node -> its pods, in order."""
    pause: Callable[[], object] = SILENT.pause

    @classmethod
    def of(cls, simulation: Simulation, pod: Pod, pause: Callable[[], object] = SILENT.pause) -> Start:
        """A new *simulation*, without *pod* if it is on a node."""
        run = begun_without_node(simulation, pod)
        return cls(simulation, run, run.engine.pods_by_node(), pause)

    @contextmanager
    def trying(self) -> Iterator[Run]:
        """A context in which the run goes on."""
        self.run.take_ended()
        try:
            with self.run.savepoint():
                yield self.run
        finally:
            engine = self.run.engine
            feed = self.run.feed
            outer = engine.point
            engine.point = None  # all is as at the start then: there is nothing to undo
            for name, there in engine.pods_by_node().items():
                # Taking back leaves pods in another order than they came; of equal ones the first in order is
                # evicted.
                if [pod.key for pod in there] != [pod.key for pod in self.pods.get(name, ())]:
                    for pod in there:
                        feed.delete(pod)
                    feed.put_all(self.pods[name])
            engine.point = outer

    def whole(self, edits: Edits) -> Simulation:
        """All pods that wait, each at its turn, after *edits* that are made before anything runs. Raises
        :class:`EditError`."""
        given = self.simulation
        objects = (*given.scenario.objects, *given.scenario.pending)
        pairs, _ = edits.pairs(objects, priorities=keeps_priorities(given.engine.gates))
        there = []
        waiting = []
        for item in applied(objects, pairs):
            if isinstance(item, Pod) and not item.spec.node_name:
                waiting.append(item)
            else:
                there.append(item)
        scenario = attrs.evolve(given.scenario, objects=tuple(there), pending=tuple(waiting))
        with self.trying() as run, run.edited(pairs):
            simulation = Simulation(scenario, given.engine, given.order, run=run)
            for _ in simulation.decisions():
                self.pause()
        return simulation


# --- one pod ------------------------------------------------------------------------------------------------


@attrs.frozen
class ScheduledPod:
    """A pod in a scenario, how it is scheduled, and what is wanted for it."""

    scenario: Scenario
    spec: SchedulerSpec
    subject: Subject
    order: str = "input"
    alone: bool = False
    """The pods that come before are not scheduled first."""
    want: str | None = None
    every: bool = False
    """Nothing is left out: each change is tried, and all that help are listed."""
    defaults: bool = True
    observer: Observer = SILENT

    @contextmanager
    def turn(self, start: Start, pod: Pod) -> Iterator[WhatIfContext]:
        """A context at the moment when it is the turn of *pod*."""
        with start.trying() as run:
            others = (
                ()
                if self.alone or pod.spec.node_name
                else takewhile(lambda one: one.key != pod.key, start.simulation.pods())
            )
            for other in others:
                self.observer.pause()
                run.cycle(other)
            asked = freed(pod) if pod.spec.node_name else pod
            engine = run.engine
            there = {one.key: one for one in (*self.scenario.pending, asked, *engine.pods())}
            rest = (
                run.feed.listed(item) or item
                for item in self.scenario.objects
                if not isinstance(item, Node | Pod)
            )
            objects = (*engine.nodes(), *there.values(), *rest)
            priorities = keeps_priorities(engine.gates)
            yield WhatIfContext(
                run, asked, objects, self.defaults, priorities, self.want, pause=self.observer.pause
            )


Found = tuple[Explanation, tuple[Suggestion, ...], int]
"""The decision before any change, with a wanted node all about that one; what helps, and how many decisions
were asked for."""


def what_would_help(asked: ScheduledPod, simulation: Simulation, tell: Callable[[str], None]) -> Found:
    """The changes that would help the pod; *simulation* is a new one of *asked*. *tell* is called with each
    family of changes before it is tried.

    The observer learns of each change that helps as soon as it is found, before it is known what it does to
    the other pods. Raises :class:`~kubeclassic.exceptions.UnknownNameError` if there is no such node as the
    wanted one.
    """
    pod = asked.subject.pod
    question = asked.subject.question(asked.spec.scheduler_names)
    if question["ignored"] is not None:
        return Explanation.of(Decision(pod), simulation.engine.release.version, **question), (), 0
    start = Start.of(simulation, pod, asked.observer.pause)
    with asked.turn(start, pod) as context:
        explanation = explain(context.engine, context.pod, node=asked.want).told(**question)
        explanation = explanation.told(missing=missing_in(asked.scenario, explanation))
        host = explanation.decision.host
        if explanation.answer.missing or (host is not None and asked.want in (None, host)):
            return explanation, (), 0
        context.reports = explanation.answer.nodes
        found = []

        def take(helpful: Iterable[Helpful]) -> None:
            for one in helpful:
                asked.observer.found(one.suggestion)
                found.append(one)

        take(_suggestions(asked, context, explanation.answer, tell))
        take(_pairs(context, tuple(found), tell))
    tell("the other pods")
    once: dict[frozenset[str], Helpful] = {}
    for one in sorted(found, key=lambda one: one.rank):
        once.setdefault(frozenset(one.suggestion.patch), one)
    seen = list(once.values())
    is_alone = all(other.key == pod.key for other in asked.scenario.pending)
    if seen and not (is_alone or asked.alone or pod.spec.node_name):
        before = start.whole(Edits())
        seen = sorted((_in_whole_run(asked, one, before, start) for one in seen), key=lambda one: one.rank)
    return explanation, tuple(one.suggestion for one in seen), context.tried


def _suggestions(
    asked: ScheduledPod, context: WhatIfContext, found: ExplanationDocument, tell: Callable[[str], None]
) -> Iterator[Helpful]:
    """The suggestions of each family, the smallest changes first."""
    most, trials = (None, None) if asked.every else (SHOWN, TRIALS)
    if found.gated:
        yield from smallest_first(context, dropped_gates, trials, most)
        return
    for word, family in (*(WANTED_FAMILIES if asked.want is not None else ()), *FAMILIES):
        tell(word)
        yield from smallest_first(context, family, trials, most)
    tell("other pods")
    others = (moved_or_deleted(context, *one, place) for place, one in enumerate(leaving(context)[:trials]))
    yield from islice((one for one in others if one is not None), most)
    if found.room is None or asked.want is not None:
        yield from smallest_first(context, higher_priority, trials, 1)


def smallest_first(
    context: WhatIfContext, family: Family, trials: int | None, most: int | None
) -> Iterator[Helpful]:
    """Up to *most* changes of a *family* that help, of its first ones as many as *trials* says."""
    changes = sorted(islice(family(context), trials), key=lambda change: (change.disturbs, change.size))
    return islice((one for change in changes if (one := context.helpful(change)) is not None), most)


# --- two changes together -----------------------------------------------------------------------------------


def _pairs(
    context: WhatIfContext, found: Sequence[Helpful], tell: Callable[[str], None]
) -> Iterator[Helpful]:
    """Two changes together, where no single one helps, or where putting names right is not all."""
    families = [family for _, family in FAMILIES]
    wrong = [] if any(one.change.corrects for one in found) else list(islice(corrected(context), 1))
    of_the_pod = (
        (change for change in family(context) if change.disturbs < DISTURBS["uncordon"])
        for family in families
    )
    if found:
        firsts = wrong
    else:
        firsts = list(islice(chain.from_iterable(islice(changes, 1) for changes in of_the_pod), FIRSTS))
    if firsts:
        tell("two changes together")
    yield from islice(chain.from_iterable(together(context, first, families) for first in firsts), SHOWN)


def together(context: WhatIfContext, first: Change, families: Sequence[Family]) -> Iterator[Helpful]:
    """Pairs that help: *first*, which is about the pod itself, and the smallest second one of each of
    *families*."""
    helpful: list[Helpful] = []
    try:
        with context.after(*first.edits) as after:
            after.reports = explain(context.engine, after.pod, node=context.want).answer.nodes
            for family in families:
                helpful += smallest_first(after, family, SECONDS, 1)
    except EditError:
        return
    context.tried += after.tried
    for found in helpful:
        second = found.change
        kind = max(first.kind, second.kind, key=lambda kind: DISTURBS[kind])
        corrects = first.corrects and DISTURBS[kind] < DISTURBS["uncordon"]
        words = f"{first.words}; and {second.words}"
        edits = (*first.edits, *second.edits)
        both = attrs.evolve(second, kind=kind, words=words, edits=edits, corrects=corrects)
        yield Helpful.of(both, found.suggestion.host, found.suggestion.victims)


# --- all pods -----------------------------------------------------------------------------------------------


def _in_whole_run(asked: ScheduledPod, one: Helpful, before: Simulation, start: Start) -> Helpful:
    """The pods that make room or take the pod's place, the fates of the others, and how many pods of a
    workload find a node."""
    pod = asked.subject.pod
    simulation = start.whole(Edits.parse(one.change.edits, defaults=asked.defaults))
    outcomes = simulation.outcomes
    there = before.outcomes
    was_out, is_out = (
        # The pods without a node at the end, and whether each was evicted.
        {
            **dict.fromkeys(run.evicted, True),
            **{key: end.eviction is not None for key, end in run.outcomes.items() if end.host is None},
        }
        for run in (before, simulation)
    )
    owner = pod.metadata.controller
    own = {
        pod.key,
        *(key for key, end in there.items() if owner is not None and end.pod.metadata.controller == owner),
    }
    lost = [key for key in is_out if key not in was_out and key != pod.key]
    effect = Effect(
        len(there),
        sum(key not in is_out for key in there),
        sum(key not in was_out for key in there),
        tuple(key for key in lost if not is_out[key]),
        tuple(key for key in lost if is_out[key]),
        tuple(key for key in was_out if key not in is_out and key not in own),
    )
    after = outcomes[pod.key]
    suggestion = replace(one.suggestion, effect=effect)
    if after.eviction is not None:
        suggestion = replace(suggestion, evicted_by=after.eviction.by)
    elif after.host is None:
        earlier = takewhile(lambda key: key != pod.key, outcomes)
        took = (key for key in earlier if outcomes[key].host == suggestion.host != there[key].host)
        suggestion = replace(suggestion, taken_by=next(took, ""))
    elif asked.want is None:
        suggestion = replace(suggestion, host=after.host)
    if not asked.subject.waiting:
        return attrs.evolve(one, suggestion=suggestion)
    gone = {
        key
        for key, found in outcomes.items()
        if found.word not in ("placed", "waiting") and not found.has_successor
    }
    placed = len({other.key for other in asked.subject.pods} - gone)
    is_enough = placed == len(asked.subject.pods)
    return attrs.evolve(one, suggestion=replace(suggestion, placed=placed), is_enough=is_enough)
