"""What makes the amount that a pod counts with, where that is not the sum over its containers: init containers, the whole pod, a resize."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...api.objects import Container, ContainerStatus, Map, Pod, PodSpec, ResourceRequirements
from ...api.objects.quantity import Quantity
from ...api.record import replace
from ...api.words import listed, rounded
from ...core.engine import Engine
from ...core.pods.requests import amount


def makers_of(engine: Engine, pod: Pod, name: str, counted: int) -> str:
    """What makes the *counted* amount of a resource, in words; empty if it is what the containers of *pod* request.

    Of a pod on a node sidecars are containers like others: they run there.
    """
    given = count_of_spec(engine, _as_given(pod), name)
    if pod.spec.node_name and given != count_of_spec(engine, pod.spec, name):
        return f"a resize that is not done, {rounded(name, given)} allocated"
    sidecars = [one for one in pod.spec.init_containers if one.is_sidecar] if pod.spec.node_name else []
    own = sum(amount(name, one.requests[name]) for one in (*pod.spec.containers, *sidecars) if name in one.requests)
    makers = [] if counted == own else list(_makers(engine, pod.spec, name))
    return listed(makers) if makers else ""


def _makers(engine: Engine, spec: PodSpec, name: str) -> Iterator[str]:
    """Each part of the spec without which the amount would be another one."""

    def count(changed: PodSpec) -> int:
        return count_of_spec(engine, changed, name)

    whole = count(spec)
    if count(replace(spec, resources=ResourceRequirements())) != whole:
        yield "the pod as a whole (spec.resources)"
        return
    for at, container in enumerate(spec.init_containers):
        if count(replace(spec, init_containers=(*spec.init_containers[:at], *spec.init_containers[at + 1 :]))) != whole:
            yield f"{'sidecar' if container.is_sidecar else 'init container'} {container.name}"
    if count(replace(spec, overhead=Map())) != whole:
        yield "the overhead of its RuntimeClass"


def count_of_spec(engine: Engine, spec: PodSpec, name: str) -> int:
    """How much of a resource a pod with *spec* asks for, as the release counts it."""
    counts: Mapping[str, int] = engine.release.incoming(Pod(spec=spec), engine.gates)
    return counts.get(name, 0)


def _as_given(pod: Pod) -> PodSpec:
    """The spec with what the node has given to each container, where it says so."""
    spec, status = pod.spec, pod.status
    known = {one.name: one for one in (*status.container_statuses, *status.init_container_statuses)}

    def given(container: Container) -> Container:
        one = known.get(container.name, ContainerStatus())
        amounts: Mapping[str, Quantity] = one.allocated_resources or one.requests or {}
        return replace(container, resources=replace(container.resources, requests=Map({**container.requests, **amounts})))

    if not known:
        return spec
    return replace(spec, containers=tuple(map(given, spec.containers)), init_containers=tuple(map(given, spec.init_containers)))
