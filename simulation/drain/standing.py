"""The cluster before and after a drain: what nodes have, what pods request of it, and which pods are where."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...api.objects import Pod
from ...core.engine import Engine
from ..capacity.room import Room
from .plan import Plan
from .settled import Settled
from .trial import Eviction


@attrs.frozen(eq=False)
class Standing:
    """The nodes at one moment."""

    room: Room
    pods: Mapping[str, tuple[str, ...]]
    """Node -> the keys of the pods on it."""

    @classmethod
    def of(cls, engine: Engine) -> Standing:
        """The nodes as *engine* has them now."""
        pods = {name: tuple(pod.key for pod in on) for name, on in engine.pods_by_node().items()}
        return cls(Room.of(engine), pods)


def before_and_after(settled: Settled, plan: Plan) -> tuple[Standing, Standing]:
    """The cluster that *plan* begins with, and what it makes of it."""
    run = settled.trial().run
    before = Standing.of(run.engine)
    for eviction in plan.evictions:
        run.delete(eviction.pod)
        if eviction.replacement is not None and eviction.to is not None:
            run.put(_replaced(eviction, eviction.replacement, eviction.to))
    return before, Standing.of(run.engine)


def _replaced(eviction: Eviction, key: str, node: str) -> Pod:
    """The pod that takes the place of the evicted one, on its node."""
    pod = eviction.pod
    metadata = attrs.evolve(pod.metadata, name=key.rpartition("/")[2], uid=key)
    return attrs.evolve(pod, metadata=metadata, spec=attrs.evolve(pod.spec, node_name=node))
