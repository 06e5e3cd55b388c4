"""Small clusters with what releases count otherwise: pods that ask for a device or for disk alone, zero amounts, sidecars, nominations."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.framework.facts.forms import PREFERRED, REQUIRED

Json = dict[str, Any]
SUBJECTS = (
    "sidecars", "init", "overhead", "pod level", "device", "zero", "nothing", "disk", "nominated", "resized", "leaving", "lacking",
    "priorities", "huge pages", "budgets", "spread", "affinity", "ports", "taints", "images", "owners", "preferences", "cordoned",
)  # fmt: skip
"""Of which a cluster has one to four."""


def cluster_drawn(rnd: Random) -> list[Json]:
    """The manifests of one cluster: a few nodes, pods on them, and pods that wait."""
    subjects = set(rnd.sample(SUBJECTS, rnd.randint(1, 4)))
    count = rnd.choice([1, 2, 2, 3, 3, 4])
    equal = rnd.random() < 0.4
    nodes = [_node(rnd, number, subjects, equal=equal) for number in range(count)]
    bound = [_pod(rnd, f"on-{number}", subjects, f"n{rnd.randrange(count)}", count) for number in range(rnd.randint(0, 2 * count))]
    waiting = [_pod(rnd, f"new-{number}", subjects, None, count) for number in range(rnd.choice([1, 2, 3, 6]))]
    classes = [{"kind": "PriorityClass", "metadata": {"name": name}, "value": value} for name, value in (("high", 1000), ("low", -5))]
    owner = {"kind": "Service", "metadata": {"name": "x", "namespace": "default"}, "spec": {"selector": {"app": "x"}}}
    return [*classes, *nodes, *bound, *_budgets(rnd, subjects), *([owner] if "owners" in subjects else []), *waiting]


def _some(rnd: Random, share: float, subject: str, subjects: set[str]) -> bool:
    return subject in subjects and rnd.random() < share


def _node(rnd: Random, number: int, subjects: set[str], *, equal: bool) -> Json:
    name = f"n{number}"
    labels = {"kubernetes.io/hostname": name}
    if equal or rnd.random() < 0.8:
        labels["topology.kubernetes.io/zone"] = f"z{number % 2}"
    amounts = {"cpu": "6", "memory": "6Gi", "pods": "20"} if equal else {"cpu": rnd.choice(["4", "6"]), "memory": "6Gi", "pods": "20"}
    more = {"device": {"vendor.example/fpga": "3"}, "disk": {"ephemeral-storage": "8Gi"}, "huge pages": {"hugepages-2Mi": "16Mi"}}
    for subject, extra in more.items():
        if subject in subjects and (equal or rnd.random() < 0.8):
            amounts |= extra
    if _some(rnd, 0.4, "lacking", subjects):
        amounts.pop(rnd.choice(["cpu", "memory"]))
    status: Json = {"allocatable": amounts}
    if "images" in subjects:
        found = [name for name in "ab" if rnd.random() < 0.5]
        status["images"] = [{"names": [f"reg.example/{name}:1"], "sizeBytes": rnd.choice([50, 400, 900]) * 10**6} for name in found]
    spec: Json = {"unschedulable": True} if _some(rnd, 0.3, "cordoned", subjects) else {}
    if _some(rnd, 0.4, "taints", subjects):
        spec["taints"] = [{"key": "d", "value": "v", "effect": rnd.choice(["NoSchedule", "PreferNoSchedule"])}]
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def _requests(rnd: Random, subjects: set[str]) -> Json:
    found: Json = {}
    if _some(rnd, 0.3, "nothing", subjects):
        return found
    for subject, name, values in (
        ("device", "vendor.example/fpga", ["0", "1", "1", "2"]), ("disk", "ephemeral-storage", ["1Gi", "3Gi"]),
        ("huge pages", "hugepages-2Mi", ["4Mi"]),
    ):  # fmt: skip
        if _some(rnd, 0.6, subject, subjects):
            found[name] = rnd.choice(values)
            if rnd.random() < 0.5:
                return found
    if rnd.random() < 0.85:
        found["cpu"] = rnd.choice(["0", "100m", "1"] if "zero" in subjects else ["100m", "250m", "500m", "1", "2"])
    if rnd.random() < 0.85:
        found["memory"] = rnd.choice(["0", "512Mi", "2Gi"] if "zero" in subjects else ["100Mi", "512Mi", "1Gi", "2Gi"])
    return found


def _container(rnd: Random, name: str, subjects: set[str], **more: Any) -> Json:
    found: Json = {"name": name, "image": f"reg.example/{rnd.choice('ab')}:1", "resources": {"requests": _requests(rnd, subjects)}, **more}
    if _some(rnd, 0.3, "ports", subjects):
        found["ports"] = [{"containerPort": 80, "hostPort": rnd.choice([80, 81])}]
    return found


def _spec(rnd: Random, subjects: set[str]) -> Json:
    spec: Json = {"containers": [_container(rnd, f"c{number}", subjects) for number in range(rnd.choice([1, 1, 2]))]}
    before = [_container(rnd, "i0", subjects)] if _some(rnd, 0.6, "init", subjects) else []
    if _some(rnd, 0.6, "sidecars", subjects):
        before.append(_container(rnd, "s0", subjects, restartPolicy="Always"))
    if before:
        spec["initContainers"] = before
    if _some(rnd, 0.5, "overhead", subjects):
        spec["overhead"] = {"cpu": "250m", "memory": "120Mi"}
    if _some(rnd, 0.5, "pod level", subjects):
        spec["resources"] = {"requests": {"cpu": rnd.choice(["1", "2"]), "memory": "1Gi"}}
    if not subjects.isdisjoint({"priorities", "nominated", "budgets"}) and rnd.random() < 0.7:
        spec["priorityClassName"] = rnd.choice(["high", "low"])
    if _some(rnd, 0.4, "taints", subjects):
        spec["tolerations"] = [{"key": "d", "operator": "Exists"}]
    if _some(rnd, 0.6, "spread", subjects):
        spec["topologySpreadConstraints"] = [{
            "maxSkew": 1, "topologyKey": rnd.choice(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]),
            "whenUnsatisfiable": rnd.choice(["DoNotSchedule", "ScheduleAnyway"]), "labelSelector": {"matchLabels": {"app": "x"}},
        }]  # fmt: skip
    if _some(rnd, 0.6, "affinity", subjects):
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": rnd.choice("xy")}}}
        hard, soft = {REQUIRED: [term]}, {PREFERRED: [{"weight": rnd.choice([1, 50]), "podAffinityTerm": term}]}
        spec["affinity"] = {rnd.choice(["podAffinity", "podAntiAffinity"]): rnd.choice([hard, soft])}
    if _some(rnd, 0.5, "preferences", subjects):
        term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z0"]}]}
        spec.setdefault("affinity", {})["nodeAffinity"] = {PREFERRED: [{"weight": rnd.choice([1, 50]), "preference": term}]}
    return spec


def _pod(rnd: Random, name: str, subjects: set[str], host: str | None, nodes: int) -> Json:
    spec, status = _spec(rnd, subjects), dict[str, Any](phase="Pending")
    meta: Json = {"name": name, "namespace": "default", "labels": {"app": rnd.choice("xy")}, "uid": name}
    if host is None:
        if _some(rnd, 0.5, "nominated", subjects):
            status["nominatedNodeName"] = f"n{rnd.randrange(nodes)}"
        return {"kind": "Pod", "metadata": meta, "spec": spec, "status": status}
    spec["nodeName"] = host
    status = {"phase": "Running", "startTime": f"2026-01-0{rnd.randint(1, 9)}T00:00:00Z"}
    if _some(rnd, 0.5, "resized", subjects):
        amounts = [{"cpu": rnd.choice(["50m", "3"])} for _ in range(2)]
        status["containerStatuses"] = [{"name": "c0", "allocatedResources": amounts[0], "resources": {"requests": amounts[1]}}]
    if _some(rnd, 0.3, "leaving", subjects):
        meta["deletionTimestamp"] = "2026-01-10T00:00:00Z"
        if rnd.random() < 0.5:
            status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
    return {"kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def _budgets(rnd: Random, subjects: set[str]) -> list[Json]:
    if "budgets" not in subjects:
        return []
    status = {"disruptionsAllowed": rnd.choice([0, 1, 2]), "disruptedPods": {"on-0": "2026-01-01T00:00:00Z"} if rnd.random() < 0.4 else {}}
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "x"}}}
    meta = {"name": "budget", "namespace": "default"}
    return [{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec, "status": status}]
