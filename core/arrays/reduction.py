"""Reduce steps: how the raw scores of the nodes that fit become scores.

Most of them need to know little of the raw scores of all nodes, such as the highest and the lowest. From that
follows a *scale*, from raw scores to scores. So a rule gives the scale for a summary of raw scores once, and
the scores of all nodes, or of classes of nodes, follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import attrs
import msgspec
import numpy as np

from ..pods import StateKey, Template
from .batch import Batch
from .columns import NodeColumn, Scores

FEW_KEYS = 1 << 10
"""The number of pairs of a score and a code up to which an array counts them; sorting takes longer."""


class RawScores(Protocol):
    """A summary of the raw scores of all feasible nodes."""

    @property
    def number(self) -> int:
        """The number of nodes."""
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
    def counted(self) -> Iterable[tuple[int, int, int]]:
        """Raw scores, each with a value of ``Reduction.column``, by code, and the number of nodes with both;
        a pair may come more than once."""
        ...


class Scale(Protocol):
    """A scale from raw scores to scores."""

    def each(self, raw: Sequence[int], codes: Sequence[int]) -> list[int]:
        """The scores of nodes, or of classes of nodes; *codes*: their values of ``Reduction.column``, 0 where
        there is none."""
        ...


ScaleOf = Callable[[Template, RawScores, Any], Scale | None]
"""The scale for a pod, by a summary of raw scores, in a cycle; None where it does not follow from that."""

ColumnOf = Callable[[Template, Any], NodeColumn[Any] | None]
"""The column that the scale depends on besides raw scores, for a pod in a cycle; None: raw scores alone."""


class ScoresOfNodes(msgspec.Struct, eq=False):
    """Raw scores of nodes, each pair of a score and a code once."""

    number: int
    lowest: int
    highest: int
    counted: Sequence[tuple[int, int, int]]


@attrs.frozen(repr=False)
class Reduction:
    """A reduce step: a scale from a summary of all feasible nodes, then a score for each node from the scale
    alone."""

    scale: ScaleOf
    column: ColumnOf | None = None
    zeros_alike: bool = True
    """Whether raw scores that are all 0 become one score for all, the same for any nodes of any cycle."""
    special: Callable[[Template, Scores, Batch, Any], Scores | None] | None = None
    """The scores of nodes without a scale, as where a node is listed twice; None where there is one."""
    slot: StateKey[int] = attrs.field(init=False, eq=False, factory=lambda: StateKey("score of zeros"))
    """With *zeros_alike*: the slot of that score in a template's notes."""

    def __repr__(self) -> str:
        return f"<Reduction: {getattr(self.scale, '__qualname__', self.scale)}>"

    def __call__(self, pod: Template, raw: Scores, nodes: Batch, cycle: Any) -> Scores:
        """The scores of the feasible *nodes* with these *raw* ones: int64[k] -> int64[k]."""
        special = None if self.special is None else self.special(pod, raw, nodes, cycle)
        if special is not None or not len(raw):
            return raw if special is None else special
        by = None if self.column is None else self.column(pod, cycle)
        lowest = int(raw.min())
        highest = int(raw.max())
        width = 1 if by is None else len(by.values)
        keys = raw - lowest if by is None else (raw - lowest) * width + nodes.codes_of(by)
        kinds = None
        if (highest - lowest + 1) * width > 4 * len(keys) + FEW_KEYS:
            kinds, keys = np.unique(keys, return_inverse=True)
        numbers = np.bincount(keys)
        present = numbers.nonzero()[0]
        pairs = (present if kinds is None else kinds).tolist()
        scores = [lowest + pair // width for pair in pairs]
        codes = [pair % width for pair in pairs]
        counted = list(zip(scores, codes, numbers[present].tolist(), strict=True))
        scale = self.scale(pod, ScoresOfNodes(len(raw), lowest, highest, counted), cycle)
        if scale is None:
            raise ValueError(f"{self!r}: expected a scale or special scores, got neither")
        table = np.zeros(len(numbers), np.int64)
        table[present] = scale.each(scores, codes)
        return table.take(keys)


# --- scales -------------------------------------------------------------------------------------------------


class Stretched(msgspec.Struct, frozen=True):
    """A scale from *lowest* to *highest* onto 0 to *top*, rounded down; 0 where the two are equal.

    >>> Stretched(1, 4, 10).each([1, 2, 3, 4])
    [0, 3, 6, 10]
    """

    lowest: int
    highest: int
    top: int

    def each(self, raw: Sequence[int], codes: Sequence[int] = ()) -> list[int]:
        lowest = self.lowest
        top = float(self.top)
        spread = float(self.highest - lowest)
        return [int(top * ((score - lowest) / spread)) for score in raw] if spread else [0] * len(raw)


class Proportional(msgspec.Struct, frozen=True):
    """A scale on which *greatest* becomes *best*, or with *reverse* 0 becomes *best* and the greatest 0.
    Where no score is above 0 they stay as they are, and with *reverse* all become *best*."""

    greatest: int
    best: int
    reverse: bool

    def each(self, raw: Sequence[int], codes: Sequence[int] = ()) -> list[int]:
        greatest = self.greatest
        best = self.best
        if not greatest:
            return [best] * len(raw) if self.reverse else list(raw)
        # Go divides towards 0.
        scaled = [score * best // greatest if score >= 0 else -(-score * best // greatest) for score in raw]
        return [best - score for score in scaled] if self.reverse else scaled
