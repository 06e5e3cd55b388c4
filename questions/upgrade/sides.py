"""The releases of an upgrade as sides, and the steps of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.policy import Policy
from ...algorithmprovider.releases import RELEASES
from ...core.decision import Decision
from ...core.engine import Engine
from ...core.release import Release
from ...exceptions import PolicyError, UnknownNameError
from ...extenders.choice import ConfiguredExtenders
from ...framework.config.configuration import KubeSchedulerConfiguration
from ...framework.copying import Frozen, freeze_spec, thaw_spec
from ...framework.options import Classic, Framework
from ...framework.releases import ALL_RELEASES, find_any_release
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ...simulation.input import Observer
from ...simulation.sides import Decided, Side, decided, follow
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
        if release is not None:
            spec = attrs.evolve(spec, profiles=self._profiles(release, spec.profiles))
        return spec.engine(config_maps)

    def _profiles(self, release: Release, kept: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
        """The profiles that *release* makes of what the side reads."""
        from ...framework.config.configuration import read_configuration
        from ...framework.policy import configuration_of_policy

        if isinstance(self.given, Policy) and release.policies is not None:
            return configuration_of_policy(self.given, release, percentage=kept.percentage)
        document = None
        target = release
        if release.configuration.lists_points != self.release.configuration.lists_points:
            target = (
                self.release
            )  # a migration does not go back to profiles that list their plugins point by point
        if self.given is not None:
            document = _carried(self.given, ALL_RELEASES[self.first], target)
        found = read_configuration(document, None, release)
        profiles = tuple(attrs.evolve(one, percentage=None) for one in found.profiles)
        return attrs.evolve(found, percentage=kept.percentage, profiles=profiles)


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
        self._carry_out(number)
        if own := (like or self).own:
            _move(self.side.engine, *own[number].position)
        return self.side.run.ask(self.led.each[number].decision.pod)

    def _carry_out(self, number: int) -> None:
        """Carry out what is decided before the step *number*."""
        run = self.side.run
        for led in self.led.each[self._done : number]:
            pod = led.decision.pod
            if (
                pod.spec.rule_volumes
                or pod.spec.resource_claims
                or run.engine.template_of(pod).device_resources
            ):
                run.follow(pod, led.decision)  # what its claims get is decided in the cycle itself
            else:
                run.carry_out(pod, led.decision)
        self._done = number


def _move(engine: Engine, order: Any, ties: int) -> None:
    """Let the next search begin where one of another side began, perhaps of a release with another list of
    nodes.

    Where lists are read on by a cursor, a position has that of the node tree, besides the place in the list.
    """
    own = engine.position[0]
    if isinstance(order, tuple) and not isinstance(own, tuple):
        order = order[0]
    elif isinstance(own, tuple) and not isinstance(order, tuple):
        order = order, own[1]
    engine.move(order, ties)
