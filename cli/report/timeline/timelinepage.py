"""A replay as a page: who waited and how long, the cluster over time, what was lost, nodes at several times, every pod, the news."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ....api.record import plain
from ....api.view import step
from ....api.words import short_name
from ....simulation.records import reasons_in
from ....simulation.replay.recording import summary
from ....simulation.replay.replay import Replay
from ..page.about import About
from ..page.charts import Chart, ChartSeries
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, element, named, number, sentence, share, told
from ..page.parts import BAD, GOOD, NEAR, SAME, Section, card, counted, fact, facts, grid, plain_table, section, soft, track
from ..page.tables import list_html
from .collected import KEPT, Collected, Life
from .lists import event_table, lost_table, pod_table
from .nodehistory import replay_map

Record = dict[str, Any]
CARDS = (
    ("arrived", "pods came", SAME), ("stillWaiting", "still wait at the end", BAD),
    ("neverScheduled", "left without ever having a node", BAD),
    ("evicted", "evictions", BAD), ("finished", "finished", GOOD), ("failedAttempts", "attempts failed", NEAR),
    ("preemptions", "times pods made room", NEAR),
)  # fmt: skip
ALWAYS = ("arrived", "stillWaiting", "evicted", "finished")
WAITS = {"mean": "mean", "p50": "half of the pods, at most", "p90": "9 of 10", "p95": "95 of 100", "p99": "99 of 100", "max": "the longest"}
SECONDS = "seconds from the start"


def replay_html(replay: Replay, collected: Collected, about: About) -> str:
    """The replay that *collected* has followed, as a page."""
    record = collected.record(plain(summary(replay)), replay.inputs.resources)
    sections = list(_sections(record, replay, collected))
    lead = counted("summary", record["summary"], CARDS, ALWAYS)
    return page_html(Page("kubeclassic replay", verdict(record, is_over=replay.is_over), about, sections, lead=lead))


# --- the outcome ----------------------------------------------------------------------------------------------------


def verdict(record: Record, *, is_over: bool = True) -> Markup:
    """Whether every pod got a node, how long pods waited, and how many lost their node."""
    found = record["summary"]
    came, waiting, never = (told(f"summary.{key}", number(found[key])) for key in ("arrived", "stillWaiting", "neverScheduled"))
    start = "" if is_over else "Interrupted: "
    if not found["arrived"]:
        return sentence(start, "No pod came.")
    pieces: list[Text] = []
    if found["stillWaiting"]:
        pieces.append(sentence(waiting, " of ", came, " pods still ", "waits" if found["stillWaiting"] == 1 else "wait", " for a node"))
    if found["neverScheduled"]:
        of = "" if pieces else sentence(" of ", came, " pods")
        pieces.append(sentence(never, of, " left without ever having one" if pieces else " left without ever having a node"))
    if not pieces:
        pieces.append(sentence("All ", came, " pods got a node") if found["arrived"] > 1 else sentence("The pod got a node"))
    return sentence(start, pieces[0], *(sentence(", ", piece) for piece in pieces[1:]), _waited(found), _evicted(found), ".")


def _waited(found: Record) -> Text:
    longest = found["waits"].get("max")
    if not longest:
        return "" if longest is None else ", none had to wait" if not found["stillWaiting"] else ""
    return sentence("; the longest wait was ", told("summary.waits.max", f"{longest:,.1f} s"))


def _evicted(found: Record) -> Text:
    if not found["evicted"]:
        return ""
    words = " pod had to leave its node" if found["evicted"] == 1 else " times a pod had to leave its node"
    return sentence("; ", told("summary.evicted", number(found["evicted"])), words)


def _sections(record: Record, replay: Replay, collected: Collected) -> Iterator[Section]:
    waiting = [life for life in collected.lives.values() if life.outcome == "waiting"]
    if waiting:
        lead = "By the reason that most nodes had against the pod when it was last tried."
        yield section("Who still waits, and why", card("", _reasons(waiting)), lead=lead)
    yield section("Over time", *_charts(record, replay.inputs.resources))
    yield section("How long pods waited", *_waits(record), name="waits")
    if collected.lost:
        yield _lost(collected)
    if collected.nodes:
        yield section("The nodes", replay_map(collected, replay.inputs.resources).html(), name="map-of-nodes")
    yield section("Pods", list_html(pod_table(collected)), name="all-pods")
    yield section("Events", *_events(record, collected))


def _reasons(waiting: list[Life]) -> Markup:
    found = Counter(next(iter(reasons_in(life.message))) if life.message else "not tried yet" for life in waiting).most_common()
    rows = [[named(reason), _derived(count), track(count / found[0][1], BAD)] for reason, count in found]
    return plain_table(["reason", "pods", ""], rows, "Pods that still wait, by reason")


def _derived(count: int) -> Markup:
    """A count that the page makes of the events."""
    return element("span", number(count), class_="derived")


# --- over time ------------------------------------------------------------------------------------------------------


def _charts(record: Record, resources: tuple[str, ...]) -> Iterator[Text]:
    series, times = record["series"], record["series"]["time"]
    if len(times) < 2:
        yield soft("Nothing happened after the first instant.")
        return
    counts = {"waiting": "pending", "on nodes": "running"}
    yield card("", _chart("Pods", "how many pods wait for a node, and how many have one", record, counts, up="pods"))
    used = {short_name(name): f"{name}.use" for name in resources if any(series[f"{name}.use"])}
    yield card("", _chart("Use", "which share of all nodes' resources pods on nodes request", record, used, percent=True))
    totals = {"evictions": "evictions", "finished": "finished", "nodes": "nodes"}
    shown = {name: key for name, key in totals.items() if any(series[key])}
    yield card("", _chart("Evictions, finished pods, nodes", "how many there were up to then; nodes: how many there are", record, shown))
    lost = {short_name(name): f"{name}.fragmentation" for name in resources if any(series[f"{name}.fragmentation"])}
    if lost:
        text = "which share of the free room lies on nodes where pods like those that came do not fit"
        yield card("", _chart("Free room that pods cannot use", text, record, lost, percent=True))


def _chart(title: str, text: str, record: Record, shown: dict[str, str], *, up: str = "", percent: bool = False) -> Markup:
    series = [ChartSeries(name, record["series"][key], f"series.{step(key)}", at) for at, (name, key) in enumerate(shown.items())]
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
            [named(WAITS.get(name, name)), told(f"summary.waits.{name}", f"{seconds:,.3f} s"), track(seconds / most, NEAR)]
            for name, seconds in found["waits"].items()
        ]
        cards.append(card("From arrival to a node", plain_table(["pods", "waited", ""], rows, "From arrival to a node")))
    if found["meanUse"]:
        uses = [
            [named(short_name(name)), told(f"summary.meanUse.{step(name)}", share(use)), track(use, GOOD)]
            for name, use in found["meanUse"].items()
        ]
        cards.append(card("Mean use over time", plain_table(["resource", "use", ""], uses, "Mean use over time")))
    yield grid(*cards) if cards else soft("No pod got a node.")


# --- what was lost, and events --------------------------------------------------------------------------------------


def _lost(collected: Collected) -> Section:
    ran = [one["ran"] for one in collected.lost if one["ran"] is not None]
    cards = facts(
        fact(_derived(len(collected.lost)), "times that a pod lost its node", BAD),
        fact(element("span", f"{sum(ran):,.0f} s", class_="derived"), "that these pods had run", BAD),
        *(fact(_derived(collected.counts[kind]), text, BAD) for kind, text in (("NodeFailed", "nodes failed"),) if collected.counts[kind]),
    )
    return section("What was lost", cards, list_html(lost_table(collected)), lead="Pods that had to leave a node before they had finished.")


def _events(record: Record, collected: Collected) -> Iterator[Text]:
    rows = [[named(kind), told(f"events.{kind}", number(count))] for kind, count in sorted(record["events"].items()) if kind != "Summary"]
    yield card("How many of each kind", plain_table(["event", "how many"], rows, "How many of each kind"))
    if collected.news:
        yield list_html(event_table(collected))
        more = len(collected.news) == KEPT
        first = "The first of them: the" if more else "The"
        yield soft(first, " pods that came, got a node, started and finished are in the list of pods; the events themselves have all.")
