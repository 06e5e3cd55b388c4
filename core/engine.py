"""One scheduler: its state, and the steps of a scheduling cycle.

The engine owns the state (cache, table, listings, nominations) and runs the steps in order. The two
generations of the scheduler differ in their :class:`Flow`: predicates and priorities (:mod:`.classic`), or
the profiles of the framework (``framework/flow.py``).

Upstream: genericScheduler.Schedule in pkg/scheduler/core/generic_scheduler.go; from 1.23 on
pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

import attrs
import numpy as np

from ..api.objects import KubeObject, Node, Pod, shortcut
from ..exceptions import ExtenderError
from .arrays import NO_PODS, Ints, Mask, NodeTable, PodCount, Rows
from .binding import Binder
from .cluster.cache import Cache, PodState
from .cluster.listings import Listings
from .cluster.nominations import Nominations
from .cluster.snapshot import Snapshot
from .cycle import Algorithm, Cycle
from .decision import (
    SUCCESS,
    UNSCHEDULABLE,
    Decision,
    Details,
    Extender,
    Flow,
    PassedNodes,
    Phase,
    PhaseHook,
    PickHost,
    ScoreError,
    TieBreaker,
    filter_by_extenders,
)
from .pods import STORAGE_GATE, Template, Templates
from .release import Release
from .savepoint import Savepoint

NO_NODES = "no nodes available to schedule pods"


class FilterError(Exception):
    """An error in the filter step; the cycle ends with this text."""


@attrs.define(eq=False, repr=False)
class Engine:
    """A scheduler. Feed it with :class:`~kubeclassic.core.run.EventFeed`; ask it with :meth:`schedule`.

    It is made by :func:`~kubeclassic.core.classic.classic_engine` or
    :func:`~kubeclassic.framework.flow.framework_engine`.
    """

    algorithm: Algorithm
    """The rules; with several profiles, those of the first."""
    make_flow: Callable[[Engine], Flow]
    extenders: Sequence[Extender] = ()
    pick_host: PickHost = attrs.field(
        default=attrs.Factory(lambda self: self.algorithm.release.pick_host, takes_self=True)
    )
    memory_bytes: int = 1 << 30
    """The memory for cached answers, in bytes; 0: nothing is cached."""
    counts_images_late: bool | None = None
    """Whether nodes with an image are counted at each snapshot, not at a node's update; None: as the release
    does."""
    asks_later: bool = False
    """With predicates: whether preemption leaves extenders to :attr:`Preemption.later`."""
    listings: Listings = attrs.Factory(Listings)
    reuse_snapshot_of: Engine | None = attrs.field(default=None)
    """A finished scheduler of the same release and gates, whose knowledge of nodes and pods this one takes
    over."""
    reuse_answers: bool = False
    """Whether that scheduler has the same rules, with other weights: then its listings and answers are taken
    over, too."""
    templates: Templates = attrs.field(init=False)
    cache: Cache = attrs.field(init=False)
    table: NodeTable = attrs.field(init=False)
    snapshot: Snapshot = attrs.field(init=False)
    nominations: Nominations = attrs.field(init=False)
    ties: TieBreaker = attrs.field(init=False)
    flow: Flow = attrs.field(init=False)
    binder: Binder = attrs.field(init=False)
    on_phase: PhaseHook | None = attrs.field(init=False, default=None)
    """Called when a phase of a cycle has ended; None: not called."""
    transient_details: bool = attrs.field(init=False, default=False)
    """Whether the caller reads details before the next cycle, and never raw scores. See :mod:`.details`."""
    point: Savepoint | None = attrs.field(init=False, default=None)
    """The innermost savepoint, which notes how changes are undone; None: nothing is undone."""
    latest: Cycle | None = attrs.field(init=False, default=None)
    """The latest cycle."""
    told: Sequence[KubeObject] | None = attrs.field(init=False, default=None)
    """The cluster that is already known when a simulation begins; None: nothing."""
    _nominated: str | None = attrs.field(init=False)
    _plugins: frozenset[str] | None = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        reused = self.reuse_snapshot_of
        self.reuse_snapshot_of = None
        if reused is None:
            # Begin without any node.
            release = self.algorithm.release
            self.templates = Templates(release, self.algorithm.gates)
            cells = release.framework
            ignores_storage = cells.gates_node_storage and not self.algorithm.gates.get(STORAGE_GATE, True)
            late = cells.counts_images_late if self.counts_images_late is None else self.counts_images_late
            self.cache = Cache(self.templates, release.zone_key, release.cache_replaces_confirmed, late)
            recounted = PodCount(NO_PODS) if late else None
            self.cache.forgets_with_node = release.forgets_pods_with_node
            self.table = NodeTable(release.zone_key, ignores_storage, recounted=recounted)
            keeps = release.snapshot_keeps_nodeless
            drops = release.snapshot_drops_nodeless
            self.snapshot = Snapshot(
                self.cache,
                self.table,
                keeps,
                release.transient_reset_all,
                drops,
                keeps_ghosts=release.snapshot_keeps_ghosts,
            )
        else:
            self.templates = reused.templates
            self.cache = reused.cache
            self.table = reused.table
            self.snapshot = reused.snapshot
            self.listings = reused.listings if self.reuse_answers else self.listings
            self.templates.begin_anew()
        self.templates.device_classes = self.listings.device_classes.by_resource
        self.nominations = self.new_nominations()
        self.ties = TieBreaker(self.pick_host)
        flow = self.flow = self.make_flow(self)
        if reused is not None and self.reuse_answers:
            for name, path in flow.quick_paths.items():
                path.boards.answers.take_over(reused.flow.quick_paths[name].boards.answers)
        self.binder = flow.binder
        self._nominated = flow.nominated_after
        self._plugins = flow.plugins_without

    def __repr__(self) -> str:
        return f"<Engine of {self.algorithm.release.version}: {self.table!r}>"

    # --- one pod --------------------------------------------------------------------------------------------

    def schedule(self, pod: Pod, *, details: bool = True, only_host: bool = False) -> Decision:
        """One scheduling cycle: check whether the pod may be tried; take a snapshot; read the host off a
        board if that is possible; else filter, ask extenders, score and pick a host; if the pod fits nowhere,
        give the reasons and preempt, unless *only_host*.

        Moves the visiting order and the tie-break as upstream's cycle does. The decision is not assumed: see
        :meth:`assume`.
        """
        flow = self.flow
        if (refusal := flow.pre_check(pod)) is not None:
            return refusal
        cycle = flow.begin(pod, details=details)
        refuse = flow.cached_failure
        if refuse is not None and self.on_phase is None and (decision := refuse(cycle)) is not None:
            return decision
        if (row := flow.quick(cycle)) is not None:
            if self.on_phase is not None:
                self.on_phase(Phase.SCOREBOARD, SUCCESS)
            return Decision(pod, self.table.names[row], nominated=self._nominated, plugins=self._plugins)
        return self._run(cycle, only_host)

    def _run(self, cycle: Cycle, only_host: bool) -> Decision:
        decision = Decision(cycle.pod, nominated=self._nominated, plugins=self._plugins)
        try:
            details = self.flow.filter(cycle)
            if (
                self.extenders
                and not details.passed_extenders
                and len(details.feasible_rows)
                and self.asks_extenders(cycle.pod)
            ):
                details.narrow(*self.pass_extenders(cycle, details.feasible_rows))
        except (FilterError, ExtenderError) as error:
            decision.error = str(error)
            return decision
        if self.on_phase is not None:
            self.on_phase(Phase.FILTER, SUCCESS if len(details.feasible_rows) else UNSCHEDULABLE)
        if len(details.feasible_rows):
            self._choose(cycle, details, decision)
        elif not only_host:
            self.flow.post_filter(cycle, details, decision)
        if cycle.details:
            decision.details = details
        return decision

    def pass_extenders(
        self, cycle: Cycle, rows: Rows, passed: PassedNodes | None = None
    ) -> tuple[Rows, PassedNodes]:
        """The rows among *rows* that extenders leave, and the rest of their answers, which goes into *passed*.

        The cycle then knows the nodes as extenders described them. Raises the error of an extender that may
        not be ignored.
        """
        nodes = cycle.table.nodes
        row_of = cycle.table.row_of
        passed = PassedNodes([]) if passed is None else passed
        passed.nodes = [node for row in rows.tolist() if (node := nodes[row]) is not None]
        filter_by_extenders(self.extenders, cycle, passed)
        is_described = (
            passed.are_sent
            if self.release.framework.scores_sent_nodes
            else any(nodes[row_of[node.name]] is not node for node in passed.nodes)
        )
        cycle.described = passed.nodes if is_described else None
        return np.array([row_of[node.name] for node in passed.nodes], np.intp), passed

    def asks_extenders(self, pod: Pod) -> bool:
        """Whether any extender is asked about *pod*."""
        return any(extender.is_interested(pod) for extender in self.extenders)

    def _choose(self, cycle: Cycle, details: Details, decision: Decision) -> None:
        flow = self.flow
        rows = details.feasible_rows
        best = 0
        try:
            if len(rows) > 1:
                details.rank(flow.score(cycle, rows))
            elif self.algorithm.release.framework.pre_scores_one_node:
                flow.pre_score_one(cycle, rows)
        except ScoreError as error:
            decision.error = str(error)
            details.reduced = error.reduced
            return
        if details.best is not None:
            if self.on_phase is not None:
                self.on_phase(Phase.SCORE, SUCCESS)
            best = self.ties.of(details.best)
        decision.host = details.names[int(rows[best])]
        if flow.on_choice is not None:
            flow.on_choice(cycle, details, decision.host)

    def reads_details_at_once(self, cycle: Cycle) -> bool:
        """Whether the details of *cycle* may come from a board, as they are read before the next cycle."""
        return self.transient_details and cycle.details and self.on_phase is None

    def begin(self, pod: Pod, *, details: bool = True) -> Any:
        """A cycle for *pod* on a fresh snapshot, for callers of single rules."""
        return self.flow.begin(pod, details=details)

    # --- what follows from a decision -----------------------------------------------------------------------

    def assume(self, pod: Pod, host: str) -> str | None:
        """Assume *pod* and its volumes on *host*. Returns the error that ends the cycle upstream, or None."""
        return self.flow.assume(pod, host)

    def allocations(self, pod: Pod) -> dict[str, list[str]] | None:
        """Claim of *pod* -> its devices, for claims with devices; None if there are none, or if devices are not
        allocated."""
        if not self.has_device_claims(pod) or not self.algorithm.enabled("DynamicResourceAllocation"):
            return None
        return self.listings.resource_claims.allocations(pod) or None

    def has_device_claims(self, pod: Pod) -> bool:
        """Whether *pod* has claims to devices, one made for its extended resources included."""
        extended = self.listings.resource_claims.extended
        return bool(pod.spec.resource_claims) or (bool(extended) and pod.uid in extended)

    def latest_template(self, pod: Pod) -> Template | None:
        """The template of *pod* if the latest cycle was for it; else None."""
        latest = self.latest
        if latest is not None and latest.pod is pod and not pod.spec.node_name:
            return latest.template
        return None

    def repeat(self, pod: Pod, message: str | None) -> Decision:
        """The same FitError again, with *message*, for a decision that passes :meth:`Flow.can_repeat`. No rule
        runs; the visiting order moves."""
        # Upstream: a failed attempt visits every node, so the visiting order moves by all of them.
        self.flow.order.take(len(self.cache.order))
        return Decision(pod, error=message, is_fit_error=True, plugins=self._plugins)

    # --- trying and taking back -----------------------------------------------------------------------------

    @contextmanager
    def savepoint(self) -> Iterator[Savepoint]:
        """A context for trials: at its end the cluster is as before, unless the savepoint is kept. See
        :mod:`.savepoint`."""
        outer = self.point
        point = Savepoint()
        failed = True
        point.note(self.nominations.restore, *self.nominations.saved())
        point.note(self.move, *self.position)
        self.point = point
        try:
            yield point
            failed = False
        finally:
            self.point = None
            point.end(outer, failed=failed)
            self.point = outer

    def on_undo(self, undo: Callable[..., object], *args: Any) -> None:
        """Note that calling *undo* with *args* undoes a step, if there is a savepoint."""
        if self.point is not None:
            self.point.note(undo, *args)

    @property
    def position(self) -> tuple[Any, int]:
        """The positions of the visiting order and the tie-break."""
        return self.flow.order.position, self.ties.last_node_index

    def move(self, order: Any, ties: int) -> None:
        """Set the visiting order and the tie-break to a :attr:`position`."""
        self.flow.order.position = order
        self.ties.last_node_index = ties

    @contextmanager
    def preserving_state(self, pod: Pod) -> Iterator[None]:
        """A savepoint for decisions on *pod* alone, which leave no notes either. As in a cycle, the pod's own
        nomination does not count."""
        self.snapshot.refresh()
        transient = self.table.transient.copy()
        with (
            self.savepoint(),
            self.flow.preserving_state(),
            self.binder.undone(pod),
            self.listings.resource_claims.undone(),
        ):
            self.nominations.remove(pod)
            try:
                yield
            finally:
                self.table.transient[:, : transient.shape[1]] = transient

    def evaluate_nodes(self, pod: Pod, names: Sequence[str]) -> tuple[Mask, Ints]:
        """The fit of the pod on each of the nodes *names*, bool[k], and the totals, int64[k]; 0 where a node is
        not scored."""
        with self.preserving_state(pod):
            rows = np.array([self.table.row_of[name] for name in names], np.intp)
            cycle = self.flow.begin(pod)
            fits = self.flow.evaluate(cycle, rows).copy()
            totals = np.zeros(len(rows), np.int64)
            if fits.any() and self.asks_extenders(pod):
                fits = self._left_by_extenders(cycle, rows, fits)
            if np.count_nonzero(fits) > 1:
                with suppress(ScoreError):
                    totals[fits] = self.flow.score(cycle, rows[fits]).totals
        return fits, totals

    def only_reasons(self, pod: Pod) -> Mapping[str, int]:
        """Reason -> the number of nodes that it alone keeps from *pod*, which fits none; empty if no node is
        filtered."""
        with self.preserving_state(pod), suppress(FilterError, ExtenderError):
            search = self.flow.filter(self.flow.begin(pod)).search
            return {} if search is None else search.verdict.alone(search.failed)
        return {}

    def _left_by_extenders(self, cycle: Cycle, rows: Rows, fits: Mask) -> Mask:
        """The *rows* that fit the pod and that extenders leave: bool[k]; none if an extender errs."""
        try:
            left, passed = self.pass_extenders(cycle, rows[fits])
        except ExtenderError:
            return np.zeros(len(rows), np.bool_)
        remaining = fits & np.isin(rows, left)
        if cycle.described is not None:
            node_by_name = {node.name: node for node in passed.nodes}
            cycle.described = [node_by_name[cycle.table.names[row]] for row in rows[remaining].tolist()]
        return remaining

    def warm(self) -> None:
        """Bring the snapshot up to date now, ahead of the first cycle."""
        self.snapshot.refresh()
        self.flow.order.one_pass()

    def tidy(self) -> None:
        """Forget templates without pods, and all that is kept by template. No cycle may be under way."""
        in_use = {entry.template for info in self.cache.infos.values() for entry in info.pods}
        in_use.update(template for template, _, _ in self.table.census.present())
        in_use.update(entry.template for _, _, entries in self.table.ghosts.values() for entry in entries)
        if self.latest is not None:
            in_use.add(self.latest.template)
        self.templates.forget(in_use)
        if self.table.forget(in_use):  # all counters begin anew, and so does all that follows them
            self.templates.begin_anew()
            in_use.clear()
        self.flow.forget(in_use)

    # --- parts ----------------------------------------------------------------------------------------------

    release: ClassVar[Release] = shortcut("algorithm.release")
    """The release of the scheduler."""
    gates: ClassVar[Mapping[str, bool]] = shortcut("algorithm.gates")
    """The feature gates."""

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self.algorithm.enabled(gate)

    queues_by_priority: ClassVar[bool] = shortcut("algorithm.queues_by_priority")
    """Whether the release's queue looks at priorities."""
    profiles: ClassVar[Mapping[str, Any]] = shortcut("flow.profiles")
    """schedulerName -> profile; empty for releases without profiles."""
    max_score: ClassVar[int] = shortcut("flow.max_score")
    """The highest score that a rule gives a node."""

    def algorithm_of(self, pod: Pod) -> Algorithm | None:
        """The rules for *pod*; None if no profile has its schedulerName."""
        return self.flow.algorithm_of(pod)

    def describe(self) -> Iterator[str]:
        """Lines that list the rules in running order."""
        return self.flow.describe()

    # --- the cluster ----------------------------------------------------------------------------------------

    def fresh_table(self) -> NodeTable:
        """The table, brought up to date."""
        self.snapshot.refresh()
        return self.table

    def row_of(self, name: str) -> int | None:
        """The row of a node in the table; None: no row."""
        return self.table.row_of.get(name)

    node_count: ClassVar[int] = shortcut("cache.node_count")
    """The number of nodes."""

    def node(self, name: str) -> Node | None:
        """The node called *name*; None if there is none."""
        return self.cache.node(name)

    def replace_node(self, node: Node) -> None:
        """Update the node of this name to *node*; its pods stay."""
        old = self.node(node.name)
        self.cache.replace_node(node)
        if (follow := self.flow.follow) is not None:
            follow(old, node)

    def look_for_huge(self) -> None:
        """Forget that some pod requested a huge amount if no pod on a node does any more."""
        if self.templates.has_huge:
            self.templates.has_huge = any(
                entry.template.is_huge for info in self.cache.infos.values() for entry in info.pods
            )

    def nodes(self) -> list[Node]:
        """All nodes, in order of arrival."""
        return [info.node for info in self.cache.infos.values() if info.node is not None]

    def node_names(self) -> list[str]:
        """The names of all nodes, in the order of the searched list, as of the latest snapshot."""
        return [self.table.names[row] for row in self.flow.node_list()]

    def pods_on(self, name: str) -> list[Pod]:
        """The pods on the node called *name*; none if there is no such node."""
        info = self.cache.infos.get(name)
        return [] if info is None else [entry.pod for entry in info.pods]

    def pods(self) -> list[Pod]:
        """The pods on all nodes, node by node."""
        return [entry.pod for info in self.cache.infos.values() for entry in info.pods]

    def pods_by_node(self) -> dict[str, list[Pod]]:
        """Node -> the pods on it; a deleted node is included as long as it has pods."""
        return {name: self.pods_on(name) for name in self.cache.infos}

    def pod_state(self, pod: Pod) -> PodState | None:
        """The state of *pod* if it is on a node, or assumed there; else None."""
        return self.cache.state(pod)

    def is_assumed(self, pod: Pod) -> bool:
        """Whether *pod* is assumed on a node and not confirmed."""
        return self.cache.is_assumed(pod)

    def template_of(self, pod: Pod) -> Template:
        """The template of *pod* as a pod to schedule."""
        return self.templates.of(pod)

    def claims_of(self, pod: Pod) -> tuple[str, ...]:
        """The keys of the volume claims of *pod*."""
        return self.templates.entry(pod).template.claims

    def bind_volumes(self, pod: Pod) -> tuple[KubeObject, ...]:
        """The volumes, then the claims, to write to the API for *pod*, which has its node."""
        return self.binder.bind(pod)

    # --- nominations and names ------------------------------------------------------------------------------

    def new_nominations(self) -> Nominations:
        """An empty map of nominations, of the release's kind."""
        return Nominations(self.algorithm.release.nominations)

    def scheduler_names(self, scheduler_name: str) -> frozenset[str]:
        """The schedulerNames that this scheduler serves: those of its profiles, else *scheduler_name*."""
        return frozenset(self.flow.profiles) or frozenset([scheduler_name])
