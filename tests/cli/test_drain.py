"""``kubeclassic drain``: paths and nodes, forms, exit statuses."""

from pathlib import Path

import pytest

from kubeclassic.extenders import choice
from tests.apiserver import NEW_SERVER, Store, User, serving_store
from tests.support.kubeconfigs import kubeconfig
from tests.support.program import ran

CLUSTER = "examples/drain/cluster.yaml"
ALL = ("--ignore-daemonsets", "--delete-emptydir-data", "--force")


pytestmark = pytest.mark.usefixtures("at_the_root")  # paths of examples begin there


def document(*arguments):
    """The JSON of the command, which must be as its schema says."""
    return ran("drain", *arguments, "-o", "json").document


def test_preemption_and_pods_that_are_gone_are_told(tmp_path):
    """The table says who is preempted by whom, and who does not come back."""
    (tmp_path / "c.yaml").write_text(
        "".join(NODE.format(name) for name in "abc")
        + POD.format("high", "a", 3, 10, OWNED)
        + POD.format("low", "b", 2, 0, OWNED)
        + POD.format("w", "c", 2, 10, OWNED)
        + POD.format("bare", "a", 1, 0, "")
    )
    out, err = ran("drain", str(tmp_path / "c.yaml"), "a", "--force")
    assert "preempted by default/" in out
    assert "gone for good" in out
    assert "1 pod gone for good" in err


NODE = "kind: Node\nmetadata: {{name: {}}}\nstatus: {{allocatable: {{cpu: 4, pods: 9}}}}\n---\n"
OWNED = "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: s, controller: true}]"
POD = (
    "kind: Pod\nmetadata:\n  name: {0}\n  {4}\nspec: {{nodeName: {1}, priority: {3}, containers: [{{name: c, image: i,"
    " resources: {{requests: {{cpu: {2}}}}}}}]}}\n---\n"
)


def test_a_path_that_is_there_is_a_path(workdir):
    """A node called like a file is named with --node."""
    Path("a").write_text(NODE.format("a") + NODE.format("b"))
    assert document("a", "b")["can"] == ["b"]
    assert document("a", "--node", "a", "b")["can"] == ["b", "a"]


def test_standard_input(monkeypatch):
    """A dash is standard input, not a node."""
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(NODE.format("a").encode())))
    assert document("-", "a")["can"] == ["a"]


def test_a_live_cluster(tmp_path):
    """With --kubeconfig names alone are enough."""
    store = Store(NEW_SERVER)
    for name in "ab":
        User(store).create("nodes", {"metadata": {"name": name}})
    with serving_store(store) as address:
        file = kubeconfig(tmp_path, {"server": address})
        assert document("--kubeconfig", str(file), "b")["can"] == ["b"]


def test_a_node_twice():
    """A node that is named twice is emptied once."""
    assert document(CLUSTER, "worker-4", "worker-4", *ALL)["can"] == ["worker-4"]


def test_older_flag():
    """kubectl's older name for the flag is understood."""
    found = document(CLUSTER, "worker-2", "--ignore-daemonsets", "--delete-local-data")
    assert found["can"] == ["worker-2"]


@pytest.mark.parametrize(
    "more", [["--release", "1.27"], ["--provider", "ClusterAutoscalerProvider"], ["--order", "priority"]]
)
def test_any_scheduler(more):
    """The options of the scheduler are taken."""
    assert document(CLUSTER, "worker-1", *ALL, *more)["can"] == ["worker-1"]


def test_all_schedulers_share_them(monkeypatch):
    """Extenders are set up once, so that a record of their answers is one of all passes."""
    opened = []
    monkeypatch.setattr(
        choice.ConfiguredExtenders, "__call__", lambda asked, configs, release: opened.append(asked.how) or ()
    )
    policy = "examples/policies/kubernetes-with-extender.json"
    ran("drain", CLUSTER, "--auto", *ALL, "--policy", policy, "--extenders", "record", "answers")
    assert opened == ["record answers"]


def test_no():
    """1 says that not all named nodes can go, or that a search found none."""
    ran("drain", CLUSTER, "worker-1", "worker-4", status=1)
    ran("drain", CLUSTER, "--auto", status=1)
    ran("drain", CLUSTER, "--auto", "--keep", "4", *ALL, status=1)


def test_some_of_a_search():
    """A search that found any has found an answer."""
    ran("drain", CLUSTER, "--auto", "--ignore-daemonsets", status=0)
