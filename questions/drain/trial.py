"""The cluster that a drain begins with, its pending pods scheduled first; and how its nodes are emptied, each
in a savepoint."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import attrs

from ...api.controlplane import bound_to_each_other, new_volume
from ...api.garbage import no_garbage_collection
from ...api.objects import (
    DEFAULT_SCHEDULER,
    JsonObject,
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    ResourceClaim,
    of_kind,
)
from ...api.words import listed
from ...core.binding import VolumeError
from ...core.engine import Engine
from ...core.run import Run
from ...core.volumes import SELECTED_NODE
from ...simulation.edits import cordoned
from ...simulation.evictions import (
    Budgets,
    DrainFlags,
    Replacements,
    give_back,
    is_replaced_already,
    job_of,
    new_claims,
    retries_of,
    with_claims,
)
from ...simulation.explain.faileddemands import claims_known, unreached
from ...simulation.reasons import leading
from ...simulation.simulate import Scenario, Simulation, in_order


def volumes_of(pod: Pod, engine: Engine) -> Iterator[KubeObject]:
    """The volumes and claims of a pod that just found its node, as volume controller and provisioners leave
    them."""
    state = engine.pod_state(pod)
    try:
        written = engine.bind_volumes(pod if state is None else state.pod)
    except VolumeError:
        return  # all its claims had volumes before
    listings = engine.listings
    for item in written:
        if isinstance(item, PersistentVolume) and item.spec.claim_ref is not None:
            claim = listings.claims.get(f"{item.spec.claim_ref.namespace}/{item.spec.claim_ref.name}")
            yield from () if claim is None else bound_to_each_other(claim, item)
        elif isinstance(item, PersistentVolumeClaim):
            name = item.annotations.get(SELECTED_NODE, "")
            kind = listings.classes.get(item.storage_class)
            if kind is not None:
                yield from bound_to_each_other(
                    item, new_volume(item, kind, engine.node(name), listings.csi_nodes.get(name))
                )


# --- emptying nodes -----------------------------------------------------------------------------------------


class NotDrainable(Exception):
    """The reason why a node cannot go."""


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
    """The node of the replacement."""
    why: str | None = None
    """Why the replacement has no node, or is not made, where that does not stop the drain."""
    reason: str | None = None
    """The leading reason against the nodes, where the replacement fits on none."""


MadeAgain = list[tuple[Pod, EvictedPod]]
"""New pods, each with the eviction of the pod that it replaces."""


@attrs.define(eq=False)
class DrainTrial:
    """A drain on the cluster of *run*; within a savepoint each step registers how to undo it."""

    run: Run
    budgets: Budgets
    replacements: Replacements
    scheduler_names: frozenset[str]
    order: str
    stops: bool = True
    """Whether a pod that finds no other node keeps its own from going; False: the pod waits."""
    cordoned: dict[str, Node] = attrs.Factory(dict)
    """The nodes that are being emptied, as they were before."""
    evictions: list[EvictedPod] = attrs.Factory(list)
    rounds: int = 0

    @property
    def engine(self) -> Engine:
        """The scheduler."""
        return self.run.engine

    # --- steps ----------------------------------------------------------------------------------------------

    def pods_on(self, node: str) -> list[Pod]:
        """The pods on a node, in the order in which the API lists them."""
        return sorted(self.engine.pods_on(node), key=lambda pod: pod.key.split("/"))

    def refused(self, nodes: Iterable[str], flags: DrainFlags) -> dict[str, str]:
        """The *nodes* from which nothing is evicted at all, each with the reason."""
        return {
            name: reason for name in nodes if (reason := flags.sort(self.pods_on(name)).refusal) is not None
        }

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
        """Evict *pods* from a cordoned *node*, in as many rounds as budgets require. Raises
        :class:`NotDrainable` if that fails."""
        while pods:
            self.engine.on_undo(setattr, self, "rounds", self.rounds)
            self.rounds += 1
            # Pods that budgets allow to leave go at the same time; then their replacements are placed.
            made_again = []
            blocked = []
            for pod in pods:
                if self.replacements.has_failed(pod):
                    continue
                if asks_budgets and not pod.is_terminating and self.budgets.blocking(pod) is not None:
                    blocked.append(pod)
                else:
                    self.leave(pod)
                    made_again += self.replaced(EvictedPod(pod, node, self.rounds))
            if len(blocked) == len(pods):
                raise NotDrainable(
                    f"{self.budgets.blocking(blocked[0])}: {listed([pod.key for pod in blocked])}"
                )
            self.place(made_again)
            pods = blocked

    def leave(self, pod: Pod) -> None:
        """Delete *pod*, with the claims that were made for it."""
        self.run.delete(pod)
        give_back(pod, self.run)
        if not pod.is_terminating:
            self._note_disruption(pod)

    def _note_disruption(self, pod: Pod) -> None:
        self.budgets.take(pod)
        self.engine.on_undo(self.budgets.take, pod, -1)

    def replaced(self, eviction: EvictedPod) -> MadeAgain:
        """Note *eviction*, and return the replacement that the pod's owner makes, if any."""
        self.evictions.append(eviction)
        self.engine.on_undo(self.evictions.pop)
        pod = eviction.pod
        owner = pod.controller
        if is_replaced_already(pod):
            return []
        scheduler = pod.spec.scheduler_name or DEFAULT_SCHEDULER
        if scheduler not in self.scheduler_names and (owner is not None or self.replacements.recreates_bare):
            return self._without_node(
                eviction, f'the pod in place of {pod.key} asks for another scheduler, "{scheduler}"'
            )
        new_pod = self.replacements.of(pod)
        self.engine.on_undo(self.replacements.take_back, pod, new_pod)
        if new_pod is None:
            if eviction.by is not None:
                return self._without_node(
                    eviction,
                    f"{eviction.by} would preempt {pod.key} on {eviction.node}, which is not made again",
                )
            if self.replacements.has_failed(pod):
                others = [item for item in self.engine.pods() if job_of(item) == job_of(pod)]
                for other in others:
                    if not other.is_terminating:
                        self.leave(other)
            return []
        eviction.replacement = new_pod.key
        new_pod, claims = with_claims(new_pod, self.engine) if new_pod.spec.resource_claims else (new_pod, [])
        for claim in claims:
            self.run.put(claim)
        return [(new_pod, eviction)]

    def _without_node(self, eviction: EvictedPod, reason: str) -> MadeAgain:
        if self.stops:
            raise NotDrainable(reason)
        eviction.why = reason
        return []

    # --- placing --------------------------------------------------------------------------------------------

    def of_running_jobs(self, made_again: MadeAgain) -> MadeAgain:
        """*made_again* without the pods of Jobs that have failed meanwhile."""
        kept = []
        for pod, eviction in made_again:
            if self.replacements.has_failed(pod):
                eviction.replacement = None
            else:
                kept.append((pod, eviction))
        return kept

    def place(self, made_again: MadeAgain) -> None:
        """Place new pods; those that preempt others are tried once more. The replacements of preempted pods
        follow."""
        while made_again := self.of_running_jobs(made_again):
            eviction_by_uid = {pod.uid: eviction for pod, eviction in made_again}
            pods = [pod for pod, _ in made_again]
            for item in (*new_claims(pods, self.engine)[0], *pods):
                self.run.put(item)
            victims = []
            for pod in in_order(pods, self.order, self.engine):
                victims += self._cycle(pod, eviction_by_uid[pod.uid])
            for pod in self.run.retries():
                victims += self._cycle(pod, eviction_by_uid[pod.uid], retry=True)
            made_again = victims

    def _cycle(self, pod: Pod, eviction: EvictedPod, *, retry: bool = False) -> MadeAgain:
        decision = self.run.cycle(pod, retry=retry)
        plan = decision.preemption
        host = decision.host
        if host is not None and not decision.is_waiting:
            if host in self.cordoned:
                back = f"comes back to {host}, as it tolerates that the node is cordoned"
                raise NotDrainable(f"{decision.pod.key}, made in place of {eviction.pod.key}, {back}")
            eviction.to = host
            self.budgets.give(eviction.pod)
            self.engine.on_undo(self.budgets.give, eviction.pod, -1)
            return []
        if plan is None or plan.node is None or (retry and not plan.victims):
            if decision.is_fit_error and not self.stops:
                eviction.reason = next(iter(leading(decision.reasons, self.engine.only_reasons(pod))), None)
            subject = eviction.pod.key
            if decision.pod.key != subject:
                subject = f"{decision.pod.key}, made in place of {subject},"
            if decision.is_waiting:
                reason = f"{subject} waits on {host} for plugins that permit the binding"
            elif decision.is_gated:
                reason = f"{subject} is gated, and not tried"
            else:
                claims = claims_known(self.engine, decision.pod)
                volumes = dict.fromkeys(
                    text for node in self.engine.nodes() for text in unreached(self.engine, claims, node)
                )
                volume_text = f"{VOLUMES}{'; volume '.join(volumes)})" if volumes else ""
                reason = f"{subject} finds no other node: {decision.error}{volume_text}"
            return self._without_node(eviction, reason)
        made_again = []
        for victim in plan.victims:
            self._note_disruption(victim)
        for victim in plan.victims:
            made_again += self.replaced(EvictedPod(victim, plan.node, self.rounds, by=pod.key))
        return made_again


VOLUMES = " (volume "
"""The text before the volumes that keep a pod where it is."""


# --- what a drain begins with -------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class SteadyState:
    """A cluster in which no pending pod could still be placed."""

    objects: tuple[KubeObject, ...]
    """All objects; the pods among them have nodes."""
    waiting: tuple[Pod, ...]
    """Pods that find no node even before the drain."""
    placed: int
    """How many waiting pods were placed first."""
    make_engine: Callable[[], Engine]
    """Makes new schedulers of one configuration."""
    scheduler_names: frozenset[str]
    order: str = "input"
    left_out: int = 0
    """How many pending pods are left out."""
    jobs: tuple[JsonObject, ...] = ()
    """Manifests of Jobs."""

    @property
    def nodes(self) -> list[Node]:
        """The nodes."""
        return of_kind(Node, self.objects)

    def trial(self, *, recreates_bare: bool = False) -> DrainTrial:
        """A new drain, on a new scheduler that knows the cluster."""
        run = Run(self.make_engine(), details=False)
        with no_garbage_collection():
            for item in (*self.objects, *self.waiting):
                run.put(item)
        pods = [*self.waiting, *of_kind(Pod, self.objects)]
        replacements = Replacements.beside(pods, self.scheduler_names)
        replacements.recreates_bare = recreates_bare
        if run.engine.release.server.fails_deleted:
            replacements.retries = retries_of(self.jobs)
        disruption_budgets = of_kind(PodDisruptionBudget, self.objects)
        budgets = Budgets.of(disruption_budgets, run.engine.release)
        return DrainTrial(run, budgets, replacements, self.scheduler_names, self.order)


def settle(
    scenario: Scenario,
    make_engine: Callable[[], Engine],
    scheduler_names: frozenset[str],
    order: str = "input",
) -> SteadyState:
    """Schedule the pending pods of *scenario*. Evicted pods are made again by their owners."""
    if not scenario.pending:
        return SteadyState(scenario.objects, (), 0, make_engine, scheduler_names, order, jobs=scenario.jobs)
    engine = make_engine()
    replacements = Replacements.beside((*scenario.objects, *scenario.pending), scheduler_names)
    simulation = Simulation(scenario, engine, order, replacements=replacements)
    outcomes = simulation.finish().values()
    waiting = tuple(outcome.pod for outcome in outcomes if outcome.host is None and outcome.eviction is None)
    placed = [outcome.pod for outcome in outcomes if outcome.host is not None]
    written = {item.identity: item for pod in placed if pod.spec.volumes for item in volumes_of(pod, engine)}
    others = [written.pop(item.identity, item) for item in scenario.objects if not isinstance(item, Pod)]
    objects = (*others, *written.values(), *engine.pods())
    return SteadyState(objects, waiting, len(placed), make_engine, scheduler_names, order, jobs=scenario.jobs)


# --- nodes that are gone ------------------------------------------------------------------------------------

UNASKED = DrainFlags(ignore_daemonsets=True, delete_emptydir_data=True, force=True)
"""The flags for nodes that fail: pods that a drain would leave on a node end with it."""


def lose(
    steady: SteadyState, nodes: Collection[str], *, recreates_bare: bool = False
) -> tuple[DrainTrial, MadeAgain]:
    """The cluster without *nodes*, which are gone at once; and the replacements of their pods, not placed
    yet."""
    trial = attrs.evolve(steady.trial(recreates_bare=recreates_bare), stops=False, rounds=1)
    evicted = [(pod, name) for name in nodes for pod in UNASKED.sort(trial.pods_on(name)).leaving]
    for node in (node for node in steady.nodes if node.name in nodes):
        for pod in trial.pods_on(node.name):
            trial.leave(pod)
        trial.run.delete(node)
    made_again = [entry for pod, name in evicted for entry in trial.replaced(EvictedPod(pod, name, 1))]
    return trial, trial.of_running_jobs(made_again)


def after_loss(steady: SteadyState, scenario: Scenario, nodes: Collection[str]) -> Scenario:
    """*scenario*, that of *steady*, without *nodes*; the replacements of their pods are pending."""
    trial, made_again = lose(steady, nodes)
    engine = trial.engine
    others = (Node, Pod, PersistentVolumeClaim, ResourceClaim)
    objects = (
        *engine.nodes(),
        *(item for item in steady.objects if not isinstance(item, others)),
        *engine.listings.claims,
        *engine.listings.resource_claims,
        *new_claims([pod for pod, _ in made_again], engine)[0],
        *engine.pods(),
    )
    return attrs.evolve(scenario, objects=objects, pending=tuple(pod for pod, _ in made_again))
