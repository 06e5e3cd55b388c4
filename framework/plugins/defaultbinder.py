"""DefaultBinder: binds a pod to its node."""

from __future__ import annotations

from ...api.objects import Pod
from ..plugin import FrameworkCycle, Plugin, Status


class DefaultBinder(Plugin):
    """Allow the binding. The caller that runs the scheduler against a cluster writes it to the API.

    Upstream: pkg/scheduler/framework/plugins/defaultbinder/default_binder.go.
    """

    name = "DefaultBinder"

    def bind(self, pod: Pod, node_name: str, cycle: FrameworkCycle) -> Status | None:
        return None
