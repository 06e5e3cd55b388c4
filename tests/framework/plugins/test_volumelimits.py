"""The volume limits: disks by type, volumes by driver, and which of them counts a disk."""

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.plugins.volumelimits import EBSLimits, NodeVolumeLimits
from tests.support.asking import cycle_of, handle
from tests.support.build import error_text, node
from tests.support.volumebuild import EPHEMERAL, ebs, made_for, storage_class, using

FULL = "node(s) exceed max volume count"
EBS_KEY = "attachable-volumes-aws-ebs"


def against(plugin, new, *objects):
    """Node -> the reason, or the text of an error, None where it fits."""
    cycle = cycle_of(new, *objects)
    nodes = Batch(cycle.table)
    failures = plugin(None, handle()).filter(cycle.template, nodes, cycle)
    if failures is None:
        return dict.fromkeys(nodes.name(i) for i in range(nodes.n))
    return {
        nodes.name(i): error_text(failures, i) or "".join(r.text for r in failures.reasons(i)) or None
        for i in range(nodes.n)
    }


def test_a_missing_claim_is_an_error_for_the_new_pod_alone():
    """A missing claim of a pod on the node is not counted."""
    text = 'looking up PVC default/gone: persistentvolumeclaim "gone" not found'
    assert against(EBSLimits, using("new", "gone"), node("n")) == {"n": text}
    objects = [node("n", allocatable={EBS_KEY: "1"}), using("old", "gone", on="n")]
    assert against(EBSLimits, using("new", ebs("a")), *objects) == {"n": None}


def test_claims_of_ephemeral_volumes_go_by_pod_and_volume():
    """Claims of ephemeral volumes count like others, and must be owned by the pod."""
    tight = node("n", allocatable={EBS_KEY: "0"})
    kind = storage_class("wait", provisioner="kubernetes.io/aws-ebs")
    new = using("new", EPHEMERAL)
    assert against(EBSLimits, new, tight, kind, made_for(new.uid, "new-v0")) == {"n": FULL}
    text = "PVC default/new-v0 was not created for pod default/new (pod is not owner)"
    assert against(EBSLimits, new, tight, kind, made_for("somebody", "new-v0")) == {"n": text}


def test_a_missing_claim_is_an_error():
    """A missing claim of the incoming pod is an error."""
    text = 'looking up PVC default/gone: persistentvolumeclaim "gone" not found'
    assert against(NodeVolumeLimits, using("new", "gone"), node("n")) == {"n": text}
