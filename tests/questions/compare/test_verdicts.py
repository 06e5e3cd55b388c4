"""Verdicts are those that names of nodes give, whatever rows the nodes have in either table."""

import random
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.feed import EventFeed
from kubeclassic.questions.compare.comparison import verdict_of
from kubeclassic.simulation.sides import best, decided
from tests.support.examples import examples
from tests.support.townforms import machine, person
from tests.support.towns import RELEASES, scheduler

NODES = 6


def names_of(decision, rows):
    """The nodes on *rows*."""
    return [decision.details.names[row] for row in rows.tolist()]


def verdict_by_names(one, other):
    """The verdict on one cycle, by names of nodes."""
    is_among = other.host is not None and other.host in names_of(one, best(one))
    return "same" if decided(one) == decided(other) else "equally good" if is_among else "different"


def change(rng, engine):
    """A node comes, changes or goes, for one of the two alone."""
    number = rng.randrange(NODES)
    if engine.cache.node(f"n{number}") is not None and rng.random() < 0.4:
        EventFeed(engine).delete(machine(number, 0))
    else:
        EventFeed(engine).put(machine(number, rng.randrange(64)))


@examples(1)
@given(seed=st.integers(0, 1 << 20), releases=st.permutations(RELEASES))
def test_verdicts_by_rows_are_those_by_names(seed, releases):
    """Each cycle has the verdict that names give, also after nodes came, went, and came back to other rows."""
    rng = random.Random(seed)
    # All that a verdict asks of a side is its engine.
    pair = [SimpleNamespace(engine=scheduler(release)) for release in releases[:2]]
    for number in range(12):
        for side in pair:
            for _ in range(2 + 4 * (number == 0)):
                change(rng, side.engine)
        incoming = person(rng.randrange(64), f"p{number}")
        one, other = (side.engine.schedule(incoming) for side in pair)
        assert verdict_of(pair[0], one, other) == verdict_by_names(one, other)
        for side, decision in zip(pair, (one, other), strict=True):
            if decision.host is not None:
                side.engine.assume(incoming, decision.host)
