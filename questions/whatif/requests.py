"""Changes of what a pod requests, so that a node has room."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from ...api.objects import Container, Map, PodSpec, Quantity, ResourceRequirements
from ...api.words import amount, is_bytes
from ...core.pods import CPU
from ...simulation.evictions import is_daemon
from ...simulation.explain.faileddemands import count_of_spec
from ...simulation.explain.values import NodeReport, NodeShortage
from ...simulation.reasons import shortage_of
from .suggestion import Change, WhatIfContext

_PROBE = Container(resources=ResourceRequirements(requests=Map({CPU: Quantity.of(1)})))
MOST = 200
MIB = 1 << 20
"""How many nodes are looked at, the nearest to fitting first."""


def lowered_requests(context: WhatIfContext) -> Iterator[Change]:
    """Requests that are lowered so far that the pod fits on a node on which nothing but resources is in the
    way.

    Of two nodes where the same or more has to go, only the better one counts.
    """
    found: list[dict[str, int]] = []
    seen = 0
    for report, _ in context.targets():
        if not is_short_only(report) or seen >= MOST or lacks_kind(context, report):
            continue
        seen += 1
        missing = {short.resource: short.missing for short in report.shortages}
        if any(
            all(other.get(name, 0) <= missing.get(name, 0) for name in {**other, **missing})
            for other in found
        ):
            continue
        for shortages in _shared(context, report):
            edits = []
            told = []
            for short in shortages:
                name = short.resource
                edits.append(_edits(context, short))
                told.append(f"{name} from {amount(name, short.asked)} to {amount(name, max(short.free, 0))}")
            if None in edits:
                continue
            size = max(short.missing / max(short.asked, 1) for short in shortages)
            words = f"lower the request of {' and of '.join(told)}"
            change = context.of_pod("request", words, *chain.from_iterable(filter(None, edits)), size=size)
            if context.helpful(change) is not None:
                found.append(missing)
                yield change


def is_short_only(report: NodeReport) -> bool:
    """Whether nothing but too little of resources is against a node."""
    reasons = report.objected or report.reasons
    return bool(report.shortages) and all(shortage_of(reason) is not None for reason in reasons)


def lacks_kind(context: WhatIfContext, report: NodeReport) -> bool:
    """Whether the node has none of a device or the like that other nodes have: then it is the wrong node, not
    one that has too little."""
    extended = (short.resource for short in report.shortages if "/" in short.resource)
    having = (
        {node.name for node in context.nodes() if units(name, node.status.allocatable)} for name in extended
    )
    return any(names and report.name not in names for names in having)


def _shared(context: WhatIfContext, report: NodeReport) -> Iterator[tuple[NodeShortage, ...]]:
    """The shortage on a node if its pods of the same controller ask for less, too: so that one more fits, and
    all that wait."""
    siblings = {one.key for one in context.siblings}
    there = sum(entry.pod.key in siblings for entry in context.on(report.name))
    waiting = 0 if is_daemon(context.pod) else sum(not one.spec.node_name for one in context.siblings)
    for more in sorted({1, 1 + waiting}):
        found = []
        for short in report.shortages:
            free = (max(short.free, 0) + there * short.asked) // (there + more)
            rounded = free // MIB * MIB if is_bytes(short.resource) else free
            found.append(short if there + more == 1 else replace(short, free=rounded))
        yield tuple(found)


def _edits(context: WhatIfContext, short: NodeShortage) -> list[str] | None:
    """The edits with which the pod requests exactly what is free of a resource; None if that cannot be.
    Sidecars stay as they are."""
    name = short.resource
    spec = context.pod.spec
    if name in spec.requests and count_of_spec(context.engine, PodSpec(resources=spec.resources), name):
        # The same where the pod as a whole asks for the resource, whatever its containers ask for.
        target = max(short.free, 0) - (short.asked - units(short.resource, spec.requests))
        if target < 0:
            return None
        return [f"spec.resources.requests.{short.resource}={amount(short.resource, target)}"]
    pair = PodSpec(init_containers=(replace(_PROBE, restart_policy="Always"), _PROBE))
    knows_sidecars = count_of_spec(context.engine, pair, CPU) > count_of_spec(
        context.engine, PodSpec(init_containers=(_PROBE,)), CPU
    )
    first = []
    """The init containers that end, each with what the sidecars before it ask for."""
    running = 0
    for container in spec.init_containers:
        if knows_sidecars and container.is_sidecar:
            running += units(name, container.requests)
        else:
            first.append((container, running))
    asked = [units(name, container.requests) for container in spec.containers]
    around = short.asked - max(
        [running + sum(asked), *(before + units(name, container.requests) for container, before in first)]
    )
    # Upstream: where more is used than there is, a pod that asks for nothing at all still fits.
    target = max(short.free, 0) - around
    if name == "pods" or target < running or around < 0:
        return None
    edits = []
    for one, before in first:
        if units(name, one.requests) > target - before:
            edits += _set("initContainers", one, name, target - before)
    excess = sum(asked) + running - target
    for at in sorted(range(len(asked)), key=lambda at: -asked[at]):
        if excess > 0 and asked[at]:
            left = max(asked[at] - excess, 0)
            excess -= asked[at] - left
            edits += _set("containers", spec.containers[at], name, left, alone=len(asked) == 1)
    return edits


def _set(field: str, container: Container, name: str, number: int, *, alone: bool = False) -> list[str]:
    """The edits of one container's request, and of its limit where the two must be equal."""
    before = "" if alone else f"spec.{field}[{container.name}].resources."
    both = name in container.limits and ("/" in name or name.startswith("hugepages-"))
    return [
        f"{before}{which}.{name}={amount(name, number)}"
        for which in ("requests", *(["limits"] if both else []))
    ]


def units(name: str, amounts: Map[Quantity]) -> int:
    """Millicores, bytes or pieces."""
    found = amounts.get(name)
    if found is None:
        return 0
    return found.milli_value() if name == CPU else found.value()
