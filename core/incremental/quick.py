"""The quick path: the host is read off a board, and no cycle is run. Also every reason against it.

A :class:`~.board.Board` knows the total of every row for one template, so the host is the best of them, with
ties broken as in a whole cycle. That is right only if cached answers hold everything that counts:
:class:`Detour` lists the exceptions.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from ...api.objects import Pod
from ..cluster.nominations import Nominations
from ..cluster.snapshot import Order
from ..cycle import Algorithm, Cycle, PriorityError
from ..decision import TieBreaker
from .board import Board, Boards
from .classes import NoScale

Found = TypeVar("Found")


class Detour(enum.Enum):
    """A reason against reading a decision off a board."""

    DETAILS = "details are wanted"
    NO_CACHE = "answers are not cached, or predicate metadata is missing"
    RULES = "a rule has effects, sees the whole list of nodes, or does not say what it reads"
    NOMINATIONS = "pods are nominated to nodes"
    EXTENDERS = "extenders are asked"
    VOLUMES = "the pod has a claim without a volume, or one that no other pod may use"
    AMOUNTS = "huge amounts or negative weights can put a score out of range"
    PLUGINS = "a PreFilter or PreScore plugin has more to say"
    ORDER = "the pass does not visit each node once"
    ERROR = "a rule cannot answer"
    NOTHING_FITS = "no node fits"


@attrs.define(eq=False, kw_only=True, repr=False)
class QuickPath:
    """The reading of one algorithm's decisions off its boards."""

    algorithm: Algorithm
    """The rules in their cacheable form."""
    boards: Boards
    order: Order
    ties: TieBreaker
    nominations: Nominations
    asks_extenders: Callable[[Pod], bool] | None
    """Whether any extender is asked about a pod; None: there are no extenders."""
    is_cacheable: bool
    """Whether each rule declares everything that its answers depend on."""
    ask_plugins: Callable[[Any], Detour | None] | None = None
    """The detour that the plugins of a cycle's pod want, or None; None: no plugin wants any."""
    taken: int = 0
    """The number of decisions that were read off."""
    detours: Counter[Detour] = attrs.Factory(Counter)
    """Reason -> the number of decisions that were not."""

    def row(self, cycle: Cycle) -> int | None:
        """The row of the host; order and tie-break move on. None: the cycle has to be run, and nothing has
        moved."""
        row: int | Detour | None = Detour.DETAILS if cycle.details else self.beyond_details(cycle)
        if row is None:
            row = self.read(cycle, Board.host, cycle, self.order, self.ties)
        if isinstance(row, Detour):
            self.detours[row] += 1
            return None
        self.taken += 1
        return row

    def detour(self, cycle: Cycle) -> Detour | None:
        """The reason against a look-up, before anything is read; None: there is none."""
        return Detour.DETAILS if cycle.details else self.beyond_details(cycle)

    def beyond_details(self, cycle: Cycle) -> Detour | None:
        """The reason against a look-up other than the wish for details; None: there is none."""
        if cycle.answers is None:
            return Detour.NO_CACHE
        if not self.is_cacheable:
            return Detour.RULES
        nominated = self.nominations.by_node
        # A pod whose nomination has ended is nominated to "", which no pod gives way to.
        if nominated and nominated.keys() != {""}:
            return Detour.NOMINATIONS
        if self.asks_extenders is not None and self.asks_extenders(cycle.pod):
            return Detour.EXTENDERS
        if cycle.template.claims and not cycle.binder.are_settled(cycle.template.claims):
            return Detour.VOLUMES
        return None if self.ask_plugins is None else self.ask_plugins(cycle)

    def read(
        self, cycle: Cycle, what: Callable[..., Found], *asked: object, by_rows: bool = False
    ) -> Found | Detour:
        """The result of *what*, called with the board of the pod of *cycle* and *asked*. *by_rows*: it asks
        about rows, not for the best."""
        order = self.order
        algorithm = cycle.algorithm
        rows = order.one_pass()
        if not order.is_regular:
            return Detour.ORDER
        cycle.algorithm = self.algorithm
        board = None
        try:
            board = self.boards.of(cycle)
            if not board.refresh(cycle, rows, order.revision, algorithm.wanted(len(rows)), by_rows=by_rows):
                return Detour.ERROR
            return what(board, *asked) if board.count else Detour.NOTHING_FITS
        except (PriorityError, NoScale):
            if board is not None:
                board.forget()
            return Detour.ERROR
        finally:
            cycle.algorithm = algorithm
