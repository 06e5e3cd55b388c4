"""The states of a session: what each has, how it is computed, and which were computed lately."""

from __future__ import annotations

from collections import OrderedDict

import attrs

from ...framework.schedulerspec import SchedulerSpec
from ..scenario import Scenario
from .clusterlayout import ClusterLayout
from .labconfiguration import LabConfiguration
from .labinput import Changes, LabInput
from .labrun import LabRun, NumberedTexts
from .warmengines import WarmEngines

KEPT_ENGINES, KEPT_ANSWERS = 4, 60
PRIORITY_GATE = "PodPriority"


@attrs.frozen(eq=False)
class LabState:
    """A configuration and the changes of the cluster. *did* says how it came to be."""

    number: int
    configuration: LabConfiguration
    changes: Changes
    did: str = "the start"


@attrs.define(eq=False)
class Workbench:
    """Computes answers, and keeps the latest ones and what the next ones can begin with."""

    input: LabInput
    texts: NumberedTexts = attrs.field(factory=NumberedTexts)
    _engines: OrderedDict[object, WarmEngines] = attrs.field(factory=OrderedDict)
    _answers: OrderedDict[int, LabRun] = attrs.field(factory=OrderedDict)
    _made: int = 0

    def answer(self, state: LabState) -> LabRun:
        """What *state* comes to.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release or an edit does not allow.
        """
        found = self._answers.get(state.number)
        if found is None:
            found = self._answers[state.number] = self._computed(state)
            if len(self._answers) > KEPT_ANSWERS:
                self._answers.popitem(last=False)
        self._answers.move_to_end(state.number)
        return found

    def _computed(self, state: LabState) -> LabRun:
        spec = state.configuration.spec()
        warm = self.engines(state, spec)
        with warm.simulation(spec, state.configuration.order) as simulation:
            for _ in simulation.decisions():
                pass
            if warm.layout is None:
                self._made += 1
                warm.layout = ClusterLayout.of(self._made, warm.scenario, simulation.engine)
            return attrs.evolve(LabRun.of(simulation, warm.layout, self.texts), notices=warm.notices(simulation.engine.algorithm))

    def engines(self, state: LabState, spec: SchedulerSpec) -> WarmEngines:
        """What runs on the scenario of *state* begin with."""
        priorities = spec.profiles is not None or spec.config.gates.get(PRIORITY_GATE, True)
        key = state.changes, spec.scheduler_names, priorities
        found = self._engines.get(key)
        if found is None:
            scenario = self.input.scenario(*key)
            alike = next((warm for warm in self._engines.values() if warm.knows(scenario)), None)
            found = self._engines[key] = WarmEngines(scenario) if alike is None else alike.beside(scenario)
            if len(self._engines) > KEPT_ENGINES:
                self._engines.popitem(last=False)
        self._engines.move_to_end(key)
        return found

    def scenario(self, state: LabState) -> Scenario:
        """The scenario of *state*."""
        return self.engines(state, state.configuration.spec()).scenario
