"""The details of a decision of the framework: the arrays behind it, and the status of each node."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...core.arrays.types import Rows
from ...core.decision.decision import Details, NodeFailure
from ...core.decision.extender import Passed
from ..status import Status
from .diagnosis import Diagnosis


@attrs.define(eq=False, kw_only=True, repr=False)
class FrameworkDetails(Details):
    """The details of every decision, and the diagnosis of the nodes that do not fit."""

    diagnosis: Diagnosis
    _statuses: Mapping[str, Status] | None = attrs.field(default=None, init=False)
    """Kept once they are read: there is one for each node that does not fit."""

    def narrow(self, rows: Rows, passed: Passed) -> None:
        self._statuses = None
        self.diagnosis.extended = len(rows) != len(self.feasible_rows)
        self.diagnosis.take(passed)
        self.feasible_rows = rows
        self.extender_reasons: dict[str, list[str]] = self.diagnosis.extender_reasons

    @property
    def visited(self) -> list[int]:
        found = dict.fromkeys(super().visited)
        statuses = self.statuses
        found |= dict.fromkeys(row for row in self.diagnosis.order.tolist() if self.names[row] in statuses)
        return list(found)

    def has_visited(self, row: int) -> bool:
        return super().has_visited(row) or self.diagnosis.status_of(row) is not None

    @property
    def outside(self) -> Rows:
        return self.diagnosis.excluded

    @property
    def failed(self) -> dict[str, list[str]]:
        return {node: list(status.reasons) for node, status in self.statuses.items()}

    @property
    def statuses(self) -> Mapping[str, Status]:
        if self._statuses is None:
            self._statuses = self.diagnosis.statuses()
        return self._statuses

    def refusals(self) -> dict[int, NodeFailure]:
        known: dict[NodeFailure, NodeFailure] = {}
        found = ((row, self.refusal(row)) for row in range(len(self.names)))
        return {row: known.setdefault(refusal, refusal) for row, refusal in found if refusal is not None}

    def refusal(self, row: int) -> NodeFailure | None:
        status = self.diagnosis.status_of(row)
        if status is None:
            if self.search is None or self.search.verdict.fits[row]:
                return None
            status = self.diagnosis.status(row)
        return NodeFailure((status.plugin,) if status.plugin else (), status.reasons, status.code.value)

    @property
    def post_filter(self) -> str | None:
        return self.diagnosis.post_filter or None
