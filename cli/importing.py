"""``kubeclassic import``: traces as manifests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..api.words import count_of
from .declaring.commands import CommandGroup
from .declaring.outputs import OptionsError, Output, output_options
from .declaring.paramtypes import FileName, FormOrFile, Whole, days, gib

if TYPE_CHECKING:
    from .answering import Writer

FORMS = ("json", "jsonl", "yaml")
CSV = FileName(allow_dash=False)


@click.group("import", cls=CommandGroup, short_help="Turn a published trace into manifests.")
def importing() -> None:
    """Turn a published trace into manifests, for simulate, replay and the others.

    Times of the trace are annotations of the manifests, which replay reads. What a trace does not have, such as nodes, is given beside the
    manifests. A line on standard error says what has no place in manifests and was dropped.
    """


written = output_options(
    FormOrFile(FORMS), "json, yaml: a List; jsonl: an object a line.", default="json", what="the manifests", headers=False, page=False,
    verbose=None,
)  # fmt: skip
"""The options that say where the manifests go."""


def _write(output: Output, name: str, *given: Any, profile: str | None = None) -> None:
    """Write the trace called *name* as manifests; *given* are its files and options. Say how many there are, and what was dropped.

    *profile*: a file for the configuration of its scheduler.
    """
    from ..questions.importing import ask
    from .answering import answer, write_yaml
    from .console.output import note, writing
    from .console.progress import telling

    output = output.settled(FORMS)
    with telling("reading", str(given[0])):
        found = ask(name, *given)
    if profile is not None:
        if found.configuration is None:
            raise OptionsError(f"--profile: got {profile}, but {given[0]} has no configuration of a scheduler")
        with writing(profile) as stream:
            write_yaml(found.configuration, stream)
    manifest = found.manifest
    forms: Mapping[str, Writer] = {
        "json": lambda stream: stream.write(_line(manifest)),
        "jsonl": lambda stream: stream.writelines(map(_line, manifest["items"])),
        "yaml": lambda stream: write_yaml(manifest, stream),
    }
    answer(found, output, forms=forms)
    nodes, pods = (found.kinds.get(kind, 0) for kind in ("Node", "Pod"))
    others = len(manifest["items"]) - nodes - pods
    told = f", {count_of(others, 'other object')}" if others else ""
    note(f"{count_of(nodes, 'node')}, {count_of(pods, 'pod')}{told}")
    for what, count in found.dropped.items():
        note(f"dropped: {count:,} {what}")


def _line(item: Mapping[str, Any]) -> str:
    return json.dumps(item, separators=(",", ":")) + "\n"


@importing.command(short_help="Alibaba's GPU trace (cluster-trace-gpu-v2023).")
@click.argument("nodes", metavar="NODES.csv", type=CSV)
@click.argument("pods", metavar="PODS.csv", type=CSV)
@written
def openb(nodes: Path, pods: Path, output: Output) -> None:
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
    _write(output, "openb", nodes, pods)


@importing.command("alibaba-2026", short_help="Alibaba's trace of spot GPUs (cluster-trace-v2026-spot-gpu).")
@click.argument("nodes", metavar="NODES.csv", type=CSV)
@click.argument("jobs", metavar="JOBS.csv", type=CSV)
@click.option("--memory-per-cpu", type=gib, metavar="AMOUNT", help="The trace has no memory: so much for each core, such as 4Gi.")
@written
def alibaba2026(nodes: Path, jobs: Path, memory_per_cpu: Decimal | None, output: Output) -> None:
    """Read the nodes and jobs of Alibaba's trace of spot GPUs.

    \b
    NODES.csv  gpu_model, gpu_capacity_num, cpu_num, node_name
    JOBS.csv   job_name, organization, gpu_model, cpu_request, gpu_request, worker_num, submit_time, duration, job_type

    Each worker of a job is a pod (namespace spot-gpu, labels job, type, organization) that runs for the job's duration. GPUs are
    alibabacloud.com/gpu-milli, 1000 each; a model becomes required node affinity. Jobs of type HP have priority 1000, those of type Spot 0:
    HP preempts Spot.

    \b
    kubeclassic import alibaba-2026 node_info_df.csv job_info_df.csv --memory-per-cpu 4Gi --output spot.json
    """
    _write(output, "alibaba-2026", nodes, jobs, memory_per_cpu)


@importing.command("alibaba-2025", short_help="Alibaba's trace of recommendation models (cluster-trace-gpu-v2025).")
@click.argument("instances", metavar="INSTANCES.csv", type=CSV)
@written
def alibaba2025(instances: Path, output: Output) -> None:
    """Read the instances of Alibaba's trace of recommendation models. It has no nodes: give them beside it.

    \b
    INSTANCES.csv  instance_sn, role, app_name, cpu_request, gpu_request, memory_request, disk_request, rdma_request,
                   max_instance_per_node, creation_time, scheduled_time, deletion_time, ...

    Each instance is a pod (namespace dlrm, labels app, role) that requests cpu in cores, memory and ephemeral-storage in GiB,
    nvidia.com/gpu and alibabacloud.com/rdma-percent. One instance a node is required anti-affinity, more are a spread over nodes. Without a
    creation time the pod is there from the beginning, without a deletion time it stays. Limits are dropped.

    \b
    kubeclassic import alibaba-2025 disaggregated_DLRM_trace.csv --output dlrm.json
    kubeclassic simulate dlrm.json nodes.yaml --release 1.34
    """
    _write(output, "alibaba-2025", instances)


@importing.command("azure-packing", short_help="Azure Traces for Packing 2020.")
@click.argument("trace", metavar="TRACE", type=CSV)
@click.option("--machine", type=Whole(0), required=True, metavar="ID", help="The machineId of all nodes.")
@click.option("--machines", type=Whole(1), required=True, metavar="N", help="How many nodes.")
@click.option("--days", type=days, metavar="D", help="Leave out requests after that many days.")
@click.option("--most", type=Whole(1), metavar="N", help="Take the first N requests by time.")
@written
def azure(trace: Path, output: Output, **chosen: Any) -> None:
    """Read the requests for virtual machines of Azure's packing trace: its SQLite file, or the zip file with it.

    A request is a pod (namespace azure, labels tenant, type), a machine a node. Amounts are parts of a machine: a whole one has 1000 cores,
    1,000,000 KiB of memory, and 1,000,000 of azure.com/hdd, azure.com/ssd and azure.com/nic. The trace's priority 0, the high one, is 1000
    here, and 1 is 0. Requests from before the trace are there at the beginning; without an end they stay. Requests for types that the
    machine does not have are dropped.

    \b
    kubeclassic import azure-packing AzurePackingTraceV1.zip --machine 0 --machines 500 --days 0.5 --output azure.json
    """
    _write(output, "azure-packing", trace, chosen)


@importing.command("google-2019", short_help="A slice of Google's cluster data of 2019.")
@click.argument("instances", metavar="INSTANCE_EVENTS", type=CSV)
@click.argument("machines", metavar="MACHINE_EVENTS", type=CSV)
@click.option("--attributes", type=CSV, metavar="FILE", help="machine_attributes: the labels that constraints are about.")
@written
def google2019(instances: Path, machines: Path, attributes: Path | None, output: Output) -> None:
    """Read exports of Google's BigQuery tables instance_events and machine_events: CSV, or JSON with an object a line.

    \b
    INSTANCE_EVENTS  time, type, collection_id, instance_index, priority, resource_request.cpus, resource_request.memory, constraint
    MACHINE_EVENTS   time, machine_id, type, capacity.cpus, capacity.memory, platform_id

    An instance is a pod (namespace google, label collection) from its SUBMIT on; it runs from its last SCHEDULE to its end. Amounts are
    normalised: 1 is 1000 cores and 1,000,000 KiB. Constraints become required node affinity to attributes of machines; LESS_THAN_EQUAL and
    GREATER_THAN_EQUAL have no such form and are dropped, as are updates of machines.

    \b
    kubeclassic import google-2019 instance_events.csv machine_events.csv --attributes machine_attributes.csv --output google.json
    """
    _write(output, "google-2019", instances, machines, attributes)


@importing.command(short_help="A trace of SimKube (msgpack).")
@click.argument("trace", metavar="TRACE", type=CSV)
@written
def simkube(trace: Path, output: Output) -> None:
    """Read a trace of SimKube, versions 1 to 3. It has no nodes: give them beside it.

    Owners of pods (Deployments, StatefulSets, Jobs and so on) become the pods that their controllers would make, from the time of the event
    on. A new pod template replaces an owner's pods. Pods that finished in the trace run for as long as they did there. Other objects are
    dropped.

    \b
    kubeclassic import simkube trace.sktrace --output simkube.json
    kubeclassic replay simkube.json nodes.yaml --release 1.34
    """
    _write(output, "simkube", trace)


@importing.command(short_help="An export of kube-scheduler-simulator.")
@click.argument("export", metavar="EXPORT.json", type=CSV)
@click.option("--profile", metavar="FILE", help="Write the scheduler's configuration there, for --profile of other commands.")
@written
def simulator(export: Path, profile: str | None, output: Output) -> None:
    """Read an export of kube-scheduler-simulator: its objects, and its scheduler's configuration.

    All commands read the objects of such a file as they do manifests; this one writes the configuration as well.

    \b
    kubeclassic import simulator export.json --output cluster.json --profile profile.yaml
    kubeclassic simulate export.json --profile profile.yaml
    """
    _write(output, "simulator", export, profile=profile)


@importing.command("csv", short_help="A table of your own, with a map of its columns.")
@click.argument("table", metavar="TABLE.csv", type=CSV)
@click.option("--map", "columns", type=CSV, required=True, metavar="FILE", help="Which column is what.")
@written
def own_csv(table: Path, columns: Path, output: Output) -> None:
    """Read a CSV table of pods or nodes, whose first line has the names of the columns, with a map in YAML:

    \b
    kind: pods                       # or nodes
    name: task_id
    namespace: team                  # these and the following may be left out
    priority: prio
    count: instances                 # that many of each row
    created: start                   # seconds
    runs: seconds                    # or deleted: end
    requests: {cpu: cores, memory: mem in GiB, nvidia.com/gpu: gpus}
    labels: {app: service}
    nodeSelector: {disk: disk_type}

    Units: cores, millicores, bytes, KiB, MiB, GiB, pieces. For nodes `requests` is what they have.

    \b
    kubeclassic import csv tasks.csv --map tasks.yaml --output pods.json
    """
    _write(output, "csv", table, columns)
