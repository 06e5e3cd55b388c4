"""The lists and watches of a release's scheduler: each kind by a reflector, which begins again after a
failure.

The requests are those of the original, one by one.

Upstream: the informers that cmd/kube-scheduler starts, and k8s.io/client-go/tools/cache/reflector.go of each
release; DeltaFIFO and sharedIndexInformer there.
"""

from __future__ import annotations

import asyncio
import random as standard
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import partial

from attrs import Factory, define, evolve, field
from msgspec.structs import replace

from ...api.cluster import Follower
from ...api.load import metadata_of
from ...api.objects import KubeObject
from ...api.reading import decode_kind, shown
from ...core.release import ClientCells, Release
from ...exceptions import ManifestError
from ..client.api import (
    CLOSED,
    DEVICE_KINDS,
    NOT_THERE,
    PAGE,
    REFUSED,
    RESET,
    TIMEOUT,
    VERSIONS,
    Api,
    ApiError,
    Manifest,
    Resource,
    Retries,
    Transport,
    TransportError,
    WatchEvent,
    loop_time,
    resource,
)

Report = Callable[[str], None]
"""A function that gets a line for each failure or unreadable object."""
DECODED_AT_ONCE = 200
"""Objects that are decoded before others get their turn."""


@define(eq=False)
class Store:
    """The objects of *kind* by key, decoded. One that cannot be decoded, or has no name, is reported once,
    and its last good state stays."""

    kind: str
    handler: Follower
    report: Report
    """The receiver of a line for each object that cannot be decoded."""
    _objects: dict[str, KubeObject] = Factory(dict)
    _unreadable: set[str] = Factory(set)
    """Keys of objects that were reported."""

    async def replace(self, manifests: Iterable[Manifest]) -> None:
        """Make a list the whole content: put its objects, even those that did not change, then delete the
        others.

        Upstream: an informer reports every object of a second list.
        """
        listed = set()
        decoded = []
        for number, manifest in enumerate(manifests, 1):
            listed.add(_key(manifest))
            if (readable := self._decoded(manifest)) is not None:
                decoded.append(readable)
            if number % DECODED_AT_ONCE == 0:
                await asyncio.sleep(0)
        for item in decoded:
            self._put(item)
        for key in [key for key in self._objects if key not in listed]:
            self._delete(key)
        self._unreadable &= listed

    def put(self, manifest: Manifest) -> None:
        """An object was added or changed."""
        if (item := self._decoded(manifest)) is not None:
            self._put(item)

    def delete(self, manifest: Manifest) -> None:
        """An object was deleted; *manifest* is its last state."""
        key = _key(manifest)
        self._unreadable.discard(key)
        last = self._decoded(manifest) if key in self._objects else None
        if last is not None:
            self._objects[key] = last
        self._delete(key)

    def _put(self, item: KubeObject) -> None:
        self._objects[item.key if item.namespaced else item.name] = item
        self.handler.put(item)

    def _delete(self, key: str) -> None:
        item = self._objects.pop(key, None)
        if item is not None:
            self.handler.delete(item)

    def _decoded(self, manifest: Manifest) -> KubeObject | None:
        key = _key(manifest)
        try:
            item = decode_kind(self.kind, manifest, strict=False, keeps_manifest=True)
            if item is not None and not item.name:
                raise ManifestError(f"{self.kind}: got one without a name")
        except ManifestError as error:
            if key not in self._unreadable:
                self._unreadable.add(key)
                self.report(f"{error}; it is ignored")
            return None
        self._unreadable.discard(key)
        return item


def _key(manifest: Manifest) -> str:
    """``namespace/name``, or ``name`` without a namespace."""
    metadata = metadata_of(manifest)
    namespace = metadata.get("namespace")
    name = metadata.get("name")
    return f"{namespace}/{name}" if namespace else str(name)


WATCH_AT_LEAST = 300
"""Seconds; a watch may last twice as long."""
SHORT = 1.0
"""A watch that ends within these seconds, without an event, has failed."""
LONGEST_SILENCE = 150.0
"""Seconds without a bookmark after which a server counts as away: it sends one a minute."""
TOO_LARGE = "Too large resource version"
ABSENT_PAUSE = 60.0
"""Seconds between two checks whether the server has the resource by now."""


@define(eq=False)
class Reflector:
    """A loop that keeps *store* as *resource* is, until it is cancelled; nothing that the server does ends
    it.

    Where the server does not have the version of *resource*, the newest one that it has takes its place. A
    kind that it does not have at all counts as empty. Upstream keeps asking, and the scheduler never begins.

    *random* (0 to 1) decides on pauses and on the time-outs of watches. Times are those of the running loop.
    """

    api: Api
    resource: Resource
    store: Store
    cells: ClientCells
    random: Callable[[], float]
    report: Report
    """The receiver of a line for each list or watch that failed."""
    field_selector: str = ""
    sends_duration: bool = True
    synced: asyncio.Event = Factory(asyncio.Event)
    """Set after the first list."""
    resource_version: str = ""
    """The last one seen."""
    is_absent: bool = False
    """The server does not have the resource in any version."""
    lost_at: float | None = None
    """The time when the server stopped answering; None: it answers."""
    _heard_at: float | None = None
    """The time of this watch's last event, if it had a bookmark; None: the server may send none."""
    _is_unavailable: bool = False
    """The last resourceVersion was refused by a list."""
    _is_paged: bool = False
    """The first list came in pages, so the server has no watch cache."""
    _pauses: Pauses = field(init=False)
    _watch_pauses: Pauses = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._pauses = Pauses(*self.cells.pauses, self.random)
        self._watch_pauses = Pauses(*self.cells.pauses, self.random)

    async def run(self) -> None:
        """List and watch, again and again."""
        while True:
            try:
                await self._list_in_some_version()
                if not self.is_absent:
                    await self._watch()
            except (ApiError, TransportError) as error:
                self._note_loss()
                if not (isinstance(error, ApiError) and error.is_expired):
                    if isinstance(error, ApiError):
                        text = f"{error.status} {error.reason}: {error}"
                    else:
                        text = str(error)
                    self.report(f"{self.resource.plural}: {' '.join(text.split())}; it is tried again")
            await asyncio.sleep(ABSENT_PAUSE if self.is_absent else self._pauses.next(loop_time()))

    # --- lists ----------------------------------------------------------------------------------------------

    async def _list_in_some_version(self) -> None:
        """List; if the server does not have this version of the resource, list another one that it has."""
        try:
            await self._list()
        except ApiError as error:
            versions = VERSIONS[self.resource.kind]
            before = self.resource.group_version
            if error.status != NOT_THERE or len(versions) == 1:
                raise
            # The newest version that the server has; None if it has none.
            newest = None
            for version in versions:
                if newest is None and self.resource.plural in await self.api.offered(version):
                    newest = version
            if newest == before or (newest is None and not self.is_absent and self.synced.is_set()):
                raise  # There were some, so this may be a fault that passes.
            if newest is None:
                if not self.is_absent:
                    self.report(f"{self.resource.plural}: the API server has none, so there are none")
                self.is_absent = True
                self.lost_at = None
                self.synced.set()
                return
            self.resource = evolve(self.resource, group_version=newest)
            self.report(f"{self.resource.plural}: the API server has no {before}, so {newest} is read")
            await self._list()
        self.is_absent = False

    async def _list(self) -> None:
        relists = self.cells.relists_from_last
        version = self.resource_version
        if not relists or not version:
            version = "0"
        if self._is_unavailable:
            version = ""
        ask = partial(
            self.api.list,
            self.resource,
            limit=0 if version not in ("", "0") and not self._is_paged else PAGE,
            field_selector=self.field_selector,
            keeps_version=not relists,
        )
        try:
            listing = await ask(version)
        except ApiError as error:
            # A resourceVersion is too old, or one that the server has not reached yet.
            named = any(
                cause.reason == "ResourceVersionTooLarge" or cause.message == TOO_LARGE
                for cause in error.causes
            )
            is_too_large = named or (error.reason == "Timeout" and TOO_LARGE in error.message)
            if not relists or not (error.is_expired or is_too_large):
                raise
            self._is_unavailable = True
            listing = await ask("")
        if version == "0" and listing.was_paged:
            self._is_paged = True
        self._is_unavailable = False
        await self.store.replace(listing.items)
        self.resource_version = listing.resource_version
        self.lost_at = None
        self.synced.set()

    # --- watches --------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Watch, and watch again from the last version seen, until that fails."""
        while True:
            begin = loop_time()
            version = self.resource_version
            try:
                async with self.api.watch(
                    self.resource,
                    version,
                    int(WATCH_AT_LEAST * (self.random() + 1.0)),
                    bookmarks=self.cells.bookmarks,
                    sends_duration=self.sends_duration,
                    field_selector=self.field_selector,
                ) as events:
                    self.lost_at = self._heard_at = None
                    await self._follow(events)
            except TransportError as error:
                self._note_loss()
                if error.cause == REFUSED and self.cells.rewatches_refused:
                    await asyncio.sleep(self._watch_pauses.next(loop_time()))
                    continue
                if error.cause not in (CLOSED, RESET, TIMEOUT):
                    raise
            except ApiError as error:
                if error.status != 429 or not self.cells.rewatches_limited:
                    raise
                await asyncio.sleep(self._watch_pauses.next(loop_time()))
                continue
            if loop_time() - begin < SHORT and version == self.resource_version:
                raise TransportError(
                    f"{self.resource.path()}: the watch ended within a second, without an event"
                )

    async def _follow(self, events: AsyncIterator[WatchEvent]) -> None:
        path = self.resource.path()
        expected = [self.resource.kind, self.resource.group_version]
        async for event in events:
            got = [event.object.get("kind") or expected[0], event.object.get("apiVersion") or expected[1]]
            if got == expected:
                self._take(event)
            else:
                words = " of ".join(map(shown, got))
                self.report(f"{path}: expected {' of '.join(expected)}, got {words}; it is ignored")

    def _take(self, event: WatchEvent) -> None:
        if event.type in ("ADDED", "MODIFIED"):
            self.store.put(event.object)
        elif event.type == "DELETED":
            self.store.delete(event.object)
        elif event.type != "BOOKMARK":
            self.report(f"{self.resource.path()}: got an event {event.type}, which is ignored")
        if event.type == "BOOKMARK" or self._heard_at is not None:
            self._heard_at = loop_time()
        self.resource_version = str(metadata_of(event.object).get("resourceVersion") or self.resource_version)

    @property
    def seconds_behind(self) -> float:
        """For how long the server has not answered, or sent no bookmark on a watch that had some; 0: it is
        followed."""
        if self.lost_at is not None:
            return loop_time() - self.lost_at
        silent = 0.0 if self._heard_at is None else loop_time() - self._heard_at
        return silent if silent > LONGEST_SILENCE else 0.0

    def _note_loss(self) -> None:
        if self.lost_at is None:
            self.lost_at = loop_time()


FORGOTTEN_AFTER = 120.0
"""Seconds without a pause after which the next one is the shortest."""


@define
class Pauses:
    """Pauses in seconds that double from *shortest* to *longest*; *random* (0 to 1) adds up to the pause
    itself.

    Where both are equal, every pause is that long.

    >>> pauses = Pauses(0.8, 30.0, lambda: 0.5)
    >>> [round(pauses.next(0.0), 1) for _ in range(7)]
    [1.2, 2.4, 4.8, 9.6, 19.2, 38.4, 45.0]
    """

    shortest: float
    longest: float
    random: Callable[[], float]
    _base: float = field(default=Factory(lambda self: self.shortest, takes_self=True), init=False)
    _last: float = float("-inf")

    def next(self, now: float) -> float:
        """The pause that begins *now*."""
        if self.shortest == self.longest:
            return self.shortest
        if now - self._last > FORGOTTEN_AFTER:
            self._base = self.shortest
        self._last = now
        base = self._base
        self._base = min(self._base * 2, self.longest)
        return base * (1 + self.random())


def retries_of(cells: ClientCells) -> Retries:
    """The requests that the clients of a release repeat."""
    return Retries(attempts=cells.attempts, after_closed=cells.resends_reads, watches=cells.resends_watches)


def listed(cells: ClientCells, gates: Mapping[str, bool]) -> Mapping[str, str]:
    """Kind -> the version of the API in which a scheduler with *gates* lists and watches it."""
    has_devices = cells.device_api and gates.get("DynamicResourceAllocation", False)
    return {**cells.resources, **(dict.fromkeys(DEVICE_KINDS, cells.device_api) if has_devices else {})}


def informers_of(
    release: Release, gates: Mapping[str, bool], transport: Transport, handler: Follower, report: Report
) -> Informers:
    """The informers of a scheduler of *release* with *gates*; see :class:`Informers`."""
    resources = listed(release.client, gates)
    return Informers(transport, replace(release.client, resources=resources), handler, report)


@define(eq=False)
class Informers:
    """Lists and watches all kinds of *cells* through *transport*, and calls *handler* for every change, on
    the running loop.

    ``async with asyncio.TaskGroup() as group: group.create_task(informers.run())``; :meth:`synced` waits for
    the first lists.
    """

    transport: Transport
    cells: ClientCells
    handler: Follower
    report: Report
    """The receiver of a line for each failure or unreadable object."""
    random: Callable[[], float] = standard.random
    reflectors: dict[str, Reflector] = Factory(dict)
    """Kind -> its reflector."""

    def __attrs_post_init__(self) -> None:
        api = Api(self.transport, retries_of(self.cells))
        cells = self.cells
        for kind, version in cells.resources.items():
            store = Store(kind, self.handler, self.report)
            is_pods = kind == "Pod"
            self.reflectors[kind] = Reflector(
                api,
                resource(kind, version),
                store,
                cells,
                self.random,
                self.report,
                field_selector=cells.pod_selector if is_pods else "",
                sends_duration=cells.pods_send_duration if is_pods else cells.sends_duration,
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
        return max((reflector.seconds_behind for reflector in self.reflectors.values()), default=0.0)

    async def synced(self) -> None:
        """Wait until every kind has been listed once."""
        for reflector in self.reflectors.values():
            await reflector.synced.wait()
