"""Nodes as an extender described them in its reply: their labels are those of the reply, all else is the table's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import attrs
import numpy as np

from ...api.objects import Node
from .batch import NO_COLUMN, Batch
from .columns import ColumnView
from .types import Rows


@attrs.define(eq=False, slots=False)
class DescribedBatch(Batch):
    """Some rows of a table, with the labels of ``nodes``, which are in the same order.

    A value that no node of the table ever had counts as absent.
    """

    nodes: Sequence[Node] = ()
    is_described: ClassVar[bool] = True

    def some(self, indexes: Rows) -> DescribedBatch:
        return DescribedBatch(self.table, self.indexes[indexes], [self.nodes[i] for i in indexes.tolist()])

    def label(self, key: str) -> ColumnView[str | None]:
        column = self.table.labels.get(key)
        if column is None:
            return ColumnView(NO_COLUMN, np.zeros(self.n, np.intp))
        codes = (column.known(node.labels.get(key)) for node in self.nodes)
        return ColumnView(column, np.fromiter((max(code, 0) for code in codes), np.intp, self.n))
