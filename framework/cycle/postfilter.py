"""What is tried for a pod that fits nowhere. Upstream: RunPostFilterPlugins in pkg/scheduler/framework/runtime/framework.go."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.cluster.nominations import Nominations
from ...core.decision.extender import Extender
from ..plugin import FrameworkCycle
from ..profile import Profile
from .diagnosis import Diagnosis
from .preemption import POST_FILTER, PostFilterResult


def run_post_filter(
    cycle: FrameworkCycle, profile: Profile, nominations: Nominations, diagnosis: Diagnosis, shortlists: bool,
    extenders: Sequence[Extender] = (),
) -> PostFilterResult:
    """Ask the PostFilter plugins in order; the first that succeeds or errs ends it, else their messages are joined."""
    cycle.notes[POST_FILTER] = (profile, nominations, shortlists, extenders)
    found = PostFilterResult()
    messages: list[str] = []
    for plugin in profile.points.post_filter:
        answer = plugin.post_filter(cycle.template, diagnosis, cycle)
        if answer.is_error or not answer.message:
            return answer
        if answer.nominated is not None or found.plan is None:
            found.nominated, found.plan = answer.nominated, answer.plan
        messages.append(answer.message)
    found.message = ", ".join(messages)
    return found
