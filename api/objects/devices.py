"""Devices and claims to them, in the form of resource.k8s.io/v1: older versions of the API are read into it."""

from __future__ import annotations

from typing import ClassVar

import attrs

from .metadata import NO_QUANTITIES, NO_STRINGS, UNREAD, KubeObject, Map
from .quantity import Quantity
from .selectors import NodeSelector

# --- claims of a pod ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, cache_hash=True)
class PodResourceClaim:
    """A claim of a pod: it names a ResourceClaim, or the template from which one is made for the pod."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


@attrs.frozen(kw_only=True, cache_hash=True)
class PodResourceClaimStatus:
    """The ResourceClaim that was made for a claim of a pod; None: it needs none."""

    name: str = ""
    resource_claim_name: str | None = None


# --- what is asked for ----------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, cache_hash=True)
class DeviceSelector:
    """A CEL expression over a device; None: a selector of a kind that is not known."""

    expression: str | None = None


@attrs.frozen(kw_only=True, cache_hash=True)
class ExactDeviceRequest:
    """A number of devices of one class, or with mode All every one that matches."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = "ExactCount"
    count: int = 1
    admin_access: bool | None = None


@attrs.frozen(kw_only=True, cache_hash=True)
class DeviceSubRequest(ExactDeviceRequest):
    """One of several alternatives, which never have admin access."""

    name: str = ""
    admin_access: bool | None = attrs.field(default=None, metadata=UNREAD)


@attrs.frozen(kw_only=True, cache_hash=True)
class DeviceRequest:
    """What a claim asks for: exactly this, or the first of several alternatives that can be had."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class DeviceConstraint:
    """All devices of these requests (none named: of all) have the same value of an attribute, or all different ones."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


@attrs.frozen(kw_only=True, cache_hash=True)
class DeviceClaim:
    """Requests for devices, and what must hold for all of them together."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


@attrs.frozen(kw_only=True, cache_hash=True)
class ResourceClaimSpec:
    devices: DeviceClaim = DeviceClaim()


# --- what was allocated ---------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class DeviceRequestAllocationResult:
    """A device, and the request that it was allocated for: ``request/subrequest`` where one of several alternatives was taken."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None


@attrs.frozen(kw_only=True)
class AllocationResult:
    """The devices of a claim, and the nodes from which they can be reached; None: from all."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()
    node_selector: NodeSelector | None = None


@attrs.frozen(kw_only=True)
class ResourceClaimConsumerReference:
    """What may use a claim: a pod as a rule."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


@attrs.frozen(kw_only=True)
class ResourceClaimStatus:
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()


@attrs.frozen(kw_only=True)
class ResourceClaim(KubeObject):
    """A claim to devices."""

    kind: ClassVar[str] = "ResourceClaim"

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


@attrs.frozen(kw_only=True)
class ResourceClaimTemplateSpec:
    """What the claims of a template are like."""

    labels: Map[str] = NO_STRINGS
    annotations: Map[str] = NO_STRINGS
    spec: ResourceClaimSpec = ResourceClaimSpec()


@attrs.frozen(kw_only=True)
class ResourceClaimTemplate(KubeObject):
    """From it each pod that names it gets a claim of its own."""

    kind: ClassVar[str] = "ResourceClaimTemplate"

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


# --- what there is --------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class DeviceClassSpec:
    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str | None = None
    """The extended resource that asks for a device of the class."""


@attrs.frozen(kw_only=True)
class DeviceClass(KubeObject):
    """A class of devices: those that all of its selectors match."""

    kind: ClassVar[str] = "DeviceClass"
    namespaced: ClassVar[bool] = False

    spec: DeviceClassSpec = DeviceClassSpec()


@attrs.frozen(cache_hash=True)
class DeviceAttribute:
    """The value of an attribute with its type: ``int``, ``bool``, ``string`` or ``version``; "" for a type that is not known."""

    type: str = attrs.field(default="", metadata=UNREAD)
    value: int | bool | str = attrs.field(default="", metadata=UNREAD)


NO_ATTRIBUTES: Map[DeviceAttribute] = Map()


@attrs.frozen(kw_only=True, cache_hash=True)
class Device:
    """A device of a slice. A name of an attribute or capacity without a domain is in the domain of the driver."""

    name: str = ""
    attributes: Map[DeviceAttribute] = NO_ATTRIBUTES
    capacity: Map[Quantity] = NO_QUANTITIES
    binding_conditions: tuple[str, ...] = ()
    consumes_counters: bool = False
    """It is a part of something else, as its counters say."""
    taints: bool = False
    """It has taints, which newer releases read."""
    allow_multiple_allocations: bool = False


@attrs.frozen(kw_only=True)
class ResourcePool:
    """The pool that a slice belongs to; of several generations the newest counts."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


@attrs.frozen(kw_only=True)
class ResourceSliceSpec:
    """Devices of one driver and pool, and the nodes that reach them: one, all, or those that a selector matches."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str = ""
    all_nodes: bool = False
    node_selector: NodeSelector | None = None
    per_device_node_selection: bool | None = None
    """Each device says itself which nodes reach it."""
    shared_counters: bool = False
    """It has counters from which its devices take."""
    devices: tuple[Device, ...] = ()


@attrs.frozen(kw_only=True)
class ResourceSlice(KubeObject):
    """A part of a pool of devices, as a driver publishes it."""

    kind: ClassVar[str] = "ResourceSlice"
    namespaced: ClassVar[bool] = False

    spec: ResourceSliceSpec = ResourceSliceSpec()
