"""Copies of pods."""

from msgspec.structs import replace

from kubeclassic.api.objects import ObjectMeta, Pod, PodSpec, PodStatus

META = ObjectMeta(name="web", namespace="shop", uid="7")
POD = Pod(metadata=META, spec=PodSpec(priority=3, scheduler_name="mine"), status=PodStatus(phase="Pending"))


def test_bound_to():
    """A pod on a node is the same but for that."""
    assert POD.bound_to("a") == replace(POD, spec=replace(POD.spec, node_name="a"))
    assert POD.spec.node_name == ""


def test_with_status():
    """A pod with another status is the same but for that."""
    assert POD.with_status(PodStatus(phase="Running")) == replace(POD, status=PodStatus(phase="Running"))
    assert POD.status.phase == "Pending"
