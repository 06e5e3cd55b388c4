"""What would help a pod: every family of changes is tried, and what helps comes in the order of how much it disturbs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice, takewhile
from typing import Annotated, ClassVar

import attrs

from ...algorithmprovider.gates import keeps_priorities
from ...api.objects import Pod
from ...api.reading.notices import InputWarning, ResultDocument
from ...api.record import UNSET, Count, Names, Record, replace, says
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ...simulation.explain.explain import explain, missing_in, turn_of
from ...simulation.explain.explanation import (
    Explanation,
    Ignored,
    Missing,
    PlacedOn,
    PodQuestion,
    WaitingNodes,
    Workload,
    WorkloadPods,
    WorkloadWaiting,
)
from ...simulation.explain.faileddemands import FailedDemand
from ...simulation.explain.values import CloseUp, Lead, RequestedResource
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from . import corrections, nodechanges, podchanges
from .configurations import Configurations
from .context import DISTURBS, Effect, Helpful, SpecPatcher, Suggestion, WhatIfChange, WhatIfContext, changed_scenario

FIRSTS = 4
"""How many changes of the pod are tried as the first one."""
SECONDS = 10
"""How many changes of a kind are tried after it."""
Family = Callable[[WhatIfContext], Iterator[WhatIfChange]]


def together(context: WhatIfContext, firsts: Sequence[WhatIfChange], families: Sequence[Family]) -> Iterator[Helpful]:
    """Pairs that help: one of *firsts*, which are about the pod itself, and the smallest second one of each of *families*."""
    for first in firsts:
        if first.pod is None:
            continue
        with context.changed(first):
            reports = explain(context.engine, first.pod, node=context.want).nodes
            after = attrs.evolve(context, pod=first.pod, siblings=first.replicas or context.siblings, reports=reports)
            helpful = [found for family in families if (found := _second(after, family)) is not None]
        yield from (_both(first, found) for found in helpful)
        context.tried = after.tried


def _second(after: WhatIfContext, family: Family) -> Helpful | None:
    """The smallest change of *family* that helps."""
    changes = sorted(islice(family(after), SECONDS), key=lambda change: (change.disturbs, change.size))
    return next((one for change in changes if (one := after.helpful(change)) is not None), None)


def of_the_pod(context: WhatIfContext, families: Sequence[Family]) -> Iterator[WhatIfChange]:
    """The first change of the pod alone of each family."""
    for family in families:
        changes = (change for change in family(context) if change.pod is not None and not (change.nodes or change.pods or change.gone))
        yield from islice(changes, 1)


def _both(first: WhatIfChange, found: Helpful) -> Helpful:
    second = found.change
    kind = max(first.kind, second.kind, key=lambda kind: DISTURBS[kind])
    change = attrs.evolve(
        second, kind=kind, words=f"{first.words}; and {second.words}", patch=(*first.patch, *second.patch), pod=second.pod or first.pod,
        replicas=second.replicas or first.replicas,
        corrects=first.corrects and DISTURBS[kind] < DISTURBS["uncordon"],
    )  # fmt: skip
    return Helpful.of(change, found.suggestion.host, found.suggestion.victims)


# --- one pod --------------------------------------------------------------------------------------------------------


SHOWN = 3
"""How many suggestions of a kind there are, unless all are asked for."""
TRIALS = 100
"""How many changes of a kind are tried, unless all are asked for: those of the nodes that are the nearest to fitting."""
FAMILIES: tuple[tuple[str, Family], ...] = (
    ("names that nothing has", corrections.corrected),
    ("scheduling gates", podchanges.dropped_gates), ("requests", podchanges.lowered_requests), ("tolerations", podchanges.tolerations),
    ("node selectors", podchanges.dropped_node_selectors), ("node affinity", podchanges.dropped_node_affinity),
    ("spread", podchanges.looser_spread), ("affinity", podchanges.dropped_pod_affinity), ("host ports", podchanges.dropped_ports),
    ("cordons", nodechanges.uncordoned), ("taints", nodechanges.untainted),
    ("allocatable", nodechanges.raised), ("devices", nodechanges.more_devices), ("affinity of others", podchanges.without_anti_affinity),
    ("labels", nodechanges.labelled), ("new nodes", nodechanges.one_more),
)  # fmt: skip
"""The families of changes that are tried on the cluster as it is, in words."""
WANTED_FAMILIES: tuple[tuple[str, Family], ...] = (
    ("hostname", nodechanges.selecting), ("preferences", nodechanges.preferring), ("own preferences", nodechanges.dropped_preferences),
    ("taints that put off", nodechanges.avoided),
)  # fmt: skip
"""Those that make one node win among the nodes that fit."""


@attrs.frozen
class ScheduledPod:
    """A pod in a scenario, and how it is scheduled."""

    scenario: Scenario
    spec: SchedulerSpec
    question: PodQuestion
    order: str = "input"
    alone: bool = False
    """The pods that come before are not scheduled first."""
    want: str | None = None
    every: bool = False
    """Nothing is left out: each change is tried, and all that help are listed."""
    defaults: bool = True

    def context(self, simulation: Simulation, pod: Pod) -> WhatIfContext:
        """The moment when it is the turn of *pod* in a new *simulation*."""
        run, pod = turn_of(simulation, pod, alone=self.alone)
        classes = tuple(item for item in self.scenario.objects if item.kind == "PriorityClass")
        siblings, name = self._siblings(run.engine, pod)
        patcher = SpecPatcher(self.defaults, classes, keeps_priorities(run.engine.gates))
        return WhatIfContext(run, pod, patcher, siblings=siblings, replicas_name=name, begun=simulation)

    def _siblings(self, engine: Engine, pod: Pod) -> tuple[tuple[Pod, ...], str]:
        """The other pods of the controller of *pod*, and a pattern that means it and them alone; empty: there is none."""
        owner = pod.metadata.controller
        if owner is None:
            return (), ""
        there = {one.key: one for one in (*self.scenario.pending, *engine.pods())}
        there.pop(pod.key, None)
        found = tuple(one for one in there.values() if one.namespace == pod.namespace and one.metadata.controller == owner)
        name = f"{pod.namespace}/{owner.name}-*"
        means = {key for key in (pod.key, *there) if fnmatchcase(key, name)}
        return found, name if means == {pod.key, *(one.key for one in found)} else ""

    def simulation(self, spec: SchedulerSpec) -> Simulation:
        """A new simulation of the scenario by a scheduler of *spec*."""
        return Simulation(self.scenario, spec.engine(self.config_maps), self.order)

    @property
    def config_maps(self) -> ConfigMaps:
        """The ConfigMaps of the scenario, one of which may hold the Policy."""
        return self.scenario.config_maps


class Keeps(Record):
    """What keeps a pod from a node."""

    fits: bool
    reasons: Annotated[Names, says("Why the node does not fit.")]
    short: tuple[RequestedResource, ...]
    total: Annotated[int | None, says("The node's weighted sum, or the one that it would have.")]
    against: Annotated[str | None, says("The node that the pod gets.")]
    leads: Annotated[tuple[Lead, ...], says("How the wanted node's scores differ from those of that one.")]

    @classmethod
    def of(cls, close: CloseUp) -> Keeps:
        """What *close* says of it."""
        short = tuple(room for room in close.room if room.missing and not close.fits)
        return cls(close.fits, close.reasons, short, close.total, close.against, close.leads)


class WhatIfDocument(ResultDocument, kw_only=True):
    """The smallest changes after which a pod gets a node, those that disturb least first; two together where no single one helps.

    Resources are in millicores, bytes or pieces.
    """

    KIND: ClassVar[str] = "WhatIf"
    pod: Annotated[str, says("namespace/name")]
    host: Annotated[str | None, says("The node that the pod gets without any change.")]
    error: Annotated[str | None, says("The scheduler's message for a pod without a node.")]
    release: Annotated[str, says("The release that decides.")]
    placed_on: PlacedOn
    ignored: Ignored
    workload: Workload
    workload_pods: WorkloadPods
    workload_waiting: WorkloadWaiting = UNSET
    waiting_nodes: WaitingNodes = UNSET
    want: Annotated[str | None, says("The node that the pod should get; null: any.")]
    fits: Annotated[bool, says("The pod gets a node, or the wanted one, without any change.")]
    keeps: Annotated[Keeps | None, says("What keeps the pod from the wanted node.")]
    missing: Missing
    causes: Annotated[tuple[FailedDemand, ...], says("What of the pod fails on nodes, and which taints; that of most nodes first.")]
    tried: Annotated[Count, says("How many decisions were asked for.")]
    suggestions: tuple[Suggestion, ...]


@attrs.frozen
class WhatIf:
    """What would help a pod."""

    explanation: Explanation
    """The decision before any change; with a wanted node, all about that one."""
    want: str | None
    suggestions: tuple[Suggestion, ...]
    """Those that disturb least first."""
    tried: int
    """How many decisions were asked for."""

    @property
    def host(self) -> str | None:
        """The node that the pod gets without any change."""
        return self.explanation.decision.host

    @property
    def fits(self) -> bool:
        """Whether the pod gets a node, or the wanted one, without any change."""
        return self.host is not None and self.want in (None, self.host)

    @property
    def is_yes(self) -> bool:
        """Whether there is an answer: the pod fits, or something helps, and all pods of its workload."""
        count = len(self.explanation.question.workload_pods)
        return self.fits or any(one.placed in (UNSET, count) for one in self.suggestions)

    def document(self, warnings: tuple[InputWarning, ...] = ()) -> WhatIfDocument:
        """All of it."""
        decision, close = self.explanation.decision, self.explanation.close_up
        return WhatIfDocument(
            warnings=warnings, pod=decision.pod.key, host=decision.host, error=decision.error, release=self.explanation.release,
            **attrs.asdict(self.explanation.question), want=self.want, fits=self.fits,
            keeps=None if close is None or self.fits else Keeps.of(close), missing=self.explanation.missing,
            causes=self.explanation.causes, tried=self.tried, suggestions=self.suggestions,
        )  # fmt: skip


def what_if(asked: ScheduledPod, pod: Pod, simulation: Simulation | None = None, tell: Callable[[str], None] = lambda word: None) -> WhatIf:
    """What would help *pod*; *simulation* is a new one of *asked*. *tell* is called with each family of changes before it is tried.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` if there is no such node as the wanted one.
    """
    begun = simulation or asked.simulation(asked.spec)
    if asked.question.ignored is not None:
        release = begun.engine.release.version
        return WhatIf(Explanation(Decision(pod), (), was_scored=False, release=release, question=asked.question), asked.want, (), 0)
    context = asked.context(begun, pod)
    explanation = attrs.evolve(explain(context.engine, context.pod, node=asked.want), question=asked.question)
    explanation = attrs.evolve(explanation, missing=missing_in(asked.scenario, explanation))
    context.want, context.reports = asked.want, explanation.nodes
    before = WhatIf(explanation, asked.want, (), 0)
    if before.fits or explanation.missing:
        return before
    found = list(_suggestions(asked, context, pod, explanation, tell))
    found += _pairs(context, found, tell)
    tell("the other pods")
    once: dict[frozenset[str], Helpful] = {}
    for one in sorted(found, key=lambda one: one.rank):
        once.setdefault(frozenset(one.suggestion.patch), one)
    seen, is_alone = list(once.values()), all(other.key == pod.key for other in asked.scenario.pending)
    if seen and not (is_alone or asked.alone or asked.question.placed_on):
        for _ in begun.decisions():  # it is at the turn of *pod*, and goes on without any change
            pass
        seen = sorted((_in_whole_run(asked, pod, one, begun) for one in seen), key=lambda one: one.rank)
    return attrs.evolve(before, suggestions=tuple(one.suggestion for one in seen), tried=context.tried)


def _in_whole_run(asked: ScheduledPod, pod: Pod, one: Helpful, before: Simulation) -> Helpful:
    """Who takes the pod's place or the room for it, what becomes of the others, and how many pods of a workload find a node."""
    changed = attrs.evolve(asked, scenario=changed_scenario(asked.scenario, pod, one.change))
    simulation = changed.simulation(asked.spec) if one.begun is None else one.begun
    for _ in simulation.decisions():
        pass
    outcomes = simulation.outcomes
    after, suggestion = outcomes[pod.key], replace(one.suggestion, effect=_effect(pod, before, simulation))
    if after.eviction is not None:
        suggestion = replace(suggestion, evicted_by=after.eviction.by)
    elif after.host is None:
        earlier = takewhile(lambda key: key != pod.key, outcomes)
        took = (key for key in earlier if outcomes[key].host == suggestion.host != before.outcomes[key].host)
        suggestion = replace(suggestion, taken_by=next(took, ""))
    if not asked.question.workload_waiting:
        return attrs.evolve(one, suggestion=suggestion)
    lost = {key for key, found in outcomes.items() if found.word not in ("placed", "waiting") and not found.has_successor}
    placed = len(set(asked.question.workload_pods) - lost)
    is_enough = placed == len(asked.question.workload_pods)
    return attrs.evolve(one, suggestion=replace(suggestion, placed=placed), is_enough=is_enough)


def _effect(pod: Pod, before: Simulation, after: Simulation) -> Effect:
    """What a change does to all pods: two whole runs, without it and with it."""
    was_out, is_out = _without_node(before), _without_node(after)
    owner, there = pod.metadata.controller, before.outcomes
    own = {pod.key, *(key for key, one in there.items() if owner is not None and one.pod.metadata.controller == owner)}
    lost = [key for key in is_out if key not in was_out and key != pod.key]
    return Effect(
        len(there), sum(key not in is_out for key in there), sum(key not in was_out for key in there),
        tuple(key for key in lost if not is_out[key]), tuple(key for key in lost if is_out[key]),
        tuple(key for key in was_out if key not in is_out and key not in own),
    )  # fmt: skip


def _without_node(run: Simulation) -> dict[str, bool]:
    """The pods without a node at the end of a whole *run*, and whether each was evicted."""
    return {**dict.fromkeys(run.evicted, True), **{key: one.eviction is not None for key, one in run.outcomes.items() if one.host is None}}


def _suggestions(
    asked: ScheduledPod, context: WhatIfContext, pod: Pod, found: Explanation, tell: Callable[[str], None]
) -> Iterator[Helpful]:
    if found.decision.is_gated:
        yield from _helpful(asked, context, podchanges.dropped_gates)
        return
    for word, family in (*(WANTED_FAMILIES if asked.want is not None else ()), *FAMILIES):
        tell(word)
        yield from _helpful(asked, context, family)
    tell("other pods")
    yield from islice(_leaving(asked, context), None if asked.every else SHOWN)
    if found.room is None or asked.want is not None:
        yield from islice(_helpful(asked, context, podchanges.higher_priority), 1)
    tell("the scheduler")
    settled = asked.spec.settled(asked.config_maps)
    others = Configurations(settled, lambda spec: asked.context(asked.simulation(spec), pod), asked.config_maps)
    yield from others.suggestions(context)


def _pairs(context: WhatIfContext, found: Sequence[Helpful], tell: Callable[[str], None]) -> Iterator[Helpful]:
    """Two changes together, where no single one helps but another scheduler, or where putting names right is not all."""
    helps, families = any(one.suggestion.disturbs < DISTURBS["weight"] for one in found), [family for _, family in FAMILIES]
    wrong = [] if any(one.change.corrects for one in found) else list(islice(corrections.corrected(context), 1))
    firsts = wrong if helps else list(islice(of_the_pod(context, families), FIRSTS))
    if firsts:
        tell("two changes together")
        yield from islice(together(context, firsts, families), SHOWN)


def _helpful(asked: ScheduledPod, context: WhatIfContext, family: Family) -> Iterator[Helpful]:
    """The suggestions of a family, the smallest changes first."""
    changes = sorted(islice(family(context), None if asked.every else TRIALS), key=lambda change: (change.disturbs, change.size))
    found = (one for change in changes if (one := context.helpful(change)) is not None)
    return islice(found, None if asked.every else SHOWN)


def _leaving(asked: ScheduledPod, context: WhatIfContext) -> Iterator[Helpful]:
    candidates = podchanges.leaving(context)
    for place, one in enumerate(candidates if asked.every else candidates[:TRIALS]):
        found = podchanges.moved_or_deleted(context, one, place)
        if found is not None:
            yield found
