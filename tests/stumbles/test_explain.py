"""Point 12 of "Nothing to stumble over": explain says why, for every pod and every node, in words and as
data."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import CLUSTER
from tests.support import manifests
from tests.support.manifests import dumped, manifest, owned_by
from tests.support.program import inside, ran
from tests.support.schemas import checked

pod = partial(manifests.pod, namespace="shop")


def node(name, cpu=4, **spec):
    """A node with ten places for pods, and a label for its name."""
    return manifests.node(name, cpu, "8Gi", 10, labels={"kubernetes.io/hostname": name}, **spec)


ITEMS = [
    node("a"),
    node("b"),
    node("small", 2),
    node("tainted", taints=[{"key": "k", "effect": "NoSchedule"}]),
    manifest("PriorityClass", "high", value=1000),
    manifest("PriorityClass", "modest", value=1000, preemptionPolicy="Never"),
    pod("on-a", 3, nodeName="a"),
    pod("on-b", 2, nodeName="b"),
    pod("light", "100m", nodeName="a"),
    pod("done", nodeName="a", status={"phase": "Succeeded"}),
    pod("going", metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"}),
    pod("alien", schedulerName="other"),
    pod("gated", schedulingGates=[{"name": "quota"}]),
    pod("static", nodeName="a", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
    pod("big", 3),
    pod("great", 3, priorityClassName="high"),
    pod("never", 3, priorityClassName="modest", preemptionPolicy="Never"),
    pod(
        "web-5d-x",
        metadata={**owned_by("ReplicaSet", "web-5d"), "labels": {"pod-template-hash": "5d"}},
        nodeName="a",
    ),
    pod("web-5d-y", metadata={**owned_by("ReplicaSet", "web-5d"), "labels": {"pod-template-hash": "5d"}}),
    pod("db-0", metadata=owned_by("StatefulSet", "db")),
    pod("sum-1", metadata=owned_by("Job", "sum")),
    pod("agent-1", metadata=owned_by("DaemonSet", "agent"), nodeName="b"),
]


@pytest.fixture
def told(workdir):
    """The output of explain for a pod of the small cluster, 200 columns wide, with the exit status in its
    last line."""
    (workdir / "c.json").write_text(dumped(ITEMS))

    def ask(*arguments, columns=200):
        release = () if "--release" in arguments else ("--release", "1.16")
        done = inside("explain", "c.json", "--alone", *release, *arguments, cwd=Path(), columns=columns)
        return f"{done.stdout}{done.returncode}"

    return ask


@pytest.fixture
def found(told):
    """The answer of explain as JSON, which fits the schema."""
    return lambda *arguments: checked(json.loads(told(*arguments, "-o", "json")[:-1]))


BOTH = pytest.mark.parametrize("release", ["1.16", "1.27"])


@BOTH
def test_what_evicting_would_do(found, told, release):
    """The answer names the pods that would leave each node."""
    assert found("great", "--release", release)["eviction"]["victims"] == [
        {"pod": "shop/on-a", "priority": 0}
    ]
    assert "It would preempt on a and evict shop/on-a (priority 0)." in told("great", "--release", release)


def test_why_evicting_does_not_help(found, told):
    """The answer counts the nodes on which the obstacle would stay, and those on which no pod has a lower
    priority."""
    eviction = found("big")["eviction"]
    assert (eviction["unresolvable"], eviction["nobodyLower"], eviction["notEnough"]) == (1, 3, 0)
    assert "  3 nodes: no pod there has a lower priority\n" in told("big")
    assert "its preemptionPolicy is Never" in told("never", "--release", "1.27")
    assert "preemption is switched off" in told("great", "--disable-preemption")


@pytest.mark.parametrize(
    "release, rule",
    [
        ("1.15", "each gets its turn, as in the original"),
        ("1.16", "the original takes one at random"),
        ("1.27", "takes one at random"),
    ],
)
def test_ties_are_told(tmp_path, release, rule):
    """Where several nodes share the best total, it says how many, and which rule picks."""
    items = [node("a"), node("b"), node("c"), pod("web")]
    (tmp_path / "ties.json").write_text(dumped(items))
    choice = ran("explain", str(tmp_path / "ties.json"), "web", "--release", release, "-o", "json").document[
        "choice"
    ]
    assert (choice["ties"], choice["against"], choice["decided"]) == (["a", "b", "c"], None, None)
    assert rule in choice["tieBreak"]


def test_a_single_node_is_taken_without_scoring(told):
    """Where one node fits it says that nothing was compared."""
    assert "Of 4 nodes only a fits, so it is taken without scoring." in told("on-a", "--release", "1.16")


@BOTH
def test_each_rule_in_order(found, told, release):
    """--node has each predicate or plugin in running order with its verdict, also those that were not
    asked any more."""
    close = found("big", "--node", "a", "--release", release)["closeUp"]
    outcomes = [verdict["outcome"] for verdict in close["verdicts"]]
    assert outcomes == sorted(outcomes, key=["passes", "fails", "not asked"].index)
    assert {"passes", "fails", "not asked"} == set(outcomes)
    (failed,) = (verdict for verdict in close["verdicts"] if verdict["outcome"] == "fails")
    assert failed["reasons"] == ["Insufficient cpu"]
    assert told("big", "--node", "a", "--release", release).endswith("\n1")


@pytest.mark.parametrize(
    "name, meant",
    [
        ("deploy/web", "web-5d-y"),
        ("rs/web-5d", "web-5d-y"),
        ("sts/db", "db-0"),
        ("job/sum", "sum-1"),
        ("ds/agent", "agent-1"),
    ],
)
def test_a_workload_stands_for_its_pods(found, name, meant):
    """kubectl's short names of workloads mean one of their pods, one that waits if there is one."""
    assert found(name)["pod"] == f"shop/{meant}"
    assert found(name)["workload"].startswith(("Deployment", "ReplicaSet", "StatefulSet", "Job", "DaemonSet"))


@pytest.mark.parametrize(
    "name, why",
    [
        ("done", "has finished (phase Succeeded)"),
        ("going", "is being deleted"),
        ("alien", 'its schedulerName is "other"'),
        ("static", "static pod of node a"),
    ],
)
@BOTH
def test_it_says_why(told, found, name, why, release):
    """A pod that is not scheduled says why, and is no error."""
    assert f"{why}" in told(name, "--release", release)
    assert why in found(name, "--release", release)["ignored"]
    assert told(name, "--release", release).endswith("\n1")


def test_a_gated_pod(told, found):
    """A pod with scheduling gates says that it is gated, and by which."""
    assert "It is gated, so it is not tried.\nwaiting for scheduling gates: [quota]\n" in told(
        "gated", "--release", "1.27"
    )
    assert found("gated", "--release", "1.27")["gated"]


def test_all_nodes():
    """The table has the nearest nodes and says how many there are; --all has every one."""
    texts = []
    for arguments in ([], ["--all"]):
        texts.append(ran("explain", CLUSTER, "yearly-report", *arguments, status=(0, 1)).out)
    assert "(the nearest 5 of 11 nodes; --all shows every one)" in " ".join(texts[0].split())
    assert all(f"\ndatabase-{zone}1 " in texts[1] for zone in "abc")
    assert "--all shows" not in texts[1]


def test_wide_shows_how_scores_come_about(told):
    """-o wide has each score as raw, reduced and weight, and the rule that turned a node down."""
    text = told("db-0", "-o", "wide")
    assert "NodePreferAvoidPods 10 -> 10 x 10000" in " ".join(
        text.split()
    )  # a long list of scores is wrapped
    assert "PodToleratesNodeTaints" in text


@pytest.mark.parametrize("width", [60, 100, 200])
@pytest.mark.parametrize(
    "arguments", [["big"], ["db-0"], ["db-0", "-o", "wide", "--all"], ["big", "--node", "a"], ["light"]]
)
def test_it_fits_the_terminal(told, width, arguments):
    """No line is wider than the terminal."""
    assert max(map(len, told(*arguments, columns=width).splitlines())) <= width
