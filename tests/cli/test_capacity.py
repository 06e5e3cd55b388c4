"""``kubeclassic capacity``: forms, exit statuses, and one clear line for each wrong input."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tests.cli.conftest import Ran
from tests.conftest import ROOT
from tests.support.manifests import node, pod
from tests.support.program import ran

EXAMPLE, SMALL = str(ROOT / "examples/cluster"), str(ROOT / "examples/capacity/small-pod.yaml")
Json = dict[str, Any]


@pytest.fixture
def ask(write: Any) -> Ran:
    """Counts in a cluster of two nodes in two zones."""
    a, b = ({"topology.kubernetes.io/zone": zone, "pool": pool} for zone, pool in (("z1", "a"), ("z2", "b")))
    two = write("cluster.yaml", node("a", 2, "8Gi", 10, labels=a), node("b", 4, "8Gi", 10, labels=b))
    web = write("web.yaml", pod("web", 1, requests={"memory": "1Gi"}))
    return lambda *options, cluster=two, template=web, **more: ran(
        "capacity", cluster, *(["--pod", template] if template else []), *options, **more
    )


class TestForms:
    def test_json(self, ask: Ran) -> None:
        """The fields are those of the schema: how many fit, by template, node and zone, and what stops the next."""
        found = ask("-o", "json").document
        assert (found["fits"], found["nodes"], found["zones"]) == (6, {"b": 4, "a": 2}, {"z1": 2, "z2": 4})
        assert [(one["name"], one["fits"], one["requests"]) for one in found["templates"]] == [("web", 6, {"cpu": 1000, "memory": 2**30})]
        assert found["stop"] | {"shortages": [], "stranded": {}} == {
            "message": "0/2 nodes are available: 2 Insufficient cpu.", "reasons": {"Insufficient cpu": 2}, "kind": "Unschedulable",
            "template": "web", "shortages": [], "stranded": {}, "outOfReach": {},
        }  # fmt: skip

    def test_shortages(self, ask: Ran) -> None:
        """It is told which resource has run out, where, and what is stranded."""
        found = ask("-o", "json").document["stop"]
        assert found["shortages"] == [{"resource": "cpu", "nodes": 2, "examples": ["a", "b"], "left": 0}]
        assert found["stranded"] == {"memory": 10 * 2**30, "pods": 14}

    def test_headroom(self, ask: Ran) -> None:
        """Each resource tells what was requested before and after, and how many copies would fit by it alone."""
        rows = {row["resource"]: row for row in ask("-o", "json").document["headroom"]}
        assert [rows["cpu"][field] for field in ("allocatable", "requestedBefore", "requested", "free")] == [6000, 0, 6000, 0]
        assert {name: row["copies"] for name, row in rows.items()} == {"cpu": 6, "memory": 16, "pods": 20}

    def test_csv(self, ask: Ran) -> None:
        """CSV has a line a node, with what is free before and after."""
        rows = list(csv.DictReader(io.StringIO(ask("-o", "csv").out)))
        assert [(row["node"], row["zone"], row["copies"], row["resources.memory.free"]) for row in rows] == [
            ("a", "z1", "2", str(6 * 2**30)), ("b", "z2", "4", str(4 * 2**30)),
        ]  # fmt: skip

    def test_table(self, ask: Ran) -> None:
        """The table begins as users of cluster-capacity know it, and says what has run out."""
        out = ask().out.splitlines()
        assert out[0] == "The cluster can schedule 6 instance(s) of the pod web."
        assert out[2] == "Termination reason: Unschedulable: 0/2 nodes are available: 2 Insufficient cpu."
        assert out[3] == "cpu has run out on 2 nodes: a and b"
        assert "b      z2          4" in out

    @pytest.mark.parametrize("options", [["-o", "wide"], ["--verbose"]])
    def test_wide(self, ask: Ran, options: list[str]) -> None:
        """With all details it says what a copy requests, and what is free on every node."""
        out = ask(*options).out
        assert out.startswith("web pod requirements: cpu: 1, memory: 1Gi\n")
        assert "a      z1          2          0       6.0 GiB           8" in out

    def test_the_podspec_of_cluster_capacity(self, ask: Ran, write: Any) -> None:
        """``--podspec`` is another word for ``--pod``."""
        out = ask("--podspec", write("other.yaml", pod("other", cpu="3")), template=None).out
        assert out.splitlines()[0] == "The cluster can schedule 1 instance(s) of the pod other."


class TestStatus:
    def test_none_fits(self, ask: Ran, write: Any) -> None:
        """Where no copy fits the exit status is 1."""
        out = ask(template=write("big.yaml", pod("big", cpu="9")), status=1).out
        assert "can schedule 0 instance(s)" in out

    @pytest.mark.parametrize(("wanted", "status", "kind"), [("6", 0, "LimitReached"), ("7", 1, "Unschedulable")])
    def test_so_many_pods(self, ask: Ran, wanted: str, status: int, kind: str) -> None:
        """``--pods`` asks for a number: the status says whether so many fit."""
        found = ask("--pods", wanted, "-o", "json", status=status).document
        assert (found["stop"]["kind"], found["fits"]) == (kind, 6)

    def test_max_limit(self, ask: Ran) -> None:
        """``--max-limit`` ends the count, in cluster-capacity's words."""
        found = ask("--max-limit", "3", "-o", "json").document
        assert (found["fits"], found["stop"]["message"]) == (3, "Maximum number of pods simulated: 3")


class TestQuestions:
    def test_ratio(self, ask: Ran, write: Any) -> None:
        """Several templates take turns as the ratio says, and the first copy that finds no place stops all."""
        more = write("half.yaml", pod("half", cpu="500m"))
        found = ask("--pod", more, "--ratio", "1:2", "-o", "json").document
        assert [(one["name"], one["fits"]) for one in found["templates"]] == [("web", 3), ("half", 6)]
        assert found["stop"]["template"] == "web"

    @pytest.mark.parametrize("part", [10**9, 10**19])
    def test_a_huge_ratio_costs_nothing(self, ask: Ran, write: Any, part: int) -> None:
        """A turn is not made before it is needed."""
        found = ask("--pod", write("half.yaml", pod("half", cpu="500m")), "--ratio", f"1:{part}", "-o", "json").document
        assert [one["fits"] for one in found["templates"]] == [1, 10]

    @pytest.mark.parametrize("exclude", [["a"], [" a, "], ["pool=a"], ["pool in (a, c)"], ["topology.kubernetes.io/zone!=z2"]])
    def test_excluded_nodes(self, ask: Ran, exclude: list[str]) -> None:
        """Nodes are left out by name or by a selector."""
        found = ask("--exclude-nodes", *exclude, "-o", "json").document
        assert (found["nodes"], found["excludedNodes"]) == ({"b": 4}, ["a"])
        assert found["stop"]["message"] == "0/1 nodes are available: 1 Insufficient cpu."

    def test_waiting_pods(self, ask: Ran, write: Any) -> None:
        """Pods that wait are left out, which is said; with ``--pending-first`` they take their room before all copies."""
        cluster = write("waiting.yaml", node("a", 2), pod("early", 1), pod("late", 8))
        found = ask("-o", "json", cluster=cluster)
        assert (found.document["fits"], found.document["pending"]) == (2, {"placedFirst": 0, "waiting": 2})
        assert "2 pods wait in the cluster, left out here: --pending-first places them first" in found.err
        first = ask("-o", "json", "--pending-first", cluster=cluster).document
        assert (first["fits"], first["pending"]) == (1, {"placedFirst": 1, "waiting": 1})

    def test_preemption(self, ask: Ran, write: Any) -> None:
        """Nothing is evicted, unless it is asked for."""
        cluster = write("full.yaml", node("a", 2), pod("low", 2, on="a", priority=-5))
        assert ask("-o", "json", cluster=cluster, status=1).document["fits"] == 0
        found = ask("-o", "json", "--preemption", cluster=cluster).document
        assert (found["fits"], found["evicted"]) == (2, {"default/low": "default/web-0"})

    def test_a_name_in_use_is_not_taken(self, ask: Ran, write: Any) -> None:
        """A pod of the cluster that has the name of a copy stays."""
        cluster = write("named.yaml", node("a", 2), pod("web-0", 1, on="a"))
        assert ask("-o", "json", cluster=cluster).document["fits"] == 1
