"""The profile that a release makes of a Policy, or of a provider's name, and its meaning.

Upstream: createFromConfig and createFromProvider in pkg/scheduler/factory.go,
pkg/scheduler/framework/plugins/legacy_registry.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ..algorithmprovider.catalogue import CATALOGUE, Catalogue
from ..algorithmprovider.check import (
    PolicyCheck,
    PolicyFault,
    RunningPredicate,
    WeightedPriority,
    check,
    refused_check,
)
from ..algorithmprovider.config import API_VERSIONS, AlgorithmSource, PolicyFile
from ..algorithmprovider.extenders import faults as older_extender_faults
from ..algorithmprovider.extenders import names_in_calling_order
from ..algorithmprovider.gates import GivenGates, parse_gates, resolved_gates
from ..algorithmprovider.policy import (
    DEFAULT_PROVIDER,
    MAX_WEIGHT,
    Policy,
    PredicateEntry,
    PriorityEntry,
    RatioArguments,
    check_arguments,
    decoded,
    int32,
    notes_on_form,
    read_policy,
)
from ..algorithmprovider.releases import find_release
from ..api.objects import DEFAULT_SCHEDULER, MAX_INT64, JsonObject, wrap_int64
from ..api.reading import Document
from ..api.record import replace
from ..core.release import Gates, PolicyCells, Release
from ..exceptions import PolicyError, UnknownNameError
from ..priorities.requestedtocapacityratio import check_shape
from .config.args import (
    CPU_AND_MEMORY,
    InterPodAffinityArgs,
    NodeLabelArgs,
    PodTopologySpreadArgs,
    RequestedToCapacityRatioArgs,
    ResourceSpec,
    ServiceAffinityArgs,
    ShapePoint,
)
from .config.configuration import (
    KIND,
    KubeSchedulerConfiguration,
    extender_faults,
    read_configuration,
    unread_of_first,
)
from .config.fielderrors import aggregated
from .config.profiles import GROUP, PluginArgs, PluginEntry, PluginSet, ProfileConfig
from .plugin import MAX_NODE_SCORE
from .profile import Profile, build_profiles
from .registry import registry_of
from .releases import ALL_RELEASES, framework_release

# --- The rules that a Policy names, and the arguments of their plugins --------------------------------------
# Upstream: ProcessPredicatePolicy and ProcessPriorityPolicy in
# pkg/scheduler/framework/plugins/legacy_registry.go.


BY_ARGUMENT = frozenset(
    {
        "CheckNodeLabelPresence",
        "CheckServiceAffinity",
        "NodeLabel",
        "RequestedToCapacityRatio",
        "ServiceAffinity",
    }
)
"""The rules that entries of other names become by an argument."""


@attrs.define(repr=False)
class PolicyRules:
    """The predicates and priorities that run, and the arguments of their plugins."""

    cells: PolicyCells
    gates: Gates
    predicates: dict[str, None] = attrs.Factory(dict)
    priorities: dict[str, int] = attrs.Factory(dict)
    """Priority -> weight."""
    node_label: NodeLabelArgs | None = None
    service_affinity: ServiceAffinityArgs | None = None
    ratio: RequestedToCapacityRatioArgs | None = None

    @classmethod
    def of(cls, policy: Policy, cells: PolicyCells, gates: Gates) -> PolicyRules:
        """The rules of *policy*. Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for
        a rule that does not exist."""
        rules = cls(cells, gates)
        if policy.predicates is None:
            rules.predicates = dict.fromkeys(name for name in cells.default_predicates if rules._is_on(name))
        for predicate in policy.predicates or ():
            check_arguments(predicate, cells.two_arguments)
            rules.predicates[rules._predicate(predicate)] = None
        if policy.priorities is None:
            rules.priorities = {
                name: weight for name, weight in cells.default_priorities.items() if rules._is_on(name)
            }
        for priority in policy.priorities or ():
            if priority.name != "EqualPriority":
                check_arguments(priority, cells.two_arguments)
                rules.priorities[rules._priority(priority)] = priority.weight
        rules.predicates |= dict.fromkeys(cells.mandatory_predicates)
        return rules

    def _is_on(self, name: str) -> bool:
        gate = self.cells.rule_gates.get(name)
        return gate is None or self.gates.get(gate, False)

    def _has_rule(self, name: str, rules: Mapping[str, str], argument: object) -> bool:
        # Upstream: where the name of a rule wins, its argument is lost.
        by_argument = self.cells.arguments_first and (name in BY_ARGUMENT or argument is not None)
        return name in rules and self._is_on(name) and not by_argument

    def _predicate(self, entry: PredicateEntry) -> str:
        name = self.cells.aliases.get(entry.name, entry.name)
        argument = entry.argument
        if self._has_rule(name, self.cells.predicates, argument):
            return name
        if argument is not None and argument.service_affinity is not None:
            args = self.service_affinity or ServiceAffinityArgs()
            self.service_affinity = attrs.evolve(
                args, affinity_labels=args.affinity_labels + argument.service_affinity.labels
            )
            return "CheckServiceAffinity"
        if argument is None or argument.labels_presence is None:
            raise PolicyError(self.cells.unknown_predicate.format(name=name))
        kind = "present" if argument.labels_presence.presence else "absent"
        self._add_labels(f"{kind}_labels", argument.labels_presence.labels)
        return "CheckNodeLabelPresence"

    def _add_labels(self, field: str, labels: tuple[str, ...]) -> None:
        args = self.node_label or NodeLabelArgs()
        self.node_label = attrs.evolve(args, **{field: getattr(args, field) + labels})

    def _priority(self, entry: PriorityEntry) -> str:
        name = self.cells.aliases.get(entry.name, entry.name)
        argument = entry.argument
        if self._has_rule(name, self.cells.priorities, argument):
            return name
        if argument is None:
            raise PolicyError(self.cells.unknown_priority.format(name=name))
        if argument.service_anti_affinity is not None:
            args = self.service_affinity or ServiceAffinityArgs()
            self.service_affinity = attrs.evolve(
                args,
                anti_affinity_labels_preference=(
                    *args.anti_affinity_labels_preference,
                    argument.service_anti_affinity.label,
                ),
            )
            return "ServiceAffinity"
        if argument.label_preference is not None:
            kind = "present" if argument.label_preference.presence else "absent"
            self._add_labels(f"{kind}_labels_preference", (argument.label_preference.label,))
            return "NodeLabel"
        ratio = argument.ratio or RatioArguments()
        if self.cells.checks_before_conversion:
            check_shape([(point.utilization, point.score * 10) for point in ratio.shape], MAX_NODE_SCORE)
        resources = tuple(ResourceSpec(resource.name, resource.weight) for resource in ratio.resources)
        if self.cells.fills_resources:
            resources = tuple(attrs.evolve(r, weight=r.weight or 1) for r in resources) or CPU_AND_MEMORY
        self.ratio = RequestedToCapacityRatioArgs(
            tuple(ShapePoint(point.utilization, point.score) for point in ratio.shape), resources
        )
        return "RequestedToCapacityRatio"

    def weight(self, name: str) -> int:
        """The weight of the Score plugin of priority *name*: 32 bits."""
        weight = int32(self.priorities[name])
        # Upstream: each label scores a share, so the weight counts once for each.
        if name == "NodeLabel":
            args = self.node_label or NodeLabelArgs()
            weight *= len(args.present_labels_preference) + len(args.absent_labels_preference)
        elif name == "ServiceAffinity":
            weight *= len((self.service_affinity or ServiceAffinityArgs()).anti_affinity_labels_preference)
        return int32(weight)

    def check_total(self) -> None:
        """Raise :class:`~kubeclassic.exceptions.PolicyError` where the weights are too high together, before
        they are cut to 32 bits."""
        total = 0
        for name in sorted(self.priorities):
            scaled = wrap_int64(self.priorities[name] * MAX_NODE_SCORE)
            if scaled > wrap_int64(MAX_INT64 - total):
                raise PolicyError("total priority of priority functions has overflown")
            total = wrap_int64(total + scaled)


# --- Faults of a Policy, in upstream's words ----------------------------------------------------------------
# Upstream: pkg/scheduler/apis/config/validation/validation.go ValidatePolicy.


HIGHEST_AFFINITY_WEIGHT = 100


def validate(policy: Policy, release: Release, cells: PolicyCells) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` with all faults of *policy* in one text."""
    if found := aggregated(_faults(policy, release, cells)):
        raise PolicyError(found)


def _faults(policy: Policy, release: Release, cells: PolicyCells) -> Iterator[str]:
    latest: dict[str, PriorityEntry] = {}
    for entry in policy.priorities or ():
        if not 0 < entry.weight < MAX_WEIGHT:
            yield cells.bad_weight.format(name=entry.name)
        argument = entry.argument
        if argument is None:
            continue
        if argument.label_preference is not None:
            yield from _other_weight("LabelPreference", entry, latest)
        elif argument.service_anti_affinity is not None:
            yield from _other_weight("ServiceAntiAffinity", entry, latest)
        elif argument.ratio is None:
            yield cells.no_argument.format(name=entry.name)
        elif (earlier := latest.setdefault("RequestedToCapacityRatio", entry)) is not entry:
            yield cells.declared_again.format(name=entry.name, first=earlier.name)
    if cells.older_extender_texts:
        yield from older_extender_faults(policy.extenders)
    else:
        yield from extender_faults(policy.extenders, release.framework)
    if (
        not cells.weight_of_configuration_counts
        and not 0 <= policy.hard_pod_affinity_weight <= HIGHEST_AFFINITY_WEIGHT
    ):
        yield cells.bad_affinity_weight.format(weight=policy.hard_pod_affinity_weight)


def _other_weight(kind: str, entry: PriorityEntry, latest: dict[str, PriorityEntry]) -> Iterator[str]:
    """The fault of a weight that differs from that of the latest entry of its *kind*. The entry then becomes
    the latest."""
    previous = latest.get(kind, entry)
    if previous.weight != entry.weight:
        yield f'{kind}  priority "{entry.name}" has a different weight with "{previous.name}"'
    else:
        latest[kind] = entry


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
    resolved = resolved_gates(release, gates)
    if cells is None:
        raise PolicyError(f"policy: got one, but release {release.version} has no Policies")
    notes = tuple(notes_on_form(policy, release))
    policy = decoded(policy, release)
    validate(policy, release, cells)
    rules = PolicyRules.of(policy, cells, resolved)
    weight = policy.hard_pod_affinity_weight or (
        hard_pod_affinity_weight if cells.weight_of_configuration_counts else DEFAULT_AFFINITY_WEIGHT
    )
    if cells.weight_of_configuration_counts:
        _check_affinity_weight(weight, cells)
        # Upstream: the Policy's own weight is checked, but the priority's metadata are made with that of the
        # configuration.
        weight = hard_pod_affinity_weight
    if cells.checks_before_conversion:
        rules.check_total()
    profile = ProfileConfig(
        scheduler_name=scheduler_name,
        plugins=_plugins(rules),
        plugin_config=tuple(_plugin_config(rules, weight)),
    )
    return KubeSchedulerConfiguration(
        release=release,
        api_version=f"{GROUP}/{release.configuration.default_version}",
        gates=resolved,
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
    filters = []
    for predicate, plugins in cells.predicates.items():
        for plugin in plugins.split() if predicate in rules.predicates else ():
            if plugin not in filters or not cells.merges_plugins:
                filters.append(plugin)
    scores: list[PluginEntry] = []
    for priority in sorted(rules.priorities):
        plugin = SPREAD if merges and priority == SERVICES else cells.priorities[priority]
        # Upstream: the higher of two weights should count, but it is written to a copy, so the first one
        # stays.
        if not cells.merges_plugins or all(plugin != entry.name for entry in scores):
            scores.append(PluginEntry(plugin, rules.weight(priority)))
    names_by_point = {
        "queueSort": ["PrioritySort"],
        "preFilter": [name for name in filters if name in cells.pre_filters],
        "filter": filters,
        "postFilter": ["DefaultPreemption"] if cells.preempts else [],
        "preScore": [entry.name for entry in scores if entry.name in cells.pre_scores],
        "bind": ["DefaultBinder"],
    }
    if VOLUMES in filters and cells.plugin_reserves:
        names_by_point |= {"reserve": [VOLUMES], "preBind": [VOLUMES]}
    sets = {point: PluginSet(tuple(map(PluginEntry, names))) for point, names in names_by_point.items()}
    return sets | {"score": PluginSet(tuple(scores))}


def _merges_spreads(rules: PolicyRules) -> bool:
    """Whether PodTopologySpread replaces both priorities that spread pods, SelectorSpreadPriority by the
    system's constraints."""
    return bool(rules.cells.spread_gate) and rules.gates.get(rules.cells.spread_gate, False)


def _plugin_config(rules: PolicyRules, hard_pod_affinity_weight: int) -> Iterator[PluginArgs]:
    """The arguments of plugins, as far as the Policy sets them."""
    args_by_plugin = {
        "NodeLabel": rules.node_label,
        "ServiceAffinity": rules.service_affinity,
        "RequestedToCapacityRatio": rules.ratio,
    }
    for name, args in args_by_plugin.items():
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
    config = read_configuration(document, gates, release)
    cells = release.policies
    if cells is None or not cells.providers:
        return config
    if provider not in cells.providers:
        raise PolicyError(f'algorithm provider "{provider}" is not registered')
    if cells.weight_is_argument:
        _check_affinity_weight(hard_pod_affinity_weight, cells)
    replacements = cells.providers[provider]
    added_args: tuple[PluginArgs, ...] = ()
    if cells.weight_is_argument and hard_pod_affinity_weight != DEFAULT_AFFINITY_WEIGHT:
        added_args = (PluginArgs(AFFINITY, InterPodAffinityArgs(hard_pod_affinity_weight)),)
    profiles = []
    for profile in config.profiles:
        sets = {
            point: attrs.evolve(
                plugins,
                enabled=tuple(
                    attrs.evolve(p, name=replacements.get(p.name, p.name)) for p in plugins.enabled
                ),
            )
            for point, plugins in profile.plugins.items()
        }
        profiles.append(
            attrs.evolve(profile, plugins=sets, plugin_config=(*profile.plugin_config, *added_args))
        )
    return attrs.evolve(config, profiles=tuple(profiles))


# --- The meaning of a Policy: plugins, order, weights, and names without effect -----------------------------


REQUESTS = "NodeResourcesFit"
PORTS = "PodFitsPorts"


def release_with_policies(name: str, instead: str = "") -> Release:
    """The release called *name*; *instead* names the alternative where it has no Policies.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    release = framework_release(name)
    if release is None:
        return find_release(name)
    if release.policies is None:
        versions = [
            release.version
            for release in ALL_RELEASES.values()
            if release.policies is not None or release.predicates
        ]
        raise UnknownNameError(
            f"--release: expected {', '.join(versions)}{instead}, got {name}; Policies ended with {versions[-1]}"
        )
    return release


def profile_to_check(file: PolicyFile, release: str | None) -> Document | None:
    """The configuration in *file*, if *release* (by default the usual release for it) runs the plugins that
    it names; else None."""
    configuration = file.configuration
    if configuration is None or configuration.data.get("apiVersion") not in API_VERSIONS or release is None:
        return file.profile
    reader = framework_release(release)
    if reader is None or file.document is not None:
        return None
    return configuration if file.config.source == AlgorithmSource() or is_first_unread(reader) else None


def is_first_unread(release: Release) -> bool:
    """Whether *release* has profiles and no longer reads the first version of the configuration."""
    return not release.predicates and "v1alpha1" not in release.configuration.api_versions


def check_file(
    file: PolicyFile, release: Release, gates: str | None, catalogue: Catalogue = CATALOGUE
) -> PolicyCheck:
    """The meaning of a Policy or a provider on *release*, with the component configuration that names it; a
    refusal is part of the report.

    Gates that the release refuses raise :class:`~kubeclassic.exceptions.PolicyError`.
    """
    config = file.config.with_defaults(release)
    switches = {**config.gates, **parse_gates(gates or "")}
    flags: dict[str, Any] = {
        "provider": config.source.provider,
        "hard_pod_affinity_weight": config.hard_pod_affinity_weight,
    }
    try:
        config.validate(release)
    except PolicyError as error:
        return PolicyCheck(release=release.version, refused=str(error), faults=(PolicyFault("", str(error)),))
    if release.policies is None:
        report = check(file.document, release, switches, catalogue, **flags)
    else:
        report = check_translated(file.document, release, switches, **flags)
    unread = unread_of_first(config.written, release)
    if config.written and is_first_unread(release):
        unread = (
            f"{release.version} does not read the configuration, of v1alpha1: only its Policy is checked",
        )
    return replace(report, warnings=(*unread, *report.warnings))


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
    resolved = resolved_gates(release, gates)
    flags: dict[str, Any] = {"gates": gates, "hard_pod_affinity_weight": hard_pod_affinity_weight}

    def build(policy: Policy | None) -> tuple[KubeSchedulerConfiguration, Mapping[str, Profile]]:
        if policy is None:
            config = configuration_of_provider(provider or DEFAULT_PROVIDER, release, **flags)
        else:
            config = configuration_of_policy(policy, release, **flags)
        return config, build_profiles(config, registry_of(release))

    try:
        parsed = None if policy is None else read_policy(policy)
        config, built = build(parsed)
    except PolicyError as error:
        return refused_check(policy, release, str(error), build, resolved)
    algorithm = next(iter(built.values())).algorithm
    profile = config.profiles[0]
    cells = release.policies or PolicyCells()
    effective = parsed or Policy(kind="Policy", api_version="v1")
    return PolicyCheck(
        release=release.version,
        predicates=tuple(
            RunningPredicate(rule.name, _origin(rule.name, effective, cells)) for rule in algorithm.predicates
        ),
        priorities=tuple(WeightedPriority(rule.name, weight) for rule, weight in algorithm.priorities),
        extenders=names_in_calling_order(effective.extenders, release),
        check_all=config.checks_all,
        hard_pod_affinity_weight=profile.args_of(AFFINITY, config.context).hard_pod_affinity_weight,
        warnings=tuple(_warnings(parsed, effective, config, profile, cells)),
    )


def _origin(plugin: str, policy: Policy, cells: PolicyCells) -> str:
    """The origin of *plugin*: the first predicate that adds it, or the origin of that."""
    if policy.predicates is None:
        return DEFAULT_PROVIDER
    policy_names = {cells.aliases.get(entry.name, entry.name) for entry in policy.predicates}
    candidates = [name for name, plugins in cells.predicates.items() if plugin in plugins.split()]
    name_in_policy = next((name for name in candidates if name in policy_names), None)
    if name_in_policy is not None:
        return f"Policy: {name_in_policy}"
    if any(name in cells.mandatory_predicates for name in candidates):
        return "mandatory"
    return "Policy, with an argument"


# --- warnings -----------------------------------------------------------------------------------------------


def _warnings(
    written: Policy | None,
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
                advice = "give it another name" if name in BY_ARGUMENT else "the rule of that name runs"
                yield f"{kind} {entry.name}: its argument is not read, as this release has a rule of that name: {advice}"
            if name == PORTS and name in rules:
                yield f"{kind} {name}: accepted, but never runs: it is an old name; use PodFitsHostPorts"
    if REQUESTS not in profile.at("filter").names:
        yield f"plugin {REQUESTS} does not run: nothing checks what pods request"
    if policy.always_check_all and not config.checks_all:
        yield "alwaysCheckAllPredicates: no effect on this release: plugins stop at the first that rejects a node"
    if not cells.preempts and written is not None:
        yield "no pod preempts others: this release adds no plugin for it to a Policy's"
    policy_names = {cells.aliases.get(entry.name, entry.name) for entry in policy.priorities or ()}
    if (
        {"SelectorSpreadPriority", "EvenPodsSpreadPriority"} <= policy_names
        and cells.spread_gate
        and config.gates[cells.spread_gate]
    ):
        yield f"priorities SelectorSpreadPriority and EvenPodsSpreadPriority are one plugin, {SPREAD}: the weight of the latter counts"
    if not profile.plugins["score"].enabled and not policy.extenders:
        yield "no priorities and no extenders: every node scores 1"
