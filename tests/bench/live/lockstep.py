"""The same pods, one by one, for kubeclassic in one cluster and kube-scheduler in another: both must choose
the same node, or one with as high a score.

Where the hosts differ, the pod is put on kube-scheduler's node, so that both clusters stay equal.
"""

import json
import random
import subprocess
import time
from collections import Counter
from contextlib import ExitStack

import yaml

from tests.apiserver import Kubelets, node_manifest, pod_manifest

from .programs import kubeclassic
from .schedulers import Outcome
from .servers import ADMIN

ZONES = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
"""The zone labels of nodes; releases read the first, the second, or both."""
SETTLED_WITHIN = 60.0
TRIED_FOR = 1.0
"""Seconds for a decision, and after a failure for a victim to leave."""


def run(site):
    """Run the scenario."""
    site.real()
    with ExitStack() as stack:
        ours, theirs = (
            stack.enter_context(site.server(name)) for name in ("lockstep-ours", "lockstep-original")
        )
        for server in (ours, theirs):
            _prepare(server, site.nodes)
        schedulers = (site.ours(ours, "ours"), site.original(theirs))
        try:
            counts, wrong = _steps(site, ours, theirs)
            seconds = [round(scheduler.seconds, 1) for scheduler in schedulers]
        finally:
            for scheduler in schedulers:
                scheduler.end()
        found = {**counts, "CPU s ours": seconds[0], "CPU s original": seconds[1]}
        return [
            Outcome("lockstep", f"{site.release} beside kube-scheduler", theirs.name, found, tuple(wrong))
        ]


def _prepare(server, nodes):
    draw = random.Random(5)
    for number in range(nodes):
        manifest = node_manifest(
            f"node-{number:02d}", cpu=str(draw.choice([2, 4, 8])), memory=draw.choice(["4Gi", "8Gi", "16Gi"])
        )
        manifest["metadata"]["labels"] |= {
            **dict.fromkeys(ZONES, f"zone-{number % 3}"),
            "disk": draw.choice(["ssd", "hdd"]),
            "rack": f"rack-{number % 5}",
        }
        if number % 9 == 3:
            manifest["spec"]["taints"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
        server.remote.user.add_node(manifest)
    service = {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
    server.remote.user.create("services", service)
    server.remote.serve(Kubelets(server.remote.user))


def _steps(site, ours, theirs):
    counts = Counter()
    wrong = []
    draw = random.Random(11)
    for number in range(site.pods):
        pod = _pod(number, draw)
        for server in (ours, theirs):
            server.remote.user.create("pods", pod)
        name = pod["metadata"]["name"]
        mine = _settled(ours, name)
        wanted = _settled(theirs, name)
        if mine == wanted:
            counts["bound, same node" if mine[0] == "bound" else "same message"] += 1
        elif (
            mine[0] == wanted[0] == "bound"
            and mine[1] in (best := _best(site, theirs, name))
            and wanted[1] in best
        ):
            counts["bound, as high a score"] += 1
        else:
            counts["different"] += 1
            wrong.append(f"{name}: {mine}, expected {wanted}")
        if mine[:2] != wanted[:2]:
            _follow(ours, pod, wanted[1])
    return counts, wrong


def _settled(server, name):
    """The outcome of a pod: (state, node, message)."""
    end = time.monotonic() + SETTLED_WITHIN
    while time.monotonic() < end:
        pod = server.remote.storage.of("pods").get(("default", name), {})
        if node := pod.get("spec", {}).get("nodeName"):
            return "bound", node, ""
        refused = [
            each for each in pod.get("status", {}).get("conditions", []) if each["type"] == "PodScheduled"
        ]
        if refused:
            time.sleep(TRIED_FOR)
            return "fits nowhere", "", refused[0].get("message", "")
        time.sleep(0.03)
    return "undecided", "", ""


def _best(site, server, name):
    """The nodes with the highest score for a bound pod, as if it were pending."""
    command = kubeclassic(site.python)
    taken = subprocess.run(
        [*command, "snapshot", "--kubeconfig", server.kubeconfig(ADMIN)],
        capture_output=True,
        check=True,
        cwd="/",
    )
    document = json.loads(taken.stdout)
    for item in document["items"]:
        if item["kind"] == "Pod" and item["metadata"]["name"] == name:
            item["spec"].pop("nodeName", None)
            item["status"] = {"phase": "Pending"}
    path = server.folder / f"{name}.json"
    path.write_text(json.dumps(document))
    asked = [*command, "explain", str(path), f"default/{name}", "--release", site.release, "-o", "json"]
    told = json.loads(subprocess.run(asked, capture_output=True, check=False, cwd="/").stdout or "{}")
    return (told.get("choice") or {}).get("ties") or []


def _follow(server, pod, node):
    """Put a pod on the same node as in the other cluster."""
    user = server.remote.user
    name = pod["metadata"]["name"]
    user.delete("pods", name, grace=0)
    while user.store.handle("GET", user.path("pods", name)).status != 404:
        time.sleep(0.03)
    if node:
        user.create("pods", {**pod, "spec": {**pod["spec"], "nodeName": node}})


KINDS = yaml.safe_load("""
8: [batch, {nodeSelector: {disk: ssd}}]
9:
- batch
- affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: rack, operator: In, values: [rack-1, rack-2]}]
10:
- zk
- affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {labelSelector: {matchLabels: {app: zk}}, topologyKey: kubernetes.io/hostname}
11:
- cache
- affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {labelSelector: {matchLabels: {app: web}}, topologyKey: rack}
12: [gpu, {tolerations: [{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}]}]
13: [nowhere, {nodeSelector: {disk: floppy}}]
14: [huge, {}]
""")
"""Number of a pod modulo 16 -> its app, and further fields of its spec; others are of app web."""


def _pod(number, draw):
    """Pod *number*, of one of many kinds."""
    cpu = draw.choice(["50m", "100m", "200m", "300m"])
    memory = draw.choice(["64Mi", "128Mi", "256Mi"])
    app, spec = KINDS.get(number % 16, ("web", {}))
    port = 8080 + draw.randrange(2) if number % 16 == 15 else 0
    cpu = "100" if app == "huge" else cpu
    return pod_manifest(
        f"pod-{number:03d}", cpu=cpu, memory=memory, host_port=port, labels={"app": app}, **spec
    )
