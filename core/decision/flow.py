"""The phases of a cycle, and the steps that differ between predicates and priorities, and profiles."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ...api.objects import KubeObject, Pod
from ..arrays import Mask, Rows
from ..binding import Binder
from ..bindingcycle import BindingCycle
from ..cluster.snapshot import Order
from ..cycle import Algorithm
from ..pods import Template
from .decision import Decision, Details
from .preemptionplan import Victims
from .score import LateRanking, Ranking

if TYPE_CHECKING:
    from ..queue.backoff import Clock
    from ..queue.priority import SchedulingQueue


class Phase(enum.Enum):
    """A phase of a cycle, for hooks that are called when it ends. The names are upstream's labels, except
    :attr:`SCOREBOARD`."""

    SCOREBOARD = "Scoreboard"
    """The host was read off a board: in place of all phases up to the score."""
    PRE_FILTER = "PreFilter"
    FILTER = "Filter"
    """With the extenders' filters. Empty if PreFilter rejected the pod."""
    PRE_SCORE = "PreScore"
    SCORE = "Score"
    """With the extenders' scores. Left out where one node is feasible and, as Filter is, where an error ended
    the cycle."""
    POST_FILTER = "PostFilter"
    """Preemption, as far as the cycle computes it. It is the last phase, so the decision shows that it has
    ended."""
    RESERVE = "Reserve"
    PERMIT = "Permit"


SUCCESS = "Success"
UNSCHEDULABLE = "Unschedulable"
ERROR = "Error"
PhaseHook = Callable[[Phase, str], None]
"""Called with a phase that has ended, and with its status: one of the above, or another code of the
framework."""


class Flow(Protocol):
    """The steps that differ between the two generations of the scheduler. *cycle* comes from
    :meth:`begin`."""

    @property
    def order(self) -> Order: ...

    @property
    def binder(self) -> Binder: ...

    @property
    def binding(self) -> BindingCycle: ...

    @property
    def max_score(self) -> int:
        """The highest score that a rule gives a node."""

    @property
    def nominated_after(self) -> str | None:
        """``Decision.nominated`` for every decision that is no FitError."""

    @property
    def plugins_without(self) -> frozenset[str] | None:
        """``Decision.plugins`` if no plugin rejected anything."""

    @property
    def profiles(self) -> Mapping[str, Any]:
        """schedulerName -> profile; empty for releases without profiles."""

    @property
    def quick_paths(self) -> Mapping[str, Any]:
        """schedulerName -> its quick path, which reads decisions off boards; releases without profiles have
        one, for ""."""

    # --- one cycle, in this order ---

    def pre_check(self, pod: Pod) -> Decision | None:
        """The decision for a pod that may not be tried; None for any other pod."""

    def begin(self, pod: Pod, *, details: bool = True) -> Any:
        """A cycle for *pod* on a fresh snapshot."""

    @property
    def cached_failure(self) -> Callable[[Any], Decision | None] | None:
        """A function from a cycle to the FitError of a pod that still fits nowhere; it or its answer is None
        if the cycle has to be run."""

    @property
    def quick(self) -> Callable[[Any], int | None]:
        """A function from a cycle to the row of its host, read off a board; None if the cycle has to be
        run."""

    def filter(self, cycle: Any) -> Details:
        """The nodes where the pod fits, and the failures on the others. Raises :class:`FilterError`."""

    def score(self, cycle: Any, rows: Rows) -> Ranking | LateRanking:
        """The scores of the feasible *rows*, with those of extenders. Raises :class:`ScoreError`."""

    def pre_score_one(self, cycle: Any, rows: Rows) -> None:
        """PreScore for the one feasible row; only where the release has that. Raises :class:`ScoreError`."""

    @property
    def on_choice(self) -> Callable[[Any, Details, str], None] | None:
        """Called with a cycle, its details and its host, where the cycle was run; None: not called."""

    def post_filter(self, cycle: Any, details: Any, decision: Decision) -> None:
        """Write the reason and the result of preemption into *decision*, for a pod that fits nowhere.
        *details*: from :meth:`filter`."""

    def victims(
        self, cycle: Any, rows: Rows, unresolvable: Mask, uids: Collection[str]
    ) -> dict[str, Victims]:
        """Node -> the victims to remove so that the pod fits, among them the pods with *uids*; only *rows*
        where that helps.

        *unresolvable*: bool[rows of the table], where the removal of pods cannot help.
        """

    # --- what follows from a decision ---

    def assume(self, pod: Pod, host: str) -> str | None:
        """Assume *pod* on *host*. Returns the error that ends the cycle, or None."""

    @property
    def follow(self) -> Callable[[KubeObject | None, KubeObject | None], None] | None:
        """Called when an object was added, updated or deleted, and the cache and the listings are up to date;
        None: not called."""

    def can_repeat(self, decision: Decision) -> bool:
        """Whether another cycle for this pod on the same cluster gives the same decision and moves only the
        visiting order."""

    def failure_reason(self, decision: Decision) -> str:
        """The reason of condition PodScheduled for a pod that has no node after *decision*."""

    def forget(self, in_use: Collection[Template]) -> None:
        """Drop what is known of all templates but those *in_use*. No cycle is under way."""

    # --- what others ask ---

    def algorithm_of(self, pod: Pod) -> Algorithm | None:
        """The rules for *pod*; None if no profile has its schedulerName."""

    def evaluate(self, cycle: Any, rows: Rows) -> Mask:
        """On which of *rows* the pod fits, without extenders: bool[k]."""

    def node_list(self) -> list[int]:
        """The rows of all nodes, in list order."""

    def preserving_state(self) -> AbstractContextManager[None]:
        """A context in which decisions do not change the flow's own state."""

    def shared_parts(self) -> Mapping[str, Any]:
        """Name -> an object made from the configuration alone. A copy stores the name only."""

    def describe(self) -> Iterator[str]:
        """Lines that list the rules in running order."""

    def queue(self, clock: Clock, *, apart: bool = False) -> SchedulingQueue:
        """A queue for this scheduler; with *apart* it has nominations of its own."""

    def router(self, queue: Any, scheduler_name: str | None) -> Any:
        """The router of cluster events to the engine and *queue*: a
        :class:`~kubeclassic.core.router.EventRouter`."""
