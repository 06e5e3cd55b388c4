"""The choice of a node among those where preemption would help."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kubeclassic.core.preemption.victimchoice import NEVER_STARTED, Candidates, PodLayout, pick_one_node
from tests.support.build import engine, node, pod
from tests.support.crowds import STARTS
from tests.support.examples import examples

PODS = 4
"""On each node."""


@st.composite
def choices(draw, fewest):
    """The pods of some nodes, which may differ in nothing but when their pods started."""
    traits = st.lists(
        st.tuples(st.integers(0, 1), st.booleans(), st.sampled_from([False, False, True])),
        min_size=PODS,
        max_size=PODS,
    )
    shared = draw(st.none() | traits)
    starts = st.sampled_from(draw(st.sampled_from([STARTS, STARTS[:3]])))
    return [
        [
            (priority, draw(starts), leaves, guarded)
            for priority, leaves, guarded in (draw(traits) if shared is None else shared)
        ]
        for _ in range(draw(st.integers(fewest, 4)))
    ]


def made_of(nodes, release):
    """A scheduler of nodes with such pods, and their rows in descending order of name."""
    pods = [
        pod(f"e{i}{j}", on=f"n{i}", priority=priority, status={"startTime": start})
        for i, there in enumerate(nodes)
        for j, (priority, start, _, _) in enumerate(there)
    ]
    made = engine(*[node(f"n{i}") for i in range(len(nodes))], *pods, release=release)
    made.snapshot.refresh()
    return made, np.array([made.table.row_of[f"n{i}"] for i in reversed(range(len(nodes)))], np.intp)


def candidates_of(nodes, made, rows, sorts_again=False):
    """Candidates with the victims that were drawn."""
    potential = PodLayout(
        made.table, made.algorithm.release.preemption.by_start_time, sorts_again
    ).lower_than(5, rows)
    protected, victim = np.zeros((2, *potential.present.shape), np.bool_)
    for i, entries in enumerate(potential.entries):
        for place, name in enumerate(entry.pod.name for entry in entries):
            _, _, victim[place, i], protected[place, i] = nodes[int(name[1])][int(name[2])]
    ordered = potential.protecting(protected)
    return Candidates.of(
        ordered, victim if ordered.order is None else np.take_along_axis(victim, ordered.order, axis=0)
    )


@examples(2)
@given(choices(1), st.sampled_from(["1.14", "1.16"]))
@example([[(1, start, True, False)] for start in STARTS[1:3]], "1.16")
@example([[(1, start, True, False)] for start in STARTS[2:0:-1]], "1.16")
def test_arrays_choose_as_lists_do(nodes, release):
    """Arrays and lists choose the same node from the same candidates, of equal ones the first by name."""
    made, rows = made_of(nodes, release)
    candidates = candidates_of(nodes, made, rows)
    spelled_out = candidates.spelled_out()
    assert candidates.name(candidates.pick()) == pick_one_node(spelled_out, release == "1.16")


@examples(0.5)
@given(choices(2), st.integers(0, 3))
def test_two_goes_are_as_one(nodes, at):
    """Candidates that were found in two goes are as those found in one."""
    made, rows = made_of(nodes, "1.16")
    whole = candidates_of(nodes, made, rows)
    parts = Candidates.none()
    for some in (rows[:at], rows[at:]):
        parts = parts.followed_by(candidates_of(nodes, made, some))
    assert told(parts) == told(whole)
    assert parts.violations.tolist() == whole.violations.tolist()
    assert parts.pick() == whole.pick()


def test_only_the_first_victim_need_be_protected():
    """A protected victim of low priority comes first in the list, and its priority is what counts."""
    nodes = [
        [(1, None, True, False), (0, None, True, True)],
        [(1, None, True, True), (0, None, False, False)],
    ]
    candidates = candidates_of(nodes, *made_of(nodes, "1.16"))
    assert told(candidates) == {"n0": ["e01", "e00"], "n1": ["e10"]}
    assert candidates.name(candidates.pick()) == "n0"


@examples(2)
@given(choices(1))
def test_victims_are_sorted_by_importance_at_the_end(nodes):
    """From 1.30 on victims are in the order of a stable sort by importance of those with the protected
    ones first."""
    made, rows = made_of(nodes, "1.16")
    before = candidates_of(nodes, made, rows)
    after = candidates_of(nodes, made, rows, sorts_again=True)
    for name, victims in before.spelled_out().items():
        wanted = sorted(victims.pods, key=lambda pod: (-pod.priority, pod.status.start_time or NEVER_STARTED))
        assert [pod.name for pod in after.spelled_out()[name].pods] == [pod.name for pod in wanted]
    assert after.violations.tolist() == before.violations.tolist()


def test_the_most_important_victim_comes_first():
    """A protected victim of low priority no longer hides one of high priority, so that another node is
    chosen."""
    nodes = [
        [(1, None, True, False), (0, None, True, True)],
        [(0, None, True, True), (0, None, False, False)],
    ]
    made, rows = made_of(nodes, "1.16")
    assert told(candidates_of(nodes, made, rows, sorts_again=True)) == {"n0": ["e00", "e01"], "n1": ["e10"]}


def told(candidates):
    """Candidates as plain data."""
    return {name: [pod.name for pod in victims.pods] for name, victims in candidates.spelled_out().items()}
