"""What objects look like in a notebook."""

from __future__ import annotations

from kubeclassic.api.notebooks import MOST_ROWS, Look, shortened


def test_everything_is_escaped() -> None:
    """Titles, facts, headers and cells cannot bring HTML of their own."""
    text = Look("<a>", {"<b>": "<c>"}, ("<d>",), [("<e>",)]).html()
    assert [f"&lt;{name}&gt;" in text for name in "abcde"] == [True] * 5
    assert "<a>" not in text
    assert "<e>" not in text


def test_long_tables_are_cut() -> None:
    """Of a long table the first rows are shown, and the others are counted."""
    text = Look("t", {}, ("n",), [(number,) for number in range(MOST_ROWS + 1_000)]).html()
    assert text.count("<tr>") == MOST_ROWS + 1
    assert "and 1,000 more" in text


def test_texts_are_shortened() -> None:
    """A long text becomes one short line; a short one stays."""
    assert shortened("a\nb") == "a b"
    assert shortened("x" * 50, 10) == "x" * 9 + "…"
