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
    """Trials of which is known from the beginning which mixes do; *job*: there is a pod that finds a node
    with the mixes *good_for_job* alone."""

    good: set
    job: bool = False
    good_for_job: set = attrs.field(factory=set)
    is_aside: bool = False
    by_mix: dict = attrs.field(factory=dict)

    @property
    def pod_count(self):
        """As the real one."""
        return 1 + (self.job and not self.is_aside)

    def of(self, mix):
        """As the real one."""
        if mix not in self.by_mix:
            web = () if mix in self.good else (WEB,)
            job = (JOB,) if self.job and mix not in self.good_for_job else ()
            counted, aside = (web, job) if self.is_aside else ((*web, *job), ())
            self.by_mix[mix] = MixTrial(
                mix=mix, pod_count=self.pod_count, missing=counted, missing_aside=aside, nodes=(), evicted={}
            )
        return self.by_mix[mix]

    def leave_out(self, keys):
        """As the real one."""
        assert list(keys) == [JOB.pod]
        self.is_aside = True
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
    """The mixes that suffice, and the cost of a node of each kind."""

    good: set
    prices: list

    def cost(self, mix):
        """The cost of all nodes of *mix*."""
        return sum((count * price for count, price in zip(mix, self.prices, strict=True)), Decimal(0))

    def search(self, job=False, good_for_job=()):
        """The result of the search."""
        trials = FakeTrials(self.good, job, set(good_for_job))
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
    """The mix found suffices, with one node fewer of any kind it does not, and no more nodes than allowed are
    added."""
    found = problem.search(job)
    mix = found.best.mix
    assert sum(mix) <= MOST
    assert found.best.is_placed == (mix in problem.good)
    if not found.best.is_placed:
        assert (found.fewer, found.aside_count) == ((), 0)
        return
    fewer = [
        tuple(count - (at == less) for at, count in enumerate(mix)) for less in range(len(mix)) if mix[less]
    ]
    assert [trial.mix for trial in found.fewer] == fewer
    assert not problem.good & set(fewer)
    assert (found.aside_count, found.best.all_missing) == ((1, (JOB,)) if job else (0, ()))


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


def test_a_pod_that_was_set_aside_may_find_a_node():
    """In a mix that is found only when the search goes on without it; then it is not missing."""
    problem = Problem({(3, 0), (2, 3)}, [Decimal(4), Decimal(1)])
    for good_for_job, missing in (((), (JOB,)), ([(2, 3)], ())):
        found = problem.search(job=True, good_for_job=good_for_job)
        assert (found.best.mix, found.aside_count, found.best.all_missing) == ((2, 3), 1, missing)
