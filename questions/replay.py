"""``kubeclassic.replay``: what would have happened over time?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from ..api.reading.notices import NoticeGroup, grouped
from ..api.view import LineChart, View, table_of
from ..exceptions import UnknownNameError, did_you_mean, wrong_type
from ..simulation.gcpause import settled
from ..simulation.input import GivenCluster, GivenScheduler, objects_of, options_given, paths_among, spec_of
from ..simulation.releasenotes import input_notices
from ..simulation.replay.inputs.inputs import InputOptions, read_inputs
from ..simulation.replay.inputs.times import DURATION, parse_duration
from ..simulation.replay.inputs.traces import Reading
from ..simulation.replay.journal import EventData, ReplaySummary
from ..simulation.replay.recording import summary
from ..simulation.replay.replay import Replay
from ..simulation.replay.series import Series, columns
from ..simulation.replay.settings import Delays
from .result import Result, Row

Duration = float | str
"""Seconds, or a text such as ``"90s"`` or ``"1.5h"``."""


LINES = {"pending": "pods that wait", "running": "pods on nodes"}
"""Columns of the series that a notebook draws, and what they are."""


@attrs.frozen(eq=False, repr=False)
class ReplayResult(Result):
    """What happened over virtual time."""

    release: str
    summary: ReplaySummary
    """What the event Summary says: counts, waits, use."""
    events: tuple[EventData, ...] = ()
    """Everything that happened, in order, unless it was given to *on_event*."""
    series: tuple[Row, ...] = ()
    """The cluster over time, if it was asked for."""
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every pod got a node."""
        return self.summary.ok

    @property
    def document(self) -> ReplaySummary:
        return self.summary

    def view(self) -> View:
        found = self.summary
        waiting = "1 still waits" if found.still_waiting == 1 else f"{found.still_waiting:,} still wait"
        verdict = f"{found.scheduled:,} pods got a node; {waiting} in the end."
        return View(
            title=type(self).__name__,
            verdict=f"All {found.scheduled:,} pods got a node in the end." if self.ok else verdict,
            facts={
                "release": self.release, "scheduled": found.scheduled, "still waiting": found.still_waiting, "events": len(self.events),
            },
            tables=[table_of("events", self.events, ("time", "event")), table_of("series", self.series, ("time",))],
            lines=self._lines(),
        )  # fmt: skip

    def _lines(self) -> LineChart | None:
        names = [name for name in LINES if self.series and name in self.series[0]]
        values = {LINES[name]: [row[name] for row in self.series] for name in names}
        return LineChart("Over time", "seconds", [float(row["time"]) for row in self.series], values) if values else None



def replay(
    inputs: GivenCluster, scheduler: GivenScheduler = None, *, compress_time: float = 1.0, ignore_times: bool = False,
    as_recorded: bool = False, run_time: Duration | None = None, delays: Mapping[str, Duration] | None = None, recreate: bool = True,
    until: Duration | None = None, series_every: Duration | None = None, on_event: Callable[[EventData], None] | None = None,
    cron_jobs: bool = False, defaults: bool = True,
) -> ReplayResult:  # fmt: skip
    """Let pods and nodes come and go over virtual time, and schedule the pods, with queue, back-off and preemption.

    :param inputs: paths of manifests, recordings, openb's two CSV files or a scenario, as ``kubeclassic replay --help`` lists them; or a
        Cluster; or objects and manifests.
    :param compress_time: let all times pass that many times as fast.
    :param ignore_times: all pods come at once, and stay.
    :param as_recorded: pods leave at their recorded time, not after their recorded run time.
    :param run_time: of pods that have none of their own; None: for ever.
    :param delays: how long things take: ``cycle``, ``binding``, ``provisioning``, ``startup``, ``termination``, ``failure``.
    :param recreate: replace evicted pods of a controller, under another name.
    :param until: when to stop; None: when nothing happens any more.
    :param series_every: the virtual time between two rows of the series; 0: a row an instant; None: no series.
    :param on_event: gets each event as it happens; the result then has none.
    :param cron_jobs: make the pods of one Job for each CronJob that has none and is not suspended.
    :param defaults: False: take objects as they are, without the API server's defaults.
    :param scheduler: its options, such as ``Classic(policy="policy.json")``, or a release.

    Times are seconds or texts such as ``"90s"``. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    spec = spec_of(scheduler)
    names = spec.scheduler_names
    reading = Reading(ignore_times=ignore_times, as_recorded=as_recorded, run_time=_seconds("run_time", run_time))
    if not compress_time > 0:
        raise wrong_type("compress_time", compress_time, "a number above 0")
    choice = InputOptions(
        reading=reading, compress=compress_time, defaults=defaults, scheduler_names=names, priorities=spec.keeps_priorities,
        keeps_manifests=spec.may_call_extenders, cron_jobs=cron_jobs,
    )  # fmt: skip
    read = read_inputs(paths_among("inputs", inputs), choice, objects=objects_of("inputs", inputs, defaults=defaults))
    engine = spec.engine(read.config_maps)
    read = attrs.evolve(read, warnings=input_notices(read, engine.algorithm, options_given(scheduler).release))
    made = Replay(read, engine, _delays(delays or {}), spec.seed, next(iter(names)), recreate, _seconds("until", until))
    events, rows = list[EventData](), list[Row]()
    made.cluster.journal.sink = events.append if on_event is None else on_event
    every = _seconds("series_every", series_every)
    if every is not None:
        wanted = columns(read.resources)
        made.at_instant = Series(lambda row: rows.append(dict(zip(wanted, row, strict=True))), every).at_instant
    with settled():
        for _ in made.run():
            pass
    return ReplayResult(spec.version, summary(made), tuple(events), tuple(rows), grouped(read.warnings))


def _seconds(name: str, given: object) -> float | None:
    found = None if given is None else parse_duration(given)
    if given is not None and found is None:
        raise wrong_type(name, given, DURATION)
    return found


def _delays(given: Mapping[str, Duration]) -> Delays:
    known = [field.name for field in attrs.fields(Delays)]
    for name in given:
        if name not in known:
            raise UnknownNameError(f'delays: got "{name}", wanted {", ".join(known)}{did_you_mean(name, known)}')
    return Delays(**{name: _seconds(f"delays: {name}", value) or 0.0 for name, value in given.items()})
