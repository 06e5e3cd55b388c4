"""Agreement is counted by masks over rows: with the counts that sets of names give, whatever rows the nodes
have in either table."""

import random
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.record import plain
from kubeclassic.core.run import EventFeed
from kubeclassic.questions.compare.comparison import Agreement
from kubeclassic.simulation.sides import best, decided
from tests.support.examples import examples
from tests.support.townforms import machine, person
from tests.support.towns import RELEASES, scheduler

NODES = 6


def names_of(decision, rows):
    """The nodes on *rows*."""
    return [decision.details.names[row] for row in rows.tolist()]


def counts_of(one, other):
    """The counts that one cycle adds to an agreement, by sets of names."""
    ours, theirs = (set(names_of(decision, best(decision))) for decision in (one, other))
    fitting = [set(names_of(decision, decision.details.feasible_rows)) for decision in (one, other)]
    is_among = other.host is not None and other.host in ours
    verdict = "same" if decided(one) == decided(other) else "equally good" if is_among else "different"
    is_equal = verdict != "same" and one.host is not None and one.host in theirs
    return {
        "decisions": 1,
        "errors": verdict == "same" and one.host is None and not one.is_fit_error,
        "same": verdict == "same",
        "equallyGood": verdict == "equally good",
        "different": verdict == "different",
        "gated": 0,
        "equalForBoth": is_equal and verdict == "equally good",
        "equalForSecondAlone": is_equal and verdict == "different",
        "sameFeasible": fitting[0] == fitting[1],
        "sameBest": ours == theirs,
        "bestWithin": theirs <= ours and bool(theirs) == bool(ours),
    }


def change(rng, engine):
    """A node comes, changes or goes, for one of the two alone."""
    number = rng.randrange(NODES)
    if engine.cache.node(f"n{number}") is not None and rng.random() < 0.4:
        EventFeed(engine).delete(machine(number, 0))
    else:
        EventFeed(engine).put(machine(number, rng.randrange(64)))


@examples(1)
@given(seed=st.integers(0, 1 << 20), releases=st.permutations(RELEASES))
def test_masks_count_as_sets_of_names_do(seed, releases):
    """Each cycle adds what sets of names say, also after nodes came, went, and came back to other rows."""
    rng = random.Random(seed)
    # All that agreement asks of a side is its engine.
    pair = [SimpleNamespace(engine=scheduler(release)) for release in releases[:2]]
    agreement = Agreement(*pair)
    wanted = dict.fromkeys(plain(agreement.record()), 0)
    for number in range(12):
        for side in pair:
            for _ in range(2 + 4 * (number == 0)):
                change(rng, side.engine)
        incoming = person(rng.randrange(64), f"p{number}")
        one, other = (side.engine.schedule(incoming) for side in pair)
        agreement.add(one, other)
        wanted = {name: wanted[name] + count for name, count in counts_of(one, other).items()}
        assert plain(agreement.record()) == wanted
        for side, decision in zip(pair, (one, other), strict=True):
            if decision.host is not None:
                side.engine.assume(incoming, decision.host)
