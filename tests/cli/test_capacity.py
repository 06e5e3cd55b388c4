"""``kubeclassic capacity``: forms, exit statuses, and one clear line for each wrong input."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import kubeclassic
from kubeclassic.cli import run
from kubeclassic.exceptions import WrongTypeError
from tests.conftest import ROOT
from tests.support.keywords import keywords_of
from tests.support.schemas import faults

EXAMPLE, SMALL = str(ROOT / "examples/cluster"), str(ROOT / "examples/capacity/small-pod.yaml")
Json = dict[str, Any]


def node(name: str, cpu: str = "2", memory: str = "8Gi", pods: str = "10", zone: str = "", **more: Any) -> Json:
    """A node's manifest; *more*: its spec."""
    labels = {"pool": name[0], **({"topology.kubernetes.io/zone": zone} if zone else {})}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": more,
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": pods}},
    }  # fmt: skip


def pod(name: str, cpu: str = "1", **more: Any) -> Json:
    """A pod's manifest; *more*: its spec."""
    containers = [{"name": "c", "image": "img", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **more}}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """A function that writes manifests to a file and tells its path."""

    def written(name: str, *documents: Json) -> str:
        path = tmp_path / name
        path.write_text(yaml.safe_dump_all(documents), encoding="utf-8")
        return str(path)

    return written


@pytest.fixture
def ask(write: Any, capsys: pytest.CaptureFixture[str]) -> Any:
    """A function that counts in a cluster of two nodes in two zones, and tells status, output and what was said."""
    cluster = write("cluster.yaml", node("a", zone="z1"), node("b", cpu="4", zone="z2"))
    template = write("web.yaml", pod("web"))

    def asked(*options: str, cluster: str = cluster, template: str | None = template) -> tuple[int, str, str]:
        given = [] if template is None else ["--pod", template]
        status = run(["capacity", cluster, *given, *options])
        said = capsys.readouterr()
        return status, said.out, said.err

    return asked


class TestForms:
    def test_json(self, ask: Any) -> None:
        """The fields are those of the schema: how many fit, by template, node and zone, and what stops the next."""
        status, out, _ = ask("-o", "json")
        found = json.loads(out)
        assert (status, faults("capacity", found)) == (0, [])
        assert (found["fits"], found["nodes"], found["zones"]) == (6, {"b": 4, "a": 2}, {"z1": 2, "z2": 4})
        assert [(one["name"], one["fits"], one["requests"]) for one in found["templates"]] == [("web", 6, {"cpu": 1000, "memory": 2**30})]
        assert found["stop"] | {"shortages": [], "stranded": {}} == {
            "message": "0/2 nodes are available: 2 Insufficient cpu.", "reasons": {"Insufficient cpu": 2}, "kind": "Unschedulable",
            "template": "web", "shortages": [], "stranded": {}, "outOfReach": {},
        }  # fmt: skip

    def test_shortages(self, ask: Any) -> None:
        """It is told which resource has run out, where, and what is stranded."""
        found = json.loads(ask("-o", "json")[1])["stop"]
        assert found["shortages"] == [{"resource": "cpu", "nodes": 2, "examples": ["a", "b"], "left": 0}]
        assert found["stranded"] == {"memory": 10 * 2**30, "pods": 14}

    def test_headroom(self, ask: Any) -> None:
        """Each resource tells what was requested before and after, and how many copies would fit by it alone."""
        rows = {row["resource"]: row for row in json.loads(ask("-o", "json")[1])["headroom"]}
        assert [rows["cpu"][field] for field in ("allocatable", "requestedBefore", "requested", "free")] == [6000, 0, 6000, 0]
        assert {name: row["copies"] for name, row in rows.items()} == {"cpu": 6, "memory": 16, "pods": 20}

    def test_yaml_is_as_json(self, ask: Any) -> None:
        """YAML holds the same document."""
        assert yaml.safe_load(ask("-o", "yaml")[1]) == json.loads(ask("-o", "json")[1])

    def test_csv(self, ask: Any) -> None:
        """CSV has a line a node, with what is free before and after."""
        rows = list(csv.DictReader(io.StringIO(ask("-o", "csv")[1])))
        assert [(row["node"], row["zone"], row["copies"], row["resources.memory.free"]) for row in rows] == [
            ("a", "z1", "2", str(6 * 2**30)), ("b", "z2", "4", str(4 * 2**30)),
        ]  # fmt: skip

    def test_table(self, ask: Any) -> None:
        """The table begins as users of cluster-capacity know it, and says what has run out."""
        out = ask()[1].splitlines()
        assert out[0] == "The cluster can schedule 6 instance(s) of the pod web."
        assert out[2] == "Termination reason: Unschedulable: 0/2 nodes are available: 2 Insufficient cpu."
        assert out[3] == "cpu has run out on 2 nodes: a and b"
        assert "b      z2          4" in out

    @pytest.mark.parametrize("options", [["-o", "wide"], ["--verbose"]])
    def test_wide(self, ask: Any, options: list[str]) -> None:
        """With all details it says what a copy requests, and what is free on every node."""
        out = ask(*options)[1]
        assert out.startswith("web pod requirements: cpu: 1, memory: 1Gi\n")
        assert "a      z1          2          0       6.0 GiB           8" in out

    def test_output(self, ask: Any, tmp_path: Path) -> None:
        """The answer can be written to a file."""
        assert ask("-o", "json", "--output", str(tmp_path / "answer.json"))[:2] == (0, "")
        assert json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["fits"] == 6

    def test_the_podspec_of_cluster_capacity(self, ask: Any, write: Any) -> None:
        """``--podspec`` is another word for ``--pod``."""
        status, out, _ = ask("--podspec", write("other.yaml", pod("other", cpu="3")), template=None)
        assert (status, out.splitlines()[0]) == (0, "The cluster can schedule 1 instance(s) of the pod other.")

    def test_the_python_function_agrees(self) -> None:
        """The function gives the record that the command prints."""
        from kubeclassic import capacity

        found = capacity(EXAMPLE, SMALL)
        assert found.record()["fits"] == found.fits == sum(found.nodes.values()) == sum(found.zones.values()) == 123


class TestStatus:
    def test_none_fits(self, ask: Any, write: Any) -> None:
        """Where no copy fits the exit status is 1."""
        status, out, _ = ask(template=write("big.yaml", pod("big", cpu="9")))
        assert status == 1
        assert "can schedule 0 instance(s)" in out

    @pytest.mark.parametrize(("wanted", "status", "kind"), [("6", 0, "LimitReached"), ("7", 1, "Unschedulable")])
    def test_so_many_pods(self, ask: Any, wanted: str, status: int, kind: str) -> None:
        """``--pods`` asks for a number: the status says whether so many fit."""
        found = ask("--pods", wanted, "-o", "json")
        assert (found[0], json.loads(found[1])["stop"]["kind"], json.loads(found[1])["fits"]) == (status, kind, 6)

    def test_max_limit(self, ask: Any) -> None:
        """``--max-limit`` ends the count, in cluster-capacity's words."""
        found = json.loads(ask("--max-limit", "3", "-o", "json")[1])
        assert (found["fits"], found["stop"]["message"]) == (3, "Maximum number of pods simulated: 3")


class TestQuestions:
    def test_ratio(self, ask: Any, write: Any) -> None:
        """Several templates take turns as the ratio says, and the first copy that finds no place stops all."""
        more = write("half.yaml", pod("half", cpu="500m"))
        found = json.loads(ask("--pod", more, "--ratio", "1:2", "-o", "json")[1])
        assert [(one["name"], one["fits"]) for one in found["templates"]] == [("web", 3), ("half", 6)]
        assert found["stop"]["template"] == "web"

    @pytest.mark.parametrize("part", [10**9, 10**19])
    def test_a_huge_ratio_costs_nothing(self, ask: Any, write: Any, part: int) -> None:
        """A turn is not made before it is needed."""
        found = json.loads(ask("--pod", write("half.yaml", pod("half", cpu="500m")), "--ratio", f"1:{part}", "-o", "json")[1])
        assert [one["fits"] for one in found["templates"]] == [1, 10]

    @pytest.mark.parametrize("exclude", [["a"], [" a, "], ["pool=a"], ["pool in (a, c)"], ["topology.kubernetes.io/zone!=z2"]])
    def test_excluded_nodes(self, ask: Any, exclude: list[str]) -> None:
        """Nodes are left out by name or by a selector."""
        found = json.loads(ask("--exclude-nodes", *exclude, "-o", "json")[1])
        assert (found["nodes"], found["excludedNodes"]) == ({"b": 4}, ["a"])
        assert found["stop"]["message"] == "0/1 nodes are available: 1 Insufficient cpu."

    def test_waiting_pods(self, ask: Any, write: Any) -> None:
        """Pods that wait are left out, which is said; with ``--pending-first`` they take their room before all copies."""
        cluster = write("waiting.yaml", node("a"), pod("early"), pod("late", cpu="8"))
        status, out, said = ask("-o", "json", cluster=cluster)
        assert (status, json.loads(out)["fits"], json.loads(out)["pending"]) == (0, 2, {"placedFirst": 0, "waiting": 2})
        assert "2 pods wait in the cluster, left out here: --pending-first places them first" in said
        first = json.loads(ask("-o", "json", "--pending-first", cluster=cluster)[1])
        assert (first["fits"], first["pending"]) == (1, {"placedFirst": 1, "waiting": 1})

    def test_preemption(self, ask: Any, write: Any) -> None:
        """Nothing is evicted, unless it is asked for."""
        cluster = write("full.yaml", node("a"), pod("low", cpu="2", nodeName="a", priority=-5))
        assert json.loads(ask("-o", "json", cluster=cluster)[1])["fits"] == 0
        found = json.loads(ask("-o", "json", "--preemption", cluster=cluster)[1])
        assert (found["fits"], found["evicted"]) == (2, {"default/low": "default/web-0"})

    def test_a_name_in_use_is_not_taken(self, ask: Any, write: Any) -> None:
        """A pod of the cluster that has the name of a copy stays."""
        cluster = write("named.yaml", node("a"), pod("web-0", nodeName="a"))
        assert json.loads(ask("-o", "json", cluster=cluster)[1])["fits"] == 1


def refused(ask: Any, *options: str, **given: Any) -> str:
    """What is said of a wrong input, which has one line."""
    status, out, said = ask(*options, **given)
    assert (status, out) == (2, "")
    return str(said).strip().splitlines()[-1]


class TestRefusals:
    def test_no_template(self, ask: Any) -> None:
        """A template is needed."""
        assert refused(ask, template=None).endswith("--pod: got none, wanted a file with a Pod, a PodTemplate or a workload")

    def test_no_pod_in_the_file(self, ask: Any, write: Any) -> None:
        """A file without a pod is refused with what it has."""
        file = write("wrong.yaml", node("c"))
        assert refused(ask, template=file).endswith(f"{file}: got Node, wanted a Pod, a PodTemplate or a workload")

    def test_several_pods_in_a_file(self, ask: Any, write: Any) -> None:
        """A file holds one template, so that ratios are clear."""
        file = write("two.yaml", pod("one"), pod("two"))
        assert refused(ask, template=file).endswith("got Pod one, Pod two, wanted a Pod, a PodTemplate or a workload, one a file")

    def test_a_daemon_set(self, ask: Any, write: Any) -> None:
        """The pods of a DaemonSet belong to a node each."""
        daemons = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {"template": pod("x")}}
        assert "got DaemonSet agent, which has one pod a node" in refused(ask, template=write("daemons.yaml", daemons))

    @pytest.mark.parametrize("ratio", ["3", "0:1", "a", "1:1:1"])
    def test_a_wrong_ratio(self, ask: Any, write: Any, ratio: str) -> None:
        """A ratio has a number of 1 or more for each template."""
        assert "ratio" in refused(ask, "--pod", write("other.yaml", pod("other")), "--ratio", ratio)

    def test_the_same_name_twice(self, ask: Any, write: Any) -> None:
        """Two templates of one name are refused, as their copies would be called the same."""
        assert "got two of the name default/web" in refused(ask, "--pod", write("again.yaml", pod("web")))

    def test_an_unknown_node(self, ask: Any) -> None:
        """A node that is not there cannot be excluded."""
        assert refused(ask, "--exclude-nodes", "c").endswith('exclude-nodes: got "c", wanted the name of a node or a selector')

    def test_all_nodes(self, ask: Any) -> None:
        """Some node has to be left."""
        assert "which is every node, wanted one left at least" in refused(ask, "--exclude-nodes", "a,b")

    def test_a_selector_of_no_node(self, ask: Any) -> None:
        """A selector that chooses no node is refused, as a wrong name is; two kinds in one text are such a selector."""
        assert refused(ask, "--exclude-nodes", "pool=z").endswith('exclude-nodes: got "pool=z", which chooses no node')
        assert "which chooses no node" in refused(ask, "--exclude-nodes", "pool=a,b")

    def test_what_contradicts_itself(self, ask: Any) -> None:
        """A limit below the wanted number has no answer, and preemption is on or off."""
        told = refused(ask, "--pods", "10", "--max-limit", "5")
        assert told.endswith("max-limit: got 5, wanted as many as pods 10 at least, or none")
        assert "--preemption cannot be combined with --disable-preemption" in refused(ask, "--preemption", "--disable-preemption")

    def test_another_kind_in_the_file(self, ask: Any, write: Any) -> None:
        """A kind that is kept as a manifest is told by its name."""
        file = write("map.yaml", {"kind": "ConfigMap", "metadata": {"name": "x"}})
        assert refused(ask, template=file).endswith("got ConfigMap, wanted a Pod, a PodTemplate or a workload")

    @pytest.mark.parametrize("given", [
        {"pods": "3"}, {"max_limit": True}, {"ratio": [1.5]}, {"ratio": "1"}, {"exclude_nodes": 3}, {"exclude_nodes": [None]},
    ])  # fmt: skip
    def test_python_refuses_other_types(self, given: Any) -> None:
        """A value of another type is refused with its name."""
        with pytest.raises(WrongTypeError, match=f"^{next(iter(given))}: got "):
            kubeclassic.capacity(node("a"), pod("p"), **keywords_of(given, "preemption"))

    def test_a_broken_selector(self, ask: Any) -> None:
        """A selector that cannot be read is refused."""
        assert "exclude-nodes: got" in refused(ask, "--exclude-nodes", "pool in a")

    @pytest.mark.parametrize("options", [["--pods", "0"], ["--pods", "x"], ["--max-limit", "-1"], ["-o", "xml"]])
    def test_wrong_values(self, ask: Any, options: list[str]) -> None:
        """Values of other kinds are refused."""
        assert "got" in refused(ask, *options) or "is not one of" in refused(ask, *options)
