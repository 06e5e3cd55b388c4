"""Values that an API server of any release refuses in new pods, nodes and claims though their form is right:
weights, skews, amounts, selectors, names given twice.

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
    NO_STRINGS,
    Affinity,
    Container,
    DeviceRequest,
    JsonObject,
    KubeObject,
    LabelSelector,
    Map,
    Node,
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
    Taint,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from .decode import decode_kind
from .typed import shown

Faults = Iterator[str]
"""The paths of faults, with the value there and the expected one."""
WEIGHTS = range(1, 101)
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
    """Objects of files: those with a creationTimestamp are trusted, and requests of others are held against
    limits. An edit changes one of the two."""
    _passed: dict[tuple[int, ...], Any] = attrs.Factory(dict)

    def refused(self, item: KubeObject | None, path: str = "") -> list[str]:
        """The faults of *item*; each path begins with *path*. What is only a warning is a
        :class:`CountsAs`."""
        if type(item) not in _LOOKED_AT:
            return []
        looked_at, parts = _LOOKED_AT[type(item)]
        values = looked_at(item)
        texts = list(_object_name(item.name)) if item is not None and item.name else []
        if (key := tuple(map(id, values))) not in self._passed:
            more = [text for where, part, check in parts(item) if part for text in check(part, where)]
            if isinstance(item, Pod) and self.of_files:
                more += _limits(item.spec, "spec")
            if not more:
                self._passed[key] = values
            texts += more
        if self.of_files and item is not None and item.metadata.creation_timestamp is not None:
            # A server has taken it; which rules it had is not known.
            texts = [text for text in texts if isinstance(text, CountsAs)]
        return [
            CountsAs(f"{path}{text}") if isinstance(text, CountsAs) else f"{path}{text}{_SUFFIX}"
            for text in texts
        ]

    def refused_in_templates(self, kind: str, data: JsonObject) -> list[str]:
        """The faults of the pods and claims of a workload of *kind*, from its JSON form; unreadable parts
        have none."""
        spec = "spec.jobTemplate.spec" if kind == "CronJob" else "spec"
        inner: Any = data
        for name in spec.split("."):
            inner = inner.get(name) if isinstance(inner, Mapping) else None
        metadata = data.get("metadata")
        is_stored = isinstance(metadata, Mapping) and metadata.get("creationTimestamp")
        if not isinstance(inner, Mapping) or (self.of_files and is_stored):
            inner = {}
        claims = inner.get("volumeClaimTemplates")
        templates = [(f"{spec}.template", "Pod", inner.get("template"))]
        templates += [
            (f"{spec}.volumeClaimTemplates[{i}]", "PersistentVolumeClaim", claim)
            for i, claim in enumerate(claims if isinstance(claims, list) else ())
        ]
        faults = []
        for path, kind, template in templates:
            if isinstance(template, Mapping):
                with suppress(ManifestError):
                    faults += self.refused(decode_kind(kind, template), f"{path}.")
        return faults


_Part: TypeAlias = "tuple[str, Any, Callable[[Any, str], Faults]]"


def _pod_parts(pod: Pod) -> Iterator[_Part]:
    spec = pod.spec
    yield "spec.nodeSelector", spec.node_selector, _labels
    yield "spec.affinity", spec.affinity, _affinity
    yield "spec.tolerations", spec.tolerations, _tolerations
    yield "spec.topologySpreadConstraints", spec.topology_spread_constraints, _constraints
    yield "spec.overhead", spec.overhead, _amounts
    if spec.resources.requests or spec.resources.limits:
        yield "spec.resources", spec, _whole_pod
    for name, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            yield f"spec.{name}[{index}]", container, _container
    yield "spec.containers", spec, _host_ports
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
    yield "status.allocatable", node.status.allocatable, _amounts
    yield "status.capacity", node.status.capacity, _amounts


_OF_PODS = (
    "containers init_containers node_selector affinity tolerations topology_spread_constraints overhead"
    " resources volumes host_network"
)
_LOOKED_AT: Mapping[Any, tuple[Callable[[Any], tuple[Any, ...]], Callable[[Any], Iterable[_Part]]]] = {
    Pod: (attrgetter(*(f"spec.{name}" for name in _OF_PODS.split())), _pod_parts),
    Node: (attrgetter("spec.taints", "status.allocatable", "status.capacity"), _node_parts),
    PersistentVolume: (
        lambda item: (item.spec.capacity,),
        lambda item: [("spec.capacity", item.spec.capacity, _huge)],
    ),
    PersistentVolumeClaim: (lambda item: (item.spec,), lambda item: [("spec", item.spec, _claim)]),
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
_PORTS = range(1 << 16)
_NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_NAME}(\.{_NAME})*")
_LABEL_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_KEY = re.compile(rf"((?=[^/]{{1,253}}/){_NAME}(\.{_NAME})*/)?(?=.{{1,63}}\Z){_LABEL_NAME}")
_VALUE = re.compile(rf"(?=.{{0,63}}\Z)({_LABEL_NAME})?")
_RESOURCE = re.compile(r"(cpu|memory|ephemeral-storage|hugepages-.*)\Z")


def _object_name(name: str, path: str = "metadata.name") -> Faults:
    if not _SUBDOMAIN.fullmatch(name):
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


def _counts(requests: tuple[DeviceRequest, ...], path: str) -> Faults:
    for i, request in enumerate(requests):
        for j, ask in enumerate(request.asks):
            if ask.allocation_mode == "ExactCount" and ask.count < 1:
                place = f"firstAvailable[{j}]" if request.exactly is None else "exactly"
                yield f"{path}[{i}].{place}.count: expected 1 or more, got {ask.count}"


def _container(container: Container, path: str) -> Faults:
    yield from _resources(container.resources, f"{path}.resources")
    for index, port in enumerate(container.ports):
        if port.host_port not in _PORTS:
            yield f"{path}.ports[{index}].hostPort: expected 0 to {_PORTS[-1]}, got {port.host_port}"


def _resources(resources: ResourceRequirements, path: str) -> Faults:
    for amounts, name in ((resources.requests, "requests"), (resources.limits, "limits")):
        yield from _amounts(amounts, f"{path}.{name}")
        for resource, amount in amounts.items():
            if "/" not in resource and not _RESOURCE.match(resource):
                yield f"{path}.{name}: expected {RESOURCES}, got {shown(resource)}"
            elif "/" in resource and "kubernetes.io/" not in resource and amount.nanos % 10**9:
                yield f"{path}.{name}[{resource}]: expected a whole number, got {shown(str(amount))}"


def _whole_pod(spec: PodSpec, path: str) -> Faults:
    """The faults of the resources of the pod as a whole."""
    resources = spec.resources
    yield from _resources(resources, path)
    for name in sorted({*resources.requests, *resources.limits}):
        if name not in ("cpu", "memory") and not name.startswith(_PAGES):
            yield f"{path}: expected cpu, memory or hugepages-SIZE, got {shown(name)}"


def _limits(spec: PodSpec, path: str) -> Faults:
    """The faults of requests beside limits, of containers beside the pod as a whole."""
    yield from _bounds(spec.resources, f"{path}.resources")
    for name, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            yield from _bounds(container.resources, f"{path}.{name}[{index}].resources")
    resources = spec.resources
    # Of those that run together at the end; requests are limits by default.
    needs = dict[str, Quantity]()
    for container in (*spec.containers, *(init for init in spec.init_containers if init.is_sidecar)):
        for name, amount in {**container.limits, **container.requests}.items():
            needs[name] = needs[name] + amount if name in needs else amount
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
    ports = [port for container in spec.containers for port in container.ports]
    numbers = [port.host_port or (port.container_port if spec.host_network else 0) for port in ports]
    keys = (
        (port.protocol or "TCP", port.host_ip, number)
        for port, number in zip(ports, numbers, strict=True)
        if number
    )
    yield from _check_unique(keys, path, "protocol, hostIP and hostPort")


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
    if spec.storage_class_name:
        yield from _object_name(spec.storage_class_name, f"{path}.storageClassName")
    yield from _selector(spec.selector, f"{path}.selector")


def _names(items: Iterable[Container | Volume], path: str) -> Faults:
    return _check_unique((item.name for item in items if item.name), path, "name")


def _check_unique(keys: Iterable[Hashable], path: str, noun: str) -> Faults:
    earlier = set()
    for key in keys:
        if key in earlier:
            text = ", ".join(map(str, key)) if isinstance(key, tuple) else key
            yield f"{path}: expected each once, got {noun} {shown(text)} twice"
        earlier.add(key)


def _key(key: str, path: str, name: str = "key") -> Faults:
    if not _KEY.fullmatch(key):
        yield f"{path}.{name}: expected a label's key, got {shown(key) if key else 'nothing'}"


def _labels(labels: Map[str], path: str) -> Faults:
    for key, value in labels.items():
        if not _KEY.fullmatch(key):
            yield f"{path}: expected a label's key, got {shown(key)}"
        if not _VALUE.fullmatch(value):
            yield f"{path}[{key}]: expected a label's value, got {shown(value)}"


# --- taints and tolerations ---------------------------------------------------------------------------------


def _taints(taints: tuple[Taint, ...], path: str) -> Faults:
    for index, taint in enumerate(taints):
        yield from _key(taint.key, f"{path}[{index}]")
        if not taint.effect:
            yield f"{path}[{index}].effect: expected NoSchedule, PreferNoSchedule or NoExecute, got nothing"
    yield from _check_unique(((taint.key, taint.effect) for taint in taints), path, "key and effect")


def _tolerations(tolerations: tuple[Toleration, ...], path: str) -> Faults:
    for index, toleration in enumerate(tolerations):
        if toleration.key:
            yield from _key(toleration.key, f"{path}[{index}]")
        elif toleration.operator != "Exists":
            yield f"{path}[{index}].operator: expected Exists, got {shown(toleration.operator)} without a key"
        if toleration.operator == "Exists" and toleration.value:
            yield f"{path}[{index}].value: expected none, got {shown(toleration.value)} beside Exists"
        elif not _VALUE.fullmatch(toleration.value):
            yield f"{path}[{index}].value: expected a label's value, got {shown(toleration.value)}"
        if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
            yield f"{path}[{index}].effect: expected NoExecute, got {shown(toleration.effect)} beside tolerationSeconds"


# --- spreading and affinity ---------------------------------------------------------------------------------


def _constraints(constraints: tuple[TopologySpreadConstraint, ...], path: str) -> Faults:
    for index, constraint in enumerate(constraints):
        place = f"{path}[{index}]"
        if constraint.max_skew < 1:
            yield f"{place}.maxSkew: expected 1 or more, got {constraint.max_skew}"
        if constraint.min_domains is not None and constraint.min_domains < 1:
            yield f"{place}.minDomains: expected 1 or more, got {constraint.min_domains}"
        if constraint.min_domains is not None and constraint.when_unsatisfiable == "ScheduleAnyway":
            yield f"{place}.minDomains: expected none beside ScheduleAnyway, got {constraint.min_domains}"
        if not constraint.when_unsatisfiable:
            yield f"{place}.whenUnsatisfiable: expected DoNotSchedule or ScheduleAnyway, got nothing"
        if not constraint.topology_key:
            yield f"{place}.topologyKey: expected a label's key, got nothing"
        yield from _label_keys(constraint, "match", constraint.match_label_keys, place)
        yield from _selector(constraint.label_selector, f"{place}.labelSelector")
    keys = ((constraint.topology_key, constraint.when_unsatisfiable) for constraint in constraints)
    yield from _check_unique(keys, path, "topologyKey and whenUnsatisfiable")


def _affinity(affinity: Affinity, path: str) -> Faults:
    if affinity.node_affinity is not None:
        where = f"{path}.nodeAffinity"
        required = affinity.node_affinity.required
        if required is not None and not required.node_selector_terms:
            yield f"{where}.{_REQUIRED}.nodeSelectorTerms: expected one at least, got none"
        for index, term in enumerate(() if required is None else required.node_selector_terms):
            yield from _node_term(term, f"{where}.{_REQUIRED}.nodeSelectorTerms[{index}]")
        for index, preference in enumerate(affinity.node_affinity.preferred):
            yield from _weight(preference.weight, f"{where}.{_PREFERRED}[{index}]")
            yield from _node_term(preference.preference, f"{where}.{_PREFERRED}[{index}].preference")
    for name, pod_affinity in (
        ("podAffinity", affinity.pod_affinity),
        ("podAntiAffinity", affinity.pod_anti_affinity),
    ):
        for index, required_term in enumerate(() if pod_affinity is None else pod_affinity.required):
            yield from _pod_term(required_term, f"{path}.{name}.{_REQUIRED}[{index}]")
        for index, preferred in enumerate(() if pod_affinity is None else pod_affinity.preferred):
            place = f"{path}.{name}.{_PREFERRED}[{index}]"
            yield from _weight(preferred.weight, place)
            yield from _pod_term(preferred.pod_affinity_term, f"{place}.podAffinityTerm")


def _weight(weight: int, path: str) -> Faults:
    if weight not in WEIGHTS:
        yield f"{path}.weight: expected {WEIGHTS[0]} to {WEIGHTS[-1]}, got {weight}"


def _pod_term(term: PodAffinityTerm, path: str) -> Faults:
    yield from _key(term.topology_key, path, "topologyKey")
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
    for index, key in enumerate(keys):
        yield from _key(key, path, f"{word}LabelKeys[{index}]")


# --- selectors ----------------------------------------------------------------------------------------------


def _selector(selector: LabelSelector | None, path: str) -> Faults:
    yield from _labels(selector.match_labels if selector else NO_STRINGS, f"{path}.matchLabels")
    for index, requirement in enumerate(selector.match_expressions if selector else ()):
        yield from _requirement(requirement, f"{path}.matchExpressions[{index}]")


def _node_term(term: NodeSelectorTerm, path: str) -> Faults:
    for index, requirement in enumerate(term.match_expressions):
        yield from _requirement(requirement, f"{path}.matchExpressions[{index}]")
    for index, requirement in enumerate(term.match_fields):
        if requirement.key != "metadata.name":
            yield f"{path}.matchFields[{index}].key: expected metadata.name, got {shown(requirement.key)}"
        if requirement.operator not in ("In", "NotIn") or len(requirement.values) != 1:
            values_text = f"{requirement.operator} with {len(requirement.values)} values"
            yield f"{path}.matchFields[{index}]: expected In or NotIn with one, got {values_text}"


def _requirement(requirement: Requirement, path: str) -> Faults:
    yield from _key(requirement.key, path)
    if not requirement.operator:
        yield f"{path}.operator: expected In, NotIn, Exists or DoesNotExist, got nothing"
    if requirement.operator in ("In", "NotIn") and not requirement.values:
        yield f"{path}.values: expected one at least, got none beside {requirement.operator}"
    if requirement.operator in ("Exists", "DoesNotExist") and requirement.values:
        yield f"{path}.values: expected none, got {len(requirement.values)} beside {requirement.operator}"
    if requirement.operator in ("Gt", "Lt") and len(requirement.values) != 1:
        yield f"{path}.values: expected one, got {len(requirement.values)} beside {requirement.operator}"
