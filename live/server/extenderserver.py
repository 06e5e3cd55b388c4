"""The verbs of an extender: from the body of a request to the body of its answer, on one consistent state of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

import attrs
import numpy as np

from ...api.objects import Pod
from ...core.arrays.types import Ints, Mask, Rows, Scores
from ...core.decision.decision import Details, NodeFailure
from ...core.decision.preemptionplan import Victims
from ...core.decision.score import ScoreError
from ...core.decision.verdict import Verdict
from ...core.engine import Engine, FilterError
from ...core.failures import Reasons
from ...exceptions import KubeclassicError
from .bodies import (
    UNPROCESSABLE,
    BindingArgs,
    NodesAsked,
    RequestError,
    binding_args,
    extender_args,
    filter_result,
    preemption_args,
    preemption_result,
    to_json,
)
from .served import ServedCluster

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
        refusal = details.refusal(engine.flow.node_list()[0])
        is_final = refusal is not None and refusal.code != UNSCHEDULABLE
        return NodeJudgements(np.zeros(len(rows), np.bool_), np.full(len(rows), is_final), [_joined(refusal)] * len(rows))
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
        texts[at] = _joined(details.refusal(int(rows[away[0]])))
    return NodeJudgements(fits, unresolvable, texts)


def _joined(refusal: NodeFailure | None) -> str:
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


# --- the verbs ------------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class ExtenderService:
    """Answers the calls of a scheduler. Not safe for threads, as its cluster is not."""

    cluster: ServedCluster

    @property
    def verbs(self) -> dict[str, Callable[[bytes], bytes]]:
        """The verbs that only ask, by the path that asks for them."""
        return {"filter": self.filter, "prioritize": self.prioritize, "preemption": self.preempt}

    def filter(self, body: bytes) -> bytes:
        """Which of the nodes fit, and why the others do not. This and the others raise :class:`RequestError`."""
        pod, asked = extender_args(body)
        try:
            return to_json(self._filtered(pod, asked))
        except CannotDecide as error:
            return to_json(filter_result(asked, error=str(error)))

    def _filtered(self, pod: Pod, asked: NodesAsked) -> dict[str, Any]:
        engine, rows = self.cluster.find(asked)
        pod = self.cluster.completed(pod)
        if not len(rows):
            return filter_result(asked)
        judged = filter_nodes(engine, pod, rows)
        names, failed = asked.names, np.flatnonzero(~judged.fits)
        beyond_help = failed[judged.unresolvable[failed]]
        why, lasting = ({names[at]: judged.texts[at] for at in found.tolist()} for found in (failed, beyond_help))
        return filter_result(asked, np.flatnonzero(judged.fits).tolist(), why, lasting)

    def prioritize(self, body: bytes) -> bytes:
        """The scores of the nodes, 0 to 10; see :func:`scaled`."""
        pod, asked = extender_args(body)
        engine, rows = self.cluster.find(asked)
        pod = self.cluster.completed(pod)
        if not len(rows):
            return to_json([])
        try:
            scores = scaled(score_nodes(engine, pod, rows)).tolist()
        except CannotDecide as error:
            # The answer of this verb has no field for an error; a scheduler goes on without these scores.
            raise RequestError("Pod", f"a pod that cannot be scored ({error})", "one that can", UNPROCESSABLE) from None
        return to_json([{"Host": name, "Score": score} for name, score in zip(asked.names, scores, strict=True)])

    def preempt(self, body: bytes) -> bytes:
        """Who has to leave which of the nodes. The victims of the request stay victims, as its scheduler's own rules want them gone."""
        pod, asked, victims = preemption_args(body)
        engine, rows = self.cluster.find(asked)
        pod = self.cluster.completed(pod)
        if not len(rows):
            return to_json(preemption_result({}, {}))
        try:
            candidates = find_victims(engine, pod, rows, {uid for uids in victims.values() for uid in uids})
        except CannotDecide as error:
            raise RequestError("Pod", f"a pod that cannot be tried ({error})", "one that can", UNPROCESSABLE) from None
        unknown = {name: [uid for uid in uids if not self._is_on(name, uid)] for name, uids in victims.items()}
        return to_json(preemption_result(candidates, unknown))

    def _is_on(self, node: str, uid: str) -> bool:
        return any(pod.uid == uid for pod in self.cluster.engine.pods_on(node))

    def binding(self, body: bytes, *, checks: bool) -> tuple[BindingArgs, str | None]:
        """The binding that a request asks for, and why it cannot be; None if it can.

        With *checks* the pod has to be known and without a node; else an API server judges.
        """
        args = binding_args(body)
        if self.cluster.engine.node(args.node) is None:
            got = f'"{args.node[:200]}", which the cluster does not have'
            raise RequestError("Node", got, "one of its nodes", UNPROCESSABLE)
        pod = self.cluster.bindable(args.key, args.uid) if checks else None
        host = "" if pod is None else pod.spec.node_name
        return args, f"pod {args.key} is already assigned to node {host}" if host else None

    def bound(self, args: BindingArgs) -> None:
        """The pod is bound: its node counts it from now on, if it is known."""
        with suppress(RequestError):
            pod = self.cluster.bindable(args.key, args.uid)
            if not pod.spec.node_name:
                self.cluster.put(pod.bound_to(args.node))
