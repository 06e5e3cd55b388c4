"""``kubeclassic capacity``: forms, exit statuses, and one clear line for each wrong input."""

import pytest

from tests.conftest import ROOT
from tests.support.manifests import node, pod
from tests.support.program import ran


@pytest.fixture
def ask(write):
    """Counts in a cluster of two nodes in two zones."""
    a, b = ({"topology.kubernetes.io/zone": zone, "pool": pool} for zone, pool in (("z1", "a"), ("z2", "b")))
    two = write("cluster.yaml", node("a", 2, "8Gi", 10, labels=a), node("b", 4, "8Gi", 10, labels=b))
    web = write("web.yaml", pod("web", 1, requests={"memory": "1Gi"}))
    return lambda *options, cluster=two, template=web, **more: ran(
        "capacity", cluster, *(["--pod", template] if template else []), *options, **more
    )


def test_headroom(ask):
    """Each resource tells what was requested before and after, and how many copies would fit by it alone."""
    rows = {row["resource"]: row for row in ask("-o", "json").document["headroom"]}
    assert [rows["cpu"][field] for field in ("allocatable", "requestedBefore", "requested", "free")] == [
        6000,
        0,
        6000,
        0,
    ]
    assert {name: row["copies"] for name, row in rows.items()} == {"cpu": 6, "memory": 16, "pods": 20}


def test_the_podspec_of_cluster_capacity(ask, write):
    """``--podspec`` is another word for ``--pod``."""
    out = ask("--podspec", write("other.yaml", pod("other", cpu="3")), template=None).out
    assert out.splitlines()[0] == "The cluster can schedule 1 instance(s) of the pod other."


def test_none_fits(ask, write):
    """Where no copy fits the exit status is 1."""
    out = ask(template=write("big.yaml", pod("big", cpu="9")), status=1).out
    assert "can schedule 0 instance(s)" in out


def test_max_limit(ask):
    """``--max-limit`` ends the count, in cluster-capacity's words."""
    found = ask("--max-limit", "3", "-o", "json").document
    assert (found["fits"], found["stop"]["message"]) == (3, "Maximum number of pods simulated: 3")


@pytest.mark.parametrize("part", [10**9, 10**19])
def test_a_huge_ratio_costs_nothing(ask, write, part):
    """A turn is not made before it is needed."""
    found = ask(
        "--pod", write("half.yaml", pod("half", cpu="500m")), "--ratio", f"1:{part}", "-o", "json"
    ).document
    assert [one["fits"] for one in found["templates"]] == [1, 10]


@pytest.mark.parametrize(
    "exclude", [["a"], [" a, "], ["pool=a"], ["pool in (a, c)"], ["topology.kubernetes.io/zone!=z2"]]
)
def test_excluded_nodes(ask, exclude):
    """Nodes are left out by name or by a selector."""
    found = ask("--exclude-nodes", *exclude, "-o", "json").document
    assert (found["nodes"], found["excludedNodes"]) == ({"b": 4}, ["a"])
    assert found["stop"]["message"] == "0/1 nodes are available: 1 Insufficient cpu."


def test_no_excluded_nodes(ask):
    """A list without any name in it is no list."""
    error = ask("--exclude-nodes", " ,", status=2).err
    assert 'exclude-nodes: expected names of nodes or a selector, got " ,"' in error


def test_waiting_pods(ask, write):
    """Pods that wait are left out, which is said; with ``--pending-first`` they take their room before
    all copies."""
    cluster = write("waiting.yaml", node("a", 2), pod("early", 1), pod("late", 8))
    found = ask("-o", "json", cluster=cluster)
    assert (found.document["fits"], found.document["pending"]) == (2, {"placedFirst": 0, "waiting": 2})
    assert "2 pending pods are left out: --pending-first places them first" in found.err
    first = ask("-o", "json", "--pending-first", cluster=cluster).document
    assert (first["fits"], first["pending"]) == (1, {"placedFirst": 1, "waiting": 1})


def test_preemption(ask, write):
    """Nothing is evicted, unless it is asked for."""
    cluster = write("full.yaml", node("a", 2), pod("low", 2, on="a", priority=-5))
    assert ask("-o", "json", cluster=cluster, status=1).document["fits"] == 0
    found = ask("-o", "json", "--preemption", cluster=cluster).document
    assert (found["fits"], found["evicted"]) == (2, {"default/low": "default/web-0"})


def test_a_name_in_use_is_not_taken(ask, write):
    """A pod of the cluster that has the name of a copy stays."""
    cluster = write("named.yaml", node("a", 2), pod("web-0", 1, on="a"))
    assert ask("-o", "json", cluster=cluster).document["fits"] == 1


def test_copies_of_a_pod_of_the_cluster(ask):
    """A pod of the cluster need not be written to a file first, and a workload of it has its kind before
    it."""
    shop = {"cluster": str(ROOT / "examples/cluster"), "template": None}
    assert " 35 instance(s) of the pod storefront-" in ask("--pod", "like:deploy/storefront", **shop).out
    found = ask("--pod", "like:storefront", **shop, status=2)
    assert 'got "storefront"; did you mean "deploy/storefront"?' in found.err
