"""The lab's report: one page of what was tried, and how it differs from the start."""

from __future__ import annotations

from typing import Any

from ....api.view import Column, Table
from ....api.words import count_of
from ....simulation.lab.labrun import NOWHERE, ClusterLayout, LabRun, RunDifference
from ..page.about import About
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, element
from ..page.parts import BAD, GOOD, NEAR, Section, fact, facts, plain_table, section
from ..page.tables import list_html


def report_html(state: dict[str, Any], start: LabRun, now: LabRun, pins: dict[str, LabRun], about: About) -> str:
    """The page; *state* is the record of the current configuration, with what was moved and edited."""
    difference = RunDifference.between(start, now)
    summary = now.summary
    numbers = facts(
        fact(str(summary["placed"]), "pods placed", GOOD), fact(str(summary["unschedulable"]), "pods without a node", BAD),
        fact(str(len(difference.moved)), "pods on another node than at the start", NEAR),
    )  # fmt: skip
    sections = [
        section("What was tried", _tried(state)),
        section("What changed", _changes(difference), lead=f"Against the start: {difference.words}."),
        section("The cluster", _map(start, now), lead="Each square is a node."),
        section("All pods", _pods(now)),
    ]
    if pins:
        sections.insert(2, _side_by_side(now, pins))
    verdict = f"{difference.words[0].upper()}{difference.words[1:]}" if start is not now else f"{count_of(summary['placed'], 'pod')} placed"
    return page_html(Page(title="kubeclassic lab", verdict=verdict, about=about, sections=sections, lead=numbers))


def _tried(state: dict[str, Any]) -> Markup:
    rows = [["Release", state["release"]], ["Rules of", state["source"]["name"]]]
    rows += [[f"Weight of {name}", str(weight)] for name, weight in state["weights"].items()]
    rows += [[name, "on" if on else "off"] for name, on in state["switches"].items()]
    settings = {"percentage": "Percentage of nodes to score", "hardPodAffinityWeight": "Weight of required affinity"}
    rows += [[title, str(state[name])] for name, title in settings.items() if state[name] is not None]
    rows += [["Edit", text] for text in state["edits"]]
    rows += [["New nodes", f"{one['count']} like {one['like']}"] for one in state["copies"]]
    return element("div", plain_table(["What", "Value"], rows), class_="card")


def _changes(difference: RunDifference) -> Markup:
    rows: list[list[str]] = [[pod, "moves", before, after, ""] for pod, before, after in difference.moved]
    rows += [[pod, "no longer fits", before, "", why] for pod, before, why in difference.lost]
    rows += [[pod, "finds a node", "", node, ""] for pod, node in difference.found]
    rows += [[pod, "is new", "", "", ""] for pod in difference.come] + [[pod, "is gone", "", "", ""] for pod in difference.gone]
    columns = (
        Column("pod", "name"), Column("what", "tag", filter=True), Column("was on", "name"), Column("is on", "name"), Column("why none"),
    )  # fmt: skip
    return list_html(Table("changes", columns, rows, noun="pod"))


def _pods(now: LabRun) -> Markup:
    layout = now.layout
    rows = [
        [pod, None if now.hosts[at] == NOWHERE else layout.nodes[int(now.hosts[at])], now.texts.texts[int(now.whys[at])]]
        for at, pod in enumerate(layout.pods)
    ]
    return list_html(Table("pods", (Column("pod", "name"), Column("node", "name"), Column("why none")), rows, noun="pod"))


def _map(start: LabRun, now: LabRun) -> Markup:
    layout = now.layout
    record = layout.record()
    labels = {label: [node[1][at] or "" for node in record["nodes"]] for at, label in enumerate(record["labels"])}
    sides = [_side("Now", now, record)]
    if start.layout is layout and start is not now:
        sides.insert(0, _side("At the start", start, record))
    return ClusterMap("map", layout.nodes, sides, labels).html()


def _side(title: str, answer: LabRun, record: dict[str, Any]) -> MapSide:
    layout = answer.layout
    there: list[list[int]] = [[] for _ in layout.nodes]
    for pod, node in enumerate(answer.hosts.tolist()):
        if node != NOWHERE:
            there[node].append(pod)
    had = [node[2] for node in record["nodes"]]
    uses = {name: [_use(layout, at, had[row][at], pods) for row, pods in enumerate(there)] for at, name in enumerate(layout.resources)}
    return MapSide(title, uses, [[layout.pods[pod] for pod in pods] for pods in there])


def _use(layout: ClusterLayout, resource: int, had: int, pods: list[int]) -> float | None:
    return sum(layout.requests[pod][resource] for pod in pods) / had if had else None


def _side_by_side(now: LabRun, pins: dict[str, LabRun]) -> Section:
    sides = {"Now": now, **{f"Pin {name}": answer for name, answer in pins.items()}}
    rows = [[title, *(str(answer.summary[key]) for answer in sides.values())] for key, title in
            (("placed", "Pods placed"), ("unschedulable", "Without a node"), ("evicted", "Had to leave"))]  # fmt: skip
    rows += [
        [f"Against {title}", *("" if answer is other else RunDifference.between(other, answer).words for answer in sides.values())]
        for title, other in sides.items()
    ]
    return section("Side by side", element("div", plain_table(["", *sides], rows), class_="card"))
