"""Replay: the question, and its view."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from attrs import Factory, evolve, fields_dict, frozen

from ...api.load import Loaded
from ...api.objects import Node, Pod
from ...api.reading import Notice, PathLike, grouped, refuse_unread
from ...api.view import (
    Chart,
    Item,
    MapSide,
    NodeMap,
    Paragraph,
    PodOutcome,
    PodOutcomes,
    Section,
    Table,
    View,
    block,
    columns_of,
    on_page,
    table_of,
    tables,
)
from ...api.words import count_doing, count_of, duration
from ...core.decision import reasons_in
from ...core.engine import Engine
from ...exceptions import UnknownNameError, did_you_mean, wrong_type
from ...framework.releases import is_auto, judged_as
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.input import GivenScheduler, at_hand, loaded_of, paths_among, release_asked, spec_of
from ...simulation.nodesbyuse import grouped as nodes_with
from ...simulation.nodesbyuse import labels_of, titles_of
from ...simulation.releasenotes import input_notices
from ..asking import SILENT, GivenCluster, Observer, Result, Row, asked_by
from .inputs import InputOptions, InputReader, Inputs
from .journal import EventData, ReplaySummary, Sink
from .options import ReplayOptions
from .recording import KEPT, Places, PodHistory, Recording, ReplayHistory, columns, printed, summary
from .replay import Replay
from .simulatedcluster import Delays
from .times import DURATION, parse_duration

Running = Callable[[Recording], AbstractContextManager[object]]
LINES = {"pending": "pods that wait", "running": "pods on nodes"}
"""Column of the series that a notebook draws -> the words for it."""
PROGRESS_STEPS = 200
OUTCOMES = {
    "finished": "good",
    "on a node": "good",
    "waiting": "bad",
    "evicted": "bad",
    "deleted": "held",
    "gated": "near",
}
ABSENT = "not there"
"""The state of a node on the map that has not come yet, or is gone."""
SHOWN_FIELDS = ("time", "event", "pod", "node", "by", "reason", "message")
"""Fields of events that have a place in the table."""


@frozen(kw_only=True, repr=False)
class ReplayInput:
    """The input of a replay, and a new scheduler for it."""

    inputs: Inputs
    """The inputs; their warnings also name fields that the release does not read."""
    spec: SchedulerSpec
    engine: Engine

    @classmethod
    def read(
        cls,
        paths: Sequence[PathLike],
        spec: SchedulerSpec,
        settle: Callable[[Sequence[Node]], SchedulerSpec],
        *,
        options: ReplayOptions,
        release: str | None,
        given: Iterable[Loaded] = (),
        keeps_manifests: bool = False,
    ) -> ReplayInput:
        """The input in *paths* and *given*, with the scheduler that *settle* chooses for the nodes. *spec* is
        a first guess at it.

        *release*: as it was asked for, None for the default. Raises
        :class:`~kubeclassic.exceptions.KubeclassicError` for bad input, and with ``strict`` for parts of it
        that do not count.
        """
        choice = InputOptions(
            scheduler_names=spec.scheduler_names,
            keeps_manifests=keeps_manifests or spec.may_call_extenders,
            as_recorded=options.as_recorded,
            defaults=options.defaults,
            cron_jobs=options.cron_jobs,
            strict_fields=options.strict,
        )
        reader = InputReader.of(paths, choice, given=given)
        spec = settle(reader.nodes)
        inputs = reader.inputs(spec.server)
        engine = spec.engine(inputs.config_maps)
        notices = [*inputs.warnings, *input_notices(inputs.objects, engine.algorithm, release)]
        if release is not None and not is_auto(release) and (sentence := judged_as(release)):
            notices.append(Notice("", sentence))
        if not inputs.operations and not any(
            isinstance(event.item, Pod) or event.time > 0 for event in inputs.events
        ):
            notices.append(Notice("", "got no Pod and no event, so nothing happens in this replay"))
        if options.strict:
            refuse_unread(notices)
        return cls(inputs=evolve(inputs, warnings=tuple(notices)), spec=spec, engine=engine)


@frozen(eq=False, repr=False)
class ReplayResult(Result):
    """The course of a cluster over virtual time."""

    release: str
    summary: ReplaySummary
    """The data of the event Summary: counts, waits, use."""
    events: tuple[EventData, ...] = ()
    """Everything that happened, in order, unless it was given to *on_event*."""
    series: tuple[Row, ...] = ()
    """The cluster over time, if it was asked for."""
    time: float = 0.0
    """The virtual seconds that passed."""
    nodes: int = 0
    """How many nodes there are at the end."""
    resources: tuple[str, ...] = ()
    ignored: Mapping[str, int] = Factory(dict)
    is_over: bool = True
    """Whether the replay came to its end; else it was interrupted."""
    history: ReplayHistory | None = None
    """The history that pages also show."""

    @property
    def ok(self) -> bool:
        """Whether every pod got a node."""
        return self.summary.ok

    @property
    def document(self) -> ReplaySummary:
        return self.summary

    def _view(self) -> View:
        history = self.history
        summary = self.summary
        events = table_of("events", self.events, ("time", "event"))
        lines = [
            f"{duration(self.time)} of virtual time, {count_of(self.nodes, 'node')} at the end",
            f"{count_of(summary.arrived, 'pod')} arrived, {summary.scheduled} scheduled, {summary.finished} finished, "
            f"{summary.evicted} evicted",
            f"{count_of(summary.attempts, 'attempt')}, {summary.failed_attempts} failed, {summary.preemptions} made room",
        ]
        if not summary.ok:
            waiting = count_doing(summary.still_waiting, "pod", "wait", "still")
            lines.append(f"{waiting}, {summary.never_scheduled} left without having had a node")
        if self.ignored:
            lines.append(
                "ignored: " + ", ".join(f"{count} {reason}" for reason, count in self.ignored.items())
            )
        over_time: list[Item] = [table_of("series", self.series, ("time",))]
        names = [name for name in LINES if self.series and name in self.series[0]]
        if names:
            chart = Chart(
                title="Over time",
                description=f"{', '.join(LINES[name] for name in names)} over seconds",
                kind="steps",
                across="seconds",
                labels=[float(row["time"]) for row in self.series],
                up="pods",
                series={LINES[name]: [row[name] for row in self.series] for name in names},
            )
            over_time.insert(0, chart)
        return View(
            verdict=_verdict(self),
            facts={
                "release": self.release,
                "scheduled": summary.scheduled,
                "still waiting": summary.still_waiting,
                "events": len(self.events) if history is None else sum(history.counts.values()),
            },
            who=None if history is None else _pod_outcomes(history),
            sections=[
                block(*lines, _waits_table(summary), _mean_use_table(summary)),
                *tables(events),
                Section(parts=over_time),
                *([] if history is None else _sections(self, history)),
            ],
        )


# --- asking -------------------------------------------------------------------------------------------------


def replayed(
    source: ReplayInput,
    options: ReplayOptions,
    observer: Observer = SILENT,
    *,
    places: Places,
    sink: Sink = printed,
    running: Running = nullcontext,
) -> ReplayResult:
    """Replay *source* within *running*, which can stop it; *sink* gets the events if *places* has no file for
    them."""
    inputs = source.inputs
    spec = source.spec
    until = _seconds("until", options.until)
    names = [name for name in fields_dict(ReplayOptions) if name.endswith(("_delay", "cycle_time"))]
    seconds = {name.rpartition("_")[0]: getattr(options, name) for name in names}
    delay_options = options.delays or {}
    for name in delay_options:
        if name not in seconds:
            raise UnknownNameError(
                f'delays: expected {", ".join(seconds)}, got "{name}"{did_you_mean(name, seconds)}'
            )
    seconds |= {name: _seconds(f"delays: {name}", value) or 0.0 for name, value in delay_options.items()}
    delays = Delays(**seconds)
    run = Replay(inputs, source.engine, delays, spec.seed, spec.first_scheduler_name, options.recreate, until)
    history = None if places.report is None else ReplayHistory(run.cluster.tally.events)
    recording = Recording(run, places, history, sink)
    total = len(inputs.events) + len(inputs.operations)
    with recording.writing(), running(recording), observer.counting(total, "replaying", "events") as progress:
        while not recording.stopped and run.step():
            if run.steps % PROGRESS_STEPS == 0:
                progress(run.position + run.workload.position, duration(run.now))
    if history is not None:
        history.end(run)
    names = columns(inputs.resources)
    rows = tuple(dict(zip(names, row, strict=True)) for row in recording.rows) if places.keeps_series else ()
    return ReplayResult(
        source.engine.release.version,
        summary(run),
        (),
        rows,
        run.now,
        len(run.cluster.ledger.nodes),
        inputs.resources,
        inputs.ignored,
        run.is_over,
        history,
        warnings=grouped(inputs.warnings),
    )


def read_input(inputs: GivenCluster, options: ReplayOptions) -> ReplayInput:
    """The input of a replay, as Python gives it."""
    chosen = options.scheduler
    first_spec = spec_of(chosen)
    release = release_asked(chosen)
    return ReplayInput.read(
        paths_among("inputs", inputs),
        first_spec,
        lambda nodes: spec_of(chosen, nodes) if is_auto(release) else first_spec,
        options=options,
        release=release,
        given=loaded_of("inputs", inputs, defaults=options.defaults),
    )


@asked_by(ReplayOptions, "inputs", "scheduler", opens=read_input)
def replay(source: ReplayInput, options: ReplayOptions, observer: Observer) -> ReplayResult:
    """Let pods and nodes come and go over virtual time, and schedule the pods, with queue, back-off and
    preemption.

    *inputs* are paths of manifests, recordings, openb's two CSV files or a scenario, as ``kubeclassic replay
    --help`` lists them; or a Cluster; or objects and manifests. Times are seconds or texts such as ``"90s"``.
    """
    every = _seconds("series_every", options.series_every)
    events = list[EventData]()
    keep = events.append if options.on_event is None else options.on_event
    places = Places(series_every=every or 0.0, keeps_series=every is not None)
    result = replayed(
        source,
        options,
        observer,
        places=places,
        sink=lambda event: None if event["event"] == "Summary" else keep(event),
    )
    return evolve(result, events=tuple(events))


def new_replay(inputs: GivenCluster, scheduler: GivenScheduler = None) -> Replay:
    """A replay at its start, for a program that decides itself where each pod goes.

    ``next_pod()`` goes on to the next decision and returns its pod, None at the end. ``conclude(place(pod,
    node))`` carries out your own decision, ``conclude(decide(pod))`` the scheduler's.

    :param inputs: as :func:`replay` takes them.
    :param scheduler: its options, or a release; its rules say where pods fit.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    source = read_input(at_hand(inputs), ReplayOptions(scheduler=scheduler))
    return Replay(
        source.inputs, source.engine, seed=source.spec.seed, scheduler_name=source.spec.first_scheduler_name
    )


def _seconds(name: str, value: object) -> float | None:
    seconds = None if value is None else parse_duration(value)
    if value is not None and seconds is None:
        raise wrong_type(name, value, DURATION)
    return seconds


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(result: ReplayResult) -> str:
    """Whether every pod got a node, how long pods waited, and how many lost their node. Pages have the record
    below ``summary``."""
    summary = result.summary
    pods = f"{result.summary.arrived:,}"
    waiting = summary.still_waiting
    never = summary.never_scheduled
    longest = summary.waits.get("max")
    start = "" if result.is_over else "Interrupted: "
    if not summary.arrived:
        return f"{start}No pod came."
    sentence = f"All {pods} pods got a node" if summary.arrived > 1 else "The pod got a node"
    if waiting:
        # The name of the only pod that waits, where lives are kept.
        lives = () if result.history is None or waiting > 1 else result.history.waiting
        only_pod = ", ".join(life.pod for life in lives)
        sentence = f"{waiting:,} of {pods} pods still {'waits' if waiting == 1 else 'wait'} for a node{f': {only_pod}' if only_pod else ''}"
        sentence += f", {never:,} left without ever having one" if never else ""
    elif never:
        sentence = f"{never:,} of {pods} pods left without ever having a node"
    if longest:
        sentence += f"; the longest wait was {longest:,.1f} s"
    elif longest is not None and not waiting:
        sentence += ", none had to wait"
    if summary.evicted:
        sentence += (
            f"; {count_of(summary.evicted, 'pod had to leave its node', 'times a pod had to leave its node')}"
        )
    return f"{start}{sentence}."


# --- tables -------------------------------------------------------------------------------------------------


def _waits_table(summary: ReplaySummary) -> Table:
    most = summary.waits.get("max") or 1
    table = "wait; seconds || text; time | seconds | page; | bar | near"
    rows = [[name, seconds, seconds, seconds / most] for name, seconds in summary.waits.items()]
    return Table("waits", table, rows, forms="seen" if rows else "", caption="From arrival to a node")


def _mean_use_table(summary: ReplaySummary) -> Table:
    rows = [[name, use, use] for name, use in summary.mean_use.items()]
    table = "resource; mean use | share; | bar | good"
    return Table("use", table, rows, forms="seen" if rows else "", caption="Mean use over time")


# --- a page -------------------------------------------------------------------------------------------------


def _pod_outcomes(history: ReplayHistory) -> PodOutcomes:
    """The pods that still wait; if there are none, those that had to leave their node."""
    waiting = [PodOutcome(life.pod, "waits", _reason_of(life)) for life in history.waiting]
    if waiting:
        return PodOutcomes("Who still waits", waiting, "pods?is-outcome=waiting")
    lost = [PodOutcome(eviction["pod"], "evicted", f"from {eviction['node']}") for eviction in history.lost]
    return PodOutcomes("Who had to leave a node", lost, "lost")


def _reason_of(pod: PodHistory) -> str:
    """The reason why *pod* waits."""
    return next(iter(reasons_in(pod.message))) if pod.message else "not tried yet"


def _sections(result: ReplayResult, history: ReplayHistory) -> Iterator[Section]:
    reasons = Counter(map(_reason_of, history.waiting)).most_common()
    lead = "By the reason that most nodes had against the pod when it was last tried."
    rows = [[reason, count, count / reasons[0][1]] for reason, count in reasons]
    why = Table("reasons", "reason | name; pods | count; | bar | bad", rows, forms="page")
    yield Section("Who still waits, and why", [why], lead)
    yield Section("Over time", list(_charts(result, history)), forms="page")
    none = on_page("" if result.summary.waits else "No pod got a node.")
    yield Section(
        "How long pods waited",
        [_waits_table(result.summary), _mean_use_table(result.summary), *none],
        name="waits",
        forms="page",
    )
    heads = columns_of(
        "time | seconds; pod | name; node | name | filter; reason | tag | filter; by | name; ran | seconds"
    )
    rows = [[eviction[head.title] for head in heads] for eviction in history.lost]
    lost = Table("lost", heads, rows, noun="eviction", forms="page")
    yield Section("What was lost", [lost], "Pods that had to leave a node before they had finished.")
    if history.nodes:
        yield Section("The nodes", [_node_map(result, history)], name="map-of-nodes", forms="page")
    yield Section("Pods", [_lives_table(history)], name="all-pods")
    kinds = [[kind, history.counts[kind]] for kind in sorted(history.counts) if kind != "Summary"]
    counts = Table("kinds", "event | name; how many | count", kinds, forms="page")
    kept = " first of the" if len(history.news) == KEPT else ""
    rest = f"The{kept} events that the list of pods does not have; the events themselves have all."
    shown = "time | seconds; event | tag | filter; pod | name; node | name | filter; for | name; more"
    rows = [
        [event["time"], event["event"], event.get("pod"), event.get("node"), event.get("by"), _details(event)]
        for event in history.news
    ]
    news = Table("events", shown, rows, noun="event", forms="page")
    yield Section("Events", [counts, news, *on_page(rest if history.news else "")])


def _charts(result: ReplayResult, history: ReplayHistory) -> Iterator[Chart | Paragraph]:
    series = history.columns(result.resources)
    if len(series["time"]) < 2:
        yield from on_page("Nothing happened after the first instant.")
        return

    titles = titles_of(result.resources)
    for title, description, shown, up, percent in (
        (
            "Pods",
            "how many pods wait for a node, and how many have one",
            {"waiting": "pending", "on nodes": "running"},
            "pods",
            False,
        ),
        (
            "Use",
            "which share of all nodes' resources pods on nodes request",
            {title: f"{name}.use" for name, title in titles.items()},
            "share in use",
            True,
        ),
        (
            "Evictions, finished pods, nodes",
            "how many there were up to then; nodes: how many there are",
            {name: name for name in ("evictions", "finished", "nodes")},
            "how many",
            False,
        ),
        (
            "Free room that pods cannot use",
            "which share of the free room lies on nodes where pods like those that came do not fit",
            {title: f"{name}.fragmentation" for name, title in titles.items()},
            "share of the free room",
            True,
        ),
    ):
        values = {name: series[key] for name, key in shown.items() if any(series[key])}
        if values:
            yield Chart(
                title=title,
                description=description,
                kind="lines" if percent else "steps",
                labels=series["time"],
                series=values,
                across="seconds from the start",
                up=up,
                percent=percent,
            )


def _node_map(result: ReplayResult, history: ReplayHistory) -> NodeMap:
    """All nodes that there were: at the start, when most is in use, at the end."""
    names = list(history.nodes)
    first = history.first
    fullest = history.fullest
    last = history.last
    moments = [("at the start", first), ("when most is in use", fullest), ("at the end", last)]
    if not (first and fullest and last and first.time < fullest.time < last.time):
        del moments[1]
    sides = []
    for title, moment in moments:
        if moment is None:
            continue
        count = moment.allocatable.shape[1]
        uses = {}
        for resource, allocatable, used in zip(
            result.resources, moment.allocatable.tolist(), moment.used.tolist(), strict=True
        ):
            uses[resource] = [
                used[at] / allocatable[at] if at < count and allocatable[at] else None
                for at in range(len(names))
            ]
        present = set(np.flatnonzero(moment.allocatable.sum(axis=0)).tolist())
        states = ["" if at in present else ABSENT for at in range(len(names))]
        pods = (
            ()
            if moment.pods is None
            else nodes_with(((pod, names[at]) for pod, at in moment.pods.items()), names)
        )
        sides.append(MapSide(f"{title}, {moment.time:,.1f} s", uses, pods, states if any(states) else ()))
    colours = {ABSENT: "bad"} if any(ABSENT in side.states for side in sides) else {}
    return NodeMap(names, sides, labels_of(list(history.nodes.values())), colours, follows=True)


def _lives_table(history: ReplayHistory) -> Table:
    """A row for each pod."""
    table = columns_of(
        """
        pod | name
        outcome | tag | filter
        came | seconds
        waited | seconds
        nodes | names | filter
        attempts | count
        ended | seconds
        last reason || filter
        """,
        OUTCOMES,
    )
    rows = []
    details = []
    for pod in history.lives.values():
        reason = _reason_of(pod) if pod.message else None
        rows.append([pod.pod, pod.outcome, pod.came, pod.waited, pod.nodes, pod.attempts, pod.ended, reason])
        details.append([["message", pod.message]] if pod.message else None)
    return Table("pods", table, rows, noun="pod", details=details if any(details) else None, forms="page")


def _details(event: Mapping[str, Any]) -> str | None:
    message = event.get("message") or event.get("reason")
    rest = {name: value for name, value in event.items() if name not in SHOWN_FIELDS and name != "attempts"}
    words = [
        f"{name} {value if isinstance(value, str | int) else json.dumps(value)}"
        for name, value in rest.items()
    ]
    return "; ".join([*([str(message)] if message else []), *words]) or None
