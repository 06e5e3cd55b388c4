"""DefaultPreemption: makes room for a pod that fits nowhere by removing pods of lower priority."""

from __future__ import annotations

import attrs

from ...api.objects import KubeObject, Pod
from ..cycle.feasible import Diagnosis
from ..cycle.preemption import Evaluator
from ..plugin import Action, ClusterEvent, Events, FrameworkCycle, Plugin, PostFilterResult, Template


class DefaultPreemption(Plugin):
    """Nominate the pod to the node with the least important victims.

    Upstream: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go.
    """

    name = "DefaultPreemption"

    def post_filter(self, pod: Template, found: Diagnosis, cycle: FrameworkCycle) -> PostFilterResult:
        assert cycle.post_filter is not None
        result = Evaluator(cycle, cycle.post_filter, self.args).run(found)
        return attrs.evolve(result, message=f"preemption: {result.message}") if result.message else result

    def events_to_register(self) -> Events:
        # Upstream: it never answers that an event helps; but a pod that it has gated is not woken by events
        # that it does not register.
        if not (self.handle.queueing.holder_decides and self.handle.enabled("SchedulerAsyncPreemption")):
            return ()
        return (ClusterEvent("Pod", Action.DELETE, hint=_never),)


def _never(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> bool:
    return False
