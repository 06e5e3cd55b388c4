"""The life cycles of pods in a replay: they arrive, wait, get a node, are bound, run and finish, or are evicted or deleted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import attrs
from msgspec.structs import replace

from ....api.objects import Condition, Pod
from ....api.objects.pods import DEFAULT_SCHEDULER
from ....api.record import UNSET
from ....core.bindingcycle import Failure, Waiting
from ....core.queue.backoff import SECOND, nanoseconds
from ....core.queue.base import scheduled_condition
from ....core.volumes.assumecache import VolumeError
from ....exceptions import CacheError
from ....simulation.drainrules import stays_with_node
from ....simulation.replacements import claims_left_by, with_claims
from ..inputs.times import plain
from ..journal import PodArrived, PodDeleted, PodEvicted, PodFailedScheduling, PodOnNode, PodPreempted, PodScheduled, PodWaitsOnPermit
from ..simulatedcluster import SimulatedCluster
from .podlifecycle import Lifetime, PodLifecycle
from .volumecontroller import VolumeController

ENOUGH = 3
"""How many rejections on a cluster that does not change make a pod futile."""


@attrs.define(eq=False, repr=False)
class PermitWaits:
    """The waits on Permit. What follows from their ends is done by *go_on* and *give_up*."""

    cluster: SimulatedCluster
    go_on: Callable[[PodLifecycle], None]
    """The pod was allowed: its binding goes on."""
    give_up: Callable[[PodLifecycle, Pod, Failure], None]
    """The pod was rejected, and its reservations are given back."""
    count: int = 0
    """How many pods wait."""

    def hold(self, life: PodLifecycle, waiting: Waiting) -> None:
        """A pod begins to wait."""
        self.count += 1
        self.cluster.passing_changes += 1
        life.held, waiting.on_end = waiting, partial(self._ended, life, waiting)
        self.cluster.note(PodWaitsOnPermit(pod=life.key, node=life.node, plugins=list(waiting.pending_plugins)))
        self._arm(life, waiting, self.cluster.now)

    def drop(self, life: PodLifecycle) -> None:
        """A pod goes while it waits, if it does."""
        if life.held is not None:
            life.held.on_end = None
            self._stop_timer(life)
            self._stop(life)

    def _stop(self, life: PodLifecycle) -> None:
        life.held = None
        self.count -= 1

    # --- time -------------------------------------------------------------------------------------------------------

    def _arm(self, life: PodLifecycle, waiting: Waiting, since: int) -> None:
        timeout = waiting.timeout
        ends = max(since + nanoseconds(timeout), self.cluster.now)
        life.timer = self.cluster.agenda.put(ends, partial(self._time_out, life, waiting, since, timeout))

    def _time_out(self, life: PodLifecycle, waiting: Waiting, since: int, timeout: float) -> None:
        life.timer = None
        waiting.pass_time(timeout)
        if not waiting.is_over:
            self._arm(life, waiting, since)

    def _stop_timer(self, life: PodLifecycle) -> None:
        if life.timer is not None:
            self.cluster.agenda.cancel(life.timer)
            life.timer = None

    # --- the end of a wait ------------------------------------------------------------------------------------------

    def _ended(self, life: PodLifecycle, waiting: Waiting) -> None:
        """A plugin had the last word, perhaps in the middle of another pod's cycle: the pod goes on after that."""
        self._stop_timer(life)
        self.cluster.agenda.put(self.cluster.now, partial(self._conclude, life, waiting))

    def _conclude(self, life: PodLifecycle, waiting: Waiting) -> None:
        pod = self.cluster.pod(life.key)
        if life.held is not waiting or pod is None:
            return
        self._stop(life)
        failure = self.cluster.binding.permitted(pod, life.node)
        if failure is None:
            self.cluster.changes += 1
            self.go_on(life)
        else:
            self.cluster.passing_changes += 1
            lasting = self.cluster.lasting_changes + 1
            life.rejections = life.rejections + 1 if life.rejected_at == lasting else 1
            life.rejected_at = lasting
            self.give_up(life, pod, failure)

    def is_futile(self, life: PodLifecycle) -> bool:
        """Whether a pod was rejected again and again, and nothing but such waits and their ends is to come."""
        is_same = life.rejected_at == self.cluster.lasting_changes
        return is_same and life.rejections >= ENOUGH and len(self.cluster.agenda) == self.count


BIND_TIMEOUT = 600.0
"""Seconds that the scheduler waits for a pod's volumes."""


@attrs.define(eq=False, repr=False)
class PodLifecycles:
    """All pods of the cluster, and what happens to them."""

    cluster: SimulatedCluster
    volumes: VolumeController
    recreate: bool = True
    """Whether evicted pods of a controller are replaced, under another name."""
    all: dict[str, PodLifecycle] = attrs.field(factory=dict)
    """By ``namespace/name``."""
    seen: dict[str, int] = attrs.field(factory=dict)
    """Every pod that ever existed -> how many replacements it had."""
    permits: PermitWaits = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.permits = PermitWaits(self.cluster, self._scheduled, self._unbind)

    # --- coming -----------------------------------------------------------------------------------------------------

    def arrive(self, pod: Pod, lifetime: Lifetime, root: Pod | None = None) -> None:
        """A new pod: it waits for a node, or has one and runs; *root* is the first pod that it replaces."""
        cluster, template = self.cluster, self.cluster.engine.template_of(pod)
        if pod.spec.node_name:
            pod = self._as_started(pod)
        elif pod.spec.resource_claims:
            pod, claims = with_claims(pod, cluster.engine)
            for claim in claims:
                cluster.write(claim)
        key, asked = pod.key, cluster.ledger.vector(template.footprint)
        life = self.all[key] = PodLifecycle(key, cluster.now, lifetime, asked, root or pod)
        self.seen.setdefault(key, 0)
        cluster.enter(pod)
        self.volumes.make_claims(pod)
        if lifetime.leaves_at is not None:
            cluster.agenda.put(max(nanoseconds(lifetime.leaves_at), cluster.now), partial(self._time_is_up, life))
        if pod.spec.node_name:
            life.node = pod.spec.node_name
            cluster.ledger.place(key, life.node, asked)
            self._run(life)
        elif (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in self.cluster.engine.scheduler_names(self.cluster.scheduler_name):
            cluster.tally.arrived += 1
            if template.requests != template.footprint:
                asked = cluster.ledger.vector(template.requests)
            cluster.ledger.wait(key, asked)
            cluster.fragmentation.see(asked)
            cluster.note(PodArrived(pod=key, gated=cluster.is_gated(key) or UNSET))

    def _time_is_up(self, life: PodLifecycle) -> None:
        if self._is_there(life):
            self.delete(life)

    def _is_there(self, life: PodLifecycle) -> bool:
        return self.all.get(life.key) is life

    # --- after a decision -------------------------------------------------------------------------------------------

    def place(self, pod: Pod, host: str) -> Failure | None:
        """The scheduler assumes *pod* on *host*, and its binding begins; answers the failure, if there is one."""
        failure = self.cluster.binding.reserve(pod, host)
        if failure is not None:
            return failure
        cluster, life = self.cluster, self.all[pod.key]
        life.node = host
        cluster.changes += 1
        cluster.ledger.place(life.key, host, life.asked)
        waiting = cluster.binding.waiting(pod)
        if waiting is None:
            self._scheduled(life)
        else:
            self.permits.hold(life, waiting)
        return None

    def _scheduled(self, life: PodLifecycle) -> None:
        """Nothing keeps a pod from being bound."""
        cluster = self.cluster
        cluster.queue.done(life.tried.pod)
        life.scheduled = cluster.now
        cluster.tally.scheduled += 1
        wait = (cluster.now - life.arrived) / SECOND
        cluster.tally.waits.append(wait)
        cluster.note(PodScheduled(pod=life.key, node=life.node, wait=plain(wait), attempts=life.attempts))
        cluster.later(cluster.delays.binding, partial(self._bind, life))

    def fail(self, pod: Pod, cycle: int, error: str, reason: str, plugins: frozenset[str] | None = None) -> None:
        """An attempt failed: the pod goes back to the queue, with a condition that says why.

        *plugins*: those that rejected it; None: those of the cycle.

        Upstream reads the pod again before it queues it, and may or may not see the new condition yet; here it always does.
        """
        life, cluster = self.all[pod.key], self.cluster
        current = cluster.pod(life.key) or pod
        condition = self._failed_condition(current, reason, error)
        marked = current if condition in current.status.conditions else cluster.written(_with_condition(current, condition))
        tried = life.tried.read_again(marked)
        blamed = cluster.engine.take_unschedulable_plugins(pod)
        tried.plugins = blamed if plugins is None else plugins
        with suppress(CacheError):  # Upstream: a pod that is in the queue already is only logged
            cluster.queue.add_unschedulable(tried, cycle)
        if marked is not current:
            cluster.router.put(marked)
        if error != life.message:
            life.message = error
            cluster.note(PodFailedScheduling(pod=life.key, attempts=life.attempts, message=error))

    def _failed_condition(self, pod: Pod, reason: str, message: str) -> Condition:
        """The condition PodScheduled after an attempt that failed now. Upstream: UpdatePodCondition in pkg/api/v1/pod/util.go."""
        before, probes = scheduled_condition(pod), self.cluster.engine.release.queue.probe_times
        failed = before if before is not None and before.status == "False" else None
        if failed is not None and not probes and (failed.reason, failed.message, failed.last_probe_time) == (reason, message, None):
            return failed  # most attempts fail as the one before
        now = self.cluster.timestamp
        since = now if failed is None else failed.last_transition_time
        return Condition(
            type="PodScheduled", status="False", reason=reason, message=message, last_probe_time=now if probes else None,
            last_transition_time=since,
        )  # fmt: skip

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Write the nominated node to the pod's status; an empty name removes it."""
        current = self.cluster.pod(pod.key)
        if current is not None and current.status.nominated_node_name != node_name:
            changed = replace(current, status=replace(current.status, nominated_node_name=node_name))
            self.cluster.write(changed)

    def drop_nomination(self, pod: Pod) -> None:
        """A pod is not nominated any more."""
        self.cluster.engine.nominations.remove(pod)
        self.nominate(pod, "")

    # --- binding ----------------------------------------------------------------------------------------------------

    def _bind(self, life: PodLifecycle) -> None:
        pod = self.cluster.pod(life.key)
        if not self._is_there(life) or pod is None:
            return
        if (failure := self.cluster.binding.begin(pod, life.node)) is not None:
            self._unbind(life, pod, failure)
            return
        if not self._claims_bound(pod):
            try:
                written = self.cluster.engine.bind_volumes(pod.bound_to(life.node))
            except VolumeError as error:
                self._give_up(life, pod, str(error))
                return
            for item in written:
                self.volumes.put(self.cluster.written(item))
            self.volumes.reconcile()
        self._bind_when_ready(life, self.cluster.after(BIND_TIMEOUT))

    def _claims_bound(self, pod: Pod) -> bool:
        return not self.cluster.binding.waits_for_claims(pod) or all(map(self.volumes.is_bound, self._claims(pod)))

    def _claims(self, pod: Pod) -> tuple[str, ...]:
        return self.cluster.engine.claims_of(pod) if pod.spec.volumes else ()

    def _bind_when_ready(self, life: PodLifecycle, deadline: int) -> None:
        """Upstream looks once a second whether the claims are bound."""
        pod = self.cluster.pod(life.key)
        if not self._is_there(life) or pod is None:
            return
        if self._claims_bound(pod):
            cluster = self.cluster
            if (failure := cluster.binding.bind(pod, life.node)) is not None:
                self._unbind(life, pod, failure)
                return
            # The scheduler sees it at once, so there is no time in which its place could expire, in any release.
            cluster.write(pod.bound_to(life.node))
            cluster.note(PodOnNode(event="Bound", pod=life.key, node=life.node))
            cluster.later(cluster.delays.startup, partial(self._run, life))
        elif self.cluster.now >= deadline or not any(map(self.volumes.is_coming, self._claims(pod))):
            self._give_up(life, pod, "timed out waiting for the condition")
        else:
            self.cluster.agenda.put(min(self.cluster.after(1.0), deadline), partial(self._bind_when_ready, life, deadline))

    def _give_up(self, life: PodLifecycle, pod: Pod, error: str) -> None:
        """A pod's volumes are not bound in time."""
        self.cluster.binding.give_back(pod, life.node)
        self._unbind(life, pod, self.cluster.binding.failure(error))

    def _unbind(self, life: PodLifecycle, pod: Pod, failure: Failure) -> None:
        """A binding failed and is undone: the pod waits again."""
        cluster = self.cluster
        given_up, life.node = pod.bound_to(life.node), ""
        cluster.changes += 1
        cluster.ledger.wait(life.key, life.asked)
        fails_again = failure.text == life.message
        # Upstream: a rejected pod is parked; after an error the pod is moved with all others, and so backs off.
        if not failure.is_rejection:
            cluster.router.pod_given_up(given_up, but_itself=False)
        self.fail(pod, cluster.queue.cycle, failure.text, failure.reason, failure.plugins)
        if cluster.binding.ends_nominations:
            self.drop_nomination(pod)
        if failure.is_rejection:
            cluster.router.pod_given_up(given_up, but_itself=True)
        if fails_again:
            # Otherwise a binding that fails every time would keep the replay going for ever.
            life.tried_at = cluster.changes

    # --- running ----------------------------------------------------------------------------------------------------

    def _run(self, life: PodLifecycle) -> None:
        pod, cluster = self.cluster.pod(life.key), self.cluster
        if not self._is_there(life) or pod is None or life.leaving:
            return
        started = self._as_started(pod)
        if started is not pod:
            cluster.write(started)
        cluster.note(PodOnNode(event="Started", pod=life.key, node=life.node))
        if life.lifetime.runs_for is not None:
            cluster.later(life.lifetime.runs_for, partial(self._finish, life))

    def _as_started(self, pod: Pod) -> Pod:
        if pod.status.phase == "Running" and pod.status.start_time:
            return pod
        start = pod.status.start_time or self.cluster.timestamp
        return pod.with_status(replace(pod.status, phase="Running", start_time=start))

    def _finish(self, life: PodLifecycle) -> None:
        if self._is_there(life):
            self.cluster.tally.finished += 1
            self.cluster.note(PodOnNode(event="Finished", pod=life.key, node=life.node))
            self._remove(life)

    # --- leaving ----------------------------------------------------------------------------------------------------

    def evict(self, life: PodLifecycle, reason: str = "", by: str = "") -> None:
        """Evict a pod for a *reason*, or preempt it; *by*: for which pod. If a controller owns it, another pod replaces it."""
        if not self._is_there(life) or life.leaving:
            return
        self.cluster.tally.evicted += 1
        why = PodPreempted(pod=life.key, node=life.node, by=by) if by else PodEvicted(pod=life.key, node=life.node, reason=reason)
        self.cluster.note(why)
        self._leave(life, why.event)
        if self.recreate and life.original.metadata.controller is not None and not stays_with_node(life.original):
            self._replace(life)

    def mark_disrupted(self, life: PodLifecycle, preemptor: Pod) -> None:
        """With gate PodDisruptionConditions, give a victim the condition DisruptionTarget."""
        pod = self.cluster.pod(life.key)
        if life.leaving or pod is None or not pod.spec.node_name or not self.cluster.engine.enabled("PodDisruptionConditions"):
            return
        message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
        condition = Condition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler", message=message)
        self.cluster.write(_with_condition(pod, condition))

    def delete(self, life: PodLifecycle) -> None:
        """A user deletes a pod."""
        if not life.leaving:
            self.cluster.tally.deleted += 1
            self.cluster.tally.never_scheduled += life.scheduled is None and (life.waits or life.held is not None)
            self._leave(life, "Deleted")

    def _leave(self, life: PodLifecycle, why: str) -> None:
        pod, delay = self.cluster.pod(life.key), self.cluster.delays.termination
        life.leaving = why
        if delay <= 0 or pod is None or not pod.spec.node_name:
            self._gone(life)
            return
        metadata = replace(pod.metadata, deletion_timestamp=self.cluster.timestamp)
        self.cluster.write(replace(pod, metadata=metadata))
        self.cluster.later(delay, partial(self._gone, life))

    def _gone(self, life: PodLifecycle) -> None:
        if self._is_there(life):
            self.cluster.note(PodDeleted(pod=life.key, node=life.node or UNSET))
            self._remove(life)

    def _remove(self, life: PodLifecycle) -> None:
        pod, cache = self.cluster.pod(life.key), self.cluster.engine.cache
        del self.all[life.key]
        self.permits.drop(life)
        self.cluster.ledger.leave(life.key)
        if pod is None:
            return
        state = cache.state(pod)
        is_reserved = state is not None and state.assumed and not pod.spec.node_name
        if is_reserved:
            self.cluster.binding.give_back(pod, life.node)
        self.cluster.delete(pod)
        self.volumes.drop_claims(pod)
        for claim, left in tuple(claims_left_by(pod, self.cluster.engine.listings.resource_claims.of(pod))):
            self.cluster.delete(claim) if left is None else self.cluster.write(left)
        if is_reserved:
            self.cluster.router.pod_given_up(pod.bound_to(life.node), but_itself=False)

    def _replace(self, life: PodLifecycle) -> None:
        root = life.original
        self.seen[root.key] += 1
        again = f"-again{self.seen[root.key]}"
        uid = root.metadata.uid and root.metadata.uid + again
        metadata = replace(root.metadata, name=root.name + again, uid=uid, creation_timestamp=None)
        spec = replace(root.spec, node_name="")
        status = replace(root.status, phase="", nominated_node_name="", start_time=None, conditions=(), resource_claim_statuses=())
        self.arrive(replace(root, metadata=metadata, spec=spec, status=status), life.lifetime, root)


def _with_condition(pod: Pod, condition: Condition) -> Pod:
    """*pod* with *condition* in the place of one of its type."""
    others = tuple(other for other in pod.status.conditions if other.type != condition.type)
    return pod.with_status(pod.status.with_conditions((*others, condition)))
