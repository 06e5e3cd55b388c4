"""Our decision on a pod as things stand, or as they stood a few decisions earlier."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ....api.objects import Pod
from ....core.queue.base import scheduled_condition
from ....exceptions import KubeclassicError
from ..state import LiveState
from .judging import PodJudgement, judged, judged_without

EARLIER = 32
"""How many decisions a pod may turn out to have been taken earlier than it seemed."""

MISSES = 8
"""After that many pods in a row that differ at any time only each eighth is looked at: another scheduler may differ on most pods."""


@attrs.frozen
class ShadowTrial:
    """A judgement, and where our decision leaves the visiting order and the tie-break."""

    judgement: PodJudgement
    moved: tuple[Any, int]


@attrs.frozen
class JudgedStep:
    """A decision that was judged: the pod as it waited, and with its node."""

    pod: Pod
    bound: Pod


@attrs.define(eq=False)
class ShadowTrials:
    """Decides on the state of a shadow, without an effect on it."""

    state: LiveState
    _steps: deque[JudgedStep] = attrs.field(factory=lambda: deque(maxlen=EARLIER))
    """The last decisions, since which only pods came."""
    _misses: int = 0
    """How often in a row no earlier time was found."""

    def now(self, pod: Pod, seen: Pod) -> ShadowTrial | None:
        """Our decision on *pod* beside what became of it, *seen*; None if there is none."""
        engine, node = self.state.engine, seen.spec.node_name
        try:
            with engine.savepoint():
                decision = engine.schedule(pod)
                judgement = judged(engine, decision, node) if node else judged_without(decision, message(seen))
                return ShadowTrial(judgement, engine.position)
        except KubeclassicError as error:
            self.state.report(f"pod {pod.key}: {error}")
            return None

    def took(self, trial: ShadowTrial, step: JudgedStep) -> None:
        """That was the next decision."""
        self.state.engine.move(*trial.moved)
        if step.bound.spec.node_name:
            self._steps.append(step)

    def forget_steps(self) -> None:
        """Something happened that earlier decisions did not know."""
        self._steps.clear()

    def earlier(self, pod: Pod, seen: Pod) -> ShadowTrial | None:
        """Our decision on *pod* before some of the last ones, if it is no different there and they are none after it.

        Those are the last ones of one other priority, or of all others: pods of one priority are taken in the order in which they came.
        """
        self._misses += 1
        if self._misses > MISSES and self._misses % MISSES:
            return None
        gone, last = list[JudgedStep](), JudgedStep(pod, seen)
        with self.state.engine.savepoint():
            for step in reversed(self._steps):
                if not self._take_off(step):
                    return None
                gone.insert(0, step)
                for trial in () if step.pod.priority == pod.priority else self._before(last, gone):
                    self._misses = 0
                    return trial
        return None

    def _before(self, last: JudgedStep, gone: Sequence[JudgedStep]) -> Iterator[ShadowTrial]:
        """Our decisions on *last* before those of *gone* that are of the first one's priority, and before all that are not of its own."""
        first = gone[0].pod.priority
        for passed in ({first}, {step.pod.priority for step in gone} - {last.pod.priority}):
            kept = [step for step in gone if step.pod.priority not in passed]
            found = self._agreed([*kept, last], [step for step in gone if step.pod.priority in passed])
            if found is not None:
                yield found

    def _agreed(self, moved: Sequence[JudgedStep], passed: Sequence[JudgedStep]) -> ShadowTrial | None:
        """Our decision on the last of *moved*, if none differs where all of them come before those of *passed*."""
        with self.state.engine.savepoint():
            for step in moved[:-1]:
                self._place(step)
            if self._same(moved[-1]) is None:
                return None
        with self.state.engine.savepoint():
            found = []
            for step in (*moved, *passed):
                trial = self._same(step)
                if trial is None:
                    return None
                found.append(trial)
                self._place(step)
        return found[len(moved) - 1]

    def _same(self, step: JudgedStep) -> ShadowTrial | None:
        trial = self.now(step.pod, step.bound)
        return None if trial is None or trial.judgement.differs else trial

    def _place(self, step: JudgedStep) -> None:
        """Put the pod of a step on its node."""
        if step.bound.spec.node_name:
            self.state.router.feed.put(step.bound)

    def _take_off(self, step: JudgedStep) -> bool:
        """Take the pod of a step off its node; False if it is no longer there."""
        known = self.state.pod(step.bound.key)
        if known is None or known.spec.node_name != step.bound.spec.node_name:
            return False
        self.state.router.feed.delete(known)
        return True


def message(pod: Pod) -> str:
    """Why a pod has no node, as its condition says it."""
    condition = scheduled_condition(pod)
    return "" if condition is None else condition.message
