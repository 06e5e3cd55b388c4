"""The states of a session: what each has, how it is computed, and which were computed lately."""

from __future__ import annotations

from collections import OrderedDict

import attrs

from ...framework.recipe import Recipe
from ..scenario import Scenario
from .answer import Answer, Texts
from .configuration import Configuration
from .ground import Ground
from .material import Changes, Material
from .plot import Plot

KEPT_GROUNDS, KEPT_ANSWERS = 4, 60
PRIORITY_GATE = "PodPriority"


@attrs.frozen(eq=False)
class State:
    """A configuration and the changes of the cluster. *did* says how it came to be."""

    number: int
    configuration: Configuration
    changes: Changes
    did: str = "the start"


@attrs.define(eq=False)
class Workbench:
    """Computes answers, and keeps the latest ones and what the next ones can begin with."""

    material: Material
    texts: Texts = attrs.field(factory=Texts)
    _grounds: OrderedDict[object, Ground] = attrs.field(factory=OrderedDict)
    _answers: OrderedDict[int, Answer] = attrs.field(factory=OrderedDict)
    _made: int = 0

    def answer(self, state: State) -> Answer:
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

    def _computed(self, state: State) -> Answer:
        recipe = state.configuration.recipe()
        ground = self.ground(state, recipe)
        with ground.simulation(recipe, state.configuration.order) as simulation:
            for _ in simulation.decisions():
                pass
            if ground.plot is None:
                self._made += 1
                ground.plot = Plot.of(self._made, ground.scenario, simulation.engine)
            return attrs.evolve(Answer.of(simulation, ground.plot, self.texts), notices=ground.notices(simulation.engine.algorithm))

    def ground(self, state: State, recipe: Recipe) -> Ground:
        """What runs on the scenario of *state* begin with."""
        priorities = recipe.profiles is not None or recipe.config.gates.get(PRIORITY_GATE, True)
        key = state.changes, recipe.scheduler_names, priorities
        found = self._grounds.get(key)
        if found is None:
            scenario = self.material.scenario(*key)
            alike = next((ground for ground in self._grounds.values() if ground.knows(scenario)), None)
            found = self._grounds[key] = Ground(scenario) if alike is None else alike.beside(scenario)
            if len(self._grounds) > KEPT_GROUNDS:
                self._grounds.popitem(last=False)
        self._grounds.move_to_end(key)
        return found

    def scenario(self, state: State) -> Scenario:
        """The scenario of *state*."""
        return self.ground(state, state.configuration.recipe()).scenario
