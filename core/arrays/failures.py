"""The answer of a predicate: why it rejects nodes of a batch, as codes into sequences of reasons."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import chain
from operator import or_

import attrs
import numpy as np
from numpy.typing import NDArray

from .columns import Mask

Codes = NDArray[np.int64]
"""Reasons, as keys of ``sequences``; 0 where there is none."""


@attrs.frozen
class Reason:
    """A reason against a node, in upstream's words. *resolvable*: removing pods from the node may help."""

    text: str
    resolvable: bool = True
    is_said: bool = attrs.field(default=True, repr=False)
    """Whether messages count it; not where a plugin rejects a node without a reason."""


Reasons = tuple[Reason, ...]
FEW_NODES = 4
"""The most nodes whose reasons are read off the masks, as long as codes were not asked for."""
MOST_BITS = 8
"""The most reasons of one predicate that get a bit each in its codes; more are numbered by the sets that
occur."""


@attrs.define(eq=False, repr=False)
class Failures:
    """The failures of one predicate on a batch of n nodes.

    ``codes``: int64[n], 0 where the node fits or has an error, else a key of ``sequences``. ``sequences``:
    code -> reasons, in order. ``errors``: int64[n] or None (no errors); where ``errors[i]`` is not 0 the
    predicate failed with ``texts[errors[i] - 1]``.
    """

    _codes: Codes | None
    _sequences: dict[int, Reasons]
    errors: Codes | None = None
    texts: tuple[str, ...] = ()
    _named: Sequence[tuple[Reasons, Mask]] = ()
    """(reasons, nodes) in order, until the codes are first read. ``_failed``: the union of the nodes."""
    _failed: Mask | None = None

    def __repr__(self) -> str:
        return f"<Failures: {np.count_nonzero(~self.passed)} of {len(self.passed)} nodes>"

    @classmethod
    def where(cls, reasons: Reason | Reasons, mask: Mask) -> Failures | None:
        """*reasons* on every node of *mask*: bool[n], which must not change later; None if there is no such
        node."""
        if not np.count_nonzero(mask):
            return None
        return cls(
            None, {}, named=(((reasons,) if isinstance(reasons, Reason) else reasons, mask),), failed=mask
        )

    @classmethod
    def all_of(cls, masks_by_reason: Sequence[tuple[Reason, Mask]]) -> Failures | None:
        """Each reason on the nodes of its mask; a node of several masks gets all their reasons, in this
        order."""
        if not masks_by_reason:
            return None
        failed = reduce(or_, [mask for _, mask in masks_by_reason])
        if not np.count_nonzero(failed):
            return None
        return cls(None, {}, named=[((reason,), mask) for reason, mask in masks_by_reason], failed=failed)

    @classmethod
    def by_row(cls, reasons: Sequence[Reasons], masks: Mask) -> Failures | None:
        """As :meth:`all_of`: ``reasons[k]`` on the nodes of row k of *masks*: bool[len(reasons), n]."""
        if 1 not in masks.tobytes():  # a third of the time of a count
            return None
        failed = np.logical_or.reduce(masks, axis=0)
        return cls(None, {}, named=list(zip(reasons, masks, strict=True)), failed=failed)

    @classmethod
    def error(cls, text: str, mask: Mask) -> Failures | None:
        """Error *text* on the nodes of *mask*: bool[n]; None if there is no such node."""
        if not np.count_nonzero(mask):
            return None
        return cls(np.zeros(len(mask), np.int64), {}, mask.astype(np.int64), (text,))

    @classmethod
    def coded(cls, codes: Codes, sequences: Sequence[Reasons]) -> Failures | None:
        """Reasons ``sequences[code - 1]`` for each code > 0 of *codes*: int[n]."""
        if not codes.any():
            return None
        return cls(codes.astype(np.int64), dict(enumerate(sequences, 1)))

    @classmethod
    def of_rows(cls, outcomes: Sequence[Reasons | str | None], picks: Codes | None = None) -> Failures | None:
        """One outcome a node: None or () if it fits, a text for an error, else its reasons.

        With *picks*, int[n], node i has ``outcomes[picks[i]]``.
        """
        sequences: dict[Reasons, int] = {}
        texts: dict[str, int] = {}
        codes = np.zeros(len(outcomes), np.int64)
        errors = np.zeros(len(outcomes), np.int64)
        for i, outcome in enumerate(outcomes):
            if isinstance(outcome, str):
                errors[i] = texts.setdefault(outcome, len(texts) + 1)
            elif outcome:
                codes[i] = sequences.setdefault(outcome, len(sequences) + 1)
        if not sequences and not texts:
            return None
        failures = cls(
            codes,
            {code: reasons for reasons, code in sequences.items()},
            errors if texts else None,
            tuple(texts),
        )
        return failures if picks is None else failures.take(picks)

    @classmethod
    def joined(cls, parts: Sequence[Failures | None]) -> Failures | None:
        """The reasons of all *parts*, one after another; an error on a node ends that node's list."""
        present = [part for part in parts if part is not None]
        if len(present) <= 1:
            return present[0] if present else None
        if all(part._codes is None for part in present):
            pairs = [pair for part in present for pair in part._named]
            return cls(None, {}, named=pairs, failed=reduce(or_, (mask for _, mask in pairs)))
        return cls._combined(present)

    @classmethod
    def _combined(cls, present: Sequence[Failures]) -> Failures | None:
        outcomes: list[Reasons | str] = [()]
        numbers = np.zeros(len(present[0].codes), np.int64)
        for part in present:
            # Before and after, node i has ``outcomes[numbers[i]]``.
            answers = part.codes
            if part.errors is not None:
                answers = np.where(part.errors > 0, -part.errors, answers)
            low = int(answers.min())
            width = int(answers.max()) - low + 1
            pairs, numbers = _distinct(numbers * width + (answers - low))
            outcomes = [
                _with_answer(outcomes[pair // width], part, pair % width + low) for pair in pairs.tolist()
            ]
        return cls.of_rows(outcomes, numbers)

    @property
    def codes(self) -> Codes:
        """int64[n]: 0, or a key of ``sequences``."""
        if self._codes is None:
            self._compute_codes()
        assert self._codes is not None
        return self._codes

    @property
    def sequences(self) -> dict[int, Reasons]:
        """Code -> reasons."""
        if self._codes is None:
            self._compute_codes()
        return self._sequences

    def _compute_codes(self) -> None:
        """Work out the codes."""
        pairs = [(reasons, mask) for reasons, mask in self._named if np.count_nonzero(mask)]
        if len(pairs) <= MOST_BITS:
            self._codes, self._sequences = _by_bits(pairs)
        else:
            combined = self._combined(
                [Failures(mask.astype(np.int64), {1: reasons}) for reasons, mask in pairs]
            )
            assert combined is not None
            self._codes = combined.codes
            self._sequences = combined.sequences
        self._named = ()
        self._failed = None

    # --- a user's own ---------------------------------------------------------------------------------------

    def fault(self, n: int) -> tuple[str, str] | None:
        """The fault of this answer for *n* nodes, and the expected form; None if there is none."""
        for reasons, mask in self._named:
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (n,):
                kind = (
                    f"{mask.dtype}{list(mask.shape)}"
                    if isinstance(mask, np.ndarray)
                    else f"a {type(mask).__name__}"
                )
                return f"a mask of {kind}", f"bool[{n}]"
            if fault := _reason_fault(reasons):
                return fault
        if self._codes is None:
            return None
        if len(self._codes) != n or (self.errors is not None and len(self.errors) != n):
            return f"Failures of {len(self._codes)} nodes", f"one answer for each of {n} nodes"
        return next(
            (fault for reasons in self._sequences.values() if (fault := _reason_fault(reasons))), None
        )

    def detached(self) -> Failures:
        """A copy with masks of its own: those of a user's rule can be views of arrays that change later."""
        if self._failed is None:
            return self
        return Failures(
            None,
            {},
            named=[(reasons, mask.copy()) for reasons, mask in self._named],
            failed=self._failed.copy(),
        )

    @property
    def errors_or_zero(self) -> Codes:
        """``errors``, or zeros if there are none: int64[n]."""
        return np.zeros(len(self.codes), np.int64) if self.errors is None else self.errors

    @property
    def passed(self) -> Mask:
        """The nodes without reasons and errors: bool[n]."""
        if self._failed is not None:
            return ~self._failed
        mask: Mask = self.codes == 0
        return mask if self.errors is None else mask & (self.errors == 0)

    def reasons(self, i: int) -> Reasons:
        """The reasons of node *i* of the batch; empty if it fits or has an error."""
        if self._codes is None and self._named and len(self._named[0][1]) <= FEW_NODES:
            return tuple(chain.from_iterable([reasons for reasons, mask in self._named if mask[i]]))
        code = int(self.codes[i])
        return self.sequences[code] if code else ()

    def with_one_reason(self) -> Failures:
        """The same with one reason a node: the first unresolvable one, else the first."""
        single_reasons: dict[int, Reasons] = {
            code: (next((reason for reason in reasons if not reason.resolvable), reasons[0]),)
            for code, reasons in self.sequences.items()
        }
        return Failures(self.codes, single_reasons, self.errors, self.texts)

    def take(self, rows: NDArray[np.intp]) -> Failures:
        """The failures of some nodes of the batch, in the order of *rows*."""
        return Failures(
            self.codes[rows], self.sequences, None if self.errors is None else self.errors[rows], self.texts
        )


def _by_bits(pairs: Sequence[tuple[Reasons, Mask]]) -> tuple[Codes, dict[int, Reasons]]:
    """Codes and sequences of (reasons, nodes), where each has a bit of the code."""
    codes = pairs[0][1].astype(np.int64)
    for bit, (_, mask) in enumerate(pairs[1:], 1):
        codes |= mask.astype(np.int64) << bit
    present = np.bincount(codes).nonzero()[0].tolist()
    return codes, {
        code: tuple(chain(*(reasons for bit, (reasons, _) in enumerate(pairs) if code >> bit & 1)))
        for code in present
        if code
    }


def _reason_fault(reasons: object) -> tuple[str, str] | None:
    """The fault of *reasons*, which can be any object from a user's rule."""
    if isinstance(reasons, Reason):
        return f"the reason {reasons!r:.60}", "a tuple of Reasons"
    for reason in reasons if isinstance(reasons, tuple) else (reasons,):
        if not isinstance(reason, Reason):
            return f"the reason {reason!r:.60}", "a Reason, or a tuple of such"
        if type(reason.text) is not str:
            return f"a Reason of {reason.text!r:.60}", "a Reason with a text"
    return None


def _distinct(numbers: Codes) -> tuple[Codes, Codes]:
    """The distinct values of *numbers*, which are not negative, and the index of each entry among them."""
    if int(numbers.max()) > 4 * len(numbers):
        values, indexes = np.unique(numbers, return_inverse=True)
        return values, indexes.reshape(-1)
    present = np.bincount(numbers) > 0
    return np.flatnonzero(present), (np.cumsum(present) - 1)[numbers]


def _with_answer(earlier: Reasons | str, part: Failures, answer: int) -> Reasons | str:
    if isinstance(earlier, str) or not answer:
        return earlier
    return part.texts[-answer - 1] if answer < 0 else earlier + part.sequences[answer]
