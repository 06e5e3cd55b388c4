"""Nodes that are gone at once: who finds another node, who waits and why, who ends with the node, and what to
add."""

import pytest
import yaml

from kubeclassic import Cluster, add_nodes, drain
from kubeclassic.exceptions import KubeclassicError
from tests.conftest import ROOT
from tests.support.build import node
from tests.support.drainbuild import ZONE, budget, owned, with_devices
from tests.support.program import ran

STATIC = yaml.safe_load("""
annotations: {kubernetes.io/config.mirror: x}
ownerReferences:
- {kind: Node, name: a, controller: true}
""")
ALWAYS = {"tolerations": [{"operator": "Exists"}]}


def lost(*objects, nodes="a", **options):
    """The outcome for the pods if *nodes* are lost."""
    return drain(Cluster(objects, defaults=False), nodes, options.pop("release", None), gone=True, **options)


def fates(found):
    """Pod that leaves -> its new node."""
    return {one.pod: one.to for one in found.answer.evictions}


def test_each_kind_of_pod():
    """Owners' pods move, though a budget allows no disruption; static pods and those of DaemonSets end with
    the node."""
    pods = [
        owned("web-1", on="a"),
        owned("db-0", "db", on="a"),
        owned("bare", "bare", on="a"),
        owned("agent-a", "agent", on="a", **ALWAYS),
        owned("etcd-a", "bare", on="a", metadata=STATIC),
    ]
    found = lost(node("a"), node("b"), *pods, budget("web", "web", 0))
    assert fates(found) == {"default/web-1": "b", "default/db-0": "b", "default/bare": None}
    ending = {one.pod: one.why for one in found.answer.staying}
    assert ending == {"default/agent-a": "DaemonSet-managed", "default/etcd-a": "a static pod of its kubelet"}
    assert (found.ok, found.answer.budgets[0].lowest) == (True, -1)


def test_a_pod_of_another_scheduler():
    """Its owner makes it again, and nobody knows whether it finds a node: that is no good end."""
    found = lost(node("a"), node("b"), owned("web-0", on="a", schedulerName="other"))
    assert (found.ok, fates(found)) == (False, {"default/web-0": None})
    verdict = "1 node gone: 1 pod loses its node, 1 pod asks for another scheduler."
    assert str(found.view().verdict) == verdict
    assert found.answer.evictions[0].is_elsewhere


def test_who_waits():
    """Two pods of three find room; the third waits, and the answer says why, and how to ask what to add."""
    found = lost(node("a"), node("b", cpu="2"), *(owned(f"web-{number}", on="a") for number in range(3)))
    answer = found.answer
    assert (found.ok, answer.summary.moved, answer.summary.without_node) == (False, 2, 1)
    assert " finds no other node: 0/1 nodes are available: 1 Insufficient cpu." in (
        answer.evictions[2].why or ""
    )
    assert found.reasons == {"Insufficient cpu": 1}
    assert answer.add_nodes == ("--exclude-nodes", "a", "--gone", "--add-node", "like:a")


def test_who_is_preempted():
    """A pod of higher priority takes the room of one that runs, which is made anew and waits."""
    found = lost(
        node("a"), node("b", cpu="1"), owned("web-1", on="a", priority=9), owned("job-1", "job", on="b")
    )
    assert fates(found) == {"default/web-1": "b", "default/job-1": None}
    assert [one.by for one in found.answer.evictions] == [None, "default/web-0"]


def test_claims_from_templates_are_made_anew():
    """The claim goes with its pod; the new pod has one of its own, and gets the device of the other node."""
    found = lost(node("a"), node("b"), *with_devices(), release="1.34")
    assert fates(found) == {"default/infer": "b"}


def test_a_zone():
    """All nodes of a zone; new ones are like those of other zones."""
    nodes = [node(name, cpu="2", labels={ZONE: zone}) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"))]
    pods = [owned(f"web-{name}", on=name, cpu="1500m") for name in "ab"]
    found = lost(*nodes, *pods, nodes=(), zone="x")
    assert fates(found) == {"default/web-a": "c", "default/web-b": None}
    assert found.answer.add_nodes[1:] == (f"{ZONE}=x", "--gone", "--add-node", "like:c")
    added = add_nodes(
        Cluster((*nodes, *pods), defaults=False), "like:c", exclude_nodes=f"{ZONE}=x", gone=True
    )
    assert (added.added, added.ok) == ({"c": 1}, True)


@pytest.mark.parametrize("options", [{"auto": True, "nodes": ()}, {"pod_selector": "app=web"}])
def test_what_does_not_go_with_it(options):
    """Nothing is looked for, and no pod may stay."""
    with pytest.raises(KubeclassicError, match="gone cannot be combined with "):
        lost(node("a"), node("b"), **options)


def test_the_command_that_is_proposed_runs(tmp_path):
    """Standard error has a command that tells which nodes to add, and so has the page."""
    page = tmp_path / "page.html"
    cluster = str(ROOT / "examples" / "drain" / "cluster.yaml")
    told = ran(
        "drain", cluster, "--gone", "worker-1", "worker-2", "worker-4", "--report", str(page), status=1
    )
    command = next(
        line for line in told.err.splitlines() if line.startswith("which nodes to add: ")
    ).partition("kubeclassic ")[2]
    assert "Add 1 worker-" in ran(*command.split()).out
    assert "3 nodes gone: " in page.read_text()
