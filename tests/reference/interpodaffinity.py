"""Inter-pod affinity as plain loops: one pod, one node, no arrays. Metadata is books of pairs, kept as upstream keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubeclassic.api.meaning.labels import SelectorError, selector_matches
from kubeclassic.api.objects import Affinity, Node, Pod, PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm

Cluster = Sequence[tuple[Node, Sequence[Pod]]]
Pairs = dict[tuple[str, str], set[int]]
"""(topology key, value) -> the pods that stand for it, by identity."""


def required(pod: Pod, *, anti: bool) -> tuple[PodAffinityTerm, ...]:
    """The required terms of a pod."""
    part = _part(pod, anti)
    return part.required if part is not None else ()


def preferred(pod: Pod, *, anti: bool) -> tuple[WeightedPodAffinityTerm, ...]:
    """The preferred terms of a pod."""
    part = _part(pod, anti)
    return part.preferred if part is not None else ()


def _part(pod: Pod, anti: bool) -> PodAffinity | None:
    affinity = pod.spec.affinity or Affinity()
    return affinity.pod_anti_affinity if anti else affinity.pod_affinity


def is_about(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    """Whether a term of *owner* is about *other*."""
    return other.namespace in (term.namespaces or (owner.namespace,)) and selector_matches(term.label_selector, other.labels)


class Books:
    """The pairs that the predicate reads for one incoming pod, followed through removals and additions."""

    def __init__(self, incoming: Pod, cluster: Cluster) -> None:
        self.incoming = incoming
        self.wanted = required(incoming, anti=False)
        self.refused = required(incoming, anti=True)
        self.refusing_pairs: Pairs = {}
        self.wanted_pairs: Pairs = {}
        self.refused_pairs: Pairs = {}
        for node, pods in cluster:
            for pod in pods:
                self._start(pod, node)

    def _start(self, pod: Pod, node: Node) -> None:
        self._note_refusing(pod, node)
        if self._is_wanted(pod):
            _note(self.wanted_pairs, pod, node, self.wanted)
        _note(self.refused_pairs, pod, node, [term for term in self.refused if is_about(term, self.incoming, pod)])

    def _note_refusing(self, pod: Pod, node: Node) -> None:
        _note(self.refusing_pairs, pod, node, [term for term in required(pod, anti=True) if is_about(term, pod, self.incoming)])

    def _is_wanted(self, pod: Pod) -> bool:
        return bool(self.wanted) and all(is_about(term, self.incoming, pod) for term in self.wanted)

    def remove(self, pod: Pod, node: Node) -> None:
        """A pod leaves; one called like the incoming pod is not followed."""
        if pod.key != self.incoming.key:
            for pairs in (self.refusing_pairs, self.wanted_pairs, self.refused_pairs):
                for pair in [pair for pair, pods in pairs.items() if id(pod) in pods]:
                    pairs[pair].discard(id(pod))
                    if not pairs[pair]:
                        del pairs[pair]

    def add(self, pod: Pod, node: Node, *, nominated: bool) -> None:
        """A pod comes: of a nominated one without a node only its own anti-affinity counts.

        One that any refused term is about stands for all of them.
        """
        if pod.key == self.incoming.key:
            return
        self._note_refusing(pod, node)
        if nominated and not pod.spec.node_name:
            return
        if self._is_wanted(pod):
            _note(self.wanted_pairs, pod, node, self.wanted)
        if any(is_about(term, self.incoming, pod) for term in self.refused):
            _note(self.refused_pairs, pod, node, self.refused)

    def objection(self, node: Node) -> str | None:
        """``existing``, ``affinity`` or ``anti-affinity``: why *node* is turned down; None where it fits."""
        if any(pair in self.refusing_pairs for pair in node.labels.items()):
            return "existing"
        met = [_pair(term, node) in self.wanted_pairs for term in self.wanted]
        if not all(met) and not (not self.wanted_pairs and self._is_wanted(self.incoming)):
            return "affinity"
        if any(_pair(term, node) in self.refused_pairs for term in self.refused):
            return "anti-affinity"
        return None


def _pair(term: PodAffinityTerm, node: Node) -> tuple[str, str | None]:
    return term.topology_key, node.labels.get(term.topology_key)


def _note(pairs: Pairs, pod: Pod, node: Node, terms: Iterable[PodAffinityTerm]) -> None:
    for term in terms:
        if term.topology_key in node.labels:
            pairs.setdefault((term.topology_key, node.labels[term.topology_key]), set()).add(id(pod))


# --- without metadata -----------------------------------------------------------------------------------------------

Listed = Sequence[tuple[Pod, str, Node | None]]
"""Pods as the lister has them, each with the name of its node and the node itself, None where it is not found."""


def slow_objection(incoming: Pod, node: Node, listed: Listed) -> str | None:
    """Why *node* is turned down without metadata: as :meth:`Books.objection`, or an error's ``existing: ...`` or ``affinity: ...``."""
    refusing: list[tuple[PodAffinityTerm, Node]] = []
    for pod, _, home in listed:
        if home is None:
            continue
        try:
            refusing += [(term, home) for term in required(pod, anti=True) if is_about_or_raises(term, pod, incoming)]
        except SelectorError as error:
            return f"existing: {error}"
    if any(_same(node, home, term.topology_key) for term, home in refusing):
        return "existing"
    return _slow_own(incoming, node, listed)


def is_about_or_raises(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    """As :func:`is_about`, but an invalid selector raises whatever the namespace."""
    matches = selector_matches(term.label_selector, other.labels)
    return matches and other.namespace in (term.namespaces or (owner.namespace,))


def is_about_all(terms: Iterable[PodAffinityTerm], owner: Pod, other: Pod) -> bool:
    """Whether all terms of *owner* are about *other*; all selectors are read before any is tried."""
    about = [is_about_or_raises(term, owner, other) for term in terms]
    return all(about)


def _slow_own(incoming: Pod, node: Node, listed: Listed) -> str | None:
    wanted, refused = required(incoming, anti=False), required(incoming, anti=True)
    matched, somewhere = not wanted, False
    for pod, name, home in listed:
        if not matched:
            found = _slow_match(incoming, pod, name, home, node, wanted)
            if isinstance(found, str):
                return f"affinity: {found}"
            somewhere = somewhere or found[1]
            matched = found[0]
        if refused:
            found = _slow_match(incoming, pod, name, home, node, refused)
            if isinstance(found, str) or found[0]:
                return "anti-affinity"
    return None if matched or (not somewhere and _wants_itself(incoming)) else "affinity"


def _wants_itself(pod: Pod) -> bool:
    try:
        return is_about_all(required(pod, anti=False), pod, pod)
    except SelectorError:
        return False


def _slow_match(
    incoming: Pod, pod: Pod, name: str, home: Node | None, node: Node, terms: Sequence[PodAffinityTerm]
) -> tuple[bool, bool] | str:
    try:
        if not is_about_all(terms, incoming, pod):
            return False, False
    except SelectorError as error:
        return str(error)
    if home is None:
        return f'node "{name}" not found'
    return all(_same(node, home, term.topology_key) for term in terms), True


def _same(node: Node, other: Node, key: str) -> bool:
    return key in node.labels and node.labels[key] == other.labels.get(key)


# --- the priority ---------------------------------------------------------------------------------------------------


def liking(incoming: Pod, node: Node, cluster: Cluster, hard_weight: int) -> int:
    """The sum of weights that speaks for *node*."""
    total = 0
    for home, pods in cluster:
        for pod in pods:
            for sign, anti in ((1, False), (-1, True)):
                for owner, other in ((incoming, pod), (pod, incoming)):
                    for item in preferred(owner, anti=anti):
                        term = item.pod_affinity_term
                        if is_about(term, owner, other) and _same(node, home, term.topology_key):
                            total += sign * item.weight
            for term in required(pod, anti=False):
                if is_about(term, pod, incoming) and _same(node, home, term.topology_key):
                    total += hard_weight
    return total


def scaled(likings: Sequence[int]) -> list[int]:
    """0 to 10, where both the highest and the lowest start from 0."""
    highest, lowest = max([0, *likings]), min([0, *likings])
    return [int(10.0 * ((value - lowest) / (highest - lowest))) if highest > lowest else 0 for value in likings]
