"""Disks that other pods of the node have in use."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.predicates.disks import no_disk_conflict
from tests.support.build import ask, node, pod

CONFLICT = ["node(s) had no available disk"]


def with_disk(name: str, on: str = "", **disk: Any) -> Pod:
    return pod(name, on=on, volumes=[{"name": "v", **disk}])


def gce(name: str, read_only: bool = False) -> dict[str, Any]:
    return {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def iscsi(iqn: str, lun: int, read_only: bool = False) -> dict[str, Any]:
    return {"iscsi": {"iqn": iqn, "lun": lun, "targetPortal": f"10.0.0.{lun}", "readOnly": read_only}}


def rbd(monitors: list[str], pool: str, image: str, read_only: bool = False) -> dict[str, Any]:
    return {"rbd": {"monitors": monitors, "pool": pool, "image": image, "readOnly": read_only}}


class TestNoDiskConflict:
    @pytest.mark.parametrize(
        ("wanted", "used", "fits"),
        [
            (gce("a"), gce("a"), False),
            (gce("a", True), gce("a"), False),
            (gce("a", True), gce("a", True), True),
            (gce("a"), gce("b"), True),
            (
                {"awsElasticBlockStore": {"volumeID": "a", "readOnly": True}},
                {"awsElasticBlockStore": {"volumeID": "a", "readOnly": True}},
                False,
            ),
            ({"awsElasticBlockStore": {"volumeID": "a"}}, {"awsElasticBlockStore": {"volumeID": "b"}}, True),
            (iscsi("a", 1), iscsi("a", 2), False),
            (iscsi("a", 1, True), iscsi("a", 1, True), True),
            (iscsi("a", 1), iscsi("b", 1), True),
            (rbd(["m1", "m2"], "p", "i"), rbd(["m2"], "p", "i"), False),
            (rbd(["m1"], "p", "i"), rbd(["m2"], "p", "i"), True),
            (rbd(["m1"], "p", "i"), rbd(["m1"], "q", "i"), True),
            (rbd(["m1"], "p", "i"), rbd(["m1"], "p", "j"), True),
            (rbd(["m1"], "p", "i", True), rbd(["m1"], "p", "i", True), True),
            (gce("a"), {"awsElasticBlockStore": {"volumeID": "a"}}, True),
            ({"persistentVolumeClaim": {"claimName": "c"}}, {"persistentVolumeClaim": {"claimName": "c"}}, True),
        ],
    )
    def test_a_disk_in_use_turns_the_node_down(self, wanted: dict[str, Any], used: dict[str, Any], fits: bool) -> None:
        """The same disk is free only if both only read it, an EBS volume never; lun and portal do not matter, nor do claims."""
        answer = ask(no_disk_conflict, with_disk("p", **wanted), node("n1"), node("n2"), with_disk("q", on="n1", **used))
        assert answer == {"n1": [] if fits else CONFLICT, "n2": []}

    def test_any_volume_of_any_pod_counts(self) -> None:
        """The second volume of the second pod is in the way of the pod's second, whatever the namespace."""
        incoming = pod("p", volumes=[{"name": "v", **gce("a")}, {"name": "w", **gce("b")}])
        far = pod("r", on="n1", namespace="elsewhere", volumes=[{"name": "v", **gce("y")}, {"name": "w", **gce("b")}])
        assert ask(no_disk_conflict, incoming, node("n1"), with_disk("q", on="n1", **gce("x")), far) == {"n1": CONFLICT}
