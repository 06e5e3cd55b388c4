"""What the API server's LimitRanger does to new pods: requests and limits by default, and refusals of those
out of bounds.

Upstream: plugin/pkg/admission/limitranger/admission.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import gt, lt

from msgspec.structs import replace

from ..meaning.podtotals import AmountsOf, limits_of, requests_of, total_of, uses
from ..objects import Container, KubeObject, LimitRange, LimitRangeItem, Map, Pod, ResourceRequirements
from ..objects.quantity import Quantity

Amounts = Mapping[str, Quantity]
CONTAINER = "Container"
POD = "Pod"


def limit_ranges(objects: Iterable[KubeObject], namespace: str) -> list[LimitRange]:
    """The LimitRanges of *namespace* among *objects*, by name."""
    found = (item for item in objects if isinstance(item, LimitRange) and item.namespace == namespace)
    return sorted(found, key=lambda item: item.name)


def with_limits(pod: Pod, ranges: Iterable[LimitRange]) -> Pod:
    """*pod* with the requests and limits that *ranges* give containers which say none; the same object if
    that changes nothing."""
    spec = pod.spec
    for found in ranges:
        # Of two items the later one counts.
        limits = dict[str, Quantity]()
        requests = dict[str, Quantity]()
        for item in found.spec.limits:
            if item.type == CONTAINER:
                limits |= item.default
                requests |= item.default_request

        def merged(container: Container, limits: Amounts = limits, requests: Amounts = requests) -> Container:
            if limits.keys() <= container.limits.keys() and requests.keys() <= container.requests.keys():
                return container
            amounts = Map({**limits, **container.limits}), Map({**requests, **container.requests})
            return replace(container, resources=ResourceRequirements(limits=amounts[0], requests=amounts[1]))

        containers = tuple(map(merged, spec.containers))
        init_containers = tuple(map(merged, spec.init_containers))
        if (containers, init_containers) != (spec.containers, spec.init_containers):
            spec = replace(spec, containers=containers, init_containers=init_containers)
    return pod if spec is pod.spec else replace(pod, spec=spec)


def out_of_bounds(pod: Pod, ranges: Iterable[LimitRange]) -> str | None:
    """What the first of *ranges* that *pod* violates has against it, in upstream's words; None if it violates
    none."""
    for found in ranges:
        faults = [fault for item in found.spec.limits for fault in _faults(pod, item)]
        if faults:
            return faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    return None


# --- bounds -------------------------------------------------------------------------------------------------


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
        total = (
            {**total, name: max(found)}
            if found
            else {other: quantity for other, quantity in total.items() if other != name}
        )
    return total


def _checked(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    both = (("request", requests), ("limit", limits))
    for word, wanted, is_out, order in (
        ("minimum", item.min, lt, both),
        ("maximum", item.max, gt, both[::-1]),
    ):
        for name, bound in sorted(wanted.items()):
            # Only the first of the two is required.
            amounts = [(kind, found.get(name)) for kind, found in order]
            out = [
                f", but {kind} is {amount}"
                for kind, amount in amounts
                if amount is not None and is_out(amount, bound)
            ]
            said = f".  No {amounts[0][0]} is specified" if amounts[0][1] is None else out[0] if out else ""
            if said:
                yield f"{word} {name} usage per {item.type} is {bound}{said}"
    for name, bound in sorted(item.max_limit_request_ratio.items()):
        request = requests.get(name)
        limit = limits.get(name)
        said = ""
        if not request:
            said = "no request is specified or request is 0"
        elif not limit:
            said = "no limit is specified or limit is 0"
        elif limit.nanos / request.nanos * 10**9 > bound.nanos:
            said = f"provided ratio is {limit.nanos / request.nanos:f}"
        if said:
            yield f"{name} max limit to request ratio per {item.type} is {bound}, but {said}"
