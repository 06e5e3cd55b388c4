"""The search for feasible nodes, in visiting order, until enough are found.

Upstream: findNodesThatFit and podFitsOnNode in pkg/scheduler/core/generic_scheduler.go.
"""

from __future__ import annotations

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.overlay import Overlay
from ..arrays.types import Mask, Rows
from ..cluster.nominations import Nominations
from ..cycle import Cycle, Predicate
from ..pods.template import Entry
from .verdict import EquivalenceView, FilterPass, Verdict, judge

Nominated = dict[int, list[Entry]]
"""Node of a batch -> the pods of equal or higher priority that are nominated to it."""


def judge_twice(
    cycle: Cycle,
    nodes: Batch,
    nominations: Nominations,
    check_all: bool,
    view: EquivalenceView | None = None,
    waiting: Nominated | None = None,
) -> Verdict:
    """Judge *nodes* as they are and, if pods of equal or higher priority are nominated to a node, also with
    those added to it.

    *waiting*: those pods, if they are known.
    """
    plain = judge(cycle, nodes, check_all, view)
    if waiting is None:
        waiting = nominated(cycle, nodes, nominations) if nominations.by_node else {}
    if not waiting:
        return Verdict(plain, plain.fits)
    indexes = np.array(sorted(waiting), np.intp)
    if isinstance(nodes, Overlay):
        trial = nodes.some(indexes)
    else:
        trial = Overlay.of(nodes.table, nodes.indexes[indexes], cycle.pod)
    place = {int(i): at for at, i in enumerate(indexes)}
    trial.add_all([(place[i], entry) for i, entries in waiting.items() for entry in entries])
    with_nominated = judge(cycle, trial, check_all)
    fits = plain.fits.copy()
    fits[indexes] &= with_nominated.fits
    return Verdict(plain, fits, with_nominated, place)


def nominated(cycle: Cycle, nodes: Batch, nominations: Nominations) -> Nominated:
    """The pods that :func:`judge_twice` adds to *nodes*."""
    found = {}
    for name in nominations:
        pods = cycle.nominated_on(nominations, name)
        if pods:
            for i in _places(nodes, name):
                found[i] = [cycle.templates.entry(pod, nominated=True) for pod in pods]
    return found


def _places(nodes: Batch, name: str) -> list[int]:
    """The indexes of node *name* in the batch; none if it has no node object."""
    row = nodes.table.row_of.get(name)
    if row is None or not nodes.table.has_node[row]:
        return []
    if nodes.rows is None:
        return [row]
    return np.flatnonzero(nodes.rows == row).tolist()


@attrs.define(eq=False, repr=False)
class SearchResult:
    """The result of a search: the ``visited`` rows in order, without the surplus fit that stopped it, and
    which of them fit."""

    verdict: Verdict
    visited: Rows
    fits: Mask
    """bool[len(visited)]"""
    consumed: int
    """The number of nodes taken from the visiting order, with the surplus fit: the feasible node beyond the
    wanted number."""

    @property
    def feasible(self) -> Rows:
        """Rows that fit, in visiting order; a row can be here twice."""
        return self.visited[self.fits]

    @property
    def failed(self) -> Rows:
        """Visited rows that do not fit, in visiting order."""
        return self.visited[~self.fits]

    def errors(self) -> list[str]:
        """The error of each visited node that has one."""
        if not self.verdict.has_errors:
            return []
        texts = (self.verdict.error(row) for row in self.failed.tolist())
        return [text for text in texts if text is not None]


def search(
    cycle: Cycle,
    nominations: Nominations,
    order: Rows,
    wanted: int,
    view: EquivalenceView | None = None,
    verdict: Verdict | None = None,
) -> SearchResult:
    """The search after the whole table was judged; *verdict*: if it is known."""
    verdict = verdict or judge_twice(
        cycle, Batch.everywhere(cycle.table), nominations, cycle.algorithm.check_all, view
    )
    return visit(verdict, order, wanted)


def visit(verdict: Verdict, order: Rows, wanted: int) -> SearchResult:
    """The search among rows in *order* until one feasible node more than *wanted* is found."""
    fits = verdict.fits.take(order)
    if wanted < len(order):
        places = np.flatnonzero(fits)
        if len(places) > wanted:
            end = int(places[wanted])
            return SearchResult(verdict, order[:end], fits[:end], end + 1)
    return SearchResult(verdict, order, fits, len(order))


def run_effects(cycle: Cycle, verdict: Verdict, visited: Rows) -> None:
    """Run the effects of predicates on the rows that the search visited, pass by pass.

    *visited*: indexes of nodes in the judged batch, in visiting order.
    """
    effective = [predicate for predicate in verdict.plain.predicates if predicate.effect is not None]
    if not effective:
        return
    with_nominated = verdict.with_nominated
    place = verdict.place
    if with_nominated is not None:
        first = [place[i] for i in visited.tolist() if i in place]
        _effects(cycle, effective, with_nominated, np.array(first, np.intp))
        visited = np.array(
            [i for i in visited.tolist() if i not in place or with_nominated.fits[place[i]]], np.intp
        )
    _effects(cycle, effective, verdict.plain, visited)


def _effects(cycle: Cycle, predicates: list[Predicate], judgement: FilterPass, at: Rows) -> None:
    for predicate in predicates:
        reached = at[judgement.reached(predicate.name)[at]]
        if len(reached) and predicate.effect is not None:
            predicate.effect(cycle.template, judgement.nodes.some(reached), cycle)
