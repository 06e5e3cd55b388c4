"""Volumes from 1.17 to 1.27: each fact that a release changed, on a small cluster asked of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from kubeclassic.api.objects import KubeObject, Node, Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.run import Run
from kubeclassic.core.volumes.intree import REGION, TOPOLOGY_ZONE, ZONE
from kubeclassic.framework.options import options_of
from kubeclassic.framework.plugins.volumezone import VolumeZone
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.framework.status import unresolvable
from tests.support.asking import cycle_of, found_by, handle
from tests.support.build import node
from tests.support.releasewalk import failed, feasible, host
from tests.support.volumebuild import WAIT, claim, on, storage_class, volume
from tests.support.volumecluster import EPHEMERAL, bound, csi_driver, csi_node, ebs, made_for, storage_left, using

Json = dict[str, Any]
LAST = "1.27"
FULL = "node(s) exceed max volume count"
CONFLICT = "node(s) had volume node affinity conflict"
ELSEWHERE = "node(s) had no available volume zone"
IN_USE = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
EBS, EBS_DRIVER = "kubernetes.io/aws-ebs", "ebs.csi.aws.com"
PLAIN = node("n")
ZONED = node("n", labels={ZONE: "z"})
MAKING = storage_class("wait", **WAIT, provisioner="maker")
SOLE = claim("c", None, accessModes=["ReadWriteOncePod"], volumeName="v", annotations={"pv.kubernetes.io/bind-completed": "yes"})


def run_of(release: str, *objects: KubeObject, **gates: bool) -> Run:
    """A scheduler of *release* in a cluster of *objects*."""
    known = {name: on for name, on in gates.items() if name in FRAMEWORK_RELEASES[release].gates}
    run = Run(SchedulerSpec.of(options_of({"release": release, "gates": known})).read().engine())
    for item in objects:
        run.feed.put(item)
    return run


def asked(release: str, objects: list[KubeObject], pending: Pod, **gates: bool) -> Json:
    """What *release* says of *pending*."""
    return run_of(release, *objects, **gates).cycle(pending).record(details=True)


def shows(told: Mapping[str, Any], look: Callable[[Json], Any], objects: list[KubeObject], pending: Pod, **gates: bool) -> None:
    """Hold the releases up to 1.27 to *told*: from which release on *look* sees what."""
    releases = [release for release in FRAMEWORK_RELEASES if _number(next(iter(told))) <= _number(release) <= _number(LAST)]
    wanted, value = {}, None
    for release in releases:
        value = wanted[release] = told.get(release, value)
    assert {release: look(asked(release, objects, pending, **gates)) for release in releases} == wanted


def _number(release: str) -> int:
    return int(release.partition(".")[2])


def told(found: Json) -> str:
    """The error up to what preemption says, without counts of nodes."""
    return str(found["error"]).partition(" preemption: ")[0]


class TestZones:
    def test_claims_are_looked_at_in_order(self) -> None:
        """Up to 1.26 a volume in another zone hides what is wrong with a later claim, and nodes without labels pass."""
        objects = [PLAIN, node("y", labels={ZONE: "y"}), node("z", labels={ZONE: "z"}), volume("v", meta={"labels": {ZONE: "z"}})]
        new, gone = using("p", "c", "gone"), 'persistentvolumeclaim "gone" not found'
        cycle = cycle_of(new, *objects, bound("c", "v"), release="1.26")
        old, newer = (VolumeZone(None, handle(release)) for release in ("1.26", "1.27"))
        assert found_by(old, cycle, Batch(cycle.table)) == {"n": None, "y": ELSEWHERE, "z": gone}
        assert newer.pre_filter(cycle.template, cycle) == unresolvable(gone)

    def test_faults_of_claims(self) -> None:
        """A claim whose volume is gone is an error up to 1.19, told by VolumeBinding; from 1.20 on it is a reason."""
        text = 'could not find v1.PersistentVolume "gone"'
        shows(
            {
                "1.17": f'error while running "VolumeBinding" filter plugin for pod "p": {text}',
                "1.18": f'running "VolumeBinding" filter plugin for pod "p": {text}',
                "1.20": "0/1 nodes are available: 1 pvc(s) bound to non-existent pv(s).",
                "1.23": "0/1 nodes are available: 1 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).",
                "1.27": '0/1 nodes are available: persistentvolume "gone" not found.',
            },
            told, [ZONED, bound("c", "gone")], using("p", "c"),
        )  # fmt: skip

    @pytest.mark.parametrize("label", [TOPOLOGY_ZONE, ZONE])
    def test_newer_labels(self, label: str) -> None:
        """Up to 1.18 only the beta labels of zones are read."""
        objects = [node("n", labels={label: "y"}), volume("v", meta={"labels": {label: "z"}}), bound("c", "v")]
        first: Json = {} if label == TOPOLOGY_ZONE else {"n": [ELSEWHERE]}
        shows({"1.17": first, "1.19": {"n": [ELSEWHERE]}}, failed, objects, using("p", "c"))

    def test_a_node_without_labels(self) -> None:
        """A node without labels of zones passes; with the label of a region alone it has no zone."""
        objects = [PLAIN, node("r", labels={REGION: "r"}), volume("v", meta={"labels": {ZONE: "z"}}), bound("c", "v")]
        shows({"1.17": ["n"]}, feasible, objects, using("p", "c"))


class TestClaims:
    def test_missing_claims(self) -> None:
        """A missing claim ends the cycle with an error up to 1.19; from 1.20 on it rejects the pod."""
        text = 'persistentvolumeclaim "gone" not found'
        shows(
            {"1.17": text, "1.20": f"0/1 nodes are available: 1 {text}.", "1.26": f"0/1 nodes are available: {text}."},
            told, [PLAIN], using("p", "gone"),
        )  # fmt: skip

    def test_immediate_claims(self) -> None:
        """An unbound claim that does not wait is an error of Filter up to 1.18, and a reason of PreFilter from 1.19 on."""
        text = "pod has unbound immediate PersistentVolumeClaims"
        shows(
            {
                "1.17": f'error while running "VolumeBinding" filter plugin for pod "p": {text}',
                "1.18": f'running "VolumeBinding" filter plugin for pod "p": {text}',
                "1.19": f"0/1 nodes are available: 1 {text}.",
                "1.26": f"0/1 nodes are available: {text}.",
            },
            told, [PLAIN, claim("c", None)], using("p", "c"),
        )  # fmt: skip

    def test_a_class_without_a_mode(self) -> None:
        """Such a class is an error, of which 1.24 loses the text."""
        text = 'VolumeBindingMode not set for StorageClass "unset"'
        shows(
            {
                "1.17": f'error while running "VolumeBinding" filter plugin for pod "p": {text}',
                "1.18": f'running "VolumeBinding" filter plugin for pod "p": {text}',
                "1.19": f'prefilter plugin "VolumeBinding" failed for pod "p": {text}',
                "1.20": f'running PreFilter plugin "VolumeBinding": {text}',
                "1.24": 'running PreFilter plugin "VolumeBinding": %!w(<nil>)',
                "1.25": f'running PreFilter plugin "VolumeBinding": {text}',
            },
            told, [PLAIN, claim("c", "unset"), storage_class("unset")], using("p", "c"),
        )  # fmt: skip

    def test_lost_claims(self) -> None:
        """From 1.23 on a claim in phase Lost rejects the pod."""
        made = bound("c", "v")
        lost = type(made)(metadata=made.metadata, spec=made.spec, phase="Lost")
        objects = [PLAIN, volume("v"), lost]
        shows({"1.17": "n", "1.23": None}, host, objects, using("p", "c"))

    def test_two_conflicts_on_a_node(self) -> None:
        """A node where one claim is out of reach and another finds no volume has one reason in 1.17, and two from 1.18 on."""
        late = storage_class("wait", **WAIT, provisioner="kubernetes.io/no-provisioner")
        objects = [PLAIN, late, volume("v", **on(zone="a")), bound("c", "v"), claim("d")]
        nothing = "node(s) didn't find available persistent volumes to bind"
        shows({"1.17": {"n": [CONFLICT]}, "1.18": {"n": [CONFLICT, nothing]}}, failed, objects, using("p", "c", "d"))

    def test_volumes_are_assumed(self) -> None:
        """A volume that a pod gets is not there for the next one, whoever assumes it."""
        late = storage_class("wait", **WAIT, provisioner="kubernetes.io/no-provisioner")
        for release in FRAMEWORK_RELEASES:
            run = run_of(release, PLAIN, late, volume("v"), claim("c"), claim("d"))
            assert run.cycle(using("p", "c")).host == "n", release
            assert run.cycle(using("q", "d")).host is None, release


class TestEphemeralVolumes:
    def test_they_have_claims_with_a_gate(self) -> None:
        """Generic ephemeral volumes are ignored while their gate is off; a missing claim is worded anew in 1.23."""
        text = 'persistentvolumeclaim "p-v0" not found'
        waiting = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v0"'
        shows(
            {
                "1.17": "None", "1.21": f"0/1 nodes are available: 1 {text}.", "1.23": f"0/1 nodes are available: 1 {waiting}.",
                "1.26": f"0/1 nodes are available: {waiting}.",
            },
            told, [PLAIN], using("p", EPHEMERAL),
        )  # fmt: skip
        assert told(asked("1.19", [PLAIN], using("p", EPHEMERAL), GenericEphemeralVolume=True)) == text
        assert asked("1.18", [PLAIN], using("p", EPHEMERAL))["host"] == "n"

    def test_claims_of_others(self) -> None:
        """A claim that another pod owns is worded anew in 1.23."""
        old = 'persistentvolumeclaim "p-v0" was not created for the pod'
        new = "PVC default/p-v0 was not created for pod default/p (pod is not owner)"
        shows(
            {
                "1.21": f"0/1 nodes are available: 1 {old}.", "1.23": f"0/1 nodes are available: 1 {new}.",
                "1.26": f"0/1 nodes are available: {new}.",
            },
            told, [PLAIN, made_for("other", "p-v0")], using("p", EPHEMERAL),
        )  # fmt: skip
        found = asked("1.19", [PLAIN, made_for("other", "p-v0")], using("p", EPHEMERAL), GenericEphemeralVolume=True)
        assert told(found) == old

    def test_a_gate_that_is_off(self) -> None:
        """In 1.21 and 1.22 an ephemeral volume beside a claim is an error while the gate is off."""
        text = "volume v0 is a generic ephemeral volume, but that feature is disabled in kube-scheduler"
        objects, pending = [PLAIN, volume("v"), bound("c", "v")], using("p", EPHEMERAL, "c")
        for release in ("1.21", "1.22"):
            found = asked(release, objects, pending, GenericEphemeralVolume=False)
            assert told(found) == f'running PreFilter plugin "VolumeBinding": {text}'
            assert asked(release, objects, using("p", EPHEMERAL), GenericEphemeralVolume=False)["host"] == "n"
        assert asked("1.20", objects, pending)["host"] == "n"

    def test_limits(self) -> None:
        """From 1.23 on their claims count towards limits."""
        new = using("p", EPHEMERAL)
        objects = [PLAIN, csi_node("n", maker=0), MAKING, made_for(new.uid, "p-v0")]
        shows({"1.21": {}, "1.23": {"n": [FULL]}}, failed, objects, new)


class TestLimits:
    def test_missing_claims_of_a_pod_on_a_node(self) -> None:
        """A missing claim of a pod that is on the node is ignored in all releases."""
        objects = [PLAIN, csi_node("n", d=1), volume("v", csi={"driver": "d", "volumeHandle": "h"}), bound("c", "v")]
        shows({"1.17": "n"}, host, [*objects, using("q", "gone", on="n")], using("p", "c"))

    @pytest.mark.parametrize(("release", "gate"), [("1.17", False), ("1.22", False), ("1.23", True), ("1.24", True)])
    def test_migration_has_gates(self, release: str, gate: bool) -> None:
        """Up to 1.24 EBS volumes count for their driver with gate CSIMigrationAWS, which is on from 1.23 on, and with CSIMigration."""
        objects = [PLAIN, csi_node("n", EBS, **{EBS_DRIVER: 0}), volume("v", **ebs("e")), bound("c", "v")]
        counted = {False: "n", True: None}
        assert asked(release, objects, using("p", "c"))["host"] == counted[gate]
        assert asked(release, objects, using("p", "c"), CSIMigrationAWS=not gate)["host"] == counted[not gate]
        assert asked(release, objects, using("p", "c"), CSIMigrationAWS=True, CSIMigration=False)["host"] == "n"

    def test_migration_without_gates(self) -> None:
        """From 1.27 on a CSINode is enough for EBS; from 1.24 on for Cinder."""
        objects = [PLAIN, csi_node("n", **{EBS_DRIVER: 0}), volume("v", **ebs("e")), bound("c", "v")]
        shows({"1.17": "n", "1.27": None}, host, objects, using("p", "c"))
        cinder = volume("v", cinder={"volumeID": "x"})
        objects = [PLAIN, csi_node("n", **{"cinder.csi.openstack.org": 0}), cinder, bound("c", "v")]
        shows({"1.17": "n", "1.24": None}, host, objects, using("p", "c"))

    def test_inline_disks(self) -> None:
        """From 1.25 on a disk that a pod names itself counts for the driver that took over its plugin."""
        objects = [PLAIN, csi_node("n", EBS, **{EBS_DRIVER: 0})]
        shows({"1.23": "n", "1.25": None}, host, objects, using("p", ebs("e")))

    def test_classes_of_drivers_that_cannot_move_yet(self) -> None:
        """Portworx is a driver like others up to 1.22, vSphere up to 1.18."""
        for name, last in (("kubernetes.io/portworx-volume", "1.23"), ("kubernetes.io/vsphere-volume", "1.19")):
            objects = [PLAIN, csi_node("n", **{name: 0}), storage_class("wait", **WAIT, provisioner=name), claim("c")]
            shows({"1.17": None, last: "n"}, host, objects, using("p", "c"))

    def test_balanced_allocation_reads_them(self) -> None:
        """With gate BalanceAttachedNodeVolumes the disks of a node count where shares are balanced, up to 1.21."""
        nodes: list[KubeObject] = [node("a"), node("b", allocatable={"attachable-volumes-aws-ebs": "2"})]
        for release in ("1.17", "1.21"):
            plain, counted = (
                asked(release, nodes, using("p", ebs("e")), BalanceAttachedNodeVolumes=gate)["priorities"] for gate in (False, True)
            )
            name = "NodeResourcesBalancedAllocation"
            assert plain[name]["a"] == plain[name]["b"]
            assert counted[name]["a"] > counted[name]["b"]


class TestReach:
    MINE: Node = node("mine", labels={"topology.ebs.csi.aws.com/zone": "z", "disk": "ssd"})

    def reached(self, release: str, labels: Json, **affinity: str) -> Json:
        spec = on(**affinity) if affinity else {}
        disk = volume("v", meta={"labels": labels}, **ebs("e"), **spec)
        objects = [self.MINE, csi_node("mine", EBS, **{EBS_DRIVER: 9}), disk, bound("c", "v")]
        return asked(release, objects, using("p", "c"), CSIMigrationAWS=True)

    def test_labels_of_moved_volumes(self) -> None:
        """Up to 1.20 only the beta label tells the driver's zone, in place of all that the volume's node affinity asks for."""
        for release, hosts in (("1.20", ["mine", "mine"]), ("1.21", ["mine", None])):
            found = [self.reached(release, {ZONE: "z"}, disk=disk)["failed"].get("mine") for disk in ("ssd", "hdd")]
            assert [None if reasons == [CONFLICT] else "mine" for reasons in found] == hosts
        assert self.reached("1.21", {TOPOLOGY_ZONE: "y"})["failed"]["mine"] == [CONFLICT]
        assert CONFLICT not in self.reached("1.20", {TOPOLOGY_ZONE: "y"})["failed"].get("mine", ())

    def test_a_label_without_a_zone(self) -> None:
        """Up to 1.20 a beta label that names no zone is an error."""
        text = "could not translate pv: failed to translate topology: there are no valid zones to add to pv"
        assert told(self.reached("1.20", {ZONE: ""})) == f'running "VolumeBinding" filter plugin for pod "p": {text}'
        assert self.reached("1.21", {ZONE: ""})["host"] == "mine"

    def test_local_volumes(self) -> None:
        """Up to 1.26 each node is looked at, whatever nodes a local volume names."""
        key = "kubernetes.io/hostname"
        nodes = [node(name, labels={key: name}) for name in ("a", "b")]
        outside = {"b": ["node is filtered out by the prefilter result"]}
        objects = [*nodes, volume("v", **on(**{key: "a"})), bound("c", "v")]
        shows({"1.17": {"b": [CONFLICT]}, "1.27": outside}, failed, objects, using("p", "c"))

    def test_classes_of_volumes(self) -> None:
        """Up to 1.19 the annotation with a volume's class is not read where volumes are looked up by class."""
        late = storage_class("wait", **WAIT, provisioner="kubernetes.io/no-provisioner")
        old = volume("v", "", meta={"annotations": {"volume.beta.kubernetes.io/storage-class": "wait"}})
        shows({"1.17": None, "1.20": "n"}, host, [PLAIN, late, old, claim("c")], using("p", "c"))


class TestStorageLeft:
    def test_it_has_a_gate(self) -> None:
        """Capacities count with gate CSIStorageCapacity, which is on from 1.21 on."""
        objects = [PLAIN, MAKING, csi_driver("maker"), claim("c")]
        shows({"1.17": "n", "1.21": None}, host, objects, using("p", "c"))
        assert asked("1.19", objects, using("p", "c"), CSIStorageCapacity=True)["host"] is None
        assert asked("1.23", objects, using("p", "c"), CSIStorageCapacity=False)["host"] == "n"

    def test_the_largest_volume(self) -> None:
        """The largest volume that a capacity allows is read from 1.21 on."""
        left = storage_left("s", "wait", {"matchLabels": {}}, capacity="5Gi", maximumVolumeSize="1Mi")
        objects = [PLAIN, MAKING, csi_driver("maker"), left, claim("c")]
        shows({"1.19": "n", "1.21": None}, host, objects, using("p", "c"), CSIStorageCapacity=True)


class TestSoleUsers:
    GATE: ClassVar[dict[str, bool]] = {"ReadWriteOncePod": True}

    def test_a_claim_in_use(self) -> None:
        """From 1.22 on a claim in use rejects the pod, and up to 1.26 no preemption helps."""
        objects = [PLAIN, volume("v"), SOLE, using("q", "c", on="n", priority=0)]
        shows({"1.17": {}, "1.22": {"n": [IN_USE]}}, failed, objects, using("p", "c", priority=9), **self.GATE)
        for release, preempted in (("1.26", None), ("1.27", "n")):
            found = asked(release, objects, using("p", "c", priority=9), **self.GATE)
            assert found["preemption"]["node"] == preempted

    def test_a_missing_claim_beside_it(self) -> None:
        """Up to 1.24 all claims are looked for before their users are; in 1.25 and 1.26 one claim after the other is."""
        objects = [PLAIN, volume("v"), SOLE, using("q", "c", on="n")]
        gone = 'persistentvolumeclaim "gone" not found'
        pending = using("p", "c", "gone")
        shows({"1.22": {"n": [gone]}, "1.25": {"n": [IN_USE]}, "1.27": {"n": [gone]}}, failed, objects, pending, **self.GATE)

    def test_trials_change_the_counts(self) -> None:
        """Up to 1.24 a user that leaves its node in a trial does not count any more, although the pod stays."""
        objects = [node("n", cpu="1"), volume("v"), SOLE, using("q", "c", on="n", priority=0)]
        large = using("large", priority=9, containers=[{"name": "c", "resources": {"requests": {"cpu": "4"}}}])
        for release, fits in (("1.22", True), ("1.24", True), ("1.25", False), ("1.26", False)):
            run = run_of(release, *objects, **self.GATE)
            assert run.cycle(using("p", "c")).host is None
            assert run.cycle(large).host is None
            assert (run.cycle(using("p", "c")).host == "n") is fits, release
