"""InterPodAffinity as plain loops: one pod, one node, no arrays. Its state is books of pairs, kept as upstream keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kubeclassic.api.meaning.labels import selector_matches
from kubeclassic.api.objects import Node, Pod, PodAffinityTerm
from tests.reference.interpodaffinity import Cluster, preferred, required

Namespaces = Mapping[str, Mapping[str, str]]
"""The labels of the namespaces that there are."""
Counts = dict[tuple[str, str], int]


def is_about(term: PodAffinityTerm, owner: Pod, other: Pod, labels: Mapping[str, str] | None) -> bool:
    """Whether a term of *owner* is about *other*, in a namespace with *labels* (None: of no object)."""
    own = () if term.namespaces or term.namespace_selector is not None else (owner.namespace,)
    reached = other.namespace in (*term.namespaces, *own) or selector_matches(term.namespace_selector, labels or {})
    return reached and selector_matches(term.label_selector, other.labels)


def incoming_is_about(term: PodAffinityTerm, owner: Pod, other: Pod, namespaces: Namespaces, keeps: bool = False) -> bool:
    """The same where *owner* is the incoming pod: namespaces without an object are reached by an empty selector alone.

    Where selectors are *kept*, one that no labels satisfy reaches every namespace.
    """
    selector = term.namespace_selector
    if keeps and selector is not None and selector_matches(selector, {}):
        return selector_matches(term.label_selector, other.labels)
    if selector is not None and not selector.is_empty and other.namespace not in namespaces:
        return other.namespace in term.namespaces and selector_matches(term.label_selector, other.labels)
    return is_about(term, owner, other, namespaces.get(other.namespace))


class Books:
    """The counts that the filter reads for one incoming pod, followed through removals and additions."""

    def __init__(self, incoming: Pod, cluster: Cluster, namespaces: Namespaces, keeps: bool = False) -> None:
        self.incoming, self.namespaces, self.keeps = incoming, namespaces, keeps
        self.wanted, self.refused = required(incoming, anti=False), required(incoming, anti=True)
        self.refusing: Counts = {}
        self.company: Counts = {}
        self.avoided: Counts = {}
        for node, pods in cluster:
            for pod in pods:
                self.add(pod, node)
        self.skips = not self.refusing and not self.wanted and not self.refused

    def add(self, pod: Pod, node: Node, *, nominated: bool = False) -> None:
        """A pod comes to *node*; one that is nominated to it counts as any other."""
        self._change(pod, node, 1)

    def remove(self, pod: Pod, node: Node) -> None:
        """A pod leaves *node*."""
        self._change(pod, node, -1)

    def _change(self, pod: Pod, node: Node, sign: int) -> None:
        labels = self.namespaces.get(self.incoming.namespace)
        _count(self.refusing, node, sign, (t for t in required(pod, anti=True) if is_about(t, pod, self.incoming, labels)))
        if self._is_wanted(pod):
            _count(self.company, node, sign, self.wanted)
        _count(self.avoided, node, sign, (term for term in self.refused if self._is_about(term, pod)))

    def _is_about(self, term: PodAffinityTerm, pod: Pod) -> bool:
        return incoming_is_about(term, self.incoming, pod, self.namespaces, self.keeps)

    def _is_wanted(self, pod: Pod) -> bool:
        return bool(self.wanted) and all(self._is_about(term, pod) for term in self.wanted)

    def objection(self, node: Node) -> str | None:
        """``affinity``, ``anti-affinity`` or ``existing``: why *node* is turned down; None where it fits."""
        if any(term.topology_key not in node.labels for term in self.wanted):
            return "affinity"
        met = all(self.company.get((t.topology_key, node.labels[t.topology_key]), 0) > 0 for t in self.wanted)
        if not met and (self.company or not self._is_wanted(self.incoming)):
            return "affinity"
        if any(self.avoided.get((t.topology_key, node.labels.get(t.topology_key, "?")), 0) > 0 for t in self.refused):
            return "anti-affinity"
        return "existing" if any(self.refusing.get(pair, 0) > 0 for pair in node.labels.items()) else None


def _count(counts: Counts, node: Node, sign: int, terms: Iterable[PodAffinityTerm]) -> None:
    for term in terms:
        if term.topology_key in node.labels:
            pair = (term.topology_key, node.labels[term.topology_key])
            counts[pair] = counts.get(pair, 0) + sign
            if not counts[pair]:
                del counts[pair]


def liking(incoming: Pod, node: Node, cluster: Cluster, namespaces: Namespaces, hard_weight: int, keeps: bool = False) -> int:
    """The sum of weights that speaks for *node*."""
    total = 0
    labels = namespaces.get(incoming.namespace)
    for home, pods in cluster:
        for pod in pods:
            for sign, anti in ((1, False), (-1, True)):
                own, theirs = preferred(incoming, anti=anti), preferred(pod, anti=anti)
                found = [item for item in own if incoming_is_about(item.pod_affinity_term, incoming, pod, namespaces, keeps)]
                found += [item for item in theirs if is_about(item.pod_affinity_term, pod, incoming, labels)]
                total += sign * sum(item.weight for item in found if _shared(node, home, item.pod_affinity_term))
            terms = [term for term in required(pod, anti=False) if is_about(term, pod, incoming, labels)]
            total += hard_weight * sum(_shared(node, home, term) for term in terms)
    return total


def _shared(node: Node, home: Node, term: PodAffinityTerm) -> bool:
    return term.topology_key in home.labels and home.labels[term.topology_key] == node.labels.get(term.topology_key)


def scaled(likings: Sequence[int]) -> list[int]:
    """0 for the lowest to 100 for the highest."""
    highest, lowest = max(likings), min(likings)
    return [int(100.0 * ((value - lowest) / (highest - lowest))) if highest > lowest else 0 for value in likings]
