"""The page of ``simulate``: each of its numbers is in ``-o json``, and its lists have every pod, node, eviction and cycle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import chdir
from html import escape
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.cli import run
from kubeclassic.questions.simulate import FEW, verdict
from kubeclassic.simulation.reasons import about, phrase
from kubeclassic.simulation.records import POD_COLUMNS, PodRecord, ScoredPod, UnplacedPods
from kubeclassic.simulation.summary import Summary
from tests.conftest import ROOT
from tests.support.pages import data_of_page, table_of_page, with_page
from tests.support.program import ran

CROWDED = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1, labels: {failure-domain.beta.kubernetes.io/zone: z1}},
   status: {allocatable: {cpu: 2, memory: 4Gi, pods: 10}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2, labels: {failure-domain.beta.kubernetes.io/zone: z2}},
   status: {allocatable: {cpu: 1, memory: 4Gi, pods: 10}}, spec: {taints: [{key: own, effect: NoSchedule}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: low},
   spec: {nodeName: n1, priority: 0, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: high}, spec: {priority: 9, containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {priority: 0, containers: [{name: c, resources: {requests: {cpu: 40}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: "<b>odd"}, spec: {priority: 0, nodeSelector: {disk: ssd}, containers: [{name: c}]}}
"""
"""A pod that makes room, one that is too large, and one that wants another node."""


@pytest.fixture(scope="module", params=["example", "crowded", "plugins"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, Any]]]:
    """The page of the example, of a crowded cluster with details, and of that under 1.27, each with its record."""
    folder = tmp_path_factory.mktemp("simulation")
    (folder / "crowded.yaml").write_text(CROWDED)
    with chdir(ROOT):
        release = ["--release", "1.27"] if request.param == "plugins" else []
        given = "examples/cluster" if request.param == "example" else str(folder / "crowded.yaml")
        yield with_page(folder, "simulate", given, "--nodes", *release, *([] if request.param == "example" else ["--details"]), status=1)


class TestPage:
    def test_who_finds_no_node_stands_first(self, pair: tuple[str, dict[str, Any]]) -> None:
        """The pods without a node are named right under the numbers, with their reason, and a single one in the headline."""
        html, record = pair
        who = html[html.index('id="who"') : html.index('id="next"')]
        waiting = [pod["pod"] for pod in record["pods"] if pod["outcome"] == "unschedulable"]
        assert waiting
        assert all(f">{escape(pod)}<" in who for pod in waiting)
        assert html.index('id="who"') < html.index('class="contents"')
        if len(waiting) == 1:
            assert waiting[0] in html[html.index("<h1") : html.index("</h1>")]
        steps = html[html.index('id="next"') : html.index('class="stack"')]
        assert "explain" in steps
        assert "--what-if" in steps

    def test_pods(self, pair: tuple[str, dict[str, Any]]) -> None:
        """Each pod is listed with its outcome, node, requests, and the number of its last cycle."""
        html, record = pair
        cycles = [cycle["pod"] for cycle in record["decisions"]]
        rows = table_of_page(html, "pods")
        assert len(rows) == len(record["pods"])
        for row, pod in zip(rows, record["pods"], strict=True):
            assert (row["pod"], row["outcome"], row["node"]) == (pod["pod"], pod["outcome"], pod["host"])
            assert (row["cpu"], row["priority"]) == (pod["requests"].get("cpu"), pod["priority"])
            assert row["decision"] == max(at for at, key in enumerate(cycles, 1) if key == pod["pod"])
            if pod["outcome"] == "unschedulable":
                assert pod["pod"] in next(group["pods"] for group in record["reasons"] if group["reason"] == row["reason"])

    def test_nodes(self, pair: tuple[str, dict[str, Any]]) -> None:
        """Each node is listed with its use before and after, and the map has the same."""
        html, record = pair
        for row, node in zip(table_of_page(html, "nodes"), record["nodes"], strict=True):
            cpu = node["resources"]["cpu"]
            assert (row["node"], row["pods before"], row["pods"]) == (node["node"], node["pods"]["before"], node["pods"]["after"])
            assert (row["cpu use before"], row["cpu use"], row["cpu free"]) == (cpu["useBefore"], cpu["use"], cpu["free"])
        found = data_of_page(html)["map-data"]
        assert found["nodes"] == [node["node"] for node in record["nodes"]]
        for side, field, when in zip(found["sides"], ("useBefore", "use"), ("before", "after"), strict=True):
            assert side["uses"]["cpu"] == [round(1000 * node["resources"]["cpu"][field]) for node in record["nodes"]]
            assert [len(pods) for pods in side["pods"]] == [node["pods"][when] for node in record["nodes"]]

    def test_cycles_and_evictions(self, pair: tuple[str, dict[str, Any]]) -> None:
        """Each cycle and each eviction is a row, in order; cycles are not listed where the list of pods says the same."""
        html, record = pair
        again = len({cycle["pod"] for cycle in record["decisions"]}) < len(record["decisions"])
        assert ("decisions-data" in data_of_page(html)) == again
        if again:
            rows, decisions = table_of_page(html, "decisions"), record["decisions"]
            assert [(row["pod"], row["try"] == "again") for row in rows] == [(cycle["pod"], cycle["retry"]) for cycle in decisions]
            hosts = [cycle["host"] for cycle in decisions if cycle["host"]]
            assert [row["node"] for row in rows if row["result"] == "placed"] == hosts
        listed = table_of_page(html, "evicted") if record["evicted"] else []
        assert [(row["evicted"], row["by"]) for row in listed] == [(one["pod"], one["by"]) for one in record["evicted"]]


class TestWords:
    @pytest.mark.parametrize(
        ("counts", "reasons", "said"),
        [
            ({"pods": 0}, [], "No pod waits for a node."),
            ({"pods": 1, "placed": 1}, [], "The pod finds a node."),
            ({"pods": 3, "placed": 3, "evicted": 1}, [], "All 3 pods find a node; 1 pod is evicted to make room."),
            ({"pods": 3, "placed": 2, "gated": 1}, [], "2 of 3 pods find a node."),
            ({"pods": 1, "unschedulable": 1}, [("Insufficient cpu", 1)], "a/0 finds no node: for cpu."),
            (
                {"pods": 8, "placed": 1, "waiting": 1, "unschedulable": 6},
                [("Insufficient cpu", 3), ("node(s) had taint {a: b}", 1), ("node(s) had taint {c: d}", 1), ("odd", 1)],
                "2 of 8 pods find a node, 6 do not: 3 for cpu, 2 for taints, 1 for odd.",
            ),
        ],
    )  # fmt: skip
    def test_verdict(self, counts: dict[str, int], reasons: list[tuple[str, int]], said: str) -> None:
        """One sentence: how many find a node, what the others lack, who has to leave."""
        nothing: dict[str, Any] = dict.fromkeys(Summary.__struct_fields__, 0) | {"ignored": {}, "resources": ()}
        groups = tuple(UnplacedPods(reason, tuple(f"a/{at}" for at in range(count))) for reason, count in reasons)
        summary = Summary(**nothing | counts)
        found = verdict(summary, groups)
        assert str(found) == said

    def test_reasons(self) -> None:
        """A reason is told by what it is about."""
        assert phrase(about("Too many pods"), 1) == "the number of pods"
        assert phrase(about("cannot allocate all claims"), 2) == "devices for their claims"


def test_many_nodes_have_a_chart(tmp_path: Path) -> None:
    """Of more than a few nodes a chart tells how many are how full."""
    has = {"allocatable": {"cpu": "4", "pods": "10"}}
    nodes = [{"kind": "Node", "metadata": {"name": f"n{at}"}, "status": has} for at in range(FEW + 1)]
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    pod = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": containers}}
    (tmp_path / "many.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*nodes, pod]}))
    html, _ = with_page(tmp_path, "simulate", tmp_path / "many.json", "--nodes")
    assert "Nodes by use of cpu" in html


class TestForms:
    def test_report_stands_beside_the_output(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """--report changes no output, and writes what -o html writes; its lists have what the options choose."""
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
        monkeypatch.setattr("sys.argv", ["kubeclassic"])
        chosen = ["simulate", "examples/cluster", "-n", "shop", "--sort-by", "-cpu"]
        made = {name: str(tmp_path / name) for name in ("alone", "beside", "page", "html")}
        run([*chosen, "-o", "csv", "--output", made["alone"]])
        run([*chosen, "-o", "csv", "--output", made["beside"], "--report", made["page"]])
        run([*chosen, "-o", "html", "--output", made["html"]])
        read = {name: Path(file).read_text(encoding="utf-8") for name, file in made.items()}
        assert (read["alone"], read["page"]) == (read["beside"], read["html"])
        rows = table_of_page(read["html"], "pods")
        assert {row["namespace"] for row in rows} == {"shop"}
        assert [row["cpu"] or 0 for row in rows] == sorted((row["cpu"] or 0 for row in rows), reverse=True)
        assert "The lists show some of the pods alone" in read["html"]

    def test_csv_has_each_field_once(self) -> None:
        """Requests are a column for each resource, and none for all of them; what has a column in tables is a field."""
        names = ran("simulate", str(ROOT / "examples" / "cluster"), "-o", "csv", status=(0, 1)).out.splitlines()[0].split(",")
        fields = PodRecord.__struct_encode_fields__
        assert [name for name in names if "." not in name] == [name for name in fields if name != "requests"]
        assert {"requests.cpu", "requests.memory"} <= set(names)
        assert {name for name, _ in POD_COLUMNS} - set(ScoredPod.__struct_fields__) == {"reason", "decision"}

    def test_names_are_text(self, pair: tuple[str, dict[str, Any]]) -> None:
        """What is in the input is no markup of the page."""
        assert "<b>odd" not in pair[0]
