"""A CSV table of one's own, with a map that says which column is what."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import attrs

from ...api.reading import PathLike, read_documents, shown
from ...exceptions import ManifestError, did_you_mean
from .rows import (
    Manifest,
    Trace,
    TraceRow,
    cores,
    gibibytes,
    label_value,
    node,
    object_name,
    plain,
    pod,
    read_rows,
    timed,
    whole,
)

SINGLE = ("name", "namespace", "priority", "created", "deleted", "runs", "count")
"""What one column has."""
FIELDS = ("kind", *SINGLE, "requests", "labels", "nodeSelector", "priorities")
KINDS = ("pods", "nodes")
UNITS: Mapping[str, Callable[[Decimal], str]] = {
    "cores": cores,
    "millicores": lambda amount: cores(amount / 1000),
    "bytes": whole,
    "KiB": lambda amount: f"{plain(amount)}Ki",
    "MiB": lambda amount: gibibytes(amount / 1024),
    "GiB": gibibytes,
    "pieces": whole,
}
DEFAULT_UNITS = {"cpu": "cores", "memory": "bytes", "ephemeral-storage": "bytes"}
_AMOUNT = re.compile(
    r"(?P<column>.+?)(?:\s*\*\s*(?P<factor>[0-9]{1,9}(?:\.[0-9]{1,9})?))?(?:\s+in\s+(?P<unit>\w+))?"
)


@attrs.frozen
class AmountColumn:
    """A column with the amount of a resource, its factor and unit."""

    column: str
    unit: str
    factor: Decimal

    def of(self, row: TraceRow) -> str:
        """The quantity in *row*."""
        return UNITS[self.unit](row.amount(self.column) * self.factor)


@attrs.frozen(kw_only=True)
class ColumnMap:
    """A map of columns to their meaning; empty where a table lacks one."""

    kind: str = "pods"
    name: str
    namespace: str = ""
    priority: str = ""
    created: str = ""
    deleted: str = ""
    runs: str = ""
    count: str = ""
    requests: Mapping[str, AmountColumn]
    labels: Mapping[str, str]
    node_selector: Mapping[str, str]
    priorities: Mapping[str, int]
    """Word in the column of priorities -> priority; empty: the column has numbers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that the map names."""
        single = (self.name, self.namespace, self.priority, self.created, self.deleted, self.runs, self.count)
        amounts = tuple(amount.column for amount in self.requests.values())
        return tuple(
            column
            for column in (*single, *amounts, *self.labels.values(), *self.node_selector.values())
            if column
        )


def read_map(path: PathLike) -> ColumnMap:
    """The map in a YAML or JSON file. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    documents = list(read_documents([path]))
    where = str(path)
    data = documents[0].data if len(documents) == 1 else {}
    if len(documents) > 1 or not isinstance(data, dict):
        got = f"{len(documents)} documents" if len(documents) > 1 else shown(data)
        raise ManifestError(f"{where}: expected one map of columns, got {got}")
    for name in data:
        if name not in FIELDS:
            raise ManifestError(
                f"{where}: expected {', '.join(FIELDS)}, got {shown(name)}{did_you_mean(str(name), FIELDS)}"
            )
    kind = data.get("kind", "pods")
    if kind not in KINDS:
        raise ManifestError(f"{where}: kind: expected pods or nodes, got {shown(kind)}")
    if not data.get("name"):
        raise ManifestError(f"{where}: name: expected the column with the names, got nothing")
    texts = {name: _text(data.get(name), f"{where}: {name}") for name in SINGLE}
    requests = {name: _amount(name, text, where) for name, text in _texts(data, "requests", where).items()}
    selector = _texts(data, "nodeSelector", where)
    found = data.get("priorities") or {}
    are_numbers = isinstance(found, dict) and all(type(value) is int for value in found.values())
    if not are_numbers or (found and not data.get("priority")):
        wanted = "words of the column that priority names, with numbers"
        raise ManifestError(f"{where}: priorities: expected {wanted}, got {shown(found)}")
    labels = _texts(data, "labels", where)
    priorities = {str(word): value for word, value in found.items()}
    return ColumnMap(
        kind=kind, **texts, requests=requests, labels=labels, node_selector=selector, priorities=priorities
    )


def read(table: PathLike, columns: ColumnMap) -> Trace:
    """The table as manifests. Raises :class:`~kubeclassic.exceptions.ManifestError`, which says the file, the
    line and the column."""
    trace = Trace()
    seen = set()
    for row in read_rows(table, columns.columns):
        count = row.copies(columns.count) if columns.count else 1
        if not count:
            trace.dropped["rows of no copies"] += 1
        name = object_name(row.name(columns.name))
        for number in range(count):
            made = _made(row, columns, f"{name}-{number}" if columns.count else name)
            identity = made["metadata"].get("namespace", ""), made["metadata"]["name"]
            if identity in seen:
                raise ManifestError(
                    f"{row.where}: {columns.name}: expected each name once, got {shown(identity[1])} again"
                )
            seen.add(identity)
            (trace.nodes if columns.kind == "nodes" else trace.pods).append(made)
    return trace


def _made(row: TraceRow, columns: ColumnMap, name: str) -> Manifest:
    """The manifest of *row* that is called *name*."""
    amounts = {resource: amount.of(row) for resource, amount in columns.requests.items()}
    labels = {key: label_value(row.text(column)) for key, column in columns.labels.items()}
    if columns.kind == "nodes":
        made = node(name, amounts, labels)
    else:
        namespace = row.text(columns.namespace)
        priority = 0
        if columns.priorities:
            word = row.text(columns.priority)
            if word not in columns.priorities:
                raise row.error(columns.priority, " or ".join(columns.priorities))
            priority = columns.priorities[word]
        elif columns.priority:
            priority = int(row.number(columns.priority) or 0)
        made = pod(name, object_name(namespace) if namespace else "default", amounts, priority, labels)
        selector = {
            key: label_value(row.text(column))
            for key, column in columns.node_selector.items()
            if row.text(column)
        }
        if selector:
            made["spec"]["nodeSelector"] = selector
    created, deleted, runs = (
        row.number(column) if column else None for column in (columns.created, columns.deleted, columns.runs)
    )
    return timed(made, created=created, deleted=deleted, runs=runs)


def _texts(data: Mapping[str, Any], name: str, where: str) -> dict[str, str]:
    found = data.get(name) or {}
    if not isinstance(found, dict):
        raise ManifestError(f"{where}: {name}: expected names with columns, got {shown(found)}")
    return {str(key): _text(value, f"{where}: {name}.{key}") for key, value in found.items()}


def _text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ManifestError(f"{where}: expected the name of a column, got {shown(value)}")
    return value.strip()


def _amount(resource: str, text: str, where: str) -> AmountColumn:
    found = _AMOUNT.fullmatch(text)
    unit = (found["unit"] if found else None) or DEFAULT_UNITS.get(resource, "pieces")
    if found is None or unit not in UNITS:
        wanted = f"COLUMN or COLUMN in UNIT, or COLUMN * NUMBER in UNIT, with one of {', '.join(UNITS)}"
        raise ManifestError(f"{where}: requests.{resource}: expected {wanted}, got {shown(text)}")
    return AmountColumn(found["column"], unit, Decimal(found["factor"] or 1))
