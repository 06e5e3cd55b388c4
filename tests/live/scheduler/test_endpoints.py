"""The answers of a scheduler over HTTP, on real sockets."""

import asyncio
import ssl

import httpx
import pytest
import trustme

from kubeclassic.live.process.process import endpoints, serving
from kubeclassic.live.scheduler.flags import LOOPBACK
from kubeclassic.live.server.serving import Listening, PatientProtocol, ServeError


def well():
    """A part that is well."""
    return ""


def ill():
    """A part that is not."""
    return "a secret reason"


def served(story, listener, leads=well, listed=well):
    """Run *story* with the URL of served endpoints."""

    async def run():
        app = endpoints(lambda: b"# HELP x y\n", {"leaderElection": leads}, {"sched-handler-sync": listed})
        async with serving(app, [listener]) as urls:
            await story(urls[0])

    asyncio.run(run())


async def raw(url, text):
    """The server's answer to bytes, until it closes."""
    reader, writer = await asyncio.open_connection(LOOPBACK, int(url.rpartition(":")[2]))
    writer.write(text)
    try:
        return await reader.read()
    finally:
        writer.close()


PLAIN = Listening(port=0)


@pytest.mark.parametrize(
    "leads, listed, statuses",
    [(well, well, [200, 200, 200]), (ill, well, [500, 500, 500]), (well, ill, [200, 200, 500])],
)
def test_health(leads, listed, statuses):
    """A leader that could not end is ill; who has not listed all objects is not ready. Reasons are
    withheld."""

    async def story(url):
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            found = [await client.get(path) for path in ("/healthz", "/livez", "/readyz")]
            assert [answer.status_code for answer in found] == statuses
            assert not any("secret" in answer.text for answer in found)

    served(story, PLAIN, leads, listed)


LED = "[+]leaderElection ok\n"
LISTS = "[-]sched-handler-sync failed: reason withheld\n"
WARNED = 'warn: some health checks cannot be excluded: no matches for "x","y"\n'


@pytest.mark.parametrize(
    "path, text",
    [
        ("/healthz", "ok"),
        ("/healthz?verbose", f"{LED}healthz check passed\n"),
        ("/readyz", f"{LED}{LISTS}readyz check failed\n"),
        ("/readyz?exclude=sched-handler-sync", "ok"),
        (
            "/readyz?exclude=leaderElection&exclude=y&exclude=x",
            f"[+]leaderElection excluded: ok\n{LISTS}{WARNED}readyz check failed\n",
        ),
    ],
)
def test_what_health_says(path, text):
    """The checks are listed where one fails or ``verbose`` is asked for; some may be left out."""

    async def story(url):
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            assert (await client.get(path)).text == text

    served(story, PLAIN, well, ill)


def test_wrong_and_slow_callers(monkeypatch):
    """Bytes that are no HTTP get a 400, a caller that does not send a whole request in time is cut off, and
    the server goes on."""
    monkeypatch.setattr("kubeclassic.live.server.serving.HEADER_SECONDS", 0.2)
    assert issubclass(PatientProtocol, asyncio.Protocol)

    async def story(url):
        assert (await raw(url, b"hello\r\n\r\n")).startswith(b"HTTP/1.1 400 ")
        assert await raw(url, b"GET /healthz HTTP/1.1\r\n") == b""
        assert (await raw(url, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).endswith(
            b"\r\n\r\nok"
        )

    served(story, PLAIN)


def test_over_tls(tmp_path):
    """With a certificate the endpoints are served over TLS; a wrong one is an error."""
    authority = trustme.CA()
    made = authority.issue_cert(LOOPBACK)
    key = tmp_path / "key.pem"
    certificate = tmp_path / "cert.pem"
    made.private_key_pem.write_to_path(key)
    made.cert_chain_pems[0].write_to_path(certificate)
    context = ssl.create_default_context()
    authority.configure_trust(context)

    async def story(url):
        assert url.startswith("https://")
        async with httpx.AsyncClient(base_url=url, verify=context, timeout=60) as client:
            assert (await client.get("/healthz")).text == "ok"

    served(story, Listening(port=0, certificate=str(certificate), key=str(key)))
    with pytest.raises(ServeError, match="got no certificate with its key"):
        served(story, Listening(port=0, certificate=str(key), key=str(tmp_path / "none")))
