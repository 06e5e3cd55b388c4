"""Alibaba's trace of recommendation models on GPUs (cluster-trace-gpu-v2025): instances of some 150 apps. It has no nodes."""

from __future__ import annotations

from decimal import Decimal

from .made import HOSTNAME, Manifest, Trace, cores, gibibytes, label_value, object_name, pod, timed, whole
from .rows import PathLike, TraceRow, each_once, read_rows

COLUMNS = ("instance_sn", "role", "app_name", "cpu_request")
"""Those that are required; also read: gpu_request, rdma_request, memory_request, disk_request, max_instance_per_node and the times."""
NAMESPACE = "dlrm"
GPU, RDMA = "nvidia.com/gpu", "alibabacloud.com/rdma-percent"
NOT_READ = ("cpu_limit", "gpu_limit", "memory_limit", "disk_limit", "rdma_limit")
ROLES = ("CN", "HN")


def read(instances: PathLike) -> Trace:
    """The trace as manifests of pods. Raises :class:`~kubeclassic.exceptions.ManifestError`, which says the file, line and column."""
    trace = Trace()
    rows = each_once(read_rows(instances, COLUMNS), "instance_sn")
    for row in sorted(rows, key=lambda row: (row.amount("creation_time"), row.name("instance_sn"))):
        trace.pods.append(_pod(row))
        trace.dropped.update(f"values of {column}" for column in NOT_READ if row.text(column))
    return trace


def _pod(row: TraceRow) -> Manifest:
    if row.text("role") not in ROLES:
        raise row.error("role", " or ".join(ROLES))
    app = label_value(row.name("app_name"))
    amounts = {
        "cpu": cores(row.amount("cpu_request")), "memory": gibibytes(row.amount("memory_request")),
        "ephemeral-storage": gibibytes(row.amount("disk_request")), GPU: whole(row.amount("gpu_request")),
        RDMA: whole(row.amount("rdma_request")),
    }  # fmt: skip
    made = pod(object_name(row.name("instance_sn")), NAMESPACE, amounts, labels={"app": app, "role": row.text("role")})
    return _with_times(_apart(made, app, row), row)


def _apart(made: Manifest, app: str, row: TraceRow) -> Manifest:
    """At most that many instances of an app on a node: one by anti-affinity, more by a spread."""
    most = row.number("max_instance_per_node") or Decimal(0)
    own = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOSTNAME}
    if most == 1:
        made["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [own]}}
    elif most > 1:
        spread = {**own, "maxSkew": int(most), "whenUnsatisfiable": "DoNotSchedule"}
        made["spec"]["topologySpreadConstraints"] = [spread]
    return made


def _with_times(made: Manifest, row: TraceRow) -> Manifest:
    """An instance that was there before the window has no creation time; one that is there after it has no end."""
    begun, ended = row.number("scheduled_time"), row.number("deletion_time")
    if begun is None:
        begun = row.number("creation_time")
    runs = None if ended is None else ended - (begun or Decimal(0))
    return timed(made, created=row.number("creation_time"), runs=runs)
