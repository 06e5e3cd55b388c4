"""Scores of the feasible nodes. Upstream: prioritizeNodes in schedule_one.go, RunScorePlugins in
runtime/framework.go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...core.arrays import NodeTable
from ...core.decision import (
    SUCCESS,
    Extender,
    Phase,
    PhaseHook,
    Ranking,
    ScoreError,
    reduced_scores,
    scores_by_extenders,
)
from ..plugin import (
    EVEN,
    MAX_NODE_SCORE,
    Batch,
    Code,
    FrameworkCycle,
    Priority,
    PriorityError,
    Reads,
    Rows,
    Scores,
)
from ..profile import Profile

EXTENDER_SCALE = 10
"""Extenders score 0 to 10, plugins 0 to 100."""


def prioritize(
    cycle: FrameworkCycle,
    profile: Profile,
    feasible: Rows,
    extenders: Sequence[Extender] = (),
    on_phase: PhaseHook | None = None,
) -> Ranking:
    """Score the rows *feasible*; without extenders and score plugins every node gets 1. Raises
    :class:`ScoreError` with upstream's text.

    *on_phase* is called when PreScore has ended.
    """
    cells = cycle.release.framework
    ranking = Ranking(np.zeros(len(feasible), np.int64), {}, {})
    if not extenders and not profile.points["score"]:
        if cells.pre_scores_one_node:
            pre_score(cycle, profile, feasible)
        ranking.totals += 1
        return ranking
    nodes = Batch(cycle.table, feasible)
    skipped = pre_score(cycle, profile, feasible)
    if on_phase is not None:
        on_phase(Phase.PRE_SCORE, SUCCESS)
    rules = [(rule, weight) for rule, weight in profile.algorithm.priorities if rule.name not in skipped]
    nodes_of = _nodes_scored(cycle, nodes)
    for rule, _ in rules:
        (raw,) = cycle.raw_scores([rule], nodes_of(rule))
        if isinstance(raw, PriorityError):
            raise _error(cycle, cells.score_error, rule.name, raw)
        ranking.raw[rule.name] = raw
    for rule, weight in rules:
        is_again = rule.name in ranking.by_priority
        raw = ranking.by_priority[rule.name] if is_again else ranking.raw[rule.name]
        try:
            scores = raw if rule.reduce is None else reduced_scores(cycle, rule, nodes_of(rule), raw)
        except PriorityError as error:
            raise _error(cycle, cells.normalize_error, rule.name, error) from None
        if is_again:
            ranking.totals -= ranking.by_priority[rule.name] * weight
        ranking.by_priority[rule.name] = scores
        ranking.totals += scores if weight == 1 else scores * weight
    try:
        _check_range(ranking, cells.checks_plugin_by_plugin)
        if len(ranking.raw) < len(rules):
            _weigh_again(rules, ranking)
    except ScoreError as error:
        # Upstream: all scores are normalized by then.
        raise ScoreError(
            f"{cells.range_error.format(pod=cycle.pod.name)}{error}", ranking.by_priority
        ) from None
    if extenders:
        ranking.totals += EXTENDER_SCALE * scores_by_extenders(cycle, nodes, extenders)
    return ranking


OF_A_NODE = Reads.NODE | Reads.REQUESTS | Reads.CLUSTER
"""The reads of rules that look at each node by itself, without what a plugin has stored about it."""


def _nodes_scored(cycle: FrameworkCycle, nodes: Batch) -> Callable[[Priority], Batch]:
    """The feasible *nodes* for each rule, perhaps as an extender sent them back: without pods and images."""
    if cycle.described is None or not cycle.release.framework.scores_sent_nodes:
        return lambda rule: nodes
    described = cycle.as_described(nodes)
    node_by_name = {node.name: node for node in cycle.described}
    table = NodeTable(cycle.table.zone_key, cycle.table.ignores_storage)
    table.add_rows(list(node_by_name))
    table.set_nodes({table.row_of[name]: (node, {}) for name, node in node_by_name.items()})
    sent = Batch(table, np.array([table.row_of[nodes.name(i)] for i in range(nodes.n)], np.intp))

    def nodes_of(rule: Priority) -> Batch:
        if rule.reads & Reads.DOMAIN:
            return described
        reads_devices = rule.reads_devices is not None and rule.reads_devices(cycle.template)
        return nodes if reads_devices or rule.reads & ~OF_A_NODE else sent

    return nodes_of


def _error(cycle: FrameworkCycle, form: str, plugin: str, text: object) -> ScoreError:
    return ScoreError(form.format(plugin=plugin, text=text, pod=cycle.pod.name))


def pre_score(cycle: FrameworkCycle, profile: Profile, feasible: Rows) -> set[str]:
    """The plugins whose PreScore skips scoring of the rows *feasible*. Raises :class:`ScoreError`."""
    nodes = Batch(cycle.table, feasible)
    skipped = set()
    statuses = cycle.template.notes.setdefault(profile.pre_score_slot, {})
    for plugin in profile.points["preScore"]:
        if plugin.name in statuses:
            status = statuses[plugin.name]
        else:
            status = plugin.pre_score(cycle.template, nodes, cycle)
            if plugin.pre_score_by_class and getattr(plugin, "kept_score", None) is None:
                statuses[plugin.name] = status
        if status is None or status.code is Code.SUCCESS:
            continue
        if status.code is not Code.SKIP:
            raise _error(cycle, cycle.release.framework.pre_score_error, plugin.name, status.message)
        skipped.add(plugin.name)
    return skipped


def _weigh_again(rules: list[tuple[Priority, int]], ranking: Ranking) -> None:
    """Weigh scores once more for plugins that run twice. Their first weighting may have taken them out of
    range."""
    scored = set()
    for rule, weight in rules:
        scores = ranking.by_priority[rule.name]
        if rule.name in scored:
            outside = scores * weight > MAX_NODE_SCORE
            if outside.any():
                raise _out_of_range(rule.name, int(scores[int(np.argmax(outside))]) * weight)
            ranking.totals += scores * (weight * weight - weight)
        scored.add(rule.name)


def _is_within(scores: Scores) -> bool:
    if scores.strides == EVEN:
        return 0 <= int(scores[0]) <= MAX_NODE_SCORE
    # As unsigned numbers, those below 0 are above every bound.
    return scores.dtype == np.int64 and bool(scores.view(np.uint64).max() <= MAX_NODE_SCORE)


def _check_range(ranking: Ranking, plugin_by_plugin: bool) -> None:
    if all(map(_is_within, ranking.by_priority.values())):
        return
    outside = {name: (scores < 0) | (scores > MAX_NODE_SCORE) for name, scores in ranking.by_priority.items()}
    violations = [
        (order if plugin_by_plugin else int(np.argmax(mask)), order, name)
        for order, (name, mask) in enumerate(outside.items())
        if mask.any()
    ]
    if violations:
        name = min(violations)[2]
        raise _out_of_range(name, int(ranking.by_priority[name][int(np.argmax(outside[name]))]))


def _out_of_range(name: str, score: int) -> ScoreError:
    return ScoreError(
        f'plugin "{name}" returns an invalid score {score}, it should in the range of [0, 100] after normalizing'
    )
