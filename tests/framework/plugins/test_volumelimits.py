"""The volume limits: disks by type, volumes by driver, and which of them counts a disk."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.plugins.volumelimits import AzureDiskLimits, CinderLimits, EBSLimits, GCEPDLimits, NodeVolumeLimits
from tests.support.asking import cycle_of, handle
from tests.support.build import error_text, node
from tests.support.volumebuild import EPHEMERAL, bound, claim, csi_node, ebs, gce, made_for, storage_class, using, volume

FULL = "node(s) exceed max volume count"
EBS_KEY, GCE_KEY, CSI_KEY = "attachable-volumes-aws-ebs", "attachable-volumes-gce-pd", "attachable-volumes-csi-ebs.csi.aws.com"


def against(plugin: Any, new: Pod, *objects: Any) -> dict[str, str | None]:
    """Node -> the reason, or the text of an error, None where it fits."""
    cycle = cycle_of(new, *objects)
    nodes = Batch(cycle.table)
    failures = plugin(None, handle()).filter(cycle.template, nodes, cycle)
    if failures is None:
        return dict.fromkeys(nodes.name(i) for i in range(nodes.n))
    return {nodes.name(i): error_text(failures, i) or "".join(r.text for r in failures.reasons(i)) or None for i in range(nodes.n)}


class TestDisks:
    def test_a_node_can_have_so_many(self) -> None:
        """A disk that is already on the node is not counted again."""
        objects = [node("n", allocatable={EBS_KEY: "2"}), using("old", ebs("a"), ebs("b"), on="n")]
        assert against(EBSLimits, using("new", ebs("c")), *objects) == {"n": FULL}
        assert against(EBSLimits, using("new", ebs("b")), *objects) == {"n": None}
        assert against(GCEPDLimits, using("new", ebs("c")), *objects) == {"n": None}

    @pytest.mark.parametrize("label", ["beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"])
    def test_newer_machines_take_fewer_ebs_volumes(self, label: str) -> None:
        """The limit is 25 instead of 39, by either label of the machine type."""
        new = using("new", *(ebs(f"d{i}") for i in range(26)))
        nodes = [node("old", labels={label: "t2.large"}), node("nitro", labels={label: "m5.large"})]
        assert against(EBSLimits, new, *nodes) == {"old": None, "nitro": FULL}

    def test_a_csi_node_ends_some_limits(self) -> None:
        """EBS has no limit on nodes with a CSINode, GCE none where the CSINode lists the plugin as migrated."""
        tight = node("n", allocatable={EBS_KEY: "0", GCE_KEY: "0"})
        assert against(EBSLimits, using("new", ebs("a")), tight, csi_node("n")) == {"n": None}
        assert against(GCEPDLimits, using("new", gce("a")), tight, csi_node("n")) == {"n": FULL}
        assert against(GCEPDLimits, using("new", gce("a")), tight, csi_node("n", "x,kubernetes.io/gce-pd")) == {"n": None}

    def test_unbound_claims_count_by_their_class(self) -> None:
        """An unbound claim counts if its class has the provisioner of the disk type."""
        objects = [node("n", allocatable={EBS_KEY: "0"}), storage_class("fast", provisioner="kubernetes.io/aws-ebs"), claim("c", "fast")]
        assert against(EBSLimits, using("new", "c"), *objects) == {"n": FULL}
        assert against(AzureDiskLimits, using("new", "c"), *objects) == {"n": None}
        assert against(CinderLimits, using("new", "c"), *objects) == {"n": None}

    def test_a_missing_claim_is_an_error_for_the_new_pod_alone(self) -> None:
        """A missing claim of a pod on the node is not counted."""
        text = 'looking up PVC default/gone: persistentvolumeclaim "gone" not found'
        assert against(EBSLimits, using("new", "gone"), node("n")) == {"n": text}
        objects = [node("n", allocatable={EBS_KEY: "1"}), using("old", "gone", on="n")]
        assert against(EBSLimits, using("new", ebs("a")), *objects) == {"n": None}

    def test_claims_of_ephemeral_volumes_go_by_pod_and_volume(self) -> None:
        """Claims of ephemeral volumes count like others, and must be owned by the pod."""
        tight, kind = node("n", allocatable={EBS_KEY: "0"}), storage_class("wait", provisioner="kubernetes.io/aws-ebs")
        new = using("new", EPHEMERAL)
        assert against(EBSLimits, new, tight, kind, made_for(new.uid, "new-v0")) == {"n": FULL}
        text = "PVC default/new-v0 was not created for pod default/new (pod is not owner)"
        assert against(EBSLimits, new, tight, kind, made_for("somebody", "new-v0")) == {"n": text}


class TestDrivers:
    def test_the_csi_node_limits_its_drivers(self) -> None:
        """Volumes are counted by driver and handle, whichever claims they have."""
        disks = [volume(f"pv{i}", csi={"driver": "d", "volumeHandle": f"h{i}"}) for i in range(2)]
        objects = [node("n"), csi_node("n", d=1), *disks, bound("a", "pv0"), bound("b", "pv1"), using("old", "a", on="n")]
        assert against(NodeVolumeLimits, using("new", "b"), *objects) == {"n": FULL}
        assert against(NodeVolumeLimits, using("new", "a"), *objects) == {"n": None}

    def test_inline_disks_count_with_the_driver_that_has_taken_over(self) -> None:
        """An inline EBS volume counts on nodes with a CSINode, under the same name as a volume of the driver."""
        limited = {"allocatable": {CSI_KEY: "1"}}
        objects = [node("n", **limited), node("plain", **limited), csi_node("n"), using("old", ebs("vol-1"), on="n")]
        assert against(NodeVolumeLimits, using("new", ebs("aws://z/vol-2")), *objects) == {"n": FULL, "plain": None}
        assert against(NodeVolumeLimits, using("new", ebs("aws://z/vol-1")), *objects) == {"n": None, "plain": None}

    def test_a_missing_claim_is_an_error(self) -> None:
        """A missing claim of the incoming pod is an error."""
        text = 'looking up PVC default/gone: persistentvolumeclaim "gone" not found'
        assert against(NodeVolumeLimits, using("new", "gone"), node("n")) == {"n": text}

    @pytest.mark.parametrize("provisioner", ["kubernetes.io/rbd", "kubernetes.io/azure-file"])
    def test_volumes_of_old_plugins_that_stay_are_not_counted(self, provisioner: str) -> None:
        """An unbound claim whose class names an in-tree plugin that is not migrated counts for no driver."""
        objects = [node("n"), csi_node("n", **{provisioner: 0}), storage_class("wait", provisioner=provisioner), claim("c")]
        assert against(NodeVolumeLimits, using("new", "c"), *objects) == {"n": None}
