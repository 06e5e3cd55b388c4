"""The cluster that a server decides on: it follows events, and given nodes can stand in for its own while a question is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import attrs
import numpy as np

from ...api.controlplane.admission import admit
from ...api.controlplane.defaults import with_defaults
from ...api.inventory import find_waiting
from ...api.objects import KubeObject, Node, Pod, PriorityClass
from ...core.arrays.types import Rows
from ...core.engine import Engine
from ...core.run import Run
from ...framework.schedulerspec import ConfigMaps
from ...simulation.scenario import Scenario
from .bodies import UNPROCESSABLE, NodesAsked, RequestError, read_object

Identity = tuple[str, str]
Objects = dict[Identity, KubeObject]
MOST_ASKED = 2_000
"""Pods of earlier questions that are remembered, so that they can be bound."""
MOST_TEMPLATES = 100_000
"""How many kinds of pods questions may bring before the engine, which keeps what it knows of each, is made again."""
CONFLICT = 409


@attrs.define(eq=False)
class ServedCluster:
    """The objects of a cluster, and the engine that knows them. Not safe for threads: one thread has to own it.

    *make_engine* makes a new engine of the configuration; *defaults*: pods and nodes of requests get the defaults of the API server.
    """

    make_engine: Callable[[], Engine]
    defaults: bool = True
    objects: Objects = attrs.field(factory=dict)
    most_templates: int = MOST_TEMPLATES
    run: Run = attrs.field(init=False)
    """What decides about the cluster's own nodes."""
    _templates: int = 0
    """The highest number of a template when the engine was new."""
    _guests: Guests | None = None
    _asked: dict[str, Pod] = attrs.field(factory=dict)
    """UID -> pod of an earlier question."""
    _classes: dict[Identity, PriorityClass] = attrs.field(factory=dict)
    def __attrs_post_init__(self) -> None:
        self.run = Run(self.make_engine())

    @classmethod
    def of(cls, scenario: Scenario, make_engine: Callable[[ConfigMaps], Engine], defaults: bool) -> Self:
        """The cluster of *scenario*; *make_engine* gets its ConfigMaps."""
        made = cls(partial(make_engine, scenario.config_maps), defaults)
        for item in (*scenario.objects, *scenario.pending):
            made.put(item)
        made.engine.warm()
        return made

    @property
    def engine(self) -> Engine:
        """The engine of :attr:`run`."""
        return self.run.engine

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods, with and without a node."""
        return tuple(item for item in self.objects.values() if isinstance(item, Pod))

    def count(self, kind: type[KubeObject]) -> int:
        """How many objects of a class there are."""
        return sum(type(item) is kind for item in self.objects.values())

    # --- events -----------------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object was added or updated. Finished pods leave; a pod of another UID, or on another node, is another pod."""
        known = self.objects.get(_identity(item))
        if isinstance(item, Pod) and isinstance(known, Pod) and _is_another(known, item):
            self.delete(known)
        if isinstance(item, Pod) and item.is_terminal:
            self.delete(item)
            return
        self.objects[_identity(item)] = item
        if isinstance(item, PriorityClass):
            self._classes[_identity(item)] = item
        self.run.put(item)
        if self._guests is not None:
            self._guests.put(item)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted; only its kind and key matter. An unknown object is ignored."""
        known = self.objects.pop(_identity(item), None)
        if known is None:
            return
        self._classes.pop(_identity(item), None)
        self.run.delete(known)
        if self._guests is not None:
            self._guests.delete(known)

    # --- what a request names ---------------------------------------------------------------------------------------

    def completed(self, pod: Pod) -> Pod:
        """The pod of a request with defaults and its priority, as the API server would have it; it is remembered, not added."""
        if self.defaults:
            admitted = admit([with_defaults(pod)], self._classes.values())
            if admitted.refused:
                raise RequestError("Pod", f"a pod that the API server would refuse ({admitted.refused[0][1]})", "another", UNPROCESSABLE)
            pod = next(found for found in admitted.objects if isinstance(found, Pod))
        while len(self._asked) >= MOST_ASKED:
            del self._asked[next(iter(self._asked))]
        self._asked[pod.uid] = pod
        return pod

    def find(self, asked: NodesAsked) -> tuple[Engine, Rows]:
        """The engine that knows the nodes asked for as they were given, and their rows. Raises :class:`RequestError`."""
        self._renew_if_crowded()
        if asked.manifests is None:
            return self.engine, _rows(self.engine, asked)
        if self._guests is None:
            self._guests = Guests(self.objects, self.defaults)
        engine = self._guests.engine if self._guests.take_in(asked, self.make_engine) else self.engine
        return engine, _rows(engine, asked)

    def _renew_if_crowded(self) -> None:
        latest = self.engine.latest
        if latest is None or latest.template.number < self._templates + self.most_templates:
            return
        self.run, self._guests = Run(self.make_engine()), None
        for item in self.objects.values():
            self.run.put(item)
        self._templates = len(self.objects)

    def waiting_pod(self, name: str) -> Pod:
        """The cluster's pod without a node by ``namespace/name``; raises :class:`~kubeclassic.exceptions.UnknownNameError`."""
        return find_waiting(name, self.pods)

    def bindable(self, key: str, uid: str) -> Pod:
        """The pod to bind: one of the cluster, or of an earlier question. Raises :class:`RequestError`."""
        known = self.objects.get((Pod.kind, key))
        asked = self._asked.get(uid or key)
        for pod in (known, asked):
            if isinstance(pod, Pod) and pod.key == key and uid in ("", pod.uid):
                return pod
        if known is not None:
            raise RequestError("PodUID", f'"{uid}"', f'"{known.uid}", which {key} has', CONFLICT)
        raise RequestError("PodName", f'"{key}", which the cluster does not have', "one of its pods", UNPROCESSABLE)


@attrs.define(eq=False)
class Guests:
    """A second engine, where nodes that were given stand in for the cluster's own. It is made when they first differ."""

    objects: Objects
    """Those of the cluster, which it shares."""
    defaults: bool
    _run: Run | None = None
    _given: dict[str, Node] = attrs.field(factory=dict)
    """The nodes that stand in now."""
    _read: dict[str, tuple[Mapping[str, Any], Node]] = attrs.field(factory=dict)
    """Name -> a node's JSON form and what it says, of the latest request."""

    @property
    def engine(self) -> Engine:
        """The second engine."""
        assert self._run is not None
        return self._run.engine

    def take_in(self, asked: NodesAsked, make_engine: Callable[[], Engine]) -> bool:
        """Let the given nodes stand in for the cluster's own; False if they are the same, so that its own engine can answer."""
        given = self._decoded(asked)
        differing = {name: node for name, node in given.items() if not _is_same(self.objects.get((Node.kind, name)), node)}
        if not differing:
            return False
        if self._run is None:
            self._run = Run(make_engine())
            for item in self.objects.values():
                self._run.put(item)
        for name in [name for name in self._given if name not in differing]:
            self._restore(self._run, name)
        for name, node in differing.items():
            if self._given.get(name) != node:
                self._given[name] = node
                self._run.put(node)
        return True

    def put(self, item: KubeObject) -> None:
        """An object of the cluster was added or updated."""
        if self._run is not None:
            self._given.pop(item.name if isinstance(item, Node) else "", None)
            self._run.put(item)

    def delete(self, item: KubeObject) -> None:
        """An object of the cluster was deleted."""
        if self._run is not None:
            self._given.pop(item.name if isinstance(item, Node) else "", None)
            self._run.delete(item)

    def _restore(self, run: Run, name: str) -> None:
        """Let the cluster's own node stand for itself again."""
        given, own = self._given.pop(name), self.objects.get((Node.kind, name))
        if own is None:
            run.delete(given)
        else:
            run.put(own)

    def _decoded(self, asked: NodesAsked) -> dict[str, Node]:
        """The given nodes by name. What is as it was in the last request is not read again."""
        read: dict[str, tuple[Mapping[str, Any], Node]] = {}
        for i, (name, manifest) in enumerate(zip(asked.names, asked.manifests or (), strict=True)):
            known = self._read.get(name)
            if known is None or known[0] != manifest:
                node = read_object("Node", manifest, f"Nodes.items[{i}]")
                known = manifest, with_defaults(node) if self.defaults else node
            read[name] = known
        self._read = read
        return {name: node for name, (_, node) in read.items()}


def _identity(item: KubeObject) -> Identity:
    return item.kind, item.key


def _is_another(known: Pod, pod: Pod) -> bool:
    return known.uid != pod.uid or known.spec.node_name not in ("", pod.spec.node_name)


def _is_same(own: KubeObject | None, node: Node) -> bool:
    """Whether the cluster's *own* node is as the given one, but for its version and the like."""
    if not isinstance(own, Node):
        return False
    return own.spec == node.spec and own.status == node.status and own.labels == node.labels and own.annotations == node.annotations


def _rows(engine: Engine, asked: NodesAsked) -> Rows:
    """The rows of the nodes *asked* for, after the table was brought up to date. Raises :class:`RequestError` for an unknown one."""
    table = engine.fresh_table()
    found = np.array([table.row_of.get(name, -1) for name in asked.names], np.intp)
    is_known = found >= 0
    is_known[is_known] = table.has_node[found[is_known]]
    if table.deleted_rows:
        is_known &= ~np.isin(found, list(table.deleted_rows))
    if not is_known.all():
        i = int((~is_known).argmax())
        got = f'"{asked.names[i][:200]}", which the cluster does not have'
        raise RequestError(f"{asked.field}[{i}]", got, f"one of its {engine.node_count} nodes", UNPROCESSABLE)
    return found
