"""`kubeclassic serve` as a program: over real sockets, with slow and large requests, TLS, signals and bad
options."""

import json
import signal
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager

import attrs
import httpx
import pytest
import trustme

from kubeclassic.cli import run
from tests.support.manifests import dumped
from tests.support.program import command, ran, started
from tests.support.serverbuild import node_json, pod_json

READY = "listening on "
ASK = {"Pod": pod_json("x", cpu="2"), "NodeNames": ["a"]}
ANYBODY = "--bind-address: expected --client-ca-file, --token-file, or --insecure if everybody may ask, got"
REFUSED = {
    "": "expected PATHS, or --kubeconfig or --context, got neither",
    "examples/cluster --kubeconfig x": "--kubeconfig cannot be combined with examples/cluster",
    "examples/cluster --context x": "--context cannot be combined with examples/cluster",
    "examples/cluster --bind-address 0.0.0.0": f"{ANYBODY} 0.0.0.0",
    "examples/cluster --bind-address :: --tls-cert-file x --tls-private-key-file x": f"{ANYBODY} ::",
    "examples/cluster --tls-cert-file x": "--tls-cert-file and --tls-private-key-file: expected both or none, got one",
    "examples/cluster --client-ca-file x": "--client-ca-file needs --tls-cert-file",
    "examples/cluster --token-file x --insecure": "--insecure cannot be combined with --token-file or",
    "examples/cluster --token-file x --allowed-host x": "--allowed-host cannot be combined with --token-file",
    "examples/cluster --token-file /dev/null": "/dev/null: expected a token, got nothing",
    "examples/cluster --token-file gone": "gone: no such file or directory",
    "examples/drain/cluster.yaml --tls-cert-file setup.cfg --tls-private-key-file setup.cfg": (
        "setup.cfg, setup.cfg: got no certificate with its key ([SSL] PEM lib (_ssl.c:"
    ),
}


@attrs.frozen
class Running:
    """A server that runs as a program."""

    process: object
    url: str

    @property
    def port(self):
        """The server's port."""
        return int(self.url.rpartition(":")[2])

    def connect(self):
        """A connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def stops_listening(self):
        """Whether it takes no new connections within a minute."""
        for _ in range(6000):
            try:
                self.connect().close()
            except OSError:
                return True
            time.sleep(0.01)
        return False

    def stop(self, number=signal.SIGTERM):
        """Send a signal; the exit status, and what is left of standard error."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@contextmanager
def serving(folder, *options):
    """A server of a cluster with the node a, and the pod w that waits."""
    items = [{**node_json("a"), "kind": "Node"}, {**pod_json("w"), "kind": "Pod"}]
    (folder / "cluster.json").write_text(dumped(items))
    with serving_program(str(folder / "cluster.json"), *options) as server:
        yield server


@contextmanager
def serving_program(*arguments):
    """A server with these *arguments*, on a free port."""
    words = command("serve", *arguments, "--port", "0")
    with started(words, stdout=subprocess.PIPE) as process:
        said = []
        while not (said and READY in said[-1]):
            said.append(process.stderr.readline())
            assert said[-1], said
        yield Running(process, said[-1].partition(READY)[2].strip())


def read_all(connection):
    """Everything until the other side ends the connection."""
    found = b""
    while part := connection.recv(1 << 16):
        found += part
    return found


def sent_until_cut_off(connection, part, most):
    """The number of times that *part* was sent, *most* at most, until the other side ended the connection."""
    for count in range(most):
        try:
            connection.sendall(part)
        except OSError:
            return count
    return most


# --- As AProgram --------------------------------------------------------------------------------------------


def test_an_answer_and_the_end(tmp_path):
    """The server says where it listens, answers, and ends with status 0 on SIGTERM, which one line says;
    about bytes that are no HTTP it says nothing."""
    with serving(tmp_path) as server:
        with server.connect() as connection:
            connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
            assert read_all(connection).startswith(b"HTTP/1.1 400 ")
        assert server.url.startswith("http://127.0.0.1:")
        with httpx.Client(base_url=server.url, timeout=60) as client:
            assert client.post("/filter", json=ASK, timeout=60).json()["NodeNames"] == ["a"]
        status, said = server.stop()
        assert (status, said.partition("] ")[2]) == (0, "stopped by SIGTERM; exit status 0\n")


@pytest.mark.whole
def test_what_runs_is_finished(tmp_path):
    """A request whose body is on its way when SIGTERM comes is answered."""
    body = json.dumps(ASK).encode()
    with serving(tmp_path) as server, server.connect() as connection:
        head = f"POST /filter HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body[:10])
        with httpx.Client(base_url=server.url, timeout=60) as client:
            while "requests_in_flight 1.0" not in client.get("/metrics").text:
                time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        assert server.stops_listening()
        connection.sendall(body[10:])
        assert b'"NodeNames":["a"]' in read_all(connection)
        assert server.process.wait(timeout=60) == 0


@pytest.mark.whole
def test_a_huge_body_is_cut_off(tmp_path):
    """A streamed gigabyte is refused after its first megabyte, an announced one before any of it, and
    others are answered."""
    part = b"10000\r\n" + b" " * 65536 + b"\r\n"
    with serving(tmp_path, "--max-body-mb", "1") as server, server.connect() as connection:
        connection.sendall(b"POST /filter HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert sent_until_cut_off(connection, part, 1 << 14) < 1 << 10
        with server.connect() as other:
            other.sendall(b"POST /filter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\n")
            found = read_all(other)
        assert found.startswith(b"HTTP/1.1 413 ")
        assert b"at most 1048576 bytes, got more" in found
        assert httpx.post(f"{server.url}/filter", json=ASK, timeout=60).status_code == 200


@pytest.mark.whole
def test_slow_headers_are_cut_off(tmp_path):
    """A caller that sends headers drop by drop is cut off; others are answered all the time."""
    with serving(tmp_path) as server, server.connect() as slower, server.connect() as silent:
        slower.sendall(b"POST /filter HT")
        assert httpx.post(f"{server.url}/filter", json=ASK, timeout=60).status_code == 200
        assert read_all(slower) == b""
        assert read_all(silent) == b""


@pytest.mark.whole
def test_tls_client_certificates_and_token(tmp_path):
    """With TLS, a client CA and a token only who has both a certificate and the token gets an answer."""
    ca = trustme.CA()
    ca.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    ca.issue_cert("client").private_key_and_cert_chain_pem.write_to_path(tmp_path / "client.pem")
    ca.cert_pem.write_to_path(tmp_path / "ca.pem")
    (tmp_path / "token").write_text("secret\n")
    files = {"--tls-cert-file": "server.pem", "--tls-private-key-file": "server.pem"}
    files |= {"--client-ca-file": "ca.pem", "--token-file": "token"}
    options = [word for flag, name in files.items() for word in (flag, str(tmp_path / name))]
    context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    known = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    known.load_cert_chain(tmp_path / "client.pem")
    with serving(tmp_path, *options) as server:
        assert server.url.startswith("https://")
        with (
            httpx.Client(base_url=server.url, verify=context, timeout=60) as client,
            pytest.raises(httpx.TransportError),
        ):
            client.get("/healthz")
        with httpx.Client(base_url=server.url, verify=known, timeout=60) as client:
            assert client.post("/filter", json=ASK, timeout=60).status_code == 401
            assert (
                client.post("/filter", json=ASK, headers={"authorization": "Bearer secret"}).status_code
                == 200
            )


# --- Options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, said", REFUSED.items())
def test_what_does_not_go(options, said, at_the_root):
    """Options that do not go together end it with status 2 and one line."""
    *before, line = ran("serve", *options.split(), status=2).err.splitlines()
    assert line.startswith(f"kubeclassic: {said}")
    assert [one for one in before if not one.startswith("release ")] == []


def test_a_port_in_use(at_the_root, capsys):
    """A port that another program has is told of."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(["serve", "examples/cluster", "--port", str(port)]) == 2
    assert capsys.readouterr().err.endswith(
        f"kubeclassic: 127.0.0.1:{port}: cannot listen there: address already in use\n"
    )
