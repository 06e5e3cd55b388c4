"""JSON and YAML texts as values, and what their objects have twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.reading.formats import jsonvalues
from kubeclassic.api.reading.formats.jsonvalues import json_values
from kubeclassic.api.reading.formats.repeats import Repeats
from kubeclassic.api.reading.formats.yamlvalues import yaml_values
from kubeclassic.exceptions import ManifestError

TEXTS = st.text(st.sampled_from('ab,"\\:{}[] \n\u002cé'), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def repeated(text: str) -> tuple[str, ...]:
    ((value, repeats),) = json_values(text.encode(), "f")
    return repeats.paths(value)


class TestJson:
    @given(st.dictionaries(TEXTS, VALUES) | st.lists(VALUES), st.sampled_from([None, 2]), st.booleans())
    def test_good_input_is_what_json_says(self, value: Any, indent: int | None, ascii_only: bool) -> None:
        """Values come as the standard library reads them, with no key given twice."""
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        ((found, repeats),) = json_values(text.encode(), "f")
        assert (found, repeats.paths(found)) == (value, ())

    @pytest.mark.parametrize("quick", [True, False])
    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ('{"a": 1, "a": 2}', ("a",)),
            ('{"a": {"b" : [1, {"c": ",", "c": 2}]}}', ("a.b[1].c",)),
            ('{"items": [{"a": 1}, {"a": 1, "a": 1}], "x": 1}', ("items[1].a",)),
            ('{"a": 1, "\\u0061": 2}', ("a",)),
            ('{"a": "\\u002c", "b": 1, "b": 2}', ("b",)),
            ('{"a": {"x": 1, "x": 2}, "a": {}}', ("a",)),
            ('{"a": 1, "a": 1, "a": 1}', ("a",)),
        ],
    )
    def test_keys_given_twice(self, text: str, wanted: tuple[str, ...], quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each key that an object has twice is told by its path, with a quick reader and without."""
        if not quick:
            monkeypatch.setattr(jsonvalues, "quick_value", lambda content: None)
        assert repeated(text) == wanted

    def test_lines_count_from_the_first(self) -> None:
        """Errors of a line in a file have the line's number."""
        with pytest.raises(ManifestError, match=r"^f, line 7, column 2: broken JSON"):
            list(json_values(b"{x", "f", 7))


class TestYaml:
    @given(st.dictionaries(TEXTS, VALUES) | st.lists(VALUES))
    def test_what_is_written_is_read(self, value: Any) -> None:
        """Values survive being written as YAML."""
        ((found, repeats),) = yaml_values(yaml.safe_dump(value, allow_unicode=True), "f")
        assert (found, repeats.paths(found)) == (value, ())

    def test_keys_given_twice(self) -> None:
        """A repeated key is told by its path; one that replaces a merged key is none."""
        ((value, repeats),) = yaml_values("a: {b: 1, b: 2}\nc: {<<: {d: 1}, d: 2}\ne: [{f: 1, 'f': 2}]", "f")
        assert repeats.paths(value) == ("a.b", "e[0].f")

    def test_parts_with_an_alias_are_shared(self) -> None:
        """An alias is the value itself, not a copy."""
        ((value, _),) = yaml_values("a: &a [1]\nb: *a", "f")
        assert value["a"] is value["b"]

    @pytest.mark.parametrize("text", ["a: {<<: 1}", "a: {<<: [1]}", "a: {<<: [{b: 1}, c]}"])
    def test_merging_what_is_no_mapping(self, text: str) -> None:
        """A merge key needs mappings."""
        with pytest.raises(ManifestError, match="got a merge key"):
            list(yaml_values(text, "f"))


class TestRepeats:
    def test_a_shared_part_is_named_once(self) -> None:
        """A part that occurs twice has its first path."""
        part, repeats = {"a": 1}, Repeats()
        repeats.add(part, "a")
        assert repeats.paths({"x": [part], "y": part}) == ("y.a",)
