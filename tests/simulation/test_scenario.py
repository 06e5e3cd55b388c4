"""A cluster from files: existing objects, pending pods, and objects that do not count."""

import json

import pytest
import yaml

from kubeclassic.api.objects import Node, Pod
from kubeclassic.api.reading.notices import Notice
from kubeclassic.exceptions import ManifestError
from kubeclassic.simulation.evictions import retries_of
from kubeclassic.simulation.simulate import Files
from tests.support.manifests import manifest

NODE = manifest("Node", "a")
TEMPLATE = yaml.safe_load("{metadata: {labels: {app: web}}, spec: {containers: [{name: c}]}}")


def pod(name, *, status=None, deleted=None, **spec):
    """A pod's manifest."""
    return manifest("Pod", name, metadata={"deletionTimestamp": deleted}, spec=spec, status=status or {})


def scenario(folder, *documents, more=(), defaults=True):
    """The scenario of a node and *documents*, with *more* of them as ``--pods``."""
    (folder / "cluster.json").write_text(json.dumps([NODE, *documents]))
    (folder / "more.json").write_text("\n".join(map(json.dumps, more)))
    paths = [folder / "more.json"] if more else []
    return Files.read(folder / "cluster.json", paths, defaults=defaults).scenario()


def waiting(found):
    """The names of the pods that wait."""
    return [item.name for item in found.pending]


def test_who_has_no_node_waits(tmp_path):
    """Pods without a node wait, in input order; the others are there."""
    found = scenario(tmp_path, pod("z"), pod("bound", nodeName="a"), pod("b"), more=(pod("m"),))
    assert waiting(found) == ["z", "b", "m"]
    assert [item.name for item in found.objects] == ["a", "bound"]


def test_who_takes_no_part(tmp_path):
    """Pods that have finished, are being deleted or are another scheduler's are ignored and counted."""
    found = scenario(
        tmp_path,
        pod("done", status={"phase": "Succeeded"}),
        pod("failed", nodeName="a", status={"phase": "Failed"}),
        pod("leaving", deleted="2020-01-01T00:00:00Z"),
        pod("theirs", schedulerName="other"),
    )
    assert waiting(found) == []
    assert found.ignored == {"finished": 2, "being deleted": 1, "for another scheduler": 1}
    assert not [item for item in found.objects if isinstance(item, Pod)]


def test_who_stays(tmp_path):
    """Pods on a node stay while they are leaving, and with a warning where their node was not given;
    other kinds are counted."""
    others = (manifest("Ingress", name) for name in "ij")
    found = scenario(
        tmp_path,
        pod("leaving", nodeName="a", deleted="2020-01-01T00:00:00Z"),
        pod("orphan", nodeName="gone"),
        *others,
    )
    assert [item.name for item in found.objects] == ["a", "leaving", "orphan"]
    assert found.warnings == (Notice("Pod default/orphan on gone", "its node is not in the input"),)
    assert found.ignored == {"of kind Ingress": 2}


def test_replicas_are_topped_up(tmp_path):
    """A controller's pods that are there count; only the rest is made, with names of their own. Workloads
    may be more pods, too."""
    owner = yaml.safe_load("[{kind: ReplicaSet, name: web, controller: true}]")
    present = manifest("Pod", "web-x", metadata={"ownerReferences": owner}, spec={"nodeName": "a"})
    replica_set = manifest("ReplicaSet", "web", spec={"replicas": 3, "template": TEMPLATE})
    job = manifest("Job", "once", spec={"parallelism": 2, "completions": 2, "template": TEMPLATE})
    found = scenario(tmp_path, present, replica_set, more=(job,))
    assert waiting(found) == ["web-0", "web-1", "once-0", "once-1"]


def test_priority_classes(tmp_path):
    """PriorityClass names resolve to priorities; a pod that the API server would refuse is ignored, with
    its words."""
    high = manifest("PriorityClass", "high", value=7)
    found = scenario(tmp_path, high, pod("q", priorityClassName="high"), pod("p", priorityClassName="nope"))
    assert [(item.name, item.priority) for item in found.pending] == [("q", 7)]
    assert found.ignored == {"refused by the API server": 1}
    assert found.warnings == (
        Notice("Pod default/p", "refused by the API server: no PriorityClass with name nope was found"),
    )


def test_without_defaults_nothing_is_admitted(tmp_path):
    """Objects are taken as they stand, class or no class."""
    assert waiting(scenario(tmp_path, pod("p", priorityClassName="nope"), defaults=False)) == ["p"]


def test_a_cluster_has_nodes(tmp_path):
    """Files without a node are refused, and those without a kind in a folder are told of then."""
    (tmp_path / "pods.json").write_text(json.dumps(pod("p")))
    with pytest.raises(ManifestError, match=r"pods\.json: expected at least one Node, got none$"):
        Files.read(tmp_path / "pods.json").scenario()
    (tmp_path / "node.json").write_text('{"metadata": {"name": "n"}}')
    with pytest.raises(
        ManifestError,
        match=r"expected at least one Node, got none \(.*node\.json, document 1: no kind, ignored\)$",
    ):
        Files.read(tmp_path).scenario()


def test_config_maps_are_kept(tmp_path):
    """ConfigMaps are kept for Policies, by namespace and name."""
    found = scenario(tmp_path, manifest("ConfigMap", "p", namespace="kube-system", data={}))
    assert list(found.config_maps) == [("kube-system", "p")]
    assert found.node_count == sum(isinstance(item, Node) for item in found.objects) == 1


def test_jobs_end(tmp_path):
    """The Jobs of CronJobs end after some failures, too, and so do those with a number for a name."""
    (tmp_path / "cluster.yaml").write_text("""
{kind: Node, metadata: {name: a}}
---
{kind: CronJob, apiVersion: batch/v1, metadata: {name: cron}, spec: {jobTemplate: {spec: {backoffLimit: 0, template: {}}}}}
---
{kind: Job, apiVersion: batch/v1, metadata: {generateName: job-}, spec: {backoffLimit: 3, template: {}}}
""")
    files = Files.read([tmp_path / "cluster.yaml"])
    asked, unasked = (retries_of(files.scenario(cron_jobs=cron_jobs).jobs) for cron_jobs in (True, False))
    assert (asked, unasked) == ({"default/cron-1": 0, "default/job-1": 3}, {"default/job-1": 3})
