"""What runs are measured by: the objectives, what one run comes to, and which configuration is best in what over its seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import attrs

from ...api.meaning.labels import zone_of
from ...api.objects import Node, Pod
from ...core.pods.requests import PODS
from ...simulation.simulate import Simulation
from ...simulation.summary import fragmentation, summarise
from ..replay.replay import Replay
from ..replay.simulatedcluster import PERCENTILES

COUNTS = ("pods", "placed", "unschedulable", "gated", "waiting", "evictions")
OF_ALL = ("fragmentation", "imbalance", "zone skew")
OF_WAITING = ("waiting mean", "waiting p50", "waiting p90", "waiting p95", "waiting p99", "waiting max")
OF_A_RESOURCE = ("used", "fragmentation", "imbalance")
"""After the name of a resource, as in ``cpu used``."""
OF_CLUSTERS = ("placed", "cpu used", "memory used", "fragmentation", "imbalance", "zone skew", "evictions")
OF_TRACES = ("placed", "cpu used", "memory used", "zone skew", "evictions", "waiting p50", "waiting p99")
"""The objectives where none are named."""
NAMES = (*COUNTS, *OF_ALL, *OF_WAITING)
WANTED = f"{', '.join(NAMES)}, or a resource and {', '.join(OF_A_RESOURCE[:-1])} or {OF_A_RESOURCE[-1]}, such as cpu used"

Measures = Mapping[str, Any]
"""Objective -> its value in one run; None where there is nothing to measure."""


def is_objective(name: object) -> bool:
    """Whether *name* is an objective.

    >>> [is_objective(name) for name in ("placed", "nvidia.com/gpu used", "used", "cpu free")]
    [True, True, False, False]
    """
    if not isinstance(name, str):
        return False
    resource, _, what = name.rpartition(" ")
    return name in NAMES or (bool(resource) and " " not in resource and what in OF_A_RESOURCE)


def more_is_better(name: str) -> bool | None:
    """Which way of an objective most people call better; None for what is neither.

    >>> more_is_better("placed"), more_is_better("cpu fragmentation"), more_is_better("pods")
    (True, False, None)
    """
    return None if name == "pods" else name == "placed" or name.endswith(" used")


KNOWN = (*NAMES, *(f"{resource} {what}" for resource in ("cpu", "memory", "pods") for what in OF_A_RESOURCE))
"""Names to suggest for a wrong one."""


# --- one run ----------------------------------------------------------------------------------------------------------


DIGITS = 6
EXACT = 15
"""Digits of what means are made of."""


def simulation_measures(simulation: Simulation) -> Measures:
    """The measures of a finished simulation."""
    told, scenario, outcomes = summarise(simulation, digits=EXACT), simulation.scenario, simulation.outcomes
    shares = fragmentation(simulation.engine, scenario.pending)
    # The pods that have a node at the end, and which.
    there = (item for item in scenario.objects if isinstance(item, Pod) and item.key not in {**simulation.evicted, **outcomes})
    hosts = [(pod, pod.spec.node_name) for pod in there]
    hosts += [(outcome.pod, outcome.host) for outcome in outcomes.values() if outcome.host is not None]
    found = {
        "pods": told.pods, "placed": told.placed, "unschedulable": told.unschedulable, "gated": told.gated, "waiting": told.waiting,
        "evictions": told.evicted, "fragmentation": _mean(shares.values()),
        "imbalance": _mean(usage.imbalance.standard_deviation for usage in told.resources if usage.resource != PODS),
        "zone skew": zone_skew(scenario.nodes, hosts),
    }  # fmt: skip
    for usage in told.resources:
        found[f"{usage.resource} used"] = round(usage.use, DIGITS)
        found[f"{usage.resource} imbalance"] = round(usage.imbalance.standard_deviation, DIGITS)
    return {**found, **{f"{name} fragmentation": share for name, share in shares.items()}}


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return round(sum(found) / len(found), DIGITS) if found else None


# --- zones ----------------------------------------------------------------------------------------------------------


def zone_skew(nodes: Iterable[Node], hosts: Iterable[tuple[Pod, str]]) -> float | None:
    """How unevenly the pods of an owner lie in the zones: most in one less fewest in one, on average over owners of two pods or more.

    *hosts*: the pods that have a node, and which. None with fewer than two zones, or without such owners.
    """
    zones = {node.name: zone for node in nodes if (zone := zone_of(node.labels))}
    owned: dict[Any, Counter[str]] = {}
    for pod, host in hosts:
        owner = pod.metadata.controller
        if owner is not None and host in zones:
            counts = owned.setdefault((pod.namespace, owner.kind, owner.name), Counter(dict.fromkeys(zones.values(), 0)))
            counts[zones[host]] += 1
    if len(set(zones.values())) < 2:
        return None
    return _mean(max(counts.values()) - min(counts.values()) for counts in owned.values() if counts.total() > 1)


def replay_measures(replay: Replay) -> Measures:
    """The measures of a replay that is over.

    ``placed`` counts how often a pod got a node; use is the average over time, the skew of zones is that at the end.
    """
    tally, ledger = replay.cluster.tally, replay.cluster.ledger
    use, waits = tally.mean_use(), tally.wait_record()
    hosts = [(life.original, life.node) for life in replay.pods.all.values() if life.node]
    shares = {} if use is None else {f"{name} used": round(float(share), DIGITS) for name, share in zip(ledger.resources, use, strict=True)}
    return {
        "pods": tally.events["Arrived"], "placed": tally.events["Scheduled"], "unschedulable": ledger.waiting_pods + tally.never_scheduled,
        "evictions": tally.evicted, "zone skew": zone_skew(replay.engine.nodes(), hosts), **shares,
        **{f"waiting {name}": waits.get(name) for name in ("mean", *(f"p{share}" for share in PERCENTILES), "max")},
    }  # fmt: skip


# --- configurations -------------------------------------------------------------------------------------------------


Row = Mapping[str, Any]
SPOKEN = ("name", "release", "policy", "profile", "provider", "order")
"""Settings whose values say by themselves what they are."""


@attrs.frozen
class SweepConfiguration:
    """One of those that are compared, with the mean of each objective over its seeds."""

    name: str
    values: Mapping[str, float]


@attrs.frozen
class Best:
    """The configurations that are best in an objective, and their value."""

    objective: str
    value: float
    names: tuple[str, ...]


def configurations(rows: Sequence[Row], settings: Sequence[str], objectives: Sequence[str]) -> list[SweepConfiguration]:
    """Each configuration that has a run without an error."""
    kept = [key for key in settings if key != "seed"]
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["error"] is None:
            groups.setdefault(tuple(repr(row.get(key)) for key in kept), []).append(row)
    names = short_names([{key: group[0].get(key) for key in kept} for group in groups.values()])
    found = []
    for name, group in zip(names, groups.values(), strict=True):
        values = {one: [row[one] for row in group if row[one] is not None] for one in objectives}
        found.append(SweepConfiguration(name, {one: round(fmean(each), DIGITS) for one, each in values.items() if each}))
    return found


def best_of(found: Sequence[SweepConfiguration], objectives: Sequence[str]) -> list[Best]:
    """Who is best in each objective in which configurations differ and of which one way is better."""
    answer = []
    for objective in objectives:
        values, more = [one.values[objective] for one in found if objective in one.values], more_is_better(objective)
        if more is None or len(set(values)) < 2:
            continue
        best = max(values) if more else min(values)
        answer.append(Best(objective, best, tuple(one.name for one in found if one.values.get(objective) == best)))
    return answer


def short_names(rows: Sequence[Row]) -> list[str]:
    """A name for each row: the settings that tell them apart, and no more.

    >>> short_names([{"name": "spread", "release": "1.14", "policy": None}, {"name": "pack", "release": "1.14", "policy": "p.yaml"}])
    ['spread', 'pack']
    >>> short_names([{"release": "1.14", "seed": 1}, {"release": "1.16", "seed": 1}])
    ['1.14', '1.16']
    """
    kept: list[str] = []
    groups = 1
    for key in rows[0] if rows else ():
        several = len({tuple(str(row[name]) for name in (*kept, key)) for row in rows})
        if several > groups:
            kept.append(key)
            groups = several
    names = []
    for at, row in enumerate(rows, 1):
        words = []
        for key in kept:
            told = "none" if row[key] is None else str(cell(row[key]))
            words.append(told if key in SPOKEN and row[key] is not None else f"{key.removeprefix('weights.')} {told}")
        names.append(", ".join(words) or f"configuration {at}")
    return names


def cell(value: Any) -> Any:
    """*value* as one cell: lists as text, true and false as in YAML."""
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else value
