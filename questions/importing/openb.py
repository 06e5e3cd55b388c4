"""The openb trace of Alibaba's GPU clusters (cluster-trace-gpu-v2023): nodes and pods."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from ...api.reading import PathLike, shown
from ...exceptions import ManifestError
from .rows import PODS_PER_NODE, Manifest, Trace, TraceRow, node, opened, pod, read_rows, timed, told

GPU_MILLI = "alibabacloud.com/gpu-milli"
GPU_MODEL = "alibabacloud.com/gpu-card-model"
WHOLE_GPU = 1000

NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib")
"""Those that are required; also read: gpu, model."""
POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
"""Those that are required; also read: gpu_spec, creation_time, deletion_time, scheduled_time."""


def manifests(nodes: PathLike, pods: PathLike) -> Manifest:
    """The nodes and pods of the trace as one ``v1`` ``List``; see :func:`read`."""
    return read(nodes, pods).document()


def read(nodes: PathLike, pods: PathLike) -> Trace:
    """The trace as manifests: nodes in the order of the file, pods by creation time, then name.

    Raises :class:`~kubeclassic.exceptions.ManifestError`, which says the file, the line and the column.
    """
    machines = [_node(row) for row in _each(nodes, NODE_COLUMNS)]
    found = sorted(_each(pods, POD_COLUMNS), key=lambda row: (row.whole("creation_time"), row.name("name")))
    return Trace(nodes=machines, pods=[_pod(row) for row in found])


def listed_in(path: PathLike) -> str:
    """The kind of rows in a file of the trace, judged by its columns: ``nodes`` or ``pods``."""
    with opened(path) as file:
        header = [column.strip() for column in next(csv.reader(file), [])]
    for kind, columns in (("nodes", NODE_COLUMNS), ("pods", POD_COLUMNS)):
        if columns[0] in header:
            return kind
    raise ManifestError(
        f"{path}, line 1: expected the columns of nodes (sn, ...) or of pods (name, ...), got {told(header)}"
    )


def _each(path: PathLike, columns: tuple[str, ...]) -> Iterator[TraceRow]:
    """The rows, none of which may be empty in one of *columns*, nor have a name that another has."""
    seen = set()
    for row in read_rows(path, columns):
        for column in columns:
            if not row.text(column):
                raise row.error(column, "a value")
        name = row.text(columns[0])
        if name in seen:
            raise ManifestError(
                f"{row.where}: {columns[0]}: expected each name once, got {shown(name)} again"
            )
        seen.add(name)
        yield row


def _node(row: TraceRow) -> Manifest:
    gpus = row.whole("gpu")
    room = {**_amounts(row), "pods": PODS_PER_NODE}
    if gpus:
        room |= {"alibabacloud.com/gpu-count": str(gpus), GPU_MILLI: str(gpus * WHOLE_GPU)}
    return node(row.name("sn"), room, {GPU_MODEL: row.text("model")})


def _pod(row: TraceRow) -> Manifest:
    amounts = _amounts(row)
    if gpus := row.whole("num_gpu"):
        amounts[GPU_MILLI] = str(gpus * min(row.whole("gpu_milli"), WHOLE_GPU))
    made = pod(row.name("name"), "openb", {})
    spec = made["spec"]
    spec["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    if models := row.text("gpu_spec"):
        terms = {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": GPU_MODEL, "operator": "In", "values": models.split("|")}]}
            ]
        }
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    # When the pod came and went and for how long it ran, in seconds, as far as the trace says.
    began = row.seconds("scheduled_time")
    ended = row.seconds("deletion_time")
    runs = None if began is None or ended is None else ended - began
    return timed(made, created=row.seconds("creation_time"), deleted=ended, runs=runs)


def _amounts(row: TraceRow) -> dict[str, str]:
    return {"cpu": f"{row.whole('cpu_milli')}m", "memory": f"{row.whole('memory_mib')}Mi"}
