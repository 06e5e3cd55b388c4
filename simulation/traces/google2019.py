"""A slice of Google's cluster data of 2019: exports of its BigQuery tables as CSV, or as JSON with an object a line.

Machines come from ``machine_events``, pods from ``instance_events``, labels of machines from ``machine_attributes``. Amounts are
normalised: 1 is the largest machine of the cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs

from ...api.reading.fields import shown
from ...api.reading.formats.files import as_text, read_file, unpacked
from ...exceptions import ManifestError
from .made import Manifest, Trace, label_value, node, on_nodes_with, pod, timed
from .rows import PathLike, TraceRow, check_columns, read_rows

INSTANCE_COLUMNS = ("time", "type", "collection_id", "instance_index", "priority", "resource_request.cpus", "resource_request.memory")
MACHINE_COLUMNS = ("time", "machine_id", "type", "capacity.cpus", "capacity.memory")
ATTRIBUTE_COLUMNS = ("machine_id", "name", "value")
NAMESPACE = "google"
WHOLE = 1_000_000
"""The largest machine: that many thousandths of a core, and KiB of memory."""
EVENTS = (
    "SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING", "UPDATE_RUNNING",
)  # fmt: skip
MACHINE_EVENTS = ("EVENT_TYPE_UNKNOWN", "ADD", "REMOVE", "UPDATE")
RELATIONS = (
    "EQUAL", "NOT_EQUAL", "LESS_THAN", "GREATER_THAN", "LESS_THAN_EQUAL", "GREATER_THAN_EQUAL", "PRESENT", "NOT_PRESENT",
)  # fmt: skip
ENDS = ("FAIL", "FINISH", "KILL", "LOST")
OPERATORS = {
    "EQUAL": "In", "NOT_EQUAL": "NotIn", "LESS_THAN": "Lt", "GREATER_THAN": "Gt", "PRESENT": "Exists", "NOT_PRESENT": "DoesNotExist",
}  # fmt: skip
_MICRO = Decimal(1_000_000)
_LAST = 2**63 - 1
"""The time of what happens after the end of the trace."""


def read(instances: PathLike, machines: PathLike, attributes: PathLike | None = None) -> Trace:
    """The slice as manifests. Raises :class:`~kubeclassic.exceptions.ManifestError`, which says file, line and column."""
    trace = Trace()
    labels = {} if attributes is None else _labels(attributes)
    trace.nodes += _nodes(_table(machines, MACHINE_COLUMNS), labels, trace)
    lives: dict[str, _Life] = {}
    for row in _table(instances, INSTANCE_COLUMNS):
        name = f"{row.whole('collection_id')}-{row.whole('instance_index')}"
        lives.setdefault(name, _Life(name)).take(row)
    for life in sorted(lives.values(), key=lambda each: (each.created or Decimal(0), each.name)):
        made = life.made(trace)
        trace.pods += [made] if made is not None else []
    return trace


@attrs.define
class _Life:
    """An instance from its first event to its last."""

    name: str
    first: TraceRow | None = None
    created: Decimal | None = None
    begun: Decimal | None = None
    ended: Decimal | None = None
    evictions: int = 0

    def take(self, row: TraceRow) -> None:
        event, time = word(row, "type", EVENTS), _seconds(row)
        if event == "SUBMIT" or self.first is None:
            self.first = self.first or row
            self.created = time if self.created is None else min(self.created, time or self.created)
        if event == "SCHEDULE":
            self.begun, self.ended = time, None
        elif event in ENDS:
            self.ended = time
        self.evictions += event == "EVICT"

    def made(self, trace: Trace) -> Manifest | None:
        row = self.first
        if row is None:
            return None
        if self.evictions:
            trace.dropped["evictions"] += self.evictions
        amounts = {"cpu": _amount(row, "resource_request.cpus", "m"), "memory": _amount(row, "resource_request.memory", "Ki")}
        made = pod(self.name, NAMESPACE, amounts, row.whole("priority"), {"collection": str(row.whole("collection_id"))})
        on_nodes_with(made, list(_constraints(row, trace)))
        runs = None if self.ended is None or self.begun is None else self.ended - self.begun
        return timed(made, created=self.created or None, runs=runs)


def word(row: TraceRow, column: str, words: tuple[str, ...]) -> str:
    """The word in *column*, which is written as itself or as its number. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    text = row.text(column)
    if text.isascii() and text.isdigit() and len(text) < 4 and int(text) < len(words):
        return words[int(text)]
    if text not in words:
        raise row.error(column, f"one of {', '.join(words)}")
    return text


def _seconds(row: TraceRow) -> Decimal | None:
    """The time of a row in seconds; None for what happens after the end. 0 is before the beginning."""
    time = row.whole("time") if len(row.text("time")) < 16 else _LAST
    return None if time >= _LAST else Decimal(time) / _MICRO


def _amount(row: TraceRow, column: str, unit: str) -> str:
    whole = -int(-row.amount(column) * WHOLE // 1)
    return f"{whole}{unit}" if whole else "0"


def _constraints(row: TraceRow, trace: Trace) -> Iterator[Manifest]:
    """The constraints that labels can say: Lt and Gt compare whole numbers, as node affinity does."""
    for each in _listed(row):
        relation = word(TraceRow({"relation": str(each.get("relation", 0))}, row.where), "relation", RELATIONS)
        operator = OPERATORS.get(relation)
        key, value = label_value(str(each.get("name", ""))), label_value(str(each.get("value") or ""))
        if operator is None or not key:
            trace.dropped[f"constraints {relation}"] += 1
        else:
            values = {} if operator in ("Exists", "DoesNotExist") else {"values": [value]}
            yield {"key": key, "operator": operator, **values}


def _listed(row: TraceRow) -> list[Mapping[str, Any]]:
    text = row.text("constraint")
    if not text:
        return []
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise row.error("constraint", "a list of objects as JSON")
    return found


# --- machines -------------------------------------------------------------------------------------------------------


def _labels(path: PathLike) -> dict[str, dict[str, str]]:
    """Machine -> its attributes at the end of the slice."""
    found: dict[str, dict[str, str]] = {}
    for row in _table(path, ATTRIBUTE_COLUMNS):
        name, own = label_value(row.name("name")), found.setdefault(row.name("machine_id"), {})
        if row.text("deleted").lower() in ("true", "1"):
            own.pop(name, None)
        else:
            own[name] = label_value(row.text("value"))
    return found


def _nodes(rows: Iterable[TraceRow], labels: Mapping[str, Mapping[str, str]], trace: Trace) -> Iterator[Manifest]:
    """The machines, each with its first capacity, from the first event that adds it to the one that removes it for good."""
    added: dict[str, TraceRow] = {}
    times: dict[str, tuple[Decimal | None, Decimal | None]] = {}
    for row in rows:
        name, event = row.name("machine_id"), word(row, "type", MACHINE_EVENTS)
        if event == "ADD":
            first = added.setdefault(name, row)
            times[name] = (times[name][0] if first is not row else _seconds(row), None)
        elif event == "REMOVE" and name in times:
            times[name] = (times[name][0], _seconds(row))
        else:
            trace.dropped[f"machine events {event}"] += 1
    for name, row in added.items():
        amounts = {"cpu": _amount(row, "capacity.cpus", "m"), "memory": _amount(row, "capacity.memory", "Ki"), "pods": "1000"}
        created, deleted = times[name]
        more = {"platform": label_value(row.text("platform_id")), **labels.get(name, {})}
        yield timed(node(name, amounts, more), created=created or None, deleted=deleted)


# --- tables ---------------------------------------------------------------------------------------------------------


def _table(path: PathLike, needed: tuple[str, ...]) -> Iterator[TraceRow]:
    """The rows of a table by name of column; in JSON nested objects have names with dots."""
    if str(path).removesuffix(".gz").endswith((".json", ".jsonl", ".ndjson")):
        return _json_rows(Path(path), needed)
    return read_rows(path, needed)


def _json_rows(path: Path, needed: tuple[str, ...]) -> Iterator[TraceRow]:
    text = as_text(unpacked(read_file(str(path)), str(path)), str(path))
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            found = json.loads(line)
        except ValueError:
            raise ManifestError(f"{where}: got {shown(line)}, wanted a JSON object a line") from None
        if not isinstance(found, dict):
            raise ManifestError(f"{where}: got {shown(found)}, wanted a JSON object a line")
        values = {column: value.strip() for column, value in _flat(found)}
        seen |= values.keys()
        yield TraceRow(values, where)
    if seen:
        check_columns(str(path), sorted(seen), needed)


def _flat(found: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        elif value is not None:
            yield f"{before}{name}", json.dumps(value) if isinstance(value, list | bool) else str(value)
