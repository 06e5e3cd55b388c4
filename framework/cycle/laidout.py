"""The nodes as an irregular list has them: some twice, as two rows of one name, and others not at all.

Upstream: the snapshot's NodeInfoList, which plugins go through as the search does.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.arrays.table import NodeTable
from ...core.arrays.types import Rows
from ...core.cluster.cache import Cache


def laid_out(table: NodeTable, rows: Rows, cache: Cache) -> NodeTable:
    """A table whose rows are *rows* of *table*, in that order."""
    found = NodeTable(table.zone_key, table.ignores_storage)
    wanted = rows.tolist()
    names = list(_told_apart(table.names[row] for row in wanted))
    found.add_rows(names)
    nodes = {}
    for place, row in enumerate(wanted):
        node, info = table.nodes[row], cache.infos.get(table.names[row])
        if node is not None:
            nodes[place] = node, {} if info is None else info.images
        for entry in table.pods[row]:
            found.add_pod(place, entry)
        if info is not None:
            found.set_ports(place, info.used_ports)
    found.set_nodes(nodes)
    found.names = [table.names[row] for row in wanted]
    found.shared_names = True
    return found


def _told_apart(names: Iterable[str]) -> Iterable[str]:
    """Each name, made another where it was there before: no node has such a name."""
    seen: set[str] = set()
    for name in names:
        while name in seen:
            name += " "
        seen.add(name)
        yield name
