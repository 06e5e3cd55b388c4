"""The limit of cloud disks on a node."""

import numpy as np

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.predicates.maxvolumecount import max_ebs_volume_count
from tests.support.build import answers, ask, engine, manifest, node, obj, overlay, pod
from tests.support.volumebuild import claim, volume

EXCEEDED = ["node(s) exceed max volume count"]
EBS_KEY = "attachable-volumes-aws-ebs"


def ebs(number):
    return {"awsElasticBlockStore": {"volumeID": f"vol-{number}"}}


def user(name, *disks, on=""):
    return pod(name, on=on, volumes=[{"name": f"v{i}", **disk} for i, disk in enumerate(disks)])


def limited(name, limit):
    return node(name, allocatable={EBS_KEY: str(limit)})


def test_a_nodes_own_limit_counts_before_all_others():
    """The limit in allocatable counts, 0 too, unless gate AttachVolumeLimit is off; then the limit for all
    nodes, then the instance type."""
    nodes = [limited("zero", 0), limited("three", 3), node("none")]
    disks = [ebs(i) for i in range(3)]
    assert ask(max_ebs_volume_count, user("p", *disks), *nodes, max_pd_vols=2) == {
        "zero": EXCEEDED,
        "three": [],
        "none": EXCEEDED,
    }
    assert ask(
        max_ebs_volume_count, user("p", *disks[:2]), *nodes, max_pd_vols=2, gates={"AttachVolumeLimit": False}
    ) == {"zero": [], "three": [], "none": []}


def test_a_claim_that_is_bound_later_changes_the_count():
    """Results for a class of pods are forgotten when claims change."""
    scheduler = engine(limited("n", 0), claim("c"), release="1.16")
    cycle = scheduler.begin(user("p", {"persistentVolumeClaim": {"claimName": "c"}}))
    assert answers(max_ebs_volume_count, cycle, Batch(cycle.table)) == {"n": []}
    scheduler.listings.volumes.put(volume("v", **ebs(1)))
    scheduler.listings.claims.put(claim("c", volumeName="v"))
    assert answers(max_ebs_volume_count, cycle, Batch(cycle.table)) == {"n": EXCEEDED}


def test_pods_of_an_overlay_count():
    """A pod put on a node for a trial brings its disks along."""
    scheduler = engine(limited("n", 1), limited("m", 1))
    cycle = scheduler.begin(user("p", ebs(1)))
    trial = overlay(cycle, "n", "m")
    trial.add(cycle.templates.entry(user("q", ebs(2))), 1)
    assert answers(max_ebs_volume_count, cycle, trial) == {"n": [], "m": EXCEEDED}


def test_a_driver_that_took_over_counts_instead():
    """From 1.16 nodes whose CSINode names the plugin are exempt, if the gates allow."""
    csi_node = obj(
        manifest(
            "CSINode",
            "n",
            metadata={
                "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
            },
        )
    )
    nodes = [limited("n", 0), limited("m", 0), csi_node]
    gates = {"CSIMigration": True, "CSIMigrationAWS": True}
    assert ask(max_ebs_volume_count, user("p", ebs(1)), *nodes, gates=gates) == {"n": [], "m": EXCEEDED}
    assert ask(max_ebs_volume_count, user("p", ebs(1)), *nodes, gates={"CSIMigration": True}) == {
        "n": EXCEEDED,
        "m": EXCEEDED,
    }
    assert ask(max_ebs_volume_count, user("p", ebs(1)), *nodes, gates=gates, release="1.15") == {
        "n": EXCEEDED,
        "m": EXCEEDED,
    }


# --- Transient ----------------------------------------------------------------------------------------------


def left(**gates):
    scheduler = engine(
        limited("n", 3), limited("m", 1), limited("o", 0), user("q", ebs(1), on="n"), gates=gates
    )
    cycle = scheduler.begin(user("p", ebs(1), ebs(2)))
    max_ebs_volume_count.effect(cycle.template, Batch(cycle.table, np.array([0, 1])), cycle)
    return Batch(cycle.table).transient.T.tolist()


def test_nodes_that_fit_are_left_free_and_wanted_disks():
    """With gate BalanceAttachedNodeVolumes a node that fits keeps its limit less its disks, and the
    number of new ones."""
    assert left(BalanceAttachedNodeVolumes=True) == [[2, 1], [0, 0], [0, 0]]
    assert left() == [[0, 0], [0, 0], [0, 0]]
