"""The profile that a release makes of a Policy, or of a provider's name.

Upstream: createFromConfig and createFromProvider in pkg/scheduler/factory.go,
pkg/scheduler/framework/plugins/legacy_registry.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from ...algorithmprovider.extenders import faults as older_extender_faults
from ...algorithmprovider.gates import GivenGates, resolved_gates
from ...algorithmprovider.policy import MAX_WEIGHT, Policy, PriorityEntry, decoded, notes_on_form
from ...api.objects import DEFAULT_SCHEDULER
from ...core.release import PolicyCells, Release
from ...exceptions import PolicyError
from ..config.args import InterPodAffinityArgs, PodTopologySpreadArgs
from ..config.configuration import KIND, KubeSchedulerConfiguration, extender_faults, read_configuration
from ..config.fielderrors import aggregated
from ..config.profiles import GROUP, PluginArgs, PluginEntry, PluginSet, ProfileConfig
from .policyrules import PolicyRules

# --- Faults of a Policy, in upstream's words ----------------------------------------------------------------
# Upstream: pkg/scheduler/apis/config/validation/validation.go ValidatePolicy.


HIGHEST_AFFINITY_WEIGHT = 100


def validate(policy: Policy, cells: PolicyCells) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` with all faults of *policy* in one text."""
    if found := aggregated(_faults(policy, cells)):
        raise PolicyError(found)


def _faults(policy: Policy, cells: PolicyCells) -> Iterator[str]:
    latest: dict[str, PriorityEntry] = {}
    for entry in policy.priorities or ():
        if not 0 < entry.weight < MAX_WEIGHT:
            yield cells.bad_weight.format(name=entry.name)
        if fault := _argument_fault(entry, latest, cells):
            yield fault
    yield from (older_extender_faults if cells.older_extender_texts else extender_faults)(policy.extenders)
    if (
        not cells.weight_of_configuration_counts
        and not 0 <= policy.hard_pod_affinity_weight <= HIGHEST_AFFINITY_WEIGHT
    ):
        yield cells.bad_affinity_weight.format(weight=policy.hard_pod_affinity_weight)


def _argument_fault(entry: PriorityEntry, latest: dict[str, PriorityEntry], cells: PolicyCells) -> str:
    """The fault of a priority's argument; *latest*: the latest entry of each kind before it, which the entry
    joins."""
    argument = entry.argument
    if argument is None:
        return ""
    if argument.label_preference is not None:
        return _other_weight("LabelPreference", entry, latest)
    if argument.service_anti_affinity is not None:
        return _other_weight("ServiceAntiAffinity", entry, latest)
    if argument.ratio is None:
        return cells.no_argument.format(name=entry.name)
    first = latest.setdefault("RequestedToCapacityRatio", entry)
    return "" if first is entry else cells.declared_again.format(name=entry.name, first=first.name)


def _other_weight(kind: str, entry: PriorityEntry, latest: dict[str, PriorityEntry]) -> str:
    before = latest.get(kind, entry)
    if before.weight != entry.weight:
        return f'{kind}  priority "{entry.name}" has a different weight with "{before.name}"'
    latest[kind] = entry
    return ""


# --- Profiles of Policies -----------------------------------------------------------------------------------


SERVICES = "SelectorSpreadPriority"
SPREAD = "PodTopologySpread"
VOLUMES = "VolumeBinding"
AFFINITY = "InterPodAffinity"
DEFAULT_AFFINITY_WEIGHT = 1


def configuration_of_policy(
    policy: Policy,
    release: Release,
    *,
    gates: GivenGates = None,
    percentage: int = 0,
    hard_pod_affinity_weight: int = DEFAULT_AFFINITY_WEIGHT,
    scheduler_name: str = DEFAULT_SCHEDULER,
) -> KubeSchedulerConfiguration:
    """The configuration that *release* runs when it is started with *policy*.

    *gates* are the changes to the default gates. Raises :class:`~kubeclassic.exceptions.PolicyError` with
    upstream's text.
    """
    cells = release.policies
    known = resolved_gates(release, gates)
    if cells is None:
        raise PolicyError(f"policy: got one, but release {release.version} has no Policies")
    notes = tuple(notes_on_form(policy, release))
    policy = decoded(policy, release)
    validate(policy, cells)
    rules = PolicyRules.of(policy, cells, known)
    weight = policy.hard_pod_affinity_weight or (
        hard_pod_affinity_weight if cells.weight_of_configuration_counts else DEFAULT_AFFINITY_WEIGHT
    )
    if cells.weight_of_configuration_counts:
        _check_affinity_weight(weight, cells)
        # Upstream: the Policy's own weight is checked, but the priority's metadata are made with that of the
        # configuration.
        weight = hard_pod_affinity_weight
    if cells.sums_weights_first:
        rules.check_total()
    profile = ProfileConfig(
        scheduler_name=scheduler_name,
        plugins=_plugins(rules),
        plugin_config=tuple(_plugin_config(rules, weight)),
    )
    return KubeSchedulerConfiguration(
        release=release,
        api_version=f"{GROUP}/{release.configuration.default_version}",
        gates=known,
        percentage=percentage,
        profiles=(profile,),
        extenders=policy.extenders,
        checks_all=policy.always_check_all and cells.checks_all,
        notes=notes,
    )


def _check_affinity_weight(weight: int, cells: PolicyCells) -> None:
    if not cells.least_affinity_weight <= weight <= HIGHEST_AFFINITY_WEIGHT:
        raise PolicyError(cells.bad_affinity_weight.format(weight=weight))


def _plugins(rules: PolicyRules) -> dict[str, PluginSet]:
    """The plugins at each extension point."""
    cells = rules.cells
    merges = _merges_spreads(rules)
    filters: list[str] = []
    for predicate, plugins in cells.predicates.items():
        for plugin in plugins.split() if predicate in rules.predicates else ():
            if plugin not in filters or not cells.merges_plugins:
                filters.append(plugin)
    scores: list[PluginEntry] = []
    for priority in sorted(rules.priorities):
        plugin = SPREAD if merges and priority == SERVICES else cells.priorities[priority]
        # Upstream: the higher of two weights is to count, but it is written to a copy, so the first one stays.
        if not cells.merges_plugins or all(plugin != entry.name for entry in scores):
            scores.append(PluginEntry(plugin, rules.weight(priority)))
    found = {
        "queueSort": ["PrioritySort"],
        "preFilter": [name for name in filters if name in cells.pre_filters],
        "filter": filters,
        "postFilter": ["DefaultPreemption"] if cells.preempts else [],
        "preScore": [entry.name for entry in scores if entry.name in cells.pre_scores],
        "bind": ["DefaultBinder"],
    }
    if VOLUMES in filters and cells.plugin_reserves:
        found |= {"reserve": [VOLUMES], "preBind": [VOLUMES]}
    sets = {point: PluginSet(tuple(map(PluginEntry, names))) for point, names in found.items()}
    return sets | {"score": PluginSet(tuple(scores))}


def _merges_spreads(rules: PolicyRules) -> bool:
    """Whether PodTopologySpread does the work of both priorities that spread pods: of SelectorSpreadPriority
    by the system's constraints."""
    return bool(rules.cells.spread_gate) and rules.gates.get(rules.cells.spread_gate, False)


def _plugin_config(rules: PolicyRules, hard_pod_affinity_weight: int) -> Iterator[PluginArgs]:
    """The arguments of the plugins that the Policy says something about."""
    own: dict[str, Any] = {
        "NodeLabel": rules.node_label,
        "ServiceAffinity": rules.service_affinity,
        "RequestedToCapacityRatio": rules.ratio,
    }
    for name, args in own.items():
        if args is not None or not rules.cells.fills_arguments:
            yield PluginArgs(name, args)
    if "InterPodAffinityPriority" in rules.priorities:
        yield PluginArgs(AFFINITY, InterPodAffinityArgs(hard_pod_affinity_weight))
    if _merges_spreads(rules) and SERVICES in rules.priorities:
        yield PluginArgs(SPREAD, PodTopologySpreadArgs(defaulting_type="System"))
    elif _merges_spreads(rules) and "EvenPodsSpreadPriority" in rules.priorities:
        yield PluginArgs(SPREAD, PodTopologySpreadArgs(defaulting_type="List"))


# --- providers ----------------------------------------------------------------------------------------------


def configuration_of_provider(
    provider: str,
    release: Release,
    *,
    gates: GivenGates = None,
    percentage: int = 0,
    hard_pod_affinity_weight: int = DEFAULT_AFFINITY_WEIGHT,
) -> KubeSchedulerConfiguration:
    """The configuration that *release* runs when it is started with the name of a provider.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for one that does not exist.
    """
    document = {
        "apiVersion": f"{GROUP}/{release.configuration.default_version}",
        "kind": KIND,
        "percentageOfNodesToScore": percentage,
    }
    found = read_configuration(document, gates, release)
    cells = release.policies
    if cells is None or not cells.providers:
        return found
    if provider not in cells.providers:
        raise PolicyError(f'algorithm provider "{provider}" is not registered')
    if cells.weight_is_argument:
        _check_affinity_weight(hard_pod_affinity_weight, cells)
    replaced = cells.providers[provider]
    more: tuple[PluginArgs, ...] = ()
    if cells.weight_is_argument and hard_pod_affinity_weight != DEFAULT_AFFINITY_WEIGHT:
        more = (PluginArgs(AFFINITY, InterPodAffinityArgs(hard_pod_affinity_weight)),)
    profiles = []
    for profile in found.profiles:
        sets = {
            point: attrs.evolve(
                plugins,
                enabled=tuple(attrs.evolve(p, name=replaced.get(p.name, p.name)) for p in plugins.enabled),
            )
            for point, plugins in profile.plugins.items()
        }
        profiles.append(attrs.evolve(profile, plugins=sets, plugin_config=(*profile.plugin_config, *more)))
    return attrs.evolve(found, profiles=tuple(profiles))
