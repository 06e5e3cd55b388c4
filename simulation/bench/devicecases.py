"""The devices and claims of generated clusters: nodes with eight GPUs, pods that claim one to four of them by two selectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

DRIVER, CLASS, TEMPLATE = "gpu.example.com", "gpu", "gpus"
MODELS = (("a100", "80Gi"), ("h100", "80Gi"), ("l4", "24Gi"))
"""Model and memory, from node to node in turn."""
GPUS = 8
MOST_CLAIMED = 4
SELECTORS = (
    f'device.attributes["{DRIVER}"].model in ["a100", "h100"]',
    f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
)


def device_objects(nodes: list[str], pods: list[str]) -> Iterator[Json]:
    """The class, a slice for each of *nodes*, and a claim that was made for each of *pods*."""
    yield _object("DeviceClass", CLASS, {"selectors": _selectors(f'device.driver == "{DRIVER}"')})
    for number, node in enumerate(nodes):
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        yield _object("ResourceSlice", f"gpu-{node}", {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": _gpus(number)})
    for number, pod in enumerate(pods):
        count = number % MOST_CLAIMED + 1
        exactly = {"deviceClassName": CLASS, "allocationMode": "ExactCount", "count": count, "selectors": _selectors(*SELECTORS)}
        claim = _object("ResourceClaim", claim_of(pod), {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}})
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": f"uid-{pod}", "controller": True}
        yield {**claim, "metadata": {**claim["metadata"], "namespace": "default", "ownerReferences": [owner]}}


def claim_of(pod: str) -> str:
    """The name of the claim of *pod*."""
    return f"{pod}-gpus"


def _gpus(number: int) -> list[Json]:
    model, memory = MODELS[number % len(MODELS)]
    return [
        {
            "name": f"gpu-{index}", "capacity": {"memory": {"value": memory}},
            "attributes": {"model": {"string": model}, "index": {"int": index}, "numa": {"int": index * 2 // GPUS}},
        }
        for index in range(GPUS)
    ]  # fmt: skip


def _selectors(*expressions: str) -> list[Json]:
    return [{"cel": {"expression": expression}} for expression in expressions]


def _object(kind: str, name: str, spec: Json) -> Json:
    return {"kind": kind, "apiVersion": "resource.k8s.io/v1", "metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec}
