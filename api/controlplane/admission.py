"""The API server's admission of new pods and claims: priority classes, the default storage class, LimitRanges
and quotas.

Objects with a ``creationTimestamp`` have been admitted already and stay as they are.
Upstream: plugin/pkg/admission/{priority,defaulttolerationseconds,runtimeclass,limitranger},
plugin/pkg/admission/storage/storageclass/setdefault
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from operator import gt, lt

import attrs
from msgspec.structs import replace

from ...exceptions import QuantityError
from ..meaning import NEWEST_SERVER, Amounts, AmountsOf, ServerRules, limits_of, requests_of, total_of, uses
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
    ResourceRequirements,
    RuntimeClass,
    Scheduling,
    StorageClass,
    Toleration,
    of_kind,
)
from ..reading import Notice, Unread, limit_faults
from ..reading.forms import SYSTEM_CLASSES
from .defaults import HUGE_PAGES, POD_LEVEL

_IS_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


ADMISSION_KINDS = (LimitRange, PriorityClass, RuntimeClass, StorageClass)
"""The kinds whose objects decide how others are admitted."""


@attrs.frozen(repr=False)
class Admitted:
    """The objects after admission, in order, and the refused ones with their reasons."""

    objects: tuple[KubeObject, ...]
    refused: tuple[tuple[KubeObject, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    """What the API server drops from new objects."""


NO_SIDECARS = Unread(
    "",
    "the API server drops spec.initContainers[].restartPolicy without --feature-gates SidecarContainers=true",
    "sidecars",
    "the API server supports them only with feature gate SidecarContainers",
    "spec.initContainers[].restartPolicy",
    gate="SidecarContainers",
)


def admit(
    objects: Iterable[KubeObject], existing: Iterable[KubeObject] = (), *, server: ServerRules = NEWEST_SERVER
) -> Admitted:
    """Give new pods their priority, what LimitRanges and RuntimeClasses fill in, tolerations and whole
    selectors, and new claims the default storage class.

    Objects of :data:`ADMISSION_KINDS` come from *objects* and *existing*, the objects of a cluster. A pod on
    a node is not refused for its amounts. Where the *server* keeps no priorities, new pods lose theirs and
    the name of its class, and no class is looked up.
    """
    new = tuple(objects)
    system = (
        PriorityClass(metadata=ObjectMeta(name=name), value=value) for name, value in SYSTEM_CLASSES.items()
    )
    everything = (*system, *existing, *new)
    classes = {item.name: item for item in everything if isinstance(item, PriorityClass)}
    # Pods that name none get the class marked ``globalDefault``; of several the one with the lowest value.
    marked = [priority_class for priority_class in classes.values() if priority_class.global_default]
    default = min(marked, key=lambda priority_class: priority_class.value, default=None)
    storage = [
        item
        for item in everything
        if isinstance(item, StorageClass)
        and any(item.annotations.get(mark) == "true" for mark in _IS_DEFAULT_CLASS)
    ]
    # The newest first, of equal ones by name.
    storage.sort(key=lambda item: item.name)
    storage.sort(key=lambda item: item.metadata.creation_timestamp or "", reverse=True)
    # A pod that names none is like one of an empty class.
    known = (RuntimeClass(), *of_kind(RuntimeClass, everything))
    runtimes = {item.name: item for item in known if server.reads_runtime_classes}
    limits = dict[str, list[LimitRange]]()
    for limit_range in sorted(of_kind(LimitRange, everything), key=lambda limit_range: limit_range.name):
        limits.setdefault(limit_range.namespace, []).append(limit_range)
    admitted = list[KubeObject]()
    refused = list[tuple[KubeObject, str]]()
    dropped = list[Pod]()
    for item in new:
        outcome: KubeObject | str = item
        if item.metadata.creation_timestamp is not None:
            pass
        elif isinstance(item, Pod):
            ranges = limits.get(item.namespace, ())
            kept = item if server.keeps_sidecars else _without_sidecars(item)
            if kept is not item:
                dropped.append(kept)
            pod = with_limits(_with_label_keys(kept, server), ranges)
            fault = None
            if not pod.node_name:
                fault = _given_twice(pod, server) or _page_fault(pod, server)
                fault = fault or _volume_fault(pod, server) or _host_fault(pod, server)
                if ranges and fault is None:
                    # A LimitRange may give limits below requests, or above those of the whole pod.
                    faults = set(limit_faults(pod.spec)).difference(limit_faults(item.spec))
                    fault = min(faults, default=None) or out_of_bounds(pod, ranges, server)
            outcome = fault or (
                _with_priority(pod, classes, default, server)
                if server.keeps_priorities
                else _without_priority(pod)
            )
            name = pod.spec.runtime_class_name
            runtime = runtimes.get(name) if name or not pod.node_name else None
            if isinstance(outcome, Pod):
                spec = outcome.spec
                outcome = replace(
                    outcome, spec=replace(spec, tolerations=_with_default_tolerations(spec.tolerations))
                )
                outcome = outcome if runtime is None else _with_runtime(outcome, runtime, server)
        elif isinstance(item, PersistentVolumeClaim):
            ranges = () if item.spec.volume_name else limits.get(item.namespace, ())
            fault = out_of_bounds(item, ranges, server)
            outcome = fault or _with_storage_class(item, storage[: 1 if server.takes_newest_class else None])
        if isinstance(outcome, str):
            refused.append((item, outcome))
        else:
            admitted.append(outcome)
    notices = (attrs.evolve(NO_SIDECARS, where=f"Pod {pod.key}") for pod in dropped)
    return Admitted(tuple(admitted), tuple(refused), tuple(notices))


def _with_priority(
    pod: Pod, classes: Mapping[str, PriorityClass], default: PriorityClass | None, server: ServerRules
) -> Pod | str:
    """The pod with the priority of its class or of the *default*, or why it is refused, in upstream's words;
    a priority without a class stays."""
    spec = pod.spec
    name = spec.priority_class_name
    policy = spec.preemption_policy
    chosen = classes.get(name) if name else default
    if name and chosen is None:
        return f"no PriorityClass with name {name} was found"
    priority = chosen.value if chosen else 0
    if spec.priority not in (None, priority):
        if not name:
            return pod
        return (
            f"the integer value of priority ({spec.priority}) must not be provided in pod spec; "
            f"priority admission controller computed {priority} from the given PriorityClass name"
        )
    if chosen and server.honours_policies:
        class_policy = chosen.preemption_policy or "PreemptLowerPriority"
        if policy and policy != class_policy:
            return (
                f"the string value of PreemptionPolicy ({policy}) must not be provided in pod spec; "
                f"priority admission controller computed {class_policy} from the given PriorityClass name"
            )
        policy = class_policy
    name = name or (chosen.name if chosen else "")
    return replace(
        pod, spec=replace(spec, priority=priority, priority_class_name=name, preemption_policy=policy)
    )


def _without_priority(pod: Pod) -> Pod:
    # Upstream: pkg/api/pod/util.go
    if pod.spec.priority is None and not pod.spec.priority_class_name:
        return pod
    return replace(pod, spec=replace(pod.spec, priority=None, priority_class_name=""))


DEFAULT_TOLERATIONS = tuple(
    Toleration(
        key=f"node.kubernetes.io/{state}", operator="Exists", effect="NoExecute", toleration_seconds=300
    )
    for state in ("not-ready", "unreachable")
)
"""The tolerations of pods that have none for these taints."""


@lru_cache(maxsize=1 << 12)
def _with_default_tolerations(given: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    more = tuple(
        default
        for default in DEFAULT_TOLERATIONS
        if not any(own.key in ("", default.key) and own.effect in ("", default.effect) for own in given)
    )
    return (*given, *more)


def _with_runtime(pod: Pod, runtime: RuntimeClass, server: ServerRules) -> Pod | str:
    """*pod* with what its RuntimeClass asks for, or why it is refused, in upstream's words.

    Upstream: plugin/pkg/admission/runtimeclass/admission.go
    """
    spec = pod.spec
    overhead = runtime.overhead.pod_fixed if server.gives_overhead else spec.overhead
    if spec.overhead and not overhead:
        return "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    if spec.overhead and overhead != spec.overhead:
        return "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    selector = dict(spec.node_selector or {})
    for key, value in runtime.scheduling.node_selector.items():
        if selector.setdefault(key, value) != value:
            return (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
    tolerations = spec.tolerations
    if runtime.scheduling != Scheduling():
        every = tuple(dict.fromkeys((*tolerations, *runtime.scheduling.tolerations)))
        tolerations = tuple(
            item for item in every if not any(other != item and _covers(other, item) for other in every)
        )
    return replace(
        pod,
        spec=replace(
            spec,
            overhead=overhead,
            node_selector=Map(selector) if selector else spec.node_selector,
            tolerations=tolerations,
        ),
    )


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    # Upstream: isSuperset in pkg/util/tolerations/tolerations.go
    if wide.key != narrow.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect not in ("", narrow.effect):
        return False
    bound, seconds = wide.toleration_seconds, narrow.toleration_seconds
    if wide.effect == "NoExecute" and bound is not None and (seconds is None or seconds > bound):
        return False
    return wide.operator == "Exists" or (narrow.operator == "Equal" and narrow.value == wide.value)


def _with_label_keys(pod: Pod, server: ServerRules) -> Pod:
    """The pod with its values of label keys in the selectors of its spread constraints and affinity.

    Upstream: pkg/registry/core/pod/strategy.go
    """

    def merged(
        selector: LabelSelector | None, matches: tuple[str, ...], mismatches: tuple[str, ...] = ()
    ) -> LabelSelector | None:
        parts = [
            Requirement(key=key, operator=operator, given_values=(pod.labels[key],))
            for operator, label_keys in (("In", matches), ("NotIn", mismatches))
            for key in label_keys
            if key in pod.labels
        ]
        if selector is None:
            return None
        new = (part for part in parts if part not in selector.match_expressions)
        return replace(selector, match_expressions=(*selector.match_expressions, *new))

    def merged_term(term: PodAffinityTerm) -> PodAffinityTerm:
        selector = merged(term.label_selector, term.match_label_keys, term.mismatch_label_keys)
        return replace(term, label_selector=selector)

    constraints = pod.spec.topology_spread_constraints
    if server.merges_spread_keys and any(constraint.match_label_keys for constraint in constraints):
        whole = tuple(
            replace(item, label_selector=merged(item.label_selector, item.match_label_keys))
            for item in constraints
        )
        pod = replace(pod, spec=replace(pod.spec, topology_spread_constraints=whole))
    affinity = pod.spec.affinity
    if (
        affinity is None
        or not server.merges_label_keys
        or not any(term.match_label_keys or term.mismatch_label_keys for term in affinity_terms(pod))
    ):
        return pod

    roles = {
        name: replace(
            role,
            required=tuple(map(merged_term, role.required)),
            preferred=tuple(
                replace(weighted, pod_affinity_term=merged_term(weighted.pod_affinity_term))
                for weighted in role.preferred
            ),
        )
        for name in ("pod_affinity", "pod_anti_affinity")
        if (role := getattr(affinity, name)) is not None
    }
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, **roles)))


def affinity_terms(pod: Pod) -> list[PodAffinityTerm]:
    """All terms of affinity and anti-affinity to other pods, required and preferred."""
    affinity = pod.spec.affinity
    terms = []
    for role in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        if role is not None:
            terms += [*role.required, *[weighted.pod_affinity_term for weighted in role.preferred]]
    return terms


def _without_sidecars(pod: Pod) -> Pod:
    if not any(container.is_sidecar for container in pod.spec.init_containers):
        return pod
    containers = tuple(replace(container, restart_policy="") for container in pod.spec.init_containers)
    return replace(pod, spec=replace(pod.spec, init_containers=containers))


def _volume_fault(pod: Pod, server: ServerRules) -> str | None:
    """The refusal of a generic ephemeral volume, which is one without a source to older servers."""
    if server.takes_ephemeral_volumes or not any(volume.ephemeral for volume in pod.spec.volumes):
        return None
    return "spec.volumes: Required value: must specify a volume type"


def _host_fault(pod: Pod, server: ServerRules) -> str | None:
    """The refusal of what Windows cannot do, or the server's gates forbid."""
    spec = pod.spec
    on_windows = spec.os is not None and spec.os.name == "windows"
    host_users = spec.host_users if server.keeps_host_users else None
    if on_windows and host_users is not None:
        return "spec.hostUsers: Forbidden: cannot be set for a windows pod"
    if host_users is False and spec.host_network and not server.shares_host_network:
        return "spec.hostNetwork: Forbidden: when `hostUsers` is false"
    if server.keeps_pod_resources and on_windows and (spec.resources.requests or spec.resources.limits):
        return "spec.resources: Forbidden: may not be set for a windows pod"
    if not server.restarts_all and any(container.restarts_all for container in spec.all_containers):
        return 'restartPolicyRules.action: Unsupported value: "RestartAllContainers": supported values: "Restart"'
    return None


def _page_fault(pod: Pod, server: ServerRules) -> str | None:
    """The refusal of huge pages alone, or of an amount that is no multiple of their size."""
    for given in (pod.spec.resources, *(container.resources for container in pod.spec.all_containers)):
        amounts = [*given.limits.items(), *given.requests.items()]
        pages = [(name, amount) for name, amount in amounts if name.startswith(HUGE_PAGES)]
        if pages and not any(name in POD_LEVEL for name, _ in amounts):
            return "Forbidden: HugePages require cpu or memory"
        for name, amount in pages if server.asks_for_whole_pages else ():
            size = 0
            with suppress(QuantityError):
                size = Quantity.parse(name.removeprefix(HUGE_PAGES)).nanos
            if size <= 0 or amount.nanos % size:
                return f'Invalid value: "{amount}": {amount} is not positive integer multiple of {name}'
    return None


def _given_twice(pod: Pod, server: ServerRules) -> str | None:
    """The refusal of a label key that became part of a selector with a requirement of its own for it."""
    merging = [*(pod.spec.topology_spread_constraints if server.merges_spread_keys else ())]
    for item in (*merging, *(affinity_terms(pod) if server.merges_label_keys else ())):
        selector = item.label_selector
        if item.match_label_keys and selector is not None:
            keys = [*selector.match_labels, *(part.key for part in selector.match_expressions)]
            for key in item.match_label_keys:
                if keys.count(key) > 1:
                    return f'Invalid value: "{key}": exists in both matchLabelKeys and labelSelector'
    return None


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


def with_limits(pod: Pod, ranges: Iterable[LimitRange]) -> Pod:
    """*pod* with the requests and limits that *ranges* give containers which say none; the same object if
    that changes nothing."""
    spec = pod.spec
    for limit_range in ranges:
        # Of two items the later one counts.
        limits = dict[str, Quantity]()
        requests = dict[str, Quantity]()
        for item in limit_range.spec.limits:
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


def out_of_bounds(
    given: Pod | PersistentVolumeClaim, ranges: Iterable[LimitRange], server: ServerRules = NEWEST_SERVER
) -> str | None:
    """The refusal by the first of *ranges* that a pod or claim violates, in upstream's words; None if it
    violates none."""
    for limit_range in ranges:
        faults = [fault for item in limit_range.spec.limits for fault in _faults(given, item, server)]
        if faults:
            return faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    return None


# --- bounds -------------------------------------------------------------------------------------------------


def _faults(given: Pod | PersistentVolumeClaim, item: LimitRangeItem, server: ServerRules) -> Iterator[str]:
    if isinstance(given, PersistentVolumeClaim):
        if item.type == given.kind:
            yield from _bound_faults(item, given.spec.requests, None)
    elif item.type == CONTAINER:
        for container in given.spec.all_containers:
            yield from _bound_faults(item, container.requests, container.limits)
    elif item.type == POD:
        requests, limits = (
            _pod_amounts(given, amounts_of, server) for amounts_of in (requests_of, limits_of)
        )
        yield from _bound_faults(item, requests, limits)


def _pod_amounts(pod: Pod, amounts_of: AmountsOf, server: ServerRules) -> Amounts:
    """The sum over the containers, or what the pod as a whole has in its place."""
    total = total_of(pod.spec, amounts_of)
    if server.sums_what_is_said:
        return total | pod_level_amounts(pod, amounts_of)
    names_by_container = [amounts_of(container).keys() for container in pod.spec.containers]
    # Upstream: a sum is there only for a resource of which every container says something.
    for name in {
        name
        for names in names_by_container
        for name in names
        if not all(name in resource_names for resource_names in names_by_container)
    }:
        amounts = [use[name] for use in uses(pod.spec, amounts_of) if name in use]
        total = (
            {**total, name: max(amounts)}
            if amounts
            else {resource: quantity for resource, quantity in total.items() if resource != name}
        )
    return total


def _bound_faults(item: LimitRangeItem, requests: Amounts, limits: Amounts | None) -> Iterator[str]:
    pairs = [("request", requests), *([] if limits is None else [("limit", limits)])]
    for word, bounds, is_out, order in (
        ("minimum", item.min, lt, pairs),
        ("maximum", item.max, gt, pairs[::-1]),
    ):
        for name, bound in sorted(bounds.items()):
            # Only the first of the two is required.
            amounts = [(kind, amounts_of_kind.get(name)) for kind, amounts_of_kind in order]
            out = [
                f", but {kind} is {amount}"
                for kind, amount in amounts
                if amount is not None and is_out(amount, bound)
            ]
            fault = f".  No {amounts[0][0]} is specified" if amounts[0][1] is None else out[0] if out else ""
            if fault:
                yield f"{word} {name} usage per {item.type} is {bound}{fault}"
    if limits is None:
        return
    for name, bound in sorted(item.max_limit_request_ratio.items()):
        request = requests.get(name)
        limit = limits.get(name)
        fault = ""
        if not request:
            fault = "no request is specified or request is 0"
        elif not limit:
            fault = "no limit is specified or limit is 0"
        elif limit.nanos / request.nanos * 10**9 > bound.nanos:
            fault = f"provided ratio is {limit.nanos / request.nanos:f}"
        if fault:
            yield f"{name} max limit to request ratio per {item.type} is {bound}, but {fault}"


def pod_level_amounts(pod: Pod, amounts_of: AmountsOf) -> dict[str, Quantity]:
    """The amounts of the pod as a whole that stand in for those of its containers."""
    amounts = amounts_of(Container(resources=pod.spec.resources))
    return {name: amounts[name] for name in amounts if name in POD_LEVEL or name.startswith(HUGE_PAGES)}
