"""A Policy as a KubeSchedulerConfiguration: the profile that decides most like it, and notes on the differences.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go and pkg/scheduler/factory.go of 1.19 to 1.22. Notes say where this
decides otherwise than that translation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import attrs

from ...algorithmprovider.catalogue import CATALOGUE
from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.policy import Policy, PredicateArgument
from ...algorithmprovider.providers import Selection, in_running_order, select
from ...algorithmprovider.registry import DEFAULT_PROVIDER, Registry
from ...api.meaning.label_syntax import is_valid_label_key
from ...core.release import Release
from ...exceptions import UnknownNameError
from ..config.defaults import default_plugins
from ..config.fielderrors import Context
from ..releases import PROFILE_RELEASE
from .equivalents import (
    COUNTED_ELSEWHERE,
    DISK_LIMITS,
    NEVER_RUN,
    NODE_LABEL,
    OLDER_RULES,
    OWN_DEFAULTS,
    PREEMPTION_OFF,
    RULES,
    SELECTOR_SPREAD,
    Note,
)
from .extenderargs import WrittenExtender, written_extenders
from .profiledocument import DEVICES, TARGETS, document_of
from .scores import Scoring, fitted

BIND_TIMEOUT = 600


@attrs.frozen(repr=False)
class Migration:
    """A configuration in its JSON form, and notes to read before it is used."""

    document: dict[str, Any]
    notes: tuple[Note, ...]


def migrate(
    policy: Policy | None,
    release: Release,
    config: AlgorithmConfiguration | None = None,
    *,
    target: Release = PROFILE_RELEASE,
    selector_spread: bool = False,
) -> Migration:
    """*policy* as *release* runs it (None: the provider of *config*), as a KubeSchedulerConfiguration of version v1 for *target*.

    *config*: the component configuration that the release was started with.
    *selector_spread*: plugin SelectorSpread, which has the old formula, spreads pods instead of PodTopologySpread.
    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text if the release refuses the Policy, and
    :class:`~kubeclassic.exceptions.UnknownNameError` if *target* does not have SelectorSpread.
    """
    if selector_spread and target.version not in SPREAD_BY_SELECTOR:
        wanted = ", ".join(SPREAD_BY_SELECTOR)
        raise UnknownNameError(
            f"selector spread: expected {wanted}, got it for {target.version}, which has no such plugin"
        )
    asked = config or AlgorithmConfiguration()
    config = asked.with_defaults(release)
    config.validate(release)
    registry = Registry.of(release, resolved_gates(release, config.gates), CATALOGUE)
    chosen = select(
        registry, policy, config.source.provider or DEFAULT_PROVIDER, config.hard_pod_affinity_weight
    )
    draft = _Draft(policy, config, target, asked.percentage)
    draft.filter(chosen)
    draft.score(chosen, selector_spread)
    draft.finish()
    return Migration(draft.document(), tuple(draft.notes))


SPREAD_BY_SELECTOR = [
    name for name, release in TARGETS.items() if SELECTOR_SPREAD not in release.configuration.gone_plugins
]
"""The targets with plugin SelectorSpread."""


@attrs.define(repr=False)
class _Draft:
    written: Policy | None
    config: AlgorithmConfiguration
    """With the release's defaults."""
    target: Release
    """The release that is to run the profile."""
    percentage: int
    """percentageOfNodesToScore as configured; 0 if it was not."""
    filters: dict[str, None] = attrs.field(factory=dict)
    """The filter plugins, in order."""
    weights: dict[str, int] = attrs.field(factory=dict)
    args: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    extenders: list[WrittenExtender] = attrs.field(factory=list)
    notes: list[Note] = attrs.field(factory=list)

    @property
    def policy(self) -> Policy:
        """The Policy, or an empty one, with which the provider decides everything."""
        return self.written or Policy()

    def note(self, subject: str, text: str, upstream: str = "") -> None:
        """Add a note on something that is not the same as before."""
        self.notes.append(Note(subject, text, upstream))

    # --- predicates -------------------------------------------------------------------------------------------------

    def filter(self, chosen: Selection) -> None:
        """Take the plugins that replace the predicates, in running order."""
        written = {
            entry.name: entry.argument for entry in self.policy.predicates or () if entry.argument is not None
        }
        running = self._running(chosen)
        required: list[dict[str, Any]] = []
        for name in running:
            if name in written:
                required += self._custom(name, written[name])
            else:
                self._replace(name)
        if required:
            self._require(required)

    def _replace(self, name: str) -> None:
        """Take the plugins in place of a predicate."""
        rule = RULES[name]
        gone = [plugin for plugin in rule.plugins if plugin in self.target.configuration.gone_plugins]
        if not gone:
            self.filters |= dict.fromkeys(rule.plugins)
            if rule.is_noted:
                self.note(name, rule.sentence, OLDER_RULES if rule.is_refused else "")
        else:
            self.filters["NodeVolumeLimits"] = None
            text = f"{self.target.version} has no plugin {', '.join(gone)}: {COUNTED_ELSEWHERE}; other volumes have no limit"
            self.note(name, text, DISK_LIMITS)

    def _running(self, chosen: Selection) -> list[str]:
        """The names of the predicates to translate, in order."""
        release = chosen.registry.release
        if self.policy.predicates is None:
            self.note(
                "predicates", f"there is no list: those that {release.version} runs by default", OWN_DEFAULTS
            )
        running = [rule.name for rule in in_running_order(chosen.predicates, release.ordering)]
        idle = [name for name in chosen.predicates if name not in running]
        for name in idle:
            self.note(name, f"left out: {release.version} accepts it but never runs it", NEVER_RUN)
        return running

    def _custom(self, name: str, argument: PredicateArgument) -> Iterable[dict[str, Any]]:
        if argument.service_affinity is not None:
            labels = ", ".join(argument.service_affinity.labels)
            text = f"left out, as plugin ServiceAffinity was removed in 1.23: nothing keeps a service's pods on one value of {labels}"
            self.note(name, f"{text}; give them required podAffinity on that label")
            return
        assert argument.labels_presence is not None
        operator = "Exists" if argument.labels_presence.presence else "DoesNotExist"
        for label in argument.labels_presence.labels:
            if faults := is_valid_label_key(label):
                self.note(name, f"label {label} is left out: no node can have it: {faults[0]}")
            else:
                yield {"key": label, "operator": operator}

    def _require(self, expressions: list[dict[str, Any]]) -> None:
        unique = [expression for i, expression in enumerate(expressions) if expression not in expressions[:i]]
        required = {"nodeSelectorTerms": [{"matchExpressions": unique}]}
        self._affinity()["requiredDuringSchedulingIgnoredDuringExecution"] = required
        labels = ", ".join(f"{expression['key']} {expression['operator']}" for expression in unique)
        text = f"replaced by addedAffinity of plugin NodeAffinity: required {labels}; the reason that users see is another"
        self.note("labelsPresence", text, NODE_LABEL)
        if "NodeAffinity" not in self.filters:
            self.note(
                "labelsPresence",
                "NodeAffinity also checks nodeSelector and required node affinity of pods, ignored before",
            )
            self.filters["NodeAffinity"] = None

    def _affinity(self) -> dict[str, Any]:
        added: dict[str, Any] = self.args.setdefault("NodeAffinity", {}).setdefault("addedAffinity", {})
        return added

    # --- priorities -------------------------------------------------------------------------------------------------

    def score(self, chosen: Selection, selector_spread: bool) -> None:
        """Take the plugins that replace the priorities, with weights, and the weights of extenders."""
        written = {
            entry.name: entry.argument for entry in self.policy.priorities or () if entry.argument is not None
        }
        scoring = Scoring(self.notes, chosen.registry.release.ratio_reads_resources, selector_spread)
        if self.policy.priorities is None:
            version = chosen.registry.release.version
            self.note(
                "priorities",
                f"there is no list: those that {version} scores by default, with its weights",
                OWN_DEFAULTS,
            )
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
        extenders = {
            f"extender {i}": Fraction(e.weight) for i, e in enumerate(self.policy.extenders) if e.weight > 0
        }
        found, clipped = fitted({**plugins, **extenders})
        for name, text in clipped.items():
            self.note(name, text)
        self.weights = {name: found[name] for name in plugins}
        weights = [found.get(f"extender {i}", 0) for i in range(len(self.policy.extenders))]
        self.extenders, faults = written_extenders(self.policy.extenders, weights)
        self.notes += faults

    # --- the rest ---------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Translate what a Policy and a component configuration say besides rules."""
        if self.policy.always_check_all:
            text = "left out, as its code was removed in 1.24: only the first plugin that rejects a node gives its reasons"
            self.note(
                "alwaysCheckAllPredicates", f"{text}; the same nodes fit, but fewer reasons are reported"
            )
        if self.config.percentage and not self.percentage:
            text = f"not set, so the size of the cluster decides; the default of the release was {self.config.percentage} %"
            self.note("percentageOfNodesToScore", text)
        if self.config.disable_preemption:
            self.note("disablePreemption", "plugin DefaultPreemption is not enabled", PREEMPTION_OFF)
        if self.config.gates:
            gates = ", ".join(f"{name}={str(on).lower()}" for name, on in self.config.gates.items())
            self.note(
                "featureGates",
                f"not part of the file; give those that are still known to --feature-gates: {gates}",
            )
        if (
            "VolumeBinding" in self.filters
            and self.config.bind_timeout != BIND_TIMEOUT
            and self.config.bind_timeout >= 0
        ):
            self.args["VolumeBinding"] = {"bindTimeoutSeconds": self.config.bind_timeout}

    def document(self) -> dict[str, Any]:
        """The configuration in its JSON form."""
        known = default_plugins(Context(self.target, resolved_gates(self.target)))["multiPoint"].names
        post_filters = [
            *([DEVICES] if DEVICES in known else []),
            *([] if self.config.disable_preemption else ["DefaultPreemption"]),
        ]
        return document_of(
            self.config.scheduler_name, percentage=self.percentage, filters=list(self.filters), weights=self.weights, args=self.args,
            extenders=self.extenders, post_filters=post_filters, target=self.target,
        )  # fmt: skip
