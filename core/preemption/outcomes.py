"""What dry runs came to, row by row, kept from attempt to attempt: only rows that changed are tried again.

Where sums alone show where a pod fits, the outcome on a row follows from the row's own pods, the pods
nominated to its node, the node objects and the budgets. Pods of one template and priority share it, whatever
happens on other rows.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

import attrs
import numpy as np

from ..arrays.table import NodeTable
from ..arrays.trail import NEVER
from ..arrays.types import Ints, Mask, Rows
from ..cycle import Cycle
from ..decision.verdict import Verdict
from ..incremental import verify
from ..pods.template import SPARE, Template
from ..rebuilt import rebuilt_from
from .budgets import Protection
from .dryrun import ArrayTrial, Coming, dry_run
from .layout import PodLayout
from .victimchoice import GAP, Candidates

Environment = tuple[int, int, int]
"""Revisions of what the outcome of every row follows from: node objects, affinity terms, budgets."""


@attrs.define(eq=False, repr=False)
class Outcomes:
    """What the dry run for pods of one template and priority came to on each row of a table.

    ``known``: bool[rows], where the rest is up to date; ``occupied``: bool[rows], where some pod may have to
    leave; ``fits``: bool[rows]. ``criteria``, ``started``: as in :class:`~.victimchoice.Candidates`, by row;
    ``victims``: int64[most, rows], their places in the layout.
    """

    known: Mask = attrs.field(init=False)
    occupied: Mask = attrs.field(init=False)
    fits: Mask = attrs.field(init=False)
    criteria: Ints = attrs.field(init=False)
    started: Ints = attrs.field(init=False)
    victims: Ints = attrs.field(init=False)
    _environment: Environment | None = None
    _seen: int = NEVER
    """The revision of the table that ``known`` follows."""
    _coming: dict[int, list[Template]] = attrs.Factory(dict)
    """Row -> the pods nominated to it."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.known.nbytes * 3 + self.criteria.nbytes + self.started.nbytes + self.victims.nbytes

    def follow(self, table: NodeTable, environment: Environment, coming: Coming) -> None:
        """Forget the rows that may have become others."""
        changed = table.changed.since(self._seen) if environment == self._environment else None
        if changed is None:
            size = table.size
            self.known, self.occupied, self.fits = (np.zeros(size, np.bool_) for _ in range(3))
            self.criteria = np.zeros((4, size), np.int64)
            self.started = np.zeros(size, np.int64)
            self.victims = np.zeros((0, size), np.int64)
        else:
            self.known[changed] = False
        self._environment = environment
        self._seen = table.changed.revision
        before = self._coming
        self._coming = {}
        for row, template in coming:
            self._coming.setdefault(row, []).append(template)
        for row in before.keys() | self._coming.keys():
            if before.get(row) != self._coming.get(row):
                self.known[row] = False

    def put(self, rows: Rows, occupied: Mask, found: Candidates) -> None:
        """Note the outcome on *rows*: *occupied*, bool[len(rows)], and those of them that were *found* to be
        candidates."""
        self.known[rows], self.occupied[rows], self.fits[rows] = True, occupied, False
        self.fits[found.rows], self.started[found.rows] = True, found.started
        self.criteria[:, found.rows] = found.criteria
        places = found.closed_up()
        missing = len(places) - len(self.victims)
        if missing > 0:
            self.victims = np.pad(self.victims, ((0, missing), (0, 0)), constant_values=GAP)
        self.victims[:, found.rows] = GAP
        self.victims[: len(places), found.rows] = places

    def candidates(self, layout: PodLayout, rows: Rows) -> Candidates:
        """Those of *rows*, all of which are known, where the pod fits."""
        at = rows[self.fits[rows]]
        return Candidates.at(
            layout, at, self.criteria.take(at, axis=1), self.started[at], self.victims.take(at, axis=1)
        )


@rebuilt_from("layout", "limit")
@attrs.define(eq=False, repr=False)
class DryRuns:
    """The dry runs of one scheduler. Their outcomes are kept up to *limit* bytes, and one of them in any
    case."""

    layout: PodLayout
    limit: int = 1 << 26
    _kept: dict[tuple[Hashable, ...], Outcomes] = attrs.Factory(dict)
    """By pod, the least recently used first."""
    _held: int = 0
    """Bytes of these."""

    def outcomes(
        self, cycle: Cycle, coming: Coming, rows: Rows, protection: Protection
    ) -> tuple[Outcomes, Verdict | None] | None:
        """Outcomes for the pod of *cycle* that are up to date on *rows*, where sums show where it fits beside
        the *coming* pods.

        With them the verdict on *rows* without potential victims, if all of them had to be tried. None if no
        pod has a lower priority.
        """
        table = self.layout.table
        pod = cycle.pod
        if min(table.priorities, default=pod.priority) >= pod.priority:
            return None
        key = cycle.template, pod.priority, *cycle.predicates
        # Those kept by key, or new ones.
        found = self._kept.pop(key, None)
        if found is not None:
            self._held -= found.nbytes
        while self._held > self.limit:
            self._held -= self._kept.pop(next(iter(self._kept))).nbytes
        kept = found or Outcomes()
        kept.follow(
            table,
            (table.changed.node_revision, table.census.terms_revision, cycle.listings.budgets.version),
            coming,
        )
        stale = rows[~kept.known[rows]]
        verdict = self._try(kept, cycle, coming, stale, protection) if len(stale) else None
        self._kept[key], self._held = kept, self._held + kept.nbytes
        if verify.SWITCH.is_on:
            self._check(kept, cycle, coming, rows, protection)
        return kept, verdict if len(stale) == len(rows) else None

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep the outcomes for pods of the templates *in_use* alone."""
        self._kept = {key: kept for key, kept in self._kept.items() if key[0] in in_use}
        self._held = sum(kept.nbytes for kept in self._kept.values())
        if len(self.layout.templates) > 2 * len(in_use) + SPARE:
            self.layout.begin_anew()

    def _try(
        self, kept: Outcomes, cycle: Cycle, coming: Coming, rows: Rows, protection: Protection
    ) -> Verdict:
        potential = self.layout.lower_than(cycle.pod.priority, rows)
        found, verdict = dry_run(ArrayTrial.of(cycle, coming, potential), protection)
        kept.put(rows, potential.any, found)
        return verdict

    def _check(
        self, kept: Outcomes, cycle: Cycle, coming: Coming, rows: Rows, protection: Protection
    ) -> None:
        """Raise StaleError unless outcomes that are worked out from nothing are the same on *rows*."""
        fresh = Outcomes()
        fresh.follow(self.layout.table, (0, 0, 0), coming)
        layout = PodLayout(self.layout.table, self.layout.by_start_time, self.layout.sorts_again)
        DryRuns(layout)._try(fresh, cycle, coming, rows, protection)
        wrong = kept.occupied[rows] != fresh.occupied[rows]
        before = kept.candidates(self.layout, rows)
        now = fresh.candidates(self.layout, rows)
        if wrong.any() or not before.same_as(now):
            raise verify.StaleError(
                f"the dry run for pod {cycle.pod.key} is stale: kept {len(before)}, worked out {len(now)} candidates"
            )
