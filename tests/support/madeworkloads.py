"""The workloads and pods of the made dump (``madedump.py``), with what is odd about them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, TypeAlias

import attrs

from tests.support.admitted import admitted

Json: TypeAlias = dict[str, Any]

CREATED = "2023-06-01T08:00:00Z"
SIZES = (("100m", "128Mi"), ("250m", "384Mi"), ("500m", "768Mi"), ("1", "1536Mi"), ("1500m", "2Gi"))
PRIORITIES = {"low": -10, "standard": 0, "high": 1000, "urgent": 100_000, "missing-class": 500, "system-node-critical": 2_000_001_000}
"""What pods that were admitted have by their class; ``missing-class`` is not in the dump."""
LONG = "a-service-whose-team-likes-names-that-say-everything-about-it-and-then-some"
NEWER = (
    {"schedulingGates": [{"name": "quota.example/wait"}]},
    {"resourceClaims": [{"name": "gpu", "source": {"resourceClaimTemplateName": "one-gpu"}}]},
    {"resources": {"requests": {"cpu": "2"}}},
    {"overhead": {"cpu": "50m", "memory": "32Mi"}, "runtimeClassName": "kata"},
    {"preemptionPolicy": "Never"},
)
"""What newer releases know of a pod's spec."""
MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a pod that stands for a static one, which gets no token."""
SPREAD = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
NEWER_SPREAD = {**SPREAD, "minDomains": 2, "matchLabelKeys": ["pod-template-hash"], "nodeAffinityPolicy": "Ignore"}


def meta(name: str, namespace: str = "", labels: Json | None = None, owner: Json | None = None, **more: Any) -> Json:
    """The metadata of an object that was dumped: with UID and time."""
    made: Json = {"name": name, **({"namespace": namespace} if namespace else {}), "uid": f"uid-{namespace or 'cluster'}-{name}"}
    made |= {"creationTimestamp": CREATED, "resourceVersion": "1", **({"labels": labels} if labels else {}), **more}
    if owner is not None:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        made["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]
    return made


@attrs.define
class Maker:
    """Makes objects for a cluster of *nodes*; places pods on nodes that have room."""

    lots: random.Random
    nodes: list[Json]
    pods: int
    """How many to make, about."""
    objects: list[Json] = attrs.field(factory=list)
    apps: list[tuple[str, str]] = attrs.field(factory=list)
    made: int = 0
    _free: dict[str, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        kept_away = ("NoSchedule", "NoExecute")
        open_nodes = [node for node in self.nodes if all(taint["effect"] not in kept_away for taint in node["spec"].get("taints", []))]
        self._free = {node["metadata"]["name"]: int(node["status"]["allocatable"]["cpu"]) * 900 for node in open_nodes}

    def place(self, milli: int) -> str:
        """A node with *milli* millicores free, at random; empty where there is none."""
        names = [name for name, free in self._free.items() if free >= milli]
        if not names:
            return ""
        chosen = self.lots.choice(names)
        self._free[chosen] -= milli
        return chosen

    def template(self, app: str, **spec: Any) -> Json:
        """A pod template."""
        cpu, memory = self.lots.choice(SIZES)
        amounts = {"requests": {"cpu": cpu, "memory": memory}}
        container = {"name": "main", "image": f"registry.example/{app}:{self.lots.randrange(9)}", "resources": amounts}
        return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], "schedulerName": "default-scheduler", **spec}}

    def add(self, kind: str, api: str, name: str, namespace: str, spec: Json, owner: Json | None = None, **more: Any) -> Json:
        """A workload, or any object with a spec."""
        labels = {"app": name}
        made = {"apiVersion": api, "kind": kind, "metadata": meta(name, namespace, labels, owner), "spec": spec, **more}
        self.objects.append(made)
        return made

    def pod(self, name: str, namespace: str, template: Json, owner: Json | None, on: str | None = None, **more: Any) -> Json:
        """A pod of *template*: on a node with room, or on the given one; without a node it waits."""
        host = self.place(_milli(template)) if on is None else on
        labels = {**template["metadata"]["labels"], **more.pop("labels", {})}
        metadata = meta(name, namespace, labels, owner, **more.pop("metadata", {}))
        spec = {**template["spec"], **more.pop("spec", {}), **({"nodeName": host} if host else {})}
        spec = {"priority": PRIORITIES.get(spec.get("priorityClassName", ""), 0), **spec}
        status = {"phase": "Running", "startTime": CREATED, "qosClass": "Burstable"} if host else {"phase": "Pending"}
        made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status | more.pop("status", {})}
        if MIRROR not in metadata.get("annotations", {}):
            made = admitted(made)
        self.objects.append(made)
        self.made += 1
        return made


def _milli(template: Json) -> int:
    asked: str = template["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    return int(asked.removesuffix("m")) * (1 if asked.endswith("m") else 1000)


def workloads(maker: Maker) -> None:
    """Fill *maker* with workloads of every kind, then with Deployments until it has its pods."""
    daemons(maker)
    stateful_sets(maker)
    jobs(maker)
    lone_pods(maker)
    number = 0
    while maker.made < maker.pods:
        deployment(maker, number)
        number += 1


def _selector(app: str) -> Json:
    return {"matchLabels": {"app": app}}


# --- Deployments ----------------------------------------------------------------------------------------------------


def deployment(maker: Maker, number: int) -> None:
    """A Deployment whose ReplicaSet is in the dump, or, one time in three, is not; some lack pods, or name a class that is missing."""
    namespace, app = ("shop", "data", "ops")[number % 3], f"{LONG if number == 10 else 'app'}-{number}"
    template, replicas, code = maker.template(app, **_newer(number)), 2 + 3 * number % 40, f"{number * 7919 % 10**9:09x}"
    hashed = {"pod-template-hash": code}
    spec = {"replicas": replicas, "selector": _selector(app), "template": template}
    if number % 20 == 19:
        spec = {"twice/replicas": replicas, **{key: value for key, value in spec.items() if key != "replicas"}}
    if number % 15 == 14:
        spec["replica"] = replicas
    owner = maker.add("Deployment", "apps/v1", app, namespace, spec)
    name, labels = f"{app}-{code}", {**template["metadata"]["labels"], **hashed}
    selector = {"matchLabels": {"app": app, **hashed}}
    written = {"replicas": replicas, "selector": selector, "template": {**template, "metadata": {"labels": labels}}}
    kept = len(maker.objects)
    replica_set = maker.add("ReplicaSet", "apps/v1", name, namespace, written, owner)
    if number % 3 == 1:
        del maker.objects[kept]
    maker.apps.append((namespace, app))
    lacking = replicas if number % 36 == 11 else (number % 8 == 3) * 2
    for index in range(replicas - lacking):
        on = "" if number % 12 == 5 and index == 0 else None
        maker.pod(f"{name}-{index:05}", namespace, template, replica_set, on, labels=hashed, spec=_odd_key(number, index))


def _newer(number: int) -> Json:
    """What the template of a Deployment has that not every release knows."""
    spec: Json = dict(NEWER[number // 9 % len(NEWER)]) if number % 9 == 8 else {}
    if number % 7 == 6:
        spec["topologySpreadConstraints"] = [{**(NEWER_SPREAD if number % 2 else SPREAD), "labelSelector": _selector(f"app-{number}")}]
    if number % 11 == 10:
        term = {"labelSelector": _selector(f"app-{number}"), "topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}}
        preferred = [{"weight": 50, "podAffinityTerm": term}]
        spec["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    if number % 6 == 5:
        spec["priorityClassName"] = ("high", "missing-class", "urgent")[number // 6 % 3]
    if number % 16 == 15:
        spec["initContainers"] = [{"name": "mesh", "image": "registry.example/mesh:1", "restartPolicy": "Always"}]
    return spec


def _odd_key(number: int, index: int) -> Json:
    return {"twice/priority": 0} if number % 10 == 9 and index == 0 else {}


# --- StatefulSets, DaemonSets, Jobs ---------------------------------------------------------------------------------


def stateful_sets(maker: Maker) -> None:
    """StatefulSets with claims and volumes; one lacks a pod, of one the volumes are missing."""
    for number in range(max(2, maker.pods // 300)):
        app, namespace, replicas = f"db-{number}", "data", 3 + number % 3
        template = maker.template(app, terminationGracePeriodSeconds=60)
        claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "10Gi"}}}}
        spec = {"replicas": replicas, "serviceName": app, "selector": _selector(app), "template": template, "volumeClaimTemplates": [claim]}
        owner = maker.add("StatefulSet", "apps/v1", app, namespace, spec)
        maker.apps.append((namespace, app))
        for ordinal in range(replicas - (number % 4 == 3)):
            name = f"{app}-{ordinal}"
            pod = maker.pod(name, namespace, template, owner, labels={"statefulset.kubernetes.io/pod-name": name})
            pod["spec"]["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}})
            claimed(maker, f"data-{name}", namespace, has_volume=number % 5 != 4)


def claimed(maker: Maker, name: str, namespace: str, *, has_volume: bool) -> None:
    """A bound claim, with its volume or without it."""
    amounts = {"storage": "10Gi"}
    volume = f"pv-{name}"
    spec = {"storageClassName": "fast", "volumeName": volume, "accessModes": ["ReadWriteOnce"], "resources": {"requests": amounts}}
    maker.add("PersistentVolumeClaim", "v1", name, namespace, spec, status={"phase": "Bound"})
    if has_volume:
        csi = {"driver": "disk.csi.made.example", "volumeHandle": volume}
        reference = {"kind": "PersistentVolumeClaim", "name": name, "namespace": namespace}
        kept = {"capacity": amounts, "accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "csi": csi, "claimRef": reference}
        maker.add("PersistentVolume", "v1", volume, "", kept, status={"phase": "Bound"})


def daemons(maker: Maker) -> None:
    """Two DaemonSets on every node, one of which lacks a pod on every fiftieth."""
    for app in ("node-agent", "log-shipper"):
        template = maker.template(app, tolerations=[{"operator": "Exists"}])
        owner = maker.add("DaemonSet", "apps/v1", app, "kube-system", {"selector": _selector(app), "template": template})
        for number, node in enumerate(maker.nodes):
            if app == "node-agent" or number % 50 != 9:
                name = node["metadata"]["name"]
                maker.pod(f"{app}-{number:05}", "kube-system", template, owner, name, spec={"priorityClassName": "system-node-critical"})


def jobs(maker: Maker) -> None:
    """CronJobs with a Job, without one, and with pods whose Job is missing; Jobs of their own; finished pods."""
    for number in range(max(3, maker.pods // 500)):
        app, namespace = f"report-{number}", "batch"
        template = maker.template(app, restartPolicy="Never")
        spec = {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"parallelism": 2, "completions": 2, "template": template}}}
        owner = maker.add("CronJob", "batch/v1", app, namespace, spec)
        kept = len(maker.objects)
        job_spec = {"parallelism": 2, "completions": 2, "template": template}
        job = maker.add("Job", "batch/v1", f"{app}-2806{number}", namespace, job_spec, owner, status={"succeeded": 1})
        if number % 3:
            del maker.objects[kept]
        if number % 3 == 1:
            continue
        maker.pod(f"{app}-2806{number}-aaaaa", namespace, template, job, labels={"job-name": f"{app}-2806{number}"})
        maker.pod(f"{app}-2806{number}-bbbbb", namespace, template, job, status={"phase": "Succeeded"})


def lone_pods(maker: Maker) -> None:
    """Mirror pods, pods of another scheduler, finished ones, ones that are being deleted, ones on nodes that are gone, ones that wait."""
    for number, node in enumerate(maker.nodes[:3]):
        name, template = node["metadata"]["name"], maker.template("apiserver", hostNetwork=True)
        mirror = {"annotations": {MIRROR: f"{number:032x}", "kubernetes.io/config.source": "file"}}
        maker.pod(f"kube-apiserver-{name}", "kube-system", template, node, name, metadata=mirror, spec={"priority": 2_000_001_000})
    deleted = {"deletionTimestamp": "2023-06-02T08:00:00Z", "deletionGracePeriodSeconds": 30}
    kinds: Iterable[tuple[str, str | None, Json]] = (
        ("theirs", "", {"spec": {"schedulerName": "volcano"}}),
        ("finished", None, {"status": {"phase": "Failed", "reason": "Evicted"}}),
        ("leaving", None, {"metadata": deleted}),
        ("lost", "gone-7", {}),
        ("young", None, {"status": {"startTime": None}}),
        ("urgent", "", {"spec": {"priority": 100000, "priorityClassName": "urgent"}}),
        ("tall", "", {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "60", "memory": "90Gi"}}}]}}),
    )
    for app, on, more in kinds:
        for index in range(max(1, maker.pods // 600)):
            maker.pod(f"{app}-{index}", "ops", maker.template(app), None, on, **more)
