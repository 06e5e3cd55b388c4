"""From a decision to a binding: Reserve, Permit, PreBind, Bind, PostBind, and how they are undone.

Upstream: schedulingCycle and bindingCycle in pkg/scheduler/schedule_one.go, their runners in framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

import attrs

from ...api.objects import Pod
from ...core.bindingcycle import UNSCHEDULABLE, Failure
from ...core.cluster.cache import Cache
from ...core.engine import Engine
from ...exceptions import CacheError
from ..extensionpoints import Named, PreBind
from ..plugins.volumebinding import VolumeBinding
from ..profile import Profile
from ..status import Code, Status, error
from .state import FrameworkCycle


@attrs.define(eq=False, repr=False)
class BindingSteps:
    """The steps of the binding cycle. *pod* is the assumed pod, with its node set. Each returns why it failed, or None on success."""

    cache: Cache

    def reserve(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        """Reserve, then Permit. If a plugin refuses, all reservations are undone and the pod is forgotten."""
        for plugin in profile.points.reserve:
            status = plugin.reserve(pod, host, cycle)
            if _failed(status):
                return self._undone(pod, host, profile, cycle, _error(status, "Reserve", plugin))
        for permit in profile.points.permit:
            status = permit.permit(pod, host, cycle)
            if _failed(status) and status.code is not Code.WAIT:
                return self._undone(pod, host, profile, cycle, _refusal(status, "Permit", permit))
        return None

    def pre_bind(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle, plugins: Sequence[PreBind]) -> Status | None:
        """PreBind of *plugins* only, in order; after a failure everything is undone as in :meth:`reserve`."""
        for plugin in plugins:
            status = plugin.pre_bind(pod, host, cycle)
            if _failed(status):
                return self._undone(pod, host, profile, cycle, _refusal(status, "PreBind", plugin))
        return None

    def bind(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        """Bind by the first plugin that does not skip, then PostBind; after a failure everything is undone as in :meth:`reserve`."""
        for plugin in profile.points.bind:
            status = plugin.bind(pod, host, cycle)
            if status is not None and status.is_skip:
                continue
            if _failed(status):
                return self._undone(pod, host, profile, cycle, _refusal(status, "Bind", plugin))
            break
        for listener in profile.points.post_bind:
            listener.post_bind(pod, host, cycle)
        return None

    def undo(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle) -> None:
        """Unreserve in reverse order, and forget the pod."""
        for plugin in reversed(profile.points.reserve):
            plugin.unreserve(pod, host, cycle)
        self.cache.forget(pod)

    def _undone(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle, status: Status) -> Status:
        self.undo(pod, host, profile, cycle)
        return status


def _failed(status: Status | None) -> TypeGuard[Status]:
    return status is not None and not status.is_success


def _refusal(status: Status, point: str, plugin: Named) -> Status:
    """A rejection as it is; an error with the name of its plugin."""
    return status if status.is_rejection else _error(status, point, plugin)


def _error(status: Status, point: str, plugin: Named) -> Status:
    return error(f'running {point} plugin "{plugin.name}": {status.message}')


@attrs.define(eq=False, repr=False)
class FrameworkBinding:
    """The binding cycle of an engine with profiles.

    Reserve and Permit run at once; then PreBind, where VolumeBinding waits for volumes, Bind and PostBind.
    """

    engine: Engine
    profile_of: Callable[[Pod], Profile]
    latest_cycle: Callable[[Pod], FrameworkCycle]
    """The latest cycle if it was for this pod, else a new one."""
    ends_nominations: bool = True
    steps: BindingSteps = attrs.field(init=False)
    _cycles: dict[str, FrameworkCycle] = attrs.field(init=False, factory=dict)
    """Pod -> the cycle that it was reserved in, until it is bound."""

    def __attrs_post_init__(self) -> None:
        self.steps = BindingSteps(self.engine.cache)

    def assume_and_bind(self, pod: Pod, host: str) -> Status | None:
        """All steps at once. Returns why a plugin refused, after everything was undone; None on success."""
        bound, profile, cycle = pod.bound_to(host), self.profile_of(pod), self.latest_cycle(pod)
        refused = self._reserve(pod, bound, profile, cycle) or self.steps.pre_bind(bound, host, profile, cycle, profile.points.pre_bind)
        return refused or self.steps.bind(bound, host, profile, cycle)

    def reserve(self, pod: Pod, host: str) -> Failure | None:
        cycle = self.latest_cycle(pod)
        refused = self._reserve(pod, pod.bound_to(host), self.profile_of(pod), cycle)
        if refused is None:
            self._cycles[pod.key] = cycle
        return self._failure(refused)

    def _reserve(self, pod: Pod, bound: Pod, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        try:
            self.engine.cache.assume(bound, self.engine.template_of(pod))
        except CacheError as failure:
            return error(str(failure))
        self.engine.nominations.remove(pod)
        return self.steps.reserve(bound, bound.spec.node_name, profile, cycle)

    def waits_for_claims(self, pod: Pod) -> bool:
        return any(isinstance(plugin, VolumeBinding) for plugin in self.profile_of(pod).points.pre_bind)

    def begin(self, pod: Pod, host: str) -> Failure | None:
        profile, cycle = self._reserved(pod)
        refused = self.steps.pre_bind(pod.bound_to(host), host, profile, cycle, before_volumes(profile))
        if refused is None:
            self._cycles[pod.key] = cycle
        return self._failure(refused)

    def bind(self, pod: Pod, host: str) -> Failure | None:
        profile, cycle = self._reserved(pod)
        bound, rest = pod.bound_to(host), profile.points.pre_bind[len(before_volumes(profile)) :]
        return self._failure(self.steps.pre_bind(bound, host, profile, cycle, rest) or self.steps.bind(bound, host, profile, cycle))

    def give_back(self, pod: Pod, host: str) -> None:
        profile, cycle = self._reserved(pod)
        self.steps.undo(pod.bound_to(host), host, profile, cycle)

    def _reserved(self, pod: Pod) -> tuple[Profile, FrameworkCycle]:
        """The profile of a reserved pod, and the cycle with the plugins' state; the cycle is removed from ``_cycles``."""
        return self.profile_of(pod), self._cycles.pop(pod.key, None) or self.latest_cycle(pod)

    def failure(self, text: str) -> Failure:
        return Failure(text, self.engine.algorithm.release.binding_failed_reason)

    def _failure(self, status: Status | None) -> Failure | None:
        if status is None:
            return None
        return Failure(status.message, UNSCHEDULABLE) if status.is_rejection else self.failure(status.message)


def before_volumes(profile: Profile) -> tuple[PreBind, ...]:
    """The PreBind plugins before VolumeBinding; none if it is not enabled."""
    plugins = profile.points.pre_bind
    return next((plugins[:i] for i, plugin in enumerate(plugins) if isinstance(plugin, VolumeBinding)), ())
