"""PodTopologySpread as plain loops; what-if changes are followed with two tracked minima, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kubeclassic.api.meaning.labels import selector_matches, tolerates
from kubeclassic.api.objects import LabelSelector, Node, Pod, TopologySpreadConstraint
from tests.reference.nodeselector import matches as node_allowed
from tests.reference.topologyspread import NONE, Placed, constraints_of, has_keys, note

Constraints = Sequence[TopologySpreadConstraint]
HOSTNAME = "kubernetes.io/hostname"


def is_about(constraint: TopologySpreadConstraint, pod: Pod, other: Pod) -> bool:
    """Whether a constraint of *pod* is about *other*, their namespaces aside."""
    if constraint.label_selector is None:
        return False
    pairs = {key: pod.labels[key] for key in constraint.match_label_keys if key in pod.labels}
    return pairs.items() <= other.labels.items() and selector_matches(constraint.label_selector, other.labels)


def counted(constraint: TopologySpreadConstraint, pod: Pod, pods: Sequence[Pod]) -> int:
    """How many of *pods* count as they stand there."""
    if constraint.label_selector == LabelSelector() and not any(key in pod.labels for key in constraint.match_label_keys):
        return 0
    alive = (other for other in pods if other.namespace == pod.namespace and not other.is_terminating)
    return sum(is_about(constraint, pod, other) for other in alive)


def included(constraint: TopologySpreadConstraint, pod: Pod, node: Node) -> bool:
    """Whether the constraint's policies let *node* count."""
    if constraint.node_affinity_policy != "Ignore" and not node_allowed(pod, node):
        return False
    hard = [taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute")]
    return constraint.node_taints_policy != "Honor" or all(tolerates(pod.spec.tolerations, taint) for taint in hard)


def labelled(constraints: Constraints, apart: bool) -> list[tuple[str, TopologySpreadConstraint]]:
    """Each constraint with what its counts are kept under: its key or, where constraints of one key count *apart*, its place."""
    return [(str(at) if apart else c.topology_key, c) for at, c in enumerate(constraints)]


class Books:
    """Counts by (key, value) and, by key, two (value, count) of which the first is the smallest; *apart*: by place instead of key."""

    def __init__(self, pod: Pod, placed: Placed, apart: bool = False) -> None:
        self.pod, self.constraints = pod, constraints_of(pod, "DoNotSchedule")
        self.labelled = labelled(self.constraints, apart)
        self.counts: dict[tuple[str, str], int] = {}
        for node, pods in placed:
            found: dict[tuple[str, str], int] = {}
            for key, c in self.labelled if has_keys(node, self.constraints) else ():
                if included(c, pod, node):
                    found[key, node.labels[c.topology_key]] = counted(c, pod, pods)
            for pair, count in found.items():
                self.counts[pair] = self.counts.get(pair, 0) + count
        self.lowest: dict[str, list[tuple[str, int]]] = {key: [("", NONE), ("", NONE)] for key, _ in self.labelled}
        self.domains = {key: sum(1 for known, _ in self.counts if known == key) for key in self.lowest}
        for (key, value), count in self.counts.items():
            note(self.lowest, key, value, count)

    def change(self, other: Pod, node: Node, sign: int) -> None:
        """A pod comes to *node* or leaves it."""
        if other.namespace != self.pod.namespace or not has_keys(node, self.constraints):
            return
        for key, c in self.labelled:
            if is_about(c, self.pod, other) and included(c, self.pod, node):
                pair = (key, node.labels[c.topology_key])
                self.counts[pair] = self.counts.get(pair, 0) + sign
                note(self.lowest, *pair, self.counts[pair])

    def objection(self, node: Node) -> str | None:
        """``label`` or ``skew``: why the pod may not go to *node*; None where it may."""
        for key, c in self.labelled:
            value = node.labels.get(c.topology_key)
            if value is None:
                return "label"
            wanted = 1 if c.min_domains is None else c.min_domains
            least = 0 if self.domains[key] < wanted else self.lowest[key][0][1]
            if self.counts.get((key, value), 0) + is_about(c, self.pod, self.pod) - least > c.max_skew:
                return "skew"
        return None


def scores(
    pod: Pod, soft: Constraints, requires_all: bool, placed: Placed, feasible: Sequence[Node], apart: bool = False
) -> dict[str, int]:
    """The normalised score of each node of *feasible* for the constraints *soft*."""
    judged = [node for node in feasible if not requires_all or has_keys(node, soft)]
    counts: dict[tuple[str, str], int] = {}
    sizes, named = [], labelled(soft, apart)
    for key, c in named:
        before = len(counts)
        for node in judged if c.topology_key != HOSTNAME else ():
            counts.setdefault((key, node.labels.get(c.topology_key, "")), 0)
        sizes.append(len(judged) if c.topology_key == HOSTNAME else len(counts) - before)
    for node, pods in placed:
        for key, c in named if not requires_all or has_keys(node, soft) else ():
            pair = (key, node.labels.get(c.topology_key, ""))
            if included(c, pod, node) and pair in counts:
                counts[pair] += counted(c, pod, pods)
    there = {node.name: pods for node, pods in placed}
    raw = {node.name: _crowd(pod, named, sizes, counts, node, there[node.name]) for node in judged}
    return {node.name: _normal(raw, node.name) for node in feasible}


def _crowd(
    pod: Pod,
    soft: Sequence[tuple[str, TopologySpreadConstraint]],
    sizes: Sequence[int],
    counts: Mapping[tuple[str, str], int],
    node: Node,
    pods: Sequence[Pod],
) -> int:
    total = 0.0
    for (key, c), size in zip(soft, sizes, strict=True):
        if c.topology_key in node.labels:
            here = c.topology_key == HOSTNAME
            number = counted(c, pod, pods) if here else counts[key, node.labels[c.topology_key]]
            total += float(number) * math.log(size + 2) + float(c.max_skew - 1)
    return math.floor(total) + (total - math.floor(total) >= 0.5)


def _normal(raw: Mapping[str, int], name: str) -> int:
    if name not in raw:
        return 0
    most = max(raw.values())
    return 100 * (most + min(raw.values()) - raw[name]) // most if most else 100
