"""Two or more schedulers on the same pods: the sides, their steps, and the cause where two decide
differently."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from attrs import Factory, define, field, frozen
from msgspec.structs import replace

from ..api.objects import Pod
from ..api.record import Names, Record
from ..core.arrays import NO_ROWS, Rows
from ..core.cycle import Algorithm, Priority
from ..core.decision import Decision, Details
from ..core.engine import Engine
from ..core.release.fact import rule_facts
from ..core.run import Run
from .simulate import Simulation

MODES = ("locked", "free")
Mode = Literal["locked", "free"]
"""``locked``: all decide on the same state each time, and only the first one's decisions take effect;
``free``: each goes its own way."""
Decided = tuple[str | None, str | None, Names]


def decided(decision: Decision) -> Decided:
    """The outcome of a decision: the host, or else the node of a preemption and its victims."""
    plan = decision.preemption
    if decision.host is not None or plan is None or plan.node is None:
        return decision.host, None, ()
    return None, plan.node, tuple(sorted(victim.key for victim in plan.victims))


def nodes_of(*outcomes: Decided) -> list[str]:
    """The nodes of some outcomes, each once: hosts, and nodes where room is made."""
    return list(
        dict.fromkeys(name for host, room, _ in outcomes for name in (host, room) if name is not None)
    )


def best(decision: Decision) -> Rows:
    """intp[k]: the rows that share the best total, in visiting order; none if there is no host. *decision*
    must have kept its details."""
    details = decision.details
    if decision.host is None:
        return NO_ROWS
    return details.feasible_rows if details.best is None else details.feasible_rows.take(details.best)


# --- rules of two releases ----------------------------------------------------------------------------------

_WAYS = {
    name: (*rule.first, *rule.plugins)
    for name, rule in rule_facts().items()
    if rule.kind in ("priority", "argument")
}
SUCCESSORS = {
    name: way[at:]
    for rule, plugins in _WAYS.items()
    for way in [(rule, *plugins)]
    for at, name in enumerate(way[:-1], 1)
}
"""Rule that scores -> the plugins of later releases that took its place, the nearest first."""
OF_ARGUMENTS = {
    "requestedtocapacityratio": ("NodeResourcesFit",),
    "nodelabel": _WAYS["labelPreference"],
    "serviceantiaffinity": _WAYS["serviceAntiAffinity"],
}
"""Module of a priority -> its successors, for priorities that a Policy defines by arguments, under any
name."""


def subjects(rules: Iterable[Priority], others: Collection[str]) -> dict[str, str]:
    """Rule -> the name under which it is compared: of its own name and its successors', the first that is
    also a name or a successor of *others*; else its own.

    >>> from kubeclassic.algorithmprovider import CATALOGUE
    >>> rules = [CATALOGUE.priorities[name] for name in ("MostRequestedPriority", "EqualPriority")]
    >>> subjects(rules, ["NodeResourcesFit"])
    {'MostRequestedPriority': 'NodeResourcesFit', 'EqualPriority': 'EqualPriority'}
    >>> subjects(rules, ["MostRequestedPriority"])
    {'MostRequestedPriority': 'MostRequestedPriority', 'EqualPriority': 'EqualPriority'}
    """
    compared_names = {name for other_name in others for name in (other_name, *SUCCESSORS.get(other_name, ()))}
    names_by_rule = dict[str, str]()
    for rule in rules:
        module = getattr(rule.score, "__module__", "").rpartition(".")[2]
        names = rule.name, *(SUCCESSORS.get(rule.name) or OF_ARGUMENTS.get(module, ()))
        names_by_rule[rule.name] = next((name for name in names if name in compared_names), rule.name)
    return names_by_rule


# --- a side -------------------------------------------------------------------------------------------------


@define(eq=False, repr=False)
class Side:
    """A named scheduler with its own copy of the cluster."""

    name: str
    simulation: Simulation
    run: Run = field(init=False)
    _subjects: dict[tuple[Algorithm, Algorithm], Mapping[str, str]] = Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.run = self.simulation.begin()
        self.engine.transient_details = True

    @property
    def engine(self) -> Engine:
        """The scheduler itself."""
        return self.simulation.engine

    def subjects(self, pod: Pod, beside: Side) -> Mapping[str, str]:
        """Rule that scores for *pod* -> the name under which it is compared with the rules of *beside*."""
        pair = algorithm_for(pod, self.engine), algorithm_for(pod, beside.engine)
        if pair not in self._subjects:
            own_rules, other_rules = ([rule for rule, _ in algorithm.priorities] for algorithm in pair)
            self._subjects[pair] = subjects(own_rules, [rule.name for rule in other_rules])
        return self._subjects[pair]


def algorithm_for(pod: Pod, engine: Engine) -> Algorithm:
    """The rules of *engine* for *pod*; with profiles, those of its profile."""
    return engine.algorithm_of(pod) or engine.algorithm


@frozen(eq=False, repr=False)
class SidesStep:
    """One cycle of each side that tries a pod; the details of decisions last until the next step."""

    pod: Pod
    is_retry: bool
    position: tuple[Any, int]
    """The positions of the visiting order and the tie-break of the first of *sides* before the cycle."""
    sides: Sequence[Side]
    decisions: Mapping[str, Decision]
    """Name of a side -> its decision."""


def follow(sides: Sequence[Side], mode: Mode) -> Iterator[SidesStep]:
    """The steps of *sides*. The first side decides the order of pods, and in mode locked its decisions make
    the states on which all decide."""
    for pod, trying, is_retry in _turns(sides, mode):
        leader = trying[0]
        position = leader.engine.position
        leading = leader.simulation.note(leader.run.cycle(pod, retry=is_retry))
        decisions = {leader.name: leading}
        for side in trying[1:]:
            if mode != "locked":
                decisions[side.name] = side.simulation.note(side.run.cycle(pod, retry=is_retry))
                continue
            decision = decisions[side.name] = side.run.follow(pod, leading)
            same_room = decision.preemption is leading.preemption
            side.simulation.note(decision if same_room else replace(decision, preemption=leading.preemption))
        yield SidesStep(pod, is_retry, position, trying, decisions)
        if mode == "locked":
            # Pods that plugins of the first side made wait, and have now rejected, lose their node on all
            # sides.
            for rejected in leader.simulation.taken_back:
                for side in trying[1:]:
                    side.run.give_back(rejected)
            leader.simulation.taken_back.clear()


def _turns(sides: Sequence[Side], mode: Mode) -> Iterator[tuple[Pod, Sequence[Side], bool]]:
    """Each pod with the sides that try it, and whether this is a retry: in mode free each side retries the
    pods that made room on it."""
    leader = sides[0]
    for pod in leader.simulation.pods():
        yield pod, sides, False
    while True:
        retries = {side.name: {pod.key: pod for pod in side.run.take_retries()} for side in sides}
        if mode == "locked":
            retries = dict.fromkeys(retries, retries[leader.name])
        if not any(retries.values()):
            return
        for key in dict.fromkeys(key for keys in retries.values() for key in keys):
            trying = [side for side in sides if key in retries[side.name]]
            yield retries[trying[0].name][key], trying, True


# --- how a side judges a node -------------------------------------------------------------------------------

EXTENDER = "Extender"


class WeighedScore(Record):
    """A rule's score for a node."""

    score: int
    weight: int
    total: int
    """Score times weight."""


class JudgedNode(Record):
    """The judgement of a node by one configuration."""

    node: str
    state: Literal["fits", "turned down", "not visited", "not asked"]
    rules: Names = ()
    """The rules that reject it."""
    reasons: Names = ()
    scores: Mapping[str, WeighedScore] = {}
    """By rule."""
    total: int | None = None


def node_view(engine: Engine, decision: Decision, node: str, *, scored: bool = True) -> JudgedNode:
    """The judgement of *node* in the cycle of *decision*, as :func:`node_views` gives it."""
    return node_views(engine, decision, (node,), scored=scored)[node]


def node_views(
    engine: Engine, decision: Decision, nodes: Iterable[str], *, scored: bool = True
) -> dict[str, JudgedNode]:
    """Node -> its judgement in the cycle of *decision*, which kept its details; call before the next cycle of
    *engine*. *scored*: with scores."""
    details = decision.details
    views = dict[str, JudgedNode]()
    places = dict[str, int]()
    """Node that fits -> its place among the feasible rows."""
    for node in nodes:
        row = engine.row_of(node)
        if row is None:
            views[node] = JudgedNode(node, "not asked")
        elif (is_row := details.feasible_rows == row).any():
            views[node] = JudgedNode(node, "fits")
            places[node] = int(is_row.argmax())
        else:
            views[node] = _turned_down(details, node, row)
    if not scored or not places:
        return views
    ranking = details.ranking_at(np.fromiter(places.values(), np.intp, len(places)))
    if ranking is None:
        return views
    for at, node in enumerate(places):
        scores = {
            rule.name: WeighedScore(score := line.item(at), weight, score * weight)
            for rule, weight in algorithm_for(decision.pod, engine).priorities
            if (line := ranking.by_priority.get(rule.name)) is not None
        }
        views[node] = JudgedNode(node, "fits", scores=scores, total=ranking.totals.item(at))
    return views


def _turned_down(details: Details, node: str, row: int) -> JudgedNode:
    """The judgement of a node on which the pod does not fit, or which the search did not visit."""
    if not details.has_visited(row) and node not in details.extender_reasons:
        return JudgedNode(node, "not asked" if details.search is None else "not visited")
    refusal = details.refusal(row)
    if refusal is None or not refusal.reasons:
        return JudgedNode(node, "turned down")
    rules = refusal.rules or ((EXTENDER,) if node in details.extender_reasons else ())
    return JudgedNode(node, "turned down", rules, refusal.reasons)


# --- causes -------------------------------------------------------------------------------------------------

CauseKind = Literal["predicate", "score", "tie", "sampling", "preemption", "error", "gated"]
KINDS: Mapping[CauseKind, str] = {
    "predicate": "one turns a node down that the other takes",
    "score": "both nodes fit in both, but another one scores best",
    "tie": "both nodes have the same score in both, and the tie-break chose another one",
    "sampling": "one did not look at the node that the other takes",
    "preemption": "neither finds a node, and they make room differently",
    "error": "one could not answer",
    "gated": "one holds the pod back for its scheduling gates, and the other tries it",
}


class Cause(Record):
    """The cause of a difference."""

    kind: CauseKind
    rule: str | None = None
    """The predicate or plugin that turns the node down, or the rule whose scores decided."""
    side: str | None = None
    """The configuration that it concerns."""
    node: str | None = None
    text: str = ""


@frozen(repr=False)
class SideView:
    """The latest decision of a side on a pod, and its view of each node in question."""

    side: Side
    decision: Decision
    names: Collection[str]

    @cached_property
    def nodes(self) -> Mapping[str, JudgedNode]:
        """Node -> its judgement; to be read before the next cycle of the side."""
        return node_views(self.side.engine, self.decision, self.names)

    def refusal(self, node: str) -> Cause | None:
        """The cause why the side cannot take *node*; None if it could, or was not asked."""
        return refusal_of(self.side.name, node_view(self.side.engine, self.decision, node, scored=False))

    def leanings(self, first_node: str, second_node: str, beside: SideView) -> dict[str, tuple[int, int]]:
        """Subject -> the points by which its rules prefer *second_node* to *first_node*, and the most that
        they should give."""
        before = self.nodes[first_node].scores
        after = self.nodes[second_node].scores
        leanings = dict[str, tuple[int, int]]()
        for rule, subject in self.side.subjects(self.decision.pod, beside.side).items():
            if rule in before and rule in after:
                points, most = leanings.get(subject, (0, 0))
                most += self.side.engine.max_score * abs(before[rule].weight)
                leanings[subject] = points + after[rule].total - before[rule].total, most
        return leanings


def refusal_of(side: str, view: JudgedNode) -> Cause | None:
    """The cause why a side cannot take a node: it rejected the node, or did not visit it. None: it could have
    taken the node, or was not asked."""
    if view.state == "turned down":
        return Cause("predicate", next(iter(view.rules), None), side, view.node, "; ".join(view.reasons))
    if view.state == "not visited":
        return Cause(
            "sampling", None, side, view.node, "the search found enough nodes before it reached this one"
        )
    return None


def cause_of(first: SideView, second: SideView) -> Cause:
    """The cause of *second*'s decision where it differs from *first*'s."""
    views = (first, second)
    hosts = (first.decision.host, second.decision.host)
    for view in views:
        if view.decision.is_gated:
            return Cause("gated", side=view.side.name, text=view.decision.error or "")
    for view in views:
        if view.decision.host is None and not view.decision.is_fit_error:
            return Cause("error", side=view.side.name, text=view.decision.error or "")
    crossed = (
        view.refusal(host) for view, host in ((second, hosts[0]), (first, hosts[1])) if host is not None
    )
    refusals = sorted(filter(None, crossed), key=lambda cause: cause.kind == "sampling")
    if refusals:
        return refusals[0]
    return Cause("preemption") if None in hosts else _deciding(first, second, hosts[0] or "", hosts[1] or "")


def _deciding(first: SideView, second: SideView, first_node: str, second_node: str) -> Cause:
    """The cause where both nodes fit on both sides: the rule by which *second_node* gains most over
    *first_node* from the first side to the second."""
    if first_node == second_node:
        return Cause("preemption", node=second_node)
    if all(view.nodes[first_node].total == view.nodes[second_node].total for view in (first, second)):
        return Cause("tie", node=second_node)
    before = first.leanings(first_node, second_node, second)
    after = second.leanings(first_node, second_node, first)
    name = second.side.name
    first_shares, second_shares = (
        {subject: points / view.side.engine.max_score for subject, (points, _) in leanings.items()}
        for view, leanings in ((first, before), (second, after))
    )
    gains = {
        subject: second_shares.get(subject, 0) - first_shares.get(subject, 0)
        for subject in {**after, **before}
    }
    rule = max(gains, key=lambda subject: gains[subject], default=None)
    if rule is None:
        return Cause("score", None, name, second_node)
    sentences = []
    for view, leanings in ((second, after), (first, before)):
        points, most = leanings.get(rule, (0, 0))
        if rule not in leanings:
            preference = "has no such rule"
        elif not points:
            preference = f"scores {first_node} and {second_node} alike"
        else:
            better, worse = (second_node, first_node) if points > 0 else (first_node, second_node)
            # Points beyond the most that the rules should give are shown without the limit.
            limit = f" of {most:,}" if abs(points) <= most else ""
            preference = f"prefers {better} to {worse} by {abs(points):,}{limit} points"
        sentences.append(f"{view.side.name} {preference}")
    return Cause("score", rule, name, second_node, "; ".join(sentences))
