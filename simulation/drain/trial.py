"""A cluster on which nodes are emptied, one in a savepoint each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import attrs
from msgspec.structs import replace

from ...api.objects import Node, Pod
from ...api.objects.nodes import Taint
from ...core.decision.decision import Decision
from ...core.decision.preemptionplan import Preemption
from ...core.engine import Engine
from ...core.run import Run
from ...core.savepoint import Savepoint
from ..deviceclaims import give_back, with_claims
from ..replacements import Replacements
from ..scenario import in_order
from .budgets import Budgets
from .rules import foreign_scheduler, is_made_again, some
from .volumes import new_claims, own_claims

UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""What the node controller puts on cordoned nodes."""


class NotDrainable(Exception):
    """Why a node cannot go."""


@attrs.define(eq=False)
class EvictedPod:
    """A pod that leaves its node."""

    pod: Pod
    node: str
    round: int
    by: str | None = None
    """The pod that preempted it; None: the drain evicts it."""
    replacement: str | None = None
    """The pod that its owner makes in its place; None: it is gone for good."""
    to: str | None = None
    """The node of that pod."""


@attrs.define(eq=False)
class DrainTrial:
    """What is done to the cluster of *run*; in a savepoint each step notes how it is undone."""

    run: Run
    budgets: Budgets
    replacements: Replacements
    scheduler_names: frozenset[str]
    order: str = "input"
    cordoned: dict[str, Node] = attrs.field(factory=dict)
    """The nodes that are being emptied, as they were before."""
    evictions: list[EvictedPod] = attrs.field(factory=list)
    rounds: int = 0

    @property
    def engine(self) -> Engine:
        """The scheduler."""
        return self.run.engine

    @contextmanager
    def savepoint(self) -> Iterator[Savepoint]:
        """A context at whose end all is as before, unless it is kept."""
        with self.run.savepoint() as point:
            self.engine.on_undo(self._restore, len(self.evictions), self.rounds)
            yield point

    def _restore(self, evictions: int, rounds: int) -> None:
        del self.evictions[evictions:]
        self.rounds = rounds

    # --- steps ------------------------------------------------------------------------------------------------------

    def pods_on(self, node: str) -> list[Pod]:
        """The pods on a node, in the order in which the API lists them."""
        return sorted(self.engine.pods_on(node), key=lambda pod: pod.key.split("/"))

    def cordon(self, name: str) -> None:
        """Let no more pods come to a node, until :meth:`uncordon`."""
        node = self.engine.node(name)
        assert node is not None
        self.cordoned[name] = node
        self.run.put(cordoned(node))

    def uncordon(self, name: str) -> None:
        """Let the node be as it was before :meth:`cordon`."""
        self.run.put(self.cordoned.pop(name))

    def empty(self, node: str, pods: Sequence[Pod], *, asks_budgets: bool) -> None:
        """Evict *pods*, those of a cordoned node, in as many rounds as budgets make of it. Raises :class:`NotDrainable` if that fails."""
        left = list(pods)
        while left:
            left = self._round(node, left, asks_budgets)

    def _round(self, node: str, pods: Sequence[Pod], asks_budgets: bool) -> list[Pod]:
        """Evict all that budgets let go at the same time, and place what their owners make instead; answers who is still there."""
        self.rounds += 1
        made: list[tuple[Pod, EvictedPod]] = []
        left: list[Pod] = []
        for pod in pods:
            if asks_budgets and not pod.is_terminating and self.budgets.blocking(pod) is not None:
                left.append(pod)
            else:
                self._leave(pod)
                made += self._replaced(EvictedPod(pod, node, self.rounds))
        if len(left) == len(pods):
            raise NotDrainable(f"{self.budgets.blocking(left[0])}: {some(pod.key for pod in left)}")
        self._place(made)
        return left

    def _leave(self, pod: Pod) -> None:
        self.run.delete(pod)
        for claim in own_claims(pod, self.engine) if pod.spec.volumes else ():
            self.run.delete(claim)
        if pod.spec.resource_claims:
            give_back(pod, self.run)
        if not pod.is_terminating:
            self._disrupted(pod)

    def _disrupted(self, pod: Pod) -> None:
        self.budgets.take(pod)
        self.engine.on_undo(self.budgets.take, pod, -1)

    def _replaced(self, eviction: EvictedPod) -> list[tuple[Pod, EvictedPod]]:
        """Note *eviction*, and what the pod's owner makes in its place, if it does."""
        self.evictions.append(eviction)
        pod = eviction.pod
        if not is_made_again(pod):
            return []
        other = foreign_scheduler(pod, self.scheduler_names)
        if other is not None and (pod.metadata.controller is not None or self.replacements.recreates_bare):
            raise NotDrainable(f'the pod in place of {pod.key} asks for another scheduler, "{other}"')
        made = self.replacements.of(pod)
        if made is None:
            if eviction.by is not None:
                raise NotDrainable(f"{eviction.by} would preempt {pod.key} on {eviction.node}, which is not made again")
            return []
        eviction.replacement = made.key
        self.engine.on_undo(self.replacements.take_back, made)
        made, claims = with_claims(made, self.engine) if made.spec.resource_claims else (made, [])
        for claim in claims:
            self.run.put(claim)
        return [(made, eviction)]

    # --- placing ----------------------------------------------------------------------------------------------------

    def _place(self, made: list[tuple[Pod, EvictedPod]]) -> None:
        """Place new pods, those that preempt others once more, and then those that are made in place of the preempted ones."""
        while made:
            of = {pod.uid: eviction for pod, eviction in made}
            for pod, _ in made:
                for item in (*(new_claims(pod, self.engine) if pod.spec.volumes else ()), pod):
                    self.run.put(item)
            victims: list[tuple[Pod, EvictedPod]] = []
            for pod in in_order([pod for pod, _ in made], self.order, self.engine):
                victims += self._cycle(pod, of[pod.uid])
            for pod in self.run.take_retries():
                victims += self._cycle(pod, of[pod.uid], retry=True)
            made = victims

    def _cycle(self, pod: Pod, eviction: EvictedPod, *, retry: bool = False) -> list[tuple[Pod, EvictedPod]]:
        decision = self.run.cycle(pod, retry=retry)
        plan = decision.preemption
        if decision.host is not None and not decision.is_waiting:
            self._placed(decision, decision.host, eviction)
            return []
        if plan is None or plan.node is None or retry:
            raise NotDrainable(_why(decision, eviction))
        return self._preempted(pod, plan)

    def _placed(self, decision: Decision, host: str, eviction: EvictedPod) -> None:
        pod = decision.pod
        if host in self.cordoned:
            raise NotDrainable(
                f"{pod.key}, made in place of {eviction.pod.key}, comes back to {host}, as it tolerates that the node is cordoned"
            )
        eviction.to = host
        self.budgets.give(pod)
        self.engine.on_undo(self.budgets.give, pod, -1)

    def _preempted(self, pod: Pod, plan: Preemption) -> list[tuple[Pod, EvictedPod]]:
        assert plan.node is not None
        made: list[tuple[Pod, EvictedPod]] = []
        for victim in plan.victims:
            self._disrupted(victim)
        for victim in plan.victims:
            made += self._replaced(EvictedPod(victim, plan.node, self.rounds, by=pod.key))
        return made


def cordoned(node: Node) -> Node:
    """*node* as ``kubectl cordon`` and the node controller leave it."""
    taints = node.spec.taints if UNSCHEDULABLE in node.spec.taints else (*node.spec.taints, UNSCHEDULABLE)
    return replace(node, spec=replace(node.spec, unschedulable=True, taints=taints))


def _why(decision: Decision, eviction: EvictedPod) -> str:
    what = f"{decision.pod.key}, made in place of {eviction.pod.key}," if decision.pod.key != eviction.pod.key else eviction.pod.key
    if decision.is_waiting:
        return f"{what} waits on {decision.host} for plugins that permit the binding"
    if decision.is_gated:
        return f"{what} is gated, and not tried"
    return f"{what} finds no other node: {decision.error}"
