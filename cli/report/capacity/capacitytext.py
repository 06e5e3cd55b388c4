"""How many more fit, for people: sentences first, then tables of templates, resources, zones and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from ....simulation.capacity.answer import CapacityAnswer
from ....simulation.capacity.stop import CopyShortage
from ..prose import listed, wrapped
from ..tables import TextTable, width_of
from ..text import Cell
from ..units import amount, rounded, short_name
from ..words import count_of

MOST_NODES = 20
"""How many nodes ``table`` lists at most; ``wide`` lists all."""
MOST_LEFT = 4


def write_text(answer: CapacityAnswer, stream: IO[str], *, wide: bool = False, headers: bool = True) -> None:
    """Write what was counted as sentences and tables; *wide*: with what copies request, and every node with what is free on it."""
    width = width_of(stream)
    stream.writelines(f"{line}\n" for line in _sentences(answer, width, wide))
    for table in _tables(answer, wide, headers):
        stream.write("\n")
        table.write(stream)
    hidden = 0 if wide else len(answer.counted.nodes) - MOST_NODES
    if hidden > 0:
        stream.write(f"and {count_of(hidden, 'more node')} with copies: -o wide lists all\n")


# --- sentences ------------------------------------------------------------------------------------------------------


def _sentences(answer: CapacityAnswer, width: int | None, wide: bool) -> Iterator[str]:
    for placed in answer.counted.placed if wide else ():
        requests = [f"{name}: {amount(name, number)}" for name, number in placed.requests.items() if number]
        yield from wrapped([f"{placed.template.name} pod requirements: {', '.join(requests) or 'nothing'}"], width, "  ")
    for placed in answer.counted.placed:
        yield from wrapped([f"The cluster can schedule {placed.fits:,} instance(s) of the pod {placed.template.name}."], width)
    yield ""
    stop = answer.counted.stop
    yield from wrapped([f"Termination reason: {stop.kind}: {stop.message}"], width, "  ")
    yield from wrapped(map(_short, stop.shortages), width, "  ")
    yield from wrapped([_left("Stranded on nodes that are short of something else", stop.stranded)], width, "  ")
    yield from wrapped([_left("Out of reach on nodes that turn the pod down", stop.out_of_reach)], width, "  ")
    yield from wrapped(_further(answer), width, "  ")


def _short(shortage: CopyShortage) -> str:
    names = listed([*shortage.examples, *[""] * (shortage.nodes - len(shortage.examples))], len(shortage.examples))
    left = f"; {rounded(shortage.resource, shortage.left)} left there in all" if shortage.left else ""
    return f"{short_name(shortage.resource)} has run out on {count_of(shortage.nodes, 'node')}: {names}{left}"


def _left(what: str, amounts: Mapping[str, int]) -> str:
    told = [f"{rounded(name, number)} {short_name(name)}" for name, number in amounts.items() if name != "pods"]
    return f"{what}: {', '.join(told)}" if told else ""


def _further(answer: CapacityAnswer) -> Iterator[str]:
    counted = answer.counted
    if counted.pending:
        left = f"; {counted.still_waiting:,} found no node" if counted.still_waiting else ""
        yield f"{count_of(counted.pending, 'pod')} that waited got a node before all copies{left}"
    if counted.evicted:
        yield f"{count_of(len(counted.evicted), 'pod')} evicted to make room: {listed(list(counted.evicted))}"
    if answer.excluded:
        yield f"Without {count_of(len(answer.excluded), 'node')}: {listed(answer.excluded)}"


# --- tables ---------------------------------------------------------------------------------------------------------


def _tables(answer: CapacityAnswer, wide: bool, headers: bool) -> Iterator[TextTable]:
    if answer.counted.stop.reasons:
        yield TextTable(["reason", "nodes"], list(answer.counted.stop.reasons.items()), headers)
    yield _headroom(answer, wide, headers)
    if zones := answer.by_zone:
        yield TextTable(["zone", "copies"], [[zone or None, number] for zone, number in zones.items()], headers)
    if wide:
        yield _all_nodes(answer, headers)
    elif answer.counted.nodes:
        yield _nodes(answer, headers)


def _headroom(answer: CapacityAnswer, wide: bool, headers: bool) -> TextTable:
    """What is free of each resource; without *wide* only of those that copies or pods request."""
    rows: list[Sequence[Cell]] = []
    for row in answer.headroom():
        name = row.resource
        if wide or row.requested or row.copies is not None:
            amounts = [rounded(name, amount) for amount in (row.allocatable, row.requested_before, row.requested, row.free)]
            rows.append([short_name(name), *amounts, row.copies])
    titles = ["resource", "allocatable", "requested before", "after", "free", "room for copies by it alone"]
    if len(answer.counted.placed) > 1:
        titles, rows = titles[:-1], [row[:-1] for row in rows]
    return TextTable(titles, rows, headers)


def _nodes(answer: CapacityAnswer, headers: bool) -> TextTable:
    """The nodes with most copies."""
    shares = list(answer.counted.nodes.items())[:MOST_NODES]
    several = len(answer.counted.placed) > 1
    names = [placed.template.name for placed in answer.counted.placed] if several else []
    rows = [
        [node, answer.zones.get(node) or None, number, *(placed.nodes.get(node, 0) for placed in answer.counted.placed if several)]
        for node, number in shares
    ]
    return TextTable(["node", "zone", "copies", *names], rows, headers)


def _all_nodes(answer: CapacityAnswer, headers: bool) -> TextTable:
    records = answer.node_rows()
    resources = [name for name in answer.counted.after.resources if any(_is_there(record, name) for record in records)]
    rows = []
    for record in records:
        free = [rounded(name, record["resources"][name]["free"]) for name in resources]
        rows.append([record["node"], record["zone"] or None, record["copies"], *free])
    return TextTable(["node", "zone", "copies", *(f"{short_name(name)} free" for name in resources)], rows, headers)


def _is_there(record: Mapping[str, Any], resource: str) -> bool:
    return bool(record["resources"][resource]["freeBefore"])
