"""The search claims nothing that was not simulated, whichever mixes do: scheduling is not monotone."""

from decimal import Decimal
from itertools import product

import attrs
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.questions.newnodes.answer import MixSearch, MixTrial, PodWithoutNode
from tests.support.examples import examples

MOST = 5
WEB = PodWithoutNode("default/web", "found no node")
JOB = PodWithoutNode("default/job", "found no node")


@attrs.define
class FakeTrials:
    """Trials of which is known from the beginning which mixes do; *job*: a pod that finds a node with no
    mix."""

    good: set
    job: bool = False
    by_mix: dict = attrs.field(factory=dict)

    @property
    def pod_count(self):
        """As the real one."""
        return 1 + self.job

    def of(self, mix):
        """As the real one."""
        missing = (*(() if mix in self.good else (WEB,)), *([JOB] if self.job else []))
        return self.by_mix.setdefault(
            mix, MixTrial(mix=mix, pod_count=self.pod_count, missing=missing, nodes=(), evicted={})
        )

    def leave_out(self, keys):
        """As the real one."""
        assert list(keys) == [JOB.pod]
        self.job = False
        self.by_mix.clear()


@attrs.define
class FakeDemand:
    """Pods that need one node, of the kind asked for, or of any."""

    prices: list

    def needed(self, keys, only=None):
        """As the real one."""
        return tuple(int(at == (only or 0)) for at in range(len(self.prices)))


@attrs.frozen
class Problem:
    """Which mixes do, and what a node of each kind costs."""

    good: set
    prices: list

    def cost(self, mix):
        """Of all its nodes."""
        return sum((count * price for count, price in zip(mix, self.prices, strict=True)), Decimal(0))

    def search(self, job=False):
        """What is found."""
        trials = FakeTrials(self.good, job)
        return MixSearch(trials, FakeDemand(self.prices), MOST, sets_aside=job).run()


@st.composite
def problems(draw):
    """Any set of mixes of one to three kinds."""
    kinds = draw(st.integers(1, 3))
    every = [mix for mix in product(range(MOST + 1), repeat=kinds) if sum(mix) <= MOST]
    good = set(draw(st.lists(st.sampled_from(every), max_size=12)))
    return Problem(good, [Decimal(draw(st.integers(1, 4))) for _ in range(kinds)])


@given(problem=problems(), job=st.booleans())
@examples(4)
def test_any_mixes(problem, job):
    """What is found does, with one fewer of any of its kinds it does not, and no more nodes than allowed are
    added."""
    found = problem.search(job)
    mix = found.best.mix
    assert sum(mix) <= MOST
    assert found.best.is_placed == (mix in problem.good)
    if not found.best.is_placed:
        assert (found.fewer, found.stuck) == ((), ())
        return
    fewer = [
        tuple(count - (at == less) for at, count in enumerate(mix)) for less in range(len(mix)) if mix[less]
    ]
    assert [trial.mix for trial in found.fewer] == fewer
    assert not problem.good & set(fewer)
    assert found.stuck == ((JOB,) if job else ())


@given(
    least=st.lists(st.integers(0, 2), min_size=1, max_size=3),
    prices=st.lists(st.integers(1, 4), min_size=3, max_size=3),
)
@examples(4)
def test_where_more_is_never_worse(least, prices):
    """If all mixes of so many nodes of each kind or more do, the least of them is found."""
    every = [mix for mix in product(range(MOST + 1), repeat=len(least)) if sum(mix) <= MOST]
    good = {mix for mix in every if all(count >= wanted for count, wanted in zip(mix, least, strict=True))}
    found = Problem(good, [Decimal(price) for price in prices[: len(least)]]).search()
    assert not found.best.is_placed or found.best.mix == tuple(least)


def test_a_cheaper_kind_is_swapped_in():
    """Two nodes of a kind become three of another that cost less, where that does."""
    problem = Problem({(2, 0), (3, 0), (0, 3), (1, 2)}, [Decimal(4), Decimal(1)])
    assert problem.search().best.mix == (0, 3)
