"""Leader election: of several replicas one schedules, and another takes over when it stops.

A replica never compares the times in the lock with its own clock. It only sees that the lock changes: as long
as it does, somebody leads. So clocks may differ as much as they like, as long as they run at about the same
speed.

Two writers of the Lease cannot both succeed: each sends the object's resourceVersion back, and the API server
refuses the second one with 409.

The lease has a thread: a single event loop does all else, watches, cycles, bindings, events. In a burst a
request of many turns of that loop takes seconds, and the leader would lose its lease. So the requests for the
lock have a thread, a loop and a connection of their own.

Upstream: client-go, tools/leaderelection/leaderelection.go.
"""

from __future__ import annotations

import asyncio
import math
import random
import socket
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from threading import Thread
from typing import Any

import msgspec
from attrs import Factory, define, field, frozen
from msgspec.structs import replace

from ...api.load import metadata_of
from ...api.objects import Int32, JsonDict, JsonObject
from ...exceptions import KubeclassicError
from ..client.api import NOT_THERE, Api, ApiError, Retries, Transport, TransportError, loop_time, resource
from ..client.http import Access, HttpTransport
from ..process.logs import WARNING, Log
from .events import Recorder, Reference

LEASES = resource("Lease", "coordination.k8s.io/v1")
ONCE = Retries(attempts=1)


class LeaseRecord(msgspec.Struct, frozen=True, rename="camel"):
    """The spec of a Lease. Its times are those of the holder's clock, so they are not compared with other
    clocks."""

    holder_identity: str = ""
    """The holder of the lease; empty: it has none."""
    lease_duration_seconds: Int32 = 0
    """The duration of the lease without a renewal."""
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: Int32 = 0
    """The number of changes of the leader."""

    def within(self, lease: JsonObject) -> JsonDict:
        """*lease* with this record in its spec."""
        spec = {**(lease.get("spec") or {}), **msgspec.to_builtins(self)}
        return {**lease, "kind": LEASES.kind, "apiVersion": LEASES.group_version, "spec": spec}


@define
class LeaseLock:
    """A lock that is one Lease. Its methods raise ``ApiError`` or ``TransportError``."""

    transport: Transport
    namespace: str
    name: str
    timeout: float
    """Seconds that a request may take."""
    _lease: JsonDict = Factory(dict)

    @property
    def place(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"

    async def read(self) -> LeaseRecord | None:
        """The record in the lock now; None: there is none."""
        try:
            await self._ask("GET", self.name)
        except ApiError as error:
            if error.status == NOT_THERE:
                return None
            raise
        try:
            spec = dict(self._lease.get("spec") or {})
            return msgspec.convert(
                {key: value for key, value in spec.items() if value is not None}, LeaseRecord
            )
        except (TypeError, ValueError) as error:
            raise ApiError(200, "", f"{LEASES.plural} {self.place}: {error}") from None

    async def create(self, record: LeaseRecord) -> None:
        """Make the lock."""
        await self._ask(
            "POST", "", record.within({"metadata": {"name": self.name, "namespace": self.namespace}})
        )

    async def update(self, record: LeaseRecord) -> None:
        """Write *record*, if the lock has not changed since it was read."""
        await self._ask("PUT", self.name, record.within(self._lease))

    def reference(self) -> Reference:
        """The object that events about the leader are about."""
        meta = metadata_of(self._lease)
        return Reference(
            kind=LEASES.kind,
            namespace=self.namespace,
            name=self.name,
            uid=str(meta.get("uid", "")),
            api_version=LEASES.group_version,
            resource_version=str(meta.get("resourceVersion", "")),
        )

    async def _ask(self, method: str, name: str, written: JsonObject | None = None) -> None:
        self._lease = await Api(self.transport, ONCE).ask(
            method, LEASES, self.namespace, name, body=written, timeout=self.timeout
        )


JITTER = 1.2
"""A replica that waits for its turn waits one retry period and up to this many more."""
TOLERANCE = 20.0
"""Seconds after the end of its lease after which a leader that has not ended calls itself unhealthy."""


class LeaderLostError(KubeclassicError):
    """This replica led, and could not renew its lease in time."""


@frozen
class LeaseTimes:
    """The times of an election, in seconds."""

    lease: float = 15.0
    """The wait of others after the last change of the lock before one of them takes over."""
    renew: float = 10.0
    """The time for which the leader tries to renew before it gives up."""
    retry: float = 2.0

    @property
    def request(self) -> float:
        """The time limit of a request for the lock: half of the time for a renewal, so that there is a second
        try."""
        return max(1.0, self.renew / 2)


def new_identity() -> str:
    """The name of this process among the replicas: that of the host, and something that no other process
    has."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


@define(eq=False)
class Elector:
    """One replica. :meth:`lead` waits until it leads, does the work, and ends when it leads no more.

    The work and the requests for the lock may run on two threads, so that work that takes all of its thread
    does not hold renewals up.
    """

    lock: LeaseLock
    times: LeaseTimes = LeaseTimes()
    identity: str = Factory(new_identity)
    recorder: Recorder = Factory(Recorder)
    """Records an event when this replica becomes the leader."""
    log: Log = Factory(Log)
    on_change: Callable[[bool], None] = lambda leads: None
    """Called with whether this replica leads, at the start and with each change."""
    wall: Callable[[], float] = time.time
    """Seconds since 1970, for the times in the lock."""
    dice: random.Random = Factory(random.Random)
    apart: Callable[[Coroutine[Any, Any, None]], Awaitable[None]] = asyncio.ensure_future
    """Runs the requests for the lock, perhaps on another thread than the work."""
    renews_unread: bool = False
    """As :attr:`~kubeclassic.core.release.ClientCells.renews_unread`."""
    leads: bool = False
    _observed: LeaseRecord = field(default=LeaseRecord(), init=False)
    _last_read: LeaseRecord = field(default=LeaseRecord(), init=False)
    _observed_at: float = -math.inf
    _renewed_at: float = -math.inf

    # --- what is known --------------------------------------------------------------------------------------

    @property
    def leader(self) -> str:
        """The holder of the lock as far as it is known here; empty if there is none."""
        return self._observed.holder_identity

    @property
    def has_lock(self) -> bool:
        """Whether the lock named this replica when it was last read or written."""
        return self._observed.holder_identity == self.identity

    @property
    def holds_lease(self) -> bool:
        """Whether this replica leads and its lease has not run out. No other can have taken over yet, even if
        it saw the last renewal at once."""
        return self.leads and loop_time() < self._renewed_at + self.times.lease

    def fault(self) -> str:
        """The fault that the health check ``leaderElection`` reports; empty if there is none.

        Upstream: a replica that waits is healthy, and so is a leader until long after it should have ended.
        """
        if not self.has_lock or loop_time() - self._observed_at <= self.times.lease + TOLERANCE:
            return ""
        return f"failed election to renew leadership on lease {self.lock.place.partition('/')[2]}"

    # --- leading --------------------------------------------------------------------------------------------

    async def lead(self, work: Callable[[], Awaitable[None]]) -> None:
        """Wait until this replica leads, then run *work* until it ends or the lease is lost.

        Raises :class:`LeaderLostError` when the lease is lost. When the caller cancels this, *work* is
        cancelled, and then the lock is given back.
        """
        self.on_change(False)
        loop = asyncio.get_running_loop()
        acquired = asyncio.Event()
        campaign = asyncio.ensure_future(
            self.apart(self._campaign(partial(loop.call_soon_threadsafe, acquired.set)))
        )

        async def begun() -> None:
            await acquired.wait()
            self._tell("became leader")
            self.on_change(True)
            self.log.info(f"successfully acquired lease {self.lock.place}")
            await work()

        working = asyncio.ensure_future(begun())
        try:
            await asyncio.wait((working, campaign), return_when=asyncio.FIRST_COMPLETED)
            is_lost = campaign.done() and not working.done()
        finally:
            for task in (working, campaign):
                task.cancel()
            # Their errors are read later, or reported by the loop.
            await asyncio.gather(working, campaign, return_exceptions=True)
            if self.leads:
                self.leads = False
                self.on_change(False)
                if self.has_lock:
                    await self.apart(self._release())
                self._tell("stopped leading")
        if is_lost:
            campaign.result()
            raise LeaderLostError("lost lease")
        working.result()

    async def _campaign(self, on_acquired: Callable[[], object]) -> None:
        """Wait until this replica has the lock, then renew it until that fails."""
        self.log.info(f"attempting to acquire leader lease {self.lock.place}...")
        while not await self.attempt():
            await asyncio.sleep(self.times.retry * (1 + self.dice.random() * JITTER))
        self.leads = True
        on_acquired()
        while await self._renew():
            await asyncio.sleep(self.times.retry)
        self.log.warning(f"failed to renew lease {self.lock.place}: timed out waiting for the condition")

    async def _renew(self) -> bool:
        """Whether the lease was renewed within the deadline. Upstream: ticks that come during a try are
        skipped."""
        try:
            async with asyncio.timeout(self.times.renew):
                if await self.attempt():
                    return True
                start = loop_time()
                tick = 1
                while True:
                    tick = max(tick, math.floor((loop_time() - start) / self.times.retry) + 1)
                    await asyncio.sleep(start + tick * self.times.retry - loop_time())
                    if await self.attempt():
                        return True
                    tick += 1
        except TimeoutError:
            return False

    async def _release(self) -> None:
        """Give the lock back. A renewal that was under way may have been written, so after a refusal the lock
        is read once more."""
        now = self._date()
        record = LeaseRecord("", 1, now, now, self._observed.lease_transitions)
        try:
            try:
                await self.lock.update(record)
            except ApiError:
                current = await self.lock.read()
                if current is not None and current.holder_identity != self.identity:
                    return
                await self.lock.update(record)
        except (ApiError, TransportError) as error:
            self.log.warning(f"Failed to release lock: {error}")
            return
        self._remember(record)

    def _tell(self, what: str) -> None:
        self.recorder.event(self.lock.reference(), "Normal", "LeaderElection", f"{self.identity} {what}")

    # --- one try --------------------------------------------------------------------------------------------

    async def attempt(self) -> bool:
        """Try once to get the lock, or to renew it; whether it worked."""
        start = loop_time()
        now = self._date()
        own_record = LeaseRecord(self.identity, int(self.times.lease), now, now, 0)
        known = self._observed
        is_valid = self._observed_at + known.lease_duration_seconds > start
        if self.renews_unread and self.has_lock and is_valid:
            renewed = replace(
                own_record, acquire_time=known.acquire_time, lease_transitions=known.lease_transitions
            )
            try:
                await self.lock.update(renewed)
            except (ApiError, TransportError) as error:
                self.log.news(f"Failed to update lease optimistically, falling back to slow path: {error}")
            else:
                self._remember(renewed)
                self._renewed_at = start
                return True
        try:
            old = await self.lock.read()
            if old is None:
                await self.lock.create(own_record)
            else:
                if old != self._last_read:
                    self._last_read = old
                    self._remember(old)
                if self.has_lock:
                    own_record = replace(
                        own_record, acquire_time=old.acquire_time, lease_transitions=old.lease_transitions
                    )
                elif old.holder_identity and self._observed_at + old.lease_duration_seconds > start:
                    # Another replica holds the lock, which has changed within the duration that it states.
                    self.log.news(f"lock is held by {self.leader} and has not yet expired")
                    return False
                else:
                    own_record = replace(own_record, lease_transitions=old.lease_transitions + 1)
                await self.lock.update(own_record)
        except (ApiError, TransportError) as error:
            self.log.news(str(error), WARNING)
            return False
        self._remember(own_record)
        self._renewed_at = start
        return True

    def _remember(self, record: LeaseRecord) -> None:
        self._observed, self._observed_at = record, loop_time()

    def _date(self) -> str:
        """The time as the API writes it, in microseconds."""
        return datetime.fromtimestamp(self.wall(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@define(eq=False)
class LeaseThread:
    """A thread for the requests for the lock. Use it as ``async with``."""

    access: Access
    link: HttpTransport = field(init=False)
    """The connection for the work of :meth:`run`."""
    _loop: Future[asyncio.AbstractEventLoop] = Factory(Future)
    _end: asyncio.Event = Factory(asyncio.Event)
    _thread: Thread = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.link = HttpTransport(self.access)
        self._thread = Thread(target=lambda: asyncio.run(self._serve()), name="lease", daemon=True)

    async def __aenter__(self) -> LeaseThread:
        self._thread.start()
        await asyncio.wrap_future(self._loop)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._loop.result().call_soon_threadsafe(self._end.set)
        await asyncio.to_thread(self._thread.join)

    async def _serve(self) -> None:
        try:
            async with self.link:
                self._loop.set_result(asyncio.get_running_loop())
                await self._end.wait()
        except KubeclassicError as error:  # there are no credentials
            self._loop.set_exception(error)

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run *work* on the thread and wait for its end."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop.result()))
