"""What files say of a cluster, sorted for a simulation: what is there, and which pods wait for a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

import attrs

from ..api.admission import admit
from ..api.documents import PathLike
from ..api.load import Loaded, load
from ..api.objects import KubeObject, Node, PersistentVolumeClaim, Pod
from ..api.workloads import expand
from ..exceptions import ManifestError, UnknownNameError, did_you_mean

DEFAULT_SCHEDULER = "default-scheduler"


@attrs.frozen
class Scenario:
    """A cluster and the pods that wait for a node, both in the order in which they were given."""

    objects: tuple[KubeObject, ...]
    """Nodes, pods with a node, and everything else that the scheduler reads."""
    pending: tuple[Pod, ...]
    passed_over: Mapping[str, int] = attrs.field(factory=dict)
    """Why something takes no part -> how many times."""
    warnings: tuple[str, ...] = ()
    config_maps: Mapping[tuple[str, str], Mapping[str, Any]] = attrs.field(factory=dict)
    """Manifests of ConfigMaps, by namespace and name."""

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return sum(isinstance(item, Node) for item in self.objects)

    def find_pod(self, name: str) -> Pod:
        """The waiting pod called ``namespace/name``, or ``name`` where only one namespace has it.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` where there is none, or more than one.
        """
        found = [pod for pod in self.pending if name in (pod.key, pod.name)]
        if len(found) > 1:
            raise UnknownNameError(f'pod: got "{name}", wanted one of {", ".join(pod.key for pod in found)}')
        if not found:
            raise UnknownNameError(self._unknown_pod(name))
        return found[0]

    def _unknown_pod(self, name: str) -> str:
        bound = [item for item in self.objects if isinstance(item, Pod) and name in (item.key, item.name)]
        if bound:
            return f'pod: got "{name}", which is on node {bound[0].spec.node_name}, wanted a pod without a node'
        near = did_you_mean(name, [key for pod in self.pending for key in (pod.key, pod.name)])
        return f'pod: got "{name}", wanted a pod without a node{near}'


def read_scenario(
    paths: PathLike | Iterable[PathLike],
    pods: Iterable[PathLike] = (),
    *,
    scheduler_name: str = DEFAULT_SCHEDULER,
    defaults: bool = True,
    stdin: IO[Any] | None = None,
) -> Scenario:
    """Read *paths* and, for more waiting pods, *pods*; workloads stand for the pods that their controllers would still make.

    With *defaults* objects are completed and admitted as the API server would. Pods that have finished, are being deleted or are
    another scheduler's do not wait. Raises :class:`~kubeclassic.exceptions.ManifestError`.
    """
    cluster = load(paths, stdin=stdin, defaults=defaults)
    more = load(pods, stdin=stdin, defaults=defaults) if (pods := tuple(pods)) else Loaded()
    made = _made_by_workloads(cluster, more, defaults)
    everything = _once((*cluster.objects, *more.objects, *made))
    warnings = [*cluster.warnings, *more.warnings]
    sorting = _Sorting(scheduler_name, warnings)
    if defaults:
        everything = sorting.admitted(everything)
    for kind, count in (*cluster.passed_over.items(), *more.passed_over.items()):
        sorting.passed_over[f"of kind {kind}"] += count
    scenario = sorting.sort(everything)
    return attrs.evolve(scenario, config_maps={_identity(found): found for found in (*_config_maps(cluster), *_config_maps(more))})


def _config_maps(loaded: Loaded) -> tuple[Mapping[str, Any], ...]:
    return loaded.raw.get("ConfigMap", ())


def _identity(manifest: Mapping[str, Any]) -> tuple[str, str]:
    metadata = manifest.get("metadata") or {}
    return metadata.get("namespace") or "default", metadata.get("name") or ""


def _made_by_workloads(cluster: Loaded, more: Loaded, defaults: bool) -> list[KubeObject]:
    documents = [document for part in (cluster, more) for found in part.raw.values() for document in found]
    pods = [*cluster.of(Pod), *more.of(Pod)]
    claims = [*cluster.of(PersistentVolumeClaim), *more.of(PersistentVolumeClaim)]
    return expand(documents, [*cluster.of(Node), *more.of(Node)], pods, claims, strict=defaults)


def _once(objects: Sequence[KubeObject]) -> tuple[KubeObject, ...]:
    """Each object once; the last that was given counts, at the place of the first."""
    return tuple({(item.kind, item.key): item for item in objects}.values())


@attrs.define
class _Sorting:
    scheduler_name: str
    warnings: list[str]
    passed_over: Counter[str] = attrs.field(factory=Counter)
    there: list[KubeObject] = attrs.field(factory=list)
    pending: list[Pod] = attrs.field(factory=list)

    def admitted(self, objects: Sequence[KubeObject]) -> tuple[KubeObject, ...]:
        """The objects as the API server would take them in; what it would refuse is passed over."""
        found = admit(objects)
        for item, reason in found.refused:
            self.warnings.append(f"{item.kind} {item.key}: not admitted: {reason}")
            self.passed_over["not admitted"] += 1
        return found.objects

    def sort(self, objects: Sequence[KubeObject]) -> Scenario:
        """Tell what is there from what waits."""
        nodes = {item.name for item in objects if isinstance(item, Node)}
        for item in objects:
            if isinstance(item, Pod):
                self._pod(item, nodes)
            else:
                self.there.append(item)
        if not nodes:
            raise ManifestError("cluster: got no Node, wanted one at least")
        return Scenario(tuple(self.there), tuple(self.pending), dict(self.passed_over), tuple(self.warnings))

    def _pod(self, pod: Pod, nodes: set[str]) -> None:
        if pod.is_terminal:
            self.passed_over["finished"] += 1
        elif pod.spec.node_name:
            if pod.spec.node_name not in nodes:
                self.warnings.append(f"Pod {pod.key}: spec.nodeName: got {pod.spec.node_name}, which is no node that was given")
            self.there.append(pod)
        elif pod.is_terminating:
            self.passed_over["being deleted"] += 1
        elif (pod.spec.scheduler_name or DEFAULT_SCHEDULER) != self.scheduler_name:
            self.passed_over["for another scheduler"] += 1
        else:
            self.pending.append(pod)
