"""What searches for devices come to, for all nodes at once. Nodes whose pools look alike are searched once.

Upstream: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, structured Allocate.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence

import attrs
import numpy as np

from ...api.objects import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    ResourceClaim,
)
from ..arrays.table import NodeTable
from ..arrays.types import Ints, Rows
from ..cluster.listings import Listings
from ..rebuilt import rebuilt_from
from ..release import DeviceCells
from .allocationplan import DevicePlanner
from .claimjudging import AllocationError, Judge
from .devicesearch import DeviceSearch, Outcome, SearchTimeout, Taken
from .pools import Pools

UNKNOWN, NONE, FOUND, ERROR, TOO_LATE = -1, 0, 1, 2, 3
"""What a search came to."""
MOST_SECONDS = 10.0
"""Upstream: the default of filterTimeout from 1.34 on. Here it holds for all releases, as no input may take time without a limit."""
MOST_KEPT = 1 << 10
"""Kinds of claims of which it is kept what searches came to."""


@attrs.define(eq=False, repr=False)
class _Kept:
    """What searches for some claims came to, by look: int8[looks]."""

    by_look: Ints
    seen: Hashable
    """The revisions of looks and of classes."""


@rebuilt_from("table", "listings", "cells", "admin_access")
@attrs.define(eq=False, repr=False)
class Devices:
    """The devices of a cluster, and what claims can have of them."""

    table: NodeTable
    listings: Listings
    cells: DeviceCells
    admin_access: bool
    seconds: float = MOST_SECONDS
    """How long all searches of a cycle may take; those that have not ended then are TOO_LATE."""
    judge: Judge = attrs.field(factory=Judge)
    pools: Pools = attrs.field(init=False)
    _kept: dict[Hashable, _Kept] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.pools = Pools(self.table, self.listings, self.cells)

    def outcomes(self, claims: Sequence[ResourceClaim], rows: Rows) -> Ints:
        """What a search for all *claims* comes to on each of *rows*: NONE, FOUND, ERROR or TOO_LATE."""
        self.pools.refresh()
        key = tuple([claim.spec for claim in claims])
        seen = self.pools.epoch, self.listings.device_classes.version
        kept, size = self._kept.get(key), int(self.pools.looks.max(initial=0)) + 1
        if kept is None or kept.seen != seen:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            kept = self._kept[key] = _Kept(np.full(size, UNKNOWN, np.int8), seen)
        elif len(kept.by_look) < size:
            more = np.full(max(size, 2 * len(kept.by_look)) - len(kept.by_look), UNKNOWN, np.int8)
            kept.by_look = np.concatenate([kept.by_look, more])
        looks = self.pools.looks[rows]
        found = kept.by_look[looks]
        if (found == UNKNOWN).any():
            self._fill(kept, claims, rows[found == UNKNOWN])
            found = kept.by_look[looks]
        return found

    def _fill(self, kept: _Kept, claims: Sequence[ResourceClaim], rows: Rows) -> None:
        """Search on one of *rows* for each look."""
        looks, first = np.unique(self.pools.looks[rows], return_index=True)
        ends_at = time.monotonic() + self.seconds
        for look, at in zip(looks.tolist(), first.tolist(), strict=True):
            try:
                kept.by_look[look] = NONE if self._search(claims, int(rows[at]), ends_at) is None else FOUND
            except AllocationError:
                kept.by_look[look] = ERROR
            except SearchTimeout:
                kept.by_look[look] = TOO_LATE

    def error(self, claims: Sequence[ResourceClaim], row: int) -> str:
        """The error of a search on *row*."""
        try:
            self._search(claims, row)
        except AllocationError as error:
            return str(error)
        return ""

    def allocate(self, claims: Sequence[ResourceClaim], row: int) -> list[AllocationResult] | None:
        """What each of *claims* gets on *row*; None where they cannot have all devices. Raises AllocationError."""
        self.pools.refresh()
        found = self._search(claims, row)
        return None if found is None else [_result(taken, self.table.names[row]) for taken in found]

    def _search(self, claims: Sequence[ResourceClaim], row: int, ends_at: float = float("inf")) -> Outcome | None:
        pools = self.pools.of_row[row]
        plan = DevicePlanner(self.listings.device_classes.get, self.cells, self.admin_access, self.judge).plan(claims, pools)
        return DeviceSearch(plan, pools, self.listings.resource_claims.holders, self.cells, self.judge, ends_at).run()


def _result(taken: Sequence[Taken], node_name: str) -> AllocationResult:
    results = tuple(
        DeviceRequestAllocationResult(
            request=one.option.result_name, driver=one.device.id[0], pool=one.device.id[1], device=one.device.id[2],
            admin_access=True if one.option.admin else None,
        )
        for one in taken
    )  # fmt: skip
    return AllocationResult(devices=DeviceAllocationResult(results=results), node_selector=_node_selector(taken, node_name))


def _node_selector(taken: Sequence[Taken], node_name: str) -> NodeSelector | None:
    """The nodes from which all devices can be reached; None: from all. Upstream: createNodeSelector."""
    fields: list[Requirement] = []
    expressions: list[Requirement] = []
    for one in taken:
        spec = one.device.slice.spec
        if spec.node_name:
            field = Requirement(key="metadata.name", operator="In", given_values=(node_name,))
            return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
        # A slice's node selector has one term: the API server sees to it.
        for term in spec.node_selector.node_selector_terms if spec.node_selector is not None else ():
            _add(fields, term.match_fields)
            _add(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=tuple(expressions), match_fields=tuple(fields)),))


def _add(there: list[Requirement], more: Sequence[Requirement]) -> None:
    for one in more:
        if not any((one.key, one.operator, set(one.values)) == (other.key, other.operator, set(other.values)) for other in there):
            there.append(one)
