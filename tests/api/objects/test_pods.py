"""Copies of pods."""

from msgspec.structs import replace

from kubeclassic.api.objects import ObjectMeta, Pod, PodSpec, PodStatus

META = ObjectMeta(name="web", namespace="shop", uid="7")
POD = Pod(metadata=META, spec=PodSpec(priority=3, scheduler_name="mine"), status=PodStatus(phase="Pending"))


def test_created_at():
    """A pod with a creation time is the same but for that."""
    made = POD.created_at("2023-04-01T12:00:00Z")
    assert made == replace(POD, metadata=replace(POD.metadata, creation_timestamp="2023-04-01T12:00:00Z"))
    assert POD.metadata.creation_timestamp is None


def test_bound_to():
    """A pod on a node is the same but for that."""
    assert POD.bound_to("a") == replace(POD, spec=replace(POD.spec, node_name="a"))
    assert POD.spec.node_name == ""


def test_with_status():
    """A pod with another status is the same but for that."""
    assert POD.with_status(PodStatus(phase="Running")) == replace(POD, status=PodStatus(phase="Running"))
    assert POD.status.phase == "Pending"
