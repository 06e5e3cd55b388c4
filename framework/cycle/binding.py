"""The binding cycle: Reserve, Permit and its wait, PreBind, Bind, PostBind, and how they are undone.

Upstream: schedulingCycle and bindingCycle in pkg/scheduler/schedule_one.go, their runners in
framework/runtime/framework.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeGuard

import attrs

from ...api.objects import Pod
from ...core.bindingcycle import UNSCHEDULABLE, BindingCycle, DeviceWait, Failure, point_error
from ...core.decision import SUCCESS, FitError, Phase, PhaseHook
from ...core.engine import Engine
from ...core.release import Release
from ...exceptions import CacheError, RuleError
from ..plugin import MAX_TIMEOUT, Code, FrameworkCycle, Plugin, Status, Template, WaitingPod, error
from ..plugins.defaultbinder import DefaultBinder
from ..plugins.dynamicresources import DynamicResources
from ..plugins.volumebinding import VolumeBinding, assume_volumes
from ..profile import Profile
from ..queue.queue import FrameworkQueue

PREEMPTION = "DefaultPreemption"


def _report_phase(on_phase: PhaseHook | None, part: Phase, status: Status | None) -> Status | None:
    """*status*, after a call of *on_phase* with it as the end of *part*."""
    if on_phase is not None:
        on_phase(part, SUCCESS if status is None else status.code.value)
    return status


def _has_failed(status: Status | None) -> TypeGuard[Status]:
    return status is not None and not status.is_success


def _refusal(status: Status, point: str, plugin: Plugin, cycle: FrameworkCycle) -> Status:
    """A rejection as it is; an error with the name of its plugin."""
    if status.is_rejection:
        return attrs.evolve(status, plugin=plugin.name)
    return _error(status, point, plugin, cycle)


def _fit_error(status: Status, step: str, release: Release) -> Status | None:
    """A rejection in the words of a FitError for the pod's node alone; None where the release has another
    form."""
    if not status.is_rejection or step not in release.framework.fit_errors_after:
        return None
    return attrs.evolve(status, reasons=(str(FitError(1, Counter(status.reasons))),))


def _error(status: Status, point: str, plugin: Plugin, cycle: FrameworkCycle) -> Status:
    return error(
        point_error(cycle.release.framework.point_errors, point, plugin.name, cycle.pod, status.message)
    )


@attrs.define(eq=False, repr=False)
class FrameworkBinding(BindingCycle):
    """The binding cycle of an engine with profiles.

    Reserve and Permit run at once; then, perhaps after a wait, PreBind, where VolumeBinding waits for
    volumes, Bind and PostBind.
    """

    engine: Engine
    profile_of: Callable[[Pod], Profile]
    latest_cycle: Callable[[Pod], FrameworkCycle]
    """The latest cycle if it was for the given pod, else a new one."""
    on_error: Callable[[str], None] | None = None
    """The receiver of an error of a user's plugin, which then fails the attempt; None: it is raised."""
    queue: FrameworkQueue | None = None
    """The queue of pods that plugins activate; None: there is none, and nothing happens."""
    _plain: dict[str, bool] = attrs.Factory(dict)
    """Profile -> whether none of the plugins after a decision has anything to do for a pod without claims."""
    _cycles: dict[str, FrameworkCycle] = attrs.field(init=False, factory=dict)
    """UID of a pod -> the cycle that it was reserved in, until it is bound."""

    def assume_and_bind(
        self, pod: Pod, host: str, profile: Profile, latest: FrameworkCycle | None
    ) -> Status | None:
        """Run all steps at once, up to a wait. Returns a plugin's refusal, after everything was undone; None
        on success. *latest*: the pod's cycle; None where another scheduler has decided."""
        # A cycle would take as long as the decision.
        template = self.engine.template_of(pod) if latest is None else latest.template
        if self._runs_nothing(profile, template):
            return self._assume_plainly(pod, host, template, latest)
        cycle = latest or self.latest_cycle(pod)
        bound = pod.bound_to(host)
        refusal = self._reserve(pod, bound, profile, cycle)
        if refusal is None and profile.points["permit"] and pod.uid in profile.waiting_pods.by_uid:
            self._cycles[pod.uid] = cycle
            return None
        refusal = refusal or self._pre_bind(bound, profile, cycle, profile.points["preBind"])
        refusal = refusal or self._bind(bound, profile, cycle)
        if refusal is None:
            self._post_bind(bound, profile, cycle)
        return refusal

    def _assume_plainly(
        self, pod: Pod, host: str, template: Template, cycle: FrameworkCycle | None
    ) -> Status | None:
        """The same where no plugin has anything to do with the pod. The bound pod is not read, so it is not
        made yet."""
        unassumed = self._assume(pod, pod, None if pod.node_name else template, host)
        if unassumed is not None or cycle is None:
            return unassumed
        if (on_phase := self.engine.on_phase) is not None:
            on_phase(Phase.RESERVE, SUCCESS)
            on_phase(Phase.PERMIT, SUCCESS)
        self._activate(cycle)
        return None

    def _assume(self, pod: Pod, assumed: Pod, template: Template | None, host: str = "") -> Status | None:
        engine = self.engine
        try:
            engine.cache.assume(assumed, template, host)
        except CacheError as failure:
            return error(str(failure))
        engine.nominations.remove(pod)
        return None

    def reserve(self, pod: Pod, host: str) -> Failure | None:
        profile = self.profile_of(pod)
        cycle = self.latest_cycle(pod)
        if self._runs_nothing(profile, cycle.template):
            refusal = self._assume_plainly(pod, host, cycle.template, None if pod.node_name else cycle)
        else:
            refusal = self._reserve(pod, pod.bound_to(host), profile, cycle)
        if refusal is None:
            self._cycles[pod.uid] = cycle
        return self._failure(refusal)

    def _reserve(self, pod: Pod, bound: Pod, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        """Run assume, Reserve and Permit. If a plugin refuses, all reservations are undone and the pod is
        forgotten.

        A pod that Permit plugins make wait is among ``profile.waiting_pods`` afterwards.
        """
        host = bound.spec.node_name
        failed_assumption = None
        if self.engine.release.framework.assumes_volumes_first and cycle.template.claims:
            failed_assumption = assume_volumes(bound, host, cycle)
        failed_assumption = failed_assumption or self._assume(pod, bound, self.engine.latest_template(pod))
        if failed_assumption is not None:
            return failed_assumption
        on_phase = self.engine.on_phase
        for plugin in profile.points["reserve"]:
            status = _without_pre_filter(plugin, profile) or self._ask(plugin.reserve, bound, host, cycle)
            if _has_failed(status):
                failure = _fit_error(status, "Reserve", cycle.release) or _error(
                    status, "Reserve", plugin, cycle
                )
                return _report_phase(
                    on_phase, Phase.RESERVE, self._after_undo(bound, profile, cycle, failure)
                )
        _report_phase(on_phase, Phase.RESERVE, None)
        refusal = self._permit(bound, profile, cycle) if profile.points["permit"] else None
        _report_phase(on_phase, Phase.PERMIT, refusal)
        if refusal is None:
            self._activate(cycle)
        return refusal

    def _activate(self, cycle: FrameworkCycle) -> None:
        if cycle.pods_to_activate and self.queue is not None:
            self.queue.activate(cycle.pods_to_activate.values())
            cycle.pods_to_activate.clear()

    def waiting(self, pod: Pod) -> WaitingPod | None:
        return self.profile_of(pod).waiting_pods.by_uid.get(pod.uid)

    def permitted(self, pod: Pod, host: str) -> Failure | None:
        waited = self.profile_of(pod).waiting_pods.by_uid.pop(pod.uid, None)
        if waited is None or waited.verdict is None or waited.verdict.is_success:
            return None
        self.give_back(pod, host)
        worded = _fit_error(waited.verdict, "Wait", self.engine.release) or waited.verdict
        return Failure(worded.message, UNSCHEDULABLE)

    def removed(self, pod: Pod) -> bool:
        return self.profile_of(pod).waiting_pods.reject(pod.uid)

    def preempt(self, victim: Pod, preemptor: Pod) -> bool:
        # Upstream: a victim of another profile is deleted even while it waits.
        waiting_pod = self.profile_of(preemptor).waiting_pods.by_uid.get(victim.uid)
        if waiting_pod is not None:
            waiting_pod.reject(PREEMPTION, "preempted")
        return waiting_pod is not None

    def waits_for_claims(self, pod: Pod) -> bool:
        return self.engine.release.framework.assumes_volumes_first or any(
            isinstance(plugin, VolumeBinding) for plugin in self.profile_of(pod).points["preBind"]
        )

    def volume_seconds(self, pod: Pod) -> int | None:
        plugins = self.profile_of(pod).points["preBind"]
        args = next((plugin.args for plugin in plugins if isinstance(plugin, VolumeBinding)), None)
        return None if args is None else args.bind_timeout_seconds

    def device_wait(self, pod: Pod) -> DeviceWait | None:
        plugins = self.profile_of(pod).points["preBind"]
        return next((plugin for plugin in plugins if isinstance(plugin, DynamicResources)), None)

    def begin(self, pod: Pod, host: str) -> Failure | None:
        profile, cycle = self._reservation(pod)
        plugins = before_volumes(profile)
        refusal = self._pre_bind(pod.bound_to(host), profile, cycle, plugins) if plugins else None
        if refusal is None:
            self._cycles[pod.uid] = cycle
        return self._failure(refusal)

    def bind(self, pod: Pod, host: str) -> Failure | None:
        profile, cycle = self._reservation(pod)
        if self._runs_nothing(profile, cycle.template):
            return None
        bound = pod.bound_to(host)
        rest = profile.points["preBind"][len(before_volumes(profile)) :]
        return self._failure(self._pre_bind(bound, profile, cycle, rest) or self._bind(bound, profile, cycle))

    def bound(self, pod: Pod, host: str) -> None:
        profile, cycle = self._reservation(pod)
        self._cycles.pop(pod.uid, None)
        self._post_bind(pod.bound_to(host), profile, cycle)

    def give_back(self, pod: Pod, host: str) -> None:
        profile, cycle = self._reservation(pod)
        profile.waiting_pods.by_uid.pop(pod.uid, None)
        self._undo(pod.bound_to(host), profile, cycle)

    def _reservation(self, pod: Pod) -> tuple[Profile, FrameworkCycle]:
        """The profile of a reserved pod, and the cycle with the plugins' state."""
        return self.profile_of(pod), self._cycles.get(pod.uid) or self.latest_cycle(pod)

    def failure(self, text: str) -> Failure:
        return Failure(text, self.engine.release.binding_failed_reason)

    def _failure(self, status: Status | None) -> Failure | None:
        if status is None:
            return None
        if not status.is_rejection:
            return self.failure(status.message)
        return Failure(
            status.message,
            UNSCHEDULABLE,
            status.plugin if self.engine.release.queueing.names_refusing_plugin else "",
        )

    @property
    def ends_nominations(self) -> bool:
        return not self.engine.release.framework.nomination_outlasts_tries

    def contain_errors(self, report: Callable[[str], None]) -> None:
        self.on_error = report

    def _ask(self, method: Callable[..., Status | None], *arguments: Any) -> Status | None:
        """The answer of a plugin's *method*."""
        try:
            return method(*arguments)
        except RuleError as fault:
            if self.on_error is None:
                raise
            self.on_error(f"pod {arguments[0].key}: {fault}")
            return error(str(fault))

    # --- the steps of the assumed pod; each returns why it failed, or None ----------------------------------

    def _permit(self, pod: Pod, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        timeouts = {}
        for plugin in profile.points["permit"]:
            status = self._ask(plugin.permit, pod, pod.spec.node_name, cycle)
            if status is not None and status.code is Code.WAIT:
                timeouts[plugin.name] = min(status.timeout, MAX_TIMEOUT)
            elif _has_failed(status):
                return self._after_undo(
                    pod,
                    profile,
                    cycle,
                    _fit_error(status, "Permit", cycle.release) or _refusal(status, "Permit", plugin, cycle),
                )
        if timeouts:
            profile.waiting_pods.by_uid[pod.uid] = WaitingPod(pod, timeouts)
        return None

    def _pre_bind(
        self, pod: Pod, profile: Profile, cycle: FrameworkCycle, plugins: Sequence[Any]
    ) -> Status | None:
        """Run PreBind of *plugins*, in order; after a failure everything is undone as in :meth:`_reserve`."""
        for plugin in plugins:
            status = _without_pre_filter(plugin, profile) or self._ask(
                plugin.pre_bind, pod, pod.spec.node_name, cycle
            )
            if _has_failed(status):
                return self._after_undo(pod, profile, cycle, _refusal(status, "PreBind", plugin, cycle))
        return None

    def _bind(self, pod: Pod, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        """Run Bind until a plugin does not skip; a failure undoes everything as in :meth:`_reserve`."""
        host = pod.spec.node_name
        status = None
        for plugin in profile.points["bind"]:
            status = self._ask(plugin.bind, pod, host, cycle)
            if status is not None and status.is_skip:
                continue
            if _has_failed(status):
                return self._after_undo(pod, profile, cycle, _refusal(status, "Bind", plugin, cycle))
            break
        if status is not None and status.is_skip:
            # Upstream: if all skip, the binding fails with the last one's message.
            return self._after_undo(pod, profile, cycle, error(status.message))
        return None

    def _post_bind(self, pod: Pod, profile: Profile, cycle: FrameworkCycle) -> None:
        for listener in profile.points["postBind"]:
            self._ask(listener.post_bind, pod, pod.spec.node_name, cycle)
        self._activate(cycle)

    def _undo(self, pod: Pod, profile: Profile, cycle: FrameworkCycle) -> None:
        """Unreserve in reverse order, and forget the pod."""
        self._cycles.pop(pod.uid, None)
        host = pod.spec.node_name
        for plugin in reversed(profile.points["reserve"]):
            self._ask(plugin.unreserve, pod, host, cycle)
        if cycle.release.framework.assumes_volumes_first:
            cycle.binder.revert(pod, host)
        with suppress(CacheError):  # Upstream: a pod that somebody else has bound meanwhile is only logged
            self.engine.cache.forget(pod)

    def _runs_nothing(self, profile: Profile, pod: Template) -> bool:
        """Whether no plugin has anything to do with *pod* after the decision."""
        plain = self._plain.get(profile.scheduler_name)
        if plain is None:
            points = profile.points
            plain = self._plain[profile.scheduler_name] = (
                all(
                    type(plugin) in (VolumeBinding, DynamicResources)
                    and _without_pre_filter(plugin, profile) is None
                    for plugin in (*points["reserve"], *points["preBind"])
                )
                and not points["permit"]
                and not points["postBind"]
                and type(points["bind"][0]) is DefaultBinder
            )
        return plain and not pod.claims and not pod.spec.resource_claims and not pod.device_resources

    def _after_undo(self, pod: Pod, profile: Profile, cycle: FrameworkCycle, status: Status) -> Status:
        self._undo(pod, profile, cycle)
        return status


def _without_pre_filter(plugin: Plugin, profile: Profile) -> Status | None:
    """The error of Reserve and PreBind where *profile* disables the PreFilter whose state *plugin* reads."""
    text = plugin.binds_without_pre_filter
    return None if text is None or plugin in profile.points["preFilter"] else error(text)


def before_volumes(profile: Profile) -> tuple[Any, ...]:
    """The PreBind plugins before VolumeBinding; none if it is not enabled."""
    plugins = profile.points["preBind"]
    return next((plugins[:i] for i, plugin in enumerate(plugins) if isinstance(plugin, VolumeBinding)), ())
