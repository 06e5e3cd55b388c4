"""The decision on a pod that fits nowhere once more, where no pod could leave for it. See :mod:`kubeclassic.core.preemption.refusals`."""

from __future__ import annotations

from ...core.decision.decision import Decision
from ...core.decision.preemptionplan import Preemption
from ...core.preemption.refusals import UnschedulableTemplate
from ..extensionpoints import PostFilter
from ..plugins.defaultpreemption import DefaultPreemption
from ..plugins.dynamicresources import DynamicResources
from .diagnosis import fit_error, reasons_text
from .preemption import NEVER, NO_VICTIMS, NOT_HELPFUL
from .state import FrameworkCycle


def only_preempts(post_filters: tuple[PostFilter, ...], cycle: FrameworkCycle) -> bool:
    """Whether of *post_filters* only upstream's preemption has something to do, and no pod has a lower priority than that of *cycle*."""
    *before, last = post_filters
    is_upstreams = type(last) is DefaultPreemption and all(type(plugin) is DynamicResources for plugin in before)
    return is_upstreams and min(cycle.table.priorities, default=cycle.pod.priority) >= cycle.pod.priority


def refused(cycle: FrameworkCycle, kept: UnschedulableTemplate, post_filters: tuple[PostFilter, ...]) -> Decision:
    """The FitError for the pod of *cycle*, which has no claims to devices. With *post_filters* preemption finds no pod that could leave."""
    never, preempts = cycle.pod.spec.preemption_policy == "Never", bool(post_filters)
    told = kept.errors.get((preempts, never))
    if told is None:
        texts = [*(plugin.idle_text for plugin in post_filters if isinstance(plugin, DynamicResources)), _nobody_leaves(kept, never)]
        full_stop = cycle.release.framework.post_filter_full_stop
        told = kept.errors[preempts, never] = _told(kept, ", ".join(filter(None, texts)) if preempts else "", full_stop)
    error, plugins = told
    plan, nominated = (Preemption(drops_own=not never), None if never else "") if preempts else (None, None)
    return Decision(cycle.pod, error=error, is_fit_error=True, preemption=plan, nominated=nominated, plugins=plugins)


def _told(kept: UnschedulableTemplate, post_filter: str, full_stop: bool) -> tuple[str, frozenset[str]]:
    """The text of the error, which ends in that of *post_filter*, and the plugins that reject nodes."""
    error = fit_error(kept.nodes, reasons_text(kept.tally), post_filter, full_stop=full_stop)
    return error, frozenset(name for name, count in kept.predicates.items() if count)


def _nobody_leaves(kept: UnschedulableTemplate, never: bool) -> str:
    if never:
        return f"preemption: {NEVER}"
    counts = {NO_VICTIMS: kept.nodes - kept.unresolvable, NOT_HELPFUL: kept.unresolvable}
    return f"preemption: {fit_error(kept.nodes, reasons_text({text: count for text, count in counts.items() if count}))}"
