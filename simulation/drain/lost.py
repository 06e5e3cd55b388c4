"""Nodes that are gone at once, as when a zone fails: their pods are made anew, and find another node or wait."""

from __future__ import annotations

from collections.abc import Collection

import attrs

from ...api.meaning.labels import zone_of
from ...api.objects import Node, PersistentVolumeClaim, Pod, ResourceClaim
from ..scenario import Scenario
from .auto import StayingPod
from .rules import DAEMONSET_STAYS, MIRROR_STAYS, is_daemon, stays_with_node
from .trial import DrainTrial, EvictedPod, MadeAgain, SteadyState, new_claims


@attrs.frozen(eq=False)
class Loss:
    """A cluster after *nodes* are gone. The evictions of *trial* are the pods that lost theirs."""

    steady: SteadyState
    """The cluster before."""
    nodes: Collection[str]
    trial: DrainTrial
    made: MadeAgain
    """What owners make in place of the pods, which waits."""
    ending: tuple[StayingPod, ...]
    """Pods that end with their node."""

    @classmethod
    def of(cls, steady: SteadyState, nodes: Collection[str], *, recreates_bare: bool = False) -> Loss:
        """What is left of *steady* without *nodes*."""
        order = "queue" if steady.order == "input" else steady.order
        trial = attrs.evolve(steady.trial(recreates_bare=recreates_bare), order=order, stops=False, rounds=1)
        there = [(pod, name) for name in nodes for pod in trial.pods_on(name)]
        for pod, _ in there:
            trial.leave(pod)
        for node in steady.nodes:
            if node.name in nodes:
                trial.run.delete(node)
        belongs = ((pod, name) for pod, name in there if stays_with_node(pod))
        ending = (StayingPod(pod.key, name, DAEMONSET_STAYS if is_daemon(pod) else MIRROR_STAYS) for pod, name in belongs)
        made = [one for pod, name in there if not stays_with_node(pod) for one in trial.replaced(EvictedPod(pod, name, 1))]
        return cls(steady, nodes, trial, made, tuple(ending))

    def scenario(self, scenario: Scenario) -> Scenario:
        """*scenario*, which the cluster was before, where the new pods wait."""
        engine, pods = self.trial.engine, [pod for pod, _ in self.made]
        others = (item for item in self.steady.objects if not isinstance(item, Node | Pod | PersistentVolumeClaim | ResourceClaim))
        volumes = [item for pod in pods if pod.spec.volumes for item in new_claims(pod, engine)]
        running = [pod for on in engine.pods_by_node().values() for pod in on]
        objects = (*engine.nodes(), *others, *engine.listings.claims, *engine.listings.resource_claims, *volumes, *running)
        return attrs.evolve(scenario, objects=objects, pending=tuple(pods))

    def like_waiting(self, *, elsewhere: bool) -> list[str]:
        """Nodes such as those that pods lost which wait now, one a zone: of those that are left if *elsewhere*, where there are any."""
        known, found = {node.name: node for node in self.steady.nodes}, dict[object, str]()
        for lost in (known[one.node] for one in self.trial.evictions if one.waits):
            left = [node for node in known.values() if elsewhere and node.name not in self.nodes and _kind(node) == _kind(lost)]
            for node in left or [lost]:
                found.setdefault((_kind(node), zone_of(node.labels)), node.name)
        return list(found.values())


def _kind(node: Node) -> object:
    """What nodes that can stand for each other have in common."""
    return node.status.allocatable, tuple(taint for taint in node.spec.taints if not taint.key.startswith("node.kubernetes.io/"))
