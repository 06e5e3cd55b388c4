"""The verdict of all predicates on a batch: which nodes fit, and why the others do not, in upstream's order;
and the search for enough nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Protocol

import attrs
import numpy as np

from ..arrays import Batch, Codes, Failures, Mask, Overlay, Reasons, Rows
from ..cluster.nominations import Nominations
from ..cycle import Cycle, Predicate
from ..pods import Entry

Outcome = tuple[int, ...]


class EquivalenceView(Protocol):
    """One search's view of the equivalence cache. See :mod:`..equivalence`."""

    hits: dict[str, Mask]
    """Predicate -> rows with a cache hit: bool[rows]."""

    def over(self, predicate: Predicate, fresh: Failures | None) -> Failures | None:
        """The failures of *predicate* for the rows of the table: *fresh* ones, replaced by cached results
        where there is a hit."""


@attrs.define(eq=False, repr=False)
class FilterPass:
    """One pass of all predicates over a batch of n nodes.

    ``fits``: bool[n]. ``errors``: int64[n] or None; 0 or 1 + the index into ``texts`` of the node's error. An
    error counts only if no earlier predicate rejected the node (with *check_all*: only if no earlier one had
    an error).
    """

    nodes: Batch
    findings: list[tuple[Predicate, Failures]]
    check_all: bool
    fits: Mask
    errors: Codes | None
    texts: list[str]
    predicates: Sequence[Predicate] = ()
    """All predicates that ran, in order, with those that rejected nothing."""
    hits: Mapping[str, Mask] = attrs.Factory(dict)
    """Predicate -> nodes with a hit in the equivalence cache: bool[n]."""

    def __repr__(self) -> str:
        return f"<Judgement: {np.count_nonzero(self.fits)} of {len(self.fits)} rows fit>"

    def error(self, i: int) -> str | None:
        """The error of node *i*, or None."""
        code = 0 if self.errors is None else int(self.errors[i])
        return self.texts[code - 1] if code else None

    def reasons(self, i: int) -> Reasons:
        """The reasons of node *i* in order; empty if it fits or has an error."""
        if self.error(i) is not None:
            return ()
        reasons: Reasons = ()
        for _, failures in self.findings:
            reasons += failures.reasons(i)
            if reasons and not self.check_all:
                break
        return reasons

    def rejecting_predicates(self, i: int) -> list[str]:
        """The predicates that rejected node *i*, in order."""
        names = [predicate.name for predicate, failures in self.findings if failures.codes[i]]
        return names if self.check_all else names[:1]

    def outcomes(self, rows: Rows) -> list[Outcome]:
        """The outcomes of *rows*, each one shared by nodes that the same predicates reject for the same
        reasons."""
        return list(
            zip(
                repeat(0, len(rows)),
                *[failures.codes.take(rows).tolist() for _, failures in self.findings],
                strict=True,
            )
        )

    def alone(self, at: Rows) -> Counter[str]:
        """Reason -> the number of nodes *at* that have it alone, with all predicates asked."""
        counts = Counter[str]()
        codes = [failures.codes[at] for _, failures in self.findings]
        has_one_reason = np.array([code > 0 for code in codes]).sum(0) == 1
        for code, (_, failures) in zip(codes, self.findings, strict=True):
            for number, count in enumerate(np.bincount(code[has_one_reason]).tolist()):
                if number and count and len(reasons := failures.sequences[number]) == 1:
                    counts[reasons[0].text] += count
        return counts

    def unresolvable(self) -> Mask:
        """The nodes with a reason that removing pods cannot resolve: bool[n]."""
        mask = self.nodes.none()
        alive = self.nodes.every()
        for _, failures in self.findings:
            unresolvable = [
                code
                for code, reasons in failures.sequences.items()
                if not all(reason.resolvable for reason in reasons)
            ]
            if unresolvable:
                counts = np.zeros(max(failures.sequences) + 1, np.bool_)
                counts[unresolvable] = True
                mask |= counts.take(failures.codes) & alive
            if not self.check_all:
                alive &= failures.passed
        return mask

    def reached(self, predicate: str) -> Mask:
        """The nodes at which upstream calls the predicate of that name: bool[n]."""
        alive = ~self.hits[predicate] if predicate in self.hits else self.nodes.every()
        names = [predicate.name for predicate in self.predicates]
        earlier_predicates = set(names[: names.index(predicate)])
        for failures in [failures for rule, failures in self.findings if rule.name in earlier_predicates]:
            alive &= (failures.errors_or_zero == 0) if self.check_all else failures.passed
        return alive


def judge(cycle: Cycle, nodes: Batch, check_all: bool, view: EquivalenceView | None = None) -> FilterPass:
    """Run every predicate on every node of *nodes*; with a *view*, results in the equivalence cache replace
    fresh ones."""
    predicates = cycle.predicates
    answers = cycle.ask(predicates, nodes)
    if view is not None:
        answers = [
            view.over(predicate, failures) for predicate, failures in zip(predicates, answers, strict=True)
        ]
    findings = [
        (predicate, failures)
        for predicate, failures in zip(predicates, answers, strict=True)
        if failures is not None
    ]
    alive = nodes.every()
    passed = alive.copy() if check_all else alive
    errors: Codes | None = None
    texts: list[str] = []
    for predicate, failures in findings:
        if failures.errors is not None:
            errors = nodes.zeros() if errors is None else errors
            new_errors = np.flatnonzero((failures.errors > 0) & alive)
            errors[new_errors] = failures.errors[new_errors] + len(texts)
            texts.extend(predicate.errors_of(failures, cycle.pod.name))
        if check_all:
            alive &= failures.errors_or_zero == 0
        passed &= failures.passed
    return FilterPass(
        nodes, findings, check_all, passed, errors, texts, predicates, {} if view is None else view.hits
    )


@attrs.define(eq=False, repr=False)
class Verdict:
    """The outcome for a batch after the passes with and without nominated pods.

    For a node that fails with its nominated pods that failure counts; for all others the pass without them
    counts.
    """

    _plain: FilterPass | Callable[[], FilterPass]
    """The pass, or a function that makes it when first read; with a function no node has an error."""
    fits: Mask
    with_nominated: FilterPass | None = None
    place: dict[int, int] = attrs.Factory(dict)
    """Node of the batch -> its place in ``with_nominated``."""
    has_errors: bool = attrs.field(init=False)
    """Whether any node may have an error."""

    def __attrs_post_init__(self) -> None:
        self.has_errors = any(
            findings.errors is not None
            for findings in (self._plain, self.with_nominated)
            if isinstance(findings, FilterPass)
        )

    def __repr__(self) -> str:
        return f"<Verdict: {np.count_nonzero(self.fits)} of {len(self.fits)} rows fit>"

    @property
    def plain(self) -> FilterPass:
        """The pass without nominated pods."""
        if not isinstance(self._plain, FilterPass):
            self._plain = self._plain()
        return self._plain

    def _of(self, i: int) -> tuple[FilterPass, int]:
        place = self.place.get(i)
        if self.with_nominated is not None and place is not None and not self.with_nominated.fits[place]:
            return self.with_nominated, place
        return self.plain, i

    def reasons(self, i: int) -> Reasons:
        """The reasons of node *i*."""
        judgement, at = self._of(i)
        return judgement.reasons(at)

    def error(self, i: int) -> str | None:
        """The error of node *i*, or None."""
        judgement, at = self._of(i)
        return judgement.error(at)

    def rejecting_predicates(self, i: int) -> list[str]:
        """The predicates that rejected node *i*."""
        judgement, at = self._of(i)
        return judgement.rejecting_predicates(at)

    def outcomes(self, rows: Rows) -> list[Outcome]:
        """The outcomes of *rows*, each one shared by nodes that the same predicates reject for the same
        reasons."""
        if self.has_errors:
            return [(-1, row) for row in rows.tolist()]
        outcomes = self.plain.outcomes(rows)
        for at, row in enumerate(rows.tolist() if self.with_nominated is not None else ()):
            judgement, place = self._of(row)
            if judgement is self.with_nominated:
                outcomes[at] = (1, *judgement.outcomes(np.array([place]))[0])
        return outcomes

    def unresolvable(self) -> Mask:
        """The nodes where preemption cannot help: bool[n]."""
        mask = self.plain.unresolvable()
        if self.with_nominated is not None:
            unresolvable = self.with_nominated.unresolvable()
            for i, place in self.place.items():
                if not self.with_nominated.fits[place]:
                    mask[i] = unresolvable[place]
        return mask

    def apart(self, rows: Rows) -> tuple[Mask, list[int]]:
        """Split the nodes among *rows*, bool[n], into those without nominated pods, bool[n], and the
        others."""
        alive = np.zeros(self.plain.nodes.n, np.bool_)
        alive[rows] = True
        patched = [i for i in self.place if alive[i]]
        alive[patched] = False
        return alive, patched

    def tally(self, rows: Rows) -> dict[str, int]:
        """Reason -> its number of nodes among *rows*, in which each node is once."""
        counts: dict[str, int] = {}
        alive, patched = self.apart(rows)
        for i in patched:
            for reason in self.reasons(i):
                if reason.is_said:
                    counts[reason.text] = counts.get(reason.text, 0) + 1
        for _, failures in self.plain.findings:
            for code, count in enumerate(np.bincount(failures.codes[alive]).tolist()):
                for reason in failures.sequences[code] if code and count else ():
                    if reason.is_said:
                        counts[reason.text] = counts.get(reason.text, 0) + count
            if not self.plain.check_all:
                alive &= failures.passed
        return counts

    def alone(self, rows: Rows) -> Counter[str]:
        """Reason -> the number of *rows* that have it alone, with all predicates asked."""
        alive, patched = self.apart(rows)
        counts = self.plain.alone(np.flatnonzero(alive))
        for judgement, at in map(self._of, patched):
            counts += judgement.alone(np.array([at]))
        return counts


# --- the message --------------------------------------------------------------------------------------------

# The error of a pod that fits on no node: the reasons with their counts, and PostFilter's message.


_MESSAGE = re.compile(r"\b0/(\d+) nodes are available: ?(.*)", re.DOTALL)
_COUNTED = re.compile(r"(?:^|, )(\d+) (.+?)(?=, \d+ |$)", re.DOTALL)
_POST_FILTER = re.compile(
    r"(?:^|\. )(?="
    r"(?:plugin disabled|no new claims to deallocate|still not schedulable|deallocation of ResourceClaim completed)(?:, |\.*$)"
    r"|preemption: )"
)
"""The beginning of the message of upstream's PostFilter plugins: that of DynamicResources comes before that
of preemption."""


@attrs.frozen
class FitError:
    """The failure of a pod that fits on none of *nodes* nodes. Upstream's message is its text."""

    nodes: int
    reasons: Mapping[str, int]
    """Reason -> the number of nodes with it; 0 for a reason of no node, as PreFilter's rejection in some
    releases."""
    post_filter: str = ""
    """PostFilter's message, where the release's own ends in that."""
    full_stop: bool = True
    """Whether a full stop is added after PostFilter's message."""
    stops_always: bool = False
    """Whether a full stop ends the reasons even if there are none."""

    def __str__(self) -> str:
        reasons = ", ".join(
            sorted(f"{count} {text}" if count else text for text, count in self.reasons.items())
        )
        parts = f" {reasons}." if reasons or self.stops_always else ""
        if self.post_filter:
            parts += f" {self.post_filter}{'.' if self.full_stop else ''}"
        return f"0/{self.nodes} nodes are available:{parts}"

    @property
    def headline(self) -> str:
        """The message without PostFilter's part."""
        return str(attrs.evolve(self, post_filter=""))

    @property
    def most_first(self) -> dict[str, int]:
        """The reasons, the most frequent first, else in the order of the message."""
        by_text = sorted(self.reasons.items(), key=lambda pair: f"{pair[1]} {pair[0]}")
        return dict(sorted(by_text, key=lambda pair: -pair[1]))


def read_fit_error(message: str) -> FitError | None:
    """The error that a *message* of any release tells, as it was recorded or came from a cluster; None for
    other messages.

    >>> found = read_fit_error("0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods. still not schedulable, preemption: none.")
    >>> found.reasons, found.headline
    ({'Insufficient cpu': 1, 'Too many pods': 2}, '0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods.')
    """
    match = _MESSAGE.search(message)
    if match is None:
        return None
    post_filter = _POST_FILTER.search(match[2])
    text = (match[2] if post_filter is None else match[2][: post_filter.start()]).rstrip(". ")
    reasons = {reason: int(nodes) for nodes, reason in _COUNTED.findall(text)} or ({text: 0} if text else {})
    return FitError(
        int(match[1]), reasons, "" if post_filter is None else match[2][post_filter.end() :], full_stop=False
    )


def reasons_in(message: str) -> dict[str, int]:
    """Reason -> how many nodes have it, from upstream's message; the one of most nodes first. What is said of
    no node counts 0.

    >>> reasons_in("0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu.")
    {'Insufficient cpu': 3, 'node(s) were unschedulable': 1}
    >>> reasons_in('persistentvolumeclaim "data" not found')
    {'persistentvolumeclaim "data" not found': 0}
    """
    fit_error = read_fit_error(message)
    return fit_error.most_first if fit_error is not None and fit_error.reasons else {message.rstrip(". "): 0}


# --- The search for feasible nodes, in visiting order, until enough are found -------------------------------
# Upstream: findNodesThatFit and podFitsOnNode in pkg/scheduler/core/generic_scheduler.go.


Nominated = dict[int, list[Entry]]
"""Node of a batch -> the pods of equal or higher priority that are nominated to it."""


def judge_twice(
    cycle: Cycle,
    nodes: Batch,
    nominations: Nominations,
    check_all: bool,
    view: EquivalenceView | None = None,
    nominated_pods: Nominated | None = None,
) -> Verdict:
    """Judge *nodes* as they are, then again with nominated pods of equal or higher priority added, where
    there are any.

    *nominated_pods*: those pods, if they are known.
    """
    plain = judge(cycle, nodes, check_all, view)
    if nominated_pods is None:
        nominated_pods = nominated(cycle, nodes, nominations) if nominations.by_node else {}
    if not nominated_pods:
        return Verdict(plain, plain.fits)
    indexes = np.array(sorted(nominated_pods), np.intp)
    if isinstance(nodes, Overlay):
        trial = nodes.some(indexes)
    else:
        trial = Overlay.of(nodes.table, nodes.indexes[indexes], cycle.pod)
    place = {int(i): at for at, i in enumerate(indexes)}
    trial.add_all([(place[i], entry) for i, entries in nominated_pods.items() for entry in entries])
    with_nominated = judge(cycle, trial, check_all)
    fits = plain.fits.copy()
    fits[indexes] &= with_nominated.fits
    return Verdict(plain, fits, with_nominated, place)


def nominated(cycle: Cycle, nodes: Batch, nominations: Nominations) -> Nominated:
    """The pods that :func:`judge_twice` adds to *nodes*."""
    pods_by_place = {}
    for name in nominations:
        pods = cycle.nominated_on(nominations, name)
        if pods:
            for i in _places(nodes, name):
                pods_by_place[i] = [cycle.templates.entry(pod, nominated=True) for pod in pods]
    return pods_by_place


def _places(nodes: Batch, name: str) -> list[int]:
    """The indexes of node *name* in the batch; none if it has no node object."""
    rows = [row for row in nodes.table.rows_of(name) if nodes.table.has_node[row]]
    return rows if nodes.rows is None else np.flatnonzero(np.isin(nodes.rows, rows)).tolist()


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
    number: int,
    view: EquivalenceView | None = None,
    verdict: Verdict | None = None,
) -> SearchResult:
    """The search after the whole table was judged; *verdict*: if it is known."""
    verdict = verdict or judge_twice(
        cycle, Batch.everywhere(cycle.table), nominations, cycle.algorithm.check_all, view
    )
    return visit(verdict, order, number)


def visit(verdict: Verdict, order: Rows, number: int) -> SearchResult:
    """The search among rows in *order* until one feasible node more than *number* is found."""
    fits = verdict.fits.take(order)
    if number < len(order):
        places = np.flatnonzero(fits)
        if len(places) > number:
            end = int(places[number])
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
        nominated_places = [place[i] for i in visited.tolist() if i in place]
        _effects(cycle, effective, with_nominated, np.array(nominated_places, np.intp))
        visited = np.array(
            [i for i in visited.tolist() if i not in place or with_nominated.fits[place[i]]], np.intp
        )
    _effects(cycle, effective, verdict.plain, visited)


def _effects(cycle: Cycle, predicates: list[Predicate], judgement: FilterPass, at: Rows) -> None:
    for predicate in predicates:
        reached = at[judgement.reached(predicate.name)[at]]
        if len(reached) and predicate.effect is not None:
            predicate.effect(cycle.template, judgement.nodes.some(reached), cycle)
