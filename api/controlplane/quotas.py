"""What the API server's ResourceQuota admission does: which quotas count a pod or claim, what it uses of
them, and when it is refused.

Upstream: pkg/quota/v1/evaluator/core/{pods,persistent_volume_claims}.go,
plugin/pkg/admission/resourcequota/controller.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..meaning.labels import compile_selector
from ..meaning.podtotals import limits_of, requests_of, total_of
from ..objects import (
    LabelSelector,
    Map,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    Requirement,
    ResourceQuota,
    ScopedResourceSelectorRequirement,
)
from ..objects.quantity import Quantity
from ..reading.notices import Notice

Amounts = Mapping[str, Quantity]
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
    """What *pod* uses of quotas: nothing but its count once it has finished."""
    if pod.is_terminal:
        return {COUNT: ONE}
    whole = {
        name: quantity
        for name, quantity in pod.spec.requests.items()
        if name in _OF_PODS or name.startswith(_HUGE_PAGES)
    }
    return {COUNT: ONE, **_named({**total_of(pod, requests_of), **whole}, total_of(pod, limits_of))}


def claim_usage(claim: PersistentVolumeClaim) -> dict[str, Quantity]:
    """What *claim* uses of quotas: its count and its storage, both also by storage class."""
    found = {CLAIMS: ONE, f"count/{CLAIMS}": ONE}
    storage = claim.spec.requests.get("storage")
    of_class = claim.storage_class
    prefixes = ["", *([f"{of_class}{_OF_CLASS}"] if of_class else [])]
    found |= {f"{prefix}{CLAIMS}": ONE for prefix in prefixes}
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
    prefixes = (_HUGE_PAGES, _REQUESTS)
    return (name for name in hard(quota) if name in POD_RESOURCES or name.startswith(prefixes))


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
            labels: Map[str] = Map({scope.scope_name: name} if name else {})
            return compile_selector(LabelSelector(match_expressions=(asked,)))(labels)
        case "CrossNamespacePodAffinity":
            return any(term.namespaces or term.namespace_selector is not None for term in affinity_terms(pod))
    return False


def is_best_effort(pod: Pod) -> bool:
    """Whether no container requests or limits any cpu or memory: the class of service BestEffort."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    amounts = (
        found.get(name)
        for one in containers
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
    """Why *quota* refuses *pod* whatever is used: some container does not say how much it is; None if it does
    not refuse it."""
    required = REQUIRED.intersection(_restricted(quota))
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    missing = {name for one in containers for name in required - _named(one.requests, one.limits).keys()}
    return f"failed quota: {quota.name}: must specify {','.join(sorted(missing))}" if missing else None


def exceeded(quota: ResourceQuota, used: Amounts, asked: Amounts) -> str | None:
    """Why *quota*, of which *used* is used, has no room for *asked*; None if it has."""
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
    """Of which of *pods* that were not there yet a quota with a status has no room, in their order; they are
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
