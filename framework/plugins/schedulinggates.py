"""SchedulingGates: is the pod gated by its scheduling gates?"""

from __future__ import annotations

from ...api.objects import Pod
from ..hints import gates_end
from ..plugin import Action, ClusterEvent, Events, Plugin, Status, unresolvable


class SchedulingGates(Plugin):
    """Hold a pod back as long as it has scheduling gates.

    Upstream: pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go.
    """

    name = "SchedulingGates"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        gates = pod.spec.scheduling_gates
        if not gates or not self.handle.enabled("PodSchedulingReadiness"):
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gate.name for gate in gates)}]")

    def events_to_register(self) -> Events:
        if self.handle.queueing.skips_gated and not self.handle.hints_see_pods:
            return ()
        return (
            ClusterEvent(
                "Pod", self.handle.pod_update(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED), hint=gates_end
            ),
        )
