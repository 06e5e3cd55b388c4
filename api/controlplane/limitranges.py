"""What the API server's LimitRanger does to new pods: requests and limits by default, and refusals of those out of bounds.

Upstream: plugin/pkg/admission/limitranger/admission.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import gt, lt

from msgspec.structs import replace

from ..meaning.podtotals import AmountsOf, limits_of, requests_of, total_of, uses
from ..objects import Container, KubeObject, LimitRange, LimitRangeItem, Map, Pod, ResourceRequirements
from ..objects.quantity import ZERO, Quantity

Amounts = Mapping[str, Quantity]
CONTAINER, POD = "Container", "Pod"


def limit_ranges(objects: Iterable[KubeObject], namespace: str) -> list[LimitRange]:
    """The LimitRanges of *namespace* among *objects*, by name."""
    found = (item for item in objects if isinstance(item, LimitRange) and item.namespace == namespace)
    return sorted(found, key=lambda item: item.name)


def with_limits(pod: Pod, ranges: Iterable[LimitRange]) -> Pod:
    """*pod* with the requests and limits that *ranges* give containers which say none; the same object if that changes nothing."""
    spec = pod.spec
    for found in ranges:
        limits, requests = _defaults(found)
        containers = tuple(_merged(container, limits, requests) for container in spec.containers)
        init_containers = tuple(_merged(container, limits, requests) for container in spec.init_containers)
        if (containers, init_containers) != (spec.containers, spec.init_containers):
            spec = replace(spec, containers=containers, init_containers=init_containers)
    return pod if spec is pod.spec else replace(pod, spec=spec)


def out_of_bounds(pod: Pod, ranges: Iterable[LimitRange]) -> str | None:
    """What the first of *ranges* that *pod* violates has against it, in upstream's words; None if it violates none."""
    for found in ranges:
        faults = [fault for item in found.spec.limits for fault in _faults(pod, item)]
        if faults:
            return faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    return None


# --- defaults -------------------------------------------------------------------------------------------------------


def _defaults(found: LimitRange) -> tuple[Amounts, Amounts]:
    """The limits and the requests of containers that say none; of two items the later one counts."""
    limits: dict[str, Quantity] = {}
    requests: dict[str, Quantity] = {}
    for item in found.spec.limits:
        if item.type == CONTAINER:
            limits |= item.default
            requests |= item.default_request
    return limits, requests


def _merged(container: Container, limits: Amounts, requests: Amounts) -> Container:
    if all(name in container.limits for name in limits) and all(name in container.requests for name in requests):
        return container
    amounts = ResourceRequirements(limits=Map({**limits, **container.limits}), requests=Map({**requests, **container.requests}))
    return replace(container, resources=amounts)


# --- bounds ---------------------------------------------------------------------------------------------------------


def _faults(pod: Pod, item: LimitRangeItem) -> Iterator[str]:
    if item.type == CONTAINER:
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            yield from _checked(item, container.requests, container.limits)
    elif item.type == POD:
        yield from _checked(item, _of_pod(pod, requests_of), _of_pod(pod, limits_of))


def _of_pod(pod: Pod, amounts_of: AmountsOf) -> Amounts:
    """What the containers need together."""
    total = total_of(pod, amounts_of)
    known = [amounts_of(container).keys() for container in pod.spec.containers]
    # Upstream: a sum is there only for a resource of which every container says something.
    for name in {name for names in known for name in names if not all(name in others for others in known)}:
        found = [use[name] for use in uses(pod, amounts_of) if name in use]
        total = {**total, name: max(found)} if found else {other: quantity for other, quantity in total.items() if other != name}
    return total


def _checked(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for word, wanted, is_out, order in (("minimum", item.min, lt, 1), ("maximum", item.max, gt, -1)):
        for name, bound in sorted(wanted.items()):
            amounts = (("request", requests.get(name)), ("limit", limits.get(name)))[::order]
            if (said := _outside(bound, is_out, *amounts)) is not None:
                yield f"{word} {name} usage per {item.type} is {bound}{said}"
    for name, bound in sorted(item.max_limit_request_ratio.items()):
        if (said := _ratio(bound, requests.get(name, ZERO), limits.get(name, ZERO))) is not None:
            yield f"{name} max limit to request ratio per {item.type} is {bound}, but {said}"


def _outside(bound: Quantity, is_out: Callable[[Quantity, Quantity], bool], *amounts: tuple[str, Quantity | None]) -> str | None:
    """What is wrong with the first of *amounts*, by name, that is absent or out of *bound*; only the first one is required."""
    (first, needed), _ = amounts
    if needed is None:
        return f".  No {first} is specified"
    return next((f", but {name} is {amount}" for name, amount in amounts if amount is not None and is_out(amount, bound)), None)


def _ratio(bound: Quantity, request: Quantity, limit: Quantity) -> str | None:
    if not request:
        return "no request is specified or request is 0"
    if not limit:
        return "no limit is specified or limit is 0"
    found = limit.nanos / request.nanos
    return f"provided ratio is {found:f}" if found * 10**9 > bound.nanos else None
