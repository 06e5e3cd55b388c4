"""A Policy as a KubeSchedulerConfiguration: the profile that decides most like it, and notes on the
differences.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go and pkg/scheduler/factory.go of 1.19 to 1.22.
Notes say where this translation decides differently from upstream's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

import attrs

from ...algorithmprovider.catalogue import CATALOGUE
from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.extenders import NANOSECONDS, ExtenderConfig
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.policy import (
    DEFAULT_PROVIDER,
    LabelPreference,
    Policy,
    PredicateArgument,
    PriorityArgument,
    Registry,
    Selection,
    in_running_order,
    select,
)
from ...api.meaning import is_valid_label_key
from ...api.objects import DEFAULT_SCHEDULER, JsonDict
from ...core.release import Release
from ...exceptions import UnknownNameError
from ...priorities.requestedtocapacityratio import DEFAULT_RESOURCES as CPU_AND_MEMORY
from ...priorities.requestedtocapacityratio import DEFAULT_SHAPE as FALLING
from ...priorities.requestedtocapacityratio import Point
from ..config.apiversions import NEW_HTTPS, cells_in, newest_taking
from ..config.args import RequestedToCapacityRatioArgs
from ..config.configuration import KIND
from ..config.fielderrors import Context
from ..config.profiles import GROUP, default_plugins
from ..releases import PROFILE_RELEASE
from .profiles import (
    CHECKS_ALL,
    COUNTED_ELSEWHERE,
    DEVICES,
    NODE_LABEL,
    NODES,
    OLDER_RULES,
    OWN_CONSTRAINTS,
    OWN_DEFAULTS,
    PEER_SPREADING,
    RULES,
    SELECTOR_SPREAD,
    TARGETS,
    Migration,
    Note,
    ProfileDraft,
    as_json,
    left_out,
    running,
    written_extenders,
)

BIND_TIMEOUT = 600
SPREAD_BY_SELECTOR = [
    name for name, release in TARGETS.items() if SELECTOR_SPREAD not in release.configuration.gone_plugins
]
"""The targets with plugin SelectorSpread."""


def migrate(
    policy: Policy | None,
    release: Release,
    config: AlgorithmConfiguration | None = None,
    *,
    target: Release = PROFILE_RELEASE,
    selector_spread: bool = False,
) -> Migration:
    """The configuration, of version v1 and for *target*, that runs *policy* as *release* does (None: the
    provider of *config*).

    *config*: the component configuration that the release was started with. *selector_spread*: plugin
    SelectorSpread, which has the old formula, spreads pods instead of PodTopologySpread. Raises
    :class:`~kubeclassic.exceptions.PolicyError` with upstream's text if the release refuses the Policy, and
    :class:`~kubeclassic.exceptions.UnknownNameError` if *target* does not have SelectorSpread.
    """
    if selector_spread and target.version not in SPREAD_BY_SELECTOR:
        raise UnknownNameError(
            f"selector spread: expected {', '.join(SPREAD_BY_SELECTOR)}, got it for {target.version}, which has no such plugin"
        )
    given_config = config or AlgorithmConfiguration()
    config = given_config.with_defaults(release)
    config.validate(release)
    choice = select(
        Registry.of(release, resolved_gates(release, config.gates), CATALOGUE),
        policy,
        config.source.provider or DEFAULT_PROVIDER,
        config.hard_pod_affinity_weight,
    )
    draft = _PolicyDraft(
        target, policy=policy or Policy(), release=release, choice=choice, selector_spread=selector_spread
    )
    draft.filter()
    draft.score()
    return draft.finished(config, given_config.percentage)


# --- lines of scores and weights ----------------------------------------------------------------------------

Line = tuple[Point, ...]
RISING: Line = ((0, 0), (100, 10))
LINES: dict[Line, str] = {FALLING: "LeastAllocated", RISING: "MostAllocated"}
MAX_SCORE = 10
MAX_RESOURCE_WEIGHT = 100


@attrs.frozen(repr=False)
class ResourceStrategy:
    """A priority that scores a node's use of resources: ``shape`` is a broken line from utilization, 0 to
    100, to a score, 0 to 10."""

    name: str
    weight: int
    shape: Line
    resources: Mapping[str, int] = CPU_AND_MEMORY

    def at(self, utilization: int) -> Fraction:
        """The score at *utilization*."""
        left = self.shape[0]
        for right in self.shape:
            if utilization <= right[0]:
                along = Fraction(utilization - left[0], (right[0] - left[0]) or 1)
                return left[1] + along * (right[1] - left[1])
            left = right
        return Fraction(left[1])


@attrs.frozen(repr=False)
class Strategy:
    """``scoringStrategy`` and its weight; ``document`` is None if the priorities cancel out."""

    document: JsonDict | None
    weight: Fraction
    is_exact: bool
    dropped: tuple[str, ...]
    """The names of priorities over other resources, which weigh less and are left out."""


def merged(usages: Sequence[ResourceStrategy]) -> Strategy:
    """One strategy for *usages*, of which there must be one: lines over the same resources are added up, and
    those with the most weight remain."""
    groups: dict[object, list[ResourceStrategy]] = {}
    for usage in usages:
        groups.setdefault(tuple(sorted(usage.resources.items())), []).append(usage)
    heaviest = max(groups.values(), key=lambda group: sum(usage.weight for usage in group))
    dropped = tuple(usage.name for usage in usages if usage not in heaviest)
    if len(heaviest) == 1:
        return Strategy(
            _document(heaviest[0].shape, heaviest[0].resources), Fraction(heaviest[0].weight), True, dropped
        )
    points = sorted({0, 100, *(utilization for usage in heaviest for utilization, _ in usage.shape)})
    line = {
        point: sum((usage.weight * usage.at(point) for usage in heaviest), Fraction(0)) for point in points
    }
    low = min(line.values())
    high = max(line.values())
    if low == high:
        return Strategy(None, Fraction(0), True, dropped)
    stretched = {utilization: (score - low) * MAX_SCORE / (high - low) for utilization, score in line.items()}
    shape = tuple((utilization, round(score)) for utilization, score in stretched.items())
    is_exact = all(score.denominator == 1 for score in stretched.values())
    for strategy_line in LINES:
        strategy = ResourceStrategy("", 1, strategy_line)
        if all(strategy.at(utilization) == score for utilization, score in shape):
            shape = strategy_line
    return Strategy(
        _document(shape, heaviest[0].resources), Fraction(high - low) / MAX_SCORE, is_exact, dropped
    )


def _document(shape: Line, resources: Mapping[str, int]) -> JsonDict:
    resource_weights = [{"name": name, "weight": weight} for name, weight in resources.items()]
    if shape in LINES and resources == CPU_AND_MEMORY:
        return {"type": LINES[shape], "resources": resource_weights}
    return {
        "type": "RequestedToCapacityRatio",
        "resources": resource_weights,
        "requestedToCapacityRatio": {
            "shape": [{"utilization": utilization, "score": score} for utilization, score in shape]
        },
    }


def fitted_resources(resources: Mapping[str, int]) -> tuple[dict[str, int], bool]:
    """Weights of resources scaled to 1 to 100, with their ratios kept where possible; and whether any
    changed."""
    positive = {name: weight for name, weight in resources.items() if weight > 0}
    top = max(positive.values(), default=0)
    if top > MAX_RESOURCE_WEIGHT:
        positive = {
            name: max(1, round(Fraction(weight * MAX_RESOURCE_WEIGHT, top)))
            for name, weight in positive.items()
        }
    return positive or CPU_AND_MEMORY, positive != resources


MAX_WEIGHT = 2**31 - 1


def fitted(weights: Mapping[str, Fraction]) -> tuple[dict[str, int], dict[str, str]]:
    """*weights*, each above 0, as whole numbers of 32 bits; and name -> a text for each rounded weight.

    All are multiplied by their common denominator. If that makes them too large they are divided by their
    common divisor, and only if they are still too large they are scaled and rounded.
    """
    if not weights:
        return {}, {}
    common = lcm(*(weight.denominator for weight in weights.values()))
    whole_weights = {name: int(weight * common) for name, weight in weights.items()}
    if max(whole_weights.values()) > MAX_WEIGHT:
        shared = gcd(*whole_weights.values())
        whole_weights = {name: weight // shared for name, weight in whole_weights.items()}
    top = max(whole_weights.values())
    if top <= MAX_WEIGHT:
        return whole_weights, {}
    exact = {name: Fraction(weight * MAX_WEIGHT, top) for name, weight in whole_weights.items()}
    rounded = {name: max(1, round(weight)) for name, weight in exact.items()}
    return rounded, {
        name: f"weight {weights[name]} clipped to {weight} as all were scaled to fit 32 bits"
        for name, weight in rounded.items()
        if weight != exact[name]
    }


HOSTNAME = "kubernetes.io/hostname"
BALANCED = "NodeResourcesBalancedAllocation"
MAX_TERM = 100
USAGES = {
    "LeastRequestedPriority": FALLING,
    "MostRequestedPriority": RISING,
    "RequestedToCapacityRatioPriority": FALLING,
}


# --- the draft ----------------------------------------------------------------------------------------------


@attrs.define(repr=False, kw_only=True)
class _PolicyDraft(ProfileDraft):
    """The profile of a Policy; for an empty one that of the provider."""

    policy: Policy
    release: Release
    choice: Selection
    selector_spread: bool
    _fractions: dict[str, Fraction] = attrs.Factory(dict)
    """Name -> weight, before weights are made whole."""
    _usages: list[ResourceStrategy] = attrs.Factory(list)
    _labels: list[tuple[str, LabelPreference, int]] = attrs.Factory(list)
    _spread: dict[str, int] = attrs.Factory(dict)
    """Priority that prefers few peers, or label to spread over -> weight."""
    _domains: list[str] = attrs.Factory(list)

    # --- predicates -----------------------------------------------------------------------------------------

    def filter(self) -> None:
        """Take the plugins that replace the predicates, in running order."""
        version = self.release.version
        predicates = self.choice.predicates
        if self.policy.predicates is None:
            self.note("predicates", f"there is no list: those that {version} runs by default", OWN_DEFAULTS)
        running = [rule.name for rule in in_running_order(predicates, self.release.ordering)]
        for name in predicates:
            if name not in running:
                self.note(
                    name,
                    f"left out: {version} accepts it but never runs it",
                    "runs it, so that pods would find fewer nodes",
                )
        argument_by_name = {
            entry.name: entry.argument for entry in self.policy.predicates or () if entry.argument is not None
        }
        required: list[dict[str, str]] = []
        for name in running:
            if name in argument_by_name:
                required += (
                    labels
                    for labels in self._label_expressions(name, argument_by_name[name])
                    if labels not in required
                )
                continue
            rule = RULES[name]
            if gone_plugins := [plugin for plugin in rule.plugins if self.is_gone(plugin)]:
                self.filters["NodeVolumeLimits"] = None
                self.note(
                    name,
                    f"{self.target.version} has no plugin {', '.join(gone_plugins)}: {COUNTED_ELSEWHERE}; other volumes have no limit",
                    "has plugins EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits, which were removed in 1.32",
                )
                continue
            self.filters |= dict.fromkeys(rule.plugins)
            if rule.is_noted:
                self.note(name, rule.sentence, OLDER_RULES if rule.is_refused else None)
        if required:
            self.require("labelsPresence", required, NODE_LABEL)

    def _label_expressions(self, name: str, argument: PredicateArgument) -> Iterator[dict[str, str]]:
        """The labels that a predicate with an *argument* requires."""
        if argument.service_affinity is not None:
            labels = ", ".join(argument.service_affinity.labels)
            self.note(
                name,
                f"left out, as plugin ServiceAffinity was removed in 1.23: nothing keeps a service's pods on one value of {labels}"
                "; give them required podAffinity on that label",
            )
            return
        assert argument.labels_presence is not None
        for label in argument.labels_presence.labels:
            if faults := is_valid_label_key(label):
                self.note(name, f"label {label} is left out: no node can have it: {faults[0]}")
            else:
                yield {
                    "key": label,
                    "operator": "Exists" if argument.labels_presence.presence else "DoesNotExist",
                }

    # --- priorities -----------------------------------------------------------------------------------------

    def score(self) -> None:
        """Take the plugins that replace the priorities, with arguments and weights."""
        if self.policy.priorities is None:
            self.note(
                "priorities",
                f"there is no list: those that {self.release.version} scores by default, with its weights",
                OWN_DEFAULTS,
            )
        argument_by_name = {
            entry.name: entry.argument for entry in self.policy.priorities or () if entry.argument is not None
        }
        for rule, weight in self.choice.priorities:
            self._take(rule.name, weight, argument_by_name.get(rule.name))
        if self._usages:
            # One scoring strategy replaces the priorities that score the use of resources.
            strategy = merged(self._usages)
            kept_names = [usage.name for usage in self._usages if usage.name not in strategy.dropped]
            for name in strategy.dropped:
                self.note(name, "left out: a profile has one scoring strategy, and another one weighs more")
            if len(kept_names) > 1:
                outcome = f"added up to one line{'' if strategy.is_exact else ', rounded to whole scores'}"
                self.note(
                    ", ".join(kept_names),
                    outcome if strategy.document else "left out: they cancel out",
                    "has a plugin for each; a profile has one strategy since 1.23, which leaves the heaviest",
                )
            if strategy.document is not None:
                self.args["NodeResourcesFit"] = {"scoringStrategy": strategy.document}
                self._fractions["NodeResourcesFit"] = strategy.weight
        if self.selector_spread and (weight := sum(self._spread.pop(name, 0) for name in PEER_SPREADING)):
            self._fractions[SELECTOR_SPREAD] = Fraction(weight)
            self.note(
                SELECTOR_SPREAD,
                "plugin SelectorSpread has the old formula, but is taken under multiPoint only; do not count on it in later releases"
                "; pods with constraints of their own are not spread",
            )
        if self._spread:
            self._spread_by_topology()
        if self._labels:
            self._combine_labels()
        if BALANCED in self._fractions:
            self._fractions[BALANCED] *= 2
            self.note(
                "BalancedResourceAllocation",
                "weight doubled: its scores range over 50 to 100 only, and pods without requests count as asking for nothing",
                "keeps the weight, so that balance would count half",
            )
        if "InterPodAffinity" in self._fractions and self.choice.hard_pod_affinity_weight != 1:
            self.args["InterPodAffinity"] = {"hardPodAffinityWeight": self.choice.hard_pod_affinity_weight}

    def _take(self, name: str, weight: int, argument: PriorityArgument | None) -> None:
        """Take the priority called *name*, with its *argument* in the Policy."""
        if argument is not None:
            if argument.ratio is not None:
                weights = {resource.name: resource.weight or 1 for resource in argument.ratio.resources}
                if weights and not self.release.ratio_reads_resources:
                    self.note(
                        name,
                        "its resources are left out, as the release ignores them",
                        "counts them, so that nodes would score otherwise",
                    )
                    weights = {}
                resources, is_changed = fitted_resources(weights or CPU_AND_MEMORY)
                if is_changed:
                    self.note(name, f"weights of resources are 1 to 100: {weights} became {resources}")
                self.note(
                    name,
                    "utilization is rounded down instead of up, and a resource that a node does not have is left out",
                )
                self._usages.append(
                    ResourceStrategy(
                        name,
                        weight,
                        tuple((point.utilization, point.score) for point in argument.ratio.shape),
                        resources,
                    )
                )
            elif argument.label_preference is not None:
                self._labels.append((name, argument.label_preference, weight))
            elif argument.service_anti_affinity is not None:
                label = argument.service_anti_affinity.label
                if is_valid_label_key(label):
                    self.note(name, f"left out: no node can have label {label}")
                    return
                self.note(
                    name,
                    f"replaced by a default constraint of PodTopologySpread, ScheduleAnyway over {label}: pods with"
                    " constraints of their own do not have it, and other pods count by number, not by share",
                    "has plugin ServiceAffinity, which was removed in 1.23",
                )
                self._spread[f"{name} over {label}"] = weight  # the name may be that of a built-in priority
                self._domains.append(label)
            return
        rule = RULES[name]
        if not rule.plugins:
            self.note(name, left_out(name), OLDER_RULES if rule.is_refused else None)
            return
        if rule.is_noted and not (name in PEER_SPREADING and self.selector_spread):
            self.note(name, rule.sentence)
        if name in USAGES:
            if name == "RequestedToCapacityRatioPriority":
                self.note(
                    name,
                    "its line without an argument falls from 10 to 0, as LeastAllocated does",
                    OLDER_RULES,
                )
            self._usages.append(ResourceStrategy(name, weight, USAGES[name]))
        elif name in (*PEER_SPREADING, OWN_CONSTRAINTS):
            self._spread[name] = weight
        else:
            self._fractions[rule.plugins[0]] = Fraction(weight)

    # --- priorities that share a plugin ---------------------------------------------------------------------

    def _spread_by_topology(self) -> None:
        own_weight = self._spread.get(OWN_CONSTRAINTS, 0)
        peers = sum(self._spread.values()) - own_weight
        self._fractions["PodTopologySpread"] = Fraction(max(own_weight, peers))
        if 0 < own_weight < peers:
            self.note(
                OWN_CONSTRAINTS,
                f"weight {own_weight} became {peers}: it shares PodTopologySpread with what spreads pods without constraints",
                "takes the weight of EvenPodsSpreadPriority for both",
            )
        elif 0 < peers < own_weight:
            self.note(
                "PodTopologySpread",
                f"weight {own_weight} also where pods have no constraints of their own, which had {peers}",
            )
        if not own_weight:
            self.note(
                "PodTopologySpread",
                "the pods' own constraints with ScheduleAnyway count too, which were ignored before",
            )
        has_peers = any(name in self._spread for name in PEER_SPREADING)
        if has_peers:
            if not self._domains:
                return  # the System defaults: hosts and zones
            self.note(
                "SelectorSpreadPriority",
                "beside constraints over labels only hosts are spread over, as a node without a label of any constraint would score 0"
                "; add topology.kubernetes.io/zone if every node has it",
            )
        constraints = [
            {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"}
            for key in dict.fromkeys([HOSTNAME] * has_peers + self._domains)
        ]
        self.args["PodTopologySpread"] = {"defaultingType": "List", "defaultConstraints": constraints}

    def _combine_labels(self) -> None:
        own_weight = int(self._fractions.get(NODES, 0))
        valid = [label for label in self._labels if not is_valid_label_key(label[1].label)]
        preferred = list[JsonDict]()
        top = max([own_weight, *(weight for _, _, weight in valid)])
        for name, label, weight in valid:
            term = max(1, round(Fraction(MAX_TERM * weight, top)))
            operator = "Exists" if label.presence else "DoesNotExist"
            preferred.append(
                {
                    "weight": term,
                    "preference": {"matchExpressions": [{"key": label.label, "operator": operator}]},
                }
            )
            self.note(
                name,
                f"replaced by a preferred term of addedAffinity, {label.label} {operator} with weight {term} of 100:"
                " it is summed with the pod's own preferences before these are scaled to 0 to 100",
                NODE_LABEL,
            )
        for name, label, _ in self._labels:
            if is_valid_label_key(label.label):
                self.note(name, f"left out: no node can have label {label.label}")
        if valid:
            if not own_weight:
                self.note(NODES, "preferred node affinity of pods counts too, which was ignored before")
            affinity = self.args.setdefault(NODES, {}).setdefault("addedAffinity", {})
            affinity["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
            self._fractions[NODES] = Fraction(max(own_weight, sum(weight for _, _, weight in valid)))

    # --- the rest -------------------------------------------------------------------------------------------

    def finished(self, config: AlgorithmConfiguration, percentage: int) -> Migration:
        """The profile, with the other settings of a Policy and of a component configuration that has the
        release's defaults.

        *percentage*: percentageOfNodesToScore as configured; 0 if it was not.
        """
        policy_extenders = self.policy.extenders
        scored = {
            f"extender {i}": Fraction(extender.weight)
            for i, extender in enumerate(policy_extenders)
            if extender.weight > 0
        }
        weights, clipped = fitted({**self._fractions, **scored})
        for name, text in clipped.items():
            self.note(name, text)
        self.weights = {name: weights[name] for name in self._fractions}
        extenders = written_extenders(
            [
                attrs.evolve(extender, weight=weights.get(f"extender {i}", 0))
                for i, extender in enumerate(policy_extenders)
            ]
        )
        if self.policy.always_check_all:
            self.note(
                "alwaysCheckAllPredicates",
                f"{CHECKS_ALL}; the same nodes fit, but fewer reasons are reported",
            )
        if config.percentage and not percentage:
            self.note(
                "percentageOfNodesToScore",
                f"not set, so the size of the cluster decides; the default of the release was {config.percentage} %",
            )
        if config.disable_preemption:
            self.note(
                "disablePreemption",
                "plugin DefaultPreemption is not enabled",
                "has no such switch and preempts",
            )
        if config.gates:
            gates = ", ".join(f"{name}={str(on).lower()}" for name, on in config.gates.items())
            self.note(
                "featureGates",
                f"not part of the file; give those that are still known to --feature-gates: {gates}",
            )
        if "VolumeBinding" in self.filters and BIND_TIMEOUT != config.bind_timeout >= 0:
            self.args["VolumeBinding"] = {"bindTimeoutSeconds": config.bind_timeout}
        plugin_names = default_plugins(Context(self.target, resolved_gates(self.target)))["multiPoint"].names
        post_filters = [DEVICES] * (DEVICES in plugin_names) + ["DefaultPreemption"] * (
            not config.disable_preemption
        )
        return Migration(
            self.document(config.scheduler_name, percentage, extenders, post_filters), tuple(self.notes)
        )


# --- plugin by plugin ---------------------------------------------------------------------------------------
# The profile that a release makes of a Policy itself, written out for a configuration. Releases from 1.18 to
# 1.22 read both, and the profile is needed before the upgrade that ends Policies.


def listed(policy: Policy | None, config: AlgorithmConfiguration, target: Release) -> Migration:
    """The profile that *target* itself makes of *policy*, or without one of the provider of *config*."""
    target_config = running(policy, target, config, config.percentage)
    (profile,) = target_config.profiles
    version = newest_taking(target.configuration, target_config.plugin_names)
    cells = cells_in(target.configuration, version)
    notes: list[Note] = []
    if target_config.checks_all:
        notes.append(
            Note(
                "alwaysCheckAllPredicates",
                "left out: a profile cannot say it; the same nodes fit, with fewer reasons",
            )
        )
    if "VolumeBinding" in target_config.plugin_names and config.bind_timeout not in (0, 600):
        notes.append(Note("bindTimeoutSeconds", "left out: give it to plugin VolumeBinding as an argument"))
    notes += (
        Note(entry.name, "cpu and memory count, as a profile cannot be without resources")
        for entry in profile.plugin_config
        if isinstance(entry.args, RequestedToCapacityRatioArgs) and not entry.args.resources
    )
    extenders = written_extenders(target_config.extenders)
    document: JsonDict = {"apiVersion": f"{GROUP}/{version}", "kind": KIND}
    if target_config.percentage:
        document["percentageOfNodesToScore"] = target_config.percentage
    plugins = {
        point: {
            "disabled": [{"name": "*"}],
            "enabled": [
                {"name": plugin.name, **({"weight": plugin.weight} if plugin.weight else {})}
                for plugin in profile.at(point).enabled
            ],
        }
        for point in {**cells.point_plugins, **profile.plugins}
        if f"profiles.plugins.{point}" not in cells.fields_lacked
    }
    arguments = [
        {"name": entry.name, "args": as_json(entry.args)}
        for entry in profile.plugin_config
        if entry.args is not None
    ]
    document["profiles"] = [
        {
            "schedulerName": profile.scheduler_name or DEFAULT_SCHEDULER,
            "plugins": plugins,
            **({"pluginConfig": arguments} if arguments else {}),
        }
    ]
    if extenders:
        document["extenders"] = (
            list(map(_as_in_a_policy, extenders, target_config.extenders))
            if NEW_HTTPS in cells.fields_lacked
            else extenders
        )
    return Migration(document, tuple(notes))


def _as_in_a_policy(fields: JsonDict, extender: ExtenderConfig) -> JsonDict:
    """An extender as v1alpha2 has it: with the fields of a Policy."""
    policy_fields = {
        "enableHttps" if name == "enableHTTPS" else name: value for name, value in fields.items()
    }
    if "httpTimeout" in policy_fields:
        return {**policy_fields, "httpTimeout": round(extender.timeout * NANOSECONDS)}
    return policy_fields
