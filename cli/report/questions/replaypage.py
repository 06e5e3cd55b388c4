"""A replay as a page: who waited and how long, the cluster over time, what was lost, nodes at several times, every pod, the news."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....api.record import plain
from ....api.view import Table
from ....api.words import short_name
from ....core.decision.fiterror import reasons_in
from ....questions.replay import ReplayResult
from ....simulation.nodesbyuse import grouped
from ....simulation.replay.history import KEPT, NodesAt, PodHistory, ReplayHistory
from ..page.about import About
from ..page.charts import Chart, ChartSeries
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, counted, named, number, sentence, share, spoken
from ..page.outcome import PodOutcome, who_html
from ..page.parts import BAD, GOOD, NEAR, SAME, Section, card, fact, facts, facts_of, grid, plain_table, section, soft, track
from ..page.tables import list_html
from .nodemap import labels_of

Record = dict[str, Any]
CARDS = (
    ("summary.arrived", "pods came", SAME), ("summary.stillWaiting", "still wait at the end", BAD),
    ("summary.neverScheduled", "left without ever having a node", BAD), ("summary.evicted", "evictions", BAD),
    ("summary.finished", "finished", GOOD), ("summary.failedAttempts", "attempts failed", NEAR),
    ("summary.preemptions", "times pods made room", NEAR),
)  # fmt: skip
ALWAYS = ("summary.arrived", "summary.stillWaiting", "summary.evicted", "summary.finished")
WAITS = {"mean": "mean", "p50": "half of the pods, at most", "p90": "9 of 10", "p95": "95 of 100", "p99": "99 of 100", "max": "the longest"}
SECONDS = "seconds from the start"
ABSENT = "not there"


def replay_html(found: ReplayResult, history: ReplayHistory, about: About) -> str:
    """*found*, of which *history* was kept, as a page."""
    record = history.record(plain(found.summary), found.resources)
    sections = list(_sections(record, found, history))
    lead = facts(*facts_of(record, CARDS, ALWAYS))
    return page_html(Page("kubeclassic replay", spoken(found.view().verdict), about, sections, lead, _who(history)))


def _who(history: ReplayHistory) -> Markup:
    """The pods that still wait by name, or those that had to leave their node."""
    waiting = [PodOutcome(pod.pod, "waits", reason_of(pod)) for pod in history.lives.values() if pod.outcome == "waiting"]
    lost = [PodOutcome(one["pod"], "evicted", sentence("from ", named(one["node"] or ""))) for one in history.lost]
    return who_html("Who still waits", waiting, "pods?is-outcome=waiting") or who_html("Who had to leave a node", lost, "lost")


def reason_of(pod: PodHistory) -> str:
    """Why *pod* waits."""
    return next(iter(reasons_in(pod.message))) if pod.message else "not tried yet"


def _sections(record: Record, found: ReplayResult, history: ReplayHistory) -> Iterator[Section]:
    lists = {table.name: table for table in found.view().tables_of("page")}
    waiting = [pod for pod in history.lives.values() if pod.outcome == "waiting"]
    if waiting:
        lead = "By the reason that most nodes had against the pod when it was last tried."
        yield section("Who still waits, and why", card("", _reasons(waiting)), lead=lead)
    yield section("Over time", *_charts(record, found.resources))
    yield section("How long pods waited", *_waits(record), name="waits")
    if history.lost:
        yield _lost(history, lists["lost"])
    if history.nodes:
        yield section("The nodes", _map(history, found.resources).html(), name="map-of-nodes")
    yield section("Pods", list_html(lists["pods"]), name="all-pods")
    yield section("Events", *_events(record, history, lists["events"]))


def _reasons(waiting: Sequence[PodHistory]) -> Markup:
    found = Counter(map(reason_of, waiting)).most_common()
    rows = [[named(reason), number(count), track(count / found[0][1], BAD)] for reason, count in found]
    return plain_table(["reason", "pods", ""], rows, "Pods that still wait, by reason")


# --- over time ------------------------------------------------------------------------------------------------------


def _charts(record: Record, resources: tuple[str, ...]) -> Iterator[Text]:
    series, times = record["series"], record["series"]["time"]
    if len(times) < 2:
        yield soft("Nothing happened after the first instant.")
        return
    counts = {"waiting": "pending", "on nodes": "running"}
    charts = [_chart("Pods", "how many pods wait for a node, and how many have one", record, counts, up="pods")]
    used = {short_name(name): f"{name}.use" for name in resources if any(series[f"{name}.use"])}
    text = "which share of all nodes' resources pods on nodes request"
    charts.append(_chart("Use", text, record, used, up="share in use", percent=True))
    totals = {"evictions": "evictions", "finished": "finished", "nodes": "nodes"}
    shown = {name: key for name, key in totals.items() if any(series[key])}
    text = "how many there were up to then; nodes: how many there are"
    charts.append(_chart("Evictions, finished pods, nodes", text, record, shown, up="how many"))
    lost = {short_name(name): f"{name}.fragmentation" for name in resources if any(series[f"{name}.fragmentation"])}
    if lost:
        text = "which share of the free room lies on nodes where pods like those that came do not fit"
        charts.append(_chart("Free room that pods cannot use", text, record, lost, up="share of the free room", percent=True))
    yield grid(*(card("", chart) for chart in charts), wide=True)


def _chart(title: str, text: str, record: Record, shown: dict[str, str], *, up: str, percent: bool = False) -> Markup:
    series = [ChartSeries(name, record["series"][key], at) for at, (name, key) in enumerate(shown.items())]
    kind = "lines" if percent else "steps"
    return Chart(
        title=title, description=text, kind=kind, labels=record["series"]["time"], series=series, across=SECONDS, up=up, percent=percent,
        wide=True,
    ).html()  # fmt: skip


def _waits(record: Record) -> Iterator[Text]:
    found, cards = record["summary"], []
    if found["waits"]:
        most = found["waits"]["max"] or 1
        rows = [
            [named(WAITS.get(name, name)), f"{seconds:,.3f} s", track(seconds / most, NEAR)]
            for name, seconds in found["waits"].items()
        ]
        cards.append(card("From arrival to a node", plain_table(["pods", "waited", ""], rows, "From arrival to a node")))
    if found["meanUse"]:
        uses = [
            [named(short_name(name)), share(use), track(use, GOOD)]
            for name, use in found["meanUse"].items()
        ]
        cards.append(card("Mean use over time", plain_table(["resource", "use", ""], uses, "Mean use over time")))
    yield grid(*cards) if cards else soft("No pod got a node.")


# --- the nodes -----------------------------------------------------------------------------------------------------


def _map(history: ReplayHistory, resources: Sequence[str]) -> ClusterMap:
    """All nodes that there were, at two or three times."""
    names = list(history.nodes)
    sides = [_side(title, moment, names, resources) for title, moment in _moments(history)]
    colours = {ABSENT: BAD} if any(ABSENT in side.states for side in sides) else {}
    return ClusterMap("map", names, sides, labels_of(list(history.nodes.values())), colours=colours, follows=True)


def _moments(history: ReplayHistory) -> Iterator[tuple[str, NodesAt]]:
    first, fullest, last = history.first, history.fullest, history.last
    if first is not None:
        yield f"at the start, {first.time:,.1f} s", first
    if fullest is not None and first is not None and last is not None and first.time < fullest.time < last.time:
        yield f"when most is in use, {fullest.time:,.1f} s", fullest
    if last is not None:
        yield f"at the end, {last.time:,.1f} s", last


def _side(title: str, moment: NodesAt, names: Sequence[str], resources: Sequence[str]) -> MapSide:
    known = moment.allocatable.shape[1]
    uses: dict[str, list[float | None]] = {}
    for row, resource in enumerate(resources):
        has, used = moment.allocatable[row].tolist(), moment.used[row].tolist()
        uses[resource] = [used[at] / has[at] if at < known and has[at] else None for at in range(len(names))]
    there = set(np.flatnonzero(moment.allocatable.sum(axis=0)).tolist())
    states = ["" if at in there else ABSENT for at in range(len(names))]
    pods = () if moment.pods is None else grouped(((pod, names[row]) for pod, row in moment.pods.items()), names)
    return MapSide(title, uses, pods, states if any(states) else ())


# --- what was lost, and events --------------------------------------------------------------------------------------


def _lost(history: ReplayHistory, lost: Table) -> Section:
    ran, failed = [one["ran"] for one in history.lost if one["ran"] is not None], history.counts["NodeFailed"]
    cards = facts(
        fact(number(len(history.lost)), "times that a pod lost its node", BAD),
        fact(f"{sum(ran):,.0f} s", "that these pods had run", BAD),
        *([fact(number(failed), "nodes failed", BAD)] if failed else []),
    )
    return section("What was lost", cards, list_html(lost), lead="Pods that had to leave a node before they had finished.")


def _events(record: Record, history: ReplayHistory, news: Table) -> Iterator[Text]:
    rows = [[named(kind), counted(record, f"events.{kind}")] for kind in sorted(record["events"]) if kind != "Summary"]
    yield card("How many of each kind", plain_table(["event", "how many"], rows, "How many of each kind"))
    if history.news:
        yield list_html(news)
        more = len(history.news) == KEPT
        first = "The first of them: the" if more else "The"
        yield soft(first, " pods that came, got a node, started and finished are in the list of pods; the events themselves have all.")
