"""Everything that a scheduler of a release lists and watches.

Upstream: the informers that cmd/kube-scheduler starts.
"""

from __future__ import annotations

import asyncio
import random as standard
from collections.abc import Callable, Mapping

import attrs

from ...core.release import ClientCells, Release
from ..client.api import Api, OnRetry, Retries, uncounted
from ..client.resources import DEVICE_KINDS, resource
from ..client.transport import Transport
from .reflector import Reflector
from .store import Handler, Store


def retries_of(cells: ClientCells, on_retry: OnRetry = uncounted) -> Retries:
    """What the clients of a release send again."""
    return Retries(attempts=cells.attempts, after_closed=cells.resends_reads, watches=cells.resends_watches, on_retry=on_retry)


def listed(cells: ClientCells, gates: Mapping[str, bool]) -> Mapping[str, str]:
    """Kind -> the version of the API in which a scheduler with *gates* lists and watches it."""
    has_devices = cells.device_api and gates.get("DynamicResourceAllocation", False)
    return {**cells.resources, **(dict.fromkeys(DEVICE_KINDS, cells.device_api) if has_devices else {})}


def informers_of(
    release: Release, gates: Mapping[str, bool], transport: Transport, handler: Handler, report: Callable[[str], None],
    on_retry: OnRetry = uncounted,
) -> Informers:  # fmt: skip
    """What a scheduler of *release* with *gates* lists and watches; see :class:`Informers`."""
    cells = attrs.evolve(release.client, resources=listed(release.client, gates))
    return Informers(transport, cells, handler, report, on_retry=on_retry)


@attrs.define(eq=False)
class Informers:
    """Lists and watches all kinds of *cells* through *transport*, and calls *handler* for every change, on the running loop.

    ``async with asyncio.TaskGroup() as group: group.create_task(informers.run())``; :meth:`synced` waits for the first lists.
    """

    transport: Transport
    cells: ClientCells
    handler: Handler
    report: Callable[[str], None]
    """Is told of what fails or cannot be read, one line each."""
    random: Callable[[], float] = standard.random
    on_retry: OnRetry = uncounted
    """Told of requests that are sent again."""
    reflectors: Mapping[str, Reflector] = attrs.field(init=False)
    """Kind -> its reflector."""

    def __attrs_post_init__(self) -> None:
        api = Api(self.transport, retries_of(self.cells, self.on_retry))
        self.reflectors = {kind: self._reflector(api, kind) for kind in self.cells.resources}

    def _reflector(self, api: Api, kind: str) -> Reflector:
        is_pods = kind == "Pod"
        return Reflector(
            api,
            resource(kind, self.cells.resources[kind]),
            Store(kind, self.handler, self.report),
            self.cells,
            self.random,
            self.report,
            field_selector=self.cells.pod_selector if is_pods else "",
            sends_duration=self.cells.pods_send_duration if is_pods else self.cells.sends_duration,
        )

    async def run(self) -> None:
        """List and watch until this is cancelled."""
        async with asyncio.TaskGroup() as group:
            for kind, reflector in self.reflectors.items():
                group.create_task(reflector.run(), name=f"informer of {kind}")

    @property
    def has_synced(self) -> bool:
        """Whether every kind has been listed once."""
        return not self.unlisted

    @property
    def unlisted(self) -> list[str]:
        """The kinds that have not been listed once."""
        return [kind for kind, reflector in self.reflectors.items() if not reflector.synced.is_set()]

    @property
    def seconds_behind(self) -> float:
        """For how long some kind could not be followed; 0: all can."""
        return max((one.seconds_behind for one in self.reflectors.values()), default=0.0)

    async def synced(self) -> None:
        """Wait until every kind has been listed once."""
        for reflector in self.reflectors.values():
            await reflector.synced.wait()

    def store(self, kind: str) -> Store:
        """The objects of *kind*, one of the cells' resources."""
        return self.reflectors[kind].store
