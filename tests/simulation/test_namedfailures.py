"""The failing objects are named: the claim, the volume, the driver; also the counts of a spread by domain."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import drain, explain, simulate, what_if
from kubeclassic.framework.releases import ALL_RELEASES
from tests.support import manifests
from tests.support.manifests import manifest, owned_by
from tests.support.volumebuild import BOUND, on

ZONE = "topology.kubernetes.io/zone"
LATE = manifest("StorageClass", "fast", provisioner="d", volumeBindingMode="WaitForFirstConsumer")


def node(name, zone, **more):
    """A node in a zone."""
    return manifests.node(name, labels={ZONE: zone, "kubernetes.io/hostname": name}, **more)


def asks(claim, name="asked", **more):
    """A pod with this claim."""
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}}]
    return manifests.pod(name, volumes=volumes, **more)


def claim(name, volume=""):
    """A claim of class fast, bound to *volume* if there is one."""
    spec = {"storageClassName": "fast", "volumeName": volume, "resources": {"requests": {"storage": "20Gi"}}}
    metadata = {"annotations": BOUND if volume else {}}
    status = {"phase": "Bound" if volume else "Pending"}
    return manifest("PersistentVolumeClaim", name, metadata=metadata, spec=spec, status=status)


def volume(name, zone, size="20Gi", of="", **spec):
    """A volume of class fast that only the nodes of a zone reach, bound to a claim if that is said."""
    whole = {"storageClassName": "fast", "capacity": {"storage": size}, "accessModes": []}
    whole |= {"claimRef": {"namespace": "default", "name": of}} if of else {}
    whole |= on(**{ZONE: zone}) | spec
    return manifest("PersistentVolume", name, spec=whole, status={"phase": "Available"})


def causes(cluster, release="1.34"):
    """The failures in words."""
    return [one.words for one in explain(cluster, "asked", release).document.causes]


@pytest.mark.parametrize("release", sorted(ALL_RELEASES))
def test_a_volume_that_is_elsewhere(release):
    """Each node that does not reach the volume of a claim says where it can be reached."""
    there = volume("pv-1", "z2", of="data")
    cluster = [node("a", "z1"), LATE, there, claim("data", volume="pv-1"), asks("data")]
    assert f"volume pv-1 of claim data needs {ZONE} z2" in causes(cluster, release)


def test_what_a_driver_publishes():
    """The claim, its size, its class, and what there is."""
    driver = manifest("CSIDriver", "d", spec={"storageCapacity": True})
    capacity = manifest(
        "CSIStorageCapacity",
        "c",
        storageClassName="fast",
        capacity="5Gi",
        nodeTopology={"matchLabels": {ZONE: "z1"}},
    )
    found = causes([node("a", "z1"), node("b", "z2"), LATE, driver, capacity, claim("data"), asks("data")])
    assert found == [
        "claim data: 20Gi of class fast, 5Gi published here",
        "claim data: 20Gi of class fast, nothing published here",
    ]


@pytest.mark.parametrize(
    "volumes, says",
    [
        ([], "no free volume of the class"),
        ([volume("pv", "z2")], "no free volume of the class here, 1 elsewhere"),
        ([volume("pv", "z1", "5Gi")], "the largest free volume here has 5Gi"),
    ],
)
def test_volumes_that_nobody_makes(volumes, says):
    """A class without a provisioner has the volumes that there are."""
    static = LATE | {"provisioner": "kubernetes.io/no-provisioner"}
    assert causes([node("a", "z1"), static, *volumes, claim("data"), asks("data")]) == [
        f"claim data: 20Gi of class fast, {says}"
    ]


def test_where_a_class_makes_volumes():
    """allowedTopologies are told."""
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z2"]}]}]
    found = causes([node("a", "z1"), LATE | {"allowedTopologies": topologies}, claim("data"), asks("data")])
    assert found == [f"claim data: 20Gi of class fast, its class makes volumes at {ZONE} z2 only"]


def test_a_driver_s_limit():
    """The driver, how many volumes are on the node, and how many may be."""
    volumes = [
        volume(f"pv-{name}", "z1", of=name, csi={"driver": "d", "volumeHandle": name})
        for name in ("data", "other")
    ]
    drivers = yaml.safe_load("[{name: d, nodeID: a, allocatable: {count: 1}}]")
    listed = manifest("CSINode", "a", spec={"drivers": drivers})
    there = asks("other", "there", on="a")
    claims = [claim("data", volume="pv-data"), claim("other", volume="pv-other")]
    assert causes([node("a", "z1"), LATE, listed, *volumes, *claims, there, asks("data")]) == [
        "driver d: 1 of 1 attached, asks 1 more"
    ]


@pytest.mark.parametrize("release", ["1.12", "1.16", "1.20", "1.27"])
def test_the_limit_of_a_plugin_in_the_tree(release):
    """Disks count by type, and of two nodes that with less too many is the nearest."""
    disks = [{"name": f"d{at}", "awsElasticBlockStore": {"volumeID": f"v{at}"}} for at in range(41)]
    cluster = [
        node("a", "z1"),
        node("b", "z1"),
        *(manifests.pod(on, on=on, volumes=disks[:many]) for on, many in (("a", 39), ("b", 38))),
        manifests.pod("asked", volumes=[*disks[39:], {"name": "e", "emptyDir": {}}]),
    ]
    words = [f"driver kubernetes.io/aws-ebs: {there} of 39 attached, asks 2 more" for there in (38, 39)]
    assert causes(cluster, release) == words


@pytest.mark.parametrize("release", ["1.27", "1.28", "1.34"])
def test_who_has_the_volume(release):
    """The pod that uses a claim for one pod alone is named on each node, that with the same disk on its
    own."""
    there = volume("pv-1", "z1", of="data", accessModes=["ReadWriteOncePod"])
    mine = claim("data", volume="pv-1")
    mine["spec"]["accessModes"] = ["ReadWriteOncePod"]
    disk = yaml.safe_load("[{name: d, awsElasticBlockStore: {volumeID: v}}]")
    first = asks("data", "first", on="a")
    nodes = [node("a", "z1"), node("b", "z1"), LATE]
    found = explain([*nodes, there, mine, first, asks("data")], "asked", release).document.causes
    assert [(one.words, one.nodes) for one in found] == [
        ("claim data is for one pod alone, and default/first has it", 2)
    ]
    other = [manifests.pod("other", on="a", volumes=disk), manifests.pod("asked", volumes=disk)]
    assert "volume d is a disk that default/other has" in causes([nodes[0], *other], release)


def test_a_claim_that_no_volume_is_made_for():
    """A class that binds at once has to have bound, where the claim is in the cluster already."""
    there = claim("data")
    there["metadata"]["creationTimestamp"] = "2024-01-01T00:00:00Z"
    assert causes([node("a", "z1"), LATE | {"volumeBindingMode": "Immediate"}, there, asks("data")]) == [
        "claim data of class fast has no volume yet, and the class binds at once"
    ]
    bare = claim("data")
    del bare["spec"]["storageClassName"]
    pod = asks("data")
    pod["spec"]["volumes"].append({"name": "late", "persistentVolumeClaim": {"claimName": "late"}})
    found = causes([node("a", "z1"), LATE, bare, claim("late"), pod])
    assert found == ["claim data has no class and no volume"]


@pytest.mark.parametrize("release", ["1.16", "1.22", "1.34"])
def test_nominated_pods_in_the_way(release):
    """A pod for which room was made is named where it alone is in the way, and no count is told that leaves
    it out."""
    port = yaml.safe_load("[{name: c, ports: [{containerPort: 80, hostPort: 80}]}]")
    first = manifests.pod("first", containers=port, priority=10) | {"status": {"nominatedNodeName": "a"}}
    tainted = node("b", "z1", taints=[{"key": "k", "effect": "NoSchedule"}])
    found = explain(
        [node("a", "z1"), tainted, manifests.pod("asked", containers=port), first],
        "asked",
        release,
        alone=True,
    ).document
    told = {one.words: (one.nodes, one.note) for one in found.causes}
    assert told == {
        "taint k:NoSchedule": (1, ""),
        "pod default/first counts: it is nominated to this node": (1, ""),
        "hostPort 80": (1, "only because nominated pods count"),
    }


@given(
    st.lists(
        st.tuples(st.sampled_from(["z1", "z2", "z3"]), st.booleans(), st.integers(0, 3)),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 2),
    st.sampled_from(["1.18", "1.19", "1.25", "1.30", "1.34"]),
    st.booleans(),
)
def test_the_sum_of_a_spread_is_the_rule_s(nodes, skew, release, is_own):
    """The counts are those of the pods on the nodes, the smallest is told, and the sum says why the emptiest
    failing domain fails."""
    taints = [{"key": "k", "effect": "NoSchedule"}]
    cluster = [node(f"n{at}", zone, taints=taints * tainted) for at, (zone, tainted, _) in enumerate(nodes)]
    for at, (_, _, pods) in enumerate(nodes):
        cluster += [manifests.pod(f"p{at}-{number}", on=f"n{at}", app="w") for number in range(pods)]
    selector = {"labelSelector": {"matchLabels": {"app": "w"}}}
    constraint = {"maxSkew": skew, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **selector}
    cluster.append(
        manifests.pod("asked", labels={"app": "w"} if is_own else {}, topologySpreadConstraints=[constraint])
    )
    counts = {}
    for zone, _, pods in nodes:
        counts[zone] = counts.get(zone, 0) + pods
    for one in explain(cluster, "asked", release).document.causes:
        if one.field == "topologySpreadConstraints":
            assert dict(re.findall(r"(z\d) has (\d+)", one.note)) == {
                zone: str(count) for zone, count in counts.items()
            }
            full, own, least, most = (
                int(number) for number in re.findall(r"(\d+) \+ (\d) - (\d+) > (\d+)", one.note)[0]
            )
            assert full + own - least > most == skew
            assert (own, least) == (int(is_own), min(counts.values()))


def test_five_domains_are_named():
    """Of many domains the five with the smallest counts are named."""
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    constraint["labelSelector"] = {"matchLabels": {"app": "w"}}
    cluster = [node(f"n{at}", f"z{at}", cpu="1" if at == 0 else "9") for at in range(7)]
    cluster += [manifests.pod(f"p{at}", on=f"n{at}", app="w") for at in range(1, 7)]
    cluster.append(
        manifests.pod("asked", labels={"app": "w"}, cpu="2", topologySpreadConstraints=[constraint])
    )
    (note,) = (
        one.note
        for one in explain(cluster, "asked", "1.34").document.causes
        if one.field == "topologySpreadConstraints"
    )
    assert "z0 has 0, z1 has 1, z2 has 1, z3 has 1, z4 has 1, ..." in note


def counting(**spec):
    """The failures of a pod whose containers request 1 cpu, with more in *spec*, on a node of 2."""
    runtime = manifests.manifest("RuntimeClass", "r", overhead={"podFixed": {"cpu": "3"}})
    return causes([manifests.node("a", cpu="2"), runtime, manifests.pod("asked", cpu="1", **spec)])


def test_what_makes_the_amount():
    """An init container, a sidecar, the pod as a whole; nothing where the containers ask for that much
    themselves."""
    large = yaml.safe_load("{name: init, image: i, resources: {requests: {cpu: '3'}}}")
    assert counting(initContainers=[large]) == ["request 3 cpu, for init container init"]
    assert counting(initContainers=[large | {"restartPolicy": "Always"}]) == [
        "request 4 cpu, for sidecar init"
    ]
    assert counting(resources={"requests": {"cpu": "3"}}) == [
        "request 3 cpu, for the pod as a whole (spec.resources)"
    ]
    assert counting(runtimeClassName="r") == ["request 4 cpu, for the overhead of its RuntimeClass"]
    assert causes([manifests.node("a", cpu="2"), manifests.pod("asked", cpu="3")]) == []


def test_a_node_that_lacks_one_device_is_nearer():
    """One that has none at all comes after it, and says so in place of an empty table."""
    request = yaml.safe_load("{name: r, exactly: {deviceClassName: gpu, count: 2}}")
    cluster = [manifests.node(name) for name in "ab"]
    cluster += [
        manifest("DeviceClass", "gpu", apiVersion="resource.k8s.io/v1", spec={}),
        manifest(
            "ResourceClaim",
            "two",
            namespace="default",
            apiVersion="resource.k8s.io/v1",
            spec={"devices": {"requests": [request]}},
        ),
        manifest(
            "ResourceSlice",
            "s",
            apiVersion="resource.k8s.io/v1",
            spec=yaml.safe_load("""
            driver: d
            nodeName: b
            pool: {name: b, generation: 1, resourceSliceCount: 1}
            devices:
            - {name: gpu-0}
            """),
        ),
        manifests.pod("asked", resourceClaims=[{"name": "c", "resourceClaimName": "two"}]),
    ]
    assert [one.name for one in explain(cluster, "asked", "1.34").nodes] == ["b", "a"]
    table = explain(cluster, "asked", "1.34", node="a").view()
    assert [row[-1] for row in table.table("devices").rows] == ["the node has none"]


def warned(cluster, release):
    """The warnings about the input."""
    return [str(one) for one in explain(cluster, "asked", release).warnings]


APART = yaml.safe_load("""
podAntiAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
  - topologyKey: rack
    labelSelector: {}
""")
SPREAD = yaml.safe_load("[{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]")


@pytest.mark.parametrize("release", sorted(ALL_RELEASES))
@pytest.mark.parametrize("spec", [{"topologySpreadConstraints": SPREAD}, {"affinity": APART}])
def test_a_key_that_no_node_has_is_odd(release, spec):
    """A hard constraint over it counts nothing, whatever the release makes of that."""
    odd = "Pod default/asked: no node has the label rack, over which it has a hard constraint, so there is nothing to count"
    assert odd in warned([manifests.node("a"), manifests.pod("asked", **spec)], release)
    assert odd not in warned(
        [manifests.node("a", labels={"rack": "1"}), manifests.pod("asked", **spec)], release
    )


@pytest.mark.parametrize(
    "image, there, is_odd",
    [
        ("web:job", "docker.io/library/web:job", True),
        ("docker.io/library/web", "web:latest", True),
        ("web:job", "web:job", False),
        ("web", "web:latest", False),
        ("web:job", "docker.io/library/web:other", False),
        ("web:job", "docker.io/library/theweb:job", False),
    ],
)
def test_an_image_by_another_name_is_odd(image, there, *, is_odd):
    """Nodes have it, as far as people see; names are compared as they are."""
    asked = manifests.pod("asked")
    asked["spec"]["containers"][0]["image"] = image
    found = warned([manifests.node("a", images=[{"names": [there], "sizeBytes": 100}]), asked], "1.34")
    assert any("so ImageLocality does not find it there" in one for one in found) == is_odd


def test_a_drain_names_the_volume():
    """A pod whose disk is of a zone without another node keeps its node from going."""
    owner = owned_by("StatefulSet", "prom", apiVersion="apps/v1")
    there = asks("data", "prom-0", on="a", metadata=owner)
    disk = volume("pv-1", "z1", of="data")
    cluster = [node("a", "z1"), node("b", "z2"), LATE, disk, claim("data", volume="pv-1"), there]
    found = drain(cluster, "a", "1.30")
    assert found.cannot["a"].endswith(f" (volume pv-1 of claim data needs {ZONE} z1)")
    assert list(found.reasons) == [
        "a pod finds no other node: node(s) had volume node affinity conflict, node(s) were unschedulable"
    ]


@pytest.mark.parametrize(
    "expression",
    [
        {"operator": "Gt", "values": ["ten"]},
        {"operator": "Lt", "values": ["9" * 30]},
        {"operator": "In", "values": []},
        {"operator": "Exists", "values": ["x"]},
        {"operator": "In", "values": ["a b"]},
        {"operator": "DoesNotExist", "values": ["x"]},
    ],
    ids=str,
)
@pytest.mark.parametrize("release", ["1.14", "1.20", "1.36"])
def test_an_affinity_that_cannot_be_read(expression, release):
    """No node matches it, and the answer says why; the change that helps is found, too."""
    terms = [{"matchExpressions": [{"key": ZONE, **expression}]}]
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    }
    cluster = [node("a", "z1"), manifests.pod("asked", affinity=affinity)]
    if simulate(cluster, release).ok:
        return  # the release reads it
    (cause,) = explain(cluster, "asked", release).document.causes
    assert str(cause.note).startswith("cannot be read: ")
    assert [tried.host for tried in what_if(cluster, "asked", release).suggestions] == ["a"]


@pytest.mark.parametrize("release", ["1.12", "1.22", "1.36"])
def test_the_pod_itself_is_no_request(release):
    """A node without room for another pod says nothing of a field."""
    full = manifests.node("a", allocatable={"cpu": "4", "pods": "1"})
    cluster = [full, manifests.pod("there", on="a"), manifests.pod("asked", requests={"cpu": 1})]
    assert all("spec" not in words for words in causes(cluster, release))
