"""A simulation as plain data: what became of each pod, who was evicted, and the cycles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..core.decision.decision import Decision
from .simulate import Eviction, Outcome, Simulation

Record = dict[str, Any]
_AVAILABLE = " nodes are available: "
_COUNTED = re.compile(r"(?:^|, )(\d+) (.+?)(?=, \d+ |$)")


def cycle_record(decision: Decision, *, details: bool = False) -> Record:
    """One cycle: the decision; ``waiting``, if the pod waits on Permit; ``retry``: it had made room before; ``final``: no other follows."""
    waiting = {"waiting": True} if decision.is_waiting else {}
    return {**decision.record(details=details), **waiting, "retry": decision.is_retry, "final": decision.is_final}


def pod_record(simulation: Simulation, outcome: Outcome) -> Record:
    """What became of a pod in the end. Requests are exact: millicores, bytes, pieces."""
    pod, eviction, engine = outcome.pod, outcome.eviction, simulation.engine
    nominated = engine.nominations.node_of(pod) if outcome.host is None and eviction is None else ""
    return {
        "pod": pod.key, "namespace": pod.namespace, "name": pod.name, "outcome": outcome.word, "host": outcome.host, "error": outcome.error,
        "tries": outcome.tries, "nominated": nominated or None, "victims": list(outcome.victims),
        "evictedBy": eviction.by if eviction else None, "evictedFrom": eviction.node if eviction else None,
        "replacement": eviction.replacement if eviction else None, "replaces": outcome.replaces, "priority": pod.priority,
        "requests": {name: number for name, number in engine.template_of(pod).requests.items() if number},
    }  # fmt: skip


def eviction_record(eviction: Eviction) -> Record:
    """Who had to leave, for whom, and from where."""
    pod = eviction.pod
    owner = pod.metadata.controller
    named = f"{owner.kind}/{owner.name}" if owner else None
    left = {"pod": pod.key, "by": eviction.by, "from": eviction.node}
    return {**left, "priority": pod.priority, "owner": named, "replacement": eviction.replacement}


# --- why pods have no node ------------------------------------------------------------------------------------------


def reasons_in(error: str) -> dict[str, int]:
    """Reason -> how many nodes have it, from upstream's message; the one of most nodes first. What is said of no node counts 0.

    >>> reasons_in("0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu.")
    {'Insufficient cpu': 3, 'node(s) were unschedulable': 1}
    >>> reasons_in('persistentvolumeclaim "data" not found')
    {'persistentvolumeclaim "data" not found': 0}
    """
    found, _, _ = error.partition(_AVAILABLE)[2].partition(". preemption: ")
    counted = [(reason, int(nodes)) for nodes, reason in _COUNTED.findall(found.rstrip(". "))]
    if not counted:
        return {found.rstrip(". ") or error.rstrip(". "): 0}
    return dict(sorted(counted, key=lambda pair: -pair[1]))


def unplaced_records(outcomes: Iterable[Outcome]) -> list[Record]:
    """The pods that find no node by the reason that most nodes have against them, the reason of most pods first."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.word == "unschedulable":
            found.setdefault(next(iter(reasons_in(outcome.error or ""))), []).append(outcome.pod.key)
    return [{"reason": reason, "pods": pods} for reason, pods in sorted(found.items(), key=lambda pair: -len(pair[1]))]
