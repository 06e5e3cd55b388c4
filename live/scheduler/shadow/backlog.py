"""Which pod another scheduler may have taken from its queue next.

It takes the pod with the highest priority, and of equal ones the one that came first. Which pods had come by then cannot be seen: it knows
a pod earlier than we see what became of it, and it binds many pods at once. But what was taken earlier was known earlier, and a decision
comes before its outcome. That leaves few pods, and mostly one.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import attrs

UNORDERED = 8
"""How many pods are looked at where their order is not known."""


@attrs.define
class UnjudgedPod:
    """A pod whose decision was not judged yet. Events are numbered as they are seen."""

    key: str
    priority: int
    came: int
    """The event that brought it."""
    outcome: int | None = None
    """The event that told what became of it."""

    def precedes(self, other: UnjudgedPod) -> bool:
        """Whether it was certainly decided on before *other*, where the queue is ordered: it waited already, with no lower priority."""
        return self.came < other.came and self.priority >= other.priority


@attrs.define
class Backlog:
    """Pods that wait for the other scheduler's decision."""

    is_ordered: bool = True
    """Whether pods of equal priority are taken in the order in which they came; upstream's first queue has no order for them."""
    reached: int = 0
    """The last event that the other scheduler had certainly seen at its last decision."""
    _waiting: dict[str, UnjudgedPod] = attrs.field(factory=dict)
    """In the order in which they came."""

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __contains__(self, key: str) -> bool:
        return key in self._waiting

    def add(self, key: str, priority: int, event: int) -> None:
        """A pod came."""
        self._waiting[key] = UnjudgedPod(key, priority, event)

    def turn(self, key: str) -> UnjudgedPod | None:
        """Where the pod stands in the order; None if that is not known, as for one that is tried again."""
        return self._waiting.get(key) if self.is_ordered else None

    def decided(self, key: str, event: int) -> None:
        """What became of a pod was seen; of several outcomes the first counts."""
        found = self._waiting.get(key)
        if found is not None and found.outcome is None:
            found.outcome = event

    def discard(self, key: str) -> None:
        """A pod is gone, or is no longer waited for."""
        self._waiting.pop(key, None)

    def take(self, key: str) -> None:
        """The decision on a pod was judged; all that came before the pod was known then."""
        found = self._waiting.pop(key, None)
        if found is not None:
            self.reached = max(self.reached, found.came)

    def before(self) -> int | None:
        """The next decision comes before this event; None: before any that may follow."""
        return min((each.outcome for each in self._waiting.values() if each.outcome is not None), default=None)

    def candidates(self) -> list[UnjudgedPod]:
        """The pods of which one was taken next, the likeliest first; an outcome may not be known yet."""
        if not self.is_ordered:
            known = [each for each in self._waiting.values() if each.outcome is not None]
            return sorted(known, key=lambda each: each.outcome or 0)[:UNORDERED] or list(self._waiting.values())[:1]
        firsts, likely = self._outcome_of_class(), list(self._possible())
        others = [each for each in self._heads() if each not in likely]
        return [each for part in (likely, others) for each in sorted(part, key=lambda each: firsts.get(each.priority, inf))]

    def _possible(self) -> Iterator[UnjudgedPod]:
        """The pods that may be next: each one after the first had to come later, and goes before those that were there."""
        before, best = self.before(), None
        here = [each for each in self._waiting.values() if each.came <= self.reached]
        if here:
            best = max(here, key=lambda each: (each.priority, -each.came))
            yield best
        for each in self._waiting.values():
            if each.came <= self.reached or (best is not None and each.priority <= best.priority):
                continue
            if before is not None and each.came >= before:
                return
            best = each
            yield each

    def _heads(self) -> list[UnjudgedPod]:
        """The first pod of each priority, where it came before the next decision and was decided on: which priority was next may seem wrong
        where an earlier judgement was right by chance."""
        before, found = self.before(), dict[int, UnjudgedPod]()
        for each in self._waiting.values():
            found.setdefault(each.priority, each)
        return [each for each in found.values() if each.outcome is not None and before is not None and each.came < before]

    def _outcome_of_class(self) -> dict[int, int]:
        """Priority -> the first outcome of a pod of it. They are taken in order, so the first of them was decided on before that."""
        found: dict[int, int] = {}
        for each in self._waiting.values():
            if each.outcome is not None:
                found[each.priority] = min(each.outcome, found.get(each.priority, each.outcome))
        return found
