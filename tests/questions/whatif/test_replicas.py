"""What-if for pods of a controller: an edit is one of the template, and deleted pods come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import simulate, what_if
from kubeclassic.api.record import UNSET
from kubeclassic.questions.whatif.suggestion import REPLACING
from tests.simulation.test_workloads import BY_HOST, node, workload
from tests.support import manifests

APART = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [BY_HOST]}}


def owned(name, on="", owner="web", **more):
    """A pod of a ReplicaSet."""
    return manifests.pod(name, on=on, app="w", metadata=manifests.owned_by(name=owner), **more)


def test_a_sibling_that_comes_back_is_no_help():
    """Neither the deletion of a sibling nor a priority that all replicas have makes room; a softer template
    does."""
    cluster = [
        node("n1"),
        node("n2"),
        *(owned(f"web-{at}", on, affinity=APART) for at, on in enumerate(["n1", "n2", ""])),
    ]
    found = what_if(cluster, "web-2", "1.30")
    assert not {one.kind for one in found.suggestions} & {"delete", "move", "priority", "otherAntiAffinity"}
    assert found.suggestions[0].kind == "podAntiAffinity"
    assert found.suggestions[0].patch[0].startswith("pod like:default/web-2 affinity.podAntiAffinity.")


@pytest.mark.parametrize(
    "waiting, needed, enough", [(1, {"833m"}, {"500m"}), (2, {"833m", "500m"}, {"250m"})]
)
def test_pods_that_run_have_to_be_replaced(waiting, needed, enough):
    """A rollout waits for a new pod before it removes an old one, so a request is low enough only if all that
    wait have room beside those that run; else the suggestion says so."""
    on = ["n1", "n1", *[""] * waiting]
    cluster = [node("n1", "2500m"), *(owned(f"web-{at}", name, cpu="1") for at, name in enumerate(on))]
    lowered = [one for one in what_if(cluster, "web-2", "1.30").suggestions if one.kind == "request"]
    found = {one.patch[0].partition("cpu=")[2]: one.change.endswith(REPLACING) for one in lowered}
    assert found == dict.fromkeys(needed, True) | dict.fromkeys(enough, False)


def test_anti_affinity_of_pods_that_run():
    """It keeps a new pod away although the template has none any more."""
    cluster = [node("n1"), *(owned(f"web-{at}", on, affinity=APART) for at, on in enumerate(["n1", ""]))]
    assert what_if(cluster, "web-1", "1.30").suggestions[0].change.endswith(REPLACING)


def test_the_pod_of_another_controller_waits_instead():
    """The deletion of another controller's pod makes room, and its replacement then waits: the suggestion
    says so."""
    cluster = [node("n1"), owned("other-0", "n1", owner="other", cpu="2"), owned("web-0", cpu="2")]
    found = what_if(cluster, "web-0", "1.30")
    assert any(one.kind == "delete" and "makes again then waits" in one.change for one in found.suggestions)


@pytest.mark.parametrize(
    "metadata, nodes, kind, lost",
    [
        ({}, ["1"], "delete", ("default/p",)),
        (manifests.owned_by(), ["1"], "delete", ("default/o-0",)),
        (manifests.owned_by("StatefulSet"), ["1"], "delete", ("default/p",)),
        (manifests.owned_by(), ["1", "700m"], "move", ()),
    ],
)
def test_a_pod_that_is_deleted_has_no_node(metadata, nodes, kind, lost):
    """A pending pod that a suggestion deletes counts as placed only if its replacement is; one that moves
    does."""
    cluster = [*(node(f"n{at}", cpu) for at, cpu in enumerate(nodes)), manifests.pod("q", "900m")]
    cluster.insert(-1, manifests.pod("p", "600m", metadata=metadata))
    found = what_if(cluster, "q", "1.30").suggestions
    (one,) = [one for one in found if one.kind in ("delete", "move")]
    assert one.effect is not UNSET
    assert (one.kind, one.effect.without_node, one.effect.placed) == (kind, lost, 2 - len(lost))


def test_policies_of_spread():
    """Honor leaves out the nodes that the pod cannot use."""
    spread = [{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **BY_HOST}]
    tainted = manifests.node(
        "n2", labels={"kubernetes.io/hostname": "n2"}, taints=[{"key": "k", "effect": "NoSchedule"}]
    )
    there = manifests.pod("w-0", on="n1", app="w")
    asked = manifests.pod("w-1", app="w", topologySpreadConstraints=spread)
    found = what_if([node("n1"), tainted, there, asked], "w-1", "1.30")
    assert "pod default/w-1 topologySpreadConstraints[0].nodeTaintsPolicy=Honor" in {
        one.patch[0] for one in found.suggestions
    }


def test_an_earlier_pod_takes_the_room():
    """A suggestion whose room another pod takes in a whole run says which."""
    tainted = manifests.node("n1", cpu="1", taints=[{"key": "k", "effect": "NoSchedule"}])
    cluster = [tainted, manifests.pod("first", cpu="1"), manifests.pod("asked", cpu="1")]
    found = what_if(cluster, "asked", "1.30")
    assert next(one for one in found.suggestions if one.kind == "taint").taken_by == "default/first"


@given(
    st.sampled_from(["Deployment", "Job", "StatefulSet"]),
    st.integers(2, 5),
    st.lists(st.sampled_from(["1", "2"]), min_size=1, max_size=2),
    st.sampled_from([{}, {"affinity": APART}, {"nodeSelector": {"none": "such"}}]),
    st.sampled_from(["1.16", "1.34"]),
)
def test_what_places_all_places_all(kind, replicas, sizes, spec, release):
    """The number of pods that a suggestion promises is that of simulate with its edits."""
    cluster = [*(node(f"n{at}", cpu) for at, cpu in enumerate(sizes)), workload(kind, replicas, **spec)]
    word = {"Deployment": "deploy", "Job": "job", "StatefulSet": "sts"}[kind]
    found = what_if(cluster, f"{word}/w", release)
    for one in found.suggestions:
        hosts = simulate(cluster, release, edits=one.patch).hosts
        stays = one.evicted_by is None and one.taken_by is UNSET
        assert hosts[found.explanation.decision.pod.key] == (one.host if stays else None)
        assert one.placed == sum(host is not None for host in hosts.values()), one
    assert found.ok == (found.fits or any(one.placed == replicas for one in found.suggestions))
