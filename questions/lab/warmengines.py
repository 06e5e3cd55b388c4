"""A scheduler that knows the cluster already, for one run after the other: what is new of the next state comes to it as events.

A run on a new scheduler and a run here come to the same; ``tests/questions/lab`` compares them. What a run did is taken back by a
savepoint. What the next run can use depends on what it has in common with the last one of its release and gates:

| in common | what is kept |
|---|---|
| configuration, and all but nodes and pods | the scheduler, with its boards |
| the same but for weights | listings, and what the rules answered |
| release and gates | the table of nodes and pods |

Where an event would not leave the cluster as if it had been read so, as when a node goes, the run begins with a new scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import attrs

from ...api.objects import Pod
from ...core.engine import Engine
from ...core.feed import EventFeed
from ...core.run import Run
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from .differences import ScenarioChanges, is_known
from .labconfiguration import LabConfiguration

MOST_ENGINES = 4


@attrs.define(eq=False)
class WarmSimulation(Simulation):
    """A simulation by a scheduler that knows nodes and placed pods already, if *knows_table*, and the rest, if *knows_rest*."""

    knows_table: bool = False
    knows_rest: bool = False
    tried: ExitStack = attrs.field(factory=ExitStack)
    """Ends with all that the run did taken back."""
    mixed: set[str] = attrs.field(factory=set)
    """Nodes whose pods, or ports, taking back leaves in another order than they came."""

    def begin(self) -> Run:
        """Tell the scheduler of what it does not know."""
        run = self._run = Run(self.engine, self.details)
        if not self.knows_table:
            run.feed.put_all(self.scenario.objects)
        elif not self.knows_rest:
            run.feed.put_all(item for item in self.scenario.objects if not is_known(item))
        self.tried.enter_context(run.savepoint())
        for pod in self.scenario.pending:
            run.put(pod)
        return run

    def begin_without(self, pod: Pod) -> Run:
        """The run on the cluster without *pod*, which is on a node."""
        run, node = self.begin(), pod.spec.node_name
        others = tuple(item for item in self.scenario.objects if not (isinstance(item, Pod) and item.key == pod.key))
        there = ScenarioChanges.of_nodes([node], self.scenario)
        here = ScenarioChanges.of_nodes([node], attrs.evolve(self.scenario, objects=others))
        attrs.evolve(there, coming=here.coming).tell(run.feed)
        self.mixed.add(node)
        return run

    def note_mixed(self) -> None:
        """Before anything is taken back: note where pods had to leave, and where ports may be shared."""
        if self._run is None:
            return
        evicted, state = self._run.evicted, self.engine.pod_state
        if evicted:
            self.mixed |= {pod.spec.node_name for pod in self.scenario.objects if isinstance(pod, Pod) and pod.key in evicted}
        found = (there for pod in self.scenario.pending if (there := state(pod)) is not None)
        self.mixed |= {there.node_name for there in found if there.entry.template.ports}

    @property
    def has_begun(self) -> bool:
        """Whether the scheduler was told of the cluster."""
        return self._run is not None


@attrs.define(eq=False)
class KnownCluster:
    """A scheduler between two runs, and what it knows."""

    engine: Engine
    configuration: LabConfiguration
    scenario: Scenario

    def shares_rules(self, configuration: LabConfiguration) -> bool:
        """Whether only weights, and what no answer depends on, are others in *configuration*."""
        here, there = (attrs.evolve(one, order="input", tie_break="release", seed=0) for one in (self.configuration, configuration))
        return here == attrs.evolve(there, weights=here.weights)

    def is_same(self, configuration: LabConfiguration) -> bool:
        """Whether the scheduler is that of *configuration*, and a run leaves nothing in it."""
        here = attrs.evolve(self.configuration, order=configuration.order)
        return here == configuration and configuration.tie_break != "random" and not configuration.start.equivalence_cache


@attrs.define(eq=False)
class WarmEngines:
    """For each release and its gates a scheduler that knows the cluster as the last run had it."""

    _known: dict[Any, KnownCluster] = attrs.field(factory=dict)

    @contextmanager
    def simulation(self, configuration: LabConfiguration, scenario: Scenario, *, details: bool = False) -> Iterator[WarmSimulation]:
        """A new simulation for the block; afterwards all that it did is taken back or forgotten.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release refuses.
        """
        key = configuration.release, tuple(sorted(configuration.gates.items()))
        before = self._known.pop(key, None)
        made = self._made(configuration, scenario, before, details)
        with made.tried:
            yield made
            made.note_mixed()
        if made.has_begun and _is_undone(made):
            self._known[key] = KnownCluster(made.engine, configuration, scenario)
            if len(self._known) > MOST_ENGINES:
                del self._known[next(iter(self._known))]

    def _made(
        self, configuration: LabConfiguration, scenario: Scenario, before: KnownCluster | None, details: bool
    ) -> WarmSimulation:
        changes = None if before is None else ScenarioChanges.between(before.scenario, scenario, before.engine.cache)
        if before is None or changes is None:
            return WarmSimulation(scenario, _engine(configuration, scenario), configuration.order, details)
        knows_rest = not changes.has_others and before.shares_rules(configuration)
        if knows_rest and before.is_same(configuration):
            engine = before.engine
        else:
            engine = _engine(configuration, scenario, reuse_snapshot_of=before.engine, reuse_answers=knows_rest)
        changes.tell(EventFeed(engine))
        return WarmSimulation(scenario, engine, configuration.order, details, knows_table=True, knows_rest=knows_rest)


def _engine(configuration: LabConfiguration, scenario: Scenario, **more: Any) -> Engine:
    """A new scheduler."""
    spec = configuration.spec()
    wanted = spec.profiles if spec.profiles is not None else spec.algorithm(scenario.config_maps)
    return spec.engine_of(wanted, **more)


def _is_undone(simulation: WarmSimulation) -> bool:
    """Put right what taking back left in another order; False where that cannot be done."""
    engine, cache = simulation.engine, simulation.engine.cache
    if any(profile.points["permit"] for profile in engine.flow.profiles.values()):
        return False
    _, states, assumed = cache.counts
    there = [item for item in simulation.scenario.objects if isinstance(item, Pod) and not item.is_terminal]
    if assumed or states != len(there):
        return False
    ScenarioChanges.of_nodes(simulation.mixed, simulation.scenario).tell(EventFeed(engine))
    engine.fresh_table().transient[:] = 0
    engine.look_for_huge()
    return True
