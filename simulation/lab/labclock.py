"""The scenario on its clock: a replay of a state, written down event by event, so that a page can step through it both ways."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import attrs

from ...api.objects import Pod
from ...api.record import plain
from ...core.pods.requests import PODS, of_node
from ...exceptions import UnknownNameError
from ...framework.schedulerspec import SchedulerSpec
from ..explain.explain import explain
from ..replay.inputs.inputs import InputOptions, Inputs, read_inputs
from ..replay.journal import EventData
from ..replay.recording import summary
from ..replay.replay import Replay
from ..scenario import Files, Scenario
from .labconfiguration import LabError
from .labrun import ClusterLayout
from .podquestions import explained
from .workbench import LabState, Workbench

MOST_EVENTS = 100_000
TRIED = ("Scheduled", "FailedScheduling")
NOT_SHOWN = ("Summary",)


@attrs.define(eq=False)
class Film:
    """A replay of *state* that is written down. ``events``: [time, event, pod, node, text, attempts], in order."""

    state: LabState
    inputs: Inputs
    spec: SchedulerSpec
    layout: ClusterLayout
    events: list[tuple[Any, ...]] = attrs.field(factory=list)
    pods: dict[str, tuple[int, ...]] = attrs.field(factory=dict)
    """What pods that the layout does not have request."""
    nodes: dict[str, tuple[int, ...]] = attrs.field(factory=dict)
    """What nodes that the layout does not have offer, places for pods last."""
    summary: EventData = attrs.field(factory=dict)
    is_cut: bool = False
    """There were too many events."""
    _unknown: list[str] = attrs.field(factory=list)
    """New nodes of which it is not known yet what they offer."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "number": self.state.number, "events": self.events, "pods": self.pods, "nodes": self.nodes, "summary": self.summary,
            "cut": self.is_cut,
        }  # fmt: skip

    def take(self) -> None:
        """Let the replay run, and write it down."""
        replay = _replay(self.inputs, self.spec)
        replay.cluster.journal.sink = partial(self._take, replay)
        for _ in replay.run():
            self._look(replay)
            if len(self.events) > MOST_EVENTS:
                self.is_cut = True
                break
        self.summary = plain(summary(replay))

    def _look(self, replay: Replay) -> None:
        """See what new nodes offer, which is known after the step of their event."""
        for name in self._unknown:
            node = replay.engine.node(name)
            had = {} if node is None else of_node(node.status.allocatable)
            self.nodes[name] = tuple(had.get(resource, 0) for resource in (*self.layout.resources, PODS))
        self._unknown.clear()

    def _take(self, replay: Replay, record: EventData) -> None:
        event, key, node = record["event"], record.get("pod", ""), record.get("node", "")
        if event in NOT_SHOWN:
            return
        if key and key not in self.layout.pod_at and key not in self.pods:
            pod = replay.cluster.pod(key)
            requests = {} if pod is None else replay.engine.template_of(pod).requests
            self.pods[key] = tuple(requests.get(name, 0) for name in self.layout.resources)
        if event == "NodeAdded" and node not in self.layout.node_at:
            self.nodes.setdefault(node, ())
            self._unknown.append(node)
        more = record.get("message") or ", ".join(record.get("victims", ())) or record.get("by") or ""
        self.events.append((record["time"], event, key, node, more, record.get("attempts", 0)))


def film(bench: Workbench, state: LabState, paths: Sequence[str] = ()) -> Film:
    """Replay *state*; *paths*: more events, as ``kubeclassic replay`` takes them.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what cannot be read.
    """
    spec, layout = state.configuration.spec(), bench.answer(state).layout
    found = Film(state, _inputs(layout.scenario, spec, paths, bench.input.with_nodes(state.changes)), spec, layout)
    found.take()
    return found


def why_then(film: Film, at: int, node: str | None = None) -> dict[str, Any]:
    """Why the attempt of event *at* ended so, as :func:`~.podquestions.why` says it. Raises :class:`~.labconfiguration.LabError`."""
    if not 0 <= at < len(film.events) or film.events[at][1] not in TRIED:
        raise LabError(f"at: got {at}, wanted an event of {' or '.join(TRIED)}", "clock")
    time, _, key, _, _, attempts = film.events[at]
    replay = _replay(film.inputs, film.spec)
    while (pod := replay.next_pod()) is not None:
        if pod.key == key and replay.pods.all[key].attempts == attempts - 1:
            return _explained(replay, pod, node, time)
        replay.conclude(replay.decide(pod))
    raise LabError(f"{key}: not tried a {attempts}. time", "clock")


def _explained(replay: Replay, pod: Pod, node: str | None, time: float) -> dict[str, Any]:
    try:
        found = explain(replay.engine, pod, node=node)
    except UnknownNameError as error:
        raise LabError(str(error), "why") from None
    return {"moment": f"at {time:g} seconds", **explained(found, replay.engine, node)}


def _replay(inputs: Inputs, spec: SchedulerSpec) -> Replay:
    return Replay(inputs, spec.engine(inputs.config_maps), seed=spec.seed, scheduler_name=next(iter(spec.scheduler_names)))


def _inputs(scenario: Scenario, spec: SchedulerSpec, paths: Sequence[str], files: Files) -> Inputs:
    """What a replay of *scenario* starts from: its objects in the order of the *files*, then those that workloads make."""
    places = {(item.kind, item.key): at for at, item in enumerate(files.loaded.objects)}
    objects = [*scenario.objects, *scenario.pending]
    objects.sort(key=lambda item: places.get((item.kind, item.key), len(places)))
    choice = InputOptions(defaults=files.defaults, scheduler_names=spec.scheduler_names, priorities=spec.keeps_priorities, digest=False)
    return read_inputs(paths, choice, objects=objects)
