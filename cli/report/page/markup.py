"""Text as HTML: what is escaped, what is marked, and how numbers are written."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from ....api.record import Record
from ....api.view import Name, Part, Words
from ..tables import shown

PACKED = 1 << 16
"""Data longer than this many characters is packed."""


class Markup(str):
    """Text that is HTML already. All else is escaped where it is put into a page."""

    __slots__ = ()


Text = str | Markup
"""What parts take: plain text, which they escape, or markup."""


def html(text: Text) -> Markup:
    """*text* as HTML.

    >>> html("a < b"), html(Markup("<b>a</b>"))
    ('a &lt; b', '<b>a</b>')
    """
    return text if isinstance(text, Markup) else Markup(escape(text))


def sentence(*pieces: Text) -> Markup:
    """All *pieces* in one, as HTML.

    >>> sentence("pods < ", number(9))
    'pods &lt; 9'
    """
    return Markup("".join(map(html, pieces)))


def joined(pieces: Iterable[Text], between: Text = ", ") -> Markup:
    """The *pieces* with *between* between them, as HTML."""
    return Markup(html(between).join(map(html, pieces)))


def element(tag: str, *inside: Text, **attributes: str | None) -> Markup:
    """An element; of the attributes those that are not None, ``_`` at the end of a name left out and ``_`` within one a ``-``.

    >>> element("td", "1 < 2", class_="n", data_part="a.b")
    '<td class="n" data-part="a.b">1 &lt; 2</td>'
    """
    named = ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    told = "".join(f' {name}="{escape(value)}"' for name, value in named if value is not None)
    return Markup(f"<{tag}{told}>{sentence(*inside)}</{tag}>")


# --- values ---------------------------------------------------------------------------------------------------------


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


def value_at(record: Any, path: str) -> Any:
    """What *record*, typed or plain, has at *path*: names and places of ``-o json`` with dots between; ``length``: how many there are.

    >>> value_at({"pods": [{"tries": 3}]}, "pods.0.tries"), value_at({"pods": [1, 2]}, "pods.length")
    (3, 2)
    """
    for step in path.split("."):
        if isinstance(record, Record):
            kind = type(record)
            record = getattr(record, kind.__struct_fields__[kind.__struct_encode_fields__.index(step)])
        elif step == "length":
            return len(record)
        else:
            record = record[step if isinstance(record, Mapping) else int(step)]
    return record


def counted(record: Any, path: str) -> str:
    """The number at *path* of *record*, as people write it."""
    return number(value_at(record, path))


WHOLE = 36
"""A name of at most that many characters is never broken in a table."""
SHORT = 14
"""Nor are several words of that length."""


def named(name: str) -> Markup:
    """A name from the input or of a release, which tables do not break.

    >>> named("database-b1"), named("node(s) were unschedulable")
    ('<span class="name whole">database-b1</span>', '<span class="name">node(s) were unschedulable</span>')
    """
    return element("span", name, class_="name whole" if len(name) <= (SHORT if " " in name else WHOLE) else "name")


def spoken(part: Part) -> Markup:
    """A sentence of a view, with its names marked.

    >>> spoken(Words("1,200 copies of ", Name("a<b"), "."))
    '1,200 copies of <span class="name whole">a&lt;b</span>.'
    """
    if isinstance(part, Words):
        return Markup("".join(map(spoken, part.parts)))
    return named(part.text) if isinstance(part, Name) else html(str(part))


def code(text: str) -> Markup:
    """Text to type."""
    return element("code", text)


def cell_text(value: object) -> str:
    """What a cell of a plain table shows."""
    return number(value) if isinstance(value, int) and not isinstance(value, bool) else shown(value)


def data_script(name: str, data: Any) -> Markup:
    """*data* as JSON in the page, under the id *name*; no text in it can end the script.

    What is long is packed, so that pages stay small: ``{"packed": TEXT}``, the JSON as zlib packs it, in base64.
    """
    written = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    if len(written) > PACKED:
        written = json.dumps({"packed": b64encode(zlib.compress(written.encode("utf-8", "surrogatepass"), 9)).decode("ascii")})
    written = written.replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{escape(name)}">{written}</script>')
