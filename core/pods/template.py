"""Equivalence classes of pods: all pods that are equal for scheduling share one template.

A template goes with its last pod, but its users are not counted. When :class:`Templates` has a few more than
were in use at its last look, the engine collects the templates of all existing pods
(:meth:`~kubeclassic.core.engine.Engine.tidy`), and all that is kept by other templates goes. That costs a
look at each pod for every :data:`SPARE` new templates. It is done between cycles, so that a template is never
dropped or made twice while a cycle uses it. The numbers of templates are never used again. A template that is
asked for after it went is made anew, with a new number: that is slower, and decides the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import attrs
import msgspec
from msgspec.structs import replace

from ...api.meaning import COMPARISONS, SelectorError
from ...api.objects import (
    NO_STRINGS,
    Affinity,
    Map,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    PodSpec,
    Volume,
    WeightedPodAffinityTerm,
)
from ..release import Gates, Release, Requests, VolumeCells, with_gates

# --- copies -------------------------------------------------------------------------------------------------
# Copies and pickles are made from a few attributes if the rest can be computed again.


_K = TypeVar("_K", bound=type)


def rebuilt_from(*names: str) -> Callable[[_K], _K]:
    """Decorator for a class whose copies are made from these attributes alone, by its constructor; the rest
    begins empty.

    Its subclasses are copied as usual.

    >>> from copy import copy
    >>> @rebuilt_from("wanted")
    ... class Kept:
    ...     def __init__(self, wanted):
    ...         self.wanted, self.found = wanted, {}
    >>> kept = Kept(3)
    >>> kept.found["a"] = 1
    >>> copy(kept).wanted, copy(kept).found
    (3, {})
    """

    def decorated(kind: _K) -> _K:
        def reduced(self: Any, protocol: int) -> Any:
            if type(self) is not kind:
                return object.__reduce_ex__(self, protocol)
            return _rebuilt, (kind, {name.lstrip("_"): getattr(self, name) for name in names})

        setattr(kind, "__reduce_ex__", reduced)  # noqa: B010  # a type checker knows no assignment to a method
        return kind

    return decorated


def _rebuilt(kind: Callable[..., Any], values: dict[str, Any]) -> Any:
    return kind(**values)


# --- notes --------------------------------------------------------------------------------------------------

# Notes: values that rules and plugins keep for a template or a cycle, in typed slots.

_T = TypeVar("_T")


# Without ``unsafe_hash`` a type checker does not take a slot for Hashable: it checks the value's type. The
# hash is that of ``object``.
@attrs.frozen(eq=False, unsafe_hash=False, repr=False)
class StateKey(Generic[_T]):
    """A key of notes whose values are of type T. Two slots of one name are different keys; the name is only
    for ``repr``.

    A slot that is pickled together with its owner stays the same key; a slot of a module does not. So for a
    waiting pod, which copies contain, a plugin needs a slot of its own or a plain key.
    """

    name: str


CycleState = dict[Any, Any]
"""Values that rules and plugins keep, by :class:`StateKey`; a user's own rule or plugin may use any other
key."""


def claim_name(pod: Pod, volume: Volume, ephemeral: bool) -> str | None:
    """The name of the claim of one of *pod*'s volumes, None where there is none; *ephemeral*: generic
    ephemeral volumes have claims."""
    if volume.claim is not None:
        return volume.claim.claim_name
    return f"{pod.name}-{volume.name}" if ephemeral and volume.ephemeral_source is not None else None


def has_ephemeral_claims(cells: VolumeCells, gates: Gates) -> bool:
    """Whether generic ephemeral volumes have claims."""
    return cells.ephemeral_claims and (not cells.ephemeral_gate or bool(gates.get(cells.ephemeral_gate)))


def claim_keys(pod: Pod, ephemeral: bool = False) -> tuple[str, ...]:
    """The claims of *pod*'s volumes, in order, as ``namespace/name``."""
    if not pod.spec.volumes:
        return ()
    namespace = pod.namespace
    names = [claim_name(pod, volume, ephemeral) for volume in pod.spec.volumes]
    return tuple([f"{namespace}/{name}" for name in names if name is not None])


def is_made_for_pod(volume: Volume) -> bool:
    """Whether the claim of *volume* is made for this pod only."""
    return volume.ephemeral_source is not None and volume.claim is None


NOT_OWNED = "PVC {namespace}/{name} was not created for pod {namespace}/{pod} (pod is not owner)"


def not_owned(pod: Pod, claim: PersistentVolumeClaim, text: str = NOT_OWNED) -> str | None:
    """The error, worded by *text*, of a *claim* made for something other than the ephemeral volume of *pod*;
    None for its own claim."""
    owner = claim.controller
    if claim.namespace == pod.namespace and owner is not None and owner.uid == pod.uid:
        return None
    return text.format(namespace=claim.namespace, name=claim.name, pod=pod.name)


Port = tuple[str, str, int]
"""Host IP, protocol, port."""


@attrs.frozen
class Group:
    """The parts of an existing pod that a selector can see: namespace, labels, and whether it is being
    deleted."""

    namespace: str
    labels: Map[str]
    terminating: bool = False


NO_AFFINITY = Affinity()
NO_RESOURCES = frozenset[str]()


@rebuilt_from(
    "pod",
    "number",
    "group",
    "requests",
    "footprint",
    "nonzero",
    "nonzero_footprint",
    "scored",
    "balanced",
    "ports",
    "volumes",
    "claims",
    "size",
    "selects_namespaces",
    "is_huge",
    "adds_namespaces",
    "device_resources",
    "selector_text",
)
@attrs.frozen(eq=False, repr=False)
class Template:
    """An equivalence class of pods, with everything that rules read computed once.

    Equal templates are the same object, so a template is its own key.
    """

    pod: Pod
    """One of its pods, from which only what all pods of the class share may be read."""
    number: int
    group: Group
    requests: Requests
    """The requests of a pod of the class when it is scheduled."""
    footprint: Requests
    """The requests that it counts on a node."""
    nonzero: tuple[int, int]
    """cpu and memory when it is scheduled, with defaults for absent requests."""
    nonzero_footprint: tuple[int, int]
    scored: Requests
    """The requests of other resources that it counts in scores when it is scheduled."""
    balanced: Requests
    """The requests of all resources that it counts in scores without defaults."""
    ports: tuple[Port, ...]
    """Its host ports, in order, defaults filled in."""
    volumes: tuple[Volume, ...]
    """The volumes that rules read. In a real cluster nearly every pod has others, which differ only by
    name."""
    claims: tuple[str, ...]
    """The claims that its volumes name, in order, as ``namespace/name``."""
    size: Hashable
    """A key of the pod's amounts: templates of one size add the same to the sums of a node."""
    selects_namespaces: bool = False
    """Whether namespace selectors of its pod affinity terms are read."""
    is_huge: bool = False
    """Whether it requests :data:`HUGE` or more of some resource, or less than nothing."""
    adds_namespaces: bool = True
    """Whether namespace selectors add namespaces; else they only take the place of the pod's own."""
    device_resources: frozenset[str] = frozenset()
    """The extended resources that it requests and that device classes provide."""
    selector_text: Callable[[SelectorError], str] = str
    """The text of the error for a bad value in one of its selectors."""
    notes: CycleState = attrs.Factory(CycleState)
    """Values that rules keep for the class."""

    spec: PodSpec = attrs.field(init=False)
    """The spec that all pods of the class share."""
    namespace: str = attrs.field(init=False)
    labels: Map[str] = attrs.field(init=False)
    affinity: Affinity = attrs.field(init=False)
    node_selector: Map[str] = attrs.field(init=False)
    has_pod_affinity: bool = attrs.field(init=False)
    """Whether it has a podAffinity or podAntiAffinity object, even an empty one: "pods with affinity"."""
    required_affinity: tuple[PodAffinityTerm, ...] = attrs.field(init=False)
    required_anti_affinity: tuple[PodAffinityTerm, ...] = attrs.field(init=False)
    preferred_affinity: tuple[WeightedPodAffinityTerm, ...] = attrs.field(init=False)
    preferred_anti_affinity: tuple[WeightedPodAffinityTerm, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        spec = self.pod.spec
        group = self.group
        affinity = self.pod.spec.affinity or NO_AFFINITY
        near = affinity.pod_affinity
        away = affinity.pod_anti_affinity
        derived = {
            "spec": spec,
            "namespace": group.namespace,
            "labels": group.labels,
            "affinity": affinity,
            "node_selector": spec.node_selector or NO_STRINGS,
            "has_pod_affinity": near is not None or away is not None,
            "required_affinity": near.required if near is not None else (),
            "required_anti_affinity": away.required if away is not None else (),
            "preferred_affinity": near.preferred if near is not None else (),
            "preferred_anti_affinity": away.preferred if away is not None else (),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<Template {self.number} of pods such as {self.pod.key}>"


class Entry(msgspec.Struct, eq=False):
    """One pod on a row (or nominated to one): the object, its class, and the parts that differ from pod to
    pod."""

    _pod: Pod
    template: Template
    nominated: bool = False
    """Whether the pod is there only by nomination; its ``spec.node_name`` is empty as a rule."""
    _host: str = ""
    """The node of a pod whose object does not name it yet; else ""."""

    def __repr__(self) -> str:
        return f"<Entry: {self.pod.key} on {self.pod.spec.node_name or 'no node'}>"

    @property
    def pod(self) -> Pod:
        """The pod with its node. The object is copied when first asked for: for most placed pods it never
        is."""
        if self._host:
            self._pod = self._pod.bound_to(self._host)
            self._host = ""
        return self._pod

    @property
    def priority(self) -> int:
        """The pod's priority; 0 if none is given."""
        return self._pod.spec.priority or 0


def take_out(entries: list[Entry], entry: Entry) -> bool:
    """Take *entry* out of a list, if it is there; the last one moves into its place."""
    for index, other in enumerate(entries):
        if other is entry:
            entries[index] = entries[-1]
            entries.pop()
            return True
    return False


def host_ports(pod: Pod, *, sidecars: bool = False) -> Iterator[Port]:
    """The host ports of the containers, with *sidecars* also theirs; other init containers have none."""
    before = [container for container in pod.spec.init_containers if container.is_sidecar] if sidecars else ()
    for container in (*before, *pod.spec.containers):
        for port in container.ports:
            if port.host_port > 0:
                yield (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)


HUGE = 1 << 46
"""Below this, a hundred times the sum over a thousand pods fits into 64 bits."""


SPARE = 128
"""The number of templates without pods that are kept: of pods that wait, or went lately."""


@attrs.define(eq=False, repr=False)
class Templates:
    """An intern table of pods: pods that are equal in all that scheduling reads get one template. Each
    scheduler has its own, as releases differ."""

    release: Release
    gates: Any
    device_classes: Mapping[str, Any] = attrs.Factory(dict)
    """Extended resource -> the class of the devices that give it, as it is now."""
    has_huge: bool = False
    """Whether any pod asked about was :attr:`Template.is_huge`. A caller that takes such a pod back may reset
    it."""
    _known: dict[Hashable, Template] = attrs.Factory(dict)
    _sizes: dict[Hashable, Hashable] = attrs.Factory(dict)
    _made: int = 0
    _most: int = SPARE
    """The number of templates at which to look again which are in use."""

    @property
    def are_many(self) -> bool:
        """Whether it is time to :meth:`forget` the templates without pods."""
        return len(self._known) > self._most

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep only the templates *in_use*."""
        self._known = {key: template for key, template in self._known.items() if template in in_use}
        self._sizes = {template.size: template.size for template in self._known.values()}
        self._most = len(self._known) + max(SPARE, len(self._known) // 8)

    def begin_anew(self) -> None:
        """Drop the notes of earlier rules, as other rules take over."""
        for template in self._known.values():
            template.notes.clear()

    def of(self, pod: Pod, node_name: str | None = None) -> Template:
        """The template of *pod* for scheduling, with *node_name* (None: its own) as the node that it
        requires."""
        spec = pod.spec
        meta = pod.metadata
        status = pod.status
        node_name = spec.node_name if node_name is None else node_name
        volumes = spec.rule_volumes if spec.volumes else ()
        has_statuses = (
            status.container_statuses or status.init_container_statuses or status.resources is not None
        )
        counted = self.release.resized(pod, self.gates) if has_statuses else pod
        of_devices = self._of_devices(spec) if self.device_classes else NO_RESOURCES
        key = (
            node_name,
            meta.namespace or "default",
            meta.labels,
            meta.deletion_timestamp is not None,
            meta.owner_references,
            spec.containers,
            spec.init_containers,
            spec.overhead or None,
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            volumes,
            bool(spec.volumes),
            spec.topology_spread_constraints,
            spec.scheduling_gates,
            spec.resources.requests or None,
            spec.resource_claims,
            spec.host_network and spec.host_users is False,
            None
            if counted is pod
            else (counted.spec.containers, counted.spec.init_containers, counted.spec.requests),
            # The claims of generic ephemeral volumes have names with the pod's own name in them.
            (pod.name, pod.uid)
            if volumes and any(volume.ephemeral_source is not None for volume in volumes)
            else None,
            of_devices,
        )
        template = self._known.get(key)
        if template is None:
            self._made += 1
            template = self._known[key] = self._make(
                pod if spec.node_name == node_name else pod.bound_to(node_name), counted, volumes, of_devices
            )
        if template.is_huge:
            self.has_huge = True
        return template

    def entry(self, pod: Pod, *, nominated: bool = False, host: str = "") -> Entry:
        """The entry of *pod* on a row: that of *host* where the pod does not name its node. The row is no
        part of its class."""
        return Entry(pod, self.of(pod, ""), nominated, host)

    def _of_devices(self, spec: PodSpec) -> frozenset[str]:
        """The extended resources of a pod that device classes provide, where the release reads them."""
        device_classes = self.device_classes
        named = (
            name
            for container in (*spec.containers, *spec.init_containers)
            for name, amount in container.requests.items()
            if name in device_classes and amount
        )
        of_devices = frozenset([*named, *(name for name in spec.overhead or () if name in device_classes)])
        cells = with_gates(self.release.devices, self.gates) if of_devices else None
        return of_devices if cells is not None and cells.extended_resources else NO_RESOURCES

    def _make(
        self, pod: Pod, counted: Pod, volumes: tuple[Volume, ...], of_devices: frozenset[str]
    ) -> Template:
        """The template of *pod*; *counted* is the pod with the requests that count while it is resized."""
        if not self.gates.get("TaintTolerationComparisonOperators", False):
            # Tolerations that compare numbers tolerate nothing where they are off.
            kept = tuple([one for one in pod.spec.tolerations if one.operator not in COMPARISONS])
            if len(kept) != len(pod.spec.tolerations):
                pod = replace(pod, spec=replace(pod.spec, tolerations=kept))
        meta = pod.metadata
        release = self.release
        gates = self.gates
        by_containers = self.release.framework.fit_scores_containers
        nonzero = release.incoming_nonzero(pod if by_containers else counted, gates)
        footprint = release.footprint_nonzero(counted, gates)
        requests = release.footprint(counted, gates)
        scored = requests if release.incoming_scored is None else release.incoming_scored(pod, gates)
        size = tuple(sorted(requests.items())), footprint["cpu"], footprint["memory"]
        return Template(
            pod=pod,
            number=self._made,
            group=Group(meta.namespace or "default", meta.labels, meta.deletion_timestamp is not None),
            requests=requests
            if release.incoming is release.footprint and counted is pod
            else release.incoming(pod, gates),
            footprint=requests,
            nonzero=(nonzero["cpu"], nonzero["memory"]),
            nonzero_footprint=(footprint["cpu"], footprint["memory"]),
            scored=nonzero if by_containers else scored,
            balanced=scored,
            size=self._sizes.setdefault(size, size),
            ports=tuple(host_ports(pod, sidecars=release.framework.sidecars_have_ports)),
            volumes=volumes,
            claims=claim_keys(pod, has_ephemeral_claims(release.volumes, gates)),
            is_huge=any(
                not 0 <= amount < HUGE
                for amount in (*requests.values(), *footprint.values(), *nonzero.values())
            ),
            selects_namespaces=release.selects_namespaces,
            adds_namespaces=gates.get("PodAffinityNamespaceSelector", True),
            device_resources=of_devices,
            selector_text=release.selector_text,
        )
