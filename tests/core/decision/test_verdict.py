"""The predicates' joint verdict on nodes: the first one that rejects counts, unless all are always asked."""

import attrs
import numpy as np

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.failures import Failures, Reason
from kubeclassic.core.cycle import Predicate, Reads
from kubeclassic.core.decision.verdict import Verdict, judge
from tests.support.build import engine, node, pod

FULL = Reason("full")
TAINTED = Reason("tainted", resolvable=False)
ABSENT = Reason("absent")
BROKEN = "broken"


def against(names, answer, name=""):
    """A predicate that holds *answer*, a reason or the text of an error, against the nodes of these names."""

    def check(pod, nodes, cycle):
        mask = np.array([nodes.name(i) in names for i in range(nodes.n)], np.bool_)
        return Failures.error(answer, mask) if isinstance(answer, str) else Failures.where(answer, mask)

    return Predicate(
        name=name or (answer if isinstance(answer, str) else answer.text), check=check, reads=Reads.NODE
    )


def judged(*predicates, check_all=False):
    """The verdict of *predicates*, in this order, on nodes a, b, c and d in rows 0 to 3."""
    cycle = engine(*[node(name) for name in "abcd"]).begin(pod("new"))
    cycle.algorithm = attrs.evolve(cycle.algorithm, predicates=predicates)
    return judge(cycle, Batch(cycle.table), check_all)


def reasons(judgement):
    """The texts of the reasons against each node."""
    return [[reason.text for reason in judgement.reasons(i)] for i in range(judgement.nodes.n)]


# --- Judging ------------------------------------------------------------------------------------------------


def test_an_error_counts_where_no_earlier_rule_objects():
    """A node that was turned down before is not asked about, so its error is not met."""
    found = judged(against("a", FULL), against("ab", BROKEN))
    assert ([found.error(i) for i in range(4)], found.fits.tolist()) == (
        [None, BROKEN, None, None],
        [False, False, True, True],
    )


def test_an_error_ends_the_reasons_of_its_node():
    """Reasons of later rules against the node are not reported."""
    assert reasons(judged(against("a", BROKEN), against("ab", FULL))) == [[], ["full"], [], []]


def test_who_was_reached():
    """A predicate is reached on nodes that all before it pass, whether or not it objects itself."""
    found = judged(against("a", FULL), against("b", TAINTED), against("c", ABSENT))
    assert found.reached("tainted").tolist() == [False, True, True, True]
    assert found.reached("absent").tolist() == [False, False, True, True]


def test_who_rejected():
    """The predicate whose objection counts, or all of them."""
    rules = against("ab", FULL, "First"), against("b", TAINTED, "Second")
    assert judged(*rules).rejecting_predicates(1) == ["First"]
    assert judged(*rules, check_all=True).rejecting_predicates(1) == ["First", "Second"]


# --- The two passes -----------------------------------------------------------------------------------------


def verdict():
    """Nodes a and b fit as they are and c does not; pods are nominated to b and c, and with its one b is
    full."""
    plain = judged(against("c", TAINTED))
    trial = judged(against("ab", FULL))  # its nodes a and c stand for b and c
    return Verdict(plain, np.array([True, False, False, True]), trial, {1: 0, 2: 2})


def test_a_tally_counts_each_reason_by_node():
    """A tally counts, for each reason, the nodes that have it, as the message of a FitError does."""
    assert verdict().tally(np.array([0, 1, 2])) == {"full": 1, "tainted": 1}
    assert verdict().tally(np.array([2])) == {"tainted": 1}
    assert verdict().alone(np.array([0, 1, 2])) == {"full": 1, "tainted": 1}


def test_a_reason_is_alone_where_no_other_predicate_objects():
    """Also one that is not asked any more, as an earlier one has turned the node down."""
    assert judged(against("ab", FULL), against("bcd", TAINTED)).alone(np.arange(4)) == {
        "full": 1,
        "tainted": 2,
    }
