"""One interned value a node, and postings from values to nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.columns import ColumnView, NodeColumn, RowsByValue, grown


def column(*values):
    """A column with these values on rows 0, 1, ..."""
    made = NodeColumn(None)
    made.codes[: len(values)] = made.coded(values)
    return made


def view(*values):
    """A view of all rows of such a column."""
    made = column(*values)
    return ColumnView(made, made.codes[: len(values)])


def test_doubles_and_fills_with_zeros():
    """A longer array starts with the old entries and ends with zeros, along the last axis."""
    array = grown(np.ones((2, 8), np.int64), 9)
    assert array.shape == (2, 16)
    assert array.sum(axis=1).tolist() == [8, 8]


# --- Column -------------------------------------------------------------------------------------------------


def test_known_does_not_make_codes():
    """Asking for a value that no row ever had gives -1 and leaves no trace."""
    made = column("a")
    assert made.known("b") == -1
    assert made.values == [None, "a"]


def test_asks_once_a_distinct_value():
    """A test runs once for each distinct value, not once for each row."""
    asked = []
    view("a", "b", "a", "a", None).where(lambda value: asked.append(value))
    assert asked == [None, "a", "b"]


def test_equals():
    """Nodes with exactly that value; a value that no node has matches none, the absent one those without."""
    made = view("a", None, "b")
    assert made.equals("b").tolist() == [False, False, True]
    assert made.equals("c").tolist() == [False, False, False]
    assert made.equals(None).tolist() == [False, True, False]


@given(st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 2), st.booleans())))
def test_holds_what_was_put_and_not_dropped(steps):
    """However values come and go, each has the rows that hold it now."""
    postings = RowsByValue()
    held = set()
    for value, row, comes in steps:
        (postings.put if comes else postings.drop)(value, row)
        (held.add if comes else held.discard)((value, row))
    assert {(value, row) for value, rows in postings.rows.items() for row in rows} == held
    assert all(postings.rows.values())


@pytest.mark.parametrize("values", [("a", "b"), (None, None), ("a", "a", "b", None)])
def test_values_survive_the_coding(values):
    """Values are read as they were set."""
    made = view(*values)
    assert tuple(made.at(i) for i in range(len(values))) == values
