"""Which new nodes are needed, for people: sentences first, then tables of kinds and of new nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import IO

from ....simulation.newnodes.answer import NewNodesAnswer, number_of
from ..prose import wrapped
from ..tables import TextTable, width_of
from ..text import Cell, Figure
from ..units import rounded, short_name
from ..words import count_of

MOST_PODS = 5
"""Of pods without a node that many are told; ``wide`` tells more."""
MOST_NODES = 10
PODS = "pods"


def write_text(answer: NewNodesAnswer, stream: IO[str], *, wide: bool = False, headers: bool = True) -> None:
    """Write the answer as sentences and tables; *wide*: with more pods that find no node, and every new node."""
    width = width_of(stream)
    stream.writelines(f"{line}\n" for line in wrapped(_sentences(answer, wide), width))
    for table in _tables(answer, wide, headers):
        stream.write("\n")
        table.write(stream)
    hidden = 0 if wide else len(answer.nodes()) - MOST_NODES
    if hidden > 0:
        stream.write(f"and {count_of(hidden, 'more new node')}: -o wide lists all\n")


def _sentences(answer: NewNodesAnswer, wide: bool) -> Iterator[str]:
    if answer.is_yes:
        yield from _yes(answer)
    else:
        yield from _no(answer, len(answer.without_place) if wide else MOST_PODS)
    if answer.found.best.evicted:
        yield f"{count_of(len(answer.found.best.evicted), 'pod')} evicted to make room."


def _yes(answer: NewNodesAnswer) -> Iterator[str]:
    pods = count_of(answer.found.best.wanted, "pod")
    if not answer.count:
        yield f"No new node is needed: {pods} to place, and each finds a node."
        return
    cost = f", cost {_number(answer.cost)}" if any(kind.cost != 1 for kind in answer.kinds) else ""
    yield f"Add {answer.named(answer.found.best)}{cost}: {pods} to place, and each finds a node."
    for sentence in answer.fewer:
        yield f"With one fewer, {sentence}"
    yield proof(answer)


def proof(answer: NewNodesAnswer) -> str:
    found, simulated = answer.found, f"({count_of(answer.found.simulated, 'simulation')} in all)"
    if found.is_proven:
        what = "no mix that costs less does" if len(answer.kinds) > 1 else "no smaller number does"
        return f"Proven: {what}; each was simulated, or has too little room {simulated}."
    if found.none_from is not None:
        tried = f"{found.none_from:,} to {answer.count - 1:,} were simulated, and none does"
        return f"Not all smaller numbers were simulated: {tried}; fewer than {_number(answer.bound)} have too little room {simulated}."
    known = f"this costs {_number(answer.cost)}, and below {_number(answer.bound)} none does"
    return f"Not all cheaper mixes were simulated: {known} {simulated}; --most-trials allows more."


def _no(answer: NewNodesAnswer, most: int) -> Iterator[str]:
    told = answer.without_place
    if answer.found.never:
        yield f"{count_of(len(told), 'pod')} of {answer.found.best.wanted:,} can never be placed, whatever number of these nodes is added:"
    else:
        tried = "each was simulated" if answer.found.is_proven else f"{count_of(answer.found.simulated, 'mix', 'mixes')} were simulated"
        yield f"No number of these nodes is enough, up to {answer.most_nodes:,}: {tried}."
        yield f"With {answer.named(answer.found.best)} these find no node, {len(told):,} of {count_of(answer.found.best.wanted, 'pod')}:"
    for key, why in told[:most]:
        yield f"  {key}: {why}"
    if len(told) > most:
        yield f"  and {count_of(len(told) - most, 'more pod')}"


def _number(value: Decimal) -> str:
    return f"{number_of(value):,}"


def _tables(answer: NewNodesAnswer, wide: bool, headers: bool) -> Iterator[TextTable]:
    rows = answer.added()
    if not rows:
        return
    kinds = [[row.node, row.count, Figure(f"{row.cost_of_one:,}"), Figure(f"{row.cost:,}")] for row in rows]
    yield TextTable(["new node", "count", "cost of one", "cost"], kinds, headers)
    nodes = answer.nodes() if wide else answer.nodes()[:MOST_NODES]
    resources = [name for name in dict.fromkeys(name for node in nodes for name in node.requested) if name != PODS]
    shown = [name for name in resources if wide or any(node.requested.get(name) for node in nodes)]
    cells: list[Sequence[Cell]] = [
        [node.name, node.pods, *(_use(name, node.requested.get(name), node.allocatable.get(name)) for name in shown)]
        for node in nodes
    ]  # fmt: skip
    yield TextTable(["name", "pods", *map(short_name, shown)], cells, headers)


def _use(resource: str, requested: int | None, allocatable: int | None) -> Cell:
    if requested is None or allocatable is None:
        return None
    return Figure(f"{rounded(resource, requested)} of {rounded(resource, allocatable)}")
