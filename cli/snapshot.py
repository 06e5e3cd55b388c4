"""``kubeclassic snapshot``: a live cluster as a file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, TextIO, cast

import attrs
import click

from .console.output import note, writing
from .declaring.commands import command
from .declaring.paramtypes import FILE
from .declaring.paths import fetched, with_kubeconfig


@command(short_help="Write a live cluster to a file, for simulate and the others.", outputs=["--redact", "--redact-map"])
@with_kubeconfig
@click.option("--output", metavar="FILE", help="Write it there, whole or not at all; .gz: compressed.  [default: standard output]")
@click.option("--redact", is_flag=True, help="Rename all that tells whose cluster it is; decisions stay the same but for the names.")
@click.option("--redact-map", type=FILE, help="With --redact: write there which new name stands for which old one.")
def snapshot(kubeconfig: Path | None, context: str | None, output: str | None, redact: bool, redact_map: Path | None) -> None:
    """Write all that a decision of any release reads of a live cluster: nodes, pods that have not finished, volumes and claims, services,
    controllers, disruption budgets, namespaces, classes and CSI objects, as one List.

    Each kind is one consistent list, and the List notes its resourceVersion. What may not be listed is left out, and told on standard
    error. Without --kubeconfig, in a pod, the service account is used.

    --redact renames objects, namespaces, values of labels, images, disks and zones, always one name for one name, in an order that is
    kept. It leaves out environments, commands, messages, and annotations that no rule reads. Keys of labels, resources, times, sizes and
    the names of drivers stay: look at the file before you give it away.

    Exit status 0: written, 2: bad input, or no answer.

    \b
    kubeclassic snapshot --kubeconfig ~/.kube/config --output cluster.json.gz
    kubeclassic snapshot --kubeconfig ~/.kube/config --redact --redact-map names.json --output cluster.json
    kubeclassic simulate cluster.json.gz --release auto
    """
    from ..live.snapshotredaction import redact as redacted

    if redact_map is not None and not redact:
        raise click.UsageError("--redact-map: wanted --redact too")
    found = fetched(kubeconfig, context)
    if redact:
        redaction = redacted(found.items)
        found = attrs.evolve(found, items=redaction.items)
        if redact_map is not None:
            with writing(redact_map) as stream:
                _write(redaction.map(), stream)
    if output is not None and output.endswith(".gz"):
        with writing(output) as stream:
            cast(TextIO, stream).buffer.write(gzip.compress((json.dumps(found.document()) + "\n").encode(), mtime=0))
    else:
        with writing(output) as stream:
            _write(found.document(), stream)
    kinds = [item["kind"] for item in found.items]
    note(f"{len(kinds)} objects, {kinds.count('Node')} nodes and {kinds.count('Pod')} pods among them")


def _write(document: Any, stream: Any) -> None:
    json.dump(document, stream, indent=1)
    stream.write("\n")
