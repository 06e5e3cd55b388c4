"""What is read from the events of a YAML text is what is made of its nodes: values, repeated keys and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.reading.formats import yamlvalues
from kubeclassic.api.reading.formats.yamlevents import Uncommon
from kubeclassic.exceptions import ManifestError

PIECES = st.sampled_from([
    "a", "b: ", "\n", "\n  ", "- ", "--- ", "...", "&x ", "*x", "!!str ", "! ", "<<: ", "'", '"', "{", "}", "[", "]", ", ", "? ", ": ", "1",
    "0x1f", "017", "1.5", "1e9", "~", "null", "true", "yes", "2020-01-01", "12:30", "=", "<<", "#",
    "|\n", ">-\n", "\\ud800", "é", "%YAML 1.1", "\t", "k: 1\n",
])  # fmt: skip


def told(text: str) -> list[object]:
    """The values of *text* with the types of what is in them and the repeated keys, and the error at the end."""
    found: list[object] = []
    try:
        for value, repeats in yamlvalues.yaml_values(text, "f"):
            found.append((repr(value), repeats.paths(value)))
    except ManifestError as error:
        found.append(str(error))
    return found


def by_nodes(text: str) -> list[object]:
    """The same without events."""

    def refused(text: str) -> NoReturn:
        raise Uncommon

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yamlvalues, "_quick_values", refused)
        return told(text)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_text(text: str) -> None:
    """Texts of pieces that mean something in YAML."""
    assert told(text) == by_nodes(text)


@pytest.mark.parametrize("text", [
    "a: 1\na: {b: 2, b: 3}\n---\n---\nc: [~, yes, 1.0, 0o7, 08]\n---\nx: &y 1\nz: *y\n---\nlast: 1", "a: 1\n---\nb: {<<: {c: 1}, d: 2}",
    "1: a\ntrue: b", "~: a", "[a]: b", "a: !!binary YQ==", "a: !x b", "a: *b", "a: [1", "a: 1\n---\n\tb", "a: \"\\ud800\"", "",
    "a: \x01", "- " * 400 + "a",
    "[" * 600 + "]" * 600, "[" * 1200 + "]" * 1200, "a: 1" + "0" * 5000, "a: .inf\nb: 1e999",
    "{a: 1, ? b, c: }", "a: <<\nb: =", "a: 2020-01-01",
])  # fmt: skip
def test_what_is_rare(text: str) -> None:
    """Documents before and after ones with anchors, tags and merge keys, depth, and what is refused."""
    assert told(text) == by_nodes(text)


def test_plain_texts_need_no_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts without anything rare are read from events alone, as far as they are asked for."""

    def refused(*arguments: Any) -> Iterator[Any]:
        raise AssertionError(arguments)

    monkeypatch.setattr(yamlvalues, "_exact_values", refused)
    documents = yamlvalues.yaml_values("a: {b: [1, 'x']}\n---\n# nothing\n---\nc: true\n---\n[", "f")
    assert [next(documents)[0], next(documents)[0]] == [{"a": {"b": [1, "x"]}}, {"c": True}]
