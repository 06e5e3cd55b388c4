"""The flow of the framework: the steps of a cycle of one of its profiles, and the engine that runs them.

Upstream: pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import attrs
import numpy as np

from ..api.objects import DEFAULT_SCHEDULER, KubeObject, Pod
from ..core.bindingcycle import UNSCHEDULABLE
from ..core.cluster.cache import Cache
from ..core.cluster.snapshot import ListOrder
from ..core.decision import (
    SUCCESS,
    Decision,
    Details,
    Extender,
    LateRanking,
    Phase,
    Ranking,
    Victims,
    judge_twice,
)
from ..core.details import BoardDetails
from ..core.engine import NO_NODES, Engine, FilterError
from ..core.incremental.answers import AnswerCache
from ..core.incremental.board import Boards
from ..core.incremental.quick import QuickPath
from ..core.preemption import ClaimUsers, DryRuns, PodLayout, UnschedulableCache, victims_beside
from ..core.queue.backoff import Clock
from ..core.volumes import VolumeBinder, basic_checks
from ..exceptions import RuleError
from .config.configuration import KubeSchedulerConfiguration, read_configuration
from .config.fielderrors import label_selector_fault
from .cycle.batching import Batches, Signer
from .cycle.binding import FrameworkBinding
from .cycle.feasible import (
    EVERYTHING,
    EXTENDER,
    Diagnosis,
    FrameworkDetails,
    PluginCheck,
    pre_enqueue,
    run_pre_filter,
    search,
)
from .cycle.postfilter import only_preempts, refused, run_post_filter
from .cycle.preemption import ineligible, protection_of
from .cycle.score import pre_score, prioritize
from .plugin import (
    MAX_NODE_SCORE,
    NO_ROWS,
    Algorithm,
    Batch,
    FrameworkCycle,
    Mask,
    NodeTable,
    Rows,
    Template,
    has_ephemeral_claims,
)
from .profile import Profile, Registry, build_profiles, handle_of
from .queue.handlers import FrameworkEvents
from .queue.queue import FrameworkQueue, queue_for
from .registry import registry_of


def laid_out(table: NodeTable, rows: Rows, cache: Cache, *, keeps_ghosts: bool) -> NodeTable:
    """A table whose rows are *rows* of *table*, in that order; *keeps_ghosts*: with the ghosts of *table*,
    and the nodes that *rows* miss."""
    laid_out_table = NodeTable(table.zone_key, table.ignores_storage)
    visited = rows.tolist()
    names: dict[str, None] = {}
    for place, row in enumerate(visited):
        name = table.names[row]
        if name in names:
            laid_out_table.repeats.setdefault(name, []).append(place)
        while name in names:
            name += " "  # no node has such a name
        names[name] = None
    laid_out_table.add_rows(list(names))
    nodes = {}
    for place, row in enumerate(visited):
        node = table.nodes[row]
        info = cache.infos.get(table.names[row])
        if node is not None:
            nodes[place] = node, table.images_on(row)
        for entry in table.pods[row]:
            laid_out_table.add_pod(place, entry)
        if info is not None:
            laid_out_table.set_ports(place, info.used_ports)
    laid_out_table.set_nodes(nodes)
    laid_out_table.names = [table.names[row] for row in visited]
    laid_out_table.shared_names = True
    laid_out_table.transient[:, : len(rows)] = table.transient[:, rows]
    unlisted = table.row_of.keys() - names.keys()
    laid_out_table.unlisted = {
        name: table.pods[row] for name in unlisted if table.has_node[row := table.row_of[name]]
    }
    if keeps_ghosts:
        laid_out_table.ghosts = dict(table.ghosts)
        for name in unlisted:
            laid_out_table.keep_ghost(name, table)
    return laid_out_table


NONE: frozenset[str] = frozenset()


def framework_engine(
    config: KubeSchedulerConfiguration | None = None,
    *,
    registry: Registry | None = None,
    extenders: Sequence[Extender] = (),
    preempts: bool = True,
    shortlists: bool = True,
    max_pd_vols: int | None = None,
    **options: Any,
) -> Engine:
    """A scheduler for *config* (None: the default profile) with the plugins of *registry* (None: those of the
    release).

    Without *preempts* no PostFilter plugin runs for a pod that fits nowhere. Without *shortlists* preemption
    tries every candidate. *max_pd_vols*: the most cloud disks of each type on a node without a limit of its
    own. *options*: fields of :class:`~kubeclassic.core.engine.Engine`. Raises
    :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for a configuration that is refused.
    """
    config = read_configuration() if config is None else config
    release = config.release
    profiles = build_profiles(
        config,
        registry_of(release) if registry is None else registry,
        handle_of(
            config,
            requests=lambda pod: release.incoming(pod, config.gates),
            counted=lambda pod: release.footprint(release.resized(pod, config.gates), config.gates),
            max_pd_vols=max_pd_vols,
        ),
    )
    first = next(iter(profiles.values())).algorithm
    # Upstream: ignorable extenders are called last.
    return Engine(
        first,
        partial(FrameworkFlow.of, config=config, profiles=profiles, preempts=preempts, shortlists=shortlists),
        sorted(extenders, key=lambda extender: extender.is_ignorable),
        **options,
    )


@attrs.define(eq=False, kw_only=True, repr=False)
class FrameworkFlow:
    """The flow of an engine with the profiles of a configuration."""

    engine: Engine
    config: KubeSchedulerConfiguration
    profiles: Mapping[str, Profile]
    preempts: bool
    shortlists: bool
    binder: VolumeBinder
    order: ListOrder
    """Profile -> its cache: plugins of the same name can have different arguments in two profiles."""
    quick_paths: Mapping[str, QuickPath]
    runs: DryRuns
    refusals: Mapping[str, UnschedulableCache]
    """By profile."""
    details: Mapping[str, BoardDetails]
    """By profile."""
    cached_failure: Callable[[FrameworkCycle], Decision | None] | None = None
    binding: FrameworkBinding = attrs.field(init=False)
    max_score: int = MAX_NODE_SCORE
    nominated_after: str | None = ""
    plugins_without: frozenset[str] | None = NONE
    claim_users: ClaimUsers | None = None
    """Kept only in releases whose trials change it."""
    on_choice: Callable[[FrameworkCycle, Details, str], None] | None = None
    follow: Callable[[KubeObject | None, KubeObject | None], None] | None = None
    """None: no plugin has a cache that events invalidate."""
    batches: Batches | None = None
    """The batches of equal pods; None where no pod has a signature."""
    _latest: FrameworkCycle | None = None

    @classmethod
    def of(cls, engine: Engine, *, profiles: Mapping[str, Profile], **options: Any) -> FrameworkFlow:
        """The flow of *engine*, which is not complete yet."""
        for profile in profiles.values():
            profile.handle.listings = engine.listings
        release = engine.release
        share = engine.memory_bytes // len(profiles)
        order = ListOrder(
            engine.cache, engine.table, engine.snapshot, release.framework.reads_order_by_cursor
        )
        signers = {
            name: signer
            for name, profile in profiles.items()
            if (signer := Signer.of(profile, bool(engine.extenders)))
        }
        batches = Batches(signers, engine.on_undo) if signers else None
        signs = None if batches is None else batches.signs
        quick_paths = {
            name: QuickPath(
                algorithm=profile.cacheable or profile.algorithm,
                boards=Boards(AnswerCache(engine.table, share // 2), share * 7 // 16),
                order=order,
                ties=engine.ties,
                nominations=engine.nominations,
                asks_extenders=engine.asks_extenders if engine.extenders else None,
                is_cacheable=profile.cacheable is not None,
                ask_plugins=PluginCheck(profile, signs),
            )
            for name, profile in profiles.items()
        }
        layout = PodLayout(
            engine.table, by_start_time=True, sorts_again=release.framework.sorts_victims_again
        )
        return cls(
            engine=engine,
            profiles=profiles,
            batches=batches,
            binder=VolumeBinder(
                release.volumes,
                engine.gates,
                engine.listings,
                partial(label_selector_fault, cells=release.framework),
            ),
            order=order,
            quick_paths=quick_paths,
            refusals={name: UnschedulableCache(path) for name, path in quick_paths.items()},
            details={name: BoardDetails(path) for name, path in quick_paths.items()},
            runs=DryRuns(layout, engine.memory_bytes // 16),
            **options,
        )

    def __attrs_post_init__(self) -> None:
        if self.batches is not None:
            self.on_choice = self.batches.store
        engine = self.engine
        if engine.release.framework.nomination_outlasts_tries:
            self.nominated_after = None
        # With *claim_users* no cycle is left out: trials of one count in the next.
        if engine.release.framework.trials_change_users and engine.gates.get("ReadWriteOncePod"):
            self.claim_users = ClaimUsers(engine.table)
        self.binding = FrameworkBinding(self.engine, self._profile, self._latest_cycle)

    def forget(self, in_use: Collection[Template]) -> None:
        for name, path in self.quick_paths.items():
            path.boards.forget(in_use)
            self.refusals[name].forget(in_use)
        self.runs.forget(in_use)

    def _profile(self, pod: Pod) -> Profile:
        return self.profiles[pod.spec.scheduler_name or DEFAULT_SCHEDULER]

    def _latest_cycle(self, pod: Pod) -> FrameworkCycle:
        return self._latest if self._latest is not None and self._latest.pod is pod else self.begin(pod)

    # --- one cycle ------------------------------------------------------------------------------------------

    def pre_check(self, pod: Pod) -> Decision | None:
        name = pod.spec.scheduler_name or DEFAULT_SCHEDULER
        profile = self.profiles.get(name)
        if profile is None:
            return Decision(pod, error=f'profile not found for scheduler name "{name}"', plugins=NONE)
        rejection = pre_enqueue(pod, profile)
        if rejection is not None:
            return Decision(pod, error=rejection.message, plugins=NONE, is_gated=True)
        if self.batches is not None:
            self.batches.begin()
        engine = self.engine
        cells = engine.release.framework
        if pod.spec.volumes and cells.missing_claims_end_cycle:
            refused = basic_checks(
                pod,
                engine.listings.claims,
                has_ephemeral_claims(engine.release.volumes, engine.gates),
                cells.foreign_claim_text,
            )
            if refused is not None:
                return Decision(pod, error=refused, plugins=NONE)
        snapshot = self.order.snapshot
        if engine.release.forgets_pods_with_node or not engine.node_count:
            snapshot.refresh()  # without nodes, too: nodes that come back are new to it
            if snapshot.fault:
                self.order.rows()
                fault, snapshot.fault = snapshot.fault, ""
                return Decision(pod, error=fault, plugins=NONE)
        if not engine.node_count:
            return Decision(pod, error=NO_NODES, nominated=self.nominated_after, plugins=NONE)
        return None

    def begin(self, pod: Pod, *, details: bool = True) -> FrameworkCycle:
        engine = self.engine
        profile = self._profile(pod)
        engine.snapshot.refresh()
        if engine.templates.are_many:
            engine.tidy()
        if self.order.by_cursor == "always":
            self.order.read_again()
        cycle = engine.latest = self._latest = FrameworkCycle(
            pod=pod,
            template=engine.templates.of(pod),
            table=engine.table,
            algorithm=profile.algorithm,
            release=profile.algorithm.release,
            listings=engine.listings,
            binder=self.binder,
            templates=engine.templates,
            cache=engine.cache,
            listed=self.order.rows,
            details=details,
            answers=self.quick_paths[profile.scheduler_name].boards.answers if engine.memory_bytes else None,
            node_count=engine.cache.node_count,
            claim_users=self.claim_users,
        )
        return cycle

    def _cached_failure(self, cycle: FrameworkCycle) -> Decision | None:
        profile = self._profile(cycle.pod)
        refusals = self.refusals[profile.scheduler_name]
        post_filters = profile.points["postFilter"] if self.preempts else ()
        kept = refusals.again(cycle) if cycle.template in refusals.kept else None
        if kept is None or (post_filters and not only_preempts(post_filters, cycle)):
            return None
        decision = refused(cycle, kept, post_filters)
        if not profile.points["postFilter"] and cycle.release.framework.failure_needs_post_filter:
            decision.nominated = ""
        self.order.start %= kept.nodes
        refusals.count()
        return decision

    def quick(self, cycle: FrameworkCycle) -> int | None:
        if self.claim_users is not None:
            return None
        return self.quick_paths[cycle.pod.spec.scheduler_name or DEFAULT_SCHEDULER].row(cycle)

    def filter(self, cycle: FrameworkCycle) -> Details:
        profile = self._profile(cycle.pod)
        order = self.order
        engine = self.engine
        whole_table = cycle.table
        listed = rows = order.rows()
        if not order.is_regular:
            # Cached answers about the nodes are of no use in this cycle.
            ghosts = engine.release.snapshot_keeps_ghosts
            cycle.table = laid_out(whole_table, rows, engine.cache, keeps_ghosts=ghosts)
            cycle.answers = None
            rows = np.arange(len(rows))
            cycle.listed = partial(np.arange, len(rows))
        table = cycle.table
        table.shared_names = True
        diagnosis = Diagnosis(table.names, rows, profile.algorithm.release.framework, order.is_regular)
        details = FrameworkDetails(table.names, NO_ROWS, diagnosis=diagnosis)
        pre_filter = partial(run_pre_filter, cycle, profile)
        on_phase = engine.on_phase
        board_details = self._details(cycle)
        verdict = None if board_details is None else board_details.verdict(cycle, pre_filter)
        outcome = pre_filter() if verdict is None else EVERYTHING
        if on_phase is not None:
            on_phase(Phase.PRE_FILTER, SUCCESS if outcome.status is None else outcome.status.code.value)
        if outcome.status is not None:
            diagnosis.rejected = outcome.status
            diagnosis.narrowing = outcome.narrowing
            if not outcome.status.is_rejection:
                raise FilterError(outcome.status.message)
            return details
        if self.batches is not None:
            cycle.hint = self.batches.hint(cycle, profile.scheduler_name)
        order.start, failed = search(
            cycle,
            profile,
            engine.nominations,
            details,
            outcome,
            order.start,
            engine.pass_extenders if engine.asks_extenders(cycle.pod) else None,
            verdict,
        )
        if not order.is_regular:
            whole_table.take_transient(listed, table)
        if failed is not None:
            raise FilterError(failed)
        return details

    def score(self, cycle: FrameworkCycle, rows: Rows) -> Ranking | LateRanking:
        profile = self._profile(cycle.pod)
        ask = partial(prioritize, cycle, profile, rows, self.engine.extenders, self.engine.on_phase)
        details = self._details(cycle)
        if details is None:
            return ask()
        return details.ranking(cycle, rows, ask, partial(pre_score, cycle, profile, rows))

    def pre_score_one(self, cycle: FrameworkCycle, rows: Rows) -> None:
        pre_score(cycle, self._profile(cycle.pod), rows)

    def _details(self, cycle: FrameworkCycle) -> BoardDetails | None:
        """The details of *cycle*, read off a board where that may be."""
        engine = self.engine
        if not cycle.details or cycle.table is not engine.table or not engine.reads_details_at_once(cycle):
            return None
        return self.details[self._profile(cycle.pod).scheduler_name]

    def post_filter(self, cycle: FrameworkCycle, details: FrameworkDetails, decision: Decision) -> None:
        profile = self._profile(cycle.pod)
        diagnosis = details.diagnosis
        decision.nominated = None
        if self.preempts and profile.points["postFilter"]:
            engine = self.engine
            runs = self.runs
            if cycle.table is not engine.table:
                again = engine.release.framework.sorts_victims_again
                runs = DryRuns(PodLayout(cycle.table, by_start_time=True, sorts_again=again))
            result = run_post_filter(
                cycle, profile, engine.nominations, diagnosis, self.shortlists, engine.extenders, runs
            )
            for step in cycle.post_filter.afterwards if cycle.post_filter is not None else ():
                step()
            if not result.is_error or engine.release.framework.tells_post_filter_errors:
                diagnosis.post_filter = result.message
            decision.preemption = result.plan
            decision.nominated = result.nominated
        elif not profile.points["postFilter"] and self.engine.release.framework.failure_needs_post_filter:
            decision.nominated = ""
        decision.fail(diagnosis.fit_error())
        plugins = diagnosis.plugins()
        decision.plugins = plugins if self.engine.release.queueing.names_extenders else plugins - {EXTENDER}
        follows = self.claim_users is None and cycle.table is self.engine.table
        if (
            follows
            and diagnosis.search is not None
            and (decision.preemption is None or decision.preemption.node is None)
        ):
            self.refusals[profile.scheduler_name].note(cycle, diagnosis.search)
            self.cached_failure = self._cached_failure

    def victims(
        self, cycle: FrameworkCycle, rows: Rows, unresolvable: Mask, given: Collection[str]
    ) -> dict[str, Victims]:
        preempts = self.preempts and self._profile(cycle.pod).points["postFilter"]
        if not preempts or ineligible(cycle, unresolvable) is not None:
            return {}
        return victims_beside(
            cycle,
            self.engine.nominations,
            self.runs.layout.lower_than(cycle.pod.priority, rows[~unresolvable[rows]]),
            protection_of(cycle),
            given,
        )

    # --- what follows from a decision -----------------------------------------------------------------------

    def assume(self, pod: Pod, host: str) -> str | None:
        latest = self._latest
        if latest is not None and (latest.pod is not pod or pod.node_name):
            latest = None
        refused = self.binding.assume_and_bind(pod, host, self._profile(pod), latest)
        return None if refused is None else refused.message

    def can_repeat(self, decision: Decision) -> bool:
        """Never: the framework's queue retries so few pods that this would save nothing."""
        return False

    def failure_reason(self, decision: Decision) -> str:
        is_rejection = decision.is_fit_error or decision.error == NO_NODES
        return UNSCHEDULABLE if is_rejection else self.engine.release.binding_failed_reason

    # --- what others ask ------------------------------------------------------------------------------------

    def algorithm_of(self, pod: Pod) -> Algorithm | None:
        profile = self.profiles.get(pod.spec.scheduler_name or DEFAULT_SCHEDULER)
        return None if profile is None else profile.algorithm

    def evaluate(self, cycle: FrameworkCycle, rows: Rows) -> Mask:
        outcome = run_pre_filter(cycle, self._profile(cycle.pod))
        if outcome.status is not None:
            return np.zeros(len(rows), np.bool_)
        fits = judge_twice(cycle, Batch(cycle.table), self.engine.nominations, check_all=False).fits[rows]
        if outcome.node_names is not None:
            fits &= np.array(
                [cycle.table.names[row] in outcome.node_names for row in rows.tolist()], np.bool_
            )
        return fits

    def node_list(self) -> list[int]:
        rows: list[int] = self.order.rows().tolist()
        return rows

    @contextmanager
    def preserving_state(self) -> Iterator[None]:
        users = None if self.claim_users is None else self.claim_users.copy()
        waits = {id(profile.waiting_pods): profile.waiting_pods for profile in self.profiles.values()}
        try:
            with ExitStack() as stack:
                for waiting in waits.values():
                    stack.enter_context(waiting.preserving_state())
                yield
        finally:
            self.claim_users = users

    def shared_parts(self) -> Mapping[str, Any]:
        return {"config": self.config}

    def describe(self) -> Iterator[str]:
        for profile in self.profiles.values():
            yield f"profile {profile.scheduler_name}"
            for point, plugins in profile.points.items():
                names = (
                    f"{p.name} x {profile.weights[p.name]}" if point == "score" else p.name for p in plugins
                )
                yield f"  {point}: {', '.join(names) or 'none'}"

    def queue(self, clock: Clock, *, apart: bool = False) -> FrameworkQueue:
        queue = queue_for(
            self.engine,
            self.config,
            clock,
            self.engine.new_nominations() if apart else self.engine.nominations,
            self._held_by,
        )
        if not apart:
            self.binding.queue = queue
        return queue

    def _held_by(self, pod: Pod) -> str | None:
        try:
            return held_by(self.profiles, pod)
        except RuleError as fault:
            if self.binding.on_error is None:
                raise
            self.binding.on_error(f"pod {pod.key}: {fault}")
            return str(self._profile(pod).points["preEnqueue"][-1].name)

    def router(self, queue: FrameworkQueue, scheduler_name: str | None) -> FrameworkEvents:
        return FrameworkEvents(self.engine, queue, scheduler_name)


def held_by(profiles: Mapping[str, Profile], pod: Pod) -> str | None:
    """The PreEnqueue plugin that holds *pod* back; None if no plugin does."""
    profile = profiles.get(pod.spec.scheduler_name or DEFAULT_SCHEDULER)
    rejection = None if profile is None else pre_enqueue(pod, profile)
    return None if rejection is None else rejection.plugin
