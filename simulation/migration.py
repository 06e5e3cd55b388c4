"""What a migrated Policy changes on a cluster: each waiting pod is judged by the old release and by the profile, on the same state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ..api.objects import Pod
from ..core.decision import Decision, Details
from ..core.engine import Engine
from ..core.preempt import Preemption
from ..core.run import Run, standing_still
from ..framework.engine import FrameworkDetails, FrameworkEngine
from .scenario import Scenario
from .simulate import Simulation

SAME, TIE, DIFFERENT = "same", "tie", "different"


@attrs.frozen
class Judged:
    """One pod under both: where it goes, or None; and where they differ, why."""

    pod: str
    old: str | None
    new: str | None
    outcome: str = SAME
    """``same``; ``tie``: the old release scores the other node as high as its own; ``different``."""
    why: str = ""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return attrs.asdict(self)


@attrs.define(eq=False)
class LockedRun:
    """The waiting pods of *scenario* under two new schedulers that both stand where the old one's decisions lead."""

    scenario: Scenario
    old: Engine
    new: FrameworkEngine
    order: str = "input"
    _runs: tuple[Run, Run] = attrs.field(init=False)

    def judged(self) -> Iterator[Judged]:
        """Each cycle of the old scheduler, in order, beside what the new one would have decided."""
        leader = Simulation(self.scenario, self.old, self.order)
        self._runs = leader.begin(), Simulation(self.scenario, self.new, self.order).begin()
        for pod in leader.pods():
            yield self._step(pod)
        for pod in self._runs[0].take_retries():
            yield self._step(pod, retry=True)

    def _step(self, pod: Pod, *, retry: bool = False) -> Judged:
        quick = [_quickly(run.engine, pod) for run in self._runs]
        if None in quick or quick[0] != quick[1]:
            found = self._compared(*(run.ask(pod) for run in self._runs))
        else:
            found = Judged(pod.key, quick[0], quick[1])
        self._follow(self._runs[0].cycle(pod, retry=retry))
        return found

    def _compared(self, old: Decision, new: Decision) -> Judged:
        pod = old.pod.key
        if old.host == new.host:
            text = "" if old.host is not None else _other_room(old, new)
            return Judged(pod, old.host, new.host, DIFFERENT if text else SAME, text)
        why = _turned_down(new, old.host, "the profile") or _turned_down(old, new.host, "the old release")
        if why is None and (old.host is None or new.host is None):
            failed = old if old.host is None else new
            why = failed.error or "not tried"
        if why is not None:
            return Judged(pod, old.host, new.host, DIFFERENT, why)
        assert old.host is not None
        assert new.host is not None
        tie = old.scores and old.scores[old.host] == old.scores[new.host]
        return Judged(pod, old.host, new.host, TIE if tie else DIFFERENT, self._tipped(old, new))

    def _tipped(self, old: Decision, new: Decision) -> str:
        """The scores that count most for either node."""
        profile = self.new.profile_of(new.pod)
        sides = (
            ("the old release", old, new, {rule.name: weight for rule, weight in self.old.algorithm.priorities}),
            ("the profile", new, old, {} if profile is None else profile.weights),
        )
        return "; ".join(filter(None, (_preferred(*side) for side in sides))) or "both nodes are as good, and come in another order"

    def _follow(self, decision: Decision) -> None:
        """Let the new scheduler stand where the old one's *decision* leads."""
        run, pod = self._runs[1], decision.pod
        if decision.host is not None and run.engine.assume(pod, decision.host) is not None:
            run.put(pod.bound_to(decision.host))  # without the volumes that it could not take there
        if decision.preemption is not None:
            self._make_room(pod, decision.preemption)

    def _make_room(self, pod: Pod, plan: Preemption) -> None:
        run = self._runs[1]
        for other in (*plan.clear_nominations, *((pod,) if plan.drops_own else ())):
            run.engine.nominations.remove(other)
            run.put(attrs.evolve(other, status=attrs.evolve(other.status, nominated_node_name="")))
        if plan.node is not None:
            run.nominate(pod, plan.node)
            for victim in plan.victims:
                run.feed.delete(victim)


def _quickly(engine: Engine, pod: Pod) -> str | None:
    with standing_still(engine, pod):
        return engine.schedule(pod, details=False).host


# --- why they differ ------------------------------------------------------------------------------------------------


def _turned_down(decision: Decision, host: str | None, who: str) -> str | None:
    """The rule that turned *host* down, and its reason."""
    reasons = None if host is None else decision.failed.get(host)
    if reasons is None or host is None or decision.details is None:
        return None
    return f"{who} turns {host} down: {_culprit(decision.details, host)}: {', '.join(reasons)}"


def _culprit(details: Details, host: str) -> str:
    if isinstance(details, FrameworkDetails) and details.diagnosis is not None and details.diagnosis.rejected is not None:
        return details.diagnosis.rejected.plugin
    names = [] if details.search is None else details.search.verdict.culprits(details.names.index(host))
    return names[0] if names else "PreFilter"


def _preferred(who: str, decision: Decision, other: Decision, weights: Mapping[str, int]) -> str:
    """The score that counts most for a decision's node over another's, in its own range times its weight."""
    mine, its = str(decision.host), str(other.host)
    gains = {name: (scores[mine] - scores[its]) * weights[name] for name, scores in decision.priorities.items()}
    name = max(gains, key=lambda rule: gains[rule], default="")
    return f"{who} prefers {mine}: {name} +{gains[name]}" if name and gains[name] > 0 else ""


def _other_room(old: Decision, new: Decision) -> str:
    """Where else preemption makes room; empty where it makes none, or for both on one node."""
    before, after = (None if decision.preemption is None else decision.preemption.node for decision in (old, new))
    text = f"preemption makes room on {before or 'no node'} under the old release, on {after or 'no node'} under the profile"
    return "" if before == after else text
