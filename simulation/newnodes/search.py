"""Searches the fewest new nodes, or the cheapest mix of several kinds: first any mix that does, then less, then the proof.

Scheduling is not monotone: with a node more a pod can find no place that found one before. So nothing follows from other mixes. A mix
does if its simulation says so, and is the cheapest if every cheaper one was simulated, or has too little of something.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import ceil

import attrs

from .demand import Demand, PodShape
from .setcover import Key, SetCover
from .trials import Mix, MixTrial, MixTrials, PodWithoutNode

EARLY = 4
"""A part of the simulations, one in that many, goes to the cheapest mixes before others are improved step by step."""
SWAPPED = 3
"""That many nodes of a kind are swapped for nodes of another at once."""


@attrs.frozen(kw_only=True, eq=False)
class MixesFound:
    """What the search has found."""

    best: MixTrial
    """The mix that does; if none does the one with which fewest pods were left."""
    never: tuple[PodShape, ...] = ()
    """Pods that no kind takes, nor any node that is there: the search is for the others."""
    stuck: tuple[PodWithoutNode, ...] = ()
    """Pods that found no node with any mix that was tried, though a new node might take them: the search is for the others."""
    fewer: tuple[MixTrial, ...] = ()
    """With one node less of each kind that the mix has: none of them does."""
    bound: int = 0
    """No mix that costs less can do: that is proven."""
    none_from: int | None = None
    """Of one kind: from that many nodes up to one less than the best, each number was simulated, and none does."""
    is_proven: bool = False
    """No mix that costs less does, nor one that costs the same with fewer nodes; if none was found, none does at all."""
    simulated: int = 0
    """How many mixes were simulated."""

    @property
    def is_placed(self) -> bool:
        """Whether each pod that can be placed finds a node."""
        return self.best.is_placed


@attrs.define(eq=False)
class MixSearch:
    """Searches among *trials*; *most_nodes*: at most that many new nodes; *most_trials*: the proof may take that many simulations.

    *prices*: what a node of each kind costs, as whole numbers.
    """

    trials: MixTrials
    shapes: Sequence[PodShape]
    demand: Demand
    prices: Sequence[int]
    most_nodes: int
    most_trials: int
    _covers: SetCover = attrs.field(init=False)
    _rest: Iterator[Mix] = attrs.field(init=False)
    _next: Mix | None = None
    """The cheapest mix that was not looked at."""
    _left: int = 0
    """How many simulations are left for the proof."""

    def __attrs_post_init__(self) -> None:
        self._left = self.most_trials
        self._covers = SetCover(self.demand.rows(), self.prices, self.most_nodes)
        self._rest = self._covers.cheapest_first()
        self._next = next(self._rest, None)

    def run(self) -> MixesFound:
        """Search."""
        best = self._any()
        if best is None:
            tried = min(self.trials.known.values(), key=lambda trial: (len(trial.missing), self._covers.key(trial.mix)))
            return MixesFound(best=tried, is_proven=self._left >= 0 and self._covers.cut_at is None, simulated=len(self.trials.known))
        best = self._trimmed(best)
        if len(self.prices) == 1:
            return self._found(self._scanned(best))
        left = self._left
        best = self._proven(best, left - left // EARLY)
        best = self._swapped(best)
        return self._found(self._proven(best, 0))

    def _found(self, best: Mix) -> MixesFound:
        fewer = tuple(self.trials.of(mix) for mix in _one_less(best))
        better = [trial.mix for trial in fewer if trial.is_placed]
        if better:
            return self._found(self._trimmed(better[0]))
        proven = self._is_proven(best)
        none_from = self._lowest_known(best[0]) if len(best) == 1 else None
        bound = min(self._covers.key(best), self._unseen or self._covers.key(best))[0]
        return MixesFound(
            best=self.trials.of(best), fewer=fewer, bound=bound, none_from=none_from, is_proven=proven, simulated=len(self.trials.known),
        )  # fmt: skip

    @property
    def _unseen(self) -> Key | None:
        """Each mix that was not looked at has this key at least; None if all were."""
        return self._covers.cut_at if self._next is None else self._covers.key(self._next)

    def _does(self, mix: Mix) -> bool:
        return self.trials.of(mix).is_placed

    # --- any mix that does ------------------------------------------------------------------------------------------

    def _any(self) -> Mix | None:
        """A mix that does: from the cheapest that could on, with what the pods lack that are left; then many of each kind; then any."""
        mix, step = self._next, 1
        while mix is not None:
            trial = self.trials.of(mix)
            if trial.is_placed:
                return mix
            more = self._more(trial, step)
            mix, step = _limited(tuple(map(sum, zip(mix, more, strict=True))), self.most_nodes, mix), 2 * step
        large = next((mix for mix in self._large() if self._does(mix)), None)
        return large or next((mix for mix in self._covers.cheapest_first() if self._may_try(mix) and self._does(mix)), None)

    def _more(self, trial: MixTrial, step: int) -> Mix:
        """What to add where *trial* leaves pods: what they need by requests, and *step* nodes at least."""
        rows = self.demand.beside([missing.pod for missing in trial.missing])
        more = next(SetCover(rows, self.prices, self.most_nodes).cheapest_first(), None)
        if more is None or not any(more):
            more = tuple(1 for _ in self.prices)
        return tuple(count * ceil(step / sum(more)) for count in more)

    def _large(self) -> Iterator[Mix]:
        """As many nodes as allowed: of all kinds in equal shares, and of each kind alone."""
        kinds = len(self.prices)
        share, rest = divmod(self.most_nodes, kinds)
        yield tuple(share + (at < rest) for at in range(kinds))
        for at in range(kinds):
            yield tuple(self.most_nodes if at == other else 0 for other in range(kinds))

    # --- less ---------------------------------------------------------------------------------------------------------

    def _trimmed(self, mix: Mix) -> Mix:
        """*mix* with as few nodes of each kind as do while the others stay: by halves, then one by one."""
        for at in sorted(range(len(mix)), key=lambda at: -self.prices[at]):
            mix = self._halved(mix, at)
        while (less := next((less for less in _one_less(mix) if self._does(less)), None)) is not None:
            mix = less
        return mix

    def _halved(self, mix: Mix, at: int) -> Mix:
        low, high = -1, mix[at]  # low nodes of this kind are too few, as far as can be guessed
        while high - low > 1:
            middle = (low + high) // 2
            less = (*mix[:at], middle, *mix[at + 1 :])
            if self._covers.covers(less) and self._does(less):
                high = middle
            else:
                low = middle
        return (*mix[:at], high, *mix[at + 1 :])

    def _swapped(self, mix: Mix) -> Mix:
        """*mix* with some nodes of one kind swapped for nodes of another that cost less, as long as that does."""
        while not self._is_proven(mix):
            cheaper = (other for other in self._swaps(mix) if self._covers.covers(other))
            better = next((other for other in cheaper if self._may_try(other) and self._does(other)), None)
            if better is None:
                break
            mix = self._trimmed(better)
        return mix

    def _swaps(self, mix: Mix) -> Iterator[Mix]:
        for out, count in enumerate(mix):
            for gone in range(1, min(count, SWAPPED) + 1):
                for into in (into for into in range(len(mix)) if into != out):
                    come = (gone * self.prices[out] - 1) // self.prices[into]
                    changed = list(mix)
                    changed[out], changed[into] = count - gone, min(mix[into] + come, self.most_nodes - sum(mix) + gone + mix[into])
                    yield tuple(changed)

    # --- the proof --------------------------------------------------------------------------------------------------

    def _may_try(self, mix: Mix, kept: int = 0) -> bool:
        """Whether *mix* may be simulated, if *kept* simulations have to be left after it; counts it."""
        if mix in self.trials.known:
            return True
        self._left -= 1
        return self._left >= kept

    def _scanned(self, best: Mix) -> Mix:
        """Of one kind: the least number that does among those below *best*, the greatest of which come first."""
        least = best[0] if self._next is None else self._next[0]
        for number in range(best[0] - 1, least - 1, -1):
            if not self._may_try((number,)):
                break
            if self._does((number,)):
                best = (number,)
        return self._proven(best, self._left)

    def _lowest_known(self, number: int) -> int:
        while (number - 1,) in self.trials.known:
            number -= 1
        return number

    def _proven(self, best: Mix, kept: int) -> Mix:
        """The first mix that does, by cost and number of nodes, if there are simulations enough to tell, and *kept* left; else *best*."""
        while self._next is not None and not self._is_proven(best):
            if not self._may_try(self._next, kept):
                return best
            if self._does(self._next):
                return self._next
            self._next = next(self._rest, None)
        return best

    def _is_proven(self, best: Mix) -> bool:
        """Whether each mix that costs less than *best*, or the same with fewer nodes, was looked at."""
        return self._unseen is None or self._unseen >= self._covers.key(best)


def _one_less(mix: Mix) -> list[Mix]:
    return [(*mix[:at], count - 1, *mix[at + 1 :]) for at, count in enumerate(mix) if count]


def _limited(mix: Mix, most: int, before: Mix) -> Mix | None:
    """*mix* with *most* nodes at most, a part of each kind; None if it is not more than *before* then."""
    if sum(mix) <= most:
        return mix
    cut = tuple(count * most // sum(mix) for count in mix)
    return cut if sum(cut) > sum(before) else None


def whole_prices(costs: Sequence[Decimal]) -> tuple[list[int], int]:
    """*costs* as whole numbers, and by what they were multiplied.

    >>> whole_prices([Decimal("2.5"), Decimal("1")])
    ([25, 10], 10)
    """
    places = max((-int(cost.as_tuple().exponent) for cost in costs), default=0)
    scale = int(Decimal(10) ** max(places, 0))
    return [int(cost * scale) for cost in costs], scale
