"""``kubeclassic explain --what-if`` and ``--want``: text, forms, exit statuses, and what is refused."""

import json

import pytest

from tests.conftest import CLUSTER
from tests.support.program import ran
from tests.support.whatifbuild import node, pod, taint

REPORT = "analytics/yearly-report"


@pytest.fixture
def told():
    """Runs explain."""
    return lambda *words, **more: ran("explain", *words, **more)


def written(folder, *items):
    """A file with these objects."""
    path = folder / "cluster.json"
    path.write_text(json.dumps(items))
    return str(path)


def test_who_has_to_leave(told, tmp_path):
    """A higher priority says whom it evicts."""
    path = written(tmp_path, node("a"), pod("other", 900, nodeName="a"), pod("asked", 900))
    out = told(path, "asked", "--what-if").out
    assert (
        "Raise the priority from 0 to 1, by its PriorityClass -> a; default/other would have to leave" in out
    )


def test_nothing_helps(told):
    """Where no single change helps it says so, with exit status 1."""
    out = told(CLUSTER, "shop/orders-1", "--want", "general-a1", "--release", "1.16", status=1).out
    assert "No change helps, nor do two together: " in out
    assert "general-a1 does not fit: " in out
    assert "more would do (needs 4, free " in out


def test_what_keeps_it_from_a_node(told, tmp_path):
    """A node that fits has lost by a rule, has lost the draw, or was not reached."""
    out = told(CLUSTER, "shop/cache-wkw9cj5hqm-0", "--want", "general-c1", "--release", "1.16").out
    assert "general-c1 fits, but general-b1 is better by: LeastRequested, 6 against 7." in out
    out = told(CLUSTER, "shop/orders-1", "--want", "database-a1").out
    assert "database-a1 fits and is as good as database-c1, which won the tie." in out
    path = written(tmp_path, *(node(f"n{number:03}") for number in range(120)), pod("asked"))
    out = told(path, "asked", "--want", "n119", "--percentage-of-nodes-to-score", "10").out
    assert "n119 fits, but the search had found enough nodes before it came there." in out


def test_all_about_the_node(told):
    """-o wide has every rule's verdict on the wanted node."""
    words = "deploy/storefront --want gpu-b1 --release 1.16 --order input -o wide"
    out = told(CLUSTER, *words.split()).out
    assert "PREDICATE" in out
    assert (
        "Tolerate the taint nvidia.com/gpu=present:NoSchedule, and select gpu-b1 by its hostname -> gpu-b1"
        in out
    )


def test_edits_come_first(told):
    """The edits that --what-if prints can be given back with --set."""
    out = told(CLUSTER, REPORT, "--what-if", "--set", f"pod {REPORT} requests.memory=28544Mi").out
    assert out.splitlines()[0] == f"{REPORT}: gpu-b1"


def test_a_node_that_is_lost_again(told):
    """A pod that one after it preempts does not keep its node: explain says so, as simulate does."""
    agent = "kube-system/node-agent-gpu-b1"
    asked = (CLUSTER, REPORT, "--order", "input", "--set", f"pod {REPORT} requests.memory=28Gi")
    assert f"{REPORT}: gpu-b1, until {agent} preempts it\n" in told(*asked, status=1).out
    assert f"as it is, until {agent} preempts it." in told(*asked, "--what-if", status=1).out
    assert told(*asked, "-o", "json", status=1).document["evictedBy"] == agent


def test_all_that_helps(told, tmp_path):
    """Three of a kind, or with --all every one."""
    nodes = [node(f"n{number}", taints=[taint(("k", str(number), "NoSchedule"))]) for number in range(5)]
    path = written(tmp_path, *nodes, pod("asked"))
    some, every = (
        told(path, "asked", "--what-if", "-o", "json", *more).document["suggestions"]
        for more in ((), ("--all",))
    )
    assert [sum(one["kind"] == "taint" for one in found) for found in (some, every)] == [3, 5]
