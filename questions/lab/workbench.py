"""The states of a session: what each has, how it is computed, and which were computed lately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import attrs

from ...api.garbage import settled
from ...api.objects import KubeObject, Node, Pod
from ...api.reading.notices import Notice
from ...core.engine import Engine
from ...core.rule import Algorithm
from ...simulation.releasenotes import fields_of, has_newer_zone_alone, with_release_notices
from ...simulation.scenario import Scenario
from .differences import ByKey, differing
from .labconfiguration import LabConfiguration
from .labinput import Changes, LabInput
from .labrun import ClusterLayout, LabRun, NumberedTexts, release_and_gates
from .warmengines import WarmEngines, WarmSimulation


@attrs.define(eq=False)
class LabScenario:
    """A scenario, and what was worked out of it."""

    scenario: Scenario
    layouts: dict[Any, ClusterLayout] = attrs.field(factory=dict)
    """By release and gates, as the next."""
    _notices: dict[Any, tuple[Notice, ...]] = attrs.field(factory=dict)
    """The scenario's warnings."""

    @classmethod
    def after(cls, before: LabScenario | None, scenario: Scenario) -> LabScenario:
        """*scenario*, with the warnings of the one *before* if they are the same."""
        known = before._notices if before is not None and _warn_alike(before.scenario, scenario) else {}
        return cls(scenario, notices=dict(known))

    def notices(self, algorithm: Algorithm) -> tuple[Notice, ...]:
        """What is odd in the scenario, and what of it *algorithm* does not read."""
        key = release_and_gates(algorithm)
        if key not in self._notices:
            self._notices[key] = with_release_notices(self.scenario, [algorithm]).warnings
        return self._notices[key]


def _warn_alike(before: Scenario, now: Scenario) -> bool:
    """Whether no release says of *now* anything but what it says of *before*."""
    lists = (before.objects, now.objects), (before.pending, now.pending)
    return before.warnings == now.warnings and all(_say_alike(*differing(*held)) for held in lists)


def _say_alike(gone: ByKey, come: ByKey) -> bool:
    """Whether releases say of what has *come* what they say of what has *gone*; of most objects they say nothing."""
    return all(_says_nothing(item) or (key in come and _has_as(item, come[key])) for key, item in gone.items()) and all(
        key in gone or _says_nothing(item) for key, item in come.items()
    )


def _has_as(before: KubeObject, now: KubeObject) -> bool:
    """Whether *now* has the fields of *before* that releases warn of."""
    if isinstance(before, Node) and isinstance(now, Node):
        return before.labels == now.labels
    if isinstance(before, Pod) and isinstance(now, Pod):
        return fields_of(before) == fields_of(now) and before.spec.rule_volumes == now.spec.rule_volumes
    return False


def _says_nothing(item: KubeObject) -> bool:
    """Whether no release warns of *item*, or of its being there."""
    if isinstance(item, Node):
        return not has_newer_zone_alone(item)
    return isinstance(item, Pod) and not item.spec.rule_volumes and not fields_of(item)


# --- states -----------------------------------------------------------------------------------------------------------


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
    _scenarios: OrderedDict[object, LabScenario] = attrs.field(factory=OrderedDict)
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
        known = self._of(state)
        with self.simulation(state) as simulation:
            for _ in simulation.decisions():
                pass
            run = LabRun.of(simulation, self._layout(known, simulation.engine), self.texts)
            return attrs.evolve(run, notices=known.notices(simulation.engine.algorithm))

    def _layout(self, known: LabScenario, engine: Engine) -> ClusterLayout:
        key = release_and_gates(engine.algorithm)
        if key not in known.layouts:
            self._made += 1
            before = next(reversed(self.layouts.values()), None)
            known.layouts[key] = _kept(self.layouts, self._made, ClusterLayout.of(self._made, known.scenario, engine, before), KEPT_ANSWERS)
        return known.layouts[key]

    @contextmanager
    def simulation(self, state: LabState) -> Iterator[WarmSimulation]:
        """A new simulation of *state* for the block; afterwards all that it did is taken back."""
        with settled(), self._warm.simulation(state.configuration, self.scenario(state)) as found:
            yield found

    def scenario(self, state: LabState) -> Scenario:
        """The scenario of *state*."""
        return self._of(state).scenario

    def _of(self, state: LabState) -> LabScenario:
        spec = state.configuration.spec()
        key = state.changes, spec.scheduler_names, spec.keeps_priorities
        found = self._scenarios.get(key)
        if found is None:
            before = next(reversed(self._scenarios.values()), None)
            found = _kept(self._scenarios, key, LabScenario.after(before, self.input.scenario(*key)), KEPT_SCENARIOS)
        self._scenarios.move_to_end(key)
        return found


def _kept(held: OrderedDict[Any, Kept], key: object, value: Kept, most: int) -> Kept:
    """*value*, which is kept as the latest of *most*."""
    held[key] = value
    if len(held) > most:
        held.popitem(last=False)
    return value
