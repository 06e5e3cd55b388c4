"""The search for feasible nodes: it begins where the last cycle stopped, and ends when it has found enough.

Upstream: findNodesThatFitPod and findNodesThatPassFilters in pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from ...api.objects import Pod
from ...core.arrays.batch import Batch
from ...core.arrays.types import Rows
from ...core.cluster.nominations import Nominations
from ...core.decision.decision import Details, NodeFailure
from ...core.decision.extender import Passed
from ...core.decision.nodesearch import SearchResult, judge_twice, run_effects, visit
from ...core.decision.verdict import Verdict
from ...core.incremental.quick import Detour
from ...core.pods.template import StateKey, Template
from ...core.release import FrameworkCells
from ...exceptions import ExtenderError
from ..plugin import Plugin
from ..profile import Profile
from ..status import Code, Status, error, unresolvable, unschedulable
from .diagnosis import Diagnosis
from .state import FrameworkCycle, PreFilterResult

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


def _concerned(pod: Template, profile: Profile) -> frozenset[Plugin]:
    """The plugins with a PreFilter that may have something to say of *pod*."""
    found = pod.notes.get(profile.slot)
    if found is None:
        found = pod.notes[profile.slot] = frozenset(
            plugin for plugin in profile.points["preFilter"] if plugin.concerns(pod)
        )
    return found


def run_pre_filter(cycle: FrameworkCycle, profile: Profile) -> PreFilterOutcome:
    """Run the PreFilter plugins in order until one ends it."""
    found = EVERYTHING
    rejection = None
    cells = profile.algorithm.release.framework
    concerned = _concerned(cycle.template, profile)
    for plugin in profile.points["preFilter"]:
        answer = ask(plugin, cycle) if plugin in concerned else None
        if isinstance(answer, Status) and answer.code is not Code.SUCCESS:
            if answer.code is Code.SKIP:
                (cycle.skipped if cells.pre_filter_skips else cycle.pre_filtered).add(plugin.name)
                continue
            rejection = _refusal(plugin, answer, cells, cycle.pod.name)
            if cells.rejection_ends_pre_filter or rejection.code is not Code.UNSCHEDULABLE:
                return PreFilterOutcome(rejection)
            continue
        cycle.pre_filtered.add(plugin.name)
        if isinstance(answer, PreFilterResult) and answer.node_names is not None and cells.pre_filter_narrows:
            names = answer.node_names if found.node_names is None else found.node_names & answer.node_names
            found = PreFilterOutcome(None, names, (*found.narrowing, plugin.name))
            if not names:
                return attrs.evolve(found, status=_nothing_left(found.narrowing, cells))
    return found if rejection is None else attrs.evolve(found, status=rejection)


def ask(plugin: Any, cycle: FrameworkCycle) -> PreFilterResult | Status | None:
    """The answer of *plugin* to the pod's template; where it can, it runs once for a template."""
    found: PreFilterResult | Status | None
    if not plugin.pre_filter_by_class:
        found = plugin.pre_filter(cycle.template, cycle)
        return found
    notes = cycle.template.notes
    slot = plugin.pre_filter_slot
    if slot not in notes:
        notes[slot] = plugin.pre_filter(cycle.template, cycle)
    found = notes[slot]
    return found


def _refusal(plugin: Any, status: Status, cells: FrameworkCells, pod: str) -> Status:
    if not status.is_rejection:
        # Upstream: 1.24 tells the error of another status, which is none.
        told = "%!w(<nil>)" if cells.pre_filter_errors_lost else status.message
        status = error(cells.pre_filter_error.format(plugin=plugin.name, text=told, pod=pod))
    elif cells.pre_filter_rejection_errs:
        status = error(f'rejected by "{plugin.name}" at prefilter: {status.message}')
    return attrs.evolve(status, plugin=plugin.name)


def _nothing_left(narrowing: tuple[str, ...], cells: FrameworkCells) -> Status:
    reject = unresolvable if cells.disjoint_is_unresolvable else unschedulable
    if len(narrowing) == 1:
        return reject(f"node(s) didn't satisfy plugin {narrowing[0]}")
    names = sorted(narrowing) if cells.disjoint_sorts_plugins else narrowing
    return reject(f"node(s) didn't satisfy plugin(s) [{' '.join(names)}] simultaneously")


@attrs.define(eq=False, repr=False)
class PluginCheck:
    """The check whether the quick path can be taken for a pod of the profile, as far as PreFilter and
    PreScore are concerned."""

    profile: Profile
    signs: Callable[[FrameworkCycle, str], bool] | None = None
    """Whether a pod has a signature, so that it may try the node of a batch first; None: no pod has."""
    slot: StateKey[tuple[int, Detour | None]] = attrs.field(init=False, factory=lambda: StateKey("detour"))
    """Where a template's notes have the answer, with the version of volumes and claims that it was found
    for."""

    def __call__(self, cycle: FrameworkCycle) -> Detour | None:
        """The reason why a cycle has to be run; None if PreFilter and PreScore neither reject the pod nor
        narrow the nodes."""
        if cycle.pod.status.nominated_node_name:
            return Detour.NOMINATIONS
        if cycle.table.has_huge or cycle.templates.has_huge:
            # The cycle checks the range of each score; here, without such amounts, upstream's plugins keep
            # within it.
            return Detour.AMOUNTS
        if self.signs is not None and self.signs(cycle, self.profile.scheduler_name):
            return Detour.PLUGINS
        notes = cycle.template.notes
        version = cycle.volumes_version if cycle.template.claims else 0
        known = notes.get(self.slot)
        if known is None or known[0] != version:
            known = notes[self.slot] = version, self._of_template(cycle.template, cycle)
        return known[1]

    def _of_template(self, pod: Template, cycle: FrameworkCycle) -> Detour | None:
        concerned = _concerned(pod, self.profile)
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


PassExtenders = Callable[[FrameworkCycle, Rows], tuple[Rows, Passed]]


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
    """Filter the nodes that *outcome* leaves, the nominated or hinted one first, and write into *details*
    which are feasible, in order, and why others were rejected.

    Returns where the next search starts, and an error. *pass_extenders* asks extenders about the nominated
    node, which they may reject, too. *verdict*: if it is known.
    """
    diagnosis = details.diagnosis
    verdict = verdict or judge_twice(
        cycle, Batch.everywhere(cycle.table), nominations, check_all=profile.algorithm.check_all
    )
    name = cycle.pod.status.nominated_node_name or cycle.hint
    gate = cycle.release.framework.nominated_gate
    first = cycle.table.row_of.get(name) if name and (not gate or cycle.enabled(gate)) else None
    # Upstream: the look at the one node counts as a search among one node.
    start = 0 if first is not None and diagnosis.cells.nominated_moves_start else start
    if first is not None and verdict.fits[first]:
        # The nominated node, if extenders leave it.
        rows = _left_by_extenders(cycle, np.array([first], np.intp), diagnosis, pass_extenders)
        if len(rows):
            alone = SearchResult(verdict, np.array([first], np.intp), np.ones(1, np.bool_), 1)
            details.search = diagnosis.search = alone
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
    has_failed = first is not None and not verdict.fits[first] and verdict.error(first) is None
    if outcome.node_names is not None:
        named = [row_of[name] for name in outcome.node_names - set(unknown)]
        inside = np.isin(order, np.array(named, np.intp))
        order = order[inside]
        # Upstream: the plugin that rejected the nominated node is put into the same set, before it is read.
        others = (
            verdict.rejecting_predicates(first)[:1]
            if cells.narrowing_rejects and has_failed and first is not None
            else ()
        )
        diagnosis.leave_out(diagnosis.order[~inside], (*outcome.narrowing, *others))
    if not len(order) and not cells.index_of_all_nodes:
        return start, NO_NODE_LEFT
    begin = start % max(len(order), 1)
    visiting = np.concatenate([order[begin:], order[:begin]])
    # Upstream: the feasible node beyond the wanted number is not consumed; the next cycle starts with it.
    found = details.search = diagnosis.search = visit(verdict, visiting, profile.algorithm.wanted(len(order)))
    if profile.algorithm.has_effects or cycle.claim_users is not None:
        before = () if first is None else (first,)
        _leave_effects(cycle, nominations, verdict, visiting[: found.consumed], before)
    if (
        has_failed
        and first not in found.visited
        and not (diagnosis.outside_has_status and first in diagnosis.excluded)
    ):
        diagnosis.failed_first = first
    if diagnosis.extender_reasons:
        diagnosis.replace_reasons()
    details.feasible_rows, error = _until_error(found)
    places = diagnosis.node_count if cells.index_of_all_nodes else len(order)
    return (start + len(details.feasible_rows) + diagnosis.size) % places, error


def _leave_effects(
    cycle: FrameworkCycle, nominations: Nominations, verdict: Verdict, rows: Rows, before: Sequence[int]
) -> None:
    """Leaves the effects of filtering the nodes of *rows* in this order, those of *before* once more before
    that."""
    run_effects(cycle, verdict, rows)
    if cycle.claim_users is not None:
        cycle.claim_users.filtered(cycle, nominations, (*before, *rows.tolist()))


def _left_by_extenders(
    cycle: FrameworkCycle, rows: Rows, diagnosis: Diagnosis, pass_extenders: PassExtenders | None
) -> Rows:
    """The nominated node, if extenders leave it."""
    if pass_extenders is None:
        return rows
    try:
        left, passed = pass_extenders(cycle, rows)
    except ExtenderError:
        # Upstream: an error here is only logged, and all nodes are tried.
        return rows[:0]
    diagnosis.take(passed)
    return left


def _until_error(found: SearchResult) -> tuple[Rows, str | None]:
    """The feasible rows, and the first error, which ends the search and the cycle."""
    if found.verdict.has_errors:
        for at, row in enumerate(found.visited.tolist()):
            text = None if found.fits[at] else found.verdict.error(row)
            if text is not None:
                found.visited = found.visited[:at]
                found.fits = found.fits[:at]
                return found.feasible, text
    return found.feasible, None
