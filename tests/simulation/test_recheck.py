"""The running pods that their nodes would no longer take."""

import pytest

from kubeclassic import Cluster, explain, simulate
from kubeclassic.api.objects import Pod
from kubeclassic.framework.releases import ALL_RELEASES
from tests.conftest import CLUSTER
from tests.support.build import node, owned_by, pod
from tests.support.devicebuild import DRIVER, a_slice, device_claim, exactly, made
from tests.support.program import ran

STATIC = {"annotations": {"kubernetes.io/config.mirror": "x"}}


@pytest.mark.parametrize("release", ["1.12", "1.16", "1.20", "1.34"])
def test_as_the_rules_say(release):
    """A pod with a selector, one too large, and none of those that fit, are static or are on their own
    way."""
    cluster = Cluster(
        [
            node("a", cpu="4", labels={"disk": "ssd"}),
            pod("picky", on="a", nodeSelector={"disk": "hdd"}),
            pod("fits", on="a"),
            pod("large", on="a", cpu=3),
            pod("small", on="a", cpu=1),
            pod("static", on="a", nodeSelector={"disk": "hdd"}, metadata=STATIC),
            pod("other", on="a", schedulerName="x", nodeSelector={"a": "b"}),
        ]
    )
    assert [one.pod for one in simulate(cluster, release, recheck=True).refused] == ["default/picky"]
    found = simulate(cluster, release, edits="node a allocatable.cpu=3", recheck=True)
    assert (found.ok, [one.pod for one in found.refused]) == (
        False,
        ["default/picky", "default/large", "default/small"],
    )
    assert found.refused[1].reasons == ("Insufficient cpu",)
    assert str(found.view().verdict).endswith(" 3 running pods would be rejected by their nodes now.")


def test_nominated_pods_count():
    """A pod that waits for the room that was made for it has it, as explain says, too."""
    nominated = pod("first", cpu=1, priority=9, status={"nominatedNodeName": "a"})
    cluster = Cluster([node("a", cpu="1"), pod("there", on="a", cpu="500m"), nominated])
    reasons = explain(cluster, "there", "1.34", alone=True).explanation.answer.report_of("a").reasons
    assert [one.reasons for one in simulate(cluster, "1.34", recheck=True).refused] == [reasons]


def test_devices_for_extended_resources():
    """A pod has its devices again: the claim that was made for its extended resources goes with it."""
    result = {"request": "r0", "driver": DRIVER, "pool": "a", "device": "g0"}
    metadata = owned_by("Pod", "p", "uid-p")
    metadata["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"}
    status = {"allocation": {"devices": {"results": [result]}}}
    cluster = Cluster(
        [
            node("a"),
            a_slice("a", "g0"),
            made("DeviceClass", "gpus", {"extendedResourceName": "example.com/gpu"}),
            device_claim("of-p", exactly(of="gpus"), metadata=metadata, status=status),
            pod("p", on="a", requests={"example.com/gpu": "1"}, uid="uid-p"),
        ]
    )
    assert simulate(cluster, "1.36", recheck=True).refused == ()
    assert explain(cluster, "p", "1.36", alone=True).explanation.answer.report_of("a").reasons == ()


@pytest.mark.parametrize("release", [name for number, name in enumerate(ALL_RELEASES) if number % 6 == 0])
def test_as_explain_says(release):
    """The check of each running pod of the example after an edit agrees with explain about its node; the
    simulation stays as it is."""
    edits = "node * taints+=x=y:NoSchedule"
    found, plain = (simulate(CLUSTER, release, edits=edits, recheck=recheck) for recheck in (True, False))
    assert found.hosts == plain.hosts
    running = [
        item for item in Cluster.load(CLUSTER).objects if isinstance(item, Pod) and item.spec.node_name
    ]
    against = {}
    for one in running:
        report = explain(CLUSTER, one.key, release, alone=True, edits=edits).explanation.answer.report_of(
            one.spec.node_name
        )
        against[one.key] = report.reasons
    assert {one.pod: one.reasons for one in found.refused} == {
        key: reasons for key, reasons in against.items() if reasons
    }


def test_the_list_in_text_and_json():
    """The table has pod, node and reasons, and -n chooses among them."""
    words = ("simulate", CLUSTER, "--recheck", "--set", "node * taints+=x=y:NoSchedule")
    document = ran(*words, "-o", "json", status=1).document
    told = ran(*words, status=1)
    assert f"{len(document['refused'])} running pods would be rejected by their nodes now" in told.err
    assert all(one["pod"] in told.out for one in document["refused"])
    assert ran(*words, "-n", "nowhere", "-o", "json", status=1).document["refused"] == []
