"""Pods that have a node and wait there until Permit plugins allow them to be bound, or reject them, or their time is up.

Upstream: WaitOnPermit in pkg/scheduler/framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import attrs

from ....api.objects import Pod
from ....core.bindingcycle import Failure, Waiting
from ..journal import PodWaitsOnPermit
from ..simulatedcluster import SimulatedCluster
from .podlifecycle import PodLifecycle

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
        self.cluster.journal.note(PodWaitsOnPermit(pod=life.key, node=life.node, plugins=list(waiting.pending_plugins)))
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

    def _arm(self, life: PodLifecycle, waiting: Waiting, since: float) -> None:
        timeout = waiting.timeout
        life.timer = self.cluster.agenda.put(max(since + timeout, self.cluster.now), partial(self._time_out, life, waiting, since, timeout))

    def _time_out(self, life: PodLifecycle, waiting: Waiting, since: float, timeout: float) -> None:
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
            self._count_rejection(life)
            self.give_up(life, pod, failure)

    def _count_rejection(self, life: PodLifecycle) -> None:
        self.cluster.passing_changes += 1
        lasting = self.cluster.lasting_changes + 1
        life.rejections = life.rejections + 1 if life.rejected_at == lasting else 1
        life.rejected_at = lasting

    def is_futile(self, life: PodLifecycle) -> bool:
        """Whether a pod was rejected again and again, and nothing but such waits and their ends is to come."""
        is_same = life.rejected_at == self.cluster.lasting_changes
        return is_same and life.rejections >= ENOUGH and len(self.cluster.agenda) == self.count
