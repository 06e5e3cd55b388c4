"""The dry run of preemption, on all rows in lockstep: all pods of lower priority leave, then they are put
back one by one.

Pods that can be put back stay, the others are the victims. Releases differ in the order of this, and in the
pods that a budget protects. There are two backings with the same answers. Overlays serve every pod. Arrays of
sums serve the many pods that lack cpu or memory, where no rule about ports, volumes or other pods applies:
then putting a pod back on thousands of rows is one addition. Upstream: selectVictimsOnNode in
pkg/scheduler/core/generic_scheduler.go, SelectVictimsOnNode in plugins/defaultpreemption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence

import numpy as np
from attrs import Factory, define, evolve, field

from ...api.meaning import selects_some
from ...api.objects import Pod, PodDisruptionBudget
from ..arrays import NEVER, Ints, Mask, NodeTable, Overlay, Rows, SumsTrial
from ..cluster.nominations import Nominations
from ..cycle import ROWWISE, WIDE, Cycle, Predicate, Reads
from ..decision import Nominated, Verdict, judge, judge_twice, nominated, run_effects
from ..incremental import verify
from ..pods import SPARE, Entry, Template, claim_keys, rebuilt_from
from .victimchoice import GAP, Candidates, PodLayout, PotentialVictims

# --- Disruption budgets -------------------------------------------------------------------------------------
# The evictions that violate a budget, by release, for all potential victims at once.


Protection = Callable[[PotentialVictims], Mask]
"""The potential victims, in the order of their importance, that a budget protects: bool[places, k]."""


def exhausted(budgets: Iterable[PodDisruptionBudget], *, exempts: bool = False) -> Protection:
    """The protection by exhausted budgets: one without a disruption left protects every pod that it selects.

    Here and in the next two, with *exempts* a pod that a budget lists as disrupted is none of its pods.
    Upstream: filterPodsWithPDBViolation in pkg/scheduler/core/generic_scheduler.go.
    """
    spent = [budget for budget in budgets if budget.disruptions_allowed <= 0]
    return lambda potential: _beyond_allowance(potential, spent, exempts=exempts)


def counted_down(budgets: Iterable[PodDisruptionBudget], *, exempts: bool = True) -> Protection:
    """The protection by counting down: each pod of a node, the most important first, takes one from the
    budgets that select it. Pods that come too late are protected.

    Upstream: filterPodsWithPDBViolation in
    pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go.
    """
    all_budgets = list(budgets)
    return lambda potential: _beyond_allowance(potential, all_budgets, exempts=exempts)


def counted_to_the_first(budgets: Iterable[PodDisruptionBudget], *, exempts: bool = False) -> Protection:
    """The protection by counting to the first: each pod takes one from the budgets that select it, in their
    order. The first budget with none left ends this and protects the pod.

    Upstream: filterPodsWithPDBViolation in pkg/scheduler/core/generic_scheduler.go of 1.18.
    """
    all_budgets = list(budgets)

    def one_by_one(potential: PotentialVictims) -> Mask:
        protected = np.zeros_like(potential.present)
        allowances = [
            (selected, np.full(protected.shape[1], budget.disruptions_allowed, np.int64))
            for budget, selected in _selected_victims(potential, all_budgets, exempts)
        ]
        for place in range(len(protected)):
            for selected, allowed in allowances:
                takes = selected[place] & ~protected[place]
                protected[place] |= takes & (allowed <= 0)
                allowed -= takes & (allowed > 0)
        return protected

    return one_by_one


def _beyond_allowance(
    potential: PotentialVictims, budgets: Sequence[PodDisruptionBudget], *, exempts: bool
) -> Mask:
    protected = np.zeros_like(potential.present)
    for budget, selected in _selected_victims(potential, budgets, exempts):
        protected |= selected & (selected.cumsum(axis=0) > budget.disruptions_allowed)
    return protected


def _selected_victims(
    potential: PotentialVictims, budgets: Sequence[PodDisruptionBudget], exempts: bool
) -> Iterator[tuple[PodDisruptionBudget, Mask]]:
    """The *budgets* that select potential victims, each with these: bool[places, k]."""
    present = potential.present
    templates = potential.layout.templates
    if not budgets or not present.any():
        return
    numbers = potential.of_layout(potential.layout.template, np.arange(len(present)))
    numbers_by_namespace: dict[str, list[int]] = {}
    for number in np.flatnonzero(np.bincount(numbers[present])).tolist():
        numbers_by_namespace.setdefault(templates[number].namespace, []).append(number)
    for budget in budgets:
        # A budget needs a valid selector that is not empty, and the pods need labels.
        selected = [
            number
            for number in numbers_by_namespace.get(budget.namespace, ())
            if (labels := templates[number].labels) and selects_some(budget.selector, labels)
        ]
        if selected:
            is_selected = np.zeros(len(templates), np.bool_)
            is_selected[selected] = True
            selected_pods = is_selected[numbers] & present
            # A pod that the budget lists as disrupted is none of its pods.
            names = frozenset(budget.status.disrupted_pods if exempts else ())
            for place, i in np.argwhere(selected_pods).tolist() if names else ():
                if potential.entry(place, i).pod.name in names:
                    selected_pods[place, i] = False
            yield budget, selected_pods


# --- The dry run --------------------------------------------------------------------------------------------


SUMS = Reads.NODE | Reads.REQUESTS | Reads.PORTS
"""The state that a rule may read if only sums are tried; ports only for a pod without ports."""
Coming = list[tuple[int, Template]]
"""Nominated pods: row and template."""


# --- where sums are enough ----------------------------------------------------------------------------------


def coming_pods(cycle: Cycle, nominations: Nominations) -> Coming:
    """The row and the template of every nominated pod that counts."""
    coming: Coming = []
    for name in nominations:
        row = cycle.table.row_of.get(name)
        if row is not None:
            pods = cycle.nominated_on(nominations, name)
            coming += [(row, cycle.templates.entry(pod, nominated=True).template) for pod in pods]
    return coming


def is_plain(cycle: Cycle, coming: Coming) -> bool:
    """Whether sums alone show where the pod fits, no matter which pods leave."""
    if cycle.answers is None or cycle.template.ports or not cycle.algorithm.has_predicates:
        return False
    templates = dict.fromkeys(template for _, template in coming)
    if any(template.has_pod_affinity for template in templates):
        return False
    if coming and (cycle.table.has_huge or cycle.templates.has_huge):
        # Sums of such amounts wrap, so that the pod may fit beside the coming pods, but not without them.
        return False
    # Each predicate must look only at sums, or at counts of pods that are all 0, those of coming pods
    # included.
    for predicate in cycle.predicates:
        if predicate.effect is not None or predicate.reads & ~(SUMS | WIDE):
            # Rules that read services look at pods that no counter covers.
            return False
        if predicate.reads & WIDE:
            for counter in cycle.answers.read(predicate, cycle).watched:
                if counter.total or any(counter.of(template) for template in templates):
                    return False
    return True


@define(eq=False, repr=False)
class ArrayTrial:
    """A trial where only sums matter."""

    cycle: Cycle
    potential: PotentialVictims
    sums: SumsTrial
    footprints: dict[str, Ints]
    """Resource -> the amount that a pod of each template takes: int64[templates]."""
    predicates: Sequence[Predicate]
    """The predicates that look at sums; the others answer the same no matter which pods leave."""

    @classmethod
    def of(cls, cycle: Cycle, coming: Coming, potential: PotentialVictims) -> ArrayTrial:
        """The rows without their potential victims but with the *coming* pods: a pod that fits beside these
        fits without them."""
        footprints = {name: potential.layout.footprint(name) for name in cycle.table.resources}
        footprints = {name: amounts for name, amounts in footprints.items() if amounts.any()}
        trial = cls(
            cycle,
            potential,
            SumsTrial.of(cycle.table, potential.rows),
            footprints,
            [predicate for predicate in cycle.predicates if predicate.reads & ROWWISE],
        )
        for place in np.flatnonzero(potential.present.any(axis=1)).tolist():
            trial.take_off(place, potential.present[place])
        at = np.full(cycle.table.size, -1, np.intp)
        at[potential.rows] = np.arange(trial.sums.n)
        for row, template in coming:
            if at[row] >= 0:
                trial.sums.put_at(at[row], template)
        return trial

    def judge(self) -> Verdict:
        """The rows where the pod fits now, and the reasons against the others."""
        findings = judge(self.cycle, self.sums, check_all=False)
        return Verdict(findings, findings.fits)

    def some(self, at: Rows, potential: PotentialVictims) -> ArrayTrial:
        """Some of the rows, with their potential victims in the order in which they are to be put back."""
        return evolve(
            self, sums=self.sums if len(at) == self.sums.n else self.sums.some(at), potential=potential
        )

    def put_back(self, place: int, mask: Mask) -> None:
        """Put the pods at *place* back on the rows of *mask*: bool[k]."""
        self._put(place, mask.astype(np.int64))

    def take_off(self, place: int, mask: Mask) -> None:
        self._put(place, -mask.astype(np.int64))

    def _put(self, place: int, sign: Ints) -> None:
        numbers = self.potential.of_layout(self.potential.layout.template, place)
        self.sums.put(sign, {name: amounts[numbers] * sign for name, amounts in self.footprints.items()})

    def fits(self, mask: Mask) -> Mask:
        """The rows of *mask* where the pod fits now: bool[k], of no meaning elsewhere."""
        fits = mask
        for predicate in self.predicates:
            failures = predicate.check(self.cycle.template, self.sums, self.cycle)
            if failures is not None:
                fits = fits & failures.passed
        return fits


# --- where they are not -------------------------------------------------------------------------------------


@define(eq=False, repr=False)
class OverlayTrial:
    """A trial for any pod: pods come and go one by one, and rules see all of each."""

    cycle: Cycle
    nominations: Nominations
    potential: PotentialVictims
    overlay: Overlay
    _waiting: Nominated | None = field(default=None, init=False)

    @classmethod
    def of(
        cls, cycle: Cycle, nominations: Nominations, potential: PotentialVictims, incoming: Pod | None = None
    ) -> OverlayTrial:
        """The rows without their potential victims. *incoming*: as for :meth:`~..arrays.batch.Overlay.of`."""
        overlay = Overlay.of(cycle.table, potential.rows, incoming)
        priority = cycle.pod.priority
        overlay.remove_all(
            [
                (i, entry)
                for i in np.flatnonzero(potential.any).tolist()
                for entry in overlay.pods(i)
                if entry.priority < priority
            ]
        )
        return cls(cycle, nominations, potential, overlay)

    def judge(self) -> Verdict:
        return self._judge(np.arange(self.overlay.n))

    def some(self, at: Rows, potential: PotentialVictims) -> OverlayTrial:
        return evolve(
            self,
            overlay=self.overlay if len(at) == self.overlay.n else self.overlay.some(at),
            potential=potential,
        )

    def put_back(self, place: int, mask: Mask) -> None:
        self.overlay.add_all(self._at(place, mask))

    def take_off(self, place: int, mask: Mask) -> None:
        self.overlay.remove_all(self._at(place, mask))

    def _at(self, place: int, mask: Mask) -> list[tuple[int, Entry]]:
        return [(i, self.potential.entry(place, i)) for i in np.flatnonzero(mask).tolist()]

    def fits(self, mask: Mask) -> Mask:
        # All rows are judged: a copy of some of them would have to follow all their changes once more.
        return self._judge(np.flatnonzero(mask)).fits

    def _judge(self, at: Rows) -> Verdict:
        """Judge all rows; only rows *at* keep effects. With predicates the dry run always stops at the first
        that fails, with plugins where the search does."""
        if self._waiting is None:
            self._waiting = nominated(self.cycle, self.overlay, self.nominations)
        check_all = self.cycle.algorithm.check_all and self.cycle.release.policies is not None
        verdict = judge_twice(
            self.cycle, self.overlay, self.nominations, check_all=check_all, nominated_pods=self._waiting
        )
        run_effects(self.cycle, verdict, at)
        return verdict


Trial = ArrayTrial | OverlayTrial
"""k rows as they are without their potential victims, some of whom are put back."""


def dry_run(trial: Trial, protection: Protection) -> tuple[Candidates, Verdict]:
    """The candidates, each with as few victims as possible, and the verdict on all rows without any potential
    victim."""
    verdict = trial.judge()
    fitting = np.flatnonzero(verdict.fits)
    potential = trial.potential.some(fitting)
    potential = potential.protecting(protection(potential))
    return Candidates.of(potential, reprieve(trial.some(fitting, potential))), verdict


def reprieve(trial: Trial) -> Mask:
    """Put the potential victims back, place by place, and take off again those for whom there is no room:
    bool[places, k]."""
    present = trial.potential.present
    victims = np.zeros_like(present)
    for place in np.flatnonzero(present.any(axis=1)).tolist():
        mask = present[place]
        trial.put_back(place, mask)
        refused = mask & ~trial.fits(mask)
        if refused.any():
            trial.take_off(place, refused)
            victims[place] = refused
    return victims


# --- Outcomes, kept from attempt to attempt -----------------------------------------------------------------
# Only rows that changed are tried again. Where sums alone decide whether a pod fits, the outcome on a row
# follows from the row's own pods, the pods nominated to its node, the node objects and the budgets. Pods of
# one template and priority share it, whatever happens on other rows.


Environment = tuple[int, int, int]
"""The revisions of all that the outcome of every row follows from: node objects, affinity terms, budgets."""


@define(eq=False, repr=False)
class Outcomes:
    """The outcomes of the dry run for pods of one template and priority on each row of a table.

    ``known``: bool[rows], where the rest is up to date; ``occupied``: bool[rows], where some pod may have to
    leave; ``fits``: bool[rows]. ``criteria``, ``started``: as in :class:`~.victimchoice.Candidates`, by row;
    ``victims``: int64[most, rows], their places in the layout.
    """

    known: Mask = field(init=False)
    occupied: Mask = field(init=False)
    fits: Mask = field(init=False)
    criteria: Ints = field(init=False)
    started: Ints = field(init=False)
    victims: Ints = field(init=False)
    _environment: Environment | None = None
    _revision: int = NEVER
    """The revision of the table that ``known`` follows."""
    _coming: dict[int, list[Template]] = Factory(dict)
    """Row -> the pods nominated to it."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.known.nbytes * 3 + self.criteria.nbytes + self.started.nbytes + self.victims.nbytes

    def follow(self, table: NodeTable, environment: Environment, coming: Coming) -> None:
        """Forget the rows whose outcome may have changed."""
        changed_rows = table.changed.since(self._revision) if environment == self._environment else None
        if changed_rows is None:
            size = table.size
            self.known, self.occupied, self.fits = (np.zeros(size, np.bool_) for _ in range(3))
            self.criteria = np.zeros((4, size), np.int64)
            self.started = np.zeros(size, np.int64)
            self.victims = np.zeros((0, size), np.int64)
        else:
            self.known[changed_rows] = False
        self._environment = environment
        self._revision = table.changed.revision
        previous = self._coming
        self._coming = {}
        for row, template in coming:
            self._coming.setdefault(row, []).append(template)
        for row in previous.keys() | self._coming.keys():
            if previous.get(row) != self._coming.get(row):
                self.known[row] = False

    def put(self, rows: Rows, occupied: Mask, candidates: Candidates) -> None:
        """Note the outcome on *rows*: *occupied*, bool[len(rows)], and the *candidates* among them."""
        self.known[rows], self.occupied[rows], self.fits[rows] = True, occupied, False
        self.fits[candidates.rows], self.started[candidates.rows] = True, candidates.started
        self.criteria[:, candidates.rows] = candidates.criteria
        places = candidates.closed_up()
        more_places = len(places) - len(self.victims)
        if more_places > 0:
            self.victims = np.pad(self.victims, ((0, more_places), (0, 0)), constant_values=GAP)
        self.victims[:, candidates.rows] = GAP
        self.victims[: len(places), candidates.rows] = places

    def candidates(self, layout: PodLayout, rows: Rows) -> Candidates:
        """The candidates of *rows*, all of which are known."""
        at = rows[self.fits[rows]]
        criteria, victims = (array.take(at, axis=1) for array in (self.criteria, self.victims))
        return Candidates.at(layout, at, criteria, self.started[at], layout.entries[at], victims)


@rebuilt_from("layout", "limit")
@define(eq=False, repr=False)
class DryRuns:
    """The dry runs of one scheduler. Outcomes are kept up to *limit* bytes, and always those of one pod."""

    layout: PodLayout
    limit: int = 1 << 26
    _outcomes_by_pod: dict[tuple[Hashable, ...], Outcomes] = Factory(dict)
    """Pod's key -> its outcomes, the least recently used first."""
    _bytes: int = 0
    """Bytes of these."""

    def outcomes(
        self, cycle: Cycle, coming: Coming, rows: Rows, protection: Protection
    ) -> tuple[Outcomes, Verdict | None] | None:
        """The outcomes for the pod of *cycle*, up to date on *rows*; only where sums decide whether it fits
        beside the *coming* pods.

        With them the verdict on *rows* without potential victims, if all of them had to be tried. None if no
        pod has a lower priority.
        """
        table = self.layout.table
        pod = cycle.pod
        if min(table.priorities, default=pod.priority) >= pod.priority:
            return None
        key = cycle.template, pod.priority, *cycle.predicates
        # The outcomes kept by *key*, or new ones.
        outcomes = self._outcomes_by_pod.pop(key, None)
        if outcomes is not None:
            self._bytes -= outcomes.nbytes
        while self._bytes > self.limit:
            self._bytes -= self._outcomes_by_pod.pop(next(iter(self._outcomes_by_pod))).nbytes
        current = outcomes or Outcomes()
        current.follow(
            table,
            (table.changed.node_revision, table.census.terms_revision, cycle.listings.budgets.version),
            coming,
        )
        stale = rows[~current.known[rows]]
        verdict = self._run(current, cycle, coming, stale, protection) if len(stale) else None
        self._outcomes_by_pod[key], self._bytes = current, self._bytes + current.nbytes
        if verify.SWITCH.is_on:
            self._check(current, cycle, coming, rows, protection)
        return current, verdict if len(stale) == len(rows) else None

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep only the outcomes for pods of the templates *in_use*."""
        self._outcomes_by_pod = {
            key: outcomes for key, outcomes in self._outcomes_by_pod.items() if key[0] in in_use
        }
        self._bytes = sum(outcomes.nbytes for outcomes in self._outcomes_by_pod.values())
        if len(self.layout.templates) > 2 * len(in_use) + SPARE:
            self.layout.begin_anew()

    def _run(
        self, outcomes: Outcomes, cycle: Cycle, coming: Coming, rows: Rows, protection: Protection
    ) -> Verdict:
        potential = self.layout.lower_than(cycle.pod.priority, rows)
        candidates, verdict = dry_run(ArrayTrial.of(cycle, coming, potential), protection)
        outcomes.put(rows, potential.any, candidates)
        return verdict

    def _check(
        self, outcomes: Outcomes, cycle: Cycle, coming: Coming, rows: Rows, protection: Protection
    ) -> None:
        """Raise StaleError unless freshly computed outcomes are the same on *rows*."""
        fresh = Outcomes()
        fresh.follow(self.layout.table, (0, 0, 0), coming)
        layout = PodLayout(self.layout.table, self.layout.by_start_time, self.layout.sorts_again)
        DryRuns(layout)._run(fresh, cycle, coming, rows, protection)
        differs = outcomes.occupied[rows] != fresh.occupied[rows]
        kept_candidates = outcomes.candidates(self.layout, rows)
        fresh_candidates = fresh.candidates(self.layout, rows)
        if differs.any() or not kept_candidates.same_as(fresh_candidates):
            raise verify.StaleError(
                f"the dry run for pod {cycle.pod.key} is stale: kept {len(kept_candidates)}, worked out {len(fresh_candidates)} candidates"
            )


# --- The pods of each node that use each claim --------------------------------------------------------------
# Some releases count these while they try. Upstream: PVCRefCounts in pkg/scheduler/framework/types.go, up to
# 1.24.


@define(eq=False, repr=False)
class ClaimUsers:
    """The users of claims, by node.

    Upstream: a copy of a node's record shares the counts, so that pods that come and go on copies change
    those of the node: nominated pods stay counted, and would-be victims are not counted any more. No count
    falls below 0.
    """

    table: NodeTable
    counts: dict[str, Counter[str]] = Factory(dict)
    """Node -> claim -> its users."""
    _entries: dict[str, dict[int, Entry]] = Factory(dict)
    """Node -> the pods with claims that are counted there, by identity."""
    _revision: int = NEVER

    def in_use(self, claim: str) -> bool:
        """Whether a pod of any node counts as a user of *claim*, given as ``namespace/name``."""
        self.follow()
        return any(
            users[claim] > 0 and self.table.has_node[self.table.row_of[node]]
            for node, users in self.counts.items()
        )

    def follow(self) -> None:
        """Count the pods that came and went since the last time."""
        table = self.table
        changed_rows = table.changed.since(self._revision)
        self._revision = table.changed.revision
        for node in [name for name in self._entries if name not in table.row_of]:
            del self._entries[node], self.counts[node]
        for row in range(len(table.pods)) if changed_rows is None else changed_rows.tolist():
            node = table.names[row] if row < len(table.names) else ""
            if table.row_of.get(node) != row:
                continue
            current = {id(entry): entry for entry in table.pods[row] if claim_keys(entry.template.pod)}
            previous = self._entries.get(node, {})
            if current or previous:
                self._entries[node] = current
                for number in previous.keys() - current.keys():
                    self._take_off(node, previous[number].pod)
                self._put(node, (entry.pod for number, entry in current.items() if number not in previous))

    def filtered(self, cycle: Cycle, nominations: Nominations, rows: Iterable[int]) -> None:
        """Follow a filter of the nodes of *rows* for the pod of *cycle*, with the pods nominated to them."""
        self.follow()
        for row in rows if nominations else ():
            node = self.table.names[row]
            self._put(node, cycle.nominated_on(nominations, node))

    def tried(
        self, cycle: Cycle, nominations: Nominations, rows: Sequence[int], candidates: Candidates
    ) -> None:
        """Follow a trial: pods of lower priority left the nodes of *rows*, and on *candidates* all but the
        victims were put back."""
        self.follow()
        places = {row: i for i, row in enumerate(candidates.rows.tolist())}
        for row in rows:
            leaving = [entry.pod for entry in self.table.pods[row] if entry.priority < cycle.pod.priority]
            node = self.table.names[row]
            for pod in leaving:
                self._take_off(node, pod)
            if not leaving:
                continue
            coming = cycle.nominated_on(nominations, node)
            self._put(node, coming)
            if row in places:
                victims = {pod.uid for pod in candidates.victims(places[row]).pods}
                for pod in leaving:
                    self._put(node, (*coming, *(() if pod.uid in victims else (pod,))))

    def copy(self) -> ClaimUsers:
        """An independent copy."""
        return evolve(
            self,
            counts={node: Counter(users) for node, users in self.counts.items()},
            entries={node: dict(entries) for node, entries in self._entries.items()},
        )

    def _put(self, node: str, pods: Iterable[Pod]) -> None:
        users = self.counts.setdefault(node, Counter())
        for pod in pods:
            users.update(claim_keys(pod))

    def _take_off(self, node: str, pod: Pod) -> None:
        users = self.counts.setdefault(node, Counter())
        for claim in claim_keys(pod):
            users[claim] = max(users[claim] - 1, 0)
