"""What runs are measured by: the names of objectives and which way is better; and what one run comes to, of a cluster or of a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from ...api.meaning.labels import zone_of
from ...api.objects import Node, Pod
from ...core.arrays.types import Floats, Ints
from ...core.pods.requests import PODS
from ..replay.replay import Replay
from ..replay.simulatedcluster import PERCENTILES
from ..simulate import Simulation
from ..summary import Usage, fragmentation, summarise

COUNTS = ("pods", "placed", "unschedulable", "gated", "waiting", "evictions")
OF_ALL = ("fragmentation", "imbalance", "zone skew")
OF_WAITING = ("waiting mean", "waiting p50", "waiting p90", "waiting p95", "waiting p99", "waiting max")
OF_A_RESOURCE = ("used", "fragmentation", "imbalance")
"""After the name of a resource, as in ``cpu used``."""
BY_DEFAULT = ("placed", "cpu used", "memory used", "fragmentation", "imbalance", "zone skew", "evictions")
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


# --- over time ------------------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class OverTime:
    """Averages over the virtual time of *replay*, which must be new, of fragmentation and imbalance by resource."""

    replay: Replay
    _sums: Floats | None = None
    """float64[2, R]: fragmentation and imbalance times seconds."""
    _latest: Floats | None = None
    _since: float = 0.0

    def __attrs_post_init__(self) -> None:
        self.replay.at_instant = self._at_instant

    def _at_instant(self, replay: Replay) -> None:
        """Time is about to pass; the cluster stays as it is until the next instant."""
        self._add(replay.now)
        ledger = replay.cluster.ledger
        shares = _deviations(ledger.allocatable[:, : ledger.rows], ledger.used[:, : ledger.rows])
        self._latest, self._since = np.stack([replay.cluster.fragmentation.by_resource(), shares]), replay.now

    def _add(self, now: float) -> None:
        if self._latest is not None:
            sums = np.zeros_like(self._latest) if self._sums is None else self._sums
            self._sums = sums + self._latest * (now - self._since)

    def averages(self) -> Mapping[str, tuple[float, float]]:
        """Resource -> fragmentation and imbalance on average; if no time has passed, at the end."""
        self._add(self.replay.now)
        seconds, latest, sums = self.replay.now, self._latest, self._sums
        if latest is None or sums is None:
            return {}
        found = sums / seconds if seconds > 0 else latest
        values = np.round(found, DIGITS).T.tolist()
        return {name: (values[at][0], values[at][1]) for at, name in enumerate(self.replay.inputs.resources)}


def _deviations(allocatable: Ints, used: Ints) -> Floats:
    """The standard deviation of the use over the nodes that have a resource: float64[R], 0 where no node has it."""
    found: Floats = np.zeros(len(allocatable))
    for at, (there, taken) in enumerate(zip(allocatable, used, strict=True)):
        having = there > 0
        if having.any():
            found[at] = (taken[having] / there[having]).std()
    return found


def replay_measures(replay: Replay, over_time: OverTime) -> Measures:
    """The measures of a replay that is over.

    ``placed`` counts how often a pod got a node; use is the average over time, the skew of zones is that at the end.
    """
    tally, ledger = replay.cluster.tally, replay.cluster.ledger
    averages, use, waits = over_time.averages(), tally.mean_use(), tally.wait_record()
    hosts = [(life.original, life.node) for life in replay.pods.all.values() if life.node]
    of_nodes = {name: values for name, values in averages.items() if name != PODS}
    shares = {} if use is None else {f"{name} used": round(float(share), DIGITS) for name, share in zip(ledger.resources, use, strict=True)}
    return {
        "pods": tally.arrived, "placed": tally.scheduled, "unschedulable": ledger.waiting_pods + tally.never_scheduled,
        "evictions": tally.evicted, "zone skew": zone_skew(replay.engine.nodes(), hosts),
        "fragmentation": _mean(value for value, _ in of_nodes.values()),
        "imbalance": _mean(value for _, value in of_nodes.values()), **shares,
        **{f"{name} fragmentation": value for name, (value, _) in averages.items()},
        **{f"{name} imbalance": value for name, (_, value) in averages.items()},
        **{f"waiting {name}": waits.get(name) for name in ("mean", *(f"p{share}" for share in PERCENTILES), "max")},
    }  # fmt: skip
