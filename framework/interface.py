"""The interface to plugins: statuses, the state of a cycle, and waiting pods.

Upstream: pkg/scheduler/framework/interface.go.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import inf
from typing import Any

import attrs
import msgspec

from ..api.meaning.durations import duration_text
from ..api.objects import Pod
from ..core.arrays.types import Mask
from ..core.cluster.nominations import Nominations
from ..core.cycle import Cycle
from ..core.decision.extender import Extender
from ..core.decision.preemptionplan import Preemption
from ..core.failures import Failures, Reason
from ..core.preemption.claimusers import ClaimUsers
from ..core.preemption.dryrun import DryRuns
from ..core.preemption.layout import PodLayout
from ..core.rule import Predicate

OURS = f"{__package__}.plugins."
"""Where upstream's plugins are."""
POINTS: Mapping[str, str] = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "less",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
}
"""Extension point as a configuration names it -> the method that makes a plugin join it."""
Points = Mapping[str, tuple[Any, ...]]
"""Extension point -> the plugins of a profile there, in running order. Filter and Score plugins run as rules:
``Profile.algorithm``."""


class Code(enum.Enum):
    """A code of a status; the names are upstream's."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"


@attrs.frozen
class Status:
    """A plugin's answer: code, reasons in order, and the plugin's name, which the framework fills in."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    timeout: float = inf
    """With code Wait: after how many seconds Permit rejects the pod if the plugin has not allowed it by
    then."""

    @property
    def message(self) -> str:
        """The reasons as one text."""
        return ", ".join(self.reasons)

    @property
    def is_success(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def is_skip(self) -> bool:
        return self.code is Code.SKIP

    @property
    def is_rejection(self) -> bool:
        """Whether it rejects the pod, resolvable or not."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)

    def as_reasons(self) -> tuple[Reason, ...]:
        """The reasons for a node that has this status."""
        return tuple(reason(text, self.code is Code.UNSCHEDULABLE) for text in self.reasons)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)
"""From PreFilter: the plugin's Filter does not run in this cycle, nor its AddPod and RemovePod in trials.
From PreScore: nor its Score."""


def unschedulable(*reasons: str) -> Status:
    """The pod does not fit, but removing pods may help."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """The pod does not fit, and removing pods cannot help."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(text: str) -> Status:
    """Something went wrong: the cycle fails with this text."""
    return Status(Code.ERROR, (text,))


def wait(*reasons: str, timeout: float = inf) -> Status:
    """From Permit: the binding has to wait until the plugin allows it, for *timeout* seconds and for 15
    minutes at most."""
    return Status(Code.WAIT, reasons, timeout=timeout)


@lru_cache(1 << 12)
def reason(text: str, resolvable: bool = True) -> Reason:
    """A reason why a node does not fit; equal reasons are one object."""
    return Reason(text, resolvable)


def failing(status: Status | None, mask: Mask) -> Failures | None:
    """*status* as the failure of the nodes of *mask*: bool[n]; None for a status that is no failure."""
    if status is None or status.is_success:
        return None
    if status.is_rejection:
        return Failures.where(status.as_reasons(), mask)
    return Failures.error(status.message, mask)


# --- A cycle, and answers that are more than a status -------------------------------------------------------


@attrs.frozen(repr=False)
class PreFilterResult:
    """The nodes that a PreFilter leaves: only these have to be filtered; None: all."""

    node_names: frozenset[str] | None = None


@attrs.define(eq=False, repr=False)
class PostFilterResult:
    """The result of a PostFilter plugin. ``nominated``: the node that the pod is to wait for, "" for none any
    more, None: as before."""

    nominated: str | None = None
    message: str = ""
    """Why there is no node to wait for; empty on success."""
    is_error: bool = False
    plan: Preemption | None = None

    @classmethod
    def failed(cls, text: str) -> PostFilterResult:
        """The result of an attempt that ended with this error."""
        return cls(message=text, is_error=True, plan=Preemption(error=text))


@attrs.frozen(eq=False, repr=False)
class PostFilterContext:
    """The tools of a PostFilter plugin besides its cycle."""

    pre_filters: Sequence[Any]
    """The PreFilter plugins of the profile, in running order."""
    nominations: Nominations
    extenders: Sequence[Extender]
    shortlists: bool
    """Preemption ends with as many candidates as its arguments say."""
    runs: DryRuns

    @property
    def layout(self) -> PodLayout:
        """The pods of each row as arrays."""
        return self.runs.layout


class FrameworkCycle(Cycle, eq=False, kw_only=True):
    """A cycle of the framework. A plugin keeps its state in ``notes``: upstream's CycleState."""

    skipped: set[str] = msgspec.field(default_factory=set)
    """Plugins whose PreFilter returned Skip: their filters do not run in this cycle, and not in its
    trials."""
    pre_filtered: set[str] = msgspec.field(default_factory=set)
    """Plugins whose PreFilter ran, or was not needed for this pod."""
    node_count: int = 0
    """Nodes in the snapshot."""
    post_filter: PostFilterContext | None = None
    """What PostFilter plugins may use; set before they run."""
    claim_users: ClaimUsers | None = None
    """How many pods use which claims, in releases whose trials change that; None: the pods on the nodes
    do."""
    hint: str = ""
    """The node that is tried first, as it came next when an equal pod was scored; empty: none."""
    pods_to_activate: dict[str, Pod] = msgspec.field(default_factory=dict)
    """Key -> pod that a plugin wants to be tried next: it leaves the backoff queue or the parked pods when
    this cycle ends well, or when its binding does. Upstream: PodsToActivate."""

    @property
    def predicates(self) -> Sequence[Predicate]:
        found = self.template.notes.get(self.algorithm.slot) or self.algorithm.predicates_for(self.template)
        skipped = self.skipped
        return [predicate for predicate in found if predicate.name not in skipped] if skipped else found


# --- Pods that have a node, and wait until Permit plugins allow or reject their binding ---------------------
# Upstream: pkg/scheduler/framework/runtime/waiting_pods_map.go.


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
