"""A Policy as a KubeSchedulerConfiguration: a profile that decides as nearly alike as plugins can, and a list of what is not alike.

Upstream: the translation in pkg/scheduler/framework/plugins/legacy_registry.go and pkg/scheduler/factory.go of 1.19 to 1.22 is the start;
each deviation from it is told in a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import attrs

from ..algorithmprovider.catalogue import CATALOGUE
from ..algorithmprovider.config import KubeSchedulerConfiguration
from ..algorithmprovider.gates import resolved_gates
from ..algorithmprovider.policy import Policy, PredicateArgument
from ..algorithmprovider.providers import Selection, in_running_order, select
from ..algorithmprovider.registry import DEFAULT_PROVIDER, Registry
from ..api.label_syntax import is_valid_label_key
from ..core.release import Release
from .config import KIND
from .defaults import GROUP
from .equivalents import DIFFERENCES, FILTERS, PRE_SCORERS, UPSTREAM
from .migrateextenders import extender_documents
from .migratescores import Scoring
from .notes import Note
from .weights import fitted

ALWAYS = ("DefaultBinder", "SchedulingGates")
BIND_TIMEOUT = 600


@attrs.frozen
class Migration:
    """A configuration in its JSON form, and what is to be known before it is used."""

    document: dict[str, Any]
    notes: tuple[Note, ...]


def migrate(policy: Policy | None, release: Release, config: KubeSchedulerConfiguration | None = None) -> Migration:
    """*policy* as *release* runs it (None: the provider of *config*), as a KubeSchedulerConfiguration of version v1.

    *config*: the component configuration that it was started with. Raises :class:`~kubeclassic.exceptions.PolicyError` with
    upstream's text for what the release refuses.
    """
    config = (config or KubeSchedulerConfiguration()).with_defaults(release)
    config.validate()
    registry = Registry.of(release, resolved_gates(release, config.gates), CATALOGUE)
    chosen = select(registry, policy, config.source.provider or DEFAULT_PROVIDER, config.hard_pod_affinity_weight)
    draft = _Draft(policy or Policy(), config)
    draft.filter(chosen, release)
    draft.score(chosen)
    draft.finish()
    return Migration(draft.document(), tuple(draft.notes))


@attrs.define
class _Draft:
    policy: Policy
    config: KubeSchedulerConfiguration
    filters: dict[str, None] = attrs.field(factory=dict)
    """The plugins that filter, in order."""
    weights: dict[str, int] = attrs.field(factory=dict)
    args: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    extenders: list[dict[str, Any]] = attrs.field(factory=list)
    notes: list[Note] = attrs.field(factory=list)

    def note(self, subject: str, text: str, upstream: str = "") -> None:
        """Something that is not quite as it was."""
        self.notes.append(Note(subject, text, upstream))

    # --- predicates -------------------------------------------------------------------------------------------------

    def filter(self, chosen: Selection, release: Release) -> None:
        """The plugins in place of the predicates that run, in running order."""
        written = {entry.name: entry.argument for entry in self.policy.predicates or () if entry.argument is not None}
        running = [rule.name for rule in in_running_order(chosen.predicates, release.ordering)]
        required: list[dict[str, Any]] = []
        for name in running:
            if name in written:
                required += self._custom(name, written[name])
            else:
                self.filters |= dict.fromkeys(FILTERS[name])
                if name in DIFFERENCES:
                    self.note(name, DIFFERENCES[name], UPSTREAM.get(name, ""))
        if required:
            self._require(required, running)
        for name in chosen.predicates:
            if name not in running:
                self.note(name, f"left out: {release.version} accepts it but never runs it", "runs it, so pods would find fewer nodes")

    def _custom(self, name: str, argument: PredicateArgument) -> Iterable[dict[str, Any]]:
        if argument.service_affinity is not None:
            labels = ", ".join(argument.service_affinity.labels)
            text = f"left out: no plugin keeps a service's pods on one value of {labels}; give them required podAffinity on that label"
            self.note(name, text, "has plugin ServiceAffinity, which was removed in 1.23")
            return
        assert argument.labels_presence is not None
        operator = "Exists" if argument.labels_presence.presence else "DoesNotExist"
        for label in argument.labels_presence.labels:
            if faults := is_valid_label_key(label):
                self.note(name, f"label {label} is left out: no node can have it: {faults[0]}")
            else:
                yield {"key": label, "operator": operator}

    def _require(self, expressions: list[dict[str, Any]], running: list[str]) -> None:
        unique = [expression for i, expression in enumerate(expressions) if expression not in expressions[:i]]
        required = {"nodeSelectorTerms": [{"matchExpressions": unique}]}
        self._affinity()["requiredDuringSchedulingIgnoredDuringExecution"] = required
        labels = ", ".join(f"{expression['key']} {expression['operator']}" for expression in unique)
        text = f"replaced by addedAffinity of plugin NodeAffinity: required {labels}; the reason that users see is another"
        self.note("labelsPresence", text, "has plugin NodeLabel, which was removed in 1.23")
        if "NodeAffinity" not in self.filters:
            self.note("labelsPresence", "NodeAffinity also honours nodeSelector and required node affinity of pods, which nothing did")
            self.filters["NodeAffinity"] = None

    def _affinity(self) -> dict[str, Any]:
        added: dict[str, Any] = self.args.setdefault("NodeAffinity", {}).setdefault("addedAffinity", {})
        return added

    # --- priorities -------------------------------------------------------------------------------------------------

    def score(self, chosen: Selection) -> None:
        """The plugins in place of the priorities, and their weights with those of extenders."""
        written = {entry.name: entry.argument for entry in self.policy.priorities or () if entry.argument is not None}
        scoring = Scoring(self.notes, chosen.registry.release.ratio_reads_resources)
        for rule, weight in chosen.priorities:
            scoring.take(rule.name, weight, written.get(rule.name))
        scoring.finish()
        if scoring.preferred:
            self._affinity()["preferredDuringSchedulingIgnoredDuringExecution"] = scoring.preferred
        for plugin, args in scoring.args.items():
            self.args.setdefault(plugin, {}).update(args)
        if "InterPodAffinity" in scoring.weights and chosen.hard_pod_affinity_weight != 1:
            self.args["InterPodAffinity"] = {"hardPodAffinityWeight": chosen.hard_pod_affinity_weight}
        self._weigh(scoring.weights)

    def _weigh(self, plugins: Mapping[str, Fraction]) -> None:
        extenders = {f"extender {i}": Fraction(e.weight) for i, e in enumerate(self.policy.extenders) if e.weight > 0}
        found, clipped = fitted({**plugins, **extenders})
        for name, told in clipped.items():
            self.note(name, told)
        self.weights = {name: found[name] for name in plugins}
        weights = [found.get(f"extender {i}", 0) for i in range(len(self.policy.extenders))]
        self.extenders, faults = extender_documents(self.policy.extenders, weights)
        self.notes += faults

    # --- the rest ---------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """What a Policy and a component configuration say besides rules."""
        if self.policy.always_check_all:
            text = "left out: a node is turned down by its first plugin alone; the same nodes fit, but fewer reasons are told"
            self.note("alwaysCheckAllPredicates", text, "still runs every filter; the code was removed in 1.24")
        if self.config.percentage:
            self.note("percentageOfNodesToScore", f"{self.config.percentage}, as before; without it the size of the cluster decides")
        if self.config.disable_preemption:
            self.note("disablePreemption", "plugin DefaultPreemption is not enabled")
        if self.config.gates:
            gates = ", ".join(f"{name}={str(on).lower()}" for name, on in self.config.gates.items())
            self.note("featureGates", f"not part of the file; give those that are still known to --feature-gates: {gates}")
        if "VolumeBinding" in self.filters and self.config.bind_timeout != BIND_TIMEOUT and self.config.bind_timeout >= 0:
            self.args["VolumeBinding"] = {"bindTimeoutSeconds": self.config.bind_timeout}

    def document(self) -> dict[str, Any]:
        """The configuration."""
        profile: dict[str, Any] = {"schedulerName": self.config.scheduler_name, "plugins": self._plugins()}
        if self.args:
            profile["pluginConfig"] = [{"name": name, "args": args} for name, args in sorted(self.args.items())]
        found: dict[str, Any] = {"apiVersion": f"{GROUP}/v1", "kind": KIND}
        if self.config.percentage:
            found["percentageOfNodesToScore"] = self.config.percentage
        found["profiles"] = [profile]
        if self.extenders:
            found["extenders"] = self.extenders
        return found

    def _plugins(self) -> dict[str, Any]:
        preemption = () if self.config.disable_preemption else ("DefaultPreemption",)
        prepared = [name for name in self.weights if name in PRE_SCORERS]
        return {
            "multiPoint": _only({"name": name} for name in ("PrioritySort", *self.filters, *preemption, *ALWAYS)),
            "preScore": _only({"name": name} for name in prepared),
            "score": _only({"name": name, "weight": weight} for name, weight in self.weights.items()),
        }


def _only(plugins: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """These plugins and no others."""
    return {"disabled": [{"name": "*"}], "enabled": list(plugins)}
