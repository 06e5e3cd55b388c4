"""The phases of a scheduling cycle, for those who want to know when each has ended, such as metrics.

Upstream: pkg/scheduler/metrics, where the names of extension points and of statuses are labels.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import TypeAlias


class Phase(enum.Enum):
    """A phase of a cycle; the names are upstream's, but for :attr:`SCOREBOARD`."""

    SCOREBOARD = "Scoreboard"
    """The host was read off a scoreboard: in place of all phases up to the score."""
    PRE_FILTER = "PreFilter"
    FILTER = "Filter"
    """With what extenders say to it; if PreFilter refused the pod, nothing was done here."""
    PRE_SCORE = "PreScore"
    SCORE = "Score"
    """With what extenders say to it. It is left out where one node is feasible, and, as is Filter, where an error ended the cycle."""
    POST_FILTER = "PostFilter"
    """Preemption, as far as it is worked out in the cycle. It is the last phase, so that it has ended follows from the decision."""
    RESERVE = "Reserve"
    PERMIT = "Permit"


SUCCESS, UNSCHEDULABLE, ERROR = "Success", "Unschedulable", "Error"
PhaseHook: TypeAlias = Callable[[Phase, str], None]
"""Called with a phase that has ended, and with its status: one of the above, or another code of the framework."""
