"""JSON documents for programs."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.cli.report.documents import indented

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4))
WITHOUT_FLOATS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.text("\x00\x1f\x7f/<\\\"\n", max_size=4))


def nested(scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Lists, tuples and dicts of *scalars*."""
    return st.recursive(scalars, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner))


VALUES = nested(SCALARS)


class TestIndented:
    @given(value=VALUES)
    def test_writes_what_the_standard_library_writes(self, value: Any) -> None:
        """Whatever the value: the same characters as by json.dumps with an indent of two."""
        assert indented(value) == json.dumps(value, indent=2)

    @given(value=VALUES, long=nested(WITHOUT_FLOATS))
    def test_writes_the_same_where_much_has_no_floats(self, value: Any, long: Any) -> None:
        """So it does where the last part is written by itself."""
        found = {"a": value, "long": long}
        assert indented(found, long="long") == json.dumps(found, indent=2)
