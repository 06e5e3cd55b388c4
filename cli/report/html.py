"""Pieces of a page that needs no other files; all names from the input are escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from .text import shown

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""The browser enforces it."""


def page(title: str, body: Iterable[str], style: str, script: str) -> str:
    """A whole page; *style* and *script*: files beside this one, which become part of it."""
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{_beside(style)}</style>",
    ]
    inside = "\n".join(body)
    tail = f"<script>\n{_beside(script)}</script>"
    lines = ["<!DOCTYPE html>", '<html lang="en"><head>', *head, "</head><body><main>", inside, f"</main>\n{tail}", "</body></html>"]
    return "\n".join(lines) + "\n"


def _beside(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def data_script(name: str, data: Any) -> str:
    """*data* as JSON in the page, under the id *name*; no text in it can end the script."""
    written = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{written}</script>'


def number(value: float) -> str:
    """A number as people write it.

    >>> number(8152), number(0.5)
    ('8,152', '0.5')
    """
    return f"{value:,}"


def share(value: float) -> str:
    """A share of 1 in percent.

    >>> share(0.6081)
    '60.8 %'
    """
    return f"{100 * value:.1f} %"


def told(path: str, text: str) -> str:
    """*text*, marked with the *path* of its value in ``-o json``: names and indexes, with dots between."""
    return f'<span data-json="{escape(path)}">{escape(text)}</span>'


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts; numbers are aligned at their right."""
    body = [list(row) for row in rows]
    right = [bool(body) and all(isinstance(row[at], int | float) or row[at] is None for row in body) for at in range(len(headers))]
    marks = [' class="n"' if to_right else "" for to_right in right]
    head = "".join(f"<th{mark}>{escape(header)}</th>" for mark, header in zip(marks, headers, strict=True))
    lines = ("".join(f"<td{mark}>{_cell(cell)}</td>" for mark, cell in zip(marks, row, strict=True)) for row in body)
    inside = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{inside}</tbody></table></div>'


class Markup(str):
    """A cell that is HTML already."""

    __slots__ = ()


def _cell(value: object) -> str:
    if isinstance(value, Markup):
        return value
    return number(value) if isinstance(value, int) else escape(shown(value))


def dot(colour: str) -> str:
    """A mark in *colour*."""
    return f'<span class="dot" style="--k:{colour}"></span>'


def track(width: float, colour: str, *, left: float = 0.0, middle: bool = False) -> str:
    """A bar from *left* over *width*, shares of 1."""
    mark = " middle" if middle else ""
    begin, size = 100 * max(left, 0.0), 100 * min(max(width, 0.0), 1.0)
    return f'<span class="track{mark}"><i style="left:{begin:.1f}%;width:{size:.1f}%;--k:{colour}"></i></span>'
