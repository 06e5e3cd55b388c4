"""The lives of pods in a replay: they come, wait, get a node, are bound, run and finish, or have to leave before."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import attrs

from ....api.objects import Condition, Pod
from ....core.bindingcycle import Failure
from ....core.volumes.assumecache import VolumeError
from ....exceptions import CacheError
from ..inputs.times import plain
from ..simulated import World
from .life import Life, Lifetime
from .volumecontroller import VolumeController

BIND_TIMEOUT = 600.0
"""Seconds after which a pod whose volumes do not come is given up by the scheduler."""


@attrs.define(eq=False)
class Lives:
    """All pods that are there, by ``namespace/name``."""

    world: World
    volumes: VolumeController
    recreate: bool = True
    """Evicted pods that a controller owns come again under another name."""
    all: dict[str, Life] = attrs.field(factory=dict)
    seen: dict[str, int] = attrs.field(factory=dict)
    """Every pod that ever was -> how many were made after it."""

    # --- coming -----------------------------------------------------------------------------------------------------

    def arrive(self, pod: Pod, lifetime: Lifetime, root: Pod | None = None) -> None:
        """A new pod: it waits for a node, or has one and runs; *root* is the pod whose place it takes."""
        world, template = self.world, self.world.engine.templates.of(pod)
        if pod.spec.node_name:
            pod = self._as_started(pod)
        life = Life(pod.key, world.now, lifetime, world.ledger.vector(template.footprint), root or pod)
        self.all[pod.key] = life
        self.seen.setdefault(pod.key, 0)
        world.enter(pod)
        self.volumes.make_claims(pod)
        if lifetime.leaves_at is not None:
            world.agenda.put(max(lifetime.leaves_at, world.now), partial(self._time_is_up, life))
        if pod.spec.node_name:
            life.node = pod.spec.node_name
            world.ledger.place(pod.key, life.node, life.asked)
            self._run(life)
        elif self._is_ours(pod):
            world.tally.arrived += 1
            asked = world.ledger.vector(template.requests)
            world.ledger.wait(pod.key, asked)
            world.fragmentation.see(asked)
            world.journal.note("Arrived", pod=pod.key, gated=world.is_gated(pod.key) or None)

    def _is_ours(self, pod: Pod) -> bool:
        return (pod.spec.scheduler_name or "default-scheduler") in self.world.engine.scheduler_names(self.world.scheduler_name)

    def _time_is_up(self, life: Life) -> None:
        if self._is_there(life):
            self.delete(life)

    def _is_there(self, life: Life) -> bool:
        return self.all.get(life.key) is life

    # --- after a decision -------------------------------------------------------------------------------------------

    def place(self, pod: Pod, host: str) -> Failure | None:
        """The scheduler takes *pod* as bound to *host*; answers what it fails with, if it does."""
        failure = self.world.binding.reserve(pod, host)
        if failure is not None:
            return failure
        world, life = self.world, self.all[pod.key]
        life.node, life.scheduled = host, world.now
        world.changes += 1
        world.ledger.place(pod.key, host, life.asked)
        world.tally.scheduled += 1
        world.tally.waits.append(world.now - life.arrived)
        world.journal.note("Scheduled", pod=pod.key, node=host, wait=plain(world.now - life.arrived), attempts=life.attempts)
        world.agenda.put(world.after(world.delays.binding), partial(self._bind, life))
        return None

    def fail(self, pod: Pod, cycle: int, error: str, reason: str) -> None:
        """An attempt failed: the pod goes back to the queue, with a condition that says why.

        The scheduler reads the pod anew before it queues it; whether it sees the condition by then is a race upstream, which here the
        condition wins.
        """
        life, world = self.all[pod.key], self.world
        condition = Condition(type="PodScheduled", status="False", reason=reason, message=error)
        current = world.pod(pod.key) or pod
        marked = current if condition in current.status.conditions else world.written(_with_condition(current, condition))
        with suppress(CacheError):  # upstream: one that entered the queue meanwhile is only told of in the log
            world.queue.add_unschedulable(marked, cycle)
        if marked is not current:
            world.router.put(marked)
        if error != life.message:
            life.message = error
            world.journal.note("FailedScheduling", pod=pod.key, attempts=life.attempts, message=error)

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Note in the pod's status that room is made for it, or with an empty name that it is not (any more)."""
        current = self.world.pod(pod.key)
        if current is not None and current.status.nominated_node_name != node_name:
            changed = attrs.evolve(current, status=attrs.evolve(current.status, nominated_node_name=node_name))
            self.world.put(self.world.written(changed))

    def drop_nomination(self, pod: Pod) -> None:
        """No room is made for a pod any more."""
        self.world.engine.nominations.remove(pod)
        self.nominate(pod, "")

    # --- binding ----------------------------------------------------------------------------------------------------

    def _bind(self, life: Life) -> None:
        pod = self.world.pod(life.key)
        if not self._is_there(life) or pod is None:
            return
        if (failure := self.world.binding.begin(pod, life.node)) is not None:
            self._unbind(life, pod, failure)
            return
        if not self._claims_bound(pod):
            try:
                written = self.world.engine.binder.bind(pod.bound_to(life.node))
            except VolumeError as error:
                self._give_up(life, pod, str(error))
                return
            for item in written:
                self.volumes.put(self.world.written(item))
            self.volumes.reconcile()
        self._bind_when_ready(life, self.world.after(BIND_TIMEOUT))

    def _claims_bound(self, pod: Pod) -> bool:
        return not self.world.binding.waits_for_claims(pod) or all(map(self.volumes.is_bound, self._claims(pod)))

    def _claims(self, pod: Pod) -> tuple[str, ...]:
        return self.world.engine.templates.entry(pod).template.claims

    def _bind_when_ready(self, life: Life, deadline: float) -> None:
        """Upstream looks once a second whether the claims are bound."""
        pod = self.world.pod(life.key)
        if not self._is_there(life) or pod is None:
            return
        if self._claims_bound(pod):
            self._bound(life, pod)
        elif self.world.now >= deadline or not any(map(self.volumes.is_coming, self._claims(pod))):
            self._give_up(life, pod, "timed out waiting for the condition")
        else:
            self.world.agenda.put(min(self.world.after(1.0), deadline), partial(self._bind_when_ready, life, deadline))

    def _bound(self, life: Life, pod: Pod) -> None:
        world = self.world
        if (failure := world.binding.bind(pod, life.node)) is not None:
            self._unbind(life, pod, failure)
            return
        bound = world.written(pod.bound_to(life.node))
        world.engine.cache.finish_binding(bound, world.now)
        world.put(bound)
        world.journal.note("Bound", pod=life.key, node=life.node)
        world.agenda.put(world.after(world.delays.startup), partial(self._run, life))

    def _give_up(self, life: Life, pod: Pod, error: str) -> None:
        """The volumes of a pod do not come."""
        self.world.binding.give_back(pod, life.node)
        self._unbind(life, pod, self.world.binding.failure(error))

    def _unbind(self, life: Life, pod: Pod, failure: Failure) -> None:
        """A binding failed, and what the scheduler did for it is undone: the pod waits again."""
        world = self.world
        life.node = ""
        world.changes += 1
        world.ledger.wait(life.key, life.asked)
        life.attempts += 1
        fails_again = failure.text == life.message
        # Upstream: a pod that is turned down is parked; one for which something went wrong is moved with all others, and so backs off.
        if not failure.is_rejection:
            world.router.pod_given_up(pod, but_itself=False)
        self.fail(pod, world.queue.cycle, failure.text, failure.reason)
        if world.binding.ends_nominations:
            self.drop_nomination(pod)
        if failure.is_rejection:
            world.router.pod_given_up(pod, but_itself=True)
        if fails_again:
            # Nothing else would end the replay if that went on for ever.
            life.tried_at = world.changes

    # --- running ----------------------------------------------------------------------------------------------------

    def _run(self, life: Life) -> None:
        pod, world = self.world.pod(life.key), self.world
        if not self._is_there(life) or pod is None or life.leaving:
            return
        started = self._as_started(pod)
        if started is not pod:
            world.put(world.written(started))
        world.journal.note("Started", pod=life.key, node=life.node)
        if life.lifetime.runs_for is not None:
            world.agenda.put(world.after(life.lifetime.runs_for), partial(self._finish, life))

    def _as_started(self, pod: Pod) -> Pod:
        if pod.status.phase == "Running" and pod.status.start_time:
            return pod
        status = attrs.evolve(pod.status, phase="Running", start_time=pod.status.start_time or self.world.timestamp)
        return attrs.evolve(pod, status=status)

    def _finish(self, life: Life) -> None:
        if self._is_there(life):
            self.world.tally.finished += 1
            self.world.journal.note("Finished", pod=life.key, node=life.node)
            self._remove(life)

    # --- leaving ----------------------------------------------------------------------------------------------------

    def evict(self, life: Life, why: str, **details: Any) -> None:
        """Tell a pod to leave its node; if a controller owns it, another one takes its place."""
        if not self._is_there(life) or life.leaving:
            return
        self.world.tally.evicted += 1
        self.world.journal.note(why, pod=life.key, node=life.node, **details)
        self._leave(life, why)
        owner = life.original.metadata.controller
        if self.recreate and owner is not None and owner.kind != "DaemonSet":
            self._come_again(life)

    def mark_disrupted(self, life: Life, preemptor: Pod) -> None:
        """Say in the status of a victim, with gate PodDisruptionConditions, for whom it has to leave."""
        pod = self.world.pod(life.key)
        if life.leaving or pod is None or not pod.spec.node_name or not self.world.engine.algorithm.enabled("PodDisruptionConditions"):
            return
        message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
        condition = Condition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler", message=message)
        self.world.put(self.world.written(_with_condition(pod, condition)))

    def delete(self, life: Life) -> None:
        """A user deletes a pod."""
        if not life.leaving:
            self.world.tally.deleted += 1
            self.world.tally.never_scheduled += life.scheduled is None and life.waits
            self._leave(life, "Deleted")

    def _leave(self, life: Life, why: str) -> None:
        pod, delay = self.world.pod(life.key), self.world.delays.termination
        life.leaving = why
        if delay <= 0 or pod is None or not pod.spec.node_name:
            self._gone(life)
            return
        metadata = attrs.evolve(pod.metadata, deletion_timestamp=self.world.timestamp)
        self.world.put(self.world.written(attrs.evolve(pod, metadata=metadata)))
        self.world.agenda.put(self.world.after(delay), partial(self._gone, life))

    def _gone(self, life: Life) -> None:
        if self._is_there(life):
            self.world.journal.note("Deleted", pod=life.key, node=life.node or None)
            self._remove(life)

    def _remove(self, life: Life) -> None:
        pod, cache = self.world.pod(life.key), self.world.engine.cache
        del self.all[life.key]
        self.world.ledger.leave(life.key)
        if pod is None:
            return
        state = cache.state(pod)
        is_reserved = state is not None and state.assumed and not pod.spec.node_name
        if is_reserved:
            self.world.binding.give_back(pod, life.node)
        self.world.delete(pod)
        self.volumes.drop_claims(pod)
        if is_reserved:
            self.world.router.pod_given_up(pod, but_itself=False)

    def _come_again(self, life: Life) -> None:
        root = life.original
        self.seen[root.key] += 1
        again = f"-again{self.seen[root.key]}"
        metadata = attrs.evolve(root.metadata, name=root.name + again, uid=root.metadata.uid and root.metadata.uid + again)
        spec = attrs.evolve(root.spec, node_name="")
        status = attrs.evolve(root.status, phase="", nominated_node_name="", start_time=None, conditions=())
        self.arrive(attrs.evolve(root, metadata=metadata, spec=spec, status=status), life.lifetime, root)


def _with_condition(pod: Pod, condition: Condition) -> Pod:
    """*pod* with *condition* in the place of one of its type."""
    others = tuple(other for other in pod.status.conditions if other.type != condition.type)
    return attrs.evolve(pod, status=attrs.evolve(pod.status, conditions=(*others, condition)))
