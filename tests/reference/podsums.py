"""What a pod requests, resource by resource in plain fractions, as each kind of release counts it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kubeclassic.api.objects import Container, ContainerStatus, Pod
from kubeclassic.api.objects.quantity import Quantity

DEFAULTS = {"cpu": Fraction(1, 10), "memory": Fraction(200 * 1024 * 1024)}
NAMES = ("cpu", "memory", "hugepages-2Mi", "example.com/gpu")


def amount(quantity: Quantity) -> Fraction:
    """As a fraction."""
    return Fraction(quantity.nanos, 10**9)


def rounded(name: str, exact: Fraction) -> int:
    """Up, to millicores or whole numbers."""
    units = exact * 1000 if name == "cpu" else exact
    return -(-units.numerator // units.denominator)


def _of(container: Container, name: str, default: Fraction) -> Fraction:
    return amount(container.requests[name]) if name in container.requests else default


def _overhead(pod: Pod, name: str) -> Fraction:
    return amount(pod.spec.overhead[name]) if name in pod.spec.overhead else Fraction(0)


def together(pod: Pod) -> list[list[Container]]:
    """All that run at one time, for each init container."""
    before: list[Container] = []
    found = []
    for container in pod.spec.init_containers:
        found.append([*before, container])
        if container.restart_policy == "Always":
            before.append(container)
    return found


def summed(pod: Pod, name: str, default: Fraction) -> Fraction:
    """The sum over containers and sidecars, or the most that runs with an init container, if that is more."""
    sidecars = [container for container in pod.spec.init_containers if container.restart_policy == "Always"]
    groups = [[*pod.spec.containers, *sidecars], *together(pod)]
    return max(sum((_of(container, name, default) for container in group), Fraction(0)) for group in groups)


def requested(pod: Pod, name: str, *, defaults: bool = False, level: Sequence[str] = ()) -> int:
    """Of a resource, where names that begin as one of *level* are replaced by the pod's own requests."""
    total = summed(pod, name, DEFAULTS.get(name, Fraction(0)) if defaults else Fraction(0))
    if name.startswith(tuple(level)) and name in pod.spec.requests:
        total = amount(pod.spec.requests[name])
    return rounded(name, total + _overhead(pod, name))


def nonzero_of_uses(pod: Pod, name: str) -> int:
    """On a node up to 1.31: sidecars are not in the sum of the containers, and a group counts with one default."""
    total = sum(rounded(name, _of(container, name, DEFAULTS[name])) for container in pod.spec.containers)
    for group in together(pod):
        asked = [amount(container.requests[name]) for container in group if name in container.requests]
        total = max(total, rounded(name, sum(asked, Fraction(0)) if asked else DEFAULTS[name]))
    return total + rounded(name, _overhead(pod, name))


def nonzero_of_pod(pod: Pod, name: str, level: Sequence[str]) -> int:
    """On a node from 1.32: no defaults where the pod asks as a whole, and it or any container or the overhead names the resource."""
    own = {known for known in pod.spec.requests if known.startswith(tuple(level))}
    everyone = (*pod.spec.containers, *pod.spec.init_containers)
    named = name in own or name in pod.spec.overhead or any(name in container.requests for container in everyone)
    return requested(pod, name, defaults=not (own and named), level=level)


def resized(container: Container, status: ContainerStatus | None, release: str, infeasible: bool, name: str) -> Fraction | None:
    """What *container* counts of a resource by the rule of *release*; None if nothing names it."""
    spec = container.requests.get(name)
    if status is None or (release != "1.31" and status.requests is None):
        return None if spec is None else amount(spec)
    reported = (status.requests or {}).get(name)
    allocated = status.allocated_resources.get(name)
    read = {"1.31": [allocated], "1.32": [reported], "1.33": [reported, allocated]}[release]
    found = [amount(quantity) for quantity in (*([] if infeasible else [spec]), *read) if quantity is not None]
    return max(found, default=None)
