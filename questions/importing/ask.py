"""Published traces as clusters. ``kubeclassic import NAME --help`` has the columns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from ...api.cluster import Cluster
from ...api.reading import PathLike
from ...api.view import Table, View, tables
from ...api.words import count_of
from ..asking import Result
from . import rows, simkube
from .rows import Trace


@attrs.frozen(eq=False, repr=False, slots=False)
class ImportResult(Result):
    """Manifests that a trace was turned into."""

    manifest: dict[str, Any]
    """A ``v1`` ``List`` of nodes and pods."""
    dropped: Mapping[str, int]
    """Part of the trace that has no place in manifests -> how often."""

    def cluster(self, *, defaults: bool = True) -> Cluster:
        """The manifests as a Cluster."""
        return Cluster([self.manifest], defaults=defaults)

    def write(self, path: PathLike) -> None:
        """Write the List to a file, as JSON."""
        Path(path).write_text(json.dumps(self.manifest, separators=(",", ":")) + "\n", encoding="utf-8")

    @property
    def ok(self) -> bool:
        """True: a trace is read whole, or not at all."""
        return True

    @property
    def document(self) -> dict[str, Any]:
        return self.manifest

    @cached_property
    def kinds(self) -> Counter[str]:
        """Kind of manifest -> how many there are."""
        return Counter(item["kind"] for item in self.manifest["items"])

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """The resources that nodes have or pods request."""
        nodes = (
            item.get("status", {}).get("allocatable", {})
            for item in self.manifest["items"]
            if item["kind"] == "Node"
        )
        pods = (
            item["spec"].get("containers", ()) for item in self.manifest["items"] if item["kind"] == "Pod"
        )
        requests = (
            container.get("resources", {}).get("requests", {})
            for containers in pods
            for container in containers
        )
        return tuple(
            dict.fromkeys(name for amounts in (*nodes, *requests) for name in amounts if name != "pods")
        )

    def asides(self, form: str) -> list[str]:
        """The number of objects, and of those dropped."""
        nodes = self.kinds["Node"]
        pods = self.kinds["Pod"]
        others = self.kinds.total() - nodes - pods
        rest = f", {count_of(others, 'other object')}" if others else ""
        dropped = [f"dropped: {count:,} {what}" for what, count in self.dropped.items()]
        return [f"{count_of(nodes, 'node')}, {count_of(pods, 'pod')}{rest}", *dropped]

    def _view(self) -> View:
        nodes = self.kinds["Node"]
        pods = self.kinds["Pod"]
        metadata = [(item["kind"], item["metadata"]) for item in self.manifest["items"]]
        rows = [[kind, fields.get("namespace"), fields["name"]] for kind, fields in metadata]
        return View(
            verdict=f"{count_of(nodes, 'node')} and {count_of(pods, 'pod')}; resources: {', '.join(self.resources) or 'none'}.",
            facts={"nodes": nodes, "pods": pods},
            sections=tables(Table("objects", "kind; namespace; name", rows, noun="object")),
        )


READERS: Mapping[str, Callable[..., Trace]] = {
    "openb": rows.read,
    "simkube": simkube.read,
    "csv": lambda table, columns: rows.read_table(table, rows.read_map(columns)),
}
"""A trace, as the command line calls it -> the reader of its files."""


def ask(name: str, *files: PathLike) -> ImportResult:
    """Read the *files* of the trace *name*. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    trace = READERS[name](*files)
    return ImportResult(trace.document(), trace.dropped)


def import_openb(nodes: PathLike, pods: PathLike) -> ImportResult:
    """Read the nodes and pods of Alibaba's openb trace (cluster-trace-gpu-v2023), two CSV files, as
    manifests.

    ``kubeclassic import openb --help`` says what becomes of each column. Raises
    :class:`~kubeclassic.exceptions.ManifestError`, which says the file, the line and the column.
    """
    return ask("openb", nodes, pods)


def import_simkube(trace: PathLike) -> ImportResult:
    """Read a trace of SimKube as manifests of pods. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    return ask("simkube", trace)


def import_csv(table: PathLike, columns: PathLike) -> ImportResult:
    """Read a CSV table as manifests; *columns*: the file with the meaning of each column. Raises as
    :func:`import_openb` does."""
    return ask("csv", table, columns)
