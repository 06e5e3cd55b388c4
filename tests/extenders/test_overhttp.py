"""Requests over real connections: kept alive, refused, slow, broken, and with certificates."""

import json
import pickle
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kubeclassic.algorithmprovider.extenders import ExtenderConfig, TlsConfig
from kubeclassic.extenders import overhttp
from kubeclassic.extenders.overhttp import PostError, TlsError, http_post
from tests.support.refusals import refusal_text

CERTS = Path(__file__).parent / "certs"
CERT = CERTS / "cert.pem"
KEY = CERTS / "key.pem"


class Handler(BaseHTTPRequestHandler):
    """Says which connection a request came by; waits, breaks off or redirects if the path says so."""

    protocol_version = "HTTP/1.1"
    going = threading.Event()

    def log_message(self, *args):
        """Nothing is logged."""

    def do_POST(self):  # the library's name
        """Answer with what was sent."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/slow":
            self.going.wait(60)
        if self.path == "/gone":
            self.close_connection = True
            return
        answer = json.dumps(
            {"port": self.client_address[1], "body": body.decode(), "type": self.headers["Content-Type"]}
        ).encode()
        places = {"/moved": "/here", "/round": "/round"}
        self.send_response(307 if self.path in places else 200)
        if self.path in places:
            self.send_header("Location", places[self.path])
        if self.path == "/packed":
            self.send_header("Content-Encoding", "gzip")
        if self.path == "/short":
            self.send_header("Content-Length", "999")
            self.close_connection = True
        elif self.path != "/large":
            self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.path == "/large":
            self.close_connection = True
            with suppress(OSError):
                for _ in range(1 << 12):
                    self.wfile.write(b" " * (1 << 16))
            return
        if self.path == "/half":
            self.wfile.write(answer[:3])
            self.going.wait(60)
            return
        self.wfile.write(answer)


@contextmanager
def serving(context=None):
    """A server's port."""
    Handler.going = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda request, address: None
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        Handler.going.set()
        server.shutdown()
        server.server_close()
        thread.join()


def failure(config, url, timeout=60.0):
    """The text of the error of a request."""
    post = http_post(config)
    try:
        with pytest.raises(PostError) as failed:
            post(url, b"{}", timeout)
    finally:
        post.close()
    return str(failed.value)


# --- Plain --------------------------------------------------------------------------------------------------


def test_connections_are_kept():
    """Two requests come by the same connection, each with its body and as JSON."""
    with serving() as port:
        post = http_post(ExtenderConfig(f"http://127.0.0.1:{port}"))
        first, second = (
            json.loads(post(f"http://127.0.0.1:{port}/x", body, 60).body) for body in (b"1", b"2")
        )
        post.close()
    assert first["port"] == second["port"]
    assert (first["body"], second["body"], second["type"]) == ("1", "2", "application/json")


def test_no_proxy_is_asked_for_this_machine(monkeypatch):
    """As Go does, whatever the environment says."""
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving() as port:
        post = http_post(ExtenderConfig(f"http://127.0.0.1:{port}"))
        assert post(f"http://127.0.0.1:{port}/x", b"{}", 60).status == 200
        post.close()


def test_a_redirect_is_followed():
    """A request that is sent elsewhere keeps its body."""
    with serving() as port:
        post = http_post(ExtenderConfig())
        found = post(f"http://127.0.0.1:{port}/moved", b"{}", 60)
        post.close()
    assert (found.status, json.loads(found.body)["body"]) == (200, "{}")


def test_nobody_listens():
    """A refused connection has Go's text, with the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/dead/filter"
    assert (
        failure(ExtenderConfig(), url)
        == f'Post "{url}": dial tcp 127.0.0.1:{port}: connect: connection refused'
    )


@pytest.mark.parametrize(
    "path, timeout, text",
    [
        (
            "/slow",
            0.05,
            'Post "{}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
        ),
        ("/gone", 60.0, 'Post "{}": EOF'),
        ("/round", 60.0, 'Post "{}": stopped after 10 redirects'),
        ("/large", 60.0, "expected a reply, got more than 3 MiB"),
    ],
)
def test_no_answer(path, timeout, text, monkeypatch):
    """A slow answer, and a connection that is closed without one, have Go's text; one of more than the
    limit is an error at once."""
    monkeypatch.setattr(overhttp, "MOST_REPLY", 3 << 20)
    with serving() as port:
        url = f"http://127.0.0.1:{port}{path}"
        assert failure(ExtenderConfig(), url, timeout) == text.format(url)


@pytest.mark.parametrize("path, fault", [("/short", "unexpected EOF"), ("/packed", "gzip: invalid header")])
def test_a_body_that_breaks_off(path, fault):
    """The part before the break is kept, with Go's text for the error."""
    with serving() as port:
        post = http_post(ExtenderConfig())
        found = post(f"http://127.0.0.1:{port}{path}", b"{}", 60)
        post.close()
    assert (found.status, found.fault) == (200, fault)
    assert (path == "/short") is found.body.endswith(b"}")


def test_half_an_answer_in_time():
    """A body that does not come in time has a text of its own, without the URL."""
    with serving() as port:
        post = http_post(ExtenderConfig())
        for timeout in (0.1, 1.0, 10.0):
            with suppress(PostError):  # a busy machine takes its time for headers, too
                found = post(f"http://127.0.0.1:{port}/half", b"{}", timeout)
                break
        post.close()
    assert found.body == b'{"p'
    assert (
        found.fault == "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
    )


@pytest.mark.parametrize(
    "url, text",
    [
        ("http://[::1/x", 'parse "http://[::1/x": '),
        ("http://127.0.0.1:99999/x", 'Post "http://127.0.0.1:99999/x": '),
        ("http://a..b/x", 'Post "http://a..b/x": '),
        (f"http://{'a' * 64}/x", 'Post "http://aaa'),
    ],
)
def test_addresses_that_cannot_be(url, text):
    """They are no answer, as those of an extender that is away."""
    assert failure(ExtenderConfig(url_prefix=url), url).startswith(text)


@pytest.mark.parametrize("url, scheme", [("localhost:80/x", "localhost"), ("/x", ""), ("ftp://a/x", "ftp")])
def test_other_schemes(url, scheme):
    """A URL without http or https is refused."""
    assert failure(ExtenderConfig(), url) == f'Post "{url}": unsupported protocol scheme "{scheme}"'


def test_a_copy_connects_anew():
    """The client of an extender can be copied by pickle."""
    with serving() as port:
        post = pickle.loads(pickle.dumps(http_post(ExtenderConfig())))
        assert post(f"http://127.0.0.1:{port}/x", b"{}", 60).status == 200
        post.close()


@pytest.fixture(scope="module")
def tls_port():
    """The port of a server with a certificate for extender.test, which asks clients for theirs, too."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERT, KEY)
    context.load_verify_locations(CERT)
    context.verify_mode = ssl.CERT_OPTIONAL
    with serving(context) as port:
        yield port


# --- Tls ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tls",
    [
        TlsConfig(insecure=True),
        TlsConfig(ca_file=str(CERT), server_name="extender.test"),
        TlsConfig(ca_data=CERT.read_bytes(), server_name="extender.test"),
        TlsConfig(ca_file=str(CERT), server_name="extender.test", cert_file=str(CERT), key_file=str(KEY)),
        TlsConfig(
            ca_data=CERT.read_bytes(),
            server_name="extender.test",
            cert_data=CERT.read_bytes(),
            key_data=KEY.read_bytes(),
            cert_file="nowhere",
            key_file="nowhere",
        ),
        TlsConfig(
            ca_data="# für uns\n".encode() + CERT.read_bytes(),
            server_name="extender.test",
            cert_file=str(CERT),
        ),
        None,
    ],
    ids=["insecure", "authority", "data", "client", "client data", "no key", "enableHttps alone"],
)
def test_what_is_accepted(tls_port, tls):
    """Files, data that win over files, and no check with insecure, or with enableHttps and no authority."""
    post = http_post(ExtenderConfig(tls=tls, enable_https=tls is None))
    assert post(f"https://127.0.0.1:{tls_port}/x", b"{}", 60).status == 200
    post.close()


def test_who_is_not_trusted(tls_port):
    """A certificate of an unknown authority is refused in Go's words, and so is one for another host."""
    url = f"https://127.0.0.1:{tls_port}/x"
    text = f'Post "{url}": tls: failed to verify certificate: x509: '
    assert failure(ExtenderConfig(), url) == f"{text}certificate signed by unknown authority"
    assert failure(ExtenderConfig(tls=TlsConfig(ca_file=str(CERT))), url).startswith(text)


@pytest.mark.parametrize("name", ["a\0b", "a..b", "x" * 70])
def test_a_server_name_that_cannot_be_sent(name):
    """There is no connection, which would stay open."""
    config = ExtenderConfig(tls=TlsConfig(insecure=True, server_name=name))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        assert "Post" in failure(config, f"https://127.0.0.1:{listening.getsockname()[1]}/x")
        with pytest.raises(TimeoutError):
            listening.accept()


def test_plain_http_behind_https():
    """An answer without TLS has Go's text."""
    with serving() as port:
        url = f"https://127.0.0.1:{port}/x"
        told = f'Post "{url}": http: server gave HTTP response to HTTPS client'
        assert failure(ExtenderConfig(), url) == told


@pytest.mark.parametrize(
    "tls, text",
    [
        (
            TlsConfig(insecure=True, ca_file="x"),
            "specifying a root certificates file with the insecure flag is not allowed",
        ),
        (TlsConfig(ca_file="/nowhere/ca.pem"), "tlsConfig: No such file or directory"),
        (TlsConfig(ca_data=b"no certificate"), "tlsConfig: "),
        (TlsConfig(cert_file=str(CERT), key_file="/nowhere/key.pem"), "tlsConfig: No such file or directory"),
    ],
)
def test_what_is_refused(tls, text):
    """Wrong files are told before anything is sent."""
    assert refusal_text(TlsError, http_post, ExtenderConfig("https://x", tls=tls)).startswith(
        f"extender https://x: {text}"
    )
