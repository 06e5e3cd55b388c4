"""The requests of a pod, as the releases count them: the cells ``incoming``, ``footprint`` and their non-zero
versions.

Requests are dicts of whole numbers: cpu in millicores, everything else by integer value. They have only names
that the scheduler counts: cpu, memory, ephemeral-storage and scalars. Reference: C.7, D.4, J.1 to J.3.
Upstream: pkg/scheduler/algorithm/predicates/predicates.go GetResourceRequest,
pkg/scheduler/nodeinfo/node_info.go calculateResource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache

from ...api.meaning import add_exactly, is_valid_label_key, requests_of, total_of, uses
from ...api.objects import (
    NO_QUANTITIES,
    ZERO,
    Map,
    Pod,
    PodSpec,
    Quantity,
    notation,
    whole_numbers,
    wrap_int64,
)
from ..release import Gates, Requests

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE)
DEFAULT_MILLI_CPU = 100
"""The cpu of a container without a request in the non-zero sums, in millicores."""
DEFAULT_MEMORY = 200 * 1024 * 1024
"""The memory of a container without a request in the non-zero sums, in bytes."""
ATTACHABLE_PREFIX = "attachable-volumes-"
STORAGE_GATE = "LocalStorageCapacityIsolation"
DEFAULTS = Map({CPU: Quantity.parse(f"{DEFAULT_MILLI_CPU}m"), MEMORY: Quantity.of(DEFAULT_MEMORY)})


@cache
def is_extended_resource(name: str) -> bool:
    """Whether *name* is an extended resource: outside ``kubernetes.io``, with a domain, and valid in a
    quota."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not is_valid_label_key(f"requests.{name}")


@cache
def is_scalar_resource(name: str) -> bool:
    """Whether *name* is counted as a scalar, beside cpu, memory and ephemeral-storage."""
    return (
        is_extended_resource(name)
        or name.startswith(("hugepages-", ATTACHABLE_PREFIX))
        or "kubernetes.io/" in name
    )


def amount(name: str, quantity: Quantity) -> int:
    """*quantity* of a resource as the scheduler's whole number, rounded up."""
    return quantity.milli_value() if name == CPU else quantity.value()


def is_counted(name: str) -> bool:
    """Whether the scheduler counts requests of *name*."""
    return name in NATIVE or is_scalar_resource(name)


def _whole(name: str, quantity: Quantity) -> int:
    """*quantity* by its integer value. Upstream: this is how the overhead of the incoming pod counts in
    scores, where 250m of cpu add 1 to millicores and not 250."""
    return quantity.value()


def _add(
    total: Requests, quantities: Mapping[str, Quantity], amount_of: Callable[[str, Quantity], int] = amount
) -> None:
    for name, quantity in quantities.items():
        if is_counted(name):
            total[name] = wrap_int64(total.get(name, 0) + amount_of(name, quantity))


def of_containers(pod: Pod, gates: Gates) -> Requests:
    """The sum over the containers; init containers do not count."""
    total: Requests = {}
    for container in pod.spec.containers:
        _add(total, container.requests)
    return total


def of_all_containers(pod: Pod, gates: Gates) -> Requests:
    """The sum over the containers, or the request of an init container if that is more."""
    total = of_containers(pod, gates)
    for container in pod.spec.init_containers:
        for name, quantity in container.requests.items():
            # Upstream: a request of 0 adds a scalar to the pod in a container, but not in an init container.
            if is_counted(name) and (number := amount(name, quantity)) > total.get(name, 0):
                total[name] = number
    return total


def with_overhead(pod: Pod, gates: Gates) -> Requests:
    """As :func:`of_all_containers`, and the pod's overhead with gate PodOverhead."""
    total = of_all_containers(pod, gates)
    if gates.get("PodOverhead", False):
        _add(total, pod.spec.overhead)
    return total


def _nonzero(requests: Mapping[str, Quantity]) -> tuple[int, int]:
    """cpu and memory of *requests*, absent ones counted with the defaults."""
    cpu = requests.get(CPU)
    memory = requests.get(MEMORY)
    return (
        DEFAULT_MILLI_CPU if cpu is None else cpu.milli_value(),
        DEFAULT_MEMORY if memory is None else memory.value(),
    )


def nonzero_of_containers(pod: Pod, gates: Gates) -> Requests:
    """cpu and memory over the containers, absent requests counted with the defaults."""
    return nonzero_or_uses(pod, ())


def nonzero_of_all_containers(pod: Pod, gates: Gates) -> Requests:
    """As :func:`nonzero_of_containers`, or the request of an init container if that is more."""
    return nonzero_or_uses(pod, (container.requests for container in pod.spec.init_containers))


def nonzero_or_uses(pod: Pod, uses: Iterable[Mapping[str, Quantity]]) -> Requests:
    """As :func:`nonzero_of_containers`, or the most of *uses* if that is more."""
    cpu = memory = 0
    for container in pod.spec.containers:
        more_cpu, more_memory = _nonzero(container.requests)
        cpu = wrap_int64(cpu + more_cpu)
        memory = wrap_int64(memory + more_memory)
    for use in uses:
        used_cpu, used_memory = _nonzero(use)
        cpu = max(cpu, used_cpu)
        memory = max(memory, used_memory)
    return {CPU: cpu, MEMORY: memory}


def overhead_added(total: Requests, pod: Pod, amount_of: Callable[[str, Quantity], int] = amount) -> Requests:
    """*total* with the pod's overhead of what is in it."""
    for name, quantity in pod.spec.overhead.items():
        if name in total:
            total[name] = wrap_int64(total[name] + amount_of(name, quantity))
    return total


def nonzero_with_overhead(pod: Pod, gates: Gates) -> Requests:
    """As :func:`nonzero_of_all_containers`, and the overhead with gate PodOverhead, cpu in millicores."""
    if gates.get("PodOverhead", False):
        return nonzero_with_any_overhead(pod, gates)
    return nonzero_of_all_containers(pod, gates)


def nonzero_with_whole_overhead(pod: Pod, gates: Gates) -> Requests:
    """As :func:`nonzero_of_all_containers`, and the overhead with gate PodOverhead, by its integer value."""
    total = nonzero_of_all_containers(pod, gates)
    return overhead_added(total, pod, _whole) if gates.get("PodOverhead", False) else total


def nonzero_with_any_overhead(pod: Pod, gates: Gates) -> Requests:
    """As :func:`nonzero_of_all_containers`, and the overhead."""
    return overhead_added(nonzero_of_all_containers(pod, gates), pod)


def rounded_sums(pod: Pod, gates: Gates) -> Requests:
    """As :func:`gated_sums`, and an init container's request of 0 of a scalar adds that to the pod."""
    total = gated_sums(pod, gates)
    for container in pod.spec.init_containers:
        for name in container.requests:
            if is_scalar_resource(name):
                total.setdefault(name, 0)
    return total


def gated_sums(pod: Pod, gates: Gates) -> Requests:
    """As :func:`with_overhead`; local storage counts with gate LocalStorageCapacityIsolation."""
    total = with_overhead(pod, gates)
    if not gates.get(STORAGE_GATE, True):
        total.pop(EPHEMERAL_STORAGE, None)
    return total


def half_gated_sums(pod: Pod, gates: Gates) -> Requests:
    """As :func:`gated_sums`, but local storage of init containers always counts."""
    total = gated_sums(pod, gates)
    if EPHEMERAL_STORAGE not in total:
        storage = max(
            (c.requests.get(EPHEMERAL_STORAGE, ZERO).value() for c in pod.spec.init_containers), default=0
        )
        if storage > 0:
            total[EPHEMERAL_STORAGE] = storage
    return total


def sums_with_whole_overhead(pod: Pod, gates: Gates) -> Requests:
    """The requests of the incoming pod in scores without defaults: as :func:`gated_sums`, but the overhead by
    its integer value."""
    total = of_all_containers(pod, gates)
    if not gates.get(STORAGE_GATE, True):
        total.pop(EPHEMERAL_STORAGE, None)
    if gates.get("PodOverhead", False):
        # Upstream: local storage is added whatever the gate says.
        _add(total, pod.spec.overhead, _whole)
    return total


def exact_sums(pod: Pod, gates: Gates) -> Requests:
    """The requests of the whole pod with overhead: quantities are summed exactly, and only the sums are
    rounded."""
    return _rounded(pod.spec, _exact(pod, NO_QUANTITIES))


def exact_sums_with_defaults(pod: Pod, gates: Gates) -> Requests:
    """cpu and memory as :func:`exact_sums`, absent requests counted with the defaults, container by
    container."""
    total = _rounded(pod.spec, _exact(pod, DEFAULTS))
    return {name: total.get(name, 0) for name in (CPU, MEMORY)}


def _exact(pod: Pod, defaults: Mapping[str, Quantity]) -> dict[str, Quantity]:
    total: dict[str, Quantity] = {}
    for container in pod.spec.containers:
        add_exactly(total, {**defaults, **container.requests})
    for container in pod.spec.init_containers:
        for name, quantity in {**defaults, **container.requests}.items():
            if name not in total or quantity.nanos > total[name].nanos:
                total[name] = quantity
    return total


def of_node(quantities: Mapping[str, Quantity]) -> Requests:
    """A node's allocatable as whole numbers; ``pods`` is kept too."""
    return whole_numbers(
        {name: quantity for name, quantity in quantities.items() if name == PODS or is_counted(name)}
    )


Amounts = Mapping[str, Quantity]
POD_LEVEL = "PodLevelResources"
"""The gate for requests of the pod as a whole."""


# --- sums of containers -------------------------------------------------------------------------------------


def _rounded(spec: PodSpec, total: dict[str, Quantity]) -> Requests:
    """*total* and the overhead as whole numbers."""
    if spec.overhead:
        add_exactly(total, spec.overhead)
    return whole_numbers({name: quantity for name, quantity in total.items() if is_counted(name)})


def _sums(spec: PodSpec, pod_requests: Map[Quantity], defaults: Map[Quantity]) -> Requests:
    """The sums of containers and sidecars, or *pod_requests*, those of the pod as a whole."""
    needs = PodSpec(containers=spec.containers, init_containers=spec.init_containers, overhead=spec.overhead)
    amounts = [container.requests for container in (*spec.containers, *spec.init_containers)]
    return dict(_cached_sums(needs, pod_requests, defaults, notation(pod_requests, spec.overhead, *amounts)))


@lru_cache(1 << 6)  # a pod's own sum mostly equals its footprint's, and templates share containers
def _cached_sums(
    needs: PodSpec, pod_requests: Map[Quantity], defaults: Map[Quantity], form: tuple[object, ...]
) -> Requests:
    return _rounded(needs, {**total_of(needs, requests_of, defaults), **pod_requests})


def with_sidecars(pod: Pod, gates: Gates) -> Requests:
    """The sum over containers and sidecars, or what runs with an init container if that is more; and the
    overhead."""
    return _sums(pod.spec, NO_QUANTITIES, NO_QUANTITIES)


def with_sidecars_and_defaults(pod: Pod, gates: Gates) -> Requests:
    """As :func:`with_sidecars`; a container or init container without a request of cpu or memory counts with
    the default."""
    return _with_cpu_and_memory(_sums(pod.spec, NO_QUANTITIES, DEFAULTS))


def _with_cpu_and_memory(requests: Requests) -> Requests:
    """*requests* with cpu and memory, which a pod without containers lacks."""
    return {CPU: 0, MEMORY: 0, **requests}


def nonzero_of_uses(pod: Pod, gates: Gates) -> Requests:
    """cpu and memory over the containers, or of what runs with an init container; absent ones with the
    defaults; and the overhead."""
    # Upstream: sidecars count only where they raise an init container's needs above the containers'.
    return overhead_added(nonzero_or_uses(pod, uses(pod.spec, requests_of)), pod)


# --- requests of the pod as a whole -------------------------------------------------------------------------


def _pod_requests(pod: Pod, gates: Gates, *, huge_pages: bool) -> Map[Quantity]:
    """The requests of the pod as a whole, of resources that a pod can request; none without the gate."""
    requests = pod.spec.requests
    if not requests or not gates.get(POD_LEVEL, False):
        return NO_QUANTITIES
    names = [name for name in requests if name in DEFAULTS or (huge_pages and name.startswith("hugepages-"))]
    return Map({name: requests[name] for name in names})


def _nonzero_in_place(pod: Pod, pod_requests: Map[Quantity]) -> Requests:
    """cpu and memory. Where the pod as a whole requests anything, defaults fill in only what neither it nor
    any container requests."""
    defaults = DEFAULTS
    if pod_requests:
        requested = {**total_of(pod.spec, requests_of), **pod_requests, **pod.spec.overhead}
        defaults = Map({name: default for name, default in DEFAULTS.items() if name not in requested})
    requests = _with_cpu_and_memory(_sums(pod.spec, pod_requests, defaults))
    return {CPU: requests[CPU], MEMORY: requests[MEMORY]}


def of_pod(pod: Pod, gates: Gates) -> Requests:
    """As :func:`with_sidecars`; with gate PodLevelResources cpu and memory of the pod as a whole in place of
    the sums."""
    return _sums(pod.spec, _pod_requests(pod, gates, huge_pages=False), NO_QUANTITIES)


def of_pod_with_defaults(pod: Pod, gates: Gates) -> Requests:
    """As :func:`of_pod`, the sums as in :func:`with_sidecars_and_defaults`."""
    return _with_cpu_and_memory(_sums(pod.spec, _pod_requests(pod, gates, huge_pages=False), DEFAULTS))


def nonzero_of_pod(pod: Pod, gates: Gates) -> Requests:
    """cpu and memory as :func:`of_pod`, absent requests counted with the defaults."""
    return _nonzero_in_place(pod, _pod_requests(pod, gates, huge_pages=False))


def of_pod_with_huge_pages(pod: Pod, gates: Gates) -> Requests:
    """As :func:`of_pod`, and huge pages of the pod as a whole."""
    return _sums(pod.spec, _pod_requests(pod, gates, huge_pages=True), NO_QUANTITIES)


def nonzero_of_pod_with_huge_pages(pod: Pod, gates: Gates) -> Requests:
    """As :func:`nonzero_of_pod`, where huge pages of the pod as a whole count among its requests, too."""
    return _nonzero_in_place(pod, _pod_requests(pod, gates, huge_pages=True))
