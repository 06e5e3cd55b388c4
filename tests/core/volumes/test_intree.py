"""Disks under the names that CSI drivers give them."""

import hashlib

import pytest
import yaml

from kubeclassic.api.meaning.labels import BETA_REGION, BETA_ZONE, TOPOLOGY_REGION, TOPOLOGY_ZONE
from kubeclassic.core.volumes.intree import (
    AWS_EBS,
    AZURE_DISK,
    CINDER,
    GCE_PD,
    PORTWORX,
    RBD,
    RBD_HANDLE,
    handle_of,
    plugin_of,
    translated_affinity,
)
from tests.support.volumebuild import on, volume


def handle(plugin, zone="", **source):
    made = volume("v", meta={"labels": {BETA_ZONE: zone}} if zone else None, **source)
    assert plugin_of(made.spec) == plugin
    return handle_of(plugin, made, (BETA_ZONE,))


# --- Handles ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written, found",
    [
        ("vol-1", "vol-1"),
        ("anything", "anything"),
        ("aws://z/vol-1", "vol-1"),
        ("aws:///vol-1", "vol-1"),
        ("aws://z/disk-1", None),
        ("aws://z/a/vol-1", None),
    ],
)
def test_ebs_volumes_are_named_without_their_zone(written, found):
    """An aws:// name must end in a volume's id; any other text is taken as it stands."""
    assert handle(AWS_EBS, awsElasticBlockStore={"volumeID": written}) == found


@pytest.mark.parametrize(
    "zone, place",
    [
        ("", "UNSPECIFIED"),
        ("us-east1-b", "us-east1-b"),
        ("us-east1-b__us-east1-c", "us-east1"),
        ("us-east1-b__us-west1-c", None),
        ("a__b", None),
    ],
)
def test_gce_disks_are_named_by_zone_or_region(zone, place):
    """A disk in several zones is named by the region that they share, and has no name where they share
    none."""
    found = handle(GCE_PD, zone, gcePersistentDisk={"pdName": "d"})
    assert found == (None if place is None else f"projects/UNSPECIFIED/zones/{place}/disks/d")


@pytest.mark.parametrize(
    "plugin, source, found",
    [
        (AZURE_DISK, "azureDisk: {diskName: d, diskURI: /uri}", "/uri"),
        (CINDER, "cinder: {volumeID: c}", "c"),
        (PORTWORX, "portworxVolume: {volumeID: p}", "p"),
        (None, "iscsi: {iqn: i}", None),
    ],
)
def test_others_keep_their_ids(plugin, source, found):
    """Azure disks go by URI, Cinder and Portworx volumes by id; what is of no plugin no driver takes
    over."""
    made = volume("v", **yaml.safe_load(source))
    assert plugin_of(made.spec) == plugin
    assert (plugin and handle_of(plugin, made, (BETA_ZONE,))) == found


@pytest.mark.parametrize("image, short", [("i", "i"), ("kubernetes-dynamic-pvc-i", "i")])
def test_ceph_volumes_are_named_by_monitors_image_and_pool(image, short):
    """The handle has a hash of the monitors and the pool in hexadecimal digits; a handle in the
    annotations goes before it."""
    disk = {"rbd": {"monitors": ["a", "b"], "image": image, "pool": "rbd"}}
    digest = hashlib.md5(b"a,b").hexdigest()
    assert handle(RBD, **disk) == f"mig_mons-{digest}_image-{short}_726264"
    assert (
        handle_of(RBD, volume("v", meta={"annotations": {RBD_HANDLE: "known"}}, **disk), (BETA_ZONE,))
        == "known"
    )


def test_the_first_label_that_says_anything_names_the_zone():
    """The newer label counts where the older one is absent or empty, for releases that look at both."""
    made = volume(
        "v", meta={"labels": {BETA_ZONE: "", TOPOLOGY_ZONE: "us-east1-b"}}, gcePersistentDisk={"pdName": "d"}
    )
    assert (
        handle_of(GCE_PD, made, (BETA_ZONE, TOPOLOGY_ZONE)) == "projects/UNSPECIFIED/zones/us-east1-b/disks/d"
    )
    assert handle_of(GCE_PD, made, (BETA_ZONE,)) == "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"


EBS_ZONE = "topology.ebs.csi.aws.com/zone"
EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}


def translated(labels=None, **wanted):
    """Label -> values, a term each, of an EBS volume with these *labels* and an affinity for these labels of
    nodes."""
    made = volume("v", meta={"labels": labels or {}}, **EBS, **(on(**wanted) if wanted else {}))
    affinity = translated_affinity(AWS_EBS, made)
    terms = affinity.node_selector_terms if affinity else ()
    return [{expression.key: expression.values for expression in term.match_expressions} for term in terms]


# --- Translated affinity ------------------------------------------------------------------------------------


def test_zones_are_looked_for_in_the_drivers_label():
    """The affinity's own zones, by the older or the newer label; other labels stay."""
    assert translated(**{TOPOLOGY_ZONE: "a", "disk": "ssd"}) == [{EBS_ZONE: ("a",), "disk": ("ssd",)}]
    assert translated(**{BETA_ZONE: "a"}) == [{EBS_ZONE: ("a",)}]


def test_the_volumes_label_stands_in():
    """Where the affinity names no zone those of the volume's label are added, to every term."""
    assert translated({BETA_ZONE: "b__ a__"}) == [{EBS_ZONE: ("a", "b")}]
    assert translated({BETA_ZONE: "b"}, disk="ssd") == [{"disk": ("ssd",), EBS_ZONE: ("b",)}]
    assert translated({BETA_ZONE: "b"}, **{BETA_ZONE: "a"}) == [{EBS_ZONE: ("a",)}]


def test_older_regions_become_newer_ones():
    """Nodes that have only the newer label must be in reach."""
    assert translated(**{BETA_ZONE: "a", BETA_REGION: "r"}) == [{EBS_ZONE: ("a",), TOPOLOGY_REGION: ("r",)}]


def test_a_volume_without_zone_stays_everywhere():
    """Without zone labels nothing is added; a driver without a label of its own changes nothing."""
    assert translated() == []
    made = volume("v", **on(**{BETA_ZONE: "a"}), azureDisk={"diskName": "d", "diskURI": "/u"})
    assert translated_affinity(AZURE_DISK, made) is made.spec.node_affinity
