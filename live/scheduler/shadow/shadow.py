"""Follows the cluster's own scheduler pod by pod, and decides each time by itself, on the same state.

The other one binds many pods at once, so their bindings are seen in another order than it decided. :mod:`.backlog` says which pods it may
have taken next. If ours decides otherwise on the likeliest of them, the others are tried first, and then later states of the cluster.
What is seen is held back until the decisions before it are judged. Where none of these makes it the same, :class:`ShadowTrials` says if
the pod is different, or the order of the decisions is unknown.

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

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any

import attrs

from ....api.objects import KubeObject, Node, Pod
from ....api.objects.pods import DEFAULT_SCHEDULER
from ....api.record import replace
from ....core.engine import Engine
from ....core.queue.base import is_unschedulable, scheduled_condition
from ....core.queue.priority import queues_by_priority
from ....exceptions import KubeclassicError
from ...client.transport import Transport
from ...process.logs import Log
from ..events import Recorder
from ..following import follow
from ..state import LiveState
from ..writes import DryApi
from .judging import ORDER_UNKNOWN, PodJudgement, ShadowAgreement, judged, judged_without

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


# --- our decision in possible states ----------------------------------------------------------------------------------

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
class SeenChange:
    """An object before and after a change, which was seen at a time in seconds; None: there was none, or is none."""

    seen: float
    old: KubeObject | None
    new: KubeObject | None
    turn: UnjudgedPod | None = None
    """Of a decision, if its place in the order is known."""

    def reversed(self) -> SeenChange:
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
    later: Sequence[SeenChange]
    """What was seen after what has an effect here, in the order in which it was seen."""

    def may_lack(self, change: SeenChange) -> bool:
        """Whether a change that has an effect here may not have had one yet."""
        return change.seen >= self.since and not self._is_own(change) and not self._precedes(change.turn, self.turn)

    def may_have(self, change: SeenChange) -> bool:
        """Whether a change that was seen later may have had an effect already."""
        return change.seen <= self.time + WINDOW and not self._is_own(change) and not self._precedes(self.turn, change.turn)

    def _is_own(self, change: SeenChange) -> bool:
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
    _changes: deque[SeenChange] = attrs.field(factory=deque)
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

    def changed(self, change: SeenChange) -> None:
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

        def on_two_nodes(change: SeenChange) -> bool | None:
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
        self, asked: UnsureDecision, before: Sequence[SeenChange], later: Sequence[SeenChange],
        holds: Callable[[SeenChange], bool | None],
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

    def _agrees_at_a_moment(self, asked: UnsureDecision, changes: Sequence[SeenChange]) -> bool:
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

    def _apply(self, change: SeenChange) -> None:
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


# --- the shadow -------------------------------------------------------------------------------------------------------

LINGER = 1.0
"""Seconds between an outcome and our judgement: outcomes of decisions that were made before may still come."""
APART = 0.5
"""Seconds between the outcomes of two decisions that may have been made in the other order."""
PATIENCE = 2.0
"""Seconds for which an outcome is waited for, and for which other events are held back."""
SHORTEST = 0.001
"""Seconds that are not worth a wait: clocks are not exact."""


@attrs.define
class SeenOutcome:
    """What the other scheduler did with a pod: bound it, or said why it fits nowhere."""

    event: int
    seen: float
    pod: Pod


@attrs.frozen
class DelayedEvent:
    """An event that counts after the decisions that were made before it."""

    event: int
    seen: float
    tell: Callable[[KubeObject], None]
    item: KubeObject


@attrs.define(eq=False)
class Shadow:
    """Told of objects like a scheduler, and writes nothing. ``report`` gets a judgement for each pod that the other one decides on."""

    state: LiveState
    report: Callable[[PodJudgement], None]
    linger: float = LINGER
    patience: float = PATIENCE
    tally: ShadowAgreement = attrs.field(factory=ShadowAgreement)
    _backlog: Backlog = attrs.field(init=False)
    _outcomes: dict[str, list[SeenOutcome]] = attrs.field(factory=dict)
    """Waiting pod -> what became of it and is not judged, in order."""
    _told: dict[str, str] = attrs.field(factory=dict)
    """Waiting pod -> the last message of the other one."""
    _held: deque[DelayedEvent] = attrs.field(factory=deque)
    _since: dict[str, float] = attrs.field(factory=dict)
    """Waiting pod -> when it came, or was last refused, if that was seen."""
    _tries: dict[str, ShadowTrial | None] = attrs.field(factory=dict)
    """Our decisions on the state as it is now."""
    _trials: ShadowTrials = attrs.field(init=False)
    _event: int = 0
    _waits_since: float | None = None
    """When the wait for an outcome began."""

    def __attrs_post_init__(self) -> None:
        cells = self.state.release.queue
        self._trials = ShadowTrials(self.state)
        self._backlog = Backlog(is_ordered=cells.by_timestamp and not cells.pod_timestamps)

    # --- what happens -----------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object was added or updated."""
        self._event += 1
        if not isinstance(item, Pod) or not self._is_ours(item):
            self._hold(self.state.put, item)
        elif self._is_waiting(item):
            # A waiting pod was bound, was refused, or changed in another way.
            known = self._outcomes.get(item.key, [])
            is_refused = is_unschedulable(item) and self._told.get(item.key) != message(item)
            if known and known[-1].pod.spec.node_name:
                known[-1].pod = item
            elif item.spec.node_name or is_refused:
                self._told[item.key] = message(item)
                self._outcomes.setdefault(item.key, []).append(SeenOutcome(self._event, self.state.now(), item))
                self._backlog.decided(item.key, self._event)
            elif known:
                known[-1].pod = item
            else:
                was_gated = self.state.queue.is_gated(item)
                self._take_effect(self.state.put, item, self.state.now())
                if was_gated:
                    self._enter(item)
        elif self.state.pod(item.key) is None and not item.spec.node_name:
            # A new pod without a node. One that was refused before we looked is awaited at no time.
            self._take_effect(self.state.put, item, self.state.now())
            if is_unschedulable(item):
                self._told[item.key] = message(item)
            else:
                self._enter(item)
        else:
            self._hold(self.state.put, item)
        self.state.awake.set()

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""
        self._event += 1
        if isinstance(item, Pod) and item.key not in self._outcomes:
            self._backlog.discard(item.key)
        self._hold(self.state.delete, item)
        self.state.awake.set()

    def _is_ours(self, pod: Pod) -> bool:
        names = self.state.engine.scheduler_names(self.state.scheduler_name)
        return (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in names and not pod.is_terminal

    def _is_waiting(self, pod: Pod) -> bool:
        known = self.state.pod(pod.key)
        return known is not None and known.uid == pod.uid and not known.spec.node_name

    def _enter(self, pod: Pod) -> None:
        if not self.state.queue.is_gated(pod):
            self._since[pod.key] = self.state.now()
            priority = pod.priority if queues_by_priority(self.state.engine.algorithm) else 0
            self._backlog.add(pod.key, priority, self._event)

    def _forget(self, key: str) -> None:
        self._backlog.discard(key)
        self._outcomes.pop(key, None)
        self._told.pop(key, None)
        self._since.pop(key, None)

    # --- events that count later ------------------------------------------------------------------------------------

    def _hold(self, tell: Callable[[KubeObject], None], item: KubeObject) -> None:
        self._held.append(DelayedEvent(self._event, self.state.now(), tell, item))

    def _take_effect(
        self, tell: Callable[[KubeObject], None], item: KubeObject, seen: float, turn: UnjudgedPod | None = None
    ) -> None:  # fmt: skip
        """What was seen at a time counts from now on; *turn*: of a decision."""
        old = self._known(item)
        tell(item)
        self._trials.changed(SeenChange(seen, old, self._known(item), turn))

    def _known(self, item: KubeObject) -> KubeObject | None:
        return self.state.pod(item.key) if isinstance(item, Pod) else self.state.router.feed.known(item)

    def _counts_now(self, held: DelayedEvent) -> bool:
        if not self._backlog and not self._outcomes:
            return True
        is_old = held.seen <= self.state.now() - self.patience and held.event < (self._first_outcome() or inf)
        return is_old or held.event <= self._backlog.reached

    def _first_outcome(self) -> int | None:
        """The event of the first outcome that is not judged."""
        return min((found[0].event for found in self._outcomes.values()), default=None)

    def _deliver(self) -> None:
        held = self._held.popleft()
        known = self.state.pod(held.item.key) if isinstance(held.item, Pod) else None
        if known is not None and held.tell == self.state.delete:
            self._forget(known.key)
        self._tries.clear()
        self._take_effect(held.tell, held.item, held.seen)

    def _deliver_next(self) -> bool:
        """Deliver the next event if it came before the outcomes that are known."""
        before = self._first_outcome()
        if not self._held or before is None or self._held[0].event >= before:
            return False
        self._deliver()
        return True

    # --- the loop ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow until cancelled."""
        while self._held:
            self._deliver()
        while True:
            self.state.touch()
            self._trials.forget(min((found[0].seen for found in self._outcomes.values()), default=self.state.now()))
            while self._held and self._counts_now(self._held[0]):
                self._deliver()
            if self._step():
                self._waits_since = None
                await asyncio.sleep(0)
            else:
                # Wait until something happens, or for so long that an outcome will not come soon.
                self.state.awake.clear()
                ends = [self._held[0].seen + self.patience] if self._held else []
                ends += [] if self._waits_since is None else [self._waits_since + self.patience]
                ends += [found[0].seen + delay for found in self._outcomes.values() for delay in (self.linger, WINDOW)]
                left = min((end for end in ends if end > self.state.now()), default=0.0) - self.state.now()
                handle = asyncio.get_running_loop().call_later(max(left, SHORTEST), self.state.awake.set) if ends else None
                try:
                    await self.state.awake.wait()
                finally:
                    if handle is not None:
                        handle.cancel()

    def _step(self) -> bool:
        """Judge the next decision, or give up an outcome; False if there is nothing to do yet."""
        tried: dict[str, ShadowTrial] = {}
        for key in self._next():
            if key not in self._outcomes:
                # Whether the outcome of a pod was waited for too long: then it is no longer waited for.
                if self._waits_since is None:
                    self._waits_since = self.state.now()
                if self.state.now() - self._waits_since < self.patience - SHORTEST:
                    return False
                self._backlog.discard(key)
                return True
            if not tried and self._outcomes[key][0].seen + self.linger > self.state.now():
                return False
            if tried and self._outcomes[key][0].seen > self._outcomes[next(iter(tried))][0].seen + APART:
                continue
            # Our decision as things stand; None if there is none.
            if key not in self._tries:
                pod = self.state.pod(key)
                self._tries[key] = None if pod is None else self._trials.now(pod, self._outcomes[key][0].pod)
            trial = self._tries[key]
            if trial is None:
                self._forget(key)
                return True
            if not trial.judgement.differs:
                self._count(key, trial)
                return True
            tried[key] = trial
        return bool(tried) and (self._deliver_next() or self._judge_different(*next(iter(tried.items()))))

    def _judge_different(self, key: str, trial: ShadowTrial) -> bool:
        """The likeliest decision differs as things stand: it does differ, or the order is unknown. False if more has to be seen first."""
        outcome, pod = self._outcomes[key][0], self.state.pod(key)
        if pod is None or outcome.seen + WINDOW > self.state.now():
            return False
        since = max(outcome.seen - WINDOW, self._since.get(key, -inf))
        asked = UnsureDecision(pod, outcome.pod, outcome.seen, since, self._backlog.turn(key), list(self._later()))
        if self._trials.may_agree(trial, asked):
            trial = attrs.evolve(trial, judgement=replace(trial.judgement, verdict=ORDER_UNKNOWN))
        self._count(key, trial)
        return True

    def _later(self) -> Iterator[SeenChange]:
        """What was seen and has no effect yet, in the order in which it was seen."""
        known = [(self._backlog.turn(key), one) for key, found in self._outcomes.items() for one in found]
        outcomes = [(one.event, one.seen, one.pod, False, turn) for turn, one in known]
        held = [(one.event, one.seen, one.item, one.tell == self.state.delete, None) for one in self._held]
        last: dict[tuple[str, str], KubeObject | None] = {}
        for _, seen, item, is_gone, turn in sorted([*outcomes, *held], key=lambda one: one[0]):
            name = item.kind, item.key
            old = last[name] if name in last else self._known(item)
            last[name] = None if is_gone else item
            yield SeenChange(seen, old, last[name], turn)

    def _next(self) -> Iterator[str]:
        """The pods on which the other one may have decided next; those that it tried once more stand where their outcome was seen."""
        candidates = self._backlog.candidates()
        again = [key for key in self._outcomes if key not in self._backlog]
        first = candidates[0].outcome if candidates else None
        for key in again:
            if first is None or self._outcomes[key][0].event < first:
                yield key
        yield from (each.key for each in candidates)
        if first is not None:
            yield from (key for key in again if self._outcomes[key][0].event > first)

    # --- one decision -----------------------------------------------------------------------------------------------

    def _count(self, key: str, trial: ShadowTrial) -> None:
        """This was the next decision: tell it, and let what the other one did count."""
        outcomes = self._outcomes[key]
        outcome, turn = outcomes.pop(0), self._backlog.turn(key)
        self._trials.took(trial)
        self.tally.add(trial.judgement)
        self.report(trial.judgement)
        self._backlog.take(key)
        self._tries.clear()
        self._since[key] = outcome.seen
        if outcome.pod.spec.node_name:
            self._forget(key)
        elif not outcomes:
            del self._outcomes[key]
        self._take_effect(self.state.put, outcome.pod, outcome.seen, turn)


async def shadowed(
    engine: Engine, scheduler_name: str, transport: Transport, tell: Callable[[PodJudgement], None],
    *, seconds: float | None = None, log: Log,
) -> ShadowAgreement:  # fmt: skip
    """Compare *engine* with the scheduler of the cluster over *transport*, until a signal or for some seconds."""
    shadow = Shadow(LiveState(engine, DryApi(), Recorder(), time.time, scheduler_name, log=log), tell)
    await follow(engine.algorithm, transport, shadow, shadow.run, seconds=seconds, log=log)
    return shadow.tally
