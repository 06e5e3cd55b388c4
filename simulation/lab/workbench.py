"""The states of a session: what each has, how it is computed, and which were computed lately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import attrs

from ...core.engine import Engine
from ..gcpause import settled
from ..releasenotes import with_release_notices
from ..scenario import Scenario
from .labconfiguration import LabConfiguration
from .labinput import Changes, LabInput
from .labrun import ClusterLayout, LabRun, NumberedTexts, release_and_gates
from .warmengines import WarmEngines, WarmSimulation

KEPT_SCENARIOS, KEPT_ANSWERS = 8, 60
Kept = TypeVar("Kept")


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
    layouts: OrderedDict[int, ClusterLayout] = attrs.field(factory=OrderedDict)
    """The latest, by number."""
    _warm: WarmEngines = attrs.field(factory=WarmEngines)
    _scenarios: OrderedDict[object, Scenario] = attrs.field(factory=OrderedDict)
    _answers: OrderedDict[int, LabRun] = attrs.field(factory=OrderedDict)
    _made: int = 0

    def answer(self, state: LabState) -> LabRun:
        """What *state* comes to.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release or an edit does not allow.
        """
        found = self._answers.get(state.number)
        if found is None:
            with settled():
                found = _kept(self._answers, state.number, self.computed(state), KEPT_ANSWERS)
        self._answers.move_to_end(state.number)
        return found

    def computed(self, state: LabState) -> LabRun:
        """The same, worked out and not kept."""
        with self.simulation(state) as simulation:
            for _ in simulation.decisions():
                pass
            run = LabRun.of(simulation, self._layout(simulation.scenario, simulation.engine), self.texts)
            return attrs.evolve(run, notices=with_release_notices(simulation.scenario, [simulation.engine.algorithm]).warnings)

    def _layout(self, scenario: Scenario, engine: Engine) -> ClusterLayout:
        key = release_and_gates(engine.algorithm)
        found = next((one for one in self.layouts.values() if one.scenario is scenario and one.counted_by == key), None)
        if found is None:
            self._made += 1
            before = next(reversed(self.layouts.values()), None)
            found = _kept(self.layouts, self._made, ClusterLayout.of(self._made, scenario, engine, before), KEPT_ANSWERS)
        return found

    @contextmanager
    def simulation(self, state: LabState) -> Iterator[WarmSimulation]:
        """A new simulation of *state* for the block; afterwards all that it did is taken back."""
        with settled(), self._warm.simulation(state.configuration, self.scenario(state)) as found:
            yield found

    def scenario(self, state: LabState) -> Scenario:
        """The scenario of *state*."""
        spec = state.configuration.spec()
        key = state.changes, spec.scheduler_names, spec.keeps_priorities
        found = self._scenarios.get(key)
        if found is None:
            found = _kept(self._scenarios, key, self.input.scenario(*key), KEPT_SCENARIOS)
        self._scenarios.move_to_end(key)
        return found


def _kept(held: OrderedDict[Any, Kept], key: object, value: Kept, most: int) -> Kept:
    """*value*, which is kept as the latest of *most*."""
    held[key] = value
    if len(held) > most:
        held.popitem(last=False)
    return value
