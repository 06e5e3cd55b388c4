"""From a decision to a binding: Reserve, Permit, PreBind, Bind, PostBind, and what undoes them.

Upstream: schedulingCycle and bindingCycle in pkg/scheduler/schedule_one.go, their runners in framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ..api.objects import Pod
from ..core.cluster.cache import Cache
from .plugin import FrameworkCycle, Plugin
from .profile import Profile
from .status import Code, Status, error


@attrs.define(eq=False)
class BindingSteps:
    """The steps over one scheduler's cache. *pod* is the assumed pod, its node set. Each answers why it failed, None if all went well."""

    cache: Cache

    def reserve(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        """Reserve, then Permit; where one refuses, everything reserved is given back and the pod forgotten."""
        for plugin in profile.at("reserve"):
            status = plugin.reserve(pod, host, cycle)  # type: ignore[attr-defined]  # it stands at this point
            if _failed(status):
                return self._undone(pod, host, profile, cycle, _error(status, "Reserve", plugin))
        for plugin in profile.at("permit"):
            status = plugin.permit(pod, host, cycle)  # type: ignore[attr-defined]  # it stands at this point
            if _failed(status) and status.code is not Code.WAIT:
                return self._undone(pod, host, profile, cycle, _refusal(status, "Permit", plugin))
        return None

    def pre_bind(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle, plugins: Sequence[Plugin]) -> Status | None:
        """PreBind of *plugins* alone, in order; a failure is undone as in :meth:`reserve`."""
        for plugin in plugins:
            status = plugin.pre_bind(pod, host, cycle)  # type: ignore[attr-defined]  # it stands at this point
            if _failed(status):
                return self._undone(pod, host, profile, cycle, _refusal(status, "PreBind", plugin))
        return None

    def bind(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle) -> Status | None:
        """Bind by the first plugin that does not skip, PostBind; a failure is undone as in :meth:`reserve`."""
        for plugin in profile.at("bind"):
            status = plugin.bind(pod, host, cycle)  # type: ignore[attr-defined]  # it stands at this point
            if status is not None and status.is_skip:
                continue
            if _failed(status):
                return self._undone(pod, host, profile, cycle, _refusal(status, "Bind", plugin))
            break
        for plugin in profile.at("postBind"):
            plugin.post_bind(pod, host, cycle)  # type: ignore[attr-defined]  # it stands at this point
        return None

    def undo(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle) -> None:
        """Give back what was reserved, in reverse order, and forget the pod."""
        for plugin in reversed(profile.at("reserve")):
            plugin.unreserve(pod, host, cycle)  # type: ignore[attr-defined]  # it stands at this point
        self.cache.forget(pod)

    def _undone(self, pod: Pod, host: str, profile: Profile, cycle: FrameworkCycle, status: Status) -> Status:
        self.undo(pod, host, profile, cycle)
        return status


def _failed(status: Status | None) -> bool:
    return status is not None and not status.is_success


def _refusal(status: Status, point: str, plugin: Plugin) -> Status:
    """A rejection speaks for itself, an error is told with its plugin."""
    return status if status.is_rejection else _error(status, point, plugin)


def _error(status: Status, point: str, plugin: Plugin) -> Status:
    return error(f'running {point} plugin "{plugin.name}": {status.message}')
