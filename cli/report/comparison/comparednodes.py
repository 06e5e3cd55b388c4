"""The map of the clusters of a comparison as they end."""

from __future__ import annotations

from typing import Any

from ....simulation.compare.compare import Comparison
from ....simulation.compare.modes import LOCKED
from ....simulation.nodesbyuse import NodeUses, pods_on_nodes
from ..page.clustermap import ClusterMap
from ..page.nodemap import NodeSide, node_map
from .verdict import side_name

Record = dict[str, Any]


def comparison_map(found: Comparison, record: Record) -> ClusterMap:
    """A side for each configuration with a cluster of its own; in mode locked there is one cluster for all."""
    contestants = found.contestants[:1] if found.mode == LOCKED else found.contestants
    titles = [""] if len(contestants) == 1 else [side_name(record, at) for at in range(len(contestants))]
    engines = [one.engine for one in contestants]
    sides = [NodeSide(title, NodeUses(one).found(), pods_on_nodes(one)) for title, one in zip(titles, engines, strict=True)]
    return node_map("map", sides)
