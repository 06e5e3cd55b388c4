"""The plan of a preemption: the pods that have to leave a node, and the nominations to clear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from ...api.objects import Pod
from ...api.record import UNSET, Count, PodKey, Record, UnsetType


class NodeVictims(Record):
    """The pods that would have to leave a node."""

    victims: tuple[PodKey, ...]
    pdb_violations: Count


class PreemptionRecord(Record):
    """The outcome of a preemption."""

    node: str | None
    """The node where room was made; null if that helps on no node."""
    victims: tuple[PodKey, ...]
    """The pods that had to leave it."""
    clear_nominations: tuple[PodKey, ...]
    """The pods that lose their nomination to this node."""
    candidates: Mapping[str, NodeVictims]
    """Node -> the pods that would have to leave it."""
    error: str | UnsetType = UNSET
    """The error of preemption, where it failed."""


@attrs.define(eq=False, repr=False)
class Victims:
    """The pods that would have to leave a node, those that violate a disruption budget first. *violations*:
    the number of these."""

    pods: list[Pod]
    violations: int
    chosen_by: str = ""
    """The URL of the extender that chose them; empty where the scheduler did."""

    def __repr__(self) -> str:
        return f"<Victims: {len(self.pods)} pods, {self.violations} against a budget>"


@attrs.define(eq=False, repr=False)
class Preemption:
    """The result of preemption. ``node`` is None if no node was found."""

    node: str | None = None
    victims: list[Pod] = attrs.Factory(list)
    clear_nominations: list[Pod] = attrs.Factory(list)
    """Pods that lose their nomination."""
    _candidates: Callable[[], dict[str, Victims]] = attrs.field(default=dict)
    error: str | None = None
    drops_own: bool = False
    """Whether the pod's own nomination is cleared; this is not part of the record."""
    later: Callable[[Pod], Preemption] | None = None
    """Gives the whole plan for the pod in its latest state, by asking extenders; this plan is then empty.
    None: it is whole."""

    def __repr__(self) -> str:
        if self.node is not None:
            return f"<Preemption on {self.node}: {len(self.victims)} victims>"
        return "<Preemption: no node>"

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and pickles: with all candidates."""
        candidates: Callable[[], Any] = partial(dict, self.candidates)
        state = self.node, self.victims, self.clear_nominations, candidates, self.error, self.drops_own
        return Preemption, state

    @property
    def candidates(self) -> dict[str, Victims]:
        """Node -> its victims, in ascending order of name; computed when first read."""
        candidates = self._candidates()
        self._candidates = lambda: candidates
        return candidates

    def record(self) -> PreemptionRecord:
        """The plan as data."""
        candidates = {
            node: NodeVictims(_keys(victims.pods), victims.violations)
            for node, victims in self.candidates.items()
        }
        error = UNSET if self.error is None else self.error
        return PreemptionRecord(
            self.node, _keys(self.victims), _keys(self.clear_nominations), candidates, error
        )


def _keys(pods: Iterable[Pod]) -> tuple[str, ...]:
    return tuple(pod.key for pod in pods)
