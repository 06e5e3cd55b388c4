"""``--release 1.27`` and ``--profile`` on the commands that schedule: profiles, gates, statuses, and a user's
own plugins."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from kubeclassic.framework.releases import DEFAULT_FRAMEWORK, NEWEST_RELEASE
from tests.support.program import ran

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACKING = "pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu}]}}}]"
ONLY_FIT = "plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit}]}}"
NODE = (
    "kind: Node\nmetadata: {name: &name %s, labels: {kubernetes.io/hostname: *name}}\nspec: {taints: [%s]}\n"
    "status: {allocatable: {cpu: %s, memory: 8Gi, pods: 200}}\n---\n"
)
POD = "kind: Pod\nmetadata: {name: %s}\nspec: {%s, containers: [{name: c, resources: {requests: {cpu: %s, memory: 1Gi}}}]}\n---\n"
PLUGINS = '''
from kubeclassic.plugins import Plugin, each_node, unschedulable


class NotOnA(Plugin):
    """Turn down node a."""

    name = "NotOnA"

    @each_node
    def filter(self, pod, node, cycle):
        return unschedulable("node(s) were called a") if node.name == "a" else None


class LikesB(Plugin):
    """Prefer node b."""

    name = "LikesB"

    @each_node
    def score(self, pod, node, cycle):
        return 100 if node.name == "b" else 0

BOTH = [NotOnA, LikesB]
'''


def pod(name, cpu="1", **spec):
    """A manifest of a pod."""
    return POD % (
        name,
        ", ".join(f"{key}: {json.dumps(value)}" for key, value in ({"priority": 0} | spec).items()),
        cpu,
    )


@pytest.fixture
def folder(workdir, monkeypatch):
    """A working folder with a cluster: a roomy node a, a smaller one b, a tainted one c, and a pod that
    waits."""
    nodes = (
        NODE % ("a", "", 8) + NODE % ("b", "", 4) + NODE % ("c", "{key: k, value: v, effect: NoSchedule}", 4)
    )
    (workdir / "cluster.yaml").write_text(nodes + pod("web"))
    (workdir / "packing.yaml").write_text(f"{HEADER}profiles: [{{{ONLY_FIT}, {PACKING}}}]\n")
    two = f"- {{schedulerName: default-scheduler, {ONLY_FIT}}}\n- {{schedulerName: packer, {ONLY_FIT}, {PACKING}}}\n"
    (workdir / "two.yaml").write_text(f"{HEADER}profiles:\n{two}")
    (workdir / "my_plugins.py").write_text(PLUGINS)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_plugins", raising=False)
    return workdir


def cycles(*arguments):
    """Pod -> what ``simulate -o jsonl`` with *arguments* says of its last cycle."""
    said = ran("simulate", "cluster.yaml", *arguments, "-o", "jsonl", status=(0, 1)).out
    return {cycle["pod"].partition("/")[2]: cycle for cycle in map(json.loads, said.splitlines())}


def hosts(*arguments):
    """Pod -> its host."""
    return {name: cycle["host"] for name, cycle in cycles(*arguments).items()}


def explained(name, *arguments):
    """The answer of ``explain -o json``."""
    return ran("explain", "cluster.yaml", name, *arguments, "-o", "json", status=(0, 1)).document


NEW = ["--release", DEFAULT_FRAMEWORK]


@pytest.mark.parametrize("release", [DEFAULT_FRAMEWORK, f"v{DEFAULT_FRAMEWORK}.14"])
def test_without_one(folder, release):
    """The release alone runs the default profile, which prefers the emptier node."""
    assert hosts("--release", release) == {"web": "a"}


@pytest.mark.parametrize("options", [["--profile"], [*NEW, "--profile"], [*NEW, "--config"]])
def test_one(folder, options):
    """A profile decides, be the release named or not, by kube-scheduler's own flag too."""
    assert hosts(*options, "packing.yaml") == {"web": "b"}


def test_one_from_a_pipe(folder):
    """A pipe, as of ``<(...)``, is read once, though the release depends on what is in it."""
    os.mkfifo(folder / "pipe")
    written = (folder / "packing.yaml").read_text().replace("/v1\n", "/v1beta1\n")
    with ThreadPoolExecutor(1) as writer:
        writer.submit((folder / "pipe").write_text, written)
        done = ran("simulate", "cluster.yaml", "--profile", "pipe")
    assert done.err.startswith("release 1.22")


def test_several(folder):
    """Each pod is decided by the profile that it names; one of another scheduler is left alone, which the
    summary says."""
    more = (
        pod("spread", schedulerName="default-scheduler")
        + pod("packed", schedulerName="packer")
        + pod("alien", schedulerName="x")
    )
    (folder / "more.yaml").write_text(more)
    for order in ("input", "priority", "queue"):
        found = hosts("--profile", "two.yaml", "--pods", "more.yaml", "--order", order)
        assert found.keys() == {"web", "spread", "packed"}
        assert all(found.values())
    said = ran("simulate", "cluster.yaml", "--pods", "more.yaml", "--profile", "two.yaml", status=(0, 1)).err
    assert "ignored: 1 for another scheduler\n" in said


def test_what_runs(folder):
    """--verbose tells each profile's plugins by extension point, with the weights of scores."""
    told = ran("simulate", "cluster.yaml", "--profile", "two.yaml", "--verbose", status=(0, 1)).err
    assert f"release {NEWEST_RELEASE}, 3 nodes, 1 pod waits\n" in told
    assert told.count("  score: NodeResourcesFit x 1\n") == 2
    assert "profile packer\n" in told
    assert "  bind: DefaultBinder\n" in told


def test_plugins_and_codes(folder):
    """Each node has the plugin that turned it down, the code, the reasons and what is short; or its
    scores by plugin."""
    (folder / "more.yaml").write_text(pod("big", "5"))
    found = {node["node"]: node for node in explained("big", *NEW, "--pods", "more.yaml")["nodes"]}
    assert found["b"] | {"scores": {}} == yaml.safe_load("""
        node: b
        fits: false
        visited: true
        plugins: [NodeResourcesFit]
        code: Unschedulable
        reasons: [Insufficient cpu]
        objections:
        - rule: NodeResourcesFit
          reasons: [Insufficient cpu]
          evictable: true
          counted: true
        shortages:
        - {resource: cpu, asked: 5000, free: 4000, missing: 1000, hasNone: false}
        causes: []
        scores: {}
        total: null
        """)
    assert (found["c"]["plugins"], found["c"]["code"]) == (
        ["TaintToleration"],
        "UnschedulableAndUnresolvable",
    )
    assert (found["a"]["fits"], found["a"]["plugins"], found["a"]["code"]) == (True, [], None)
    assert found["a"]["scores"]["TaintToleration"] == {"raw": 0, "reduced": 100, "weight": 3, "total": 300}


def test_the_whole_pod_is_turned_down(folder):
    """A rejection by PreFilter is reported for every node."""
    (folder / "more.yaml").write_text(
        pod("db", volumes=yaml.safe_load("[{name: v, persistentVolumeClaim: {claimName: gone}}]"))
    )
    found = explained("db", *NEW, "--pods", "more.yaml", "--no-defaults")
    assert [(node["node"], node["plugins"], node["reasons"]) for node in found["nodes"]] == [
        (name, ["VolumeRestrictions"], ['persistentvolumeclaim "gone" not found']) for name in "abc"
    ]
