"""The look-ahead: states that were judged before they came about, and no others."""

import numpy as np

from kubeclassic.core.cycle import Reads
from kubeclassic.core.incremental.answers import Unanswerable
from kubeclassic.core.incremental.rows import (
    HITS_TO_DEEPEN,
    MAX_DEPTH,
    MISSES_TO_LOOK,
    MOST_EVENTS,
    OUT,
    Lookahead,
    LookaheadStats,
)
from tests.support.build import engine, node, pod

NODES = 5


def cluster():
    """Five nodes without pods, as the first cycle finds them."""
    made = engine(*[node(f"n{number}") for number in range(NODES)])
    made.begin(sized(made, "100m").pod)
    return made


def sized(made, cpu):
    """The template of a pod that requests so much cpu."""
    return made.templates.of(pod("p", cpu=cpu))


def judge(nodes):
    """The millicores in use, where there are fewer than three pods."""
    return np.where(nodes.pod_count < 3, nodes.requested("cpu"), OUT)


def look(ahead, template, made):
    """Look at all rows, with pods like *template*."""
    ahead.look(template, Reads.REQUESTS, made.table, np.zeros(NODES, np.int64), judge)


def looked(made, template, **more):
    """A look-ahead that has looked once."""
    ahead = Lookahead(**more)
    look(ahead, template, made)
    return ahead


def followed(ahead, *events, size):
    """The rows to judge after *events*, and the worth of rows as the look-ahead corrects it."""
    worth = np.full(NODES, -1)
    sizes = [(row, None if arrival is None else arrival.size) for row, arrival in events]
    return ahead.follow(sizes, size.size, worth)[0], worth.tolist()


# --- Hits ---------------------------------------------------------------------------------------------------


def test_a_pod_of_the_size_is_foreseen():
    """The row gets what it is worth with one more pod, and then with two."""
    made = cluster()
    small = sized(made, "100m")
    ahead = looked(made, small)
    assert followed(ahead, (2, small), size=small) == ([], [-1, -1, 100, -1, -1])
    assert followed(ahead, (2, small), (0, small), size=small) == ([], [100, -1, 200, -1, -1])
    assert (ahead.hits, ahead.misses) == (2, 0)


def test_fits_are_foreseen_too():
    """The third pod fills the node; each worth that is another is told."""
    made = cluster()
    small = sized(made, "100m")
    ahead = looked(made, small)
    worth = np.zeros(NODES, np.int64)
    assert ahead.follow([(4, small.size)] * 3, small.size, worth) == ([], [4, 4, 4])
    assert worth.tolist() == [0, 0, 0, 0, OUT]


def test_anything_else_has_to_be_judged():
    """Pods of another size and pods that leave are not foreseen, nor is what follows on that row."""
    made = cluster()
    small = sized(made, "100m")
    large = sized(made, "2")
    ahead = looked(made, small)
    assert followed(ahead, (0, large), (1, None), (2, small), size=small)[0] == [0, 1]
    assert followed(ahead, (0, small), (1, small), (2, small), size=small)[0] == [0, 1]


def test_a_row_is_foreseen_as_deep_as_the_look_went():
    """One pod more than that has to be judged."""
    made = cluster()
    small = sized(made, "100m")
    ahead = looked(made, small, depth=2)
    assert [followed(ahead, (3, small), size=small)[0] for _ in range(3)] == [[], [], [3]]


# --- Looks --------------------------------------------------------------------------------------------------


def test_misses_make_a_look_due():
    """A look is due after this number of misses, in which it would have spared judging."""
    made = cluster()
    small = sized(made, "100m")
    large = sized(made, "2")
    ahead = Lookahead()
    for _ in range(MISSES_TO_LOOK):
        assert not ahead.is_due
        followed(ahead, (0, large), size=small)  # no look would have foreseen this
        followed(ahead, (0, small), size=small)
    assert ahead.is_due


def test_a_look_that_paid_goes_deeper():
    """Enough hits double the depth, up to the greatest one; too few make the next look wait."""
    made = cluster()
    small = sized(made, "100m")
    ahead = looked(made, small)
    ahead.hits = HITS_TO_DEEPEN
    look(ahead, small, made)
    assert (ahead.depth, ahead.patience, ahead.hits) == (MAX_DEPTH, MISSES_TO_LOOK, 0)
    look(ahead, small, made)
    assert (ahead.depth, ahead.patience) == (MAX_DEPTH, 2 * MISSES_TO_LOOK)


def test_looks_that_do_not_pay_make_all_sizes_wait():
    """Another size of the same scheduler looks later, until a look pays."""
    made = cluster()
    luck = LookaheadStats()
    small = sized(made, "100m")
    ahead = looked(made, small, luck=luck)
    other = Lookahead(luck=luck, misses=MISSES_TO_LOOK)
    assert other.is_due
    look(ahead, small, made)
    assert not other.is_due
    ahead.hits = HITS_TO_DEEPEN
    look(ahead, small, made)
    assert other.is_due


def test_many_events_at_once_end_a_look():
    """All rows are judged then, and nothing is foreseen any more."""
    made = cluster()
    small = sized(made, "100m")
    ahead = looked(made, small)
    many = [(1, small)] * (MOST_EVENTS + 1)
    assert ahead.follow(many, small.size, np.zeros(NODES, np.int64)) == ([1] * len(many), [])
    assert not ahead.depths


def test_ports_are_not_foreseen():
    """A pod with a host port takes it from the next one, which no sum tells."""
    made = cluster()
    ported = made.templates.of(
        pod("p", containers=[{"name": "c", "image": "img", "ports": [{"hostPort": 80, "containerPort": 80}]}])
    )
    ahead = Lookahead()
    ahead.look(ported, Reads.REQUESTS | Reads.PORTS, made.table, np.zeros(NODES, np.int64), judge)
    assert not ahead.depths
    assert looked(made, sized(made, "100m")).depths


def test_an_error_in_a_trial_leaves_the_old_look():
    """States that cannot be judged are not looked at."""
    made = cluster()
    small = sized(made, "100m")
    ahead = looked(made, small)

    def fail(nodes):
        raise Unanswerable

    ahead.look(small, Reads.REQUESTS, made.table, np.ones(NODES, np.bool_), fail)
    assert followed(ahead, (2, small), size=small) == ([], [-1, -1, 100, -1, -1])
