"""The verbs of an API server: paths, bodies, pages, errors, and what is sent again."""

import asyncio
import json
from contextlib import asynccontextmanager

import attrs
import pytest

from kubeclassic.live.client.api import (
    CLOSED,
    NODES,
    OTHER,
    PODS,
    REFUSED,
    RESET,
    TIMEOUT,
    Api,
    ApiError,
    Response,
    Retries,
    Stream,
    TransportError,
    resource,
)
from tests.support.virtualtime import run_virtually


def ok(**fields):
    """A good answer."""
    return Response(200, json.dumps(fields).encode())


def failure(status, reason="", retry_after=None):
    """An answer with a Status."""
    body = {"kind": "Status", "status": "Failure", "reason": reason, "message": "made up", "code": status}
    return Response(
        status, json.dumps(body).encode(), {} if retry_after is None else {"retry-after": retry_after}
    )


@attrs.define
class Script:
    """A transport that gives prepared outcomes, one after the other."""

    outcomes: object = attrs.field(converter=iter)
    asked: list = attrs.field(factory=list)
    times: list = attrs.field(factory=list)

    async def send(self, request):
        """The next outcome."""
        self.asked.append(request)
        self.times.append(asyncio.get_running_loop().time())
        outcome = next(self.outcomes)
        if isinstance(outcome, TransportError):
            raise outcome
        return outcome

    @asynccontextmanager
    async def stream(self, request):
        """The next outcome; the lines of its body are the frames."""
        answer = await self.send(request)
        yield Stream(answer.status, answer.headers, _lines(answer.body))


async def _lines(body):
    for line in body.splitlines():
        yield line


def play(work, *outcomes, **retries):
    """The script after *work* on it, and what that gave or raised."""
    script = Script(outcomes)

    async def whole():
        try:
            return await work(Api(script, **retries))  # type: ignore[misc]  # each work is a coroutine
        except (ApiError, TransportError) as error:
            return error

    return script, run_virtually(whole())


# --- Requests -----------------------------------------------------------------------------------------------

# What is asked.


def test_names_are_encoded():
    """A name cannot leave its place in the path."""
    assert resource("Lease", "coordination.k8s.io/v1").path("a/b", "c?d") == (
        "/apis/coordination.k8s.io/v1/namespaces/a%2Fb/leases/c%3Fd"
    )


# --- Lists --------------------------------------------------------------------------------------------------

# Pages, and lists that expire between them.


def test_an_expired_page():
    """If the token expires, the whole list is fetched, and nothing of the old pages is kept."""
    first = ok(metadata={"resourceVersion": "7", "continue": "more"}, items=[{"n": 1}])
    whole = ok(metadata={"resourceVersion": "9"}, items=[{"n": 3}])
    script, found = play(lambda api: api.list(PODS, "0"), first, failure(410, "Expired"), whole)
    assert [one.query for one in script.asked] == [
        "limit=500&resourceVersion=0",
        "continue=more&limit=500",
        "resourceVersion=0",
    ]
    assert (found.items, found.resource_version) == ([{"n": 3}], "9")  # type: ignore[attr-defined]


OLD = Retries(attempts=10, after_closed=False, watches=False)


async def read(api):
    """A read."""
    return await api.ask("GET", PODS, "a", "w")


async def write(api):
    """A write."""
    return await api.ask("POST", PODS, "a", "w", "binding", {})


# --- Retries ------------------------------------------------------------------------------------------------

# What is sent again, and when.


@pytest.mark.parametrize("work", [read, write])
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_time_to_wait_is_kept(work, status):
    """An answer that names a time to wait is followed, for writes too."""
    script, found = play(work, failure(status, retry_after="7"), ok(done=1))
    assert (script.times, found) == ([0.0, 7.0], {"done": 1})


@pytest.mark.parametrize(
    "answer", [failure(429), failure(500), failure(429, retry_after="soon"), failure(404, retry_after="1")]
)
def test_without_a_time_it_is_an_error(answer):
    """Without a number of seconds, or with a status of another kind, nothing is sent again."""
    assert len(play(read, answer)[0].asked) == 1


@pytest.mark.parametrize("retries, attempts", [(OLD, 10), (Retries(), 11)])
def test_it_ends(retries, attempts):
    """After ten or eleven attempts the last answer counts."""
    script, error = play(read, *[failure(429, retry_after="1")] * 99, retries=retries)
    assert (len(script.asked), getattr(error, "status", None)) == (attempts, 429)


@pytest.mark.parametrize(
    "retries, cause, again",
    [
        (OLD, RESET, True),
        (OLD, CLOSED, False),
        (Retries(), RESET, True),
        (Retries(), CLOSED, True),
        (Retries(), TIMEOUT, False),
    ],
)
def test_reads_after_no_answer(retries, cause, again):
    """A read is sent again a second after its connection was reset, or in newer releases closed."""
    script, found = play(read, TransportError("x", cause), ok(), retries=retries)
    assert script.times == ([0.0, 1.0] if again else [0.0])
    assert isinstance(found, TransportError) is not again


@pytest.mark.parametrize("cause", [CLOSED, RESET, REFUSED, TIMEOUT, OTHER])
def test_writes_after_no_answer(cause):
    """A write without an answer is never sent again: it may have been carried out."""
    assert len(play(write, TransportError("x", cause), ok())[0].asked) == 1


async def events(api):
    """The types of all events of a watch."""
    async with api.watch(NODES, "5", 300) as found:
        return [event.type async for event in found]


# --- Watches ------------------------------------------------------------------------------------------------

# The frames of a watch.


@pytest.mark.parametrize("reason", ["Expired", "Gone", ""])
def test_an_error_event(reason):
    """An ERROR event is raised with what its Status says."""
    status = {"kind": "Status", "code": 410, "reason": reason, "message": "too old"}
    _, error = play(events, Response(200, json.dumps({"type": "ERROR", "object": status}).encode()))
    assert isinstance(error, ApiError)
    assert error.is_expired


def test_it_is_sent_again():
    """A watch that is not answered is sent again, in newer releases; in older ones that is for its reader
    to do."""
    outcomes = (TransportError("x", TIMEOUT), failure(429, retry_after="2"), Response(200, b""))
    assert play(events, *outcomes)[0].times == [0.0, 1.0, 3.0]
    assert play(events, *outcomes, retries=OLD)[0].times == [0.0]
