"""The cluster that a drain begins with: what waits for a node is scheduled first, as it would be before anybody can type a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from ...api.garbage import no_garbage_collection
from ...api.objects import KubeObject, Node, Pod, PodDisruptionBudget
from ...core.engine import Engine
from ...core.run import Run
from ...framework.schedulerspec import SchedulerSpec
from ..replacements import Replacements
from ..scenario import Scenario
from ..simulate import Simulation
from .budgets import Budgets
from .trial import DrainTrial
from .volumes import volumes_of

MakeEngine = Callable[[], Engine]


@attrs.frozen(eq=False)
class SteadyState:
    """A cluster in which nothing waits that could be placed."""

    objects: tuple[KubeObject, ...]
    """All that there is; pods have nodes."""
    waiting: tuple[Pod, ...]
    """Pods that find no node even before the drain."""
    placed: int
    """How many waiting pods were placed first."""
    make_engine: MakeEngine
    """Makes new schedulers of one configuration."""
    scheduler_names: frozenset[str]
    order: str = "input"

    @property
    def nodes(self) -> list[Node]:
        """The nodes."""
        return [item for item in self.objects if isinstance(item, Node)]

    def trial(self, *, recreates_bare: bool = False) -> DrainTrial:
        """A new scheduler that knows the cluster."""
        run = Run(self.make_engine(), details=False)
        with no_garbage_collection():
            for item in (*self.objects, *self.waiting):
                run.put(item)
        pods = [*self.waiting, *(item for item in self.objects if isinstance(item, Pod))]
        replacements = Replacements.beside(pods, self.scheduler_names)
        replacements.recreates_bare = recreates_bare
        release = run.engine.release
        budgets = (item for item in self.objects if isinstance(item, PodDisruptionBudget))
        empty_selects_all = release.client.resources[PodDisruptionBudget.kind] == "policy/v1"
        return DrainTrial(
            run, Budgets.of(budgets, pods, empty_selects_all=empty_selects_all), replacements, self.scheduler_names, self.order,
        )  # fmt: skip


def engines_like(first: Engine, spec: SchedulerSpec, scenario: Scenario) -> MakeEngine:
    """Makes schedulers of *spec*, as *first* is one, with the same extenders: what is recorded of these is one record of all."""
    shared = attrs.evolve(spec, extenders=tuple(first.extenders))
    return lambda: shared.engine(scenario.config_maps)


def settle(scenario: Scenario, make_engine: MakeEngine, scheduler_names: frozenset[str], order: str = "input") -> SteadyState:
    """Schedule the pods of *scenario* that wait. Evicted pods are made again by their owners."""
    if not scenario.pending:
        return SteadyState(scenario.objects, (), 0, make_engine, scheduler_names, order)
    engine = make_engine()
    pods = (item for item in (*scenario.objects, *scenario.pending) if isinstance(item, Pod))
    simulation = Simulation(scenario, engine, order, replacements=Replacements.beside(pods, scheduler_names))
    for _ in simulation.decisions():
        pass
    waiting = [outcome.pod for outcome in simulation.outcomes.values() if outcome.host is None and outcome.eviction is None]
    placed = [outcome.pod for outcome in simulation.outcomes.values() if outcome.host is not None]
    written = {(item.kind, item.key): item for pod in placed if pod.spec.volumes for item in volumes_of(pod, engine)}
    others = [written.pop((item.kind, item.key), item) for item in scenario.objects if not isinstance(item, Pod)]
    objects = (*others, *written.values(), *_bound(engine))
    return SteadyState(objects, tuple(waiting), len(placed), make_engine, scheduler_names, order)


def _bound(engine: Engine) -> Iterable[Pod]:
    """The pods on all nodes, node by node."""
    return [pod for pods in engine.pods_by_node().values() for pod in pods]
