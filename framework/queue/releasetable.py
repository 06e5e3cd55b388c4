"""The events and the queue of each release of the framework: in which cells each differs from its neighbour, as told from 1.27."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from ...core.release import QueueingCells

V1_27 = QueueingCells()

V1_28 = attrs.evolve(
    V1_27,
    default_kinds=(*V1_27.default_kinds, "CSIDriver", "CSIStorageCapacity"),
    skips_gated=True,
    names_refusing_plugin=True,
    without_hints=(
        *("NodePorts", "NodeResourcesFit", "NodeAffinity", "NodeUnschedulable", "PodTopologySpread", "InterPodAffinity"),
        *("TaintToleration", "NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone"),
    ),
)

V1_29 = attrs.evolve(V1_28, errors_back_off=True, only_rejecting_plugins=True, without_hints=V1_28.without_hints[1:])

V1_30 = attrs.evolve(
    V1_29,
    default_kinds=(*V1_29.default_kinds, "ResourceClaim"),
    each_node_change=True,
    drops_unwanted=True,
    taints_wake=True,
    limits_wait_for=("new claims",),
    without_hints=V1_29.without_hints[4:],
)

V1_31 = attrs.evolve(
    V1_30,
    default_kinds=(*V1_30.default_kinds, "DeviceClass"),
    pod_changes=("labels", "smaller requests"),
    narrow_claim_events=True,
    spread_is_woken=True,
    hints_for_pods=True,
    keeps_nominations=True,
    without_hints=(),
)

V1_32 = attrs.evolve(
    V1_31,
    node_delete=True,
    pod_changes=(*V1_31.pod_changes, "scheduling gates", "tolerations", "claims"),
    full_labels=True,
    narrow_events=True,
    limits_wait_for=("new claims", "VolumeAttachments that go"),
    comparing_hints=("NodeAffinity", "NodeResourcesFit", "NodeUnschedulable", "PodTopologySpread"),
    hints_replace_checks=True,
    gated_back_off=True,
    activates_tried_pods=True,
)

V1_33 = attrs.evolve(
    V1_32,
    nomination_ends=True,
    limits_wait_for=(*V1_32.limits_wait_for, "changed CSINodes"),
    comparing_hints=(*V1_32.comparing_hints, "InterPodAffinity"),
    backs_off_to_the_end=True,
)

V1_34 = attrs.evolve(V1_33, amounts_wake_claims=True, holder_decides=True, counts_rejections=True)

V1_23 = attrs.evolve(V1_27, checks_no_execute=True, own_changes_of_nodes=True)

V1_22 = attrs.evolve(V1_23, given_up_moves=False, binding_waits_for_nodes=True)

V1_21 = attrs.evolve(
    V1_22,
    default_kinds=(*V1_22.default_kinds, "Service"),
    registering=("NodeResourcesFit",),
    fixed_events=True,
    checks_nodes=False,
    checks_no_execute=False,
    binding_waits_for_nodes=False,
)

V1_20 = attrs.evolve(V1_21, any_event_moves=True, registering=(), own_changes_of_nodes=False, idle_updates_count=True)

QUEUEING: Mapping[str, QueueingCells] = MappingProxyType(
    {
        "1.20": V1_20, "1.21": V1_21, "1.22": V1_22, "1.23": V1_23, "1.28": V1_28, "1.29": V1_29, "1.30": V1_30, "1.31": V1_31,
        "1.32": V1_32, "1.33": V1_33, "1.34": V1_34,
    }
)  # fmt: skip
"""Version -> its cells; 1.24 to 1.27 have the defaults, and 1.17 to 1.19 those of 1.20."""
