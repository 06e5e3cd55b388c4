"""The requests of containers while a pod is resized in place: cells ``resized``. Each gives the pod with the
requests that count.

The pod itself is the answer where these are what the spec says, as for all pods but a few. All need gate
InPlacePodVerticalScaling. Upstream: pkg/api/v1/resource/helpers.go PodRequests; from 1.32
component-helpers/resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import is_

from msgspec.structs import replace

from ...api.objects import NO_QUANTITIES, ZERO, Container, ContainerStatus, Map, Pod, Quantity
from ..release import Gates

GATE = "InPlacePodVerticalScaling"
POD_LEVEL_GATE = "InPlacePodLevelResourcesVerticalScaling"
INFEASIBLE = "Infeasible"
Amounts = Map[Quantity]
_Statuses = Mapping[str, ContainerStatus]
"""Container -> its status."""
_Rule = Callable[[Container, ContainerStatus, bool], Amounts]
"""(container, its status, whether the node cannot do what is asked) -> the requests that count."""


def by_allocated(pod: Pod, gates: Gates) -> Pod:
    """The larger of requests and allocation; the allocation where the resize is infeasible."""
    return _with_requests(pod, _allocated, pod.status.resize == INFEASIBLE) if gates.get(GATE, False) else pod


def by_reported(pod: Pod, gates: Gates) -> Pod:
    """The larger of requests and the container's own; the container's where the resize is infeasible."""
    return _with_requests(pod, _reported, pod.status.resize == INFEASIBLE) if gates.get(GATE, False) else pod


def by_reported_and_allocated(pod: Pod, gates: Gates) -> Pod:
    """The largest of requests, the container's own and the allocation; for sidecars too.

    What is asked for does not count where condition PodResizePending says that it is infeasible.
    """
    spec = pod.spec
    status = pod.status
    if not gates.get(GATE, False):
        return pod
    if _agree(spec.containers, status.container_statuses) and _agree(
        spec.init_containers, status.init_container_statuses
    ):
        return pod
    return _with_requests(pod, _reported_or_allocated, _is_infeasible(pod), sidecars=True)


def by_both_and_of_pod(pod: Pod, gates: Gates) -> Pod:
    """As :func:`by_reported_and_allocated`, and of the pod as a whole with gate
    InPlacePodLevelResourcesVerticalScaling."""
    found = by_reported_and_allocated(pod, gates)
    reported = pod.status.resources
    asked = pod.spec.requests
    if reported is None or not asked or not gates.get(GATE, False) or not gates.get(POD_LEVEL_GATE, False):
        return found
    amounts = _largest(
        NO_QUANTITIES if _is_infeasible(pod) else asked, reported.requests, pod.status.allocated_resources
    )
    counted = Map({name: amounts.get(name, ZERO) for name in asked})
    if counted == asked:  # pods that are not resized share the template of those that wait
        return found
    return replace(found, spec=replace(found.spec, resources=replace(found.spec.resources, requests=counted)))


def _is_infeasible(pod: Pod) -> bool:
    """Whether condition PodResizePending says so."""
    # Upstream: only the first condition of the type is looked at, and not whether it is true.
    pending = next((one for one in pod.status.conditions if one.type == "PodResizePending"), None)
    return pending is not None and pending.reason == INFEASIBLE


def _agree(containers: Sequence[Container], statuses: Sequence[ContainerStatus]) -> bool:
    """Whether it is plain that *statuses* say what the spec does, as for most pods that run: equal amounts
    are one object, where read."""
    return len(containers) == len(statuses) and all(
        status.name == container.name
        and (status.requests is container.requests or status.requests is None)
        and (status.allocated_resources is container.requests or not status.allocated_resources)
        for container, status in zip(containers, statuses, strict=True)
    )


def _allocated(container: Container, status: ContainerStatus, infeasible: bool) -> Amounts:
    if infeasible:
        return status.allocated_resources
    return _largest(container.requests, status.allocated_resources)


def _reported(container: Container, status: ContainerStatus, infeasible: bool) -> Amounts:
    if status.requests is None:
        return container.requests
    return status.requests if infeasible else _largest(container.requests, status.requests)


def _reported_or_allocated(container: Container, status: ContainerStatus, infeasible: bool) -> Amounts:
    if status.requests is None:
        return container.requests
    return _largest(
        NO_QUANTITIES if infeasible else container.requests, status.requests, status.allocated_resources
    )


def _largest(first: Amounts, *others: Amounts) -> Amounts:
    """The largest amount of each resource; *first* itself where no other is larger."""
    larger: dict[str, Quantity] = {}
    for amounts in others:
        if amounts is first or amounts == first:
            continue
        for name, quantity in amounts.items():
            known = larger.get(name, first.get(name))
            if known is None or quantity.nanos > known.nanos:
                larger[name] = quantity
    return Map({**first, **larger}) if larger else first


def _with_requests(pod: Pod, rule: _Rule, infeasible: bool, *, sidecars: bool = False) -> Pod:
    """*pod* with the requests that count by *rule*; *pod* itself where they are those of the spec."""
    spec = pod.spec
    status = pod.status
    known = {
        one.name: one
        for one in (*status.container_statuses, *(status.init_container_statuses if sidecars else ()))
    }
    containers = _counted(spec.containers, known, rule, infeasible)
    init_containers = spec.init_containers
    if sidecars and init_containers:
        restartable = {
            name: known[name]
            for name in (one.name for one in init_containers if one.is_sidecar)
            if name in known
        }
        init_containers = _counted(init_containers, restartable, rule, infeasible)
    if containers is spec.containers and init_containers is spec.init_containers:
        return pod
    return replace(pod, spec=replace(spec, containers=containers, init_containers=init_containers))


def _counted(
    containers: tuple[Container, ...], known: _Statuses, rule: _Rule, infeasible: bool
) -> tuple[Container, ...]:
    """*containers* with the requests that count; the tuple itself where nothing is different."""
    found = tuple(_asking(container, known.get(container.name), rule, infeasible) for container in containers)
    return containers if all(map(is_, found, containers)) else found


def _asking(container: Container, status: ContainerStatus | None, rule: _Rule, infeasible: bool) -> Container:
    amounts = container.requests if status is None else rule(container, status, infeasible)
    if amounts is container.requests or amounts == container.requests:
        return container
    return replace(container, resources=replace(container.resources, requests=amounts))
