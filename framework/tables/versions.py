"""The versions of the component configuration: which fields each has, and in which cells one differs from the default one of a release.

Upstream: k8s.io/kube-scheduler/config (types.go of each version), pkg/scheduler/apis/config (defaults.go, default_plugins.go of each).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from ...core.release import ConfigurationCells

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
NEWEST = ADDRESSES | ALPHA | FLAT | {OLD_HTTPS}
"""What the newest version does not have."""
Cells = Mapping[str, Any]


def _v1beta3(cells: ConfigurationCells) -> Cells:
    # Upstream: plugins of preEnqueue are decoded, but not merged into the defaults.
    return {"fields_lacked": cells.fields_lacked | {PERCENTAGE}, "refused_plugins": frozenset(), "unread_points": frozenset({"preEnqueue"})}


def _v1beta2(cells: ConfigurationCells) -> Cells:
    lacked = (cells.fields_lacked | {PERCENTAGE}) - ADDRESSES
    unread = frozenset({"multiPoint", "preEnqueue"})
    return {"fields_lacked": lacked, "refused_plugins": frozenset(), "unread_points": unread, "lists_points": True}


def _v1alpha1(cells: ConfigurationCells) -> Cells:
    return {"fields_lacked": (cells.fields_lacked - FLAT) | PROFILED | FLAT_POINTS, "lenient_fields": True}


_OTHERWISE: Mapping[str, Callable[[ConfigurationCells], Cells]] = {"v1beta3": _v1beta3, "v1beta2": _v1beta2, "v1alpha1": _v1alpha1}


def with_versions(cells: ConfigurationCells, *versions: str) -> ConfigurationCells:
    """*cells* with what each of *versions* has otherwise than the default one."""
    return attrs.evolve(cells, versions=MappingProxyType({name: MappingProxyType(_OTHERWISE[name](cells)) for name in versions}))
