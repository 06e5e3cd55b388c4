"""Requests to an API server: lists, watches, single objects, its resources; and repeated requests.

An answer may come from a proxy, or be broken. So everything is read by its shape, and an answer of another
shape is an :class:`ApiError`. Objects are mappings in JSON form. The original's clients are the model for
paths, queries, bodies, and what is sent again.

Everything in ``live`` that talks to an API server goes through a :class:`Transport`, an interface with one
implementation over HTTP, so tests can answer in process, with faults. Another transport around it limits the
rate of requests, and measures them. Upstream: Request.request and Request.Watch of
k8s.io/client-go/rest/request.go, and with_retry.go; util/flowcontrol/throttle.go; tools/metrics.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote, urlencode

import msgspec
from attrs import Factory, define, field, frozen

from ...api.load import metadata_of
from ...api.meaning import duration_text
from ...api.objects import KINDS, Int32, JsonObject
from ...api.ownfields import compact_json
from ...api.reading import shown
from ...api.words import plural_of
from ...exceptions import KubeclassicError

CLOSED = "closed"
RESET = "reset"
REFUSED = "refused"
TIMEOUT = "timeout"
OTHER = "other"
"""Causes of a missing answer: the server closed the connection, broke it, did not accept it, was too slow; or
another cause."""
Headers = Mapping[str, str]
LONGEST_WAIT = 9
"""The most digits of a ``Retry-After`` that is followed. Upstream: a number that does not fit into an int is
no number."""


class TransportError(KubeclassicError):
    """No answer: the connection failed, broke or took too long. Whether the server carried out the request is
    unknown.

    *cause* is one of :data:`CLOSED`, :data:`RESET`, :data:`REFUSED`, :data:`TIMEOUT` and :data:`OTHER`.
    """

    def __init__(self, text: str, cause: str = CLOSED) -> None:
        super().__init__(text)
        self.cause = cause


@frozen
class Request:
    """One HTTP request. ``path`` begins with ``/``; ``query`` is encoded and has no ``?``."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    headers: Headers = Factory(dict)
    timeout: float | None = None
    """In seconds, for streams between two pieces of the answer; None: the transport's default for answers,
    none for streams."""


@frozen
class Response:
    """A whole answer. The names of ``headers`` are in lower case."""

    status: int
    body: bytes = b""
    headers: Headers = Factory(dict)

    @property
    def retry_after(self) -> float | None:
        """The header ``Retry-After``, in whole seconds as Go reads it; None without one."""
        text = self.headers.get("retry-after", "")
        return float(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_WAIT else None


@frozen
class Stream:
    """An answer that goes on: its ``lines`` are the frames of a watch, without line ends.

    The iterator ends when the server closes the stream, and raises :class:`TransportError` when the
    connection breaks.
    """

    status: int
    headers: Headers
    lines: AsyncIterator[bytes]


class Transport(Protocol):
    """Sends requests. Both methods raise :class:`TransportError`; a status such as 404 or 500 is an answer,
    no error."""

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """A context with the answer to *request*, line by line. At its end the connection is closed."""


@frozen
class MeasuredRequest:
    """A request and its outcome."""

    request: Request
    status: int
    """0: there was no answer."""
    seconds: float
    """Until the answer was there; of a stream, until it began."""
    is_stream: bool = field(default=False, kw_only=True)

    def __str__(self) -> str:
        """The request in one line, as a log shows it."""
        return f"{self.request.method} {self.request.path} {self.status or 'no answer'} in {self.seconds * 1000:.0f} ms"


@define(eq=False)
class ClientTransport:
    """A transport that lets *qps* requests a second through, and up to *burst* at once. *on_answer* gets
    each, its wait included."""

    inner: Transport
    on_answer: Callable[[MeasuredRequest], None]
    qps: float = 0.0
    """No limit if it is not above 0."""
    burst: int = 0
    _tokens: float = field(default=Factory(lambda self: float(self.burst), takes_self=True), init=False)
    _counted_at: float = 0.0

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        began = loop_time()
        try:
            await self._turn()
            answer = await self.inner.send(request)
        except TransportError:
            self.on_answer(MeasuredRequest(request, 0, loop_time() - began))
            raise
        self.on_answer(MeasuredRequest(request, answer.status, loop_time() - began))
        return answer

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """A context with the answer to *request*, line by line."""
        is_answered = False
        began = loop_time()
        try:
            await self._turn()
            async with self.inner.stream(request) as stream:
                is_answered = True
                self.on_answer(MeasuredRequest(request, stream.status, loop_time() - began, is_stream=True))
                yield stream
        except TransportError:
            if not is_answered:
                self.on_answer(MeasuredRequest(request, 0, loop_time() - began, is_stream=True))
            raise

    async def _turn(self) -> None:
        if self.qps <= 0:
            return
        now = loop_time()
        self._tokens = min(float(max(self.burst, 1)), self._tokens + (now - self._counted_at) * self.qps) - 1
        self._counted_at = now
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / self.qps)


def loop_time() -> float:
    """The time of the event loop, in seconds that never go back."""
    return asyncio.get_running_loop().time()


# --- resources ----------------------------------------------------------------------------------------------

# The resources of an API server that are read and written: where their paths are.


@frozen
class Resource:
    """A resource in one version of the API.

    >>> resource("PodDisruptionBudget", "policy/v1").path()
    '/apis/policy/v1/poddisruptionbudgets'
    >>> resource("Pod", "v1").path("shop", "web-0", "binding")
    '/api/v1/namespaces/shop/pods/web-0/binding'
    """

    kind: str
    group_version: str
    """``v1``, ``apps/v1`` and so on."""
    plural: str
    is_namespaced: bool = True

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of all objects, of those in *namespace*, of one object, or of a part of it."""
        root = f"/apis/{self.group_version}" if "/" in self.group_version else f"/api/{self.group_version}"
        inside = ("namespaces", namespace) if namespace and self.is_namespaced else ()
        words = [*inside, self.plural, *filter(None, (name, subresource))]
        return "/".join([root, *(quote(word, safe="") for word in words)])


_VERSIONS = """
Node v1
Namespace v1
PriorityClass scheduling.k8s.io/v1 scheduling.k8s.io/v1beta1
StorageClass storage.k8s.io/v1
PersistentVolume v1
PersistentVolumeClaim v1
CSINode storage.k8s.io/v1 storage.k8s.io/v1beta1
CSIDriver storage.k8s.io/v1 storage.k8s.io/v1beta1
CSIStorageCapacity storage.k8s.io/v1 storage.k8s.io/v1beta1
VolumeAttachment storage.k8s.io/v1
ResourceClaim resource.k8s.io/v1 resource.k8s.io/v1beta2 resource.k8s.io/v1beta1
ResourceSlice resource.k8s.io/v1 resource.k8s.io/v1beta2 resource.k8s.io/v1beta1
DeviceClass resource.k8s.io/v1 resource.k8s.io/v1beta2 resource.k8s.io/v1beta1
Service v1
ReplicationController v1
ReplicaSet apps/v1
StatefulSet apps/v1
PodDisruptionBudget policy/v1 policy/v1beta1
Pod v1
ResourceQuota v1
LimitRange v1
RuntimeClass node.k8s.io/v1 node.k8s.io/v1beta1
"""
VERSIONS = {kind: tuple(versions) for kind, *versions in map(str.split, _VERSIONS.strip().splitlines())}
"""The kinds that decisions read or that bound new pods, with their possible versions of the API, newest
first. A server need not have every kind."""

DEVICE_KINDS = ("ResourceClaim", "ResourceSlice", "DeviceClass")
"""The kinds that gate DynamicResourceAllocation adds to those that are listed."""


def resource(kind: str, group_version: str = "v1") -> Resource:
    """The resource of a kind in a version of the API. The kinds that become no objects have namespaces."""
    is_namespaced = kind not in KINDS or KINDS[kind].namespaced
    return Resource(kind, group_version, plural_of(kind), is_namespaced)


PODS = resource("Pod")
NODES = resource("Node")


# --- answers ------------------------------------------------------------------------------------------------

Manifest = dict[str, Any]
A = TypeVar("A", Response, Response | Stream)
MOST_TEXT = 500


class StatusCause(msgspec.Struct):
    """One of the causes of a Status."""

    reason: str = ""
    message: str = ""


class StatusDetails(msgspec.Struct, rename="camel"):
    """The details of a Status, as far as they are read."""

    causes: list[StatusCause] | None = None
    retry_after_seconds: Int32 | None = None


class ApiStatus(msgspec.Struct):
    """A Status, as far as it is read."""

    kind: Literal["Status"] | None = None
    reason: str | None = None
    message: str | None = None
    code: Int32 | None = None
    details: StatusDetails | None = None


class ApiError(KubeclassicError):
    """The API server refused a request: *status* (HTTP), *reason* and *message* as it gave them,
    *retry_after* in seconds or None."""

    def __init__(
        self,
        status: int,
        reason: str = "",
        message: str = "",
        retry_after: float | None = None,
        details: StatusDetails | None = None,
    ) -> None:
        super().__init__(message or f"the server answered {status}")
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after
        self.causes: list[StatusCause] = details.causes or [] if details is not None else []

    @property
    def is_expired(self) -> bool:
        """A resourceVersion or continue token is too old. Servers up to 1.17 say Gone."""
        return self.reason in ("Expired", "Gone") or (self.status == GONE and not self.reason)


@frozen
class WatchEvent:
    """``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``, and the object."""

    type: str
    object: Manifest


def read_object(body: bytes) -> Manifest | None:
    """The JSON object in *body*; None for anything else, also for JSON that is nested too deeply."""
    try:
        document = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def error_of(answer: Response) -> ApiError:
    """The error in *answer*, with or without a Status."""
    status = _status(read_object(answer.body))
    if status is None or status.kind is None:
        return ApiError(
            answer.status,
            "TooManyRequests" if answer.status == 429 else "",
            " ".join(answer.body.decode("utf-8", "replace").split())[:MOST_TEXT],
            answer.retry_after,
        )
    return _error_of_status(answer.status, status, answer.retry_after)


def _status(document: Manifest | None) -> ApiStatus | None:
    try:
        return msgspec.convert(document, ApiStatus)
    except msgspec.ValidationError:
        return None


def _error_of_status(status: int, api_status: ApiStatus, after: float | None = None) -> ApiError:
    delay = None if api_status.details is None else api_status.details.retry_after_seconds
    if after is None and delay is not None:
        after = float(delay)
    return ApiError(status, api_status.reason or "", api_status.message or "", after, api_status.details)


async def events_of(stream: Stream) -> AsyncIterator[WatchEvent]:
    """The events of a watch. Raises :class:`ApiError` for an ERROR event and a frame that cannot be read."""
    async for line in stream.lines:
        if not line:
            continue
        frame = read_object(line) or {}
        kind = frame.get("type")
        manifest = frame.get("object")
        if not isinstance(kind, str):
            raise ApiError(500, "InternalError", "a frame of the watch cannot be read")
        if not isinstance(manifest, dict):
            raise ApiError(500, "InternalError", "a frame of the watch has no object")
        if kind == "ERROR":
            status = _status(manifest) or ApiStatus(message="an ERROR event of the watch has no Status")
            raise _error_of_status(status.code or 500, status)
        yield WatchEvent(kind, manifest)


WAIT_AFTER_ERROR = 1.0


@frozen
class Retries:
    """The requests that one generation of clients repeats.

    An answer 429 or 5xx with a header ``Retry-After`` in whole seconds is always followed, also for writes:
    the server has not carried the request out. Without an answer only reads are sent again, as it is unknown
    whether a write was carried out.
    """

    attempts: int = 11
    """The most times that a request is sent."""
    after_closed: bool = True
    """Reads are sent again if the server closed the connection without an answer; else only if it reset the
    connection."""
    watches: bool = True
    """Watches are sent again, too: after 429, 5xx, a closed connection or a time-out."""

    def wait(
        self, request: Request, outcome: Response | TransportError, attempt: int, *, is_watch: bool = False
    ) -> float | None:
        """Seconds to wait before *request* is sent again after *attempt* attempts; None: it is not."""
        if attempt >= self.attempts or (is_watch and not self.watches):
            return None
        if isinstance(outcome, Response):
            return outcome.retry_after if outcome.status == 429 or outcome.status >= 500 else None
        causes: tuple[str, ...] = (CLOSED, RESET, TIMEOUT)
        if not is_watch:
            causes = () if request.method != "GET" else (RESET, CLOSED) if self.after_closed else (RESET,)
        return WAIT_AFTER_ERROR if outcome.cause in causes else None


PAGE = 500
MOST_PAGES = 2_000
"""The most pages of one list: a million objects."""
LONGEST_REFUSAL = 1 << 20
"""Bytes that are read of an answer that refuses a watch."""
IS_SERVER = "is this the address of an API server?"
NOT_THERE = 404
GONE = 410
_ACCEPT = {"accept": "application/json, */*"}


@frozen
class ObjectList:
    """A list of objects of one version."""

    items: list[Manifest]
    resource_version: str
    was_paged: bool = False


@frozen
class Api:
    """Requests to an API server. All methods raise :class:`ApiError` and :class:`~.TransportError`."""

    transport: Transport
    retries: Retries = Retries()

    # --- reading --------------------------------------------------------------------------------------------

    async def list(
        self,
        resource: Resource,
        version: str = "",
        *,
        limit: int = PAGE,
        field_selector: str = "",
        keeps_version: bool = False,
    ) -> ObjectList:
        """All objects, page by page. If the list expires between two pages, it is fetched whole.

        *version*: empty is the newest, ``0`` any; else the list is not older than that. *limit*: objects a
        page; 0: all at once. *keeps_version*: later pages name the version, too.
        """

        async def page_of(version: str, limit: int, token: str = "") -> Manifest:
            query = {
                "continue": token,
                "fieldSelector": field_selector,
                "limit": str(limit or ""),
                "resourceVersion": version,
            }
            listed = await self._call(_request("GET", resource.path(), query))
            if (kind := listed.get("kind")) not in (None, "", "List", f"{resource.kind}List"):
                raise ApiError(200, "", f"expected a {resource.kind}List, got {shown(kind)}: {IS_SERVER}")
            metadata = listed.get("metadata") or {}
            for got, of_kind in ((metadata, dict), (metadata_of(listed).get("continue") or "", str)):
                if not isinstance(got, of_kind):
                    raise ApiError(200, "", f"expected the metadata of a list, got {shown(got)}: {IS_SERVER}")
            return listed

        first_page = page = await page_of(version, limit)
        items = _items(page)
        pages = 1
        while token := metadata_of(page).get("continue"):
            if (pages := pages + 1) > MOST_PAGES:
                raise ApiError(
                    200,
                    "",
                    f"GET {resource.path()}: expected an end of the list, got more than {MOST_PAGES:,} pages",
                )
            try:
                page = await page_of(version if keeps_version else "", limit, token)
            except ApiError as error:
                if not error.is_expired:
                    raise
                page = await page_of(version, 0)
                return ObjectList(_items(page), _version(page))
            items += _items(page)
        return ObjectList(items, _version(first_page), page is not first_page)

    @asynccontextmanager
    async def watch(
        self,
        resource: Resource,
        version: str,
        seconds: int,
        *,
        bookmarks: bool = True,
        sends_duration: bool = False,
        field_selector: str = "",
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        """A context with the events from *version* on, for *seconds*; *sends_duration*: these are in
        the query twice.

        The iterator ends with the watch, raises :class:`ApiError` for an ERROR event or a frame that cannot
        be read, and :class:`~.TransportError` if the connection breaks.
        """
        query = {
            "allowWatchBookmarks": "true" if bookmarks else "",
            "fieldSelector": field_selector,
            "resourceVersion": version,
            "timeout": duration_text(seconds) if sends_duration else "",
            "timeoutSeconds": str(seconds),
            "watch": "true",
        }
        request = _request("GET", resource.path(), query, timeout=seconds + 60.0)
        async with AsyncExitStack() as stack:

            async def open_stream() -> Stream | Response:
                async with AsyncExitStack() as trial:
                    stream = await trial.enter_async_context(self.transport.stream(request))
                    if stream.status == 200:
                        stack.push_async_exit(trial.pop_all())
                        return stream
                    body = b""
                    async for line in stream.lines:
                        body += line + b"\n"
                        if len(body) > LONGEST_REFUSAL:
                            break
                    return Response(stream.status, body, stream.headers)

            opened = await self._repeated(request, open_stream, is_watch=True)
            if isinstance(opened, Response):
                raise error_of(opened)
            yield events_of(opened)

    async def ask(
        self,
        method: str,
        resource: Resource,
        namespace: str,
        name: str,
        subresource: str = "",
        body: JsonObject | None = None,
        *,
        timeout: float | None = None,
    ) -> Manifest:
        """The server's answer about one object, or a part of it: the object as it is now, or a Status.

        The body of a PATCH is a strategic merge patch. *timeout*: how many seconds the answer may take.
        """
        kind = "application/strategic-merge-patch+json" if method == "PATCH" else "application/json"
        query = {} if timeout is None else {"timeout": duration_text(timeout)}
        raw = b"" if body is None else compact_json(body)
        path = resource.path(namespace, name, subresource)
        return await self._call(_request(method, path, query, raw, kind, timeout))

    async def offered(self, group_version: str) -> frozenset[str]:
        """The names of the resources that the server has in a version of an API group; none where it does not
        have that version."""
        try:
            document = await self._call(_request("GET", f"/apis/{group_version}", {}))
        except ApiError as error:
            if error.status == NOT_THERE:
                return frozenset()
            raise
        listed = document.get("resources")
        return frozenset(
            str(item.get("name"))
            for item in (listed if isinstance(listed, list) else ())
            if isinstance(item, dict)
        )

    # --- requests -------------------------------------------------------------------------------------------

    async def _call(self, request: Request) -> Manifest:
        """The object in a good answer."""
        answer = await self._repeated(request, lambda: self.transport.send(request))
        if not 200 <= answer.status < 300:
            raise error_of(answer)
        document = read_object(answer.body)
        if document is None:
            raise ApiError(
                answer.status, "", f"{request.method} {request.path}: got an answer that is no JSON object"
            )
        return document

    async def _repeated(
        self, request: Request, send: Callable[[], Awaitable[A]], *, is_watch: bool = False
    ) -> A:
        """The last answer to *request*, which *send* sends again as :attr:`retries` says."""
        attempt = 0
        while True:
            attempt += 1
            outcome: A | TransportError
            try:
                outcome = await send()
            except TransportError as error:
                outcome = error
            wait = (
                None
                if isinstance(outcome, Stream)
                else self.retries.wait(request, outcome, attempt, is_watch=is_watch)
            )
            if wait is not None:
                await asyncio.sleep(wait)
            elif isinstance(outcome, TransportError):
                raise outcome
            else:
                return outcome


def _request(
    method: str,
    path: str,
    query: Mapping[str, str],
    body: bytes = b"",
    content_type: str = "",
    timeout: float | None = None,
) -> Request:
    """A request; parameters without a value are left out, the others sorted as Go sorts them."""
    encoded = urlencode(sorted((name, value) for name, value in query.items() if value))
    return Request(
        method, path, encoded, body, {**_ACCEPT, "content-type": content_type} if body else _ACCEPT, timeout
    )


def _version(document: Manifest) -> str:
    return str(metadata_of(document).get("resourceVersion") or "")


def _items(document: Manifest) -> list[Manifest]:
    """The objects of a list; upstream writes null where there are none."""
    items = document.get("items", ...)
    if items is not None and not isinstance(items, list):
        raise ApiError(200, "", f"expected a list of objects, got none: {IS_SERVER}")
    for at, item in enumerate(items or ()):
        if not isinstance(item, dict | None):
            raise ApiError(200, "", f"items[{at}]: expected an object, got {shown(item)}: {IS_SERVER}")
    return [item or {} for item in items or ()]  # as in Go; who reads one without a name says so
