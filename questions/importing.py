"""``kubeclassic.traces``: published traces as clusters. ``kubeclassic import NAME --help`` has the columns."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs

from ..api.cluster import Cluster
from ..api.view import View, table_of
from ..simulation.traces import alibaba2025, alibaba2026, azurepacking, columnmap, google2019, openb, simkube
from ..simulation.traces.rows import PathLike
from .result import Result, Row


@attrs.frozen(eq=False, repr=False)
class ImportResult(Result):
    """Manifests that a trace was turned into."""

    manifest: dict[str, Any]
    """A ``v1`` ``List`` of nodes and pods."""

    def cluster(self, *, defaults: bool = True) -> Cluster:
        """The manifests as a Cluster."""
        return Cluster([self.manifest], defaults=defaults)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the List to a file, as JSON."""
        Path(path).write_text(json.dumps(self.manifest, separators=(",", ":")) + "\n", encoding="utf-8")

    @property
    def ok(self) -> bool:
        """A trace that was read is read whole."""
        return True

    @property
    def document(self) -> dict[str, Any]:
        return self.manifest

    def view(self) -> View:
        kinds = Counter(item["kind"] for item in self.manifest["items"])
        return View(
            title=type(self).__name__,
            verdict=f"{kinds['Node']:,} nodes and {kinds['Pod']:,} pods.",
            facts={"nodes": kinds["Node"], "pods": kinds["Pod"]},
            tables=[table_of("objects", list(map(_row, self.manifest["items"])), ("kind", "namespace", "name"))],
        )



def _row(item: Mapping[str, Any]) -> Row:
    return {"kind": item["kind"], "namespace": item["metadata"].get("namespace"), "name": item["metadata"]["name"]}


def import_openb(nodes: str | os.PathLike[str], pods: str | os.PathLike[str]) -> ImportResult:
    """Read the nodes and pods of Alibaba's openb trace (cluster-trace-gpu-v2023), two CSV files, as manifests.

    ``kubeclassic import openb --help`` says what becomes of each column. Raises :class:`~kubeclassic.exceptions.ManifestError`, which says
    the file, the line and the column.
    """
    return ImportResult(openb.manifests(nodes, pods))


def import_alibaba2025(instances: PathLike) -> ImportResult:
    """Read Alibaba's trace of recommendation models (cluster-trace-gpu-v2025), a CSV file, as manifests of pods.

    Raises :class:`~kubeclassic.exceptions.ManifestError`, which says the file, the line and the column.
    """
    return ImportResult(alibaba2025.read(instances).document())


def import_alibaba2026(nodes: PathLike, jobs: PathLike, *, memory_per_cpu: float | None = None) -> ImportResult:
    """Read Alibaba's trace of spot GPUs (cluster-trace-v2026-spot-gpu), two CSV files, as manifests.

    *memory_per_cpu*: GiB for each core; None: memory does not count. Raises as :func:`import_alibaba2025` does.
    """
    per_cpu = None if memory_per_cpu is None else Decimal(str(memory_per_cpu))
    return ImportResult(alibaba2026.read(nodes, jobs, per_cpu).document())


def import_azure_packing(
    trace: PathLike, *, machine: int, machines: int, days: float | None = None, most: int | None = None
) -> ImportResult:
    """Read Azure Traces for Packing 2020, an SQLite file or the zip file with it, as manifests.

    *machine*: the machineId of all nodes, *machines*: how many; *days*, *most*: how much of the trace. Raises
    :class:`~kubeclassic.exceptions.ManifestError`.
    """
    until = None if days is None else Decimal(str(days))
    choice = azurepacking.PackingOptions(machine=machine, machines=machines, days=until, most=most)
    return ImportResult(azurepacking.read(trace, choice).document())


def import_google2019(instances: PathLike, machines: PathLike, *, attributes: PathLike | None = None) -> ImportResult:
    """Read exports of Google's cluster data of 2019 as manifests. Raises as :func:`import_alibaba2025` does."""
    return ImportResult(google2019.read(instances, machines, attributes).document())


def import_simkube(trace: PathLike) -> ImportResult:
    """Read a trace of SimKube as manifests of pods. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    return ImportResult(simkube.read(trace).document())


def import_csv(table: PathLike, columns: PathLike) -> ImportResult:
    """Read a CSV table as manifests; *columns* is the file that says which column is what. Raises as :func:`import_alibaba2025` does."""
    return ImportResult(columnmap.read(table, columnmap.read_map(columns)).document())
