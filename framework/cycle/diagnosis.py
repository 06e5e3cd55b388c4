"""The failure of a pod that fits nowhere: the status of each node, and the FitError.

Upstream: Diagnosis and FitError in pkg/scheduler/framework/types.go.
"""

from __future__ import annotations

import attrs
import numpy as np

from ...core.arrays import NO_ROWS, Mask, Rows
from ...core.decision import FitError, Outcome, Passed, SearchResult
from ...core.release import FrameworkCells
from ..status import Code, Status, unresolvable

EXTENDER = "Extender"
"""The name that upstream lists among the plugins when an extender rejected nodes."""


@attrs.define(eq=False, repr=False)
class Diagnosis:
    """The rejections of nodes in one cycle; rows are those of the table at that time."""

    names: list[str]
    order: Rows
    """The rows of all nodes, in list order."""
    cells: FrameworkCells
    is_regular: bool = True
    """The list has each node once."""
    rejected: Status | None = None
    """PreFilter's rejection, which holds for every node."""
    search: SearchResult | None = None
    excluded: Rows = NO_ROWS
    """Nodes outside those that PreFilter named."""
    narrowing: tuple[str, ...] = ()
    """The plugins that named them."""
    outside_reason: str | None = None
    """What nodes without a status of their own have in common, where PreFilter named some; None: nothing is
    said of them."""
    failed_first: int | None = None
    """The row of the nominated node, if it failed and the search did not visit it again."""
    extender_reasons: dict[str, list[str]] = attrs.Factory(dict)
    extender_unresolvable: set[str] = attrs.Factory(set)
    """Nodes on which removing pods does not help, as extenders say."""
    extended: bool = False
    """Whether extenders rejected nodes."""
    post_filter: str = ""
    """PostFilter's message."""
    _statuses: dict[Outcome, Status] = attrs.field(factory=dict, init=False)
    """What the verdict says of alike nodes -> their status."""

    @property
    def outside_has_status(self) -> bool:
        """Whether each node that PreFilter left out has a status of its own."""
        return self.cells.counts_outside and self.cells.outside_text is not None

    @property
    def node_count(self) -> int:
        """Nodes in the snapshot."""
        return len(self.order)

    @property
    def failed_rows(self) -> Rows:
        """Rows that a filter rejected."""
        visited = NO_ROWS if self.search is None else self.told_once(self.search.failed)
        return visited if self.failed_first is None else np.append(visited, self.failed_first)

    def told_once(self, rows: Rows) -> Rows:
        """*rows*, but one alone of those with one name: a node that the list has twice has one status."""
        if self.is_regular or len(rows) < 2:
            return rows
        first = {self.names[row]: row for row in reversed(rows.tolist())}
        if len(first) == len(rows):
            return rows
        return np.array([row for row in rows.tolist() if first[self.names[row]] == row], np.intp)

    @property
    def size(self) -> int:
        """The number of nodes with a status. Upstream: the length of NodeToStatusMap."""
        if self.rejected is not None:
            return self.node_count
        search = self.search
        others = 0 if not self.extender_reasons else len(self.extender_reasons.keys() - self.rejected_names)
        failed = 0 if search is None else len(search.visited) - int(np.count_nonzero(search.fits))
        if search is not None and failed and not self.is_regular:
            failed -= len(search.failed) - len(self.told_once(search.failed))
        return (
            failed + (self.failed_first is not None) + len(self.excluded) * self.outside_has_status + others
        )

    @property
    def rejected_names(self) -> set[str]:
        """The nodes with a status from filters, or from having been left out by PreFilter."""
        outside = self.excluded.tolist() if self.outside_has_status else ()
        return {self.names[row] for row in (*self.failed_rows.tolist(), *outside)}

    @property
    def outside(self) -> Rows:
        """The nodes whose only reason is that PreFilter left them out."""
        if self.outside_reason is None:
            return NO_ROWS
        if self.cells.counts_outside:
            return self.excluded
        # Upstream: the reason is that of all nodes without a status, also where the search ended before it
        # came to them.
        explicit = NO_ROWS if self.search is None else self.search.visited
        absent = ~np.isin(
            self.order, explicit if self.failed_first is None else np.append(explicit, self.failed_first)
        )
        return self.order[absent]

    def leave_out(self, rows: Rows, plugins: tuple[str, ...]) -> None:
        """Note that the PreFilter of *plugins* left out the nodes of *rows*."""
        text = self.cells.outside_text
        self.excluded = rows
        self.narrowing = plugins
        self.outside_reason = None if text is None else text.format(plugins=" ".join(sorted(set(plugins))))

    def take(self, passed: Passed) -> None:
        """Note why extenders rejected nodes."""
        for name, texts in passed.reasons.items():
            if self.cells.extender_replaces_reasons:
                self.extender_reasons[name] = texts[-1:]
                self.extender_unresolvable.discard(name)
            else:
                self.extender_reasons.setdefault(name, []).extend(texts)
        self.extender_unresolvable |= passed.unresolvable

    def replace_reasons(self) -> None:
        """The statuses of a search replace those that extenders gave before it."""
        for name in self.rejected_names & self.extender_reasons.keys():
            del self.extender_reasons[name]
            self.extender_unresolvable.discard(name)

    def statuses(self) -> dict[str, Status]:
        """Node -> the status that rejected it, with the name of the plugin. Upstream: NodeToStatusMap."""
        if self.rejected is not None:
            return dict.fromkeys((self.names[row] for row in self.order.tolist()), self.rejected)
        # The status of each node that PreFilter left out, where such a node has one.
        reasons = () if self.outside_reason is None else (self.outside_reason,)
        found = dict.fromkeys((self.names[row] for row in self.outside.tolist()), unresolvable(*reasons))
        # Node and status of each row that a filter rejected.
        rows = NO_ROWS if self.search is None else self.failed_rows
        found.update(zip([self.names[row] for row in rows.tolist()], self._statuses_of(rows), strict=True))
        for name, texts in self.extender_reasons.items():
            found[name] = self._extended(found.get(name), name, texts)
        return found

    def _extended(self, status: Status | None, name: str, texts: list[str]) -> Status:
        """The status of a node with the reasons of extenders; *status*: that of the filters, if they rejected
        it."""
        status = None if self.cells.extender_replaces_reasons else status
        reasons = (*(() if status is None else status.reasons), *texts)
        if name in self.extender_unresolvable:
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons, EXTENDER)
        if status is None:
            return Status(Code.UNSCHEDULABLE, reasons, EXTENDER)
        return attrs.evolve(status, reasons=reasons)

    def status_of(self, row: int) -> Status | None:
        """The status of the node of *row* in ``statuses``; cheaper than to list them all."""
        if self.rejected is not None:
            return self.rejected if (self.order == row).any() else None
        status = None
        if self.outside_reason is not None and (self.outside == row).any():
            status = unresolvable(self.outside_reason)
        if self.search is not None and (self.failed_rows == row).any():
            status = self.status(row)
        name = self.names[row]
        if name in self.extender_reasons:
            return self._extended(status, name, self.extender_reasons[name])
        return status

    def status(self, row: int) -> Status:
        """The status of a row that a filter rejects, whether the search visited it or not."""
        return self._statuses_of(np.array([row]))[0]

    def _statuses_of(self, rows: Rows) -> list[Status]:
        known = self._statuses
        if self.search is None or not len(rows):
            return []
        verdict = self.search.verdict
        outcomes = verdict.outcomes(rows)
        for row, outcome in zip(rows.tolist(), outcomes, strict=True):
            if outcome not in known:
                reasons = verdict.reasons(row)
                rejecting_predicates = verdict.rejecting_predicates(row)
                resolvable = all(reason.resolvable for reason in reasons)
                known[outcome] = Status(
                    Code.UNSCHEDULABLE if resolvable else Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
                    tuple(reason.text for reason in reasons),
                    rejecting_predicates[0] if rejecting_predicates else "",
                )
        return [known[outcome] for outcome in outcomes]

    def tally(self) -> dict[str, int]:
        """Reason -> the number of nodes that it rejects."""
        found: dict[str, int] = {}
        if self.search is not None:
            found = self.search.verdict.tally(self.failed_rows)
        outside = len(self.excluded) if self.cells.counts_outside else self.node_count - self.size
        if self.outside_reason is not None and outside > 0:
            found[self.outside_reason] = found.get(self.outside_reason, 0) + outside
        for texts in self.extender_reasons.values():
            for text in texts:
                found[text] = found.get(text, 0) + 1
        return found

    def plugins(self) -> frozenset[str]:
        """The plugins that rejected the pod or a node."""
        found = {EXTENDER} if self.extended else set()
        if self.cells.narrowing_rejects:
            found.update(self.narrowing)
        if self.rejected is not None:
            # Upstream: where removing pods cannot help, PreFilter ends at once, and who narrowed the nodes is
            # forgotten.
            if self.rejected.plugin and self.rejected.code is not Code.UNSCHEDULABLE:
                return frozenset([self.rejected.plugin])
            return frozenset(found | {self.rejected.plugin} - {""})
        if self.search is not None:
            found |= rejecting_predicates(self.search, self.failed_rows)
        return frozenset(found)

    def unresolvable_rows(self, size: int) -> Mask:
        """Rows where removing pods cannot help: bool[size]."""
        found = np.full(size, not self.cells.tries_without_status)
        if self.rejected is not None:
            found[self.order] = self.rejected.code is not Code.UNSCHEDULABLE
        if self.search is not None:
            if self.failed_first is None:
                failed = self.search.failed
            else:
                failed = np.append(self.search.failed, self.failed_first)
            found[failed] = self.search.verdict.unresolvable()[failed]
        if self.outside_has_status:
            found[self.excluded] = True
        for row in self.order.tolist() if self.extender_reasons else ():
            if self.names[row] in self.extender_reasons:
                status = self.status_of(row)
                found[row] = status is not None and status.code is not Code.UNSCHEDULABLE
        return found

    def fit_error(self) -> FitError:
        """The error of the pod."""
        cells = self.cells
        rejected = self.rejected
        if rejected is None:
            reasons = self.tally()
        elif cells.counts_pre_filter:
            reasons = dict.fromkeys(rejected.reasons, self.node_count)
        else:
            reasons = {rejected.message: 0} if rejected.message else {}
        return FitError(
            self.node_count, reasons, self.post_filter * cells.shows_post_filter, cells.post_filter_full_stop
        )


def rejecting_predicates(search: SearchResult, rows: Rows) -> set[str]:
    """The plugins that rejected any of *rows*."""
    verdict = search.verdict
    alive, with_nominated = verdict.apart(rows)
    found = {name for row in with_nominated for name in verdict.rejecting_predicates(row)}
    for predicate, failures in verdict.plain.findings:
        if (alive & (failures.codes > 0)).any():
            found.add(predicate.name)
        alive &= failures.passed
    return found
