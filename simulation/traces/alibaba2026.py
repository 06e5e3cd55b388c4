"""Alibaba's trace of spot GPUs (cluster-trace-v2026-spot-gpu): nodes, and jobs of which those of type HP preempt those of type Spot."""

from __future__ import annotations

from decimal import Decimal

from .made import Trace, cores, gibibytes, label_value, node, object_name, on_nodes_with, pod, timed, whole
from .rows import PathLike, TraceRow, each_once, read_rows

NODE_COLUMNS = ("gpu_model", "gpu_capacity_num", "cpu_num", "node_name")
JOB_COLUMNS = (
    "job_name", "organization", "gpu_model", "cpu_request", "gpu_request", "worker_num", "submit_time", "duration", "job_type",
)  # fmt: skip
NAMESPACE = "spot-gpu"
GPU_MILLI, GPU_MODEL = "alibabacloud.com/gpu-milli", "alibabacloud.com/gpu-card-model"
TYPES = {"HP": 1000, "Spot": 0}
"""Type of job -> priority of its pods."""


def read(nodes: PathLike, jobs: PathLike, memory_per_cpu: Decimal | None = None) -> Trace:
    """The trace as manifests. *memory_per_cpu*: GiB of memory for each core of nodes and pods; None: memory does not count.

    Raises :class:`~kubeclassic.exceptions.ManifestError`, which says the file, the line and the column.
    """
    trace = Trace()
    for row in each_once(read_rows(nodes, NODE_COLUMNS), "node_name"):
        trace.nodes.append(_node(row, memory_per_cpu))
    found = sorted(each_once(read_rows(jobs, JOB_COLUMNS), "job_name"), key=lambda row: (row.amount("submit_time"), row.name("job_name")))
    for row in found:
        workers = row.copies("worker_num")
        if not workers:
            trace.dropped["jobs without workers"] += 1
        trace.pods += [_pod(row, number, memory_per_cpu) for number in range(workers)]
    return trace


def _node(row: TraceRow, memory_per_cpu: Decimal | None) -> dict[str, object]:
    amounts = _amounts(row.amount("cpu_num"), row.amount("gpu_capacity_num"), memory_per_cpu)
    return node(object_name(row.name("node_name")), amounts, {GPU_MODEL: label_value(row.text("gpu_model"))})


def _pod(row: TraceRow, number: int, memory_per_cpu: Decimal | None) -> dict[str, object]:
    kind = row.text("job_type")
    if kind not in TYPES:
        raise row.error("job_type", " or ".join(TYPES))
    amounts = _amounts(row.amount("cpu_request"), row.amount("gpu_request"), memory_per_cpu)
    name = object_name(row.name("job_name"))
    labels = {"job": label_value(name), "type": kind, "organization": label_value(row.text("organization"))}
    made = pod(f"{name}-{number}", NAMESPACE, amounts, TYPES[kind], labels)
    model = label_value(row.text("gpu_model"))
    on_nodes_with(made, [{"key": GPU_MODEL, "operator": "In", "values": [model]}] if model else [])
    return timed(made, created=row.amount("submit_time"), runs=row.number("duration"))


def _amounts(cpu: Decimal, gpu: Decimal, memory_per_cpu: Decimal | None) -> dict[str, str]:
    amounts = {"cpu": cores(cpu), **({GPU_MILLI: whole(gpu * 1000)} if gpu else {})}
    return amounts if memory_per_cpu is None else {**amounts, "memory": gibibytes(cpu * memory_per_cpu)}
