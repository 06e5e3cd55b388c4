"""Releases 1.12 to 1.16: the steps of a cycle with predicates and priorities, and the engine that runs them.

Upstream: pkg/scheduler/core/generic_scheduler.go, pkg/scheduler/scheduler.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from ..api.objects import KubeObject, Pod
from ..exceptions import CacheError, ExtenderError
from .arrays import Mask, Rows
from .binding import VolumeError
from .bindingcycle import UNSCHEDULABLE, BindingCycle, Failure
from .cluster.snapshot import RoundOrder
from .cycle import Algorithm, Cycle
from .decision import (
    Decision,
    Details,
    FitError,
    LateRanking,
    Preemption,
    Ranking,
    Victims,
    prioritize,
    run_effects,
    search,
)
from .details import BoardDetails
from .engine import NO_NODES, Engine, FilterError
from .incremental.answers import AnswerCache
from .incremental.board import Boards
from .incremental.quick import QuickPath
from .matching import selector_error
from .pods import Template
from .preemption import (
    DryRuns,
    PodLayout,
    UnschedulableCache,
    exhausted,
    is_eligible,
    preempt,
    victims_beside,
)
from .volumes import VolumeBinder, basic_checks

if TYPE_CHECKING:
    from .equivalence import EquivalenceCache
    from .queue.backoff import Clock
    from .queue.priority import SchedulingQueue
    from .router import EventRouter

MAX_PRIORITY = 10


def classic_engine(algorithm: Algorithm, **options: Any) -> Engine:
    """A scheduler of *algorithm*; *options*: fields of :class:`~kubeclassic.core.engine.Engine`."""
    return Engine(algorithm, ClassicFlow.of, **options)


@attrs.define(eq=False, repr=False)
class ClassicFlow:
    """The flow of an engine with predicates and priorities."""

    engine: Engine
    binder: VolumeBinder
    order: RoundOrder
    answers: AnswerCache | None
    quick_path: QuickPath
    runs: DryRuns
    equivalence: EquivalenceCache | None
    """The equivalence cache; None if it is off."""
    binding: ClassicBinding = attrs.field(init=False)
    details: BoardDetails = attrs.field(init=False)
    refusals: UnschedulableCache = attrs.field(init=False)
    cached_failure: Callable[[Cycle], Decision | None] | None = None
    on_choice: None = None
    quick: Callable[[Cycle], int | None] = attrs.field(init=False)
    max_score: int = MAX_PRIORITY
    nominated_after: str | None = None
    plugins_without: frozenset[str] | None = None
    profiles: Mapping[str, Any] = attrs.Factory(dict)
    _by_name: tuple[tuple[int, int], Rows] | None = None

    @classmethod
    def of(cls, engine: Engine) -> ClassicFlow:
        """The flow of *engine*, which is not complete yet."""
        algorithm = engine.algorithm
        table = engine.table
        release = algorithm.release
        gates = algorithm.gates
        answers = AnswerCache(table, engine.memory_bytes // 2)
        order = RoundOrder(engine.cache, table)
        equivalence = None
        if algorithm.equivalence_cache:
            from .equivalence import EquivalenceCache  # only 1.12 and 1.13 can have it

            equivalence = EquivalenceCache(table, release, gates)
        # Whether no rule depends on anything besides its declared reads.
        sees_whole_list = any(priority.whole_list for priority, _ in algorithm.priorities)
        quick = QuickPath(
            algorithm=algorithm,
            boards=Boards(answers, engine.memory_bytes * 7 // 16),
            order=order,
            ties=engine.ties,
            nominations=engine.nominations,
            asks_extenders=engine.asks_extenders if engine.extenders else None,
            is_cacheable=algorithm.has_predicates
            and not (sees_whole_list or algorithm.leaves_counts or algorithm.equivalence_cache),
        )
        return cls(
            engine=engine,
            binder=VolumeBinder(
                release.volumes,
                gates,
                engine.listings,
                partial(selector_error, text=release.selector_text),
                skips_nodes=algorithm.equivalence_cache,
            ),
            order=order,
            answers=answers if engine.memory_bytes else None,
            quick_path=quick,
            runs=DryRuns(PodLayout(table, release.preemption.by_start_time), engine.memory_bytes // 16),
            equivalence=equivalence,
        )

    def __attrs_post_init__(self) -> None:
        self.binding = ClassicBinding(self.engine)
        self.quick, self.refusals = self.quick_path.row, UnschedulableCache(self.quick_path)
        self.details = BoardDetails(self.quick_path)

    @property
    def quick_paths(self) -> Mapping[str, QuickPath]:
        return {"": self.quick_path}

    def forget(self, in_use: Collection[Template]) -> None:
        self.quick_path.boards.forget(in_use)
        self.refusals.forget(in_use)
        self.runs.forget(in_use)

    # --- one cycle ------------------------------------------------------------------------------------------

    def pre_check(self, pod: Pod) -> Decision | None:
        refusal = basic_checks(pod, self.engine.listings.claims) if pod.spec.volumes else None
        if refusal is None and not self.engine.cache.node_count:
            refusal = NO_NODES
        return None if refusal is None else Decision(pod, error=refusal)

    def begin(self, pod: Pod, *, details: bool = True) -> Cycle:
        engine = self.engine
        algorithm = engine.algorithm
        engine.snapshot.refresh()
        if engine.templates.are_many:
            engine.tidy()
        cycle = engine.latest = Cycle(
            pod=pod,
            template=engine.templates.of(pod),
            table=engine.table,
            algorithm=algorithm,
            release=algorithm.release,
            listings=engine.listings,
            binder=self.binder,
            templates=engine.templates,
            cache=engine.cache,
            details=details,
        )
        if algorithm.metadata_fails(cycle):
            cycle.has_metadata = False
        else:
            cycle.answers = self.answers
        return cycle

    def filter(self, cycle: Cycle) -> Details:
        engine = self.engine
        algorithm = cycle.algorithm
        order = self.order.one_pass()
        enough = algorithm.wanted(len(order))
        view = None if self.equivalence is None else self.equivalence.view(cycle.pod, engine.nominations)
        verdict = self.details.verdict(cycle) if engine.reads_details_at_once(cycle) else None
        result = search(cycle, engine.nominations, order, enough, view, verdict)
        if algorithm.has_predicates:
            self.order.take(result.consumed)
        if algorithm.has_effects and verdict is None:
            run_effects(cycle, result.verdict, order[: result.consumed])
        if view is not None:
            view.keep(result.verdict.plain, order[: result.consumed])
        errors = sorted(Counter(result.errors()).items())
        if errors:
            messages = [text if count == 1 else f"{text} (repeated {count} times)" for text, count in errors]
            raise FilterError(algorithm.release.error_joiner(messages))
        engine.table.shared_names = True
        return Details(engine.table.names, result.feasible, result)

    def score(self, cycle: Cycle, rows: Rows) -> Ranking | LateRanking:
        ask = partial(prioritize, cycle, rows, self.engine.extenders)
        return self.details.ranking(cycle, rows, ask) if self.engine.reads_details_at_once(cycle) else ask()

    def pre_score_one(self, cycle: Cycle, rows: Rows) -> None:
        """Nothing: no priority runs for one node."""

    def post_filter(self, cycle: Cycle, details: Details, decision: Decision) -> None:
        assert details.search is not None
        engine = self.engine
        tally = details.search.verdict.tally(np.flatnonzero(np.bincount(details.search.failed)))
        for text in chain.from_iterable(details.extender_reasons.values()):
            tally[text] = tally.get(text, 0) + 1
        decision.fail(self._fit_error(tally))
        if self._may_preempt(cycle):
            if cycle.release.preemption.refreshes_snapshot:
                engine.snapshot.refresh()
            try:
                decision.preemption = preempt(
                    cycle,
                    engine.nominations,
                    details.search,
                    self._rows_by_name(),
                    self.runs,
                    engine.extenders,
                    asks_later=engine.asks_later,
                )
            except ExtenderError as error:
                decision.preemption = Preemption(error=str(error))
        if decision.preemption is None or decision.preemption.node is None:
            self.refusals.note(cycle, details.search)
            self.cached_failure = self._cached_failure

    def _cached_failure(self, cycle: Cycle) -> Decision | None:
        if min(cycle.table.priorities, default=cycle.pod.priority) < cycle.pod.priority:
            return None  # a pod of lower priority could leave
        cached = self.refusals.again(cycle)
        if cached is None or cached.nodes != len(self._rows_by_name()):
            return None
        decision = Decision(cycle.pod)
        decision.fail(self._fit_error(cached.tally))
        if self._may_preempt(cycle):
            is_hopeless = cached.unresolvable == cached.nodes and is_eligible(cycle)
            decision.preemption = Preemption(clear_nominations=[cycle.pod] if is_hopeless else [])
        self.order.take(cached.nodes)
        self.refusals.count()
        return decision

    def _fit_error(self, tally: Mapping[str, int]) -> FitError:
        return FitError(self.engine.cache.node_count, dict(tally), stops_always=True)

    @staticmethod
    def _may_preempt(cycle: Cycle) -> bool:
        return cycle.algorithm.preemption and (
            not cycle.release.preemption.needs_priority_gate or cycle.enabled("PodPriority")
        )

    def victims(
        self, cycle: Cycle, rows: Rows, unresolvable: Mask, uids: Collection[str]
    ) -> dict[str, Victims]:
        if not (self._may_preempt(cycle) and is_eligible(cycle)):
            return {}
        potential = self.runs.layout.lower_than(cycle.pod.priority, rows[~unresolvable[rows]])
        return victims_beside(
            cycle, self.engine.nominations, potential, exhausted(cycle.listings.budgets), uids, cycle.pod
        )

    def _rows_by_name(self) -> Rows:
        """The rows of the existing nodes, in ascending order of name."""
        table = self.engine.table
        version = table.rows_version, table.changed.node_revision
        if self._by_name is None or self._by_name[0] != version:
            rows = (table.row_of[name] for name in sorted(table.row_of))
            existing = [row for row in rows if table.has_node[row] and row not in table.deleted_rows]
            self._by_name = version, np.array(existing, np.intp)
        return self._by_name[1]

    # --- what follows from a decision -----------------------------------------------------------------------

    def assume(self, pod: Pod, host: str) -> str | None:
        engine = self.engine
        equivalence = self.equivalence
        template = engine.latest_template(pod)
        try:
            if pod.spec.rule_volumes if template is None else template.volumes:
                self.binder.assume(pod, host)
        except VolumeError as error:
            return str(error)
        finally:
            if equivalence is not None:
                equivalence.volumes_assumed()
        try:
            engine.cache.assume(pod, template, host)
        except CacheError as error:
            return str(error)
        if equivalence is not None:
            equivalence.pod_assumed(pod, host)
        if engine.nominations.by_node or engine.nominations.by_uid:
            engine.nominations.remove(pod)
        return None

    @property
    def follow(self) -> Callable[[KubeObject | None, KubeObject | None], None] | None:
        return None if self.equivalence is None else self.equivalence.follow

    def can_repeat(self, decision: Decision) -> bool:
        plan = decision.preemption
        algorithm = self.engine.algorithm
        if not decision.is_fit_error or (plan is not None and (plan.node is not None or plan.error)):
            return False
        if plan is not None and any(pod.status.nominated_node_name for pod in plan.clear_nominations):
            return False
        special = algorithm.equivalence_cache or algorithm.leaves_counts or not algorithm.has_predicates
        return not (special or decision.pod.spec.rule_volumes or self.engine.asks_extenders(decision.pod))

    def failure_reason(self, decision: Decision) -> str:
        return UNSCHEDULABLE

    # --- what others ask ------------------------------------------------------------------------------------

    def algorithm_of(self, pod: Pod) -> Algorithm | None:
        return self.engine.algorithm

    def evaluate(self, cycle: Cycle, rows: Rows) -> Mask:
        return search(cycle, self.engine.nominations, rows, len(rows)).fits

    def node_list(self) -> list[int]:
        table = self.engine.table
        return [row for row in table.row_of.values() if table.has_node[row]]

    @contextmanager
    def preserving_state(self) -> Iterator[None]:
        equivalence = self.equivalence
        self.equivalence = None if equivalence is None else equivalence.frozen()
        try:
            yield
        finally:
            self.equivalence = equivalence

    def shared_parts(self) -> Mapping[str, Any]:
        return {}

    def describe(self) -> Iterator[str]:
        algorithm = self.engine.algorithm
        yield f"predicates: {', '.join(predicate.name for predicate in algorithm.predicates)}"
        yield f"priorities: {', '.join(f'{priority.name} x {weight}' for priority, weight in algorithm.priorities)}"

    def queue(self, clock: Clock, *, apart: bool = False) -> SchedulingQueue:
        from .queue.priority import make_queue  # most questions have no queue

        nominations = self.engine.new_nominations() if apart else self.engine.nominations
        algorithm = self.engine.algorithm
        return make_queue(algorithm.release.queue, nominations, clock, fifo=not algorithm.queues_by_priority)

    def router(self, queue: SchedulingQueue, scheduler_name: str | None) -> EventRouter:
        from .router import EventRouter

        return EventRouter(self.engine, queue, scheduler_name)


@attrs.define(eq=False, repr=False)
class ClassicBinding(BindingCycle):
    """The binding cycle with predicates and priorities: assume, wait for volumes, bind."""

    engine: Engine

    def reserve(self, pod: Pod, host: str) -> Failure | None:
        error = self.engine.assume(pod, host)
        return None if error is None else self.failure(error)

    def waits_for_claims(self, pod: Pod) -> bool:
        return self.engine.binder.enabled

    def give_back(self, pod: Pod, host: str) -> None:
        self.engine.cache.forget(pod.bound_to(host))

    def failure(self, text: str) -> Failure:
        return Failure(text, self.engine.algorithm.release.binding_failed_reason)
