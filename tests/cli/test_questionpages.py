"""One page a question: the verdict, and lists that have just what ``-o json`` has."""

import re
from html import unescape
from pathlib import Path

import pytest
import yaml

from kubeclassic import capacity
from tests.conftest import CLUSTER, ROOT
from tests.support.build import manifest, node, pod
from tests.support.pages import data_of_page, table_of_page, with_page
from tests.support.program import ran

DRAINED = str(ROOT / "examples/drain/cluster.yaml")
SMALL = str(ROOT / "examples/capacity/small-pod.yaml")
WEB = str(ROOT / "examples/capacity/web.yaml")
BIG = str(ROOT / "examples/capacity/big-node.yaml")
FLAGS = "--ignore-daemonsets --delete-emptydir-data"
COMMANDS = {
    "simulate": (1, f"simulate {CLUSTER} --nodes --release 1.27"),
    "explain": (0, f"explain {CLUSTER} shop/storefront-bj5tsk7t55-3"),
    "explain a node": (1, f"explain {CLUSTER} shop/orders-1 --node general-a1"),
    "what if": (0, f"explain {CLUSTER} analytics/yearly-report --what-if"),
    "compare": (1, f"compare {CLUSTER} --a release=1.16 --b release=1.27"),
    "upgrade": (1, f"upgrade {CLUSTER} --steps 1.16,1.19,1.22,1.29"),
    "policy check": (0, f"policy check {ROOT}/examples/policies/openshift-labels.json"),
    "fits": (0, f"capacity {CLUSTER} --pod {SMALL}"),
    "preempts": (0, f"capacity {CLUSTER} --pod {SMALL} --pending-first --preemption"),
    "several": (
        1,
        f"capacity {CLUSTER} --pod {SMALL} --pod {WEB} --ratio 5:1 --pods 500 --exclude-nodes gpu-b1",
    ),
    "limited": (0, f"capacity {CLUSTER} --pod {SMALL} --max-limit 7"),
    "enough": (0, f"capacity {CLUSTER} --pod {WEB} --pods 3"),
    "search": (0, f"drain {CLUSTER} --auto {FLAGS}"),
    "all can": (0, f"drain {DRAINED} --zone north-a {FLAGS}"),
    "not all can": (1, f"drain {DRAINED} worker-1 worker-2 --ignore-daemonsets"),
    "new nodes": (
        0,
        f"capacity {CLUSTER} --add-node {BIG} --add-node like:gpu-b1 --cost big=3 --cost gpu-b1=4",
    ),
    "never": (1, f"capacity {CLUSTER} --add-node like:general-a1"),
    "grid": (0, f"sweep {ROOT}/examples/sweep.yaml --jobs 1"),
}
"""Question -> the exit status, and the command."""
LISTS = {
    "simulate": [("pods", "pod", "pods.pod"), ("nodes", "cpu free", "nodes.resources.cpu.free")],
    "explain": [("nodes", "node", "nodes.node"), ("nodes", "total", "nodes.total")],
    "upgrade": [("moved", "pod", "moved.pod"), ("moved", "to", "moved.new")],
    "search": [("evictions", "pod", "evictions.pod"), ("evictions", "as", "evictions.replacement")],
    "all can": [("evictions", "to", "evictions.to")],
    "new nodes": [("nodes", "name", "nodes.name"), ("nodes", "cpu requested", "nodes.requested.cpu")],
    "never": [("without", "pod", "withoutNode.pods.pod")],
    "grid": [("runs", "release", "runs.release"), ("runs", "placed", "runs.placed")],
}
"""Question -> lists of its page: the name, a column, and the place in ``-o json`` that has the same."""
VERDICTS = {
    "simulate": "21 of 22 pods find a node; analytics/yearly-report does not, because of memory.",
    "explain": "shop/storefront-bj5tsk7t55-3 goes to ",
    "explain a node": "shop/orders-1 does not fit on general-a1: ",
    "what if": "analytics/yearly-report finds no node; ",
    "compare": "No decision is different under 1.27; 4 are equally good for 1.16",
    "upgrade": "7 of 22 pods go elsewhere in 1.29 than in 1.16; ",
    "policy check": "1.16 starts with ",
    "fits": "123 more copies of small-pod fit; then cpu has run out on 5 nodes.",
    "several": "Only 35 of the 500 copies of small-pod and web fit; then 5 nodes turn it down: node(s) didn't match pod ",
    "limited": "7 more copies of small-pod fit, as many as were to be counted.",
    "enough": "All 3 copies of web fit.",
    "search": "9 of 10 nodes can go together: 1 pod moves in 1 round.",
    "all can": "Both nodes can go together: 6 pods move in 3 rounds.",
    "not all can": "Only 1 of 2 nodes can go: ",
    "new nodes": "Add 1 big, cost 3: each of 22 pods finds a node.",
    "never": "No new node is needed for 21 of 22 pods: each of them finds a node; 1 finds none with up to 22.",
    "grid": "“pack, 1.16” is best in placed (20.33) and cpu used (0.366); “spread, 1.14” in imbalance (0.0951); ",
}
"""Question -> the beginning of the verdict."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page(name, tmp_path):
    """The main heading is the verdict, the lists are those of the record, and the map has each node."""
    status, words = COMMANDS[name]
    html, record = with_page(tmp_path, *words.split(), status=status)
    (heading,) = re.findall(r"<h1[^>]*>(.*?)</h1>", html)
    assert unescape(_text(heading)).startswith(VERDICTS.get(name, ""))
    for table, title, path in LISTS.get(name, ()):
        assert [row[title] for row in table_of_page(html, table)] == _values(record, path.split("."))
    data = data_of_page(html)
    if "nodes-data" in data and "map-data" in data:
        assert {row["node"] for row in table_of_page(html, "nodes")} <= {*data["map-data"]["nodes"]}


def _values(found, path):
    """All values at *path*, of each entry of lists on the way."""
    for at, step in enumerate(path):
        if isinstance(found, list):
            return [value for one in found for value in _values(one, path[at:])]
        found = found.get(step)
    return [found]


# --- words --------------------------------------------------------------------------------------------------

TAINTS = [{"key": "old", "effect": "NoSchedule"}]


def _text(markup):
    return re.sub(r"<[^>]*>", "", markup)


def test_verdicts_about_copies():
    """A copy that no node takes, one that the API server refuses, a reason of most nodes and a resource that
    runs out are each words."""
    web = pod(
        "web", containers=yaml.safe_load("[{ports: [{hostPort: 80}], resources: {requests: {cpu: '1'}}}]")
    )
    old = [node(name, taints=TAINTS) for name in "abc"]
    new = node("d")
    quota = manifest("ResourceQuota", "few", namespace="default", spec={"hard": {"pods": "1"}})
    taints = "turn it down: node(s) had taints that the pod didn't tolerate."
    assert str(capacity(old, web, "1.14").view().verdict) == f"No copy of web fits; 3 nodes {taints}"
    assert (
        str(capacity([*old, new], web, "1.14").view().verdict)
        == f"1 more copy of web fits; then 3 nodes {taints}"
    )
    assert (
        str(capacity([new, quota], web, "1.14").view().verdict)
        == "1 more copy of web fits; then the API server refuses the next one."
    )
    found = capacity(node("small", cpu="1500m"), pod("web", cpu="1"), "1.14")
    assert str(found.view().verdict) == "1 more copy of web fits; then cpu has run out on 1 node."
    assert str(capacity(new, web, "1.14", pods=1).view().verdict) == "A copy of web fits."


def test_html_is_the_page(tmp_path, monkeypatch):
    """``-o html`` writes the page that --report writes beside other output, and --report never writes over an
    input."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setattr("sys.argv", ["kubeclassic"])
    for words in (
        f"capacity {CLUSTER} --pod {SMALL}",
        f"drain {DRAINED} worker-2 {FLAGS}",
        f"explain {CLUSTER} shop/orders-1",
    ):
        ran(*words.split(), "--report", str(tmp_path / "page.html"))
        assert ran(*words.split(), "-o", "html").out == (tmp_path / "page.html").read_text()
    assert "which is an input too" in ran("drain", DRAINED, "worker-2", "--report", DRAINED, status=2).err


def test_it_says_what_it_is_about(monkeypatch, at_the_root):
    """Inputs, counts, release, warnings and the command are on the page, no folder of its author;
    SOURCE_DATE_EPOCH dates it."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    line = f"capacity {CLUSTER} --pod {SMALL} --release 1.12 --provider ClusterAutoscalerProvider -o html"
    words = line.split()
    monkeypatch.setattr("sys.argv", ["kubeclassic", *words])
    page = _text(ran(*words).out)
    cluster, small = (str(Path(path).relative_to(ROOT)) for path in (CLUSTER, SMALL))
    for told in (
        cluster,
        small,
        "11 nodes, 8 pods run, 22 pods wait",
        "1.12",
        "--provider ClusterAutoscalerProvider",
        "1970-01-01",
    ):
        assert told in page
    assert f"kubeclassic capacity {cluster} --pod {small} --release 1.12" in page
    assert str(ROOT) not in page
