"""Reads the openb trace of Alibaba's GPU clusters (cluster-trace-gpu-v2023) as manifests of nodes and pods."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from ....api.reading.fields import shown
from ....api.reading.formats.files import check_size
from ....exceptions import ManifestError
from .traces import CREATION_TIME, DELETION_TIME, RUN_TIME

GPU_COUNT = "alibabacloud.com/gpu-count"
GPU_MILLI = "alibabacloud.com/gpu-milli"
GPU_MODEL = "alibabacloud.com/gpu-card-model"
NAMESPACE = "openb"
WHOLE_GPU = 1000
PODS_PER_NODE = "110"
MOST_DIGITS = 15
"""Of a number in the trace: bytes of so many MiB can still be counted."""

NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
POD_COLUMNS = (
    "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time",
    "scheduled_time",
)  # fmt: skip
"""The first five are required; the others are read if they are there."""

Manifest = dict[str, Any]


def manifests(nodes: str | os.PathLike[str], pods: str | os.PathLike[str]) -> Manifest:
    """The nodes and pods of the trace as one ``v1`` ``List``: nodes in the order of the file, pods by creation time, then name.

    Raises :class:`~kubeclassic.exceptions.ManifestError`, which says the file, the line and the column.
    """
    items = [_node(row) for row in _unique(_rows(Path(nodes), NODE_COLUMNS, required=3), "sn")]
    found = _unique(_rows(Path(pods), POD_COLUMNS, required=5), "name")
    ordered = sorted(found, key=lambda row: (row.number("creation_time"), row.name("name")))
    return {"apiVersion": "v1", "kind": "List", "items": [*items, *(_pod(row) for row in ordered)]}


def listed_in(path: str | os.PathLike[str]) -> str:
    """What a file of the trace lists, judged by its columns: ``nodes`` or ``pods``."""
    header = next(_lines(Path(path)), [])
    for kind, columns in (("nodes", NODE_COLUMNS), ("pods", POD_COLUMNS)):
        if columns[0] in header:
            return kind
    raise ManifestError(f"{path}, line 1: got columns {_told(header)}, wanted those of nodes (sn, ...) or of pods (name, ...)")


# --- rows -----------------------------------------------------------------------------------------------------------


@attrs.frozen
class _Row:
    values: Mapping[str, str]
    """By column, without white space around them."""
    where: str

    def text(self, column: str) -> str:
        """The value of *column*, empty where the row ends before it."""
        return self.values.get(column, "")

    def name(self, column: str) -> str:
        """The value of *column*, which must be there."""
        found = self.text(column)
        if not found:
            raise ManifestError(f"{self.where}: {column}: got nothing, wanted a name")
        return found

    def number(self, column: str) -> int:
        """The value of *column*, 0 where it is empty."""
        found = self.text(column)
        if not (found.isascii() and (found or "0").isdigit()):
            raise ManifestError(f"{self.where}: {column}: got {shown(found)}, wanted a whole number")
        if len(found) > MOST_DIGITS:
            raise ManifestError(f"{self.where}: {column}: got {shown(found)}, wanted at most {MOST_DIGITS} digits")
        return int(found or 0)


def _rows(path: Path, columns: tuple[str, ...], required: int) -> Iterator[_Row]:
    with _errors_with_path(path), path.open(newline="", encoding="utf-8-sig") as file:
        check_size(file, str(path))
        yield from _read(csv.reader(file), str(path), columns, required)


def _lines(path: Path) -> Iterator[list[str]]:
    with _errors_with_path(path), path.open(newline="", encoding="utf-8-sig") as file:
        check_size(file, str(path))
        yield from ([value.strip() for value in line] for line in csv.reader(file))


@contextmanager
def _errors_with_path(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ManifestError(f"{path}: {(error.strerror or 'cannot be read').lower()}") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path}: got bytes that are no text, wanted CSV in UTF-8") from None
    except csv.Error as error:
        raise ManifestError(f"{path}: broken CSV: {error}") from None


def _read(lines: Any, path: str, columns: tuple[str, ...], required: int) -> Iterator[_Row]:
    header = [column.strip() for column in next(lines, [])]
    if missing := [column for column in columns[:required] if column not in header]:
        raise ManifestError(f"{path}, line 1: got columns {_told(header)}, wanted {','.join(missing)} too")
    for values in lines:
        where = f"{path}, line {lines.line_num}"
        if len(values) > len(header):
            raise ManifestError(f"{where}: got {len(values)} values, wanted {len(header)} at most")
        if any(values):
            yield _complete(_Row(dict(zip(header, map(str.strip, values), strict=False)), where), columns[:required])


def _told(header: list[str]) -> str:
    told = ",".join(header) or "none"
    return told if len(told) <= 80 else f"{told[:76]}..."


def _complete(row: _Row, required: tuple[str, ...]) -> _Row:
    for column in required:
        if not row.text(column):
            raise ManifestError(f"{row.where}: {column}: got nothing, wanted a value")
    return row


def _unique(rows: Iterator[_Row], column: str) -> Iterator[_Row]:
    seen: set[str] = set()
    for row in rows:
        name = row.name(column)
        if name in seen:
            raise ManifestError(f"{row.where}: {column}: got {shown(name)} again, wanted each name once")
        seen.add(name)
        yield row


# --- manifests ------------------------------------------------------------------------------------------------------


def _node(row: _Row) -> Manifest:
    name, gpus, model = row.name("sn"), row.number("gpu"), row.text("model")
    allocatable = {**_amounts(row), "pods": PODS_PER_NODE}
    if gpus:
        allocatable |= {GPU_COUNT: str(gpus), GPU_MILLI: str(gpus * WHOLE_GPU)}
    labels = {"kubernetes.io/hostname": name} | ({GPU_MODEL: model} if model else {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": allocatable, "capacity": allocatable, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _pod(row: _Row) -> Manifest:
    amounts = _amounts(row)
    if gpus := row.number("num_gpu"):
        amounts[GPU_MILLI] = str(gpus * min(row.number("gpu_milli"), WHOLE_GPU))
    spec: Manifest = {"containers": [{"name": "main", "resources": {"requests": amounts, "limits": amounts}}], "priority": 0}
    if models := row.text("gpu_spec"):
        spec["affinity"] = {"nodeAffinity": _one_of(models.split("|"))}
    metadata: Manifest = {"name": row.name("name"), "namespace": NAMESPACE}
    if times := dict(_times(row)):
        metadata["annotations"] = times
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _times(row: _Row) -> Iterator[tuple[str, str]]:
    """When the pod came and went and for how long it ran, in seconds, as far as the trace says."""
    for column, name in (("creation_time", CREATION_TIME), ("deletion_time", DELETION_TIME)):
        if row.text(column):
            yield name, str(row.number(column))
    if row.text("scheduled_time") and row.text("deletion_time"):
        yield RUN_TIME, str(max(row.number("deletion_time") - row.number("scheduled_time"), 0))


def _amounts(row: _Row) -> dict[str, str]:
    return {"cpu": f"{row.number('cpu_milli')}m", "memory": f"{row.number('memory_mib')}Mi"}


def _one_of(models: list[str]) -> Manifest:
    expression = {"key": GPU_MODEL, "operator": "In", "values": models}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
