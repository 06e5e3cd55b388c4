"""The search finds the cheapest mix and claims nothing that was not simulated, whichever mixes do: scheduling is not monotone."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.simulation.newnodes.search import MixSearch
from kubeclassic.simulation.newnodes.setcover import CoverRow
from kubeclassic.simulation.newnodes.trials import Mix, MixTrial, PodWithoutNode
from tests.support.examples import examples

MOST = 5


@attrs.define
class FakeTrials:
    """Trials of which is known from the beginning which mixes do."""

    good: set[Mix]
    known: dict[Mix, MixTrial] = attrs.field(factory=dict)

    def of(self, mix: Mix) -> MixTrial:
        """As the real one."""
        missing = () if mix in self.good else (PodWithoutNode("default/web", "found no node"),)
        return self.known.setdefault(mix, MixTrial(mix=mix, wanted=1, missing=missing, nodes=(), evicted={}))


@attrs.define
class FakeNeeds:
    """A bound that says of one row what is needed."""

    row: CoverRow

    def rows(self) -> list[CoverRow]:
        """As the real one."""
        return [self.row] if self.row.need else []

    def beside(self, missing: Iterable[str]) -> list[CoverRow]:
        """As the real one."""
        return []


@attrs.frozen
class Problem:
    """Which mixes do, what a node of each kind costs, and a bound that is true of these mixes."""

    good: set[Mix]
    prices: list[int]
    row: CoverRow

    def cost(self, mix: Mix) -> tuple[int, int]:
        """Cost and number of nodes."""
        return sum(count * price for count, price in zip(mix, self.prices, strict=True)), sum(mix)

    def search(self, most_trials: int) -> Any:
        """What is found with so many simulations for the proof."""
        trials: Any = FakeTrials(self.good)
        needs: Any = FakeNeeds(self.row)
        return MixSearch(trials, (), needs, self.prices, MOST, most_trials).run(), trials


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Any set of mixes of one to three kinds that have enough of one thing."""
    kinds = draw(st.integers(1, 3))
    row = CoverRow(need=draw(st.integers(0, 6)), gains=tuple(draw(st.integers(0, 3)) for _ in range(kinds)))
    every = [mix for mix in product(range(MOST + 1), repeat=kinds) if sum(mix) <= MOST]
    able = [mix for mix in every if sum(count * gain for count, gain in zip(mix, row.gains, strict=True)) >= row.need]
    good = set(draw(st.lists(st.sampled_from(able), max_size=12))) if able else set()
    return Problem(good, [draw(st.integers(1, 4)) for _ in range(kinds)], row)


class TestAnyMixes:
    @given(problem=problems())
    @examples(4)
    def test_the_cheapest_is_found(self, problem: Problem) -> None:
        """With simulations enough the answer is the cheapest mix that does, or a proven no."""
        found, _ = problem.search(10_000)
        assert found.is_proven
        assert found.is_placed == bool(problem.good)
        if problem.good:
            assert problem.cost(found.best.mix) == min(map(problem.cost, problem.good))
            assert found.bound == problem.cost(found.best.mix)[0]

    @given(problem=problems(), most=st.integers(1, 6))
    @examples(4)
    def test_no_claim_is_wrong(self, problem: Problem, most: int) -> None:
        """With few simulations the answer still does, one fewer does not, and nothing below the bound or among the scanned does."""
        found, trials = problem.search(most)
        if not found.is_placed:
            assert not found.is_proven or not problem.good
            return
        mix, cheapest = found.best.mix, min(map(problem.cost, problem.good))
        assert mix in problem.good
        assert found.bound <= cheapest[0]
        assert not found.is_proven or problem.cost(mix) == cheapest
        fewer = [tuple(count - (at == less) for at, count in enumerate(mix)) for less in range(len(mix)) if mix[less]]
        assert [trial.mix for trial in found.fewer] == fewer
        assert not problem.good & set(fewer)
        if found.none_from is not None:
            scanned = {(number,) for number in range(found.none_from, mix[0])}
            assert scanned <= trials.known.keys()
            assert not problem.good & scanned
