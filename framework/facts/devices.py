"""The facts of 1.35 and 1.36 about devices."""

from __future__ import annotations

from ...core.release.fact import PLUGINS, Fact

_ALLOCATOR = "k8s.io/dynamic-resource-allocation/structured/allocator.go"
_POOLS = "k8s.io/dynamic-resource-allocation/structured/pools.go"
_PLUGIN = f"{PLUGINS}/dynamicresources/dynamicresources.go"
_EXTENDED = f"{PLUGINS}/dynamicresources/extendeddynamicresources.go"
_GATES = "features/kube_features.go"
_NAME = "DynamicResources"

DEVICES_1_35 = (
    Fact(
        "whole-pools", "1.35", _NAME, needs=("devices",), upstream=_POOLS,
        sentence="a pool of devices gives none while it is incomplete or invalid; its slices count wherever they are",
        now={"devices.whole_pools": True, "devices.invalid_pool_errs": False},
    ),
    Fact(
        "older-allocator", "1.35", _NAME, needs=("devices",), upstream=_ALLOCATOR,
        sentence="a distinctAttribute is an error, and devices with binding conditions keep their place, unless a gate for them is on",
        now={"devices.distinct_attribute": False, "devices.conditions_last": "", "devices.refuses_capacity": False},
    ),
    Fact(
        "device-taints", "1.35", _NAME, needs=("device taints",), upstream=_ALLOCATOR,
        sentence="with gate DRADeviceTaints a device with a taint goes to a request that tolerates it",
        now={"devices.gated.DRADeviceTaints": {"taints": True}},
    ),
    Fact(
        "device-counters", "1.35", _NAME, needs=("counters",), upstream=_ALLOCATOR,
        sentence="with gate DRAPartitionableDevices devices take from the counters of their pool, and may say their nodes themselves",
        now={
            "devices.leaves_counter_slices": True, "devices.keeps_counters": True,
            "devices.gated.DRAPartitionableDevices": {
                "leaves_counter_slices": False, "leaves_counted_devices": False, "leaves_per_device_selection": False,
            },
        },
    ),
    Fact(
        "shared-devices", "1.35", _NAME, needs=("shared devices",), upstream=_ALLOCATOR,
        sentence="with gate DRAConsumableCapacity claims share devices, as far as their capacity goes",
        now={
            "devices.compares_distinct": True,
            "devices.gated.DRAConsumableCapacity": {
                "shares": True, "distinct_attribute": True, "conditions_last": "slices and pools",
            },
        },
    ),
    Fact(
        "binding-conditions", "1.35", _NAME, needs=("binding conditions",), upstream=_PLUGIN,
        sentence="with gate DRADeviceBindingConditions a pod is bound once its devices are ready, which are taken last",
        now={
            "devices.gated.DRADeviceBindingConditions": {
                "leaves_binding_conditions": False, "waits_for_conditions": True, "distinct_attribute": True, "refuses_capacity": True,
                "conditions_last": "slices and pools",
            },
        },
    ),
    Fact(
        "extended-resources-by-devices", "1.35", _NAME, others=("NodeResourcesFit", "NodeResourcesBalancedAllocation"),
        needs=("device classes", "requests"), upstream=_EXTENDED,
        sentence="with gate DRAExtendedResource an extended resource that a DeviceClass names is allocated as devices",
        now={"devices.gated.DRAExtendedResource": {"extended_resources": True}},
    ),
)  # fmt: skip
DEVICES_1_36 = (
    Fact(
        "device-taints-by-default", "1.36", _NAME, needs=("device taints",), upstream=_GATES, elsewhere=("gates.DRADeviceTaints",),
        sentence="gate DRADeviceTaints is on: a device with a taint goes to a request that tolerates it",
    ),
    Fact(
        "device-counters-by-default", "1.36", _NAME, needs=("counters",), upstream=_GATES, elsewhere=("gates.DRAPartitionableDevices",),
        sentence="gate DRAPartitionableDevices is on: devices take from the counters of their pool",
    ),
    Fact(
        "shared-devices-by-default", "1.36", _NAME, needs=("devices",), upstream=_GATES, elsewhere=("gates.DRAConsumableCapacity",),
        sentence="gate DRAConsumableCapacity is on: claims share devices that allow it, and capacities count",
    ),
    Fact(
        "binding-conditions-by-default", "1.36", _NAME, needs=("devices",), upstream=_GATES,
        elsewhere=("gates.DRADeviceBindingConditions",),
        sentence="gate DRADeviceBindingConditions is on: a pod is bound once its devices are ready",
    ),
    Fact(
        "extended-resources-by-default", "1.36", _NAME, others=("NodeResourcesFit", "NodeResourcesBalancedAllocation"),
        needs=("device classes", "requests"), upstream=_GATES, elsewhere=("gates.DRAExtendedResource",),
        sentence="gate DRAExtendedResource is on: an extended resource that a DeviceClass names is allocated as devices",
    ),
    Fact(
        "devices-in-order", "1.36", _NAME, needs=("shared devices",), upstream=_ALLOCATOR,
        sentence="a request takes no device twice, and pools alone come last for binding conditions, not slices",
        now={
            "devices.gated.DRAConsumableCapacity": {
                "shares": True, "distinct_attribute": True, "conditions_last": "pools", "one_way": True,
            },
            "devices.gated.DRADeviceBindingConditions": {
                "leaves_binding_conditions": False, "waits_for_conditions": True, "distinct_attribute": True, "refuses_capacity": True,
                "conditions_last": "pools", "one_way": True,
            },
        },
    ),
    Fact(
        "counters-given-back", "1.36", _NAME, needs=("counters",), upstream=_ALLOCATOR, now={"devices.keeps_counters": False},
        sentence="a device that is turned down gives its counters back, and shared devices count as using theirs",
    ),
    Fact(
        "alternatives-apart", "1.36", _NAME, needs=("devices",), upstream=_ALLOCATOR, now={"devices.alternatives_apart": True},
        sentence="mode All in one of several alternatives stays with it, and matches are kept for each alternative",
    ),
    Fact(
        "late-device-search-errs", "1.36", _NAME, needs=("devices",), upstream=_PLUGIN, now={"devices.timeout_errs": True}, decides=False,
        sentence="a search for devices that takes too long is an error, so that the pod is soon tried again",
    ),
    Fact(
        "device-texts", "1.36", _NAME, decides=False, upstream=_PLUGIN,
        sentence="a claim made for another pod, and a device that does not become ready, give other reasons",
        now={
            "devices.other_owner_text": "ResourceClaim {claim} was not created for Pod {pod} (Pod is not owner)",
            "devices.condition_failed_text": "device binding failed: claim={claim}, reason={reason}, message={message}",
            "devices.condition_late_text": "device binding timeout: claim={claim}",
            "devices.conditions_late_text": "device binding timeout: context deadline exceeded",
        },
    ),
)  # fmt: skip
