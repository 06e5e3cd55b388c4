"""What ``kubeclassic import`` does: it reads a trace and writes manifests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from ...exceptions import KubeclassicError
from ...simulation.traces import alibaba2025, alibaba2026, azurepacking, columnmap, google2019, openb, simkube, simulatorexport
from ...simulation.traces.made import Trace
from ..console.output import note, writing
from ..console.progress import telling
from ..console.yamltext import write_yaml
from ..report.words import count_of


class TraceOptionError(KubeclassicError):
    """Options that a trace cannot be read with."""


def run_openb(nodes: Path, pods: Path, form: str, output: str | None) -> None:
    """Write the openb trace as manifests."""
    with telling("reading", str(nodes)):
        found = openb.read(nodes, pods)
    _finish(found, form, output)


def run_alibaba2026(nodes: Path, jobs: Path, memory_per_cpu: Decimal | None, form: str, output: str | None) -> None:
    """Write Alibaba's trace of spot GPUs as manifests."""
    with telling("reading", str(nodes)):
        found = alibaba2026.read(nodes, jobs, memory_per_cpu)
    _finish(found, form, output)


def run_alibaba2025(instances: Path, form: str, output: str | None) -> None:
    """Write Alibaba's trace of recommendation models as manifests."""
    with telling("reading", str(instances)):
        found = alibaba2025.read(instances)
    _finish(found, form, output)


def run_azure(path: Path, chosen: Mapping[str, Any], form: str, output: str | None) -> None:
    """Write Azure's packing trace as manifests."""
    for name in ("machine", "machines", "most"):
        if chosen[name] is not None and chosen[name] < (0 if name == "machine" else 1):
            raise TraceOptionError(f"--{name}: got {chosen[name]}, wanted {0 if name == 'machine' else 1} or more")
    with telling("reading", str(path)):
        found = azurepacking.read(path, azurepacking.PackingOptions(**chosen))
    _finish(found, form, output)


def run_google2019(instances: Path, machines: Path, attributes: Path | None, form: str, output: str | None) -> None:
    """Write a slice of Google's cluster data as manifests."""
    with telling("reading", str(instances)):
        found = google2019.read(instances, machines, attributes)
    _finish(found, form, output)


def run_simkube(path: Path, form: str, output: str | None) -> None:
    """Write a trace of SimKube as manifests."""
    with telling("reading", str(path)):
        found = simkube.read(path)
    _finish(found, form, output)


def run_simulator(path: Path, profile: str | None, form: str, output: str | None) -> None:
    """Write an export of kube-scheduler-simulator as manifests, and its configuration to *profile*."""
    with telling("reading", str(path)):
        found, configuration = simulatorexport.read(path)
    if profile is not None and configuration is None:
        raise TraceOptionError(f"--profile: got {profile}, but {path} has no configuration of a scheduler")
    if profile is not None:
        with writing(profile) as stream:
            write_yaml(configuration, stream)
    _finish(found, form, output)


def run_csv(table: Path, columns: Path, form: str, output: str | None) -> None:
    """Write a table as manifests, as the map in *columns* says."""
    with telling("reading", str(table)):
        found = columnmap.read(table, columnmap.read_map(columns))
    _finish(found, form, output)


def _finish(found: Trace, form: str, output: str | None) -> None:
    """Write the manifests, and say how many there are and what was dropped."""
    _write(found.document(), form, output)
    others = f", {count_of(len(found.others), 'other object')}" if found.others else ""
    note(f"{count_of(len(found.nodes), 'node')}, {count_of(len(found.pods), 'pod')}{others}")
    for what, count in found.dropped.items():
        note(f"dropped: {count:,} {what}")


def _write(document: Mapping[str, Any], form: str, output: str | None) -> None:
    with writing(output) as stream:
        WRITERS[form](document, stream)


def _json(document: Mapping[str, Any], stream: IO[str]) -> None:
    json.dump(document, stream, separators=(",", ":"))
    stream.write("\n")


def _jsonl(document: Mapping[str, Any], stream: IO[str]) -> None:
    for item in document["items"]:
        stream.write(json.dumps(item, separators=(",", ":")) + "\n")


WRITERS: dict[str, Callable[[Mapping[str, Any], IO[str]], None]] = {"json": _json, "jsonl": _jsonl, "yaml": write_yaml}
