"""One pod in two releases, on the same state of the cluster: what differs of each node, and by which fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

import attrs

from ...core.release.fact import REASONS, Fact
from ...exceptions import KubeclassicError
from ...framework.facts.facttable import facts_between
from ..compare.causes import Cause, CauseKind, Judged
from ..compare.compare import Following, unfollowed
from ..compare.contestants import NOT_VISITED, TURNED_DOWN, JudgedNode
from ..compare.ruleequivalents import SUCCESSORS
from .causes import Attributed, UpgradeTrial, total_of_rule
from .traits import shows
from .way import Way

What = Literal["fits", "reasons", "search", "score", "message"]
"""Whether the node fits, the reasons against it, whether the search looks at it, its score by a rule, or the message of the decision."""
FITS: Final = "fits"
REASONED: Final = "reasons"
SEARCHED: Final = "search"
SCORED: Final = "score"
MESSAGE: Final = "message"
KINDS: Mapping[What, CauseKind] = {FITS: "predicate", REASONED: "predicate", SEARCHED: "sampling", SCORED: "score", MESSAGE: "error"}
"""What differs -> the kind of cause that says which facts are about it."""


@attrs.frozen
class Difference:
    """One thing that the newer release says otherwise: of a node, or the message of the decision."""

    what: What
    rule: str | None = None
    node: str | None = None
    points: int | None = None
    """Of a score: how many points of 100 more, by weight."""

    @property
    def group(self) -> tuple[What, str | None]:
        """What differences have in common that one fact may explain."""
        return self.what, self.rule


@attrs.frozen(repr=False)
class PodInTwoReleases:
    """How two releases decide on one pod."""

    first: Judged
    second: Judged
    why: Attributed | None
    """Why they decide otherwise; None if they decide alike."""
    facts: Mapping[Difference, Fact | None]
    """All that differs, in the order of nodes -> the fact that causes it; None: it is not known."""


def explain_both(way: Way, following: Following = unfollowed) -> PodInTwoReleases:
    """How the two stages of *way* decide on the pod with which its courses end."""
    led = way.led(0, following)
    followed, number = way.followed(1, led), len(led.cycles) - 1
    trial = way.trial(1, led, led, followed)
    older, newer = (course.cycles[number].outcome for course in (led, followed))
    why = next(trial.attribute({number: (older, newer)}), None) if older != newer else None
    before, after = way.stages
    told = [fact for fact in facts_between(before.version, after.version) if shows(fact, way.traits)]
    nodes = [node.name for node in way.scenario.nodes]
    first, second = (judge.judged(judge.ask(number), nodes) for judge in (trial.older, trial.newer))
    return PodInTwoReleases(first, second, why, _NodeTrial(attrs.evolve(trial, facts=told), number, first, second).facts())


# --- what differs ---------------------------------------------------------------------------------------------------


def differences(first: Judged, second: Judged) -> Iterator[Difference]:
    """What the newer release says otherwise of each node, or if that is nothing, in the message of a decision without a node."""
    one, other = first.decision, second.decision
    found = list[Difference]()
    if one.details is not None and other.details is not None:
        for node, before in first.views.items():
            found += _of_node(first, second, before, second.views[node])
    found = list(_deciding(found, sum(one.total is not None and second.views[node].total is not None for node, one in first.views.items())))
    yield from found
    if not found and one.error != other.error and None not in (one.error, other.error):
        yield Difference(MESSAGE)


def _deciding(found: Sequence[Difference], scored: int) -> Iterator[Difference]:
    """All but scores that differ by the same number of points on each of the *scored* nodes, which decide nothing."""
    gains: dict[str | None, list[int | None]] = {}
    for one in found:
        if one.what == SCORED:
            gains.setdefault(one.rule, []).append(one.points)
    alike = {rule for rule, points in gains.items() if len(points) == scored and len(set(points)) == 1}
    return (one for one in found if one.what != SCORED or one.rule not in alike)


def _of_node(first: Judged, second: Judged, before: JudgedNode, after: JudgedNode) -> Iterator[Difference]:
    node = before.node
    if (before.state, before.reasons) != (after.state, after.reasons):
        judged = after if after.state == TURNED_DOWN else before
        what: What = REASONED if before.state == after.state else SEARCHED if NOT_VISITED in (before.state, after.state) else FITS
        yield Difference(what, None if what == SEARCHED else next(iter(judged.rules), None), node)
    if before.total is None or after.total is None:
        return
    for rule in dict.fromkeys([*after.scores, *(_successor(name, after) for name in before.scores)]):
        gain = _points(second, rule, after) - _points(first, rule, before)
        if gain:
            yield Difference(SCORED, rule, node, gain)


def _successor(rule: str, view: JudgedNode) -> str:
    """The rule of *view* that took the place of *rule*; itself where there is none."""
    return next((name for name in (rule, *SUCCESSORS.get(rule, ())) if name in view.scores), rule)


def _points(judged: Judged, rule: str, view: JudgedNode) -> int:
    return (total_of_rule(rule, view) or 0) * 100 // judged.contestant.scale


# --- by which fact --------------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class _NodeTrial:
    """Tries the newer release without facts, and looks which differences are gone then."""

    trial: UpgradeTrial
    number: int
    first: Judged
    second: Judged
    _tries: dict[tuple[str, ...], Judged | None] = attrs.field(factory=dict)

    def facts(self) -> dict[Difference, Fact | None]:
        """Each difference with its fact."""
        groups: dict[tuple[What, str | None], list[Difference]] = {}
        found: dict[Difference, Fact | None] = dict.fromkeys(differences(self.first, self.second))
        for one in found:
            groups.setdefault(one.group, []).append(one)
        for (what, rule), its in groups.items():
            found.update(self._of_group(Cause(KINDS[what], rule), its))
        return found

    def _of_group(self, cause: Cause, its: Sequence[Difference]) -> dict[Difference, Fact | None]:
        """For each difference the fact without which it is gone, or the last of several; else one that has a part in it."""
        ranked = self.trial.ranked(cause)
        if len(ranked) == 1 and self.trial.is_about(ranked[0], cause):
            return dict.fromkeys(its, ranked[0])
        sure = [fact for fact in ranked if fact.cells]
        words = its[0].what in (REASONED, MESSAGE)
        near = [fact for fact in sure if cause.rule is None or self.trial.is_about(fact, cause) or (words and not fact.decides)]
        several = [tuple(near[:count]) for count in range(2, len(near) + 1)]

        def restored(one: Difference, judged: Judged) -> bool:
            return self._says(one, judged) == self._says(one, self.first)

        def changed(one: Difference, judged: Judged) -> bool:
            return self._says(one, judged) != self._says(one, self.second)

        found = self._tried([*((fact,) for fact in sure), *several], its, restored)
        found |= self._tried([(fact,) for fact in near], [one for one in its if one not in found], changed)
        return found | {one: fact for one in its if one not in found for fact in self._untried(cause, one)}

    def _tried(
        self, tries: Sequence[tuple[Fact, ...]], its: Sequence[Difference], suits: Callable[[Difference, Judged], bool]
    ) -> dict[Difference, Fact | None]:
        """The last fact of the first of *tries* that suits a difference."""
        found: dict[Difference, Fact | None] = {}
        for facts in tries:
            left = [one for one in its if one not in found]
            if left and (judged := self._without(facts)) is not None:
                found.update({one: facts[-1] for one in left if suits(one, judged)})
        return found

    def _without(self, facts: tuple[Fact, ...]) -> Judged | None:
        """What the newer release says without *facts*; None if it cannot run without them."""
        names = tuple(fact.id for fact in facts)
        if names not in self._tries:
            try:
                judge = self.trial.without(facts)
                self._tries[names] = judge.judged(judge.ask(self.number), list(self.first.views))
            except KubeclassicError:
                self._tries[names] = None
        return self._tries[names]

    def _says(self, about: Difference, judged: Judged) -> object:
        """What a scheduler says of what differs."""
        if about.node is None:
            return judged.decision.error
        view = judged.views[about.node]
        if about.what == SCORED:
            return None if view.total is None else _points(judged, about.rule or "", view)
        return view.reasons if about.what == REASONED else view.state

    def _untried(self, cause: Cause, found: Difference) -> list[Fact]:
        """The fact of those that no cells say, if there is one."""
        if found.node is None:
            return []
        first, second = (attrs.evolve(one, views={found.node: one.views[found.node]}) for one in (self.first, self.second))
        if found.what != REASONED:
            return [fact for fact in [self.trial.untried(cause, first, second)] if fact is not None]
        if not set(second.views[found.node].reasons) < set(first.views[found.node].reasons):
            return []
        return [fact for fact in self.trial.facts if fact.is_about(REASONS) and not fact.cells][:1]
