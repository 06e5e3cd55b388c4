"""A plugin's Filter and Score as a predicate and a priority, so that both generations share one cycle and one cache."""

from __future__ import annotations

from typing import Any

import attrs

from ..core.arrays.batch import Batch
from ..core.arrays.types import Scores
from ..core.failures import Failures
from ..core.pods.template import Template
from ..core.rule import Predicate, Priority, RuleError
from .extensionpoints import Filter, Score


def as_predicate(plugin: Filter, pre_filters: bool) -> Predicate:
    """The plugin's Filter as a predicate; *pre_filters*: its PreFilter is enabled too."""
    ask = plugin.filter
    missing = None if pre_filters else plugin.without_pre_filter

    def check(pod: Template, nodes: Batch, cycle: Any) -> Failures | None:
        if missing is not None:
            return Failures.error(_wrapped(plugin, missing), nodes.has_node)
        try:
            found = ask(pod, nodes, cycle)
        except RuleError as error:
            return Failures.error(_wrapped(plugin, str(error)), nodes.has_node)
        if found is not None and found.errors is not None:
            return attrs.evolve(found, texts=tuple(_wrapped(plugin, text) for text in found.texts))
        return found

    concerns = plugin.concerns if missing is None else (lambda pod: True)
    return Predicate(name=plugin.name, check=check, reads=plugin.filter_reads, concerns=concerns, key=plugin.filter_key)


def _wrapped(plugin: Filter, text: str) -> str:
    return f'running "{plugin.name}" filter plugin: {text}'


def as_priority(plugin: Score, pre_scores: bool) -> Priority:
    """The plugin's Score and NormalizeScore as a priority; *pre_scores*: its PreScore is enabled too."""
    score = plugin.score
    missing = None if pre_scores else plugin.without_pre_score

    def raw(pod: Template, nodes: Batch, cycle: Any) -> Scores:
        if missing is not None:
            raise RuleError(missing)
        return score(pod, nodes, cycle)

    normalize = getattr(plugin, "normalize_score", None)
    return Priority(
        name=plugin.name, score=raw, reads=plugin.score_reads, key=plugin.score_key, reduce=normalize, whole_list=plugin.scores_together,
    )  # fmt: skip


def as_cacheable(plugin: Any, pre_scores: bool) -> Priority:
    """The plugin's Score in its cacheable form: ``kept_score`` and ``kept_normalize`` if it has them."""
    rule = as_priority(plugin, pre_scores)
    if not hasattr(plugin, "kept_score") or not (pre_scores or plugin.without_pre_score is None):
        return rule
    return attrs.evolve(rule, score=plugin.kept_score, reduce=plugin.kept_normalize, whole_list=False)
