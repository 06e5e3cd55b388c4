"""The number of pods of each node that use each claim, as releases count that whose trials change the counts.

Upstream: PVCRefCounts in pkg/scheduler/framework/types.go, up to 1.24.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from ...api.objects import Pod
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER
from ..cluster.nominations import Nominations
from ..cycle import Cycle
from ..pods.template import Entry, claim_keys
from .victimchoice import Candidates


@attrs.define(eq=False, repr=False)
class ClaimUsers:
    """The users of claims, by node.

    Upstream: a copy of a node's record shares the counts, so that pods that come and go on copies change
    those of the node: nominated pods stay counted, and would-be victims are not counted any more. No count
    falls below 0.
    """

    table: NodeTable
    counts: dict[str, Counter[str]] = attrs.Factory(dict)
    """Node -> claim -> its users."""
    _entries: dict[str, dict[int, Entry]] = attrs.Factory(dict)
    """Node -> the pods with claims that are counted there, by identity."""
    _seen: int = NEVER

    def in_use(self, claim: str) -> bool:
        """Whether a pod of any node counts as a user of *claim*, given as ``namespace/name``."""
        self.follow()
        return any(
            users[claim] > 0 and self.table.has_node[self.table.row_of[node]]
            for node, users in self.counts.items()
        )

    def follow(self) -> None:
        """Count the pods that came and went since the last time."""
        changed = self.table.changed.since(self._seen)
        self._seen = self.table.changed.revision
        for node in [name for name in self._entries if name not in self.table.row_of]:
            del self._entries[node], self.counts[node]
        rows = range(len(self.table.pods)) if changed is None else changed.tolist()
        for row in rows:
            node = self.table.names[row] if row < len(self.table.names) else ""
            if self.table.row_of.get(node) != row:
                continue
            now = {id(one): one for one in self.table.pods[row] if claim_keys(one.template.pod)}
            before = self._entries.get(node, {})
            if now or before:
                self._entries[node] = now
                for number in before.keys() - now.keys():
                    self._take_off(node, before[number].pod)
                self._put(node, (entry.pod for number, entry in now.items() if number not in before))

    def filtered(self, cycle: Cycle, nominations: Nominations, rows: Iterable[int]) -> None:
        """The nodes of *rows* were filtered for the pod of *cycle*, with the pods that are nominated to them."""
        self.follow()
        for row in rows if nominations else ():
            node = self.table.names[row]
            self._put(node, cycle.nominated_on(nominations, node))

    def tried(
        self, cycle: Cycle, nominations: Nominations, rows: Sequence[int], candidates: Candidates
    ) -> None:
        """Pods of lower priority left the nodes of *rows* in a trial; on *candidates* all but the victims
        were put back."""
        self.follow()
        places = {row: i for i, row in enumerate(candidates.rows.tolist())}
        for row in rows:
            leaving = [entry.pod for entry in self.table.pods[row] if entry.priority < cycle.pod.priority]
            node = self.table.names[row]
            for pod in leaving:
                self._take_off(node, pod)
            if not leaving:
                continue
            coming = cycle.nominated_on(nominations, node)
            self._put(node, coming)
            if row in places:
                victims = {pod.uid for pod in candidates.victims(places[row]).pods}
                for pod in leaving:
                    self._put(node, (*coming, *(() if pod.uid in victims else (pod,))))

    def copy(self) -> ClaimUsers:
        """The same, which changes by itself."""
        return attrs.evolve(
            self,
            counts={node: Counter(users) for node, users in self.counts.items()},
            entries={node: dict(entries) for node, entries in self._entries.items()},
        )

    def _put(self, node: str, pods: Iterable[Pod]) -> None:
        users = self.counts.setdefault(node, Counter())
        for pod in pods:
            users.update(claim_keys(pod))

    def _take_off(self, node: str, pod: Pod) -> None:
        users = self.counts.setdefault(node, Counter())
        for claim in claim_keys(pod):
            users[claim] = max(users[claim] - 1, 0)
