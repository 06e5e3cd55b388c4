"""A profile of the first releases of the framework as one that later releases read: plugins that are gone, and what replaces them.

A Policy of these releases is such a profile; see :mod:`kubeclassic.framework.policy`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.policy import Policy
from ...algorithmprovider.registry import DEFAULT_PROVIDER
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.reading.unknownfields import TYPE_META
from ...core.release import Release
from ..config.args import NodeLabelArgs, RequestedToCapacityRatioArgs, takes_args, unknown_args
from ..config.configuration import KubeSchedulerConfiguration
from ..config.fielderrors import Context
from ..config.profiles import ProfileConfig
from ..policy.profile import AFFINITY, SPREAD, configuration_of_policy, configuration_of_provider
from .equivalents import COUNTED_ELSEWHERE, PRE_SCORERS, SELECTOR_SPREAD, Note, left_out
from .extenderargs import written_extenders
from .profiledocument import ALONE, BINDER, GATES, SORTER, document_of
from .translation import Migration

REQUIRED, CONSTRAINTS = "requiredDuringSchedulingIgnoredDuringExecution", "defaultConstraints"
FIT, LIMITS, LABELS, SERVICES, NODES = "NodeResourcesFit", "NodeVolumeLimits", "NodeLabel", "ServiceAffinity", "NodeAffinity"
STRATEGIES: Mapping[str, str] = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
    "RequestedToCapacityRatioPriority": "RequestedToCapacityRatio",
}
"""Plugin -> the scoring strategy of NodeResourcesFit that replaces it."""
OLD_SPREADS = (SELECTOR_SPREAD, "DefaultPodTopologySpread", "ServiceSpreadingPriority")
LEFT_OUT = {
    "NodePreferAvoidPods": left_out("NodePreferAvoidPodsPriority"),
    "NodeResourceLimits": left_out("ResourceLimitsPriority"),
    "ResourceLimitsPriority": left_out("ResourceLimitsPriority"),
    LABELS: "left out: no plugin prefers nodes by labels alone any more; give pods preferred node affinity",
    SERVICES: "left out: no plugin reads services so any more; give pods affinity, or topology spread constraints",
}
"""Plugin -> why nothing replaces it."""


def running(policy: Policy | None, release: Release, config: AlgorithmConfiguration, percentage: int = 0) -> KubeSchedulerConfiguration:
    """What *release* runs with *policy*, or without one with the provider of *config*; nodes are looked at by *percentage*."""
    started: dict[str, Any] = {"gates": config.gates, "percentage": percentage}
    if config.hard_pod_affinity_weight:
        started["hard_pod_affinity_weight"] = config.hard_pod_affinity_weight
    if policy is None:
        return configuration_of_provider(config.source.provider or DEFAULT_PROVIDER, release, **started)
    return configuration_of_policy(policy, release, scheduler_name=config.scheduler_name or DEFAULT_SCHEDULER, **started)


def migrate_profile(config: KubeSchedulerConfiguration, target: Release, written: Sequence[Mapping[str, Any]] = ()) -> Migration:
    """The profiles of *config* as a KubeSchedulerConfiguration for *target*, with notes on what is not the same.

    *written*: for each of them plugin -> its arguments, as they were given.
    """
    extenders, about_extenders = written_extenders(config.extenders, [extender.weight for extender in config.extenders])
    documents, notes = list[dict[str, Any]](), list[Note]()
    for i, profile in enumerate(config.profiles):
        draft = _Draft(config, profile, target, written[i] if written else {})
        draft.filter()
        draft.score()
        draft.keep_arguments()
        document = document_of(
            draft.profile.scheduler_name or DEFAULT_SCHEDULER, percentage=config.percentage, filters=draft.filters, weights=draft.weights,
            args=draft.args, extenders=extenders, post_filters=draft.enabled("postFilter"), target=target, alone=draft.alone(),
            absent=[name for point, name in (("queueSort", SORTER), ("bind", BINDER)) if name not in draft.enabled(point)],
        )  # fmt: skip
        notes += [note for note in draft.notes if note not in notes]
        documents.append(document)
    notes += about_extenders
    if config.checks_all:
        text = "left out, as its code was removed in 1.24: only the first plugin that rejects a node gives its reasons"
        notes.append(Note("alwaysCheckAllPredicates", text))
    if not written and not draft.enabled("postFilter"):
        notes.append(Note("DefaultPreemption", f"not enabled, as {config.release.version} does not preempt under a Policy"))
    return Migration({**documents[0], "profiles": [one for document in documents for one in document["profiles"]]}, tuple(notes))


@attrs.define(repr=False)
class _Draft:
    config: KubeSchedulerConfiguration
    profile: ProfileConfig
    target: Release
    given: Mapping[str, Mapping[str, Any]]
    """Plugin -> its arguments, as they were written."""
    filters: list[str] = attrs.field(factory=list)
    weights: dict[str, int] = attrs.field(factory=dict)
    args: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    notes: list[Note] = attrs.field(factory=list)

    def note(self, subject: str, text: str) -> None:
        """Add a note on something that is not the same as before."""
        self.notes.append(Note(subject, text))

    def enabled(self, point: str) -> list[str]:
        """The plugins at an extension point."""
        return self.profile.at(point).names

    def _is_gone(self, plugin: str) -> bool:
        return plugin in self.target.configuration.gone_plugins

    def _args(self, plugin: str) -> Any:
        return self.profile.args_of(plugin, self.config.context)

    def alone(self) -> dict[str, list[str]]:
        """Extension point -> the plugins of the profile that run there, and neither filter nor score."""
        usual = {*self.filters, *self.weights, *self.enabled("postFilter"), *OLD_SPREADS, SORTER, BINDER, GATES}
        return {
            point: [name for name in self.enabled(point) if name not in usual and not self._is_gone(name) and name not in PRE_SCORERS]
            for point in (*ALONE, "preScore")
        }

    def filter(self) -> None:
        """Take the Filter plugins, and what replaces those that are gone."""
        for name in self.enabled("filter"):
            if name == LABELS:
                self._require(self._args(name))
            elif name == SERVICES:
                self.note(name, "left out: nothing keeps a service's pods on one value of a label; give them required podAffinity on it")
            elif self._is_gone(name):
                self._add(LIMITS)
                self.note(name, f"{self.target.version} has no such plugin: {COUNTED_ELSEWHERE}; other volumes have no limit")
            else:
                self._add(name)

    def _add(self, plugin: str) -> None:
        if plugin not in self.filters:
            self.filters.append(plugin)

    def _require(self, args: NodeLabelArgs | None) -> None:
        wanted = args or NodeLabelArgs()
        found = [{"key": label, "operator": "Exists"} for label in wanted.present_labels]
        found += [{"key": label, "operator": "DoesNotExist"} for label in wanted.absent_labels]
        if not found:
            return
        if NODES not in self.filters:
            self.note(LABELS, f"{NODES} also checks nodeSelector and required node affinity of pods, ignored before")
            self._add(NODES)
        added = dict(self.given.get(NODES, {}).get("addedAffinity") or {})
        terms = (added.get(REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
        both = [{**term, "matchExpressions": [*term.get("matchExpressions", ()), *found]} for term in terms]
        self.args[NODES] = {"addedAffinity": {**added, REQUIRED: {"nodeSelectorTerms": both}}}
        labels = ", ".join(f"{one['key']} {one['operator']}" for one in found)
        self.note(LABELS, f"replaced by addedAffinity of plugin {NODES}: required {labels}; the reason that users see is another")

    def score(self) -> None:
        """Take the Score plugins with their weights, and what replaces those that are gone."""
        for plugin in self.profile.at("score").enabled:
            name, weight = plugin.name, plugin.weight or 1
            if name in STRATEGIES:
                self._strategy(name, weight)
            elif name in OLD_SPREADS:
                self._spread(name, weight)
            elif name in LEFT_OUT:
                self.note(name, LEFT_OUT[name])
            else:
                self.weights[name] = self.weights.get(name, 0) + weight
        affinity, spread = self._args(AFFINITY), self._args(SPREAD)
        if AFFINITY in self.weights and affinity.hard_pod_affinity_weight != 1:
            self.args[AFFINITY] = {"hardPodAffinityWeight": affinity.hard_pod_affinity_weight}
        alone = not set(OLD_SPREADS) & set(self.enabled("score"))
        if SPREAD in self.weights and alone and spread.defaulting_type == "List" and not spread.default_constraints:
            self.args[SPREAD] = {"defaultingType": "List", "defaultConstraints": []}

    def _strategy(self, name: str, weight: int) -> None:
        if FIT in self.weights:
            self.note(name, f"left out: {FIT} has one scoring strategy, that of the plugin before it")
            return
        args = self._args(name)
        resources = [{"name": one.name, "weight": one.weight} for one in getattr(args, "resources", ())]
        strategy: dict[str, Any] = {"type": STRATEGIES[name]} | ({"resources": resources} if resources else {})
        if isinstance(args, RequestedToCapacityRatioArgs):
            shape = [{"utilization": point.utilization, "score": point.score} for point in args.shape]
            strategy["requestedToCapacityRatio"] = {"shape": shape}
        elif strategy["type"] == "RequestedToCapacityRatio":
            strategy["requestedToCapacityRatio"] = {"shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]}
        self.weights[FIT] = weight
        self.args[FIT] = {"scoringStrategy": strategy}
        self.note(name, f"replaced by scoring strategy {strategy['type']} of plugin {FIT}")

    def _spread(self, name: str, weight: int) -> None:
        if SPREAD in self.enabled("score"):
            of_system = "the default constraints of the system"
            constraints = "the default constraints that it has" if self.given.get(SPREAD, {}).get(CONSTRAINTS) else of_system
            self.note(name, f"left out: plugin {SPREAD} spreads pods, with {constraints}")
            return
        self.weights[SPREAD] = weight
        self.note(name, f"replaced by the default constraints of plugin {SPREAD}, which have another formula")

    def keep_arguments(self) -> None:
        """Take the arguments that were written, for plugins that the target still has."""
        context = Context(self.target, resolved_gates(self.target))
        for name, written in self.given.items():
            if self._is_gone(name) or name in OLD_SPREADS:
                continue
            known = {key: value for key, value in written.items() if key not in TYPE_META}
            for field in [*unknown_args(name, known, context)] if takes_args(name, context) else ():
                known.pop(field, None)
            if name == SPREAD and known.get(CONSTRAINTS):
                known = {"defaultingType": "List", **known}
            if known:
                self.args[name] = {**known, **self.args.get(name, {})}
