"""The releases on the way of an upgrade, each with what of a Policy or a profile it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.policy import Policy
from ...algorithmprovider.releases import RELEASES
from ...core.engine import Engine
from ...core.release import Release
from ...exceptions import PolicyError, UnknownNameError
from ...extenders.choice import ConfiguredExtenders
from ...framework.config.configuration import KubeSchedulerConfiguration
from ...framework.copying import Frozen, freeze_spec, thaw_spec
from ...framework.options import Classic, Framework
from ...framework.releases import ALL_RELEASES, find_any_release
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from .asked import Asked, noting

Json = Mapping[str, Any]
POLICY = "the Policy"
"""What a stage runs that reads a Policy itself."""
UNCALLED = ConfiguredExtenders()
"""An upgrade calls no extender, and its answer says so."""


@attrs.frozen(repr=False)
class Stage:
    """One release of the way."""

    release: Release
    spec: SchedulerSpec
    text: str = "the default profile"
    """What it runs."""
    document: Json | None = None
    """The configuration that it reads, from which a release that is not quite the same reads it, too; None: the default."""
    policy: Policy | None = None
    """The Policy that came to this release: one that reads a Policy makes profiles of it, in place of ``document``."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _thawed, (self.version, freeze_spec(self.spec), self.text, self.document, self.policy)

    @property
    def version(self) -> str:
        """The number of the release."""
        return self.release.version

    def engine(self, config_maps: ConfigMaps, release: Release | None = None, asked: Asked | None = None) -> Engine:
        """A new scheduler; *release*: one that is not quite the same, in its place; *asked*: where what it asks for is noted."""
        spec = self.spec
        if spec.profiles is None:
            algorithm = spec.algorithm(config_maps, release)
            version, gates, engine = algorithm.release, algorithm.gates, spec.engine_of(noting(algorithm, asked))
        else:
            found = spec.profiles if release is None else self._profiles(release, spec.profiles)
            version, gates, engine = found.release, found.gates, attrs.evolve(spec, profiles=noting(found, asked)).engine(config_maps)
        templates = engine.templates
        templates.release, templates.gates = version, gates  # templates are compared by what they make of pods
        return engine

    def _profiles(self, release: Release, kept: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
        """The profiles that *release* makes of what the stage reads."""
        from ...framework.config.configuration import read_configuration
        from ...framework.policy.profile import configuration_of_policy

        if self.policy is not None and release.policies is not None:
            return configuration_of_policy(self.policy, release, percentage=kept.percentage)
        found = read_configuration(self.document, None, release)
        profiles = tuple(attrs.evolve(one, percentage=None) for one in found.profiles)
        return attrs.evolve(found, percentage=kept.percentage, profiles=profiles)


def _thawed(version: str, spec: Frozen, *rest: Any) -> Stage:
    return Stage(ALL_RELEASES[version], thaw_spec(spec), *rest)


def way_of(start: str, end: str, steps: Sequence[str] = ()) -> list[str]:
    """The releases from *start* to *end*, or those of *steps* alone.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown release, or a way that does not go forward.

    >>> way_of("1.14", "1.16")
    ['1.14', '1.15', '1.16']
    """
    known = list(ALL_RELEASES)
    if steps:
        found = [find_any_release(step).version for step in steps]
        places = [known.index(version) for version in found]
        if len(found) < 2 or places != sorted(set(places)):
            raise UnknownNameError(f"steps: expected two releases or more, oldest first, got {','.join(steps)}")
        return found
    first, last = (known.index(find_any_release(name).version) for name in (start, end))
    if first >= last:
        raise UnknownNameError(f"to: expected a release after {start}, got {end}")
    return known[first : last + 1]


@attrs.frozen(kw_only=True, repr=False)
class StartedWith:
    """What the first release runs."""

    policy: Policy | None = None
    profile: Json | None = None
    """A KubeSchedulerConfiguration, in its JSON form."""
    percentage: int | None = None

    @property
    def traits(self) -> tuple[str, ...]:
        """What facts may need of it."""
        return (*(["policy"] if self.policy else ()), *(["profile", "no scores", "gates set"] if self.profile else ()))


def stages_of(versions: Sequence[str], given: StartedWith) -> list[Stage]:
    """The stages of *versions*, each with the configuration that *given* becomes there."""
    found = list[Stage]()
    for version in versions:
        try:
            found.append(_stage(ALL_RELEASES[version], given, ALL_RELEASES[versions[0]]))
        except PolicyError as error:
            error.add_note(f"it is release {version} that refuses it")
            raise
    return found


def _stage(release: Release, given: StartedWith, first: Release) -> Stage:
    version, policy = release.version, given.policy
    shared: dict[str, Any] = {"release": version, "percentage_of_nodes_to_score": given.percentage}
    framework = partial(Framework, **shared)
    if version in RELEASES:
        text = "the default provider" if policy is None else POLICY
        spec = SchedulerSpec.of(Classic(policy=policy, **shared), UNCALLED)
        spec.engine()  # a Policy that it refuses is refused here
        return Stage(release, spec, text)
    if policy is not None and release.policies is not None:
        return Stage(release, SchedulerSpec.of(framework(policy=policy), UNCALLED), POLICY, policy=policy)
    if policy is not None:
        document = _migrated(policy, first, release)
        spec = SchedulerSpec.of(framework(profile=document), UNCALLED)
        return Stage(release, spec, "the Policy, migrated to a profile", document, policy)
    if given.profile is not None:
        from ...framework.migrate.carrying import carried

        document = carried(given.profile, first, release).document
        is_kept = document.get("profiles") == given.profile.get("profiles")
        text = "the profile" if is_kept else "the profile, migrated"
        return Stage(release, SchedulerSpec.of(framework(profile=document), UNCALLED), text, document)
    return Stage(release, SchedulerSpec.of(framework()))


def _migrated(policy: Policy, first: Release, target: Release) -> Json:
    """The profile for *target* that *policy* becomes, which *first* runs."""
    if first.version in RELEASES:
        from ...framework.migrate.translation import migrate

        return migrate(policy, first, target=target).document
    from ...framework.migrate.fromplugins import migrate_profile, running

    return migrate_profile(running(policy, first, AlgorithmConfiguration()), target).document
