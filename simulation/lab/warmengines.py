"""A scheduler that knows the cluster already, for one run after the other: a new configuration need not read it again.

A run on a new scheduler and a run here come to the same; ``tests/simulation/lab`` compares them. What a run placed is taken back
afterwards. Where that is not all that a run did, because pods had to leave or share a host port, the next run begins with a new
scheduler. Each run gets claims and volumes anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...api.reading.notices import Notice
from ...core.cluster.cache import Cache
from ...core.engine import Engine
from ...core.rule import Algorithm
from ...core.run import Run
from ...framework.schedulerspec import SchedulerSpec
from ..releasenotes import with_release_notices
from ..scenario import Scenario
from ..simulate import Simulation
from .clusterlayout import ClusterLayout

MOST_RUNS = 200
"""After that many runs begin with a new scheduler: what rules note of templates adds up."""


@attrs.define(eq=False)
class WarmSimulation(Simulation):
    """A simulation by a scheduler that knows nodes and placed pods already, if *knows* says so."""

    knows: bool = False

    def begin(self) -> Run:
        """Tell the scheduler of the rest of the cluster."""
        if not self.knows:
            return super().begin()
        run = self._run = Run(self.engine, self.details)
        for item in (*self.scenario.objects, *self.scenario.pending):
            if not _is_known(item):
                run.put(item)
        return run

    @property
    def has_evicted(self) -> bool:
        """Whether a pod had to leave."""
        return self._run is not None and bool(self._run.evicted)


@attrs.define(eq=False)
class WarmEngines:
    """One scenario, and for each release and its gates a scheduler that knows it."""

    scenario: Scenario
    layout: ClusterLayout | None = None
    """Kept here by those who need one."""
    _engines: dict[Any, tuple[Engine, int]] = attrs.field(factory=dict)
    """(release, gates) -> the scheduler that ran last, and how many runs there were."""
    _notices: dict[Any, tuple[Notice, ...]] = attrs.field(factory=dict, init=False)
    """(release, gates) -> the scenario's warnings."""
    _bound: int = attrs.field(init=False)
    """How many pods have a node."""

    def __attrs_post_init__(self) -> None:
        self._bound = sum(isinstance(item, Pod) for item in self.scenario.objects)

    def notices(self, algorithm: Algorithm) -> tuple[Notice, ...]:
        """What is odd in the scenario, and what of it *algorithm* does not read."""
        key = algorithm.release.version, tuple(sorted(algorithm.gates.items()))
        if key not in self._notices:
            self._notices[key] = with_release_notices(self.scenario, [algorithm]).warnings
        return self._notices[key]

    def knows(self, scenario: Scenario) -> bool:
        """Whether *scenario* differs in pods that wait alone: all that is there is the same."""
        here, there = self.scenario.objects, scenario.objects
        return len(here) == len(there) and all(ours is theirs or ours == theirs for ours, theirs in zip(here, there, strict=True))

    def beside(self, scenario: Scenario) -> WarmEngines:
        """The warm engines of a *scenario* that these :meth:`know <knows>`; both use the same schedulers."""
        return attrs.evolve(self, scenario=scenario, layout=None, engines=self._engines)

    @contextmanager
    def simulation(self, spec: SchedulerSpec, order: str, *, details: bool = False) -> Iterator[WarmSimulation]:
        """A new simulation for the block; afterwards all that it did is undone or forgotten.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release refuses.
        """
        engine = _engine(spec, self.scenario, None)
        key = engine.release.version, frozenset(name for name, on in engine.gates.items() if on)
        before, runs = self._engines.pop(key, (None, 0))
        if before is not None:
            engine = _engine(spec, self.scenario, before)
        made = WarmSimulation(self.scenario, engine, order, details, knows=before is not None)
        yield made
        if runs < MOST_RUNS and self._is_undone(made):
            self._engines[key] = engine, runs + 1

    def _is_undone(self, simulation: WarmSimulation) -> bool:
        """Take back what *simulation* placed; False where that would not be all that it did."""
        engine, cache = simulation.engine, simulation.engine.cache
        placed = [state.pod.bound_to(state.node_name) for pod in simulation.pods() if (state := cache.state(pod)) is not None]
        holds = any(profile.points.permit for profile in engine.profiles.values())
        if holds or simulation.has_evicted:
            return False
        _, states, assumed = cache.counts
        if len(placed) != assumed or states - assumed != self._bound:
            return False
        for pod in reversed(placed):
            cache.forget(pod)
        cache.order.taken = 0
        engine.fresh_table().transient[:] = 0
        return all(_keeps_ports(cache, pod) for pod in placed if engine.template_of(pod).ports)


def _engine(spec: SchedulerSpec, scenario: Scenario, before: Engine | None) -> Engine:
    """A new scheduler, which takes over what *before* knows."""
    wanted = spec.profiles if spec.profiles is not None else spec.algorithm(scenario.config_maps)
    return spec.engine_of(wanted, reuse_snapshot_of=before)


def _keeps_ports(cache: Cache, pod: Pod) -> bool:
    """Whether the node that *pod* was taken off still has the ports of all other pods there: a port counts once for several users."""
    info = cache.infos[pod.spec.node_name]
    return info.used_ports == {port for entry in info.pods for port in entry.template.ports}


def _is_known(item: KubeObject) -> bool:
    return isinstance(item, Node) or (isinstance(item, Pod) and bool(item.spec.node_name))
