"""The decision on a pod that fits nowhere once more, where no pod could leave for it. See :mod:`kubeclassic.core.preemption.refusals`."""

from __future__ import annotations

from ...core.decision.decision import Decision
from ...core.decision.plan import Preemption
from ...core.preemption.refusals import Refusal
from ..extensionpoints import PostFilter
from ..plugins.defaultpreemption import DefaultPreemption
from .diagnosis import fit_error, reasons_text
from .preemption import NEVER, NO_VICTIMS, NOT_HELPFUL
from .state import FrameworkCycle


def only_preempts(post_filters: tuple[PostFilter, ...], cycle: FrameworkCycle) -> bool:
    """Whether *post_filters* are upstream's preemption alone, and no pod has a lower priority than that of *cycle*."""
    is_upstreams = len(post_filters) == 1 and type(post_filters[0]) is DefaultPreemption
    return is_upstreams and min(cycle.table.priorities, default=cycle.pod.priority) >= cycle.pod.priority


def refused(cycle: FrameworkCycle, kept: Refusal, *, preempts: bool) -> Decision:
    """The FitError for the pod of *cycle*. With *preempts* preemption finds nobody who could leave."""
    never = cycle.pod.spec.preemption_policy == "Never"
    told = kept.told.get((preempts, never))
    if told is None:
        full_stop = cycle.release.framework.post_filter_full_stop
        told = kept.told[preempts, never] = _told(kept, preempts, never, full_stop)
    error, plugins = told
    plan, nominated = (Preemption(drops_own=not never), None if never else "") if preempts else (None, None)
    return Decision(cycle.pod, error=error, is_fit_error=True, preemption=plan, nominated=nominated, plugins=plugins)


def _told(kept: Refusal, preempts: bool, never: bool, full_stop: bool) -> tuple[str, frozenset[str]]:
    """The text of the error, and the plugins that reject nodes."""
    error = fit_error(kept.nodes, reasons_text(kept.tally), _nobody_leaves(kept, never) if preempts else "", full_stop=full_stop)
    return error, frozenset(name for name, count in kept.predicates.items() if count)


def _nobody_leaves(kept: Refusal, never: bool) -> str:
    if never:
        return f"preemption: {NEVER}"
    counts = {NO_VICTIMS: kept.nodes - kept.unresolvable, NOT_HELPFUL: kept.unresolvable}
    return f"preemption: {fit_error(kept.nodes, reasons_text({text: count for text, count in counts.items() if count}))}"
