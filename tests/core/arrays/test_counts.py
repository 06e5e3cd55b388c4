"""Declared counts: what they give the whole table and one row is what a naive look at all pods gives."""

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.batch import Batch, Overlay
from kubeclassic.core.arrays.census import PodsMatching
from kubeclassic.core.arrays.counts import (
    FEW,
    NO_MINIMUM,
    Clause,
    CountTerm,
    DomainSum,
    Sums,
    few_or_all,
    judged,
    masked,
)
from kubeclassic.core.arrays.failures import Reason
from kubeclassic.core.cycle import Predicate, Priority, Reads
from kubeclassic.core.incremental.answers import Answer
from tests.support.build import engine, node, pod
from tests.support.examples import examples

ROWS = 2 * FEW + 6
FULL = (Reason("full"),)
LOST = (Reason("lost"),)
QUERIES = {
    app: PodsMatching(None, f"app {app}", lambda group, app=app: group.labels.get("app") == app)
    for app in "ab"
}
KEYS = ("zone", "host")
MOVES = st.lists(st.tuples(st.integers(0, ROWS - 1), st.sampled_from("abc"), st.booleans()), max_size=6)


@attrs.define(eq=False)
class Town:
    """Nodes in four zones, each with a host name of its own but for some without labels, and pods that come
    and go."""

    table: object = attrs.field(init=False)
    there: list = attrs.field(factory=list)
    templates: object = attrs.field(init=False)

    def __attrs_post_init__(self):
        nodes = [
            node(f"n{i:02}", labels={"zone": f"z{i % 4}", "host": f"h{i}"} if i % 9 else {})
            for i in range(ROWS)
        ]
        made = engine(*nodes)
        made.begin(pod("p"))
        self.table = made.table
        self.templates = made.templates

    def move(self, row, app, comes):
        """A pod of *app* comes to *row*, or the latest that came leaves."""
        if comes:
            entry = self.templates.entry(pod(f"p{len(self.there)}", app=app))
            self.table.add_pod(row, entry)
            self.there.append((row, entry))
        elif self.there:
            self.table.remove_pod(*self.there.pop())

    def sum(self, weights, key, without=()):
        """The sum of these weights by *key*, on rows with None; pods on *without* do not count."""
        counters = [(self.table.census.counter(QUERIES[app]), key, weight) for app, weight in weights.items()]
        if key is None:
            return DomainSum.on_rows([counter for counter, _, _ in counters])
        return DomainSum.of_each(counters, self.table, without)[0]

    def naive(self, weights, key, without=()):
        """The count of each row, by a loop over all pods."""
        labels = [
            self.table.nodes[row].labels.get(key) if key and self.table.nodes[row] else row
            for row in range(ROWS)
        ]
        found = [0] * ROWS
        for at, entry in self.there:
            weight = (
                (1 if key is None else weights[entry.pod.labels["app"]])
                if entry.pod.labels["app"] in weights
                else 0
            )
            for row in range(ROWS):
                if labels[row] is not None and labels[row] == labels[at] and at not in without:
                    found[row] += weight
        return found


# --- Sums ---------------------------------------------------------------------------------------------------


@examples(1)
@given(
    weights=st.dictionaries(st.sampled_from("ab"), st.integers(-3, 3), min_size=1),
    moves=MOVES,
    later=MOVES,
    lost=st.booleans(),
)
def test_they_are_those_of_a_look_at_all_pods(weights, moves, later, lost):
    """By few values, by many and on the row itself, also for pods that came after they were declared."""
    town = Town()
    without = (1, 2) if lost else ()
    for move in moves:
        town.move(*move)
    sums = [(key, town.sum(weights, key, without if key else ())) for key in (*KEYS, None)]
    for move in later:
        town.move(*move)
    for key, found in sums:
        wanted = town.naive(weights, key, without if key else ())
        assert found.everywhere(Batch(town.table)).tolist() == wanted
        assert [found.at(row) for row in range(ROWS)] == wanted
        assert found.of_rows(np.arange(ROWS)) == wanted
        assert key is None or found.has_any is any(found.by_code())
    assert [found.is_few for _, found in sums] == [True, False, False]


def test_a_column_with_rows_left_out():
    """Pods on rows whose code is 0 in a column of their own do not count, nor do they once that column is
    made anew."""
    town = Town()
    query = QUERIES["a"]
    for row in (1, 5):  # one zone
        town.move(row, "a", True)
    column = town.table.labels["zone"]
    counter = town.table.census.counter(query)
    for left_out, wanted in ((1, 1), (2, 2)):
        codes = column.codes.copy()
        codes[left_out] = 0
        part = DomainSum("zone", column, [CountTerm(counter, 1, "part", masked(column, codes))])
        assert part.at(1) == part.at(5) == wanted


CLAUSES = ("above", "at most", "above the least", "unless there is none")


def clause(town, kind, key, most):
    """One test of the pods of app a by *key*."""
    sums = town.sum({"a": 1}, key)
    if kind == "above the least":
        codes = np.unique(Batch(town.table).label(key).codes)
        return Clause(sum=sums, reasons=FULL, most=most, least_of=few_or_all(codes[codes > 0]), keyless=True)
    if kind == "unless there is none":
        return Clause(sum=sums, reasons=FULL, wants=True, keyless=True, unless_none=[sums])
    return Clause(sum=sums, reasons=FULL, most=most, wants=kind == "at most", keyless=kind == "at most")


def refused(town, kind, key, most):
    """The rows that are refused, by a loop over all pods."""
    counts = town.naive({"a": 1}, key)
    present = [row for row in range(ROWS) if row % 9]
    if kind == "above the least":
        limit = most + min((counts[row] for row in present), default=NO_MINIMUM)
        return [row not in present or counts[row] > limit for row in range(ROWS)]
    if kind == "unless there is none":
        return [any(counts) and count <= 0 for count in counts]
    return [count <= most if kind == "at most" else count > most for count in counts]


# --- Clauses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLAUSES)
@pytest.mark.parametrize("key", KEYS)
@examples(0.5)
@given(most=st.integers(0, 2), moves=MOVES, later=st.lists(MOVES, max_size=4))
def test_clauses_follow_what_moves(kind, key, most, moves, later):
    """From declaration on, answers are those of a look at all pods, and a new revision says that one
    changed."""
    town = Town()
    for move in moves:
        town.move(*move)
    answer = Answer(
        Predicate(name="Test", check=lambda pod, nodes, cycle: None, reads=Reads.DOMAIN), town.table
    )
    asked = [clause(town, kind, key, most), Clause(sum=town.sum({"b": 1}, "zone"), reasons=LOST)]
    answer.declare(asked)
    before = None
    for more in ([], *later):
        for move in more:
            town.move(*move)
        seen = answer.revision
        answer.follow()
        lost = [count > 0 for count in town.naive({"b": 1}, "zone")]
        first = refused(town, kind, key, most)
        wanted = [full or other for full, other in zip(first, lost, strict=True)]
        failures = answer.answer
        reasons = [() if failures is None else failures.reasons(row) for row in range(ROWS)]
        assert reasons == [
            FULL if full else LOST if other else () for full, other in zip(first, lost, strict=True)
        ]
        found = judged(asked, Batch(town.table))
        assert [() if found is None else found.reasons(row) for row in range(ROWS)] == reasons
        assert before is None or before == wanted or answer.revision > seen
        before = wanted


@pytest.mark.parametrize("key", KEYS)
def test_what_another_rule_counts_is_watched(key):
    """Where nothing is refused unless there is a pod of another kind, a pod of that kind makes the answer
    stale."""
    town = Town()
    asked = [
        Clause(
            sum=town.sum({"a": 1}, key), reasons=FULL, wants=True, unless_none=[town.sum({"b": 1}, "zone")]
        )
    ]
    answer = Answer(
        Predicate(name="Test", check=lambda pod, nodes, cycle: None, reads=Reads.DOMAIN), town.table
    )
    answer.declare(asked)
    assert answer.answer is None
    town.move(5, "b", True)
    assert answer.is_behind
    answer.follow()
    assert answer.answer.reasons(1) == FULL


def test_edits_need_a_limit_of_their_own_domain():
    """Clauses whose limit depends on other domains are refused for nodes on which pods are tried."""
    town = Town()
    trial = Overlay.of(town.table, np.array([1], np.intp), pod("new"))
    trial.add(town.templates.entry(pod("more", app="a")), 0)
    local = judged([clause(town, "above", "zone", 0)], trial)
    assert local.reasons(0) == FULL
    with pytest.raises(ValueError, match="expected `most` alone"):
        judged([clause(town, "above the least", "zone", 0)], trial)


# --- Scores -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [("zone",), ("host",), ("zone", "host"), (None,)])
@examples(0.5)
@given(moves=MOVES, later=st.lists(MOVES, max_size=4))
def test_they_follow_what_moves(keys, moves, later):
    """From declaration on, scores are those of a look at all pods, a new revision says that one changed,
    and a constant is one."""
    town = Town()
    for move in moves:
        town.move(*move)
    answer = Answer(
        Priority(name="Test", score=lambda pod, nodes, cycle: nodes.pod_count, reads=Reads.DOMAIN), town.table
    )
    weights = {"a": 1} if keys == (None,) else {"a": 2, "b": -1}
    also = [town.table.census.counter(QUERIES["b"])]
    answer.declare(Sums([town.sum(weights, key) for key in keys], also))
    for more in ([], *later):
        for move in more:
            town.move(*move)
        seen = answer.revision
        moved = answer.is_behind
        answer.follow()
        wanted = [sum(each) for each in zip(*[town.naive(weights, key) for key in keys], strict=True)]
        assert answer.answer.tolist() == wanted
        assert answer.constant is None or set(wanted) == {answer.constant}
        assert not moved or answer.revision > seen
