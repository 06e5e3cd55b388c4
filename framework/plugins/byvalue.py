"""What goes by topology domain alone, worked out by value of a label: a zone has thousands of nodes, and there are a few zones.

A pod that comes changes counts in its domains, and mostly no answer: a zone that had enough pods still has enough. So the answer of a
filter is looked up by what each value means. As long as that does not change, it is the very same one. A score is kept as the code of the
node's value, which changes with the node alone, and what a value is worth is part of the summary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence
from weakref import WeakValueDictionary

import attrs
import numpy as np

from ...core.arrays.batch import Batch
from ...core.arrays.census import Counter
from ...core.arrays.table import NodeTable
from ...core.arrays.types import Ints, Mask, ValueCodes
from ...core.failures import Failures, Reason
from ...predicates.interpodaffinity import first_of

Judged = tuple[Reason, str, Mask]
"""A reason, and the domains that it turns down: a label key, and bool[values], by code of the key's column."""
WeightedTerm = tuple[Counter, str, int]
"""The pods of a term, its topology key, and the weight of a pod."""
MOST_VALUES = 64
"""Labels with more values than this have too many patterns."""
MOST_KEPT = 16
"""Answers that are kept though nobody has them: zones get full and are in use again in turn."""


@attrs.frozen(eq=False, repr=False)
class _Shared:
    """What all pods share: ``failures``, by pattern of domains, while anybody has them or they are of the ``latest``; ``codes``, by key."""

    failures: WeakValueDictionary[Hashable, Failures] = attrs.field(factory=WeakValueDictionary)
    latest: deque[Failures] = attrs.field(factory=lambda: deque(maxlen=MOST_KEPT))
    codes: dict[str, Ints] = attrs.field(factory=dict)


def is_small(keys: Iterable[str], table: NodeTable) -> bool:
    """Whether the rows of *table* have few values of each of the labels *keys*."""
    labels = table.labels
    return all(key in labels and len(labels[key].values) <= MOST_VALUES for key in keys)


def values_of(key: str, nodes: Batch) -> Ints:
    """The code of each node's value of label *key*: int64[n]; for the whole table the very same array until a node changes."""
    codes = nodes.label(key).codes
    if nodes.rows is not None:
        return codes
    shared: _Shared = nodes.table.once(_Shared, _Shared)
    found = shared.codes.get(key)
    if found is None:
        found = shared.codes[key] = codes.astype(np.int64)
        found.setflags(write=False)
    return found


# --- filters --------------------------------------------------------------------------------------------------------


def first_by_domain(judged: Iterable[Judged], table: NodeTable) -> Failures | None:
    """For each row of *table* the first reason of *judged* that holds in its domain; read only, the same for the same domains."""
    judged, found = list(judged), list[Hashable]()
    for reason, key, mask in judged:
        # Values that no row has any more do not count.
        bits = int.from_bytes(mask.tobytes(), "little") & _there(key, table)
        if bits:
            found += reason, key, bits
    if not found:
        return None
    shared: _Shared = table.once(_Shared, _Shared)
    pattern = tuple(found)
    answer = shared.failures.get(pattern)
    if answer is None:
        answer = shared.failures[pattern] = _made(judged, Batch.everywhere(table))
        shared.latest.append(answer)
    return answer


def _there(key: str, table: NodeTable) -> int:
    """The values of label *key* that some row has, or none: a byte of 1 for each, by code."""
    found: int = table.once(("values there", key), lambda: sum(1 << 8 * code for code in _codes_there(key, table)))
    return found


def _codes_there(key: str, table: NodeTable) -> list[int]:
    """The codes of the values of label *key* that rows have."""
    found: list[int] = table.once(("codes there", key), lambda: _distinct(Batch.everywhere(table).label(key).codes))
    return found


def _distinct(codes: Ints | ValueCodes) -> list[int]:
    found: list[int] = np.bincount(codes).nonzero()[0].tolist()
    return found


def _made(judged: Sequence[Judged], nodes: Batch) -> Failures:
    masks = [mask.take(nodes.label(key).codes) for _, key, mask in judged]
    found = first_of(masks, [(reason,) for reason, _, _ in judged])
    assert found is not None
    found.codes.setflags(write=False)
    return found


# --- scores ---------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class ValueSums:
    """What nodes get by their value of one label that has few: ``sums``, by code of the label's column."""

    key: str
    sums: tuple[int, ...]

    @classmethod
    def of(cls, key: str, terms: Sequence[tuple[Counter, int]], table: NodeTable) -> ValueSums:
        """The sums of *terms*, all by *key*: counters of pods, each with the weight of a pod."""
        size, labels, deleted = len(table.labels[key].values), table.labels, table.deleted_rows
        sums: Ints | None = None
        for counter, weight in terms:
            # Upstream: the node is looked up by name, so pods on a deleted node are skipped.
            counts = counter.domains_without(key, labels, deleted)[:size] * weight
            sums = counts if sums is None else sums + counts
        return cls(key, () if sums is None else tuple(sums.tolist()))

    def extremes(self, codes: Ints, nodes: Batch) -> tuple[int, int]:
        """The least and the greatest sum of *nodes* whose values have these *codes*: int64[n]; zeros where there are no nodes."""
        there = _codes_there(self.key, nodes.table) if nodes.rows is None else _distinct(codes)
        sums = [self.sums[code] for code in there]
        return min(sums, default=0), max(sums, default=0)
