"""What makes the amount that a pod counts with, where that is not the sum over its containers: init containers, the whole pod, a resize."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...api.objects import Map, Pod, PodSpec, ResourceRequirements
from ...api.record import replace
from ...api.words import listed, rounded
from ...core.engine import Engine
from ...core.pods.requests import amount, of_containers


def makers_of(engine: Engine, pod: Pod, name: str, counted: int) -> str:
    """What makes the *counted* amount of a resource, in words; empty if it is what the containers of *pod* request."""
    own = of_containers(pod, engine.gates).get(name, 0)
    resized = _allocated(pod, name) if pod.spec.node_name else None
    if resized is not None and resized != counted:
        return f"a resize that is not done, {rounded(name, resized)} allocated"
    makers = [] if counted == own else list(_makers(engine, pod.spec, name))
    return listed(makers) if makers else ""


def _makers(engine: Engine, spec: PodSpec, name: str) -> Iterator[str]:
    """Each part of the spec without which the amount would be another one."""

    def count(changed: PodSpec) -> int:
        counts: Mapping[str, int] = engine.release.incoming(Pod(spec=changed), engine.gates)
        return counts.get(name, 0)

    whole = count(spec)
    if count(replace(spec, resources=ResourceRequirements())) != whole:
        yield "the pod as a whole (spec.resources)"
        return
    for at, container in enumerate(spec.init_containers):
        if count(replace(spec, init_containers=(*spec.init_containers[:at], *spec.init_containers[at + 1 :]))) != whole:
            yield f"{'sidecar' if container.is_sidecar else 'init container'} {container.name}"
    if count(replace(spec, overhead=Map())) != whole:
        yield "the overhead of its RuntimeClass"


def _allocated(pod: Pod, name: str) -> int | None:
    """What the node has given to the containers of *pod*; None if it says nothing of that."""
    given = (one.allocated_resources.get(name) or (one.requests or Map()).get(name) for one in pod.status.container_statuses)
    found = [amount(name, one) for one in given if one is not None]
    return sum(found) if found else None
