"""A replay: pods and nodes come and go over virtual time, by events from outside, and the scheduler of a
release places the pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import numpy as np
from attrs import Factory, define, field
from msgspec.structs import replace

from ...api.controlplane import target_node
from ...api.objects import DEFAULT_SCHEDULER, KubeObject, Node, PersistentVolumeClaim, Pod, Taint
from ...core.arrays import Batch
from ...core.decision import Decision
from ...core.engine import Engine
from ...core.queue.backoff import SECOND, nanoseconds
from ...exceptions import ManifestError, UnknownNameError, did_you_mean
from ...predicates.checknodeunschedulable import UNSCHEDULABLE
from ...simulation.evictions import is_daemon, stays_with_node
from .controllers import JobController, StatefulSetController
from .disruptions import DisruptionController
from .inputs import (
    ADD,
    DELETE,
    DRAIN,
    FAIL,
    RECOVER,
    START,
    UPDATE,
    Event,
    Inputs,
    Lifetime,
    WorkloadManifests,
)
from .journal import BarrierGivenUp, NodeEvent, OperationBegun
from .nodelifecycle import NO_EXECUTE, UNREACHABLE, NodeLifecycle
from .operations import Operation, renamed
from .podlifecycles import PodLifecycle, PodLifecycles, resume
from .simulatedcluster import Delays, SimulatedCluster
from .volumecontroller import VolumeController

# --- events from outside ------------------------------------------------------------------------------------

# Upstream: ``kubectl drain``; of failed nodes: nodelifecycle.py.


OURS = {UNSCHEDULABLE, *UNREACHABLE}
ORPHANED = 60.0
"""Seconds until the pods of a deleted node are collected. Upstream: pkg/controller/podgc/gc_controller.go."""


@define(eq=False, repr=False)
class ExternalEvents:
    """The events from outside of *cluster*: those of the inputs, and the operations of a scenario."""

    cluster: SimulatedCluster
    pods: PodLifecycles
    volumes: VolumeController
    nodes: NodeLifecycle
    workloads: WorkloadManifests
    disruptions: DisruptionController
    sets: StatefulSetController

    def apply(self, event: Event) -> None:
        """Carry out *event*. Raises :class:`~kubeclassic.exceptions.ManifestError` for a node that does not
        exist."""
        item = event.item
        cluster = self.cluster
        if isinstance(item, Node):
            current = cluster.node(item.name)
            if event.verb in (ADD, UPDATE):
                if (event.where or event.time > 0) and current is None:
                    cluster.note(NodeEvent(event="NodeAdded", node=item.name))
                self._put_node(current, item)
                # What was there from the start has its pods.
                places = [None if node is None else (node.spec, node.labels) for node in (current, item)]
                if event.time != START and places[0] != places[1]:
                    self._end_daemons(item)
                    self._make_daemons(item)
                return
            if current is None:
                raise ManifestError(
                    f"{event.where}: {event.verb}: expected a node that exists at that time, got {item.name}"
                )
            {DELETE: self.remove, DRAIN: self.drain, FAIL: self.fail, RECOVER: self.recover}[event.verb](
                current
            )
        elif event.verb == DELETE:
            self.delete(item)
        elif isinstance(item, Pod):
            self._put_pod(event, item)
        elif not isinstance(item, PersistentVolumeClaim) or item.key not in self.volumes.for_pods:
            self.create(item)

    def _put_pod(self, event: Event, pod: Pod) -> None:
        """A pod comes or changes; one that comes does not wait until another of its name is deleted."""
        comes = event.verb == ADD
        is_held = self.sets.change(pod.key, None if comes else pod)
        if comes and self.pods.is_another(pod):
            self.pods.give_way(pod)
        if (life := self.pods.all.get(pod.key)) is not None:
            self.pods.update(life, pod)
        elif not pod.is_terminal and (comes or not (is_held or pod.key in self.pods.replacements)):
            self.pods.arrive(pod, event.lifetime)
            if pod.is_terminating and event.time == START:
                self.cluster.later(0.0, partial(self._end_deleted, self.pods.all[pod.key]))

    def _put_node(self, current: Node | None, node: Node) -> None:
        """A node comes or changes; with the taint of a node that does not answer, it has failed."""
        self.cluster.put(node)
        if NO_EXECUTE in node.spec.taints:
            self.pods.failures.add(node.name)
        elif current is not None and NO_EXECUTE in current.spec.taints:
            self._is_back(node)
        if current is None:
            self.nodes.forget(node)
        self.nodes.changed(current, node)

    def _make_daemons(self, node: Node) -> None:
        if self.workloads.daemon_sets:
            pods = filter(None, map(self.cluster.pod, self.pods.all))
            now = self.cluster.clock.seconds
            for pod, lifetime in self.workloads.daemons_for(node, pods, now):
                self.pods.arrive(pod, lifetime)

    def _end_daemons(self, node: Node) -> None:
        """Delete the daemons that the node no longer suits; taints evict those that run there."""
        untainted = replace(node, spec=replace(node.spec, taints=()))
        for life in list(self.pods.all.values()) if self.workloads.daemon_sets else ():
            pod = self.cluster.pod(life.key)
            if pod is None or not is_daemon(pod) or target_node(pod) != node.name:
                continue
            if not self.workloads.keeps(pod, node if life.waits else untainted):
                self.pods.delete(life)

    def daemon_left(self, node_name: str) -> None:
        """A daemon is gone: its DaemonSet makes another where the node still suits it."""
        if (node := self.cluster.node(node_name)) is not None:
            self._make_daemons(node)

    def begin_daemons(self) -> None:
        """A DaemonSet is new: it makes pods for the nodes that are there."""
        for node in self.cluster.engine.nodes():
            self._make_daemons(node)

    def _is_back(self, node: Node) -> None:
        if node.name in self.pods.failures:
            self.pods.failures.remove(node.name)
            self.nodes.forget(node)
        self.pods.let_go(node.name, self.cluster.delays.termination)

    def _end_deleted(self, life: PodLifecycle) -> None:
        self.pods.end_deleted(life, ends=life.node not in self.pods.failures)

    def create(self, item: KubeObject) -> None:
        """Create or change an object other than a pod."""
        self.volumes.put(item)
        self.volumes.reconcile()
        if isinstance(item, Node):
            self._make_daemons(item)

    def delete(self, item: KubeObject) -> None:
        """Delete an object."""
        if isinstance(item, Pod):
            life = self.pods.all.get(item.key)
            if life is not None:
                self.pods.delete(life)
            else:
                self.sets.change(item.key, None)
        elif isinstance(item, Node):
            self.remove(item)
        else:
            self.volumes.delete(item)

    # --- nodes ----------------------------------------------------------------------------------------------

    def drain(self, node: Node) -> None:
        """Cordon the node and evict its pods as budgets allow it, except those of DaemonSets and static
        ones."""
        self._change(node, "NodeDrained", (*node.spec.taints, UNSCHEDULABLE), unschedulable=True)
        lives = self._pods_on(node.name)
        self.disruptions.drain([life for life in lives if not stays_with_node(life.original)])

    def fail(self, node: Node) -> None:
        """The node stops answering: it is tainted, and its pods are evicted after a while."""
        self._change(node, "NodeFailed", (*node.spec.taints, UNREACHABLE[0]), ready="Unknown")
        if node.name not in self.pods.failures:
            self.pods.failures.add(node.name)
            self.nodes.fail(node)

    def recover(self, node: Node) -> None:
        """A failed node is back, as cordoned as it was; another one takes pods again, like a drained one."""
        had_failed = node.name in self.pods.failures
        self._is_back(node)
        ours = {*UNREACHABLE} if had_failed else OURS
        taints = tuple(taint for taint in node.spec.taints if taint not in ours)
        is_cordoned = had_failed and node.spec.unschedulable
        self._change(node, "NodeRecovered", taints, unschedulable=is_cordoned, ready="True")

    def _change(
        self,
        node: Node,
        event: Literal["NodeDrained", "NodeFailed", "NodeRecovered"],
        taints: tuple[Taint, ...],
        *,
        ready: str = "",
        **changes: bool,
    ) -> None:
        """Write *node* with *taints*, each once, and *changes* of its spec. *ready*: the new status of its
        condition Ready, if it has one."""
        self.cluster.note(NodeEvent(event=event, node=node.name))
        conditions = tuple(
            replace(condition, status=ready) if ready and condition.type == "Ready" else condition
            for condition in node.status.conditions
        )
        spec = replace(node.spec, taints=tuple(dict.fromkeys(taints)), **changes)
        changed = replace(node, spec=spec, status=replace(node.status, conditions=conditions))
        self.cluster.write(changed)
        self.nodes.changed(node, changed)

    def remove(self, node: Node) -> None:
        """The node is deleted, and its pods are evicted after a while."""
        self.cluster.note(NodeEvent(event="NodeDeleted", node=node.name))
        pods = self._pods_on(node.name)
        self.cluster.delete(node)
        self.pods.failures.discard(node.name)
        self.nodes.remove(node)
        delay = min(self.cluster.delays.failure, ORPHANED)
        self.pods.let_go(node.name, delay)
        for life in pods:
            self.cluster.later(delay, partial(self._collect, life))

    def _collect(self, life: PodLifecycle) -> None:
        """Evict a pod whose node is gone."""
        if self.cluster.node(life.node) is None:
            self.pods.evict(life, reason="node deleted")

    def _pods_on(self, name: str) -> list[PodLifecycle]:
        return [life for life in self.pods.all.values() if life.node == name]


# --- operations of a scenario -------------------------------------------------------------------------------


@define(eq=False, repr=False)
class ChurnWorkload:
    """The state of a running scenario; *operations* themselves do not change."""

    operations: tuple[Operation, ...]
    cluster: SimulatedCluster
    pods: PodLifecycles
    outside: ExternalEvents
    position: int = 0
    """The number of the next operation, or of the one that waits."""
    deadline: int | None = None
    """When the current barrier times out; None if there is none."""
    created: dict[str, dict[str, None]] = Factory(dict)
    """Namespace -> pods of createPods that had no node when last looked at."""
    _numbers: dict[str, int] = Factory(dict)
    _slots: dict[tuple[int, int, int], KubeObject] = Factory(dict)
    """Objects of churn in mode ``recreate``: operation, template, slot -> object."""

    def __attrs_post_init__(self) -> None:
        if self.operations:
            self.cluster.agenda.put(self.cluster.now, self._advance)

    @property
    def is_over(self) -> bool:
        return self.position >= len(self.operations)

    def _advance(self) -> None:
        """Do operations until one takes time or waits."""
        while not self.is_over and self.deadline is None:
            operation = self.operations[self.position]
            self.cluster.note(OperationBegun(opcode=operation.opcode, number=self.position + 1))
            seconds = 0.0
            match operation.opcode:
                case "createNodes":
                    self._create_nodes(operation)
                case "createPods":
                    seconds = self._create_pods(operation)
                case "createAny":
                    for template in operation.templates:
                        for _ in range(operation.count):
                            is_single = operation.count == 1 and template.metadata.name
                            self.make(
                                template if is_single else self._instance_of(template, operation.namespace)
                            )
                case "churn":
                    self._churn_later(operation, self.position)
                case "sleep":
                    seconds = operation.interval
                case "barrier":
                    self._raise_barrier(operation)
                case "deletePods":
                    for life in list(self.pods.all.values()):
                        if not operation.namespace or life.key.partition("/")[0] == operation.namespace:
                            self.pods.delete(life)
                case "deleteNodes":
                    # The named nodes, or random ones.
                    names = sorted(node.name for node in self.cluster.engine.nodes())
                    count = min(operation.count, len(names))
                    for name in operation.names or self.cluster.draw.sample(names, count):
                        if (node := self.cluster.node(name)) is not None:
                            self.outside.remove(node)
            if seconds:
                self.cluster.later(seconds, self._go_on)
                return
            self.position += self.deadline is None

    def _go_on(self) -> None:
        self.deadline = None
        self.position += 1
        self._advance()

    # --- making ---------------------------------------------------------------------------------------------

    def _instance_of(
        self, template: KubeObject, namespace: str | None, *, is_alone: bool = False
    ) -> KubeObject:
        name = template.metadata.name
        base = f"{template.kind} {namespace or ''}/{name}"
        self._numbers[base] = number = self._numbers.get(base, -1) + 1
        if not (name and is_alone and not number):
            name = f"{name or template.kind.lower()}-{number}"
        return renamed(template, name, namespace)

    def _create_nodes(self, operation: Operation) -> None:
        for number in range(operation.count):
            node = self._instance_of(operation.templates[0], None, is_alone=operation.count == 1)
            if operation.label_key:
                values = operation.label_values or (node.name,)
                labels = {**node.labels, operation.label_key: values[number % len(values)]}
                node = replace(node, metadata=replace(node.metadata, labels=type(node.labels)(labels)))
            self.make(node)

    def make(self, item: KubeObject, run_time: float | None = None) -> None:
        """Create an object."""
        if isinstance(item, Pod):
            self.pods.arrive(item, Lifetime(runs_for=run_time))
            return
        if isinstance(item, Node):
            self.cluster.note(NodeEvent(event="NodeAdded", node=item.name))
        self.outside.create(item)

    def _create_pods(self, operation: Operation) -> float:
        """The pods come at once or one by one; the next operation waits for all of them unless
        *skip_wait*."""
        seconds = 0.0
        for number in range(operation.count):
            if number and operation.per_second:
                seconds += self.cluster.draw.expovariate(operation.per_second)
            elif number:
                seconds += operation.interval
            if not operation.templates:  # its pods are ignored
                continue
            pod = self._instance_of(operation.templates[0], operation.namespace)
            self.created.setdefault(pod.namespace, {})[pod.key] = None
            if seconds:
                self.cluster.later(seconds, partial(self.make, pod, operation.run_time))
            else:
                self.make(pod, operation.run_time)
        if not operation.skip_wait:
            self._raise_barrier(operation)
            return 0.0
        return seconds

    # --- waiting --------------------------------------------------------------------------------------------

    def _raise_barrier(self, operation: Operation) -> None:
        self.deadline = self.cluster.after(operation.timeout)

    def look(self) -> None:
        """Go on if all pods of the barrier are scheduled, or its time is up; then again, as the next
        operation may be a barrier that is met, too."""
        while self.deadline is not None:
            operation = self.operations[self.position]
            spaces = operation.namespaces or (
                (operation.namespace,) if operation.namespace else tuple(self.created)
            )
            if any(self._is_waiting(self.created.get(space, {})) for space in spaces):
                if self.cluster.now < self.deadline:
                    return
                self.cluster.note(BarrierGivenUp(number=self.position + 1))
            self._go_on()

    def _is_waiting(self, pods: dict[str, None]) -> bool:
        """Whether one of *pods* has yet to come or to find a node; pods before it are dropped."""
        while pods:
            key = next(iter(pods))
            life = self.pods.all.get(key)
            if key not in self.pods.replacements or (life is not None and life.waits):
                return True
            del pods[key]
        return False

    # --- churn ----------------------------------------------------------------------------------------------

    def _churn_later(self, operation: Operation, place: int, step: int = 0) -> None:
        self.cluster.later(operation.interval or 0.5, partial(self._churn, operation, place, step))

    def _churn(self, operation: Operation, place: int, step: int) -> None:
        """One step of churn; it goes on until the scenario is over."""
        recreates = operation.mode == "recreate"
        if self.is_over or (not recreates and operation.number and step >= operation.number):
            return
        for index, template in enumerate(operation.templates):
            slot = (place, index, step % max(operation.number, 1))
            if (old := self._slots.pop(slot, None)) is not None:
                self.outside.delete(old)
                continue
            item = self._instance_of(template, operation.namespace)
            self.make(item, operation.run_time)
            if recreates:
                self._slots[slot] = item
        self._churn_later(operation, place, step + 1)


# --- the replay ---------------------------------------------------------------------------------------------


@define(eq=False, repr=False)
class Replay:
    """A replay of *inputs* on *engine*, which must be new. It depends on the inputs, the options and the seed
    alone.

    :meth:`step` does one thing: an event, a scheduling cycle, or a jump in time. A program that decides
    itself calls :meth:`next_pod` and :meth:`conclude` instead. Between steps the whole state is in this
    object.
    """

    inputs: Inputs
    engine: Engine
    delays: Delays = Factory(Delays)
    seed: int = 0
    scheduler_name: str = DEFAULT_SCHEDULER
    """Pods that ask for this scheduler are scheduled; profiles have names of their own."""
    recreate: bool = True
    until: float | None = None
    """When to stop, in virtual seconds; None: when nothing happens any more."""
    observers: list[Callable[[Replay], None]] = Factory(list)
    """Called after everything that happens at one time, before time passes."""
    position: int = 0
    """How many events of the inputs have happened."""
    steps: int = 0
    cluster: SimulatedCluster = field(init=False)
    pods: PodLifecycles = field(init=False)
    outside: ExternalEvents = field(init=False)
    disruptions: DisruptionController = field(init=False)
    workload: ChurnWorkload = field(init=False)
    _free_at: int = 0
    """When the scheduler can begin its next cycle."""
    is_over: bool = False

    def __attrs_post_init__(self) -> None:
        inputs = self.inputs
        self.cluster = SimulatedCluster(
            self.engine, inputs.resources, self.delays, self.seed, inputs.origin, self.scheduler_name
        )
        volumes = VolumeController(self.cluster)
        self.pods = PodLifecycles(self.cluster, volumes, self.recreate)
        nodes = NodeLifecycle(self.cluster, self.pods, lambda: self._awaits_events)
        self.pods.placed = nodes.placed
        self.pods.jobs = JobController.of(self.pods, inputs.workloads.jobs)
        self.pods.made = inputs.workloads.made
        sets = StatefulSetController(self.pods, inputs.workloads)
        if inputs.workloads.ordered:
            self.pods.sets = sets
        scales = inputs.workloads.scales
        self.disruptions = DisruptionController(self.pods, scales, lambda: self._awaits_events)
        self.outside = ExternalEvents(
            self.cluster, self.pods, volumes, nodes, inputs.workloads, self.disruptions, sets
        )
        self.pods.daemon_left = self.outside.daemon_left
        for daemon_set in inputs.workloads.daemon_sets:
            if daemon_set.comes != START:
                self.cluster.agenda.put(nanoseconds(daemon_set.comes), self.outside.begin_daemons)
        self.workload = ChurnWorkload(inputs.operations, self.cluster, self.pods, self.outside)

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
        """Go on until a scheduling cycle begins, and return its pod; None at the end. Call :meth:`conclude`
        after it."""
        while (advanced := self.advance()) is not False:
            if isinstance(advanced, Pod):
                return advanced
        return None

    def advance(self) -> Pod | bool:
        """One event or one jump in time (True), or a pod whose cycle begins; False if nothing is left."""
        if self.is_over:
            return False
        self.steps += 1
        self.workload.look()
        self.outside.sets.look()
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
        while self._free_at <= cluster.now and (item := cluster.queue.pop()) is not None:
            life = self.pods.all.get(item.pod.key)
            # Upstream: a pod that is being deleted is skipped. So is, here, one that was queued again while
            # it is being bound.
            if life is None or not life.waits or item.pod.is_terminating:
                cluster.queue.done(item.pod)
            elif not self._awaits_events and self.pods.is_futile(life):
                # Otherwise pods that wait in vain for each other would keep the replay going for ever.
                cluster.queue.add_unschedulable(item, cluster.queue.cycle)
                life.tried_at = cluster.changes
            else:
                life.queued = item
                return item.pod
        # Let time pass until something can happen.
        next_time = self.next_time()
        if next_time is None or (self.until is not None and next_time > nanoseconds(self.until)):
            self.is_over = True
            return False
        self._pass_time(next_time)
        return True

    @property
    def _awaits_events(self) -> bool:
        return self.position < len(self.inputs.events) or self.workload.deadline is not None

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

    def decide(self, pod: Pod) -> Decision:
        """The scheduler's decision for *pod*. If nothing changed since its last attempt, that one's decision
        is repeated."""
        life = self.pods.all[pod.key]
        self.disruptions.count()
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
        if node not in (names := [item.name for item in engine.nodes()]):
            raise UnknownNameError(
                f'node: expected a node of the cluster, got "{node}"{did_you_mean(node, names)}'
            )
        if (claims := cycle.template.claims) and engine.binder.enabled:
            engine.binder.remember(
                pod, claims, Batch(engine.table, np.array([engine.table.row_of[node]], np.intp))
            )
        return Decision(pod, host=node)

    def conclude(self, decision: Decision) -> None:
        """Carry out a decision, of the scheduler or of the calling program."""
        cluster = self.cluster
        life = self.pods.all[decision.pod.key]
        self._free_at = cluster.after(cluster.delays.cycle)
        life.attempts += 1
        cluster.tally.attempts += 1
        resume(self.pods.conclude(life.queued, decision))


def _due(event: Event) -> int:
    """The time of *event* in nanoseconds; 0 for objects that exist from the beginning."""
    return nanoseconds(max(event.time, 0.0))
