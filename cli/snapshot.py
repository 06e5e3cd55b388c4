"""``kubeclassic snapshot``: a live cluster as a file."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
import click

from .console.output import note, writing
from .declaring.commands import command
from .declaring.flags import LiveCluster, fetched, options_of, with_kubeconfig

SNAPSHOT_NEEDS = ("PodDisruptionBudget",)
"""Beside nodes, pods and what they refer to: a drain of the file counts budgets."""


@command(
    short_help="Write a live cluster to a file, for simulate and the others.",
    outputs=["--redact", "--redact-map"],
)
@with_kubeconfig
@options_of("""
--output | FILE | | Write to this file, whole or not at all; .gz: compressed.  [default: standard output]
--redact | switch | | Replace names, as above; decisions stay the same.
--redact-map | file | | With --redact: a file for the map from new names to old ones.
""")
def snapshot(live: LiveCluster, output: str | None, redact: bool, redact_map: Path | None) -> None:
    """Save everything that scheduling in any release reads from a live cluster, as one List: nodes,
    unfinished pods, volumes, claims, devices, services, controllers, disruption budgets, quotas, limits,
    namespaces, classes and CSI objects.

    Each kind is one consistent list; its resourceVersion is noted. Nodes, pods, disruption budgets and all
    kinds that pods refer to must be readable. Others are left out with a warning. Without --kubeconfig, the
    files in KUBECONFIG are used, or a pod's service account.

    --redact replaces names of objects, namespaces, label values, images, disks, zones, gates and schedulers,
    consistently and in the same order. It keeps the fields that rules read and removes all others:
    environments, commands, messages, annotations. It does not change keys of labels and taints, names of
    resources, drivers and provisioners, numbers, times and sizes, owner kinds and API groups, operating
    systems, architectures and instance types of public clouds, and attributes of devices. Check the file
    before you share it.

    Exit status 0: written, 2: bad input, or no answer.

    \b
    kubeclassic snapshot --kubeconfig ~/.kube/config --output cluster.json.gz
    kubeclassic snapshot --kubeconfig ~/.kube/config --redact --redact-map names.json --output cluster.json
    kubeclassic simulate cluster.json.gz
    """
    from ..live.renaming import redact as redacted

    if redact_map is not None and not redact:
        raise click.UsageError("--redact-map: expected --redact too")
    cluster = fetched(live, SNAPSHOT_NEEDS)
    redaction = redacted(cluster.items) if redact else None
    if redaction is not None:
        cluster = attrs.evolve(cluster, items=redaction.items)
    with ExitStack() as files:  # both files appear, or none
        stream = files.enter_context(writing(output))
        if redaction is not None and redact_map is not None:
            _write(redaction.map(), files.enter_context(writing(redact_map, private=True)))
        _write(cluster.document(), stream)
    kinds = [item["kind"] for item in cluster.items]
    note(f"{len(kinds)} objects, {kinds.count('Node')} nodes and {kinds.count('Pod')} pods among them")


def _write(document: Any, stream: Any) -> None:
    json.dump(document, stream, indent=1)
    stream.write("\n")
