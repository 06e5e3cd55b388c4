"""What claims to devices decide, from 1.32 on with the gate and in 1.34 without one, a sentence a test."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.build import node, pod
from tests.support.releasewalk import failed, feasible, host, made, shows

Json = dict[str, Any]
ON = {"DynamicResourceAllocation": True}
DRIVER = "gpu.example.com"
LATER = "2024-01-01T00:00:00Z"
NONE = ["cannot allocate all claims"]
CLASS = made("DeviceClass", "gpu", spec={"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]})


def wants(count: int = 1, *, of: str = "gpu", expression: str = "", **more: Any) -> Json:
    """A request of *count* devices."""
    selectors = {"selectors": [{"cel": {"expression": expression}}]} if expression else {}
    return {"name": "r", "exactly": {"deviceClassName": of, "allocationMode": "ExactCount", "count": count, **selectors, **more}}


def claim(name: str, *requests: Json, constraints: list[Json] | None = None, meta: Json | None = None, status: Json | None = None) -> Any:
    devices = {"requests": [{**one, "name": f"r{number}"} for number, one in enumerate(requests)], "constraints": constraints or []}
    return made("ResourceClaim", name, meta=meta or {}, spec={"devices": devices}, status=status or {})


def slices(on: str, *names: str, generation: int = 1, count: int = 1, attributes: Json | None = None, **more: Any) -> Any:
    """A slice of the pool of a node, with devices of these names."""
    devices = [{"name": name, "attributes": {key: {"string": value} for key, value in (attributes or {}).items()}} for name in names]
    pool = {"name": on, "generation": generation, "resourceSliceCount": count}
    place = more or {"nodeName": on}
    return made("ResourceSlice", f"{on}-{'-'.join(names)}", spec={"driver": DRIVER, "pool": pool, "devices": devices, **place})


def claiming(*names: str, name: str = "p") -> Any:
    return pod(name, resourceClaims=[{"name": one, "resourceClaimName": one} for one in names])


def allocated(*devices: str, **more: Any) -> Json:
    results = [{"request": "r0", "driver": DRIVER, "pool": one.partition("/")[0], "device": one.partition("/")[2]} for one in devices]
    return {"allocation": {"devices": {"results": results}, **more}}


NODES = (node("a"), node("b"))
ALL = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}
TEMPLATED = [{"name": "c", "resourceClaimTemplateName": "t"}]


class TestAllocation:
    def test_claims_count(self) -> None:
        """A pod goes where its claim can be served, with the gate in 1.32 and 1.33 and by default in 1.34."""
        objects = [*NODES, CLASS, slices("b", "g0"), claim("c", wants())]
        shows({"1.32": ["b"]}, feasible, objects, claiming("c"), gates=ON)
        shows({"1.32": ["a", "b"], "1.34": ["b"]}, feasible, objects, claiming("c"))

    def test_too_few(self) -> None:
        """A node with too few devices is turned down, whatever removing pods would give."""
        objects = [node("a"), CLASS, slices("a", "g0"), claim("c", wants(2))]
        shows({"1.32": {"a": NONE}}, failed, objects, claiming("c"), gates=ON)

    def test_devices_are_taken(self) -> None:
        """A device of one claim is not free for the next."""
        objects = [node("a"), CLASS, slices("a", "g0"), claim("c", wants()), claim("d", wants())]
        shows({"1.32": None}, host, objects, claiming("c"), claiming("d", name="q"), gates=ON)

    def test_selectors(self) -> None:
        """All selectors of the class and of the request have to match a device."""
        objects = [
            *NODES, CLASS, slices("a", "g0", attributes={"model": "x"}), slices("b", "g0", attributes={"model": "y"}),
            claim("c", wants(expression=f'device.attributes["{DRIVER}"].model == "y"')),
        ]  # fmt: skip
        shows({"1.32": ["b"]}, feasible, objects, claiming("c"), gates=ON)

    def test_match_attribute(self) -> None:
        """Devices under a matchAttribute constraint have one value of the attribute."""
        objects = [
            *NODES, CLASS, slices("a", "g0", attributes={"model": "x"}, count=2), slices("a", "g1", attributes={"model": "y"}, count=2),
            slices("b", "g0", "g1", attributes={"model": "x"}), claim("c", wants(2), constraints=[{"matchAttribute": f"{DRIVER}/model"}]),
        ]  # fmt: skip
        shows({"1.32": ["b"]}, feasible, objects, claiming("c"), gates=ON)

    def test_generations(self) -> None:
        """Of a pool only the slices of the newest generation count."""
        objects = [node("a"), CLASS, slices("a", "old", "older"), slices("a", "new", generation=2), claim("c", wants(2))]
        shows({"1.32": None}, host, objects, claiming("c"), gates=ON)

    def test_incomplete_pools(self) -> None:
        """A pool that lacks slices serves a counted request, but none for all devices, which is an error."""
        objects = [node("a"), CLASS, slices("a", "g0", count=2), claim("c", wants()), claim("d", ALL)]
        shows({"1.32": "a"}, host, objects, claiming("c"), gates=ON)
        shows({"1.32": True}, lambda found: "is currently being updated" in found["error"], objects, claiming("d"), gates=ON)

    def test_all_devices(self) -> None:
        """A request for all devices takes every one that matches, and from 1.33 on wants one at least."""
        objects = [node("a"), CLASS, slices("a", "g0", "g1"), claim("c", ALL)]
        shows({"1.32": {"c": [f"{DRIVER}/a/g0", f"{DRIVER}/a/g1"]}}, lambda found: found["allocations"], objects, claiming("c"), gates=ON)
        shows({"1.32": "a", "1.33": None}, host, [node("a"), CLASS, claim("c", ALL)], claiming("c"), gates=ON)

    def test_network_devices(self) -> None:
        """Devices that all nodes reach serve a pod anywhere."""
        objects = [*NODES, CLASS, slices("pool", "g0", allNodes=True), claim("c", wants())]
        shows({"1.32": ["a", "b"]}, feasible, objects, claiming("c"), gates=ON)

    def test_alternatives(self) -> None:
        """Where the first of several alternatives cannot be had the next is taken; without its gate such a claim is refused."""
        parts = [{"name": f"s{count}", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count} for count in (2, 1)]
        objects = [node("a"), CLASS, slices("a", "g0"), claim("c", {"name": "r", "firstAvailable": parts})]
        shows({"1.34": "a"}, host, objects, claiming("c"))
        told = "resource claim default/c, request r0: has subrequests, but the DRAPrioritizedList feature is disabled"
        shows({"1.33": True, "1.34": False}, lambda found: told in str(found["error"]), objects, claiming("c"), gates=ON)


class TestPods:
    @pytest.mark.parametrize(
        ("more", "asked", "told"),
        [
            ([], claiming("c"), 'could not find ResourceClaim "default/c"'),
            ([claim("c", wants(), meta={"deletionTimestamp": LATER})], claiming("c"), 'resourceclaim "c" is being deleted'),
            ([], pod("p", resourceClaims=TEMPLATED), 'pod "default/p": ResourceClaim not created yet'),
            (
                [claim("c", wants())],
                pod("p", resourceClaims=TEMPLATED, status={"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "c"}]}),
                "ResourceClaim default/c was not created for pod default/p (pod is not owner)",
            ),
        ],
    )  # fmt: skip
    def test_claims_that_are_not_there(self, more: list[Any], asked: Any, told: str) -> None:
        """A pod is gated until each of its claims exists and is its own."""
        shows({"1.34": True}, lambda found: told in found["error"], [node("a"), CLASS, *more], asked)

    def test_a_class_that_is_not_there(self) -> None:
        """A claim of an unknown class keeps the pod from all nodes."""
        objects = [node("a"), claim("c", wants(of="other"))]
        told = "request r0: device class other does not exist"
        shows({"1.32": True}, lambda found: told in found["error"], objects, claiming("c"), gates=ON)

    def test_allocated_claims_bind_to_nodes(self) -> None:
        """A claim that is allocated keeps its pods on the nodes that reach its devices."""
        fields = [{"key": "metadata.name", "operator": "In", "values": ["b"]}]
        status = allocated("b/g0", nodeSelector={"nodeSelectorTerms": [{"matchFields": fields}]})
        objects = [*NODES, CLASS, slices("b", "g0"), claim("c", wants(), status=status)]
        shows({"1.32": {"a": ["resourceclaim not available on the node"]}}, failed, objects, claiming("c"), gates=ON)

    def test_shared_claims(self) -> None:
        """Any number of pods can use a claim, as far as the scheduler is asked."""
        users = [{"resource": "pods", "name": f"u{number}", "uid": f"u{number}"} for number in range(256)]
        objects = [node("a"), CLASS, slices("a", "g0"), claim("c", wants(), status={**allocated("a/g0"), "reservedFor": users})]
        shows({"1.32": "a"}, host, objects, claiming("c"), gates=ON)

    def test_deallocation(self) -> None:
        """Where nobody uses a claim that is allocated elsewhere, it is given back."""
        fields = [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]
        status = allocated("gone/g0", nodeSelector={"nodeSelectorTerms": [{"matchFields": fields}]})
        objects = [node("a"), CLASS, slices("a", "g0"), claim("c", wants(), status=status)]
        shows({"1.34": True}, lambda found: "deallocation of ResourceClaim completed" in found["error"], objects, claiming("c"))

    def test_still_not_schedulable(self) -> None:
        """Where nothing can be given back the message says so before what preemption says."""
        objects = [node("a"), CLASS, claim("c", wants())]
        shows({"1.34": True}, lambda found: "still not schedulable, preemption: " in found["error"], objects, claiming("c"))
