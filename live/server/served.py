"""The cluster that a server decides on: it follows events, those of an API server too; given nodes can stand in for its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.controlplane.admission import admit
from ...api.controlplane.defaults import with_defaults
from ...api.objects import KubeObject, Node, Pod, PriorityClass
from ...core.arrays.types import Rows
from ...core.engine import Engine
from ...core.release import Release
from ...core.run import Run
from ...exceptions import KubeclassicError
from ...framework.schedulerspec import ConfigMaps
from ...simulation.scenario import Scenario
from ..client.api import PODS, Api, Transport
from ..informers.informers import Informers, informers_of
from ..scheduler.writes import binding
from .bodies import UNPROCESSABLE, BindingArgs, NodesAsked, RequestError, read_object
from .serving import Worker

Identity = tuple[str, str]
Objects = dict[Identity, KubeObject]
MOST_ASKED = 2_000
"""Pods of earlier questions that are remembered, so that they can be bound."""
CONFLICT = 409


@attrs.define(eq=False)
class ServedCluster:
    """The objects of a cluster, and the engine that knows them. Not safe for threads: one thread has to own it.

    *make_engine* makes a new engine of the configuration; *defaults*: pods and nodes of requests get the defaults of the API server.
    """

    make_engine: Callable[[], Engine]
    defaults: bool = True
    objects: Objects = attrs.Factory(dict)
    run: Run = attrs.field(init=False)
    """What decides about the cluster's own nodes."""
    _guests: Run | None = None
    """Where nodes that were given stand in for the cluster's own; made when nodes of a request first differ from them."""
    _given: dict[str, Node] = attrs.Factory(dict)
    """The nodes that stand in now."""
    _read: dict[str, tuple[Mapping[str, Any], Node]] = attrs.Factory(dict)
    """Name -> a node's JSON form and what it says, of the latest request."""
    _asked: dict[str, Pod] = attrs.Factory(dict)
    """UID -> pod of an earlier question."""
    _classes: dict[Identity, PriorityClass] = attrs.Factory(dict)

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
        if isinstance(item, Pod):
            node_names = "", item.spec.node_name
            if isinstance(known, Pod) and (known.uid != item.uid or known.spec.node_name not in node_names):
                self.delete(known)
            if item.is_terminal:
                self.delete(item)
                return
        self.objects[_identity(item)] = item
        if isinstance(item, PriorityClass):
            self._classes[_identity(item)] = item
        self.run.put(item)
        if self._guests is not None:
            self._given.pop(item.name if isinstance(item, Node) else "", None)
            self._guests.put(item)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted; only its kind and key matter. An unknown object is ignored."""
        known = self.objects.pop(_identity(item), None)
        if known is None:
            return
        self._classes.pop(_identity(item), None)
        self.run.delete(known)
        if self._guests is not None:
            self._given.pop(known.name if isinstance(known, Node) else "", None)
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
        if asked.manifests is None:
            return self.engine, _rows(self.engine, asked)
        # What is as it was in the last request is not read again.
        read: dict[str, tuple[Mapping[str, Any], Node]] = {}
        for i, (name, manifest) in enumerate(zip(asked.names, asked.manifests, strict=True)):
            last = self._read.get(name)
            if last is None or last[0] != manifest:
                node = read_object("Node", manifest, f"Nodes.items[{i}]")
                last = manifest, with_defaults(node) if self.defaults else node
            read[name] = last
        self._read = read
        differing = {name: node for name, (_, node) in read.items() if not _is_same(self.objects.get((Node.kind, name)), node)}
        engine = self._beside(differing).engine if differing else self.engine
        return engine, _rows(engine, asked)

    def _beside(self, differing: Mapping[str, Node]) -> Run:
        """The run where these nodes stand in for the cluster's own, and others for themselves again."""
        if self._guests is None:
            self._guests = Run(self.make_engine())
            for item in self.objects.values():
                self._guests.put(item)
        for name in [name for name in self._given if name not in differing]:
            given, own = self._given.pop(name), self.objects.get((Node.kind, name))
            if own is None:
                self._guests.delete(given)
            else:
                self._guests.put(own)
        for name, node in differing.items():
            if self._given.get(name) != node:
                self._given[name] = node
                self._guests.put(node)
        return self._guests

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


def _identity(item: KubeObject) -> Identity:
    return item.kind, item.key


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


TOLERATED = 10.0
"""Seconds for which the API server may be away before answers say so: watches end and begin again."""
LOOK = 1.0
"""Seconds between two looks whether it is away."""
PAUSE = 1.0
"""Seconds until an API server that does not answer is asked once more."""


@attrs.define(eq=False, kw_only=True)
class Following:
    """Passes to *cluster* everything that a scheduler of *release* lists and watches through *transport*.

    A release asks for the versions of the API of its time. Here the newest version that the API server has is asked for, so that an old
    release can serve a newer cluster.
    """

    transport: Transport
    release: Release
    cluster: ServedCluster
    worker: Worker
    report: Callable[[str], None]
    """Is told of what fails or cannot be read, one line each, perhaps again and again."""
    news: Callable[[str], None] = lambda text: None
    """Is told when the API server is away for long, and when it is back."""
    on_event: Callable[[], None] = lambda: None
    is_complete: bool = False
    """Whether everything has been listed once."""
    _informers: Informers | None = None

    async def run(self, on_complete: Callable[[], None] = lambda: None) -> None:
        """List and watch until this is cancelled. Raises what the transport raises where no request can be sent at all."""
        try:
            await self._follow(on_complete)
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _follow(self, on_complete: Callable[[], None]) -> None:
        gates = self.cluster.engine.gates
        informers = self._informers = informers_of(self.release, gates, self.transport, self, self.report)
        async with asyncio.TaskGroup() as group:
            group.create_task(informers.run())
            await informers.synced()
            await self.worker.ask(self.cluster.engine.warm)
            self.is_complete = True
            on_complete()
            # Tell when the API server could not be followed for longer than is tolerated, and when it is followed again.
            before = 0.0
            while True:
                await asyncio.sleep(LOOK)
                behind = self.seconds_behind
                if before < TOLERATED <= behind:
                    self.news(f"the API server has not answered for {behind:.0f} s: answers say so, and /readyz fails")
                elif behind < TOLERATED <= before:
                    self.news(f"the API server answers again, after {before:.0f} s")
                before = behind

    @property
    def seconds_behind(self) -> float:
        """For how long the API server could not be followed; 0: it is."""
        return 0.0 if self._informers is None else self._informers.seconds_behind

    # --- events -----------------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object was added or changed."""
        self._submit(self.cluster.put, item)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""
        self._submit(self.cluster.delete, item)

    def _submit(self, change: Callable[[KubeObject], None], item: KubeObject) -> None:
        self.on_event()
        self.worker.submit(self._apply, change, replace(item, manifest=None))

    def _apply(self, change: Callable[[KubeObject], None], item: KubeObject) -> None:
        try:
            change(item)
        except KubeclassicError as error:
            self.report(f"{item.kind} {item.key}: {error}")

    # --- bindings ---------------------------------------------------------------------------------------------------

    async def write_binding(self, wanted: BindingArgs) -> str | None:
        """Bind a pod; the answer is the API server's error, or None."""
        body = binding(wanted.name, wanted.namespace, wanted.uid, wanted.node)
        try:
            await Api(self.transport).ask("POST", PODS, wanted.namespace, wanted.name, "binding", body)
        except KubeclassicError as error:
            return str(error)
        return None
