"""By which fact of a release a decision became another one.

The first rule that differs says which facts may be the reason. A fact that cells of the table say is tried:
the newer release without it decides as the older one did, or sees the node as the older one saw it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Literal

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.policy import Policy
from ...algorithmprovider.releases import RELEASES
from ...core.decision import Decision
from ...core.engine import Engine
from ...core.release import Release
from ...core.release.fact import EVERYTHING, SEARCH, TIES, Fact, rule_facts
from ...core.release.fact import PREEMPTION as OF_PREEMPTION
from ...exceptions import KubeclassicError, PolicyError, UnknownNameError
from ...extenders.choice import ConfiguredExtenders
from ...framework.copying import Frozen, freeze_spec, thaw_spec
from ...framework.options import Classic, Framework
from ...framework.releases import ALL_RELEASES, find_any_release
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ...simulation.input import Observer
from ...simulation.sides import (
    SUCCESSORS,
    Cause,
    CauseKind,
    Decided,
    JudgedNode,
    Side,
    SideView,
    WeighedScore,
    cause_of,
    decided,
    follow,
    node_view,
    nodes_of,
)
from ...simulation.simulate import Scenario, Simulation

# --- the releases -------------------------------------------------------------------------------------------

Json = Mapping[str, Any]
POLICY = "the Policy"
"""What a side runs that reads a Policy itself."""
UNCALLED = ConfiguredExtenders()
"""An upgrade calls no extender, and its answer says so."""


@attrs.frozen(repr=False)
class SideSpec:
    """One release of the way."""

    release: Release
    spec: SchedulerSpec
    text: str = "the default profile"
    """What it runs."""
    given: Policy | Json | None = None
    """The Policy or the profile that the first release runs; a release that is not quite the same makes its
    own of it."""
    first: str = ""
    """The number of that release."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _thawed, (self.version, freeze_spec(self.spec), self.text, self.given, self.first)

    @property
    def version(self) -> str:
        """The number of the release."""
        return self.release.version

    def engine(self, config_maps: ConfigMaps, release: Release | None = None) -> Engine:
        """A new scheduler; *release*: one that is not quite the same, in its place."""
        spec = self.spec
        if spec.profiles is None:
            return spec.engine_of(spec.algorithm(config_maps, release))
        if release is None:
            return spec.engine(config_maps)
        # The profiles that it makes of what the side reads.
        from ...framework.config.configuration import read_configuration
        from ...framework.policy import configuration_of_policy

        percentage = spec.profiles.percentage
        if isinstance(self.given, Policy) and release.policies is not None:
            made = configuration_of_policy(self.given, release, percentage=percentage)
        else:
            document = None
            target = release
            if release.configuration.lists_points != self.release.configuration.lists_points:
                # A migration does not go back to profiles that list their plugins point by point.
                target = self.release
            if self.given is not None:
                document = _carried(self.given, ALL_RELEASES[self.first], target)
            found = read_configuration(document, None, release)
            profiles = tuple(attrs.evolve(one, percentage=None) for one in found.profiles)
            made = attrs.evolve(found, percentage=percentage, profiles=profiles)
        return attrs.evolve(spec, profiles=made).engine(config_maps)


def _thawed(version: str, spec: Frozen, *rest: Any) -> SideSpec:
    return SideSpec(ALL_RELEASES[version], thaw_spec(spec), *rest)


def way_of(start: str, end: str, steps: Sequence[str] = ()) -> list[str]:
    """The releases from *start* to *end*, or those of *steps* alone.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown release, or a way that does not go
    forward.

    >>> way_of("1.14", "1.16")
    ['1.14', '1.15', '1.16']
    """
    known = list(ALL_RELEASES)
    if steps:
        found = [find_any_release(step).version for step in steps]
        places = [known.index(version) for version in found]
        if len(found) < 2 or places != sorted(set(places)):
            raise UnknownNameError(
                f"steps: expected two releases or more, oldest first, got {','.join(steps)}"
            )
        return found
    first, last = (known.index(find_any_release(name).version) for name in (start, end))
    if first >= last:
        raise UnknownNameError(f"to: expected a release after {start}, got {end}")
    return known[first : last + 1]


def specs_of(
    versions: Sequence[str],
    policy: Policy | None = None,
    profile: Json | None = None,
    percentage: int | None = None,
) -> list[SideSpec]:
    """The sides of *versions*, each with what the first one runs as it becomes there: *policy*, or *profile*
    in its JSON form."""
    found = []
    first = ALL_RELEASES[versions[0]]
    for version in versions:
        try:
            found.append(_spec_of(ALL_RELEASES[version], first, policy, profile, percentage))
        except PolicyError as error:
            error.add_note(f"it is release {version} that refuses it")
            raise
    return found


def _spec_of(
    release: Release, first: Release, policy: Policy | None, profile: Json | None, percentage: int | None
) -> SideSpec:
    version = release.version
    kind = Classic if version in RELEASES else Framework

    def spec(**options: Any) -> SchedulerSpec:
        return SchedulerSpec.of(
            kind(release=version, percentage_of_nodes_to_score=percentage, **options), UNCALLED
        )

    if kind is Classic:
        made = spec(policy=policy)
        made.engine()  # a Policy that it refuses is refused here
        return SideSpec(release, made, "the default provider" if policy is None else POLICY, policy, version)
    if policy is not None and release.policies is not None:
        return SideSpec(release, spec(policy=policy), POLICY, policy, version)
    if policy is not None:
        document = _carried(policy, first, release)
        return SideSpec(
            release, spec(profile=document), "the Policy, migrated to a profile", policy, first.version
        )
    if profile is not None:
        document = _carried(profile, first, release)
        is_kept = document.get("profiles") == profile.get("profiles")
        text = "the profile" if is_kept else "the profile, migrated"
        return SideSpec(release, spec(profile=document), text, profile, first.version)
    return SideSpec(release, spec())


def _carried(given: Policy | Json, first: Release, target: Release) -> Json:
    """The profile for *target* that a Policy or a profile becomes, which *first* runs."""
    from ...framework.migrate.profiles import carried, migrate_profile, running

    if isinstance(given, Mapping):
        return carried(given, first, target).document
    if first.version in RELEASES:
        from ...framework.migrate.frompolicy import migrate

        return migrate(given, first, target=target).document
    return migrate_profile(running(given, first, AlgorithmConfiguration()), target).document


# --- steps --------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class SideStep:
    """One step of a side."""

    at: tuple[str, int]
    """The pod, and how often it had been tried before: which step it is for any side."""
    position: tuple[Any, int]
    """How far the visiting order and the tie-break had moved before it."""
    outcome: Decided
    decision: Any = None
    """The :class:`~kubeclassic.core.decision.decision.Decision`, of a side that leads: others decide on the
    states that it leads to."""


@attrs.frozen(repr=False)
class Steps:
    """The steps of one side, in order."""

    each: Sequence[SideStep] = ()
    hosts: Mapping[str, str | None] = attrs.Factory(dict)
    """Pod -> the node that it found at last; None if it found none."""


NO_STEPS = Steps()


def lead(
    spec: SideSpec, scenario: Scenario, order: str, observer: Observer, until: str | None = None
) -> Steps:
    """The steps of a side that goes its own way; *until*: the pod with which they end."""
    each = []
    tries = Counter[str]()
    side = Side(spec.version, Simulation(scenario, spec.engine(scenario.config_maps), order))
    for step in observer.following(follow([side], "free"), len(scenario.pending)):
        (decision,), key = step.decisions.values(), step.pod.key
        each.append(SideStep((key, tries[key]), step.position, decided(decision), decision))
        tries[key] += 1
        if key == until:
            break
    return Steps(each, {key: outcome.host for key, outcome in side.simulation.outcomes.items()})


@attrs.define(eq=False, repr=False, slots=False)
class FollowingSide:
    """A side that decides on the states of another one, *led*: in each step, or in single ones about which it
    is asked."""

    spec: SideSpec
    scenario: Scenario
    led: Steps
    release: Release | None = None
    """One that is not quite that of *spec*, in its place."""
    own: list[SideStep] = attrs.Factory(list)
    """Its own steps, which say where its searches begin; those of another one if it has none."""
    _done: int = 0

    @cached_property
    def side(self) -> Side:
        """The scheduler; made when it is asked first."""
        engine = self.spec.engine(self.scenario.config_maps, self.release)
        return Side(self.spec.version, Simulation(self.scenario, engine))

    def steps(self, end: int | None = None) -> Steps:
        """Its steps up to *end*."""
        run = self.side.run
        engine = self.side.engine
        self.own = each = []
        for led in self.led.each[:end]:
            position = engine.position
            each.append(SideStep(led.at, position, decided(run.follow(led.decision.pod, led.decision))))
        self._done = len(each)
        return self.taken

    @property
    def taken(self) -> Steps:
        """The steps that it has taken."""
        return Steps(self.own, {step.at[0]: step.outcome[0] for step in self.own})

    @contextmanager
    def step(self, details: bool) -> Iterator[Decision]:
        """A context with its decision in the next step, which is carried out at the end; with *details* or
        without."""
        led = self.led.each[self._done]
        run = self.side.run
        position = self.side.engine.position
        run.details = details
        with run.following(led.decision.pod, led.decision) as decision:
            self.own.append(SideStep(led.at, position, decided(decision)))
            yield decision
        self._done += 1

    def detailed(self, decision: Decision) -> Decision:
        """*decision*, which it has taken in the context of :meth:`step`, with details."""
        if decision.has_details:
            return decision
        position = self.side.engine.position
        found = self.ask(self._done)
        self.side.engine.move(*position)
        return found

    def ask(self, number: int, like: FollowingSide | None = None) -> Decision:
        """Its decision in the step *number*, with details; numbers must not fall. *like*: it searches from
        where that one did."""
        run = self.side.run
        engine = run.engine
        # Carry out what is decided before.
        for led in self.led.each[self._done : number]:
            pod = led.decision.pod
            if pod.spec.rule_volumes or pod.spec.resource_claims or engine.template_of(pod).device_resources:
                run.follow(pod, led.decision)  # what its claims get is decided in the cycle itself
            else:
                run.carry_out(pod, led.decision)
        self._done = number
        if own := (like or self).own:
            # The search begins where that of the other side began, perhaps of a release with another list of
            # nodes. Where lists are read on by a cursor, a position has that of the node tree, besides the
            # place in the list.
            order, ties = own[number].position
            here = engine.position[0]
            if isinstance(order, tuple) and not isinstance(here, tuple):
                order = order[0]
            elif isinstance(here, tuple) and not isinstance(order, tuple):
                order = order, here[1]
            engine.move(order, ties)
        return run.ask(self.led.each[number].decision.pod)


# --- causes -------------------------------------------------------------------------------------------------


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


Facts = Sequence[Fact]
Restores = Callable[[FollowingSide, int], bool]
"""Whether a try restores the older decision, or view, in a step."""
Outcomes = Mapping[int, tuple[Decided, Decided]]
"""Number of a step -> both decisions."""


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

    facts: Facts
    """Of all releases after the older one, up to the newer one; those that fit the cluster come first."""
    fitting: Facts
    """Those of them that fit."""
    older: FollowingSide
    newer: FollowingSide
    without: Callable[[Facts], FollowingSide]
    """Makes the newer release without some facts."""
    _tries: dict[frozenset[str], FollowingSide] = attrs.Factory(dict)
    _restored: Counter[tuple[str, tuple[Fact, ...]]] = attrs.Factory(Counter)
    """How the older decision or view was restored, without which facts, and how often."""
    _told: int = 0

    def attribute(self, numbers: Outcomes) -> Iterator[FoundCause]:
        """The causes of the newer release's decision in each of the steps *numbers*, which rise."""
        few = FEW if len(self.fitting) == 1 else max(FEW, len(self.newer.led.each) // ONE_IN)
        known = {} if len(numbers) <= few else self._at_once(numbers)
        for number, (old, new) in numbers.items():
            fact = known.get(number)
            if fact is None or self._told < DETAILED:
                self._told += 1
                yield self.compared(number, self.older.ask(number), self.newer.ask(number), fact)
                continue
            # The views of both are not compared: the cause that the fact makes likely.
            kind = next((kind for kind, about in ABOUT.items() if about == fact.plugin), None)
            rule = None if kind or fact.is_about(EVERYTHING) else fact.plugin
            scores = old[0] is not None and new[0] is not None
            yield FoundCause("fact", fact, Cause(kind or ("score" if scores else "predicate"), rule))

    def _at_once(self, numbers: Outcomes) -> Mapping[int, Fact]:
        """The steps that one fact explains: without it all of them are decided as before. Facts that explain
        most of the first few come first; where one of them explains these all, it is the only one."""
        first = list(numbers)[:FEW]
        explained = Counter[Fact]()
        for fact in self.fitting:
            if fact.cells:
                explained[fact] = len(self._explained(fact, numbers, first, first[-1] + 1))
            if explained[fact] == len(first):
                explained = Counter({fact: len(first)})
                break
        found = {}
        for fact, count in explained.most_common():
            left = [number for number in numbers if number not in found]
            if count and len(left) > FEW:
                is_sure = self.fitting == [fact] and count == FEW
                found.update(dict.fromkeys(left if is_sure else self._explained(fact, numbers, left), fact))
        return found

    def _explained(
        self, fact: Fact, numbers: Outcomes, among: Sequence[int], end: int | None = None
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
        # The points of 100 that the rule gives the newer node over the older one, by weight.
        points = None
        here = one.host
        there = other.host
        if cause.kind == "score" and cause.rule is not None and here is not None and there is not None:
            before, after = (
                view.leanings(here, there, beside).get(cause.rule, (0, 0))[0]
                * 100
                // view.side.engine.max_score
                for view, beside in ((first, second), (second, first))
            )
            points = after - before
        return FoundCause("unknown" if fact is None else "fact", fact, cause, points)

    # --- which fact -----------------------------------------------------------------------------------------

    def _fact(
        self, cause: Cause, first: SideView, second: SideView, nodes: list[str], number: int
    ) -> Fact | None:
        """The fact without which the older decision, or the older view of the node, is restored; what fits
        the cluster is tried first."""
        others = [fact for fact in self.facts if fact not in self.fitting]

        def sees(judge: FollowingSide, number: int) -> bool:
            """Whether a try sees the node in question as the older release does, by the rule in question."""
            node = cause.node
            if node is None or node not in nodes:
                return False
            view = node_view(judge.side.engine, judge.ask(number), node)
            wanted = first.nodes[node]
            if cause.kind == "score" and cause.rule is not None:
                ours = total_of_rule(cause.rule, view)
                return ours is not None and ours == total_of_rule(cause.rule, wanted)
            return view.state == wanted.state

        # An earlier step, in which a fact looked at more nodes or ended by an error, has left the next search
        # at another node.
        ways = {
            "decides": self._decides_as(first),
            "sees": sees,
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

    def untried(self, cause: Cause, first: SideView, second: SideView, among: Facts) -> Fact | None:
        """The fact *among* those that no cells say, between releases of different kinds: about the rule, or
        about all scores."""
        about = [fact for fact in among if self.is_about(fact, cause) and not fact.cells]
        general = [fact for fact in among if fact.is_about(EVERYTHING) and not fact.cells]
        if cause.kind not in ("score", "tie"):
            return about[0] if about else None
        ratio = second.side.engine.max_score // first.side.engine.max_score
        is_finer_alone = cause.kind == "score" and ratio > 1
        if is_finer_alone:
            # Whether the rule scores each node in question as before, but on a finer scale.
            older, newer = (
                {node: _scores(cause.rule, view) for node, view in judged.nodes.items()}
                for judged in (first, second)
            )
            is_finer_alone = all(
                scores and [one.score for one in scores] == [one.score // ratio for one in newer[node]]
                for node, scores in older.items()
            )
        told = [*general, *about] if is_finer_alone else [*about, *general]
        return told[0] if told else None

    def ranked(self, cause: Cause, among: Facts) -> list[Fact]:
        """Facts about the rule come first, then those about everything; of each kind those of the newest
        release."""

        def rank(fact: Fact) -> tuple[int, int]:
            kind = 0 if self.is_about(fact, cause) else 1 if fact.is_about(EVERYTHING) else 2
            return kind, -_ORDER.index(fact.release)

        return sorted(among, key=rank)

    def is_about(self, fact: Fact, cause: Cause) -> bool:
        """Whether the rule of *cause*, or what it is where no rule decided, may differ by *fact*."""
        names = list[str]()
        if cause.rule is not None:
            became = rule_facts().get(cause.rule)
            names += [cause.rule, *(became.plugins if became else ()), *SUCCESSORS.get(cause.rule, ())]
        if cause.kind in ABOUT:
            names.append(ABOUT[cause.kind])
        if cause.kind in ("error", "gated"):
            names.append(cause.kind)
        return any(map(fact.is_about, names))

    def _of_several(
        self,
        facts: Facts,
        way: str,
        ways: Mapping[str, Restores],
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

    def _tried(self, restores: Restores, facts: tuple[Fact, ...], number: int) -> bool:
        """Whether the newer release without *facts* restores the older decision; one that cannot run without
        them does not."""
        try:
            names = frozenset(fact.id for fact in facts)
            if names not in self._tries:
                self._tries[names] = self.without(facts)
            return restores(self._tries[names], number)
        except KubeclassicError:  # such as a default plugin of the older release that is gone since, in a step over several releases
            return False

    def _decides_as(self, first: SideView, like: FollowingSide | None = None) -> Restores:
        wanted = decided(first.decision)
        return lambda judge, number: decided(judge.ask(number, like)) == wanted


def _scores(rule: str | None, view: JudgedNode) -> list[WeighedScore]:
    """The scores by *rule*, whatever the release calls it."""
    return [found for name, found in view.scores.items() if name == rule or rule in SUCCESSORS.get(name, ())]


def total_of_rule(rule: str | None, view: JudgedNode) -> int | None:
    """The points that *rule* gives; None where it does not score."""
    scores = _scores(rule, view)
    return sum(score.total for score in scores) if scores else None
