"""Values that an API server of any release refuses in new objects: amounts, limits, selectors, names given
twice, and the forms of single fields.

Scheduling takes them as the original would, so they are a warning, or an error under ``--strict``. Upstream:
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Any, TypeAlias

import attrs

from ...exceptions import ManifestError
from ..objects import (
    MAX_INT64,
    Affinity,
    Container,
    ContainerPort,
    DeviceRequest,
    JsonObject,
    KubeObject,
    LabelSelector,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodAffinityTerm,
    PodSpec,
    Quantities,
    Quantity,
    Requirement,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceRequirements,
    RuntimeClass,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from .decode import decode_kind
from .formats.jsonvalues import Parts, whole_value
from .forms import KEY, SUBDOMAIN, VALUE, Faults, misformed
from .typed import shown

_PAGES = "hugepages-"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SUFFIX = "; an API server would refuse it"


class CountsAs(str):
    """A notice of an amount that does not fit into 64 bits. Upstream mostly counts it silently as something
    else; so do we."""


@attrs.define(repr=False)
class Validation:
    """The check for such values. Equal parts of objects are mostly one object, which is checked only once if
    it is fine."""

    of_files: bool = False
    """Objects of files: those that a server has stored are trusted."""
    checks_limits: bool = True
    """Requests are held against limits. An edit may change requests alone."""
    _passed: dict[tuple[int, ...], Any] = attrs.Factory(dict)
    _well_formed: set[tuple[Hashable, ...]] = attrs.Factory(set)
    """Metadata and specs of pods without faults, these as they are written."""

    def refused(
        self, kind: str, data: JsonObject, item: KubeObject | None, more: Iterable[str] = ()
    ) -> list[str]:
        """The faults of *item*, an object of *kind* with the JSON form *data*, or of the pods and claims of a
        workload; *more* faults count if it is new. What is only a warning is a :class:`CountsAs`."""
        faults = self.refused_values(item)
        metadata = data.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        if self.of_files and (metadata.get("creationTimestamp") or metadata.get("uid")):
            return faults
        faults += self._refused_in_templates(kind, data)
        name = metadata.get("name") if kind != "PodDisruptionBudget" else None
        texts = [*_object_name(name or None), *misformed(kind, data), *more]
        return faults + [f"{text}{_SUFFIX}" for text in texts]

    def is_fine(self, pod: Pod, parts: Parts) -> bool:
        """Whether there is nothing to say about *pod*, of which *parts* are the JSON form."""
        if self.refused_values(pod):
            return False
        if self.of_files and (pod.metadata.creation_timestamp or pod.metadata.uid):
            return True
        metadata = pod.metadata
        key = metadata.namespace, metadata.labels, metadata.annotations, bytes(parts.get("spec", b"{}"))
        if key not in self._well_formed:
            if any(misformed("Pod", {name: whole_value(part) for name, part in parts.items()})):
                return False
            self._well_formed.add(key)
        return SUBDOMAIN.fullmatch(pod.name) is not None

    def refused_values(self, item: KubeObject | None, path: str = "") -> list[str]:
        """The faults of the values that *item* was read into; each path begins with *path*."""
        if type(item) not in _LOOKED_AT:
            return []
        looked_at, parts = _LOOKED_AT[type(item)]
        values = looked_at(item)
        texts = list[str]()
        if (key := tuple(map(id, values))) not in self._passed:
            texts = [text for where, part, check in parts(item) if part for text in check(part, where)]
            if isinstance(item, Pod) and self.checks_limits:
                texts += limit_faults(item.spec)
            if not texts:
                self._passed[key] = values
        if self.of_files and item is not None and (item.metadata.creation_timestamp or item.metadata.uid):
            # A server has taken it; which rules it had is not known.
            texts = [text for text in texts if isinstance(text, CountsAs)]
        return [
            CountsAs(f"{path}{text}") if isinstance(text, CountsAs) else f"{path}{text}{_SUFFIX}"
            for text in texts
        ]

    def _refused_in_templates(self, kind: str, data: JsonObject) -> list[str]:
        """The faults of the values of the pods and claims of a workload; unreadable parts have none."""
        spec = "spec.jobTemplate.spec" if kind == "CronJob" else "spec"
        inner: Any = data
        for name in spec.split("."):
            inner = inner.get(name) if isinstance(inner, Mapping) else None
        if not isinstance(inner, Mapping):
            return []
        claims = inner.get("volumeClaimTemplates")
        templates = [(f"{spec}.template", "Pod", inner.get("template"))]
        templates += [
            (f"{spec}.volumeClaimTemplates[{i}]", "PersistentVolumeClaim", claim)
            for i, claim in enumerate(claims if isinstance(claims, list) else ())
        ]
        faults = []
        for path, part, template in templates:
            if isinstance(template, Mapping):
                with suppress(ManifestError):
                    faults += self.refused_values(decode_kind(part, template), f"{path}.")
        return faults


_Part: TypeAlias = "tuple[str, Any, Callable[[Any, str], Faults]]"


def _pod_parts(pod: Pod) -> Iterator[_Part]:
    spec = pod.spec
    yield "spec.affinity", spec.affinity, _affinity
    yield "spec.tolerations", spec.tolerations, _tolerations
    yield "spec.topologySpreadConstraints", spec.topology_spread_constraints, _constraints
    yield "spec.overhead", spec.overhead, _amounts
    if spec.resources.requests or spec.resources.limits:
        yield "spec.resources", spec, _whole_pod
    for name, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            yield f"spec.{name}[{index}]", container, _container
    yield "spec", spec, _host_ports
    if len(spec.containers) + len(spec.init_containers) > 1:
        yield "spec.containers", spec.all_containers, _names
    if len(spec.volumes) > 1:
        yield "spec.volumes", spec.volumes, _names
    for index, volume in enumerate(spec.volumes):
        if volume.ephemeral is not None:
            path = f"spec.volumes[{index}].ephemeral.volumeClaimTemplate.spec"
            yield path, volume.ephemeral.spec, _claim


def _node_parts(node: Node) -> Iterator[_Part]:
    yield "spec.taints", node.spec.taints, _taints
    yield "status.allocatable", node.status.allocatable, _node_amounts
    yield "status.capacity", node.status.capacity, _node_amounts


_OF_PODS = (
    "containers init_containers affinity tolerations topology_spread_constraints overhead"
    " resources volumes host_network"
)
_LOOKED_AT: Mapping[Any, tuple[Callable[[Any], tuple[Any, ...]], Callable[[Any], Iterable[_Part]]]] = {
    Pod: (attrgetter(*(f"spec.{name}" for name in _OF_PODS.split())), _pod_parts),
    Node: (attrgetter("spec.taints", "status.allocatable", "status.capacity"), _node_parts),
    PersistentVolume: (
        lambda item: (item.spec.capacity, item.spec.node_affinity),
        lambda item: [
            ("spec.capacity", item.spec.capacity, _huge),
            ("spec.nodeAffinity.required", item.spec.node_affinity, _node_selector),
        ],
    ),
    PersistentVolumeClaim: (lambda item: (item.spec,), lambda item: [("spec", item.spec, _claim)]),
    RuntimeClass: (
        lambda item: (item.scheduling.tolerations,),
        lambda item: [("scheduling.tolerations", item.scheduling.tolerations, _tolerations)],
    ),
    ResourceClaim: (
        lambda item: (item.spec.devices,),
        lambda item: [("spec.devices.requests", item.spec.devices.requests, _counts)],
    ),
    ResourceClaimTemplate: (
        lambda item: (item.spec.spec.devices,),
        lambda item: [("spec.spec.devices.requests", item.spec.spec.devices.requests, _counts)],
    ),
}
"""Class -> the parts of its objects that are checked, and for each of them its place and its check."""


# --- amounts and names --------------------------------------------------------------------------------------


RESOURCES = "cpu, memory, ephemeral-storage, hugepages-SIZE or a name with a domain"
"""The resources of a container."""
_RESOURCE = re.compile(r"(cpu|memory|ephemeral-storage|hugepages-.*)\Z")


def _object_name(name: Any, path: str = "metadata.name") -> Faults:
    if isinstance(name, str) and not SUBDOMAIN.fullmatch(name):
        yield f"{path}: expected lower case letters, digits, - and ., got {shown(name)}"


def _huge(amounts: Quantities, path: str) -> Faults:
    for name, given in amounts.items():
        amount = given.rounded_to_milli()
        if abs(amount.nanos) > (MAX_INT64 - 1) * (10**6 if name == "cpu" else 10**9):
            counted_as = f"{amount.milli_value():,} thousandths" if name == "cpu" else f"{amount.value():,}"
            yield CountsAs(
                f"{path}[{name}]: got {shown(given.written)}, which counts as {counted_as}: it does not fit into 64 bits"
            )


def _amounts(amounts: Quantities, path: str) -> Faults:
    yield from _huge(amounts, path)
    for name, amount in amounts.items():
        if amount.nanos < 0:
            yield f"{path}[{name}]: expected 0 or more, got {shown(str(amount))}"


def _node_amounts(amounts: Quantities, path: str) -> Faults:
    yield from _amounts(amounts, path)
    for name, amount in amounts.items():
        if amount.nanos % 10**9 and (name == "pods" or ("/" in name and "kubernetes.io/" not in name)):
            yield f"{path}[{name}]: expected a whole number, got {shown(str(amount))}"


def _counts(requests: tuple[DeviceRequest, ...], path: str) -> Faults:
    for i, request in enumerate(requests):
        for j, ask in enumerate(request.asks):
            if ask.allocation_mode == "ExactCount" and ask.count < 1:
                place = f"firstAvailable[{j}]" if request.exactly is None else "exactly"
                yield f"{path}[{i}].{place}.count: expected 1 or more, got {ask.count}"


def _container(container: Container, path: str) -> Faults:
    yield from _resources(container.resources, f"{path}.resources")
    yield from _names(container.ports, f"{path}.ports")


def _resources(resources: ResourceRequirements, path: str) -> Faults:
    for amounts, name in ((resources.requests, "requests"), (resources.limits, "limits")):
        yield from _amounts(amounts, f"{path}.{name}")
        for resource, amount in amounts.items():
            is_extended = "/" in resource and not resource.startswith("requests.")
            if not KEY.fullmatch(resource) or not (is_extended or _RESOURCE.match(resource)):
                yield f"{path}.{name}: expected {RESOURCES}, got {shown(resource)}"
            elif is_extended and "kubernetes.io/" not in resource and amount.nanos % 10**9:
                yield f"{path}.{name}[{resource}]: expected a whole number, got {shown(str(amount))}"


def _whole_pod(spec: PodSpec, path: str) -> Faults:
    """The faults of the resources of the pod as a whole."""
    resources = spec.resources
    yield from _resources(resources, path)
    for name in sorted({*resources.requests, *resources.limits}):
        if name not in ("cpu", "memory") and not name.startswith(_PAGES):
            yield f"{path}: expected cpu, memory or hugepages-SIZE, got {shown(name)}"


def limit_faults(spec: PodSpec, path: str = "spec") -> Faults:
    """The faults of requests beside limits, of containers beside the pod as a whole."""
    yield from _bounds(spec.resources, f"{path}.resources")
    for name, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            yield from _bounds(container.resources, f"{path}.{name}[{index}].resources")
    resources = spec.resources
    # What runs together: each init container after the sidecars before it, at the end all others; requests
    # are limits by default.
    running, needs = dict[str, Quantity](), dict[str, Quantity]()
    goes_on = [container.is_sidecar for container in spec.init_containers] + [True] * len(spec.containers)
    for container, is_kept in zip((*spec.init_containers, *spec.containers), goes_on, strict=True):
        own = {**container.limits, **container.requests}
        total = running | {name: running[name] + own[name] if name in running else own[name] for name in own}
        running = total if is_kept else running
        needs |= {name: max(total[name], needs.get(name, total[name])) for name in total}
    for name, amount in {**resources.limits, **resources.requests}.items():
        if name in needs and needs[name].rounded_to_milli() > amount.rounded_to_milli():
            place = f"resources.{'requests' if name in resources.requests else 'limits'}[{name}]"
            needed = f"{needs[name]} or more, as its containers request"
            yield f"{path}.{place}: expected {needed}, got {shown(str(amount))}"
    for index, container in enumerate(spec.containers):
        for name, limit in container.limits.items():
            bound = resources.limits.get(name, limit)
            if limit > bound:
                place = f"{path}.containers[{index}].resources.limits[{name}]"
                yield f"{place}: expected at most the limit of the pod, {bound}, got {shown(str(limit))}"


def _bounds(resources: ResourceRequirements, path: str) -> Faults:
    for resource, given in resources.requests.items():
        limit = resources.limits.get(resource)
        is_exact = resource.startswith(_PAGES) or ("/" in resource and "kubernetes.io/" not in resource)
        if limit is None:
            if is_exact:
                yield f"{path}.limits[{resource}]: expected {given}, as requested, got nothing"
            continue
        amount, bound = given.rounded_to_milli(), limit.rounded_to_milli()
        if amount > bound or (is_exact and amount != bound):
            words = "" if is_exact else "at most "
            yield f"{path}.requests[{resource}]: expected {words}the limit, {limit}, got {shown(str(given))}"


def _host_ports(spec: PodSpec, path: str) -> Faults:
    groups = [("containers", spec.containers)]
    groups += [
        (f"initContainers[{index}]", (container,)) for index, container in enumerate(spec.init_containers)
    ]
    for name, containers in groups:
        keys = []
        for port in (port for container in containers for port in container.ports):
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if number:
                keys.append((port.protocol or "TCP", port.host_ip, number))
            if spec.host_network and name == "containers" and number != port.container_port:
                yield f"{path}.{name}: expected a hostPort like the containerPort, {port.container_port}, got {number}"
        yield from _check_unique(keys, f"{path}.{name}", "protocol, hostIP and hostPort")


def _claim(spec: PersistentVolumeClaimSpec, path: str) -> Faults:
    modes = spec.access_modes
    if not modes:
        yield f"{path}.accessModes: expected one at least, got none"
    if "ReadWriteOncePod" in modes and set(modes) != {"ReadWriteOncePod"}:
        yield f"{path}.accessModes: expected no others beside ReadWriteOncePod, got {', '.join(modes)}"
    yield from _huge(spec.requests, f"{path}.resources.requests")
    storage = spec.requests.get("storage")
    if storage is None or storage.nanos <= 0:
        amount = "nothing" if storage is None else shown(str(storage))
        yield f"{path}.resources.requests[storage]: expected more than 0, got {amount}"
    yield from _selector(spec.selector, f"{path}.selector")


def _names(items: Iterable[Container | ContainerPort | Volume], path: str) -> Faults:
    return _check_unique((item.name for item in items if item.name), path, "name")


def _check_unique(keys: Iterable[Hashable], path: str, noun: str) -> Faults:
    earlier = set()
    for key in keys:
        if key in earlier:
            text = ", ".join(map(str, key)) if isinstance(key, tuple) else key
            yield f"{path}: expected each once, got {noun} {shown(text)} twice"
        earlier.add(key)


# --- taints and tolerations ---------------------------------------------------------------------------------


def _taints(taints: tuple[Taint, ...], path: str) -> Faults:
    yield from _check_unique(((taint.key, taint.effect) for taint in taints), path, "key and effect")


def _tolerations(tolerations: tuple[Toleration, ...], path: str) -> Faults:
    for index, toleration in enumerate(tolerations):
        if not toleration.key and toleration.operator != "Exists":
            yield f"{path}[{index}].operator: expected Exists, got {shown(toleration.operator)} without a key"
        if toleration.operator == "Exists" and toleration.value:
            yield f"{path}[{index}].value: expected none, got {shown(toleration.value)} beside Exists"
        elif not VALUE.fullmatch(toleration.value):
            yield f"{path}[{index}].value: expected a label's value, got {shown(toleration.value)}"
        if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
            yield f"{path}[{index}].effect: expected NoExecute, got {shown(toleration.effect)} beside tolerationSeconds"


# --- spreading and affinity ---------------------------------------------------------------------------------


def _constraints(constraints: tuple[TopologySpreadConstraint, ...], path: str) -> Faults:
    for index, constraint in enumerate(constraints):
        place = f"{path}[{index}]"
        if constraint.min_domains is not None and constraint.when_unsatisfiable == "ScheduleAnyway":
            yield f"{place}.minDomains: expected none beside ScheduleAnyway, got {constraint.min_domains}"
        yield from _label_keys(constraint, "match", constraint.match_label_keys, place)
        yield from _selector(constraint.label_selector, f"{place}.labelSelector")
    keys = ((constraint.topology_key, constraint.when_unsatisfiable) for constraint in constraints)
    yield from _check_unique(keys, path, "topologyKey and whenUnsatisfiable")


def _affinity(affinity: Affinity, path: str) -> Faults:
    if affinity.node_affinity is not None:
        where = f"{path}.nodeAffinity"
        if affinity.node_affinity.required is not None:
            yield from _node_selector(affinity.node_affinity.required, f"{where}.{_REQUIRED}")
        for index, preference in enumerate(affinity.node_affinity.preferred):
            yield from _node_term(preference.preference, f"{where}.{_PREFERRED}[{index}].preference")
    for name, pod_affinity in (
        ("podAffinity", affinity.pod_affinity),
        ("podAntiAffinity", affinity.pod_anti_affinity),
    ):
        for index, required_term in enumerate(() if pod_affinity is None else pod_affinity.required):
            yield from _pod_term(required_term, f"{path}.{name}.{_REQUIRED}[{index}]")
        for index, preferred in enumerate(() if pod_affinity is None else pod_affinity.preferred):
            place = f"{path}.{name}.{_PREFERRED}[{index}]"
            yield from _pod_term(preferred.pod_affinity_term, f"{place}.podAffinityTerm")


def _pod_term(term: PodAffinityTerm, path: str) -> Faults:
    yield from _label_keys(term, "match", term.match_label_keys, path)
    yield from _label_keys(term, "mismatch", term.mismatch_label_keys, path)
    both = {*term.match_label_keys}.intersection(term.mismatch_label_keys)
    for key in sorted(both):
        yield f"{path}.matchLabelKeys: expected none of mismatchLabelKeys, got {shown(key)}"
    yield from _selector(term.label_selector, f"{path}.labelSelector")
    yield from _selector(term.namespace_selector, f"{path}.namespaceSelector")


def _label_keys(
    given: PodAffinityTerm | TopologySpreadConstraint, word: str, keys: tuple[str, ...], path: str
) -> Faults:
    if keys and given.label_selector is None:
        yield f"{path}.{word}LabelKeys: expected none without a labelSelector, got {', '.join(keys)}"


# --- selectors ----------------------------------------------------------------------------------------------


def _selector(selector: LabelSelector | None, path: str) -> Faults:
    for index, requirement in enumerate(selector.match_expressions if selector else ()):
        yield from _requirement(requirement, f"{path}.matchExpressions[{index}]")


def _node_selector(selector: NodeSelector, path: str) -> Faults:
    if not selector.node_selector_terms:
        yield f"{path}.nodeSelectorTerms: expected one at least, got none"
    for index, term in enumerate(selector.node_selector_terms):
        yield from _node_term(term, f"{path}.nodeSelectorTerms[{index}]")


def _node_term(term: NodeSelectorTerm, path: str) -> Faults:
    for index, requirement in enumerate(term.match_expressions):
        yield from _requirement(requirement, f"{path}.matchExpressions[{index}]")
    for index, requirement in enumerate(term.match_fields):
        if requirement.key != "metadata.name":
            yield f"{path}.matchFields[{index}].key: expected metadata.name, got {shown(requirement.key)}"
        if requirement.operator not in ("In", "NotIn") or len(requirement.values) != 1:
            values_text = f"{requirement.operator} with {len(requirement.values)} values"
            yield f"{path}.matchFields[{index}]: expected In or NotIn with one, got {values_text}"
        for value in requirement.values:
            yield from _object_name(value, f"{path}.matchFields[{index}].values")


def _requirement(requirement: Requirement, path: str) -> Faults:
    if requirement.operator in ("In", "NotIn") and not requirement.values:
        yield f"{path}.values: expected one at least, got none beside {requirement.operator}"
    if requirement.operator in ("Exists", "DoesNotExist") and requirement.values:
        yield f"{path}.values: expected none, got {len(requirement.values)} beside {requirement.operator}"
    if requirement.operator in ("Gt", "Lt") and len(requirement.values) != 1:
        yield f"{path}.values: expected one, got {len(requirement.values)} beside {requirement.operator}"
