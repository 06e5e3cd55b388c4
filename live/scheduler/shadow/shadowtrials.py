"""Our decision on a pod as things stand, and in the other states in which the cluster's scheduler may have made its own.

When an outcome is seen does not say when it was decided. A binding waits for the client's limit (50 requests a second) or for a thread, so
failures overtake bindings; and each client of the API server learns of a change at a time of its own. What is certain:

* a decision was made after its pod came, or was last refused, and before its outcome was seen, at most ``WINDOW`` seconds before;
* of two pods that are tried for the first time, the one that came first and has no lower priority was decided on first;
* apart from that, what had changed before that time is in every state that is possible, and what changed since may be in it or not, and so
  may what is seen up to ``WINDOW`` seconds later.

The possible states are all choices among these changes, too many to try. Tried are the one with the least room (all that takes room is
there, nothing that frees it), the one with the most, the one with the least room on the node that we chose and the most on the one that the
cluster's scheduler chose, and the states as they were at each moment of that time. A decision of ours that agrees in none of them is
different. Where it agrees in one, it cannot be told: the order of the decisions is unknown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from ....api.objects import KubeObject, Node, Pod
from ....core.queue.base import scheduled_condition
from ....exceptions import KubeclassicError
from ..state import LiveState
from .backlog import UnjudgedPod
from .judging import PodJudgement, judged, judged_without

WINDOW = 2.0
"""Seconds by which an outcome may be seen later than one that was decided on after it."""
MOMENTS = 32
"""That many moments are tried before the outcome, and as many after it."""
MISSES = 8
"""After that many different pods in a row each eighth alone is tried at moments: another scheduler may differ on most pods."""


@attrs.frozen
class ShadowTrial:
    """A judgement, and where our decision leaves the visiting order and the tie-break."""

    judgement: PodJudgement
    moved: tuple[Any, int]


@attrs.frozen
class ObservedChange:
    """An object before and after a change, which was seen at a time in seconds; None: there was none, or is none."""

    seen: float
    old: KubeObject | None
    new: KubeObject | None
    turn: UnjudgedPod | None = None
    """Of a decision, if its place in the order is known."""

    def reversed(self) -> ObservedChange:
        """The change that undoes it."""
        return attrs.evolve(self, old=self.new, new=self.old)

    @property
    def takes_room(self) -> bool:
        """Whether less fits afterwards: a pod was placed or nominated, or a node is gone."""
        item = self.new or self.old
        return bool(_node_of(self.new)) if isinstance(item, Pod) else self.new is None

    def is_on(self, node: str | None) -> bool:
        """Whether it is about the node of this name."""
        return node is not None and node in (_node_of(self.old), _node_of(self.new))

    @property
    def matters(self) -> bool:
        """Whether a decision may depend on it."""
        return self.old is not self.new and _read(self.old) != _read(self.new)


@attrs.frozen
class UnsureDecision:
    """A decision of the cluster's scheduler on *pod*, which then was as *seen* at a time in seconds; before *since* it was not made."""

    pod: Pod
    seen: Pod
    time: float
    since: float
    turn: UnjudgedPod | None
    later: Sequence[ObservedChange]
    """What was seen after what has an effect here, in the order in which it was seen."""

    def may_lack(self, change: ObservedChange) -> bool:
        """Whether a change that has an effect here may not have had one yet."""
        return change.seen >= self.since and not self._is_own(change) and not self._precedes(change.turn, self.turn)

    def may_have(self, change: ObservedChange) -> bool:
        """Whether a change that was seen later may have had an effect already."""
        return change.seen <= self.time + WINDOW and not self._is_own(change) and not self._precedes(self.turn, change.turn)

    def _is_own(self, change: ObservedChange) -> bool:
        item = change.new or change.old
        return isinstance(item, Pod) and item.key == self.pod.key

    def _precedes(self, one: UnjudgedPod | None, other: UnjudgedPod | None) -> bool:
        return one is not None and other is not None and one.precedes(other)


def _node_of(item: KubeObject | None) -> str:
    """The node that an object is about: itself, or the one that a pod is on, or is nominated to; empty if there is none."""
    if isinstance(item, Pod):
        return item.spec.node_name or item.status.nominated_node_name
    return item.name if isinstance(item, Node) else ""


def _read(item: KubeObject | None) -> object:
    """What decisions on other pods read of an object."""
    if isinstance(item, Pod):
        return (_node_of(item), item.labels, item.metadata.deletion_timestamp, item.spec) if _node_of(item) else None
    if isinstance(item, Node):
        conditions = [(one.type, one.status) for one in item.status.conditions]
        return item.labels, item.annotations, item.spec, item.status.allocatable, item.status.images, conditions
    return item


@attrs.define(eq=False)
class ShadowTrials:
    """Decides on the state of a shadow, without an effect on it."""

    state: LiveState
    _changes: deque[ObservedChange] = attrs.field(factory=deque)
    """What changed since ``WINDOW`` before the oldest outcome that is not judged, in the order in which it took effect here."""
    _misses: int = 0
    """How many pods in a row were different."""

    def now(self, pod: Pod, seen: Pod) -> ShadowTrial | None:
        """Our decision on *pod* beside what became of it, *seen*; None if there is none."""
        engine, node = self.state.engine, seen.spec.node_name
        try:
            with engine.savepoint():
                decision = engine.schedule(pod)
                judgement = judged(engine, decision, node) if node else judged_without(engine, decision, message(seen))
                return ShadowTrial(judgement, engine.position)
        except KubeclassicError as error:
            self.state.log.warning(f"pod {pod.key}: {error}")
            return None

    def took(self, trial: ShadowTrial) -> None:
        """That was the next decision."""
        self.state.engine.move(*trial.moved)

    def changed(self, change: ObservedChange) -> None:
        """That took effect on the state."""
        if change.matters:
            self._changes.append(change)

    def forget(self, before: float) -> None:
        """No decision is asked about any more that may not know what was seen *before* that time."""
        while self._changes and self._changes[0].seen < before - WINDOW:
            self._changes.popleft()

    # --- possible states --------------------------------------------------------------------------------------------

    def may_agree(self, trial: ShadowTrial, asked: UnsureDecision) -> bool:
        """Whether our decision, which by *trial* is different as things stand, is no different in a possible state."""
        before = [change for change in self._changes if asked.may_lack(change)]
        later = [change for change in asked.later if change.matters and asked.may_have(change)]
        ours, theirs = trial.judgement.ours, trial.judgement.cluster
        self._misses += 1

        def on_two_nodes(change: ObservedChange) -> bool | None:
            if change.is_on(ours) or change.is_on(theirs):
                return change.takes_room == change.is_on(ours)
            return None

        attempts: list[Callable[[], bool]] = [
            lambda: self._agrees_with(asked, before, later, lambda change: change.takes_room),
            lambda: self._agrees_with(asked, before, later, lambda change: not change.takes_room),
            lambda: self._agrees_with(asked, before, later, on_two_nodes),
        ]
        if self._misses <= MISSES or not self._misses % MISSES:
            attempts.append(lambda: self._agrees_at_a_moment(asked, [change.reversed() for change in reversed(before)]))
            attempts.append(lambda: self._agrees_at_a_moment(asked, later))
        found = bool(before or later) and any(attempt() for attempt in attempts)
        self._misses = 0 if found else self._misses
        return found

    def _agrees_with(
        self, asked: UnsureDecision, before: Sequence[ObservedChange], later: Sequence[ObservedChange],
        holds: Callable[[ObservedChange], bool | None],
    ) -> bool:  # fmt: skip
        """Whether we agree where of all changes those took effect for which *holds* says so; None: as things stand."""
        with self.state.engine.savepoint():
            for change in reversed(before):
                if holds(change) is False:
                    self._apply(change.reversed())
            for change in later:
                if holds(change):
                    self._apply(change)
            return self._agrees(asked)

    def _agrees_at_a_moment(self, asked: UnsureDecision, changes: Sequence[ObservedChange]) -> bool:
        """Whether we agree after one of the first *changes*."""
        with self.state.engine.savepoint():
            for change in changes[:MOMENTS]:
                self._apply(change)
                if self._agrees(asked):
                    return True
        return False

    def _agrees(self, asked: UnsureDecision) -> bool:
        trial = self.now(asked.pod, asked.seen)
        return trial is not None and not trial.judgement.differs

    def _apply(self, change: ObservedChange) -> None:
        """Let a change take effect on what is tried."""
        old, new, feed = change.old, change.new, self.state.router.feed
        if isinstance(old, Pod) or isinstance(new, Pod):
            self._apply_pod(old if isinstance(old, Pod) else None, new if isinstance(new, Pod) else None)
        elif new is not None:
            feed.put(new)
        elif old is not None:
            feed.delete(old)

    def _apply_pod(self, old: Pod | None, new: Pod | None) -> None:
        feed, nominations = self.state.router.feed, self.state.engine.nominations
        if old is not None and not old.spec.node_name:
            nominations.remove(old)
        if new is not None and new.spec.node_name:
            if self.state.engine.row_of(new.spec.node_name) is not None:
                feed.put(new)
            return
        if old is not None and old.spec.node_name:
            feed.delete(old)
        if new is not None:
            nominations.add(new)


def message(pod: Pod) -> str:
    """Why a pod has no node, as its condition says it."""
    condition = scheduled_condition(pod)
    return "" if condition is None else condition.message
