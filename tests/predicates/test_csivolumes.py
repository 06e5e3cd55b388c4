"""How many CSI volumes a node can have."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api.objects import Node, Pod
from kubeclassic.predicates.csivolumes import csi_limit_key, max_csi_volume_count
from tests.support.build import ask, node, obj, pod
from tests.support.volumebuild import claim, storage_class, volume

EXCEEDED = ["node(s) exceed max volume count"]
KEY = "attachable-volumes-csi-d"
MIGRATION = {"CSIMigration": True, "CSIMigrationAWS": True}


def csi(handle: str, driver: str = "d") -> dict[str, Any]:
    return {"csi": {"driver": driver, "volumeHandle": handle}}


def bound(name: str, source: dict[str, Any] | None = None) -> list[Any]:
    """A claim and the volume it is bound to."""
    return [claim(name, volumeName=f"pv-{name}"), volume(f"pv-{name}", **(csi(name) if source is None else source))]


def user(name: str, *claims: str, on: str = "") -> Pod:
    return pod(name, on=on, volumes=[{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)])


def limited(name: str, limit: int, key: str = KEY) -> Node:
    return node(name, allocatable={key: str(limit)})


def csi_node(name: str, count: int | None = None, migrated: str = "", driver: str = "d") -> Any:
    drivers = [{"name": driver, "nodeID": name, **({"allocatable": {"count": count}} if count is not None else {})}]
    meta = {"name": name, "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}}
    return obj({"kind": "CSINode", "metadata": meta, "spec": {"drivers": drivers}})


class TestLimitKey:
    def test_long_driver_names_are_cut_and_hashed(self) -> None:
        """A key of 63 characters or more is made of the first 23 of the driver and 16 digits of its SHA-1."""
        assert csi_limit_key("d" * 39) == "attachable-volumes-csi-" + "d" * 39
        assert csi_limit_key("d" * 40) == "attachable-volumes-csi-" + "d" * 23 + "4e99f0e6374ba7bf"


class TestMaxCSIVolumeCount:
    @pytest.mark.parametrize("release", ["1.12", "1.13", "1.14", "1.15", "1.16"])
    def test_a_node_takes_as_many_volumes_as_its_limit(self, release: str) -> None:
        """Volumes already attached are not new; drivers without a limit are not counted."""
        objects = [*bound("a"), *bound("b"), *bound("c"), *bound("x", csi("x", "unlimited")), user("q", "a", "b", on="n")]
        for claims, fits in ((("a", "b", "x"), True), (("c",), False), (("x",), True)):
            answer = ask(max_csi_volume_count, user("p", *claims), limited("n", 2), node("m"), *objects, release=release)
            assert answer == {"n": [] if fits else EXCEEDED, "m": []}

    def test_the_pods_own_volumes_can_be_too_many(self) -> None:
        """Also an empty node turns down a pod with more volumes than it can attach."""
        objects = [*bound("a"), *bound("b")]
        assert ask(max_csi_volume_count, user("p", "a", "b"), limited("n", 1), limited("m", 2), *objects) == {"n": EXCEEDED, "m": []}

    def test_the_gate_switches_it_off(self) -> None:
        """Gate AttachVolumeLimit off: everything fits."""
        assert ask(max_csi_volume_count, user("p", "a"), limited("n", 0), *bound("a"), gates={"AttachVolumeLimit": False}) == {"n": []}

    @pytest.mark.parametrize(("release", "fits"), [("1.15", True), ("1.16", False)])
    def test_the_beta_class_is_read_from_1_16(self, release: str, fits: bool) -> None:
        """The annotation for the class counts from 1.16."""
        objects = [
            claim("c", None, annotations={"volume.beta.kubernetes.io/storage-class": "wait"}),
            storage_class("wait", provisioner="d"),
        ]
        assert ask(max_csi_volume_count, user("p", "c"), limited("n", 0), *objects, release=release) == {"n": [] if fits else EXCEEDED}

    def test_a_missing_claim_does_not_count(self) -> None:
        """A claim that does not exist is ignored."""
        assert ask(max_csi_volume_count, user("p", "gone"), limited("n", 0)) == {"n": []}

    def test_a_claim_without_name_is_an_error(self) -> None:
        """Before 1.16 a node without any limit fits before claims are looked at."""
        text = "PersistentVolumeClaim had no name"
        nodes = [limited("n", 0), node("m")]
        assert ask(max_csi_volume_count, user("p", ""), *nodes) == {"n": text, "m": text}
        assert ask(max_csi_volume_count, user("p", ""), *nodes, release="1.15") == {"n": text, "m": []}
        odd = [user("q", "", on="n"), user("r", "", on="m"), *bound("a")]
        assert ask(max_csi_volume_count, user("p", "a"), *nodes, *odd) == {"n": text, "m": []}


class TestCSINode:
    def test_its_limit_counts_before_the_nodes_from_1_16(self) -> None:
        """The count of a CSINode's driver replaces what allocatable says."""
        objects = [limited("n", 9), node("m"), csi_node("n", 0), csi_node("m", 0), *bound("a")]
        assert ask(max_csi_volume_count, user("p", "a"), *objects) == {"n": EXCEEDED, "m": EXCEEDED}
        assert ask(max_csi_volume_count, user("p", "a"), *objects, release="1.15") == {"n": [], "m": []}

    def test_a_driver_without_count_has_the_nodes_limit(self) -> None:
        """A CSINode that says nothing of numbers leaves allocatable's."""
        assert ask(max_csi_volume_count, user("p", "a"), limited("n", 0), csi_node("n"), *bound("a")) == {"n": EXCEEDED}


class TestMigration:
    EBS = "ebs.csi.aws.com"

    def judged(self, *objects: Any, gates: dict[str, bool] | None = None) -> dict[str, list[str] | str]:
        nodes = [limited(name, 0, f"attachable-volumes-csi-{self.EBS}") for name in ("n", "m")]
        migrated = csi_node("n", migrated="kubernetes.io/aws-ebs", driver=self.EBS)
        return ask(max_csi_volume_count, user("p", "a"), *nodes, migrated, *objects, gates=MIGRATION if gates is None else gates)

    def test_old_disks_count_for_the_driver_that_took_over(self) -> None:
        """On a node whose plugin was replaced an EBS volume counts as its driver's, elsewhere not."""
        objects = bound("a", {"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}})
        assert self.judged(*objects) == {"n": EXCEEDED, "m": []}
        assert self.judged(*objects, gates={}) == {"n": [], "m": []}

    def test_so_do_unbound_claims_of_the_old_class(self) -> None:
        """A claim whose class names the in-tree plugin counts for the driver."""
        assert self.judged(claim("a"), storage_class("wait", provisioner="kubernetes.io/aws-ebs")) == {"n": EXCEEDED, "m": []}

    def test_a_migrated_disk_is_the_same_as_its_csi_twin(self) -> None:
        """An EBS volume and a CSI volume of the same handle are one."""
        node_n = limited("n", 1, f"attachable-volumes-csi-{self.EBS}")
        objects = [
            *bound("a", {"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}}),
            *bound("b", csi("vol-1", self.EBS)),
            user("q", "b", on="n"),
        ]
        migrated = csi_node("n", migrated="kubernetes.io/aws-ebs", driver=self.EBS)
        assert ask(max_csi_volume_count, user("p", "a"), node_n, migrated, *objects, gates=MIGRATION) == {"n": []}
