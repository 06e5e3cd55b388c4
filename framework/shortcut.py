"""The decision read off how the whole table stands for a pod's template, where nothing but remembered answers counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from ..core.arrays.batch import Batch, Ints, Rows
from ..core.incremental.answers import AnswerCache
from ..core.incremental.scoreboard import Scoreboard
from ..core.incremental.scoreboards import Scoreboards
from ..core.pods.template import Template
from ..core.rule import RuleError
from .cache import NodeOrder
from .plugin import FrameworkCycle, Plugin
from .prefilter import ask_once
from .profile import FrameworkAlgorithm, Profile
from .status import Status

if TYPE_CHECKING:
    from .engine import FrameworkEngine


@attrs.define(eq=False)
class Shortcut:
    """One profile's remembered answers, and the way from them to a host."""

    engine: FrameworkEngine
    profile: Profile
    kept: FrameworkAlgorithm
    """The profile's rules in the form that can be kept."""
    memory: AnswerCache
    standings: Scoreboards

    @classmethod
    def of(cls, engine: FrameworkEngine, profile: Profile, memory_bytes: int) -> Shortcut:
        """For *profile*, with so many bytes to remember in."""
        memory = AnswerCache(engine.table, memory_bytes // 2)
        kept = profile.algorithm if profile.kept is None else profile.kept
        return cls(engine, profile, kept, memory, Scoreboards(memory, memory_bytes // 2))

    @property
    def order(self) -> NodeOrder:
        return self.engine.node_order

    def host(self, cycle: FrameworkCycle) -> str | None:
        """The host of the cycle's pod, with the next search's start moved on; None where the cycle has to be gone through."""
        engine = self.engine
        if cycle.answers is None or engine.nominations or engine.extenders or not self._is_plain(cycle):
            return None
        cycle.algorithm = self.kept
        standing = self.standings.of(cycle)
        try:
            row = self._row(cycle, standing)
        except RuleError:
            standing.forget()
            row = None
        if row is None:
            cycle.algorithm = self.profile.algorithm
            return None
        return engine.table.names[row]

    def _row(self, cycle: FrameworkCycle, standing: Scoreboard) -> int | None:
        order = self.order.from_place(self.engine.start % cycle.node_count)
        wanted = self.profile.algorithm.release.nodes_to_find(len(order), self.profile.percentage)
        if not standing.refresh(cycle, order, self.order.version, window=wanted < len(order)) or not standing.count:
            return None
        if not standing.window:
            return self._best_row(standing, order)
        rows, taken = standing.feasible(wanted)
        row = int(rows[self._best_of(standing.totals_of(cycle, rows))]) if len(rows) > 1 else int(rows[0])
        # Upstream: the surplus fit that ends a search is not consumed.
        processed = taken - 1 if len(rows) < standing.count else taken
        self.engine.start = (self.engine.start + processed) % len(order)
        return row

    def _best_of(self, totals: Ints) -> int:
        ties = np.flatnonzero(totals == totals.max())
        which, moves = self.engine.pick_host(len(ties), self.engine.last_node_index)
        self.engine.last_node_index += moves
        return int(ties[which])

    def _is_plain(self, cycle: FrameworkCycle) -> bool:
        pod = cycle.template
        if self.profile.kept is None or pod.spec.volumes or cycle.pod.status.nominated_node_name:
            return False
        key = (self, "plain")
        if key not in pod.memo:
            pod.memo[key] = self._is_plain_class(pod, cycle)
        found: bool = pod.memo[key]
        return found

    def _is_plain_class(self, pod: Template, cycle: FrameworkCycle) -> bool:
        """Whether PreFilter and PreScore never have more to say of pods of the template than that all goes its way."""
        for plugin in self.profile.at("preFilter"):
            if plugin.concerns(pod):
                if not (plugin.pre_filter_by_class or plugin.pre_filter_skips):
                    return False
                answer = ask_once(plugin, cycle) if plugin.pre_filter_by_class else plugin.pre_filter(pod, cycle)  # type: ignore[attr-defined]  # it stands at this point
                if answer is not None and not (isinstance(answer, Status) and answer.is_skip):
                    return False
        return all(self._pre_scores(plugin, pod, cycle) for plugin in self.profile.at("preScore"))

    @staticmethod
    def _pre_scores(plugin: Plugin, pod: Template, cycle: FrameworkCycle) -> bool:
        if not plugin.pre_score_by_class:
            return False
        status: Status | None = plugin.pre_score(pod, Batch.everywhere(cycle.table), cycle)  # type: ignore[attr-defined]  # it stands at this point
        return status is None or status.is_success

    def _best_row(self, standing: Scoreboard, order: Rows) -> int:
        if standing.count == 1:
            return int(np.argmax(standing.fits))
        ties = standing.best()
        which, moves = self.engine.pick_host(len(ties), self.engine.last_node_index)
        self.engine.last_node_index += moves
        if len(ties) == 1:
            return int(ties[0])
        places = self.order.places(order)[ties]
        return int(ties[np.argmin(places) if which == 0 else np.argsort(places)[which]])
