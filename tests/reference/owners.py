"""Spreading by services and controllers, and service affinity, as plain loops: one pod, one node at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kubeclassic.api.meaning.labels import selector_matches, set_selector
from kubeclassic.api.objects import KubeObject, Map, Node, Pod, ReplicaSet, ReplicationController, Service, StatefulSet

Test = Callable[[Map[str]], bool]


def services(pod: Pod, objects: Iterable[KubeObject]) -> list[Service]:
    """The services of *pod*, by name; selectors are taken as they are."""
    found = [o for o in objects if isinstance(o, Service) and o.namespace == pod.namespace and o.selector is not None]
    return sorted((s for s in found if _has(pod, s.selector)), key=lambda s: s.name)


def _has(pod: Pod, pairs: Map[str] | None) -> bool:
    return all(pod.labels.get(key) == value for key, value in (pairs or {}).items())


def selectors(pod: Pod, objects: Sequence[KubeObject]) -> list[Test]:
    """What the services and controllers of *pod* count by; all selectors of sets are valid here."""
    found: list[Test] = [set_selector(s.selector) for s in services(pod, objects)]
    for item in objects:
        if item.namespace != pod.namespace or not pod.labels:
            continue
        if isinstance(item, ReplicationController) and item.selector and _has(pod, item.selector):
            found.append(set_selector(item.selector))
        if isinstance(item, (ReplicaSet, StatefulSet)):
            wanted = item.selector
            if wanted is not None and not wanted.is_empty and selector_matches(wanted, pod.labels):
                found.append(lambda labels, wanted=wanted: selector_matches(wanted, labels))
    return found


def count(pod: Pod, tests: Sequence[Test], existing: Iterable[Pod], any_of_them: bool) -> int:
    """How many of *existing* count as peers of *pod*."""
    combine = any if any_of_them else all
    found = 0
    for other in existing:
        if other.namespace == pod.namespace and not other.is_terminating and tests:
            found += combine(test(other.labels) for test in tests)
    return found


def spread_scores(counts: Sequence[int], zones: Sequence[str]) -> list[int]:
    """The scores of nodes with these counts of peers in these zones (empty: none)."""
    in_zone: dict[str, int] = {}
    for number, zone in zip(counts, zones, strict=True):
        if zone:
            in_zone[zone] = in_zone.get(zone, 0) + number
    most, most_in_zone = max(counts, default=0), max(in_zone.values(), default=0)
    found = []
    for number, zone in zip(counts, zones, strict=True):
        score = 10.0 * ((most - number) / most) if most > 0 else 10.0
        if zone:
            by_zone = 10.0 * ((most_in_zone - in_zone[zone]) / most_in_zone) if most_in_zone > 0 else 10.0
            score = score * (1.0 - 2.0 / 3.0) + (2.0 / 3.0) * by_zone
        found.append(int(score))
    return found


def anti_affinity_scores(counts: Sequence[int], values: Sequence[str | None]) -> list[int]:
    """The scores of nodes with these counts of peers and these values of the label (None: without it)."""
    total, by_value = sum(counts), dict.fromkeys(values, 0)
    for number, value in zip(counts, values, strict=True):
        by_value[value] += number
    share = [10.0 * ((total - by_value[value]) / total) if total else 10.0 for value in values]
    return [0 if value is None else int(score) for value, score in zip(values, share, strict=True)]


class Peers:
    """The list of peer pods that service affinity looks at, followed through what-if changes on one node."""

    def __init__(self, pod: Pod, placed: Sequence[tuple[Node, Sequence[Pod]]]) -> None:
        self.pod = pod
        self.nodes = {node.name: node for node, _ in placed}
        in_order = [other for _, pods in sorted(placed, key=lambda item: item[0].name) for other in pods]
        self.list = [other for other in in_order if self._is_peer(other)]

    def _is_peer(self, other: Pod) -> bool:
        return other.namespace == self.pod.namespace and set_selector(self.pod.labels)(other.labels)

    def change(self, other: Pod, sign: int) -> None:
        """A pod is put at the end, or taken out."""
        if sign > 0:
            self.list += [other] if self._is_peer(other) else []
        else:
            self.list = [known for known in self.list if known.key != other.key]

    def fits(self, node: Node, labels: Sequence[str], has_services: bool) -> bool | str:
        """Whether the pod may go to *node*, or the text of an error."""
        wanted = {label: self.pod.spec.node_selector[label] for label in labels if label in (self.pod.spec.node_selector or {})}
        if len(wanted) < len(labels) and has_services and self.list:
            name = self.list[0].spec.node_name
            if name not in self.nodes:
                return f'node "{name}" not found'
            beside = self.nodes[name].labels
            wanted = {label: beside[label] for label in labels if label in beside} | wanted
        return set_selector(Map(wanted))(node.labels)
