"""A plugin's Filter and Score as a predicate and a priority, so that both generations share one cycle and one
cache."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import attrs
import numpy as np

from ..core.arrays import Batch, Failures, Scores
from ..core.cycle import Predicate, Priority, PriorityError, every_pod
from ..core.pods import Template
from ..core.release import FrameworkCells
from .plugin import Plugin
from .status import OURS


def as_predicate(plugin: Any, pre_filters: bool, one_reason: bool = False) -> Predicate:
    """The plugin's Filter as a predicate; *pre_filters*: its PreFilter is enabled too; *one_reason*: a node
    has one reason, of upstream's plugins (those with clauses see to it themselves)."""
    ask: Callable[..., Failures | None] = plugin.filter
    missing = None if pre_filters else plugin.without_pre_filter
    clauses = None if missing is not None else getattr(plugin, "filter_clauses", None)
    has_one_reason = (
        one_reason
        and getattr(plugin, "filter_clauses", None) is None
        and type(plugin).__module__.startswith(OURS)
    )

    def check(pod: Template, nodes: Batch, cycle: Any) -> Failures | None:
        if missing is not None:
            return Failures.error(_wrapped(plugin, missing), nodes.has_node)
        try:
            found = ask(pod, nodes, cycle)
        except PriorityError as error:
            return Failures.error(_wrapped(plugin, str(error)), nodes.has_node)
        if found is not None and has_one_reason:
            found = found.with_one_reason()
        if found is not None and found.errors is not None:
            return attrs.evolve(found, texts=tuple(_wrapped(plugin, text) for text in found.texts))
        return found

    return Predicate(
        name=plugin.name,
        check=check,
        reads=plugin.filter_reads,
        concerns=every_pod if missing is not None else _concerns(plugin.concerns, Plugin.concerns),
        key=plugin.filter_key,
        effect=getattr(plugin, "filter_effect", None),
        clauses=clauses,
    )


def _concerns(own: Callable[[Template], bool], usual: object) -> Callable[[Template], bool]:
    """A plugin's *own* method; one that leaves out no pod, as the *usual* one, is not asked about each."""
    return every_pod if getattr(own, "__func__", None) is usual else own


def _wrapped(plugin: Any, text: str) -> str:
    return f'running "{plugin.name}" filter plugin: {text}'


_WRAPPED = re.compile(r'running "([^"]*)" filter plugin: (.*)', re.DOTALL)


def filter_error(text: str, pod: str, cells: FrameworkCells) -> str:
    """The error *text* of a rule as the release words it for the pod with that name: answers are shared by
    pods of one template."""
    found = _WRAPPED.fullmatch(text)
    return text if found is None else cells.filter_error.format(plugin=found[1], text=found[2], pod=pod)


def as_priority(plugin: Any, pre_scores: bool) -> Priority:
    """The plugin's Score and NormalizeScore as a priority; *pre_scores*: its PreScore is enabled too."""
    missing = None if pre_scores else plugin.without_pre_score

    def fails(pod: Template, nodes: Batch, cycle: Any) -> Scores:
        raise PriorityError(missing or "")

    return Priority(
        name=plugin.name,
        score=plugin.score if missing is None else fails,
        reads=plugin.score_reads,
        key=plugin.score_key,
        reduce=getattr(plugin, "normalize_score", None),
        whole_list=plugin.scores_together,
        concerns=every_pod
        if missing is not None
        else _concerns(plugin.score_concerns, Plugin.score_concerns),
        sums=None if missing is not None else getattr(plugin, "score_sums", None),
        reads_devices=getattr(plugin, "score_devices", None),
    )


def as_cacheable(plugin: Any, pre_scores: bool, max_score: int) -> Priority:
    """The plugin's Score in its cacheable form: ``kept_score`` and ``kept_normalize`` if it has them.

    A user's plugin whose final score is below 0 or above *max_score* is an error, so that the cycle is run,
    which says what upstream says.
    """
    rule = as_priority(plugin, pre_scores)
    if getattr(plugin, "kept_score", None) is not None and (pre_scores or plugin.without_pre_score is None):
        # What is kept is not the score itself, so it has a key of its own.
        key = plugin.score_key
        kept = plugin.kept_score
        rule = attrs.evolve(
            rule, score=kept, reduce=plugin.kept_normalize, whole_list=False, key=lambda pod: (kept, key(pod))
        )
    if type(plugin).__module__.startswith(OURS):
        return rule
    if rule.reduce is None:
        return attrs.evolve(rule, score=_within(rule.score, max_score))
    return attrs.evolve(rule, reduce=_within(rule.reduce, max_score))


def _within(method: Callable[..., Scores], max_score: int) -> Callable[..., Scores]:
    @wraps(method)
    def bounded(*arguments: Any) -> Scores:
        scores = method(*arguments)
        # Seen as unsigned, numbers below 0 are above every bound.
        if len(scores) and int(scores.view(np.uint64).max()) > max_score:
            raise PriorityError("a score is out of range")
        return scores

    return bounded
