"""EvenPodsSpread and its priority as plain loops; what-if changes are followed with two tracked minima, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kubeclassic.api.meaning.labels import selector_matches
from kubeclassic.api.objects import Node, Pod, TopologySpreadConstraint
from tests.reference.nodeselector import matches as node_allowed

Placed = Sequence[tuple[Node, Sequence[Pod]]]
"""Each node with its pods."""
NONE = 2**31 - 1


def constraints_of(pod: Pod, when: str) -> list[TopologySpreadConstraint]:
    """The constraints of *pod* for which *when* is said."""
    return [c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == when]


def has_keys(node: Node, constraints: Iterable[TopologySpreadConstraint]) -> bool:
    """Whether *node* has the topology key of every constraint."""
    return all(c.topology_key in node.labels for c in constraints)


def note(lowest: dict[str, list[tuple[str, int]]], key: str, value: str, count: int) -> None:
    """Follow a new *count* of a domain in the two lowest of its key."""
    two = lowest[key]
    tracked = [known for known, _ in two]
    if value in tracked:
        two[tracked.index(value)] = (value, count)
        two.sort(key=lambda item: item[1])
    elif count < two[0][1]:
        two[:] = [(value, count), two[0]]
    elif count < two[1][1]:
        two[1] = (value, count)


class Books:
    """Counts by (key, value) and, by key, two (value, count) of which the first is the smallest."""

    def __init__(self, pod: Pod, placed: Placed) -> None:
        self.pod, self.constraints = pod, constraints_of(pod, "DoNotSchedule")
        self.counts: dict[tuple[str, str], int] = {}
        for node, pods in placed:
            if node_allowed(pod, node) and has_keys(node, self.constraints):
                for c in self.constraints:
                    pair = (c.topology_key, node.labels[c.topology_key])
                    self.counts[pair] = self.counts.get(pair, 0) + sum(self._matches(c, other) for other in pods)
        self.lowest: dict[str, list[tuple[str, int]]] = {c.topology_key: [("", NONE), ("", NONE)] for c in self.constraints}
        for (key, value), count in self.counts.items():
            note(self.lowest, key, value, count)

    def _matches(self, constraint: TopologySpreadConstraint, other: Pod) -> bool:
        return other.namespace == self.pod.namespace and selector_matches(constraint.label_selector, other.labels)

    def change(self, other: Pod, node: Node, sign: int) -> None:
        """A pod comes to *node* or leaves it."""
        if has_keys(node, self.constraints):
            for c in self.constraints:
                if self._matches(c, other):
                    pair = (c.topology_key, node.labels[c.topology_key])
                    self.counts[pair] = self.counts.get(pair, 0) + sign
                    note(self.lowest, *pair, self.counts[pair])

    def fits(self, node: Node) -> bool:
        """Whether the pod may go to *node*."""
        if not self.constraints or not self.counts:
            return True
        for c in self.constraints:
            value = node.labels.get(c.topology_key)
            if value is None:
                return False
            count = self.counts.get((c.topology_key, value), 0) + self._matches(c, self.pod)
            if count - self.lowest[c.topology_key][0][1] > c.max_skew:
                return False
        return True


def scores(pod: Pod, placed: Placed, feasible: Sequence[Node]) -> list[int]:
    """The score of each node of *feasible*, in which a node may stand twice."""
    soft = constraints_of(pod, "ScheduleAnyway")
    if not soft:
        return [0] * len(feasible)
    counts: dict[tuple[str, str], int] = {}
    for node, pods in placed:
        if node_allowed(pod, node) and has_keys(node, soft):
            for c in soft:
                pair = (c.topology_key, node.labels[c.topology_key])
                counts[pair] = counts.get(pair, 0) + sum(selector_matches(c.label_selector, other.labels) for other in pods)
    own: dict[str, int] = {}
    total, least = 0, NONE
    for node in feasible:
        if has_keys(node, soft):
            met = sum(counts.get((c.topology_key, node.labels[c.topology_key]), 0) for c in soft)
            own[node.name] = own.get(node.name, 0) + met
            total, least = total + met, min(least, own[node.name])
    return [_score(own, node.name, total, total - least) for node in feasible]


def _score(own: Mapping[str, int], name: str, total: int, spread: int) -> int:
    if name not in own:
        return 0
    return 10 if spread == 0 else int(10.0 * ((total - own[name]) / spread))
