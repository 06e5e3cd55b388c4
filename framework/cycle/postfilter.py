"""What is tried for a pod that fits nowhere. Upstream: RunPostFilterPlugins in pkg/scheduler/framework/runtime/framework.go."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.cluster.nominations import Nominations
from ...core.decision.extender import Extender
from ...core.decision.preemptionplan import Preemption
from ...core.preemption.outcomes import DryRuns
from ..profile import Profile
from ..status import Code, Status
from .diagnosis import Diagnosis
from .state import FrameworkCycle, PostFilterContext, PostFilterResult


def run_post_filter(
    cycle: FrameworkCycle,
    profile: Profile,
    nominations: Nominations,
    diagnosis: Diagnosis,
    shortlists: bool,
    extenders: Sequence[Extender],
    runs: DryRuns,
) -> PostFilterResult:
    """Ask the PostFilter plugins in order; the first that succeeds, errs or says that nothing helps ends it; else messages are joined."""
    cycle.post_filter = PostFilterContext(profile.points.pre_filter, nominations, extenders, shortlists, runs)
    found = PostFilterResult()
    messages: list[str] = []
    for plugin in profile.points.post_filter:
        answer = plugin.post_filter(cycle.template, diagnosis, cycle)
        result = _as_result(answer)
        if result.is_error or _is_final(answer) or not (result.message or isinstance(answer, Status)):
            return result
        if result.nominated is not None or found.plan is None or not isinstance(answer, Status):
            found.nominated, found.plan = result.nominated, result.plan
        messages.append(result.message)
    found.message = ", ".join(filter(None, messages))
    return found


def _as_result(answer: PostFilterResult | Status | None) -> PostFilterResult:
    if isinstance(answer, Status):
        is_error = answer.code is Code.ERROR
        plan = Preemption(error=answer.message) if is_error else Preemption()
        return PostFilterResult(message=answer.message, is_error=is_error, plan=plan)
    return PostFilterResult() if answer is None else answer


def _is_final(answer: PostFilterResult | Status | None) -> bool:
    return isinstance(answer, Status) and answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
