"""What the cycle asks of an extender: another program that may filter, score, bind and preempt.

Upstream: SchedulerExtender in pkg/scheduler/algorithm/scheduler_interface.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...api.objects import Node, Pod
from ...exceptions import ExtenderError
from .plan import Victims


class Extender(Protocol):
    """One extender. Each call may raise :class:`~kubeclassic.exceptions.ExtenderError`."""

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


def filter_by_extenders(
    extenders: Sequence[Extender], pod: Pod, nodes: Mapping[str, Node], feasible: list[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """The nodes that remain of *feasible* after each extender in turn, and the reasons that they gave against others.

    Raises the error of an extender that may not be ignored.
    """
    reasons: dict[str, list[str]] = {}
    for extender in extenders:
        if not feasible or not extender.is_interested(pod):
            continue
        try:
            feasible, failed = extender.filter(pod, [nodes[name] for name in feasible])
        except ExtenderError:
            if extender.is_ignorable:
                continue
            raise
        for name, text in failed.items():
            reasons.setdefault(name, []).append(text)
    return feasible, reasons


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
