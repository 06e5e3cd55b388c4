"""The states of a session: what each has, how it is computed, and which were computed lately."""

from __future__ import annotations

from collections import OrderedDict

import attrs

from ...framework.schedulerspec import SchedulerSpec
from ..scenario import Scenario
from .ground import WarmEngines
from .labconfiguration import LabConfiguration
from .labrun import LabRun, NumberedTexts
from .material import Changes, Material
from .plot import Plot

KEPT_GROUNDS, KEPT_ANSWERS = 4, 60
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

    material: Material
    texts: NumberedTexts = attrs.field(factory=NumberedTexts)
    _grounds: OrderedDict[object, WarmEngines] = attrs.field(factory=OrderedDict)
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
        ground = self.ground(state, spec)
        with ground.simulation(spec, state.configuration.order) as simulation:
            for _ in simulation.decisions():
                pass
            if ground.plot is None:
                self._made += 1
                ground.plot = Plot.of(self._made, ground.scenario, simulation.engine)
            return attrs.evolve(LabRun.of(simulation, ground.plot, self.texts), notices=ground.notices(simulation.engine.algorithm))

    def ground(self, state: LabState, spec: SchedulerSpec) -> WarmEngines:
        """What runs on the scenario of *state* begin with."""
        priorities = spec.profiles is not None or spec.config.gates.get(PRIORITY_GATE, True)
        key = state.changes, spec.scheduler_names, priorities
        found = self._grounds.get(key)
        if found is None:
            scenario = self.material.scenario(*key)
            alike = next((ground for ground in self._grounds.values() if ground.knows(scenario)), None)
            found = self._grounds[key] = WarmEngines(scenario) if alike is None else alike.beside(scenario)
            if len(self._grounds) > KEPT_GROUNDS:
                self._grounds.popitem(last=False)
        self._grounds.move_to_end(key)
        return found

    def scenario(self, state: LabState) -> Scenario:
        """The scenario of *state*."""
        return self.ground(state, state.configuration.spec()).scenario
