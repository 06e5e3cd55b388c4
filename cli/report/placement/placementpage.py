"""A simulation as a page: the outcome, who finds no place and why, the cluster before and after, every pod, node and cycle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ....api.view import step
from ....api.words import short_name
from ....core.pods.requests import PODS
from ....simulation.nodesbyuse import NodeUse
from ..page.about import About
from ..page.amounts import amount_told
from ..page.charts import Chart, ChartSeries
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, named, share, told
from ..page.parts import BAD, GOOD, HELD, NEAR, SAME, Section, card, counted, grid, note, plain_table, section, soft, track
from ..page.tables import list_html
from ..questions.nodemap import labels_of
from .lists import cycle_table, eviction_list, node_table, pod_table
from .reasons import by_reason, verdict

Record = dict[str, Any]
TENTHS = [f"{10 * tenth}" for tenth in range(10)]
TAKES = "takes pods"
CARDS = (
    ("placed", "pods with a node", GOOD), ("unschedulable", "pods without a node", BAD),
    ("waiting", "pods that plugins make wait", NEAR), ("gated", "pods held back and not tried", HELD),
    ("evicted", "pods evicted", BAD), ("replaced", "evicted pods made again", NEAR), ("nodes", "nodes", SAME), ("cycles", "cycles", SAME),
)  # fmt: skip
ALWAYS = ("placed", "unschedulable", "nodes", "cycles")


@attrs.frozen
class PlacementBoard:
    """All nodes, and the pods on each of them before and after."""

    nodes: Sequence[NodeUse]
    before: Sequence[Sequence[str]]
    after: Sequence[Sequence[str]]


def simulation_html(record: Record, standing: PlacementBoard, about: About, shown: str = "") -> str:
    """*record*, with its nodes, as a page; *shown*: which pods or nodes alone are listed, in words."""
    lead = counted("summary", record["summary"], CARDS, ALWAYS)
    return page_html(Page("kubeclassic simulate", verdict(record), about, list(_sections(record, standing, shown)), lead=lead))


def _sections(record: Record, standing: PlacementBoard, shown: str) -> Iterator[Section]:
    if record["reasons"]:
        lead = "A pod can have several reasons; it is counted by the one that most nodes have against it."
        yield section("Who finds no node, and why", card("", by_reason(record)), lead=lead)
    if record["evicted"]:
        lead = "Evicted pods do not come back unless their owner makes them again (--reschedule-evicted)."
        yield section("Who has to leave", list_html(eviction_list(record)), lead=lead, name="evictions")
    yield section("Before and after", _map(standing).html())
    yield _resources(record)
    only = [note("The lists show ", named(shown), " alone; the numbers above are of all.")] if shown else []
    yield section("Pods", *only, list_html(pod_table(record)), name="all-pods")
    yield section("Nodes", list_html(node_table(record)), name="all-nodes")
    lead = "In the order of the decisions. A pod that makes room is tried again after the others."
    yield section("Cycles", list_html(cycle_table(record)), lead=lead, name="all-cycles")


# --- nodes before and after -----------------------------------------------------------------------------------------


def _map(standing: PlacementBoard) -> ClusterMap:
    names = [node.node for node in standing.nodes]
    taking = [bool(set(after) - set(before)) for before, after in zip(standing.before, standing.after, strict=True)]
    # Where most nodes take pods, a mark on each of them would say nothing and hide their colour.
    states = [TAKES if takes and 2 * sum(taking) <= len(taking) else "" for takes in taking]
    sides = [
        MapSide("before", _uses(standing.nodes, after=False), standing.before if any(standing.before) else ()),
        MapSide("after", _uses(standing.nodes, after=True), standing.after, states),
    ]
    return ClusterMap("map", names, sides, labels_of(standing.nodes), colours={TAKES: GOOD} if any(states) else {})


def _uses(nodes: Sequence[NodeUse], *, after: bool) -> dict[str, list[float | None]]:
    """Resource -> the share in use on each node; resources that no pod requests in the end are left out."""
    found: dict[str, list[float | None]] = {}
    for name in dict.fromkeys(name for node in nodes for name in (*node.resources, PODS)):
        amounts = [node.pods if name == PODS else node.resources[name] for node in nodes]
        if any(one.requested or one.requested_before for one in amounts):
            found[name] = [
                (one.requested if after else one.requested_before) / one.allocatable if one.allocatable > 0 else None for one in amounts
            ]
    return found


# --- use of resources -----------------------------------------------------------------------------------------------


def _resources(record: Record) -> Section:
    before = {usage["resource"]: (at, usage) for at, usage in enumerate(record["resourcesBefore"])}
    rows = [_usage(at, usage, before.get(usage["resource"])) for at, usage in enumerate(record["summary"]["resources"])]
    titles = ["resource", "requested before", "requested", "allocatable", "use before", "use", "", "emptiest node", "fullest node"]
    used = [usage["resource"] for usage in record["summary"]["resources"] if usage["requested"]]
    charts = [card(short_name(name), _chart(record, name).html()) for name in used if name in record["nodesByUse"]]
    table = card("", plain_table(titles, rows, "Use of each resource"))
    told_first = soft("How many nodes are how full: from 0 to 10 percent, from 10 to 20 percent, and so on.") if charts else ""
    return section("Use of each resource", table, told_first, grid(*charts) if charts else "")


def _usage(at: int, usage: Record, before: tuple[int, Record] | None) -> list[Markup | None]:
    name, path = usage["resource"], f"summary.resources.{at}"
    requested, allocatable = (amount_told(f"{path}.{field}", name, usage[field]) for field in ("requested", "allocatable"))
    uses = [told(f"{path}.{field}", share(usage[field])) for field in ("use", "emptiest", "fullest")]
    first: list[Markup | None] = [None, None]
    if before is not None:
        place, earlier = f"resourcesBefore.{before[0]}", before[1]
        first = [amount_told(f"{place}.requested", name, earlier["requested"]), told(f"{place}.use", share(earlier["use"]))]
    bar = track(usage["use"], GOOD)
    return [named(short_name(name)), first[0], requested, allocatable, first[1], uses[0], bar, *uses[1:]]


def _chart(record: Record, name: str) -> Chart:
    nothing = [0] * len(TENTHS)
    sides = (("before", "nodesByUseBefore", 1), ("after", "nodesByUse", 0))
    series = [
        ChartSeries(title, record[key].get(name, nothing), f"{key}.{step(name)}" if name in record[key] else "", at)
        for title, key, at in sides
    ]
    what = short_name(name)
    return Chart(
        title="Nodes by use", description=f"how many nodes have how much of their {what} requested", labels=TENTHS, series=series,
        across=f"percent of {what} in use, from", up="nodes",
    )  # fmt: skip
