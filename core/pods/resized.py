"""The requests of containers while a pod is resized in place: cells ``resized``. Each gives the pod with the
requests that count.

That is the pod itself where these equal the spec, as for nearly all pods. All need gate
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
"""(container, its status, whether the resize is infeasible) -> the requests that count."""


def by_allocated(pod: Pod, gates: Gates) -> Pod:
    """The larger of requests and allocation; the allocation where the resize is infeasible."""
    return _with_requests(pod, _allocated, pod.status.resize == INFEASIBLE) if gates.get(GATE, False) else pod


def by_reported(pod: Pod, gates: Gates) -> Pod:
    """The larger of requests and the container's own; the container's where the resize is infeasible."""
    return _with_requests(pod, _reported, pod.status.resize == INFEASIBLE) if gates.get(GATE, False) else pod


def by_reported_and_allocated(pod: Pod, gates: Gates) -> Pod:
    """The largest of requests, the container's own and the allocation; for sidecars too.

    Requests do not count where condition PodResizePending says that the resize is infeasible.
    """
    spec = pod.spec
    status = pod.status
    if not gates.get(GATE, False):
        return pod
    if _have_same_requests(spec.containers, status.container_statuses) and _have_same_requests(
        spec.init_containers, status.init_container_statuses
    ):
        return pod
    return _with_requests(pod, _reported_or_allocated, _is_infeasible(pod), sidecars=True)


def by_both_and_of_pod(pod: Pod, gates: Gates) -> Pod:
    """As :func:`by_reported_and_allocated`, and of the pod as a whole with gate
    InPlacePodLevelResourcesVerticalScaling."""
    result = by_reported_and_allocated(pod, gates)
    reported = pod.status.resources
    requests = pod.spec.requests
    if reported is None or not requests or not gates.get(GATE, False) or not gates.get(POD_LEVEL_GATE, False):
        return result
    amounts = _largest(
        NO_QUANTITIES if _is_infeasible(pod) else requests, reported.requests, pod.status.allocated_resources
    )
    totals = Map({name: amounts.get(name, ZERO) for name in requests})
    if totals == requests:  # pods that are not resized share the template of waiting pods
        return result
    return replace(
        result, spec=replace(result.spec, resources=replace(result.spec.resources, requests=totals))
    )


def _is_infeasible(pod: Pod) -> bool:
    """Whether condition PodResizePending says so."""
    # Upstream: only the first condition of the type is looked at, and not whether it is true.
    pending = next(
        (condition for condition in pod.status.conditions if condition.type == "PodResizePending"), None
    )
    return pending is not None and pending.reason == INFEASIBLE


def _have_same_requests(containers: Sequence[Container], statuses: Sequence[ContainerStatus]) -> bool:
    """Whether *statuses* plainly agree with the spec, as for most running pods: equal amounts are one object,
    where read."""
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
            largest = larger.get(name, first.get(name))
            if largest is None or quantity.nanos > largest.nanos:
                larger[name] = quantity
    return Map({**first, **larger}) if larger else first


def _with_requests(pod: Pod, rule: _Rule, infeasible: bool, *, sidecars: bool = False) -> Pod:
    """*pod* with the requests that count by *rule*; *pod* itself where they are those of the spec."""
    spec = pod.spec
    status = pod.status
    statuses = {
        item.name: item
        for item in (*status.container_statuses, *(status.init_container_statuses if sidecars else ()))
    }
    containers = _with_counted_requests(spec.containers, statuses, rule, infeasible)
    init_containers = spec.init_containers
    if sidecars and init_containers:
        restartable = {
            name: statuses[name]
            for name in (container.name for container in init_containers if container.is_sidecar)
            if name in statuses
        }
        init_containers = _with_counted_requests(init_containers, restartable, rule, infeasible)
    if containers is spec.containers and init_containers is spec.init_containers:
        return pod
    return replace(pod, spec=replace(spec, containers=containers, init_containers=init_containers))


def _with_counted_requests(
    containers: tuple[Container, ...], statuses: _Statuses, rule: _Rule, infeasible: bool
) -> tuple[Container, ...]:
    """*containers* with the requests that count; the tuple itself where nothing is different."""
    resized_containers = tuple(
        _with_status_requests(container, statuses.get(container.name), rule, infeasible)
        for container in containers
    )
    return containers if all(map(is_, resized_containers, containers)) else resized_containers


def _with_status_requests(
    container: Container, status: ContainerStatus | None, rule: _Rule, infeasible: bool
) -> Container:
    amounts = container.requests if status is None else rule(container, status, infeasible)
    if amounts is container.requests or amounts == container.requests:
        return container
    return replace(container, resources=replace(container.resources, requests=amounts))
