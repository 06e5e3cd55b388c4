"""The traces of ``import``, each with its files and its help."""

from __future__ import annotations

TRACES = {
    "openb": (
        "Alibaba's GPU trace (cluster-trace-gpu-v2023).",
        {"nodes": "NODES.csv", "pods": "PODS.csv"},
        """Read the nodes and pods of Alibaba's openb trace and write them as one List of manifests.

\b
NODES.csv  sn, cpu_milli, memory_mib, gpu, model
PODS.csv   name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, pod_phase, creation_time, ...

Columns may be missing at the end. Nodes have cpu, memory, 110 pods and, with GPUs, alibabacloud.com/gpu-count
and alibabacloud.com/gpu-milli (1000 a GPU); labels kubernetes.io/hostname and
alibabacloud.com/gpu-card-model; condition Ready. Pods (namespace openb, priority 0) request, and are limited
to, cpu, memory and, with num_gpu > 0, alibabacloud.com/gpu-milli of num_gpu x min(gpu_milli, 1000); gpu_spec
A|B becomes required node affinity to those models. Order: creation time, then name.

\b
kubeclassic import openb openb_node_list_all_node.csv openb_pod_list_gpuspec33.csv --output openb.json
kubeclassic simulate openb.json --percentage-of-nodes-to-score 100
""",
    ),
    "simkube": (
        "A trace of SimKube (msgpack).",
        {"trace": "TRACE"},
        """Read a trace of SimKube, versions 1 to 3. It has no nodes: give them beside it.

Owners of pods (Deployments, StatefulSets, Jobs and so on) become the pods that their controllers would make,
from the time of the event on. A new pod template replaces an owner's pods. A CronJob becomes a pod for each
run that was recorded; a pod without an owner stays what it is. Pods that finished in the trace run for as
long as they did there. Other objects are dropped.

\b
kubeclassic import simkube trace.sktrace --output simkube.json
kubeclassic replay simkube.json nodes.yaml --release 1.36
""",
    ),
    "csv": (
        "A table of your own, with a map of its columns.",
        {"table": "TABLE.csv"},
        """Read a CSV table of pods or nodes, whose first line has the names of the columns, with a map in YAML:

\b
kind: pods                       # or nodes
name: task_id
namespace: team                  # these and the following may be left out
priority: prio                   # with words in it: priorities: {high: 1000, low: 0}
count: instances                 # that many of each row
created: start                   # seconds
runs: seconds                    # or deleted: end
requests: {cpu: cores, memory: mem in GiB, nvidia.com/gpu: gpus}
labels: {app: service}
nodeSelector: {disk: disk_type}

Units: cores, millicores, bytes, KiB, MiB, GiB, pieces; `cores * 4 in GiB` is four for each core. For nodes
`requests` is what they have. examples/traces has maps for the traces of Alibaba (2025, 2026), Azure (2020)
and Google (2019).

\b
kubeclassic import csv tasks.csv --map tasks.yaml --output pods.json
""",
    ),
}
"""A trace, as the command line calls it -> its short help, its files with their metavars, and its help."""
