"""Follows the cluster's own scheduler pod by pod, and decides each time by itself, on the same state.

The other one binds many pods at once, so their bindings are seen in another order than it decided. :mod:`.backlog` says which pods it may
have taken next. If ours decides otherwise on the likeliest of them, the others are tried first, and then later states of the cluster.
What is seen is held back until the decisions before it are judged. Where none of these makes it the same, :mod:`.shadowtrials` says whether
the pod is different, or the order of the decisions is unknown.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from math import inf

import attrs

from ....api.objects import KubeObject, Pod
from ....api.objects.pods import DEFAULT_SCHEDULER
from ....core.engine import Engine
from ....core.queue.base import is_unschedulable
from ....core.queue.priority import queues_by_priority
from ...client.transport import Transport
from ...process.logs import Log
from ..events import Recorder
from ..following import follow
from ..state import LiveClocks, LiveState
from ..writes import DryApi
from .backlog import Backlog, UnjudgedPod
from .judging import ORDER_UNKNOWN, PodJudgement, ShadowAgreement
from .shadowtrials import WINDOW, ObservedChange, ShadowTrial, ShadowTrials, UnsureDecision, message

LINGER = 1.0
"""Seconds between an outcome and our judgement: outcomes of decisions that were made before may still come."""
APART = 0.5
"""Seconds between the outcomes of two decisions that may have been made in the other order."""
PATIENCE = 2.0
"""Seconds for which an outcome is waited for, and for which other events are held back."""
SHORTEST = 0.001
"""Seconds that are not worth a wait: clocks are not exact."""


@attrs.define
class ObservedOutcome:
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
    _outcomes: dict[str, list[ObservedOutcome]] = attrs.field(factory=dict)
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
                self._outcomes.setdefault(item.key, []).append(ObservedOutcome(self._event, self._now(), item))
                self._backlog.decided(item.key, self._event)
            elif known:
                known[-1].pod = item
            else:
                was_gated = self.state.queue.is_gated(item)
                self._take_effect(self.state.put, item, self._now())
                if was_gated:
                    self._enter(item)
        elif self.state.pod(item.key) is None and not item.spec.node_name:
            # A new pod without a node. One that was refused before we looked is awaited at no time.
            self._take_effect(self.state.put, item, self._now())
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
            self._since[pod.key] = self._now()
            priority = pod.priority if queues_by_priority(self.state.engine.algorithm) else 0
            self._backlog.add(pod.key, priority, self._event)

    def _forget(self, key: str) -> None:
        self._backlog.discard(key)
        self._outcomes.pop(key, None)
        self._told.pop(key, None)
        self._since.pop(key, None)

    # --- events that count later ------------------------------------------------------------------------------------

    def _hold(self, tell: Callable[[KubeObject], None], item: KubeObject) -> None:
        self._held.append(DelayedEvent(self._event, self._now(), tell, item))

    def _take_effect(
        self, tell: Callable[[KubeObject], None], item: KubeObject, seen: float, turn: UnjudgedPod | None = None
    ) -> None:  # fmt: skip
        """What was seen at a time counts from now on; *turn*: of a decision."""
        old = self._known(item)
        tell(item)
        self._trials.changed(ObservedChange(seen, old, self._known(item), turn))

    def _known(self, item: KubeObject) -> KubeObject | None:
        return self.state.pod(item.key) if isinstance(item, Pod) else self.state.router.feed.known(item)

    def _counts_now(self, held: DelayedEvent) -> bool:
        if not self._backlog and not self._outcomes:
            return True
        is_old = held.seen <= self._now() - self.patience and held.event < (self._first_outcome() or inf)
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
            self._trials.forget(min((found[0].seen for found in self._outcomes.values()), default=self._now()))
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
                left = min((end for end in ends if end > self._now()), default=0.0) - self._now()
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
                    self._waits_since = self._now()
                if self._now() - self._waits_since < self.patience - SHORTEST:
                    return False
                self._backlog.discard(key)
                return True
            if not tried and self._outcomes[key][0].seen + self.linger > self._now():
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
        if pod is None or outcome.seen + WINDOW > self._now():
            return False
        since = max(outcome.seen - WINDOW, self._since.get(key, -inf))
        asked = UnsureDecision(pod, outcome.pod, outcome.seen, since, self._backlog.turn(key), list(self._later()))
        if self._trials.may_agree(trial, asked):
            trial = attrs.evolve(trial, judgement=attrs.evolve(trial.judgement, verdict=ORDER_UNKNOWN))
        self._count(key, trial)
        return True

    def _later(self) -> Iterator[ObservedChange]:
        """What was seen and has no effect yet, in the order in which it was seen."""
        known = [(self._backlog.turn(key), one) for key, found in self._outcomes.items() for one in found]
        outcomes = [(one.event, one.seen, one.pod, False, turn) for turn, one in known]
        held = [(one.event, one.seen, one.item, one.tell == self.state.delete, None) for one in self._held]
        last: dict[tuple[str, str], KubeObject | None] = {}
        for _, seen, item, is_gone, turn in sorted([*outcomes, *held], key=lambda one: one[0]):
            name = item.kind, item.key
            old = last[name] if name in last else self._known(item)
            last[name] = None if is_gone else item
            yield ObservedChange(seen, old, last[name], turn)

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

    def _now(self) -> float:
        return self.state.times.now()


async def shadowed(
    engine: Engine, scheduler_name: str, transport: Transport, tell: Callable[[PodJudgement], None],
    *, seconds: float | None = None, log: Log,
) -> ShadowAgreement:  # fmt: skip
    """Compare *engine* with the scheduler of the cluster over *transport*, until a signal or for some seconds."""
    clocks = LiveClocks(asyncio.get_running_loop().time, time.time)
    shadow = Shadow(LiveState(engine, DryApi(), Recorder(), clocks, scheduler_name, log=log), tell)
    await follow(engine.algorithm, transport, shadow, shadow.run, seconds=seconds, log=log)
    return shadow.tally
