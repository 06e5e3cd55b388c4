"""Nodes that are gone at once, as when a zone fails: their pods are made anew, and find another node or wait."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import attrs

from ...api.meaning.labels import zone_of
from ...api.objects import KubeObject, Node, PersistentVolumeClaim, Pod, ResourceClaim
from ...core.engine import Engine
from ..replacements import with_claims
from ..scenario import Scenario
from ..simulate import Outcome, Simulation
from .auto import StayingPod
from .rules import DAEMONSET_ENDS, MIRROR_ENDS, foreign_scheduler, is_daemon, is_made_again, is_mirror
from .trial import DrainTrial, EvictedPod, SteadyState, new_claims, volumes_told


@attrs.frozen(eq=False)
class Loss:
    """A cluster after nodes are gone: what owners make in place of the pods on them waits."""

    steady: SteadyState
    """The cluster before."""
    nodes: tuple[str, ...]
    scenario: Scenario
    evictions: list[EvictedPod]
    """The pods that lose their node."""
    ending: tuple[StayingPod, ...]
    """Pods that end with their node."""
    trial: DrainTrial
    """It has the budgets, and the names of new pods."""

    @classmethod
    def of(cls, steady: SteadyState, nodes: Collection[str], *, recreates_bare: bool = False) -> Loss:
        """What is left of *steady* without *nodes*."""
        trial = steady.trial(recreates_bare=recreates_bare)
        there = [(pod, name) for name in nodes for pod in trial.pods_on(name)]
        ending = tuple(StayingPod(pod.key, name, why) for pod, name in there if (why := _why_it_ends(pod)) is not None)
        evictions = [EvictedPod(pod, name, 1) for pod, name in there if _why_it_ends(pod) is None]
        for eviction in evictions:
            trial.leave(eviction.pod)
        made = [item for eviction in evictions for item in _made_for(eviction, trial)]
        kept = (_as_it_is(item, trial.engine) for item in steady.objects if _node_of(item) not in nodes)
        objects = *(item for item in kept if item is not None), *(item for item in made if not isinstance(item, Pod))
        scenario = Scenario(objects, tuple(item for item in made if isinstance(item, Pod)))
        return cls(steady, tuple(nodes), scenario, evictions, ending, trial)

    def place(self) -> None:
        """Schedule what waits, and note in the evictions where each pod goes, or why it waits; pods that are preempted join them."""
        engine = self.steady.make_engine()
        simulation = Simulation(self.scenario, engine, self.steady.order, replacements=self.trial.replacements)
        for _ in simulation.decisions():
            pass
        running = {item.uid for item in self.scenario.objects if isinstance(item, Pod)}
        for one in simulation.evictions:
            self.trial.budgets.take(one.pod)
            if one.pod.uid in running:
                self.evictions.append(EvictedPod(one.pod, one.node, 1, one.by, one.replacement))
        for eviction in self.evictions:
            if eviction.replacement is not None:
                last = _last(simulation, eviction.replacement)
                eviction.replacement, eviction.to = last.pod.key, last.host if last.word == "placed" else None
                if eviction.to is None:
                    eviction.why = f"{last.error}{'' if last.eviction else volumes_told(last.pod, engine)}"
                else:
                    self.trial.budgets.give(last.pod)

    def like_waiting(self, *, elsewhere: bool) -> list[str]:
        """Nodes such as those that pods lost which wait now, one a zone: of those that are left if *elsewhere*, where there are any."""
        known = {node.name: node for node in self.steady.nodes}
        found: dict[object, str] = {}
        for lost in (known[one.node] for one in self.evictions if one.waits):
            alike = [node for node in known.values() if _kind(node) == _kind(lost) and (node.name in self.nodes) != elsewhere]
            for node in alike if elsewhere and alike else [lost]:
                found.setdefault((_kind(node), zone_of(node.labels)), node.name)
        return list(found.values())


def _kind(node: Node) -> object:
    """What nodes that can stand for each other have in common."""
    return node.status.allocatable, tuple(taint for taint in node.spec.taints if not taint.key.startswith("node.kubernetes.io/"))


def _why_it_ends(pod: Pod) -> str | None:
    """Why nothing is made in place of *pod* on another node, as it belongs to its own; None: it does not."""
    return DAEMONSET_ENDS if is_daemon(pod) else MIRROR_ENDS if is_mirror(pod) else None


def _made_for(eviction: EvictedPod, trial: DrainTrial) -> Iterator[KubeObject]:
    """The pod that is made in place of the lost one, with its claims; noted in *eviction*."""
    made = trial.replacements.of(eviction.pod) if is_made_again(eviction.pod) else None
    if made is None:
        other = foreign_scheduler(eviction.pod, trial.scheduler_names)
        eviction.why = None if other is None else f'it asks for another scheduler, "{other}"'
        return
    eviction.replacement = made.key
    made, claims = with_claims(made, trial.engine) if made.spec.resource_claims else (made, [])
    yield from (*claims, *(new_claims(made, trial.engine) if made.spec.volumes else ()), made)


def _node_of(item: KubeObject) -> str:
    return item.name if isinstance(item, Node) else item.spec.node_name if isinstance(item, Pod) else ""


def _as_it_is(item: KubeObject, engine: Engine) -> KubeObject | None:
    """*item* as *engine* has it now; None if it is gone: claims go with their pods."""
    known = engine.listings.of(item) if isinstance(item, PersistentVolumeClaim | ResourceClaim) else None
    return item if known is None else known.get(item.key)


def _last(simulation: Simulation, pod: str) -> Outcome:
    """What became in the end of *pod*, or of what was made in its place."""
    found = simulation.outcomes[pod]
    while found.eviction is not None and found.eviction.replacement is not None:
        found = simulation.outcomes[found.eviction.replacement]
    return found
