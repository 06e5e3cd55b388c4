"""One scheduler: what the cluster tells it, what it decides, and what it assumes of its own decisions.

Upstream: genericScheduler.Schedule in pkg/scheduler/core/generic_scheduler.go, and the handlers of its events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from ..api.objects import Pod
from ..exceptions import CacheError, ExtenderError
from .arrays.batch import Rows
from .arrays.table import NodeTable
from .cluster.cache import Cache
from .cluster.listings import Listings
from .cluster.nominations import Nominations
from .cluster.snapshot import Snapshot
from .cycle import Cycle
from .decision.decision import Decision, Details
from .decision.extender import Extender, filter_by_extenders
from .decision.plan import Preemption
from .decision.score import ScoreError, prioritize
from .decision.search import Order, Search, run_effects, search
from .equivalence.cache import EquivalenceCache
from .incremental.answers import AnswerCache
from .incremental.scoreboard import Scoreboard
from .incremental.scoreboards import Scoreboards
from .pods.template import Template, Templates
from .preemption.layout import PodLayout
from .preemption.select import preempt
from .rule import Algorithm, RuleError
from .volumes.assumecache import VolumeError
from .volumes.binder import VolumeBinder, basic_checks

NO_NODES = "no nodes available to schedule pods"
PickHost = Callable[[int, int], tuple[int, bool]]


@attrs.define(eq=False)
class Engine:
    """A scheduler of one algorithm. Feed it with :class:`~kubeclassic.core.feed.Feed`; ask it with :meth:`schedule`."""

    algorithm: Algorithm
    extenders: Sequence[Extender] = ()
    pick_host: PickHost = attrs.field(default=attrs.Factory(lambda self: self.algorithm.release.pick_host, takes_self=True))
    """Which of the best: (how many share the best total, times it ran before) -> (which of them, whether the counter moves)."""
    listings: Listings = attrs.field(factory=Listings)
    templates: Templates = attrs.field(init=False)
    cache: Cache = attrs.field(init=False)
    table: NodeTable = attrs.field(init=False)
    snapshot: Snapshot = attrs.field(init=False)
    nominations: Nominations = attrs.field(init=False)
    binder: VolumeBinder = attrs.field(init=False)
    order: Order = attrs.field(init=False)
    equivalence: EquivalenceCache | None = attrs.field(init=False, default=None)
    """None where it is off."""
    memory_bytes: int = 1 << 30
    """How much of earlier answers may be kept; 0 keeps nothing."""
    memory: AnswerCache | None = attrs.field(init=False, default=None)
    standings: Scoreboards = attrs.field(init=False)
    layout: PodLayout = attrs.field(init=False)
    _by_name: tuple[tuple[int, int], Rows] | None = None
    _latest: Cycle | None = None
    _may_be_plain: bool = attrs.field(init=False)
    """No rule's answer depends on more than what it reads."""
    last_node_index: int = 0
    """How often a host was picked among several: upstream's lastNodeIndex."""

    def __attrs_post_init__(self) -> None:
        release, gates = self.algorithm.release, self.algorithm.gates
        self.templates = Templates(release, gates)
        self.cache = Cache(self.templates, release.zone_key)
        self.table = NodeTable(release.zone_key)
        self.snapshot = Snapshot(self.cache, self.table, release.snapshot_keeps_nodeless, release.transient_reset_all)
        self.nominations = Nominations(release.queue.nominations_by_uid, release.queue.keeps_nomination_on_update)
        self.binder = VolumeBinder(release, gates, self.listings, skips_nodes=self.algorithm.equivalence_cache)
        self.order = Order(self.cache)
        self.layout = PodLayout(self.table, release.preemption.by_start_time)
        memory = AnswerCache(self.table, self.memory_bytes // 2)
        self.memory = memory if self.memory_bytes else None
        self.standings = Scoreboards(memory, self.memory_bytes // 2)
        together = any(priority.whole_list for priority, _ in self.algorithm.priorities)
        self._may_be_plain = self.algorithm.has_predicates and not (
            together or self.algorithm.leaves_counts or self.algorithm.equivalence_cache
        )
        if self.algorithm.equivalence_cache:
            self.equivalence = EquivalenceCache(self.table, release, gates)

    # --- one pod ----------------------------------------------------------------------------------------------------

    def schedule(self, pod: Pod, *, details: bool = True) -> Decision:
        """Decide where *pod* goes. Moves the visiting order and the round-robin counter as upstream's cycle does; assumes nothing."""
        refused = basic_checks(pod, self.listings.claims)
        if refused is None and not self.cache.node_count:
            refused = NO_NODES
        if refused is not None:
            return Decision(pod, error=refused)
        cycle = self.begin(pod, details=details)
        quick = None if details else self._quick(cycle)
        if quick is not None:
            return quick
        found = self._search(cycle)
        decision = self._decide(cycle, found, details)
        if decision.is_fit_error and self.algorithm.preemption:
            decision.preemption = self._preempt(cycle, found)
        return decision

    def begin(self, pod: Pod, *, details: bool = True) -> Cycle:
        """A cycle for *pod* on a fresh snapshot."""
        self.snapshot.refresh()
        cycle = Cycle(
            pod=pod, template=self.templates.of(pod), table=self.table, algorithm=self.algorithm, listings=self.listings,
            binder=self.binder, templates=self.templates, cache=self.cache,
        )  # fmt: skip
        cycle.details, cycle.has_metadata = details, not self.algorithm.metadata_fails(cycle)
        if cycle.has_metadata:
            cycle.answers = self.memory
        self._latest = cycle
        return cycle

    @property
    def turn(self) -> Any:
        """Where the next cycle begins: what every cycle moves, and what can be set back."""
        return self.cache.order.taken, self.last_node_index

    @turn.setter
    def turn(self, turn: Any) -> None:
        self.cache.order.taken, self.last_node_index = turn

    def warm(self) -> None:
        """Take over what was fed so far, as the first cycle would."""
        self.snapshot.refresh()
        self.order.one_pass(self.table.row_of, self.table.rows_version)

    def _quick(self, cycle: Cycle) -> Decision | None:
        """The decision read off how the table stands for the pod's template; None where a cycle has to be gone through."""
        order = self.order.one_pass(self.table.row_of, self.table.rows_version)
        if cycle.answers is None or not self.order.is_regular or not self._is_plain(cycle):
            return None
        wanted = self.algorithm.release.nodes_to_find(len(order), self.algorithm.percentage)
        standing = self.standings.of(cycle)
        try:
            stamp = self.cache.order.version, self.table.rows_version
            if not standing.refresh(cycle, order, stamp, window=wanted < len(order)) or not standing.count:
                return None
            if standing.window:
                row, consumed = self._best_in_window(cycle, standing, wanted)
            else:
                row, consumed = self._best_row(standing), len(order)
        except RuleError:
            standing.forget()
            return None
        self.cache.order.take(consumed)
        return Decision(cycle.pod, host=self.table.names[row])

    def _is_plain(self, cycle: Cycle) -> bool:
        """Whether nothing but remembered answers counts: no nominations, extenders, or effects for later."""
        return self._may_be_plain and not (self.nominations or self.extenders or cycle.template.spec.volumes)

    def _best_row(self, standing: Scoreboard) -> int:
        if standing.count == 1:
            return int(np.argmax(standing.fits))
        ties = standing.best()
        which, moves = self.pick_host(len(ties), self.last_node_index)
        self.last_node_index += moves
        if len(ties) == 1:
            return int(ties[0])
        places = self.order.places()[ties]
        return int(ties[places.argmin() if which == 0 else places.argsort()[which]])

    def _best_in_window(self, cycle: Cycle, standing: Scoreboard, wanted: int) -> tuple[int, int]:
        rows, consumed = standing.feasible(wanted)
        if len(rows) == 1:
            return int(rows[0]), consumed
        totals = standing.totals_of(cycle, rows)
        ties = np.flatnonzero(totals == totals.max())
        which, moves = self.pick_host(len(ties), self.last_node_index)
        self.last_node_index += moves
        return int(rows[ties[which]]), consumed

    def _search(self, cycle: Cycle) -> Search:
        order = self.order.one_pass(self.table.row_of, self.table.rows_version)
        wanted = self.algorithm.release.nodes_to_find(len(order), self.algorithm.percentage)
        lens = None if self.equivalence is None else self.equivalence.lens(cycle.pod, self.nominations)
        found = search(cycle, self.nominations, order, wanted, lens)
        if self.algorithm.has_predicates:
            self.cache.order.take(found.consumed)
            run_effects(cycle, found.verdict, order[: found.consumed])
        if lens is not None:
            lens.keep(found.verdict.plain, order[: found.consumed])
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
                kept.ranking = prioritize(cycle, rows, self.extenders)
            except ScoreError as error:
                kept.ranking, decision.error = None, str(error)
                return
            ties = np.flatnonzero(kept.ranking.totals == kept.ranking.totals.max())
            which, moves = self.pick_host(len(ties), self.last_node_index)
            best, self.last_node_index = int(ties[which]), self.last_node_index + moves
        decision.host = kept.names[int(rows[best])]

    def _aggregate(self, errors: list[str]) -> str:
        counted = {text: errors.count(text) for text in sorted(errors)}
        texts = [text if often == 1 else f"{text} (repeated {often} times)" for text, often in counted.items()]
        return self.algorithm.release.error_joiner(texts)

    def _fit_error(self, found: Search, kept: Details) -> str:
        tally = found.verdict.tally(np.flatnonzero(np.bincount(found.failed)))
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
        try:
            return preempt(cycle, self.nominations, found, self._rows_by_name(), self.layout, self.extenders)
        except ExtenderError as error:
            return Preemption(error=str(error))

    def _rows_by_name(self) -> Rows:
        """The rows of the nodes that are there, in ascending order of name."""
        version = self.table.rows_version, self.table.changed.node_epoch
        if self._by_name is None or self._by_name[0] != version:
            rows = (self.table.row_of[name] for name in sorted(self.table.row_of))
            there = [row for row in rows if self.table.has_node[row] and row not in self.table.ghosts]
            self._by_name = version, np.array(there, np.intp)
        return self._by_name[1]

    # --- what follows from a decision -------------------------------------------------------------------------------

    def _template_of(self, pod: Pod) -> Template | None:
        """The template of *pod* on a node, where the latest cycle worked it out."""
        latest = self._latest
        return latest.template if latest is not None and latest.pod is pod and not pod.spec.node_name else None

    def assume(self, pod: Pod, host: str) -> str | None:
        """Take *pod* as bound to *host*, its volumes too; answers the error that upstream would end the cycle with, if any."""
        try:
            self.binder.assume(pod, host)
        except VolumeError as error:
            return str(error)
        finally:
            if self.equivalence is not None:
                self.equivalence.volumes_assumed()
        try:
            self.cache.assume(pod.bound_to(host), self._template_of(pod))
        except CacheError as error:
            return str(error)
        if self.equivalence is not None:
            self.equivalence.pod_assumed(pod, host)
        self.nominations.remove(pod)
        return None
