"""DefaultPreemption: makes room for a pod that fits nowhere by removing pods of lower priority."""

from __future__ import annotations

import attrs

from ...core.pods.template import Template
from ..cycle.diagnosis import Diagnosis
from ..cycle.preemption import Evaluator
from ..cycle.state import FrameworkCycle, PostFilterResult
from ..plugin import Plugin


class DefaultPreemption(Plugin):
    """Nominate the pod to the node with the least important victims.

    Upstream: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go.
    """

    name = "DefaultPreemption"

    def post_filter(self, pod: Template, found: Diagnosis, cycle: FrameworkCycle) -> PostFilterResult:
        assert cycle.post_filter is not None
        result = Evaluator(cycle, cycle.post_filter, self.args).run(found)
        return attrs.evolve(result, message=f"preemption: {result.message}") if result.message else result
