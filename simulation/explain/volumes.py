"""What of the pod's volumes is behind a reason: claim, size, class and what is published; the volume, and the nodes that it needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import attrs

from ...api.meaning.labels import SelectorError, compile_node_term, compile_selector
from ...api.objects import CSIStorageCapacity, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from ...core.cluster.listings import Listings
from ...core.engine import Engine
from ...core.volumes.binder import SOLE_USER
from ...predicates.disks import disks_conflict

VOLUMES = frozenset({"CheckVolumeBinding", "VolumeBinding", "NoVolumeZoneConflict", "VolumeZone"})
DISKS = frozenset({"NoDiskConflict", "VolumeRestrictions"})
_DOMAINS = ("topology.kubernetes.io", "failure-domain.beta.kubernetes.io")
ZONES = tuple(f"{domain}/{word}" for domain in _DOMAINS for word in ("zone", "region"))
STATIC = "kubernetes.io/no-provisioner"


@attrs.frozen
class VolumeDemands:
    """The claims of *pod*, asked about one node after another: pairs of ``volume`` or ``claim``, and what of it the node does not serve."""

    engine: Engine
    pod: Pod

    @property
    def listings(self) -> Listings:
        """What the scheduler knows beside nodes and pods."""
        return self.engine.listings

    @property
    def claims(self) -> list[PersistentVolumeClaim]:
        """Those that there are."""
        return [claim for key in self.engine.claims_of(self.pod) if (claim := self.listings.claims.get(key)) is not None]

    def unreached(self, node: Node) -> Iterator[tuple[str, str]]:
        """The bound volumes that the node cannot reach, and where they can be reached."""
        for claim in self.claims:
            volume = self.listings.volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
            where = "" if volume is None else _needs(volume, node)
            if volume is not None and where:
                yield "volume", f"{volume.name} of claim {claim.name} needs {where}"

    def refused(self, reasons: Collection[str]) -> Iterator[tuple[str, str]]:
        """The claims for which *reasons* leave no node to the pod: those without a volume yet, and those that another pod has."""
        texts = " ".join(reasons)
        for claim in self.claims:
            if "unbound immediate" in texts and not claim.spec.volume_name:
                yield "claim", f"{claim.name} of class {claim.storage_class} has no volume yet, and the class binds at once"
            if SOLE_USER in texts and SOLE_USER in claim.spec.access_modes:
                users = [pod.key for pod in self.engine.pods() if claim.key in self.engine.claims_of(pod)]
                yield from (("claim", f"{claim.name} is for one pod alone, and {user} has it") for user in users[:1])

    def in_use(self, node: Node) -> Iterator[tuple[str, str]]:
        """The disks of the pod that pods on the node have."""
        pairs = ((one, other, pod) for pod in self.engine.pods_on(node.name) for one in self.pod.spec.volumes for other in pod.spec.volumes)
        yield from (("volume", f"{one.name} is a disk that {pod.key} has") for one, other, pod in pairs if disks_conflict(one, other))

    def unbound(self, node: Node) -> Iterator[tuple[str, str]]:
        """The claims for which the node has no volume, and none can be made."""
        for claim in self.claims:
            kind = self.listings.classes.get(claim.storage_class)
            if not claim.spec.volume_name and kind is not None:
                note = self._free(claim, kind, node) if kind.provisioner == STATIC else self._published(claim, kind, node)
                if note:
                    yield "claim", f"{claim.name}: {_size(claim)} of class {kind.name}, {note}"

    def _free(self, claim: PersistentVolumeClaim, kind: StorageClass, node: Node) -> str:
        """The free volumes of a class without a provisioner, if none suits."""
        there = [one for one in self.listings.volumes if one.spec.storage_class_name == kind.name and one.spec.claim_ref is None]
        here = [one for one in there if not _needs(one, node)]
        sizes = sorted((size for one in here if (size := one.spec.capacity.get("storage")) is not None), key=lambda size: size.nanos)
        wanted = claim.spec.requests.get("storage")
        if not here:
            return f"no free volume of the class here, {len(there):,} elsewhere" if there else "no free volume of the class"
        return f"the largest free volume here has {sizes[-1]}" if sizes and wanted is not None and sizes[-1].nanos < wanted.nanos else ""

    def _published(self, claim: PersistentVolumeClaim, kind: StorageClass, node: Node) -> str:
        """What the driver publishes for the node, or where the class makes volumes, if that is not enough."""
        terms = kind.allowed_topologies
        if terms and not any(all(node.labels.get(one.key) in one.values for one in term.match_label_expressions) for term in terms):
            told = (_text(one.key, "In", one.values) for term in terms for one in term.match_label_expressions)
            return f"its class makes volumes at {' or '.join(told)} only"
        driver = self.listings.csi_drivers.get(kind.provisioner)
        if driver is None or not driver.storage_capacity:
            return ""
        found = [one for one in self.listings.csi_capacities if one.storage_class_name == kind.name and _covers(one, node)]
        sizes = sorted((size for one in found if (size := one.maximum_volume_size or one.capacity) is not None), key=lambda one: one.nanos)
        wanted = claim.spec.requests.get("storage")
        if sizes and (wanted is None or sizes[-1].nanos >= wanted.nanos):
            return ""
        return f"{sizes[-1]} published here" if sizes else "nothing published here"


def _needs(volume: PersistentVolume, node: Node) -> str:
    """Where *volume* can be reached, if not from *node*."""
    affinity = volume.spec.node_affinity
    terms = () if affinity is None else affinity.node_selector_terms
    if terms and not any(compile_node_term(term)(node.labels, node.name) for term in terms):
        expressions = ((*term.match_expressions, *term.match_fields) for term in terms)
        return " or ".join(", ".join(_text(one.key, one.operator, one.values) for one in each) for each in expressions)
    zones = ((key, volume.labels[key].split("__")) for key in ZONES if key in volume.labels)
    return next((_text(key, "In", values) for key, values in zones if node.labels.get(key) not in values), "")


def _covers(capacity: CSIStorageCapacity, node: Node) -> bool:
    try:
        return capacity.node_topology is not None and compile_selector(capacity.node_topology)(node.labels)
    except SelectorError:
        return False


def _size(claim: PersistentVolumeClaim) -> str:
    found = claim.spec.requests.get("storage")
    return "no size" if found is None else str(found)


def _text(key: str, operator: str, values: Sequence[str]) -> str:
    """``key value`` for one value, else the whole."""
    return f"{key} {values[0]}" if operator == "In" and len(values) == 1 else f"{key} {operator} [{', '.join(values)}]"
