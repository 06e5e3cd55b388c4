"""Changes of the scheduler: a rule less, another weight, a feature gate, preemption. Each is tried by a
simulation from the start."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
from msgspec.structs import replace

from ...algorithmprovider.policy import Policy, PredicateEntry, PriorityEntry
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...framework.config.configuration import PluginEntry, Plugins, PluginSet
from ...framework.plugins.dynamicresources import DynamicResources
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ...simulation.explain.values import NodeReport
from .suggestion import Change, WhatIfContext

GATES = (
    "AttachVolumeLimit",
    "BalanceAttachedNodeVolumes",
    "BlockVolume",
    "CSINodeInfo",
    "EvenPodsSpread",
    "InPlacePodVerticalScaling",
    "MatchLabelKeysInPodTopologySpread",
    "MinDomainsInPodTopologySpread",
    "NodeInclusionPolicyInPodTopologySpread",
    "NonPreemptingPriority",
    "PodOverhead",
    "PodPriority",
    "PodSchedulingReadiness",
    "ReadWriteOncePod",
    "ResourceLimitsPriorityFunction",
    "TaintNodesByCondition",
    "VolumeCapacityPriority",
    "VolumeScheduling",
)
"""The feature gates that scheduling reads; a release has some of them."""
NEEDED = {DynamicResources.name}
"""Rules without which a pod gets a node and cannot start there."""
OVERCOMMITS = "pods will request more than their nodes have"
WITHOUT = {
    "NodeResourcesFit": OVERCOMMITS,
    "PodFitsResources": OVERCOMMITS,
    "GeneralPredicates": OVERCOMMITS,
    "NodePorts": "two pods may want one port of a node",
    "PodFitsHostPorts": "two pods may want one port of a node",
    "TaintToleration": "taints keep no pod away",
    "PodToleratesNodeTaints": "taints keep no pod away",
    "NodeAffinity": "pods do not go where they ask for",
    "MatchNodeSelector": "pods do not go where they ask for",
    "VolumeBinding": "volumes may not be reached",
    "CheckVolumeBinding": "volumes may not be reached",
}
"""Rule -> what happens to every pod without it."""
GENERAL = "GeneralPredicates"
PARTS_OF_GENERAL = ("PodFitsResources", "PodFitsHostPorts", "HostName", "MatchNodeSelector")


@attrs.frozen
class Configurations:
    """The scheduler's configuration, and others that may help."""

    spec: SchedulerSpec
    context: WhatIfContext
    config_maps: ConfigMaps

    def changes(self) -> Iterator[Change]:
        """All changes of the configuration that may help."""
        yield from self._weights()
        if not self.spec.preemption or self.spec.config.disable_preemption:
            config = attrs.evolve(self.spec.config, disable_preemption=False)
            spec = attrs.evolve(self.spec, preemption=True, config=config)
            yield Change(
                "preemption", "switch preemption on", setting=("preemption: on",), evicts=True, spec=spec
            )
        yield from self._gates()
        yield from self._rules()

    # --- variants -------------------------------------------------------------------------------------------

    def _gates(self) -> Iterator[Change]:
        algorithm = self.context.engine.algorithm
        place = "config" if self.spec.profiles is None else "profiles"
        own = getattr(self.spec, place)
        for name in GATES:
            gate = algorithm.release.gates.get(name)
            if gate is not None and not gate.locked:
                value = not algorithm.gates[name]
                told = f"switch feature gate {name} {'on' if value else 'off'}"
                patch = f"feature gate: {name}={str(value).lower()}"
                changed = attrs.evolve(own, gates={**own.gates, name: value})
                spec = attrs.evolve(self.spec, **{place: changed})
                yield Change("gate", told, setting=(patch,), spec=spec)

    def _rules(self) -> Iterator[Change]:
        """Without one of the rules that are against nodes."""
        against = dict.fromkeys(one.rule for report, _ in self.context.targets() for one in report.objections)
        for rule in (rule for rule in against if rule not in NEEDED):
            if self.spec.profiles is not None:
                told = f"disable plugin {rule} at preFilter and filter{f' ({WITHOUT[rule]})' if rule in WITHOUT else ''}"
                patch = f"profile: preFilter and filter without {rule}"
                yield Change("rule", told, setting=(patch,), spec=self._profile(rule, "preFilter", "filter"))
                continue
            policy = self._policy()
            others = [entry for entry in policy.predicates or () if entry.name != rule]
            for part in PARTS_OF_GENERAL if rule == GENERAL else (rule,):
                rest = [name for name in PARTS_OF_GENERAL if name != part] if rule == GENERAL else []
                told = f"leave out predicate {part}{f' of {GENERAL}' if rest else ''}{f' ({WITHOUT[part]})' if part in WITHOUT else ''}"
                if rest:
                    patch = f"policy: {', '.join(rest)} in place of {GENERAL}"
                else:
                    patch = f"policy: without predicate {rule}"
                spec = attrs.evolve(
                    self.spec, policy=replace(policy, predicates=(*others, *map(PredicateEntry, rest)))
                )
                yield Change("rule", told, setting=(patch,), spec=spec)

    def _weights(self) -> Iterator[Change]:
        """Another weight of one rule, as near to the present one as possible, with which the wanted node is
        the best."""
        scored = {report.name: report for report in self.context.reports if report.total is not None}
        ours = scored.pop(self.context.want or "", None)
        others = list(scored.values())
        if ours is None or not others:
            return
        for rule, score in ours.scores.items():
            for size, step in enumerate(steps(ours, others, rule)):
                weight = score.weight + step
                if weight <= 0:
                    continue
                if self.spec.profiles is not None:
                    spec = self._profile(rule, "score", weight=weight)
                else:
                    policy = self._policy()
                    changed = (
                        replace(one, weight=weight) if one.name == rule else one
                        for one in policy.priorities or ()
                    )
                    spec = attrs.evolve(self.spec, policy=replace(policy, priorities=tuple(changed)))
                told = f"give {rule} weight {weight} in place of {score.weight}"
                yield Change(
                    "weight", told, setting=(f"weight: {rule}={weight}",), size=abs(step) + size, spec=spec
                )

    # --- policies and profiles ------------------------------------------------------------------------------

    def _policy(self) -> Policy:
        """The Policy that says what runs now, with both lists written out."""
        spec = self.spec
        algorithm = self.context.engine.algorithm
        found = spec.policy or spec.config.policy(self.config_maps) or Policy()
        predicates = found.predicates
        priorities = found.priorities
        if predicates is None:
            predicates = tuple(PredicateEntry(predicate.name) for predicate in algorithm.predicates)
        if priorities is None:
            priorities = tuple(
                PriorityEntry(priority.name, weight) for priority, weight in algorithm.priorities
            )
        return replace(found, predicates=predicates, priorities=priorities)

    def _profile(self, rule: str, *points: str, weight: int | None = None) -> SchedulerSpec:
        """The spec whose profile for the pod gives *rule* that *weight* at *points*; None: has it not there."""
        config = self.spec.profiles
        name = self.context.pod.spec.scheduler_name or DEFAULT_SCHEDULER
        assert config is not None

        def changed(plugins: Plugins) -> Plugins:
            sets = {}
            for point in points:
                given = plugins.get(point, PluginSet())
                others = tuple(one for one in given.enabled if one.name != rule)
                if weight is None:
                    sets[point] = PluginSet(others, (*given.disabled, PluginEntry(rule)))
                else:
                    sets[point] = PluginSet((*others, PluginEntry(rule, weight)), given.disabled)
            return {**plugins, **sets}

        profiles = (
            attrs.evolve(profile, plugins=changed(profile.plugins))
            if profile.scheduler_name == name
            else profile
            for profile in config.profiles
        )
        return attrs.evolve(self.spec, profiles=attrs.evolve(config, profiles=tuple(profiles)))


def steps(ours: NodeReport, others: list[NodeReport], rule: str) -> list[int]:
    """By how much the weight of *rule* has to change so that *ours* has the best total: with a tie, and
    alone; nothing if it cannot."""
    found = []
    for margin in (0, 1):
        low = -(1 << 62)
        high = 1 << 62
        for other in others:
            gap = (other.total or 0) - (ours.total or 0) + margin
            ahead = ours.scores[rule].reduced - other.scores[rule].reduced
            if ahead > 0:
                low = max(low, -(-gap // ahead))
            elif ahead < 0:
                high = min(high, gap // ahead)
            elif gap > 0:
                low = 1
                high = 0
        if low <= high:
            found.append(low if low > 0 else min(high, 0))
    return list(dict.fromkeys(step for step in found if step))
