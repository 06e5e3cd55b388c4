"""The objects of a cluster as its API server and controllers would make them from manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import IO, Any

import attrs

from ..exceptions import UnknownNameError, did_you_mean
from .controlplane.admission import admit
from .controlplane.workloads import expand
from .load import Loaded, load
from .objects import KubeObject, Node, PersistentVolumeClaim, Pod
from .reading.documents import PathLike
from .reading.notices import Notice

DEFAULT_SCHEDULER = "default-scheduler"
ON_A_NODE = "on a node"


@attrs.frozen
class Inventory:
    """The objects of a cluster in the given order, and what happened to the rest."""

    objects: tuple[KubeObject, ...] = ()
    passed_over: Mapping[str, int] = attrs.field(factory=dict)
    """What is not used -> how many times."""
    warnings: tuple[Notice, ...] = ()
    refused: tuple[str, ...] = ()
    """What the API server would not admit, with the reasons; the warnings have them too."""
    config_maps: Mapping[tuple[str, str], Mapping[str, Any]] = attrs.field(factory=dict)
    """Manifests of ConfigMaps, by namespace and name."""


def read_inventory(
    paths: PathLike | Iterable[PathLike],
    pods: Iterable[PathLike] = (),
    *,
    defaults: bool = True,
    strict_fields: bool = False,
    stdin: IO[Any] | None = None,
) -> Inventory:
    """Read *paths*, then *pods*. Raises :class:`~kubeclassic.exceptions.ManifestError`; *strict_fields* as for :func:`~.load.load`."""
    parts = [load(paths, stdin=stdin, defaults=defaults, strict_fields=strict_fields)]
    if pods := tuple(pods):
        parts.append(load(pods, stdin=stdin, defaults=defaults, strict_fields=strict_fields))
    return take_in(parts, defaults=defaults)


def take_in(parts: Sequence[Loaded], known: Sequence[KubeObject] = (), *, defaults: bool = True) -> Inventory:
    """The objects of *parts*, and those that the controllers of their workloads would still make.

    *known* is what the cluster has already. Of two objects with one name the last counts, at the place of the first. With *defaults*
    new objects are admitted as the API server would do it; what it would refuse is skipped.
    """
    made = made_by_workloads(parts, known, defaults=defaults)
    given = tuple({(item.kind, item.key): item for item in (*(item for part in parts for item in part.objects), *made)}.values())
    admitted = admit(given, known) if defaults else None
    refused = tuple(Notice(f"{item.kind} {item.key}", f"not admitted: {reason}") for item, reason in admitted.refused) if admitted else ()
    passed_over = Counter({"not admitted": len(refused)}) if refused else Counter()
    for part in parts:
        passed_over.update({f"of kind {kind}": count for kind, count in part.passed_over.items()})
    return Inventory(
        objects=admitted.objects if admitted else given,
        passed_over=passed_over,
        warnings=(*(warning for part in parts for warning in part.warnings), *refused),
        refused=tuple(map(str, refused)),
        config_maps=config_maps(parts),
    )


def made_by_workloads(parts: Sequence[Loaded], known: Sequence[KubeObject] = (), *, defaults: bool = True) -> list[KubeObject]:
    """What the controllers of the workloads of *parts* would make, given the objects of *parts* and *known*."""
    documents = [document for part in parts for found in part.raw.values() for document in found]
    if not documents:
        return []
    there = Loaded((*known, *(item for part in parts for item in part.objects)))
    return expand(documents, there.of(Node), there.of(Pod), there.of(PersistentVolumeClaim), strict=defaults)


def config_maps(parts: Iterable[Loaded]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """The manifests of the ConfigMaps of *parts*, by namespace and name."""
    return {_identity(found): found for part in parts for found in part.raw.get("ConfigMap", ())}


def _identity(manifest: Mapping[str, Any]) -> tuple[str, str]:
    metadata = manifest.get("metadata") or {}
    return metadata.get("namespace") or "default", metadata.get("name") or ""


# --- pods that wait -------------------------------------------------------------------------------------------------


def why_not_waiting(pod: Pod, scheduler_names: Collection[str] | None = None) -> str | None:
    """Why *pod* does not wait for a node; None if it does. With *scheduler_names* it must ask for one of these."""
    if pod.is_terminal:
        return "finished"
    if pod.spec.node_name:
        return ON_A_NODE
    if pod.is_terminating:
        return "being deleted"
    is_other = scheduler_names is not None and (pod.spec.scheduler_name or DEFAULT_SCHEDULER) not in scheduler_names
    return "for another scheduler" if is_other else None


def find_waiting(name: str, pods: Iterable[Pod]) -> Pod:
    """The pod without a node by ``namespace/name``; ``name`` is enough if only one namespace has it.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` if *pods* have none of that name, or several.
    """
    everyone = tuple(pods)
    is_key = "/" in name
    named = [pod for pod in everyone if (pod.key if is_key else pod.metadata.name) == name]
    found = [pod for pod in named if not pod.spec.node_name]
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownNameError(f'pod: got "{name}", wanted one of {", ".join(pod.key for pod in found)}')
    if named:
        raise is_placed(name, named[0].spec.node_name)
    near = did_you_mean(name, [key for pod in everyone if not pod.spec.node_name for key in (pod.key, pod.name)])
    raise UnknownNameError(f'pod: got "{name}", wanted a pod without a node{near}')


def is_placed(name: str, node_name: str) -> UnknownNameError:
    """The error that a pod has a node already."""
    return UnknownNameError(f'pod: got "{name}", which is on node {node_name}, wanted a pod without a node')
