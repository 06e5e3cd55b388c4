"""The API server's admission of new pods and claims: priority classes, the default storage class, limits and
quotas.

Objects with a ``creationTimestamp`` have been admitted already and stay as they are.
Upstream: plugin/pkg/admission/priority, plugin/pkg/admission/storage/storageclass/setdefault
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import gt, lt

import attrs
from msgspec.structs import replace

from ..meaning import Amounts, AmountsOf, compile_selector, limits_of, requests_of, total_of, uses
from ..objects import (
    BETA_CLASS,
    Container,
    KubeObject,
    LabelSelector,
    LimitRange,
    LimitRangeItem,
    Map,
    ObjectMeta,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    PriorityClass,
    Quantity,
    Requirement,
    ResourceQuota,
    ResourceRequirements,
    ScopedResourceSelectorRequirement,
    StorageClass,
)
from ..reading import Notice

SYSTEM_CLUSTER_CRITICAL = PriorityClass(
    metadata=ObjectMeta(name="system-cluster-critical"), value=2_000_000_000
)
SYSTEM_NODE_CRITICAL = PriorityClass(metadata=ObjectMeta(name="system-node-critical"), value=2_000_001_000)

_IS_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


@attrs.frozen(repr=False)
class Admitted:
    """The objects after admission, in order, and the refused ones with their reasons."""

    objects: tuple[KubeObject, ...]
    refused: tuple[tuple[KubeObject, str], ...] = ()


def admit(
    objects: Iterable[KubeObject], known: Iterable[KubeObject] = (), *, priorities: bool = True
) -> Admitted:
    """Give new pods their priority and new claims the default storage class.

    Priority classes and storage classes come from *objects* and *known*, the objects of an existing cluster.
    Without *priorities*, as where gate PodPriority is off, new pods lose their priority and the name of its
    class, and no class is looked up.
    """
    given = tuple(objects)
    everything = (SYSTEM_CLUSTER_CRITICAL, SYSTEM_NODE_CRITICAL, *known, *given)
    classes = {found.name: found for found in everything if isinstance(found, PriorityClass)}
    # Pods that name none get the class marked ``globalDefault``; of several the one with the lowest value.
    marked = [found for found in classes.values() if found.global_default]
    default = min(marked, key=lambda found: found.value, default=None)
    storage = [
        found
        for found in everything
        if isinstance(found, StorageClass)
        and any(found.annotations.get(mark) == "true" for mark in _IS_DEFAULT_CLASS)
    ]
    admitted = list[KubeObject]()
    refused = list[tuple[KubeObject, str]]()
    for found in given:
        made: KubeObject | str = found
        if found.metadata.creation_timestamp is not None:
            pass
        elif isinstance(found, Pod) and priorities:
            made = _with_priority(found, classes, default)
        elif isinstance(found, Pod):  # Upstream: pkg/api/pod/util.go
            if found.spec.priority is not None or found.spec.priority_class_name:
                made = replace(found, spec=replace(found.spec, priority=None, priority_class_name=""))
        elif isinstance(found, PersistentVolumeClaim):
            made = _with_storage_class(found, storage)
        if isinstance(made, str):
            refused.append((found, made))
        else:
            admitted.append(made)
    return Admitted(tuple(admitted), tuple(refused))


def _with_priority(
    pod: Pod, classes: Mapping[str, PriorityClass], default: PriorityClass | None
) -> Pod | str:
    """The pod with the priority of its class or of the *default*, or why it is refused, in upstream's words; a
    priority without a class stays."""
    spec = pod.spec
    name = spec.priority_class_name
    given = spec.preemption_policy
    if not name and spec.priority is not None:
        return pod
    chosen = classes.get(name) if name else default
    if name and chosen is None:
        return f"no PriorityClass with name {name} was found"
    priority, wanted = (chosen.value, chosen.preemption_policy) if chosen else (0, None)
    if spec.priority not in (None, priority):
        return (
            f"the integer value of priority ({spec.priority}) must not be provided in pod spec; "
            f"priority admission controller computed {priority} from the given PriorityClass name"
        )
    if given and wanted and given != wanted:
        return (
            f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {wanted} from the given PriorityClass name"
        )
    name = name or (chosen.name if chosen else "")
    return replace(
        pod,
        spec=replace(spec, priority=priority, priority_class_name=name, preemption_policy=wanted or given),
    )


def _with_storage_class(
    claim: PersistentVolumeClaim, defaults: list[StorageClass]
) -> PersistentVolumeClaim | str:
    """The claim with the default class, if there is one and the claim names none; an empty text is a name."""
    if claim.spec.storage_class_name is not None or BETA_CLASS in claim.annotations or not defaults:
        return claim
    if len(defaults) > 1:
        return f"Internal error occurred: {len(defaults)} default StorageClasses were found"
    return replace(claim, spec=replace(claim.spec, storage_class_name=defaults[0].name))


# --- LimitRanger --------------------------------------------------------------------------------------------
# Requests and limits by default, and refusals of pods out of bounds.
# Upstream: plugin/pkg/admission/limitranger/admission.go


CONTAINER = "Container"
POD = "Pod"


def limit_ranges(objects: Iterable[KubeObject], namespace: str) -> list[LimitRange]:
    """The LimitRanges of *namespace* among *objects*, by name."""
    found = (item for item in objects if isinstance(item, LimitRange) and item.namespace == namespace)
    return sorted(found, key=lambda item: item.name)


def with_limits(pod: Pod, ranges: Iterable[LimitRange]) -> Pod:
    """*pod* with the requests and limits that *ranges* give containers which say none; the same object if
    that changes nothing."""
    spec = pod.spec
    for found in ranges:
        # Of two items the later one counts.
        limits = dict[str, Quantity]()
        requests = dict[str, Quantity]()
        for item in found.spec.limits:
            if item.type == CONTAINER:
                limits |= item.default
                requests |= item.default_request

        def merged(container: Container, limits: Amounts = limits, requests: Amounts = requests) -> Container:
            if limits.keys() <= container.limits.keys() and requests.keys() <= container.requests.keys():
                return container
            resources = ResourceRequirements(
                limits=Map({**limits, **container.limits}), requests=Map({**requests, **container.requests})
            )
            return replace(container, resources=resources)

        containers = tuple(map(merged, spec.containers))
        init_containers = tuple(map(merged, spec.init_containers))
        if (containers, init_containers) != (spec.containers, spec.init_containers):
            spec = replace(spec, containers=containers, init_containers=init_containers)
    return pod if spec is pod.spec else replace(pod, spec=spec)


def out_of_bounds(pod: Pod, ranges: Iterable[LimitRange]) -> str | None:
    """The refusal by the first of *ranges* that *pod* violates, in upstream's words; None if it violates
    none."""
    for found in ranges:
        faults = [fault for item in found.spec.limits for fault in _faults(pod, item)]
        if faults:
            return faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    return None


# --- bounds -------------------------------------------------------------------------------------------------


def _faults(pod: Pod, item: LimitRangeItem) -> Iterator[str]:
    if item.type == CONTAINER:
        for container in pod.spec.all_containers:
            yield from _checked(item, container.requests, container.limits)
    elif item.type == POD:
        yield from _checked(item, _of_pod(pod, requests_of), _of_pod(pod, limits_of))


def _of_pod(pod: Pod, amounts_of: AmountsOf) -> Amounts:
    """The sum over the containers."""
    total = total_of(pod, amounts_of)
    known = [amounts_of(container).keys() for container in pod.spec.containers]
    # Upstream: a sum is there only for a resource of which every container says something.
    for name in {name for names in known for name in names if not all(name in others for others in known)}:
        found = [use[name] for use in uses(pod, amounts_of) if name in use]
        total = (
            {**total, name: max(found)}
            if found
            else {other: quantity for other, quantity in total.items() if other != name}
        )
    return total


def _checked(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    both = (("request", requests), ("limit", limits))
    for word, wanted, is_out, order in (
        ("minimum", item.min, lt, both),
        ("maximum", item.max, gt, both[::-1]),
    ):
        for name, bound in sorted(wanted.items()):
            # Only the first of the two is required.
            amounts = [(kind, found.get(name)) for kind, found in order]
            out = [
                f", but {kind} is {amount}"
                for kind, amount in amounts
                if amount is not None and is_out(amount, bound)
            ]
            said = f".  No {amounts[0][0]} is specified" if amounts[0][1] is None else out[0] if out else ""
            if said:
                yield f"{word} {name} usage per {item.type} is {bound}{said}"
    for name, bound in sorted(item.max_limit_request_ratio.items()):
        request = requests.get(name)
        limit = limits.get(name)
        said = ""
        if not request:
            said = "no request is specified or request is 0"
        elif not limit:
            said = "no limit is specified or limit is 0"
        elif limit.nanos / request.nanos * 10**9 > bound.nanos:
            said = f"provided ratio is {limit.nanos / request.nanos:f}"
        if said:
            yield f"{name} max limit to request ratio per {item.type} is {bound}, but {said}"


# --- ResourceQuota ------------------------------------------------------------------------------------------
# The quotas that count a pod or claim, its usage of them, and refusals.
# Upstream: pkg/quota/v1/evaluator/core/{pods,persistent_volume_claims}.go,
# plugin/pkg/admission/resourcequota/controller.go


ONE = Quantity.of(1)
COUNT = "count/pods"
CLAIMS = "persistentvolumeclaims"
_OF_CLASS = ".storageclass.storage.k8s.io/"
NATIVE = ("cpu", "memory", "ephemeral-storage")
_REQUESTS = "requests."
_HUGE_PAGES = "hugepages-"
_OF_PODS = ("cpu", "memory")
"""What a pod as a whole can request, beside huge pages."""
POD_RESOURCES = frozenset(
    [COUNT, "pods", *NATIVE, *(f"{word}.{name}" for word in ("requests", "limits") for name in NATIVE)]
)
REQUIRED = frozenset(f"{word}{name}" for word in ("", "requests.", "limits.") for name in ("cpu", "memory"))
"""Where a quota has one of these, each container has to say how much it is."""


# --- what a pod uses ----------------------------------------------------------------------------------------


def usage(pod: Pod) -> dict[str, Quantity]:
    """The usage of quotas by *pod*: nothing but its count once it has finished."""
    if pod.is_terminal:
        return {COUNT: ONE}
    whole = {
        name: quantity
        for name, quantity in pod.spec.requests.items()
        if name in _OF_PODS or name.startswith(_HUGE_PAGES)
    }
    return {COUNT: ONE, **_named({**total_of(pod, requests_of), **whole}, total_of(pod, limits_of))}


def claim_usage(claim: PersistentVolumeClaim) -> dict[str, Quantity]:
    """The usage of quotas by *claim*: its count and its storage, both also by storage class."""
    storage = claim.spec.requests.get("storage")
    of_class = claim.storage_class
    prefixes = ["", *([f"{of_class}{_OF_CLASS}"] if of_class else [])]
    found = {f"{prefix}{CLAIMS}": ONE for prefix in ("count/", *prefixes)}
    if storage is not None:
        found |= {f"{prefix}requests.storage": storage for prefix in prefixes}
    return found


def _named(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    """Requests and limits by the names that quotas have for them."""
    found = {"pods": ONE}
    for name, quantity in requests.items():
        if name in NATIVE or name.startswith(_HUGE_PAGES):
            found |= {name: quantity, f"{_REQUESTS}{name}": quantity}
        elif "/" in name and "kubernetes.io/" not in name and not name.startswith(_REQUESTS):
            found[f"{_REQUESTS}{name}"] = quantity
    return found | {f"limits.{name}": quantity for name, quantity in limits.items() if name in NATIVE}


# --- which quotas count it ----------------------------------------------------------------------------------


def counts(quota: ResourceQuota, pod: Pod) -> bool:
    """Whether *quota*, of the pod's namespace, has a bound for pods, and all its scopes match *pod*."""
    scopes = [
        *(
            ScopedResourceSelectorRequirement(scope_name=name, operator="Exists")
            for name in quota.spec.scopes
        ),
        *quota.spec.scope_selector.match_expressions,
    ]
    return any(_restricted(quota)) and all(_matches(pod, scope) for scope in scopes)


def counts_claim(quota: ResourceQuota, claim: PersistentVolumeClaim) -> bool:
    """Whether *quota*, of the claim's namespace, has a bound for claims, and no scope: those are for pods."""
    if quota.spec.scopes or quota.spec.scope_selector.match_expressions:
        return False
    return not hard(quota).keys().isdisjoint(claim_usage(claim))


def hard(quota: ResourceQuota) -> Amounts:
    """The bounds that are in force: those of the status, if it has any."""
    return quota.status.hard or quota.spec.hard


def _restricted(quota: ResourceQuota) -> Iterator[str]:
    """The resources of *quota* that pods use."""
    return (
        name for name in hard(quota) if name in POD_RESOURCES or name.startswith((_HUGE_PAGES, _REQUESTS))
    )


def _matches(pod: Pod, scope: ScopedResourceSelectorRequirement) -> bool:
    deadline = pod.spec.active_deadline_seconds
    is_terminating = deadline is not None and deadline >= 0
    match scope.scope_name:
        case "Terminating":
            return is_terminating
        case "NotTerminating":
            return not is_terminating
        case "BestEffort":
            return is_best_effort(pod)
        case "NotBestEffort":
            return not is_best_effort(pod)
        case "PriorityClass":
            name = pod.spec.priority_class_name
            asked = Requirement(key=scope.scope_name, operator=scope.operator, given_values=scope.values)
            labels = Map({scope.scope_name: name} if name else {})
            return compile_selector(LabelSelector(match_expressions=(asked,)))(labels)
        case "CrossNamespacePodAffinity":
            return any(term.namespaces or term.namespace_selector is not None for term in affinity_terms(pod))
    return False


def is_best_effort(pod: Pod) -> bool:
    """Whether no container requests or limits any cpu or memory: the class of service BestEffort."""
    amounts = (
        found.get(name)
        for one in pod.spec.all_containers
        for found in (one.requests, one.limits)
        for name in ("cpu", "memory")
    )
    return not any(quantity is not None and quantity.nanos > 0 for quantity in amounts)


def affinity_terms(pod: Pod) -> Iterator[PodAffinityTerm]:
    """All terms of affinity and anti-affinity to other pods, required and preferred."""
    affinity = pod.spec.affinity
    for role in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        if role is not None:
            yield from role.required
            yield from (weighted.pod_affinity_term for weighted in role.preferred)


# --- refusals -----------------------------------------------------------------------------------------------


def unspecified(quota: ResourceQuota, pod: Pod) -> str | None:
    """The refusal of *pod* by *quota* whatever is used: some container does not say how much it needs; None
    if there is none."""
    required = REQUIRED.intersection(_restricted(quota))
    missing = {
        name for one in pod.spec.all_containers for name in required - _named(one.requests, one.limits).keys()
    }
    return f"failed quota: {quota.name}: must specify {','.join(sorted(missing))}" if missing else None


def exceeded(quota: ResourceQuota, used: Amounts, asked: Amounts) -> str | None:
    """The refusal of *asked* by *quota*, of which *used* is used; None if there is room."""
    bounds = hard(quota)
    over = [
        name
        for name, quantity in asked.items()
        if name in bounds and _sum(used, name, quantity) > bounds[name]
    ]
    if not over:
        return None
    text = (
        ",".join(f"{name}={amounts[name]}" for name in sorted(over) if name in amounts)
        for amounts in (asked, used, bounds)
    )
    return "exceeded quota: {}, requested: {}, used: {}, limited: {}".format(quota.name, *text)


def quota_notices(pods: Iterable[Pod], quotas: Sequence[ResourceQuota]) -> Iterator[Notice]:
    """Notices of *pods* that were not there yet and for which a quota with a status has no room; they are
    tried all the same."""
    used = {quota.key: dict(quota.status.used) for quota in quotas}
    for pod in pods if quotas else ():
        if pod.metadata.creation_timestamp:
            continue
        asked = usage(pod)
        mine = [
            quota
            for quota in quotas
            if quota.status.used and quota.namespace == pod.namespace and counts(quota, pod)
        ]
        why = next(
            (found for quota in mine if (found := exceeded(quota, used[quota.key], asked)) is not None), None
        )
        if why is not None:
            yield Notice(
                f"Pod {pod.key}",
                f"the API server would refuse it ({why}); it is tried all the same: quotas are not the scheduler's",
            )
            continue
        for quota in mine:
            used[quota.key] |= {
                name: _sum(used[quota.key], name, quantity) for name, quantity in asked.items()
            }


def _sum(used: Amounts, name: str, quantity: Quantity) -> Quantity:
    return used[name] + quantity if name in used else quantity
