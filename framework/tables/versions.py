"""The versions of the component configuration: which fields each has, and in which cells one differs from the default one of a release.

Upstream: k8s.io/kube-scheduler/config (types.go of each version), pkg/scheduler/apis/config (defaults.go, default_plugins.go of each).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from ...core.release import ConfigurationCells
from ...core.release.fact import Cells, also, changed
from ..facts.groups import USAGE

MULTI_POINT, PRE_ENQUEUE, POST_FILTER = "profiles.plugins.multiPoint", "profiles.plugins.preEnqueue", "profiles.plugins.postFilter"
PERCENTAGE = "profiles.percentageOfNodesToScore"
ADDRESSES = frozenset({"healthzBindAddress", "metricsBindAddress"})
"""What versions up to v1beta2 have."""
ALPHA = frozenset({"bindTimeoutSeconds", "disablePreemption"})
"""What v1alpha1 and v1alpha2 have."""
FLAT = frozenset(
    {
        "algorithmSource", "hardPodAffinitySymmetricWeight", "leaderElection.lockObjectName", "leaderElection.lockObjectNamespace",
        "pluginConfig", "plugins", "schedulerName",
    }
)  # fmt: skip
"""What v1alpha1 has, which is about one profile alone."""
PROFILED = frozenset({"extenders", "profiles"})
"""What came after v1alpha1."""
FLAT_POINTS = frozenset({"plugins.multiPoint", "plugins.preEnqueue", "plugins.preScore"})
"""The extension points that v1alpha1 does not have; what is preScore later is its postFilter."""
NEW_HTTPS, OLD_HTTPS = "extenders.enableHTTPS", "extenders.enableHttps"
"""How v1beta1 and later spell it, and how v1alpha2, which has the extenders of a Policy."""
NEWEST = ADDRESSES | ALPHA | FLAT | {OLD_HTTPS, "failureDomains"}
"""What the newest version does not have."""
USAGE_AND_LABELS = frozenset({*USAGE, "NodeLabel", "ServiceAffinity"})
"""The arguments that v1beta1 has, and v1beta2 not."""
OLD_SCORES = (
    "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
    " NodePreferAvoidPods=10000 PodTopologySpread=2 TaintToleration=1 +VolumeCapacityPriority:VolumeBinding=1"
    " -DefaultPodTopologySpread:SelectorSpread=1"
)
"""The Score plugins of v1beta1."""

_OTHERWISE: Mapping[str, Cells] = {
    # Upstream: plugins of preEnqueue are decoded, but not merged into the defaults.
    "v1beta3": {"fields_lacked": also(PERCENTAGE), "refused_plugins": frozenset(), "unread_points": frozenset({"preEnqueue"})},
    "v1beta2": {
        "fields_lacked": also(PERCENTAGE, but=ADDRESSES), "refused_plugins": frozenset(), "lists_points": True,
        "unread_points": frozenset({"multiPoint", "preEnqueue"}),
    },
    "v1beta1": {
        "point_plugins.score": OLD_SCORES, "replaces_defaults": False, "constraints_are_the_list": True,
        "args_lacked": also(but=USAGE_AND_LABELS), "refused_plugins": frozenset(), "conflicting_scores": frozenset(USAGE),
    },
    "v1alpha1": {"fields_lacked": also(*PROFILED, *FLAT_POINTS, but=FLAT), "lenient_fields": True},
}
"""Version -> in which cells it differs from the default one."""


def with_versions(cells: ConfigurationCells) -> ConfigurationCells:
    """*cells* with what each version that they read has otherwise than the default one."""
    others = {name: _OTHERWISE[name] for name in cells.api_versions if name != cells.default_version}
    return replace(cells, versions=MappingProxyType({name: _differing(cells, values) for name, values in others.items()}))


def _differing(cells: ConfigurationCells, values: Cells) -> Cells:
    """The cells of *values* with their values."""
    found, names = changed(cells, values), dict.fromkeys(path.partition(".")[0] for path in values)
    return MappingProxyType({name: getattr(found, name) for name in names})


def cells_in(cells: ConfigurationCells, version: str) -> ConfigurationCells:
    """*cells* as *version* of the configuration has them."""
    other = cells.versions.get(version)
    return replace(cells, **other) if other else cells
