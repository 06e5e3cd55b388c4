"""The total needs of a pod's containers: of containers and sidecars in the end, and of each init container
before.

A sidecar is an init container with restart policy Always. It goes on running, so it counts beside the
containers, and beside each init container that comes after it. Upstream:
component-helpers/resource/helpers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

from ..objects import NO_QUANTITIES, Container, PodSpec, Quantity

Amounts = Mapping[str, Quantity]
AmountsOf = Callable[[Container], Amounts]


requests_of: AmountsOf = attrgetter("requests")
limits_of: AmountsOf = attrgetter("limits")
"""The requests of a container, and its limits."""


def add_exactly(total: dict[str, Quantity], amounts: Amounts) -> None:
    """Add *amounts* to *total*, without rounding."""
    for name, quantity in amounts.items():
        total[name] = total[name] + quantity if name in total else quantity


def uses(
    spec: PodSpec, amounts_of: AmountsOf, defaults: Amounts = NO_QUANTITIES
) -> Iterator[dict[str, Quantity]]:
    """The needs while each init container runs: its own, and those of the sidecars before it."""
    running: dict[str, Quantity] = {}
    for container in spec.init_containers:
        needs = {**defaults, **amounts_of(container)}
        add_exactly(needs, running)
        if container.is_sidecar:
            running = needs
        yield needs


def total_of(spec: PodSpec, amounts_of: AmountsOf, defaults: Amounts = NO_QUANTITIES) -> dict[str, Quantity]:
    """The sum over containers and sidecars, or the needs while an init container runs, if these are more.
    *defaults* count where a container says nothing."""
    total: dict[str, Quantity] = {}
    for container in (*spec.containers, *(init for init in spec.init_containers if init.is_sidecar)):
        add_exactly(total, {**defaults, **amounts_of(container)})
    for use in uses(spec, amounts_of, defaults):
        for name, quantity in use.items():
            if name not in total or quantity.nanos > total[name].nanos:
                total[name] = quantity
    return total
