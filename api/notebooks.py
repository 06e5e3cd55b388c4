"""What objects look like in a notebook: a title, some facts and a table, as HTML that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import attrs

MOST_ROWS = 50
"""The rows of a table that are shown; the others are counted."""
LONGEST = 160
"""Longer texts are shortened in a ``repr``."""


def shortened(text: str, longest: int = LONGEST) -> str:
    """*text* on one line, with an ellipsis for what is beyond *longest* characters.

    >>> shortened("0/3 nodes are available: 3 Insufficient cpu.", 20)
    '0/3 nodes are avail…'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


@attrs.frozen
class Look:
    """What is shown of an object. Facts that are None are left out; all texts are escaped.

    >>> Look("Pod a/<b>", {"host": "n1", "error": None}, ("node",), [("n1",)]).html()
    '<div><b>Pod a/&lt;b&gt;</b><br>host: n1<table><thead><tr><th>node</th></tr></thead><tbody><tr><td>n1</td></tr></tbody></table></div>'
    """

    title: str
    facts: Mapping[str, object] = attrs.field(factory=dict)
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()

    def html(self) -> str:
        """The whole as one ``div``."""
        facts = [f"{escape(name)}: {escape(str(value))}" for name, value in self.facts.items() if value is not None]
        return f"<div>{'<br>'.join([f'<b>{escape(self.title)}</b>', *facts])}{self._table()}</div>"

    def _table(self) -> str:
        if not self.rows:
            return ""
        body = "".join(f"<tr>{_cells(row, 'td')}</tr>" for row in self.rows[:MOST_ROWS])
        more = f"<div>and {len(self.rows) - MOST_ROWS:,} more</div>" if len(self.rows) > MOST_ROWS else ""
        return f"<table><thead><tr>{_cells(self.headers, 'th')}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cells(values: Iterable[Any], tag: str) -> str:
    return "".join(f"<{tag}>{'' if value is None else escape(str(value))}</{tag}>" for value in values)
