"""The input of questions: a cluster, given as a Cluster, as files or as manifests, and a scheduler, given as
options."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from io import IOBase
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from attrs import Factory, evolve, field, frozen

from ..api.cluster import Cluster
from ..api.controlplane import with_budgets
from ..api.load import RAW_KINDS, Inventory, Loaded, load, load_given, take_in
from ..api.meaning import NEWEST_SERVER, ServerRules
from ..api.objects import KubeObject, Node, Pod
from ..api.reading import Notice, NoticeGroup, PathLike, grouped, refuse_unread
from ..core.engine import Engine
from ..exceptions import ManifestError, check_type, wrong_type
from ..extenders.choice import asked_extenders
from ..framework.options import Classic, Framework, GivenOptions, settled_options
from ..framework.releases import AUTO, framework_release, is_auto
from ..framework.schedulerspec import SchedulerSpec
from .evictions import SAME_NAME
from .newpods import after_edits, with_refused
from .releasenotes import with_pod_notices, with_release_notices
from .simulate import Files, Scenario, idle_notices, parsed_edits, sorted_out

if TYPE_CHECKING:
    from .edits import Edited, Edits

T = TypeVar("T")
Part: TypeAlias = "str | os.PathLike[str] | KubeObject | Mapping[str, Any]"
"""A path, an object or a manifest."""


class Imported(Protocol):
    """An object with manifests, as an ImportResult is."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """A ``v1`` ``List``."""
        ...


GivenCluster: TypeAlias = "Cluster | Part | Imported | Iterable[Part | Imported]"
"""A Cluster; a file, a directory or several; objects and manifests."""
GivenScheduler: TypeAlias = "Classic | Framework | str | None"
"""The options of a scheduler, or its release alone; None: the default release as it is; ``auto``: that of the
nodes, or the nearest."""
UNUSED_SEED = "the seed has no effect: it is for tie-break random"
WANTED = "a Cluster, a path, manifests or a list of these"


@frozen(kw_only=True, repr=False)
class Input:
    """A cluster that was read, and a new scheduler for it."""

    scenario: Scenario
    """The cluster; its warnings also name parts that the release does not read."""
    spec: SchedulerSpec
    engine: Engine = field(
        default=Factory(lambda self: self.spec.engine(self.scenario.config_maps), takes_self=True)
    )
    order: str
    """The order in which pending pods are tried."""
    defaults: bool
    """Whether objects were completed and admitted as the API server does it."""
    strict: bool = False
    """Whether nothing may be left unread."""

    def noted(self, release: str | None) -> Input:
        """The input with warnings of parts that its release does not read; *release*: as it was asked for,
        None for the default. Raises as :meth:`checked` does."""
        algorithms = [self.engine.algorithm]
        named = algorithms if release is None else ()
        by_nodes = algorithms if is_auto(release) else ()
        scenario = with_release_notices(self.scenario, algorithms, named, by_nodes, [release])
        if self.spec.seed and self.spec.tie_break != "random":
            scenario = evolve(scenario, warnings=(*scenario.warnings, Notice("", UNUSED_SEED)))
        return evolve(self, scenario=scenario).checked()

    def checked(self) -> Input:
        """The input itself; raises :class:`~kubeclassic.api.reading.notices.UnreadError` if it is strict, and
        some part does not count."""
        if self.strict:
            refuse_unread(self.scenario.warnings)
        return self

    def with_pods(self, pods: Sequence[Pod]) -> Input:
        """The input with warnings of parts that the release does not read of *pods*, which are to come."""
        return evolve(self, scenario=with_pod_notices(self.scenario, self.engine.algorithm, pods)).checked()

    def load(self, path: PathLike, raw_kinds: Collection[str] = RAW_KINDS) -> Loaded:
        """A file besides the cluster, read as the cluster was."""
        return load(
            path,
            defaults=self.defaults,
            strict_fields=self.strict,
            keeps_manifests=self.spec.may_call_extenders,
            raw_kinds=raw_kinds,
        )

    @property
    def release(self) -> str:
        """The release that decides."""
        return self.spec.version

    @property
    def warnings(self) -> tuple[NoticeGroup, ...]:
        """The notices about the cluster, and the parts of it that do not count."""
        return grouped(self.scenario.warnings)


@frozen(kw_only=True, repr=False)
class ComparisonInput:
    """A cluster that was read, and a new scheduler for each of several configurations, by its name."""

    scenario: Scenario
    """The cluster; its warnings also name parts that some release does not read."""
    engines: Mapping[str, Engine]
    texts: Mapping[str, str]
    """Name -> the configuration as it was asked for."""
    order: str = "input"

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        engines: Mapping[str, Engine],
        texts: Mapping[str, str],
        *,
        by_nodes: Iterable[str] = (),
        named: Iterable[str | None] = (),
        order: str = "input",
        strict: bool = False,
    ) -> ComparisonInput:
        """The input of *scenario* and *engines*; *by_nodes*: the configurations whose release is that of the
        nodes; *named*: releases as they were asked for.

        Raises :class:`~kubeclassic.api.reading.notices.UnreadError` if *strict*, and something does not
        count.
        """
        algorithms = [engine.algorithm for engine in engines.values()]
        noted = with_release_notices(
            scenario, algorithms, by_nodes=[engines[name].algorithm for name in by_nodes], named=named
        )
        if strict:
            refuse_unread(noted.warnings)
        return cls(scenario=noted, engines=engines, texts=texts, order=order)

    @property
    def runs_profiles(self) -> bool:
        """Whether one of the releases runs plugins."""
        return any(framework_release(engine.release.version) is not None for engine in self.engines.values())

    @property
    def warnings(self) -> tuple[NoticeGroup, ...]:
        """The notices about the cluster, and the parts of it that do not count."""
        return grouped(self.scenario.warnings)


class Observer:
    """An observer of a question's progress; this one does nothing."""

    def ready(self, inputs: Input | ComparisonInput, concerns: Collection[str] | None = None) -> None:
        """Called when all input is read and its warnings are known; *concerns*: the objects that are asked
        about, by kind and key; None: all."""

    def counting(
        self, total: int | None, what: str, unit: str = ""
    ) -> AbstractContextManager[Callable[[int, str], None]]:
        """A context for work that reports how much is done, of *total*, and a short text."""
        return nullcontext(lambda done, word: None)

    def working(self, what: str, unit: str) -> AbstractContextManager[Callable[[int, int], None]]:
        """A context for work that reports how much is done, and of how much, as known now."""
        return nullcontext(lambda done, total: None)

    def telling(self, what: str) -> AbstractContextManager[Callable[[str], None]]:
        """A context for work that reports what comes next."""
        return nullcontext(lambda word: None)

    def following(
        self, steps: Iterable[T], total: int, what: str = "scheduling", unit: str = "pods"
    ) -> Iterator[T]:
        """*steps* as they come, of which there are *total*."""
        with self.counting(total, what, unit) as progress:
            for done, step in enumerate(steps, 1):
                yield step
                progress(done, "")

    def found(self, part: object) -> None:
        """Takes a part of the answer that is known before the rest, such as a change that helps."""

    def pause(self) -> None:
        """Called between steps that can be taken back. It may raise an exception, which ends the work."""

    def noticed(self, notices: Iterable[Notice]) -> None:
        """Takes notices of a file that is read besides the cluster."""

    def remark(self, text: str) -> None:
        """Takes a remark on the answer."""

    def doubt(self, text: str) -> None:
        """Takes a text about something that makes the answer doubtful."""


SILENT = Observer()


def options_given(scheduler: GivenScheduler, cluster: GivenCluster, name: str = "scheduler") -> GivenOptions:
    """*scheduler* as options, with the release that the nodes of *cluster* run where it names none.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for an unknown release, or another value.
    """
    return settled_options(scheduler, name, lambda: kubelets_of(cluster))


def kubelets_of(cluster: GivenCluster) -> Iterator[str]:
    """The versions of the kubelets of *cluster*, which is read when the first one is asked for."""
    loaded = (_loaded(number, part, True) for number, part in enumerate(parts_of("cluster", cluster), 1))
    return (node.status.kubelet_version for part in loaded for node in part.of(Node))


def release_asked(scheduler: GivenScheduler) -> str | None:
    """The release as *scheduler* asks for it: ``auto`` for that of the nodes, None for the default of
    Policies."""
    if scheduler is None or isinstance(scheduler, str):
        return AUTO if scheduler is None else scheduler
    return AUTO if scheduler.follows_nodes else scheduler.release


def spec_of(scheduler: GivenScheduler, cluster: GivenCluster = (), **changes: Any) -> SchedulerSpec:
    """The spec of *scheduler*, with *changes* of its options; by default of the release that the nodes of
    *cluster* run.

    Raises as :class:`~kubeclassic.Scheduler` does.
    """
    options = evolve(options_given(scheduler, cluster), **changes)
    return SchedulerSpec.of(options, asked_extenders(options.extenders)).read()


def scenario_of(
    cluster: GivenCluster,
    pods: GivenCluster = (),
    *,
    scheduler_names: Collection[str],
    defaults: bool = True,
    edits: Iterable[str] = (),
    server: ServerRules = NEWEST_SERVER,
) -> Scenario:
    """The scenario of *cluster* and more pending *pods*, after *edits*; *server*: how objects are
    admitted.

    Raises :class:`~kubeclassic.exceptions.ManifestError`, and
    :class:`~kubeclassic.simulation.edits.EditError` for edits.
    """
    texts = edits_of(edits)
    more = parts_of("pods", pods)
    whole = cluster if isinstance(cluster, Cluster) else None
    parts = parts_of("cluster", cluster) if whole is None else ()
    paths = _paths(parts)
    others = _paths(more)
    if whole is None and len(paths) == len(parts) and len(others) == len(more):
        return Files.read(paths, others, defaults=defaults, edits=texts).scenario(
            scheduler_names, server=server
        )
    parsed = parsed_edits(texts, defaults)
    return sorted_out(_inventory(whole, (*parts, *more), defaults, parsed, server), scheduler_names)


def edits_of(edits: object) -> tuple[str, ...]:
    """*edits* as texts; one text is one edit. Raises :class:`~kubeclassic.exceptions.WrongTypeError`."""
    texts = (edits,) if isinstance(edits, str) or not isinstance(edits, Iterable) else tuple(edits)
    for text in texts:
        check_type("edits", text, str, 'a text such as "pod web/* requests.cpu=500m"')
    return texts


def paths_of(name: str, value: object) -> list[str]:
    """One path or several, as texts."""
    paths = []
    for part in [value] if isinstance(value, str | os.PathLike) or not isinstance(value, Iterable) else value:
        if not isinstance(part, str | os.PathLike):
            raise wrong_type(name, part, "a path")
        paths.append(os.fspath(part))
    return paths


def paths_among(name: str, cluster: GivenCluster) -> list[PathLike]:
    """The paths among the parts of *cluster*."""
    return [] if isinstance(cluster, Cluster) else _paths(parts_of(name, cluster))


def loaded_of(name: str, cluster: GivenCluster, *, defaults: bool) -> list[Loaded]:
    """The parts of *cluster* that are no paths."""
    if isinstance(cluster, Cluster):
        raw = {"ConfigMap": tuple(cluster.config_maps.values())}
        return [Loaded(cluster.objects, raw, warnings=cluster.warnings)]
    parts = enumerate(parts_of(name, cluster), 1)
    return [
        load_given(part, number, defaults=defaults)
        for number, part in parts
        if not isinstance(part, str | os.PathLike)
    ]


def at_hand(value: Any) -> Any:
    """*value*; of an iterator its items, as questions read their input more than once."""
    return tuple(value) if isinstance(value, Iterator) and not isinstance(value, IOBase) else value


def parts_of(name: str, value: object) -> Sequence[Part]:
    """The input as single paths, objects and manifests. Raises
    :class:`~kubeclassic.exceptions.WrongTypeError`."""
    if isinstance(value, Cluster):
        return value.objects
    if isinstance(value, str | os.PathLike | KubeObject | Mapping):
        return (value,)
    parts = value if isinstance(value, Iterable) else (value,)
    # The result of an import holds manifests.
    checked: tuple[Any, ...] = tuple(
        part if isinstance(part, KubeObject) else getattr(part, "manifest", part) for part in parts
    )
    for part in checked:
        if not isinstance(part, str | os.PathLike | KubeObject | Mapping):
            raise wrong_type(name, part, WANTED)
    return checked


def _paths(parts: Iterable[Part]) -> list[PathLike]:
    return [part for part in parts if isinstance(part, str | os.PathLike)]


def _is_remade(item: KubeObject) -> bool:
    """Whether *item* is a finished pod of a StatefulSet, which makes another one of its name."""
    owner = item.metadata.controller
    return isinstance(item, Pod) and item.is_terminal and owner is not None and owner.kind == SAME_NAME


def _inventory(
    cluster: Cluster | None, parts: Sequence[Part], defaults: bool, edits: Edits | None, server: ServerRules
) -> Inventory:
    cluster_loaded = Loaded(() if cluster is None else cluster.objects)
    loaded = [_loaded(number, part, defaults) for number, part in enumerate(parts, 1)]
    edited: list[Edited] = []
    if edits is not None:
        (cluster_loaded, *loaded), edited = edits.of_loaded([cluster_loaded, *loaded])
    inventory = take_in(loaded, cluster_loaded.objects, defaults=defaults, server=server, whole=True)
    if cluster is not None:
        identities = {item.identity for item in inventory.objects}
        there = [
            item for item in cluster_loaded.objects if item.identity not in identities or not _is_remade(item)
        ]
        for item in there:
            if item.identity in identities:
                raise ManifestError(
                    f"{item.kind} {item.key}: metadata.name: expected a new name, got that of an object that is there"
                )
        inventory = evolve(
            inventory,
            objects=with_budgets((*there, *inventory.objects)),
            ignored={**cluster.ignored, **inventory.ignored},
            warnings=tuple(dict.fromkeys((*cluster.warnings, *inventory.warnings))),
            config_maps={**cluster.config_maps, **inventory.config_maps},
            originals=inventory.originals | cluster.originals,
        )
    if edits is None:
        return inventory
    mends = bool(inventory.refused_pods) and any(edit.kind == "Pod" for edit in edits.edits)
    chosen = with_refused(inventory) if mends else inventory.objects
    objects, more = edits.of_pods(chosen, server=server, originals=inventory.originals, jobs=inventory.jobs)
    inventory = after_edits(inventory, objects) if mends else evolve(inventory, objects=objects)
    return evolve(inventory, warnings=(*inventory.warnings, *idle_notices([*edited, *more])))


def _loaded(number: int, part: Part, defaults: bool) -> Loaded:
    if isinstance(part, str | os.PathLike):
        return load(part, defaults=defaults)
    return load_given(part, number, defaults=defaults)
