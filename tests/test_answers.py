"""Python answers what the command answers: the same document in each form, and ``ok`` where the command ends
with status 0."""

import json
import shlex

import pytest
import yaml

import kubeclassic
from kubeclassic import Classic, Framework
from tests.support.golden import COMMANDS, kept, printed
from tests.support.manifests import dumped, manifest
from tests.support.program import inside

CLUSTER = "examples/cluster"
DRAIN = "examples/drain/cluster.yaml"
SMALL, WEB, BIG, QUOTA = (
    f"examples/capacity/{name}.yaml" for name in ("small-pod", "web", "big-node", "quota")
)
TWO = "examples/profiles/two-profiles.yaml"
PACKING = "examples/policies/bin-packing.json"
OLD = Classic(release="1.12", gates="PodPriority=false")
GANG = "examples/gang/cluster.yaml --profile examples/gang/profile.yaml --rules examples/gang/gang.py:Gang"
LOW = manifest(
    "Pod",
    "low",
    metadata=yaml.safe_load("{ownerReferences: [{kind: ReplicaSet, name: low, uid: u, controller: true}]}"),
    spec=yaml.safe_load("{containers: [{name: c, resources: {requests: {cpu: '2'}}}]}"),
)
EVICTING = [
    manifest("Node", "a", status={"allocatable": {"cpu": "3", "pods": "10"}}),
    {**LOW, "spec": {**LOW["spec"], "nodeName": "a"}},
    {**LOW, "metadata": {"name": "high"}, "spec": {**LOW["spec"], "priority": 5}},
]
"""A pod of a ReplicaSet, which has to leave for another one."""

OF_GOLDEN = {
    "explain-placed": lambda: kubeclassic.explain(CLUSTER, "shop/orders-1", "1.16"),
    "explain-unschedulable": lambda: kubeclassic.explain(CLUSTER, "analytics/yearly-report", "1.16"),
    "conform": lambda: kubeclassic.conform("tests/conformance/1.16/preemption.cases.jsonl.gz"),
    "capacity": lambda: kubeclassic.capacity(CLUSTER, [SMALL, WEB], "1.16", ratio=(5, 1)),
    "capacity-quota": lambda: kubeclassic.capacity([CLUSTER, QUOTA], SMALL, "1.16"),
    "add-node": lambda: kubeclassic.add_nodes(CLUSTER, "like:general-a1", "1.16", pod=SMALL, pods=200),
    "add-node-mix": lambda: kubeclassic.add_nodes(
        CLUSTER, ["like:gpu-b1", BIG], "1.16", costs={"gpu-b1": 5, "big": 2}
    ),
    "drain": lambda: kubeclassic.drain(DRAIN, ["worker-2", "worker-3"], "1.16", ignore_daemonsets=True),
    "drain-cluster": lambda: kubeclassic.drain(
        CLUSTER, "general-a1", "1.16", ignore_daemonsets=True, delete_emptydir_data=True
    ),
    "drain-auto": lambda: kubeclassic.drain(
        DRAIN, scheduler="1.16", auto=True, ignore_daemonsets=True, delete_emptydir_data=True, force=True
    ),
    "compare": lambda: kubeclassic.compare(CLUSTER, "1.12", "1.16"),
    "compare-free": lambda: kubeclassic.compare(
        CLUSTER, "1.16", Framework(release="1.36", percentage_of_nodes_to_score=100), mode="free"
    ),
}
"""Golden file -> the same from Python."""
EDIT = "pod shop/* requests.cpu=3"
OTHERS = {
    f"simulate {CLUSTER} --release 1.14 --hard-pod-affinity-symmetric-weight 9 --set '{EDIT}' --order priority": lambda: (
        kubeclassic.simulate(
            CLUSTER, Classic(release="1.14", hard_pod_affinity_weight=9), edits=EDIT, order="priority"
        )
    ),
    f"simulate {CLUSTER} --release 1.27 --set '{EDIT}' --order priority": lambda: kubeclassic.simulate(
        CLUSTER, Framework(release="1.27"), edits=EDIT, order="priority"
    ),
    f"capacity {CLUSTER} --add-node {BIG}": lambda: kubeclassic.add_nodes(CLUSTER, BIG),
    f"drain {CLUSTER} --auto --ignore-daemonsets --force --keep 1": lambda: kubeclassic.drain(
        CLUSTER, auto=True, ignore_daemonsets=True, force=True, keep=1
    ),
    f"explain {CLUSTER} shop/orders-1 --alone": lambda: kubeclassic.explain(
        CLUSTER, "shop/orders-1", alone=True
    ),
    f"compare {CLUSTER} --a 1.12 --b 'release=1.16 policy={PACKING}' --mode free": lambda: (
        kubeclassic.compare(CLUSTER, "1.12", Classic(release="1.16", policy=PACKING), mode="free")
    ),
    f"capacity {CLUSTER} --pod {WEB} --pods 2000": lambda: kubeclassic.capacity(CLUSTER, WEB, pods=2000),
    f"capacity {CLUSTER} --pod {WEB} --max-limit 3 --pending-first --order queue --exclude-nodes general-a1 --release auto": lambda: (
        kubeclassic.capacity(
            CLUSTER, WEB, "auto", max_limit=3, pending_first=True, order="queue", exclude_nodes="general-a1"
        )
    ),
    f"capacity {CLUSTER} --pod {WEB} --release 1.12 --feature-gates PodPriority=false": lambda: (
        kubeclassic.capacity(CLUSTER, WEB, OLD)
    ),
    f"capacity {CLUSTER} --pod {SMALL} --pods 300 --add-node like:general-a1 --most-nodes 2 --release 1.31": lambda: (
        kubeclassic.add_nodes(CLUSTER, "like:general-a1", "1.31", pod=SMALL, pods=300, most_nodes=2)
    ),
    f"capacity {CLUSTER} --add-node like:gpu-b1 --release 1.12 --feature-gates PodPriority=false": lambda: (
        kubeclassic.add_nodes(CLUSTER, "like:gpu-b1", OLD)
    ),
    f"drain {CLUSTER} general-a1 --release auto": lambda: kubeclassic.drain(CLUSTER, "general-a1", "auto"),
    f"compare {CLUSTER} --a 1.16 --b release=1.16": lambda: kubeclassic.compare(
        CLUSTER, "1.16", Classic(release="1.16")
    ),
    f"compare {CLUSTER} --a auto --b 'profile={TWO}' --c 'release=1.31 tie-break=random' --newer-labels --order queue": lambda: (
        kubeclassic.compare(
            CLUSTER,
            "auto",
            Framework(profile=TWO),
            Framework(release="1.31", tie_break="random"),
            newer_labels=True,
            order="queue",
        )
    ),
    f"upgrade {CLUSTER} --from 1.27 --to 1.29 --mode free": lambda: kubeclassic.upgrade(
        CLUSTER, "1.27", "1.29", mode="free"
    ),
    f"upgrade {CLUSTER} --steps 1.16,1.22": lambda: kubeclassic.upgrade(
        CLUSTER, "1.16", "1.22", steps=("1.16", "1.22")
    ),
    f"compare {CLUSTER} --a 'profile={TWO}' --b v1.31.2": lambda: kubeclassic.compare(
        CLUSTER, Framework(profile=TWO), "v1.31.2"
    ),
}
"""Command -> the same from Python."""


def check(whole, ask, at_the_root):
    """Hold what Python answers against *whole*: the exit status and what the command printed, field by field
    in one order."""
    status, _, text = whole.partition("\n")
    found = ask()
    told = json.loads(text)
    assert list(found.record().items()) == list(told.items())[2:]
    assert list(told)[:2] == ["apiVersion", "kind"]
    assert found.ok == (status == "0")


@pytest.mark.parametrize("name", OF_GOLDEN)
def test_python_answers_what_is_kept(name, monkeypatch):
    """A result is the document in the golden file of the command, and ok says its exit status."""
    assert name in COMMANDS
    check(kept(name), OF_GOLDEN[name], monkeypatch)


@pytest.mark.parametrize("command", OTHERS)
def test_python_answers_what_the_command_prints(command, monkeypatch):
    """With other options, too, a result is the document that the command prints, and ok says its exit
    status."""
    check(printed(f"{command} -o json"), OTHERS[command], monkeypatch)


@pytest.mark.parametrize("again", [False, True])
def test_evictions(again, tmp_path, monkeypatch):
    """Evicted pods are gone in both, or made again in both."""
    file = tmp_path / "cluster.json"
    file.write_text(dumped(EVICTING))
    found = kubeclassic.simulate(file, reschedule_evicted=again)
    assert found.summary.replaced == again
    check(
        printed(f"simulate {file} -o json{' --reschedule-evicted' if again else ''}"),
        lambda: found,
        monkeypatch,
    )


def test_pods_that_wait_on_permit():
    """A pod that Permit plugins make wait is not placed: the answer is no, although it has a node."""
    status, _, text = printed(f"simulate {GANG} --set 'node * allocatable.cpu=1' -o json").partition("\n")
    assert status == "1"
    assert json.loads(text)["summary"]["waiting"]


@pytest.mark.parametrize(
    "name",
    [
        "simulate-nodes",
        "explain-node",
        "what-if",
        "capacity",
        "add-node-mix",
        "drain",
        "compare",
        "upgrade",
        "releases",
    ],
)
def test_one_document_in_each_form(name, tmp_path):
    """YAML holds what JSON holds, and --output puts into a file what would be on standard output."""
    words = shlex.split(COMMANDS[name])
    (status, _, text) = kept(name).partition("\n")
    assert yaml.safe_load(inside(*words, "-o", "yaml").stdout) == json.loads(text)
    if words[0] != "releases":
        done = inside(*words, "--output", str(tmp_path / "found"))
        assert (done.returncode, done.stdout) == (int(status), "")
        assert (tmp_path / "found").read_text() == text


@pytest.mark.parametrize("limits", [{"pods": 5, "max_limit": 3}, {"max_limit": -1}, {"pods": 0}])
def test_limits_that_the_command_refuses_are_refused(limits, at_the_root):
    """Python takes no limits that the command line does not take."""
    with pytest.raises(kubeclassic.KubeclassicError, match="expected"):
        kubeclassic.capacity(CLUSTER, SMALL, **limits)
