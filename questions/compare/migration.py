"""What a migrated Policy changes on a cluster: the old release and the profile judge each waiting pod on the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from msgspec.structs import replace

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.extenders import UncalledExtender
from ...algorithmprovider.policy import Policy
from ...algorithmprovider.providers import resolve
from ...api.meaning.labels import BETA_REGION, BETA_ZONE, TOPOLOGY_REGION, TOPOLOGY_ZONE
from ...api.objects import Node
from ...core.engine import Engine
from ...core.release import Release
from ...core.rule import Algorithm
from ...extenders.choice import ConfiguredExtenders
from ...framework.building import build_engine
from ...framework.config.configuration import KubeSchedulerConfiguration, read_configuration
from ...framework.migrate.fromplugins import running
from ...framework.releases import PROFILE_RELEASE
from ...simulation.scenario import Scenario
from .agreement import DIFFERENT, GATED, LOCKED
from .compare import Comparison, Following, compare, unfollowed

NEWER_LABELS: Mapping[str, str] = {
    BETA_ZONE: TOPOLOGY_ZONE,
    BETA_REGION: TOPOLOGY_REGION,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
"""Label of a node in the old releases -> the one that newer releases put beside it."""
ZONES = next(iter(NEWER_LABELS.items()))


def with_newer_labels(scenario: Scenario) -> Scenario:
    """*scenario* with nodes that have newer releases' labels beside those that they have, as after an upgrade."""
    return attrs.evolve(scenario, objects=tuple(_relabelled(item) if isinstance(item, Node) else item for item in scenario.objects))


def _relabelled(node: Node) -> Node:
    labels = node.metadata.labels
    newer = {name: labels[older] for older, name in NEWER_LABELS.items() if older in labels and name not in labels}
    return replace(node, metadata=replace(node.metadata, labels=type(labels)({**labels, **newer}))) if newer else node


def zones_warning(scenario: Scenario) -> str | None:
    """A warning if nodes have a zone by the old label only, as constraints over the newer label ignore such nodes."""
    older, newer = ZONES
    labels = (item.metadata.labels for item in scenario.objects if isinstance(item, Node))
    count = sum(older in found and newer not in found for found in labels)
    nodes = "1 node has" if count == 1 else f"{count} nodes have"
    return f"{nodes} label {older} and not {newer}, which newer releases add: try --newer-labels as well" if count else None


POLICY, PROFILE = "policy", "profile"
"""The names of the two contestants."""
EVERY_NODE = 100
"""percentageOfNodesToScore of both: with all nodes in view only the rules can differ."""


@attrs.frozen(repr=False)
class Check:
    """A Policy (None: the provider of *config*) as *release* runs it, and the *profile* that it became, in its JSON form."""

    policy: Policy | None
    release: Release
    config: AlgorithmConfiguration
    profile: Mapping[str, Any]
    max_pd_vols: int | None = None
    target: Release = PROFILE_RELEASE
    """The release that runs the profile."""
    before: Mapping[str, Any] | None = None
    """The profile that *release* runs, in place of a Policy."""
    extenders: ConfiguredExtenders = attrs.field(factory=ConfiguredExtenders)
    """How those that the Policy or the profile names are called."""

    def old(self) -> Engine:
        """The old release, looking at all nodes."""
        if self.before is not None:
            return self._engine(_on_all_nodes(self.before, self.release, self.config.gates))
        if self.release.policies is not None:
            return self._engine(running(self.policy, self.release, self.config, EVERY_NODE))
        config = self.config.with_defaults(self.release)
        settings: dict[str, Any] = {"provider": config.source.provider} if config.source.provider else {}
        return self._engine(
            resolve(
                self.release, gates=config.gates, policy=self.policy, hard_pod_affinity_weight=config.hard_pod_affinity_weight,
                percentage=EVERY_NODE, preemption=not config.disable_preemption, **settings,
            )
        )  # fmt: skip

    def new(self) -> Engine:
        """The framework with the profile, looking at all nodes."""
        return self._engine(_on_all_nodes(self.profile, self.target))

    def _engine(self, wanted: Algorithm | KubeSchedulerConfiguration) -> Engine:
        uncalled = self.extenders.how is None
        return build_engine(
            wanted, max_pd_vols=self.max_pd_vols, extenders=self.extenders, leaves_uncalled=uncalled, counts_images_late=True
        )

    @property
    def left_out(self) -> int:
        """How many extenders of the Policy or the older profile are not called."""
        named = (self.before or {}).get("extenders", ()) if self.policy is None else self.policy.extenders
        return len(named) if self.extenders.how in (None, "off") else 0

    def warnings(self, scenario: Scenario, newer_labels: bool) -> tuple[str, ...]:
        """What of the check on *scenario* is in doubt; *newer_labels*: nodes have the labels of newer releases too."""
        missing = None if newer_labels else zones_warning(scenario)
        return () if missing is None else (missing,)

    def on(self, scenario: Scenario, following: Following = unfollowed) -> Comparison:
        """Compare both on *scenario*, on a state that follows the old release."""
        texts = {POLICY: f"release={self.release.version}", PROFILE: f"release={self.target.version}, the migrated profile"}
        engines = {POLICY: self.old(), PROFILE: self.new()}
        return compare(scenario, engines, mode=LOCKED, texts=texts, following=following)


def _on_all_nodes(document: Mapping[str, Any], release: Release, gates: Mapping[str, bool] | None = None) -> KubeSchedulerConfiguration:
    found = read_configuration({**document, "percentageOfNodesToScore": EVERY_NODE}, gates, release)
    return attrs.evolve(found, profiles=tuple(attrs.evolve(one, percentage=None) for one in found.profiles))


def agrees(comparison: Comparison) -> bool:
    """Whether each decision is the same, or another node that the old release scores as high, and none ends in an error of an extender."""
    found = comparison.agreements[PROFILE]
    fails = found.counts["errors"] > 0 and any(not isinstance(one, UncalledExtender) for one in found.first.engine.algorithm.extenders)
    return not found.counts[DIFFERENT] and not found.counts[GATED] and not fails
