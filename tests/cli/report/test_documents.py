"""JSON documents for programs."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.record import API_VERSION, DocumentRecord, Record
from kubeclassic.cli.report.documents import document_text, indented, line_of

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


class Line(Record):
    """A record without floats."""

    pod: str
    tries: int
    victims: tuple[str, ...]


class Document(DocumentRecord):
    """Lists of records, and plain data with floats."""

    KIND: ClassVar[str] = "Test"
    lines: tuple[Line, ...]
    scores: dict[str, float]


LINES = st.builds(Line, TEXTS, st.integers(), st.lists(TEXTS).map(tuple))


def plainly(line: Line) -> dict[str, Any]:
    """A line as plain data."""
    return {"pod": line.pod, "tries": line.tries, "victims": list(line.victims)}


class TestRecords:
    @given(answer=st.builds(Document, st.lists(LINES).map(tuple), st.dictionaries(TEXTS, st.floats())))
    def test_a_document_is_written_as_its_plain_data(self, answer: Document) -> None:
        """Records are encoded as they are, with the same characters as by json.dumps."""
        plain = {"lines": list(map(plainly, answer.lines)), "scores": answer.scores}
        assert document_text(answer) == json.dumps({"apiVersion": API_VERSION, "kind": "Test", **plain}, indent=2)

    @given(line=LINES)
    def test_a_line(self, line: Line) -> None:
        """So is a record in one line."""
        assert line_of(line) == json.dumps(plainly(line))
