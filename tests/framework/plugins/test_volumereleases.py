"""Volumes by release: what is counted, in reach, shared, matched and scored, each on a small cluster asked of
all releases."""

import pytest
import yaml

from kubeclassic.core.run import Run
from kubeclassic.framework.options import Framework
from kubeclassic.framework.schedulerspec import SchedulerSpec
from tests.support.build import manifest, node, obj, pod
from tests.support.releasewalk import answer, error, failed, feasible, host, priorities, scores, shows
from tests.support.volumebuild import (
    BOUND,
    DRIVER,
    WAIT,
    bound,
    claim,
    csi_node,
    ebs,
    on,
    storage_class,
    storage_left,
    using,
    volume,
)

FULL = "node(s) exceed max volume count"
MAKING = storage_class("wait", **WAIT, provisioner="maker")
TWO = (node("a", labels={"zone": "a"}), node("b", labels={"zone": "b"}))


def csi(number):
    """A claim ``c<number>`` that is bound to a volume of driver d."""
    name = f"v{number}"
    return volume(name, csi={"driver": "d", "volumeHandle": f"h{number}"}), bound(f"c{number}", name)


def attachment(of, to="n", attacher="d"):
    """The volume called *of*, attached to a node."""
    spec = {"attacher": attacher, "nodeName": to, "source": {"persistentVolumeName": of}}
    return obj(manifest("VolumeAttachment", "x", spec=spec, status={"attached": False}))


# --- Limits -------------------------------------------------------------------------------------------------


def test_attachments_count():
    """From 1.32 on the volumes that are attached to a node count, whether a pod uses them or not."""
    objects = [node("n"), csi_node("n", d=1), *csi(0), *csi(1), attachment("v1")]
    shows({"1.27": {}, "1.32": {"n": [FULL]}}, failed, objects, using("p", "c0"))


def test_a_volume_that_is_only_attached_counts_twice():
    """Upstream: a pod's own volume counts as attached and as new, unless a pod on the node uses it."""
    objects = [node("n"), csi_node("n", d=1), *csi(0), attachment("v0")]
    shows({"1.27": ["n"], "1.32": []}, feasible, objects, using("p", "c0"))
    shows({"1.27": ["n"]}, feasible, [*objects, using("q", "c0", on="n")], using("p", "c0"))


@pytest.mark.parametrize(
    "idle",
    [
        attachment("v1", to="m"),
        attachment("gone"),
        attachment(None),
        attachment("v1", attacher=""),
        attachment("old"),
        attachment("v1", attacher="e"),
    ],
    ids=["other node", "no volume", "no name", "no attacher", "not CSI", "other driver"],
)
def test_attachments_that_do_not_count(idle):
    """An attachment counts for its attacher on its node, if its volume is there and is one of CSI."""
    objects = [node("n"), csi_node("n", d=1), *csi(0), *csi(1), volume("old", **ebs("e")), idle]
    shows({"1.27": ["n"]}, feasible, objects, using("p", "c0"))


def test_a_removed_attachment_makes_room():
    """The attachments of a node are read anew when one is removed."""
    run = Run(SchedulerSpec.of(Framework(release="1.34")).engine())
    run.feed.put_all((node("n"), csi_node("n", d=1), *csi(0), *csi(1), attachment("v1")))
    assert run.cycle(using("p", "c0")).host is None
    run.feed.delete(attachment("v1"))
    assert run.cycle(using("p", "c0")).host == "n"


def test_a_disk_that_has_no_handle_is_an_error():
    """An EBS volume whose name cannot be translated is an error on nodes with a CSINode, and is not
    counted elsewhere."""
    cause = "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/odd)"
    text = f'running "NodeVolumeLimits" filter plugin: converting volume(v0) from inline to csi: {cause}'
    shows({"1.27": text}, error, [node("n"), csi_node("n", other=1)], using("p", ebs("aws://z/odd")))
    shows({"1.27": "n"}, host, [node("n")], using("p", ebs("aws://z/odd")))


# --- Sole users ---------------------------------------------------------------------------------------------


SOLE = claim("c", None, accessModes=["ReadWriteOncePod"], volumeName="v", annotations=BOUND)


def test_preemption_frees_a_claim():
    """The user of the claim is preempted by a pod of higher priority, in each release."""
    objects = [node("n"), volume("v"), SOLE, using("q", "c", on="n", priority=1)]
    shows({"1.27": "n"}, lambda found: found["preemption"]["node"], objects, using("p", "c", priority=2))


# --- Scores -------------------------------------------------------------------------------------------------


def test_storage_left_for_new_volumes():
    """With StorageCapacityScoring a node with more left is better; the capacity is that of the class, not
    one for each claim."""
    left = [
        storage_left(name, {"matchLabels": {"zone": name}}, size)
        for name, size in (("a", "4Gi"), ("b", "8Gi"))
    ]
    objects = [*TWO, MAKING, DRIVER, *left, claim("c"), claim("d")]
    for release in ("1.33", "1.34"):
        found = answer(release, objects, [using("p", "c", "d")], gates={"StorageCapacityScoring": True})
        assert priorities(found)["VolumeBinding"] == {"a": 50, "b": 75}


def test_matched_volumes_go_before_new_ones():
    """A node where a volume is matched is scored by it alone, and by the shape of the profile: here the
    fuller the better."""
    objects = [*TWO, MAKING, DRIVER, storage_left("s", {}, "8Gi"), claim("c")]
    shape = yaml.safe_load("[{utilization: 0, score: 0}, {utilization: 100, score: 10}]")
    profile = {"profiles": [{"pluginConfig": [{"name": "VolumeBinding", "args": {"shape": shape}}]}]}
    asked = {"gates": {"StorageCapacityScoring": True}, "profile": profile}
    found = answer("1.33", [*objects, volume("v", size="2Gi", **on(zone="a"))], [using("p", "c")], **asked)
    assert priorities(found)["VolumeBinding"] == {"a": 50, "b": 12}


def test_without_capacities_every_node_gets_nothing():
    """Drivers that do not report capacities, and pods without claims, score 0 with the gate."""
    for asked in (using("p", "c"), pod("p")):
        found = answer("1.34", [*TWO, MAKING, claim("c")], [asked], gates={"StorageCapacityScoring": True})
        assert priorities(found)["VolumeBinding"] == {"a": 0, "b": 0}


def test_capacity_priority_skips_where_nothing_is_matched():
    """With VolumeCapacityPriority releases from 1.30 on score only where a volume is matched."""
    asked = {"gates": {"VolumeCapacityPriority": True}}
    objects = [*TWO, MAKING, claim("c", size="1Gi")]
    assert "VolumeBinding" not in priorities(answer("1.32", objects, [using("p", "c")], **asked))
    found = answer("1.32", [*objects, volume("v", size="4Gi", **on(zone="a"))], [using("p", "c")], **asked)
    assert priorities(found)["VolumeBinding"] == {"a": 25, "b": 0}
    assert scores(found)["a"] == scores(found)["b"] + 25
