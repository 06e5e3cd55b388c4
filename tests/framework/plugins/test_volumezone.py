"""VolumeZone: labels of volumes and nodes."""

import pytest

from kubeclassic.api.meaning.labels import BETA_REGION, BETA_ZONE, TOPOLOGY_ZONE
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.plugin import SKIP, unresolvable
from kubeclassic.framework.plugins.volumezone import VolumeZone
from tests.support.asking import cycle_of, found_by, handle, refusals
from tests.support.build import node
from tests.support.volumebuild import WAIT, bound, claim, storage_class, using, volume

ELSEWHERE = "node(s) had no available volume zone"
PLUGIN = VolumeZone(None, handle())
NODES = (node("old", labels={BETA_ZONE: "a"}), node("new", labels={TOPOLOGY_ZONE: "a"}), node("bare"))


def before(*objects, volumes=("c",)):
    cycle = cycle_of(using("p", *volumes), *NODES, *objects)
    return PLUGIN.pre_filter(cycle.template, cycle)


def in_zone(**labels):
    return volume("v", meta={"labels": labels})


@pytest.mark.parametrize(
    "labels, found",
    [
        ({BETA_ZONE: "a"}, {"old": None, "new": ELSEWHERE}),
        ({TOPOLOGY_ZONE: "a"}, {"old": ELSEWHERE, "new": None}),
        ({TOPOLOGY_ZONE: "b__ a"}, {"old": ELSEWHERE, "new": None}),
        ({BETA_ZONE: "b"}, {"old": ELSEWHERE, "new": ELSEWHERE}),
        ({BETA_ZONE: "a", BETA_REGION: "r"}, {"old": ELSEWHERE, "new": ELSEWHERE}),
    ],
)
def test_the_node_must_have_the_same_label(labels, found):
    """The older and the newer label do not match each other; a node without any such label accepts every
    volume."""
    assert refusals(PLUGIN, using("p", "c"), *NODES, in_zone(**labels), bound("c", "v")) == found | {
        "bare": None
    }


def test_it_does_without_pre_filter():
    """Without PreFilter the filter rejects every node for the same reason."""
    cycle = cycle_of(using("p", "gone"), *NODES)
    text = 'persistentvolumeclaim "gone" not found'
    assert found_by(PLUGIN, cycle, Batch(cycle.table)) == dict.fromkeys(("old", "new", "bare"), text)


def test_it_skips_pods_whose_volumes_are_everywhere():
    """Volumes without labels, with one that cannot be read, and claims that wait for their pod do not
    limit the nodes."""
    assert before(volume("v"), bound("c", "v")) is SKIP
    assert before(in_zone(**{BETA_ZONE: "a__"}), bound("c", "v")) is SKIP
    assert before(storage_class("wait", **WAIT), claim("c")) is SKIP
    assert before(in_zone(**{BETA_ZONE: "a"}), bound("c", "v")) is None


@pytest.mark.parametrize(
    "objects, text",
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([bound("c", "gone")], 'persistentvolume "gone" not found'),
        ([claim("c", None)], "PersistentVolumeClaim had no pv name and storageClass name"),
        ([claim("c", "gone")], 'storageclass.storage.k8s.io "gone" not found'),
        ([claim("c", "unset"), storage_class("unset")], 'VolumeBindingMode not set for StorageClass "unset"'),
        (
            [claim("c", "now"), storage_class("now", volumeBindingMode="Immediate")],
            "PersistentVolume had no name",
        ),
    ],
)
def test_a_claim_that_leads_nowhere_ends_the_cycle(objects, text):
    """PreFilter rejects the pod, and removing pods cannot help."""
    assert before(*objects) == unresolvable(text)


def test_a_claim_without_a_name_ends_it_too():
    """A claim without a name rejects the pod."""
    assert before(volumes=("",)) == unresolvable("PersistentVolumeClaim had no name")
