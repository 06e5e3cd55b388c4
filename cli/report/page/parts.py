"""Small parts of pages: facts, cards, sections, bars, tags and short tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from html import unescape
from typing import Any

import attrs

from .markup import Markup, Text, cell_text, counted, element, html, number, sentence, share, value_at

GOOD, SAME, NEAR, BAD, HELD = "var(--good)", "var(--same)", "var(--near)", "var(--far)", "var(--held)"
"""Colours with a meaning: fine, nothing new, worth a look, worse, not tried."""
SIDES = 8
_TAG = re.compile(r"<[^>]*>")
_FIGURE = re.compile(r"-?[\d,.]+( ?(%|s|[KMGTP]iB))?")
"""A number as pages write it."""


def colour_of(at: int) -> str:
    """The colour of the series or configuration in that place."""
    return f"var(--c{at % SIDES})"


@attrs.frozen(repr=False)
class Section:
    """A part of a page under a heading of its own, which the list of contents names."""

    title: str
    body: Markup
    name: str
    """Its id: what stands after ``#`` in a link to it."""


def section(title: str, *parts: Text, lead: Text = "", name: str = "") -> Section:
    """A section of *parts*; *lead*: a sentence that says what is to be seen; *name*: its id, by default from the title."""
    told_first = [element("p", lead, class_="soft")] if lead else []
    return Section(title, Markup("\n".join(map(html, [*told_first, *parts]))), name or _slug(title))


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"


# --- facts ----------------------------------------------------------------------------------------------------------


def fact(value: Text, text: Text, colour: str = SAME) -> Markup:
    """A number with what it counts."""
    return element("div", element("b", value), element("span", text), class_="fact", style=f"--k:{colour}")


def facts(*found: Markup) -> Markup:
    """Facts side by side."""
    return element("div", *found, class_="facts")


def facts_of(record: Any, cards: Sequence[tuple[str, str, str]], always: Collection[str] | None = None) -> list[Markup]:
    """The numbers of *record* as facts.

    *cards*: the place of each number, what it counts, and its colour unless it is 0. *always*: places that are shown even if 0; None: all.
    """
    found = [(path, text, colour if value_at(record, path) else SAME) for path, text, colour in cards]
    shown = (card for card in found if always is None or card[0] in always or value_at(record, card[0]))
    return [fact(counted(record, path), text, colour) for path, text, colour in shown]


def card(title: Text, *parts: Text) -> Markup:
    """A frame around *parts*, with a heading unless *title* is empty."""
    heading = [element("h3", title)] if title else []
    return element("div", *heading, *parts, class_="card")


def grid(*cards: Markup, wide: bool = False) -> Markup:
    """Cards in as many columns as there is room for, two on paper; *wide*: each takes half of a page."""
    return element("div", *cards, class_="grid wide" if wide else "grid")


def paragraph(*pieces: Text) -> Markup:
    """A paragraph."""
    return element("p", *pieces)


def soft(*pieces: Text) -> Markup:
    """A paragraph that explains."""
    return element("p", *pieces, class_="soft")


def bullets(items: Iterable[Text]) -> Markup:
    """A list."""
    return element("ul", *(element("li", item) for item in items))


def folded(summary: Text, *parts: Text, printed: bool = True) -> Markup:
    """*parts* that show on a click; *printed*: on paper too, where nothing else says the same."""
    return element("details", element("summary", summary), *parts, class_=None if printed else "unprinted")


def numbers_of(table: Text) -> Markup:
    """The numbers of a picture, which stands on paper without them."""
    return folded("The numbers", table, printed=False)


def note(*pieces: Text) -> Markup:
    """A remark that is not to be missed."""
    return element("p", *pieces, class_="note")


# --- marks ----------------------------------------------------------------------------------------------------------


def dot(colour: str) -> Markup:
    """A mark in *colour*."""
    return element("span", class_="dot", style=f"--k:{colour}", aria_hidden="true")


def tag(text: Text, colour: str = "var(--line)") -> Markup:
    """A short word in a frame of *colour*."""
    return element("span", text, class_="tag", style=f"--k:{colour}")


def track(width: float, colour: str, *, left: float = 0.0, middle: bool = False) -> Markup:
    """A bar from *left* over *width*, shares of 1; the number itself stands beside it."""
    begin, size = 100 * max(left, 0.0), 100 * min(max(width, 0.0), 1.0)
    bar = element("i", style=f"left:{begin:.1f}%;width:{size:.1f}%;--k:{colour}")
    return element("span", bar, class_="track middle" if middle else "track", aria_hidden="true")


@attrs.frozen(repr=False)
class StackItem:
    """A piece of a :func:`stack`."""

    name: str
    count: int
    colour: str


def stack(label: str, parts: Sequence[StackItem]) -> Markup:
    """Counts of one whole side by side as one bar, with a legend that has the numbers."""
    total = max(sum(part.count for part in parts), 1)
    pieces = [element("i", style=f"flex:{part.count};--k:{part.colour}") for part in parts if part.count]
    counts = [element("b", number(part.count)) for part in parts]
    lines = [
        element("li", dot(part.colour), f"{part.name} ", count, " ", share(part.count / total))
        for part, count in zip(parts, counts, strict=True)
    ]
    bar = element("div", *pieces, class_="stack", role="img", aria_label=f"{label}: {_spoken(parts)}")
    return sentence(bar, element("ul", *lines, class_="legend"))


def _spoken(parts: Sequence[StackItem]) -> str:
    return ", ".join(f"{number(part.count)} {part.name}" for part in parts)


# --- short tables ---------------------------------------------------------------------------------------------------


def plain_table(headers: Sequence[Text], rows: Iterable[Sequence[object]], caption: str = "") -> Markup:
    """A table of few rows: cells are plain values, or markup. Numbers are aligned at their right; the first cell names its row.

    Where there is little width a row of more than three cells is shown as a list. Long lists are :class:`~.tables.Table`.
    """
    body = [list(row) for row in rows]
    right = [_is_numeric([row[at] for row in body]) for at in range(len(headers))]
    head = [element("th", header, scope="col", class_=_mark(to_right)) for header, to_right in zip(headers, right, strict=True)]
    labels = [_TAG.sub("", html(header)) for header in headers]
    lines = (element("tr", *map(_cell, row, right, labels, [True] + [False] * len(row))) for row in body)
    named = [element("caption", caption)] if caption else []
    stacks = "stacks" if len(headers) > 3 else None
    table = element("table", *named, element("thead", element("tr", *head)), element("tbody", *lines), class_=stacks)
    return element("div", table, class_="scroll", tabindex="0", role="group", aria_label=caption or "table")


def _is_numeric(cells: Sequence[object]) -> bool:
    plain = [cell for cell in cells if cell is not None]
    return bool(plain) and all(
        (isinstance(cell, int | float) and not isinstance(cell, bool)) or _FIGURE.fullmatch(str(cell)) is not None for cell in plain
    )


def _mark(to_right: bool) -> str | None:
    return "n" if to_right else None


def _cell(value: object, to_right: bool, label: str, is_first: bool) -> Markup:
    text = value if isinstance(value, Markup) else cell_text(value)
    if is_first and not to_right:
        return element("th", text, scope="row")
    return element("td", element("div", text), class_=_mark(to_right), data_label=unescape(label) or None)
