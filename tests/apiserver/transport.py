"""The server in process as a transport of ``kubeclassic.live``, with faults where a test wants them."""

import asyncio
from contextlib import asynccontextmanager

import attrs

from kubeclassic.live.client.api import Response, Stream, TransportError

from .answers import Answer, encode_text, status_body

BOOKMARK_PERIOD = 60.0
BOOKMARK_BEFORE_END = 2.0


@attrs.frozen
class Fault:
    """The faults of one request; by default none."""

    delay: float = 0
    """Seconds before the server sees the request."""
    slow: float = 0
    """Seconds between what the server did and its answer."""
    is_dropped: bool = False
    """The connection breaks before the server has seen the request."""
    is_lost: bool = False
    """The server carries the request out, and the answer is lost."""
    answer: Answer = None
    """This is the answer, and the server has not seen the request; such as ``refused(500)`` or
    ``too_many_requests()``."""
    after: Answer = None
    """The server carries the request out, and this is the answer: it gave up waiting for its store, as while
    etcd is away."""
    cut_after: int = None
    """A watch breaks after so many events."""
    is_expired: bool = False
    """A watch is answered with ERROR 410."""


NO_FAULT = Fault()


def refused(code, reason="", message="made up"):
    """A fault that is an answer with a Status body."""
    return Fault(answer=Answer(code, status_body(code, reason, message)))


def timed_out(code=504, reason="Timeout", message="request did not complete within requested timeout"):
    """A request that is carried out while the server says that it took too long."""
    return Fault(slow=1.0, after=Answer(code, status_body(code, reason, message)))


@attrs.define
class StoreTransport:
    """A :class:`~kubeclassic.live.client.api.Transport` over a store; no sockets."""

    store: object
    faults: object = lambda request: NO_FAULT
    """Asked once for each request."""
    requests: list = attrs.field(factory=list)
    """All requests, if ``records`` is true, in order."""
    records: bool = False

    async def send(self, request):
        """The answer to *request*."""
        fault = self._noted(request)
        answer = await self._answered(request, fault)
        if answer.watch is not None:
            answer.watch.leave()
            raise TransportError(f"{request.method} {request.path}: expected an answer, got a watch")
        return Response(answer.status, answer.encoded(), answer.headers)

    @asynccontextmanager
    async def stream(self, request):
        """A context with the answer to *request*, line by line."""
        fault = self._noted(request)
        answer = await self._answered(request, fault)
        if answer.watch is None:
            yield Stream(answer.status, answer.headers, _lines(answer.encoded()))
            return
        lines = _expired(self.store) if fault.is_expired else frames(answer.watch, fault.cut_after)
        try:
            yield Stream(answer.status, answer.headers, lines)
        finally:
            answer.watch.leave()

    def _noted(self, request):
        if self.records:
            self.requests.append(request)
        return self.faults(request)

    async def _answered(self, request, fault):
        await _wait(fault.delay, request)
        if fault.is_dropped:
            raise TransportError(f"{request.method} {request.path}: the connection broke")
        answer = fault.answer or self._handled(request)
        await _wait(fault.slow, request)
        if fault.is_lost:
            raise TransportError(f"{request.method} {request.path}: no answer came")
        return fault.after or answer

    def _handled(self, request):
        headers = {name.lower(): value for name, value in request.headers.items()}
        return self.store.handle(request.method, request.path, request.query, request.body, headers)


async def _wait(seconds, request):
    """Wait, at most until the request's own time-out is over; a wait of 0 lets others run."""
    if request.timeout is not None and seconds >= request.timeout:
        await asyncio.sleep(request.timeout)
        raise TransportError(f"{request.method} {request.path}: no answer within {request.timeout:g} s")
    await asyncio.sleep(seconds)


async def _lines(body):
    for line in body.splitlines():
        yield line


async def _expired(store):
    message = f"too old resource version: 1 ({store.storage.revision})"
    status = status_body(410, store.flavour.too_old_reason, message)
    yield encode_text({"type": "ERROR", "object": status}).encode()


async def frames(watch, cut_after=None):
    """The frames of a watch until its time-out or end, with bookmarks a minute apart and one shortly before
    the end."""
    loop = asyncio.get_running_loop()
    awake = asyncio.Event()
    watch.on_event = awake.set
    start = loop.time()
    end = None if watch.timeout is None else start + watch.timeout
    bookmarks = _bookmark_times(watch, start, end)
    due = next(bookmarks, None)
    sent = 0
    while True:
        while watch.events:
            if cut_after is not None and sent >= cut_after:
                raise TransportError("the watch broke")
            sent += 1
            yield watch.events.popleft().line
        now = loop.time()
        if watch.is_closed or (end is not None and now >= end):
            return
        if due is not None and now >= due and watch.bookmark is not None:
            watch.send(watch.bookmark())
            due = next(bookmarks, None)
            continue
        awake.clear()
        await _until(awake, min((moment for moment in (end, due) if moment is not None), default=None))


def _bookmark_times(watch, start, end):
    if not watch.has_bookmarks:
        return
    moment = start + BOOKMARK_PERIOD
    while end is None or moment < end - BOOKMARK_BEFORE_END:
        yield moment
        moment += BOOKMARK_PERIOD
    if end is not None and end - BOOKMARK_BEFORE_END > start:
        yield end - BOOKMARK_BEFORE_END


async def _until(awake, moment):
    """Wait for something to read, at most until *moment*."""
    if moment is None:
        await awake.wait()
        return
    handle = asyncio.get_running_loop().call_at(moment, awake.set)
    try:
        await awake.wait()
    finally:
        handle.cancel()
