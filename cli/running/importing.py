"""What ``kubeclassic import`` does: it reads a trace and writes manifests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from ...api.words import count_of
from ...exceptions import KubeclassicError
from ...simulation.traces import alibaba2025, alibaba2026, azurepacking, columnmap, google2019, openb, simkube, simulatorexport
from ...simulation.traces.made import Trace
from ..console.output import note, writing
from ..console.progress import telling
from ..console.yamltext import write_yaml


class TraceOptionError(KubeclassicError):
    """Options that a trace cannot be read with."""


def run(name: str, given: Sequence[Any], form: str, output: str | None) -> None:
    """Write the trace called *name* as manifests; *given* are its files, the first of which is named while it is read, and its options."""
    with telling("reading", str(given[0])):
        found = READERS[name](*given)
    _finish(found, form, output)


def _azure(path: Path, chosen: Mapping[str, Any]) -> Trace:
    for name in ("machine", "machines", "most"):
        if chosen[name] is not None and chosen[name] < (0 if name == "machine" else 1):
            raise TraceOptionError(f"--{name}: got {chosen[name]}, wanted {0 if name == 'machine' else 1} or more")
    return azurepacking.read(path, azurepacking.PackingOptions(**chosen))


def _simulator(path: Path, profile: str | None) -> Trace:
    """An export of kube-scheduler-simulator; its configuration goes to *profile*."""
    found, configuration = simulatorexport.read(path)
    if profile is not None and configuration is None:
        raise TraceOptionError(f"--profile: got {profile}, but {path} has no configuration of a scheduler")
    if profile is not None:
        with writing(profile) as stream:
            write_yaml(configuration, stream)
    return found


READERS: Mapping[str, Callable[..., Trace]] = {
    "openb": openb.read,
    "alibaba-2025": alibaba2025.read,
    "alibaba-2026": alibaba2026.read,
    "azure-packing": _azure,
    "google-2019": google2019.read,
    "simkube": simkube.read,
    "simulator": _simulator,
    "csv": lambda table, columns: columnmap.read(table, columnmap.read_map(columns)),
}
"""Command -> what reads its files and options."""


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
