"""The shadow of the cluster's own scheduler: a decision of ours on each pod, on the same state.

The other scheduler binds many pods at once, so their bindings are seen in another order than its decisions.
:class:`Backlog` says which pods it may have taken next: the one with the highest priority, and of equal ones
the one that came first. Which pods had come by then cannot be seen: the other scheduler knows a pod before we
see its outcome. But a pod that was taken earlier was known earlier, and a decision comes before its outcome.
That leaves few pods, and mostly one.

If ours decides otherwise on the likeliest of them, the others are tried first, and then later states of the
cluster. Events take effect only once the decisions before them are judged. If no try agrees, the pod is
different, or the order of the decisions is unknown.

The time when an outcome is seen does not tell when it was decided. A binding waits for the client's limit (50
requests a second) or for a thread, so failures overtake bindings; and each client of the API server learns of
a change at a time of its own. What is certain:

* a decision was made after its pod came, or was last refused, and before its outcome was seen, at most
  ``WINDOW`` seconds before;
* of two pods that are tried for the first time, the one that came first and has no lower priority was decided
  on first;
* apart from that, what had changed before that time is in every state that is possible, and what changed
  since may be in it or not, and so may what is seen up to ``WINDOW`` seconds later.

The possible states are all choices among these changes, too many to try. Tried are the one with the least
room (with all that takes room, without what frees it), the one with the most, the one with the least room on
the node that we chose and the most on the one that the cluster's scheduler chose, and the states as they were
at each moment of that time. A decision of ours that agrees in none of them is different. Where it agrees in
one, the order of the decisions is unknown.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import inf
from typing import Any

from attrs import Factory, define, evolve, field, frozen

from ....api.objects import KubeObject, Node, Pod
from ....api.record import replace
from ....core.engine import Engine
from ....core.queue.priority import is_unschedulable, scheduled_condition
from ....exceptions import KubeclassicError
from ...client.api import Transport
from ...informers.informers import informers_of
from ...process.logs import Log
from ..events import Recorder
from ..following import end_at_signals, follow, unless
from ..state import DryApi, LiveState
from .judging import ORDER_UNKNOWN, PodJudgement, ShadowAgreement, judged

UNORDERED = 8
"""The number of pods to look at where their order is not known."""


@define
class UnjudgedPod:
    """A pod whose decision is not judged yet. Events are numbered as they are seen."""

    key: str
    priority: int
    came: int
    """The event that brought it."""
    outcome: float = inf
    """The event of its outcome; of several the first."""


@define
class Backlog:
    """Pods that wait for the other scheduler's decision."""

    is_ordered: bool = True
    """Whether pods of equal priority are taken in the order in which they came; upstream's first queue has no
    order for them."""
    reached: int = 0
    """The last event that the other scheduler had certainly seen at its last decision."""
    waiting: dict[str, UnjudgedPod] = Factory(dict)
    """In the order in which they came."""

    def turn(self, key: str) -> UnjudgedPod | None:
        """The turn of the pod in the order; None if that is not known, as for one that is tried again."""
        return self.waiting.get(key) if self.is_ordered else None

    def candidates(self) -> list[UnjudgedPod]:
        """The pods that may have been taken next, the likeliest first; an outcome may not be known yet."""
        waiting = list(self.waiting.values())
        if not self.is_ordered:
            ordered = [pod for pod in waiting if pod.outcome < inf]
            return sorted(ordered, key=lambda pod: pod.outcome)[:UNORDERED] or waiting[:1]
        # The next decision comes before the first outcome. Pods of one priority are taken in order, so the
        # first of them was decided on before the first outcome of any.
        before = min((pod.outcome for pod in waiting), default=inf)
        heads = dict[int, UnjudgedPod]()
        firsts = dict[int, float]()
        for pod in waiting:
            heads.setdefault(pod.priority, pod)
            firsts[pod.priority] = min(pod.outcome, firsts.get(pod.priority, inf))
        # Each that may be next after the first had to come later, and goes before those that were there.
        present = [pod for pod in waiting if pod.came <= self.reached]
        likely = [max(present, key=lambda pod: (pod.priority, -pod.came))] if present else []
        for pod in waiting:
            if pod.came <= self.reached or (likely and pod.priority <= likely[-1].priority):
                continue
            if pod.came >= before:
                break
            likely.append(pod)
        # Which priority was next may seem wrong where an earlier judgement was right by chance.
        others = [
            pod for pod in heads.values() if pod.outcome < inf and pod.came < before and pod not in likely
        ]
        return [
            pod for part in (likely, others) for pod in sorted(part, key=lambda pod: firsts[pod.priority])
        ]


def _precedes(one: UnjudgedPod | None, other: UnjudgedPod | None) -> bool:
    """Whether *one* was certainly decided on before *other*, where the queue is ordered: it waited already,
    with no lower priority."""
    return one is not None and other is not None and one.came < other.came and one.priority >= other.priority


# --- our decision in possible states ------------------------------------------------------------------------

WINDOW = 2.0
"""Seconds by which an outcome may be seen later than one that was decided on after it."""
MOMENTS = 32
"""The number of moments that are tried before the outcome, and after it."""
MISSES = 8
"""After that many different pods in a row, only every eighth is tried at moments: another scheduler may
differ on most pods."""


@frozen
class ShadowTrial:
    """A judgement, and the visiting order and tie-break after our decision."""

    judgement: PodJudgement
    moved: tuple[Any, int]


@frozen
class SeenChange:
    """An object before and after a change, seen at a time in seconds; None: it did not exist, or no longer
    does."""

    seen_at: float
    old: KubeObject | None
    new: KubeObject | None
    turn: UnjudgedPod | None = None
    """The turn of a decision, if its place in the order is known."""

    def reversed(self) -> SeenChange:
        """The change that undoes it."""
        return evolve(self, old=self.new, new=self.old)

    @property
    def takes_room(self) -> bool:
        """Whether less fits afterwards: a pod was placed or nominated, or a node is gone."""
        return bool(_node_of(self.new)) if isinstance(self.new or self.old, Pod) else self.new is None

    def is_on(self, node: str | None) -> bool:
        """Whether it is about the node of this name."""
        return node is not None and node in (_node_of(self.old), _node_of(self.new))

    @property
    def matters(self) -> bool:
        """Whether a decision may depend on it."""
        return self.old is not self.new and _read(self.old) != _read(self.new)


def _node_of(item: KubeObject | None) -> str:
    """The node that an object is about: itself, or the one that a pod is on, or is nominated to; empty if
    there is none."""
    if isinstance(item, Pod):
        return item.node_name or item.status.nominated_node_name
    return item.name if isinstance(item, Node) else ""


def _read(item: KubeObject | None) -> object:
    """The parts of an object that decisions on other pods read."""
    if isinstance(item, Pod):
        if _node_of(item):
            return _node_of(item), item.labels, item.metadata.deletion_timestamp, item.spec
        return None
    if isinstance(item, Node):
        return (
            item.labels,
            item.annotations,
            item.spec,
            item.status.allocatable,
            item.status.images,
            [(condition.type, condition.status) for condition in item.status.conditions],
        )
    return item


# --- the shadow ---------------------------------------------------------------------------------------------

LINGER = 1.0
"""Seconds between an outcome and our judgement: outcomes of decisions that were made before may still
come."""
APART = 0.5
"""Seconds between the outcomes of two decisions that may have been made in the other order."""
PATIENCE = 2.0
"""Seconds for which an outcome is waited for, and other events are delayed."""
SHORTEST = 0.001
"""Seconds that are not worth a wait: clocks are not exact."""


@define
class SeenEvent:
    """An object that takes effect after earlier decisions; for a pod that waited, perhaps its outcome."""

    number: int
    seen_at: float
    tell: Callable[[KubeObject], None]
    item: Any


@define(eq=False)
class Shadow:
    """A scheduler that gets objects like any other, and writes nothing. ``report`` gets a judgement for each
    pod that the other scheduler decides on."""

    state: LiveState
    report: Callable[[PodJudgement], None]
    linger: float = LINGER
    patience: float = PATIENCE
    tally: ShadowAgreement = Factory(ShadowAgreement)
    _backlog: Backlog = field(init=False)
    _outcomes: dict[str, list[SeenEvent]] = Factory(dict)
    """Waiting pod -> its outcomes that are not judged yet, in order: it was bound, or refused with a
    reason."""
    _messages: dict[str, str] = Factory(dict)
    """Waiting pod -> the last message of the other scheduler."""
    _undelivered: deque[SeenEvent] = Factory(deque)
    _since: dict[str, float] = Factory(dict)
    """Waiting pod -> when it came, or was last refused, if that was seen."""
    _tries: dict[str, ShadowTrial | None] = Factory(dict)
    """Our decisions on the state as it is now."""
    _changes: deque[SeenChange] = Factory(deque)
    """The changes since ``WINDOW`` before the oldest outcome not yet judged, in the order of their effect
    here."""
    _misses: int = 0
    """The number of pods in a row that were different."""
    _event: int = 0
    _waits_since: float | None = None
    """The time when the wait for an outcome began."""

    def __attrs_post_init__(self) -> None:
        cells = self.state.release.queue
        self._backlog = Backlog(is_ordered=cells.by_timestamp and not cells.pod_timestamps)

    # --- what happens ---------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object was added or updated."""
        self._event += 1
        state = self.state
        key = item.key
        now = state.now()
        event = SeenEvent(self._event, now, state.put, item)
        current = state.pod(key) if isinstance(item, Pod) else None
        if (
            not isinstance(item, Pod)
            or item.is_terminal
            or item.scheduler_name not in state.engine.scheduler_names(state.scheduler_name)
        ):
            self._undelivered.append(event)
        elif current is not None and current.uid == item.uid and not current.node_name:
            # A waiting pod was bound, was refused, or changed in another way.
            outcomes = self._outcomes.get(key, [])
            was_bound = outcomes and outcomes[-1].item.node_name
            is_refused = is_unschedulable(item) and self._messages.get(key) != message(item)
            if (item.node_name or is_refused) and not was_bound:
                self._messages[key] = message(item)
                self._outcomes.setdefault(key, []).append(event)
                if key in self._backlog.waiting:
                    waiting = self._backlog.waiting[key]
                    waiting.outcome = min(waiting.outcome, self._event)
            elif outcomes:
                outcomes[-1].item = item
            else:
                was_gated = state.queue.is_gated(item)
                self._take_effect(state.put, item, now)
                if was_gated:
                    self._enter(item)
        elif (current is None or current.uid != item.uid) and not item.node_name:
            # A new pod without a node. It is unknown when one that was refused before we began had come.
            had_other = any(seen.item.identity == item.identity for seen in self._undelivered)
            if current is not None or had_other:  # another pod had its name
                while self._undelivered:
                    self._deliver()
                if (current := state.pod(key)) is not None:
                    self._tries.clear()
                    self._take_effect(state.delete, current, now)
                self._forget(key)
            self._take_effect(state.put, item, now)
            if is_unschedulable(item):
                self._messages[key] = message(item)
            else:
                self._enter(item)
        else:
            self._undelivered.append(event)
        state.awake.set()

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""
        self._event += 1
        if isinstance(item, Pod) and item.key not in self._outcomes:
            self._backlog.waiting.pop(item.key, None)
        self._undelivered.append(SeenEvent(self._event, self.state.now(), self.state.delete, item))
        self.state.awake.set()

    def _enter(self, pod: Pod) -> None:
        if not self.state.queue.is_gated(pod):
            self._since[pod.key] = self.state.now()
            priority = pod.priority if self.state.engine.queues_by_priority else 0
            self._backlog.waiting[pod.key] = UnjudgedPod(pod.key, priority, self._event)

    def _forget(self, key: str) -> None:
        for mapping in (self._backlog.waiting, self._outcomes, self._messages, self._since):
            mapping.pop(key, None)

    # --- events that count later ----------------------------------------------------------------------------

    def _take_effect(
        self,
        tell: Callable[[KubeObject], None],
        item: KubeObject,
        seen_at: float,
        turn: UnjudgedPod | None = None,
    ) -> None:
        """Let a change, seen at *seen_at*, count from now on; *turn*: of a decision."""
        old = self._object_now(item)
        tell(item)
        change = SeenChange(seen_at, old, self._object_now(item), turn)
        if change.matters:
            self._changes.append(change)

    def _object_now(self, item: KubeObject) -> KubeObject | None:
        return self.state.pod(item.key) if isinstance(item, Pod) else self.state.router.feed.known(item)

    def _deliver(self) -> None:
        event = self._undelivered.popleft()
        current = self.state.pod(event.item.key) if isinstance(event.item, Pod) else None
        if current is not None and (event.tell == self.state.delete or current.uid != event.item.uid):
            self._forget(current.key)
        self._tries.clear()
        self._take_effect(event.tell, event.item, event.seen_at)

    # --- the loop -------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow until cancelled."""
        state = self.state
        while self._undelivered:
            self._deliver()
        while True:
            state.touch()
            # No decision is asked about any more that may not know what was seen so long ago.
            oldest = min((events[0].seen_at for events in self._outcomes.values()), default=state.now())
            while self._changes and self._changes[0].seen_at < oldest - WINDOW:
                self._changes.popleft()
            while self._undelivered:
                event = self._undelivered[0]
                is_idle = not self._backlog.waiting and not self._outcomes
                is_old = event.seen_at <= state.now() - self.patience and event.number < self._first_outcome()
                if not (is_idle or is_old or event.number <= self._backlog.reached):
                    break
                self._deliver()
            if self._step():
                self._waits_since = None
                await asyncio.sleep(0)
                continue
            # Wait until something happens, or for so long that an outcome will not come soon.
            state.awake.clear()
            ends = [self._undelivered[0].seen_at + self.patience] if self._undelivered else []
            ends += [] if self._waits_since is None else [self._waits_since + self.patience]
            ends += [
                events[0].seen_at + delay
                for events in self._outcomes.values()
                for delay in (self.linger, WINDOW)
            ]
            timeout = min((end for end in ends if end > state.now()), default=0.0) - state.now()
            with suppress(TimeoutError):
                async with asyncio.timeout(max(timeout, SHORTEST) if ends else None):
                    await state.awake.wait()

    def _first_outcome(self) -> float:
        """The event of the first outcome that is not judged."""
        return min((events[0].number for events in self._outcomes.values()), default=inf)

    def _step(self) -> bool:
        """Judge the next decision, or give up an outcome; False if there is nothing to do yet."""
        outcomes = self._outcomes
        now = self.state.now()
        trials = dict[str, ShadowTrial]()
        for key in self._next_candidates():
            if key not in outcomes:
                # An outcome that was waited for too long is no longer waited for.
                if self._waits_since is None:
                    self._waits_since = now
                if now - self._waits_since < self.patience - SHORTEST:
                    return False
                self._backlog.waiting.pop(key, None)
                return True
            seen_at = outcomes[key][0].seen_at
            if not trials and seen_at + self.linger > now:
                return False
            if trials and seen_at > outcomes[next(iter(trials))][0].seen_at + APART:
                continue
            # Our decision as things stand; None if there is none.
            if key not in self._tries:
                pod = self.state.pod(key)
                self._tries[key] = None if pod is None else self._decide(pod, outcomes[key][0].item)
            trial = self._tries[key]
            if trial is None:
                self._forget(key)
                return True
            if not trial.judgement.differs:
                self._count(key, trial)
                return True
            trials[key] = trial
        if not trials:
            return False
        # The likeliest decision differs as things stand: it does differ, or the order is unknown, unless more
        # has to be seen first.
        key, trial = next(iter(trials.items()))
        if self._undelivered and self._undelivered[0].number < self._first_outcome():
            self._deliver()
            return True
        outcome = outcomes[key][0]
        pod = self.state.pod(key)
        if pod is None or outcome.seen_at + WINDOW > self.state.now():
            return False
        if self._may_agree(trial, pod, outcome):
            trial = evolve(trial, judgement=replace(trial.judgement, verdict=ORDER_UNKNOWN))
        self._count(key, trial)
        return True

    def _next_candidates(self) -> Iterator[str]:
        """The pods on which the other scheduler may have decided next; those that it tried once more are
        placed where their outcome was seen."""
        candidates = self._backlog.candidates()
        again = [key for key in self._outcomes if key not in self._backlog.waiting]
        first_outcome = candidates[0].outcome if candidates else inf
        for key in again:
            if self._outcomes[key][0].number < first_outcome:
                yield key
        yield from (candidate.key for candidate in candidates)
        yield from (key for key in again if self._outcomes[key][0].number > first_outcome)

    # --- one decision ---------------------------------------------------------------------------------------

    def _decide(self, pod: Pod, outcome: Pod) -> ShadowTrial | None:
        """Our decision on *pod* beside its *outcome*, without an effect on the state; None if there is
        none."""
        engine = self.state.engine
        try:
            with engine.savepoint():
                judgement = judged(engine, engine.schedule(pod), outcome.node_name, message(outcome))
                return ShadowTrial(judgement, engine.position)
        except KubeclassicError as error:
            self.state.log.warning(f"pod {pod.key}: {error}")
            return None

    def _count(self, key: str, trial: ShadowTrial) -> None:
        """Take *trial* as the next decision: report it, and let the other scheduler's outcome take effect."""
        outcomes = self._outcomes[key]
        outcome = outcomes.pop(0)
        turn = self._backlog.turn(key)
        self.state.engine.move(*trial.moved)
        self.tally.add(trial.judgement)
        self.report(trial.judgement)
        # All that came before the pod was known when it was decided on.
        waiting = self._backlog.waiting.pop(key, None)
        if waiting is not None:
            self._backlog.reached = max(self._backlog.reached, waiting.came)
        self._tries.clear()
        self._since[key] = outcome.seen_at
        if outcome.item.node_name:
            self._forget(key)
        elif not outcomes:
            del self._outcomes[key]
        self._take_effect(self.state.put, outcome.item, outcome.seen_at, turn)

    # --- possible states ------------------------------------------------------------------------------------

    def _may_agree(self, trial: ShadowTrial, pod: Pod, outcome: SeenEvent) -> bool:
        """Whether our decision on *pod*, which by *trial* is different as things stand, is no different in a
        possible state."""
        since = max(outcome.seen_at - WINDOW, self._since.get(pod.key, -inf))
        turn = self._backlog.turn(pod.key)
        our_node = trial.judgement.ours
        cluster_node = trial.judgement.cluster

        def is_other(change: SeenChange) -> bool:
            item = change.new or change.old
            return not isinstance(item, Pod) or item.key != pod.key

        def on_two_nodes(change: SeenChange) -> bool | None:
            if change.is_on(our_node) or change.is_on(cluster_node):
                return change.takes_room == change.is_on(our_node)
            return None

        # What has an effect here and may have had none yet, the last first, undone; and what was seen later
        # and may have had one already.
        before = [
            change
            for change in self._changes
            if change.seen_at >= since and is_other(change) and not _precedes(change.turn, turn)
        ]
        undone = [change.reversed() for change in reversed(before)]
        later = [
            change
            for change in self._pending_changes()
            if change.matters
            and change.seen_at <= outcome.seen_at + WINDOW
            and is_other(change)
            and not _precedes(turn, change.turn)
        ]
        # Of all changes those took effect for which a choice says so; None: as things stand.
        choices = [lambda change: change.takes_room, lambda change: not change.takes_room, on_two_nodes]
        states = [
            (
                [
                    *(change.reversed() for change in reversed(before) if holds(change) is False),
                    *filter(holds, later),
                ],
                False,
            )
            for holds in choices
        ]
        self._misses += 1
        if self._misses <= MISSES or not self._misses % MISSES:
            states += [(undone[:MOMENTS], True), (later[:MOMENTS], True)]
        if (before or later) and any(
            self._agrees_after(changes, at_each, pod, outcome.item) for changes, at_each in states
        ):
            self._misses = 0
            return True
        return False

    def _pending_changes(self) -> Iterator[SeenChange]:
        """The changes that were seen and have no effect yet, in the order in which they were seen."""
        events = [
            (event, self._backlog.turn(key))
            for key, seen_events in self._outcomes.items()
            for event in seen_events
        ]
        last: dict[tuple[str, str], KubeObject | None] = {}
        for event, turn in sorted(
            [*events, *((event, None) for event in self._undelivered)], key=lambda pair: pair[0].number
        ):
            name = event.item.identity
            old = last[name] if name in last else self._object_now(event.item)
            last[name] = None if event.tell == self.state.delete else event.item
            yield SeenChange(event.seen_at, old, last[name], turn)

    def _agrees_after(self, changes: Sequence[SeenChange], at_each: bool, pod: Pod, outcome: Pod) -> bool:
        """Whether we agree after *changes*; *at_each*: after one of the first of them."""

        def agrees() -> bool:
            trial = self._decide(pod, outcome)
            return trial is not None and not trial.judgement.differs

        with self.state.engine.savepoint():
            for change in changes:
                self._apply(change.old, change.new)
                if at_each and agrees():
                    return True
            return not at_each and agrees()

    def _apply(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Let a change take effect on what is tried."""
        feed = self.state.router.feed
        nominations = self.state.engine.nominations
        if isinstance(old, Pod) and not old.node_name:
            nominations.remove(old)
        if isinstance(new, Pod) and new.node_name:
            if self.state.engine.row_of(new.node_name) is not None:
                feed.put(new)
            return
        if isinstance(old, Pod) and old.node_name:
            feed.delete(old)
        if isinstance(new, Pod):
            nominations.add(new)
        elif new is not None:
            feed.put(new)
        elif old is not None and not isinstance(old, Pod):
            feed.delete(old)


def message(pod: Pod) -> str:
    """The reason why a pod has no node, in its condition's words."""
    condition = scheduled_condition(pod)
    return "" if condition is None else condition.message


class UnseenClusterError(KubeclassicError):
    """The whole cluster was never seen."""


async def shadowed(
    engine: Engine,
    scheduler_name: str,
    transport: Transport,
    tell: Callable[[PodJudgement], None],
    *,
    seconds: float | None = None,
    log: Log,
) -> ShadowAgreement:
    """Compare *engine* with the scheduler of the cluster over *transport*, until a signal or for some
    seconds."""
    shadow = Shadow(LiveState(engine, DryApi(), Recorder(), time.time, scheduler_name, log=log), tell)
    informers = informers_of(engine.release, engine.gates, transport, shadow, log.again)

    async def begin() -> None:
        log.info("all lists are there; scheduling begins")
        await shadow.run()

    end, _ = end_at_signals()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await unless(end, follow(informers, begin))
    if not informers.has_synced:
        raise UnseenClusterError(
            f"cluster: expected a whole list of {', '.join(informers.unlisted)} before the end, got none"
        )
    return shadow.tally
