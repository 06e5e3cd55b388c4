"""Files of scheduler_perf's workloads: what is read, what is refused, and what becomes of each operation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubeclassic.core.run import Run
from kubeclassic.exceptions import ManifestError
from kubeclassic.simulation.conform import build, read_items
from tests.bench.workloads import Phase, Timeline, Workload, find_workloads, time_once

Json = dict[str, Any]

POD = "kind: Pod\nmetadata: {generateName: web-}\nspec: {containers: [{name: c, resources: {limits: {cpu: 1}}}]}\n"
IMPORTANT = "kind: Pod\nmetadata: {generateName: top-}\nspec: {priority: 9, containers: [{name: c, resources: {limits: {cpu: 3}}}]}\n"
TEMPLATES = {
    "pod.yaml": POD,
    "important.yaml": IMPORTANT,
    "node.yaml": "kind: Node\nmetadata: {generateName: big-, labels: {disk: ssd}}\nstatus: {capacity: {cpu: 8, memory: 8Gi, pods: 9}}\n",
    "namespace.yaml": "kind: Namespace\nmetadata: {labels: {team: a}}\n",
    "service.yaml": "kind: Service\nmetadata: {generateName: svc-}\nspec: {selector: {app: web}}\n",
    "pv.yaml": "kind: PersistentVolume\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadOnlyMany], csi: {driver: d, volumeHandle: h}}\n",
    "pvc.yaml": (
        'kind: PersistentVolumeClaim\nmetadata: {annotations: {pv.kubernetes.io/bind-completed: "true"}}\n'
        "spec: {accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}\n"
    ),
    "class.yaml": "kind: Pod\nspec: {priorityClassName: high, containers: [{name: c}]}\n",
    "map.yaml": "kind: ConfigMap\nmetadata: {name: a}\n",
}
MEASURED = {"opcode": "createPods", "count": 1, "collectMetrics": True}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with templates."""
    for name, text in TEMPLATES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def written(folder: Path, ops: Sequence[Json], params: Json | None = None, **case: Any) -> Path:
    """A file of one test case with one workload, Case/Small."""
    test_case = {"name": "Case", "workloadTemplate": list(ops), "workloads": [{"name": "Small", "params": params or {}}], **case}
    path = folder / "performance-config.yaml"
    path.write_text(yaml.safe_dump([test_case]))
    return path


def workload(folder: Path, *ops: Json, params: Json | None = None, **case: Any) -> Workload:
    """The only workload with *ops*, and a pod to measure if they have none."""
    measures = any("collectMetrics" in op or "collectMetrics" in op.get("createPodsOp", {}) for op in ops)
    (found,) = find_workloads(written(folder, ops if measures else [*ops, MEASURED], params, **case))
    return found


def timeline(folder: Path, *ops: Json, **more: Any) -> Timeline:
    """What happens in the only workload with *ops*."""
    return workload(folder, *ops, **more).timeline()


def told(phase: Phase) -> list[str]:
    """The events of a phase, as verb and name."""
    return [f"{verb} {document['metadata']['name']}" for verb, document in phase.events]


class TestNames:
    def test_test_cases_and_workloads(self, folder: Path) -> None:
        """Names are upstream's; a test case's own name, and patterns, choose workloads."""
        cases = [{"name": name, "workloadTemplate": [MEASURED], "workloads": [{"name": "5Nodes"}, {"name": "9Nodes"}]} for name in "AB"]
        path = folder / "p.yaml"
        path.write_text(yaml.safe_dump(cases))
        assert [found.name for found in find_workloads(path)] == ["A/5Nodes", "A/9Nodes", "B/5Nodes", "B/9Nodes"]
        assert [found.name for found in find_workloads(path, ["B"])] == ["B/5Nodes", "B/9Nodes"]
        assert [found.name for found in find_workloads(path, ["*/5*", "A/9Nodes"])] == ["A/5Nodes", "A/9Nodes", "B/5Nodes"]
        with pytest.raises(ManifestError, match="no workload is called A/5Node, wanted one such as A/5Nodes"):
            find_workloads(path, ["A/5Node"])


class TestRefusals:
    @pytest.mark.parametrize(
        ("op", "says"),
        [
            ({"opcode": "createPod"}, r"workloadTemplate\[0\]: got the operation createPod, wanted createNodes, createNamespaces"),
            ({"opcode": "createPods", "cuont": 1}, r"workloadTemplate\[0\]: got the field cuont, wanted count"),
            ({"opcode": "createPods", "countParam": "$m"}, r"got \$m, wanted a parameter of the workload"),
            ({**MEASURED, "podTemplatePath": "absent.yaml"}, r"workloadTemplate\[0\]: absent.yaml: no such file in "),
            ({**MEASURED, "podTemplatePath": "node.yaml"}, r"workloadTemplate\[0\]: node.yaml: got a Node, wanted a Pod"),
            ({**MEASURED, "podTemplatePath": "class.yaml"}, "class.yaml: got priorityClassName alone, wanted priority too"),
            ({"opcode": "churn", "mode": "create", "number": 1, "templatePaths": ["map.yaml"]}, "map.yaml: got a ConfigMap, wanted"),
            ({"opcode": "barrier", "namespaces": ["a"]}, r"workloadTemplate\[0\]: got a, wanted a namespace of the operations before"),
        ],
    )  # fmt: skip
    def test_operations(self, op: Json, says: str, folder: Path) -> None:
        """Unknown operations, fields and parameters, and templates that are not there or of another kind, are refused with their place."""
        with pytest.raises(ManifestError, match=says):
            timeline(folder, op, {**MEASURED, "count": 900})

    def test_parameters_that_nothing_uses(self, folder: Path) -> None:
        """As upstream, a parameter that no operation uses is taken for a slip."""
        with pytest.raises(ManifestError, match="got params pods, which no operation uses"):
            timeline(folder, MEASURED, params={"pods": 7})

    def test_nothing_to_measure(self, folder: Path) -> None:
        """A workload without collectMetrics has no figures."""
        (found,) = find_workloads(written(folder, [{"opcode": "createPods", "count": 1}]))
        with pytest.raises(ManifestError, match="got no pods with collectMetrics"):
            found.timeline()


class TestNodes:
    def test_what_they_have(self, folder: Path) -> None:
        """Nodes are upstream's default ones or a template's, with labels in turn and labels of their own, the same in each run."""
        turns, own = {"labelKey": "zone", "labelValues": ["a", "b"]}, {"labelKey": "own"}
        ops = [
            {"opcode": "createNodes", "countParam": "$nodes"},
            {"opcode": "createNodes", "count": 3, "nodeTemplatePath": "node.yaml", "labelNodePrepareStrategy": turns},
            {"opcode": "createNodes", "count": 3, "uniqueNodeLabelStrategy": own},
        ]
        runs = [timeline(folder, *ops, params={"nodes": 2}).objects[:8] for _ in range(2)]
        assert runs[0] == runs[1]
        default, labels = runs[0][1], [node["metadata"]["labels"] for node in runs[0]]
        assert (default["metadata"]["name"], labels[1]) == ("node-0-1", {"kubernetes.io/hostname": "node-0-1"})
        assert default["status"]["allocatable"] == {"pods": "110", "cpu": "4", "memory": "32Gi"}
        assert [(label["zone"], label["disk"]) for label in labels[2:5]] == [("a", "ssd"), ("b", "ssd"), ("a", "ssd")]
        assert len({label["own"] for label in labels[5:]}) == 3

    def test_allocatable(self, folder: Path) -> None:
        """nodeAllocatableStrategy adds to what can be allocated, and gives each node a CSINode."""
        strategy = {"nodeAllocatable": {"attachable-volumes-csi-d": "39"}, "csiNodeAllocatable": {"d": {"count": 39}}}
        strategy |= {"migratedPlugins": ["a", "b"]}
        found = timeline(folder, {"opcode": "createNodes", "count": 1, "nodeAllocatableStrategy": strategy}).objects
        assert found[0]["status"]["allocatable"] == {"pods": "110", "cpu": "4", "memory": "32Gi", "attachable-volumes-csi-d": "39"}
        assert (found[1]["kind"], found[1]["metadata"]["name"]) == ("CSINode", "node-0-0")
        assert found[1]["metadata"]["annotations"] == {"storage.alpha.kubernetes.io/migrated-plugins": "a,b"}
        assert found[1]["spec"]["drivers"] == [{"name": "d", "nodeID": "node-0-0", "allocatable": {"count": 39}}]


class TestPods:
    def test_namespaces(self, folder: Path) -> None:
        """Pods are in the namespace that is named, else in one with the operation's number, which is made."""
        given = {"opcode": "createNamespaces", "prefix": "team", "count": 2, "namespaceTemplatePath": "namespace.yaml"}
        found = workload(folder, given, {**MEASURED, "namespace": "team-1"}, MEASURED)
        assert [(item["metadata"]["name"], item["metadata"].get("labels")) for item in found.timeline().objects] == [
            ("team-0", {"team": "a"}), ("team-1", {"team": "a"}),
        ]  # fmt: skip
        assert [sorted(phase.counted) for phase in found.timeline().phases] == [["team-1/pod-0"], [], ["namespace-2/pod-1"]]
        assert told(found.timeline().phases[1]) == ["add namespace-2"]

    def test_pod_sets(self, folder: Path) -> None:
        """createPodSets is createPods in each namespace of a prefix."""
        inner = {"opcode": "createPods", "countParam": "$each", "collectMetrics": True}
        sets = {"opcode": "createPodSets", "count": 2, "namespacePrefix": "n", "createPodsOp": inner}
        found = workload(folder, sets, params={"each": 2}, defaultPodTemplatePath="pod.yaml")
        counted = [sorted(phase.counted) for phase in found.timeline().phases if phase.counted]
        assert counted == [["n-0/web-0", "n-0/web-1"], ["n-1/web-2", "n-1/web-3"]]

    def test_volumes(self, folder: Path) -> None:
        """Each pod has a claim that is bound to a volume of its own; these are there before pods are measured."""
        paths = {"persistentVolumeTemplatePath": "pv.yaml", "persistentVolumeClaimTemplatePath": "pvc.yaml"}
        found = workload(folder, NODES, {**MEASURED, "count": 2, **paths, "namespace": "a"}, {**MEASURED, **paths, "namespace": "a"})
        claim, volume = found.timeline().objects[-2:]
        assert (claim["metadata"]["name"], claim["spec"]["volumeName"], claim["status"]) == ("pvc-1", "a-vol-1", {"phase": "Bound"})
        assert (volume["metadata"]["name"], volume["spec"]["csi"]["volumeHandle"]) == ("a-vol-1", "a-vol-1")
        assert volume["spec"]["claimRef"] == {"kind": "PersistentVolumeClaim", "namespace": "a", "name": "pvc-1", "apiVersion": "v1"}
        assert told(found.timeline().phases[0]) == ["schedule pod-0", "schedule pod-1"]
        assert told(found.timeline().phases[1]) == ["add pvc-2", "add a-vol-2"]
        assert time_once(found, "1.16").scheduled == 3

    def test_limits_are_requests(self, folder: Path) -> None:
        """Pods are as the API server stores them: limits without requests are requests."""
        found = workload(folder, {"opcode": "createNodes", "count": 1}, {**MEASURED, "count": 6, "podTemplatePath": "pod.yaml"})
        assert time_once(found, "1.16").scheduled == 4

    def test_settings(self, folder: Path) -> None:
        """Gates and the configuration come with the test case; preemption is on, and the release says how many nodes are looked at."""
        (folder / "config.yaml").write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
        config = workload(folder, featureGates={"EvenPodsSpread": True, "Other": True}, schedulerConfigFile="config.yaml").config("1.16")
        assert config["featureGates"] == {"EvenPodsSpread": True}
        assert config["profile"]["kind"] == "KubeSchedulerConfiguration"
        assert (config["percentageOfNodesToScore"], config["preemption"]) == (0, True)
        with pytest.raises(ManifestError, match=r"absent.yaml: no such file"):
            workload(folder, schedulerConfigFile="absent.yaml").config("1.27")


NODES = {"opcode": "createNodes", "count": 2}
BEFORE = {"opcode": "createPods", "count": 2, "namespace": "a"}
AFTER = {**MEASURED, "count": 2, "namespace": "b"}


class TestWaiting:
    def test_pods_before_are_not_measured(self, folder: Path) -> None:
        """Pods without collectMetrics are decided in a phase of their own."""
        found = timeline(folder, NODES, BEFORE, AFTER).phases
        assert [(bool(phase.counted), told(phase)) for phase in found] == [
            (False, ["schedule pod-0", "schedule pod-1"]), (False, ["add b"]), (True, ["schedule pod-2", "schedule pod-3"]),
        ]  # fmt: skip

    def test_without_waiting(self, folder: Path) -> None:
        """Pods that nothing waits for are decided while others are measured, but do not count."""
        found = workload(folder, NODES, {**BEFORE, "skipWaitToCompletion": True}, AFTER)
        assert [told(phase) for phase in found.timeline().phases] == [
            ["schedule pod-0", "schedule pod-1", "add b", "schedule pod-2", "schedule pod-3"],
        ]  # fmt: skip
        timing = time_once(found, "1.16")
        assert (list(timing.hosts), timing.cycles) == (["b/pod-2", "b/pod-3"], 4)

    def test_a_barrier(self, folder: Path) -> None:
        """After a barrier they have been decided."""
        found = workload(folder, NODES, {**BEFORE, "skipWaitToCompletion": True}, {"opcode": "barrier", "namespaces": ["a"]}, AFTER)
        assert [len(phase.events) for phase in found.timeline().phases] == [2, 1, 2]
        assert time_once(found, "1.16").cycles == 2

    def test_hosts_are_those_of_a_plain_run(self, folder: Path) -> None:
        """The measured pods get the nodes that a run over all pods in order gives them."""
        ops = [{"opcode": "createNodes", "count": 5}, {**BEFORE, "count": 3, "podTemplatePath": "pod.yaml"}, {**AFTER, "count": 9}]
        found = workload(folder, *ops)
        pods = [document for phase in found.timeline().phases for verb, document in phase.events if verb == "schedule"]
        for pod in pods:
            for container in pod["spec"]["containers"]:
                container["resources"]["requests"] = container["resources"]["limits"]
        plain = {"name": "plain", "version": "1.16", "config": found.config("1.16"), "objects": found.timeline().objects, "pending": pods}
        run = Run(build(plain, {}), details=False)
        hosts = {item.key: run.cycle(item).host for _, item in read_items(plain)}  # type: ignore[arg-type]  # they are pods
        timing = time_once(found, "1.16")
        assert len(timing.hosts) == 9
        assert timing.hosts == {key: host for key, host in hosts.items() if key in timing.hosts}


def churn(mode: str, number: int, milliseconds: int, *templates: str) -> Json:
    """A churn."""
    return {"opcode": "churn", "mode": mode, "number": number, "intervalMilliseconds": milliseconds, "templatePaths": list(templates)}


class TestChurn:
    def test_recreate(self, folder: Path) -> None:
        """A turn comes each so many decisions: N turns make an object of each template, and the next N delete them."""
        found = workload(folder, NODES, churn("recreate", 2, 2, "node.yaml", "service.yaml"), {**MEASURED, "count": 10})
        (measured,) = [phase for phase in found.timeline().phases if phase.counted]
        assert [event for event in told(measured) if "pod" not in event] == [
            "add big-0", "add svc-0", "add big-1", "add svc-1", "delete big-0", "delete svc-0", "delete big-1", "delete svc-1",
            "add big-2", "add svc-2",
        ]  # fmt: skip
        assert told(measured)[:4] == ["schedule pod-0", "schedule pod-1", "add big-0", "add svc-0"]
        namespaces = {document["metadata"].get("namespace") for _, document in measured.events if document["kind"] == "Service"}
        assert namespaces == {"namespace-1"}
        assert time_once(found, "1.16").nodes == 3

    @pytest.mark.parametrize(("number", "made"), [(2, 2), (0, 5)])
    def test_create(self, number: int, made: int, folder: Path) -> None:
        """Mode create stops at its number; with 0 it goes on."""
        found = workload(folder, NODES, churn("create", number, 2, "node.yaml"), {**MEASURED, "count": 10})
        assert time_once(found, "1.16").nodes == 2 + made

    def test_sleep(self, folder: Path) -> None:
        """Nobody sleeps, but the churn goes on; half a second is the interval where none is given."""
        found = workload(folder, NODES, {**churn("create", 0, 0, "node.yaml")}, {"opcode": "sleep", "duration": "1.6s"})
        assert time_once(found, "1.16").nodes == 2 + 3

    def test_pods_that_are_deleted(self, folder: Path) -> None:
        """A pod of a churn that made room, and is deleted, is not tried again, and the pods after it get the room that it made."""
        ops = [{"opcode": "createNodes", "count": 1}, {"opcode": "createPods", "count": 4, "podTemplatePath": "pod.yaml"}]
        found = workload(folder, *ops, churn("recreate", 1, 2, "important.yaml"), {**MEASURED, "count": 5})
        (measured,) = [phase for phase in found.timeline().phases if phase.counted]
        assert told(measured)[2::3] == ["schedule top-0", "delete top-0"]
        timing = time_once(found, "1.16")
        assert (timing.cycles, len(timing.hosts), timing.scheduled) == (6, 5, 1)
        assert timing.hosts["namespace-3/pod-4"] == "node-0-0"
