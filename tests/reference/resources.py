"""PodFitsResources as one plain loop: one pod, one node, no arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kubeclassic.api.objects import Container, Node, Pod
from kubeclassic.api.objects.quantity import Quantity

NATIVE = ("cpu", "memory", "ephemeral-storage")


def short_of(
    pod: Pod, node: Node, existing: Sequence[Pod], *, init_containers_count: bool = False, ignored: Collection[str] = ()
) -> list[str]:
    """The resources that *node* with its *existing* pods has too little of for *pod*, in the order of the reasons.

    With *init_containers_count* those of existing pods count too; the incoming pod's always do.
    """
    found = []
    places = node.status.allocatable.get("pods")
    if len(existing) + 1 > (places.value() if places else 0):
        found.append("pods")
    wanted = _requests(pod, init_containers=True)
    scalars = sorted(set(wanted) - set(NATIVE))
    if not scalars and all(wanted.get(name, 0) == 0 for name in NATIVE):
        return found
    for name in [*NATIVE, *scalars]:
        if name in ignored and _is_extended(name):
            continue
        quantity = node.status.allocatable.get(name)
        allocatable = _amount(name, quantity) if quantity is not None else 0
        used = sum(_requests(other, init_containers=init_containers_count).get(name, 0) for other in existing)
        if allocatable < wanted.get(name, 0) + used:
            found.append(name)
    return found


def _requests(pod: Pod, *, init_containers: bool) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in pod.spec.containers:
        for name, number in _of_container(container).items():
            total[name] = total.get(name, 0) + number
    for container in pod.spec.init_containers if init_containers else ():
        for name, number in _of_container(container).items():
            if number > total.get(name, 0):
                total[name] = number
    return total


def _of_container(container: Container) -> dict[str, int]:
    return {name: _amount(name, quantity) for name, quantity in container.requests.items() if _is_counted(name)}


def _amount(name: str, quantity: Quantity) -> int:
    return quantity.milli_value() if name == "cpu" else quantity.value()


def _is_extended(name: str) -> bool:
    """Good enough for the names that the tests draw: a domain that is not kubernetes.io."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _is_counted(name: str) -> bool:
    return name in NATIVE or _is_extended(name) or "kubernetes.io/" in name or name.startswith(("hugepages-", "attachable-volumes-"))
