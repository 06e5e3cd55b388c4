"""Devices and claims to them, in the form of resource.k8s.io/v1: older versions of the API are read into it."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from .metadata import NO_QUANTITIES, NO_STRINGS, KubeObject, Map
from .quantity import Quantity
from .selectors import NodeSelector

# --- claims of a pod ------------------------------------------------------------------------------------------------


class PodResourceClaim(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A claim of a pod: it names a ResourceClaim, or the template from which one is made for the pod."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodResourceClaimStatus(Struct, frozen=True, kw_only=True, cache_hash=True):
    """The ResourceClaim that was made for a claim of a pod; None: it needs none."""

    name: str = ""
    resource_claim_name: str | None = None


# --- what is asked for ----------------------------------------------------------------------------------------------


class DeviceSelector(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A CEL expression over a device; None: a selector of a kind that is not known."""

    expression: str | None = None


class ExactDeviceRequest(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A number of devices of one class, or with mode All every one that matches."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = "ExactCount"
    count: int = 1
    admin_access: bool | None = None


class DeviceSubRequest(ExactDeviceRequest, frozen=True, kw_only=True, cache_hash=True):
    """One of several alternatives, which never have admin access."""

    name: str = ""
    admin_access: bool | None = None


class DeviceRequest(Struct, frozen=True, kw_only=True, cache_hash=True):
    """What a claim asks for: exactly this, or the first of several alternatives that can be had."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(Struct, frozen=True, kw_only=True, cache_hash=True):
    """All devices of these requests (none named: of all) have the same value of an attribute, or all different ones."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Requests for devices, and what must hold for all of them together."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


class ResourceClaimSpec(Struct, frozen=True, kw_only=True, cache_hash=True):
    devices: DeviceClaim = DeviceClaim()


# --- what was allocated ---------------------------------------------------------------------------------------------


class DeviceRequestAllocationResult(Struct, frozen=True, kw_only=True):
    """A device, and the request that it was allocated for: ``request/subrequest`` where one of several alternatives was taken."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None


class AllocationResult(Struct, frozen=True, kw_only=True):
    """The devices of a claim, and the nodes from which they can be reached; None: from all."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()
    node_selector: NodeSelector | None = None


class ResourceClaimConsumerReference(Struct, frozen=True, kw_only=True):
    """What may use a claim: a pod as a rule."""

    resource: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""


class ResourceClaimStatus(Struct, frozen=True, kw_only=True):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()


class ResourceClaim(KubeObject, frozen=True, kw_only=True):
    """A claim to devices."""

    kind: ClassVar[str] = "ResourceClaim"

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Struct, frozen=True, kw_only=True):
    """What the claims of a template are like."""

    labels: Map[str] = NO_STRINGS
    annotations: Map[str] = NO_STRINGS
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubeObject, frozen=True, kw_only=True):
    """From it each pod that names it gets a claim of its own."""

    kind: ClassVar[str] = "ResourceClaimTemplate"

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


# --- what there is --------------------------------------------------------------------------------------------------


class DeviceClassSpec(Struct, frozen=True, kw_only=True):
    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str | None = None
    """The extended resource that asks for a device of the class."""


class DeviceClass(KubeObject, frozen=True, kw_only=True):
    """A class of devices: those that all of its selectors match."""

    kind: ClassVar[str] = "DeviceClass"
    namespaced: ClassVar[bool] = False

    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceAttribute(Struct, frozen=True, cache_hash=True):
    """The value of an attribute with its type: ``int``, ``bool``, ``string`` or ``version``; "" for a type that is not known."""

    type: str = ""
    value: int | bool | str = ""


NO_ATTRIBUTES: Map[DeviceAttribute] = Map()


class Device(Struct, frozen=True, kw_only=True, cache_hash=True):
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


class ResourcePool(Struct, frozen=True, kw_only=True):
    """The pool that a slice belongs to; of several generations the newest counts."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(Struct, frozen=True, kw_only=True):
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


class ResourceSlice(KubeObject, frozen=True, kw_only=True):
    """A part of a pool of devices, as a driver publishes it."""

    kind: ClassVar[str] = "ResourceSlice"
    namespaced: ClassVar[bool] = False

    spec: ResourceSliceSpec = ResourceSliceSpec()
