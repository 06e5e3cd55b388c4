"""Trials of the points in which ``policy migrate`` is not as upstream's translation was: Policies, and clusters to try both ways on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from kubeclassic.algorithmprovider.config import AlgorithmConfiguration, AlgorithmSource, decode_policy, policy_document
from kubeclassic.algorithmprovider.policy import Policy, read_policy
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import KubeObject, Node, Pod
from kubeclassic.api.reading.decode import decode
from kubeclassic.api.record import plain
from kubeclassic.framework.migrate import deviations
from kubeclassic.framework.migrate.translation import migrate
from kubeclassic.framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES
from kubeclassic.simulation.compare.migration import PROFILE, Check
from kubeclassic.simulation.compare.newerlabels import with_newer_labels
from kubeclassic.simulation.conform import find_families, read_items, read_lines
from kubeclassic.simulation.scenario import Scenario, read_scenario
from tests.support.build import node, obj, pod

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
CASES, EXAMPLES = ROOT / "tests" / "conformance", ROOT / "examples"
ZONE, HOSTNAME = "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname"
GPU = "example.com/gpu"
NEWEST = next(reversed(FRAMEWORK_RELEASES))
Clusters = Callable[[], Iterator[Scenario]]


# --- clusters -------------------------------------------------------------------------------------------------------


@attrs.frozen
class Drawn:
    """Clusters by lot, as many as there are *seeds*: nodes of unlike sizes in three zones, services, pods that ask for cpu and memory."""

    seeds: int = 6
    constraints: float = 0.0
    """The share of pods with a constraint of topology spread."""
    preferring: float = 0.3
    """The share of pods that prefer some racks."""
    nodes: int = 20

    def __call__(self) -> Iterator[Scenario]:
        for seed in range(self.seeds):
            lots = random.Random(seed)
            services = [obj({"kind": "Service", "metadata": {"name": app}, "spec": {"selector": {"app": app}}}) for app in APPS[:4]]
            nodes = [self._node(number, lots) for number in range(self.nodes)]
            there = [self._pod(f"b{number}", lots, on=lots.choice(nodes).name) for number in range(2 * self.nodes)]
            yield Scenario((*services, *nodes, *there), tuple(self._pod(f"p{number}", lots) for number in range(60)))

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


@attrs.frozen
class Objects:
    """The clusters and waiting pods of a family of conformance cases, whatever these configure; events are ignored."""

    family: str
    release: str = "1.16"
    folder: Path = CASES

    def __call__(self) -> Iterator[Scenario]:
        (family,) = (found for found in find_families([self.folder / self.release]) if found.name == self.family)
        for case in read_lines(family.cases):
            waiting = [item for verb, item in read_items(case) if verb == "schedule" and isinstance(item, Pod)]
            yield Scenario(tuple(_objects(case)), tuple(waiting))


def _objects(case: Json) -> Iterator[KubeObject]:
    for document in case["objects"]:
        item = decode(document, case["name"], strict=False)
        if item is not None and not (isinstance(item, Pod) and item.is_terminal):
            yield item


def example() -> Iterator[Scenario]:
    """The cluster of the examples."""
    yield read_scenario(EXAMPLES / "cluster")


def full_of_disks() -> Iterator[Scenario]:
    """Three nodes that take two disks each, by their allocatable and by their CSINode, and eight pods with a disk."""
    names, driver = ("n0", "n1", "n2"), {"name": "ebs.csi.aws.com", "allocatable": {"count": 2}}
    migrated = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
    found = [
        obj({"kind": "CSINode", "metadata": {"name": name, "annotations": migrated}, "spec": {"drivers": [{**driver, "nodeID": name}]}})
        for name in names
    ]
    nodes = [node(name, allocatable={"attachable-volumes-aws-ebs": "2"}) for name in names]
    disks = [{"name": "disk", "awsElasticBlockStore": {"volumeID": f"d{number}"}} for number in range(8)]
    yield Scenario((*nodes, *found), tuple(pod(f"p{number}", volumes=[disk]) for number, disk in enumerate(disks)))


# --- Policies -------------------------------------------------------------------------------------------------------


def written(name: str) -> Policy:
    """A Policy of the examples."""
    return decode_policy(policy_document(EXAMPLES / "policies" / name))


def scoring(*entries: Json, filters: tuple[Json, ...] = ({"name": "GeneralPredicates"},), **weights: int) -> Policy:
    """A Policy with priorities by name and weight, and *entries* with arguments."""
    priorities = [{"name": name, "weight": weight} for name, weight in weights.items()]
    return read_policy({"kind": "Policy", "apiVersion": "v1", "predicates": list(filters), "priorities": [*priorities, *entries]})


def ratio(weight: int, *line: tuple[int, int], resources: Mapping[str, int] | None = None) -> Json:
    """A priority along a line from utilization to score."""
    shape = [{"utilization": utilization, "score": score} for utilization, score in line]
    counted = [{"name": name, "weight": number} for name, number in (resources or {}).items()]
    return {"name": "Fill", "weight": weight, "argument": {"requestedToCapacityRatioArguments": {"shape": shape, "resources": counted}}}


def spread_over(label: str, weight: int) -> Json:
    """A priority that spreads a service's pods over the values of *label*."""
    return {"name": f"Spread-{label[:4]}", "weight": weight, "argument": {"serviceAntiAffinity": {"label": label}}}


PREFERS_DISK = {"name": "Disk", "weight": 2, "argument": {"labelPreference": {"label": "disk", "presence": True}}}
WANTS_DISK = {"name": "CheckNodeLabelPresence", "argument": {"labelsPresence": {"labels": ["disk"], "presence": True}}}
TAINTS = {"name": "PodToleratesNodeTaints"}
PRESSURES = tuple({"name": f"CheckNode{kind}Pressure"} for kind in ("Memory", "Disk", "PID"))


# --- trials ---------------------------------------------------------------------------------------------------------


@attrs.frozen
class Trial:
    """A Policy (None: the default provider) and clusters, on which one deviation is tried."""

    deviation: str
    what: str
    policy: Policy | None
    clusters: Clusters
    release: str = "1.16"
    config: AlgorithmConfiguration = attrs.field(factory=AlgorithmConfiguration)
    target: str = DEFAULT_FRAMEWORK

    def counts(self, without: tuple[str, ...] = ()) -> Counter[str]:
        """Decisions by verdict, as ``Agreement.record()`` names them, over all clusters; nodes have zones under both names of the label."""
        release, found = RELEASES[self.release], Counter[str]()
        target = FRAMEWORK_RELEASES[self.target]
        profile = migrate(self.policy, release, self.config, target=target, without=without).document
        for scenario in map(with_newer_labels, self.clusters()):
            found.update(plain(Check(self.policy, release, self.config, profile, target=target).on(scenario).agreements[PROFILE].record()))
        return found


def _gates(**gates: bool) -> AlgorithmConfiguration:
    return AlgorithmConfiguration(gates=gates)


PACKING = AlgorithmConfiguration(source=AlgorithmSource(provider="ClusterAutoscalerProvider"))
TENT, HILL = ((0, 0), (50, 10), (100, 0)), ((0, 0), (70, 10), (100, 5))
SHARED = {"LeastRequestedPriority": 2, "BalancedResourceAllocation": 1, "NodeAffinityPriority": 1}


def trials(folder: Path = CASES, seeds: int = 4) -> list[Trial]:
    """Every trial, on the conformance cases in *folder* and on *seeds* drawn clusters each."""
    drawn, crowd = Drawn(seeds), {"SelectorSpreadPriority": 1, "NodeAffinityPriority": 1}

    def cases(family: str, release: str = "1.16") -> Objects:
        return Objects(family, release, folder)

    return [
        Trial(deviations.NEVER_RUN, "host ports: kubernetes-old-names", written("kubernetes-old-names.json"), cases("hostports")),
        Trial(deviations.OWN_DEFAULTS, "drawn: default provider", None, drawn),
        Trial(deviations.OWN_DEFAULTS, "topology spread: default provider", None, cases("topologyspread")),
        Trial(deviations.OWN_DEFAULTS, "provider: default provider", None, cases("provider")),
        Trial(deviations.LABEL_PRESENCE, "example: openshift-labels", written("openshift-labels.json"), example),
        Trial(
            deviations.LABEL_PRESENCE, "node affinity: label disk",
            scoring(filters=({"name": "GeneralPredicates"}, WANTS_DISK), LeastRequestedPriority=1), cases("nodeaffinity"),
        ),
        Trial(
            deviations.LABEL_PREFERENCE, "node affinity: label disk",
            scoring(PREFERS_DISK, LeastRequestedPriority=1, NodeAffinityPriority=2), cases("nodeaffinity"),
        ),
        Trial(deviations.LABEL_PREFERENCE, "drawn: label disk", scoring(PREFERS_DISK, LeastRequestedPriority=1), drawn),
        Trial(
            deviations.ANTI_AFFINITY, "drawn: zones and hosts",
            scoring(spread_over(ZONE, 1), SelectorSpreadPriority=1, LeastRequestedPriority=1, BalancedResourceAllocation=1), drawn,
        ),
        Trial(
            deviations.ANTI_AFFINITY, "drawn: racks, which seven nodes in ten have",
            scoring(spread_over("rack", 2), LeastRequestedPriority=1, BalancedResourceAllocation=1), drawn,
        ),
        Trial(
            deviations.RATIO_RESOURCES, "drawn: bin-packing on 1.15",
            scoring(ratio(2, (0, 0), (100, 10), resources={"cpu": 1, "memory": 1, GPU: 5}), **crowd), drawn, "1.15",
        ),
        Trial(
            deviations.DISK_LIMITS, "disks: limits on the newest release",
            scoring(filters=({"name": "GeneralPredicates"}, {"name": "MaxEBSVolumeCount"}), LeastRequestedPriority=1), full_of_disks,
            target=NEWEST,
        ),
        *_of_weights(drawn, cases, seeds, crowd),
    ]  # fmt: skip


def _of_weights(drawn: Drawn, cases: Callable[[str], Objects], seeds: int, crowd: Mapping[str, int]) -> list[Trial]:
    """The trials of what scores weigh, and of preemption."""
    return [
        Trial(deviations.ONE_STRATEGY, "drawn: least and a tent", scoring(ratio(1, *TENT), LeastRequestedPriority=1, **crowd), drawn),
        Trial(deviations.ONE_STRATEGY, "drawn: most and a hill", scoring(ratio(1, *HILL), MostRequestedPriority=1, **crowd), drawn),
        Trial(
            deviations.ONE_STRATEGY, "drawn: least 2 and most 3",
            scoring(LeastRequestedPriority=2, MostRequestedPriority=3, **crowd), drawn,
        ),
        Trial(
            deviations.DOUBLE_BALANCE, "drawn: least and balance",
            scoring(LeastRequestedPriority=1, BalancedResourceAllocation=1), drawn,
        ),
        Trial(
            deviations.DOUBLE_BALANCE, "drawn: most and balance",
            scoring(MostRequestedPriority=1, BalancedResourceAllocation=1), drawn,
        ),
        Trial(deviations.DOUBLE_BALANCE, "drawn: default provider", None, drawn),
        Trial(deviations.DOUBLE_BALANCE, "drawn: ClusterAutoscalerProvider", None, drawn, config=PACKING),
        Trial(deviations.DOUBLE_BALANCE, "provider: default provider", None, cases("provider")),
        Trial(
            deviations.HEAVIER_SPREAD, "drawn: services 10, constraints 1",
            scoring(**SHARED, SelectorSpreadPriority=10, EvenPodsSpreadPriority=1), Drawn(seeds, constraints=0.3),
            config=_gates(EvenPodsSpread=True),
        ),
        Trial(
            deviations.HEAVIER_SPREAD, "mixed: services 4, constraints 1",
            scoring(**SHARED, SelectorSpreadPriority=4, EvenPodsSpreadPriority=1), cases("mixed"), config=_gates(EvenPodsSpread=True),
        ),
        Trial(
            deviations.PREEMPTION_OFF, "preemption: default provider", None, cases("preemption"),
            config=AlgorithmConfiguration(disable_preemption=True),
        ),
    ]  # fmt: skip


def refused(folder: Path = CASES) -> Trial:
    """Conditions on 1.12: upstream's translation refuses the Policy, so that nothing at all is decided."""
    policy = scoring(filters=({"name": "GeneralPredicates"}, *PRESSURES, TAINTS), LeastRequestedPriority=1)
    clusters = Objects("taints", "1.12", folder)
    return Trial(deviations.OLDER_RULES, "taints on 1.12: pressures", policy, clusters, "1.12", _gates(TaintNodesByCondition=False))
