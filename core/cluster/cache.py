"""The scheduler's cache: nodes and their pods, from events and assumptions; each pod has a state machine.

Upstream: pkg/scheduler/internal/cache/cache.go (1.12: pkg/scheduler/cache/cache.go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

import attrs
import msgspec

from ...api.objects import Node, Pod
from ...exceptions import CacheError
from ..pods import Entry, Port, Template, Templates, take_out

# --- the order of nodes -------------------------------------------------------------------------------------

# The node tree: nodes are visited round-robin over zones, and each cycle continues where the last one
# stopped. Upstream: pkg/scheduler/internal/cache/node_tree.go (1.12: pkg/scheduler/cache/node_tree.go).

T = TypeVar("T")


@attrs.define(eq=False, repr=False)
class Zone:
    """The nodes of one zone in order of addition. *cursor*: the number of them visited since the last
    reset."""

    names: dict[str, None] = attrs.Factory(dict)
    cursor: int = 0


@attrs.define(eq=False, repr=False)
class NodeTree:
    """Zones in order of first appearance, each with the nodes that were visited in this round.

    Upstream: an added node resets nothing, and a removed node does not move the cursors. So one pass after a
    change can visit a node twice and miss another.
    """

    zones: dict[str, Zone] = attrs.Factory(dict)
    """Zone key -> nodes; the dict's order is upstream's list of zones."""
    turn: int = 0
    """Index of the zone whose turn it is."""
    _zone_of: dict[str, str] = attrs.Factory(dict)

    def __len__(self) -> int:
        return len(self._zone_of)

    def add(self, name: str, zone: str) -> None:
        """Append a node to its zone, unless it is there already."""
        self.zones.setdefault(zone, Zone()).names[name] = None
        self._zone_of[name] = zone

    def remove(self, name: str, zone: str) -> None:
        """Remove a node from its zone, and a zone without nodes from the tree."""
        zone_of_node = self.zones.get(zone)
        if zone_of_node is None or name not in zone_of_node.names:
            return
        del zone_of_node.names[name]
        if not zone_of_node.names:
            del self.zones[zone]
        self._zone_of.pop(name, None)

    def copy(self) -> NodeTree:
        """An independent tree with the same state."""
        zones = {key: Zone(dict(zone.names), zone.cursor) for key, zone in self.zones.items()}
        return NodeTree(zones, self.turn, dict(self._zone_of))

    def one_round(self) -> list[str]:
        """All nodes in the order of a round: one of each zone in turn."""
        return _interleaved([zone.names for zone in self.zones.values()])

    def rest_of_round(self) -> list[str]:
        """The nodes still to be visited before every zone is at its end and a new round begins."""
        remaining = [list(zone.names)[zone.cursor :] for zone in self.zones.values()]
        return _interleaved(remaining[self.turn :] + remaining[: self.turn])

    def visit(self, count: int) -> None:
        """Visit the next *count* nodes of the round, at least one."""
        zones = list(self.zones.values())
        remaining = [[zone] * (len(zone.names) - zone.cursor) for zone in zones]
        visited = _interleaved(remaining[self.turn :] + remaining[: self.turn])[:count]
        for zone in visited:
            zone.cursor += 1
        self.turn = 1 + zones.index(visited[-1])

    def reset(self) -> None:
        """Start a new round, without any visited node."""
        self.turn = 0
        for zone in self.zones.values():
            zone.cursor = 0


def _interleaved(zones: Sequence[Iterable[T]]) -> list[T]:
    return [name for turn in zip_longest(*zones) for name in turn if name is not None]


@attrs.define(eq=False, repr=False)
class VisitingOrder:
    """A node tree with its order precomputed: the rest of the current round, then whole rounds.

    Visits only count up ``taken``. The tree itself is updated when a node is added, removed or changes its
    zone.
    """

    tree: NodeTree = attrs.Factory(NodeTree)
    taken: int = 0
    """The number of nodes visited since the tree was last up to date."""
    version: int = 0
    """Moves when the order is computed again."""
    rest: list[str] | None = None
    """The rest of the current, possibly irregular round; None if the order has to be computed again."""
    _round: list[str] = attrs.Factory(list)

    def __len__(self) -> int:
        return len(self.tree)

    def add(self, name: str, zone: str) -> None:
        """A node is added."""
        self._catch_up()
        self.tree.add(name, zone)

    def remove(self, name: str, zone: str) -> None:
        """A node is removed."""
        self._catch_up()
        self.tree.remove(name, zone)

    def update(self, name: str, old_zone: str, new_zone: str) -> None:
        """A node changes; only a change of zone matters."""
        if old_zone != new_zone:
            self.remove(name, old_zone)
            self.add(name, new_zone)

    def rest_and_round(self) -> tuple[list[str], list[str]]:
        """The rest of the current round, and one whole round, which then repeats."""
        if self.rest is None:
            self.rest, self._round = self.tree.rest_of_round(), self.tree.one_round()
            self.version += 1
        return self.rest, self._round

    def saved(self) -> tuple[NodeTree, int]:
        """The tree and the visits, for :meth:`restore`."""
        return self.tree.copy(), self.taken

    def restore(self, tree: NodeTree, taken: int) -> None:
        """Restore the tree and the visits that were :meth:`saved`."""
        self.tree = tree
        self.taken = taken
        self.rest = None

    def _catch_up(self) -> None:
        if not self.taken:
            self.rest = None
            return
        rest, full = self.rest_and_round()
        if full and self.taken > len(rest):
            # Whole rounds make no difference, except that afterwards the tree is at the end of a round and
            # not at its start.
            self.tree.reset()
            self.taken = (self.taken - len(rest) - 1) % len(full) + 1
        if full:
            self.tree.visit(self.taken)
        self.taken = 0
        self.rest = None


ASSUMED_POD_TTL = 30.0
"""Seconds from the end of an assumed pod's binding until it expires."""


@attrs.define(eq=False, repr=False)
class NodeInfo:
    """A node and its pods. The node is None if its pods were added before it, or remain after it was
    deleted."""

    name: str
    node: Node | None = None
    pods: list[Entry] = attrs.Factory(list)
    used_ports: set[Port] = attrs.Factory(set)
    images: dict[str, tuple[int, int]] = attrs.Factory(dict)
    """Image name -> (size in bytes, nodes that had it when this node was last updated)."""
    is_reordered: bool = True
    """Whether its pods may be in another order than they came: one that was not the last has left, or the
    node is new here."""


NO_IMAGES: Mapping[str, tuple[int, int]] = {}


class CacheChange(msgspec.Struct, eq=False):
    """One change for a snapshot to apply: a pod was added (*sign* 1) or removed (-1) or, without an entry,
    the node changed."""

    entry: Entry | None
    sign: int
    node: Node | None = None
    images: Mapping[str, tuple[int, int]] = NO_IMAGES


class ImageState(msgspec.Struct, eq=False):
    """An image that some nodes have."""

    size: int
    """In bytes, on the first node that had it."""
    nodes: set[str]
    """The names of the nodes that have it."""
    _summary: tuple[int, int] = (0, 0)

    @property
    def summary(self) -> tuple[int, int]:
        """The size, and the number of nodes now; nodes share it, as each has about a hundred names of
        images."""
        if self._summary[1] != len(self.nodes):
            self._summary = self.size, len(self.nodes)
        return self._summary


class PodState(msgspec.Struct, eq=False):
    """The state of one pod in the cache."""

    _latest: Pod | None
    """The latest object; None: the one on the node."""
    entry: Entry
    """The object on the node: the assumed one stays there when the pod is confirmed."""
    node_name: str
    assumed: bool = False
    deadline: float | None = None
    """The time at which it expires; None: never, as its binding is not finished."""

    def __repr__(self) -> str:
        return object.__repr__(self)  # the repr of a struct would include the whole pod

    @property
    def pod(self) -> Pod:
        """The latest object."""
        return self.entry.pod if self._latest is None else self._latest

    @pod.setter
    def pod(self, pod: Pod) -> None:
        self._latest = pod


@attrs.define(eq=False, repr=False)
class Cache:
    """Nodes, pods and the visiting order. ``changes``: node -> the changes that the snapshot has not applied
    yet, in order."""

    templates: Templates
    zone_key: Callable[[Mapping[str, str]], str]
    replaces_confirmed: bool = False
    """A confirmed pod replaces the assumed object and moves to the end of its node's list."""
    counts_images_late: bool = False
    """Nodes with an image are counted by the snapshot, so :attr:`NodeInfo.images` stays empty."""
    infos: dict[str, NodeInfo] = attrs.Factory(dict)
    order: VisitingOrder = attrs.Factory(VisitingOrder)
    changes: dict[str, list[CacheChange]] = attrs.Factory(dict)
    node_count: int = 0
    """The number of nodes in the node lister."""
    forgets_with_node: bool = False
    """Whether a deleted node is forgotten with its pods, which are then missing when they change or are
    deleted."""
    placeholders: set[str] = attrs.Factory(set)
    """With *forgets_with_node*: the names without a node that had pods. Upstream keeps an entry for each."""
    images_revision: int = 0
    """Moves when the images of some node change."""
    _states: dict[str, PodState] = attrs.Factory(dict)
    _assumed: dict[str, PodState] = attrs.Factory(dict)
    """The assumed pods, in the order of assumption."""
    _image_states: dict[str, ImageState] = attrs.Factory(dict)

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of nodes, of pods on nodes, and of assumed ones among these."""
        return self.node_count, len(self._states), len(self._assumed)

    # --- pods -----------------------------------------------------------------------------------------------

    def state(self, pod: Pod) -> PodState | None:
        """The state of *pod*, or None."""
        return self._states.get(pod.uid)

    def is_assumed(self, pod: Pod) -> bool:
        """Whether *pod* is assumed and not yet confirmed."""
        return bool(self._assumed) and pod.uid in self._assumed

    def assume(self, pod: Pod, template: Template | None = None, host: str = "") -> None:
        """Assume *pod* on *host* before the API confirms it. *template*: the pod's, if known; no *host*: the
        pod's own."""
        uid = pod.uid
        if uid in self._states:
            raise CacheError(f"pod {uid} is in the cache, so can't be assumed")
        entry = (
            self.templates.entry(pod, host=host) if template is None else Entry(pod, template, False, host)
        )
        self._put(entry, host or pod.spec.node_name)
        self._states[uid] = self._assumed[uid] = PodState(
            None, entry, host or pod.spec.node_name, assumed=True
        )

    def finish_binding(self, pod: Pod, now: float, lasts: float = ASSUMED_POD_TTL) -> None:
        """Finish the binding of an assumed pod: it can expire after *lasts* seconds."""
        state = self.state(pod)
        if state is not None and state.assumed:
            state.deadline = now + lasts

    def forget(self, pod: Pod) -> None:
        """Undo the assumption of *pod*."""
        state = self.state(pod)
        if state is not None and state.node_name != pod.spec.node_name:
            raise CacheError(
                f"pod {pod.uid} was assumed on {pod.spec.node_name} but assigned to {state.node_name}"
            )
        if state is None or not state.assumed:
            raise CacheError(f"pod {pod.uid} wasn't assumed so cannot be forgotten")
        self._take(state)
        del self._states[pod.uid], self._assumed[pod.uid]

    def add(self, pod: Pod) -> None:
        """Add a bound pod; this confirms its assumption, if there was one."""
        uid = pod.uid
        state = self._states.get(uid)
        if state is None:
            self._states[uid] = PodState(None, self._put_bound(pod), pod.spec.node_name)
            return
        if not state.assumed:
            raise CacheError(f"pod {uid} was already in added state")
        if state.node_name != pod.spec.node_name:
            self._take(state)
            state.entry = self._put_bound(pod)
            state.node_name = pod.spec.node_name
        # Upstream: if it is on the assumed node, the assumed object stays until the next update.
        state.pod = pod
        state.assumed = False
        state.deadline = None
        del self._assumed[uid]
        if self.replaces_confirmed:
            self.update(pod)

    def update(self, pod: Pod) -> None:
        """Update a bound pod, which moves to the end of its node's list."""
        state = self.state(pod)
        if state is None or state.assumed:
            raise CacheError(f"pod {pod.uid} is not added to scheduler cache, so cannot be updated")
        if state.node_name != pod.spec.node_name:
            raise CacheError(f"pod {pod.uid} updated on a different node than previously added to")
        is_forgotten = self.forgets_with_node and state.node_name not in self.infos
        if self._take(state):
            # Upstream: where it is not found, the update ends with an error that is only logged.
            state.pod = pod
            if not is_forgotten:
                state.entry = self._put_bound(pod)

    def remove(self, pod: Pod) -> None:
        """Remove a bound pod that was deleted."""
        state = self.state(pod)
        if state is None or state.assumed:
            raise CacheError(f"pod {pod.uid} is not found in scheduler cache, so cannot be removed from it")
        if state.node_name != pod.spec.node_name:
            raise CacheError(
                f"pod {pod.uid} was assumed to be on {pod.spec.node_name} but got added to {state.node_name}"
            )
        if self._take(state):
            del self._states[pod.uid]

    def expire(self, now: float) -> list[Pod]:
        """Remove the assumed pods whose deadline has passed, and return them in the order of assumption.

        Upstream: cleanupAssumedPods, once a second.
        """
        expired = [
            state for state in self._assumed.values() if state.deadline is not None and now > state.deadline
        ]
        for state in expired:
            self._take(state)
            uid = state.pod.uid
            del self._states[uid], self._assumed[uid]
        return [state.pod for state in expired]

    def _put_bound(self, pod: Pod) -> Entry:
        entry = self.templates.entry(pod)
        self._put(entry, pod.spec.node_name)
        return entry

    def _put(self, entry: Entry, node_name: str) -> None:
        info = self.infos.get(node_name) or self._info(node_name)
        info.pods.append(entry)
        if entry.template.ports:
            info.used_ports.update(entry.template.ports)
        self.changes.setdefault(node_name, []).append(CacheChange(entry, 1))

    def _take(self, state: PodState) -> bool:
        """Take the pod off its node. False where the node was forgotten and came back without it."""
        info = self.infos.get(state.node_name)
        entry = state.entry
        if info is None:
            return state.node_name not in self.placeholders  # the node was forgotten
        is_last = bool(info.pods) and info.pods[-1] is entry
        if not take_out(info.pods, entry):
            return False
        info.is_reordered |= not is_last
        info.used_ports.difference_update(entry.template.ports)
        self._note_change(info.name, CacheChange(entry, -1))
        if self._drop_if_empty(info) and self.forgets_with_node:
            self.placeholders.add(info.name)
        return True

    # --- nodes ----------------------------------------------------------------------------------------------

    def add_node(self, node: Node) -> None:
        """Add a node, or a known node again."""
        self.order.add(node.name, self.zone_key(node.labels))
        self._set_node(node)

    def update_node(self, old: Node, node: Node) -> None:
        """Update a node."""
        self.order.update(node.name, self.zone_key(old.labels), self.zone_key(node.labels))
        self._set_node(node)

    def replace_node(self, node: Node) -> None:
        """Replace the node of the same name by *node*, as if it had come so. Zone and images must be the
        same."""
        info = self.infos[node.name]
        info.node = node
        self._note_change(info.name, CacheChange(None, 0, node, info.images))

    def remove_node(self, node: Node) -> None:
        """Remove a deleted node; its pods stay until they are deleted themselves."""
        info = self.infos.get(node.name)
        if info is None:
            raise CacheError(f"node {node.name} is not found")
        self.node_count -= info.node is not None
        self.images_revision += info.node is not None and bool(info.node.status.images)
        if self.forgets_with_node:
            for entry in info.pods:
                self._note_change(info.name, CacheChange(entry, -1))
            info.pods = []
        info.node = None
        info.images = {}
        self._note_change(info.name, CacheChange(None, 0))
        self._drop_if_empty(info)
        self.order.remove(node.name, self.zone_key(node.labels))
        self._forget_images(node)

    def give_back(self, name: str, entries: Iterable[Entry]) -> None:
        """Undo a trial without the node called *name*: *entries*, with which it was forgotten, are on it
        again."""
        for entry in entries:
            state = self._states.get(entry.pod.uid)
            if state is not None and state.entry is entry:
                self._put(entry, name)

    def node(self, name: str) -> Node | None:
        """The node called *name*, as the lister has it."""
        info = self.infos.get(name)
        return None if info is None else info.node

    def _set_node(self, node: Node) -> None:
        info = self._info(node.name)
        self._forget_images(info.node)
        old_images = () if info.node is None else info.node.status.images
        self.images_revision += old_images != node.status.images
        self.node_count += info.node is None
        images: dict[str, tuple[int, int]] = {}
        for image in node.status.images:
            for name in image.names:
                # Upstream: the count is not updated on other nodes.
                state = self._image_states.get(name)
                if state is None:
                    state = self._image_states[name] = ImageState(image.size_bytes, set())
                state.nodes.add(node.name)
                if not self.counts_images_late:
                    images.setdefault(name, state.summary)
        info.node = node
        info.images = images
        self._note_change(info.name, CacheChange(None, 0, node, info.images))

    def image_states(self, node: Node) -> dict[str, tuple[int, int]]:
        """Each image of *node* with its size in bytes and the number of nodes that have it now."""
        if not node.status.images:
            return {}
        names = [name for image in node.status.images for name in image.names]
        states = self._image_states
        return {name: states[name].summary for name in names if name in states}

    def _forget_images(self, node: Node | None) -> None:
        if node is None:
            return
        for image in node.status.images:
            for name in image.names:
                state = self._image_states.get(name)
                if state is not None:
                    state.nodes.discard(node.name)
                    if not state.nodes:
                        del self._image_states[name]

    def _info(self, name: str) -> NodeInfo:
        info = self.infos.get(name)
        if info is None:
            info = self.infos[name] = NodeInfo(name)
            self.placeholders.discard(name)
        return info

    def _drop_if_empty(self, info: NodeInfo) -> bool:
        is_empty = not info.pods and info.node is None
        if is_empty:
            del self.infos[info.name]
        return is_empty

    def _note_change(self, name: str, change: CacheChange) -> None:
        self.changes.setdefault(name, []).append(change)
