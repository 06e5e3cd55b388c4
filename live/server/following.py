"""A server's cluster that follows an API server: what is listed and watched there, and bindings that are written there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import attrs
from msgspec.structs import replace

from ...api.objects import KubeObject
from ...core.release import Release
from ...exceptions import KubeclassicError
from ..client.api import Api, ApiError
from ..client.resources import VERSIONS, resource
from ..client.transport import Transport, TransportError
from ..informers.informers import Informers, listed
from .bodies import BindingArgs
from .served import ServedCluster
from .serving import Worker

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
    is_complete: bool = attrs.field(default=False, init=False)
    """Whether everything has been listed once."""
    _informers: Informers | None = attrs.field(default=None, init=False)

    async def run(self, on_complete: Callable[[], None] = lambda: None) -> None:
        """List and watch until this is cancelled. Raises what the transport raises where no request can be sent at all."""
        try:
            await self._follow(on_complete)
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _follow(self, on_complete: Callable[[], None]) -> None:
        cells = attrs.evolve(self.release.client, resources=await self._resources())
        informers = self._informers = Informers(self.transport, cells, self, self.report)
        async with asyncio.TaskGroup() as group:
            group.create_task(informers.run())
            await informers.synced()
            await self.worker.ask(self.cluster.engine.warm)
            self.is_complete = True
            on_complete()
            await self._tell_absence()

    async def _tell_absence(self) -> None:
        """Tell when the API server could not be followed for longer than is tolerated, and when it is followed again."""
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

    # --- which versions ---------------------------------------------------------------------------------------------

    async def _resources(self) -> Mapping[str, str]:
        """Kind -> the newest version that the API server has; without kinds that it has not."""
        found: dict[str, str] = {}
        for kind in listed(self.release.client, self.cluster.engine.gates):
            version = await self._version(kind)
            if version is None:
                self.report(f"{kind}: the API server has none, so there are none")
            else:
                found[kind] = version
        return found

    async def _version(self, kind: str) -> str | None:
        versions = VERSIONS[kind]
        if len(versions) == 1:
            return versions[0]
        for version in versions:
            if resource(kind, version).plural in await self._offered(version):
                return version
        return None

    async def _offered(self, group_version: str) -> frozenset[str]:
        """The resources of a version of an API group; asks until there is an answer."""
        while True:
            try:
                return await Api(self.transport).offered(group_version)
            except TransportError as error:
                self.report(str(error))
            except ApiError as error:
                self.report(f"GET /apis/{group_version}: {error}")
            await asyncio.sleep(PAUSE)

    # --- bindings ---------------------------------------------------------------------------------------------------

    async def write_binding(self, wanted: BindingArgs) -> str | None:
        """Bind a pod; the answer is the API server's error, or None."""
        metadata = {"name": wanted.name, "namespace": wanted.namespace, **({"uid": wanted.uid} if wanted.uid else {})}
        body = {"kind": "Binding", "apiVersion": "v1", "metadata": metadata, "target": {"kind": "Node", "name": wanted.node}}
        try:
            await Api(self.transport).bind(wanted.namespace, wanted.name, body)
        except KubeclassicError as error:
            return str(error)
        return None
