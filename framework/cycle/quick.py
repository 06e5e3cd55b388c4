"""Whether the plugins of a profile allow the quick path: the host is read off a scoreboard, and no cycle is run."""

from __future__ import annotations

import attrs

from ...core.arrays.batch import Batch
from ...core.incremental.quick import Detour
from ...core.pods.notes import StateKey
from ...core.pods.template import Template
from ..extensionpoints import PreScore
from ..profile import Profile
from ..status import Status
from .prefilter import ask_once
from .state import FrameworkCycle


@attrs.define(eq=False, repr=False)
class PluginCheck:
    """Why the quick path cannot be taken for a pod of the profile, as far as PreFilter and PreScore are concerned."""

    profile: Profile
    slot: StateKey[Detour | None] = attrs.field(init=False, repr=False, factory=lambda: StateKey("detour"))
    """Where a template's notes have the answer."""

    def __call__(self, cycle: FrameworkCycle) -> Detour | None:
        """Why a cycle has to be run; None if PreFilter and PreScore neither reject the pod nor narrow the nodes."""
        if cycle.pod.status.nominated_node_name:
            return Detour.NOMINATIONS
        if cycle.table.has_huge or cycle.templates.has_huge:
            # The cycle checks the range of each score; here, without such amounts, upstream's plugins keep within it.
            return Detour.AMOUNTS
        notes, slot = cycle.template.notes, self.slot
        return notes[slot] if slot in notes else notes.setdefault(slot, self._of_template(cycle.template, cycle))

    def _of_template(self, pod: Template, cycle: FrameworkCycle) -> Detour | None:
        for plugin in self.profile.points.pre_filter:
            if plugin.concerns(pod):
                if not (plugin.pre_filter_by_class or plugin.pre_filter_skips):
                    return Detour.PLUGINS
                answer = ask_once(plugin, cycle) if plugin.pre_filter_by_class else plugin.pre_filter(pod, cycle)
                if answer is not None and not (isinstance(answer, Status) and answer.is_skip):
                    return Detour.PLUGINS
        is_fine = all(_is_fine(plugin, pod, cycle) for plugin in self.profile.points.pre_score)
        return None if is_fine else Detour.PLUGINS


def _is_fine(plugin: PreScore, pod: Template, cycle: FrameworkCycle) -> bool:
    if not (plugin.pre_score_by_class or plugin.pre_score_skips):
        return False
    status = plugin.pre_score(pod, Batch.everywhere(cycle.table), cycle)
    return status is None or status.is_success or (plugin.pre_score_skips and status.is_skip)
