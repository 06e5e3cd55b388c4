"""DefaultPreemption: makes room for a pod that fits nowhere by removing pods of lower priority."""

from __future__ import annotations

import attrs

from ...core.pods.template import Template
from ..cycle.diagnosis import Diagnosis
from ..cycle.preemption import POST_FILTER, Evaluator, PostFilterResult
from ..plugin import FrameworkCycle, Plugin


class DefaultPreemption(Plugin):
    """Nominate the pod to the node with the least important victims.

    Upstream: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go.
    """

    name = "DefaultPreemption"

    def post_filter(self, pod: Template, found: Diagnosis, cycle: FrameworkCycle) -> PostFilterResult:
        profile, nominations, shortlists, extenders = cycle.notes[POST_FILTER]
        result = Evaluator(cycle, profile, nominations, extenders, self.args, shortlists).run(found)
        return attrs.evolve(result, message=f"preemption: {result.message}") if result.message else result
