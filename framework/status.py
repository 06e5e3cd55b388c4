"""The status that a plugin returns, and its form as the failures of a batch of nodes.

Upstream: pkg/scheduler/framework/interface.go Status.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import lru_cache
from math import inf
from typing import Any

import attrs

from ..core.arrays import Failures, Mask, Reason

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
