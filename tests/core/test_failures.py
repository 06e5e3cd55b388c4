"""The answers of a predicate: codes into sequences of reasons, and how several answers become one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.failures import Failures, Reason
from tests.support.build import error_text

FULL = Reason("full")
FAR = Reason("far", resolvable=False)
LATE = Reason("late")


def mask(text):
    """``"x.x"`` is [True, False, True]."""
    return np.array([character == "x" for character in text])


def outcomes(failures, n):
    """The reasons or the error's text of each of *n* nodes, () where it fits."""
    if failures is None:
        return [()] * n
    return [error_text(failures, i) or failures.reasons(i) for i in range(n)]


def test_takes_several_reasons():
    """Several reasons stand against the nodes of the mask and no others, in the order given."""
    assert outcomes(Failures.where((FULL, FAR), mask(".x")), 2) == [(), (FULL, FAR)]


def test_is_none_without_a_node():
    """Where all nodes fit there is nothing to object, however the answer is made."""
    assert Failures.where(FULL, mask("..")) is Failures.error("node not found", mask("..")) is None
    assert Failures.all_of([]) is Failures.all_of([(FULL, mask("..")), (LATE, mask(".."))]) is None
    assert Failures.coded(np.zeros(3, np.int64), [(FULL,)]) is Failures.of_rows([None, ()]) is None


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=10)
    )
)
def test_before_and_after_the_codes(masks):
    """Reasons that are read off the masks are those that the codes give, in the same order."""
    reasons = [(Reason(f"reason {number}"),) for number in range(len(masks))]
    found = Failures.by_row(reasons, np.array(masks))
    if found is not None:
        before = [found.reasons(i) for i in range(len(masks[0]))]
        assert found.codes.any()
        assert [found.reasons(i) for i in range(len(masks[0]))] == before


def test_codes_pick_sequences():
    """Code k stands for the k-th sequence, 0 for none."""
    found = Failures.coded(np.array([2, 0, 1]), [(FULL,), (FAR, LATE)])
    assert outcomes(found, 3) == [(FAR, LATE), (), (FULL,)]


def test_an_error_is_not_a_misfit():
    """Where a predicate cannot answer there is a text and no reason, and the node does not pass."""
    found = Failures.error("node not found", mask(".x"))
    assert error_text(found, 0) is None
    assert error_text(found, 1) == "node not found"
    assert found.reasons(1) == ()
    assert found.passed.tolist() == [True, False]


def test_takes_nodes_in_the_order_asked():
    """The answer for some nodes is in the order in which they are asked for, errors included."""
    found = Failures.of_rows([(FULL,), None, "broken"])
    assert outcomes(found.take(np.array([2, 0, 1])), 3) == ["broken", (FULL,), ()]


def test_one_part_is_itself():
    """A single objection is handed on as it is."""
    part = Failures.where(FULL, mask("x"))
    assert Failures.joined([None, part]) is part
    assert Failures.joined([None, None]) is None


@given(st.data())
def test_is_what_a_loop_over_nodes_finds(data):
    """Joining arrays gives each node what appending its parts' reasons one by one gives."""
    n = data.draw(st.integers(1, 6))
    outcome = st.one_of(
        st.none(),
        st.sampled_from(["broken", "worse"]),
        st.lists(st.sampled_from([FULL, FAR, LATE]), max_size=2).map(tuple),
    )
    rows = data.draw(st.lists(st.lists(outcome, min_size=n, max_size=n), max_size=4))
    joined = Failures.joined([Failures.of_rows(row) for row in rows])
    assert outcomes(joined, n) == [_appended([row[i] for row in rows]) for i in range(n)]


def _appended(parts):
    reasons = ()
    for part in parts:
        if isinstance(part, str):
            return part
        reasons += part or ()
    return reasons


@given(masks=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=11))
def test_tell_who_has_which_reasons(masks):
    """Few reasons or many: each node has those whose masks hold it, in order."""
    reasons = [Reason(f"reason {number}") for number in range(len(masks))]
    found = Failures.all_of([(reason, np.array(held)) for reason, held in zip(reasons, masks, strict=True)])
    wanted = [tuple(reason for reason, held in zip(reasons, masks, strict=True) if held[i]) for i in range(4)]
    assert outcomes(found, 4) == wanted
