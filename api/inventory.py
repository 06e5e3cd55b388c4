"""The objects of a cluster as its API server and controllers would make them from manifests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import IO, Any

import attrs

from ..exceptions import ManifestError, UnknownNameError, did_you_mean
from .controlplane.admission import Admitted, admit
from .controlplane.deviceclaims import claims_of_volumes, with_device_claims
from .controlplane.manifests import each_once, identity_of
from .controlplane.missing import missing_kinds
from .controlplane.workloads import WORKLOADS, Made, expand
from .load import Loaded, load
from .objects import DEFAULT_SCHEDULER, JsonObject, KubeObject, Pod
from .reading.documents import PathLike
from .reading.notices import Notice

REFUSED = "refused by the API server"
"""Why a pod is ignored that the API server would refuse."""
ON_A_NODE = "on a node"
TABLE_HINT = (
    "a Table is what the API prints for people, and has no objects: use `kubectl get -o json` or `-o yaml`"
)
CSV_HINT = "expected manifests, got a CSV file: `kubeclassic import` makes them of a trace, and `kubeclassic replay` reads a trace's files"


@attrs.frozen(repr=False)
class Inventory:
    """The objects of a cluster in the given order, and what happened to the rest."""

    objects: tuple[KubeObject, ...] = ()
    ignored: Mapping[str, int] = attrs.Factory(dict)
    """What is not used -> how many times."""
    warnings: tuple[Notice, ...] = ()
    refused: tuple[Notice, ...] = ()
    """What the API server would refuse, with the reasons; the warnings have them too."""
    refused_pods: tuple[tuple[Pod, str], ...] = ()
    """The pods among these, and why."""
    config_maps: Mapping[tuple[str, str], JsonObject] = attrs.Factory(dict)
    """Manifests of ConfigMaps, by namespace and name."""
    daemon_sets: tuple[JsonObject, ...] = ()
    """Manifests of DaemonSets, which would make pods for more nodes."""


def read_inventory(
    paths: PathLike | Iterable[PathLike],
    *,
    defaults: bool = True,
    strict_fields: bool = False,
    stdin: IO[Any] | None = None,
    cron_jobs: bool = False,
) -> Inventory:
    """Read *paths*. Raises :class:`~kubeclassic.exceptions.ManifestError`; *strict_fields* as for
    :func:`~.load.load`."""
    loaded = read_files(paths, defaults=defaults, strict_fields=strict_fields, stdin=stdin)
    return take_in([loaded], defaults=defaults, cron_jobs=cron_jobs, whole=True)


def read_files(
    paths: PathLike | Iterable[PathLike],
    pods: Iterable[PathLike] = (),
    *,
    defaults: bool = True,
    strict_fields: bool = False,
    stdin: IO[Any] | None = None,
    keeps_manifests: bool = False,
) -> Loaded:
    """Load *paths*, then *pods*, as one input. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    everything = [*([paths] if isinstance(paths, str | os.PathLike) else paths), *pods]
    for path in everything:
        if os.fspath(path).endswith((".csv", ".csv.gz")):
            raise ManifestError(f"{path}: {CSV_HINT}")
    return load(
        everything,
        stdin=stdin,
        defaults=defaults,
        strict_fields=strict_fields,
        keeps_manifests=keeps_manifests,
    )


def take_in(
    parts: Sequence[Loaded],
    known: Sequence[KubeObject] = (),
    *,
    defaults: bool = True,
    cron_jobs: bool = False,
    priorities: bool = True,
    whole: bool = False,
) -> Inventory:
    """The objects of *parts*, and those that the controllers of their workloads would still make; of CronJobs
    only with *cron_jobs*.

    *known* is what the cluster has already. Of two objects with one name the last counts, at the place of the
    first. With *defaults* new objects are admitted as the API server would do it, without *priorities* as one
    whose gate PodPriority is off; what it would refuse is skipped. If *known* and *parts* are a *whole*
    cluster, the warnings name the kinds that it lacks.
    """
    made = made_by_workloads(parts, known, defaults=defaults, cron_jobs=cron_jobs)
    found = (*(item for part in parts for item in part.objects), *made.objects)
    claims = (
        claim
        for item in found
        if isinstance(item, Pod) and not (item.metadata.creation_timestamp or item.spec.node_name)
        for claim in claims_of_volumes(item)
    )
    given = tuple({item.identity: item for item in (*claims, *found)}.values())
    admitted = admit(given, known, priorities=priorities) if defaults else Admitted(given)
    refused = tuple(Notice(f"{item.kind} {item.key}", f"{REFUSED}: {why}") for item, why in admitted.refused)
    objects = with_device_claims(admitted.objects, known)
    ignored = Counter({REFUSED: len(refused)}) if refused else Counter()
    for part in parts:
        ignored.update({f"of kind {kind}": count for kind, count in part.ignored.items()})
    lacks_classes = any("PriorityClass" in notice.what for notice in refused)
    warnings = list[Notice]()
    for part in parts:
        warnings += part.warnings
        if any(kind.partition(" ")[0] == "Table" for kind in part.ignored):
            warnings.append(Notice("kind Table", TABLE_HINT))
    lacks = missing_kinds((*known, *objects), lacks_classes) if whole else ()
    return Inventory(
        objects=objects,
        ignored=ignored,
        warnings=(*warnings, *made.notices, *refused, *lacks),
        refused=refused,
        refused_pods=tuple((item, why) for item, why in admitted.refused if isinstance(item, Pod)),
        config_maps=config_maps(parts),
        daemon_sets=tuple(document for part in parts for document in part.raw.get("DaemonSet", ())),
    )


def made_by_workloads(
    parts: Sequence[Loaded],
    known: Sequence[KubeObject] = (),
    *,
    defaults: bool = True,
    cron_jobs: bool = False,
) -> Made:
    """The objects that controllers make for the workloads of *parts*, given the objects of *parts* and
    *known*.

    A workload that is given twice counts once, as it was given last.
    """
    given, repeated = each_once(
        document
        for part in parts
        for kind, found in part.raw.items()
        if kind in WORKLOADS
        for document in found
    )
    if not given:
        return Made()
    made = expand(
        given,
        (*known, *(item for part in parts for item in part.objects)),
        cron_jobs=cron_jobs,
        strict=defaults,
    )
    return attrs.evolve(made, notices=(*repeated, *made.notices))


def config_maps(parts: Iterable[Loaded]) -> dict[tuple[str, str], JsonObject]:
    """The manifests of the ConfigMaps of *parts*, by namespace and name."""
    return {identity_of(found)[1:]: found for part in parts for found in part.raw.get("ConfigMap", ())}


# --- pods that wait -----------------------------------------------------------------------------------------


def why_not_waiting(pod: Pod, scheduler_names: Collection[str] | None = None) -> str | None:
    """The reason why *pod* does not wait for a node; None if it does. With *scheduler_names* it must ask for
    one of these."""
    if pod.is_terminal:
        return "finished"
    if pod.spec.node_name:
        return ON_A_NODE
    if pod.is_terminating:
        return "being deleted"
    is_other = (
        scheduler_names is not None and (pod.spec.scheduler_name or DEFAULT_SCHEDULER) not in scheduler_names
    )
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
        raise UnknownNameError(f'pod: expected one of {", ".join(pod.key for pod in found)}, got "{name}"')
    if named:
        raise is_placed(name, named[0].spec.node_name)
    near = did_you_mean(
        name, [key for pod in everyone if not pod.spec.node_name for key in (pod.key, pod.name)]
    )
    raise UnknownNameError(f'pod: expected a pod without a node, got "{name}"{near}')


def is_placed(name: str, node_name: str) -> UnknownNameError:
    """The error that a pod has a node already."""
    return UnknownNameError(f'pod: expected a pod without a node, got "{name}", which is on node {node_name}')
