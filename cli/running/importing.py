"""What ``kubeclassic import`` does: it reads a trace and writes manifests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from ...simulation.replay.inputs import openb as trace
from ..console.output import note, writing
from ..console.yamltext import write_yaml


def run_openb(nodes: Path, pods: Path, form: str, output: str | None) -> None:
    """Write the trace in *nodes* and *pods* as manifests, and say how many there are."""
    document = trace.manifests(nodes, pods)
    with writing(output) as stream:
        WRITERS[form](document, stream)
    kinds = [item["kind"] for item in document["items"]]
    note(f"{kinds.count('Node'):,} nodes, {kinds.count('Pod'):,} pods")


def _json(document: Mapping[str, Any], stream: IO[str]) -> None:
    json.dump(document, stream, separators=(",", ":"))
    stream.write("\n")


def _jsonl(document: Mapping[str, Any], stream: IO[str]) -> None:
    for item in document["items"]:
        stream.write(json.dumps(item, separators=(",", ":")) + "\n")


WRITERS: dict[str, Callable[[Mapping[str, Any], IO[str]], None]] = {"json": _json, "jsonl": _jsonl, "yaml": write_yaml}
