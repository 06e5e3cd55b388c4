"""Which nodes fit, in visiting order, up to the number that is looked for.

Upstream: findNodesThatFit and podFitsOnNode in pkg/scheduler/core/generic_scheduler.go.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from ..arrays.batch import Batch, Rows
from ..arrays.overlay import Overlay
from ..cluster.cache import Cache
from ..cluster.nominations import Nominations
from ..cycle import Cycle
from ..failures import Mask
from ..pods.template import Entry
from ..rule import Predicate
from .verdict import EquivalenceView, Judgement, Verdict, judge


def judge_twice(cycle: Cycle, nodes: Batch, nominations: Nominations, check_all: bool, view: EquivalenceView | None = None) -> Verdict:
    """Judge *nodes* as they are and, where pods of equal or higher priority are nominated to one, with those put there too."""
    plain = judge(cycle, nodes, check_all, view)
    waiting = _nominated(cycle, nodes, nominations) if nominations else {}
    if not waiting:
        return Verdict(plain, plain.fits)
    indexes = np.array(sorted(waiting), np.intp)
    trial = nodes.some(indexes) if isinstance(nodes, Overlay) else Overlay.of(nodes.table, nodes.indexes[indexes], cycle.pod)
    place = {int(i): at for at, i in enumerate(indexes)}
    for i, entries in waiting.items():
        for entry in entries:
            trial.add(entry, place[i])
    crowded = judge(cycle, trial, check_all)
    fits = plain.fits.copy()
    fits[indexes] &= crowded.fits
    return Verdict(plain, fits, crowded, place)


def _nominated(cycle: Cycle, nodes: Batch, nominations: Nominations) -> dict[int, list[Entry]]:
    found: dict[int, list[Entry]] = {}
    for name in nominations:
        pods = [pod for pod in nominations.on(name) if cycle.counts_nominated(pod)]
        if pods:
            for i in _places(nodes, name):
                found[i] = [cycle.nominated_entry(pod) for pod in pods]
    return found


def _places(nodes: Batch, name: str) -> list[int]:
    """Where node *name* stands in the batch, if it has a node object."""
    row = nodes.table.row_of.get(name)
    if row is None or not nodes.table.has_node[row]:
        return []
    if nodes.rows is None:
        return [row]
    found: list[int] = np.flatnonzero(nodes.rows == row).tolist()
    return found


@attrs.define(eq=False)
class Search:
    """What one search found: ``visited`` rows in order (the surplus fit that stopped it left out), and which of them fit."""

    verdict: Verdict
    visited: Rows
    fits: Mask
    """bool[len(visited)]"""
    consumed: int
    """Nodes taken from the visiting order, the surplus fit included."""

    @property
    def feasible(self) -> Rows:
        """Rows that fit, in visiting order; a row can stand here twice."""
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


@attrs.define(eq=False)
class Order:
    """The visiting order of *cache* as rows of the table, worked out again only when it changed."""

    cache: Cache
    _version: tuple[int, int] = (-1, -1)
    _rest: Rows = attrs.field(factory=lambda: np.zeros(0, np.intp))
    _rounds: Rows = attrs.field(factory=lambda: np.zeros(0, np.intp))
    """A round twice over, so that one from any place on is a part of it."""
    is_regular: bool = True
    """Whether the latest pass visits each node once."""
    _latest: tuple[bool, int, Rows] | None = None
    _places: tuple[Rows, Rows] | None = None

    def one_pass(self, row_of: dict[str, int], rows_version: int) -> Rows:
        """The rows that the next pass would visit, were it not stopped: as many as there are nodes in the tree."""
        order = self.cache.order
        rest, full = order.rest_and_round()
        if self._version != (order.version, rows_version):
            self._rest = np.array([row_of[name] for name in rest], np.intp)
            self._rounds = np.array([row_of[name] for name in full] * 2, np.intp)
            self._version, self._latest = (order.version, rows_version), None
        in_rest, start = order.position()
        if self._latest is None or self._latest[:2] != (in_rest, start):
            self._latest = (in_rest, start, self._lay_out(in_rest, start, len(order)))
            self.is_regular = not in_rest or (start == 0 and len(rest) == len(order))
        return self._latest[2]

    def places(self) -> Rows:
        """The place of each row in the latest pass: intp[rows]."""
        assert self._latest is not None
        rows = self._latest[2]
        if self._places is None or self._places[0] is not rows:
            places = np.zeros(int(rows.max()) + 1, np.intp)
            places[rows] = np.arange(len(rows))
            self._places = rows, places
        return self._places[1]

    def _lay_out(self, in_rest: bool, start: int, count: int) -> Rows:
        if not in_rest:
            return self._rounds[start : start + len(self._rounds) // 2]
        return np.concatenate([self._rest[start:], self._rounds])[:count]


def search(cycle: Cycle, nominations: Nominations, order: Rows, wanted: int, view: EquivalenceView | None = None) -> Search:
    """Judge the whole table and read the answer off in visiting order *order*, stopping after *wanted* fits and one more."""
    verdict = judge_twice(cycle, Batch.everywhere(cycle.table), nominations, cycle.algorithm.check_all, view)
    fits: NDArray[np.bool_] = verdict.fits[order]
    consumed = len(order)
    if wanted < consumed:
        found = np.flatnonzero(fits)
        if len(found) > wanted:
            consumed = int(found[wanted]) + 1
            return Search(verdict, order[: consumed - 1], fits[: consumed - 1], consumed)
    return Search(verdict, order, fits, consumed)


def run_effects(cycle: Cycle, verdict: Verdict, visited: Rows) -> None:
    """Let the predicates with effects leave them on the rows that the search reached, pass by pass.

    *visited*: nodes of the judged batch, in visiting order.
    """
    effective = [predicate for predicate in cycle.algorithm.predicates_for(cycle.template) if predicate.effect is not None]
    if not effective:
        return
    crowded, place = verdict.with_nominated, verdict.place
    if crowded is not None:
        first = [place[i] for i in visited.tolist() if i in place]
        _effects(cycle, effective, crowded, np.array(first, np.intp))
        visited = np.array([i for i in visited.tolist() if i not in place or crowded.fits[place[i]]], np.intp)
    _effects(cycle, effective, verdict.plain, visited)


def _effects(cycle: Cycle, predicates: list[Predicate], judgement: Judgement, at: Rows) -> None:
    for predicate in predicates:
        reached = at[judgement.reached(predicate.name)[at]]
        if len(reached) and predicate.effect is not None:
            predicate.effect(cycle.template, judgement.nodes.some(reached), cycle)
