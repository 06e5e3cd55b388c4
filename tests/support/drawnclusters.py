"""Clusters by lot, to try a Policy and a profile on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import attrs

from kubeclassic.api.objects import Node, Pod
from kubeclassic.simulation.scenario import Scenario
from tests.support.build import node, obj, pod

Json = dict[str, Any]
ZONE, HOSTNAME = "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname"
GPU = "example.com/gpu"


@attrs.frozen
class Drawn:
    """Clusters by lot, as many as there are *seeds*: nodes of unlike sizes in three zones, services, pods that ask for cpu and memory."""

    seeds: int = 6
    constraints: float = 0.0
    """The share of pods with a constraint of topology spread."""
    preferring: float = 0.3
    """The share of pods that prefer some racks."""
    nodes: int = 20
    pods: int = 60
    """Those that wait."""

    def __call__(self) -> Iterator[Scenario]:
        for seed in range(self.seeds):
            lots = random.Random(seed)
            services = [obj({"kind": "Service", "metadata": {"name": app}, "spec": {"selector": {"app": app}}}) for app in APPS[:4]]
            nodes = [self._node(number, lots) for number in range(self.nodes)]
            there = [self._pod(f"b{number}", lots, on=lots.choice(nodes).name) for number in range(2 * self.nodes)]
            yield Scenario((*services, *nodes, *there), tuple(self._pod(f"p{number}", lots) for number in range(self.pods)))

    @staticmethod
    def _node(number: int, lots: random.Random) -> Node:
        cpu = lots.choice([4, 8, 16, 32])
        labels = {HOSTNAME: f"n{number:02}", ZONE: f"z{number % 3}"}
        labels |= {"disk": "ssd"} if lots.random() < 0.5 else {}
        labels |= {"rack": f"k{lots.randrange(4)}"} if lots.random() < 0.7 else {}
        gpus = {GPU: "4"} if lots.random() < 0.3 else {}
        return node(labels[HOSTNAME], labels=labels, cpu=str(cpu), memory=f"{cpu * lots.choice([2, 4, 8])}Gi", allocatable=gpus)

    def _pod(self, name: str, lots: random.Random, on: str = "") -> Pod:
        app = {"app": lots.choice(APPS)}
        requests = {"cpu": f"{lots.choice([100, 250, 500, 1000, 2000])}m", "memory": f"{lots.choice([128, 512, 1024, 4096, 8192])}Mi"}
        requests |= {GPU: "1"} if lots.random() < 0.15 else {}
        spec: Json = {}
        if lots.random() < self.constraints:
            how = {"topologyKey": lots.choice([ZONE, HOSTNAME]), "whenUnsatisfiable": lots.choice(["DoNotSchedule", "ScheduleAnyway"])}
            spec["topologySpreadConstraints"] = [{"maxSkew": 1, **how, "labelSelector": {"matchLabels": app}}]
        if lots.random() < self.preferring:
            racks = {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["k1", "k2"]}]}
            preferred = [{"weight": lots.choice([1, 50, 100]), "preference": racks}]
            spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
        return pod(name, on=on, labels=app, requests=requests, **spec)


APPS = [f"app{number}" for number in range(6)]
