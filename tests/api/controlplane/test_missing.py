"""Objects that the input of a cluster lacks, and where that does not matter. (Each line as users see it:
tests/stumbles/test_inventory.py.)"""

import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.api.controlplane import missing
from tests.support.build import node, obj, owned_by, pod

CLAIM = yaml.safe_load("{volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}")


def made(kind, name, **more):
    """An object of any kind."""
    return obj({"kind": kind, "metadata": {"name": name, **more.pop("metadata", {})}, **more})


def live_node():
    """A node as an API server gives it."""
    given = node("a")
    return replace(
        given, metadata=replace(given.metadata, uid="u", creation_timestamp="2020-01-01T00:00:00Z")
    )


def told(*objects, **options):
    """The missing objects that are reported."""
    return [notice.what for notice in missing.missing_kinds(objects, **options)]


# --- Owners -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, lines",
    [("ReplicaSet", 1), ("StatefulSet", 1), ("ReplicationController", 1), ("Job", 0), ("Node", 0)],
)
def test_only_kinds_that_are_read(kind, lines):
    """Owners are missed if scheduling reads their kind."""
    assert len(told(node("a"), pod("p", metadata=owned_by(kind)))) == lines


@pytest.mark.parametrize(
    "metadata, name, lines",
    [({}, "kata", 1), ({}, "gvisor", 0), ({"creationTimestamp": "2020-01-01T00:00:00Z"}, "kata", 0)],
)
def test_runtime_classes(metadata, name, lines):
    """A pod that no API server has admitted lacks what its RuntimeClass adds."""
    objects = made("RuntimeClass", "gvisor"), pod("p", metadata=metadata, runtimeClassName=name)
    assert told(*objects) == lines * [missing.NO_RUNTIME.format("kata")]


def test_not_of_pods_on_nodes():
    """Owners of pods that have a node are not missed."""
    assert told(node("a"), pod("p", on="a", metadata=owned_by())) == []


def test_owners_that_are_there_are_not_missed():
    """Nothing is missed that is there."""
    assert told(node("a"), made("ReplicaSet", "o"), pod("p", metadata=owned_by())) == []


@pytest.mark.parametrize(
    "others, lines",
    [
        ([], [missing.NO_CLAIM]),
        ([made("PersistentVolumeClaim", "c")], []),
        ([made("PersistentVolumeClaim", "c", spec={"volumeName": "v"})], [missing.NO_VOLUME]),
        ([made("PersistentVolumeClaim", "c", spec={"volumeName": "v"}), made("PersistentVolume", "v")], []),
        ([made("PersistentVolumeClaim", "c", spec={"storageClassName": "s"})], [missing.NO_CLASS]),
        ([made("PersistentVolumeClaim", "c", spec={"storageClassName": "s"}), made("StorageClass", "s")], []),
        ([made("PersistentVolumeClaim", "c", spec={"storageClassName": ""})], []),
        (
            [
                made(
                    "PersistentVolumeClaim",
                    "c",
                    metadata={"annotations": {"volume.beta.kubernetes.io/storage-class": "s"}},
                )
            ],
            [missing.NO_CLASS],
        ),
    ],
)
def test_what_a_claim_needs(others, lines):
    """A waiting pod's claim, its volume if it is bound, and else its class are missed."""
    assert told(node("a"), pod("p", **CLAIM), *others) == lines


# --- Whole kinds --------------------------------------------------------------------------------------------


def test_only_in_dumps():
    """Services, budgets and classes are missed in what an API server gave, not in what was written by
    hand."""
    given = [pod("there", on="a", priority=0), pod("p", app="web", priority=5)]
    assert told(node("a"), *given, lacks_classes=True) == []
    assert told(live_node(), *given, lacks_classes=True) == [
        missing.NO_PRIORITY_CLASSES,
        missing.NO_SERVICES,
        missing.NO_BUDGETS,
    ]


def test_only_where_they_matter():
    """Services matter to pods with labels, budgets where somebody can be evicted."""
    assert told(live_node(), pod("there", on="a"), pod("p")) == []
    assert told(live_node(), pod("there", on="a"), pod("p", app="web")) == [missing.NO_SERVICES]
    assert told(live_node(), pod("there", on="a"), pod("p", priority=1)) == [missing.NO_BUDGETS]


def test_not_where_they_are():
    """Any service, budget or class will do."""
    there = [made("Service", "s"), made("PodDisruptionBudget", "b"), made("PriorityClass", "c")]
    waiting = pod("p", app="web", priority=5)
    assert told(live_node(), pod("there", on="a"), waiting, *there, lacks_classes=True) == []
