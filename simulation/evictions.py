"""The rules of ``kubectl drain`` for pods, evictions that disruption budgets allow, and replacements of
evicted pods. A ReplicaSet, a StatefulSet or a Job makes one; a bare pod is not replaced.

Devices that a pod claims are free when it leaves its node; its replacement has claims of its own.
Upstream: makeFilters and the filters in staging/src/k8s.io/kubectl/pkg/drain/filters.go; the eviction
subresource in pkg/registry/core/pod/storage/eviction.go, and pkg/controller/disruption.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from attrs import Factory, define, frozen
from msgspec.structs import replace

from ..api.controlplane import (
    NewVolumes,
    admit,
    claims_made_for,
    claims_of_volumes,
    is_ready,
    read_workload,
    templates_in,
)
from ..api.meaning import Matcher, SelectorError, compile_selector, everything
from ..api.objects import (
    JsonObject,
    KubeObject,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodStatus,
    ResourceClaim,
    StorageClass,
    of_kind,
    why_not_waiting,
)
from ..api.record import Count, Record
from ..api.words import listed
from ..core.engine import Engine
from ..core.release import Release
from ..core.run import Run

# --- disruption budgets -------------------------------------------------------------------------------------

SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class BudgetUse(Record):
    """A PodDisruptionBudget of pods that leave."""

    budget: str
    allowed: Count
    """Disruptions that it allows before the drain."""
    evictions: Count
    lowest: int
    """The fewest that it still allowed; below 0 if pods were preempted."""
    left: int
    """Disruptions that it allows in the end."""


@define(eq=False)
class Allowance:
    """One budget, with the disruptions that it still allows."""

    key: str
    allowed: int
    """Disruptions that it allows before the drain."""
    remaining: int
    lowest: int
    """The fewest that it still allowed at any time."""
    frees_unready: bool
    """Whether a pod that is not ready may go in any case, as the others suffice or the budget says so."""
    evictions: int = 0


@define(eq=False)
class Budgets:
    """The budgets of a cluster: an eviction takes one of each that selects the pod; a new pod that is ready
    gives it back."""

    _by_namespace: dict[str, list[tuple[Matcher, Allowance]]] = Factory(dict)
    _by_pod_labels: dict[object, tuple[Allowance, ...]] = Factory(dict)

    @classmethod
    def of(cls, budgets: Iterable[PodDisruptionBudget], release: Release) -> Budgets:
        """The budgets that can select pods, as an API server of *release* asks them."""
        result = cls()
        for budget in sorted(budgets, key=lambda budget: budget.key):
            selector = budget.selector
            if selector is None or (selector.is_empty and not release.server.guards_everything):
                continue
            try:
                matches = compile_selector(selector)
            except SelectorError:
                continue
            allowed = max(budget.disruptions_allowed, 0)
            status = budget.status
            suffice = status.current_healthy >= status.desired_healthy > 0
            is_free = suffice or budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
            frees = release.server.frees_unready and is_free
            result._by_namespace.setdefault(budget.namespace, []).append(
                (matches, Allowance(budget.key, allowed, allowed, allowed, frees))
            )
        return result

    def over(self, pod: Pod) -> tuple[Allowance, ...]:
        """The budgets that guard *pod*."""
        if pod.namespace not in self._by_namespace:
            return ()
        key = pod.namespace, pod.labels
        if key not in self._by_pod_labels:
            self._by_pod_labels[key] = tuple(
                allowance for matches, allowance in self._by_namespace[pod.namespace] if matches(pod.labels)
            )
        budgets = self._by_pod_labels[key]
        # Upstream: canIgnorePDB, and the check of health before the budget is asked.
        suffice = len(budgets) == 1 and budgets[0].frees_unready and not is_ready(pod)
        return () if pod.status.phase == "Pending" or suffice else budgets

    def blocking(self, pod: Pod) -> str | None:
        """The reason why *pod* may not be evicted now; None if it may."""
        budgets = self.over(pod)
        if len(budgets) > 1:
            return f"{SEVERAL} ({', '.join(budget.key for budget in budgets)})"
        if not budgets or budgets[0].remaining > 0:
            return None
        budget = budgets[0]
        if not budget.allowed:
            return f"PodDisruptionBudget {budget.key} allows no disruption"
        return f"PodDisruptionBudget {budget.key} allows {budget.allowed} at a time, and none any more: pods of it left and are not made again"

    def take(self, pod: Pod, count: int = 1) -> None:
        """Note the disruption of *pod*; *count* -1 undoes it."""
        for allowance in self.over(pod):
            allowance.remaining -= count
            allowance.evictions += count
            allowance.lowest = min(allowance.lowest, allowance.remaining)

    def give(self, pod: Pod, count: int = 1) -> None:
        """Note that a replacement of *pod* is ready; *count* -1 undoes it."""
        for allowance in self.over(pod):
            allowance.remaining += count

    def used(self) -> tuple[BudgetUse, ...]:
        """The budgets that allowed, or suffered, an eviction."""
        return tuple(
            BudgetUse(each.key, each.allowed, each.evictions, each.lowest, each.remaining)
            for allowances in self._by_namespace.values()
            for _, each in allowances
            if each.evictions
        )


# --- drains -------------------------------------------------------------------------------------------------

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of the mirror pod of a static pod."""
KUBELET = "Node"
"""The kind of owner that a static pod has: it comes back on its own node, not through the scheduler."""
DISRUPTED = "DisruptionTarget"
"""The condition of evicted pods."""
SAME_NAME = "StatefulSet"
"""The kind of owner whose new pods have the names of the old ones."""


@frozen
class PodsOfNode:
    """The pods of one node, each list in the order in which they were given."""

    leaving: tuple[Pod, ...]
    staying: tuple[tuple[Pod, str], ...]
    """Pods that a drain ignores, and why."""
    refusal: str | None
    """Why nothing is evicted at all."""


@frozen(kw_only=True)
class DrainFlags:
    """The flags of ``kubectl drain`` that matter to a simulation, with their defaults."""

    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False
    force: bool = False
    """Pods without a controller are deleted, and not made again."""
    recreate_bare: bool = False
    """Pods without a controller are made again under their own names. kubectl has no such flag: it is for
    traces, whose pods are bare."""
    disable_eviction: bool = False
    """Pods are deleted instead of evicted, so that no budget is asked."""
    pod_selector: Matcher = everything
    """Only pods with such labels leave."""

    def sort(self, pods: Iterable[Pod]) -> PodsOfNode:
        """The fates of a node's pods."""
        leaving = []
        staying = []
        refused = defaultdict[str, list[str]](list)
        for pod in pods:
            if not self.pod_selector(pod.labels):
                staying.append((pod, "not selected by --pod-selector"))
            elif is_daemon(pod) and self.ignore_daemonsets:
                staying.append((pod, "DaemonSet-managed"))
            elif is_daemon(pod):
                refused["DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"].append(pod.key)
            elif is_mirror(pod):
                staying.append((pod, "a static pod of its kubelet"))
            elif any(volume.empty_dir for volume in pod.spec.volumes) and not self.delete_emptydir_data:
                refused["Pods with local storage (use --delete-emptydir-data to override)"].append(pod.key)
            elif pod.controller is None and not (self.force or self.recreate_bare):
                refused["Pods that declare no controller (use --force to override)"].append(pod.key)
            else:
                leaving.append(pod)
        reasons = "; ".join(f"{reason}: {listed(keys)}" for reason, keys in refused.items())
        return PodsOfNode(tuple(leaving), tuple(staying), f"cannot delete {reasons}" if reasons else None)


def is_daemon(pod: Pod) -> bool:
    """Whether a DaemonSet runs *pod*."""
    owner = pod.controller
    return owner is not None and owner.kind == "DaemonSet"


def is_mirror(pod: Pod) -> bool:
    """Whether *pod* is the mirror pod of a static pod, which its kubelet runs whatever the API says."""
    owner = pod.controller
    return MIRROR in pod.annotations or (owner is not None and owner.kind == KUBELET)


def stays_with_node(pod: Pod) -> bool:
    """Whether *pod* is run on its node again when it is deleted, and nowhere else: by its DaemonSet, or by
    the node itself."""
    return is_daemon(pod) or is_mirror(pod)


def is_replaced_already(pod: Pod) -> bool:
    """Whether *pod* has finished or is being deleted, so that its owner has made another one; a StatefulSet
    waits until the old one is gone."""
    owner = pod.controller
    return (pod.is_terminal or pod.is_terminating) and (owner is None or owner.kind != SAME_NAME)


# --- replacements -------------------------------------------------------------------------------------------


@define(eq=False, repr=False)
class Replacements:
    """The maker of replacements, with names that no other pod has."""

    keys_in_use: set[str]
    """Keys of pods."""
    scheduler_names: frozenset[str] | None
    """Only pods that ask for one of these schedulers are made; None: all."""
    recreates_bare: bool = False
    """Pods without a controller are made again too, under their own names."""
    retries: dict[str, int] = Factory(dict)
    """Key of a Job -> how many of its pods may still be evicted until it ends and makes none."""
    _made: int = 0
    _next_numbers: dict[str, int] = Factory(dict)
    """``namespace/owner`` -> a number below which none is free."""

    @classmethod
    def beside(
        cls, objects: Iterable[KubeObject], scheduler_names: frozenset[str] | None = None
    ) -> Replacements:
        """The maker for a cluster with the pods of *objects*, whether they have nodes or not."""
        return cls({item.key for item in objects if isinstance(item, Pod)}, scheduler_names)

    def of(self, evicted: Pod) -> Pod | None:
        """The new pod in place of *evicted*, without a node, nomination and times; None if its owner makes
        none, or if it has none.

        A StatefulSet's pod keeps its name; others are called ``OWNER-NUMBER``, with the first free number.
        """
        owner = evicted.controller
        if (owner is None and not self.recreates_bare) or (owner is not None and owner.kind == KUBELET):
            return None
        if (job := job_of(evicted)) in self.retries:
            self.retries[job] -= 1
            if self.retries[job] < 0:
                return None
        self._made += 1
        name = evicted.name
        if owner is not None and owner.kind != SAME_NAME:
            before = f"{evicted.namespace}/{owner.name}"
            number = next(
                number
                for number in count(self._next_numbers.get(before, 0))
                if f"{before}-{number}" not in self.keys_in_use
            )
            self._next_numbers[before], name = number, f"{owner.name}-{number}"
        replacement = made_new(
            evicted, name, f"{evicted.metadata.uid or evicted.key}-replacement-{self._made}"
        )
        if why_not_waiting(replacement, self.scheduler_names) is not None:
            return None
        self.keys_in_use.add(replacement.key)
        return replacement

    def has_failed(self, pod: Pod) -> bool:
        """Whether the Job of *pod* has failed, so that its other pods are deleted."""
        return self.retries.get(job_of(pod), 0) < 0

    def take_back(self, evicted: Pod, replacement: Pod | None) -> None:
        """Undo the *replacement* of *evicted*: its name is free again, unless it was that of the evicted
        pod."""
        if (job := job_of(evicted)) in self.retries:
            self.retries[job] += 1
        owner = evicted.controller
        if replacement is not None and owner is not None and owner.kind != SAME_NAME:
            self.keys_in_use.discard(replacement.key)
            self._next_numbers.pop(f"{replacement.namespace}/{owner.name}", None)


def job_of(pod: Pod) -> str:
    """The key of the Job that controls *pod*, or nothing."""
    owner = pod.controller
    return f"{pod.namespace}/{owner.name}" if owner is not None and owner.kind == "Job" else ""


def retries_of(jobs: Iterable[JsonObject]) -> dict[str, int]:
    """Key of each of *jobs* for which an evicted pod has failed -> how many may still fail until it ends.

    Upstream: isPodFailed and syncJob in pkg/controller/job/job_controller.go.
    """
    retries = {}
    for job in map(read_workload, jobs):
        policy = job.spec.pod_failure_policy
        # Of the rules about evicted pods the first counts.
        actions = (
            rule.action
            for rule in (() if policy is None else policy.rules)
            if any(condition.type == DISRUPTED for condition in rule.on_pod_conditions)
        )
        action = next(actions, "Count")
        if action != "Ignore":
            retries[f"{job.namespace}/{job.name}"] = 0 if action == "FailJob" else job.retries
    return retries


def made_new(evicted: Pod, name: str, uid: str) -> Pod:
    """A pod like *evicted* that is not created yet: on no node, without times and status."""
    old = evicted.metadata
    metadata = ObjectMeta(
        name=name,
        namespace=old.namespace,
        uid=uid,
        labels=old.labels,
        annotations=old.annotations,
        owner_references=old.owner_references,
    )
    return replace(
        evicted,
        metadata=metadata,
        spec=replace(evicted.spec, node_name=""),
        status=PodStatus(),
        manifest=None,
    )


# --- claims to devices and volumes --------------------------------------------------------------------------


def volume_claims(pod: Pod, engine: Engine) -> list[PersistentVolumeClaim]:
    """The claims of *pod*'s generic ephemeral volumes, as they are made, if the release has such volumes."""
    return claims_of_volumes(pod) if pod.spec.volumes and engine.release.volumes.ephemeral_claims else []


def new_claims(
    pods: Iterable[Pod], engine: Engine, objects: Iterable[KubeObject] | None = None
) -> tuple[Sequence[KubeObject], Sequence[str]]:
    """The claims of volumes that are made for new *pods* beside *objects*, by default those that *engine*
    knows, with volumes unless these wait for a node; and the keys of claims whose volume could be anywhere."""
    claims = [claim for pod in pods for claim in volume_claims(pod, engine)]
    if not claims:
        return (), ()
    if objects is None:
        listings = engine.listings
        objects = (*listings.classes, *listings.volumes)
    classes = list[StorageClass]()
    free = list[PersistentVolume]()
    for item in objects:
        if isinstance(item, StorageClass):
            classes.append(item)
        elif isinstance(item, PersistentVolume) and item.spec.claim_ref is None:
            free.append(item)  # one that names a claim is that of the old pod
    new = NewVolumes.beside((*classes, *free))
    admitted = of_kind(PersistentVolumeClaim, admit(claims, classes, server=engine.release.server).objects)
    return [item for claim in admitted for item in new.of(claim)], new.unplaced


def claims_left_by(
    pod: Pod, claims: Iterable[ResourceClaim]
) -> Iterator[tuple[ResourceClaim, ResourceClaim | None]]:
    """The *claims* of *pod*, each with its state once the pod is gone; None: it was made for the pod, and
    goes with it, as no other pod uses it.

    Other claims lose the pod as their user, and their devices with the last user. Upstream:
    pkg/controller/resourceclaim/controller.go.
    """
    for claim in claims:
        owner = claim.controller
        users = tuple(user for user in claim.status.reserved_for if user.uid != pod.uid)
        if owner is not None and owner.uid == pod.uid and not users:
            yield claim, None
        elif len(users) < len(claim.status.reserved_for):
            status = replace(
                claim.status, reserved_for=users, allocation=claim.status.allocation if users else None
            )
            yield claim, replace(claim, status=status)


def claims_after(
    removed: Iterable[Pod], objects: Iterable[KubeObject]
) -> Iterator[tuple[ResourceClaim, ResourceClaim | None]]:
    """The claims among *objects* that change once the *removed* pods are gone, each with its state then."""
    claims = {item.key: item for item in of_kind(ResourceClaim, objects)}
    after: dict[str, ResourceClaim | None] = {**claims}
    for pod in removed:
        left = [claim for claim in after.values() if claim is not None]
        after.update((claim.key, remainder) for claim, remainder in claims_left_by(pod, left))
    return ((claim, after[key]) for key, claim in claims.items() if after[key] is not claim)


def with_claims(pod: Pod, engine: Engine) -> tuple[Pod, list[ResourceClaim]]:
    """The new *pod*, with the claims that are made for it."""
    return claims_made_for(pod, templates_in(engine.listings.claim_templates))


def give_back(pod: Pod, run: Run) -> None:
    """Free the devices that the deleted *pod* claimed, unless others use them, and delete the claims that
    were made for its volumes."""
    for made in volume_claims(pod, run.engine):
        claim = run.engine.listings.claims.get(made.key)
        if claim is not None and claim.controller == made.controller:
            run.delete(claim)
    for before, after in tuple(claims_left_by(pod, run.engine.listings.resource_claims.of(pod))):
        if after is None:
            run.delete(before)
        else:
            run.put(after)
