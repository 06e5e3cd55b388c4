"""What a predicate answers: why each node of a batch is turned down, as codes into sequences of reasons."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Codes = NDArray[np.int64]


@attrs.frozen
class Reason:
    """Why a node does not fit, in upstream's words; *resolvable*: could removing pods from the node help?"""

    text: str
    resolvable: bool = True


Reasons = tuple[Reason, ...]


@attrs.define(eq=False)
class Failures:
    """One predicate's objections to a batch of n nodes.

    ``codes``: int64[n], 0 where the node fits, else a code that :meth:`sequence` turns into the node's reasons, in order.
    ``errors``: int64[n] or None; where it is not 0 the predicate could not answer: ``texts[errors[i] - 1]`` says why, and
    ``codes[i]`` is 0. ``sequences`` maps each code in use to its reasons.
    """

    codes: Codes
    sequences: dict[int, Reasons]
    errors: Codes | None = None
    texts: tuple[str, ...] = ()

    @classmethod
    def where(cls, reasons: Reason | Reasons, mask: Mask) -> Failures | None:
        """*reasons* on every node of *mask*: bool[n]; None where there is no such node."""
        if not mask.any():
            return None
        return cls(mask.astype(np.int64), {1: (reasons,) if isinstance(reasons, Reason) else reasons})

    @classmethod
    def all_of(cls, found: Sequence[tuple[Reason, Mask]]) -> Failures | None:
        """Each reason on the nodes of its mask; a node that several masks name gets their reasons in the order given."""
        found = [(reason, mask) for reason, mask in found if mask.any()]
        if not found:
            return None
        return cls.joined([f for reason, mask in found if (f := cls.where(reason, mask)) is not None])

    @classmethod
    def error(cls, text: str, mask: Mask) -> Failures | None:
        """The predicate cannot answer for the nodes of *mask*: bool[n], for the reason *text*."""
        if not mask.any():
            return None
        return cls(np.zeros(len(mask), np.int64), {}, mask.astype(np.int64), (text,))

    @classmethod
    def coded(cls, codes: Codes, sequences: Sequence[Reasons]) -> Failures | None:
        """Reasons ``sequences[code - 1]`` for each code > 0 of *codes*: int[n]."""
        if not codes.any():
            return None
        return cls(codes.astype(np.int64), dict(enumerate(sequences, 1)))

    @classmethod
    def of_rows(cls, outcomes: Sequence[Reasons | str | None]) -> Failures | None:
        """One outcome a node: None or () fits, a text is an error, else the node's reasons."""
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
        return cls(codes, {code: reasons for reasons, code in sequences.items()}, errors if texts else None, tuple(texts))

    @classmethod
    def joined(cls, parts: Sequence[Failures | None]) -> Failures | None:
        """The reasons of all *parts* one after another; the first part that errs on a node ends that node's list."""
        found = [part for part in parts if part is not None]
        if len(found) <= 1:
            return found[0] if found else None
        rows = [np.stack([part.codes for part in found]), np.stack([part.errors_or_zero for part in found])]
        touched = np.flatnonzero(rows[0].any(axis=0) | rows[1].any(axis=0))
        keys, inverse = np.unique(np.concatenate(rows)[:, touched].T, axis=0, return_inverse=True)
        outcomes = [_join(found, key) for key in keys]
        all_outcomes: list[Reasons | str | None] = [*outcomes]
        small = cls.of_rows(all_outcomes)
        if small is None:
            return None
        codes = np.zeros(rows[0].shape[1], np.int64)
        codes[touched] = small.codes[inverse.reshape(-1)]
        errors = None
        if small.errors is not None:
            errors = np.zeros(len(codes), np.int64)
            errors[touched] = small.errors[inverse.reshape(-1)]
        return cls(codes, small.sequences, errors, small.texts)

    @property
    def errors_or_zero(self) -> Codes:
        """``errors``, zeros where the predicate never errs: int64[n]."""
        return np.zeros(len(self.codes), np.int64) if self.errors is None else self.errors

    @property
    def passed(self) -> Mask:
        """Where the predicate has nothing against the node: bool[n]."""
        found: Mask = self.codes == 0
        return found if self.errors is None else found & (self.errors == 0)

    def reasons(self, i: int) -> Reasons:
        """The reasons against node *i* of the batch; empty where it fits or the predicate erred."""
        code = int(self.codes[i])
        return self.sequences[code] if code else ()

    def error_text(self, i: int) -> str | None:
        """Why the predicate could not answer for node *i*, or None."""
        code = 0 if self.errors is None else int(self.errors[i])
        return self.texts[code - 1] if code else None

    def take(self, rows: NDArray[np.intp]) -> Failures:
        """The same for some rows of the batch, in the order of *rows*."""
        return Failures(self.codes[rows], self.sequences, None if self.errors is None else self.errors[rows], self.texts)


def _join(parts: Sequence[Failures], key: NDArray[np.int64]) -> Reasons | str:
    reasons: Reasons = ()
    for part, code, error in zip(parts, key[: len(parts)], key[len(parts) :], strict=True):
        if error:
            return part.texts[int(error) - 1]
        if code:
            reasons += part.sequences[int(code)]
    return reasons
