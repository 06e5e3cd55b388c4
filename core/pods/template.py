"""Equivalence classes of pods: all pods that are equal for scheduling share one template.

A template goes with its last pod. Its users are not counted: when :class:`Templates` knows more than a few
beyond those that were in use when it looked last, the engine collects the templates of all pods that are
there (:meth:`~kubeclassic.core.engine.Engine.tidy`), and all that is kept by template goes with the others.
That costs a look at each pod for every :data:`SPARE` new templates. It is done between cycles, so a template
that a cycle holds is neither renewed nor made twice. The numbers of templates are never used again. Where a
template is asked for once more after it went, a new one does: that is slower, and decides the same.
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
# Copies and pickles are made from a few attributes, where the rest can be computed again.


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

# Notes: what rules and plugins have worked out for a template or a cycle, in typed slots.

_T = TypeVar("_T")


# Without ``unsafe_hash`` a type checker does not take a slot for Hashable: it checks the value's type. The
# hash is that of ``object``.
@attrs.frozen(eq=False, unsafe_hash=False, repr=False)
class StateKey(Generic[_T]):
    """A key of notes whose values are of type T. Two slots of one name are different keys; the name is only
    for ``repr``.

    A slot that is pickled together with its owner stays the same key. One of a module does not: what a plugin
    keeps for a waiting pod, which copies hold, needs a slot of the plugin's own or a plain key.
    """

    name: str


CycleState = dict[Any, Any]
"""What was worked out, by :class:`StateKey`; a user's own rule or plugin may take any other key."""


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
    """The error of a *claim* that was not made for the ephemeral volume of *pod*, as *text* words it; None
    where it was."""
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
    """An equivalence class of pods, with everything that rules read worked out once.

    Equal templates are the same object, so a template is its own key.
    """

    pod: Pod
    """One of its pods; read from it only what all pods of the class share."""
    number: int
    group: Group
    requests: Requests
    """What a pod of the class requests when it is scheduled."""
    footprint: Requests
    """What it counts when it is on a node."""
    nonzero: tuple[int, int]
    """cpu and memory when it is scheduled, with defaults for absent requests."""
    nonzero_footprint: tuple[int, int]
    scored: Requests
    """What it counts of other resources in scores when it is scheduled."""
    balanced: Requests
    """What it counts of all resources in scores that know no defaults."""
    ports: tuple[Port, ...]
    """Its host ports, in order, defaults filled in."""
    volumes: tuple[Volume, ...]
    """The volumes that rules read; every pod of a real cluster has others, which differ by name."""
    claims: tuple[str, ...]
    """The claims that its volumes name, in order, as ``namespace/name``."""
    size: Hashable
    """What it adds to the sums of its node: templates of one size add the same."""
    selects_namespaces: bool = False
    """Namespace selectors of its pod affinity terms are read."""
    is_huge: bool = False
    """It asks for :data:`HUGE` or more of something, or for less than nothing."""
    adds_namespaces: bool = True
    """Those that are read add namespaces; else they only take the place of the pod's own."""
    device_resources: frozenset[str] = frozenset()
    """The extended resources that it requests, and that classes of devices give."""
    selector_text: Callable[[SelectorError], str] = str
    """The error for a bad value in a selector of its."""
    notes: CycleState = attrs.Factory(CycleState)
    """What rules have worked out for the class."""

    spec: PodSpec = attrs.field(init=False)
    """The spec that all pods of the class share."""
    namespace: str = attrs.field(init=False)
    labels: Map[str] = attrs.field(init=False)
    affinity: Affinity = attrs.field(init=False)
    node_selector: Map[str] = attrs.field(init=False)
    has_pod_affinity: bool = attrs.field(init=False)
    """Whether a podAffinity or podAntiAffinity object is there, even an empty one: "pods with affinity"."""
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
    """One pod on a row (or nominated to one): the object, its class, and what changes from pod to pod."""

    _pod: Pod
    template: Template
    nominated: bool = False
    """It is there only as a nominated pod; its ``spec.node_name`` is empty as a rule."""
    _host: str = ""
    """The node of a pod that does not say so itself yet; "" where it does."""

    def __repr__(self) -> str:
        return f"<Entry: {self.pod.key} on {self.pod.spec.node_name or 'no node'}>"

    @property
    def pod(self) -> Pod:
        """The pod on its node. It is copied when it is first asked for: most pods that are placed never
        are."""
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
    """The host ports that the containers ask for, with *sidecars* these too; other init containers have
    none."""
    before = [container for container in pod.spec.init_containers if container.is_sidecar] if sidecars else ()
    for container in (*before, *pod.spec.containers):
        for port in container.ports:
            if port.host_port > 0:
                yield (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)


HUGE = 1 << 46
"""Below it, a hundred times the sum over a thousand pods fits into 64 bits."""


SPARE = 128
"""Templates without pods that are kept: of pods that wait, or that went lately."""


@attrs.define(eq=False, repr=False)
class Templates:
    """Interns pods: pods that are equal in all that scheduling reads get one template. Each scheduler has its
    own, as releases differ."""

    release: Release
    gates: Any
    device_classes: Mapping[str, Any] = attrs.Factory(dict)
    """Extended resource -> the class of the devices that give it, as it is now."""
    has_huge: bool = False
    """A pod that was asked about is :attr:`Template.is_huge`. Who takes such a pod back may set it back as
    well."""
    _known: dict[Hashable, Template] = attrs.Factory(dict)
    _sizes: dict[Hashable, Hashable] = attrs.Factory(dict)
    _made: int = 0
    _most: int = SPARE
    """How many there may be until it looks again which are in use."""

    @property
    def are_many(self) -> bool:
        """Whether it is time to :meth:`forget` those without pods."""
        return len(self._known) > self._most

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep those *in_use* alone."""
        self._known = {key: template for key, template in self._known.items() if template in in_use}
        self._sizes = {template.size: template.size for template in self._known.values()}
        self._most = len(self._known) + max(SPARE, len(self._known) // 8)

    def begin_anew(self) -> None:
        """Other rules take over: forget what those before have noted."""
        for template in self._known.values():
            template.notes.clear()

    def of(self, pod: Pod, node_name: str | None = None) -> Template:
        """The template of *pod* as one that is to be scheduled, with *node_name* (None: its own) as the node
        that it asks for."""
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
        """*pod* as it is on a row, that of *host* where the pod itself does not say so; the row is no part of
        its class."""
        return Entry(pod, self.of(pod, ""), nominated, host)

    def _of_devices(self, spec: PodSpec) -> frozenset[str]:
        """The extended resources of a pod that classes of devices give, where the release reads them."""
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
        """The template of *pod*, which is *counted* with other requests while it is resized."""
        if not self.gates.get("TaintTolerationComparisonOperators", False):
            # Where tolerations that compare numbers are off they tolerate nothing.
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
