"""What the cycle asks of an extender: another program that may filter, score, bind and preempt.

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

    Binding is not part of a cycle. Upstream: up to 1.15 the first extender with a bind verb binds the pods that it is interested in; from
    1.16 on it is the first one that has the verb and is interested. A configuration with two such extenders is refused in every release.
    """

    @property
    def url(self) -> str:
        """Its URL prefix as the configuration has it; error texts name it."""
        ...

    @property
    def is_ignorable(self) -> bool:
        """Whether a failing filter or preempt call is passed over."""
        ...

    @property
    def supports_preemption(self) -> bool:
        """Whether it has a preempt verb."""
        ...

    def is_interested(self, pod: Pod) -> bool:
        """Whether it manages a resource of *pod*, or manages none in particular."""
        ...

    def filter(self, pod: Pod, nodes: Sequence[Node]) -> tuple[list[str], dict[str, str]]:
        """The names of the nodes that remain, in its own order, and why others do not."""
        ...

    def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> dict[str, int]:
        """Host -> score times the extender's weight."""
        ...

    def process_preemption(self, pod: Pod, candidates: Mapping[str, Victims]) -> dict[str, Victims]:
        """The candidates that remain, with the victims that it wants."""
        ...


def filter_by_extenders(extenders: Sequence[Extender], cycle: Cycle, feasible: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The nodes that remain of *feasible* after each extender in turn, and the reasons that they gave against others.

    Raises the error of an extender that may not be ignored.
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
    """What *extender* answers about the nodes *names*; raises :class:`ExtenderError` where it names a node that it may not name."""
    nodes = {name: node for name in names if (node := _node(cycle, name)) is not None}
    remaining, failed = extender.filter(cycle.pod, [nodes[name] for name in names])
    for name in remaining:
        # Upstream: up to 1.16 a filter may bring back a node of the snapshot that has failed.
        if name not in nodes and not (cycle.release.extender_adds_nodes and _node(cycle, name) is not None):
            raise ExtenderError(cycle.release.extender_unknown_node.format(url=extender.url, node=name))
    return remaining, failed


def _node(cycle: Cycle, name: str) -> Node | None:
    """The node called *name* in the snapshot."""
    row = cycle.table.row_of.get(name)
    return None if row is None else cycle.table.nodes[row]


def preempt_with_extenders(extenders: Sequence[Extender], pod: Pod, candidates: dict[str, Victims]) -> dict[str, Victims]:
    """The candidates that remain after each extender with a preempt verb."""
    for extender in extenders:
        if not candidates or not extender.supports_preemption or not extender.is_interested(pod):
            continue
        try:
            candidates = extender.process_preemption(pod, candidates)
        except ExtenderError:
            if not extender.is_ignorable:
                raise
    return candidates
