"""What becomes of a pod after a change when all other pods have had their turn: it may have to leave again."""

from __future__ import annotations

import attrs

from ...api.objects import KubeObject, Pod
from ..scenario import Scenario
from ..simulate import Outcome, Simulation
from .change import WhatIfChange


def changed_scenario(scenario: Scenario, pod: Pod, change: WhatIfChange) -> Scenario:
    """*scenario* with *change* made before anything runs; *pod* is the one that is asked about."""
    gone = {one.key for one in change.gone}
    new: dict[tuple[str, str], KubeObject] = {(one.kind, one.key): one for one in (*change.nodes, *change.objects, *change.pods)}
    objects: list[KubeObject] = [new.pop((one.kind, one.key), one) for one in scenario.objects if not _is_gone(one, gone)]
    bound = {key for kind, key in new if kind == Pod.kind}
    pending = [one for one in scenario.pending if one.key not in gone and one.key not in bound]
    asked = pod if change.pod is None else change.pod
    return attrs.evolve(
        scenario,
        objects=(*objects, *sorted(new.values(), key=lambda one: isinstance(one, Pod))),
        pending=tuple(asked if one.key == pod.key else one for one in pending),
    )


def _is_gone(item: KubeObject, gone: set[str]) -> bool:
    return isinstance(item, Pod) and item.key in gone


def outcome_after(simulation: Simulation, pod: Pod) -> Outcome:
    """The outcome for *pod* of a whole new *simulation*."""
    for _ in simulation.decisions():
        pass
    return simulation.outcomes[pod.key]
