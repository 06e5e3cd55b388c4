"""The life cycles of pods in a replay: they arrive, wait, get a node, are bound, run and finish, or are
evicted or deleted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from functools import partial
from types import coroutine
from typing import Any, Protocol

from attrs import Factory, define, field
from msgspec.structs import replace

from ...api.controlplane import target_node
from ...api.objects import Condition, Pod
from ...api.record import UNSET
from ...core.arrays import Ints
from ...core.binding import VolumeError
from ...core.bindingcycle import Failure, Waiting
from ...core.decision import Preemption
from ...core.driver import Attempt, Driver
from ...core.queue.backoff import SECOND, QueuedPod, nanoseconds
from ...core.queue.priority import scheduled_condition
from ...exceptions import CacheError
from ...simulation.evictions import SAME_NAME, claims_left_by, is_daemon, stays_with_node, with_claims
from .inputs import Lifetime
from .journal import (
    PodArrived,
    PodDeleted,
    PodEvicted,
    PodFailedScheduling,
    PodOnNode,
    PodPreempted,
    PodPreempts,
    PodScheduled,
    PodWaitsOnPermit,
    ReplayEvent,
)
from .simulatedcluster import SimulatedCluster
from .times import plain
from .volumecontroller import VolumeController

Work = Coroutine[Any, Any, None]
"""The work of a binding."""


@define(eq=False, repr=False)
class PodLifecycle:
    """One pod from its arrival to its end; the object itself is in the API."""

    key: str
    arrived: int
    """Nanoseconds, as all times here."""
    lifetime: Lifetime
    requests: Ints
    """The amounts that it takes of a node: int64[R] in the order of the ledger."""
    original: Pod
    """The pod as it came, or the first pod that it replaces; replacements are made from it."""
    node: str = ""
    """The node that it has or is about to get."""
    scheduled: int | None = None
    is_leaving: bool = False
    is_done: bool = False
    """Whether it has run for its time; a failed node says so once it is back."""
    is_awaited: bool = False
    """Whether its StatefulSet or Job makes another pod once it is gone."""
    attempts: int = 0
    message: str = ""
    """The message of the last failed attempt."""
    queued: QueuedPod = field(default=Factory(lambda self: QueuedPod(self.original), takes_self=True))
    """Its entry in the queue at the last attempt."""
    is_hopeless: bool = False
    """Whether the last attempt found no node, and another on the same cluster would not either."""
    tried_at: int = -1
    """The cluster's ``changes`` at the last failed attempt."""
    permit_wait: Waiting | None = None
    """The wait of its binding on Permit."""
    timer: int | None = None
    """The task that ends this wait when its time is up."""
    work: Work | None = None
    """Its binding."""
    rejections: int = 0
    """How often its wait on Permit ended in a rejection since the last lasting change of the cluster."""
    rejected_at: int = -1
    """The cluster's ``lasting_changes`` at these rejections."""

    @property
    def waits(self) -> bool:
        return not self.node


class Jobs(Protocol):
    """A controller of Jobs; pods of other Jobs do not concern it."""

    def came(self, life: PodLifecycle) -> None:
        """A pod is there."""

    def finished(self, life: PodLifecycle) -> None:
        """A pod has succeeded."""

    def failed(self, life: PodLifecycle, *, by_itself: bool = False) -> bool:
        """A pod has failed *by_itself*, was evicted, or is gone; whether this concerns the controller."""

    def waits_for(self, pod: Pod) -> bool:
        """Whether *pod* has failed only once it is gone."""


class StatefulSets(Protocol):
    """A controller of StatefulSets; other pods do not concern it."""

    def came(self, life: PodLifecycle) -> None:
        """A pod is there."""

    def holds(self, pod: Pod, lifetime: Lifetime, root: Pod | None) -> bool:
        """Whether the new *pod* comes later, after others; *root*: the first pod that it replaces."""


ENOUGH = 3
"""How many rejections, or evictions, on a cluster that does not change make a pod futile."""
BIND_TIMEOUT = 600.0
"""Seconds that the scheduler waits for a pod's volumes."""


@coroutine
def pause() -> Generator[None]:
    """Pause a coroutine until a task of the agenda resumes it."""
    yield


def resume(work: Work) -> None:
    """Let *work* go on up to its next pause, or to its end."""
    with suppress(StopIteration):
        work.send(None)


@define(eq=False, repr=False, slots=False)
class PodLifecycles(Driver):
    """All pods of the cluster, and what happens to them."""

    state: SimulatedCluster
    volumes: VolumeController
    recreate: bool
    """Whether evicted pods of a controller are replaced, under another name."""
    all: dict[str, PodLifecycle] = Factory(dict)
    """By ``namespace/name``."""
    failures: set[str] = Factory(set)
    """Nodes that have failed and are not back: their kubelets do not end evicted pods."""
    replacements: dict[str, int] = Factory(dict)
    """Every pod that ever existed -> the number of its replacements."""
    waiting_on_permit: int = 0
    """The number of pods that wait on Permit."""
    waiting_drains: int = 0
    """The number of drains that wait for budgets."""
    jobs: Jobs | None = None
    sets: StatefulSets | None = None
    made: frozenset[str] = frozenset()
    """The pods that workloads make, by ``namespace/name``."""
    placed: Callable[[PodLifecycle], None] = field(default=lambda life: None)
    """Called with each pod that is bound, comes with a node, or changes there."""
    daemon_left: Callable[[str], None] = field(default=lambda node_name: None)
    """Called with the node of each daemon that is gone."""

    # --- coming ---------------------------------------------------------------------------------------------

    def arrive(self, pod: Pod, lifetime: Lifetime, root: Pod | None = None) -> None:
        """A new pod: it waits for a node, or has one and runs; *root* is the first pod that it replaces."""
        if self.sets is not None and self.sets.holds(pod, lifetime, root):
            return
        cluster = self.state
        template = cluster.engine.template_of(pod)
        if pod.spec.node_name:
            pod = self._as_started(pod)
        elif pod.spec.resource_claims:
            pod, claims = with_claims(pod, cluster.engine)
            for claim in claims:
                cluster.write(claim)
        key = pod.key
        requested = cluster.ledger.vector(template.footprint)
        life = self.all[key] = PodLifecycle(key, cluster.now, lifetime, requested, root or pod)
        self.replacements.setdefault(key, 0)
        if self.jobs is not None:
            self.jobs.came(life)
        if self.sets is not None:
            self.sets.came(life)
        cluster.enter(pod)
        self.volumes.make_claims(pod)
        if lifetime.leaves_at is not None:
            cluster.agenda.put(max(nanoseconds(lifetime.leaves_at), cluster.now), partial(self.delete, life))
        if pod.spec.node_name:
            life.node = pod.spec.node_name
            cluster.ledger.place(key, life.node, requested)
            self.placed(life)
            self._run(life)
        else:
            if template.requests != template.footprint:
                requested = cluster.ledger.vector(template.requests)
            cluster.ledger.wait(key, requested)
            cluster.fragmentation.see(requested)
            cluster.note(PodArrived(pod=key, gated=cluster.is_gated(key) or UNSET))

    def update(self, life: PodLifecycle, item: Pod) -> None:
        """A pod changes to *item*; its node, its status and its deletion stay as the replay has them, unless
        it has ended."""
        cluster = self.state
        old = cluster.pod(life.key)
        if item.is_terminal:
            self.finish(life, has_failed=item.status.phase == "Failed")
        elif old is not None and not old.is_terminating:
            metadata = replace(item.metadata, uid=old.metadata.uid, deletion_timestamp=None)
            spec = replace(item.spec, node_name=old.spec.node_name)
            pod = replace(item, metadata=metadata, spec=spec, status=old.status)
            version = old.metadata.resource_version
            if replace(pod, metadata=replace(metadata, resource_version=version)) != old:
                cluster.put(pod)
                template = cluster.engine.template_of(pod)
                life.requests = cluster.ledger.vector(template.footprint)
                if life.node:
                    cluster.ledger.place(life.key, life.node, life.requests)
                    self.placed(life)
                else:
                    cluster.ledger.wait(life.key, cluster.ledger.vector(template.requests))

    # --- a binding ------------------------------------------------------------------------------------------

    def beside(self, attempt: Attempt, work: Work) -> None:
        cluster = self.state
        life = self.all[attempt.pod.key]
        attempt.owner = life
        life.node = attempt.host
        life.work = work
        cluster.changes += 1
        cluster.ledger.place(life.key, life.node, life.requests)
        resume(work)

    async def _sleep(self, life: PodLifecycle, time: int) -> None:
        def go_on() -> None:
            # Its binding goes on, unless the pod is gone.
            if self.all.get(life.key) is life and life.work is not None:
                resume(life.work)

        self.state.agenda.put(time, go_on)
        await pause()

    async def permit(self, attempt: Attempt) -> Failure | None:
        cluster = self.state
        life = attempt.owner
        waiting = cluster.binding.waiting(attempt.pod)
        if waiting is None:
            return None
        self.waiting_on_permit += 1
        cluster.passing_changes += 1
        # A plugin may have the last word in the middle of another pod's cycle: the pod goes on after that.
        life.permit_wait, waiting.on_end = waiting, partial(self._end_of_wait, life)
        cluster.note(PodWaitsOnPermit(pod=life.key, node=life.node, plugins=list(waiting.pending_plugins)))
        self._start_timer(life, waiting, cluster.now)
        await pause()
        self._stop_waiting(life)
        failure = cluster.binding.permitted(attempt.pod, attempt.host)
        if failure is None:
            cluster.changes += 1
        else:
            cluster.passing_changes += 1
            lasting = cluster.lasting_changes + 1
            life.rejections = life.rejections + 1 if life.rejected_at == lasting else 1
            life.rejected_at = lasting
        return failure

    def _start_timer(self, life: PodLifecycle, waiting: Waiting, since: int) -> None:
        timeout = waiting.timeout

        def time_out() -> None:
            life.timer = None
            waiting.pass_time(timeout)
            if not waiting.is_over:
                self._start_timer(life, waiting, since)

        life.timer = self.state.agenda.put(max(since + nanoseconds(timeout), self.state.now), time_out)

    def _end_of_wait(self, life: PodLifecycle) -> None:
        self._stop_timer(life)

        def go_on() -> None:
            # Its binding goes on, unless the pod is gone, even if another pod of its name has come.
            if life.permit_wait is not None and life.work is not None:
                resume(life.work)

        self.state.agenda.put(self.state.now, go_on)

    def _stop_timer(self, life: PodLifecycle) -> None:
        if life.timer is not None:
            self.state.agenda.cancel(life.timer)
            life.timer = None

    def _stop_waiting(self, life: PodLifecycle) -> None:
        """End the pod's wait on Permit, if it has one: the wait is over, or the pod is gone."""
        if life.permit_wait is not None:
            life.permit_wait.on_end = None
            life.permit_wait = None
            self._stop_timer(life)
            self.waiting_on_permit -= 1

    def is_futile(self, life: PodLifecycle) -> bool:
        """Whether a pod was rejected again and again, and nothing but the ends of such waits is to come."""
        is_same = life.rejected_at == self.state.lasting_changes
        return is_same and life.rejections >= ENOUGH and len(self.state.agenda) == self.idle_tasks

    @property
    def idle_tasks(self) -> int:
        """The number of tasks that change nothing by themselves."""
        return self.waiting_on_permit + self.waiting_drains

    async def allowed(self, attempt: Attempt) -> None:
        cluster = self.state
        life = attempt.owner
        life.scheduled = cluster.now
        wait = (cluster.now - life.arrived) / SECOND
        cluster.tally.waits.append(wait)
        cluster.note(PodScheduled(pod=life.key, node=life.node, wait=plain(wait), attempts=life.attempts))
        await self._sleep(life, cluster.after(cluster.delays.binding))

    async def bind_volumes(self, attempt: Attempt) -> Failure | None:
        cluster = self.state
        if not (attempt.pod.spec.volumes and cluster.binding.waits_for_claims(attempt.pod)):
            return None
        claims = cluster.engine.claims_of(attempt.pod)
        if all(map(self.volumes.is_bound, claims)):
            return None
        try:
            written = cluster.engine.bind_volumes(attempt.pod.bound_to(attempt.host))
        except VolumeError as error:
            return cluster.binding.failure(str(error))
        for item in written:
            self.volumes.put(cluster.written(item))
        self.volumes.reconcile()
        deadline = cluster.after(BIND_TIMEOUT)
        while not all(map(self.volumes.is_bound, claims)):  # upstream looks once a second
            if cluster.now >= deadline or self.volumes.making.keys().isdisjoint(claims):
                return cluster.binding.failure("timed out waiting for the condition")
            await self._sleep(attempt.owner, min(cluster.after(1.0), deadline))
        return None

    async def write(self, attempt: Attempt) -> Failure | None:
        cluster = self.state
        life = attempt.owner
        pod = cluster.pod(attempt.pod.key)
        assert pod is not None
        # The scheduler sees it at once, so there is no time in which its place could expire, in any release.
        cluster.write(pod.bound_to(life.node))
        cluster.note(PodOnNode(event="Bound", pod=life.key, node=life.node))
        self.placed(life)
        cluster.later(cluster.delays.startup, partial(self._run, life))
        return None

    def ended(self, attempt: Attempt, failure: Failure | None) -> None:
        """Nothing happens: a replay does not measure these steps."""

    def given_back(self, attempt: Attempt, failure: Failure) -> None:
        life = attempt.owner
        life.node = ""
        self.state.changes += 1
        self.state.ledger.wait(life.key, life.requests)

    async def undo(self, attempt: Attempt, failure: Failure, *, gives_back: bool = False) -> None:
        life = attempt.owner
        fails_again = failure.text == life.message
        await super().undo(attempt, failure, gives_back=gives_back)
        if fails_again:
            # Otherwise a binding that fails every time would keep the replay going for ever.
            life.tried_at = self.state.changes

    # --- after a failure ------------------------------------------------------------------------------------

    async def failed(
        self, item: QueuedPod, failure: Failure, nominated: str | None, attempt: Attempt | None = None
    ) -> None:
        """Upstream reads the pod again before it queues it, and may or may not see the new condition yet;
        here it always does."""
        cluster = self.state
        life = self.all[item.pod.key]
        pod = item.pod
        current = cluster.pod(life.key) or pod
        # The condition PodScheduled. Upstream: UpdatePodCondition in pkg/api/v1/pod/util.go.
        before = scheduled_condition(current)
        now = cluster.timestamp
        condition = Condition(
            type="PodScheduled",
            status="False",
            reason=failure.reason,
            message=failure.text,
            last_probe_time=now if cluster.engine.release.queue.probe_times else None,
            last_transition_time=before.last_transition_time if before and before.status == "False" else now,
        )
        marked = current
        if condition not in current.status.conditions:
            marked = cluster.written(_with_condition(current, condition))
        queued = life.queued.read_again(marked)
        queued.plugins = item.plugins
        with suppress(CacheError):  # Upstream: a pod that is in the queue already is only logged
            cluster.queue.add_unschedulable(queued, cluster.queue.cycle)
        if marked is not current:
            cluster.router.put(marked)
        if failure.text != life.message:
            life.message = failure.text
            cluster.note(PodFailedScheduling(pod=life.key, attempts=life.attempts, message=failure.text))
        if attempt is None or not attempt.is_reserved:
            cluster.tally.failed_attempts += 1
            life.tried_at = cluster.changes
        if nominated == "":
            cluster.engine.nominations.remove(pod)
            self.nominate(pod, "")

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Write the nominated node to the pod's status; an empty name removes it."""
        current = self.state.pod(pod.key)
        if current is not None and current.status.nominated_node_name != node_name:
            self.state.write(replace(current, status=replace(current.status, nominated_node_name=node_name)))

    async def make_room(self, pod: Pod, plan: Preemption) -> str | None:
        cluster = self.state
        engine = cluster.engine
        if plan.node is not None:
            if engine.release.preemption.nominates_before_api:
                engine.nominations.add(cluster.pod(pod.key) or pod, plan.node)
            self.nominate(pod, plan.node)
            cluster.note(
                PodPreempts(pod=pod.key, node=plan.node, victims=[victim.key for victim in plan.victims])
            )
            holds = len(plan.victims) > 1 and engine.enabled("SchedulerAsyncPreemption")
            for number, victim in enumerate(plan.victims, 1):
                if holds:
                    # Upstream: the pod is gated until the last victim is about to be deleted.
                    cluster.queue.hold_back(pod, number < len(plan.victims))
                life = self.all.get(victim.key)
                if life is not None and not cluster.binding.preempt(victim, pod):
                    marked = cluster.pod(life.key)
                    if (
                        marked is not None
                        and marked.spec.node_name
                        and not life.is_leaving
                        and engine.enabled("PodDisruptionConditions")
                    ):
                        condition = Condition(
                            type="DisruptionTarget",
                            status="True",
                            reason="PreemptionByScheduler",
                            message=f"{pod.spec.scheduler_name}: preempting to accommodate a higher priority pod",
                        )
                        cluster.write(_with_condition(marked, condition))
                    self.evict(life, by=pod.key)
        for nominee in plan.clear_nominations:
            self.nominate(nominee, "")
        return None

    # --- running --------------------------------------------------------------------------------------------

    def _run(self, life: PodLifecycle) -> None:
        cluster = self.state
        pod = cluster.pod(life.key)
        if self.all.get(life.key) is not life or pod is None or life.is_leaving:
            return
        started = self._as_started(pod)
        if started is not pod:
            cluster.write(started)
        cluster.note(PodOnNode(event="Started", pod=life.key, node=life.node))
        if life.lifetime.runs_for is not None:
            cluster.later(life.lifetime.runs_for, partial(self._run_out, life))

    def _run_out(self, life: PodLifecycle) -> None:
        life.is_done = True
        if life.node not in self.failures:
            self.finish(life)

    def _as_started(self, pod: Pod) -> Pod:
        if pod.status.phase == "Running" and pod.status.start_time:
            return pod
        start = pod.status.start_time or self.state.timestamp
        return pod.with_status(replace(pod.status, phase="Running", start_time=start))

    # --- leaving --------------------------------------------------------------------------------------------

    def evict(self, life: PodLifecycle, reason: str = "", by: str = "") -> None:
        """Evict a pod for a *reason*, or preempt it; *by*: for which pod. If a controller owns it, another
        pod replaces it."""
        if self.all.get(life.key) is not life or life.is_leaving:
            return
        if by:
            self.state.note(PodPreempted(pod=life.key, node=life.node, by=by))
        else:
            self.state.note(PodEvicted(pod=life.key, node=life.node, reason=reason))
        life.is_awaited = self._is_awaited(life)
        self._leave(life, ends=life.node not in self.failures)
        if self._replacing_kind(life.original) and not life.is_awaited:
            self._replace(life)

    def end_deleted(self, life: PodLifecycle, *, ends: bool) -> None:
        """End a pod whose deletion began before the replay, or keep it while its node does not answer."""
        life.is_awaited = self._is_awaited(life)
        self._leave(life, ends=ends)

    def _is_awaited(self, life: PodLifecycle) -> bool:
        kind = self._replacing_kind(life.original)
        waits = self.jobs is not None and self.jobs.waits_for(life.original)
        return kind == SAME_NAME or bool(kind and waits)

    def is_ours(self, root: Pod) -> bool:
        """Whether pods like *root* wait here, not for another scheduler."""
        return root.scheduler_name in self.state.engine.scheduler_names(self.state.scheduler_name)

    def _replacing_kind(self, root: Pod) -> str:
        owner = root.controller
        is_replaced = self.recreate and self.is_ours(root) and not stays_with_node(root)
        return owner.kind if owner is not None and is_replaced else ""

    def _replace(self, life: PodLifecycle) -> None:
        root = life.original
        if self.jobs is not None and self.jobs.failed(life):
            return
        self.replacements[root.key] += 1
        again = f"-again{self.replacements[root.key]}"
        uid = root.metadata.uid and root.metadata.uid + again
        metadata = replace(
            root.metadata, name=root.name + again, uid=uid, creation_timestamp=None, deletion_timestamp=None
        )
        spec = replace(root.spec, node_name="")
        status = replace(
            root.status,
            phase="",
            nominated_node_name="",
            start_time=None,
            conditions=(),
            resource_claim_statuses=(),
        )
        self.arrive(replace(root, metadata=metadata, spec=spec, status=status), life.lifetime, root)

    def let_go(self, node: str, delay: float) -> None:
        """End the pods that finished on *node* while it did not answer, and after *delay* those that were
        evicted from it."""
        for life in [life for life in self.all.values() if life.node == node]:
            if life.is_leaving:
                self.state.later(delay, partial(self._remove, life))
            elif life.is_done and self.state.node(node) is not None:
                self.finish(life)

    def finish(self, life: PodLifecycle, *, has_failed: bool = False) -> None:
        """A pod ends by itself; one that is not bound yet is deleted. The owner of one that *has_failed* makes
        another, unless a recording has them."""
        if life.is_leaving and life.node in self.failures:
            return  # its kubelet cannot report it
        pod = self.state.pod(life.key)
        if pod is not None and pod.node_name:
            self._remove(life, PodOnNode(event="Finished", pod=life.key, node=life.node))
            if has_failed:
                self._after_failure(life)
            elif self.jobs is not None:
                self.jobs.finished(life)
        else:
            self.delete(life)

    def _after_failure(self, life: PodLifecycle) -> None:
        is_of_job = self.jobs is not None and self.jobs.failed(life, by_itself=True)
        if is_daemon(life.original):
            self.daemon_left(life.node)
        elif not is_of_job and life.original.key in self.made and self._replacing_kind(life.original):
            self._replace(life)

    def delete(self, life: PodLifecycle) -> None:
        """A user deletes a pod, or its time is up. One of a failed node stays until the node is back, or
        until it is deleted again, by force."""
        if life.is_leaving and life.node in self.failures:
            self._remove(life)
        elif self.all.get(life.key) is life and not life.is_leaving:
            self.state.tally.deleted += 1
            self.state.tally.never_scheduled += life.scheduled is None and (
                life.waits or life.permit_wait is not None
            )
            self._leave(life, ends=life.node not in self.failures)

    def is_another(self, pod: Pod) -> bool:
        """Whether *pod* is not the one of its name that is being deleted."""
        life = self.all.get(pod.key)
        old = self.state.pod(pod.key)
        if life is None or old is None or not life.is_leaving or pod.is_terminating:
            return False
        return not pod.metadata.uid or pod.metadata.uid != old.metadata.uid

    def give_way(self, pod: Pod) -> None:
        """The pod of the name of *pod* is gone at last, and *pod* is what its owner made in its place."""
        life = self.all[pod.key]
        life.is_awaited = False
        self._remove(life)

    def _leave(self, life: PodLifecycle, *, ends: bool = True) -> None:
        cluster = self.state
        pod = cluster.pod(life.key)
        delay = cluster.delays.termination
        life.is_leaving = True
        is_nowhere = pod is None or not pod.spec.node_name or cluster.node(pod.spec.node_name) is None
        if pod is None or is_nowhere or (ends and delay <= 0):
            self._remove(life)
            return
        cluster.write(replace(pod, metadata=replace(pod.metadata, deletion_timestamp=cluster.timestamp)))
        if ends:
            cluster.later(delay, partial(self._remove, life))

    def _remove(self, life: PodLifecycle, event: ReplayEvent | None = None) -> None:
        """Remove a pod and log *event*, by default its deletion."""
        key = life.key
        if self.all.get(key) is not life:
            return
        cluster = self.state
        cluster.note(event or PodDeleted(pod=key, node=life.node or UNSET))
        pod = cluster.pod(key)
        del self.all[key]
        self._stop_waiting(life)
        cluster.ledger.leave(key)
        if pod is None:
            return
        state = cluster.engine.cache.state(pod)
        is_reserved = state is not None and state.assumed and not pod.spec.node_name
        if is_reserved:
            cluster.binding.give_back(pod, life.node)
        cluster.delete(pod)
        self.volumes.drop_claims(pod)
        for claim, remainder in tuple(claims_left_by(pod, cluster.listings.resource_claims.of(pod))):
            cluster.delete(claim) if remainder is None else cluster.write(remainder)
        if is_reserved:
            cluster.router.pod_given_up(pod.bound_to(life.node), but_itself=False)
        if life.is_awaited:
            self._replace(life)
        elif event is None and self.recreate and is_daemon(pod):
            self.daemon_left(target_node(pod) or "")


def _with_condition(pod: Pod, condition: Condition) -> Pod:
    """*pod* with *condition* in place of another of its type."""
    others = tuple(other for other in pod.status.conditions if other.type != condition.type)
    return pod.with_status(replace(pod.status, conditions=(*others, condition)))
