"""``kubeclassic import``: traces as manifests."""

from __future__ import annotations

from pathlib import Path

import click

from .declaring.commands import Group
from .declaring.paramtypes import FileName, FormOrFile, form_and_file

FORMS = ("json", "jsonl", "yaml")
CSV = FileName(allow_dash=False)


@click.group("import", cls=Group, short_help="Turn a published trace into manifests.")
def importing() -> None:
    """Turn a published trace into manifests."""


@importing.command(short_help="Alibaba's GPU trace (cluster-trace-gpu-v2023).")
@click.argument("nodes", metavar="NODES.csv", type=CSV)
@click.argument("pods", metavar="PODS.csv", type=CSV)
@click.option("-o", "form", type=FormOrFile(FORMS), default="json", show_default=True, help="json, yaml: a List; jsonl: an object a line.")
@click.option("--output", metavar="FILE", help="Write the manifests there, whole or not at all, instead of to standard output.")
def openb(nodes: Path, pods: Path, form: str, output: str | None) -> None:
    """Read the nodes and pods of Alibaba's openb trace and write them as one List of manifests.

    \b
    NODES.csv  sn, cpu_milli, memory_mib, gpu, model
    PODS.csv   name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, pod_phase, creation_time, ...

    Columns may be missing at the end. Nodes have cpu, memory, 110 pods and, with GPUs, alibabacloud.com/gpu-count and
    alibabacloud.com/gpu-milli (1000 a GPU); labels kubernetes.io/hostname and alibabacloud.com/gpu-card-model; condition Ready.
    Pods (namespace openb, priority 0) request, and are limited to, cpu, memory and, with num_gpu > 0, alibabacloud.com/gpu-milli of
    num_gpu x min(gpu_milli, 1000); gpu_spec A|B becomes required node affinity to those models. Order: creation time, then name.

    \b
    kubeclassic import openb openb_node_list_all_node.csv openb_pod_list_gpuspec33.csv --output openb.json
    kubeclassic simulate openb.json --percentage-of-nodes-to-score 100
    """
    from .running.importing import run_openb

    run_openb(nodes, pods, *form_and_file(form, FORMS, output))
