"""What a pod requests, as the releases count it: the cells ``incoming``, ``footprint`` and their non-zero versions.

Requests are dicts of whole numbers: cpu in millicores, everything else by integer value. They have only names that the
scheduler counts: cpu, memory, ephemeral-storage and scalars. Reference: C.7, D.4, J.1 to J.3.
Upstream: pkg/scheduler/algorithm/predicates/predicates.go GetResourceRequest, pkg/scheduler/nodeinfo/node_info.go calculateResource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from ...api.meaning.label_syntax import is_valid_label_key
from ...api.meaning.podtotals import add_exactly
from ...api.objects import Pod
from ...api.objects.quantity import ZERO, Quantity, wrap_int64
from ..release import Gates, Requests

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE)
DEFAULT_MILLI_CPU = 100
"""The cpu of a container without a request in the non-zero sums, in millicores."""
DEFAULT_MEMORY = 200 * 1024 * 1024
"""The memory of a container without a request in the non-zero sums, in bytes."""
ATTACHABLE_PREFIX = "attachable-volumes-"
STORAGE_GATE = "LocalStorageCapacityIsolation"
DEFAULTS: Mapping[str, Quantity] = {CPU: Quantity.parse(f"{DEFAULT_MILLI_CPU}m"), MEMORY: Quantity.of(DEFAULT_MEMORY)}


@cache
def is_extended_resource(name: str) -> bool:
    """Whether *name* is an extended resource: outside ``kubernetes.io``, with a domain, and valid in a quota."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not is_valid_label_key(f"requests.{name}")


@cache
def is_scalar_resource(name: str) -> bool:
    """Whether *name* is counted as a scalar, beside cpu, memory and ephemeral-storage."""
    return is_extended_resource(name) or name.startswith(("hugepages-", ATTACHABLE_PREFIX)) or "kubernetes.io/" in name


def amount(name: str, quantity: Quantity) -> int:
    """*quantity* of a resource as the scheduler's whole number, rounded up."""
    return quantity.milli_value() if name == CPU else quantity.value()


def is_counted(name: str) -> bool:
    """Whether the scheduler counts requests of *name*."""
    return name in NATIVE or is_scalar_resource(name)


def _add(total: Requests, quantities: Mapping[str, Quantity]) -> None:
    for name, quantity in quantities.items():
        if is_counted(name):
            total[name] = wrap_int64(total.get(name, 0) + amount(name, quantity))


def _raise_to(total: Requests, quantities: Mapping[str, Quantity]) -> None:
    for name, quantity in quantities.items():
        # Upstream: a request of 0 adds a scalar to the pod if a container has it, but not if an init container has.
        if is_counted(name) and (number := amount(name, quantity)) > total.get(name, 0):
            total[name] = number


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
        _raise_to(total, container.requests)
    return total


def with_overhead(pod: Pod, gates: Gates) -> Requests:
    """As :func:`of_all_containers`, and the pod's overhead with gate PodOverhead."""
    total = of_all_containers(pod, gates)
    if gates.get("PodOverhead", False):
        _add(total, pod.spec.overhead)
    return total


def _nonzero(requests: Mapping[str, Quantity]) -> tuple[int, int]:
    """cpu and memory of *requests*, absent ones counted with the defaults."""
    cpu, memory = requests.get(CPU), requests.get(MEMORY)
    return DEFAULT_MILLI_CPU if cpu is None else cpu.milli_value(), DEFAULT_MEMORY if memory is None else memory.value()


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
        cpu, memory = wrap_int64(cpu + more_cpu), wrap_int64(memory + more_memory)
    for use in uses:
        used_cpu, used_memory = _nonzero(use)
        cpu, memory = max(cpu, used_cpu), max(memory, used_memory)
    return {CPU: cpu, MEMORY: memory}


def overhead_added(total: Requests, pod: Pod, amount_of: Callable[[str, Quantity], int] = amount) -> Requests:
    """*total* with the pod's overhead of what is in it."""
    for name, quantity in pod.spec.overhead.items():
        if name in total:
            total[name] = wrap_int64(total[name] + amount_of(name, quantity))
    return total


def _whole(name: str, quantity: Quantity) -> int:
    return quantity.value()


def nonzero_with_overhead(pod: Pod, gates: Gates) -> Requests:
    """As :func:`nonzero_of_all_containers`, and the overhead with gate PodOverhead, cpu in millicores."""
    return nonzero_with_any_overhead(pod, gates) if gates.get("PodOverhead", False) else nonzero_of_all_containers(pod, gates)


def nonzero_with_whole_overhead(pod: Pod, gates: Gates) -> Requests:
    """As :func:`nonzero_of_all_containers`, and the overhead with gate PodOverhead, by its integer value."""
    # Upstream: the incoming pod's cpu overhead is added as whole cores, rounded up: 250m adds 1, not 250.
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
        storage = max((one.requests.get(EPHEMERAL_STORAGE, ZERO).value() for one in pod.spec.init_containers), default=0)
        if storage > 0:
            total[EPHEMERAL_STORAGE] = storage
    return total


def sums_with_whole_overhead(pod: Pod, gates: Gates) -> Requests:
    """What the incoming pod counts in scores without defaults: as :func:`gated_sums`, but the overhead by its integer value."""
    total = of_all_containers(pod, gates)
    if not gates.get(STORAGE_GATE, True):
        total.pop(EPHEMERAL_STORAGE, None)
    if gates.get("PodOverhead", False):
        for name, quantity in pod.spec.overhead.items():
            if is_counted(name):
                # Upstream: as in the sums with defaults, and local storage is added whatever the gate says.
                total[name] = wrap_int64(total.get(name, 0) + quantity.value())
    return total


def exact_sums(pod: Pod, gates: Gates) -> Requests:
    """The requests of the whole pod with overhead: quantities are summed exactly, and only the sums are rounded."""
    return {name: amount(name, quantity) for name, quantity in _exact(pod, {}).items() if is_counted(name)}


def exact_sums_with_defaults(pod: Pod, gates: Gates) -> Requests:
    """cpu and memory as :func:`exact_sums`, absent requests counted with the defaults, container by container."""
    total = _exact(pod, DEFAULTS)
    return {name: amount(name, total.get(name, ZERO)) for name in (CPU, MEMORY)}


def _exact(pod: Pod, defaults: Mapping[str, Quantity]) -> dict[str, Quantity]:
    total: dict[str, Quantity] = {}
    for container in pod.spec.containers:
        add_exactly(total, {**defaults, **container.requests})
    for container in pod.spec.init_containers:
        for name, quantity in {**defaults, **container.requests}.items():
            if name not in total or quantity.nanos > total[name].nanos:
                total[name] = quantity
    add_exactly(total, pod.spec.overhead)
    return total


def of_node(quantities: Mapping[str, Quantity]) -> Requests:
    """A node's allocatable as whole numbers; ``pods`` is kept too."""
    return {name: amount(name, quantity) for name, quantity in quantities.items() if name == PODS or is_counted(name)}
