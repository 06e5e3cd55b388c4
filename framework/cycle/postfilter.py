"""PostFilter: the attempts to make room for a pod that fits nowhere. Upstream: RunPostFilterPlugins in
pkg/scheduler/framework/runtime/framework.go."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.cluster.nominations import Nominations
from ...core.decision import Decision, Extender, FitError, Preemption
from ...core.preemption import DryRuns, UnschedulableTemplate
from ..plugin import Code, FrameworkCycle, Plugin, PostFilterContext, PostFilterResult, Status
from ..plugins.defaultpreemption import DefaultPreemption
from ..plugins.dynamicresources import DynamicResources
from ..profile import Profile
from .feasible import Diagnosis
from .preemption import NEVER, NO_VICTIMS, NOT_HELPFUL, in_vain, refuses_to_preempt


def only_preempts(post_filters: tuple[Plugin, ...], cycle: FrameworkCycle) -> bool:
    """Whether upstream's preemption is all that *post_filters* do, and no pod has a lower priority than that
    of *cycle*."""
    *earlier_plugins, last = post_filters
    is_upstreams = type(last) is DefaultPreemption and all(
        type(plugin) is DynamicResources for plugin in earlier_plugins
    )
    return is_upstreams and min(cycle.table.priorities, default=cycle.pod.priority) >= cycle.pod.priority


def refused(
    cycle: FrameworkCycle, template: UnschedulableTemplate, post_filters: tuple[Plugin, ...]
) -> Decision:
    """The FitError for the pod of *cycle*, where preemption by *post_filters* finds no pod that could leave.
    The pod must have no claims to devices."""
    is_never = refuses_to_preempt(cycle)
    preempts = bool(post_filters)
    cached = template.errors.get((preempts, is_never))
    if cached is None:
        idle = NEVER
        if not is_never:
            counts = {NO_VICTIMS: template.nodes - template.unresolvable, NOT_HELPFUL: template.unresolvable}
            idle = str(FitError(template.nodes, {text: count for text, count in counts.items() if count}))
        texts = [
            *(plugin.idle_text for plugin in post_filters if isinstance(plugin, DynamicResources)),
            f"preemption: {idle}",
        ]
        cells = cycle.release.framework
        post_filter_text = ", ".join(filter(None, texts)) if preempts and cells.shows_post_filter else ""
        plugins = frozenset(name for name, count in template.predicates.items() if count)
        cached = template.errors[preempts, is_never] = (
            FitError(template.nodes, dict(template.tally), post_filter_text, cells.post_filter_full_stop),
            plugins,
        )
    error, plugins = cached
    if is_never or not preempts:
        plan = Preemption() if preempts else None
        nominated = None
    else:
        nominated, _, _, plan = in_vain(cycle, template.nodes - template.unresolvable)
    return Decision(
        cycle.pod,
        error=str(error),
        fit_error=error,
        is_fit_error=True,
        preemption=plan,
        nominated=nominated,
        plugins=plugins,
    )


def run_post_filter(
    cycle: FrameworkCycle,
    profile: Profile,
    nominations: Nominations,
    diagnosis: Diagnosis,
    shortlists: bool,
    extenders: Sequence[Extender],
    runs: DryRuns,
) -> PostFilterResult:
    """Ask the PostFilter plugins in order, until one succeeds, errs or says that nothing helps; else their
    messages are joined."""
    cycle.post_filter = PostFilterContext(
        profile.points["preFilter"], nominations, extenders, shortlists, runs
    )
    combined = PostFilterResult()
    messages = []
    for plugin in profile.points["postFilter"]:
        answer = plugin.post_filter(cycle.template, diagnosis, cycle)
        if isinstance(answer, Status):
            result = (
                PostFilterResult.failed(answer.message)
                if answer.code is Code.ERROR
                else PostFilterResult(message=answer.message, plan=Preemption())
            )
        else:
            result = PostFilterResult() if answer is None else answer
        if (
            result.is_error
            or (isinstance(answer, Status) and answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
            or not (result.message or isinstance(answer, Status))
        ):
            return result
        if result.nominated is not None or combined.plan is None or not isinstance(answer, Status):
            combined.nominated = result.nominated
            combined.plan = result.plan
        messages.append(result.message)
    combined.message = ", ".join(filter(None, messages))
    return combined
