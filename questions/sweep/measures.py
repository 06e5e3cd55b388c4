"""What runs are measured by: the objectives, what one run comes to, and which configuration is best in what over its seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import attrs

from ...api.meaning.labels import zone_of
from ...api.objects import Node, Pod
from ...core.pods.requests import PODS
from ...simulation.simulate import Simulation
from ...simulation.summary import Usage, fragmentation, summarise
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


def known_names() -> tuple[str, ...]:
    """Names to suggest for a wrong one."""
    return (*NAMES, *(f"{resource} {what}" for resource in ("cpu", "memory", "pods") for what in OF_A_RESOURCE))


# --- one run ----------------------------------------------------------------------------------------------------------


DIGITS = 6
EXACT = 15
"""Digits of what means are made of."""


def simulation_measures(simulation: Simulation) -> Measures:
    """The measures of a finished simulation."""
    told = summarise(simulation, digits=EXACT)
    shares = fragmentation(simulation.engine, simulation.scenario.pending)
    return {
        "pods": told.pods, "placed": told.placed, "unschedulable": told.unschedulable, "gated": told.gated, "waiting": told.waiting,
        "evictions": told.evicted, "fragmentation": _mean(shares.values()),
        "imbalance": _mean(usage.imbalance.standard_deviation for usage in told.resources if usage.resource != PODS),
        "zone skew": zone_skew(simulation.scenario.nodes, _hosts(simulation)), **dict(_of_usages(told.resources)),
        **{f"{name} fragmentation": share for name, share in shares.items()},
    }  # fmt: skip


def _of_usages(usages: Iterable[Usage]) -> Iterator[tuple[str, float]]:
    for usage in usages:
        yield f"{usage.resource} used", round(usage.use, DIGITS)
        yield f"{usage.resource} imbalance", round(usage.imbalance.standard_deviation, DIGITS)


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return round(sum(found) / len(found), DIGITS) if found else None


# --- zones ----------------------------------------------------------------------------------------------------------


def zone_skew(nodes: Iterable[Node], hosts: Iterable[tuple[Pod, str]]) -> float | None:
    """How unevenly the pods of an owner lie in the zones: most in one less fewest in one, on average over owners of two pods or more.

    *hosts*: the pods that have a node, and which. None with fewer than two zones, or without such owners.
    """
    zones = {node.name: zone for node in nodes if (zone := zone_of(node.labels))}
    all_zones = sorted(set(zones.values()))
    owned: dict[Any, Counter[str]] = {}
    for pod, host in hosts:
        owner = pod.metadata.controller
        if owner is not None and host in zones:
            owned.setdefault((pod.namespace, owner.kind, owner.name), Counter())[zones[host]] += 1
    if len(all_zones) < 2:
        return None
    several = (counts for counts in owned.values() if counts.total() > 1)
    return _mean(max(counts.values()) - min(counts[zone] for zone in all_zones) for counts in several)


def _hosts(simulation: Simulation) -> Iterator[tuple[Pod, str]]:
    """The pods that have a node at the end, and which."""
    gone = simulation.evicted
    for item in simulation.scenario.objects:
        if isinstance(item, Pod) and item.key not in gone and item.key not in simulation.outcomes:
            yield item, item.spec.node_name
    for outcome in simulation.outcomes.values():
        if outcome.host is not None:
            yield outcome.pod, outcome.host


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
    return [SweepConfiguration(name, _means(group, objectives)) for name, group in zip(names, groups.values(), strict=True)]


def _means(rows: Sequence[Row], objectives: Sequence[str]) -> dict[str, float]:
    values = {name: [row[name] for row in rows if row[name] is not None] for name in objectives}
    return {name: round(fmean(found), DIGITS) for name, found in values.items() if found}


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
    found = [", ".join(_word(key, row[key]) for key in kept) for row in rows]
    return [name or f"configuration {at + 1}" for at, name in enumerate(found)]


def _word(key: str, value: Any) -> str:
    told = "none" if value is None else str(cell(value))
    return told if key in SPOKEN and value is not None else f"{key.removeprefix('weights.')} {told}"


def cell(value: Any) -> Any:
    """*value* as one cell: lists as text, true and false as in YAML."""
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else value
