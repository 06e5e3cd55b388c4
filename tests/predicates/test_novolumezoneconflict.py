"""Volumes in the node's zone."""

import pytest

from kubeclassic.api.meaning.labels import BETA_REGION, BETA_ZONE
from kubeclassic.predicates.novolumezoneconflict import no_volume_zone_conflict, zones_of
from tests.support.build import ask, node
from tests.support.volumebuild import claim, pod, storage_class, volume

NODES = [
    node("a", labels={BETA_ZONE: "z1", BETA_REGION: "r1"}),
    node("b", labels={BETA_ZONE: "z2", BETA_REGION: "r1"}),
    node("c"),
    node("d", labels={BETA_REGION: "r1"}),
]

CONFLICT = ["node(s) had no available volume zone"]


def judged(*objects, claims=("c",), **options):
    return ask(no_volume_zone_conflict, pod(*claims), *NODES, *objects, **options)


def bound(name="c"):
    return claim(name, volumeName="v")


def labelled(**labels):
    names = {"zone": BETA_ZONE, "region": BETA_REGION}
    return volume("v", meta={"labels": {names[key]: value for key, value in labels.items()}})


@pytest.mark.parametrize(
    "label, zones",
    [
        ("a", {"a"}),
        ("a__b", {"a", "b"}),
        (" a __b ", {"a", "b"}),
        ("a__", set()),
        ("", set()),
        ("a_b", {"a_b"}),
    ],
)
def test_a_label_names_zones_between_double_underscores(label, zones):
    """Parts are trimmed; a label with an empty part does not count at all."""
    assert zones_of(label) == zones


@pytest.mark.parametrize(
    "objects, text",
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([bound()], 'persistentvolume "v" not found'),
        ([claim("c")], 'PersistentVolumeClaim was not found: "c"'),
        (
            [claim("c"), storage_class("wait", volumeBindingMode="Immediate")],
            'PersistentVolumeClaim was not found: "c"',
        ),
        ([claim("c"), storage_class("wait")], 'VolumeBindingMode not set for StorageClass "wait"'),
    ],
)
def test_what_cannot_be_looked_up_is_an_error(objects, text):
    """A missing claim or volume, or a claim unbound that does not wait, is an error on every node with a
    zone label."""
    assert judged(*objects) == {"a": text, "b": text, "c": [], "d": text}


def test_the_text_for_unbound_claims_is_the_releases():
    """Before 1.15 an unbound claim is said not to be bound."""
    assert judged(claim("c"), release="1.14")["a"] == 'PersistentVolumeClaim is not bound: "c"'


def test_a_claim_without_name_is_an_error():
    """A volume whose claim has no name cannot be judged."""
    assert judged(claims=("",))["a"] == "PersistentVolumeClaim had no name"


def test_a_volume_elsewhere_hides_what_is_wrong_with_later_claims():
    """The first volume in another zone ends the check; where it is in the zone the later error stands."""
    answer = judged(bound("c1"), labelled(zone="z1"), claims=("c1", "gone"))
    assert answer == {"a": 'persistentvolumeclaim "gone" not found', "b": CONFLICT, "c": [], "d": CONFLICT}
