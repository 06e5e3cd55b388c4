"""``kubeclassic import``: traces as manifests."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..simulation.replay.inputs import openb as trace
from .output import note, writing
from .report.words import count_of


@click.group("import", short_help="Turn a published trace into manifests.")
def importing() -> None:
    """Turn a published trace into manifests."""


@importing.command(short_help="Alibaba's GPU trace (cluster-trace-gpu-v2023).")
@click.argument("nodes", metavar="NODES.csv", type=click.Path(path_type=Path))
@click.argument("pods", metavar="PODS.csv", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="OUT.json", help="The file to write, whole or not at all; else standard output.")
def openb(nodes: Path, pods: Path, output: str | None) -> None:
    """Read the nodes and pods of Alibaba's openb trace and write them as one List of manifests.

    \b
    NODES.csv  sn, cpu_milli, memory_mib, gpu, model
    PODS.csv   name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, pod_phase, creation_time, ...

    Columns may be missing at the end. Nodes have cpu, memory, 110 pods and, with GPUs, alibabacloud.com/gpu-count and
    alibabacloud.com/gpu-milli (1000 a GPU); labels kubernetes.io/hostname and alibabacloud.com/gpu-card-model; condition Ready.
    Pods (namespace openb, priority 0) request, and are limited to, cpu, memory and, with num_gpu > 0, alibabacloud.com/gpu-milli of
    num_gpu x min(gpu_milli, 1000); gpu_spec A|B becomes required node affinity to those models. Order: creation time, then name.

    \b
    kubeclassic import openb openb_node_list_all_node.csv openb_pod_list_gpuspec33.csv -o openb.json
    kubeclassic simulate openb.json --percentage-of-nodes-to-score 100
    """
    document = trace.manifests(nodes, pods)
    with writing(output) as stream:
        json.dump(document, stream, separators=(",", ":"))
        stream.write("\n")
    kinds = [item["kind"] for item in document["items"]]
    note(f"{count_of(kinds.count('Node'), 'node')}, {count_of(kinds.count('Pod'), 'pod')}")
