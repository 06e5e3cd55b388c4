"""The first JSON value of a text, and the words of Go's decoder for what is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.wire.godecode import GoNames, decode
from kubeclassic.api.wire.gosyntax import MOST_SCANNED, GoJsonError, first_value, quoted
from tests.support.refusals import refusal_text

JSON = st.recursive(
    st.none() | st.booleans() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
NAMES = GoNames("api", "int")


def refusal(kind: str, body: bytes) -> str:
    """The text of the error for *body*, or nothing."""
    try:
        decode(kind, body, NAMES, "1.16")
    except GoJsonError as error:
        return str(error)
    return ""


class TestSyntax:
    @pytest.mark.parametrize(
        ("body", "text"),
        [
            (b"", "EOF"),
            (b" \n", "EOF"),
            (b"{", "unexpected EOF"),
            (b'{"Nodes":', "unexpected EOF"),
            (b'"open', "unexpected EOF"),
            (b"tru", "unexpected EOF"),
            (b"-", "unexpected EOF"),
            (b"not json", "invalid character 'o' in literal null (expecting 'u')"),
            (b"<html>", "invalid character '<' looking for beginning of value"),
            (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
            (b'{"a" 1}', "invalid character '1' after object key"),
            (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
            (b"[1 2]", "invalid character '2' after array element"),
            (b"[1,]", "invalid character ']' looking for beginning of value"),
            (b'{"a":"\n"}', "invalid character '\\n' in string literal"),
            (b'{"a":"\\x"}', "invalid character 'x' in string escape code"),
            (b'{"a":"\\u00g0"}', "invalid character 'g' in \\u hexadecimal character escape"),
            (b"[1.]", "invalid character ']' after decimal point in numeric literal"),
            (b"[1e]", "invalid character ']' in exponent of numeric literal"),
            (b"[-a]", "invalid character 'a' in numeric literal"),
            (b"[NaN]", "invalid character 'N' looking for beginning of value"),
            (b"[01]", "invalid character '1' after array element"),
            (b"\xef\xbb\xbf{}", "invalid character '\xef' looking for beginning of value"),
            (b"[" * 100_000, "exceeded max depth"),
        ],
    )
    def test_what_go_says(self, body: bytes, text: str) -> None:
        """A text that is no JSON is refused in Go's words."""
        assert refusal_text(GoJsonError, first_value, body) == text

    @given(JSON, st.sampled_from(["", " ", '{"a": 1}', "x"]))
    def test_what_is_json_is_taken(self, value: Any, rest: str) -> None:
        """Whatever Python writes is read again, and what follows it is not looked at."""
        text = json.dumps(value) + ("" if isinstance(value, int) else rest)
        assert json.dumps(value, default=str) == json.dumps(as_numbers(first_value(text.encode())))

    @given(st.binary(max_size=20))
    def test_anything_is_an_error_or_a_value(self, body: bytes) -> None:
        """No text makes the reader fail in another way."""
        try:
            first_value(body)
        except GoJsonError:
            return

    @pytest.mark.parametrize(
        ("byte", "text"), [(39, r"'\''"), (34, "'\"'"), (92, r"'\\'"), (0, r"'\x00'"), (0x80, r"'\u0080'"), (65, "'A'")]
    )
    def test_bytes_are_quoted_as_go_does(self, byte: int, text: str) -> None:
        """Quotes, control characters and bytes beyond ASCII have Go's escapes."""
        assert quoted(byte) == text


def as_numbers(value: Any) -> Any:
    """*value* with numbers as such."""
    if isinstance(value, list):
        return [as_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: as_numbers(item) for key, item in value.items()}
    return int(value) if type(value).__name__ == "JsonNumber" else value


class TestDecoding:
    @pytest.mark.parametrize(
        ("kind", "body", "text"),
        [
            ("ExtenderFilterResult", b'"text"', "json: cannot unmarshal string into Go value of type api.ExtenderFilterResult"),
            ("ExtenderFilterResult", b"[]", "json: cannot unmarshal array into Go value of type api.ExtenderFilterResult"),
            (
                "ExtenderFilterResult",
                b'{"nodeNames": "a"}',
                "json: cannot unmarshal string into Go struct field ExtenderFilterResult.NodeNames of type []string",
            ),
            (
                "ExtenderFilterResult",
                b'{"NodeNames": [1]}',
                "json: cannot unmarshal number into Go struct field ExtenderFilterResult.NodeNames of type string",
            ),
            (
                "ExtenderFilterResult",
                b'{"nodes": {"items": [{"metadata": {"name": true}}]}}',
                "json: cannot unmarshal bool into Go struct field ObjectMeta.Nodes.items.metadata.name of type string",
            ),
            ("[]HostPriority", b'{"Host": "a"}', "json: cannot unmarshal object into Go value of type api.HostPriorityList"),
            (
                "[]HostPriority",
                b'[{"Host": "a", "Score": 2.5}]',
                "json: cannot unmarshal number 2.5 into Go struct field HostPriority.Score of type int",
            ),
            (
                "[]HostPriority",
                b'[{"Score": 9223372036854775808}]',
                "json: cannot unmarshal number 9223372036854775808 into Go struct field HostPriority.Score of type int",
            ),
        ],
    )
    def test_wrong_types_are_told_as_go_does(self, kind: str, body: bytes, text: str) -> None:
        """A value of another type is refused with the field and Go's types."""
        assert refusal(kind, body) == text

    def test_names_in_any_case(self) -> None:
        """Fields are found whatever their case; what is not known and what is null is left out."""
        body = b'{"NODES": {"Items": [{"METADATA": {"Name": "a", "labels": {"X": "y"}}, "new": 1}, null]}, "error": null, "other": [1]}'
        found = decode("ExtenderFilterResult", body, NAMES, "1.16")
        assert found == {"Nodes": {"items": [{"metadata": {"name": "a", "labels": {"X": "y"}}}, {}]}}

    def test_a_later_field_is_not_known_before(self) -> None:
        """The releases with predicates do not read failedAndUnresolvableNodes."""
        body = b'{"failedAndUnresolvableNodes": {"a": "b"}}'
        assert decode("ExtenderFilterResult", body, NAMES, "1.16") == {}
        assert decode("ExtenderFilterResult", body, NAMES, "1.27") == {"FailedAndUnresolvableNodes": {"a": "b"}}

    def test_halves_of_pairs_are_replaced(self) -> None:
        """Half a surrogate pair becomes U+FFFD, a whole pair its letter."""
        assert decode("ExtenderFilterResult", b'{"Error": "\\ud800 \\ud83d\\ude00"}', NAMES, "1.16") == {"Error": "\ufffd \U0001f600"}


def test_long_texts_that_are_no_json() -> None:
    """Blanks before a value, however many, are ignored at once; for a long text that is no JSON it is not looked for Go's words."""
    with pytest.raises(GoJsonError, match=r"^EOF$"):
        first_value(b" " * (MOST_SCANNED - 1))
    with pytest.raises(GoJsonError, match=r"^got \d+ bytes that are no JSON$"):
        first_value(b'{"a": ' + b" " * MOST_SCANNED)
