"""The nodes of an explanation by rules: those that were scored one by one, and the others in groups that fare alike."""

from __future__ import annotations

from typing import Any

from ....questions.closeupview import rule_name
from ....simulation.explain.explanation import Explanation
from ....simulation.explain.values import NodeReport
from ..page.markup import Markup, element, named, number, sentence
from ..page.matrix import Matrix, MatrixLine, RuleScore

MANY = 100
"""A score of that many times the highest one hides the others in a bar."""


def matrix(found: Explanation) -> Matrix:
    """The nodes that were scored one by one, and the others in groups that fare alike."""
    columns = [rule for rule, concerned in found.rules.items() if concerned]
    groups: dict[Any, list[int]] = {}
    for at, node in enumerate(found.nodes):
        groups.setdefault(_fate(node, at), []).append(at)
    lines = [_line(found, places) for places in groups.values()]
    lines.sort(key=lambda line: (not line.winner, line.total is None))
    return Matrix("matrix", columns, lines, deciding=_deciding(found), title="Nodes by rules")


def _fate(node: NodeReport, at: int) -> Any:
    """What nodes on one line have in common."""
    if node.total is not None:
        return at
    counted = tuple((one.rule, one.reasons) for one in node.objections if one.counted)
    return (node.fits, node.visited, counted)


def _line(found: Explanation, places: list[int]) -> MatrixLine:
    node = found.nodes[places[0]]
    failed = {one.rule: "; ".join(one.reasons) for one in node.objections if one.counted}
    huge = overwhelming(found)
    scores = [RuleScore(rule_name(rule), score.reduced, score.weight) for rule, score in node.scores.items() if rule not in huge]
    return MatrixLine(
        node=_names(found, places), count=len(places), failed=failed, passed=_passed(found, node, failed), state=_state(found, node),
        scores=scores, total=node.total, path=f"nodes.{places[0]}.total", winner=node.name == found.decision.host,
    )  # fmt: skip


def overwhelming(found: Explanation) -> list[str]:
    """Rules that give every node the same score, so high that the others could not be seen beside it."""
    choice = found.choice
    if choice is None:
        return []
    return [rule for rule, score in choice.constant.items() if score.total > MANY * choice.max_score]


def _names(found: Explanation, places: list[int]) -> Markup:
    first = named(found.nodes[places[0]].name)
    if len(places) == 1:
        return first
    others = element("span", number(len(places) - 1), class_="derived")
    return sentence(first, " and ", others, " other" if len(places) == 2 else " others")


def _passed(found: Explanation, node: NodeReport, failed: dict[str, str]) -> frozenset[str]:
    """The rules that were asked and had nothing against the node."""
    if not node.visited or (node.reasons and not failed):
        return frozenset()
    passed: set[str] = set()
    for rule in found.rules:
        if rule not in failed:
            passed.add(rule)
        elif not found.asks_all:
            break
    return frozenset(passed)


def _state(found: Explanation, node: NodeReport) -> str:
    if not node.visited:
        return "not reached"
    return "" if node.fits or node.objections else "left out"


def _deciding(found: Explanation) -> str:
    """The scoring rule that decided; for a pod without a node, the filtering rule that turned down most."""
    if found.choice is not None:
        return rule_name(found.choice.decided) if found.choice.decided is not None else ""
    groups = sorted(found.groups, key=lambda group: -group.count)
    return groups[0].rules[0] if found.decision.host is None and groups and groups[0].rules else ""
