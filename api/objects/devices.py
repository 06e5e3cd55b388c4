"""Devices and claims to them, in the form of resource.k8s.io/v1: older versions of the API are read into
it."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from msgspec import field
from msgspec.structs import force_setattr

from .metadata import (
    NO_QUANTITIES,
    Condition,
    HashedPart,
    KubeObject,
    Map,
    NodeSelector,
    OneOf,
    Part,
    Quantities,
    TemplateMeta,
    Time,
    shortcut,
)
from .quantity import ZERO, Int64, Quantity

DEVICE_EFFECTS = ("None", "NoSchedule", "NoExecute")
"""The effects of a device's taint; ``None`` has no effect."""

# --- claims of a pod ----------------------------------------------------------------------------------------


class PodResourceClaim(HashedPart):
    """A claim of a pod: it names a ResourceClaim, or the template from which one is made for the pod."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodResourceClaimStatus(HashedPart):
    """The ResourceClaim that was made for a claim of a pod; None: it needs none."""

    name: str = ""
    resource_claim_name: str | None = None


# --- what is asked for --------------------------------------------------------------------------------------


class CELDeviceSelector(HashedPart):
    expression: str | None = None


class DeviceSelector(HashedPart):
    """A CEL expression over a device."""

    cel: CELDeviceSelector | None = None

    @property
    def expression(self) -> str | None:
        """None: the selector is of a kind that is not known."""
        return None if self.cel is None else self.cel.expression


class DeviceToleration(HashedPart):
    """Taints of devices that a request puts up with."""

    key: str = ""
    operator: Annotated[str, OneOf("Equal", "Exists", optional=True)] = ""
    value: str = ""
    effect: Annotated[str, OneOf(*DEVICE_EFFECTS, optional=True)] = ""
    toleration_seconds: Int64 | None = None

    def tolerates(self, taint: DeviceTaint) -> bool:
        if (self.effect and self.effect != taint.effect) or (self.key and self.key != taint.key):
            return False
        return self.operator == "Exists" or (self.operator in ("", "Equal") and self.value == taint.value)


class CapacityRequirements(HashedPart):
    """The requested amount of each capacity of a device."""

    requests: Quantities = NO_QUANTITIES


class _Request(HashedPart):
    """A number of devices of one class, or with mode All every one that matches."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = "ExactCount"
    count: Int64 = 1
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None

    def __post_init__(self) -> None:
        """A count of 0 is one that was not given, as for the defaults of an API server."""
        if self.count == 0:
            force_setattr(self, "count", 1)


class ExactDeviceRequest(_Request):
    """A request without alternatives."""

    admin_access: bool | None = None


class DeviceSubRequest(_Request):
    """One of several alternatives, which never have admin access."""

    admin_access: ClassVar[None] = None

    name: str = ""


DeviceAsk: TypeAlias = ExactDeviceRequest | DeviceSubRequest
"""A request for devices, in whichever form."""


class DeviceRequest(HashedPart):
    """A request of a claim: exactly this, or the first of several alternatives that can be had."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()

    @property
    def asks(self) -> tuple[DeviceAsk, ...]:
        return self.first_available if self.exactly is None else (self.exactly,)


class DeviceConstraint(HashedPart):
    """All devices of these requests (none named: of all) have the same value of an attribute, or all
    different ones."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(HashedPart):
    """Requests for devices, and what must hold for all of them together."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


class ResourceClaimSpec(HashedPart):
    devices: DeviceClaim = DeviceClaim()


# --- what was allocated -------------------------------------------------------------------------------------


class DeviceRequestAllocationResult(Part):
    """A device, and the request that it was allocated for: ``request/subrequest`` where one of several
    alternatives was taken."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    share_id: str | None = None
    """The id that distinguishes the allocations of a device shared by several claims."""
    consumed_capacity: Quantities = NO_QUANTITIES
    binding_conditions: tuple[str, ...] = ()
    """The conditions that have to be true of the device before a pod is bound."""
    binding_failure_conditions: tuple[str, ...] = ()
    id: ClassVar[tuple[str, str, str]] = shortcut("driver", "pool", "device")


class DeviceAllocationResult(Part):
    results: tuple[DeviceRequestAllocationResult, ...] = ()


class AllocationResult(Part):
    """The devices of a claim, and the nodes from which they can be reached; None: from all."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Time | None = None
    results: ClassVar[tuple[DeviceRequestAllocationResult, ...]] = shortcut("devices.results")


class ResourceClaimConsumerReference(Part):
    """A user of a claim: a pod as a rule."""

    resource: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""


class AllocatedDeviceStatus(Part):
    """A driver's status of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    conditions: tuple[Condition, ...] = ()


class ResourceClaimStatus(Part):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(KubeObject):
    """A claim to devices."""

    kind = "ResourceClaim"

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Part):
    """The template of claims."""

    metadata: TemplateMeta = TemplateMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubeObject):
    """A template from which each pod that names it gets a claim of its own."""

    kind = "ResourceClaimTemplate"

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


# --- what there is ------------------------------------------------------------------------------------------


class DeviceClassSpec(Part):
    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str | None = None
    """The extended resource that asks for a device of the class."""


class DeviceClass(KubeObject):
    """A class of devices: those that all of its selectors match."""

    kind = "DeviceClass"
    namespaced = False

    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceAttribute(HashedPart):
    """The value of an attribute, in the field of its type."""

    as_int: Int64 | None = field(default=None, name="int")
    as_bool: bool | None = field(default=None, name="bool")
    as_string: str | None = field(default=None, name="string")
    as_version: str | None = field(default=None, name="version")

    @property
    def type(self) -> str:
        """``int``, ``bool``, ``string`` or ``version``, in the order in which upstream looks; "" for a type
        that is not known."""
        return next(
            (
                name
                for name in ("int", "bool", "string", "version")
                if getattr(self, f"as_{name}") is not None
            ),
            "",
        )

    @property
    def value(self) -> int | bool | str:
        value: int | bool | str = getattr(self, f"as_{self.type}") if self.type else ""
        return value


class CapacityRequestPolicyRange(HashedPart):
    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(HashedPart):
    """The amounts of a capacity that can be taken at once; other requests are rounded up."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(HashedPart):
    value: Quantity = ZERO
    request_policy: CapacityRequestPolicy | None = None


class Counter(HashedPart):
    value: Quantity = ZERO


NO_COUNTERS: Map[Counter] = Map()


class DeviceCounterConsumption(HashedPart):
    """A device's consumption of a set of counters."""

    counter_set: str = ""
    counters: Map[Counter] = NO_COUNTERS


class CounterSet(HashedPart):
    """Counters of a pool, shared by devices that are parts of one thing."""

    name: str = ""
    counters: Map[Counter] = NO_COUNTERS


NO_ATTRIBUTES: Map[DeviceAttribute] = Map()
NO_CAPACITY: Map[DeviceCapacity] = Map()


class DeviceTaint(HashedPart):
    key: str = ""
    value: str = ""
    effect: Annotated[str, OneOf(*DEVICE_EFFECTS)] = ""


class Device(HashedPart):
    """A device of a slice. A name of an attribute or capacity without a domain is in the domain of the
    driver."""

    name: str = ""
    attributes: Map[DeviceAttribute] = NO_ATTRIBUTES
    capacity: Map[DeviceCapacity] = NO_CAPACITY
    node_name: str = ""
    all_nodes: bool = False
    node_selector: NodeSelector | None = None
    """The nodes that reach it, where its slice leaves that to the devices."""
    binds_to_node: bool = False
    """Once it is allocated, the claim is for that node alone."""
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    """The counters that it uses as a part of something else."""
    taints: tuple[DeviceTaint, ...] = ()
    allow_multiple_allocations: bool = False


class ResourcePool(Part):
    """The pool that a slice belongs to; of several generations the newest counts."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(Part):
    """Devices of one driver and pool, and the nodes that reach them: one, all, or those that a selector
    matches."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str = ""
    all_nodes: bool = False
    node_selector: NodeSelector | None = None
    per_device_node_selection: bool | None = None
    """Each device says itself which nodes reach it."""
    shared_counters: tuple[CounterSet, ...] = ()
    """The counters from which its devices take."""
    devices: tuple[Device, ...] = ()


class ResourceSlice(KubeObject):
    """A part of a pool of devices, as a driver publishes it."""

    kind = "ResourceSlice"
    namespaced = False

    spec: ResourceSliceSpec = ResourceSliceSpec()
