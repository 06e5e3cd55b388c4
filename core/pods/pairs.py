"""An index by label pairs: what concerns a pod is found by the few labels that the pod has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

import attrs

T = TypeVar("T")
Pair = tuple[str, str]


@attrs.define(eq=False, repr=False)
class Pairs(Generic[T]):
    """Lists of items by label pair, each in order of arrival; under None the items that ask for no pair."""

    lists: dict[Pair | None, list[T]] = attrs.field(factory=dict)

    def file(self, item: T, asked: Collection[Pair]) -> None:
        """Keep *item* for pods that have all pairs of *asked*: under the pair that has the fewest items so far."""
        rarest = min(asked, key=lambda pair: len(self.lists.get(pair, ())), default=None)
        self.lists.setdefault(rarest, []).append(item)

    def file_under_each(self, item: T, pairs: Iterable[Pair]) -> None:
        """Keep *item* under every one of its *pairs*."""
        for pair in pairs:
            self.lists.setdefault(pair, []).append(item)

    def concerning(self, labels: Mapping[str, str]) -> Iterator[tuple[Pair | None, list[T]]]:
        """The lists that can hold items for pods with *labels*, each with its pair."""
        for pair in (None, *labels.items()):
            found = self.lists.get(pair)
            if found:
                yield pair, found

    def shortest(self, pairs: Iterable[Pair]) -> list[T]:
        """The shortest of the lists under *pairs*; there must be at least one pair."""
        return min((self.lists.get(pair, []) for pair in pairs), key=len)
