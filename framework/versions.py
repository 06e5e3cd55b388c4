"""The versions of the component configuration: which fields each has, and in which cells one differs from the
default one of a release.

Upstream: k8s.io/kube-scheduler/config (types.go of each version), pkg/scheduler/apis/config (defaults.go,
default_plugins.go of each).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from ..core.release import ConfigurationCells
from ..core.release.fact import Cells, SetEdit, changed

USAGE = frozenset({"NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio"})
"""The plugins whose scores NodeResourcesFit took over."""

PERCENTAGE = "profiles.percentageOfNodesToScore"
ADDRESSES = frozenset({"healthzBindAddress", "metricsBindAddress"})
"""What versions up to v1beta2 have."""
FLAT = frozenset(
    {
        "algorithmSource",
        "hardPodAffinitySymmetricWeight",
        "leaderElection.lockObjectName",
        "leaderElection.lockObjectNamespace",
        "pluginConfig",
        "plugins",
        "schedulerName",
    }
)
"""What v1alpha1 has, which is about one profile alone."""
OLD_SCORES = (
    "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
    " NodePreferAvoidPods=10000 PodTopologySpread=2 TaintToleration=1 +VolumeCapacityPriority:VolumeBinding=1"
    " -DefaultPodTopologySpread:SelectorSpread=1"
)
"""The Score plugins of v1beta1."""

_OTHERWISE: Mapping[str, Cells] = {
    # Upstream: plugins of preEnqueue are decoded, but not merged into the defaults.
    "v1beta3": {
        "fields_lacked": SetEdit([PERCENTAGE]),
        "refused_plugins": (),
        "unread_points": ("preEnqueue",),
    },
    "v1beta2": {
        "fields_lacked": SetEdit([PERCENTAGE], ADDRESSES),
        "refused_plugins": (),
        "lists_points": True,
        "unread_points": ("multiPoint", "preEnqueue"),
    },
    "v1beta1": {
        "point_plugins.score": OLD_SCORES,
        "replaces_defaults": False,
        "constraints_are_the_list": True,
        "args_lacked": SetEdit(but=USAGE | {"NodeLabel", "ServiceAffinity"}),
        "refused_plugins": (),
        "conflicting_scores": USAGE,
    },
    # What is preScore later is its postFilter.
    "v1alpha1": {
        "fields_lacked": SetEdit(
            ["extenders", "profiles", "plugins.multiPoint", "plugins.preEnqueue", "plugins.preScore"], FLAT
        ),
        "lenient_fields": True,
    },
}
"""Version -> in which cells it differs from the default one."""


def with_versions(cells: ConfigurationCells) -> ConfigurationCells:
    """*cells* with what each version that they read has otherwise than the default one."""
    others = {name: _OTHERWISE[name] for name in cells.api_versions if name != cells.default_version}
    return replace(
        cells, versions=MappingProxyType({name: _differing(cells, values) for name, values in others.items()})
    )


def _differing(cells: ConfigurationCells, values: Cells) -> Cells:
    """The cells of *values* with their values."""
    found = changed(cells, values)
    names = dict.fromkeys(path.partition(".")[0] for path in values)
    return MappingProxyType({name: getattr(found, name) for name in names})


def cells_in(cells: ConfigurationCells, version: str) -> ConfigurationCells:
    """*cells* as *version* of the configuration has them."""
    other = cells.versions.get(version)
    return replace(cells, **other) if other else cells
