"""JSON documents for programs."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.cli.report.documents import indented

TEXTS = st.text(max_size=4) | st.text('\x00\x1f\x7f/<\\"\n', max_size=4)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)


def nested(scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Lists, tuples and dicts of *scalars*."""
    return st.recursive(scalars, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner))


VALUES = nested(SCALARS)


class TestIndented:
    @given(value=VALUES)
    def test_writes_what_the_standard_library_writes(self, value: Any) -> None:
        """Whatever the value: the same characters as by json.dumps with an indent of two."""
        assert indented(value) == json.dumps(value, indent=2)
