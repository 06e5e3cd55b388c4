"""A replay: pods and nodes come and go over virtual time, and the scheduler of a release places the pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs
import numpy as np

from ...api.objects import DEFAULT_SCHEDULER, Pod
from ...core.arrays import Batch
from ...core.decision import Decision
from ...core.engine import Engine
from ...core.queue.backoff import SECOND, nanoseconds
from ...exceptions import UnknownNameError, did_you_mean
from .cluster.podlifecycles import PodLifecycle, PodLifecycles, resume
from .cluster.volumecontroller import VolumeController
from .externalevents import ChurnWorkload, ExternalEvents
from .inputs.inputs import Event, Inputs
from .simulatedcluster import Delays, SimulatedCluster


@attrs.define(eq=False, repr=False)
class Replay:
    """Plays *inputs* to *engine*, which must be new. What happens depends on the inputs, the options and the
    seed alone.

    :meth:`step` does one thing: an event, a scheduling cycle, or a jump in time. Who decides himself drives
    it by :meth:`next_pod` and :meth:`conclude` instead. Between steps the whole state is in this object.
    """

    inputs: Inputs
    engine: Engine
    delays: Delays = attrs.Factory(Delays)
    seed: int = 0
    scheduler_name: str = DEFAULT_SCHEDULER
    """Pods that ask for this scheduler are scheduled; profiles have names of their own."""
    recreate: bool = True
    until: float | None = None
    """When to stop, in virtual seconds; None: when nothing happens any more."""
    observers: list[Callable[[Replay], None]] = attrs.Factory(list)
    """Called after everything that happens at one time, before time passes."""
    position: int = 0
    """How many events of the inputs have happened."""
    steps: int = 0
    cluster: SimulatedCluster = attrs.field(init=False)
    volumes: VolumeController = attrs.field(init=False)
    pods: PodLifecycles = attrs.field(init=False)
    outside: ExternalEvents = attrs.field(init=False)
    workload: ChurnWorkload = attrs.field(init=False)
    _free_at: int = 0
    """When the scheduler can begin its next cycle."""
    is_over: bool = False

    def __attrs_post_init__(self) -> None:
        inputs = self.inputs
        self.cluster = SimulatedCluster(
            self.engine, inputs.resources, self.delays, self.seed, inputs.origin, self.scheduler_name
        )
        self.volumes = VolumeController(self.cluster)
        self.pods = PodLifecycles(self.cluster, self.volumes, self.recreate)
        self.outside = ExternalEvents(self.cluster, self.pods, self.volumes)
        self.workload = ChurnWorkload(inputs.operations, self.outside)

    @property
    def now(self) -> float:
        """Virtual time in seconds."""
        return self.cluster.clock.seconds

    @property
    def waiting(self) -> list[PodLifecycle]:
        """The pods without a node."""
        return [life for life in self.pods.all.values() if life.waits]

    def run(self) -> Iterator[float]:
        """Play to the end; yields the time after each step."""
        while self.step():
            yield self.now
        self.settle()

    # --- steps ----------------------------------------------------------------------------------------------

    def step(self) -> bool:
        """Do one thing; False if nothing is left to do."""
        pod = self.advance()
        if isinstance(pod, Pod):
            self.conclude(self.decide(pod))
        return pod is not False

    def next_pod(self) -> Pod | None:
        """Go on until a scheduling cycle begins, and answer its pod; None at the end. Call :meth:`conclude`
        after it."""
        while (found := self.advance()) is not False:
            if isinstance(found, Pod):
                return found
        return None

    def advance(self) -> Pod | bool:
        """One event or one jump in time (True), or a pod whose cycle begins; False if nothing is left."""
        if self.is_over:
            return False
        self.steps += 1
        self.workload.look()
        # Do the next thing that is due, events from outside first.
        events = self.inputs.events
        cluster = self.cluster
        if self.position < len(events) and _due(events[self.position]) <= cluster.now:
            self.position += 1
            self.outside.apply(events[self.position - 1])
            return True
        if (task := cluster.agenda.pop_due(cluster.now)) is not None:
            task()
            return True
        if self._free_at <= cluster.now and (pod := self._pop()) is not None:
            return pod
        # Let time pass until something can happen.
        next_time = self.next_time()
        if next_time is None or (self.until is not None and next_time > nanoseconds(self.until)):
            self.is_over = True
            return False
        self._pass_time(next_time)
        return True

    def _pass_time(self, time: int) -> None:
        cluster = self.cluster
        for observe in self.observers:
            observe(self)
        cluster.tally.pass_time((time - cluster.now) / SECOND, cluster.ledger)
        cluster.clock.now = time
        # Back-offs end on time even while the scheduler is busy.
        cluster.queue.tick()

    def settle(self) -> None:
        """Let time pass up to ``until`` when nothing is left to do; :meth:`run` does so at its end."""
        now = self.cluster.now
        self._pass_time(now if self.until is None else max(nanoseconds(self.until), now))

    def next_time(self) -> int | None:
        """The time of the next thing that can change anything, in nanoseconds; None: never."""
        events = self.inputs.events
        cluster = self.cluster
        coming = [time for time in (cluster.agenda.next_time, self.workload.deadline) if time is not None]
        if self.position < len(events):
            coming.append(_due(events[self.position]))
        if cluster.queue.can_pop:
            coming.append(self._free_at)
        # A pod that was not yet tried on the cluster as it is now waits for its back-off.
        waiting = self.waiting if not coming else ()
        untried = any(life.tried_at != cluster.changes and not cluster.is_gated(life.key) for life in waiting)
        if (coming or untried) and (due := cluster.queue.next_due()) is not None:
            coming.append(max(due, cluster.now))
        return min(coming, default=None)

    # --- cycles ---------------------------------------------------------------------------------------------

    def _pop(self) -> Pod | None:
        queue = self.cluster.queue
        while (item := queue.pop()) is not None:
            life = self.pods.all.get(item.pod.key)
            # Upstream: a pod that is being deleted is skipped. So is, here, one that was queued again while
            # it is being bound.
            if life is None or not life.waits or item.pod.is_terminating:
                queue.done(item.pod)
            elif (
                self.position == len(self.inputs.events) and self.workload.deadline is None
            ) and self.pods.is_futile(life):
                # Otherwise pods that wait in vain for each other would keep the replay going for ever.
                queue.add_unschedulable(item, queue.cycle)
                life.tried_at = self.cluster.changes
            else:
                life.tried = item
                return item.pod
        return None

    def decide(self, pod: Pod) -> Decision:
        """The scheduler's decision for *pod*. If nothing changed since its last attempt, that one's decision
        is repeated."""
        life = self.pods.all[pod.key]
        if life.is_hopeless and life.tried_at == self.cluster.changes and not self.engine.nominations:
            return self.engine.repeat(pod, life.message)
        decision = self.engine.schedule(pod, details=False)
        life.is_hopeless = self.engine.flow.can_repeat(decision)
        return decision

    def place(self, pod: Pod, node: str) -> Decision:
        """The decision that *pod* goes to *node*, made in the scheduler's place, with volumes found there as
        in a cycle.

        ``engine.evaluate_nodes`` says where the pod fits; it is not checked here. Raises UnknownNameError if
        there is no such node.
        """
        engine = self.engine
        cycle = engine.begin(pod)
        if node not in (names := [one.name for one in engine.nodes()]):
            raise UnknownNameError(
                f'node: expected a node of the cluster, got "{node}"{did_you_mean(node, names)}'
            )
        if (claims := cycle.template.claims) and engine.binder.enabled:
            engine.binder.remember(
                pod, claims, Batch(engine.table, np.array([engine.table.row_of[node]], np.intp))
            )
        return Decision(pod, host=node)

    def conclude(self, decision: Decision) -> None:
        """Carry out a decision, the scheduler's or anybody else's."""
        cluster = self.cluster
        life = self.pods.all[decision.pod.key]
        self._free_at = cluster.after(cluster.delays.cycle)
        life.attempts += 1
        cluster.tally.attempts += 1
        resume(self.pods.conclude(life.tried, decision))


def _due(event: Event) -> int:
    """The time of *event*, in nanoseconds; what is there from the beginning has none of its own."""
    return nanoseconds(max(event.time, 0.0))
