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
from .declaring.paths import LiveCluster, fetched, with_kubeconfig

SNAPSHOT_NEEDS = ("PodDisruptionBudget",)
"""Beside nodes, pods and what they refer to: a drain of the file counts budgets."""


@command(short_help="Write a live cluster to a file, for simulate and the others.", outputs=["--redact", "--redact-map"])
@with_kubeconfig
@click.option("--output", metavar="FILE", help="Write it there, whole or not at all; .gz: compressed.  [default: standard output]")
@click.option("--redact", is_flag=True, help="Rename all that tells whose cluster it is; decisions stay the same but for the names.")
@click.option("--redact-map", type=FILE, help="With --redact: write there, for you alone, which new name is which old one.")
def snapshot(live: LiveCluster, output: str | None, redact: bool, redact_map: Path | None) -> None:
    """Write all that a decision of any release reads of a live cluster: nodes, pods that have not finished, volumes and claims, services,
    controllers, disruption budgets, namespaces, classes and CSI objects, as one List.

    Each kind is one consistent list, and the List notes its resourceVersion. Nodes, pods, disruption budgets and all kinds to which pods
    refer have to be readable. What else may not be listed is left out, and told on standard error. Without --kubeconfig the files in the
    variable KUBECONFIG count, and without these, in a pod, the service account.

    --redact renames objects, namespaces, values of labels, images, disks, zones, gates and schedulers, always one name for one name, in an
    order that is kept. It keeps the fields that rules read, and leaves out all others: environments, commands, messages, annotations.
    These stay as they are: keys of labels and taints, names of resources, drivers and provisioners, numbers, times and sizes, kinds and
    API groups of owners, systems, machines and instance types of public clouds, and what drivers say of devices. Look at the file before
    you give it away.

    Exit status 0: written, 2: bad input, or no answer.

    \b
    kubeclassic snapshot --kubeconfig ~/.kube/config --output cluster.json.gz
    kubeclassic snapshot --kubeconfig ~/.kube/config --redact --redact-map names.json --output cluster.json
    kubeclassic simulate cluster.json.gz
    """
    from ..live.renaming import redact as redacted

    if redact_map is not None and not redact:
        raise click.UsageError("--redact-map: expected --redact too")
    found = fetched(live, SNAPSHOT_NEEDS)
    if redact:
        redaction = redacted(found.items)
        found = attrs.evolve(found, items=redaction.items)
        if redact_map is not None:
            with writing(redact_map, private=True) as stream:
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
