"""``kubeclassic capacity --add-node``: forms, exit statuses, and one clear line for each wrong input."""

import re
from functools import partial

import pytest
import yaml

from tests.support import manifests
from tests.support.program import ran

node = partial(manifests.node, cpu="2", memory="8Gi", pods="10")
pod = partial(manifests.pod, cpu="1", requests={"memory": "1Gi"})


@pytest.fixture
def ask(write):
    """Asks about a node of 2 cores and seven waiting pods of 1 core."""
    seven = write("cluster.yaml", node("a"), *(pod(f"web-{number}") for number in range(7)))
    return lambda *options, cluster=seven, **more: ran("capacity", cluster, *options, **more)


def test_a_mix(ask, write):
    """With several kinds a mix that costs less than each alone is found, and one node less of each is
    simulated."""
    big = write("big.yaml", node("big", cpu="4"))
    found = ask("--add-node", "like:a", "--add-node", big, "--cost", "a=2,big=3.5", "-o", "json").document
    assert [(row["node"], row["count"], row["cost"]) for row in found["added"]] == [
        ("a", 1, 2),
        ("big", 1, 3.5),
    ]
    assert found["cost"] == 5.5
    assert [(one["mix"], one["withoutNode"]) for one in found["oneFewer"]] == [
        ({"a": 0, "big": 1}, 1),
        ({"a": 1, "big": 0}, 3),
    ]


def test_a_kind_of_nodes_is_no_cluster(ask, write):
    """The next question is about the cluster without it."""
    cluster = write("few.yaml", node("a"), pod("p", cpu="5"))
    kind = write("kind.yaml", node("big", cpu="4"))
    page = ask("--add-node", kind, "-o", "html", cluster=cluster, status=1).out
    assert "kubeclassic explain few.yaml default/p --what-if" in page


def test_copies_after_pods_that_wait(ask, write):
    """With ``--pending-first`` these have to find a node too; they spread, so that only as many nodes
    more are empty for the copies."""
    template = write("job.yaml", pod("job", cpu="2"))
    found = ask(
        "--pod", template, "--pods", "3", "--pending-first", "--add-node", "like:a", "-o", "json"
    ).document
    assert (found["added"][0]["count"], found["pods"]) == (9, 10)


def test_none_is_needed(ask, write):
    """Where all pods find a node as it is, nothing is added."""
    cluster = write("roomy.yaml", node("a"), pod("web"))
    found = ask("--add-node", "like:a", "-o", "json", cluster=cluster).document
    assert (found["added"], found["placed"], found["withOneFewer"], found["cost"]) == ([], True, None, 0)
    told = ask("--add-node", "like:a", cluster=cluster).out
    assert told.startswith("No new node is needed: the pod finds a node.\n")


def test_a_pod_that_can_never_be_placed(ask, write):
    """A pod that fits on no kind of node, even an empty one, is told with why; where there are only such,
    nothing is added."""
    cluster = write("hopeless.yaml", node("a"), pod("huge", cpu="64"))
    found = ask("--add-node", "like:a", "-o", "json", cluster=cluster, status=1).document
    assert (found["placed"], found["added"], found["cost"]) == (False, [], None)
    why = "on an empty a: Insufficient cpu"
    assert found["withoutNode"] == {"count": 1, "pods": [{"pod": "default/huge", "message": why}]}
    lines = ask("--add-node", "like:a", cluster=cluster, status=1).out.splitlines()
    assert lines[:3] == [
        "None of the mixes that were tried is enough: 1 of 1 pods finds no node.",
        "2 mixes of up to 1 node simulated; with no new node these find none:",
        f"  default/huge: {why}",
    ]


def test_no_number_is_enough(ask, write):
    """Where ``--most-nodes`` are too few, the answer is for the pods that find a node with these, or no
    if they are copies."""
    found = ask("--add-node", "like:a", "--most-nodes", "2", "-o", "json", status=1).document
    assert (found["placed"], found["tried"], found["withoutNode"]["count"]) == (False, {"a": 2}, 1)
    lines = ask("--add-node", "like:a", "--most-nodes", "2", status=1).out.splitlines()
    assert lines[0] == "Add 2 a for 6 of 7 pods: each of them finds a node; 1 finds none with up to 2."
    template = write("job.yaml", pod("job", cpu="2"))
    lines = ask(
        "--pod", template, "--pods", "3", "--add-node", "like:a", "--most-nodes", "1", status=1
    ).out.splitlines()
    assert lines[0] == "None of the mixes that were tried is enough: 1 of 3 pods finds no node."
    assert lines[1].endswith("; with 1 a these find none:")


def test_zones(ask, write):
    """Nodes of two zones are two kinds: pods that keep to zones get the nodes that they need."""
    spread = {"nodeSelector": {"topology.kubernetes.io/zone": "z-b"}}
    pods = [
        *(pod(f"here-{at}", cpu="2") for at in range(2)),
        *(pod(f"there-{at}", cpu="2", **spread) for at in range(3)),
    ]
    cluster = write(
        "zones.yaml",
        *(node(name, labels={"topology.kubernetes.io/zone": f"z-{name}"}) for name in "ab"),
        *pods,
    )
    found = ask("--add-node", "like:a", "--add-node", "like:b", "-o", "json", cluster=cluster).document
    assert sum(row["count"] for row in found["added"]) == 3
    assert {row["node"]: row["count"] for row in found["added"]}["b"] >= 2
    spread = yaml.safe_load("""
        maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: w}
        """)
    pods = [
        pod(f"w-{at}", cpu="2", labels={"app": "w"}, topologySpreadConstraints=[spread]) for at in range(6)
    ]
    cluster = write(
        "apart.yaml",
        *(node(name, labels={"topology.kubernetes.io/zone": f"z-{name}"}) for name in "ab"),
        *pods,
    )
    lines = ask("--add-node", "like:a", status=1, cluster=cluster).out.splitlines()
    assert (
        lines[1]
        == "3 pods want room at topology.kubernetes.io/zone=z-b, by a hard spread; none of the nodes to add is there."
    )


def test_preemption(ask, write):
    """Nothing is evicted, unless it is asked for."""
    cluster = write(
        "full.yaml", node("a"), pod("low", cpu="2", nodeName="a", priority=-5), pod("high", priority=5)
    )
    found = ask("--add-node", "like:a", "-o", "json", cluster=cluster).document
    assert (found["added"][0]["count"], found["evicted"]) == (1, {})
    found = ask("--add-node", "like:a", "--preemption", "-o", "json", cluster=cluster).document
    assert (found["added"], found["evicted"]) == ([], {"default/low": "default/high"})


CLAIM = yaml.safe_load("[{name: data, persistentVolumeClaim: {claimName: data}}]")
GENERAL = {"pool": "general"}
WEBS = [manifests.pod(f"web-{number}", 1) for number in range(4)]
WAITING = [
    *WEBS,
    manifests.pod("typo", 1, nodeSelector={"pool": "genral"}),
    manifests.pod("nopvc", 1, volumes=CLAIM),
]


@pytest.fixture
def folder(workdir):
    """A folder with a full node, four pods that new nodes help, and two that nothing helps."""
    dumped = [manifests.node("a", 2, labels=GENERAL), manifests.pod("full", 2, on="a"), *WAITING]
    (workdir / "dump.yaml").write_text(yaml.safe_dump_all(dumped))
    tainted = yaml.safe_load("{taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}")
    for name, cpu, spec in (("m5", "4", {}), ("c", "8", tainted), ("small", "1", {})):
        (workdir / f"{name}.yaml").write_text(
            yaml.safe_dump(manifests.node(name, cpu, labels=GENERAL, **spec))
        )
    return workdir


def test_why_the_cheap_kind_was_not_taken(folder):
    """One asks why the cheap node was not taken: it is told for each kind of which none is added."""
    kinds = [
        "--add-node",
        "m5.yaml",
        "--add-node",
        "c.yaml",
        "--add-node",
        "small.yaml",
        "--cost",
        "m5=3,c=0.1,small=2",
    ]
    found = ran("capacity", "dump.yaml", *kinds, "-o", "json", status=1).document
    assert [(one["node"], one["costOfOne"], one["takes"]) for one in found["notTaken"]] == [
        ("c", 0.1, 0),
        ("small", 2, 4),
    ]
    told = " ".join(ran("capacity", "dump.yaml", *kinds, status=(0, 1)).out.split())
    assert "Add 1 m5, cost 3, for 4 of 6 pods: " in told
    assert "No c, cost 0.1: an empty one does not take 4 of 4 pods, first default/web-0: node(s) had" in told
    assert "No small, cost 2: no mix with it that costs less was found" in told


def test_what_more_pods_might_help_does_not_spoil_it_either(folder):
    """A pod that wants to be near a pod that is not there finds no node with any number: the others get their
    answer, and it is named."""
    term = yaml.safe_load("{labelSelector: {matchLabels: {app: nothing}}, topologyKey: pool}")
    lonely = manifests.pod(
        "lonely", 1, affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    )
    dump = (folder / "dump.yaml").read_text() + "---\n" + yaml.safe_dump(lonely)
    (folder / "dump.yaml").write_text(dump)
    words = ("capacity", "dump.yaml", "--add-node", "m5.yaml")
    text = ran(*words, status=1).out
    assert "Add 1 m5 for 4 of 7 pods: each of them finds a node; 3 find none with up to 7.\n" in text
    assert "  default/lonely: on an empty m5: " in text
    found = ran(*words, "-o", "json", status=(0, 1)).document
    assert ([one["count"] for one in found["added"]], found["withoutNode"]["count"]) == ([1], 3)
    headline = re.sub(
        "<[^>]*>", "", ran(*words, "-o", "html", status=(0, 1)).out.partition("<h1")[2].partition("</h1>")[0]
    )
    assert "Add 1 m5 for 4 of 7 pods: each of them finds a node; 3 find none with up to 7." in headline
    assert "; 3 find none with up to 1." in ran(*words, "--most-nodes", "1", status=(0, 1)).out
