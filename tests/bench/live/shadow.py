"""``kubeclassic shadow`` beside kube-scheduler in a cluster that is too small: pods of four priorities come and preempt others."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

from tests.apiserver.answers import Object
from tests.apiserver.cluster import Kubelets, node_manifest, pod_manifest

from .programs import Running, kubeclassic
from .schedulers import Outcome, Site
from .servers import READER, Server, until

CLASSES = {"low": 100, "mid": 1000, "high": 10_000}
BURST = 50
BETWEEN, AFTER, BEGIN_WITHIN = 4.0, 20.0, 90.0
"""Seconds between two bursts, after the last one, and for both programs to begin."""
_TERM = {"labelSelector": {"matchLabels": {"app": "app-3"}}, "topologyKey": "failure-domain.beta.kubernetes.io/zone"}
_ANTI = {"labelSelector": {"matchLabels": {"app": "anti"}}, "topologyKey": "kubernetes.io/hostname"}


def run(site: Site) -> list[Outcome]:
    """One run; the lines of the shadow are kept in the folder of the server."""
    with site.server("shadow") as server:
        draw = random.Random(3)
        for name, value in CLASSES.items():
            server.remote.user.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        for number in range(site.nodes):
            server.remote.user.add_node(_node(number, draw))
        server.remote.serve(Kubelets(server.remote.user))
        original, shadow = site.original(server), _shadow(site, server)
        try:
            until(lambda: "following" in shadow.text() or shadow.text().count("\n") > 0, BEGIN_WITHIN)
            _play(site, server, draw)
            status = shadow.end()
        finally:
            original.kill()
            if shadow.status is None:
                shadow.kill()
        return [Outcome("shadow", f"ours {site.release} beside kube-scheduler", server.name, _judged(shadow.log), _wrong(status))]


def _shadow(site: Site, server: Server) -> Running:
    command = [*kubeclassic(site.python), "shadow", "--kubeconfig", server.kubeconfig(READER), "--release", site.release]
    return Running([*command, "--all", "-o", "json"], server.folder / "shadow.jsonl")


def _play(site: Site, server: Server, draw: random.Random) -> None:
    for number in range(site.pods):
        server.remote.user.create("pods", _pod(number, number > site.pods / 2, draw))
        if number % BURST == BURST - 1:
            time.sleep(BETWEEN)
    time.sleep(AFTER)


def _node(number: int, draw: random.Random) -> Object:
    found = node_manifest(f"node-{number:03d}", cpu=str(draw.choice([4, 6, 8])), memory=draw.choice(["8Gi", "16Gi"]))
    zones = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
    found["metadata"]["labels"] |= {**dict.fromkeys(zones, f"zone-{number % 3}"), "disk": draw.choice(["ssd", "hdd"])}
    return found


def _pod(number: int, is_large: bool, draw: random.Random) -> Object:
    kind, of_class = draw.randrange(10), draw.choice(["low", "low", "low", "mid", "high", None])
    specs: dict[int, Object] = {
        0: {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_ANTI]}}},
        1: {"nodeSelector": {"disk": "ssd"}},
        2: {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": _TERM}]}}},
    }
    spec = specs.get(kind, {}) | ({"priorityClassName": of_class} if of_class else {})
    cpu = draw.choice(["500m", "700m", "1"] if is_large else ["200m", "300m", "500m"])
    labels = {"app": "anti" if kind == 0 else f"app-{kind}"}
    return pod_manifest(f"pod-{number:04d}", cpu=cpu, memory="128Mi", labels=labels, **spec)


def _judged(log: Path) -> dict[str, int]:
    """How many decisions have which verdict."""
    found = {"decisions": 0, "same": 0, "equally good": 0, "different": 0}
    for line in log.read_text(encoding="utf-8").splitlines():
        judged = json.loads(line) if line.startswith("{") else {}
        if "verdict" in judged:
            found["decisions"] += 1
            found[judged["verdict"]] = found.get(judged["verdict"], 0) + 1
    return found


def _wrong(status: int) -> tuple[str, ...]:
    return () if status in (0, 1) else (f"shadow ended with status {status}",)
