"""The releases of the framework: in which cells each differs from the one before, and the first from the last with predicates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from ..algorithmprovider import cells
from ..algorithmprovider.releases import PATCH_LEVELS, RELEASES
from ..core.pods import requests
from ..core.release import ExtenderCells, QueueingCells, Release
from ..core.volumes import intree
from ..exceptions import UnknownNameError
from .config.gates import GATES

TOPOLOGY_ZONE, TOPOLOGY_REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def zone_key(labels: Mapping[str, str]) -> str:
    """The zone key of a node: region and zone, each from the beta label if present, else from the newer label; empty without both."""
    zone = labels.get(cells.ZONE_LABEL, labels.get(TOPOLOGY_ZONE, ""))
    region = labels.get(cells.REGION_LABEL, labels.get(TOPOLOGY_REGION, ""))
    return f"{region}:\x00:{zone}" if region or zone else ""


_LAST = next(reversed(RELEASES.values()))

V1_27: Release = attrs.evolve(
    _LAST,
    version="1.27",
    ordering=(),
    predicates=(),
    default_predicates=(),
    mandatory_predicates=(),
    priorities=(),
    default_priorities=MappingProxyType({}),
    gates=GATES,
    gate_effects=(),
    ignorable_extenders_last=True,
    extenders=ExtenderCells(
        adds_nodes=False,
        unknown_node='extender "{url}" claims a filtered node "{node}" which is not found in the input node list',
        unknown_candidate='nodeinfo not found for node name "{node}"',
        keeps_violations=True,
        failure="failed {verb} with extender at URL {url}, code {code}",
        package="v1",
        integer="int64",
    ),
    incoming=requests.exact_sums,
    footprint=requests.exact_sums,
    incoming_nonzero=requests.exact_sums_with_defaults,
    footprint_nonzero=requests.nonzero_with_any_overhead,
    zone_key=zone_key,
    snapshot_keeps_nodeless=False,
    transient_reset_all=False,
    snapshot_drops_nodeless=True,
    cache_replaces_confirmed=True,
    selects_namespaces=True,
    nodes_to_find=cells.adaptive_share,
    pick_host=cells.first_best,
    binding_failed_reason="SchedulerError",
    volumes=attrs.evolve(
        _LAST.volumes,
        unbound_claim_text="PersistentVolume had no name",
        binding_gate=False,
        checks_phase=True,
        volume_mode="always",
        matches_by_beta_class=True,
        groups_by_beta_class=True,
        ephemeral_claims=True,
        missing_claim_errs=True,
        limits_gate="",
        instance_type_labels=(*_LAST.volumes.instance_type_labels, "node.kubernetes.io/instance-type"),
        zone_labels=(*_LAST.volumes.zone_labels, TOPOLOGY_ZONE),
        migration_gate="",
        always_migrated=frozenset({intree.AWS_EBS, intree.AZURE_DISK, intree.CINDER}),
        migratable=intree.MIGRATABLE | {f"kubernetes.io/{name}" for name in ("vsphere-volume", "portworx-volume", "rbd")},
        inline_migrates=True,
        translates_bound_volumes=True,
        missing_volume_is_reason=True,
        checks_storage_capacity=True,
    ),
    queue=attrs.evolve(
        _LAST.queue,
        backoff_forget_after=None,
        update_ends_backoff=False,
        parked_at_most=300.0,
        finalizers_count=False,
        refusals=(
            "Pod {} is already present in unschedulable queue",
            "Pod {} is already present in the active queue",
            "Pod {} is already present in the backoff queue",
        ),
    ),
    preemption=attrs.evolve(_LAST.preemption, extender_names_victims=True),
    nominations=attrs.evolve(_LAST.nominations, empty_name_counts=True, asks_lister=True),
    client=cells.CLIENT_WITH_GROWING_PAUSES,
    live=attrs.evolve(
        _LAST.live,
        preempted_text="Preempted by a pod on node {node}",
        assumed_pods_expire=False,
        wrong_node_text='provisioning failed for PVC "{claim}"',
    ),
)

V1_28 = attrs.evolve(
    V1_27,
    version="1.28",
    queueing=QueueingCells(
        default_kinds=(*V1_27.queueing.default_kinds, "CSIDriver", "CSIStorageCapacity"),
        skips_gated=True,
        without_hints=(
            "NodePorts", "NodeResourcesFit", "NodeAffinity", "NodeUnschedulable", "PodTopologySpread", "InterPodAffinity",
            "TaintToleration", "NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone",
        ),
    ),
    framework=attrs.evolve(V1_27.framework, outside_text=None, outside_counts=False, index_of_all_nodes=True),
)

V1_29 = attrs.evolve(
    V1_28,
    version="1.29",
    queueing=attrs.evolve(
        V1_28.queueing, errors_back_off=True, only_rejecting_plugins=True, without_hints=V1_28.queueing.without_hints[1:]
    ),
    framework=attrs.evolve(V1_28.framework, post_filter_full_stop=False),
)

V1_30 = attrs.evolve(
    V1_29,
    version="1.30",
    queueing=attrs.evolve(
        V1_29.queueing,
        default_kinds=(*V1_29.queueing.default_kinds, "ResourceClaim"),
        each_node_change=True,
        drops_unwanted=True,
        taints_wake=True,
        limits_wait_for=("new claims",),
        without_hints=V1_29.queueing.without_hints[4:],
    ),
    framework=attrs.evolve(
        V1_29.framework,
        rejection_ends_pre_filter=False,
        disjoint_is_unresolvable=True,
        one_is_enough=True,
        sorts_victims_again=True,
    ),
)

V1_31 = attrs.evolve(
    V1_30,
    version="1.31",
    queueing=attrs.evolve(
        V1_30.queueing,
        default_kinds=(*V1_30.queueing.default_kinds, "DeviceClass"),
        pod_changes=("labels", "smaller requests"),
        narrow_claim_events=True,
        spread_is_woken=True,
        hints_for_pods=True,
        keeps_nominations=True,
        without_hints=(),
    ),
    framework=attrs.evolve(V1_30.framework, disjoint_sorts_plugins=True),
)

V1_32 = attrs.evolve(
    V1_31,
    version="1.32",
    queueing=attrs.evolve(
        V1_31.queueing,
        node_delete=True,
        pod_changes=("labels", "smaller requests", "scheduling gates", "tolerations", "claims"),
        full_labels=True,
        narrow_events=True,
        limits_wait_for=("new claims", "VolumeAttachments that go"),
        comparing_hints=("NodeAffinity", "NodeResourcesFit", "NodeUnschedulable", "PodTopologySpread"),
        hints_replace_checks=True,
        gated_back_off=True,
        activates_tried_pods=True,
    ),
    framework=attrs.evolve(
        V1_31.framework,
        outside_text="node(s) didn't satisfy plugin(s) [{plugins}]",
        extender_replaces_reasons=True,
    ),
)

V1_33 = attrs.evolve(
    V1_32,
    version="1.33",
    queueing=attrs.evolve(
        V1_32.queueing,
        nomination_ends=True,
        limits_wait_for=(*V1_32.queueing.limits_wait_for, "changed CSINodes"),
        comparing_hints=(*V1_32.queueing.comparing_hints, "InterPodAffinity"),
        backs_off_to_the_end=True,
    ),
)

V1_34 = attrs.evolve(
    V1_33,
    version="1.34",
    queueing=attrs.evolve(V1_33.queueing, holder_decides=True, counts_rejections=True),
    framework=attrs.evolve(V1_33.framework, leaving_victims_keep_nominations=True),
)

_LIKE = {
    "1.27.14": V1_27, "1.28.14": V1_28, "1.29.9": V1_29, "1.30.14": V1_30, "1.31.13": V1_31, "1.32.2": V1_32, "1.33.0": V1_33,
    "1.34.1": V1_34,
}  # fmt: skip
"""Patch level -> the release that is like it."""

FRAMEWORK_RELEASES: Mapping[str, Release] = MappingProxyType({release.version: release for release in _LIKE.values()})
"""Version -> release of the framework; those with predicates and priorities are in ``algorithmprovider/releases.py``."""

ALL_PATCH_LEVELS: Mapping[str, str] = MappingProxyType(PATCH_LEVELS | {release.version: like for like, release in _LIKE.items()})
"""Release -> the patch level that it is like."""

DEFAULT_FRAMEWORK = V1_27.version
"""The release that runs a profile if none is named."""

ALL_RELEASES: Mapping[str, Release] = MappingProxyType({**RELEASES, **FRAMEWORK_RELEASES})
"""Version -> release, every one that this package has, oldest first."""

AUTO = "auto"
"""In place of a release: that of the nodes."""
_MINOR = re.compile(r"v?1\.(\d+)\b")


def is_auto(name: str | None) -> bool:
    """Whether *name* stands for the release of the nodes."""
    return name == AUTO


def _minor(version: str) -> int:
    found = _MINOR.match(version)
    return int(found[1]) if found else -1


def minor_of(kubelet_version: str) -> str:
    """The release of a kubelet, as ``1.27``; empty where the text says none.

    >>> minor_of("v1.26.9-gke.1200")
    '1.26'
    """
    minor = _minor(kubelet_version)
    return f"1.{minor}" if minor >= 0 else ""


def is_of(kubelet_version: str, release: Release) -> bool:
    """Whether a kubelet is of *release*, at any patch level, or does not say of which it is."""
    return minor_of(kubelet_version) in ("", release.version)


def nearest_release(kubelet_versions: Iterable[str]) -> tuple[Release, str] | None:
    """The release nearest to the newest of *kubelet_versions*, and that; of two as near the newer one. None if none says a release.

    Of several the newest counts, since no node may be newer than the control plane.

    >>> [found.version for found, version in [nearest_release(["v1.12.3", "v1.14.10-gke.27"])]]
    ['1.14']
    """
    newest = max(kubelet_versions, key=_minor, default="")
    if (minor := _minor(newest)) < 0:
        return None
    return min(reversed(list(ALL_RELEASES.values())), key=lambda found: abs(_minor(found.version) - minor)), newest


def chosen_release(name: str, kubelet_versions: Iterable[str], default: str) -> Release:
    """As :func:`find_any_release`; for ``auto`` the one nearest to what the nodes run, or *default* if they do not say."""
    if not is_auto(name):
        return find_any_release(name)
    found = nearest_release(kubelet_versions)
    return ALL_RELEASES[default] if found is None else found[0]


def find_any_release(name: str) -> Release:
    """The release called *name*, of either generation; see :func:`~kubeclassic.algorithmprovider.releases.find_release`.

    >>> find_any_release("v1.27.14").version in FRAMEWORK_RELEASES
    True
    """
    version = ".".join(name.removeprefix("v").split(".")[:2])
    if version not in ALL_RELEASES:
        raise UnknownNameError(f'release: got "{name}", wanted {", ".join(ALL_RELEASES)}')
    return ALL_RELEASES[version]
