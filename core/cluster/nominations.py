"""The nominations of pods to nodes, for which they wait until victims have left.

Upstream: nominatedPodMap in pkg/scheduler/internal/queue/scheduling_queue.go (1.12:
PriorityQueue.nominatedPods; 1.27: nominator).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import attrs

from ...api.objects import Pod
from ..release import NominationCells


class Holder(Protocol):
    """An entry of a node's list. A queue shares its own entries: if it replaces the pod there, the nomination
    changes too."""

    pod: Pod


@attrs.define(eq=False, repr=False)
class Nominee:
    """An entry that no queue shares."""

    pod: Pod


@attrs.define(eq=False, repr=False)
class Nominations:
    """Node -> pods in order of nomination; the cells of the release say how they are found again."""

    cells: NominationCells
    lister: Mapping[str, Pod] | None = None
    """Key -> pod in the API, for releases that ask for it; None: every pod exists, and its object says
    whether it has a node."""
    by_node: dict[str, list[Holder]] = attrs.Factory(dict)
    """Node -> its nominated pods. Not to be changed from outside."""
    by_uid: dict[str, str] = attrs.Factory(dict)
    """UID -> node, if the release stores it. Not to be changed from outside."""

    def __bool__(self) -> bool:
        return bool(self.by_node)

    def __iter__(self) -> Iterator[str]:
        """The nodes that have nominated pods."""
        return iter(self.by_node)

    def on(self, node_name: str) -> list[Pod]:
        """The pods nominated to a node."""
        return [holder.pod for holder in self.by_node.get(node_name, ())]

    def node_of(self, pod: Pod) -> str:
        """The node that *pod* is nominated to; empty if there is none."""
        if self.cells.by_uid:
            return self.by_uid.get(pod.uid, "")
        name = pod.status.nominated_node_name
        return name if self._index(name, pod.uid) is not None else ""

    def add(self, pod: Pod, node_name: str | None = None, holder: Holder | None = None) -> None:
        """Nominate *pod* to *node_name*, or with None to the node in its status; *holder*: the entry of the
        queue that has the pod."""
        if self.cells.by_uid:
            self.remove(pod)
        name = pod.status.nominated_node_name or None
        if self.cells.by_uid and (node_name or (node_name is not None and self.cells.empty_name_counts)):
            name = node_name
        if name is None:
            return
        if self.cells.asks_lister:
            current = pod if self.lister is None else self.lister.get(pod.key)
            if current is None or (current.spec.node_name and not self.cells.placed_are_nominated):
                return
        if self.cells.by_uid:
            self.by_uid[pod.uid] = name
        if self._index(name, pod.uid) is None:
            self.by_node.setdefault(name, []).append(holder or Nominee(pod))

    def remove(self, pod: Pod) -> None:
        """Remove the nomination of *pod*, if it has one."""
        if not self.by_node and not self.by_uid:
            return
        name = self.by_uid.pop(pod.uid, None) if self.cells.by_uid else pod.status.nominated_node_name
        index = None if name is None else self._index(name, pod.uid)
        if name is None or index is None:
            # Upstream: an entry whose pod was replaced by one of another UID is not found and stays.
            return
        del self.by_node[name][index]
        if not self.by_node[name]:
            del self.by_node[name]

    def saved(self) -> tuple[dict[str, list[Holder]], dict[str, str]]:
        """All nominations, for :meth:`restore`."""
        return {name: list(holders) for name, holders in self.by_node.items()}, dict(self.by_uid)

    def restore(self, by_node: dict[str, list[Holder]], node_of: dict[str, str]) -> None:
        """Restore the nominations that were :meth:`saved`."""
        self.by_node = by_node
        self.by_uid = node_of

    def update(self, old: Pod, new: Pod, holder: Holder | None = None) -> None:
        """Update a nominated pod; *holder* as for :meth:`add`."""
        kept_node = None
        if (
            self.cells.keeps_on_update
            and not old.status.nominated_node_name
            and not new.status.nominated_node_name
        ):
            kept_node = self.by_uid.get(old.uid)
        self.remove(old)
        self.add(new, kept_node, holder)

    def _index(self, name: str, uid: str) -> int | None:
        """The index of a pod in the list of a node."""
        return next(
            (index for index, holder in enumerate(self.by_node.get(name, ())) if holder.pod.uid == uid), None
        )
