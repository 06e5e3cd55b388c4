"""A node as a tile: its name, how full it is, and the pods on it; those that came and those that left are marked.

``assets/nodetiles.js`` draws the same again for another resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor

import attrs

from .markup import Markup, Text, element, html, number
from .parts import tag

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


STEPS = 10
"""Colours between the lowest and the highest share; ``u0`` is nothing, ``u11`` more than there is."""
ROUND, LEAST = 5, 10
"""The ends are multiples of the first number, and at least the second one apart, both in percent."""


@attrs.frozen
class UseScale:
    """Which colour a share of 1 has; *low* and *high* are percent. ``assets/nodetiles.js`` has the same."""

    low: int = 0
    high: int = 100
    has_nothing: bool = True
    """Whether a share of 0 occurs."""
    has_too_much: bool = True
    """Whether a share of more than 1 occurs."""

    @classmethod
    def of(cls, shares: Iterable[float | None]) -> UseScale:
        """The scale over the range of *shares*.

        >>> UseScale.of([0.214, 0.966, None])
        UseScale(low=20, high=100, has_nothing=False, has_too_much=False)
        >>> UseScale.of([0.0, 0.42, 1.2])
        UseScale(low=40, high=50, has_nothing=True, has_too_much=True)
        """
        thousandths = [round(1000 * share) for share in shares if share is not None]
        within = [one for one in thousandths if 0 < one <= 1000]
        low = floor(min(within, default=0) / (10 * ROUND)) * ROUND
        high = ceil(max(within, default=1000) / (10 * ROUND)) * ROUND
        low = min(low, 100 - LEAST)
        return cls(low, max(high, low + LEAST), any(one <= 0 for one in thousandths), any(one > 1000 for one in thousandths))

    def level(self, share: float | None) -> int | None:
        """The number of the colour of *share*; None where there is none.

        >>> [UseScale(20, 100).level(share) for share in (None, 0.0, 0.2, 0.28, 0.5, 1.0, 1.001)]
        [None, 0, 1, 1, 4, 10, 11]
        """
        if share is None:
            return None
        thousandths = round(1000 * share)
        if thousandths <= 0:
            return 0
        if thousandths > 1000:
            return STEPS + 1
        return max(1, ceil((thousandths - 10 * self.low) * STEPS / (10 * (self.high - self.low))))

    def css_class(self, share: float | None) -> str:
        """The class of what is drawn for *share*."""
        found = self.level(share)
        return "none" if found is None else f"u{found}"

    def html(self) -> Markup:
        """The legend: the colours that occur, with the ends of the range."""
        steps = [element("span", class_=f"u{at}") for at in range(1, STEPS + 1)]
        nothing = [element("span", class_="u0"), "nothing, "] if self.has_nothing else []
        too_much = [", ", element("span", class_="u11"), "over 100 %"] if self.has_too_much else []
        return element("span", *nothing, f"{self.low} %", *steps, f"{self.high} %", *too_much, class_="scale")
