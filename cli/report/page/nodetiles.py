"""A node as a tile: its name, how full it is, and the pods on it; those that came and those that left are marked.

``assets/nodetiles.js`` draws the same again for another resource.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from .markup import Markup, Text, element, html, number
from .parts import tag
from .usescale import UseScale

FEW = 60
"""Up to that many nodes are tiles."""
SHOWN = 8
"""That many pods stand in a tile; the others are counted."""
TAIL = 8
"""The characters at the end of a name that are always there; where there is little room the middle is left out."""
CAME, STAYED, LEFT = "came", "stayed", "left"


@attrs.frozen
class Tile:
    """One node in one state of the cluster."""

    row: int
    name: str
    share: float | None
    """Of the resource that is shown."""
    pods: Sequence[str] = ()
    before: Sequence[str] | None = None
    """The pods on it in the state before; None where there is none."""
    state: str = ""
    colour: str = ""
    note: str = ""

    def html(self, scale: UseScale) -> Markup:
        """The tile as it shows before scripts run."""
        use = "-" if self.share is None else f"{100 * self.share:.1f} %"
        width = f"width:{min(100.0, 100 * (self.share or 0)):.1f}%"
        bar = element("span", element("i", class_=scale.css_class(self.share), style=width), class_="track", aria_hidden="true")
        marks = [tag(self.state, self.colour or "var(--line)")] if self.state else []
        notes = [element("small", self.note)] if self.note else []
        head = element("div", cut(self.name), element("span", use, class_="use"), class_="head")
        pods = element("ol", *self._pods(), class_="pods") if self.pods or self.before else ""
        return element("li", head, bar, *marks, *notes, pods, class_="tile", data_node=f"{self.row}")

    def _pods(self) -> Iterator[Text]:
        found = marked(self.pods, self.before)
        for pod, mark in found[:SHOWN]:
            yield element("li", cut(pod.rpartition("/")[2], pod), class_=mark)
        if len(found) > SHOWN:
            yield element("li", f"+ {number(len(found) - SHOWN)} more", class_="rest")


def marked(pods: Sequence[str], before: Sequence[str] | None) -> list[tuple[str, str]]:
    """Each pod with what became of it, those that came first, then those that left.

    >>> marked(["a", "c"], ["a", "b"])
    [('c', 'came'), ('b', 'left'), ('a', 'stayed')]
    """
    if before is None:
        return [(pod, STAYED) for pod in pods]
    earlier, now = set(before), set(pods)
    came, stayed = [pod for pod in pods if pod not in earlier], [pod for pod in pods if pod in earlier]
    return [*((pod, CAME) for pod in came), *((pod, LEFT) for pod in before if pod not in now), *((pod, STAYED) for pod in stayed)]


def cut(name: str, whole: str = "") -> Markup:
    """*name*, of which the middle is left out where there is little room; *whole* shows where it is pointed at.

    >>> cut("storefront-abcdefg-0")
    '<span class="cut" title="storefront-abcdefg-0"><span>storefront-a</span><span>bcdefg-0</span></span>'
    """
    if len(name) <= 2 * TAIL:
        return element("span", html(name), class_="name", title=whole or None)
    return element("span", element("span", name[:-TAIL]), element("span", name[-TAIL:]), class_="cut", title=whole or name)
