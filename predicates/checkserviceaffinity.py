"""Are the pods of a service on nodes with equal values of the labels that a Policy names?"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from ..api.meaning import everything, set_selector
from ..api.objects import Map
from ..core.matching import pairs_mask, services_of
from .rule import (
    SERVICE_AFFINITY_VIOLATED,
    Batch,
    Cycle,
    Entry,
    Failures,
    Mask,
    PodCount,
    PodsMatching,
    Predicate,
    Reads,
    StateKey,
    Template,
    predicate,
)

READS = Reads.NODE | Reads.CLUSTER | Reads.LISTINGS


def service_affinity(name: str, labels: Sequence[str]) -> Predicate:
    """The predicate *name*, by which the pods of a service keep to nodes with equal values of the node
    *labels*.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go NewServiceAffinityPredicate.
    """

    @predicate(name, reads=READS, key=lambda pod: (pod.namespace, pod.labels, pod.node_selector))
    def check_service_affinity(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
        """Turn down nodes without the required values of the *labels*.

        A value is required by *pod*'s node selector or, if that lacks the label, by the node of the pod's
        first peer. Upstream: pkg/scheduler/algorithm/predicates/predicates.go checkServiceAffinity.
        """
        return service_affinity_failures(pod, labels, nodes, cycle)

    return check_service_affinity


def service_affinity_failures(
    pod: Template, labels: Sequence[str], nodes: Batch, cycle: Cycle
) -> Failures | None:
    """The answer of :func:`service_affinity` for *nodes*."""
    selected_labels = {label: pod.node_selector[label] for label in labels if label in pod.node_selector}
    if len(selected_labels) == len(labels) or not services_of(pod, cycle.listings):
        return _without_labels(selected_labels, nodes, nodes.every(), cycle)
    # Each node that can be the one of the pod's first peer, with the candidates for which it is: bool[n].
    leaders = []
    peers = _Peers.of(pod, cycle)
    unedited = nodes.every()
    if nodes.edits:
        moved = nodes.edited(peers.counter.query).touched if peers.first is None else nodes.named(peers.first)
        exceptions = {int(i): peers.leader(nodes, int(i), cycle) for i in np.flatnonzero(moved)}
        for leader in dict.fromkeys(exceptions.values()):
            at = nodes.none()
            at[[i for i, leader_there in exceptions.items() if leader_there == leader]] = True
            leaders.append((leader, at))
        unedited &= ~moved
    failures = []
    for leader, at in (*leaders, (peers.first, unedited)):
        required_labels = selected_labels
        if leader is not None:
            node = cycle.cache.node(leader)
            if node is None:
                text = cycle.release.framework.peer_node_text.format(node=leader)
                failures.append(Failures.error(text, at))
                continue
            required_labels = {
                label: node.labels[label] for label in labels if label in node.labels
            } | selected_labels
        failures.append(_without_labels(required_labels, nodes, at, cycle))
    return Failures.joined(failures)


def _without_labels(pairs: Mapping[str, str], nodes: Batch, at: Mask, cycle: Cycle) -> Failures | None:
    # Upstream: in releases that validate the pairs, one invalid pair makes every node match.
    if not pairs or (not cycle.release.framework.literal_pairs and set_selector(Map(pairs)) is everything):
        return None
    return Failures.where(SERVICE_AFFINITY_VIOLATED, at & ~pairs_mask(pairs, nodes))


# --- the first peer -----------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Peers:
    """The pods of the incoming pod's namespace that have all of its labels, by node name.

    Only the first of them matters: ``first`` names its node, ``second`` the next node that has any.
    """

    counter: PodCount
    first: str | None
    second: str | None

    @classmethod
    def of(cls, pod: Template, cycle: Cycle) -> _Peers:
        """The peers of *pod*, worked out once a cycle."""
        peers = cycle.notes.get(_PEERS)
        if peers is None:
            matches = set_selector(pod.labels)
            query = PodsMatching(
                frozenset((pod.namespace,)), ("labels", pod.labels), lambda group: matches(group.labels)
            )
            counter = cycle.table.census.counter(query)
            table = cycle.table
            cache = cycle.cache
            rows = np.flatnonzero(counter.rows)
            if cycle.listed is not None and cycle.release.framework.first_peer_by_list:
                # First by their places in the list of nodes, which has no deleted ones.
                listed = cycle.listed()
                names = [table.names[row] for row in listed[np.isin(listed, rows)][:2].tolist()]
            else:
                # Or by name, among all nodes that have such pods in the cache.
                peer_nodes = {table.names[row] for row in rows.tolist() if row not in table.deleted_rows}
                if len(cache.infos) > cache.node_count:
                    for name, info in cache.infos.items():
                        if info.node is None and any(counter.of(entry.template) for entry in info.pods):
                            peer_nodes.add(name)
                names = heapq.nsmallest(2, peer_nodes)
            peers = cycle.notes[_PEERS] = cls(counter, *[*names, None, None][:2])
        return peers

    def leader(self, nodes: Batch, i: int, cycle: Cycle) -> str | None:
        """The first peer's node after the edits of node *i*. A peer that is only nominated counts on the node
        in its spec, which is mostly empty."""
        name = nodes.name(i)
        remaining = self._of(cycle.table.pods[nodes.row(i)]) if name == self.first else []
        if not cycle.has_metadata:
            uids = {entry.pod.uid for entry in nodes.pods(i)}
            return name if any(entry.pod.uid in uids for entry in remaining) else self.second
        # Upstream: a pod that is put back, or only nominated, stands at the end of the list.
        appended = []
        for edit in nodes.edits_at(i):
            if edit.sign > 0:
                appended += self._of([edit.entry])
            else:
                remaining = [entry for entry in remaining if entry is not edit.entry]
                appended = [entry for entry in appended if entry is not edit.entry]
        if remaining or self.second is not None:
            return name if remaining else self.second
        return None if not appended else appended[0].pod.spec.node_name if appended[0].nominated else name

    def _of(self, entries: Sequence[Entry]) -> list[Entry]:
        return [entry for entry in entries if self.counter.of(entry.template)]


_PEERS: StateKey[_Peers] = StateKey("CheckServiceAffinity")
