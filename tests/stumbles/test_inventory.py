"""What users stumbled over in the input of a cluster: owners that a dump lacks, releases, floods of warnings.
One test a point."""

import json
from pathlib import Path

import pytest
import yaml

from kubeclassic import Classic, Cluster, Framework, Scheduler, simulate
from kubeclassic.api.controlplane.workloads import WORKLOADS
from kubeclassic.api.objects import KINDS
from tests.support import manifests
from tests.support.keywords import keywords_of
from tests.support.manifests import manifest, owned_by, pod
from tests.support.program import inside, ran

SHORT_NAMES = {
    "no": "Node",
    "po": "Pod",
    "pv": "PersistentVolume",
    "pvc": "PersistentVolumeClaim",
    "sc": "StorageClass",
    "svc": "Service",
    "rc": "ReplicationController",
    "rs": "ReplicaSet",
    "sts": "StatefulSet",
    "deploy": "Deployment",
    "ds": "DaemonSet",
    "jobs": "Job",
    "cj": "CronJob",
    "pdb": "PodDisruptionBudget",
    "pc": "PriorityClass",
    "limits": "LimitRange",
    "quota": "ResourceQuota",
    "ns": "Namespace",
    "runtimeclasses": "RuntimeClass",
    "csinodes": "CSINode",
    "csidrivers": "CSIDriver",
    "csistoragecapacities": "CSIStorageCapacity",
}
"""Kind -> kubectl's name for it."""
NEWER_NAMES = {
    "volumeattachments": "VolumeAttachment",
    "deviceclasses": "DeviceClass",
    "resourceclaims": "ResourceClaim",
    "resourceclaimtemplates": "ResourceClaimTemplate",
    "resourceslices": "ResourceSlice",
}
"""Kinds that only newer clusters know, or that only newer releases read."""
LIVE = {"uid": "u", "creationTimestamp": "2023-06-01T08:00:00Z"}
"""The metadata that an API server gives to an object."""


def node(name, version=""):
    """A node with room, of which the kubelet says a version."""
    return manifests.node(name, nodeInfo={"kubeletVersion": version})


def workload(kind, name, replicas=3, **spec):
    """A workload whose pods have the label app."""
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "c"}], **spec.pop("pod", {})},
    }
    return manifest(
        kind,
        name,
        spec={"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template, **spec},
    )


class Told:
    """The output of a command."""

    def __init__(self, folder):
        self.folder = folder
        self.status = 0
        self.out = ""
        self.err = ""

    def of(self, *documents, command="simulate", more=(), options=()):
        """Run a command on *documents*, with *more* as ``--pods``."""
        (self.folder / "cluster.json").write_text(json.dumps(documents))
        (self.folder / "more.json").write_text(json.dumps(more))
        added = ("--pods", str(self.folder / "more.json")) if more else ()
        done = inside(command, str(self.folder / "cluster.json"), *added, *options, cwd=Path())
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        return self

    @property
    def placed(self):
        """The pods in the table."""
        return [line.split()[0] for line in self.out.splitlines()[1:]]

    def warnings(self, about=""):
        """The warnings that have *about* in them."""
        lines = [
            line.removeprefix("warning: ") for line in self.err.splitlines() if line.startswith("warning: ")
        ]
        return [line for line in lines if about in line]


@pytest.fixture
def told(tmp_path):
    """Runs commands."""
    return Told(tmp_path)


HASHED = {"app": "web", "pod-template-hash": "abc"}


# --- Workloads ----------------------------------------------------------------------------------------------

# Point 5.


def test_pods_of_a_deployment_count_without_their_replica_set(told):
    """Pods that a Deployment's selector matches and whose ReplicaSet is not in the input count as its
    own, with one note."""
    metadata = LIVE | owned_by("ReplicaSet", "web-abc")
    there = [
        pod(f"web-abc-{i}", on="a", labels=HASHED, metadata=metadata | {"uid": f"{i}"}) for i in range(2)
    ]
    told.of(node("a"), workload("Deployment", "web", 3), workload("Deployment", "api", 1), *there)
    assert sorted(name.split("-")[0] for name in told.placed) == ["default/api", "default/web"]
    assert "default/web-abc-2" in told.placed
    assert told.warnings("ReplicaSet") == [
        "Deployment default/web: its ReplicaSets are not in the input; the pods that its selector matches count as its own"
        " (kubectl get replicasets)"
    ]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "DaemonSet", "Job"])
def test_workloads_given_twice_count_once(told, kind):
    """--pods with workloads that are there already does not double them: the last one counts."""
    first = workload(kind, "web", 1, parallelism=1, completions=9)
    second = workload(kind, "web", 2, parallelism=2, completions=9)
    told.of(node("a"), node("b"), first, more=(second,))
    assert len(told.placed) == 2
    assert len(told.warnings("was given before, the last one counts")) == 1


def test_pods_by_generate_name_do_not_replace_one_another(told):
    """Pods of --pods with a generateName get other names than those of the cluster."""
    generated = yaml.safe_load("{kind: Pod, metadata: {generateName: run-}, spec: {containers: [{name: c}]}}")
    assert told.of(node("a"), generated, more=(generated,)).placed == ["default/run-1", "default/run-2"]


def test_help_and_readme_name_the_line_that_dumps_all(root):
    """README and --help-all name one kubectl line, with every kind that any release reads, and every kind
    of workload."""
    assert {*KINDS, *WORKLOADS} <= {*SHORT_NAMES.values(), *NEWER_NAMES.values()}
    line = f"kubectl get {','.join(SHORT_NAMES)} -A -o json > cluster.json\n"
    for told in (ran("simulate", "--help-all", status=(0, 1)).out, (root / "README.md").read_text()):
        assert line in told
        assert f",{','.join(NEWER_NAMES)}" in told


# --- Releases -----------------------------------------------------------------------------------------------

# Point 6.


@pytest.mark.parametrize(
    "version, line",
    [
        ("v1.27.4", "release 1.27: the newest node runs v1.27.4"),
        ("v1.14.10-gke.27", "release 1.14: the newest node runs v1.14.10-gke.27"),
        ("v1.30.1", "release 1.30: the newest node runs v1.30.1"),
        ("v1.38.0", "release 1.36: the newest node runs v1.38.0, to which it is the nearest that is known"),
        ("v1.20.0", "release 1.20: the newest node runs v1.20.0"),
        ("", "release 1.36 by default: no node says a release in status.nodeInfo.kubeletVersion"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "explain", "compare", "replay"])
def test_auto_takes_that_of_the_nodes(told, command, version, line):
    """Without a release it is that of the nodes, or the nearest one, as with --release auto, and a line
    says so."""
    options = {"explain": ("p",), "compare": ("--a", "release=auto", "--b", "release=1.16")}.get(command, ())
    wanted = line if version else "release 1.12: the newest node runs v1.12.1"
    for chosen in ((), ("--release", "auto")):
        chosen = () if command == "compare" else chosen
        told.of(
            node("old", version="v1.12.1"),
            node("a", version=version),
            pod("p"),
            command=command,
            options=(*options, *chosen),
        )
        assert wanted in told.err


def test_auto_in_python():
    """A Scheduler is of the nodes' release too, unless it is told otherwise."""
    cluster = Cluster([node("a", version="v1.26.1"), pod("p")])
    for given in (None, "auto", Framework(), Framework(percentage_of_nodes_to_score=50)):
        assert Scheduler(cluster, given).algorithm.release.version == "1.26"
    assert Scheduler(cluster, Classic()).algorithm.release.version == "1.16"
    assert Scheduler(Cluster([node("a"), pod("p")]), "auto").algorithm.release.version == "1.36"


@pytest.mark.parametrize(
    "spec, name",
    [
        ("schedulingGates: [{name: g}]", "spec.schedulingGates"),
        ("resourceClaims: [{name: g}]", "spec.resourceClaims"),
        ("resources: {requests: {cpu: '1'}}", "spec.resources"),
        ("overhead: {cpu: '1'}", "spec.overhead"),
        ("preemptionPolicy: Never", "spec.preemptionPolicy"),
        ("initContainers: [{name: i, restartPolicy: Always}]", "spec.initContainers[].restartPolicy"),
        ("volumes: [{name: v, ephemeral: {}}]", "spec.volumes[].ephemeral"),
        (
            "topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]",
            "spec.topologySpreadConstraints",
        ),
        ("topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, minDomains: 2}]", "minDomains of"),
        (
            "topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, matchLabelKeys: [a]}]",
            "matchLabelKeys of",
        ),
        (
            "topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, nodeTaintsPolicy: Honor}]",
            "nodeTaintsPolicy of",
        ),
        (
            "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
            " [{topologyKey: z, namespaceSelector: {}}]}}",
            "namespaceSelector of pod affinity",
        ),
        (
            "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
            " [{topologyKey: z, labelSelector: {}, matchLabelKeys: [a]}]}}",
            "matchLabelKeys of pod affinity",
        ),
    ],
)
def test_fields_that_the_release_does_not_read(told, spec, name):
    """Each field that the chosen release does not know is one line, with a count."""
    spec = yaml.safe_load(spec)
    pods = [pod(name, labels={"a": "x"}, **spec) for name in ("p", "q")]
    told.of(node("a"), *pods, options=("--release", "1.14"))
    (line,) = told.warnings(name)
    assert line.startswith("Pod default/p and 1 more: release 1.14 ignores ")
    if name.startswith("matchLabelKeys of pod"):
        assert told.of(node("a"), *pods, options=("--release", "1.31")).warnings(name) == []


def test_gates_decide_too(told):
    """A field that needs a gate is told where the gate is off, with the gate's name."""
    constraint = {"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    spread = pod("p", topologySpreadConstraints=[constraint])
    (line,) = told.of(node("a"), spread, options=("--release", "1.16")).warnings()
    assert line.endswith("ignores spec.topologySpreadConstraints without --feature-gates EvenPodsSpread=true")
    assert (
        told.of(
            node("a"), spread, options=("--release", "1.16", "--feature-gates", "EvenPodsSpread=true")
        ).warnings()
        == []
    )
    assert told.of(node("a"), spread, options=("--release", "1.27")).warnings() == []


@pytest.mark.parametrize("command", ["simulate", "compare", "replay"])
def test_a_flood_is_one_line(told, command):
    """Warnings that say the same are one line with a count and an example; --verbose has them all.
    (explain: test_askedabout.py)"""
    given = (node("a"), pod("p"), *(pod(f"x-{i}", priorityClassName="high") for i in range(564)))
    options = {"compare": ("--a", "release=1.16", "--b", "release=1.15")}.get(command, ())
    told.of(*given, command=command, options=options)
    assert told.warnings() == [
        "Pod default/x-0 and 563 more: refused by the API server: no PriorityClass with name high was found"
    ]
    assert "(--verbose lists all 564 warnings)\n" in told.err
    told.of(*given, command=command, options=(*options, "--verbose"))
    assert len(told.warnings("refused by the API server")) == 564


# --- Priorities ---------------------------------------------------------------------------------------------

# Point 3.


CLUSTER = (
    manifest("PriorityClass", "high", value=1000),
    manifest("Node", "a", status={"allocatable": {"pods": "1"}}),
    pod("there", on="a", metadata=LIVE, priority=0),
    pod("low"),
    pod("urgent", priorityClassName="high"),
)


@pytest.mark.parametrize("order", ["priority", "queue"])
@pytest.mark.parametrize("release", ["1.12", "1.14"])
def test_without_the_gate(told, order, release):
    """Without gate PodPriority new pods have no priority, wait in the order in which they came, and evict
    nobody."""
    asked = ("--release", release, "--order", order, "-o", "jsonl")
    told.of(*CLUSTER, options=(*asked, "--feature-gates", "PodPriority=false"))
    cycles = [json.loads(line) for line in told.out.splitlines()]
    assert [cycle["pod"] for cycle in cycles] == ["default/low", "default/urgent"]
    assert "evicted" not in told.err
    told.of(*CLUSTER, options=asked)
    assert json.loads(told.out.splitlines()[0])["pod"] == "default/urgent"
    assert "1 pod evicted to make room" in told.err


def test_functions_look_at_the_gate_too():
    """The functions of the package admit pods as the command does."""
    asked = {"release": "1.14", "order": "queue"}
    assert dict(simulate(CLUSTER, **keywords_of({"gates": {"PodPriority": False}, **asked})).evicted) == {}
    assert dict(simulate(CLUSTER, **keywords_of(asked)).evicted) == {"default/there": "default/urgent"}


def test_a_trace_points_to_import(tmp_path):
    """A CSV file is refused with the commands that read it."""
    (tmp_path / "openb.csv").write_text("sn,cpu_milli\n")
    said = ran("simulate", str(tmp_path / "openb.csv"), status=2).err
    assert "got a CSV file" in said
    assert "`kubeclassic import`" in said
