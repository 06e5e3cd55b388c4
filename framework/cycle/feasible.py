"""Filtering: the search for feasible nodes, and the diagnosis of those that are not.

The search begins where the last cycle stopped, and ends when it has found enough.

Upstream: findNodesThatFitPod and findNodesThatPassFilters in pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from ...api.objects import Pod
from ...core.cluster.nominations import Nominations
from ...core.decision import (
    Details,
    FitError,
    NodeFailure,
    Outcome,
    PassedNodes,
    SearchResult,
    Verdict,
    judge_twice,
    run_effects,
    visit,
)
from ...core.incremental.quick import Detour
from ...core.release import FrameworkCells
from ...exceptions import ExtenderError
from ..plugin import (
    NO_ROWS,
    Batch,
    Code,
    FrameworkCycle,
    Mask,
    Plugin,
    PreFilterResult,
    Rows,
    StateKey,
    Status,
    Template,
    error,
    unresolvable,
    unschedulable,
)
from ..profile import Profile

# --- The diagnosis of a pod that fits nowhere: the status of each node, and the FitError --------------------
# Upstream: Diagnosis and FitError in pkg/scheduler/framework/types.go.


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
    """Whether the list has each node once."""
    rejected: Status | None = None
    """PreFilter's rejection, which holds for every node."""
    search: SearchResult | None = None
    excluded: Rows = NO_ROWS
    """Nodes outside those that PreFilter named."""
    narrowing: tuple[str, ...] = ()
    """The plugins that named nodes."""
    outside_reason: str | None = None
    """The reason of nodes without a status of their own, where PreFilter named nodes; None: they get no
    reason."""
    failed_first: int | None = None
    """The row of the nominated node, if it failed and the search did not visit it again."""
    extender_reasons: dict[str, list[str]] = attrs.Factory(dict)
    extender_unresolvable: set[str] = attrs.Factory(set)
    """Nodes on which removing pods does not help, according to extenders."""
    extended: bool = False
    """Whether extenders rejected nodes."""
    post_filter: str = ""
    """PostFilter's message."""
    _statuses: dict[Outcome, Status] = attrs.field(factory=dict, init=False)
    """The outcome of several alike nodes -> their status."""

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
        visited = NO_ROWS if self.search is None else self.one_row_per_name(self.search.failed)
        return visited if self.failed_first is None else np.append(visited, self.failed_first)

    def one_row_per_name(self, rows: Rows) -> Rows:
        """*rows* with each name once: a node that the list has twice has one status."""
        if self.is_regular or len(rows) < 2:
            return rows
        first_rows = {self.names[row]: row for row in reversed(rows.tolist())}
        if len(first_rows) == len(rows):
            return rows
        return np.array([row for row in rows.tolist() if first_rows[self.names[row]] == row], np.intp)

    @property
    def size(self) -> int:
        """The number of nodes with a status. Upstream: the length of NodeToStatusMap."""
        if self.rejected is not None:
            return self.node_count
        search = self.search
        rejected = 0 if not self.extender_reasons else len(self.extender_reasons.keys() - self.rejected_names)
        failed = 0 if search is None else len(search.visited) - int(np.count_nonzero(search.fits))
        if search is not None and failed and not self.is_regular:
            failed -= len(search.failed) - len(self.one_row_per_name(search.failed))
        return (
            failed + (self.failed_first is not None) + len(self.excluded) * self.outside_has_status + rejected
        )

    @property
    def rejected_names(self) -> set[str]:
        """The nodes with a status from filters, or because PreFilter left them out."""
        outside = self.excluded.tolist() if self.outside_has_status else ()
        return {self.names[row] for row in (*self.failed_rows.tolist(), *outside)}

    @property
    def outside(self) -> Rows:
        """The nodes whose only reason is that PreFilter left them out."""
        if self.outside_reason is None:
            return NO_ROWS
        if self.cells.counts_outside:
            return self.excluded
        # Upstream: all nodes without a status get the reason, even those that the search did not reach.
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

    def take(self, passed: PassedNodes) -> None:
        """Note why extenders rejected nodes."""
        for name, texts in passed.reasons.items():
            if self.cells.extender_replaces_reasons:
                self.extender_reasons[name] = texts[-1:]
                self.extender_unresolvable.discard(name)
            else:
                self.extender_reasons.setdefault(name, []).extend(texts)
        replaces = self.cells.extender_replaces_reasons
        self.extender_unresolvable |= passed.last_unresolvable if replaces else passed.unresolvable

    def replace_reasons(self) -> None:
        """Let the statuses of a search replace the earlier ones of extenders."""
        for name in self.rejected_names & self.extender_reasons.keys():
            del self.extender_reasons[name]
            self.extender_unresolvable.discard(name)

    def statuses(self) -> dict[str, Status]:
        """Node -> the status that rejected it, with the name of the plugin. Upstream: NodeToStatusMap."""
        if self.rejected is not None:
            return dict.fromkeys((self.names[row] for row in self.order.tolist()), self.rejected)
        # The status of each node that PreFilter left out, where such a node has one.
        reasons = () if self.outside_reason is None else (self.outside_reason,)
        statuses = dict.fromkeys((self.names[row] for row in self.outside.tolist()), unresolvable(*reasons))
        # Node and status of each row that a filter rejected.
        rows = NO_ROWS if self.search is None else self.failed_rows
        statuses.update(zip([self.names[row] for row in rows.tolist()], self._statuses_of(rows), strict=True))
        for name, texts in self.extender_reasons.items():
            statuses[name] = self._with_extender_reasons(statuses.get(name), name, texts)
        return statuses

    def _with_extender_reasons(self, status: Status | None, name: str, texts: list[str]) -> Status:
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
            return self._with_extender_reasons(status, name, self.extender_reasons[name])
        return status

    def status(self, row: int) -> Status:
        """The status of a row that a filter rejects, whether the search visited it or not."""
        return self._statuses_of(np.array([row]))[0]

    def _statuses_of(self, rows: Rows) -> list[Status]:
        status_by_outcome = self._statuses
        if self.search is None or not len(rows):
            return []
        verdict = self.search.verdict
        outcomes = verdict.outcomes(rows)
        for row, outcome in zip(rows.tolist(), outcomes, strict=True):
            if outcome not in status_by_outcome:
                reasons = verdict.reasons(row)
                rejecting_predicates = verdict.rejecting_predicates(row)
                resolvable = all(reason.resolvable for reason in reasons)
                status_by_outcome[outcome] = Status(
                    Code.UNSCHEDULABLE if resolvable else Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
                    tuple(reason.text for reason in reasons),
                    rejecting_predicates[0] if rejecting_predicates else "",
                )
        return [status_by_outcome[outcome] for outcome in outcomes]

    def tally(self) -> dict[str, int]:
        """Reason -> the number of nodes that it rejects."""
        counts = {}
        if self.search is not None:
            rows = self.failed_rows
            if self.cells.extender_replaces_reasons and self.extender_reasons:
                is_kept = [self.names[row] not in self.extender_reasons for row in rows.tolist()]
                rows = rows[np.array(is_kept, np.bool_)]
            counts = self.search.verdict.tally(rows)
        outside = len(self.excluded) if self.cells.counts_outside else self.node_count - self.size
        if self.outside_reason is not None and outside > 0:
            counts[self.outside_reason] = counts.get(self.outside_reason, 0) + outside
        for texts in self.extender_reasons.values():
            for text in texts:
                counts[text] = counts.get(text, 0) + 1
        return counts

    def plugins(self) -> frozenset[str]:
        """The plugins that rejected the pod or a node."""
        names = {EXTENDER} if self.extended else set()
        if self.cells.narrowing_rejects:
            names.update(self.narrowing)
        if self.rejected is not None:
            # Upstream: where removing pods cannot help, PreFilter ends at once, and the plugins that narrowed
            # the nodes are forgotten.
            if self.rejected.plugin and self.rejected.code is not Code.UNSCHEDULABLE:
                return frozenset([self.rejected.plugin])
            return frozenset(names | {self.rejected.plugin} - {""})
        if self.search is not None:
            names |= rejecting_predicates(self.search, self.failed_rows)
        return frozenset(names)

    def unresolvable_rows(self, size: int) -> Mask:
        """Rows where removing pods cannot help: bool[size]."""
        mask = np.full(size, not self.cells.tries_without_status)
        if self.rejected is not None:
            mask[self.order] = self.rejected.code is not Code.UNSCHEDULABLE
        if self.search is not None:
            if self.failed_first is None:
                failed = self.search.failed
            else:
                failed = np.append(self.search.failed, self.failed_first)
            mask[failed] = self.search.verdict.unresolvable()[failed]
        if self.outside_has_status:
            mask[self.excluded] = True
        for row in self.order.tolist() if self.extender_reasons else ():
            if self.names[row] in self.extender_reasons:
                status = self.status_of(row)
                mask[row] = status is not None and status.code is not Code.UNSCHEDULABLE
        return mask

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
            self.node_count,
            reasons,
            self.post_filter * cells.shows_post_filter,
            cells.post_filter_full_stop,
            cells.stops_without_reasons,
        )


def rejecting_predicates(search: SearchResult, rows: Rows) -> set[str]:
    """The plugins that rejected any of *rows*."""
    verdict = search.verdict
    alive, with_nominated = verdict.apart(rows)
    names = {name for row in with_nominated for name in verdict.rejecting_predicates(row)}
    for predicate, failures in verdict.plain.findings:
        if (alive & (failures.codes > 0)).any():
            names.add(predicate.name)
        alive &= failures.passed
    return names


# --- PreEnqueue and PreFilter -------------------------------------------------------------------------------
# May the pod be tried, which filters can be skipped, and which nodes have to be filtered?
# Upstream: RunPreFilterPlugins in pkg/scheduler/framework/runtime/framework.go.


@attrs.frozen(repr=False)
class PreFilterOutcome:
    """The outcome of all PreFilter plugins: a rejection of the pod, or the nodes that have to be filtered
    (None: all)."""

    status: Status | None = None
    node_names: frozenset[str] | None = None
    narrowing: tuple[str, ...] = ()
    """The plugins that name nodes, in running order."""


EVERYTHING = PreFilterOutcome()


def pre_enqueue(pod: Pod, profile: Profile) -> Status | None:
    """The reason why *pod* may not be tried at all; None if it may. Upstream: runPreEnqueuePlugins."""
    for plugin in profile.points["preEnqueue"]:
        status: Status | None = plugin.pre_enqueue(pod)
        if status is not None and not status.is_success:
            return attrs.evolve(status, plugin=plugin.name)
    return None


def _concerned_plugins(pod: Template, profile: Profile) -> frozenset[Plugin]:
    """The plugins whose PreFilter concerns *pod*."""
    plugins = pod.notes.get(profile.slot)
    if plugins is None:
        filters = profile.points["filter"]
        rules = {rule.name for rule in profile.algorithm.predicates_for(pod)}
        plugins = pod.notes[profile.slot] = frozenset(
            plugin
            for plugin in profile.points["preFilter"]
            if (plugin.name in rules if plugin in filters else plugin.concerns(pod))
        )
    return plugins


def run_pre_filter(cycle: FrameworkCycle, profile: Profile) -> PreFilterOutcome:
    """Run the PreFilter plugins in order until one ends it."""
    result = EVERYTHING
    rejection = None
    cells = profile.algorithm.release.framework
    concerned_plugins = _concerned_plugins(cycle.template, profile)
    for plugin in profile.points["preFilter"]:
        answer = ask(plugin, cycle) if plugin in concerned_plugins else None
        if isinstance(answer, Status) and answer.code is not Code.SUCCESS:
            if answer.code is Code.SKIP:
                (cycle.skipped if cells.pre_filter_skips else cycle.pre_filtered).add(plugin.name)
                continue
            rejection = answer
            if not answer.is_rejection:
                # Upstream: 1.24 reports the error of another status, which has none.
                message = "%!w(<nil>)" if cells.pre_filter_errors_lost else answer.message
                text = cells.pre_filter_error.format(plugin=plugin.name, text=message, pod=cycle.pod.name)
                rejection = error(text)
            elif cells.pre_filter_rejection_errs:
                rejection = error(f'rejected by "{plugin.name}" at prefilter: {answer.message}')
            rejection = attrs.evolve(rejection, plugin=plugin.name)
            if cells.rejection_ends_pre_filter or rejection.code is not Code.UNSCHEDULABLE:
                return PreFilterOutcome(rejection)
            continue
        cycle.pre_filtered.add(plugin.name)
        if isinstance(answer, PreFilterResult) and answer.node_names is not None and cells.pre_filter_narrows:
            names = answer.node_names if result.node_names is None else result.node_names & answer.node_names
            result = PreFilterOutcome(None, names, (*result.narrowing, plugin.name))
            if not names:
                narrowing = sorted(result.narrowing) if cells.disjoint_sorts_plugins else result.narrowing
                text = f"node(s) didn't satisfy plugin(s) [{' '.join(narrowing)}] simultaneously"
                if len(narrowing) == 1:
                    text = f"node(s) didn't satisfy plugin {narrowing[0]}"
                reject = unresolvable if cells.disjoint_is_unresolvable else unschedulable
                return attrs.evolve(result, status=reject(text))
    return result if rejection is None else attrs.evolve(result, status=rejection)


def ask(plugin: Any, cycle: FrameworkCycle) -> PreFilterResult | Status | None:
    """The answer of *plugin* to the pod's template; where it can, it runs once for a template."""
    answer: PreFilterResult | Status | None
    if not plugin.pre_filter_by_class:
        answer = plugin.pre_filter(cycle.template, cycle)
        return answer
    notes = cycle.template.notes
    slot = plugin.pre_filter_slot
    if slot not in notes:
        notes[slot] = plugin.pre_filter(cycle.template, cycle)
    answer = notes[slot]
    return answer


@attrs.define(eq=False, repr=False)
class PluginCheck:
    """The check whether PreFilter and PreScore let a pod of the profile take the quick path."""

    profile: Profile
    signs: Callable[[FrameworkCycle, str], bool] | None = None
    """Whether a pod has a signature, so that it may try the node of a batch first; None: no pod does."""
    slot: StateKey[tuple[int, Detour | None]] = attrs.field(init=False, factory=lambda: StateKey("detour"))
    """The slot of the answer in a template's notes, with the version of volumes and claims that it is for."""

    def __call__(self, cycle: FrameworkCycle) -> Detour | None:
        """The reason why a cycle has to be run; None if PreFilter and PreScore neither reject the pod nor
        narrow the nodes."""
        if cycle.pod.status.nominated_node_name:
            return Detour.NOMINATIONS
        if cycle.table.has_huge or cycle.templates.has_huge:
            # The cycle checks the range of each score. Without such amounts, and negative numbers in a pod,
            # scores of upstream's plugins stay within it.
            return Detour.AMOUNTS
        if cycle.table.census.has_unreadable and cycle.release.framework.unreadable_terms == "error":
            return Detour.PLUGINS
        if self.signs is not None and self.signs(cycle, self.profile.scheduler_name):
            return Detour.PLUGINS
        notes = cycle.template.notes
        version = cycle.volumes_version if cycle.template.claims else 0
        cached = notes.get(self.slot)
        if cached is None or cached[0] != version:
            cached = notes[self.slot] = version, self._detour_of_template(cycle.template, cycle)
        return cached[1]

    def _detour_of_template(self, pod: Template, cycle: FrameworkCycle) -> Detour | None:
        node_affinity = pod.affinity.node_affinity
        terms = node_affinity.preferred if node_affinity is not None else ()
        constraints = pod.spec.topology_spread_constraints
        if any(term.weight < 0 for term in terms) or any(soft.max_skew < 1 for soft in constraints):
            return Detour.AMOUNTS  # the API server would refuse such pods
        concerned = _concerned_plugins(pod, self.profile)
        for plugin in self.profile.points["preFilter"]:
            if plugin in concerned:
                if not (
                    plugin.pre_filter_by_class or plugin.pre_filter_skips or plugin.pre_filter_reads_volumes
                ):
                    return Detour.PLUGINS
                answer = ask(plugin, cycle)
                if answer is not None and not (isinstance(answer, Status) and answer.is_skip):
                    return Detour.PLUGINS
        nodes = Batch.everywhere(cycle.table)
        for plugin in self.profile.points["preScore"]:
            if not (plugin.pre_score_by_class or plugin.pre_score_skips):
                return Detour.PLUGINS
            status = plugin.pre_score(pod, nodes, cycle)
            is_fine = status is None or status.is_success or (plugin.pre_score_skips and status.is_skip)
            if not is_fine:
                return Detour.PLUGINS
        return None


# --- Feasible nodes -----------------------------------------------------------------------------------------


@attrs.define(eq=False, kw_only=True, repr=False)
class FrameworkDetails(Details):
    """The details of every decision, and the diagnosis of the nodes that do not fit."""

    diagnosis: Diagnosis
    _statuses: Mapping[str, Status] | None = attrs.field(default=None, init=False)
    """The statuses once they were read: there is one for each node that does not fit."""

    def narrow(self, rows: Rows, passed: PassedNodes) -> None:
        self._statuses = None
        self.diagnosis.extended = len(rows) != len(self.feasible_rows)
        self.diagnosis.take(passed)
        self.feasible_rows = rows
        self.extender_reasons: dict[str, list[str]] = self.diagnosis.extender_reasons

    @property
    def visited(self) -> list[int]:
        rows = dict.fromkeys(super().visited)
        statuses = self.statuses
        rows |= dict.fromkeys(row for row in self.diagnosis.order.tolist() if self.names[row] in statuses)
        return list(rows)

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


NO_NODE_LEFT = "no node of the cluster is among those that PreFilter plugins named"
"""Upstream: the original divides by zero here and crashes."""


PassExtenders = Callable[[FrameworkCycle, Rows, PassedNodes], tuple[Rows, PassedNodes]]


def search(
    cycle: FrameworkCycle,
    profile: Profile,
    nominations: Nominations,
    details: FrameworkDetails,
    outcome: PreFilterOutcome,
    start: int,
    pass_extenders: PassExtenders | None = None,
    verdict: Verdict | None = None,
) -> tuple[int, str | None]:
    """Filter the nodes that *outcome* leaves, the nominated or hinted one first. *details* gets the feasible
    nodes, in order, and the reasons against others.

    Returns where the next search starts, and an error. *pass_extenders* asks extenders about the nominated
    node, which they may reject, too. *verdict*: if it is known.
    """
    diagnosis = details.diagnosis
    verdict = verdict or judge_twice(
        cycle, Batch.everywhere(cycle.table), nominations, check_all=profile.algorithm.check_all
    )
    name = cycle.pod.status.nominated_node_name or cycle.hint
    gate = cycle.release.framework.nominated_gate
    hinted_row = cycle.table.row_of.get(name) if name and (not gate or cycle.enabled(gate)) else None
    # Upstream: the look at the one node counts as a search among one node.
    start = 0 if hinted_row is not None and diagnosis.cells.nominated_moves_start else start
    if hinted_row is not None and verdict.fits[hinted_row]:
        # The nominated node, if extenders leave it.
        rows = _extenders_leave(cycle, np.array([hinted_row], np.intp), diagnosis, pass_extenders)
        if len(rows):
            single = SearchResult(verdict, np.array([hinted_row], np.intp), np.ones(1, np.bool_), 1)
            details.search = diagnosis.search = single
            _leave_effects(cycle, nominations, verdict, rows, ())
            details.feasible_rows = rows
            details.passed_extenders = pass_extenders is not None
            return start, None
    order = diagnosis.order
    cells = diagnosis.cells
    row_of = cycle.table.row_of
    unknown = sorted((outcome.node_names or frozenset()) - row_of.keys())
    if unknown and cells.unknown_name_errs:
        return start, f'nodeinfo not found for node name "{unknown[0]}"'
    has_failed = hinted_row is not None and not verdict.fits[hinted_row] and verdict.error(hinted_row) is None
    if outcome.node_names is not None:
        named_rows = [row_of[name] for name in outcome.node_names - set(unknown)]
        is_inside = np.isin(order, np.array(named_rows, np.intp))
        order = order[is_inside]
        # Upstream: the plugin that rejected the nominated node is put into the same set, before it is read.
        rejecting = (
            verdict.rejecting_predicates(hinted_row)[:1]
            if cells.narrowing_rejects and has_failed and hinted_row is not None
            else ()
        )
        diagnosis.leave_out(diagnosis.order[~is_inside], (*outcome.narrowing, *rejecting))
    if not len(order) and not cells.index_of_all_nodes:
        return start, NO_NODE_LEFT
    begin = start % max(len(order), 1)
    visiting = np.concatenate([order[begin:], order[:begin]])
    # Upstream: the feasible node beyond the wanted number is not consumed; the next cycle starts with it.
    result = details.search = diagnosis.search = visit(
        verdict, visiting, profile.algorithm.wanted(len(order))
    )
    details.feasible_rows, error = _before_error(result) if verdict.has_errors else (result.feasible, None)
    if profile.algorithm.has_effects or cycle.claim_users is not None:
        visited_first = () if hinted_row is None else (hinted_row,)
        _leave_effects(cycle, nominations, verdict, visiting[: result.consumed], visited_first)
    if (
        has_failed
        and hinted_row not in result.visited
        and not (diagnosis.outside_has_status and hinted_row in diagnosis.excluded)
    ):
        diagnosis.failed_first = hinted_row
    if diagnosis.extender_reasons:
        diagnosis.replace_reasons()
    places = diagnosis.node_count if cells.index_of_all_nodes else len(order)
    return (start + len(details.feasible_rows) + diagnosis.size) % places, error


def _leave_effects(
    cycle: FrameworkCycle, nominations: Nominations, verdict: Verdict, rows: Rows, nominated: Sequence[int]
) -> None:
    """Leave the effects of filtering the nodes of *rows* in this order, those of *nominated* first once
    more."""
    run_effects(cycle, verdict, rows)
    if cycle.claim_users is not None:
        cycle.claim_users.filtered(cycle, nominations, (*nominated, *rows.tolist()))


def _extenders_leave(
    cycle: FrameworkCycle, rows: Rows, diagnosis: Diagnosis, pass_extenders: PassExtenders | None
) -> Rows:
    """The nominated node, if extenders leave it."""
    if pass_extenders is None:
        return rows
    passed = PassedNodes([])
    try:
        return pass_extenders(cycle, rows, passed)[0]
    except ExtenderError:
        # Upstream: an error here is only logged, and all nodes are tried.
        return rows[:0]
    finally:
        diagnosis.take(passed)


def _before_error(result: SearchResult) -> tuple[Rows, str | None]:
    """The feasible rows, and the first error, which ends the search and the cycle."""
    for at, row in enumerate(result.visited.tolist()):
        text = None if result.fits[at] else result.verdict.error(row)
        if text is not None:
            result.visited = result.visited[:at]
            result.fits = result.fits[:at]
            result.consumed = at + 1
            return result.feasible, text
    return result.feasible, None
