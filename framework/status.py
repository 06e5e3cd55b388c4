"""What a plugin answers where it is asked about the pod as a whole, and how an answer about nodes is put together.

Upstream: pkg/scheduler/framework/interface.go Status.
"""

from __future__ import annotations

import enum
from functools import cache

import attrs

from ..core.failures import Failures, Mask, Reason


class Code(enum.Enum):
    """What a status says; the names are upstream's."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"


@attrs.frozen
class Status:
    """An answer: its code, its reasons in order, and the plugin that gave it, which the framework fills in."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

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
        """Whether it turns the pod down, be that resolvable or not."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)

    def as_reasons(self) -> tuple[Reason, ...]:
        """The same as reasons against a node."""
        return tuple(reason(text, self.code is Code.UNSCHEDULABLE) for text in self.reasons)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)
"""From PreFilter: the plugin's Filter is left out in this cycle, and so is whatever it makes of pods that come and go in trials."""


def unschedulable(*reasons: str) -> Status:
    """Not as things are, but removing pods may help."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Not, and no removal of pods would help."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(text: str) -> Status:
    """The question cannot be answered; the cycle fails with this text."""
    return Status(Code.ERROR, (text,))


def wait(*reasons: str) -> Status:
    """From Permit: the binding is to wait."""
    return Status(Code.WAIT, reasons)


@cache
def reason(text: str, resolvable: bool = True) -> Reason:
    """A reason against a node; equal ones are one object."""
    return Reason(text, resolvable)


def failing(status: Status | None, mask: Mask) -> Failures | None:
    """*status* against the nodes of *mask*: bool[n]; a status that turns nothing down against none."""
    if status is None or status.code in (Code.SUCCESS,):
        return None
    if status.is_rejection:
        return Failures.where(status.as_reasons(), mask)
    return Failures.error(status.message, mask)
