"""The obstacles of claims between a pod and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...api.meaning import PLACES, SelectorError, compile_node_term, compile_selector
from ...api.objects import NO_PROVISIONER, LabelSelector, Node, PersistentVolume, PersistentVolumeClaim, Pod
from ...core.engine import Engine

VOLUMES = frozenset({"CheckVolumeBinding", "VolumeBinding", "NoVolumeZoneConflict", "VolumeZone"})
DISKS = frozenset({"NoDiskConflict", "VolumeRestrictions"})


def claims_known(engine: Engine, pod: Pod) -> list[PersistentVolumeClaim]:
    """The claims of *pod* that there are."""
    return [claim for key in engine.claims_of(pod) if (claim := engine.listings.claims.get(key)) is not None]


def unreached(engine: Engine, claims: Iterable[PersistentVolumeClaim], node: Node) -> Iterator[str]:
    """The volumes bound to *claims* that *node* cannot reach, and where they can be reached."""
    for claim in claims:
        volume = engine.listings.volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
        where = "" if volume is None else _needs(volume, node)
        if where:
            yield f"{claim.spec.volume_name} of claim {claim.name} needs {where}"


def unbound(engine: Engine, claims: Iterable[PersistentVolumeClaim], node: Node) -> Iterator[str]:
    """The *claims* for which *node* has no volume, and none can be made."""
    known = engine.listings
    for claim in claims:
        kind = known.classes.get(claim.storage_class)
        if claim.spec.volume_name or kind is None:
            continue
        wanted = claim.spec.requests.get("storage")
        terms = kind.allowed_topologies
        driver = known.csi_drivers.get(kind.provisioner)
        note = ""
        if kind.provisioner == NO_PROVISIONER:
            there = [
                one
                for one in known.volumes
                if one.spec.storage_class_name == kind.name and one.spec.claim_ref is None
            ]
            here = [one for one in there if not _needs(one, node)]
            sizes = sorted(
                (size for one in here if (size := one.spec.capacity.get("storage")) is not None),
                key=lambda size: size.nanos,
            )
            if not here:
                if there:
                    note = f"no free volume of the class here, {len(there):,} elsewhere"
                else:
                    note = "no free volume of the class"
            elif sizes and wanted is not None and sizes[-1].nanos < wanted.nanos:
                note = f"the largest free volume here has {sizes[-1]}"
        elif terms and not any(
            all(node.labels.get(one.key) in one.values for one in term.match_label_expressions)
            for term in terms
        ):
            told = (
                _text(one.key, "In", one.values) for term in terms for one in term.match_label_expressions
            )
            note = f"its class makes volumes at {' or '.join(told)} only"
        elif driver is not None and driver.spec.storage_capacity:
            found = [
                one
                for one in known.csi_capacities
                if one.storage_class_name == kind.name and one.node_topology is not None
            ]
            found = [one for one in found if selects(one.node_topology, node.labels)]
            published = (one.maximum_volume_size or one.capacity for one in found)
            sizes = sorted((size for size in published if size is not None), key=lambda size: size.nanos)
            if not sizes:
                note = "nothing published here"
            elif wanted is not None and sizes[-1].nanos < wanted.nanos:
                note = f"{sizes[-1]} published here"
        if note:
            yield f"{claim.name}: {'no size' if wanted is None else wanted} of class {kind.name}, {note}"


def _needs(volume: PersistentVolume, node: Node) -> str:
    """The place where *volume* can be reached, if not from *node*."""
    affinity = volume.spec.node_affinity
    terms = () if affinity is None else affinity.node_selector_terms
    if terms and not any(compile_node_term(term)(node.labels, node.name) for term in terms):
        expressions = ((*term.match_expressions, *term.match_fields) for term in terms)
        return " or ".join(
            ", ".join(_text(one.key, one.operator, one.values) for one in each) for each in expressions
        )
    zones = ((key, volume.labels[key].split("__")) for key in PLACES if key in volume.labels)
    return next((_text(key, "In", values) for key, values in zones if node.labels.get(key) not in values), "")


def _text(key: str, operator: str, values: Sequence[str]) -> str:
    """``key value`` for one value, else the whole."""
    if operator == "In" and len(values) == 1:
        return f"{key} {values[0]}"
    return f"{key} {operator} [{', '.join(values)}]"


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether *selector* chooses what has *labels*; an invalid one chooses nothing."""
    try:
        return compile_selector(selector)(labels)
    except SelectorError:
        return False
