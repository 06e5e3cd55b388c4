"""Requests over real HTTP: credentials, TLS, streams, and why there is no answer."""

import asyncio
import json
import re
import shlex
import shutil
import ssl
import stat
import subprocess
import sys
import time
from contextlib import asynccontextmanager

import pytest
import yaml

from kubeclassic.api.reading.addresses import environment_proxy
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.live.client import http
from kubeclassic.live.client.api import OTHER, Request, TransportError
from kubeclassic.live.client.http import Access, HttpTransport, TokenFile, tls_context
from kubeclassic.live.client.kubeconfig import read_kubeconfig
from tests.apiserver import NEW_SERVER, Store, StoreTransport, make_app, serving, serving_store
from tests.support.kubeconfigs import kubeconfig

NODES = Request("GET", "/api/v1/nodes")


def send(access, times=1, clock=time.time):
    """The statuses of the same request, sent *times* times over one transport."""

    async def work():
        async with HttpTransport(access, wall_clock=clock) as transport:
            return [(await transport.send(NODES)).status for _ in range(times)]

    return asyncio.run(work())


async def status_of(transport):
    """The status of an answer; None if there is none."""
    try:
        return (await transport.send(NODES)).status
    except TransportError:
        return None


@asynccontextmanager
async def answering(answer):
    """The address of a server whose connections *answer* has."""
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def seen_by(work, wanted=""):
    """The headers that a server sees while *work* is done with its address; with a token it refuses
    others."""
    seen = []
    with serving(make_app(StoreTransport(Store(NEW_SERVER)), seen, wanted)) as address:
        work(address)
    return seen


# --- Renewal ------------------------------------------------------------------------------------------------

# Credentials that change while we run.


def test_a_token_file_after_a_refusal(tmp_path):
    """After a 401 the file is read again, and the request is sent once more."""
    file = tmp_path / "token"
    file.write_text("old\n")
    credentials = TokenFile(file)
    asyncio.run(credentials.grant(0.0))
    file.write_text("new\n")
    statuses = []
    # The clock stands still, so that only the refusal makes it read the file.
    access = lambda address: Access(server=address, credentials=credentials)  # noqa: E731
    seen = seen_by(lambda address: statuses.extend(send(access(address), clock=lambda: 1.0)), wanted="new")
    assert (statuses, [headers["authorization"] for headers in seen]) == ([200], ["Bearer old", "Bearer new"])


def test_a_token_file_after_a_minute(tmp_path):
    """A file is read again every minute, and if it is gone the last token stays."""
    file = tmp_path / "token"
    file.write_text("one")
    credentials = TokenFile(file)

    async def tokens():
        found = [(await credentials.grant(0.0)).headers["Authorization"]]
        file.write_text("two")
        found += [(await credentials.grant(moment)).headers["Authorization"] for moment in (59.0, 60.0)]
        file.unlink()
        return [*found, (await credentials.grant(200.0)).headers["Authorization"]]

    assert asyncio.run(tokens()) == ["Bearer one", "Bearer one", "Bearer two", "Bearer two"]


PLUGIN = """#!{python}
import json, os, pathlib
count = pathlib.Path({count!r})
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
status = {{"token": f"{{os.environ['PREFIX']}}-{{number}}", "expirationTimestamp": {expires!r}}}
print(json.dumps({{"kind": "ExecCredential", "apiVersion": info["apiVersion"], "status": status}}))
"""


def plugin(folder, expires=None):
    """An exec entry whose program counts how often it runs."""
    program = folder / "plugin"
    program.write_text(PLUGIN.format(python=sys.executable, count=str(folder / "count"), expires=expires))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return yaml.safe_load("""
        apiVersion: client.authentication.k8s.io/v1
        command: ./plugin
        env:
        - {name: PREFIX, value: t}
        interactiveMode: Never
        """)


def plugged(folder, **more):
    """The access of a kubeconfig with such a plugin, in which *more* is said otherwise; no server is
    there."""
    return read_kubeconfig(
        kubeconfig(folder, {"server": "http://127.0.0.1:1"}, {"exec": {**plugin(folder), **more}})
    )


def test_as_whom_requests_count(tmp_path):
    """User, groups and the rest go out as headers, each group as one of its own."""
    user = yaml.safe_load("{as: me, as-uid: 7, as-groups: [a, b], as-user-extra: {x/y: [c, d]}}")
    lines = []

    async def answer(reader, writer):
        lines.extend((await reader.readuntil(b"\r\n\r\n")).decode().splitlines())
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}")
        writer.close()

    async def work():
        async with (
            answering(answer) as address,
            HttpTransport(read_kubeconfig(kubeconfig(tmp_path, {"server": address}, user))) as transport,
        ):
            return await status_of(transport)

    assert asyncio.run(work()) == 200
    assert [line.removeprefix("Impersonate-") for line in lines if line.startswith("Impersonate-")] == [
        "User: me",
        "Uid: 7",
        "Group: a",
        "Group: b",
        "Extra-x%2Fy: c",
        "Extra-x%2Fy: d",
    ]


# --- Plugins ------------------------------------------------------------------------------------------------

# Programs that fetch credentials.


@pytest.mark.parametrize(
    "expires, wanted, times, shown",
    [
        (None, "", 3, ["t-1"] * 3),
        ("2020-01-01T00:00:00Z", "", 2, ["t-2", "t-3"]),
        (None, "t-2", 1, ["t-1", "t-2"]),
    ],
    ids=["once", "expired", "refused"],
)
def test_when_it_runs(tmp_path, expires, wanted, times, shown):
    """A plugin runs once for many requests, with its environment; it runs again for the next one when its
    credential has expired, of which the first was fetched before any; and after a 401, when the request
    is sent once more."""

    def ask(address):
        user = {"exec": plugin(tmp_path, expires)}
        return send(read_kubeconfig(kubeconfig(tmp_path, {"server": address}, user)), times=times)

    seen = seen_by(ask, wanted)
    assert [headers["authorization"] for headers in seen] == [f"Bearer {token}" for token in shown]


@pytest.mark.parametrize(
    "code, words",
    [
        ("import sys; sys.exit(3)", "ended with status 3"),
        ("print('hello')", "got no JSON"),
        ("print('[' * 50000)", "expected an ExecCredential"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "got no JSON"),
        ("print('{}')", "without a status"),
        (
            'print(\'{"kind": "ExecCredential", "apiVersion": "x", "status": {}}\')',
            "authentication.k8s.io/v1, got x",
        ),
        ("while True: print('x' * 1000)", "printed more than 1 MiB"),
        ("import time; time.sleep(60)", "did not end within 0.3 seconds"),
        ("import os, time; os.close(1); time.sleep(60)", "did not end within 0.3 seconds"),
    ],
)
def test_a_plugin_that_fails(tmp_path, code, words):
    """The error names the file, the user and the program, and says what it did; one that prints or runs
    for ever is ended."""
    access = plugged(tmp_path, command=sys.executable, args=["-c", code])
    if "0.3" in words:
        access.credentials.seconds = 0.3
    with pytest.raises(KubeclassicError, match=words) as raised:
        send(access)
    assert "kubeconfig.yaml: user u: plugin" in str(raised.value)


def test_a_failure_is_shared(tmp_path):
    """Many requests at once have one run of a plugin that fails, and one error; it ends at once."""
    access = plugged(tmp_path, command="sh", args=["-c", f"echo x >> {tmp_path}/runs; exit 1"])

    async def work():
        transport = HttpTransport(access)
        return list(await asyncio.gather(*(transport.send(NODES) for _ in range(17)), return_exceptions=True))

    assert {str(error).rpartition(": ")[2] for error in asyncio.run(work())} == {"ended with status 1"}
    assert (tmp_path / "runs").read_text() == "x\n"


@pytest.mark.whole
def test_one_that_goes_leaves_the_run_to_others(tmp_path):
    """A request that is given up ends the plugin only if nobody else waits for it; later ones have a run
    of their own."""
    credentials = plugged(
        tmp_path, command="sh", args=["-c", f"echo x >> {tmp_path}/runs; sleep 0.5; exit 1"]
    ).credentials

    async def runs(count):
        while not (tmp_path / "runs").is_file() or (tmp_path / "runs").read_text() != "x\n" * count:
            await asyncio.sleep(0.01)

    async def work():
        first, second = (asyncio.ensure_future(credentials.grant(0.0)) for _ in range(2))
        await runs(1)
        first.cancel()
        with pytest.raises(KubeclassicError, match="ended with status 1"):
            await second
        credentials._failure = None
        third = asyncio.ensure_future(credentials.grant(0.0))
        await runs(2)
        third.cancel()
        await asyncio.wait([third])
        with pytest.raises(KubeclassicError, match="ended with status 1"):
            await credentials.grant(0.0)

    asyncio.run(work())
    assert (tmp_path / "runs").read_text() == "x\n" * 3


def test_many_refusals_at_once(tmp_path):
    """Requests that are refused together have one more run of the plugin together."""
    access = plugged(tmp_path)

    async def work():
        shown = []
        for refusals in (0, 5):
            assert all(access.credentials.refused() for _ in range(refusals))
            shown += [(await access.credentials.grant(0.0)).headers["Authorization"] for _ in range(3)]
            access.credentials.refused()
        return shown

    assert asyncio.run(work()) == ["Bearer t-1"] * 3 + ["Bearer t-2"] * 3


def test_it_ends_with_us(tmp_path):
    """Where it is not needed any more the program is ended, and so does what waits for it."""
    access = plugged(tmp_path, command=sys.executable, args=["-c", "import time; time.sleep(600)"])

    async def work():
        async with asyncio.timeout(0.5):
            await access.credentials.grant(0.0)

    with pytest.raises(TimeoutError):
        asyncio.run(work())


def test_no_terminal(tmp_path, monkeypatch):
    """A plugin that may ask is told so only where there is a terminal."""
    monkeypatch.setattr(sys, "stdin", None)
    code = f'echo "$KUBERNETES_EXEC_INFO" > {tmp_path}/told; exit 1'
    with pytest.raises(KubeclassicError, match="ended with status 1"):
        send(plugged(tmp_path, command="sh", args=["-c", code], interactiveMode="IfAvailable"))
    assert json.loads((tmp_path / "told").read_text())["spec"] == {"interactive": False}


def test_a_plugin_that_is_not_there(tmp_path):
    """A missing program is an error with the hint of the kubeconfig."""
    access = plugged(tmp_path, command="no-such-plugin", installHint="get it\nthere")
    with pytest.raises(
        KubeclassicError,
        match="plugin no-such-plugin: cannot be started: no such file or directory; get it there",
    ):
        send(access)


# --- No answer ----------------------------------------------------------------------------------------------

# Each way not to get an answer has its cause, and a text with the address.


def test_who_asks_is_known(monkeypatch):
    """Every request names the version, which is read from the metadata once: that takes as long as a
    request."""
    read = []
    monkeypatch.setattr(http, "version", lambda name: read.append(name) or "1.2")
    http.user_agent.cache_clear()
    assert [http.user_agent(), http.user_agent()] == ["kubeclassic/1.2"] * 2
    assert read == ["kubeclassic"]
    http.user_agent.cache_clear()


def test_refused_in_words():
    """The text names the address that refused, and asks about the API server, or about the proxy where
    there is one."""
    proxied = Access(server="http://a", proxy="http://127.0.0.1:1")
    for access, asked in ((Access(server="http://127.0.0.1:1"), "API server"), (proxied, "proxy")):
        said = f"127.0.0.1:1: connection refused: is the {asked} running, and is the address right?"
        with pytest.raises(TransportError, match=re.escape(said)):
            send(access)


# --- Streams ------------------------------------------------------------------------------------------------

# Watches over HTTP.


def test_pieces_are_put_together():
    """Lines may be cut anywhere on the way, and the last one needs no end."""

    async def pieces(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        for piece in (b"on", b"e\ntw", b"o\n\nthr", b"ee"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.005)
        writer.close()

    async def work():
        async with (
            answering(pieces) as address,
            HttpTransport(Access(server=address)) as transport,
            transport.stream(NODES) as stream,
        ):
            return [line async for line in stream.lines]

    assert asyncio.run(work()) == [b"one", b"two", b"", b"three"]


def certificates(folder):
    """A certificate for ``api.example`` that signs itself, and its key."""
    folder.mkdir(exist_ok=True)
    certificate = folder / "certificate.pem"
    key = folder / "key.pem"
    command = shlex.split("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2")
    names = ["-subj", "/CN=api.example", "-addext", "subjectAltName=DNS:api.example"]
    subprocess.run([*command, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def asking_for(certificate, key):
    """A server with this certificate, which asks its clients for the same one."""
    return serving_store(
        Store(NEW_SERVER),
        ssl_certfile=certificate,
        ssl_keyfile=key,
        ssl_ca_certs=str(certificate),
        ssl_cert_reqs=2,
    )


# --- Tls ----------------------------------------------------------------------------------------------------

# Certificates of the server and of the client.


def test_trust(tmp_path):
    """A server is trusted by the kubeconfig's authority under the name that it gives, and by no other; or
    unseen if it says so."""
    certificate, key = certificates(tmp_path)
    named = {"certificate-authority": certificate.name, "tls-server-name": "api.example"}
    told = [named, {"certificate-authority": certificate.name}, {}, {"insecure-skip-tls-verify": True}]
    with serving_store(Store(NEW_SERVER), ssl_certfile=certificate, ssl_keyfile=key) as address:
        accesses = [read_kubeconfig(kubeconfig(tmp_path, {"server": address, **cluster})) for cluster in told]
        outcomes = [outcome(access) for access in accesses]
    assert outcomes == [200, OTHER, OTHER, 200]


def test_authorities_as_go_takes_them(tmp_path, monkeypatch):
    """An authority may have text of any language around it, be no root, and lack what Python 3.13 wants."""
    strict = ssl.create_default_context

    def create(**given):
        context = strict(**given)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", create)
    (root, root_key) = certificates(tmp_path)
    key = tmp_path / "leaf.key"
    leaf = tmp_path / "leaf.pem"
    run = lambda words, *more: subprocess.run(  # noqa: E731
        [*shlex.split(f"openssl {words}"), *more], check=True, capture_output=True, cwd=tmp_path
    )
    run("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=x -out request -keyout", key)
    (tmp_path / "names").write_text("subjectAltName=DNS:api.example\n")
    run(
        "x509 -req -in request -days 2 -CAcreateserial -extfile names -out leaf.pem -CA",
        root,
        "-CAkey",
        root_key,
    )
    (tmp_path / "ca.pem").write_bytes("# Főtanúsítvány\n".encode() + leaf.read_bytes())
    with serving_store(Store(NEW_SERVER), ssl_certfile=leaf, ssl_keyfile=key) as address:
        for authority in ("ca.pem", root.name):
            cluster = {
                "server": address,
                "certificate-authority": authority,
                "tls-server-name": "api.example",
            }
            assert outcome(read_kubeconfig(kubeconfig(tmp_path, cluster))) == 200


def test_a_client_certificate(tmp_path):
    """A server that wants a certificate gets that of the kubeconfig; without one it lets nobody in."""
    certificate, key = certificates(tmp_path)
    user = {"client-certificate": certificate.name, "client-key": key.name}
    with asking_for(certificate, key) as address:
        cluster = {"server": address, "insecure-skip-tls-verify": True}
        with_one, without = (
            outcome(read_kubeconfig(kubeconfig(tmp_path, cluster, given))) for given in (user, {})
        )
    assert with_one == 200
    assert without != 200


def test_a_client_certificate_that_is_renewed(tmp_path):
    """Files of a certificate are read again after a minute; while one of them is new alone, the pair
    before is shown."""
    (old, old_key), (new, new_key) = (certificates(tmp_path / name) for name in ("old", "new"))
    shown = shutil.copy(old, tmp_path / "shown.pem")
    key = shutil.copy(old_key, tmp_path / "shown.key")
    now = [0.0]
    found = []

    async def work(access):
        async with HttpTransport(access, wall_clock=lambda: now[0]) as transport:
            for source, target in ((None, None), (new, shown), (new_key, key)):
                if source is not None:
                    shutil.copy(source, target)
                now[0] += 61
                found.append(await status_of(transport))

    with asking_for(new, new_key) as address:
        user = {"client-certificate": "shown.pem", "client-key": "shown.key"}
        asyncio.run(
            work(
                read_kubeconfig(
                    kubeconfig(tmp_path, {"server": address, "insecure-skip-tls-verify": True}, user)
                )
            )
        )
    assert found == [None, None, 200]


def test_a_key_of_another_certificate(tmp_path, monkeypatch):
    """A pair that does not fit together is told for each request, and tried once."""
    (certificate, _), (_, key) = (certificates(tmp_path / name) for name in ("one", "other"))
    made = []
    monkeypatch.setattr(http, "tls_context", lambda *given: made.append(given) or tls_context(*given))
    access = Access(
        server="https://api.invalid",
        is_insecure=True,
        certificate=(certificate.read_bytes(), key.read_bytes()),
    )

    async def work():
        async with HttpTransport(access) as transport:
            for _ in range(3):
                with pytest.raises(KubeclassicError, match="expected a certificate and its key"):
                    await transport.send(NODES)

    asyncio.run(work())
    assert len(made) == 1


def outcome(access):
    """The status of an answer, or why there is none."""
    try:
        return send(access)[0]
    except TransportError as error:
        return error.cause


# --- Proxies ------------------------------------------------------------------------------------------------

# A proxy of the kubeconfig or of the environment.


@pytest.mark.parametrize(
    "environment, named, is_used",
    [
        ({"HTTP_PROXY": "{}"}, "", True),
        ({"http_proxy": "{}", "NO_PROXY": "example.org"}, "", True),
        ({"HTTP_PROXY": "{}", "NO_PROXY": "api.invalid"}, "", False),
        ({"HTTPS_PROXY": "{}"}, "", False),
        ({}, "{}", True),
    ],
)
def test_who_is_asked(monkeypatch, environment, named, is_used):
    """The kubeconfig's proxy is asked, else that of the environment for the server's scheme, unless
    NO_PROXY has the server."""
    lines = []

    async def answer(reader, writer):
        lines.append((await reader.readuntil(b"\r\n\r\n")).splitlines()[0])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async def work():
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        async with answering(answer) as place:
            for name, value in environment.items():
                monkeypatch.setenv(name, value.format(place))
            async with HttpTransport(
                Access(server="http://api.invalid", proxy=named.format(place))
            ) as transport:
                return await status_of(transport)

    assert asyncio.run(work()) == (200 if is_used else None)
    assert lines == ([b"GET http://api.invalid/api/v1/nodes HTTP/1.1"] if is_used else [])


@pytest.mark.parametrize(
    "server, without, wanted",
    [
        ("https://10.0.0.1", "", "http://proxy:3128"),
        ("https://127.0.0.1:6443", "", ""),
        ("https://localhost", "", ""),
        ("https://10.0.0.1", "a, 10.0.0.0/8", ""),
        ("https://10.0.0.1:6443", "10.0.0.1:6443", ""),
        ("https://[fd00::1]:6443", "fd00::/8", ""),
        ("https://a.example", "*.example", ""),
        ("https://a.example", "10.0.0.0/8", "http://proxy:3128"),
    ],
)
def test_what_the_environment_says(monkeypatch, server, without, wanted):
    """A proxy needs no scheme. NO_PROXY may have networks, ports and stars, and this machine has none."""
    for name, value in {"HTTPS_PROXY": "proxy:3128", "NO_PROXY": without}.items():
        monkeypatch.delenv(name.lower(), raising=False)
        monkeypatch.setenv(name, value)
    assert environment_proxy(server) == wanted


@pytest.mark.parametrize("proxy", ["socks5://u:SECRET@proxy:1080", "http://u:SECRET@proxy:31:28"])
def test_wrong_proxies_of_the_environment(monkeypatch, proxy):
    """A proxy that cannot be asked is told, without its password."""
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.delenv("https_proxy", raising=False)
    with pytest.raises(KubeclassicError, match="HTTPS_PROXY: expected http://HOST:PORT or https") as raised:
        send(Access(server="https://api.invalid"))
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize(
    "line, wanted",
    [
        (b"HTTP/1.1 407 Who Are You", "the proxy answered 407: Who Are You"),
        (b"SOCKS", "got an answer that is no HTTP: "),
    ],
)
def test_a_proxy_that_refuses(line, wanted):
    """What it answers is told, without its password."""

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(line + b"\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def work():
        async with answering(answer) as place:
            proxy = place.replace("://", "://u:SECRET@")
            async with HttpTransport(Access(server="https://api.invalid", proxy=proxy)) as transport:
                await transport.send(NODES)

    with pytest.raises(TransportError, match=re.escape(f"api.invalid/api/v1/nodes: {wanted}")) as raised:
        asyncio.run(work())
    assert "SECRET" not in str(raised.value)
