"""The interface of an extender, another program that can filter, score and preempt, and the calls of a cycle to it.

Upstream: SchedulerExtender in pkg/scheduler/algorithm/scheduler_interface.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...api.objects import Node, Pod
from ...exceptions import ExtenderError
from ..cycle import Cycle
from .plan import Victims


class Extender(Protocol):
    """One extender. Each call may raise :class:`~kubeclassic.exceptions.ExtenderError`.

    Binding is not part of a cycle. Upstream: up to 1.15 only the first extender with a bind verb can bind, if it is interested in the pod;
    from 1.16 on the first that has the verb and is interested binds. Every release refuses a configuration with two such extenders.
    """

    @property
    def url(self) -> str:
        """Its URL prefix as configured; error texts name it."""
        ...

    @property
    def is_ignorable(self) -> bool:
        """Whether errors of its filter and preempt calls are ignored."""
        ...

    @property
    def supports_preemption(self) -> bool:
        """Whether it has a preempt verb."""
        ...

    def is_interested(self, pod: Pod) -> bool:
        """Whether it manages a resource of *pod*, or has no managed resources."""
        ...

    def filter(self, pod: Pod, nodes: Sequence[Node]) -> tuple[list[str], dict[str, str]]:
        """The names of the remaining nodes, in its own order, and node -> why it was rejected."""
        ...

    def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> dict[str, int]:
        """Node -> score times the extender's weight."""
        ...

    def process_preemption(self, pod: Pod, candidates: Mapping[str, Victims]) -> dict[str, Victims]:
        """The remaining candidates, each with the victims that the extender chose."""
        ...


def filter_by_extenders(extenders: Sequence[Extender], cycle: Cycle, feasible: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The nodes of *feasible* that remain after all extenders, and node -> the reasons of those that were rejected.

    Raises :class:`~kubeclassic.exceptions.ExtenderError` for an extender that is not ignorable.
    """
    reasons: dict[str, list[str]] = {}
    for extender in extenders:
        if not feasible or not extender.is_interested(cycle.pod):
            continue
        try:
            feasible, failed = _filter(extender, cycle, feasible)
        except ExtenderError:
            if extender.is_ignorable:
                continue
            raise
        for name, text in failed.items():
            reasons.setdefault(name, []).append(text)
    return feasible, reasons


def _filter(extender: Extender, cycle: Cycle, names: list[str]) -> tuple[list[str], dict[str, str]]:
    """The filter call of *extender* for the nodes *names*; raises :class:`ExtenderError` if it returns a node that it may not return."""
    nodes = {name: node for name in names if (node := _node(cycle, name)) is not None}
    remaining, failed = extender.filter(cycle.pod, [nodes[name] for name in names])
    for name in remaining:
        # Upstream: up to 1.16 a filter may return a node of the snapshot that has failed.
        if name not in nodes and not (cycle.release.extender_adds_nodes and _node(cycle, name) is not None):
            raise ExtenderError(cycle.release.extender_unknown_node.format(url=extender.url, node=name))
    return remaining, failed


def _node(cycle: Cycle, name: str) -> Node | None:
    """The node called *name* in the snapshot."""
    row = cycle.table.row_of.get(name)
    return None if row is None else cycle.table.nodes[row]


def preempt_with_extenders(
    extenders: Sequence[Extender], pod: Pod, candidates: dict[str, Victims], *, names_victims: bool = False
) -> dict[str, Victims]:
    """The candidates that remain after all extenders with a preempt verb; with *names_victims* each of them must have victims.

    Raises :class:`~kubeclassic.exceptions.ExtenderError` for an extender that is not ignorable.
    """
    for extender in extenders:
        if not candidates or not extender.supports_preemption or not extender.is_interested(pod):
            continue
        try:
            candidates = extender.process_preemption(pod, candidates)
        except ExtenderError:
            if not extender.is_ignorable:
                raise
            continue
        candidates = _with_victims(candidates, extender) if names_victims else candidates
    return candidates


def _with_victims(candidates: dict[str, Victims], extender: Extender) -> dict[str, Victims]:
    found = {name: victims for name, victims in candidates.items() if victims.pods}
    if len(found) < len(candidates) and not extender.is_ignorable:
        name = next(name for name in candidates if name not in found)
        raise ExtenderError(f'expected at least one victim pod on node "{name}"')
    return found
