"""The interface of an extender, another program that filters, scores and preempts, and a cycle's calls to it.

Upstream: SchedulerExtender in pkg/scheduler/algorithm/scheduler_interface.go; findNodesThatPassExtenders in
pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import attrs

from ...api.objects import Node, Pod, wrap_int64
from ...exceptions import ExtenderError
from ..cycle import Cycle
from .preemptionplan import Victims

PodsOn = Callable[[str], "Sequence[Pod] | None"]
"""Node -> its pods, in the node's order; None for a node that does not exist."""


@attrs.frozen(repr=False)
class FilterReply:
    """The answer of an extender's filter: the nodes that remain, in its own order, as names or as objects."""

    names: Sequence[str] = ()
    """The names of the remaining nodes, to be looked up."""
    nodes: Sequence[Node] | None = None
    """The remaining nodes as objects, in place of ``names``, to be used as they are."""
    failed: Mapping[str, str] = attrs.Factory(dict)
    """Node -> the reason why it was rejected. It may name any node."""
    unresolvable: Mapping[str, str] = attrs.Factory(dict)
    """Node -> the reason why it was rejected, where removing pods does not help."""


class Extender(Protocol):
    """One extender. Each call may raise :class:`~kubeclassic.exceptions.ExtenderError`.

    Binding is not part of a cycle. Upstream: up to 1.15 only the first extender with a bind verb can bind, if
    it is interested in the pod; from 1.16 on the first that has the verb and is interested binds. Every
    release refuses a configuration with two such extenders.
    """

    @property
    def url(self) -> str:
        """Its URL prefix as configured; error texts name it."""

    @property
    def is_ignorable(self) -> bool:
        """Whether errors of its filter and preempt calls are ignored."""

    @property
    def supports_preemption(self) -> bool:
        """Whether it has a preempt verb."""

    def is_interested(self, pod: Pod) -> bool:
        """Whether it manages a resource of *pod*, or has no managed resources."""

    def filter(self, pod: Pod, nodes: Sequence[Node]) -> FilterReply:
        """The *nodes* that remain."""

    def prioritize(self, pod: Pod, nodes: Sequence[Node]) -> Mapping[str, int]:
        """Node -> score times the extender's weight. Several extenders are asked at once, each in a
        thread."""

    def process_preemption(
        self, pod: Pod, candidates: Mapping[str, Victims], pods_on: PodsOn
    ) -> dict[str, Victims]:
        """The remaining candidates in ascending order of name, each with the victims that the extender
        chose."""


def interested(extenders: Sequence[Extender], pod: Pod) -> list[Extender]:
    """The extenders that are asked about *pod*."""
    return [extender for extender in extenders if extender.is_interested(pod)]


# --- filter -------------------------------------------------------------------------------------------------


@attrs.define(repr=False)
class PassedNodes:
    """The nodes that extenders left, in order, and the reasons of rejected nodes by node."""

    nodes: list[Node]
    reasons: dict[str, list[str]] = attrs.Factory(dict)
    unresolvable: set[str] = attrs.Factory(set)
    """Rejected nodes on which removing pods does not help."""
    last_unresolvable: set[str] = attrs.Factory(set)
    """The same for the last extender that rejected a node."""
    are_sent: bool = False
    """Whether an extender sent node objects back, not names."""

    def take(self, reply: FilterReply, nodes: list[Node]) -> None:
        """Take the next extender's *reply*, which leaves *nodes*."""
        self.are_sent |= reply.nodes is not None and reply.nodes is not self.nodes
        self.nodes = nodes
        self.unresolvable.update(reply.unresolvable)
        # Upstream: a node in both maps gets the reason of the second alone.
        failed = {name: text for name, text in reply.failed.items() if name not in reply.unresolvable}
        self.last_unresolvable = (self.last_unresolvable - failed.keys()) | reply.unresolvable.keys()
        for name, text in (*reply.unresolvable.items(), *failed.items()):
            self.reasons.setdefault(name, []).append(text)


def filter_by_extenders(extenders: Sequence[Extender], cycle: Cycle, passed: PassedNodes) -> None:
    """Remove from *passed* the nodes that any of *extenders* rejects.

    Raises :class:`~kubeclassic.exceptions.ExtenderError` for an extender that is not ignorable; *passed* then
    has the replies of the extenders before it.
    """
    for extender in extenders:
        if not passed.nodes or not extender.is_interested(cycle.pod):
            continue
        try:
            reply = extender.filter(cycle.pod, passed.nodes)
            remaining = list(_remaining_nodes(extender, cycle, reply, passed.nodes))
        except ExtenderError:
            if extender.is_ignorable:
                continue
            raise
        passed.take(reply, remaining)


def _remaining_nodes(
    extender: Extender, cycle: Cycle, reply: FilterReply, sent: Sequence[Node]
) -> Iterator[Node]:
    """The nodes that *reply* leaves; raises :class:`ExtenderError` for one that it may not name."""
    node_by_name = {node.name: node for node in sent}
    if reply.nodes is not None:
        for node in reply.nodes:
            # Upstream: an unknown node object makes most releases crash later.
            if _node(cycle, node.name) is None:
                raise _unknown_node_error(extender, cycle, node.name)
            yield node
        return
    # Upstream: up to 1.17 a filter may name a node of the snapshot that has failed.
    adds_nodes = cycle.release.extenders.adds_nodes
    for name in reply.names:
        node_found = _node(cycle, name) if adds_nodes else node_by_name.get(name)
        if node_found is None:
            raise _unknown_node_error(extender, cycle, name)
        yield node_found


def _unknown_node_error(extender: Extender, cycle: Cycle, name: str) -> ExtenderError:
    return ExtenderError(cycle.release.extenders.unknown_node.format(url=extender.url, node=name))


def _node(cycle: Cycle, name: str) -> Node | None:
    """The node called *name* in the snapshot."""
    row = cycle.table.row_of.get(name)
    return None if row is None else cycle.table.nodes[row]


# --- prioritize ---------------------------------------------------------------------------------------------


def extender_scores(extenders: Sequence[Extender], pod: Pod, nodes: Sequence[Node]) -> dict[str, int]:
    """Node -> the sum of its scores from all *extenders*, which are asked at once."""
    asked_extenders = interested(extenders, pod)
    if len(asked_extenders) > 1:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(len(asked_extenders)) as pool:
            scores = list(pool.map(lambda extender: _scores(extender, pod, nodes), asked_extenders))
    else:
        scores = [_scores(extender, pod, nodes) for extender in asked_extenders]
    totals: dict[str, int] = {}
    for part in scores:
        for name, score in part.items():
            totals[name] = totals.get(name, 0) + score
    return {name: wrap_int64(score) for name, score in totals.items()}


def _scores(extender: Extender, pod: Pod, nodes: Sequence[Node]) -> Mapping[str, int]:
    try:
        return extender.prioritize(pod, nodes)
    except ExtenderError:
        # Upstream: errors of an extender's prioritize call are ignored.
        return {}


# --- preempt ------------------------------------------------------------------------------------------------


def preempt_with_extenders(
    extenders: Sequence[Extender], cycle: Cycle, candidates: dict[str, Victims], pod: Pod
) -> dict[str, Victims]:
    """The candidates that remain after all extenders with a preempt verb, which are sent *pod*."""
    for extender in extenders:
        if not candidates or not extender.supports_preemption or not extender.is_interested(pod):
            continue
        try:

            def pods_on(name: str) -> Sequence[Pod] | None:
                row = cycle.table.row_of.get(name)
                if row is None or cycle.table.nodes[row] is None:
                    return None
                return [entry.pod for entry in cycle.table.pods[row]]

            candidates = _with_victims(extender, cycle, extender.process_preemption(pod, candidates, pods_on))
        except ExtenderError:
            if not extender.is_ignorable:
                raise
    return candidates


def _with_victims(extender: Extender, cycle: Cycle, candidates: dict[str, Victims]) -> dict[str, Victims]:
    """The candidates that the release accepts. Raises :class:`ExtenderError` for one without victims, where
    it needs some."""
    if not cycle.release.extenders.names_victims:
        return candidates
    for name, victims in candidates.items():
        if not victims.pods and not extender.is_ignorable:
            raise ExtenderError(f'expected at least one victim pod on node "{name}"')
    return {name: victims for name, victims in candidates.items() if victims.pods}
