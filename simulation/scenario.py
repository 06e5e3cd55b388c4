"""A cluster as read from files, for a simulation: the objects that exist, and the pods that wait for a node."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from ..api.controlplane import quota_notices
from ..api.load import NO_KIND, ON_A_NODE, TABLE_HINT, Inventory, Loaded, load, take_in, why_not_waiting
from ..api.objects import DEFAULT_SCHEDULER, KubeObject, Node, Pod, ResourceQuota, of_kind
from ..api.reading import Notice, PathLike, grouped
from ..core.engine import Engine
from ..exceptions import ManifestError

if TYPE_CHECKING:
    from .edits import Edited, Edits

__all__ = ["DEFAULT_SCHEDULER", "Files", "Scenario", "sorted_out"]

GONE = "its node is not in the input"
CLUSTER = "cluster"
"""How messages name a cluster that no files are known of."""


@attrs.frozen(repr=False)
class Scenario:
    """A cluster and the pods that wait for a node, both in the order in which they were given."""

    objects: tuple[KubeObject, ...]
    """Nodes, pods with a node, and everything else that the scheduler reads."""
    pending: tuple[Pod, ...]
    ignored: Mapping[str, int] = attrs.Factory(dict)
    """Why an object is ignored -> how many."""
    warnings: tuple[Notice, ...] = ()
    config_maps: Mapping[tuple[str, str], Mapping[str, Any]] = attrs.Factory(dict)
    """Manifests of ConfigMaps, by namespace and name."""
    set_aside: tuple[Pod, ...] = ()
    """The pods that are ignored."""
    refused_pods: tuple[tuple[Pod, str], ...] = ()
    """The pods that the API server would refuse, and why."""
    edited: tuple[Edited, ...] = ()
    """What each edit did, in order; those of pods last."""
    daemon_sets: tuple[Mapping[str, Any], ...] = ()
    """Manifests of DaemonSets, which would make pods for more nodes."""

    @property
    def nodes(self) -> list[Node]:
        """The nodes."""
        return of_kind(Node, self.objects)

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return len(self.nodes)


@attrs.frozen(repr=False)
class Files:
    """The contents of files, before a scheduler is chosen."""

    loaded: Loaded
    defaults: bool = True
    edits: Edits | None = None
    """Those of pods are still to come: :meth:`scenario` makes them."""
    edited: tuple[Edited, ...] = ()
    """What the others did."""
    where: str = CLUSTER
    """The files, for messages."""

    @classmethod
    def read(
        cls,
        paths: PathLike | Iterable[PathLike],
        pods: Iterable[PathLike] = (),
        *,
        defaults: bool = True,
        strict_fields: bool = False,
        keeps_manifests: bool = False,
        edits: Iterable[str] = (),
    ) -> Files:
        """Read *paths*, then *pods*, which wait, and make *edits*, such as ``pod web/* requests.cpu=500m``.

        With *defaults* objects are completed as the API server would; *strict_fields* refuses unknown fields;
        *keeps_manifests*: for extenders.

        Raises :class:`~kubeclassic.exceptions.ManifestError`, and :class:`~.edits.EditError` for edits.
        """
        parsed = parsed_edits(edits, defaults)
        where = named(paths)
        read = load(
            [*([paths] if isinstance(paths, str | os.PathLike) else paths), *pods],
            defaults=defaults,
            strict_fields=strict_fields,
            keeps_manifests=keeps_manifests,
        )
        if parsed is None:
            return cls(read, defaults, where=where)
        (loaded,), edited = parsed.of_loaded([read])
        return cls(loaded, defaults, parsed, tuple(edited), where)

    @property
    def nodes(self) -> list[Node]:
        """The nodes."""
        return self.loaded.of(Node)

    def scenario(
        self,
        scheduler_name: str | Collection[str] = DEFAULT_SCHEDULER,
        *,
        cron_jobs: bool = False,
        priorities: bool = True,
    ) -> Scenario:
        """The scenario for schedulers of these names; *priorities*: whether gate PodPriority is on.

        Workloads count as the pods that their controllers would still create, CronJobs only with *cron_jobs*.
        Pods that have finished, are being deleted or ask for another scheduler do not wait. Raises
        :class:`~kubeclassic.exceptions.ManifestError` without nodes.
        """
        names = frozenset([scheduler_name] if isinstance(scheduler_name, str) else scheduler_name)
        found = take_in(
            [self.loaded], defaults=self.defaults, cron_jobs=cron_jobs, priorities=priorities, whole=True
        )
        if self.edits is None:
            return sorted_out(found, names, self.where)
        objects, edited = self.edits.of_pods(found.objects, priorities=priorities)
        all_edited = (*self.edited, *edited)
        warnings = (*found.warnings, *idle_notices(all_edited))
        return attrs.evolve(
            sorted_out(attrs.evolve(found, objects=objects, warnings=warnings), names, self.where),
            edited=all_edited,
        )


def idle_notices(edited: Iterable[Edited]) -> Iterator[Notice]:
    """A warning for each edit that changed nothing."""
    return (Notice("", str(one)) for one in edited if not one.changed)


def parsed_edits(texts: Iterable[str], defaults: bool) -> Edits | None:
    """The edits that *texts* say; None for none, so that most runs need not import what makes them."""
    given = tuple(texts)
    if not given:
        return None
    from .edits import Edits

    return Edits.parse(given, defaults=defaults)


def named(paths: PathLike | Iterable[PathLike]) -> str:
    """The files that were given, as messages name them."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return ", ".join(
        "standard input" if os.fspath(path) == "-" else os.fspath(path) for path in given[:3]
    ) + ", ..." * (len(given) > 3)


def sorted_out(inventory: Inventory, scheduler_names: Collection[str], where: str = CLUSTER) -> Scenario:
    """Separate what exists from what waits for one of *scheduler_names*; without any node it is no cluster.
    *where*: its files."""
    nodes = {item.name for item in of_kind(Node, inventory.objects)}
    if not nodes:
        hint = "".join(
            f" ({one})" for one in grouped(inventory.warnings) if one.notices[0].what in (NO_KIND, TABLE_HINT)
        )
        raise ManifestError(f"{where or CLUSTER}: expected at least one Node, got none{hint}")
    there = []
    pending = []
    set_aside = []
    ignored = Counter(inventory.ignored)
    warnings = list(inventory.warnings)
    for item in inventory.objects:
        why = why_not_waiting(item, scheduler_names) if isinstance(item, Pod) else ON_A_NODE
        if why == ON_A_NODE:
            there.append(item)
        elif why is not None:
            ignored[why] += 1
            set_aside += [item] if isinstance(item, Pod) else []
        elif isinstance(item, Pod):
            pending.append(item)
    warnings += [
        Notice(f"Pod {pod.key} on {pod.spec.node_name}", GONE, about=f"Pod {pod.key}")
        for pod in of_kind(Pod, there)
        if pod.spec.node_name not in nodes
    ]
    warnings += quota_notices(pending, of_kind(ResourceQuota, there))
    return Scenario(
        tuple(there),
        tuple(pending),
        dict(ignored),
        tuple(warnings),
        inventory.config_maps,
        tuple(set_aside),
        inventory.refused_pods,
        daemon_sets=inventory.daemon_sets,
    )


ORDERS = ("input", "priority", "queue")
"""``input``: as they came; ``priority``: the higher one first, equal ones as they came; ``queue``: as the
scheduler pops them.

Where the release queues without priorities, as some do without gate PodPriority, ``priority`` is ``input``.
"""

MOMENT = 1000
"""Nanoseconds between the arrivals of two pods: enough to tell them apart, too few for a back-off to end."""


def in_order(pods: Sequence[Pod], order: str, engine: Engine) -> list[Pod]:
    """*pods* in one of :data:`ORDERS`; all are taken to have come, one after another, before the first is
    tried.

    Those that the queue of *engine* gates come last.
    """
    if order == "priority":
        if engine.queues_by_priority:
            return sorted(pods, key=lambda pod: -pod.priority)
        return list(pods)
    if order != "queue":
        return list(pods)
    from ..core.queue.backoff import Clock

    clock = Clock()
    found = []
    queue = engine.flow.queue(clock, apart=True)
    for pod in pods:
        queue.add(pod)
        clock.now += MOMENT
    while (item := queue.pop()) is not None:
        found.append(item.pod)
    return [*found, *queue.pods()]
