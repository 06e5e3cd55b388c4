"""What a migrated Policy changes on a cluster: the old release and the profile judge each waiting pod on the same state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.policy import Policy
from ...algorithmprovider.providers import resolve
from ...core.engine import Engine
from ...core.release import Release
from ...framework.building import build_engine
from ...framework.config.configuration import read_configuration
from ...framework.releases import PROFILE_RELEASE
from ..scenario import Scenario
from .agreement import DIFFERENT, HELD_BACK, LOCKED
from .compare import Comparison, Following, compare, unfollowed
from .newerlabels import zones_warning

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

    def old(self) -> Engine:
        """The old release, looking at all nodes."""
        config = self.config.with_defaults(self.release)
        settings: dict[str, Any] = {"provider": config.source.provider} if config.source.provider else {}
        return build_engine(
            resolve(
                self.release, gates=config.gates, policy=self.policy, hard_pod_affinity_weight=config.hard_pod_affinity_weight,
                percentage=EVERY_NODE, preemption=not config.disable_preemption, **settings,
            ),
            max_pd_vols=self.max_pd_vols,
        )  # fmt: skip

    def new(self) -> Engine:
        """The framework with the profile, looking at all nodes."""
        config = read_configuration({**self.profile, "percentageOfNodesToScore": EVERY_NODE}, release=self.target)
        return build_engine(config, max_pd_vols=self.max_pd_vols)

    def warnings(self, scenario: Scenario, newer_labels: bool) -> tuple[str, ...]:
        """What of the check on *scenario* is in doubt; *newer_labels*: nodes have the labels of newer releases too."""
        missing = None if newer_labels else zones_warning(scenario)
        extenders = () if self.policy is None else self.policy.extenders
        uncalled = [f"the Policy's extenders are not called: {len(extenders)}"] if extenders else []
        return (*([] if missing is None else [missing]), *uncalled)

    def on(self, scenario: Scenario, following: Following = unfollowed, *, correlates: bool = True) -> Comparison:
        """Compare both on *scenario*, on a state that follows the old release; *correlates* as for :func:`~.compare.compare`."""
        texts = {POLICY: f"release={self.release.version}", PROFILE: f"release={self.target.version}, the migrated profile"}
        engines = {POLICY: self.old(), PROFILE: self.new()}
        return compare(scenario, engines, mode=LOCKED, texts=texts, following=following, correlates=correlates)


def agrees(comparison: Comparison) -> bool:
    """Whether each decision of the profile is the same, or another node that the old release scores as high."""
    counts = comparison.agreements[PROFILE].counts
    return not counts[DIFFERENT] and not counts[HELD_BACK]
