"""The meaning of a Policy on a release that makes plugins of it: plugins, order, weights, and names without
effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...algorithmprovider.catalogue import CATALOGUE, Catalogue
from ...algorithmprovider.check import (
    PolicyCheck,
    PolicyFault,
    RunningPredicate,
    WeightedPriority,
    check,
    refused_check,
)
from ...algorithmprovider.config import API_VERSIONS, AlgorithmSource, PolicyFile
from ...algorithmprovider.extenders import names_in_calling_order
from ...algorithmprovider.gates import GivenGates, parse_gates, resolved_gates
from ...algorithmprovider.policy import Policy, read_policy
from ...algorithmprovider.providers import DEFAULT_PROVIDER
from ...algorithmprovider.releases import find_release
from ...api.objects import JsonObject
from ...api.reading import Document
from ...api.record import replace
from ...core.release import PolicyCells, Release
from ...exceptions import PolicyError, UnknownNameError
from ..config.configuration import KubeSchedulerConfiguration, unread_of_first
from ..config.profiles import ProfileConfig
from ..profile import Profile, build_profiles
from ..registry import registry_of
from ..releases import ALL_RELEASES, framework_release
from .policyrules import BY_ARGUMENT
from .profile import AFFINITY, SPREAD, configuration_of_policy, configuration_of_provider

REQUESTS = "NodeResourcesFit"
PORTS = "PodFitsPorts"


def release_with_policies(name: str, instead: str = "") -> Release:
    """The release called *name*; *instead* says what else is wanted where it has no Policies.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    found = framework_release(name)
    if found is None:
        return find_release(name)
    if found.policies is None:
        known = [
            release.version
            for release in ALL_RELEASES.values()
            if release.policies is not None or release.predicates
        ]
        raise UnknownNameError(
            f"--release: expected {', '.join(known)}{instead}, got {name}; Policies ended with {known[-1]}"
        )
    return found


def profile_to_check(read: PolicyFile, release: str | None) -> Document | None:
    """The configuration in *read* where *release*, or without one the usual release for it, runs the plugins
    that it names."""
    written = read.configuration
    if written is None or written.data.get("apiVersion") not in API_VERSIONS or release is None:
        return read.profile
    reader = framework_release(release)
    if reader is None or read.document is not None:
        return None
    return written if read.config.source == AlgorithmSource() or is_first_unread(reader) else None


def is_first_unread(release: Release) -> bool:
    """Whether *release* has profiles and no longer reads the first version of the configuration."""
    return not release.predicates and "v1alpha1" not in release.configuration.api_versions


def check_file(
    read: PolicyFile, release: Release, gates: str | None, catalogue: Catalogue = CATALOGUE
) -> PolicyCheck:
    """The meaning of a Policy or a provider on *release*, with the component configuration that names it; a
    refusal is part of the report.

    Gates that the release refuses raise :class:`~kubeclassic.exceptions.PolicyError`.
    """
    config = read.config.with_defaults(release)
    switches = {**config.gates, **parse_gates(gates or "")}
    started: dict[str, Any] = {
        "provider": config.source.provider,
        "hard_pod_affinity_weight": config.hard_pod_affinity_weight,
    }
    try:
        config.validate(release)
    except PolicyError as error:
        return PolicyCheck(release=release.version, refused=str(error), faults=(PolicyFault("", str(error)),))
    if release.policies is None:
        found = check(read.document, release, switches, catalogue, **started)
    else:
        found = check_translated(read.document, release, switches, **started)
    unread = unread_of_first(config.written, release)
    if config.written and is_first_unread(release):
        unread = (
            f"{release.version} does not read the configuration, of v1alpha1: only its Policy is checked",
        )
    return replace(found, warnings=(*unread, *found.warnings))


def check_translated(
    policy: Document | JsonObject | None,
    release: Release,
    gates: GivenGates = None,
    *,
    provider: str | None = None,
    hard_pod_affinity_weight: int = 1,
) -> PolicyCheck:
    """As :func:`~kubeclassic.algorithmprovider.check.check`, for a release that makes plugins of *policy*.

    Its Filter and Score plugins are in place of predicates and priorities.
    """
    known = resolved_gates(release, gates)
    started: dict[str, Any] = {"gates": gates, "hard_pod_affinity_weight": hard_pod_affinity_weight}

    def build(policy: Policy | None) -> tuple[KubeSchedulerConfiguration, Mapping[str, Profile]]:
        if policy is None:
            config = configuration_of_provider(provider or DEFAULT_PROVIDER, release, **started)
        else:
            config = configuration_of_policy(policy, release, **started)
        return config, build_profiles(config, registry_of(release))

    try:
        given = None if policy is None else read_policy(policy)
        config, built = build(given)
    except PolicyError as error:
        return refused_check(policy, release, str(error), build, known)
    algorithm = next(iter(built.values())).algorithm
    profile = config.profiles[0]
    cells = release.policies or PolicyCells()
    written = given or Policy(kind="Policy", api_version="v1")
    return PolicyCheck(
        release=release.version,
        predicates=tuple(
            RunningPredicate(rule.name, _origin(rule.name, written, cells)) for rule in algorithm.predicates
        ),
        priorities=tuple(WeightedPriority(rule.name, weight) for rule, weight in algorithm.priorities),
        extenders=names_in_calling_order(written.extenders, release),
        check_all=config.checks_all,
        hard_pod_affinity_weight=profile.args_of(AFFINITY, config.context).hard_pod_affinity_weight,
        warnings=tuple(_warnings(given, written, config, profile, cells)),
    )


def _origin(plugin: str, policy: Policy, cells: PolicyCells) -> str:
    """The origin of *plugin*: the first predicate that brings it, or the origin of that."""
    if policy.predicates is None:
        return DEFAULT_PROVIDER
    named = {cells.aliases.get(entry.name, entry.name) for entry in policy.predicates}
    bringing = [name for name, plugins in cells.predicates.items() if plugin in plugins.split()]
    found = next((name for name in bringing if name in named), None)
    if found is not None:
        return f"Policy: {found}"
    if any(name in cells.mandatory_predicates for name in bringing):
        return "mandatory"
    return "Policy, with an argument"


# --- warnings -----------------------------------------------------------------------------------------------


def _warnings(
    given: Policy | None,
    policy: Policy,
    config: KubeSchedulerConfiguration,
    profile: ProfileConfig,
    cells: PolicyCells,
) -> Iterator[str]:
    yield from config.notes
    for kind, entries, rules in (
        ("predicate", policy.predicates or (), cells.predicates),
        ("priority", policy.priorities or (), cells.priorities),
    ):
        for name, times in Counter(entry.name for entry in entries).items():
            if times > 1:
                yield f"{kind} {name}: named {times} times; it runs once"
        for entry in entries:
            name = cells.aliases.get(entry.name, entry.name)
            if entry.argument is not None and name in rules and not cells.arguments_first:
                why = "give it another name" if name in BY_ARGUMENT else "the rule of that name runs"
                yield f"{kind} {entry.name}: its argument is not read, as this release has a rule of that name: {why}"
            if name == PORTS and name in rules:
                yield f"{kind} {name}: accepted, but never runs: it is an old name; use PodFitsHostPorts"
    if REQUESTS not in profile.at("filter").names:
        yield f"plugin {REQUESTS} does not run: nothing checks what pods request"
    if policy.always_check_all and not config.checks_all:
        yield "alwaysCheckAllPredicates: no effect on this release: plugins stop at the first that rejects a node"
    if not cells.preempts and given is not None:
        yield "no pod preempts others: this release adds no plugin for it to a Policy's"
    named = {cells.aliases.get(entry.name, entry.name) for entry in policy.priorities or ()}
    if (
        {"SelectorSpreadPriority", "EvenPodsSpreadPriority"} <= named
        and cells.spread_gate
        and config.gates[cells.spread_gate]
    ):
        yield f"priorities SelectorSpreadPriority and EvenPodsSpreadPriority are one plugin, {SPREAD}: the weight of the latter counts"
    if not profile.plugins["score"].enabled and not policy.extenders:
        yield "no priorities and no extenders: every node scores 1"
