"""The pages of ``capacity``, ``drain`` and ``sweep``: facts are those of ``-o json``, and the verdict says what came of it."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import attrs
import pytest

from kubeclassic import capacity
from tests.support.build import node, pod
from tests.support.pages import data_of_page, table_of_page, with_page
from tests.support.program import ran

ROOT = Path(__file__).resolve().parents[2]
CLUSTER, DRAINED = str(ROOT / "examples/cluster"), str(ROOT / "examples/drain/cluster.yaml")
SMALL, WEB = str(ROOT / "examples/capacity/small-pod.yaml"), str(ROOT / "examples/capacity/web.yaml")
BIG = str(ROOT / "examples/capacity/big-node.yaml")
SWEEP = str(ROOT / "examples/sweep.yaml")
FLAGS = ("--ignore-daemonsets", "--delete-emptydir-data")
COMMANDS = {
    "fits": (0, ["capacity", CLUSTER, "--pod", SMALL]),
    "preempts": (0, ["capacity", CLUSTER, "--pod", SMALL, "--pending-first", "--preemption"]),
    "several": (1, ["capacity", CLUSTER, "--pod", SMALL, "--pod", WEB, "--ratio", "5:1", "--pods", "500", "--exclude-nodes", "gpu-b1"]),
    "limited": (0, ["capacity", CLUSTER, "--pod", SMALL, "--max-limit", "7"]),
    "enough": (0, ["capacity", CLUSTER, "--pod", WEB, "--pods", "3"]),
    "search": (0, ["drain", CLUSTER, "--auto", *FLAGS]),
    "all can": (0, ["drain", DRAINED, "--zone", "north-a", *FLAGS]),
    "not all can": (1, ["drain", DRAINED, "worker-1", "worker-2", "--ignore-daemonsets"]),
    "one cannot": (1, ["drain", DRAINED, "worker-2", "--ignore-daemonsets"]),
    "forced": (0, ["drain", DRAINED, "--auto", *FLAGS, "--force"]),
    "new nodes": (0, ["capacity", CLUSTER, "--add-node", BIG, "--add-node", "like:gpu-b1", "--cost", "big=3", "--cost", "gpu-b1=4"]),
    "no new node": (0, ["capacity", CLUSTER, "--add-node", BIG, "--pod", SMALL, "--pods", "10"]),
    "never": (1, ["capacity", CLUSTER, "--add-node", "like:general-a1"]),
    "grid": (0, ["sweep", SWEEP, "--jobs", "1"]),
}
"""What is asked -> the exit status, and the command."""
VERDICTS = {
    "fits": "123 more copies of small-pod fit; then cpu has run out on 5 nodes.",
    "several": "Only 35 of the 500 copies of small-pod and web fit; then 5 nodes turn it down: node(s) didn't match pod ",
    "limited": "7 more copies of small-pod fit, as many as were to be counted.",
    "enough": "All 3 copies of web fit.",
    "search": "9 of 10 nodes can go together: 1 pod moves in 1 round.",
    "all can": "Both nodes can go together: 6 pods move in 3 rounds.",
    "not all can": "Only 1 of 2 nodes can go: ",
    "one cannot": "worker-2 cannot go.",
    "new nodes": "Add 1 big, cost 3: each of 22 pods finds a node.",
    "no new node": "No new node is needed: each of 10 pods finds a node.",
    "never": "No new node is needed for 21 of 22 pods: each of them finds a node; 1 finds none with up to 22.",
    "grid": "“pack, 1.16” is best in placed (20.33) and cpu used (0.366); “spread, 1.14” in imbalance (0.0951); ",
}
"""What is asked -> how the verdict begins."""


@attrs.frozen
class Answer:
    """What a command answers."""

    name: str
    record: dict[str, Any]
    html: str
    csv: list[dict[str, str]]

    @property
    def verdict(self) -> str:
        """The main heading, as people see it."""
        (found,) = re.findall(r"<h1[^>]*>(.*?)</h1>", self.html)
        return unescape(_text(found))


@pytest.fixture(scope="module", params=COMMANDS)
def answer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Answer:
    """One of the commands, as JSON, as CSV and as a page besides."""
    return _answer(request.param, tmp_path_factory.mktemp("answer"))


def _answer(name: str, folder: Path) -> Answer:
    status, words = COMMANDS[name]
    html, record = with_page(folder, *words, status=status)
    rows = csv.DictReader(io.StringIO(ran(*words, "-o", "csv", status=status).out))
    return Answer(name, record, html, list(rows))


def test_the_verdict_says_it(answer: Answer) -> None:
    """The main heading is the outcome in one sentence."""
    assert answer.verdict.startswith(VERDICTS.get(answer.name, ""))
    assert answer.verdict.endswith(".")


def test_the_long_lists_are_those_of_the_record(answer: Answer) -> None:
    """Nodes, evictions and runs are all there, with the values of ``-o csv`` or ``-o json``."""
    check = {"Capacity": _check_nodes, "Drain": _check_drain, "Sweep": _check_runs, "NewNodes": _check_new}
    check[answer.record["kind"]](answer)


def _check_nodes(answer: Answer) -> None:
    rows = table_of_page(answer.html, "nodes")
    assert [(row["node"], row["copies"]) for row in rows] == [(row["node"], int(row["copies"])) for row in answer.csv]
    assert {row["node"]: row["copies"] for row in rows if row["copies"]} == answer.record["nodes"]
    for field, title in (("freeBefore", "free before"), ("free", "free after")):
        assert [row[f"cpu {title}"] for row in rows] == [int(row[f"resources.cpu.{field}"]) for row in answer.csv]
    if answer.record["evicted"]:
        assert dict(map(dict.values, table_of_page(answer.html, "evicted"))) == answer.record["evicted"]


def _check_drain(answer: Answer) -> None:
    rows = {row["node"]: row["can go"] for row in table_of_page(answer.html, "nodes")}
    assert rows == {**dict.fromkeys(answer.record["can"], "yes"), **dict.fromkeys(answer.record["cannot"], "no")}
    if answer.record["evictions"]:
        rows = table_of_page(answer.html, "evictions")
        assert [(row["round"], row["pod"], row["from"], row["to"], row["as"]) for row in rows] == [
            (one["round"], one["pod"], one["node"], one["to"], one["replacement"]) for one in answer.record["evictions"]
        ]


def _check_runs(answer: Answer) -> None:
    rows = table_of_page(answer.html, "runs")
    for name in answer.record["objectives"]:
        assert [row[name] for row in rows] == [run[name] for run in answer.record["runs"]]
    assert [row["release"] for row in rows] == [run["release"] for run in answer.record["runs"]]


def _check_new(answer: Answer) -> None:
    if answer.record["nodes"]:
        rows = table_of_page(answer.html, "nodes")
        assert [(row["name"], row["pods"]) for row in rows] == [(node["name"], node["pods"]) for node in answer.record["nodes"]]
        for row, node in zip(rows, answer.record["nodes"], strict=True):
            assert (row["cpu requested"], row["cpu allocatable"]) == (node["requested"]["cpu"], node["allocatable"]["cpu"])
    if answer.record["withoutNode"]["pods"]:
        rows = table_of_page(answer.html, "without")
        assert [(row["pod"], row["why"]) for row in rows] == [(one["pod"], one["message"]) for one in answer.record["withoutNode"]["pods"]]


# --- maps -----------------------------------------------------------------------------------------------------------


def test_the_map_of_copies(tmp_path: Path) -> None:
    """What nodes have in use before and after is, over all nodes, what ``-o json`` says is requested."""
    found = _answer("preempts", tmp_path)
    data = data_of_page(found.html)["map-data"]
    (cpu,) = (row for row in found.record["headroom"] if row["resource"] == "cpu")
    assert data["nodes"] == [row["node"] for row in found.csv]
    before, after = data["sides"]
    assert sum(after["uses"]["cpu"]) > sum(before["uses"]["cpu"]) > 0
    assert cpu["requested"] > cpu["requestedBefore"]
    copies = [f"{found.record['nodes'][node]} copies" if node in found.record["nodes"] else "" for node in data["nodes"]]
    assert [note.replace("copy", "copies") if note == "1 copy" else note for note in after["notes"]] == copies
    gone = {pod for pods in before["pods"] for pod in pods} - {pod for pods in after["pods"] for pod in pods}
    assert {data["names"][pod] for pod in gone} == set(found.record["evicted"])


def test_the_map_of_a_drain(tmp_path: Path) -> None:
    """On nodes that can go only those pods are left that stay; all that move are on the node that they move to."""
    found = _answer("search", tmp_path)
    data = data_of_page(found.html)["map-data"]
    before, after = ({node: {data["names"][pod] for pod in pods} for node, pods in zip(data["nodes"], side["pods"], strict=True)}
                     for side in data["sides"])  # fmt: skip
    staying = {(one["pod"], one["node"]) for one in found.record["staying"]}
    assert {(pod, node) for node in found.record["can"] for pod in after[node]} == staying
    for one in found.record["evictions"]:
        assert one["pod"] in before[one["node"]]
        assert one["replacement"] in after[one["to"]]
    assert sum(map(len, before.values())) == sum(map(len, after.values()))


# --- words ----------------------------------------------------------------------------------------------------------

TAINTS = [{"key": "old", "effect": "NoSchedule"}]


def _text(markup: str) -> str:
    return re.sub(r"<[^>]*>", "", markup)


def test_verdicts_about_copies() -> None:
    """A copy that no node takes, one that the API server refuses, a reason of most nodes and a resource that runs out are each words."""
    web = pod("web", containers=[{"ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "1"}}}])
    old, new = [node(name, taints=TAINTS) for name in "abc"], node("d")
    quota = {"kind": "ResourceQuota", "metadata": {"name": "few", "namespace": "default"}, "spec": {"hard": {"pods": "1"}}}
    taints = "turn it down: node(s) had taints that the pod didn't tolerate."
    assert str(capacity(old, web, "1.14").view().verdict) == f"No copy of web fits; 3 nodes {taints}"
    assert str(capacity([*old, new], web, "1.14").view().verdict) == f"1 more copy of web fits; then 3 nodes {taints}"
    assert str(capacity([new, quota], web, "1.14").view().verdict) == "1 more copy of web fits; then the API server refuses the next one."
    found = capacity(node("small", cpu="1500m"), pod("web", requests={"cpu": "1"}), "1.14")
    assert str(found.view().verdict) == "1 more copy of web fits; then cpu has run out on 1 node."
    assert str(capacity(new, web, "1.14", pods=1).view().verdict) == "A copy of web fits."


def test_html_is_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``-o html`` writes the page that --report writes beside other output, and --report never writes over an input."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setattr("sys.argv", ["kubeclassic"])
    for words in (
        ["capacity", CLUSTER, "--pod", SMALL],
        ["drain", DRAINED, "worker-2", *FLAGS],
        ["explain", CLUSTER, "shop/orders-1"],
    ):
        ran(*words, "--report", str(tmp_path / "page.html"))
        assert ran(*words, "-o", "html").out == (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "which is an input too" in ran("drain", DRAINED, "worker-2", "--report", DRAINED, status=2).err


def test_it_says_what_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs, counts, release, rules, warnings and the command are on the page, no folder of its author; SOURCE_DATE_EPOCH dates it."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    words = ["capacity", CLUSTER, "--pod", SMALL, "--release", "1.12", "--provider", "ClusterAutoscalerProvider", "-o", "html"]
    monkeypatch.setattr("sys.argv", ["kubeclassic", *words])
    monkeypatch.chdir(ROOT)
    page = _text(ran(*words).out)
    cluster, small = (str(Path(path).relative_to(ROOT)) for path in (CLUSTER, SMALL))
    for told in (cluster, small, "11 nodes, 8 pods run, 22 pods wait", "1.12", "provider ClusterAutoscalerProvider", "1970-01-01"):
        assert told in page
    assert f"kubeclassic capacity {cluster} --pod {small} --release 1.12" in page
    assert str(ROOT) not in page
