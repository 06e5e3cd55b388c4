"""The fact of a release that changes a decision.

The first rule that differs says which facts may be the cause. A fact that has cells is tested: the newer
release without it decides as the older one, or sees the node as the older one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
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
"""The :attr:`SideSpec.text` of a side that reads a Policy itself."""
UNCALLED = ConfiguredExtenders()
"""The extenders of every side: an upgrade calls none, and its answer says so."""


@attrs.frozen(repr=False)
class SideSpec:
    """One release of an upgrade, and its scheduler."""

    release: Release
    spec: SchedulerSpec
    text: str = "the default profile"
    """The configuration that it runs, in words."""
    source: Policy | Json | None = None
    """The Policy or the profile of the first release; a variant of :attr:`release` migrates it anew."""
    first_version: str = ""
    """The version of the release that runs :attr:`source` as it is."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _thawed, (self.version, freeze_spec(self.spec), self.text, self.source, self.first_version)

    @property
    def version(self) -> str:
        """The version of the release."""
        return self.release.version

    def engine(self, config_maps: ConfigMaps, release: Release | None = None) -> Engine:
        """A new scheduler; *release*: a variant of the release, with facts undone, in its place."""
        spec = self.spec
        if spec.profiles is None:
            return spec.engine_of(spec.algorithm(config_maps, release))
        if release is None:
            return spec.engine(config_maps)
        # The profiles that the variant makes of the side's source.
        from ...framework.config.configuration import read_configuration
        from ...framework.policy import configuration_of_policy

        percentage = spec.profiles.percentage
        if isinstance(self.source, Policy) and release.policies is not None:
            configuration = configuration_of_policy(self.source, release, percentage=percentage)
        else:
            document = None
            target = release
            if release.configuration.lists_points != self.release.configuration.lists_points:
                # A migration does not go back to profiles that list their plugins point by point.
                target = self.release
            if self.source is not None:
                document = _migrated(self.source, ALL_RELEASES[self.first_version], target)
            loaded = read_configuration(document, None, release)
            profiles = tuple(attrs.evolve(profile, percentage=None) for profile in loaded.profiles)
            configuration = attrs.evolve(loaded, percentage=percentage, profiles=profiles)
        return attrs.evolve(spec, profiles=configuration).engine(config_maps)


def _thawed(version: str, spec: Frozen, *rest: Any) -> SideSpec:
    return SideSpec(ALL_RELEASES[version], thaw_spec(spec), *rest)


def way_of(start: str, end: str, steps: Sequence[str] = ()) -> list[str]:
    """The releases from *start* to *end*, or those of *steps* alone.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown release, or releases that do not
    ascend.

    >>> way_of("1.14", "1.16")
    ['1.14', '1.15', '1.16']
    """
    versions = list(ALL_RELEASES)
    if steps:
        chosen = [find_any_release(step).version for step in steps]
        places = [versions.index(version) for version in chosen]
        if len(chosen) < 2 or places != sorted(set(places)):
            raise UnknownNameError(
                f"steps: expected two releases or more, oldest first, got {','.join(steps)}"
            )
        return chosen
    first, last = (versions.index(find_any_release(name).version) for name in (start, end))
    if first >= last:
        raise UnknownNameError(f"to: expected a release after {start}, got {end}")
    return versions[first : last + 1]


def specs_of(
    versions: Sequence[str],
    policy: Policy | None = None,
    profile: Json | None = None,
    percentage: int | None = None,
) -> list[SideSpec]:
    """The sides of *versions*. The first runs *policy*, or *profile* in its JSON form; later ones run the
    same, or what it is migrated to."""
    specs = []
    oldest = ALL_RELEASES[versions[0]]
    for version in versions:
        try:
            specs.append(_spec_of(ALL_RELEASES[version], oldest, policy, profile, percentage))
        except PolicyError as error:
            error.add_note(f"it is release {version} that refuses it")
            raise
    return specs


def _spec_of(
    release: Release, oldest: Release, policy: Policy | None, profile: Json | None, percentage: int | None
) -> SideSpec:
    version = release.version
    kind = Classic if version in RELEASES else Framework

    def spec(**options: Any) -> SchedulerSpec:
        return SchedulerSpec.of(
            kind(release=version, percentage_of_nodes_to_score=percentage, **options), UNCALLED
        )

    if kind is Classic:
        classic_spec = spec(policy=policy)
        classic_spec.engine()  # raises if the release refuses the Policy
        return SideSpec(
            release, classic_spec, "the default provider" if policy is None else POLICY, policy, version
        )
    if policy is not None and release.policies is not None:
        return SideSpec(release, spec(policy=policy), POLICY, policy, version)
    if policy is not None:
        document = _migrated(policy, oldest, release)
        return SideSpec(
            release, spec(profile=document), "the Policy, migrated to a profile", policy, oldest.version
        )
    if profile is not None:
        document = _migrated(profile, oldest, release)
        is_kept = document.get("profiles") == profile.get("profiles")
        text = "the profile" if is_kept else "the profile, migrated"
        return SideSpec(release, spec(profile=document), text, profile, oldest.version)
    return SideSpec(release, spec())


def _migrated(source: Policy | Json, oldest: Release, target: Release) -> Json:
    """The profile for *target* that is migrated from *source*, the Policy or profile that *oldest* runs."""
    from ...framework.migrate.profiles import carried, migrate_profile, running

    if isinstance(source, Mapping):
        return carried(source, oldest, target).document
    if oldest.version in RELEASES:
        from ...framework.migrate.frompolicy import migrate

        return migrate(source, oldest, target=target).document
    return migrate_profile(running(source, oldest, AlgorithmConfiguration()), target).document


# --- steps --------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class SideStep:
    """One step of a side."""

    at: tuple[str, int]
    """The pod and the number of its earlier tries, which identify the step on every side."""
    position: tuple[Any, int]
    """The positions of the visiting order and the tie-break before the step."""
    outcome: Decided
    decision: Any = None
    """The :class:`~kubeclassic.core.decision.decision.Decision` of a leading side, on whose states the others
    decide."""


@attrs.frozen(repr=False)
class Steps:
    """The steps of one side, in order."""

    steps: Sequence[SideStep] = ()
    hosts: Mapping[str, str | None] = attrs.Factory(dict)
    """Pod -> its node in the end; None if it has none."""
    evicted: Set[str] = frozenset()
    """The pods that had to leave the node that they had found."""


NO_STEPS = Steps()


def lead(
    spec: SideSpec, scenario: Scenario, order: str, observer: Observer, until: str | None = None
) -> Steps:
    """The steps of a side that decides on its own states; *until*: the pod whose first try is the last
    step."""
    steps = []
    tries = Counter[str]()
    side = Side(spec.version, Simulation(scenario, spec.engine(scenario.config_maps), order))
    for step in observer.following(follow([side], "free"), len(scenario.pending)):
        (decision,), key = step.decisions.values(), step.pod.key
        steps.append(SideStep((key, tries[key]), step.position, decided(decision), decision))
        tries[key] += 1
        if key == until:
            break
    outcomes = side.simulation.outcomes
    evicted = {key for key, outcome in outcomes.items() if outcome.eviction is not None}
    return Steps(steps, {key: outcome.host for key, outcome in outcomes.items()}, evicted)


@attrs.define(eq=False, repr=False, slots=False)
class FollowingSide:
    """A side that decides on the states of another side, *leader*: in every step, or in single steps on
    request."""

    spec: SideSpec
    scenario: Scenario
    leader: Steps
    release: Release | None = None
    """A variant of the release of *spec*, in its place."""
    own_steps: list[SideStep] = attrs.Factory(list)
    """The steps of this side, which say where its searches begin; the steps of another side if it has
    none."""
    _done: int = 0

    @cached_property
    def side(self) -> Side:
        """The scheduler, made on first use."""
        engine = self.spec.engine(self.scenario.config_maps, self.release)
        return Side(self.spec.version, Simulation(self.scenario, engine))

    def steps(self, end: int | None = None) -> Steps:
        """Take the steps before number *end*, or all, and return them."""
        self.advance(end)
        return self.taken_steps

    def advance(self, end: int | None = None) -> None:
        """Take the steps before number *end*, or all, that have not been taken yet."""
        run = self.side.run
        engine = self.side.engine
        if self._done == 0:
            self.own_steps = []  # not those of another side
        for step in self.leader.steps[self._done : end]:
            position = engine.position
            decision = run.follow(step.decision.pod, step.decision)
            self.own_steps.append(SideStep(step.at, position, decided(decision)))
            self._done += 1

    @property
    def taken_steps(self) -> Steps:
        """The steps taken so far. A pod that the leader evicts has no node on any side."""
        evicted = self.leader.evicted
        hosts = {step.at[0]: step.outcome[0] for step in self.own_steps}
        return Steps(self.own_steps, hosts | dict.fromkeys(hosts.keys() & evicted), evicted)

    @contextmanager
    def step(self, details: bool) -> Iterator[Decision]:
        """A context with the side's decision in the next step, with *details* or without; the leader's
        decision is carried out at the end."""
        step = self.leader.steps[self._done]
        run = self.side.run
        position = self.side.engine.position
        run.details = details
        with run.following(step.decision.pod, step.decision) as decision:
            self.own_steps.append(SideStep(step.at, position, decided(decision)))
            yield decision
        self._done += 1

    def detailed(self, decision: Decision) -> Decision:
        """*decision*, made in the context of :meth:`step`, with details; decided again if it has none."""
        if decision.has_details:
            return decision
        position = self.side.engine.position
        repeated = self.ask(self._done)
        self.side.engine.move(*position)
        return repeated

    def ask(self, number: int, like: FollowingSide | None = None) -> Decision:
        """The side's decision in step *number*, with details; numbers must not decrease. *like*: another
        side, whose search began where this one is to begin."""
        run = self.side.run
        engine = run.engine
        # Carry out the leader's decisions before it.
        for step in self.leader.steps[self._done : number]:
            pod = step.decision.pod
            template = engine.template_of(pod)
            if template.volumes or pod.spec.resource_claims or template.device_resources:
                run.follow(pod, step.decision)  # only a cycle allocates for its claims
            else:
                run.carry_out(pod, step.decision)
        self._done = number
        if own_steps := (like or self).own_steps:
            # The search begins where that of the other side began, whose release may list nodes differently.
            # Where a cursor reads the lists, a position is a pair: the place in the list, and the position of
            # the node tree.
            order, ties = own_steps[number].position
            current = engine.position[0]
            if isinstance(order, tuple) and not isinstance(current, tuple):
                order = order[0]
            elif isinstance(current, tuple) and not isinstance(order, tuple):
                order = order, current[1]
            engine.move(order, ties)
        return run.ask(self.leader.steps[number].decision.pod)


# --- causes -------------------------------------------------------------------------------------------------


Effect = Literal["fact", "earlier decision", "unknown"]
FEW = 40
"""Up to this many decisions are examined one by one."""
ONE_IN = 4
"""Where several facts fit, up to one step in this many is also examined alone. Asking about a decision costs
three times as much as a step; carrying a step out costs a sixth of a step."""
_ORDER = list(ALL_RELEASES)
DETAILED = 200
"""For this many decisions of an upgrade step, the views of both releases are compared, which gives the rule
and its points, and facts are tried in their order. Afterwards the facts that explained the most come
first."""
ABOUT: Mapping[CauseKind, str] = {"tie": TIES, "sampling": SEARCH, "preemption": OF_PREEMPTION}
"""Kind of a cause without a rule -> the word for it in facts."""


Facts = Sequence[Fact]
Restores = Callable[[FollowingSide, int], bool]
"""Whether a side with facts undone restores the older decision, or view, in a step."""
Outcomes = Mapping[int, tuple[Decided, Decided]]
"""Step number -> the older and the newer outcome."""


@attrs.frozen(repr=False)
class FoundCause:
    """The cause of a changed decision."""

    effect: Effect
    fact: Fact | None
    cause: Cause
    points: int | None = None
    """The points of 100 that the newer release's node gains over the older one's by the rule; None: no
    score."""


@attrs.define(eq=False, repr=False)
class UpgradeTrial:
    """A release beside the one before it, on the states of a leading side."""

    facts: Facts
    """The facts of all releases after the older one, up to the newer one; those that fit the cluster come
    first."""
    fitting: Facts
    """The facts that fit the cluster."""
    older: FollowingSide
    newer: FollowingSide
    without: Callable[[Facts], FollowingSide]
    """Makes a side of the newer release with some facts undone."""
    _tries: dict[frozenset[str], FollowingSide] = attrs.Factory(dict)
    _runs: dict[frozenset[str], FollowingSide] = attrs.Factory(dict)
    """Facts undone -> a side without them that takes all steps from the first on."""
    _hits: Counter[frozenset[str]] = attrs.Factory(Counter)
    """Facts undone -> how many decisions such a run restored; less than 0: only misses so far."""
    _restored: Counter[tuple[str, tuple[Fact, ...]]] = attrs.Factory(Counter)
    """The way of restoring the older decision or view, and the facts undone -> how often it succeeded."""
    _compared: int = 0

    def attribute(self, numbers: Outcomes) -> Iterator[FoundCause]:
        """The cause of the newer release's decision in each of the steps *numbers*, which ascend."""
        limit = FEW if len(self.fitting) == 1 else max(FEW, len(self.newer.leader.steps) // ONE_IN)
        fact_by_step = {} if len(numbers) <= limit else self._facts_by_step(numbers)
        for number, (old, new) in numbers.items():
            fact = fact_by_step.get(number)
            if fact is None or self._compared < DETAILED:
                self._compared += 1
                yield self.compared(number, self.older.ask(number), self.newer.ask(number), fact)
                continue
            # The views are not compared: take the cause that the fact makes likely.
            kind = next((kind for kind, plugin in ABOUT.items() if plugin == fact.plugin), None)
            rule = None if kind or fact.is_about(EVERYTHING) else fact.plugin
            scores = old[0] is not None and new[0] is not None
            yield FoundCause("fact", fact, Cause(kind or ("score" if scores else "predicate"), rule))

    def _facts_by_step(self, numbers: Outcomes) -> Mapping[int, Fact]:
        """Step number -> the fact that explains it: without this fact the step is decided as before. Facts
        that explain most of the first few steps come first; a fact that explains all of these is the only
        one."""
        sample = list(numbers)[:FEW]
        explained = Counter[Fact]()
        for fact in self.fitting:
            if fact.cells:
                explained[fact] = len(self._steps_explained(fact, numbers, sample, sample[-1] + 1))
            if explained[fact] == len(sample):
                explained = Counter({fact: len(sample)})
                break
        fact_by_step = {}
        for fact, count in explained.most_common():
            remaining = [number for number in numbers if number not in fact_by_step]
            if count and len(remaining) > FEW:
                is_sure = self.fitting == [fact] and count == FEW
                fact_by_step.update(
                    dict.fromkeys(
                        remaining if is_sure else self._steps_explained(fact, numbers, remaining), fact
                    )
                )
        return fact_by_step

    def _steps_explained(
        self, fact: Fact, numbers: Outcomes, among: Sequence[int], end: int | None = None
    ) -> Sequence[int]:
        """The steps of *among* that are decided as before without *fact*, in a run to *end*; none if the
        release cannot run without it."""
        try:
            steps = self.without([fact]).steps(end).steps
        except KubeclassicError:
            return ()
        return [number for number in among if steps[number].outcome == numbers[number][0]]

    def compared(
        self, number: int, older: Decision, newer: Decision, known_fact: Fact | None = None
    ) -> FoundCause:
        """The cause of the newer release's decision in the step *number*; *older*, *newer*: the decisions,
        with details."""
        older_outcome = decided(older)
        newer_outcome = decided(newer)
        if older_outcome == newer_outcome:
            return FoundCause("unknown", None, Cause("tie", text="both decide alike if they are asked again"))
        nodes = nodes_of(older_outcome, newer_outcome)
        first = SideView(self.older.side, older, nodes)
        second = SideView(self.newer.side, newer, nodes)
        cause = cause_of(first, second)
        fact = known_fact or self._fact_behind(cause, first, second, nodes, number)
        # The points of 100 that the rule gives the newer node over the older one, by weight.
        points = None
        old_host = older.host
        new_host = newer.host
        if cause.kind == "score" and cause.rule is not None and old_host is not None and new_host is not None:
            before, after = (
                view.leanings(old_host, new_host, beside).get(cause.rule, (0, 0))[0]
                * 100
                // view.side.engine.max_score
                for view, beside in ((first, second), (second, first))
            )
            points = after - before
        return FoundCause("unknown" if fact is None else "fact", fact, cause, points)

    # --- which fact -----------------------------------------------------------------------------------------

    def _fact_behind(
        self, cause: Cause, first: SideView, second: SideView, nodes: list[str], number: int
    ) -> Fact | None:
        """The fact without which the older decision, or the older view of the node, is restored; facts that
        fit the cluster come first."""
        others = [fact for fact in self.facts if fact not in self.fitting]

        def sees(judge: FollowingSide, number: int) -> bool:
            """Whether *judge* sees the node in question as the older release does, by the rule in
            question."""
            node = cause.node
            if node is None or node not in nodes:
                return False
            view = node_view(judge.side.engine, judge.ask(number), node)
            expected = first.nodes[node]
            if cause.kind == "score" and cause.rule is not None:
                points = total_of_rule(cause.rule, view)
                return points is not None and points == total_of_rule(cause.rule, expected)
            return view.state == expected.state

        # "as older" searches from where the older release did: in an earlier step a fact may have visited
        # more nodes, or ended the search by an error, so that the next search begins at another node.
        ways: dict[str, Restores] = {
            "decides": self._decides_as(first),
            "sees": sees,
            "as older": self._decides_as(first, self.older),
        }
        # What holds with nothing undone says nothing about a fact.
        idle = [name for name, restores in ways.items() if restores(self.newer, number)]
        if "as older" in idle and (earlier := self._behind_the_start(number, decided(first.decision))):
            return earlier
        ways |= dict.fromkeys(idle, lambda judge, number: False)
        restored = sorted(self._restored, key=lambda entry: (len(entry[1]), -self._restored[entry]))
        for way, facts in restored if self._compared > DETAILED else ():
            if self._restores_without(ways[way], facts, number):
                return facts[-1]
        for among in (self.fitting, others):
            sure = [fact for fact in self.ranked(cause, among) if fact.cells]
            for way in ("decides", "sees"):
                if among is others and not self._restores_without(ways[way], tuple(sure), number):
                    continue  # each fact would take a scheduler of its own
                for fact in sure:
                    if self._restores_without(ways[way], (fact,), number):
                        self._restored[way, (fact,)] += 1
                        return fact
            if (
                candidate := self.untried(cause, first, second, among)
                or self._last_of_several(sure, "decides", ways, number)
            ) is not None:
                return candidate
        every = [fact for fact in self.ranked(cause, self.facts) if fact.cells]
        return (
            self._last_of_several(every, "decides", ways, number)
            or self._last_of_several(every, "as older", ways, number, least=1)
            or self._last_of_several(every, "decides", ways, number, whole_first=False)
        )

    def _behind_the_start(self, number: int, outcome: Decided) -> Fact | None:
        """The fact of an earlier step, if the newer release decides as the older one where its search begins
        at the same node: without the fact, or the last of several, a run from the first step comes there."""
        about_search = [fact for fact in self.facts if fact.is_about(SEARCH) and fact.cells]
        likely = [*dict.fromkeys([*about_search, *(fact for fact in self.fitting if fact.cells)])]
        for fact in likely:
            if self._restores_from_first([fact], number, outcome):
                return fact
        if len(likely) > 1 and self._restores_from_first(likely, number, outcome):
            for count in range(2, len(likely)):
                if self._restores_from_first(likely[:count], number, outcome):
                    return likely[count - 1]
            return likely[-1]
        return None

    def _restores_from_first(self, facts: Facts, number: int, outcome: Decided) -> bool:
        """Whether a run without *facts* from the first step on restores the older decision. Several that
        restored none of the first two hundred are given up: a run takes as long as all of the step."""
        names = frozenset(fact.id for fact in facts)
        if len(facts) > 1 and self._hits[names] <= -DETAILED:
            return False
        is_restored = False
        with suppress(KubeclassicError):  # the release cannot run without them
            if names not in self._runs:
                self._runs[names] = self.without(facts)
            self._runs[names].advance(number + 1)
            is_restored = self._runs[names].own_steps[number].outcome == outcome
        if is_restored:
            self._hits[names] = max(self._hits[names], 0) + 1
        elif self._hits[names] <= 0:
            self._hits[names] -= 1
        return is_restored

    def untried(self, cause: Cause, first: SideView, second: SideView, among: Facts) -> Fact | None:
        """The likely fact of *among* that has no cells to undo, between releases of different kinds: about
        the rule, or about all scores."""
        specific = [fact for fact in among if self.is_about(fact, cause) and not fact.cells]
        general = [fact for fact in among if fact.is_about(EVERYTHING) and not fact.cells]
        if cause.kind not in ("score", "tie"):
            return specific[0] if specific else None
        ratio = second.side.engine.max_score // first.side.engine.max_score
        is_finer_alone = cause.kind == "score" and ratio > 1
        if is_finer_alone:
            # Whether the rule scores each node in question as before, but on a finer scale.
            older, newer = (
                {node: _scores(cause.rule, view) for node, view in side_view.nodes.items()}
                for side_view in (first, second)
            )
            is_finer_alone = all(
                scores
                and [score.score for score in scores] == [score.score // ratio for score in newer[node]]
                for node, scores in older.items()
            )
        candidates = [*general, *specific] if is_finer_alone else [*specific, *general]
        return candidates[0] if candidates else None

    def ranked(self, cause: Cause, among: Facts) -> list[Fact]:
        """*among* in order of likelihood: facts about the rule, about everything, and others; in each group
        the newest release first."""

        def rank(fact: Fact) -> tuple[int, int]:
            kind = 0 if self.is_about(fact, cause) else 1 if fact.is_about(EVERYTHING) else 2
            return kind, -_ORDER.index(fact.release)

        return sorted(among, key=rank)

    def is_about(self, fact: Fact, cause: Cause) -> bool:
        """Whether *fact* may change the rule of *cause*, or its kind where no rule decided."""
        names = list[str]()
        if cause.rule is not None:
            became = rule_facts().get(cause.rule)
            names += [cause.rule, *(became.plugins if became else ()), *SUCCESSORS.get(cause.rule, ())]
        if cause.kind in ABOUT:
            names.append(ABOUT[cause.kind])
        if cause.kind in ("error", "gated"):
            names.append(cause.kind)
        return any(map(fact.is_about, names))

    def _last_of_several(
        self,
        facts: Facts,
        way: str,
        ways: Mapping[str, Restores],
        number: int,
        *,
        least: int = 2,
        whole_first: bool = True,
    ) -> Fact | None:
        """The last of the first few *facts*, *least* or more, that restore the older decision if all are
        undone; None if no such number of them does.

        *whole_first*: give up if undoing all *facts* does not restore it, as each set of facts takes a
        scheduler of its own.
        """
        if whole_first and not self._restores_without(ways[way], tuple(facts), number):
            return None
        for count in range(least, len(facts) + 1):
            if self._restores_without(ways[way], undone := tuple(facts[:count]), number):
                self._restored[way, undone] += 1
                return facts[count - 1]
        return None

    def _restores_without(self, restores: Restores, facts: tuple[Fact, ...], number: int) -> bool:
        """Whether the newer release without *facts* restores the older decision; False if it cannot run
        without them."""
        try:
            names = frozenset(fact.id for fact in facts)
            if names not in self._tries:
                self._tries[names] = self.without(facts)
            return restores(self._tries[names], number)
        except KubeclassicError:  # such as a default plugin of the older release that is gone since, in a step over several releases
            return False

    def _decides_as(self, first: SideView, like: FollowingSide | None = None) -> Restores:
        outcome = decided(first.decision)
        return lambda judge, number: decided(judge.ask(number, like)) == outcome


def _scores(rule: str | None, view: JudgedNode) -> list[WeighedScore]:
    """The scores by *rule*, or by rules that it succeeded."""
    return [score for name, score in view.scores.items() if name == rule or rule in SUCCESSORS.get(name, ())]


def total_of_rule(rule: str | None, view: JudgedNode) -> int | None:
    """The points that *rule* gives; None where it does not score."""
    scores = _scores(rule, view)
    return sum(score.total for score in scores) if scores else None
