"""A made dump of a cluster, as ``kubectl get ... -o json`` would print it, with every oddity that users' dumps were seen to have.

    python -m tests.support.madedump dump.json --nodes 300 --pods 6000 --seed 11

Zones and pools, taints, workloads of all kinds with and without the objects between them and their pods, claims and volumes,
PriorityClasses of which one is missing, budgets, fields of newer releases, unknown fields, duplicate keys, pods that have finished, are
being deleted or belong to another scheduler, mirror pods, huge quantities, generateName, long names. ``tests/support/madeworkloads.py``
has the workloads.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import click

from tests.support.madeworkloads import PRIORITIES, Json, Maker, meta, workloads

ZONES = ("north-1a", "north-1b", "north-1c")
POOLS = {
    "general": ("16", "64Gi", ()),
    "compute": ("64", "128Gi", ()),
    "memory": ("32", "256Gi", ({"key": "pool", "value": "memory", "effect": "NoSchedule"},)),
    "gpu": ("48", "192Gi", ({"key": "nvidia.com/gpu", "effect": "NoSchedule"},)),
    "spot": ("16", "64Gi", ({"key": "spot", "value": "true", "effect": "PreferNoSchedule"},)),
}
"""Pool -> cpu and memory of its nodes, and their taints."""
PATTERN = ("general", "general", "general", "general", "compute", "compute", "spot", "spot", "memory", "gpu")
"""The pools of ten nodes in turn."""
CONTROL_PLANES = 3
KUBELET, OLD_KUBELET = "v1.27.4", "v1.26.9-gke.1200"
CLASSES = ("low", "standard", "high", "urgent")
"""PriorityClasses that are in the dump; pods also name ``missing-class``."""


@attrs.frozen(kw_only=True)
class Size:
    """How large the dump is. The same size and seed give the same dump."""

    nodes: int = 300
    pods: int = 6000
    """About so many."""
    seed: int = 11


def made(size: Size = Size()) -> list[Json]:
    """The objects of the dump in their order: by kind, as kubectl prints them."""
    lots = random.Random(size.seed)
    nodes = list(_nodes(size.nodes))
    maker = Maker(lots, nodes, size.pods)
    workloads(maker)
    return [*nodes, *_classes(), *_services(maker), *maker.objects, *_oddments()]


def text(objects: list[Json]) -> str:
    """*objects* as a List in JSON, with duplicate keys in the places that :data:`TWICE` marks."""
    written = json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": objects}, indent=1)
    for mark, key, value in TWICE:
        written = written.replace(f'"{mark}":', f'"{key}": {json.dumps(value)},\n "{key}":')
    return written


TWICE = (("twice/priority", "priority", 7), ("twice/replicas", "replicas", 1))
"""Keys that stand for one that is written twice, that key, and what it says the first time."""


def write(path: Path, size: Size = Size()) -> None:
    """Write a dump to *path*."""
    path.write_text(text(made(size)), encoding="utf-8")


# --- nodes ----------------------------------------------------------------------------------------------------------


def _nodes(count: int) -> Iterator[Json]:
    for number in range(count):
        is_control_plane = number < CONTROL_PLANES
        pool = "control-plane" if is_control_plane else PATTERN[number % len(PATTERN)]
        cpu, memory, taints = POOLS.get(pool, ("4", "16Gi", ({"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},)))
        node = _node(f"{pool}-{number:03}", pool, ZONES[number % len(ZONES)], cpu, memory, list(taints))
        yield _with_oddities(node, number)


def _node(name: str, pool: str, zone: str, cpu: str, memory: str, taints: list[Json]) -> Json:
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "pool": pool,
        "failure-domain.beta.kubernetes.io/region": "north-1",
        "failure-domain.beta.kubernetes.io/zone": zone,
        "topology.kubernetes.io/region": "north-1",
        "topology.kubernetes.io/zone": zone,
    }
    gpus = {"nvidia.com/gpu": "8"} if pool == "gpu" else {}
    amounts = {"cpu": cpu, "memory": memory, "ephemeral-storage": "200Gi", "pods": "110", **gpus}
    status = {
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "MemoryPressure", "status": "False"}],
        "nodeInfo": {"kubeletVersion": KUBELET, "containerRuntimeVersion": "containerd://1.7.2", "architecture": "amd64"},
        "images": [{"names": ["registry.example/base:1"], "sizeBytes": 120_000_000}],
    }
    spec: Json = {"providerID": f"made:///{zone}/{name}", **({"taints": taints} if taints else {})}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta(name, labels=labels), "spec": spec, "status": status}


def _with_oddities(node: Json, number: int) -> Json:
    """Every so many nodes have the newer labels alone, an older kubelet, are cordoned or not ready, or have a field that is none."""
    labels, spec, status = node["metadata"]["labels"], node["spec"], node["status"]
    if number % 10 == 5:
        labels.pop("failure-domain.beta.kubernetes.io/zone"), labels.pop("failure-domain.beta.kubernetes.io/region")
    if number % 25 == 7:
        status["nodeInfo"]["kubeletVersion"] = OLD_KUBELET
    if number % 60 == 11:
        spec["unschedulable"] = True
        spec["taints"] = [*spec.get("taints", []), {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    if number % 90 == 13:
        status["conditions"][0]["status"] = "Unknown"
        spec["taints"] = [*spec.get("taints", []), {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]
    if number % 100 == 17:
        spec["unschedulabel"] = True
    return node


# --- what is neither node nor workload ------------------------------------------------------------------------------


def _classes() -> Iterator[Json]:
    for name in CLASSES:
        yield {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta(name), "value": PRIORITIES[name]}
    for name, mode in (("fast", "WaitForFirstConsumer"), ("slow", "Immediate")):
        head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta(name)}
        yield {**head, "provisioner": "disk.csi.made.example", "volumeBindingMode": mode, "reclaimPolicy": "Delete"}
    for name in ("shop", "data", "batch", "ops", "kube-system"):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": meta(name, labels={"kubernetes.io/metadata.name": name})}


def _services(maker: Maker) -> Iterator[Json]:
    for namespace, app in maker.apps:
        spec = {"selector": {"app": app}, "ports": [{"port": 80}], "clusterIP": "None"}
        yield {"apiVersion": "v1", "kind": "Service", "metadata": meta(app, namespace), "spec": spec}
    for namespace, app in maker.apps[::4]:
        spec = {"minAvailable": "80%", "selector": {"matchLabels": {"app": app}}}
        status = {"disruptionsAllowed": 1, "currentHealthy": 5, "desiredHealthy": 4, "expectedPods": 5, "observedGeneration": 1}
        metadata = meta(app, namespace)
        yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec, "status": status}


def _oddments() -> Iterator[Json]:
    """Kinds that scheduling does not read, and new pods that were appended by hand."""
    for name in ("web", "api"):
        yield {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": meta(name, "shop"), "spec": {}}
    containers = [{"name": "c", "image": "registry.example/tool:1", "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}}}]
    for _ in range(2):
        generated = {"generateName": "by-hand-", "namespace": "ops", "labels": {"app": "by-hand"}}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": generated, "spec": {"containers": containers}}
    for request in ("9E", "16Ei"):
        huge = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": request}}}]
        metadata = {"name": f"huge-{request.lower()}", "namespace": "ops"}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": huge}}


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--nodes", default=Size().nodes, show_default=True)
@click.option("--pods", default=Size().pods, show_default=True, help="About so many.")
@click.option("--seed", default=Size().seed, show_default=True)
def main(path: Path, **size: Any) -> None:
    """Write a made dump to PATH."""
    write(path, Size(**size))


if __name__ == "__main__":
    main()
