"""``kubeclassic.import_openb``: Alibaba's GPU trace as a cluster."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from ...api.cluster import Cluster
from ..replay.inputs.openb import manifests
from .results import Result, Row, Table


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

    def record(self) -> dict[str, Any]:
        return self.manifest

    def tables(self) -> Mapping[str, Table]:
        rows: list[Row] = [_row(item) for item in self.manifest["items"]]
        return {"objects": Table(("kind", "namespace", "name"), rows)}

    def facts(self) -> Mapping[str, object]:
        kinds = Counter(item["kind"] for item in self.manifest["items"])
        return {"nodes": kinds["Node"], "pods": kinds["Pod"]}


def _row(item: Mapping[str, Any]) -> Row:
    return {"kind": item["kind"], "namespace": item["metadata"].get("namespace"), "name": item["metadata"]["name"]}


def import_openb(nodes: str | os.PathLike[str], pods: str | os.PathLike[str]) -> ImportResult:
    """Read the nodes and pods of Alibaba's openb trace (cluster-trace-gpu-v2023), two CSV files, as manifests.

    ``kubeclassic import openb --help`` says what becomes of each column. Raises :class:`~kubeclassic.exceptions.ManifestError`, which says
    the file, the line and the column.
    """
    return ImportResult(manifests(nodes, pods))
