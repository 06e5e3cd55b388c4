"""Small clusters that show the facts of 1.35 and 1.36 about devices, one a fact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.framework.facts.forms import Json, case, node, pod, profile
from tests.support.devicebuild import DRIVER, device, either, exactly

NODES = (node("a"),)
TAINTED = {**device("bad"), "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}
SHARED = {**device("one"), "allowMultipleAllocations": True, "capacity": {"memory": {"value": "40Gi"}}}
SLOW = {**device("slow"), "bindingConditions": ["Ready"]}
UNIQUE = [device(f"d{number}", uuid=f"u{number}") for number in range(30)]


def _object(kind: str, name: str, spec: Json, **metadata: Any) -> Json:
    return {"kind": kind, "apiVersion": "resource.k8s.io/v1", "metadata": {"name": name, **metadata}, "spec": spec}


def _slice(*devices: Json, name: str = "s", count: int = 1, **spec: Any) -> Json:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": count}
    return _object("ResourceSlice", name, {"driver": DRIVER, "nodeName": "a", "pool": pool, "devices": list(devices), **spec})


def _claim(name: str, *requests: Any, constraints: list[Json] | None = None, **metadata: Any) -> Json:
    asked = [{"name": f"r{i}", ("firstAvailable" if isinstance(one, list) else "exactly"): one} for i, one in enumerate(requests)]
    spec = {"devices": {"requests": asked, "constraints": constraints or []}}
    return _object("ResourceClaim", name, spec, namespace="default", **metadata)


def _cluster(slices: list[Json], *claims: Json, **config: Any) -> Json:
    """Node a with devices, and a pod for each of *claims*."""
    pods = [pod(f"p{i}", resourceClaims=[{"name": "c", "resourceClaimName": one["metadata"]["name"]}]) for i, one in enumerate(claims)]
    return case([*NODES, _object("DeviceClass", "gpu", {}), *slices, *claims], *pods, **config)


def _card(*parts: Json) -> list[Json]:
    sets = [{"name": "card", "counters": {"memory": {"value": "40Gi"}}}]
    return [_slice(name="a", count=2, sharedCounters=sets), _slice(*parts, name="b", count=2)]


def _part(name: str, amount: str, **more: Any) -> Json:
    return {**device(name), "consumesCounters": [{"counterSet": "card", "counters": {"memory": {"value": amount}}}], **more}


def _extended(**config: Any) -> Json:
    """A pod that asks for an extended resource which a class of devices gives."""
    giving = _object("DeviceClass", "gpu", {"extendedResourceName": "example.com/gpu"})
    return case([*NODES, giving, _slice(device("one"))], pod("p", requests={"example.com/gpu": "1"}), **config)


def _of_another_pod() -> Json:
    """A pod whose claim was made for a pod that was there before it."""
    owner = {"kind": "Pod", "name": "p", "uid": "another", "controller": True, "apiVersion": "v1"}
    status = {"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "made"}]}
    new = pod("p", resourceClaims=[{"name": "c", "resourceClaimTemplateName": "t"}], status=status)
    return case([*NODES, _claim("made", exactly(), ownerReferences=[owner])], new)


def _sharing(count: int = 1) -> Json:
    return exactly(count, capacity={"requests": {"memory": "15Gi"}})


_ONE = _claim("c", exactly())
_APART = {"distinctAttribute": f"{DRIVER}/numa"}
_LONG = _claim(
    "c", *([exactly()] * 6), exactly(2), constraints=[{"matchAttribute": f"{DRIVER}/uuid", "requests": [f"r{i}"]} for i in range(7)]
)
DEVICE_CLUSTERS: Mapping[str, Json] = {
    # --- 1.35 ---------------------------------------------------------------------------------------------------------
    "whole-pools": _cluster([_slice(device("one"), count=2)], _ONE),
    "older-allocator": _cluster([_slice(device("one", numa=1))], _claim("c", exactly(), constraints=[_APART])),
    "device-taints": _cluster([_slice(TAINTED)], _ONE, gates={"DRADeviceTaints": True}),
    "device-counters": _cluster(_card(_part("one", "10Gi")), _ONE, gates={"DRAPartitionableDevices": True}),
    "shared-devices": _cluster(
        [_slice(SHARED)], _claim("c", _sharing()), _claim("d", _sharing()), gates={"DRAConsumableCapacity": True}
    ),
    "binding-conditions": _cluster([_slice(SLOW)], _ONE, gates={"DRADeviceBindingConditions": True}),
    "extended-resources-by-devices": _extended(gates={"DRAExtendedResource": True}),
    # --- 1.36 ---------------------------------------------------------------------------------------------------------
    "device-taints-by-default": _cluster([_slice(TAINTED)], _ONE),
    "device-counters-by-default": _cluster(_card(_part("one", "10Gi")), _ONE),
    "shared-devices-by-default": _cluster([_slice(SHARED)], _claim("c", _sharing()), _claim("d", _sharing())),
    "binding-conditions-by-default": _cluster([_slice(SLOW)], _ONE),
    "extended-resources-by-default": _extended(),
    "devices-in-order": _cluster([_slice(SHARED)], _claim("c", _sharing(2))),
    "counters-given-back": _cluster(_card(_part("bad", "30Gi", taints=TAINTED["taints"]), _part("good", "20Gi")), _ONE),
    "alternatives-apart": _cluster([_slice(device("one"), device("two"))], _claim("c", either(exactly(3), exactly("All")))),
    "late-device-search-errs": _cluster(
        [_slice(*UNIQUE)], _LONG, profile=profile(args={"DynamicResources": {"filterTimeout": "1ms"}})
    ),
    "device-texts": _of_another_pod(),
}  # fmt: skip
"""Fact -> the cluster."""
