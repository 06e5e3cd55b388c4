"""The limit of CSI volumes on a node."""

from kubeclassic.predicates.maxcsivolumecount import csi_limit_key, max_csi_volume_count
from tests.support.build import ask, node
from tests.support.volumebuild import claim, csi_node, using, volume

KEY = "attachable-volumes-csi-d"
MIGRATION = {"CSIMigration": True, "CSIMigrationAWS": True}


def csi(handle, driver="d"):
    return {"csi": {"driver": driver, "volumeHandle": handle}}


def bound(name, source=None):
    """A claim and the volume it is bound to."""
    return [
        claim(name, volumeName=f"pv-{name}"),
        volume(f"pv-{name}", **(csi(name) if source is None else source)),
    ]


def limited(limit, key=KEY):
    return node("n", allocatable={key: str(limit)})


def test_long_driver_names_are_cut_and_hashed():
    """A key of 63 characters or more is made of the first 23 of the driver and 16 digits of its SHA-1."""
    assert csi_limit_key("d" * 39) == "attachable-volumes-csi-" + "d" * 39
    assert csi_limit_key("d" * 40) == "attachable-volumes-csi-" + "d" * 23 + "4e99f0e6374ba7bf"


def test_the_gate_switches_it_off():
    """Gate AttachVolumeLimit off: everything fits."""
    assert ask(
        max_csi_volume_count, using("p", "a"), limited(0), *bound("a"), gates={"AttachVolumeLimit": False}
    ) == {"n": []}


def test_a_claim_without_name_is_an_error():
    """Before 1.16 a node without any limit fits before claims are looked at."""
    text = "PersistentVolumeClaim had no name"
    nodes = [limited(0), node("m")]
    assert ask(max_csi_volume_count, using("p", ""), *nodes) == {"n": text, "m": text}
    assert ask(max_csi_volume_count, using("p", ""), *nodes, release="1.15") == {"n": text, "m": []}
    odd = [using("q", "", on="n"), using("r", "", on="m"), *bound("a")]
    assert ask(max_csi_volume_count, using("p", "a"), *nodes, *odd) == {"n": text, "m": []}


# --- Migration ----------------------------------------------------------------------------------------------


EBS = "ebs.csi.aws.com"


def test_a_migrated_disk_is_the_same_as_its_csi_twin():
    """An EBS volume and a CSI volume of the same handle are one."""
    node_n = limited(1, f"attachable-volumes-csi-{EBS}")
    objects = [
        *bound("a", {"awsElasticBlockStore": {"volumeID": "aws://zone/vol-1"}}),
        *bound("b", csi("vol-1", EBS)),
        using("q", "b", on="n"),
    ]
    migrated = csi_node("n", "kubernetes.io/aws-ebs", **{EBS: 9})
    assert ask(max_csi_volume_count, using("p", "a"), node_n, migrated, *objects, gates=MIGRATION) == {
        "n": []
    }
