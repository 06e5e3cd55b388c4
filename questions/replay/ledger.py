"""How much of each node is in use, updated with every event, and how fragmented the free room is."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from ...api.objects import Node
from ...core.arrays.columns import grown
from ...core.arrays.types import Floats, Ints, Mask
from ...core.pods.requests import PODS, of_node

SAMPLE = 256
"""The size of the sample of pods that fragmentation is measured by."""


@attrs.define(eq=False, repr=False)
class Ledger:
    """Sums over nodes and pods for each of *resources*, whose last one is ``pods``.

    ``allocatable``, ``used``: int64[R, N] by node, zero on free rows; ``waiting``: int64[R], what pods without a node ask for.
    cpu is in millicores, memory in bytes.
    """

    resources: Sequence[str]
    allocatable: Ints = attrs.field(init=False)
    used: Ints = attrs.field(init=False)
    waiting: Ints = attrs.field(init=False)
    totals: Ints = attrs.field(init=False)
    """int64[2, R]: what the pods on nodes ask for together, and what the nodes have together."""
    nodes: int = 0
    waiting_pods: int = 0
    columns: dict[str, int] = attrs.field(factory=dict)
    """Node that is there, or was -> its column of the arrays."""
    _known: set[int] = attrs.field(factory=set)
    """Columns whose node exists."""
    pods: dict[str, tuple[int, Ints]] = attrs.field(factory=dict)
    """Pod -> its node's column, -1 while it waits, and what it asks for."""
    touched: set[int] = attrs.field(factory=set)
    """Columns that changed since fragmentation was last computed."""

    def __attrs_post_init__(self) -> None:
        self.allocatable = np.zeros((len(self.resources), 8), np.int64)
        self.used = np.zeros((len(self.resources), 8), np.int64)
        self.waiting, self.totals = np.zeros(len(self.resources), np.int64), np.zeros((2, len(self.resources)), np.int64)

    def vector(self, amounts: Mapping[str, int]) -> Ints:
        """Amounts by name as int64[R]; the pod itself is one of ``pods``, and resources without a place in R are left out."""
        return np.array([amounts.get(name, int(name == PODS)) for name in self.resources], np.int64)

    @property
    def placed_pods(self) -> int:
        """How many pods have a node."""
        return len(self.pods) - self.waiting_pods

    # --- nodes ------------------------------------------------------------------------------------------------------

    def put_node(self, node: Node) -> None:
        """A node was added or changed."""
        amounts = of_node(node.status.allocatable)
        self._set_node(node.name, np.array([amounts.get(name, 0) for name in self.resources], np.int64), True)

    def drop_node(self, name: str) -> None:
        """A node is gone; its pods still exist."""
        self._set_node(name, np.zeros(len(self.resources), np.int64), False)

    def _set_node(self, name: str, amounts: Ints, exists: bool) -> None:
        at = self._column(name)
        if exists:
            self._known.add(at)
        else:
            self._known.discard(at)
        self.nodes = len(self._known)
        self.totals[1] += amounts - self.allocatable[:, at]
        self.allocatable[:, at] = amounts

    def _column(self, name: str) -> int:
        at = self.columns.setdefault(name, len(self.columns))
        self.allocatable, self.used = grown(self.allocatable, at + 1), grown(self.used, at + 1)
        self.touched.add(at)
        return at

    # --- pods -------------------------------------------------------------------------------------------------------

    def wait(self, key: str, asked: Ints) -> None:
        """A pod waits for a node."""
        self.leave(key)
        self.pods[key] = -1, asked
        self.waiting += asked
        self.waiting_pods += 1

    def place(self, key: str, node: str, asked: Ints) -> None:
        """A pod has a node."""
        self.leave(key)
        at = self._column(node)
        self.pods[key] = at, asked
        self.used[:, at] += asked
        self.totals[0] += asked

    def leave(self, key: str) -> None:
        """A pod is gone, from its node or from those that wait."""
        at, asked = self.pods.pop(key, (-1, None))
        if asked is None:
            return
        if at < 0:
            self.waiting -= asked
            self.waiting_pods -= 1
        else:
            self.used[:, at] -= asked
            self.totals[0] -= asked
            self.touched.add(at)


@attrs.define(eq=False, repr=False)
class Fragmentation:
    """The share of the free room that lies on nodes where pods like those seen so far would not fit.

    It is the expected share for a pod drawn from a sample of the arrivals (as in "Beware of Fragmentation", USENIX ATC 2023).
    """

    ledger: Ledger
    draw: random.Random
    asked: Ints = attrs.field(init=False)
    """int64[k, R], what the pods of the sample ask for."""
    seen: int = 0
    """How many pods were seen, in the sample or not."""
    _misfits: Mask = attrs.field(init=False)
    """bool[k, N]: the pod does not fit on the node."""
    _weights: Ints = attrs.field(factory=lambda: np.zeros(8, np.int64))
    """int64[N]: how many pods of the sample do not fit on the node."""
    _room: Ints = attrs.field(init=False)
    """int64[R, N]: what was free on the node when it was judged."""
    _total: Ints = attrs.field(init=False)
    _lost: list[int] = attrs.field(init=False)
    """By resource, the sum of the free room, and of that times the weights. Running sums, as few nodes change between two questions."""
    _unjudged: set[int] = attrs.field(factory=set)
    """The places of the sample that changed since somebody asked last."""

    def __attrs_post_init__(self) -> None:
        count = len(self.ledger.resources)
        self.asked, self._misfits = np.zeros((0, count), np.int64), np.zeros((0, 8), np.bool_)
        self._room, self._total, self._lost = np.zeros((count, 8), np.int64), np.zeros(count, np.int64), [0] * count

    def see(self, asked: Ints) -> None:
        """A pod arrived. Reservoir sampling: each pod seen so far is in the sample with the same chance."""
        self.seen += 1
        if len(self.asked) < SAMPLE:
            self.asked = np.concatenate([self.asked, asked[None]])
            self._misfits = np.concatenate([self._misfits, np.zeros((1, self._misfits.shape[1]), np.bool_)])
            self._unjudged.add(len(self.asked) - 1)
        elif (place := self.draw.randrange(self.seen)) < SAMPLE:
            self.asked[place] = asked
            self._unjudged.add(place)

    def by_resource(self) -> Floats:
        """The share for each resource: float64[R], 0 if nothing is free or no pod was seen."""
        # Judge the nodes that changed, and then the pods, and let the sums follow.
        ledger, count = self.ledger, len(self.ledger.columns)
        self._misfits, self._weights, self._room = (grown(kept, count) for kept in (self._misfits, self._weights, self._room))
        if ledger.touched:
            rows = np.array(sorted(ledger.touched), np.intp)
            before, room = self._room[:, rows], np.maximum(ledger.allocatable[:, rows] - ledger.used[:, rows], 0)
            misfits = self._misfits[:, rows] = _misfits(self.asked, room)
            weights = misfits.sum(axis=0)
            changes = room * weights - before * self._weights[rows]
            self._lost = [lost + sum(change) for lost, change in zip(self._lost, changes.tolist(), strict=True)]
            self._total += (room - before).sum(axis=1)
            self._room[:, rows], self._weights[rows] = room, weights
            ledger.touched.clear()
        for place in self._unjudged:
            found = _misfits(self.asked[place, None], self._room)[0]
            self._weights += found.astype(np.int64) - self._misfits[place]
            self._misfits[place] = found
        if self._unjudged:
            self._lost = _lost(self._room, self._weights)
            self._unjudged.clear()
        lost, total = np.array(self._lost, np.float64), self._total
        shares: Floats = np.divide(lost, total * max(len(self.asked), 1.0), out=np.zeros(len(total)), where=total > 0)
        return shares


def _lost(room: Ints, weights: Ints) -> list[int]:
    """The sum of *room* times *weights*, by resource. In two parts, as bytes of many nodes times pods can be more than an int64 holds."""
    high, low = (room >> 20) @ weights, (room & 0xFFFFF) @ weights
    return [(more << 20) + less for more, less in zip(high.tolist(), low.tolist(), strict=True)]


def _misfits(asked: Ints, room: Ints) -> Mask:
    """bool[k, N]: which of the pods that ask for *asked* do not fit on which of the nodes with *room*, which is never below 0."""
    found: Mask = np.any(asked[:, None] > room.T, axis=2)
    return found
