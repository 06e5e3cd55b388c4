"""What objects look like in a notebook, as plain values: a title, the outcome in a sentence, facts, shares, a map of nodes, tables.

They are drawn with the parts of the pages (``cli/report/page/notebook.py``), which are loaded when a notebook first asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import attrs

MOST_ROWS = 50
"""The rows of a table that are shown; the others are counted."""
LONGEST = 160
"""Longer texts are shortened in a ``repr``, and in cells."""
MEANINGS = ("good", "same", "near", "bad", "held")
"""What a share means: fine, nothing new, worth a look, worse, not tried."""
_DRAWING = "..cli.report.page.notebook"


def shortened(text: str, longest: int = LONGEST) -> str:
    """*text* on one line, with an ellipsis for what is beyond *longest* characters.

    >>> shortened("0/3 nodes are available: 3 Insufficient cpu.", 20)
    '0/3 nodes are avail…'
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


@attrs.frozen
class Share:
    """A count of one whole, with its *meaning* among :data:`MEANINGS`."""

    name: str
    count: int
    meaning: str = attrs.field(default="same", validator=attrs.validators.in_(MEANINGS))


@attrs.frozen
class NodeMap:
    """Nodes as squares, grouped by zone; empty for a node without a zone."""

    nodes: Sequence[str]
    uses: Mapping[str, Sequence[float | None]]
    """Resource -> the share of each node in use; the first one gives the colour."""
    zones: Sequence[str] = ()


@attrs.frozen
class LineChart:
    """Values over something that goes on, a line for each."""

    title: str
    across: str
    """What :attr:`places` are."""
    places: Sequence[float]
    values: Mapping[str, Sequence[float | None]]


@attrs.frozen
class Rows:
    """A table: rows have a value for each header."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]


@attrs.frozen
class Look:
    """What is shown of an object. Facts that are None are left out; all texts are escaped.

    >>> "n&lt;1&gt;" in Look("Pod a/b", {"host": "n<1>", "error": None}).html()
    True
    """

    title: str
    facts: Mapping[str, object] = attrs.field(factory=dict)
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    verdict: str = attrs.field(default="", kw_only=True)
    """The outcome in one sentence."""
    shares: Sequence[Share] = attrs.field(default=(), kw_only=True)
    """The whole in one bar."""
    map: NodeMap | None = attrs.field(default=None, kw_only=True)
    lines: LineChart | None = attrs.field(default=None, kw_only=True)
    """Drawn where matplotlib is installed."""
    more: Mapping[str, Rows] = attrs.field(factory=dict, kw_only=True)
    """Further tables by title, which open on a click."""

    def html(self) -> str:
        """The whole as one ``div`` with its style, without scripts."""
        return str(import_module(_DRAWING, __package__).look_html(self))
