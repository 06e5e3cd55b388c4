"""PreEnqueue and PreFilter: may the pod be tried, which filters can be skipped, and which nodes have to be
filtered.

Upstream: RunPreFilterPlugins in pkg/scheduler/framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from ...api.objects import Pod
from ...core.arrays.batch import Batch
from ...core.incremental.quick import Detour
from ...core.pods.template import StateKey, Template
from ...core.release import FrameworkCells
from ..profile import Profile
from ..status import Code, Status, error, unresolvable, unschedulable
from .state import FrameworkCycle, PreFilterResult


@attrs.frozen(repr=False)
class PreFilterOutcome:
    """What all PreFilter plugins together say: why the pod is rejected, or the nodes that have to be filtered
    (None: all)."""

    status: Status | None = None
    node_names: frozenset[str] | None = None
    narrowing: tuple[str, ...] = ()
    """The plugins that name nodes, in running order."""


EVERYTHING = PreFilterOutcome()


def pre_enqueue(pod: Pod, profile: Profile) -> Status | None:
    """Why *pod* may not be tried at all; None if it may. Upstream: runPreEnqueuePlugins."""
    for plugin in profile.points["preEnqueue"]:
        status: Status | None = plugin.pre_enqueue(pod)
        if status is not None and not status.is_success:
            return attrs.evolve(status, plugin=plugin.name)
    return None


def run_pre_filter(cycle: FrameworkCycle, profile: Profile) -> PreFilterOutcome:
    """Run the PreFilter plugins in order until one ends it."""
    found = EVERYTHING
    rejection = None
    cells = profile.algorithm.release.framework
    concerned = cycle.template.notes.get(profile.slot)
    if concerned is None:
        concerned = frozenset(one for one in profile.points["preFilter"] if one.concerns(cycle.template))
        cycle.template.notes[profile.slot] = concerned
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
    """Why the quick path cannot be taken for a pod of the profile, as far as PreFilter and PreScore are
    concerned."""

    profile: Profile
    signs: Callable[[FrameworkCycle, str], bool] | None = None
    """Whether a pod has a signature, so that it may try the node of a batch first; None: no pod has."""
    slot: StateKey[tuple[int, Detour | None]] = attrs.field(
        init=False, repr=False, factory=lambda: StateKey("detour")
    )
    """Where a template's notes have the answer, with the version of volumes and claims that it was found
    for."""

    def __call__(self, cycle: FrameworkCycle) -> Detour | None:
        """Why a cycle has to be run; None if PreFilter and PreScore neither reject the pod nor narrow the
        nodes."""
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
        for plugin in self.profile.points["preFilter"]:
            if plugin.concerns(pod):
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
