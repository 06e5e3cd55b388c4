"""The verbs of an extender: from the body of a request to the body of its answer, on one consistent state of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
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
from ...exceptions import KubeclassicError
from .bodies import (
    UNPROCESSABLE,
    BindingArgs,
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


def _judged(engine: Engine, details: Details, rows: Rows) -> tuple[Mask, Mask, list[str]]:
    """Which of *rows* fit, bool[k]; on which the removal of pods cannot help, bool[k]; and why they do not fit, empty where they do."""
    if details.search is None:
        refusal = details.refusal(engine.flow.node_list()[0])
        is_final = refusal is not None and refusal.code != UNSCHEDULABLE
        why = "" if refusal is None else ", ".join(refusal.reasons)
        return np.zeros(len(rows), np.bool_), np.full(len(rows), is_final), [why] * len(rows)
    verdict = details.search.verdict
    texts, outside = [""] * len(rows), np.isin(rows, details.outside)
    fits, unresolvable = verdict.fits[rows] & ~outside, verdict.unresolvable()[rows] | outside
    failed = np.flatnonzero(~fits & ~outside)
    # Upstream: an error of a predicate on any node ends the cycle.
    for row in rows[failed].tolist() if verdict.has_errors else ():
        error = verdict.error(row)
        if error is not None:
            raise CannotDecide(error)
    for at, text in zip(failed.tolist(), _texts(verdict, rows[failed]), strict=True):
        texts[at] = text
    away = np.flatnonzero(outside).tolist()
    for at in away:
        refusal = details.refusal(int(rows[away[0]]))
        texts[at] = "" if refusal is None else ", ".join(refusal.reasons)
    return fits, unresolvable, texts


def _texts(verdict: Verdict, rows: Rows) -> list[str]:
    """Why each of *rows* fails; nodes with the same findings share the text."""
    if not len(rows):
        return []
    keys = np.zeros(len(rows), np.int64)
    for _, failures in verdict.plain.findings:
        codes = failures.codes[rows]
        keys = np.unique(keys * (int(codes.max()) + 1) + codes, return_inverse=True)[1].reshape(-1)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    shared = [", ".join(reason.text for reason in verdict.plain.reasons(int(rows[i]))) for i in first.tolist()]
    texts = [shared[i] for i in which.reshape(-1).tolist()]
    for at, row in enumerate(rows.tolist() if verdict.place else ()):
        if row in verdict.place:  # With nominated pods a node has findings of its own.
            texts[at] = ", ".join(reason.text for reason in verdict.reasons(row))
    return texts


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
        engine, rows = self.cluster.find(asked)
        pod = self.cluster.completed(pod)
        if not len(rows):
            return to_json(filter_result(asked))
        try:
            with engine.preserving_state(pod):
                fits, unresolvable, texts = _judged(engine, _begun(engine, pod)[1], rows)
        except CannotDecide as error:
            return to_json(filter_result(asked, error=str(error)))
        names, failed = asked.names, np.flatnonzero(~fits)
        why, lasting = ({names[at]: texts[at] for at in found.tolist()} for found in (failed, failed[unresolvable[failed]]))
        return to_json(filter_result(asked, np.flatnonzero(fits).tolist(), why, lasting))

    def prioritize(self, body: bytes) -> bytes:
        """The scores of the nodes, 0 to 10, as if they were those that fit; see :func:`scaled`."""
        pod, asked = extender_args(body)
        engine, rows = self.cluster.find(asked)
        pod = self.cluster.completed(pod)
        if not len(rows):
            return to_json([])
        try:
            with engine.preserving_state(pod):
                scores = scaled(engine.flow.score(_begun(engine, pod)[0], rows).totals).tolist()
        except (CannotDecide, ScoreError) as error:
            # The answer of this verb has no field for an error; a scheduler goes on without these scores.
            raise RequestError("Pod", f"a pod that cannot be scored ({error})", "one that can", UNPROCESSABLE) from None
        return to_json([{"Host": name, "Score": score} for name, score in zip(asked.names, scores, strict=True)])

    def preempt(self, body: bytes) -> bytes:
        """Who has to leave which of the nodes. The victims of the request stay victims, as its scheduler's own rules want them gone."""
        pod, asked, victims = preemption_args(body)
        engine, rows = self.cluster.find(asked)
        pod = self.cluster.completed(pod)
        candidates: Mapping[str, Victims] = {}
        if not len(rows):
            return to_json(preemption_result(candidates, {}))
        try:
            with engine.preserving_state(pod):
                cycle, details = _begun(engine, pod)
                if details.search is not None:
                    unresolvable = details.search.verdict.unresolvable()
                    unresolvable[details.outside] = True
                    candidates = engine.flow.victims(cycle, rows, unresolvable, {uid for uids in victims.values() for uid in uids})
        except CannotDecide as error:
            raise RequestError("Pod", f"a pod that cannot be tried ({error})", "one that can", UNPROCESSABLE) from None
        unknown = {}
        for name, uids in victims.items():
            there = {pod.uid for pod in self.cluster.engine.pods_on(name)}
            unknown[name] = [uid for uid in uids if uid not in there]
        return to_json(preemption_result(candidates, unknown))

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
