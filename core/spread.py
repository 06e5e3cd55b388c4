"""How many pods stand in each topology domain, for the constraints of a pod that wants to be spread evenly.

A domain is a pair of a topology key and a node's value for it. Constraints of one key share their domains, so what each of them
counts is added up there, as upstream does.
Upstream: pkg/scheduler/algorithm/predicates/metadata.go getExistingPodSpreadCache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from ..api.labels import SelectorError, compile_selector
from ..api.objects import LabelSelector, TopologySpreadConstraint
from .batch import Batch, Ints, Mask, Rows
from .census import PodsMatching
from .columns import ColumnView
from .nodeselectors import pod_node_affinity_mask
from .table import NodeTable
from .template import Template

Constraints = tuple[TopologySpreadConstraint, ...]
Namespaces = frozenset[str] | None
Codes = NDArray[np.int32]
NO_MINIMUM = 2**31 - 1
"""The smallest count of a topology key without domains."""


def hard_constraints(pod: Template) -> Constraints:
    """The constraints of *pod* that a node must keep."""
    return _constraints(pod, "DoNotSchedule")


def soft_constraints(pod: Template) -> Constraints:
    """The constraints of *pod* that a node should keep."""
    return _constraints(pod, "ScheduleAnyway")


def _constraints(pod: Template, when_unsatisfiable: str) -> Constraints:
    return tuple(c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == when_unsatisfiable)


def selector_error(selector: LabelSelector | None) -> str | None:
    """What is wrong with *selector*, None where nothing is."""
    try:
        compile_selector(selector)
    except SelectorError as error:
        return str(error)
    return None


def counted_by(constraint: TopologySpreadConstraint, namespaces: Namespaces) -> PodsMatching | None:
    """Which pods of *namespaces* (None: of any) a constraint counts; None where its selector is absent or invalid."""
    selector = constraint.label_selector
    if selector is None or selector_error(selector) is not None:
        return None
    matches = compile_selector(selector)
    return PodsMatching(namespaces, selector, lambda group: matches(group.labels), selector.match_labels.items())


class Keyed(Protocol):
    """What is bound to a topology key."""

    @property
    def topology_key(self) -> str: ...


def with_all_keys(constraints: Iterable[Keyed], nodes: Batch) -> Mask:
    """The nodes that have the topology key of every constraint: bool[n]."""
    mask = np.ones(nodes.n, np.bool_)
    for key in {constraint.topology_key for constraint in constraints}:
        mask &= nodes.label(key).present
    return mask


def eligible(pod: Template, constraints: Constraints, nodes: Batch) -> Mask:
    """The nodes that make domains: *pod*'s node selector and affinity allow them, and they have every topology key: bool[n]."""
    return nodes.has_node & with_all_keys(constraints, nodes) & pod_node_affinity_mask(pod, nodes)


@attrs.frozen(eq=False)
class Domains:
    """The domains of one topology key, by code of the key's label column.

    ``counts``: int64[values], 0 where the value makes no domain; ``known``: bool[values], the values that do.
    ``least``: the smallest count of a domain; ``least_code``: a domain that has it; ``second``: the smallest count of the others.
    """

    counts: Ints
    known: Mask
    least: int
    least_code: int
    second: int

    @classmethod
    def of(cls, counts: Ints, known: Mask) -> Domains:
        """The domains of these counts."""
        codes = np.flatnonzero(known)
        if not len(codes):
            return cls(counts, known, NO_MINIMUM, -1, NO_MINIMUM)
        found = counts[codes]
        at = int(found.argmin())
        least, found[at] = int(found[at]), NO_MINIMUM
        return cls(counts, known, least, int(codes[at]), int(found.min()))

    @classmethod
    def over(cls, label: ColumnView[str | None], pods: Ints, rows: Rows) -> Domains:
        """The domains that the nodes *rows* make of their values of *label*, with the *pods*: int64[n] that stand there."""
        codes, size = label.codes[rows], len(label.values)
        counts = np.bincount(codes, pods[rows], size).astype(np.int64)
        return cls.of(counts, np.bincount(codes, minlength=size) > 0)

    @property
    def number(self) -> int:
        """How many domains there are."""
        return int(np.count_nonzero(self.known))

    def least_if(self, codes: Codes, counts: Ints, known: Mask) -> Ints:
        """The smallest count for each node of a trial, where its own domain of *codes* has *counts*, if it is one at all: int64[n]."""
        others = np.where(codes == self.least_code, self.second, self.least)
        return np.where(known, np.minimum(counts, others), others)


def domains_by_key(pod: Template, constraints: Constraints, namespaces: Namespaces, table: NodeTable) -> dict[str, Domains]:
    """The domains of each topology key over the whole cluster, rows that keep a deleted node included."""
    nodes = Batch(table)
    rows = np.flatnonzero(eligible(pod, constraints, nodes))
    found: dict[str, Domains] = {}
    for key in {constraint.topology_key for constraint in constraints}:
        pods = sum_of([c for c in constraints if c.topology_key == key], namespaces, nodes)
        found[key] = Domains.over(nodes.label(key), pods, rows)
    return found


def sum_of(constraints: Sequence[TopologySpreadConstraint], namespaces: Namespaces, nodes: Batch) -> Ints:
    """The pods on each node that *constraints* count, one constraint after the other: int64[n]."""
    found = np.zeros(nodes.n, np.int64)
    for constraint in constraints:
        query = counted_by(constraint, namespaces)
        if query is not None:
            found += nodes.counting(query)
    return found


def metadata_fails(pod: Template, table: NodeTable) -> bool:
    """Whether an invalid selector keeps upstream from its predicate metadata: one of a hard constraint that meets a pod.

    A pod is met where it stands in *pod*'s namespace on a node that makes domains; only releases with EvenPodsSpread look.
    """
    constraints = hard_constraints(pod)
    if all(selector_error(constraint.label_selector) is None for constraint in constraints):
        return False
    nodes = Batch(table)
    anybody = PodsMatching(frozenset((pod.namespace,)), "anybody", lambda group: True)
    return bool((eligible(pod, constraints, nodes) & (nodes.counting(anybody) > 0)).any())
