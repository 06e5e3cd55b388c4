"""Pods that have a node, and wait until Permit plugins allow or reject their binding.

Upstream: pkg/scheduler/framework/runtime/waiting_pods_map.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs

from ..api.meaning.durations import duration_text
from ..api.objects import Pod
from .status import SUCCESS, Code, Status

MAX_TIMEOUT = 900.0
"""The longest wait in seconds; a plugin that asks for more gets this."""


@attrs.define(eq=False, repr=False)
class WaitingPod:
    """A reserved pod whose binding waits for some Permit plugins. The first word counts: it is allowed by all
    of them, or rejected.

    >>> waiting = WaitingPod(Pod(), {"Gang": 30.0, "Quota": 10.0})
    >>> waiting.allow("Quota")
    >>> waiting.pending_plugins, waiting.timeout, waiting.is_over
    (('Gang',), 30.0, False)
    >>> waiting.pass_time(30.0)
    >>> waiting.verdict.message
    'rejected due to timeout after waiting 30s at plugin Gang'
    """

    pod: Pod
    """With its node."""
    _timeouts: dict[str, float]
    """Plugin that has not allowed it yet -> after how many seconds it rejects the pod."""
    verdict: Status | None = None
    """How the wait ended; None while it lasts."""
    on_end: Callable[[], None] | None = None
    """Called once, when the wait ends. It must not use the scheduler, which may be in the middle of another
    pod's cycle."""

    @property
    def pending_plugins(self) -> tuple[str, ...]:
        """The plugins that have not allowed it yet, in running order."""
        return tuple(self._timeouts)

    @property
    def is_over(self) -> bool:
        return self.verdict is not None

    @property
    def timeout(self) -> float:
        """After how many seconds of waiting it is rejected: the shortest of the pending plugins' timeouts."""
        return min(self._timeouts.values(), default=0.0)

    def allow(self, plugin: str) -> None:
        """*plugin* allows the binding. The wait ends when the last pending plugin does so."""
        self._timeouts.pop(plugin, None)
        if not self._timeouts:
            self._end(SUCCESS)

    def reject(self, plugin: str, message: str) -> None:
        """*plugin* rejects the pod; this ends the wait, whatever the others say."""
        self._end(Status(Code.UNSCHEDULABLE, (message,), plugin))

    def pass_time(self, waited: float) -> None:
        """It has waited that many seconds: if this is as long as some pending plugin lets it wait, it is
        rejected."""
        timeout = self.timeout
        if not self.is_over and timeout <= waited:
            plugin = next(name for name, seconds in self._timeouts.items() if seconds == timeout)
            self.reject(
                plugin, f"rejected due to timeout after waiting {duration_text(timeout)} at plugin {plugin}"
            )

    def copy(self) -> WaitingPod:
        """A pod that waits as this one does, whose end is not reported."""
        return WaitingPod(self.pod, dict(self._timeouts), self.verdict)

    def _end(self, verdict: Status) -> None:
        if self.verdict is None:
            self.verdict = verdict
            if self.on_end is not None:
                self.on_end()


@attrs.define(eq=False, repr=False)
class WaitingPods:
    """The waiting pods of one profile, in the order in which they began to wait."""

    by_uid: dict[str, WaitingPod] = attrs.Factory(dict)

    def __iter__(self) -> Iterator[WaitingPod]:
        """All of them; they may come and go during the iteration."""
        return iter(tuple(self.by_uid.values()))

    def reject(self, uid: str) -> bool:
        """Reject a pod that is deleted; answers whether it was waiting. Upstream: RejectWaitingPod."""
        waiting = self.by_uid.get(uid)
        if waiting is not None:
            waiting.reject("", "removed")
        return waiting is not None

    @contextmanager
    def preserving_state(self) -> Iterator[None]:
        """A context in which nothing that plugins say to waiting pods counts."""
        before = self.by_uid
        self.by_uid = {uid: one.copy() for uid, one in before.items()}
        try:
            yield
        finally:
            self.by_uid = before
