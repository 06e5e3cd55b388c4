"""Point 12 of "Nothing to stumble over": explain says why, for every pod and every node, in words and as data."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import manifests
from tests.support.program import inside, ran
from tests.support.schemas import checked

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = str(ROOT / "examples" / "cluster")


pod = partial(manifests.pod, namespace="shop")


def node(name: str, cpu: object = 4, **spec: Any) -> dict[str, Any]:
    """A node with ten places for pods, and a label for its name."""
    return manifests.node(name, cpu, "8Gi", 10, labels={"kubernetes.io/hostname": name}, **spec)


def owned(kind: str, name: str) -> dict[str, Any]:
    """Metadata of a pod with a controller."""
    return {"ownerReferences": [{"kind": kind, "name": name, "uid": name, "controller": True}]}


ITEMS = [
    node("a"), node("b"), node("small", 2), node("tainted", taints=[{"key": "k", "effect": "NoSchedule"}]),
    {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    pod("on-a", 3, nodeName="a"), pod("on-b", 2, nodeName="b"), pod("light", "100m", nodeName="a"),
    pod("done", nodeName="a", status={"phase": "Succeeded"}), pod("going", metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"}),
    pod("alien", schedulerName="other"), pod("gated", schedulingGates=[{"name": "quota"}]),
    pod("static", nodeName="a", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
    pod("big", 3), pod("great", 3, priorityClassName="high"), pod("never", 3, priorityClassName="high", preemptionPolicy="Never"),
    pod("web-5d-x", metadata={**owned("ReplicaSet", "web-5d"), "labels": {"pod-template-hash": "5d"}}, nodeName="a"),
    pod("web-5d-y", metadata={**owned("ReplicaSet", "web-5d"), "labels": {"pod-template-hash": "5d"}}),
    pod("db-0", metadata=owned("StatefulSet", "db")), pod("sum-1", metadata=owned("Job", "sum")),
    pod("agent-1", metadata=owned("DaemonSet", "agent"), nodeName="b"),
]  # fmt: skip


Told = Callable[..., str]
Found = Callable[..., dict[str, Any]]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    """What explain prints for a pod of the small cluster, as it is, 200 columns wide, with the exit status in its last line."""
    (tmp_path / "c.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": ITEMS}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def ask(*arguments: str, columns: int = 200) -> str:
        release = () if "--release" in arguments else ("--release", "1.16")
        done = inside("explain", "c.json", "--alone", *release, *arguments, cwd=Path(), columns=columns)
        return f"{done.stdout}{done.returncode}"

    return ask


@pytest.fixture
def found(told: Told) -> Found:
    """The same as JSON, which fits the schema."""
    return lambda *arguments: checked(json.loads(told(*arguments, "-o", "json")[:-1]))


BOTH = pytest.mark.parametrize("release", ["1.16", "1.27"])


class TestNoNode:
    @BOTH
    def test_reasons_stand_in_groups(self, found: Found, release: str) -> None:
        """Nodes are grouped by reason, with the same counts as in the scheduler's message, and how many have nothing else against them."""
        groups = found("big", "--release", release)["reasons"]
        assert [(group["count"], group["alone"], len(group["nodes"])) for group in groups] == [(3, 3, 3), (1, 1, 1)]
        assert groups[0]["reason"] == "Insufficient cpu"
        assert f"0/4 nodes are available: {groups[1]['count']} node(s) had" in found("big", "--release", release)["error"]

    @BOTH
    def test_the_nearest_comes_first(self, found: Found, told: Told, release: str) -> None:
        """Of the nodes that do not fit the one that is least short comes first, and is named."""
        names = [report["node"] for report in found("big", "--release", release)["nodes"]]
        assert (set(names[:2]), names[2:]) == ({"small", "b"}, ["a", "tainted"])
        assert "No node fits. The nearest is " in told("big", "--release", release)
        assert found("big", "--release", release)["reasons"][0]["leastShort"]["missing"] == 1000

    @BOTH
    def test_more_obstacles_are_farther(self, tmp_path: Path, release: str) -> None:
        """A node with two things against it comes after one with one, though the scheduler stops asking after the first."""
        items = [node("two", 1, taints=[{"key": "k", "effect": "NoSchedule"}]), node("one", "500m"), pod("big", 3)]
        (tmp_path / "two.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
        one, two = ran("explain", str(tmp_path / "two.json"), "big", "--release", release, "-o", "json", status=1).document["nodes"]
        assert (one["node"], two["node"]) == ("one", "two")
        assert [objection["counted"] for objection in two["objections"]] == [True, False]

    @BOTH
    def test_what_evicting_would_do(self, found: Found, told: Told, release: str) -> None:
        """It says who would leave which node."""
        assert found("great", "--release", release)["eviction"]["victims"] == [{"pod": "shop/on-a", "priority": 0}]
        assert "It would preempt on a and evict shop/on-a (priority 0)." in told("great", "--release", release)

    def test_why_evicting_does_not_help(self, found: Found, told: Told) -> None:
        """It says on how many nodes what stands against it stays, and on how many nobody has a lower priority."""
        eviction = found("big")["eviction"]
        assert (eviction["unresolvable"], eviction["nobodyLower"], eviction["notEnough"]) == (1, 3, 0)
        assert "  3 nodes: no pod there has a lower priority\n" in told("big")
        assert "its preemptionPolicy is Never" in told("never", "--release", "1.27")
        assert "preemption is switched off" in told("great", "--disable-preemption")


class TestAHost:
    def test_what_decided(self, told: Told, found: Found) -> None:
        """The deciding rule is named with both scores; rules that give all nodes the same stand apart."""
        assert "What decided: " in told("db-0")
        choice = found("db-0")["choice"]
        assert choice["decided"] in ("LeastRequestedPriority", "BalancedResourceAllocation")
        assert choice["constant"]["NodePreferAvoidPodsPriority"]["total"] == 100000
        table, constant = told("db-0").partition("(the same on each node")[::2]
        assert "NodePreferAvoidPods" not in table
        assert "NodePreferAvoidPods 10 x 10000" in constant

    @BOTH
    def test_the_rule_has_the_greatest_weighted_lead(self, found: Found, release: str) -> None:
        """The leads add up to the difference of the totals, and the greatest is named."""
        document = found("db-0", "--release", release)
        choice, totals = document["choice"], {report["node"]: report["total"] for report in document["nodes"]}
        assert sum(lead["ahead"] for lead in choice["leads"]) == totals[document["host"]] - totals[choice["against"]]
        assert choice["decided"] == max(choice["leads"], key=lambda lead: lead["ahead"])["rule"]

    @pytest.mark.parametrize(
        ("release", "rule"),
        [("1.15", "each gets its turn, as in the original"), ("1.16", "the original takes one at random"), ("1.27", "takes one at random")],
    )
    def test_ties_are_told(self, tmp_path: Path, release: str, rule: str) -> None:
        """Where several nodes share the best total, it says how many, and which rule picks."""
        items = [node("a"), node("b"), node("c"), pod("web")]
        (tmp_path / "ties.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
        choice = ran("explain", str(tmp_path / "ties.json"), "web", "--release", release, "-o", "json").document["choice"]
        assert (choice["ties"], choice["against"], choice["decided"]) == (["a", "b", "c"], None, None)
        assert rule in choice["tieBreak"]

    def test_a_single_node_is_taken_without_scoring(self, told: Told) -> None:
        """Where one node fits it says that nothing was compared."""
        assert "Of 4 nodes only a fits, so it is taken without scoring." in told("on-a", "--release", "1.16")


class TestOneNode:
    @BOTH
    def test_each_rule_in_order(self, found: Found, told: Told, release: str) -> None:
        """--node has each predicate or plugin in running order with its verdict, also those that were not asked any more."""
        close = found("big", "--node", "a", "--release", release)["closeUp"]
        outcomes = [verdict["outcome"] for verdict in close["verdicts"]]
        assert outcomes == sorted(outcomes, key=["passes", "fails", "not asked"].index)
        assert {"passes", "fails", "not asked"} == set(outcomes)
        (failed,) = (verdict for verdict in close["verdicts"] if verdict["outcome"] == "fails")
        assert failed["reasons"] == ["Insufficient cpu"]
        assert told("big", "--node", "a", "--release", release).endswith("\n1")

    @BOTH
    def test_its_room_and_its_scores(self, found: Found, release: str) -> None:
        """It has what the pod requests and what is free, and the scores that the node has or would have."""
        close = found("db-0", "--node", "tainted", "--release", release)["closeUp"]
        assert {"resource": "pods", "asked": 1, "free": 10, "allocatable": 10, "missing": 0} in close["room"]
        assert close["wouldScore"]
        assert close["total"] == sum(score["total"] for score in close["scores"].values()) > 0
        fitting = found("db-0", "--node", "a", "--release", release)["closeUp"]
        assert (fitting["wouldScore"], fitting["outOf"]) == (False, 3)
        assert fitting["place"] in (1, 2, 3)

    def test_the_answer_is_about_the_node(self, told: Told) -> None:
        """The exit status says whether the pod fits on that node."""
        assert told("db-0", "--node", "a").endswith("\n0")
        assert told("db-0", "--node", "tainted").endswith("\n1")

    @BOTH
    def test_who_would_have_to_leave(self, found: Found, release: str) -> None:
        """It says who would have to leave this node, or why evicting does not help on it."""
        assert found("great", "--node", "a", "--release", release)["closeUp"]["victims"] == [{"pod": "shop/on-a", "priority": 0}]
        assert "no eviction removes" in found("great", "--node", "tainted", "--release", release)["closeUp"]["noRoom"]


class TestAPlacedPod:
    @BOTH
    def test_it_is_taken_off_its_node(self, told: Told, found: Found, release: str) -> None:
        """A pod on a node is decided as if it had none, with itself taken off; it says so, and where it could be instead."""
        text = told("on-a", "--release", release)
        assert "It is on a. Below is what would be decided now if it had no node, with the pod itself taken off a." in text
        assert "It would stay there.\nIt fits on no other node.\n" in text
        assert found("on-a", "--release", release)["placedOn"] == "a"
        assert "It could be on 2 other nodes: " in told("light", "--release", release)

    def test_another_node_would_be_better(self, told: Told) -> None:
        """Where another node would be chosen now, both totals are told."""
        assert "It would go to small now, whose total is " in told("light")


class TestNames:
    @pytest.mark.parametrize(
        ("name", "meant"),
        [("deploy/web", "web-5d-y"), ("rs/web-5d", "web-5d-y"), ("sts/db", "db-0"), ("job/sum", "sum-1"), ("ds/agent", "agent-1")],
    )
    def test_a_workload_stands_for_its_pods(self, found: Found, name: str, meant: str) -> None:
        """kubectl's short names of workloads mean one of their pods, one that waits if there is one."""
        assert found(name)["pod"] == f"shop/{meant}"
        assert found(name)["workload"].startswith(("Deployment", "ReplicaSet", "StatefulSet", "Job", "DaemonSet"))

    @pytest.mark.parametrize("arguments", [["pod/big"], ["po/big", "-n", "shop"], ["big", "--namespace", "shop"], ["shop/big"]])
    def test_a_pod_by_kubectl_s_names(self, found: Found, arguments: list[str]) -> None:
        """A pod may be named as kubectl names it, with -n for its namespace."""
        assert found(*arguments)["pod"] == "shop/big"

    def test_the_example_s_deployment(self) -> None:
        """A Deployment that is in the input without pods means the first pod that it makes."""
        document = ran("explain", EXAMPLE, "deploy/storefront", "-o", "json").document
        assert (document["workload"], len(document["workloadPods"])) == ("Deployment shop/storefront", 6)


class TestPassedOver:
    @pytest.mark.parametrize(
        ("name", "why"),
        [("done", "has finished (phase Succeeded)"), ("going", "is being deleted"), ("alien", 'its schedulerName is "other"'),
         ("static", "static pod of node a")],
    )  # fmt: skip
    @BOTH
    def test_it_says_why(self, told: Told, found: Found, name: str, why: str, release: str) -> None:
        """A pod that is not scheduled says why, and is no error."""
        assert f"{why}" in told(name, "--release", release)
        assert why in found(name, "--release", release)["ignored"]
        assert told(name, "--release", release).endswith("\n1")

    def test_a_gated_pod(self, told: Told, found: Found) -> None:
        """A pod with scheduling gates says that it is gated, and by which."""
        assert "It is gated, so it is not tried.\nwaiting for scheduling gates: [quota]\n" in told("gated", "--release", "1.27")
        assert found("gated", "--release", "1.27")["gated"]


class TestForms:
    def test_csv_has_a_line_for_each_node(self, told: Told) -> None:
        """-o csv has one line a node, with its total and its score by each rule."""
        rows = list(csv.DictReader(io.StringIO(told("db-0", "-o", "csv")[:-1])))
        assert {row["node"] for row in rows} == {"a", "b", "small", "tainted"}
        best = rows[0]
        assert int(best["total"]) == sum(int(value) for name, value in best.items() if name.endswith(("Priority", "Allocation")))

    def test_yaml_is_the_same_as_json(self, told: Told, found: Found) -> None:
        """-o yaml and -o json hold the same."""
        assert yaml.safe_load(told("big", "-o", "yaml")[:-1]) == found("big")

    def test_all_nodes(self) -> None:
        """The table has the nearest nodes and says how many there are; --all has every one."""
        texts = []
        for arguments in ([], ["--all"]):
            texts.append(ran("explain", EXAMPLE, "yearly-report", *arguments, status=(0, 1)).out)
        assert "(the nearest 5 of 11 nodes; --all shows every one)" in " ".join(texts[0].split())
        assert all(f"\ndatabase-{zone}1 " in texts[1] for zone in "abc")
        assert "--all shows" not in texts[1]

    def test_wide_shows_how_scores_come_about(self, told: Told) -> None:
        """-o wide has each score as raw, reduced and weight, and the rule that turned a node down."""
        text = told("db-0", "-o", "wide")
        assert "NodePreferAvoidPods 10 -> 10 x 10000" in " ".join(text.split())  # a long list of scores is wrapped
        assert "PodToleratesNodeTaints" in text

    @pytest.mark.parametrize("width", [60, 100, 200])
    @pytest.mark.parametrize("arguments", [["big"], ["db-0"], ["db-0", "-o", "wide", "--all"], ["big", "--node", "a"], ["light"]])
    def test_it_fits_the_terminal(self, told: Told, width: int, arguments: list[str]) -> None:
        """No line is wider than the terminal."""
        assert max(map(len, told(*arguments, columns=width).splitlines())) <= width
