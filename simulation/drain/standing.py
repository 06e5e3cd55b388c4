"""The cluster before and after a drain: what nodes have, what pods request of it, and which pods are where."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from msgspec.structs import replace

from ...api.objects import Pod
from ...core.engine import Engine
from ..capacity.room import FreeRoom
from .plan import DrainPlan
from .steadystate import SteadyState
from .trial import EvictedPod


@attrs.frozen(eq=False)
class NodeOccupancy:
    """The nodes at one moment."""

    room: FreeRoom
    pods: Mapping[str, tuple[str, ...]]
    """Node -> the keys of the pods on it."""

    @classmethod
    def of(cls, engine: Engine) -> NodeOccupancy:
        """The nodes as *engine* has them now."""
        pods = {name: tuple(pod.key for pod in on) for name, on in engine.pods_by_node().items()}
        return cls(FreeRoom.of(engine), pods)


def before_and_after(steady: SteadyState, plan: DrainPlan) -> tuple[NodeOccupancy, NodeOccupancy]:
    """The cluster that *plan* begins with, and what it makes of it."""
    run = steady.trial().run
    before = NodeOccupancy.of(run.engine)
    for eviction in plan.evictions:
        run.delete(eviction.pod)
        if eviction.replacement is not None and eviction.to is not None:
            run.put(_replaced(eviction, eviction.replacement, eviction.to))
    return before, NodeOccupancy.of(run.engine)


def _replaced(eviction: EvictedPod, key: str, node: str) -> Pod:
    """The pod that takes the place of the evicted one, on its node."""
    pod = eviction.pod
    metadata = replace(pod.metadata, name=key.rpartition("/")[2], uid=key)
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node))
