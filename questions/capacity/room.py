"""What nodes have, and what of it pods request: at one moment, to be compared with another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs
import numpy as np

from ...core.arrays.types import Ints, Mask
from ...core.engine import Engine
from ...core.pods.requests import PODS
from ...simulation.reasons import shortage_of


@attrs.frozen(eq=False, repr=False)
class FreeRoom:
    """The nodes of a scheduler at one moment: N nodes, R resources, the last of which is ``pods``."""

    names: tuple[str, ...]
    resources: tuple[str, ...]
    """Those that any node has, or any pod requests."""
    allocatable: Ints
    """int64[R, N]: millicores, bytes, pieces."""
    requested: Ints
    """int64[R, N]."""

    @classmethod
    def of(cls, engine: Engine) -> FreeRoom:
        """The nodes as *engine* sees them now."""
        table = engine.fresh_table()
        there = np.flatnonzero(table.has_node)
        names = tuple(table.names[row] for row in there.tolist())
        rows = [index for index in table.resources.values() if (table.allocatable[index, there] + table.requested[index, there]).any()]
        kept = tuple(name for name, index in table.resources.items() if index in rows)
        allocatable = np.vstack([*(table.allocatable[index, there] for index in rows), table.max_pods[there]])
        requested = np.vstack([*(table.requested[index, there] for index in rows), table.pod_count[there]])
        return cls(names, (*kept, PODS), allocatable, requested)

    @property
    def free(self) -> Ints:
        """int64[R, N]: what is left, 0 where pods request more than there is."""
        left: Ints = np.maximum(self.allocatable - self.requested, 0)
        return left

    def uses(self, names: Sequence[str]) -> dict[str, list[float | None]]:
        """Resource -> the share of it that is requested on each node of *names*; None where a node has none of it."""
        at, found = {name: column for column, name in enumerate(self.names)}, dict[str, list[float | None]]()
        for row, resource in enumerate(self.resources):
            has, asked = self.allocatable[row].tolist(), self.requested[row].tolist()
            shares = [asked[at[name]] / has[at[name]] if name in at and has[at[name]] else None for name in names]
            if any(shares):
                found[resource] = shares
        return found

    def copies(self, requests: Mapping[str, int], barred: Collection[str] = ()) -> dict[str, int]:
        """Resource -> how many copies of a pod with *requests* would fit on nodes that are not *barred* if nothing else counted.

        Resources that it does not request are left out.
        """
        free, asked = self.free[:, ~self.at(barred)], {**requests, PODS: 1}
        found = {}
        for name, number in asked.items():
            if number > 0:
                found[name] = int((free[self.resources.index(name)] // number).sum()) if name in self.resources else 0
        return found

    def at(self, names: Collection[str]) -> Mask:
        """bool[N]: which nodes are among *names*."""
        return np.array([name in names for name in self.names], np.bool_)


def short_of(reasons: list[str]) -> tuple[str, ...]:
    """The resources that are missing, if *reasons* against a node say nothing else; empty if they do.

    >>> short_of(["Insufficient cpu", "Too many pods"]), short_of(["Insufficient cpu", "node(s) had taints"])
    (('cpu', 'pods'), ())
    """
    short = [name for name in map(shortage_of, reasons) if name is not None]
    return tuple(short) if len(short) == len(reasons) else ()
