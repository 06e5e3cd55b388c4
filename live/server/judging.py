"""What an engine says about some nodes for a pod that is not in its cluster: who fits, with which score, who would have to leave.

Nothing that is asked here changes the engine's answers to later questions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import attrs
import numpy as np

from ...api.objects import Pod
from ...core.arrays.types import Ints, Mask, Rows, Scores
from ...core.decision.decision import Details
from ...core.decision.preemptionplan import Victims
from ...core.decision.score import ScoreError
from ...core.decision.verdict import Verdict
from ...core.engine import Engine, FilterError
from ...core.failures import Reasons
from ...exceptions import KubeclassicError

MAX_EXTENDER_PRIORITY = 10
"""The highest score that an extender gives. Upstream: MaxExtenderPriority."""
UNSCHEDULABLE = "Unschedulable"
"""The code of a plugin's status where the removal of pods may help."""


class CannotDecide(KubeclassicError):
    """The scheduler's cycle ends in an error, with this text."""


@attrs.frozen(eq=False)
class NodeJudgements:
    """The answer for k nodes: ``fits`` and ``unresolvable`` are bool[k], ``texts`` says why, empty where it fits."""

    fits: Mask
    unresolvable: Mask
    texts: list[str]


def filter_nodes(engine: Engine, pod: Pod, rows: Rows) -> NodeJudgements:
    """Which of *rows* fit, and why the others do not. Raises :class:`CannotDecide`."""
    with engine.preserving_state(pod):
        _, details = _begun(engine, pod)
        return _judged(engine, details, rows)


def score_nodes(engine: Engine, pod: Pod, rows: Rows) -> Scores:
    """The scheduler's total for each of *rows*, as if they were the nodes that fit: int64[k]. Raises :class:`CannotDecide`."""
    with engine.preserving_state(pod):
        cycle, _ = _begun(engine, pod)
        try:
            return engine.flow.score(cycle, rows).totals
        except ScoreError as error:
            raise CannotDecide(str(error)) from None


def scaled(totals: Scores) -> Ints:
    """Totals as scores of an extender, 0 to 10: the lowest total becomes 0, the highest 10, others in proportion, rounded down.

    So 10 has who has the highest total, and no other. Where all totals are equal each gets 10.

    >>> scaled(np.array([100_007, 100_012, 100_019, 100_020])).tolist()
    [0, 3, 9, 10]
    """
    if not len(totals):
        return totals
    low, high = int(totals.min()), int(totals.max())
    if low == high:
        return np.full(len(totals), MAX_EXTENDER_PRIORITY, np.int64)
    # In Python's numbers: a weight of a Policy may be so large that ten times a total is none of 64 bits.
    return np.array([(total - low) * MAX_EXTENDER_PRIORITY // (high - low) for total in totals.tolist()], np.int64)


def find_victims(engine: Engine, pod: Pod, rows: Rows, given: Collection[str]) -> Mapping[str, Victims]:
    """Node -> who has to leave it so that the pod fits, among them those with the UIDs *given*. Raises :class:`CannotDecide`."""
    with engine.preserving_state(pod):
        cycle, details = _begun(engine, pod)
        if details.search is None:
            return {}
        unresolvable = details.search.verdict.unresolvable()
        unresolvable[details.outside] = True
        return engine.flow.victims(cycle, rows, unresolvable, given)


def _begun(engine: Engine, pod: Pod) -> tuple[Any, Details]:
    """A cycle for *pod* after its filter step."""
    refused = engine.flow.pre_check(pod)
    if refused is not None:
        raise CannotDecide(refused.error or "the pod may not be tried")
    cycle = engine.begin(pod)
    try:
        return cycle, engine.flow.filter(cycle)
    except FilterError as error:
        raise CannotDecide(str(error)) from None


def _judged(engine: Engine, details: Details, rows: Rows) -> NodeJudgements:
    if details.search is None:
        return _all_refused(engine, details, rows)
    verdict = details.search.verdict
    fits, unresolvable, texts = verdict.fits[rows], verdict.unresolvable()[rows], [""] * len(rows)
    outside = np.isin(rows, details.outside)
    fits &= ~outside
    unresolvable |= outside
    failed = np.flatnonzero(~fits & ~outside)
    _check_errors(verdict, rows[failed])
    for at, text in zip(failed.tolist(), _texts(verdict, rows[failed]), strict=True):
        texts[at] = text
    away = np.flatnonzero(outside).tolist()
    for at in away:
        texts[at] = _text_of(details, int(rows[away[0]]))
    return NodeJudgements(fits, unresolvable, texts)


def _all_refused(engine: Engine, details: Details, rows: Rows) -> NodeJudgements:
    """A plugin refused the pod before any node was looked at."""
    refusal = details.refusal(engine.flow.node_list()[0])
    is_final = refusal is not None and refusal.code != UNSCHEDULABLE
    text = "" if refusal is None else ", ".join(refusal.reasons)
    return NodeJudgements(np.zeros(len(rows), np.bool_), np.full(len(rows), is_final), [text] * len(rows))


def _text_of(details: Details, row: int) -> str:
    refusal = details.refusal(row)
    return "" if refusal is None else ", ".join(refusal.reasons)


def _check_errors(verdict: Verdict, rows: Rows) -> None:
    """Upstream: an error of a predicate on any node ends the cycle."""
    for row in rows.tolist() if verdict.has_errors else ():
        error = verdict.error(row)
        if error is not None:
            raise CannotDecide(error)


def _texts(verdict: Verdict, rows: Rows) -> list[str]:
    """Why each of *rows* fails; nodes with the same findings share the text."""
    if not len(rows):
        return []
    keys = np.zeros(len(rows), np.int64)
    for _, failures in verdict.plain.findings:
        codes = failures.codes[rows]
        keys = np.unique(keys * (int(codes.max()) + 1) + codes, return_inverse=True)[1].reshape(-1)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    shared = [_text(verdict.plain.reasons(int(rows[i]))) for i in first.tolist()]
    texts = [shared[i] for i in which.reshape(-1).tolist()]
    if verdict.place:
        # With nominated pods a node has findings of its own.
        pairs = zip(rows.tolist(), texts, strict=True)
        texts = [_text(verdict.reasons(row)) if row in verdict.place else text for row, text in pairs]
    return texts


def _text(reasons: Reasons) -> str:
    return ", ".join(reason.text for reason in reasons)
