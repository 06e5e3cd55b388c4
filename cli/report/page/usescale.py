"""The colours of use: ten steps from the lowest to the highest share that occurs, and one each for nothing and for too much."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor

import attrs

from .markup import Markup, element

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
