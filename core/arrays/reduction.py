"""Reduce steps: how the raw scores of the nodes that fit become scores.

Most of them need to know little of the raw scores of all nodes, such as the highest and the lowest. From that follows a *scale*: what each
raw score becomes. So a rule says once which scale belongs to what is known, and scores follow for all nodes, for one, and for the values of
a label.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import attrs
import msgspec
import numpy as np

from ..pods.notes import StateKey
from ..pods.template import Template
from .arithmetic import truncated_div
from .batch import Batch
from .columns import NodeColumn
from .types import Ints, Scores, ValueCodes


class RawScores(Protocol):
    """What is known of the raw scores of all feasible nodes."""

    @property
    def number(self) -> int:
        """How many nodes there are."""
        ...

    @property
    def highest(self) -> int:
        """The highest score; 0 without nodes."""
        ...

    @property
    def lowest(self) -> int:
        """The lowest score; 0 without nodes."""
        ...

    @property
    def by_code(self) -> Mapping[int, int]:
        """How many nodes have each pair of a raw score, which is not negative, and a value of ``Reduction.column``.

        The key is ``score * values + code``; without a column, it is the score.
        """
        ...


class Scale(Hashable, Protocol):
    """What each raw score becomes. Nodes that do not fit may have scores beyond the extremes; what they become is never used."""

    def of(self, raw: Scores, codes: ValueCodes | None) -> Scores:
        """The scores of nodes: int64[n]. *codes*: their values of ``Reduction.column``, intp[n], where there is one."""
        ...

    def each(self, raw: Sequence[int], codes: Sequence[int] | None = None) -> list[int]:
        """As :meth:`of`, of a few nodes."""
        ...


ScaleOf = Callable[[Template, RawScores, Any], Scale | None]
"""The scale for a pod, by what is known of raw scores, in a cycle; None where it does not follow from that."""

ColumnOf = Callable[[Template, Any], NodeColumn[Any] | None]
"""The values, besides raw scores, by which the scale goes for a pod in a cycle; None: raw scores alone."""


class ScoresOfNodes(msgspec.Struct, eq=False):
    """Raw scores, int64[k], of the feasible *nodes*."""

    raw: Scores
    nodes: Batch
    column: NodeColumn[Any] | None = None

    @property
    def number(self) -> int:
        return len(self.raw)

    @property
    def highest(self) -> int:
        return int(self.raw.max()) if len(self.raw) else 0

    @property
    def lowest(self) -> int:
        return int(self.raw.min()) if len(self.raw) else 0

    @property
    def by_code(self) -> Mapping[int, int]:
        column = self.column
        numbers = np.bincount(self.raw if column is None else self.raw * len(column.values) + self.nodes.codes_of(column))
        present = numbers.nonzero()[0]
        return dict(zip(present.tolist(), numbers[present].tolist(), strict=True))


@attrs.frozen(repr=False)
class Reduction:
    """A reduce step in two halves: a summary of all feasible nodes, and then a score for each node from the summary.

    ``summarise(pod, raw, nodes, cycle)`` takes all feasible nodes, in any order, and returns a value that compares by equality.
    ``apply(pod, raw, summary, nodes, cycle)`` scores each node of a batch from its raw score and the summary alone, so it can run again
    for changed nodes only. *zeros_alike*: raw scores that are all 0 become one score for all, the same for any nodes of any cycle.
    """

    summarise: Callable[[Template, Scores, Batch, Any], Hashable]
    apply: Callable[[Template, Scores, Any, Batch, Any], Scores]
    zeros_alike: bool = False
    scale: ScaleOf | None = None
    """The summary and what it does to scores, where it follows from what is known of raw scores; None where it does not."""
    column: ColumnOf | None = None
    slot: StateKey[int] = attrs.field(init=False, repr=False, eq=False, factory=lambda: StateKey("score of zeros"))
    """With *zeros_alike*: where a template's notes have that score."""

    @classmethod
    def by(cls, scale: Callable[[Template, RawScores, Any], Scale], column: ColumnOf | None = None) -> Reduction:
        """The reduce step that is all in its *scale*; raw scores that are all 0 become one score."""

        def summarise(pod: Template, raw: Scores, nodes: Batch, cycle: Any) -> Scale:
            return scale(pod, ScoresOfNodes(raw, nodes, None if column is None else column(pod, cycle)), cycle)

        def apply(pod: Template, raw: Scores, summary: Scale, nodes: Batch, cycle: Any) -> Scores:
            by = None if column is None else column(pod, cycle)
            return summary.of(raw, None if by is None else nodes.codes_of(by))

        return cls(summarise, apply, zeros_alike=True, scale=scale, column=column)

    def __repr__(self) -> str:
        return f"<Reduction: {getattr(self.scale or self.apply, '__qualname__', self.apply)}>"

    def __call__(self, pod: Template, raw: Scores, nodes: Batch, cycle: Any) -> Scores:
        """Both halves: int64[k] raw scores of the feasible *nodes* -> int64[k]."""
        return self.apply(pod, raw, self.summarise(pod, raw, nodes, cycle), nodes, cycle)


# --- scales ---------------------------------------------------------------------------------------------------------

MOST_SCALED = 1 << 12
"""Up to such a spread of raw scores, what each of them becomes is kept: to look it up takes a third of what the division takes."""


class Stretched(msgspec.Struct, frozen=True):
    """From *lowest* to *highest* becomes 0 to *top*, rounded down; 0 where the two are equal.

    >>> Stretched(1, 4, 10).of(np.array([1, 2, 3, 4]), None).tolist(), Stretched(1, 4, 10).each([1, 2, 4, 7])
    ([0, 3, 6, 10], [0, 3, 10, 10])
    """

    lowest: int
    highest: int
    top: int

    def of(self, raw: Scores, codes: ValueCodes | None) -> Scores:
        spread = self.highest - self.lowest
        if not spread:
            return np.zeros(len(raw), np.int64)
        if spread < MOST_SCALED:
            return _stretched(spread, self.top).take(raw - self.lowest, mode="clip")
        return _stretch(raw - self.lowest, spread, self.top)

    def each(self, raw: Sequence[int], codes: Sequence[int] | None = None) -> list[int]:
        lowest, highest, top = self.lowest, self.highest, float(self.top)
        if highest == lowest:
            return [0] * len(raw)
        spread = float(highest - lowest)
        return [int(top * ((min(max(one, lowest), highest) - lowest) / spread)) for one in raw]


@lru_cache(maxsize=1024)
def _stretched(spread: int, top: int) -> Scores:
    """What each of 0..*spread* becomes: int64[spread + 1]."""
    return _stretch(np.arange(spread + 1), spread, top)


def _stretch(above: Ints, spread: int, top: int) -> Scores:
    scores: Scores = (float(top) * (above / float(spread))).astype(np.int64)
    return scores


class Proportional(msgspec.Struct, frozen=True):
    """*greatest* becomes *best*, or with *reverse* 0 becomes *best* and the greatest 0; where no score is above 0 they stay as they are,
    and with *reverse* all become *best*."""

    greatest: int
    best: int
    reverse: bool

    def of(self, raw: Scores, codes: ValueCodes | None) -> Scores:
        if self.greatest == 0:
            return np.full_like(raw, self.best) if self.reverse else raw
        scaled = truncated_div(raw * self.best, self.greatest)
        return self.best - scaled if self.reverse else scaled

    def each(self, raw: Sequence[int], codes: Sequence[int] | None = None) -> list[int]:
        found: list[int] = self.of(np.array(raw), None).tolist()
        return found


class Tabled(msgspec.Struct, frozen=True):
    """What each raw score from 0 becomes, for each of *codes* values: ``scores`` has int64[raw scores, codes], as bytes."""

    codes: int
    scores: bytes

    @classmethod
    def from_list(cls, codes: int, scores: Sequence[int]) -> Tabled:
        """With *scores* one after the other."""
        return cls(codes, array("q", scores).tobytes())

    def of(self, raw: Scores, codes: ValueCodes | None) -> Scores:
        return self.of_keys(raw if codes is None else raw * self.codes + codes)

    def of_keys(self, keys: Ints) -> Scores:
        """The scores of nodes by their keys, as in ``RawScores.by_code``: int64[n]."""
        found: Scores = np.frombuffer(self.scores, np.int64).take(keys, mode="clip")
        return found

    def each(self, raw: Sequence[int], codes: Sequence[int] | None = None) -> list[int]:
        scores, width = memoryview(self.scores).cast("q"), self.codes
        last = len(scores) - 1
        if codes is None:
            return [scores[min(one * width, last)] for one in raw]
        return [scores[min(one * width + code, last)] for one, code in zip(raw, codes, strict=True)]
