"""A comparison for people: where pods land, why elsewhere, and how the clusters end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..simulation.causes import KINDS
from .simulation import percent
from .text import format_table

NOWHERE = "<none>"
Record = dict[str, Any]


def comparison_text(record: Record) -> str:
    """The tables of ``Comparison.record()``."""
    return "\n\n".join(part for part in _parts(record) if part)


def _parts(record: Record) -> Iterator[str]:
    yield "\n".join([headline(record), *(f"{c['name']}: {c['text'] or c['release']}" for c in record["configurations"])])
    yield format_table(*use_table(record))
    for against in record["against"]:
        yield against_line(against)
        if against["causes"]:
            yield format_table(*cause_table(against))
        yield format_table(*correlation_table(against))
    if record["differences"]:
        yield format_table(*difference_table(record))


def headline(record: Record) -> str:
    """The outcome in a sentence."""
    found = "all decisions are the same" if record["same"] else f"{len(record['differences'])} decisions differ"
    return f"{record['mode']}: {record['pods']} pods, {record['cycles']} cycles, {found}"


def against_line(against: Record) -> str:
    """The pods in a sentence."""
    first, second = against["first"], against["second"]
    alone = f"{len(against['firstAlone'])} placed by {first} alone, {len(against['secondAlone'])} by {second} alone"
    return f"{first} and {second}: {against['alike']} pods alike, {len(against['elsewhere'])} elsewhere, {alone}"


def use_table(record: Record) -> tuple[list[str], list[list[object]]]:
    """Counts, use, imbalance and fragmentation: a column for each configuration."""
    configurations = record["configurations"]
    rows: list[list[object]] = [
        [name, *(str(c["summary"][name]) for c in configurations)] for name in ("placed", "unschedulable", "evicted")
    ]
    for resource in _resources(record):
        found = [next((u for u in c["summary"]["resources"] if u["resource"] == resource), None) for c in configurations]
        rows.append([f"{resource} use", *(percent(u["use"]) if u else None for u in found)])
        rows.append([f"{resource} deviation", *(percent(u["imbalance"]["standardDeviation"]) if u else None for u in found)])
        rows.append([f"{resource} max-min", *(percent(u["imbalance"]["maxMin"]) if u else None for u in found)])
        shares = [c["fragmentation"].get(resource) for c in configurations]
        if any(share is not None for share in shares):
            rows.append([f"{resource} fragmentation", *(None if share is None else percent(share) for share in shares)])
    return ["", *(c["name"] for c in configurations)], rows


def _resources(record: Record) -> list[str]:
    return list(dict.fromkeys(usage["resource"] for c in record["configurations"] for usage in c["summary"]["resources"]))


def cause_table(against: Record) -> tuple[list[str], list[list[object]]]:
    """How often each cause came."""
    rows = [[found["cycles"], found["kind"], found["rule"], found["side"], KINDS[found["kind"]]] for found in against["causes"]]
    return ["cycles", "cause", "rule", "of", "meaning"], rows


def correlation_table(against: Record) -> tuple[list[str], list[list[object]]]:
    """How the scores of each rule go together."""
    rows: list[list[object]] = []
    for found in against["correlation"]:
        told = None if found["correlation"] is None else f"{found['correlation']:.3f}"
        rows.append([found["rule"], " + ".join(found["first"]), " + ".join(found["second"]), found["cycles"], told])
    return ["score", f"in {against['first']}", f"in {against['second']}", "cycles", "correlation"], rows


def difference_table(record: Record) -> tuple[list[str], list[list[object]]]:
    """A line for each cycle in which decisions differ."""
    names = [c["name"] for c in record["configurations"]]
    rows: list[list[object]] = []
    for found in record["differences"]:
        decisions = [decision_text(found["decisions"].get(name)) for name in names]
        rows.append([found["cycle"], found["pod"], *decisions, "; ".join(cause_text(cause) for cause in found["causes"].values())])
    return ["cycle", "pod", *names, "why"], rows


def decision_text(decision: Record | None) -> str:
    """A host, or where room is made, or nothing."""
    if decision is None:
        return ""
    room = f" (makes room on {decision['roomOn']})" if decision["roomOn"] else ""
    return str(decision["host"] or NOWHERE + room)


def cause_text(cause: Record) -> str:
    """The cause in a few words."""
    rule, side, node = cause["rule"] or cause["kind"], cause["side"], cause["node"]
    if cause["kind"] == "score":
        return f"{rule} tips {side} to {node}"
    if cause["kind"] in ("predicate", "sampling"):
        return f"{rule} in {side} against {node}: {cause['text']}"
    return f"{cause['kind']}{' in ' + side if side else ''}{': ' + cause['text'] if cause['text'] else ''}"
