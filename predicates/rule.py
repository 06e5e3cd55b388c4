"""The decorator of predicates, and their common parts: reasons, and cycles without metadata. The names of
core for writing predicates are here, too.

A predicate is a function of (pod, nodes, cycle) under ``@predicate(name, reads=..., key=...)``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache

from ..api.objects import CSINode
from ..core.arrays import *
from ..core.cycle import *
from ..core.guard import WrongAnswer, described
from ..core.matching import hard_constraints, is_readable
from ..core.matching import metadata_fails as spread_unreadable
from ..core.pods.requests import *
from ..core.pods.template import *
from ..core.volumes import MIGRATED_PLUGINS, PLUGINS

Check = Callable[[Template, Batch, Cycle], Failures | None]
EachNode = Callable[[Template, Batch, int, Cycle], Iterable[Reason] | str | None]


class _Declare:
    """The decorator; :meth:`each_node` is its slow and easy form."""

    def __call__(
        self,
        name: str,
        *,
        reads: Reads,
        key: Callable[[Template], Hashable] = lambda pod: pod,
        effect: Callable[[Template, Batch, Cycle], None] | None = None,
        concerns: Callable[[Template], bool] = every_pod,
        clauses: Callable[[Template, Cycle], Sequence[Clause] | None] | None = None,
        parts: Sequence[Predicate] = (),
    ) -> Callable[[Check], Predicate]:
        """Declare a predicate that checks all nodes of a batch at once; it returns None where no node
        fails."""
        return lambda check: Predicate(
            name=name,
            check=check,
            reads=reads,
            key=key,
            effect=effect,
            concerns=concerns,
            clauses=clauses,
            parts=parts,
        )

    def each_node(
        self,
        name: str,
        *,
        reads: Reads = Reads.NODE | Reads.REQUESTS | Reads.PORTS | Reads.PODS,
        key: Callable[[Template], Hashable] = lambda pod: pod,
    ) -> Callable[[EachNode], Predicate]:
        """Declare a predicate that is asked node by node: ``(pod, nodes, i, cycle)`` -> reasons against node
        *i*, or an error's text."""

        def declare(ask: EachNode) -> Predicate:
            @functools.wraps(ask)
            def check(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
                return Failures.of_rows(
                    [_outcome(ask(pod, nodes, i, cycle), nodes, i) for i in range(nodes.n)]
                )

            return Predicate(name=name, check=check, reads=reads, key=key)

        return declare


def _outcome(answer: object, nodes: Batch, i: int) -> Reasons | str | None:
    """The reasons against node *i*, an error's text, or None. Raises :class:`WrongAnswer` for any other
    *answer*."""
    if answer is None or isinstance(answer, str):
        return answer
    if isinstance(answer, Iterable):
        reasons = tuple(answer)
        if all(isinstance(reason, Reason) for reason in reasons):
            return reasons
        answer = reasons
    raise WrongAnswer(
        f'{described(answer)} for node "{nodes.name(i)}"', "None, a tuple of Reasons, or a text for an error"
    )


predicate: _Declare = _Declare()


def has_volumes(pod: Template) -> bool:
    """Whether *pod* has any volume: rules about volumes do not concern other pods."""
    return bool(pod.volumes)


# --- Every reason against a node, in upstream's words -------------------------------------------------------
# Upstream: pkg/scheduler/algorithm/predicates/error.go.


DISK_CONFLICT = Reason("node(s) had no available disk")
VOLUME_ZONE_CONFLICT = Reason("node(s) had no available volume zone", resolvable=False)
NODE_SELECTOR_NOT_MATCH = Reason("node(s) didn't match node selector", resolvable=False)
POD_AFFINITY_NOT_MATCH = Reason("node(s) didn't match pod affinity/anti-affinity")
POD_AFFINITY_RULES_NOT_MATCH = Reason("node(s) didn't match pod affinity rules", resolvable=False)
POD_ANTI_AFFINITY_RULES_NOT_MATCH = Reason("node(s) didn't match pod anti-affinity rules")
EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH = Reason(
    "node(s) didn't satisfy existing pods anti-affinity rules"
)
TAINTS_TOLERATIONS_NOT_MATCH = Reason("node(s) had taints that the pod didn't tolerate", resolvable=False)
POD_NOT_MATCH_HOST_NAME = Reason("node(s) didn't match the requested hostname", resolvable=False)
POD_NOT_FITS_HOST_PORTS = Reason("node(s) didn't have free ports for the requested pod ports")
NODE_LABEL_PRESENCE_VIOLATED = Reason("node(s) didn't have the requested labels", resolvable=False)
SERVICE_AFFINITY_VIOLATED = Reason("node(s) didn't match service affinity")
MAX_VOLUME_COUNT_EXCEEDED = Reason("node(s) exceed max volume count")
NODE_UNDER_MEMORY_PRESSURE = Reason("node(s) had memory pressure", resolvable=False)
NODE_UNDER_DISK_PRESSURE = Reason("node(s) had disk pressure", resolvable=False)
NODE_UNDER_PID_PRESSURE = Reason("node(s) had pid pressure", resolvable=False)
NODE_OUT_OF_DISK = Reason("node(s) were out of disk space", resolvable=False)
NODE_NOT_READY = Reason("node(s) were not ready", resolvable=False)
NODE_NETWORK_UNAVAILABLE = Reason("node(s) had unavailable network", resolvable=False)
NODE_UNSCHEDULABLE = Reason("node(s) were unschedulable", resolvable=False)
VOLUME_NODE_CONFLICT = Reason("node(s) had volume node affinity conflict", resolvable=False)
VOLUME_BIND_CONFLICT = Reason("node(s) didn't find available persistent volumes to bind", resolvable=False)
TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH = Reason("node(s) didn't match pod topology spread constraints")


@cache
def insufficient(resource: str) -> Reason:
    """The reason against a node with too little of *resource* left."""
    return Reason(f"Insufficient {resource}")


# --- CSI migration: drivers that have taken over in-tree plugins --------------------------------------------
# Upstream: isCSIMigrationOn in pkg/scheduler/algorithm/predicates/utils.go.


def migrated_plugins(csi_node: CSINode | None, cycle: Cycle) -> frozenset[str]:
    """The in-tree plugins that drivers have taken over on a node: the gates must allow it and its CSINode
    must name them."""
    cells = cycle.release.volumes
    gates = cycle.algorithm.gates
    if csi_node is None or (cells.migration_gate and not gates.get(cells.migration_gate)):
        return frozenset()
    names = csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "").split(",")
    return cells.always_migrated | {
        name for name in names if name in PLUGINS and gates.get(PLUGINS[name].gate)
    }


# --- Cycles without predicate metadata, in which predicates take other, slower paths ------------------------
# Upstream: GetMetadata in pkg/scheduler/algorithm/predicates/metadata.go.


REFUSED_BY = Unreadable((REQUIRED_ANTI_AFFINITY,))
_MAY_FAIL: StateKey[bool] = StateKey("metadata may fail")


def metadata_fails(cycle: Cycle) -> bool:
    """Whether a row without node or an invalid selector keeps upstream from computing its metadata.

    Upstream: in 1.16 a row without node does no harm here, but from 1.14 on no snapshot has one.
    """
    table = cycle.table
    pod = cycle.template
    if cycle.release.snapshot_keeps_nodeless and table.has_nodeless:
        return True
    census = table.census
    may_fail = pod.notes.get(_MAY_FAIL)
    if may_fail is None:
        # Whether any selector of the pod itself is invalid.
        texts = [unreadable(pod, role) for role in (REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY)]
        may_fail = pod.notes[_MAY_FAIL] = texts != [None, None] or not is_readable(hard_constraints(pod))
    if may_fail:
        if unreadable(pod, REQUIRED_AFFINITY) is not None:
            return True
        # Upstream: selectors of the anti-affinity are parsed only if there is a pod to match.
        if unreadable(pod, REQUIRED_ANTI_AFFINITY) is not None and table.pod_count[: table.size].any():
            return True
        if "EvenPodsSpread" in cycle.release.gates and spread_unreadable(pod, table):
            return True
    return census.has_unreadable and bool(census.counter(REFUSED_BY).total)
