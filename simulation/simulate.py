"""Schedules the pods that wait in a scenario, one after another, on the cluster as it fills up."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from ..api.objects import Pod
from ..core.decision.decision import Decision
from ..core.engine import Engine
from ..core.run import Run
from .order import in_order
from .scenario import Scenario


@attrs.frozen
class Outcome:
    """What became of a pod in the end: a host, or why it has none."""

    pod: Pod
    host: str | None = None
    error: str | None = None
    is_gated: bool = False
    """It was not tried, as a PreEnqueue plugin holds it back."""


@attrs.define(eq=False)
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
    outcomes: dict[str, Outcome] = attrs.field(factory=dict)
    """By pod, of those tried so far."""
    evicted: dict[str, str] = attrs.field(factory=dict)
    """Pods that had to leave -> the pod that took their place."""
    cycles: int = 0

    def decisions(self) -> Iterator[Decision]:
        """Each cycle's decision, in order; a pod that preempted others is tried once more at the end."""
        run = self.begin()
        for pod in self.pods():
            yield self.note(run.cycle(pod))
        for pod in run.take_retries():
            yield self.note(run.cycle(pod, retry=True))

    def begin(self) -> Run:
        """Tell the scheduler of the cluster."""
        run = Run(self.engine, self.details)
        for item in (*self.scenario.objects, *self.scenario.pending):
            run.put(item)
        return run

    def pods(self) -> list[Pod]:
        """The waiting pods in the order in which they are tried."""
        return in_order(self.scenario.pending, self.order, self.engine)

    def note(self, decision: Decision) -> Decision:
        """Record the outcome of *decision*, and its victims."""
        self.cycles += not decision.is_gated
        pod, plan = decision.pod, decision.preemption
        self.outcomes[pod.key] = Outcome(pod, decision.host, decision.error, decision.is_gated)
        for victim in plan.victims if plan is not None and plan.node is not None else ():
            self.evicted[victim.key] = pod.key
            if victim.key in self.outcomes:
                self.outcomes[victim.key] = Outcome(victim, error=f"evicted to make room for {pod.key}")
        return decision

    @property
    def all_placed(self) -> bool:
        """Whether each pod that was tried has a host."""
        return all(outcome.host is not None for outcome in self.outcomes.values())
