"""One interned value a node, and postings from values to nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.columns import ColumnView, NodeColumn, Postings, grown


def column(*values):
    """A column with these values on rows 0, 1, ..."""
    made = NodeColumn(None)
    made.codes[: len(values)] = made.coded(values)
    return made


def view(*values):
    """A view of all rows of such a column."""
    made = column(*values)
    return ColumnView(made, made.codes[: len(values)])


class TestGrown:
    def test_keeps_an_array_that_is_long_enough(self):
        """Nothing is copied while there is room."""
        array = np.zeros(4)
        assert grown(array, 4) is array

    def test_doubles_and_fills_with_zeros(self):
        """A longer array starts with the old entries and ends with zeros, along the last axis."""
        array = grown(np.ones((2, 8), np.int64), 9)
        assert array.shape == (2, 16)
        assert array.sum(axis=1).tolist() == [8, 8]


class TestColumn:
    def test_code_zero_is_absent(self):
        """A row that was never set, and one that is set to the absent value, have code 0."""
        made = column("a", None)
        assert made.codes[:3].tolist() == [1, 0, 0]

    def test_equal_values_share_a_code(self):
        """There is one code a distinct value, however many rows have it."""
        made = column("a", "b", "a")
        assert made.codes[:3].tolist() == [1, 2, 1]
        assert made.values == [None, "a", "b"]

    def test_codes_stay(self):
        """A value that was seen has the code that it had, beside new ones."""
        made = column("a")
        assert made.coded(["b", "a", "b", None]).tolist() == [2, 1, 2, 0]
        assert made.code("b") == 2

    def test_known_does_not_make_codes(self):
        """Asking for a value that no row ever had gives -1 and leaves no trace."""
        made = column("a")
        assert made.known("b") == -1
        assert made.values == [None, "a"]

    def test_asks_once_a_distinct_value(self):
        """A test runs once for each distinct value, not once for each row."""
        asked = []
        view("a", "b", "a", "a", None).where(lambda value: asked.append(value))
        assert asked == [None, "a", "b"]


class TestColumnView:
    def test_where_answers_for_every_node(self):
        """Each node gets its value's answer."""
        assert view("a", None, "b", "a").where(lambda value: value == "a").tolist() == [True, False, False, True]

    def test_where_gives_numbers_too(self):
        """With a dtype the answers are numbers."""
        lengths = view("a", None, "bb").where(lambda value: len(value or ""), np.int64)
        assert lengths.tolist() == [1, 0, 2]

    def test_equals(self):
        """Nodes with exactly that value; a value that no node has matches none, the absent one those without."""
        made = view("a", None, "b")
        assert made.equals("b").tolist() == [False, False, True]
        assert made.equals("c").tolist() == [False, False, False]
        assert made.equals(None).tolist() == [False, True, False]

    def test_present_and_at(self):
        """A node with a value is present, and its value can be read."""
        made = view("a", None)
        assert made.present.tolist() == [True, False]
        assert [made.at(0), made.at(1)] == ["a", None]


class TestPostings:
    def test_put_is_a_set(self):
        """A value that is put twice is gone when it is dropped once; dropping what is not there does nothing."""
        postings = Postings()
        postings.put("x", 3)
        postings.put("x", 3)
        postings.drop("x", 3)
        postings.drop("x", 3)
        postings.drop("y", 1)
        assert postings.rows == {}

    def test_an_unknown_value_is_on_no_row(self):
        """Asking for a value that nobody holds gives nothing and leaves no trace."""
        postings = Postings()
        assert list(postings.of("x")) == []
        assert postings.rows == {}

    @given(st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 2), st.booleans())))
    def test_holds_what_was_put_and_not_dropped(self, steps):
        """However values come and go, each has the rows that hold it now."""
        postings = Postings()
        held = set()
        for value, row, comes in steps:
            (postings.put if comes else postings.drop)(value, row)
            (held.add if comes else held.discard)((value, row))
        assert {(value, row) for value, rows in postings.rows.items() for row in rows} == held
        assert all(postings.rows.values())


@pytest.mark.parametrize("values", [("a", "b"), (None, None), ("a", "a", "b", None)])
def test_values_survive_the_coding(values):
    """What was set is what is read."""
    made = view(*values)
    assert tuple(made.at(i) for i in range(len(values))) == values
