"""By which fact of a release a decision became another one.

The first rule that differs says which facts may be the reason. A fact that cells of the table say is tried:
the newer release without it decides as the older one did, or sees the node as the older one saw it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import attrs

from ...core.decision import Decision
from ...core.release.fact import EVERYTHING, SEARCH, TIES, Fact, rule_facts
from ...core.release.fact import PREEMPTION as OF_PREEMPTION
from ...exceptions import KubeclassicError
from ...framework.releases import ALL_RELEASES
from ...simulation.sides import (
    SUCCESSORS,
    Cause,
    CauseKind,
    Decided,
    JudgedNode,
    SideView,
    WeighedScore,
    cause_of,
    decided,
    node_view,
    nodes_of,
)
from .sides import FollowingSide

Effect = Literal["fact", "earlier decision", "unknown"]
FEW = 40
"""Up to that many decisions are looked at one by one."""
ONE_IN = 4
"""So are up to one in that many steps, where several facts fit: a decision that is asked about costs three times
as much as a step, and a step that is only carried out a sixth of it."""
_ORDER = list(ALL_RELEASES)
DETAILED = 200
"""For this many decisions of a step the views of both releases are compared, which say the rule and its
points, and facts are tried in their order; of all others those come first that explained the most."""
ABOUT: Mapping[CauseKind, str] = {"tie": TIES, "sampling": SEARCH, "preemption": OF_PREEMPTION}
"""Kind of a cause without a rule -> what facts say that they are about."""


Ways = Mapping[str, Callable[[FollowingSide, int], bool]]
"""How the older decision, or view, may be restored -> whether a try does so in a step."""


@attrs.frozen(repr=False)
class FoundCause:
    """The cause of a changed decision."""

    effect: Effect
    fact: Fact | None
    cause: Cause
    points: int | None = None
    """How many points of 100 the newer release's node gains by the rule on the older one's; None: no
    score."""


@attrs.define(eq=False, repr=False)
class UpgradeTrial:
    """From one release to the next, on the states of a side that leads."""

    facts: Sequence[Fact]
    """Of all releases after the older one, up to the newer one; those that fit the cluster come first."""
    fitting: Sequence[Fact]
    """Those of them that fit."""
    older: FollowingSide
    newer: FollowingSide
    without: Callable[[Sequence[Fact]], FollowingSide]
    """Makes the newer release without some facts."""
    _tries: dict[frozenset[str], FollowingSide] = attrs.Factory(dict)
    _restored: Counter[tuple[str, tuple[Fact, ...]]] = attrs.Factory(Counter)
    """How the older decision or view was restored, without which facts, and how often."""
    _told: int = 0

    def attribute(self, numbers: Mapping[int, tuple[Decided, Decided]]) -> Iterator[FoundCause]:
        """The causes of the newer release's decision in each of the steps *numbers*, which rise; both
        decisions are with them."""
        few = FEW if len(self.fitting) == 1 else max(FEW, len(self.newer.led.each) // ONE_IN)
        known = {} if len(numbers) <= few else self._at_once(numbers)
        for number, outcomes in numbers.items():
            fact = known.get(number)
            if fact is None or self._told < DETAILED:
                self._told += 1
                yield self.compared(number, self.older.ask(number), self.newer.ask(number), fact)
            else:
                yield FoundCause("fact", fact, _assumed(fact, *outcomes))

    def _at_once(self, numbers: Mapping[int, tuple[Decided, Decided]]) -> Mapping[int, Fact]:
        """The steps that one fact explains: without it all of them are decided as before."""
        found = {}
        for fact, explained in self._likely(numbers).items():
            left = [number for number in numbers if number not in found]
            if len(left) > FEW:
                is_sure = self.fitting == [fact] and explained == FEW
                found.update(dict.fromkeys(left if is_sure else self._explained(fact, numbers, left), fact))
        return found

    def _likely(self, numbers: Mapping[int, tuple[Decided, Decided]]) -> Mapping[Fact, int]:
        """The facts that fit, with how many of the first few steps they explain, those that explain most first;
        the rest is not looked for where one of them explains them all."""
        first = list(numbers)[:FEW]
        explained = {}
        for fact in self.fitting:
            if fact.cells:
                explained[fact] = len(self._explained(fact, numbers, first, first[-1] + 1))
            if explained.get(fact) == len(first):
                return {fact: len(first)}
        return {fact: number for fact, number in Counter(explained).most_common() if number}

    def _explained(
        self,
        fact: Fact,
        numbers: Mapping[int, tuple[Decided, Decided]],
        among: Sequence[int],
        end: int | None = None,
    ) -> Sequence[int]:
        """The steps *among* those before *end* that are decided as before without *fact*; none if the release
        cannot run without it."""
        try:
            each = self.without([fact]).steps(end).each
        except KubeclassicError:
            return ()
        return [number for number in among if each[number].outcome == numbers[number][0]]

    def compared(self, number: int, one: Decision, other: Decision, known: Fact | None = None) -> FoundCause:
        """The cause of the newer release's decision in the step *number*, the *other*; both are its latest,
        with details."""
        wanted = decided(one)
        found = decided(other)
        if wanted == found:
            return FoundCause("unknown", None, Cause("tie", text="both decide alike if they are asked again"))
        nodes = nodes_of(wanted, found)
        first = SideView(self.older.side, one, nodes)
        second = SideView(self.newer.side, other, nodes)
        cause = cause_of(first, second)
        fact = known or self._fact(cause, first, second, nodes, number)
        return FoundCause("unknown" if fact is None else "fact", fact, cause, _points(cause, first, second))

    # --- which fact -----------------------------------------------------------------------------------------

    def _fact(
        self, cause: Cause, first: SideView, second: SideView, nodes: list[str], number: int
    ) -> Fact | None:
        """The fact without which the older decision, or the older view of the node, is restored; what fits
        the cluster is tried first."""
        others = [fact for fact in self.facts if fact not in self.fitting]
        # An earlier step, in which a fact looked at more nodes or ended by an error, has left the next search
        # at another node.
        ways: Ways = {
            "decides": self._decides_as(first),
            "sees": self._sees_as(first, cause, nodes),
            "as older": self._decides_as(first, self.older),
        }
        known = sorted(self._restored, key=lambda one: (len(one[1]), -self._restored[one]))
        for way, facts in known if self._told > DETAILED else ():
            if self._tried(ways[way], facts, number):
                return facts[-1]
        for among in (self.fitting, others):
            sure = [fact for fact in self.ranked(cause, among) if fact.cells]
            for way in ("decides", "sees"):
                if among is others and not self._tried(ways[way], tuple(sure), number):
                    continue  # each would take a scheduler of its own
                for fact in sure:
                    if self._tried(ways[way], (fact,), number):
                        self._restored[way, (fact,)] += 1
                        return fact
            if (
                found := self.untried(cause, first, second, among)
                or self._of_several(sure, "decides", ways, number)
            ) is not None:
                return found
        every = [fact for fact in self.ranked(cause, self.facts) if fact.cells]
        return (
            self._of_several(every, "decides", ways, number)
            or self._of_several(every, "as older", ways, number, least=1)
            or self._of_several(every, "decides", ways, number, whole_first=False)
        )

    def untried(self, cause: Cause, first: SideView, second: SideView, among: Sequence[Fact]) -> Fact | None:
        """The fact *among* those that no cells say, between releases of different kinds: about the rule, or
        about all scores."""
        about = [fact for fact in among if self.is_about(fact, cause) and not fact.cells]
        general = [fact for fact in among if fact.is_about(EVERYTHING) and not fact.cells]
        if cause.kind not in ("score", "tie"):
            return about[0] if about else None
        told = [*general, *about] if _is_finer_alone(cause, first, second) else [*about, *general]
        return told[0] if told else None

    def ranked(self, cause: Cause, among: Sequence[Fact]) -> list[Fact]:
        """Facts about the rule come first, then those about everything; of each kind those of the newest
        release."""

        def rank(fact: Fact) -> tuple[int, int]:
            kind = 0 if self.is_about(fact, cause) else 1 if fact.is_about(EVERYTHING) else 2
            return kind, -_ORDER.index(fact.release)

        return sorted(among, key=rank)

    def is_about(self, fact: Fact, cause: Cause) -> bool:
        """Whether the rule of *cause*, or what it is where no rule decided, may differ by *fact*."""
        return any(fact.is_about(name) for name in _names(cause))

    def _of_several(
        self,
        facts: Sequence[Fact],
        way: str,
        ways: Ways,
        number: int,
        *,
        least: int = 2,
        whole_first: bool = True,
    ) -> Fact | None:
        """The last of the first few facts, *least* or more, that must all be undone; None if that does not
        restore the older decision.

        *whole_first*: None, too, where undoing all of them does not, as each set of facts takes a scheduler
        of its own.
        """
        if whole_first and not self._tried(ways[way], tuple(facts), number):
            return None
        for count in range(least, len(facts) + 1):
            if self._tried(ways[way], without := tuple(facts[:count]), number):
                self._restored[way, without] += 1
                return facts[count - 1]
        return None

    def _tried(
        self, restores: Callable[[FollowingSide, int], bool], facts: tuple[Fact, ...], number: int
    ) -> bool:
        """Whether the newer release without *facts* restores the older decision; one that cannot run without
        them does not."""
        try:
            names = frozenset(fact.id for fact in facts)
            if names not in self._tries:
                self._tries[names] = self.without(facts)
            return restores(self._tries[names], number)
        except KubeclassicError:  # such as a default plugin of the older release that is gone since, in a step over several releases
            return False

    def _decides_as(
        self, first: SideView, like: FollowingSide | None = None
    ) -> Callable[[FollowingSide, int], bool]:
        wanted = decided(first.decision)
        return lambda judge, number: decided(judge.ask(number, like)) == wanted

    def _sees_as(
        self, first: SideView, cause: Cause, nodes: list[str]
    ) -> Callable[[FollowingSide, int], bool]:
        """Whether a try sees the node in question as the older release does, by the rule in question."""

        def sees(judge: FollowingSide, number: int) -> bool:
            node = cause.node
            if node is None or node not in nodes:
                return False
            view = node_view(judge.side.engine, judge.ask(number), node)
            wanted = first.nodes[node]
            if cause.kind == "score" and cause.rule is not None:
                ours = total_of_rule(cause.rule, view)
                return ours is not None and ours == total_of_rule(cause.rule, wanted)
            return view.state == wanted.state

        return sees


def _names(cause: Cause) -> Iterator[str]:
    if cause.rule is not None:
        yield cause.rule
        if (became := rule_facts().get(cause.rule)) is not None:
            yield from became.plugins
        yield from SUCCESSORS.get(cause.rule, ())
    if cause.kind in ABOUT:
        yield ABOUT[cause.kind]
    if cause.kind in ("error", "gated"):
        yield cause.kind


def _assumed(fact: Fact, old: Decided, new: Decided) -> Cause:
    """The cause that *fact* makes likely, where the views of both were not compared."""
    kind = next((kind for kind, about in ABOUT.items() if about == fact.plugin), None)
    if kind is not None:
        return Cause(kind)
    return Cause(
        "score" if old[0] is not None and new[0] is not None else "predicate",
        None if fact.is_about(EVERYTHING) else fact.plugin,
    )


def _is_finer_alone(cause: Cause, first: SideView, second: SideView) -> bool:
    """Whether the rule scores each node in question as before, but on a finer scale."""
    ratio = second.side.engine.max_score // first.side.engine.max_score
    if cause.kind != "score" or ratio <= 1:
        return False
    older, newer = (
        {node: _scores(cause.rule, view) for node, view in judged.nodes.items()} for judged in (first, second)
    )
    return all(
        scores and [one.score for one in scores] == [one.score // ratio for one in newer[node]]
        for node, scores in older.items()
    )


def _scores(rule: str | None, view: JudgedNode) -> list[WeighedScore]:
    """The scores by *rule*, whatever the release calls it."""
    return [found for name, found in view.scores.items() if name == rule or rule in SUCCESSORS.get(name, ())]


def total_of_rule(rule: str | None, view: JudgedNode) -> int | None:
    """The points that *rule* gives; None where it does not score."""
    scores = _scores(rule, view)
    return sum(score.total for score in scores) if scores else None


def _points(cause: Cause, first: SideView, second: SideView) -> int | None:
    """The points of 100 that the rule gives the second's node over the first's, by weight; None if it is not
    about scores."""
    hosts = first.decision.host, second.decision.host
    if cause.kind != "score" or cause.rule is None or hosts[0] is None or hosts[1] is None:
        return None
    before, after = (
        one.leanings(hosts[0], hosts[1], other).get(cause.rule, (0, 0))[0] * 100 // one.side.engine.max_score
        for one, other in ((first, second), (second, first))
    )
    return after - before
