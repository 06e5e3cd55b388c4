"""API servers for scenarios: kube-apiserver with etcd, or the server of the tests; both over TLS on the
loopback, with kubeconfigs."""

import base64
import json
import logging
import secrets
import signal
import socket
import time
from abc import ABC, abstractmethod
from contextlib import ExitStack
from pathlib import Path

import attrs
import trustme
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.apiserver import NEW_SERVER, OLD_SERVER, Store, StoreTransport, make_app, serving
from tests.conftest import ROOT

from .programs import Running
from .remote import Remote

ADMIN = "admin"
SCHEDULER = "scheduler"
ORIGINAL = "original"
"""Users: the administrator, ``kubeclassic run``, and kube-scheduler."""
_ACCOUNTS = "system:serviceaccounts,system:serviceaccounts:kubeclassic"
USERS = {
    ADMIN: ("admin", "system:masters"),
    SCHEDULER: ("system:serviceaccount:kubeclassic:kubeclassic-scheduler", _ACCOUNTS),
    ORIGINAL: ("system:kube-scheduler", "system:authenticated"),
}
COPIED = ("nodes", "pods", "persistentvolumes", "persistentvolumeclaims", "leases", "events")
DEPLOY = ROOT / "examples" / "deploy"
START_WITHIN = 180.0
"""The seconds within which a server must come up."""
AUDIT = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, users: [admin, "system:apiserver"]}
- {level: Request, verbs: [create, update, patch, delete]}
- {level: Metadata}
"""


class ServerError(Exception):
    """A server that does not come up."""


@attrs.define(eq=False)
class Server(ABC):
    """An API server with its files in *folder*. Use it as a context."""

    folder: Path
    remote: Remote = attrs.field(init=False)

    @property
    @abstractmethod
    def name(self):
        """The name of the server, with its version."""

    @abstractmethod
    def start(self):
        """Start the server, set :attr:`remote`, and write the kubeconfigs."""

    @abstractmethod
    def stop(self):
        """Stop the server."""

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self.start()
            self._grant()
            self.remote.follow()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *raised):
        self.remote.leave()
        self.stop()
        self.remote.end()

    def kubeconfig(self, who):
        """The kubeconfig of one of :data:`USERS`."""
        return str(self.folder / f"{who}.kubeconfig")

    def _grant(self):
        """Apply the RBAC rules of the examples, also those of a current release. Rules about API groups that
        the server does not have do no harm."""
        rights = list(yaml.safe_load_all((DEPLOY / "rbac.yaml").read_text()))
        for item in yaml.safe_load_all((DEPLOY / "current.yaml").read_text()):
            if item["kind"] == "ClusterRole":
                rights.append(item)
            elif item["kind"] == "ClusterRoleBinding" and item["roleRef"]["name"] == item["metadata"]["name"]:
                account = {
                    "kind": "ServiceAccount",
                    "name": "kubeclassic-scheduler",
                    "namespace": "kubeclassic",
                }
                rights.append({**item, "subjects": [account]})
        for item in rights:
            resource = next(
                (each for each in self.remote.flavour.resources if each.kind == item["kind"]), None
            )
            if resource is not None:
                path = resource.path(item["metadata"].get("namespace", "") if resource.is_namespaced else "")
                self.remote.user.ask("POST", path, item)

    def _write(self, address, tokens, authority):
        """Write the kubeconfigs."""
        cluster = {"server": address, "certificate-authority-data": base64.b64encode(authority).decode()}
        for who, token in tokens.items():
            document = {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "x",
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": {"token": token}}],
            }
            Path(self.kubeconfig(who)).write_text(json.dumps(document))


@attrs.define(eq=False)
class OfTests(Server):
    """The API server of the tests, in this process; every token is the administrator's."""

    flavour: object = NEW_SERVER
    _running: ExitStack = attrs.field(factory=ExitStack, init=False)

    @property
    def name(self):
        """The name of the server, with the version as which it answers."""
        return f"of the tests, as {self.flavour.version}"

    def start(self):
        """Start the server in a thread."""
        logging.getLogger("uvicorn.error").setLevel(
            logging.CRITICAL
        )  # at the end it logs each watch that is cut
        authority = trustme.CA()
        pair = authority.issue_cert("127.0.0.1")
        certificate = self.folder / "certificate.pem"
        key = self.folder / "key.pem"
        certificate.write_bytes(b"".join(blob.bytes() for blob in pair.cert_chain_pems))
        pair.private_key_pem.write_to_path(key)
        store = Store(self.flavour)
        token = secrets.token_hex()
        app = make_app(StoreTransport(store), token=token)
        address = self._running.enter_context(
            serving(app, ssl_certfile=str(certificate), ssl_keyfile=str(key))
        )
        self._write(address, dict.fromkeys(USERS, token), authority.cert_pem.bytes())
        self.remote = Remote(address, token, self.flavour, COPIED)

    def stop(self):
        """End the thread."""
        self._running.close()


@attrs.define(eq=False)
class Real(Server):
    """The kube-apiserver of *kubernetes* with its own etcd."""

    kubernetes: object
    api: Running = attrs.field(default=None, init=False)
    etcd: Running = attrs.field(default=None, init=False)
    _ports: tuple = attrs.field(factory=lambda: free_ports(3), init=False)

    @property
    def name(self):
        """The name of the server, such as ``kube-apiserver 1.28.7``."""
        return f"kube-apiserver {self.kubernetes.version}"

    def start(self):
        """Start etcd and the API server, and wait for the roles that it creates itself."""
        tokens = {who: secrets.token_hex() for who in USERS}
        lines = [
            f'{tokens[who]},{name},{number},"{groups}"'
            for number, (who, (name, groups)) in enumerate(USERS.items())
        ]
        (self.folder / "tokens.csv").write_text("\n".join(lines) + "\n")
        (self.folder / "audit.yaml").write_text(AUDIT)
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        (self.folder / "accounts.key").write_bytes(pem)
        address = f"https://127.0.0.1:{self._ports[0]}"
        self.remote = Remote(
            address, tokens[ADMIN], OLD_SERVER if self.kubernetes.minor < 22 else NEW_SERVER, COPIED
        )
        self.start_etcd()
        self.start_api()
        self._write(address, tokens, (self.folder / "certs" / "apiserver.crt").read_bytes())

    def start_etcd(self):
        """Start etcd with its existing data."""
        client, peer = (f"http://127.0.0.1:{port}" for port in self._ports[1:])
        self.etcd = Running(
            [
                self.kubernetes.etcd,
                "--name",
                "a",
                "--data-dir",
                str(self.folder / "etcd"),
                "--listen-client-urls",
                client,
                "--advertise-client-urls",
                client,
                "--listen-peer-urls",
                peer,
                "--initial-advertise-peer-urls",
                peer,
                "--initial-cluster",
                f"a={peer}",
                "--quota-backend-bytes",
                str(4 << 30),
            ],
            self.folder / "etcd.log",
        )

    def start_api(self):
        """Start the API server, and wait for it."""
        folder = self.folder
        newer = [
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-signing-key-file={folder}/accounts.key",
        ]
        self.api = Running(
            [
                self.kubernetes.program("kube-apiserver"),
                f"--etcd-servers=http://127.0.0.1:{self._ports[1]}",
                "--bind-address=127.0.0.1",
                f"--secure-port={self._ports[0]}",
                "--advertise-address=127.0.0.1",
                f"--cert-dir={folder}/certs",
                "--event-ttl=6h",
                f"--token-auth-file={folder}/tokens.csv",
                "--authorization-mode=RBAC",
                "--anonymous-auth=false",
                "--allow-privileged=true",
                "--service-cluster-ip-range=10.0.0.0/24",
                f"--service-account-key-file={folder}/accounts.key",
                f"--audit-policy-file={folder}/audit.yaml",
                f"--audit-log-path={folder}/audit.log",
                "--audit-log-maxsize=2000",
                "--max-requests-inflight=3000",
                "--max-mutating-requests-inflight=1000",
                "--endpoint-reconciler-type=none",
                "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
                *(["--insecure-port=0"] if self.kubernetes.minor < 20 else newer),
            ],
            folder / "apiserver.log",
        )
        role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:volume-scheduler"
        is_up = lambda: self.remote.is_ready() and self.remote.handle("GET", role).status == 200  # noqa: E731
        until(is_up, START_WITHIN, f"{self.name} does not come up")

    def kill_api(self):
        """Kill the API server."""
        self.api.kill()

    def kill_etcd(self):
        """Kill etcd."""
        self.etcd.kill()

    def pause(self, *, is_over):
        """Suspend the API server, or with *is_over* let it go on."""
        self.api.send(signal.SIGCONT if is_over else signal.SIGSTOP)

    def stop(self):
        """Kill both processes."""
        for process in (self.api, self.etcd):
            if process is not None and process.status is None:
                process.kill()


def free_ports(count):
    """Free ports of the loopback."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return tuple(each.getsockname()[1] for each in sockets)


def until(holds, seconds, told=""):
    """Wait until *holds*, at most for *seconds*. If it never does, return False, or with *told* raise
    :class:`ServerError`."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() >= end:
            if told:
                raise ServerError(told)
            return False
        time.sleep(0.1)
    return True
