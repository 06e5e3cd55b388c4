"""A comparison for people: where pods land, why elsewhere, and how the clusters end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....api.words import Figure, count_doing, count_of, percent
from ....simulation.compare.causes import KINDS, SAMPLING
from ....simulation.compare.modes import LOCKED
from ..prose import wrapped
from ..tables import TextTable
from ..text import NO_HOST
from .outcomes import OTHER_NODE
from .verdict import plain, verdict

Record = dict[str, Any]
GATED_HOST = "<held back>"
"""In place of a host where the pod was not tried."""
Cells = tuple[list[str], list[list[object]]]
"""The headers and rows of a table."""
MEANINGS = {
    "use": "the share of all nodes' capacity",
    "imbalance": "the standard deviation of the nodes' use",
    "fullest - emptiest": "the use of the fullest node less that of the emptiest",
    "fragmentation": "the share of the free room on nodes where a waiting pod does not fit",
}
"""What is said of how the clusters end -> what that is."""


def comparison_text(record: Record, most: int | None = None, width: int | None = None) -> str:
    """The tables of ``Comparison.record()``, *width* characters wide at most.

    Of the decisions that differ they have *most* at most; None: all.
    """
    return "\n\n".join(part for part in _parts(record, most, width) if part)


def _parts(record: Record, most: int | None, width: int | None) -> Iterator[str]:
    named = (f"{c['name']}: {c['text'] or c['release']}" for c in record["configurations"])
    yield "\n".join(wrapped([*headline(record), *named], width, "  "))
    yield TextTable(*count_table(record)).text(width)
    ends = TextTable(*use_table(record)).lines(width)
    yield "\n".join([*ends, *wrapped(meaning_lines(record), width, "  ")])
    for against in record["against"]:
        yield "\n".join(wrapped([against_line(against), *agreement_lines(against), *hints(against)], width, "  "))
        if against["causes"]:
            yield TextTable(*cause_table(against)).text(width)
        yield TextTable(*correlation_table(against)).text(width)
    if record["differences"] and most != 0:
        yield TextTable(*difference_table(record, most)).text(width)
    yield "\n".join(wrapped(left_out(record, most), width, "  "))


def left_out(record: Record, most: int | None) -> Iterator[str]:
    """A line on the decisions that a table of *most* at most does not show, if there are any."""
    count = len(record["differences"])
    if most is not None and count > most:
        more = count_doing(count - most, "more decision", "differ")
        yield f"{more}; --show {count} lists them, and -o html and -o json show all, with both tables"


def headline(record: Record) -> Iterator[str]:
    """The outcome: how many decisions differ; in mode free the first one that does, as those after it may follow from it."""
    yield f"{plain(verdict(record))}."
    count, cycles = len(record["differences"]), record["cycles"]
    tried = f"{record['mode']}: {count_of(record['pods'], 'pod')}, {count_of(cycles, 'cycle')}"
    if not count:
        yield f"{tried}, all decisions are the same"
    elif record["mode"] == LOCKED:
        yield f"{tried}, {count} decisions differ" if count > 1 else f"{tried}, 1 decision differs"
    else:
        yield f"{tried}; the first decision that differs:"
        yield from (first_line(against) for against in record["against"] if against["firstDifference"])
        if count > 1:
            more = "1 more decision differs" if count == 2 else f"{count - 1} more decisions differ"
            yield f"{more}; as each side has its own cluster, that can follow from the first. --mode locked leaves such out"


def first_line(against: Record) -> str:
    """The first decision in which two configurations differ, in a sentence."""
    found = against["firstDifference"]
    hosts = [f"{found[side] or NO_HOST} in {against[side]}" for side in ("first", "second")]
    return f"  {found['pod']} (cycle {found['cycle']}): {', '.join(hosts)}; {found['verdict']}: {cause_text(found['cause'])}"


def hints(against: Record) -> Iterator[str]:
    """What to try, where the two differ in more than their rules."""
    sampled = sum(cause["cycles"] for cause in against["causes"] if cause["kind"] == SAMPLING)
    if sampled:
        yield (
            f"{count_of(sampled, 'decision')} of these: the two look at different shares of the nodes;"
            " with percentage=100 in both configurations each looks at all of them"
        )


def against_line(against: Record) -> str:
    """The pods in a sentence."""
    first, second = against["first"], against["second"]
    alone = f"{len(against['firstAlone'])} placed by {first} alone, {len(against['secondAlone'])} by {second} alone"
    alone += f", {len(against['heldBack'])} held back by one of them" if against["heldBack"] else ""
    return f"{first} and {second}: {count_of(against['alike'], 'pod')} end the same, {len(against['elsewhere'])} {OTHER_NODE}, {alone}"


def agreement_lines(against: Record) -> Iterator[str]:
    """The cycles of both: what is the same, what is another of the first one's best nodes, and what is different."""
    first, second, found = against["first"], against["second"], against["agreement"]
    cycles, also, alone = found["cycles"], found["equalForBoth"], found["equalForSecondAlone"]
    yield f"{cycles} decisions of both: {found['same']} the same"
    if found["amongBest"]:
        yield f"  {found['amongBest']} among the best: another node, which {first} scores as high as its own" + (
            f"; {second}, too, gives both the same score in {also}" if also else ""
        )
    if found["different"]:
        yield f"  {found['different']} different" + (f"; {second} gives both nodes the same score in {alone}" if alone else "")
    if found["heldBack"]:
        yield f"  {found['heldBack']} held back: one of the two does not try the pod, for its scheduling gates"
    yield (
        f"  the same nodes fit in {found['sameFeasible']}, the same ones are best in {found['sameBest']};"
        f" with any tie-break {second} takes one of {first}'s best in {found['bestWithin']}"
    )


def count_table(record: Record) -> Cells:
    """The outcomes of the pods: a column for each configuration."""
    configurations = record["configurations"]
    names = {"placed": "placed", "unschedulable": "unschedulable", "gated": "held back", "evicted": "evicted"}
    rows: list[list[object]] = [
        [told, *(str(c["summary"][name]) for c in configurations)]
        for name, told in names.items()
        if name != "gated" or any(c["summary"][name] for c in configurations)
    ]
    return ["pods", *(c["name"] for c in configurations)], rows


def ending_configurations(record: Record) -> list[Record]:
    """The configurations with a cluster of their own at the end: all, or only the first in mode locked."""
    found: list[Record] = record["configurations"]
    return found[:1] if record["mode"] == LOCKED else found


def use_table(record: Record) -> Cells:
    """Use, imbalance and fragmentation of the clusters as they end: a column for each that has one of its own."""
    configurations = ending_configurations(record)
    rows: list[list[object]] = []
    for resource in resources(record):
        found = [next((u for u in c["summary"]["resources"] if u["resource"] == resource), None) for c in configurations]
        rows.append([f"{resource} use", *(percent(u["use"]) if u else None for u in found)])
        rows.append([f"{resource} imbalance", *(percent(u["imbalance"]["standardDeviation"]) if u else None for u in found)])
        rows.append([f"{resource} fullest - emptiest", *(percent(u["imbalance"]["maxMin"]) if u else None for u in found)])
        shares = [c["fragmentation"].get(resource) for c in configurations]
        if any(share is not None for share in shares):
            rows.append([f"{resource} fragmentation", *(None if share is None else percent(share) for share in shares)])
    return ["in the end", *(["all"] if record["mode"] == LOCKED else (c["name"] for c in configurations))], rows


def meaning_lines(record: Record) -> Iterator[str]:
    """What the words of :func:`use_table` mean, those that it has."""
    has_fragments = any(c["fragmentation"] for c in ending_configurations(record))
    yield from (f"({name}: {meaning})" for name, meaning in MEANINGS.items() if name != "fragmentation" or has_fragments)


def resources(record: Record) -> list[str]:
    """The resources that any cluster has, pods last."""
    return list(dict.fromkeys(usage["resource"] for c in record["configurations"] for usage in c["summary"]["resources"]))


def cause_table(against: Record) -> Cells:
    """How often each cause occurred."""
    rows = [[c["cycles"], c["verdict"], c["kind"], c["rule"], c["side"], KINDS[c["kind"]]] for c in against["causes"]]
    return ["decisions", "outcome", "cause", "rule", "of", "meaning"], rows


def correlation_table(against: Record) -> Cells:
    """How well the scores of each rule correlate."""
    rows: list[list[object]] = []
    for found in against["correlation"]:
        told = None if found["correlation"] is None else Figure(f"{found['correlation']:.3f}")
        rows.append([found["rule"], " + ".join(found["first"]), " + ".join(found["second"]), found["cycles"], told])
    return ["score", f"in {against['first']}", f"in {against['second']}", "cycles", "correlation"], rows


def difference_table(record: Record, most: int | None = None) -> Cells:
    """A line for each cycle in which decisions differ, *most* at most."""
    names = [c["name"] for c in record["configurations"]]
    rows: list[list[object]] = []
    for found in record["differences"][:most]:
        decisions = [decision_text(found["decisions"].get(name)) for name in names]
        verdicts = ", ".join(dict.fromkeys(cause["verdict"] for cause in found["causes"].values()))
        why = "; ".join(cause_text(cause) for cause in found["causes"].values())
        rows.append([found["cycle"], found["pod"], *decisions, verdicts, why])
    return ["cycle", "pod", *names, "outcome", "why"], rows


def decision_text(decision: Record | None) -> str:
    """The host, or the node where room is made, or nothing."""
    if decision is None:
        return ""
    if decision["gated"]:
        return GATED_HOST
    room = f" (makes room on {decision['roomOn']})" if decision["roomOn"] else ""
    return str(decision["host"] or NO_HOST + room)


def cause_text(cause: Record) -> str:
    """The cause in a few words."""
    rule, side, node = cause["rule"] or cause["kind"], cause["side"], cause["node"]
    if cause["kind"] == "score":
        return f"{rule} {cause['text']}" if cause["text"] else f"{rule} decides for {node} in {side}"
    if cause["kind"] in ("predicate", "sampling"):
        return f"{rule} in {side} against {node}: {cause['text']}"
    return f"{cause['kind']}{' in ' + side if side else ''}: {cause['text'] or KINDS[cause['kind']]}"
