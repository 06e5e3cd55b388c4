"""ResourceQuotas: their usage by pods and claims, and what they refuse.

Upstream: pkg/quota/v1/evaluator/core/{pods,persistent_volume_claims}.go,
plugin/pkg/admission/resourcequota/controller.go
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import attrs

from ..meaning import Amounts, add_exactly, compile_selector, limits_of, requests_of, total_of
from ..objects import (
    ZERO,
    KubeObject,
    LabelSelector,
    Map,
    PersistentVolumeClaim,
    Pod,
    Quantity,
    Requirement,
    ResourceQuota,
    ScopedResourceSelectorRequirement,
    of_kind,
)
from .admission import Admitted, affinity_terms, pod_level_amounts
from .defaults import HUGE_PAGES, POD_LEVEL

ONE = Quantity.of(1)
COUNT = "count/pods"
CLAIMS = "persistentvolumeclaims"
_BY_CLASS = ".storageclass.storage.k8s.io/"
NATIVE = ("cpu", "memory", "ephemeral-storage")
_REQUESTS = "requests."
POD_RESOURCES = frozenset(
    [COUNT, "pods", *NATIVE, *(f"{word}.{name}" for word in ("requests", "limits") for name in NATIVE)]
)
REQUIRED = frozenset(f"{word}{name}" for word in ("", "requests.", "limits.") for name in ("cpu", "memory"))
"""The resources that each container has to request or limit if a quota bounds them."""


# --- what a pod uses ----------------------------------------------------------------------------------------


def usage(pod: Pod) -> dict[str, Quantity]:
    """The usage of quotas by *pod*: nothing but its count once it has finished."""
    if pod.is_terminal:
        return {COUNT: ONE}
    requests, limits = (
        total_of(pod.spec, amounts_of) | pod_level_amounts(pod, amounts_of)
        for amounts_of in (requests_of, limits_of)
    )
    overhead = pod.spec.overhead
    add_exactly(requests, overhead)
    add_exactly(limits, {name: amount for name, amount in overhead.items() if name in limits})
    return {COUNT: ONE, **_by_quota_name(requests, limits)}


def claim_usage(claim: PersistentVolumeClaim) -> dict[str, Quantity]:
    """The usage of quotas by *claim*: its count and its storage, both also by storage class."""
    storage = claim.spec.requests.get("storage")
    of_class = claim.storage_class
    prefixes = ["", *([f"{of_class}{_BY_CLASS}"] if of_class else [])]
    amounts = {f"{prefix}{CLAIMS}": ONE for prefix in ("count/", *prefixes)}
    if storage is not None:
        amounts |= {f"{prefix}requests.storage": storage for prefix in prefixes}
    return amounts


def _by_quota_name(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    """Requests and limits by the names that quotas have for them."""
    amounts = {"pods": ONE}
    for name, quantity in requests.items():
        if name in NATIVE or name.startswith(HUGE_PAGES):
            amounts |= {name: quantity, f"{_REQUESTS}{name}": quantity}
        elif "/" in name and "kubernetes.io/" not in name and not name.startswith(_REQUESTS):
            amounts[f"{_REQUESTS}{name}"] = quantity
    return amounts | {f"limits.{name}": quantity for name, quantity in limits.items() if name in NATIVE}


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
    return any(_restricted_names(quota)) and all(_matches(pod, scope) for scope in scopes)


def counts_claim(quota: ResourceQuota, claim: PersistentVolumeClaim) -> bool:
    """Whether *quota*, of the claim's namespace, has a bound for claims, and no scope: those are for pods."""
    if quota.spec.scopes or quota.spec.scope_selector.match_expressions:
        return False
    return not hard(quota).keys().isdisjoint(claim_usage(claim))


def hard(quota: ResourceQuota) -> Amounts:
    """The bounds that are in force: those of the status, if it has any."""
    return quota.status.hard or quota.spec.hard


def _restricted_names(quota: ResourceQuota) -> Iterator[str]:
    """The resources of *quota* that pods use."""
    return (name for name in hard(quota) if name in POD_RESOURCES or name.startswith((HUGE_PAGES, _REQUESTS)))


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
            requirement = Requirement(
                key=scope.scope_name, operator=scope.operator, given_values=scope.values
            )
            labels = Map({scope.scope_name: name} if name else {})
            return compile_selector(LabelSelector(match_expressions=(requirement,)))(labels)
        case "CrossNamespacePodAffinity":
            return any(term.namespaces or term.namespace_selector is not None for term in affinity_terms(pod))
    return False


def is_best_effort(pod: Pod) -> bool:
    """Whether neither pod nor container requests or limits any cpu or memory: the class of service
    BestEffort."""
    given = (pod.spec.resources, *(container.resources for container in pod.spec.all_containers))
    amounts = (
        amounts.get(name)
        for resources in given
        for amounts in (resources.requests, resources.limits)
        for name in POD_LEVEL
    )
    return not any(quantity is not None and quantity.nanos > 0 for quantity in amounts)


# --- refusals -----------------------------------------------------------------------------------------------


def unspecified(quota: ResourceQuota, pod: Pod) -> str | None:
    """The refusal of *pod* by *quota* whatever is used: neither the pod as a whole nor some container says
    how much it needs; None if there is none."""
    if pod_level_amounts(pod, requests_of) or pod_level_amounts(pod, limits_of):
        return None
    required = REQUIRED.intersection(_restricted_names(quota))
    names = {
        name
        for container in pod.spec.all_containers
        for name in required - _by_quota_name(container.requests, container.limits).keys()
    }
    return f"failed quota: {quota.name}: must specify {','.join(sorted(names))}" if names else None


def exceeded(quota: ResourceQuota, used: Amounts, requested: Amounts) -> str | None:
    """The refusal of the *requested* amounts by *quota*, with *used* in use; None if there is room."""
    bounds = hard(quota)
    over = [
        name
        for name, quantity in requested.items()
        if name in bounds and _sum(used, name, quantity) > bounds[name]
    ]
    if not over:
        return None
    text = (
        ",".join(f"{name}={amounts[name]}" for name in sorted(over) if name in amounts)
        for amounts in (requested, used, bounds)
    )
    return "exceeded quota: {}, requested: {}, used: {}, limited: {}".format(quota.name, *text)


def _sum(used: Amounts, name: str, quantity: Quantity) -> Quantity:
    return used[name] + quantity if name in used else quantity


# --- admission ----------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class Account:
    """A quota, and what is used of it."""

    quota: ResourceQuota
    used: dict[str, Quantity]

    def add(self, amounts: Mapping[str, Quantity]) -> None:
        """Add *amounts* to what is used of the quota."""
        self.used |= {
            name: self.used[name] + quantity for name, quantity in amounts.items() if name in self.used
        }

    def usage_of(self, item: KubeObject) -> dict[str, Quantity]:
        """The usage of the quota by *item*; none if the quota does not count it."""
        if item.namespace == self.quota.namespace:
            if isinstance(item, Pod) and counts(self.quota, item):
                return usage(item)
            if isinstance(item, PersistentVolumeClaim) and counts_claim(self.quota, item):
                return claim_usage(item)
        return {}


def accounts_of(quotas: Iterable[ResourceQuota], objects: Collection[KubeObject]) -> list[Account]:
    """The accounts of *quotas*, by name. Usage that a status lacks is counted over *objects*."""
    accounts = []
    for quota in sorted(quotas, key=lambda quota: quota.key):
        names = hard(quota)
        used = quota.status.used
        account = Account(quota, {name: used.get(name, ZERO) for name in names})
        for item in objects if names.keys() - used.keys() else ():
            account.add(
                {name: quantity for name, quantity in account.usage_of(item).items() if name not in used}
            )
        accounts.append(account)
    return accounts


def within_quotas(objects: tuple[KubeObject, ...], existing: Iterable[KubeObject] = ()) -> Admitted:
    """The *objects* that quotas admit beside those *existing*, in order: all that the cluster has already, and
    new pods and claims while there is room."""
    own = {item.identity for item in objects}
    others = [item for item in existing if item.identity not in own]
    quotas = of_kind(ResourceQuota, (*others, *objects))
    if not quotas:
        return Admitted(objects)
    stored = {id(item) for item in objects if _is_stored(item)}
    accounts = accounts_of(quotas, [*others, *(item for item in objects if id(item) in stored)])
    # The status of a quota knows nothing of pods and claims that were admitted here.
    for account in accounts:
        for item in others if account.quota.status.used else ():
            if not _is_stored(item):
                account.add(account.usage_of(item))
    admitted = list[KubeObject]()
    refused = list[tuple[KubeObject, str]]()
    for item in objects:
        charges = [
            (account, amounts)
            for account in (() if id(item) in stored else accounts)
            if (amounts := account.usage_of(item))
        ]
        refusals = [
            *(unspecified(account.quota, item) for account, _ in charges if isinstance(item, Pod)),
            *(exceeded(account.quota, account.used, amounts) for account, amounts in charges),
        ]
        reason = next(filter(None, refusals), None)
        if reason is None and isinstance(item, Pod):
            reason = _refused_claim(item, refused)
        if reason is not None:
            refused.append((item, reason))
            continue
        admitted.append(item)
        for account, amounts in charges:
            account.add(amounts)
    return Admitted(tuple(admitted), tuple(refused))


def _refused_claim(pod: Pod, refused: Iterable[tuple[KubeObject, str]]) -> str | None:
    """The refusal of a claim without which a StatefulSet does not make *pod*; None if there is none."""
    if pod.controller is None or pod.controller.kind != "StatefulSet":
        return None
    names = {volume.persistent_volume_claim for volume in pod.spec.volumes}
    of_pod = (
        reason
        for item, reason in refused
        if not isinstance(item, Pod) and item.namespace == pod.namespace and item.name in names
    )
    return next(of_pod, None)


def _is_stored(item: KubeObject) -> bool:
    """Whether the cluster has *item*: a pod or a claim with a time of creation, a node or a volume."""
    if isinstance(item, Pod):
        return bool(item.metadata.creation_timestamp or item.node_name or item.is_terminal)
    if isinstance(item, PersistentVolumeClaim):
        return bool(item.metadata.creation_timestamp or item.spec.volume_name)
    return True
