"""The decision on a pod that fits nowhere once more, where no pod could leave for it. See :mod:`kubeclassic.core.preemption.refusals`."""

from __future__ import annotations

from ...core.decision.decision import Decision
from ...core.decision.plan import Preemption
from ...core.preemption.refusals import Refusal
from ..extensionpoints import PostFilter
from ..plugins.defaultpreemption import DefaultPreemption
from .diagnosis import fit_error, reasons_text
from .preemption import NEVER, NO_VICTIMS, NOT_HELPFUL
from .state import FrameworkCycle, PostFilterResult


def only_preempts(post_filters: tuple[PostFilter, ...], cycle: FrameworkCycle) -> bool:
    """Whether *post_filters* are upstream's preemption alone, and no pod has a lower priority than that of *cycle*."""
    is_upstreams = len(post_filters) == 1 and type(post_filters[0]) is DefaultPreemption
    return is_upstreams and min(cycle.table.priorities, default=cycle.pod.priority) >= cycle.pod.priority


def refused(cycle: FrameworkCycle, kept: Refusal, *, preempts: bool) -> Decision:
    """The FitError for the pod of *cycle*. With *preempts* preemption finds nobody who could leave."""
    result = _nobody_leaves(cycle, kept) if preempts else PostFilterResult()
    error = fit_error(kept.nodes, reasons_text(kept.tally), result.message)
    plugins = frozenset(name for name, count in kept.predicates.items() if count)
    return Decision(cycle.pod, error=error, is_fit_error=True, preemption=result.plan, nominated=result.nominated, plugins=plugins)


def _nobody_leaves(cycle: FrameworkCycle, kept: Refusal) -> PostFilterResult:
    if cycle.pod.spec.preemption_policy == "Never":
        return PostFilterResult(message=f"preemption: {NEVER}", plan=Preemption())
    counts = {NO_VICTIMS: kept.nodes - kept.unresolvable, NOT_HELPFUL: kept.unresolvable}
    message = fit_error(kept.nodes, reasons_text({text: count for text, count in counts.items() if count}))
    return PostFilterResult("", f"preemption: {message}", plan=Preemption(drops_own=True))
