"""One scheduler: what the cluster tells it, what it decides, and what it assumes of its own decisions.

Upstream: genericScheduler.Schedule in pkg/scheduler/core/generic_scheduler.go, and the handlers of its events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import numpy as np

from ..api.objects import Pod
from ..exceptions import CacheError, ExtenderError
from .batch import Rows
from .cache import Cache
from .cycle import Cycle
from .decision import Decision, Details
from .extender import Extender, filter_by_extenders
from .listings import Listings
from .nominations import Nominations
from .preempt import Preemption, preempt
from .rule import Algorithm, Scores
from .score import ScoreError, prioritize
from .search import Order, Search, run_effects, search
from .snapshot import Snapshot
from .table import NodeTable
from .template import Templates
from .volumes import VolumeBinder, VolumeError, basic_checks

NO_NODES = "no nodes available to schedule pods"
PickHost = Callable[[Scores, int], tuple[int, bool]]


@attrs.define(eq=False)
class Engine:
    """A scheduler of one algorithm. Feed it with :class:`~kubeclassic.core.feed.Feed`; ask it with :meth:`schedule`."""

    algorithm: Algorithm
    extenders: Sequence[Extender] = ()
    pick_host: PickHost = attrs.field(default=attrs.Factory(lambda self: self.algorithm.release.pick_host, takes_self=True))
    """Which of the best: (totals of the feasible nodes, times it ran) -> (index, whether the counter moves)."""
    listings: Listings = attrs.field(factory=Listings)
    templates: Templates = attrs.field(init=False)
    cache: Cache = attrs.field(init=False)
    table: NodeTable = attrs.field(init=False)
    snapshot: Snapshot = attrs.field(init=False)
    nominations: Nominations = attrs.field(init=False)
    binder: VolumeBinder = attrs.field(init=False)
    order: Order = attrs.field(init=False)
    picks: int = 0
    """How often a host was picked among several: upstream's lastNodeIndex."""

    def __attrs_post_init__(self) -> None:
        release, gates = self.algorithm.release, self.algorithm.gates
        self.templates = Templates(release, gates)
        self.cache = Cache(self.templates, release.zone_key)
        self.table = NodeTable(release.zone_key)
        self.snapshot = Snapshot(self.cache, self.table, release.snapshot_keeps_nodeless, release.transient_reset_all)
        self.nominations = Nominations(release.queue.nominations_by_uid, release.queue.keeps_nomination_on_update)
        self.binder = VolumeBinder(release, gates, self.listings)
        self.order = Order(self.cache)

    # --- one pod ----------------------------------------------------------------------------------------------------

    def schedule(self, pod: Pod, *, details: bool = True) -> Decision:
        """Decide where *pod* goes. Moves the visiting order and the round-robin counter as upstream's cycle does; assumes nothing."""
        refused = basic_checks(pod, self.listings.claims)
        if refused is None and not self.cache.node_count:
            refused = NO_NODES
        if refused is not None:
            return Decision(pod, error=refused)
        cycle = self.begin(pod)
        found = self._search(cycle)
        decision = self._decide(cycle, found, details)
        if decision.is_fit_error and self.algorithm.preemption:
            decision.preemption = self._preempt(cycle, found)
        return decision

    def begin(self, pod: Pod) -> Cycle:
        """A cycle for *pod* on a fresh snapshot."""
        self.snapshot.refresh()
        cycle = Cycle(
            pod=pod, template=self.templates.of(pod), table=self.table, algorithm=self.algorithm, listings=self.listings,
            binder=self.binder, templates=self.templates, cache=self.cache, extenders=self.extenders,
        )  # fmt: skip
        cycle.has_metadata = not self.algorithm.metadata_fails(cycle)
        return cycle

    def _search(self, cycle: Cycle) -> Search:
        order = self.order.one_pass(self.table.row_of, self.table.rows_version)
        wanted = self.algorithm.release.nodes_to_find(len(order), self.algorithm.percentage)
        found = search(cycle, self.nominations, order, wanted)
        if self.algorithm.has_predicates:
            self.cache.order.take(found.consumed)
            run_effects(cycle, found.verdict, found.visited)
        return found

    def _decide(self, cycle: Cycle, found: Search, details: bool) -> Decision:
        decision = Decision(cycle.pod)
        errors = found.errors()
        if errors:
            decision.error = self._aggregate(errors)
            return decision
        kept = self._details(found)
        try:
            self._filter(cycle, kept)
        except ExtenderError as error:
            decision.error = str(error)
            return decision
        if not len(kept.feasible_rows):
            decision.is_fit_error, decision.error = True, self._fit_error(found, kept)
        else:
            self._choose(cycle, kept, decision)
        decision.details = kept if details else None
        return decision

    def _details(self, found: Search) -> Details:
        self.table.shared_names = True
        return Details(self.table.names, found.feasible, found)

    def _filter(self, cycle: Cycle, kept: Details) -> None:
        if not self.extenders or not len(kept.feasible_rows):
            return
        nodes = {name: node for name in kept.feasible if (node := self.table.nodes[self.table.row_of[name]]) is not None}
        names, kept.extender_reasons = filter_by_extenders(self.extenders, cycle.pod, nodes, kept.feasible)
        kept.feasible_rows = np.array([self.table.row_of[name] for name in names], np.intp)

    def _choose(self, cycle: Cycle, kept: Details, decision: Decision) -> None:
        rows: Rows = kept.feasible_rows
        best = 0
        if len(rows) > 1:
            try:
                kept.ranking = prioritize(cycle, rows)
            except ScoreError as error:
                kept.ranking, decision.error = None, str(error)
                return
            best, moves = self.pick_host(kept.ranking.totals, self.picks)
            self.picks += moves
        decision.host = kept.names[int(rows[best])]

    def _aggregate(self, errors: list[str]) -> str:
        counted = {text: errors.count(text) for text in sorted(errors)}
        texts = [text if often == 1 else f"{text} (repeated {often} times)" for text, often in counted.items()]
        return self.algorithm.release.error_joiner(texts)

    def _fit_error(self, found: Search, kept: Details) -> str:
        tally = found.verdict.tally(np.unique(found.failed))
        for texts in kept.extender_reasons.values():
            for text in texts:
                tally[text] = tally.get(text, 0) + 1
        reasons = sorted(f"{count} {text}" for text, count in tally.items())
        return f"0/{self.cache.node_count} nodes are available: {', '.join(reasons)}."

    # --- preemption -------------------------------------------------------------------------------------------------

    def _preempt(self, cycle: Cycle, found: Search) -> Preemption | None:
        cells = self.algorithm.release.preemption
        if cells.needs_priority_gate and not self.algorithm.enabled("PodPriority"):
            return None
        if cells.refreshes_snapshot:
            self.snapshot.refresh()
        nodes = [name for name, info in self.cache.infos.items() if info.node is not None]
        try:
            return preempt(cycle, self.nominations, found, nodes)
        except ExtenderError as error:
            return Preemption(error=str(error))

    # --- what follows from a decision -------------------------------------------------------------------------------

    def assume(self, pod: Pod, host: str) -> str | None:
        """Take *pod* as bound to *host*, its volumes too; answers the error that upstream would end the cycle with, if any."""
        try:
            self.binder.assume(pod, host)
        except VolumeError as error:
            return str(error)
        try:
            self.cache.assume(pod.bound_to(host))
        except CacheError as error:
            return str(error)
        self.nominations.remove(pod)
        return None
