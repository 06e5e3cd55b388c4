"""Schedules the pods that wait in a scenario, one after another, on the cluster as it fills up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import attrs

from ..api.garbage import no_garbage_collection
from ..api.objects import Pod
from ..core.decision import Decision, reasons_in
from ..core.engine import Engine
from ..core.run import Run
from .differences import events_between, tell
from .replacements import Replacements, give_back, with_claims
from .scenario import Scenario, in_order

WAITS = 'one or more plugins asked to wait and no plugin rejected pod "{}"'
"""Upstream's words for a pod that waits on Permit."""
OutcomeWord = Literal["placed", "unschedulable", "evicted", "gated", "waiting"]


@attrs.define(eq=False, repr=False)
class Eviction:
    """A pod that had to leave a node, to make room for another."""

    pod: Pod
    by: str
    """The pod that takes its place."""
    node: str
    """Where it was."""
    replacement: str | None = None
    """The pod that its owner made in its place, if evicted pods are rescheduled."""


@attrs.frozen(repr=False)
class Outcome:
    """The end of a pod: a host, or why it has none."""

    pod: Pod
    host: str | None = None
    error: str | None = None
    reasons: Mapping[str, int] = attrs.Factory(dict)
    """Why it fits on no node, as the decision has it: reason -> nodes, that of most nodes first."""
    is_gated: bool = False
    """It was not tried, as a PreEnqueue plugin holds it back."""
    is_waiting: bool = False
    """It has a host, where Permit plugins still make it wait."""
    tries: int = 1
    victims: tuple[str, ...] = ()
    """The pods that had to leave for it, whether or not it has their place now."""
    eviction: Eviction | None = None
    """How it lost the node that it had found."""
    replaces: str | None = None
    """The evicted pod in whose place its owner made it."""

    @property
    def has_successor(self) -> bool:
        """Whether it was evicted and another pod was made in its place."""
        return self.eviction is not None and self.eviction.replacement is not None

    @property
    def word(self) -> OutcomeWord:
        """``placed``, ``evicted`` after it was placed, ``waiting``: has a host that Permit plugins have not
        allowed yet, ``gated``: held back and not tried, or ``unschedulable``."""
        if self.eviction is not None:
            return "evicted"
        if self.is_waiting:
            return "waiting"
        return "placed" if self.host is not None else "gated" if self.is_gated else "unschedulable"


@attrs.define(eq=False, repr=False)
class Simulation:
    """The pods of *scenario*, tried in *order* by *engine*, which must be new.

    >>> from kubeclassic.algorithmprovider import RELEASES, resolve
    >>> from kubeclassic.api.objects import Node, ObjectMeta
    >>> from kubeclassic.core.classic import classic_engine
    >>> scenario = Scenario(objects=(Node(metadata=ObjectMeta(name="a")),), pending=(Pod(metadata=ObjectMeta(name="web")),))
    >>> simulation = Simulation(scenario, classic_engine(resolve(RELEASES["1.15"])))
    >>> [decision.error for decision in simulation.decisions()]
    ['0/1 nodes are available: 1 Insufficient pods.']
    """

    scenario: Scenario
    engine: Engine
    order: str = "input"
    details: bool = False
    """Whether decisions keep feasible nodes, reasons and scores."""
    replacements: Replacements | None = None
    """Makes the pods that owners put in place of evicted ones; None: evicted pods do not come back."""
    outcomes: dict[str, Outcome] = attrs.Factory(dict)
    """By pod, of those tried so far."""
    evictions: list[Eviction] = attrs.Factory(list)
    """In order."""
    taken_back: list[Pod] = attrs.Factory(list)
    """Pods that waited on Permit and were rejected, in order."""
    cycles: int = 0
    on_begin: Callable[[], None] | None = None
    """Called when the scheduler knows the cluster, before the first cycle."""
    _origins: dict[str, str] = attrs.Factory(dict)
    """Replacement -> the evicted pod."""
    _run: Run | None = None
    _seen: int = 0
    """How many evictions were looked at for replacements."""

    def decisions(self) -> Iterator[Decision]:
        """Each cycle's decision, in order; pods that preempted others are tried again after the others, then
        replacements.

        Where some pods had their turn already, the others have it.
        """
        run = self._run or self.begin()
        if self.on_begin is not None:
            self.on_begin()
        pods: Sequence[Pod] = [pod for pod in self.pods() if pod.key not in self.outcomes]
        while pods:
            for pod in pods:
                yield self.note(run.cycle(pod))
            for pod in run.retries():
                yield self.note(run.cycle(pod, retry=True))
            pods = self._replace(run)

    def finish(self) -> Mapping[str, Outcome]:
        """Take all decisions that are left; what came of each pod."""
        for _ in self.decisions():
            pass
        return self.outcomes

    def begin(self) -> Run:
        """Tell the scheduler of what it does not know of the cluster."""
        run = self._run = Run(self.engine, self.details)
        told = self.engine.told
        objects = self.scenario.objects
        with no_garbage_collection():
            if told is not None:
                events = events_between(told, objects, self.engine.cache)
                assert events is not None
                tell(run.feed, events)
            for item in (*(objects if told is None else ()), *self.scenario.pending):
                run.put(item)
        return run

    def pods(self) -> list[Pod]:
        """The waiting pods in the order in which they are tried."""
        return in_order(self.scenario.pending, self.order, self.engine)

    def note(self, decision: Decision) -> Decision:
        """Record the outcome of *decision*, and its victims."""
        outcomes = self.outcomes
        self.cycles += not decision.is_gated
        pod = decision.pod
        plan = decision.preemption
        run = self._run
        assert run is not None
        key = pod.key
        before = outcomes.get(key)
        victims = before.victims if before else ()
        if plan is not None and plan.node is not None:
            victims += tuple(victim.key for victim in plan.victims)
            for victim in plan.victims:
                if victim.key not in run.evicted:
                    continue
                eviction = Eviction(victim, key, plan.node)
                self.evictions.append(eviction)
                if self.engine.has_device_claims(victim):
                    give_back(victim, run)
                if (lost := outcomes.get(victim.key)) is not None:
                    error = f"evicted to make room for {key}"
                    outcomes[victim.key] = attrs.evolve(
                        lost, pod=victim, host=None, error=error, eviction=eviction
                    )
        # Made anew, as each pod has one: to copy the one before takes twice the time.
        outcomes[key] = Outcome(
            pod=pod,
            host=decision.host,
            error=WAITS.format(pod.name) if decision.is_waiting else decision.error,
            reasons=decision.reasons,
            is_gated=decision.is_gated,
            is_waiting=decision.is_waiting,
            tries=(before.tries if before else 0) + (not decision.is_gated),
            victims=victims,
            eviction=before.eviction if before else None,
            replaces=before.replaces if before else self._origins.get(key),
        )
        for ended, failure in run.take_ended():
            # Plugins allowed a waiting pod, or rejected it.
            waited = outcomes[ended.pod.key]
            if failure is None:
                after = attrs.evolve(waited, is_waiting=False, error=None)
            else:
                text = waited.error if waited.eviction else failure.text
                after = attrs.evolve(
                    waited, is_waiting=False, host=None, error=text, reasons=reasons_in(failure.text)
                )
                self.taken_back.append(ended.pod)
            outcomes[ended.pod.key] = after
        return decision

    def _replace(self, run: Run) -> Sequence[Pod]:
        """The pods that owners make in place of those evicted since the last time, in the order in which they
        are tried."""
        if self.replacements is None:
            return ()
        new = self.evictions[self._seen :]
        self._seen = len(self.evictions)
        made = []
        for eviction in new:
            pod = self.replacements.of(eviction.pod)
            if pod is None:
                continue
            eviction.replacement = pod.key
            self._origins[pod.key] = eviction.pod.key
            self.outcomes.pop(pod.key, None)  # a StatefulSet's new pod has the name of the old one
            pod, claims = with_claims(pod, self.engine) if pod.spec.resource_claims else (pod, [])
            made.append(pod)
            for item in (*claims, pod):
                run.put(item)
        return in_order(made, self.order, self.engine)

    @property
    def evicted(self) -> dict[str, str]:
        """Pods that had to leave -> the pod that took their place."""
        return {eviction.pod.key: eviction.by for eviction in self.evictions}

    @property
    def all_placed(self) -> bool:
        """Whether each pod that was tried has a host and need not wait there, or another pod in its place
        that has."""
        return all(outcome.word == "placed" or outcome.has_successor for outcome in self.outcomes.values())
