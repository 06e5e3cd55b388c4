"""Where two long sequences hold other objects: most of both are the same, and ``operator.is_not`` passes over these at the speed of C."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count
from operator import is_not
from typing import TypeVar

from ...api.objects import KubeObject
from ..scenario import Scenario

T = TypeVar("T")
ByKey = dict[tuple[str, str], KubeObject]
"""Objects by kind and key."""


def other_places(before: Sequence[T], now: Sequence[T]) -> list[int] | None:
    """The places at which *now* holds another object than *before*; None if one of them is longer.

    >>> other_places([a := "a", "b"], [a, "c"])
    [1]
    """
    return list(compress(count(), map(is_not, before, now))) if len(before) == len(now) else None


def without_ends(before: Sequence[T], now: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Both without the objects that they begin with in common, and without those that they end with.

    >>> without_ends("abcd", "axyd")
    ('bc', 'xy')
    """
    most = min(len(before), len(now))
    start = next(compress(count(), map(is_not, before, now)), most)
    end = next(compress(count(), map(is_not, reversed(before), reversed(now))), most)
    end = min(end, most - start)
    return before[start : len(before) - end], now[start : len(now) - end]


def differing(before: Sequence[KubeObject], now: Sequence[KubeObject]) -> tuple[ByKey, ByKey]:
    """What is only in *before*, and what is only in *now*."""
    before, now = without_ends(before, now)
    held, kept = set(map(id, now)), set(map(id, before))
    gone = {(item.kind, item.key): item for item in before if id(item) not in held}
    come = {(item.kind, item.key): item for item in now if id(item) not in kept}
    for key in [key for key, item in come.items() if gone.get(key) == item]:
        del gone[key], come[key]
    return gone, come


def between(before: Scenario, now: Scenario) -> tuple[ByKey, ByKey]:
    """What is only in *before*, and what is only in *now*, among what is there and what waits."""
    (gone, come), (waited, waiting) = differing(before.objects, now.objects), differing(before.pending, now.pending)
    return gone | waited, come | waiting
