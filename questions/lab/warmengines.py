"""Schedulers that know the cluster already, for one question after the other: what is new of the next state comes to them as events.

An answer on a new scheduler and an answer here are the same; ``tests/questions/lab`` compares them. What a question did is taken back
by a savepoint. What the next question can use depends on what it has in common with the last one of its release and gates:

| in common | what is kept |
|---|---|
| options of the scheduler, and all but nodes and pods | the scheduler, with its boards |
| the same but for weights | listings, and what the rules answered |
| release and gates | the table of nodes and pods |

Where an event would not leave the cluster as if it had been read so, as when a node goes, there is a new scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.garbage import settled
from ...api.objects import KubeObject, Pod
from ...core.engine import Engine
from ...core.feed import EventFeed
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.differences import differing, events_between, is_handed_on, tell
from ...simulation.scenario import Scenario
from .states import LabState

MOST_ENGINES = 4


@attrs.define(eq=False)
class KnownCluster:
    """A scheduler between two questions, and what it knows."""

    engine: Engine
    state: LabState
    objects: Sequence[KubeObject]
    placed: Mapping[str, Sequence[Pod]]
    """Node -> its pods, in order."""


@attrs.define(eq=False)
class WarmEngines:
    """For each release and its gates a scheduler that knows the cluster as the last question had it."""

    _known: dict[Any, KnownCluster] = attrs.field(factory=dict)

    @contextmanager
    def engine(self, state: LabState, spec: SchedulerSpec, scenario: Scenario) -> Iterator[Engine]:
        """A scheduler that was told of *scenario*, for the block; afterwards all that was done is taken back, or the scheduler forgotten.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release refuses.
        """
        key = spec.version, spec.switches
        before = self._known.pop(key, None)
        with settled():
            events = (
                None
                if before is None
                else events_between(before.objects, scenario.objects, before.engine.cache)
            )
            if before is None or events is None:
                engine = spec.engine(scenario.config_maps)
                EventFeed(engine).put_all(scenario.objects)
            else:
                others = any(
                    not is_handed_on(item)
                    for found in differing(before.objects, scenario.objects)
                    for item in found.values()
                )
                # What no answer depends on, and what is not the scheduler's.
                plain, other = (
                    replace(
                        one,
                        edits=(),
                        pods=(),
                        order="input",
                        scheduler={
                            name: value
                            for name, value in one.scheduler.items()
                            if name not in ("tie_break", "seed")
                        },
                    )
                    for one in (before.state, state)
                )
                knows_rest = not others and plain == replace(other, weights=plain.weights)
                engine = before.engine
                same = knows_rest and plain == other and before.state.scheduler == state.scheduler
                if not same or state.scheduler.get("tie_break") == "random" or spec.equivalence_cache:
                    wanted = (
                        spec.profiles if spec.profiles is not None else spec.algorithm(scenario.config_maps)
                    )
                    engine = spec.engine_of(wanted, reuse_snapshot_of=engine, reuse_answers=knows_rest)
                tell(EventFeed(engine), events)
                if not knows_rest:
                    EventFeed(engine).put_all(item for item in scenario.objects if not is_handed_on(item))
            engine.told = scenario.objects
            with engine.savepoint():
                yield engine
                # Ports that are taken back are in another order than they came.
                there = (engine.pod_state(pod) for pod in scenario.pending)
                mixed = {one.node_name for one in there if one is not None and one.entry.template.ports}
            is_same = before is not None and before.objects is scenario.objects
            placed = before.placed if is_same and before is not None else _placed(scenario.objects)
            if EventFeed(engine).reorder(placed, mixed):
                self._known[key] = KnownCluster(engine, state, scenario.objects, placed)
                if len(self._known) > MOST_ENGINES:
                    del self._known[next(iter(self._known))]


def _placed(objects: Sequence[KubeObject]) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for item in objects:
        if isinstance(item, Pod) and not item.is_terminal:
            found.setdefault(item.spec.node_name, []).append(item)
    return found
