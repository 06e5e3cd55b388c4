"""The decisions that the volume binder stores and assumes."""

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.binding import VolumeError
from kubeclassic.core.volumes.binder import claim_keys
from tests.support.volumebuild import (
    BOUND,
    WAIT,
    batch,
    binder,
    claim,
    flags,
    node,
    pod,
    storage_class,
    volume,
)


def decided(found, incoming, nodes):
    """Store and assume the decision, as a cycle does."""
    found.remember(incoming, claim_keys(incoming), nodes)
    return found.assume(incoming, "n1")


# --- Assume -------------------------------------------------------------------------------------------------


CLASS = storage_class("wait", provisioner="p", **WAIT)


def test_pods_whose_claims_are_bound_have_nothing_to_assume():
    """A pod without claims, or with bound ones only, is all bound."""
    found = binder(claim("c", annotations=BOUND, volumeName="v"), volume("v"))
    assert found.assume(pod(), "n1") is True
    assert found.assume(pod("c"), "n1") is True


@pytest.mark.parametrize("release", list(RELEASES))
def test_a_matched_volume_is_assumed_to_be_the_claims(release):
    """The volume gets a reference to the claim and the mark of the controller, so that other claims pass
    it over."""
    found = binder(claim("c"), claim("d"), volume("v"), storage_class("wait", **WAIT), release=release)
    nodes = batch(node("n1"))
    assert decided(found, pod("c"), nodes) is False
    assumed = found.volumes.get("v")
    assert (assumed.spec.claim_ref.namespace, assumed.spec.claim_ref.name) == ("default", "c")
    assert assumed.annotations == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert flags(found, nodes, "d") == [(False, True)]
    assert found.listings.volumes.get("v") == volume("v")


def test_decisions_of_earlier_cycles_remain_before_1_14():
    """A binding that a later cycle does not replace is still assumed in 1.13: out of sync with its
    volume, which went back."""
    found = binder(claim("c"), volume("v"), CLASS, release="1.13")
    nodes = batch(node("n1"))
    found.remember(pod("c"), ["default/c"], nodes)
    taken = volume("v", claimRef={"namespace": "default", "name": "x"}, meta={"resourceVersion": "9"})
    found.put(taken)
    found.remember(pod("c"), ["default/c"], nodes)
    with pytest.raises(VolumeError, match=r'v1\.PersistentVolume "v" is out of sync'):
        found.assume(pod("c"), "n1")
    assert found.volumes.get("v") == taken
    assert found.claims.get("default/c") == claim("c")


def test_binding_writes_volumes_then_claims():
    """Binding writes the assumed volumes, then the claims; for a pod without decisions nothing."""
    found = binder(claim("a"), claim("b", size="5Gi"), volume("v"), CLASS)
    placed = pod("a", "b").bound_to("n1")
    with pytest.raises(VolumeError, match='failed to get cached bindings for pod "default/p"'):
        found.bind(placed)
    decided(found, pod("a", "b"), batch(node("n1")))
    assert found.bind(placed) == (found.volumes.get("v"), found.claims.get("default/b"))
    found.forget(placed)
    with pytest.raises(VolumeError):
        found.bind(placed)


def test_the_version_moves_with_what_is_assumed():
    """Answers remembered before an assumption are not good after it."""
    found = binder(claim("c"), CLASS)
    before = found.version
    decided(found, pod("c"), batch(node("n1")))
    assert found.version > before
    found.drop(claim("c"))
    assert (
        flags(found, batch(node("n1")), "c")[0]
        == 'error getting PVC "default/c": could not find v1.PersistentVolumeClaim "default/c"'
    )
