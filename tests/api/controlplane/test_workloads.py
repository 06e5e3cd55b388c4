"""Workloads and the pods that their controllers would make."""

import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.api.controlplane import workloads as controllers
from kubeclassic.api.objects import (
    Condition,
    Map,
    Node,
    NodeSpec,
    ObjectMeta,
    OwnerReference,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    PodStatus,
    Taint,
)
from kubeclassic.api.objects.quantity import Quantity
from kubeclassic.exceptions import ManifestError
from tests.support.refusals import refusal_text


def expand(given, nodes=(), pods=(), claims=(), **options):
    """The pods that the controllers of the given workloads would add."""
    known = [*nodes, *pods, *claims]
    return list(controllers.expand(given, known, **options).objects)


INDEX = "batch.kubernetes.io/job-completion-index"
TEMPLATE = yaml.safe_load("""
metadata:
  labels: {app: web}
spec:
  containers:
  - name: c
    resources:
      limits: {cpu: '1'}
""")


def workload(kind, name="web", owner=None, uid="", **spec):
    metadata = {"name": name, "namespace": "x", "uid": uid, **({"ownerReferences": [owner]} if owner else {})}
    selector = {"app": "web"} if kind == "ReplicationController" else {"matchLabels": {"app": "web"}}
    version = {"Job": "batch/v1", "CronJob": "batch/v1", "ReplicationController": "v1"}.get(kind, "apps/v1")
    return {
        "kind": kind,
        "apiVersion": version,
        "metadata": metadata,
        "spec": {"selector": selector, "template": TEMPLATE, **spec},
    }


def owned(kind, owner, name, uid="", phase="Running", **spec):
    reference = OwnerReference(kind=kind, name=owner, uid=uid, controller=True)
    metadata = ObjectMeta(name=name, namespace="x", owner_references=(reference,))
    return Pod(metadata=metadata, spec=PodSpec(**spec), status=PodStatus(phase=phase))


def pods(made):
    return [found for found in made if isinstance(found, Pod)]


def names(made):
    return [found.key for found in made]


def nodes(*given):
    return [Node(metadata=ObjectMeta(name=name, labels=Map(name=name))) for name in given]


# --- Replicas -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, written",
    [
        ("ReplicationController", "v1"),
        *(("ReplicaSet", name) for name in ("apps/v1", "extensions/v1beta1", None)),
    ],
)
def test_pods_of_the_template(kind, written):
    """One pod for each replica is made, with the template's labels and defaults, owned by the workload under
    the version of its controller."""
    made = expand([{**workload(kind, replicas=2, uid="u"), "apiVersion": written}])
    assert names(made) == ["x/web-0", "x/web-1"]
    pod = pods(made)[0]
    assert pod.labels == {"app": "web"}
    version = workload(kind)["apiVersion"]
    assert pod.metadata.controller == OwnerReference(
        kind=kind, name="web", uid="u", api_version=version, controller=True
    )
    assert pod.spec.containers[0].requests == {"cpu": Quantity.of(1)}
    assert pod.spec.scheduler_name == "default-scheduler"


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_without_defaults(kind):
    """Without defaults pods and claims stay as their templates are."""
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    made = expand([workload(kind, volumeClaimTemplates=[claim])], strict=False)
    assert pods(made)[0].spec.containers[0].requests == {}
    assert pods(made)[0].spec.scheduler_name == ""
    assert {item.spec.volume_mode for item in made if isinstance(item, PersistentVolumeClaim)} <= {None, ""}


def test_one_replica_unless_told():
    """Replicas are 1 where absent and may be 0."""
    specs = [{}, {"replicas": 0}]
    assert [len(expand([workload("ReplicaSet", **spec)])) for spec in specs] == [1, 0]


def test_pods_that_are_there_count():
    """Pods under control count, by name or by UID, but not finished ones, nor those of another workload
    of that name."""
    present = [
        owned("ReplicaSet", "web", "web-0"),
        owned("ReplicaSet", "web", "a", uid="u"),
        owned("ReplicaSet", "web", "b", uid="before"),
        owned("ReplicaSet", "web", "c", phase="Failed"),
        owned("ReplicaSet", "other", "d"),
        Pod(metadata=ObjectMeta(name="web-1", namespace="x")),
    ]
    assert names(expand([workload("ReplicaSet", replicas=4, uid="u")], pods=present)) == [
        "x/web-2",
        "x/web-3",
    ]


def test_deleted_pods_are_replaced():
    """A pod that is being deleted does not count."""
    pod = owned("ReplicaSet", "web", "web-0")
    going = replace(pod, metadata=replace(pod.metadata, deletion_timestamp="2020-01-01T00:00:00Z"))
    assert names(expand([workload("ReplicaSet", replicas=1)], pods=[going])) == ["x/web-1"]


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "Deployment", "DaemonSet", "Job"])
def test_deleted_workloads_make_nothing(kind):
    """A workload that is being deleted makes no pods any more."""
    given = workload(kind)
    going = {**given, "metadata": {**given["metadata"], "deletionTimestamp": "2024-01-01T00:00:00Z"}}
    assert expand([given], nodes("a"))
    assert expand([going], nodes("a")) == []


def test_expanding_again_adds_nothing():
    """Pods that were made count in the next expansion."""
    given = [
        workload("ReplicaSet", replicas=2),
        workload("Job", name="j", parallelism=2, completions=3),
        workload("DaemonSet", name="d"),
    ]
    made = expand(given, nodes("n"))
    assert expand(given, nodes("n"), pods(made)) == []


# --- Deployment ---------------------------------------------------------------------------------------------


def test_a_replica_set_is_implied():
    """A deployment stands for a ReplicaSet named after its template, which owns the pods."""
    made = expand([workload("Deployment", replicas=2)])
    replica_set = made[0]
    hashed = replica_set.name.removeprefix("web-")
    assert len(hashed) == 10
    assert (
        replica_set.selector.match_labels == replica_set.labels == {"app": "web", "pod-template-hash": hashed}
    )
    assert replica_set.metadata.controller.kind == "Deployment"
    assert names(made)[1:] == [f"x/web-{hashed}-0", f"x/web-{hashed}-1"]
    owner = pods(made)[0].metadata.controller
    assert (owner.kind, owner.name, owner.uid) == ("ReplicaSet", replica_set.name, replica_set.uid)
    assert pods(made)[0].labels == replica_set.labels


def test_names_depend_on_the_template_alone():
    """Equal templates give equal names, different templates different ones."""
    one, same, other = (
        names(expand([workload("Deployment", template=template)]))
        for template in (TEMPLATE, dict(TEMPLATE), {**TEMPLATE, "spec": {}})
    )
    assert one == same != other


def test_replica_sets_that_are_given_are_used():
    """Where the deployment's ReplicaSets are given, the newest makes up for what the others lack."""
    owner = {"kind": "Deployment", "name": "web", "controller": True}
    old, new = (workload("ReplicaSet", f"web-{name}", owner, replicas=1) for name in ("old", "new"))
    new["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "2"}
    assert names(expand([new, workload("Deployment", replicas=3), old])) == [
        "x/web-old-0",
        "x/web-new-0",
        "x/web-new-1",
    ]


def test_replica_sets_without_an_owner():
    """A Deployment adopts the ReplicaSets that nobody controls and its selector matches."""
    alone = workload("ReplicaSet", "web-1", replicas=1)
    alone["metadata"]["labels"] = {"app": "web"}
    assert names(expand([workload("Deployment", replicas=2), alone])) == ["x/web-1-0", "x/web-1-1"]


def test_a_changed_template():
    """Where no ReplicaSet has the Deployment's template, a new one gets the pods that the others lack."""
    owner = {"kind": "Deployment", "name": "web", "controller": True}
    old = workload("ReplicaSet", "web-1", owner, replicas=2)
    new = {**TEMPLATE, "spec": {"containers": [{"name": "c"}], "priority": 5}}
    made = expand([workload("Deployment", replicas=3, template=new), old])
    assert names(made)[:2] == ["x/web-1-0", "x/web-1-1"]
    assert [pod.spec.priority for pod in pods(made)] == [None, None, 5]


def test_a_deployment_says_how_many():
    """A ReplicaSet that asks for more than its Deployment gets no more pods, unless the Deployment is paused in
    a rollout."""
    owner = {"kind": "Deployment", "name": "web", "controller": True}
    old, new = (workload("ReplicaSet", name, owner, replicas=at) for at, name in ((1, "old"), (4, "w")))
    assert len(expand([workload("Deployment", replicas=1), new])) == 1
    assert len(expand([workload("Deployment", replicas=1, paused=True), new])) == 1
    assert len(expand([workload("Deployment", replicas=1, paused=True), old, new])) == 5


def test_ordinals_and_claims():
    """Pods are numbered, each has its own claims, which take the place of volumes of their names."""
    claim = yaml.safe_load("{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}")
    template = {**TEMPLATE, "spec": yaml.safe_load("{volumes: [{name: data, emptyDir: {}}, {name: tmp}]}")}
    made = expand([workload("StatefulSet", replicas=2, volumeClaimTemplates=[claim], template=template)])
    assert names(made) == ["x/data-web-0", "x/web-0", "x/data-web-1", "x/web-1"]
    assert isinstance(made[0], PersistentVolumeClaim)
    assert (made[0].labels, made[0].spec.requests) == ({"app": "web"}, {"storage": Quantity.of("1Gi")})
    pod = pods(made)[1]
    assert [(volume.name, volume.persistent_volume_claim) for volume in pod.spec.volumes] == [
        ("data", "data-web-1"),
        ("tmp", None),
    ]
    assert pod.labels == {
        "app": "web",
        "statefulset.kubernetes.io/pod-name": "web-1",
        "apps.kubernetes.io/pod-index": "1",
    }


def test_present_pods_and_claims_are_kept():
    """A number that is there is not made again, nor is a claim; numbers may start elsewhere."""
    claim = PersistentVolumeClaim(metadata=ObjectMeta(name="data-web-6", namespace="x"))
    given = workload(
        "StatefulSet",
        replicas=2,
        ordinals={"start": 5},
        volumeClaimTemplates=[{"metadata": {"name": "data"}}],
    )
    there = [owned("StatefulSet", "web", "web-5")]
    assert names(expand([given], pods=there, claims=[claim])) == ["x/web-6"]
    (made,) = expand([{**given, "status": {"updateRevision": "web-7"}}], pods=there, claims=[claim])
    assert made.labels["controller-revision-hash"] == "web-7"


@pytest.mark.parametrize(
    "policy, node, ready, phase, deleted, made",
    [
        ("OrderedReady", "a", "True", "Running", None, [0, 2]),
        ("OrderedReady", "a", "False", "Running", None, [0]),
        ("Parallel", "a", "False", "Running", None, [0, 2]),
        ("OrderedReady", "", "", "Pending", None, [0, 2]),
        ("OrderedReady", "a", "True", "Running", "2024-01-01T00:00:00Z", [0]),
        ("OrderedReady", "a", "False", "Failed", None, [0, 1, 2]),
        ("Parallel", "a", "False", "Succeeded", None, [0, 1, 2]),
        ("OrderedReady", "a", "False", "Failed", "2024-01-01T00:00:00Z", [0]),
    ],
)
def test_one_after_another(policy, node, ready, phase, deleted, made):
    """In order, no pod is made after one that is on a node and not ready, or is leaving. One that has
    finished is made again, under its name."""
    there = owned("StatefulSet", "web", "web-1", phase=phase, node_name=node)
    conditions = (Condition(type="Ready", status=ready),) if ready else ()
    there = replace(
        there,
        metadata=replace(there.metadata, deletion_timestamp=deleted),
        status=replace(there.status, conditions=conditions),
    )
    given = workload("StatefulSet", replicas=3, podManagementPolicy=policy)
    assert names(expand([given], pods=[there])) == [f"x/web-{number}" for number in made]


def test_revisions():
    """A rollout with a partition makes the pods below it of the current revision."""
    rolling = {"rollingUpdate": {"partition": 1}}
    given = workload("StatefulSet", replicas=2, ordinals={"start": 5}, updateStrategy=rolling)
    made = expand([{**given, "status": {"currentRevision": "old", "updateRevision": "new"}}])
    assert [pod.labels["controller-revision-hash"] for pod in made] == ["old", "new"]


def test_claims_of_pending_pods():
    """A pod that waits gets the claims that it lacks."""
    given = workload("StatefulSet", volumeClaimTemplates=[{"metadata": {"name": "data"}}])
    there = owned("StatefulSet", "web", "web-0", phase="Pending")
    assert names(expand([given], pods=[there])) == ["x/data-web-0"]


NOT_A = yaml.safe_load("""
nodeSelectorTerms:
- matchExpressions:
  - key: name
    operator: NotIn
    values: [a]
""")


# --- Daemon set ---------------------------------------------------------------------------------------------


def test_one_pod_a_node():
    """Each node gets a pod that is tied to it by required node affinity and tolerates a node's usual
    troubles."""
    made = pods(expand([workload("DaemonSet")], nodes("a", "b")))
    assert names(list(made)) == ["x/web-a", "x/web-b"]
    affinity = made[1].spec.affinity
    (term,) = affinity.node_affinity.required.node_selector_terms
    assert [(field.key, field.operator, field.values) for field in term.match_fields] == [
        ("metadata.name", "In", ("b",))
    ]
    tolerated = {(t.key.removeprefix("node.kubernetes.io/"), t.effect) for t in made[0].spec.tolerations}
    assert tolerated == {
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        *(
            (trouble, "NoSchedule")
            for trouble in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
        ),
    }


def test_on_the_hosts_network_an_unavailable_network_is_tolerated():
    """A daemon on the host's network also tolerates an unavailable network."""
    (pod,) = pods(expand([workload("DaemonSet", template={"spec": {"hostNetwork": True}})], nodes("a")))
    assert "node.kubernetes.io/network-unavailable" in {toleration.key for toleration in pod.spec.tolerations}


@pytest.mark.parametrize(
    "spec, made",
    [
        ({"nodeSelector": {"name": "a"}}, ["x/web-a"]),
        ({"nodeName": "b"}, ["x/web-b"]),
        (
            {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": NOT_A}}},
            ["x/web-b"],
        ),
        ({"tolerations": [{"operator": "Exists"}]}, ["x/web-a", "x/web-b", "x/web-tainted"]),
    ],
)
def test_only_where_it_may_run(spec, made):
    """Node name, selector, required affinity and taints decide which nodes get a pod."""
    tainted = Node(
        metadata=ObjectMeta(name="tainted"), spec=NodeSpec(taints=(Taint(key="gpu", effect="NoSchedule"),))
    )
    given = nodes("a", "b") if spec.get("affinity") else [*nodes("a", "b"), tainted]
    assert names(expand([workload("DaemonSet", template={"spec": spec})], given)) == made


def test_unschedulable_nodes_get_one():
    """The taint of an unschedulable node does not keep daemons away."""
    cordoned = Node(
        metadata=ObjectMeta(name="c"),
        spec=NodeSpec(taints=(Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule"),)),
    )
    assert names(expand([workload("DaemonSet")], [cordoned])) == ["x/web-c"]


def test_nodes_with_a_pod_get_none():
    """A node with a daemon, bound or only tied to it, gets no second one, not even while it is being
    deleted."""
    (tied,) = pods(expand([workload("DaemonSet")], nodes("b")))
    there = owned("DaemonSet", "web", "p", node_name="a")
    going = replace(there, metadata=replace(there.metadata, deletion_timestamp="2024-01-01T00:00:00Z"))
    for daemon in (there, going):
        made = expand([workload("DaemonSet")], nodes("a", "b", "c"), [daemon, tied])
        assert names(made) == ["x/web-c"]
    surging = workload("DaemonSet", updateStrategy={"rollingUpdate": {"maxSurge": 1}})
    assert names(expand([surging], nodes("a", "b"), [going])) == ["x/web-a", "x/web-b"]


@pytest.mark.parametrize(
    "spec, status, made",
    [
        ("{}", "{}", 1),
        ("parallelism: 3", "{}", 3),
        ("completions: 5", "{}", 1),
        ("{parallelism: 3, completions: 5}", "succeeded: 4", 1),
        ("parallelism: 3", "succeeded: 1", 0),
        ("{}", "succeeded: 1", 0),
        ("parallelism: 0", "{}", 0),
        ("suspend: true", "{}", 0),
        ("parallelism: 2", "conditions: [{type: Complete, status: 'True'}]", 0),
        ("parallelism: 2", "conditions: [{type: Complete, status: 'False'}]", 2),
        ("parallelism: 2", "conditions: [{type: FailureTarget, status: 'True'}]", 0),
        ("{parallelism: 2, backoffLimit: 1}", "failed: 1", 2),
        ("{parallelism: 2, backoffLimit: 1}", "failed: 2", 0),
        ("{parallelism: 2}", "failed: 6", 2),
        ("{parallelism: 2}", "failed: 7", 0),
        ("managedBy: example.com/queue", "{}", 0),
    ],
)
def test_how_many_run(spec, status, made):
    """A Job has as many pods as may run in parallel, but no more than must complete; none when suspended or
    finished."""
    assert (
        len(expand([{**workload("Job", **yaml.safe_load(spec)), "status": yaml.safe_load(status)}])) == made
    )


def test_indexes():
    """The pods of an indexed Job are for its first open indexes; those of others do not count."""
    spec = yaml.safe_load("{parallelism: 4, completions: 7, completionMode: Indexed}")
    pods_there = [
        replace(pod, metadata=replace(pod.metadata, annotations=Map({INDEX: index})))
        for index in ("4", "9")
        for pod in [owned("Job", "web", f"web-{index}")]
    ]
    status = {"succeeded": 2, "completedIndexes": "0,2", "failedIndexes": "3"}
    made = pods(expand([{**workload("Job", **spec), "status": status}], pods=pods_there))
    assert names(made) == ["x/web-1", "x/web-5", "x/web-6"]
    assert {pod.labels[INDEX] for pod in made} == {pod.annotations[INDEX] for pod in made} == {"1", "5", "6"}


@pytest.mark.parametrize("policy, made", [("Failed", 1), ("TerminatingOrFailed", 2)])
def test_replacement_policy(policy, made):
    """A Job may wait until a pod that is being deleted is gone."""
    pod = owned("Job", "web", "web-0")
    going = replace(pod, metadata=replace(pod.metadata, deletion_timestamp="2020-01-01T00:00:00Z"))
    assert len(expand([workload("Job", parallelism=2, podReplacementPolicy=policy)], pods=[going])) == made


def test_cron_jobs():
    """A cron job gives one job's pods if asked for, none when suspended or when a job of it is given."""
    job = {"spec": {"parallelism": 2, "template": TEMPLATE}}
    assert expand([workload("CronJob", jobTemplate=job)]) == []
    made = pods(expand([workload("CronJob", jobTemplate=job)], cron_jobs=True))
    assert names(list(made)) == ["x/web-1-0", "x/web-1-1"]
    assert made[0].metadata.controller.kind == "Job"
    assert {made[0].labels[f"{prefix}job-name"] for prefix in ("", "batch.kubernetes.io/")} == {"web-1"}
    assert expand([workload("CronJob", jobTemplate=job, suspend=True)], cron_jobs=True) == []
    running = workload("Job", "web-7", {"kind": "CronJob", "name": "web", "controller": True})
    assert names(expand([workload("CronJob", jobTemplate=job), running], cron_jobs=True)) == ["x/web-7-0"]


def test_paused_deployments():
    """A paused Deployment makes no ReplicaSet; the one that it has still gets its pods, by its own template."""
    paused = workload("Deployment", replicas=2, paused=True)
    assert expand([paused]) == []
    owner = {"kind": "Deployment", "name": "web", "controller": True}
    replica_set = workload("ReplicaSet", "web-1", owner, replicas=1)
    assert names(expand([paused, replica_set])) == ["x/web-1-0", "x/web-1-1"]
    edited = workload("Deployment", replicas=2, paused=True, template={"spec": {"containers": []}})
    assert controllers.following([(paused, edited)], [replica_set]) == [replica_set]


@pytest.mark.parametrize(
    "given, text",
    [
        (
            workload("Deployment", replicas="2"),
            'Deployment web: spec.replicas: expected a whole number, got "2"',
        ),
        (workload("Deployment", replicas=-1), "Deployment web: spec.replicas: expected 0 or more, got -1"),
        (
            workload("ReplicaSet", template=None),
            "ReplicaSet web: spec.template: expected a pod template, got nothing",
        ),
        (
            workload("Job", template={"spec": {"containers": 5}}),
            "Job web: spec.template: spec.containers: expected a list, got 5",
        ),
        *(
            (
                workload(kind, selector=None, template={**TEMPLATE, "metadata": {"labels": {"a": value}}}),
                f"{kind} web: spec.template: metadata.labels.a: expected a string, got {got}",
            )
            for kind in ("ReplicaSet", "StatefulSet", "ReplicationController", "Deployment")
            for value, got in (([1], "a list"), (1, "1"))
        ),
        (
            workload("CronJob", jobTemplate=None),
            "Job web-1: spec.template: expected a pod template, got nothing",
        ),
    ],
)
def test_errors_say_where(given, text):
    """A workload that cannot be read is told with kind, name and field."""
    alone = Pod(metadata=ObjectMeta(name="alone", namespace="x", labels=Map(a="b")))
    assert refusal_text(ManifestError, expand, [given], pods=[alone], cron_jobs=True) == text


def test_other_kinds_are_passed_over():
    """Documents that are no workloads add nothing."""
    assert expand([{"kind": "ConfigMap"}]) == []
