"""Questions about a workload are about all its pods: the first that finds no node is explained."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import Cluster, explain, simulate, what_if
from kubeclassic.exceptions import UnknownNameError
from tests.support import manifests
from tests.support.manifests import manifest

WORDS = {"Deployment": "deploy", "StatefulSet": "sts", "DaemonSet": "ds", "Job": "job"}
BY_HOST = yaml.safe_load("{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: w}}}")
SPECS = [
    {},
    {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [BY_HOST]}}},
    {"topologySpreadConstraints": [{"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **BY_HOST}]},
]


def node(name, cpu="2"):
    """A node that has its name as a label."""
    return manifests.node(name, cpu=cpu, labels={"kubernetes.io/hostname": name})


def workload(kind, replicas, **spec):
    """A workload called w."""
    container = {
        "name": "c",
        "image": "i",
        "resources": {"requests": {"cpu": "1"}},
        **spec.pop("container", {}),
    }
    template = {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [container], **spec}}
    selector = {"matchLabels": {"app": "w"}}
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
        how = {"parallelism": replicas, "completions": replicas}
    else:
        how = {"selector": selector} if kind == "DaemonSet" else {"selector": selector, "replicas": replicas}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return manifest(kind, "w", namespace="default", apiVersion=version, spec={**how, "template": template})


@given(
    st.sampled_from(sorted(WORDS)),
    st.integers(2, 6),
    st.lists(st.sampled_from(["0", "1", "2"]), min_size=1, max_size=3),
    st.sampled_from(SPECS),
    st.sampled_from([{}, yaml.safe_load("{ports: [{containerPort: 80, hostPort: 80}]}")]),
    st.sampled_from(["1.15", "1.19", "1.27", "1.34"]),
)
def test_a_workload_is_its_pods(kind, replicas, sizes, spec, container, release):
    """A workload is fine if simulate places each of its pods; else the explained pod is one that simulate
    does not place."""
    cluster = [
        *(node(f"n{at}", cpu) for at, cpu in enumerate(sizes)),
        workload(kind, replicas, container=container, **spec),
    ]
    hosts = simulate(cluster, release).hosts
    found = explain(cluster, f"{WORDS[kind]}/w", release)
    waits = {name for name, host in hosts.items() if host is None}
    assert found.ok == (not waits)
    assert set(found.document.workload_waiting or ()) == waits or len(hosts) == 1
    assert (found.host is None) == bool(waits)
    assert not waits or found.decision.pod.key == next(name for name, host in hosts.items() if host is None)


def told(cluster, name):
    """The text about the workload."""
    return " ".join(
        str(getattr(part, "text", ""))
        for part in explain(cluster, name, "1.34").view().sections[0].shown("table")
    )


@pytest.mark.parametrize("replicas, words", [(5, "2 of 5 pods"), (2, "stands for 2 pods")])
def test_how_many_find_a_node(replicas, words):
    """All pods have their turn, whichever is explained."""
    assert words in told([node("n0"), workload("Deployment", replicas)], "deploy/w")


def test_pods_of_a_daemonset_wait_for_nodes():
    """Each of its pods is for one node."""
    cluster = [node("n0"), node("n1", "0"), node("n2", "0"), workload("DaemonSet", 0)]
    assert "the pods for n1 and n2 wait" in told(cluster, "ds/w")
    assert explain(cluster, "ds/w", "1.34").document.waiting_nodes == ("n1", "n2")


def test_in_files_and_in_lists(tmp_path):
    """Pods of workloads come by kind, however the input is split."""
    items = [node("n0"), workload("Deployment", 1), workload("StatefulSet", 1), workload("Deployment", 1)]
    for number, item in enumerate(items):
        item["metadata"]["name"] += str(number)
    paths = [tmp_path / name for name in ("all.json", "first.json", "rest.json")]
    for path, part in zip(paths, (items, items[:3], items[3:]), strict=True):
        path.write_text(manifests.dumped(part))
    for cluster in (paths[0], items, paths[1:]):
        names = [placed.pod.split("-")[0] for placed in simulate(cluster).document.pods]
        assert names == ["default/w1", "default/w3", "default/w2"]


def test_one_of_a_dump_waits():
    """Pods on nodes are among those that find one."""
    owner = yaml.safe_load("[{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]")
    pods = [
        manifests.pod(f"p{at}", cpu="2", on="n0" * (at == 0), metadata={"ownerReferences": owner})
        for at in range(2)
    ]
    assert "1 of 2 pods of ReplicaSet default/web find a node; p1 waits." in told(
        [node("n0"), *pods], "rs/web"
    )


def test_a_name_without_its_kind():
    """The kind of a workload that was left out is hinted at, however short the name is."""
    with pytest.raises(UnknownNameError, match=r'got "w"; did you mean "deploy/w"\?$'):
        explain([node("n0"), workload("Deployment", 1)], "w", "1.34")


def test_alone_leaves_out_others():
    """The workload's own pods have their turn one after another."""
    other = manifests.pod("other", cpu="1")
    cluster = [node("n0"), other, workload("Deployment", 2)]
    assert not explain(cluster, "deploy/w", "1.34").ok
    assert explain(cluster, "deploy/w", "1.34", alone=True).ok
    assert not what_if(cluster, "deploy/w", "1.34").fits


@pytest.mark.parametrize("in_cluster", [False, True])
def test_a_finished_pod_is_made_again(in_cluster):
    """A StatefulSet replaces a pod that has finished by one of its name; that it stops at a pod that is not
    ready is told."""
    owner = manifests.owned_by("StatefulSet", "w", "", apiVersion="apps/v1")
    pods = [
        manifests.pod(name, on="n0", metadata=owner, labels={"app": "w"}, status=status)
        for name, status in (
            ("w-0", {"phase": "Failed"}),
            ("w-1", {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}),
        )
    ]
    made = workload("StatefulSet", 3)
    cluster = Cluster([node("n0"), *pods]) if in_cluster else [node("n0"), *pods, made]
    result = simulate(cluster, "1.34", pods=[made] if in_cluster else ())
    assert result.hosts == {"default/w-0": "n0"}
    told = [notice.what for group in result.warnings for notice in group.notices]
    assert "it makes no pods after w-1 until that is ready" in told
