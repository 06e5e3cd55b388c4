"""Mixes of new nodes that have enough of everything, the cheapest first: integer covering, by best-first search."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from math import ceil

import attrs
import numpy as np
from numpy.typing import NDArray

from .trials import Mix

SLACK = 1e-9
"""Share of a need that rounding may hide."""
MOST_STEPS = 30_000
"""After that many steps the search ends, with what it has."""
Floats = NDArray[np.float64]
Key = tuple[int, int]
"""The cost of a mix, and its number of nodes."""
Step = tuple[Key, bool, int, int, Mix]
"""The least key of what a mix can grow to; whether it still may; how much is in it and settled of it, negated; and the mix."""


@attrs.frozen(kw_only=True)
class CoverRow:
    """Something of which *need* is wanted in all, and of which a new node of each kind brings *gains*."""

    need: int
    gains: tuple[int, ...]


@attrs.define(eq=False)
class SetCover:
    """The mixes of *most* nodes at most that bring what all *rows* need; *costs*: of one node of each kind.

    >>> covers = SetCover([CoverRow(need=5, gains=(1, 3))], costs=(2, 5), most=9)
    >>> [(found, covers.key(found)) for found, _ in zip(covers.cheapest_first(), range(3))]
    [((2, 1), (9, 3)), ((0, 2), (10, 2)), ((5, 0), (10, 5))]
    """

    rows: Sequence[CoverRow]
    costs: Sequence[int]
    most: int
    cut_at: Key | None = None
    """Where the search was ended before all mixes were found: no other has a lower key."""
    _needs: Floats = attrs.field(init=False)
    _gains: Floats = attrs.field(init=False)
    _prices: Sequence[Floats] = attrs.field(init=False)
    """float64[K + 1, R] for costs and for numbers: the least that one unit costs if only kinds from k on are left."""

    def __attrs_post_init__(self) -> None:
        kinds = len(self.costs)
        self._needs = np.array([row.need for row in self.rows], np.float64) * (1 - SLACK)
        self._gains = np.array([row.gains for row in self.rows], np.float64).reshape(len(self.rows), kinds)
        self._prices = [self._least_prices(costs) for costs in (self.costs, (1,) * kinds)]

    def _least_prices(self, costs: Sequence[int]) -> Floats:
        prices = np.full((len(costs) + 1, len(self.rows)), np.inf)
        with np.errstate(divide="ignore"):
            for at in reversed(range(len(costs))):
                prices[at] = np.minimum(prices[at + 1], costs[at] / self._gains[:, at])
        return prices

    def key(self, mix: Mix) -> Key:
        """What *mix* costs, and how many nodes it has."""
        return sum(count * cost for count, cost in zip(mix, self.costs, strict=True)), sum(mix)

    def covers(self, mix: Mix) -> bool:
        """Whether *mix* brings what is needed."""
        return self._grown(mix, len(self.costs)) is not None

    def cheapest_first(self) -> Iterator[Mix]:
        """The mixes by cost, then by number of nodes."""
        heap: list[Step] = []
        self._push(heap, (0,) * len(self.costs), 0)
        for _ in range(MOST_STEPS):
            if not heap:
                return
            _, may_grow, count, settled, mix = heapq.heappop(heap)
            if not may_grow:
                yield mix
                continue
            at = -settled
            self._push(heap, mix, at + 1)
            if -count < self.most:
                self._push(heap, (*mix[:at], mix[at] + 1, *mix[at + 1 :]), at)
        self.cut_at = heap[0][0] if heap else None

    def _push(self, heap: list[Step], mix: Mix, at: int) -> None:
        """A mix in which only the counts of the kinds from *at* on may still grow."""
        if (least := self._grown(mix, at)) is not None:
            heapq.heappush(heap, (least, at < len(mix), -sum(mix), -at, mix))

    def _grown(self, mix: Mix, at: int) -> Key | None:
        """The least key of what *mix* can grow to by kinds from *at* on; None if these bring too little of something."""
        cost, count = self.key(mix)
        left = self._needs - self._gains @ np.array(mix, np.float64) if len(self.rows) else self._needs
        lacking = left > 0
        if not lacking.any():
            return cost, count
        by_cost, by_number = (float((left[lacking] * prices[at, lacking]).max()) * (1 - SLACK) for prices in self._prices)
        return None if by_cost == np.inf else (cost + ceil(by_cost - SLACK), count + ceil(by_number - SLACK))
