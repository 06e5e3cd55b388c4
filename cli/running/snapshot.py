"""Reads live clusters: for ``kubeclassic snapshot``, and for every command with ``--kubeconfig``."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO, cast

import attrs
import click

from ...exceptions import KubeclassicError
from ...live.client.access import Access
from ...live.client.http import HttpTransport
from ...live.client.kubeconfig import in_cluster, read_kubeconfig
from ...live.client.replies import ApiError
from ...live.snapshot import ClusterSnapshot, take_snapshot
from ...live.snapshotredaction import redact
from ..console.output import note, one_line, warn, writing
from ..console.progress import telling


class UnreadableClusterError(KubeclassicError):
    """The API server refused to be read."""


def run(kubeconfig: Path | None, context: str | None, output: str | None, is_redacted: bool, map_file: Path | None) -> None:
    """Write the snapshot of a cluster, and where it is asked for the map of its names."""
    if map_file is not None and not is_redacted:
        raise click.UsageError("--redact-map: wanted --redact too")
    found = fetched(kubeconfig, context)
    if is_redacted:
        redaction = redact(found.items)
        found = attrs.evolve(found, items=redaction.items)
        if map_file is not None:
            with writing(map_file) as stream:
                _write(redaction.map(), stream)
    if output is not None and output.endswith(".gz"):
        with writing(output) as stream:
            cast(TextIO, stream).buffer.write(gzip.compress((json.dumps(found.document()) + "\n").encode(), mtime=0))
    else:
        with writing(output) as stream:
            _write(found.document(), stream)
    note(_summary(found))


def _write(document: Any, stream: Any) -> None:
    json.dump(document, stream, indent=1)
    stream.write("\n")


def _summary(found: ClusterSnapshot) -> str:
    kinds = [item["kind"] for item in found.items]
    return f"{len(kinds)} objects, {kinds.count('Node')} nodes and {kinds.count('Pod')} pods among them"


@contextmanager
def downloaded(kubeconfig: Path, context: str | None) -> Iterator[Path]:
    """A file with the snapshot of a cluster, which is there for the block and for this user alone."""
    found = fetched(kubeconfig, context)
    with TemporaryDirectory(prefix="kubeclassic-") as folder:
        path = Path(folder, "cluster.json")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            json.dump(found.document(), stream)
        yield path


def fetched(kubeconfig: Path | None, context: str | None) -> ClusterSnapshot:
    """The snapshot of the cluster that *kubeconfig* names, or of the one that this is a pod of; a warning for each kind that is missing.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError`.
    """
    access = in_cluster() if kubeconfig is None else read_kubeconfig(kubeconfig, context)
    with telling("reading", access.server):
        found = asyncio.run(_snapshot(access))
    for text in found.notes:
        warn(text)
    return found


async def _snapshot(access: Access) -> ClusterSnapshot:
    async with HttpTransport(access) as transport:
        try:
            return await take_snapshot(transport)
        except ApiError as error:
            raise UnreadableClusterError(f"{access.server}: got status {error.status}: {one_line(str(error))}") from None
