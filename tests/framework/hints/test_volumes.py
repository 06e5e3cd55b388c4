"""The answers of the hints about volumes, devices and pods in each case of upstream's rules."""

import pytest
import yaml

from kubeclassic.framework import hints
from tests.support.build import node, obj, pod
from tests.support.devicebuild import exactly, made

OF_CLAIM = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
CLAIMED = pod("p", volumes=[OF_CLAIM, yaml.safe_load("{name: e, ephemeral: {volumeClaimTemplate: {}}}")])
PLAIN = pod("p")


def some(kind, name, **more):
    """An object of *kind*."""
    return obj({"kind": kind, "metadata": {"name": name, **more.pop("metadata", {})}, **more})


def claim(name, namespace="default"):
    """A claim to a volume."""
    return some("PersistentVolumeClaim", name, metadata={"namespace": namespace})


@pytest.mark.parametrize(
    "new, used, named",
    [
        (claim("c"), True, True),
        (claim("p-e"), True, False),
        (claim("x"), False, False),
        (claim("c", "other"), False, False),
    ],
)
def test_claims(new, used, named):
    """A claim counts if a volume of the pod has it; for some plugins that of an ephemeral volume does not."""
    assert hints.claim_is_used(CLAIMED, None, new) is used
    assert hints.claim_is_named(CLAIMED, None, new) is named


def test_classes():
    """A new class counts, and one with other topologies; for VolumeZone only one that waits for its first
    consumer."""
    topology = yaml.safe_load("[{matchLabelExpressions: [{key: zone, values: [a]}]}]")
    first = some("StorageClass", "s")
    other = some("StorageClass", "s", allowedTopologies=topology)
    assert [hints.class_changes(PLAIN, old, other) for old in (None, first, other)] == [True, True, False]
    waits = some("StorageClass", "s", volumeBindingMode="WaitForFirstConsumer")
    assert [hints.class_waits(PLAIN, None, new) for new in (first, waits)] == [False, True]


def test_migrated_plugins():
    """A CSINode that is new or names other plugins counts; naming none is like not saying so."""
    silent, empty, named = (
        some("CSINode", "n", metadata={"annotations": annotations})
        for annotations in ({}, *({hints.MIGRATED_PLUGINS: plugins} for plugins in ("", "kubernetes.io/rbd")))
    )
    cases = [(None, silent, True), (silent, empty, False), (silent, named, True), (named, named, False)]
    assert all(hints.migration_changes(PLAIN, old, new) is helps for old, new, helps in cases)


def capacity(amount, largest=None):
    """A report of storage."""
    sizes = {"capacity": amount, "maximumVolumeSize": largest}
    return some(
        "CSIStorageCapacity",
        "c",
        storageClassName="s",
        **{key: value for key, value in sizes.items() if value is not None},
    )


@pytest.mark.parametrize(
    "old, new, helps",
    [
        (None, capacity(None), True),
        (capacity("1Gi"), capacity("2Gi"), True),
        (capacity("2Gi"), capacity("1Gi"), False),
        (capacity("1Gi"), capacity("1Gi"), False),
        (capacity(None), capacity("1Gi"), True),
        (capacity("1Gi"), capacity(None), False),
        (capacity("5Gi", "1Gi"), capacity("1Gi", "2Gi"), True),
        (capacity("1Gi", "1Gi"), capacity("5Gi", "1Gi"), False),
    ],
)
def test_capacities(old, new, helps):
    """The hint helps if the largest volume grows, or else the capacity."""
    assert hints.capacity_grows(PLAIN, old, new) is helps


def test_limits():
    """The limit of a driver has to grow; without one it is 0."""

    def limits(**counts):
        counted = {
            name: {} if count is None else {"allocatable": {"count": count}} for name, count in counts.items()
        }
        return some(
            "CSINode",
            "n",
            spec={"drivers": [{"name": name, "nodeID": "n", **more} for name, more in counted.items()]},
        )

    cases = [
        (limits(a=1), limits(a=2), True),
        (limits(a=2), limits(a=1), False),
        (limits(), limits(a=1), True),
        (limits(a=1), limits(a=None), False),
    ]
    for old, new, helps in cases:
        assert hints.limit_grows(PLAIN, old, new) is helps


def test_pods_that_go():
    """One that had a volume of a driver counts for limits, if it was on a node, or nominated where that
    counts."""
    gone = pod("q", on="n", volumes=[OF_CLAIM])
    nominated = pod("q", volumes=[OF_CLAIM], nominated="n")
    assert hints.pod_leaves_attachment(PLAIN, gone, None, nominated=False)
    assert not hints.pod_leaves_attachment(PLAIN, pod("q", on="n"), None, nominated=True)
    disks = {
        "rbd": {"monitors": ["m"], "image": "i"},
        "awsElasticBlockStore": {"volumeID": "aws://zone/no-volume"},
    }
    leaving = [pod("q", on="n", volumes=[{"name": "d", kind: disk}]) for kind, disk in disks.items()]
    assert [hints.pod_leaves_attachment(PLAIN, old, None, nominated=True) for old in leaving] == [False, True]
    assert [
        hints.pod_leaves_attachment(PLAIN, nominated, None, nominated=counts) for counts in (False, True)
    ] == [False, True]
    assert hints.pod_leaves_disk(CLAIMED, gone, None)
    assert not hints.pod_leaves_disk(CLAIMED, pod("q", on="n", namespace="other", volumes=[OF_CLAIM]), None)


def test_claims_to_devices():
    """A claim that gives its devices back helps every pod with claims; another change only the pod that uses
    it."""
    spec = {"devices": {"requests": [{"name": "r", "exactly": exactly()}]}}
    mine = made("ResourceClaim", "c", spec, metadata={"namespace": "default", "uid": "1"})
    other = made("ResourceClaim", "d", {"devices": {}}, metadata={"namespace": "default", "uid": "2"})
    allocation = yaml.safe_load("""
    allocation:
      devices:
        results:
        - {request: r, driver: d, pool: p, device: x}
    """)
    held = made(
        "ResourceClaim",
        "d",
        {"devices": {}},
        metadata={"namespace": "default", "uid": "2"},
        status=allocation,
    )

    def hint(old, new, found=(mine,)):
        return hints.claim_changes(PLAIN, old, new, claims=lambda one: found)

    assert [hint(None, mine), hint(held, other)] == [True, True]
    assert [hint(None, other), hint(other, held), hint(mine, mine)] == [False, False, False]
    assert not hint(None, mine, "could not find ResourceClaim")


def test_anti_affinity_of_others():
    """Upstream: a pod that goes counts only if the waiting pod's own terms match it, not if its terms matched
    the waiting pod."""
    terms = yaml.safe_load("[{labelSelector: {matchLabels: {app: a}}, topologyKey: zone}]")
    shy = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    waiting = pod("p", app="a")
    gone = pod("q", on="n", affinity=shy)
    assert not hints.affine_pod_changes(waiting, gone, None)
    assert hints.affine_pod_changes(pod("p", affinity=shy), pod("q", on="n", app="a"), None)


def test_wider_hints():
    """From 1.36 on pods count that avoided the pod, that are nominated, and its own labels."""
    terms = yaml.safe_load("[{labelSelector: {matchLabels: {app: a}}, topologyKey: zone}]")
    shy = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    waiting = pod("p", app="a")
    gone = pod("q", affinity=shy, nominated="n")
    changed = pod("p", app="b")
    for wider in (False, True):
        assert hints.affine_pod_changes(waiting, gone, None, wider=wider) is wider
        assert hints.affine_pod_changes(waiting, waiting, changed, wider=wider) is wider
    spread = hints.Spread("zone", lambda labels: True, False)
    for wider in (False, True):
        found = hints.spread_pod_changes(
            waiting, gone, None, constraints=lambda asked: [spread], sees_itself=True, wider=wider
        )
        assert found is wider


@pytest.mark.parametrize(
    "compares, old, helps",
    [
        (True, {}, True),
        (True, {"zone": "x"}, False),
        (True, {"zone": "y"}, True),
        (False, {"zone": "x"}, True),
    ],
)
def test_domains(compares, old, helps):
    """From 1.33 on a node has to change its domain, before it has to have one."""
    terms = [{"labelSelector": {}, "topologyKey": "zone"}]
    waiting = pod("p", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
    new = node("n", labels={"zone": "x"})
    assert hints.affine_node_changes(waiting, node("n", labels=old), new, compares=compares) is helps


def test_room():
    """A node has to be large enough for the pod alone, and to have more than before of what the pod wants."""

    def asks(one):
        return {"cpu": 2000}

    small = node("n", cpu="1")
    large = node("n", cpu="4")
    full = node("n", cpu="4", memory="64Gi")
    cases = [(None, large, True), (None, small, False), (small, large, True), (large, full, False)]
    assert [hints.node_has_room(PLAIN, old, new, requests=asks, compares=True) for old, new, _ in cases] == [
        helps for *_, helps in cases
    ]
    assert hints.node_has_room(PLAIN, large, full, requests=asks, compares=False)
