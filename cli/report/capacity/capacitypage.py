"""How many more fit, as a page: the count, what stops the next copy, where the copies go, and what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ....api.objects import Node
from ....api.record import plain
from ....core.pods.requests import PODS
from ....simulation.capacity.answer import CapacityAnswer
from ..page.about import About
from ..page.amounts import amount_told, amount_with_unit, column_kind
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, joined, named, number, sentence, step, told
from ..page.parts import BAD, GOOD, NEAR, Section, bullets, card, fact, facts, grid, note, paragraph, plain_table, section, soft, track
from ..page.tables import Column, DataTable
from ..prose import listed
from ..questions.nodemap import labels_of, uses_of
from ..units import short_name
from ..words import count_of

Record = dict[str, Any]
TAKES = "takes copies"


@attrs.frozen
class CapacityBoard:
    """The nodes, and the pods of the cluster on each of them before and after; copies do not count."""

    nodes: Sequence[Node]
    before: Sequence[Sequence[str]]
    after: Sequence[Sequence[str]]

    @property
    def names(self) -> list[str]:
        """The names of the nodes."""
        return [node.name for node in self.nodes]


def capacity_html(answer: CapacityAnswer, standing: CapacityBoard, about: About) -> str:
    """*answer* as a page."""
    record = plain(answer.document())
    names = listed([template["name"] for template in record["templates"]])
    sections = (_stop(record), _where(record, answer, standing), _left(record), _asked(record))
    return page_html(Page(f"kubeclassic capacity: {names}", verdict(record), about, sections, lead=_lead(record)))


# --- the outcome ----------------------------------------------------------------------------------------------------


def verdict(record: Record) -> Markup:
    """The count in one sentence, with what stops the next copy."""
    of, fits, wanted = sentence(" of ", _names(record)), record["fits"], record["wanted"]
    if wanted is not None and fits >= wanted:
        return sentence("All ", told("wanted", number(wanted)), " copies", of, " fit.") if wanted > 1 else sentence("A copy", of, " fits.")
    if wanted is not None:
        return sentence(
            "Only ", told("fits", number(fits)), " of the ", told("wanted", number(wanted)), " copies", of, " fit", _then(record), "."
        )
    if not fits:
        return sentence("No copy", of, " fits", _then(record), ".")
    return sentence(
        told("fits", number(fits)), " more ", "copy" if fits == 1 else "copies", of, " fit" + "s" * (fits == 1), _then(record), "."
    )


def _names(record: Record) -> Markup:
    return joined((named(template["name"]) for template in record["templates"]), " and ")


def _then(record: Record) -> Text:
    """What stops the next copy, in a few words."""
    stop, then = record["stop"], "then " if record["fits"] else ""
    if stop["kind"] == "LimitReached":
        return ", as many as were to be counted"
    if _ran_out(record):
        nodes = sentence(told("stop.shortages.0.nodes", number(stop["shortages"][0]["nodes"])), _nodes_word(stop["shortages"][0]["nodes"]))
        return sentence(f"; {then}", named(short_name(stop["shortages"][0]["resource"])), " has run out on ", nodes)
    if stop["kind"] == "Unschedulable" and stop["reasons"]:
        reason, often = next(iter(stop["reasons"].items()))
        nodes = sentence(told(f"stop.reasons.{step(reason)}", number(often)), _nodes_word(often))
        return sentence(f"; {then}", nodes, " turn it down" if often != 1 else " turns it down", ": ", named(reason))
    return sentence(f"; {then}", "no node is left for it" if stop["kind"] == "Unschedulable" else "the next one is not admitted")


def _ran_out(record: Record) -> bool:
    """Whether shortages stop the next copy on as many nodes as took copies: then other reasons of other nodes are no news."""
    return bool(record["stop"]["shortages"]) and sum(one["nodes"] for one in record["stop"]["shortages"]) >= len(record["nodes"])


def _nodes_word(count: int) -> str:
    return " node" if count == 1 else " nodes"


def _lead(record: Record) -> Markup:
    templates, pending = record["templates"], record["pending"]
    cards = [
        fact(told(f"templates.{at}.fits", number(one["fits"])), sentence("copies of ", named(one["name"])))
        for at, one in enumerate(templates)
    ]
    cards.append(fact(told("nodes.length", number(len(record["nodes"]))), "nodes that take copies", GOOD))
    cards += [
        fact(told(f"pending.{key}", number(pending[key])), text, colour)
        for key, text, colour in (
            ("placedFirst", "waiting pods placed before all copies", GOOD), ("waiting", "pods of the cluster still wait", NEAR),
        )
        if pending[key]
    ]  # fmt: skip
    if record["evicted"]:
        cards.append(fact(told("evicted.length", number(len(record["evicted"]))), "pods evicted to make room", BAD))
    if record["excludedNodes"]:
        cards.append(fact(told("excludedNodes.length", number(len(record["excludedNodes"]))), "nodes left out", NEAR))
    return facts(*cards)


# --- why ------------------------------------------------------------------------------------------------------------


def _stop(record: Record) -> Section:
    stop = record["stop"]
    parts: list[Text] = [paragraph(named(stop["message"]))]
    if stop["shortages"]:
        parts.append(bullets(_short(at, one) for at, one in enumerate(stop["shortages"])))
    if stop["reasons"]:
        parts.append(grid(_reasons(stop), *([_unused(stop)] if stop["stranded"] or stop["outOfReach"] else [])))
    return section("What stops the next copy", *parts)


def _short(at: int, shortage: Record) -> Markup:
    resource, path = shortage["resource"], f"stop.shortages.{at}"
    nodes = sentence(told(f"{path}.nodes", number(shortage["nodes"])), _nodes_word(shortage["nodes"]))
    names = joined(map(named, shortage["examples"]))
    such = sentence(": ", names) if shortage["nodes"] <= len(shortage["examples"]) else sentence(", such as ", names)
    left = sentence("; ", amount_with_unit(f"{path}.left", resource, shortage["left"]), " left there in all") if shortage["left"] else ""
    return sentence(named(short_name(resource)), " has run out on ", nodes, such, left)


def _reasons(stop: Record) -> Markup:
    most = max(stop["reasons"].values())
    rows = [
        [named(reason), told(f"stop.reasons.{step(reason)}", number(nodes)), track(nodes / most, NEAR)]
        for reason, nodes in stop["reasons"].items()
    ]
    return card(
        "Reasons against the next copy",
        plain_table(["reason", "nodes", ""], rows, "Reasons against the next copy"),
        soft("A node can have several."),
    )


def _unused(stop: Record) -> Markup:
    names = dict.fromkeys([*stop["stranded"], *stop["outOfReach"]])
    rows = [
        [
            named(short_name(name)),
            *(amount_told(f"stop.{side}.{step(name)}", name, stop[side].get(name)) for side in ("stranded", "outOfReach")),
        ]
        for name in names
    ]
    table = plain_table(["resource", "stranded", "out of reach"], rows, "What no copy can use")
    return card(
        "What no copy can use",
        table,
        soft("Stranded: on nodes that are short of something else. Out of reach: on nodes that turn the pod down."),
    )


# --- where ----------------------------------------------------------------------------------------------------------


def _where(record: Record, answer: CapacityAnswer, standing: CapacityBoard) -> Section:
    parts: list[Text] = [_map(record, answer, standing).html()]
    if record["zones"]:
        parts.append(card("Copies by zone", _zones(record)))
    if record["evicted"]:
        parts.append(_evicted(record))
    return section("Where the copies go", *parts, _nodes(answer).html())


def _map(record: Record, answer: CapacityAnswer, standing: CapacityBoard) -> ClusterMap:
    names, copies = standing.names, record["nodes"]
    states = [TAKES if name in copies else "" for name in names]
    told_copies = [count_of(copies[name], "copy", "copies") if name in copies else "" for name in names]
    before = MapSide("before", uses_of(answer.counted.before, names), standing.before)
    after = MapSide("with all copies", uses_of(answer.counted.after, names), standing.after, states, told_copies)
    return ClusterMap("map", names, [before, after], labels_of(standing.nodes), colours={TAKES: GOOD})


def _zones(record: Record) -> Markup:
    most = max(1, *record["zones"].values())
    rows = [
        [named(zone or "no zone"), told(f"zones.{step(zone)}", number(copies)), track(copies / most, GOOD)]
        for zone, copies in record["zones"].items()
    ]
    return plain_table(["zone", "copies", ""], rows, "Copies by zone")


def _evicted(record: Record) -> Markup:
    rows = [[pod, by] for pod, by in record["evicted"].items()]
    columns = (Column("pod that has to leave", "name"), Column("the copy that takes its place", "name"))
    return card("Evicted to make room", DataTable("evicted", columns, rows, noun="pod").html())


def _nodes(answer: CapacityAnswer) -> DataTable:
    """Every node, with what is free on it of that which copies request."""
    records, placed = answer.node_rows(), answer.counted.placed
    several = placed if len(placed) > 1 else ()
    resources = [name for name in answer.counted.after.resources if name == PODS or any(one.requests.get(name) for one in placed)]
    zones = [Column("zone", "name", filter=True)] if answer.by_zone else []
    columns = [
        Column("node", "name"),
        *zones,
        Column("copies", "count"),
        *(Column(one.template.name, "count") for one in several),
    ]
    columns += [Column(f"{short_name(name)} free {when}", column_kind(name)) for name in resources for when in ("before", "after")]
    rows = [
        [
            one["node"], *([one["zone"] or None] if zones else []), one["copies"], *(each.nodes.get(one["node"], 0) for each in several),
            *(one["resources"][name][when] for name in resources for when in ("freeBefore", "free")),
        ]
        for one in records
    ]  # fmt: skip
    return DataTable("nodes", columns, rows, noun="node", sort="-copies")


# --- what is left ---------------------------------------------------------------------------------------------------


def _left(record: Record) -> Section:
    alone = len(record["templates"]) == 1
    titles = [
        "resource",
        "allocatable",
        "requested before",
        "requested after",
        "",
        "free after",
        *(["room for copies by it alone"] if alone else []),
    ]
    rows = [_headroom(f"headroom.{at}", row, alone) for at, row in enumerate(record["headroom"])]
    lead = "Room for copies by it alone: how many would fit if no other resource counted, on nodes that take such pods." if alone else ""
    return section("What is left", card("", plain_table(titles, rows, "What is left of each resource")), lead=lead)


def _headroom(path: str, row: Record, alone: bool) -> list[Text | None]:
    name = row["resource"]
    allocatable, before, after, free = (
        amount_told(f"{path}.{field}", name, row[field]) for field in ("allocatable", "requestedBefore", "requested", "free")
    )
    bar = track(row["requested"] / max(row["allocatable"], 1), GOOD)
    copies = None if row["copies"] is None else told(f"{path}.copies", number(row["copies"]))
    return [named(short_name(name)), allocatable, before, after, bar, free, *([copies] if alone else [])]


def _asked(record: Record) -> Section:
    return section("What a copy requests", *_templates(record))


def _templates(record: Record) -> Iterator[Text]:
    for at, template in enumerate(record["templates"]):
        path = f"templates.{at}.requests"
        requests = [
            sentence(named(short_name(name)), " ", amount_with_unit(f"{path}.{step(name)}", name, value))
            for name, value in template["requests"].items()
        ]
        what = sentence(named(template["name"]), f" ({template['kind']} in namespace ", named(template["namespace"]), "): ")
        yield paragraph(what, joined(requests) if requests else "nothing")
    if record["excludedNodes"]:
        yield note("Left out: ", joined(map(named, record["excludedNodes"])))
