"""Reads a kubeconfig, or the files that Kubernetes puts into a pod, as an :class:`~.credentials.Access`.

Upstream: k8s.io/client-go/tools/clientcmd, and rest.InClusterConfig.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import yaml

from ...exceptions import did_you_mean
from .credentials import Access, Anonymous, Credentials, KubeconfigError, TokenFile, password, token
from .execplugin import VERSIONS, ExecPlugin

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def access_to(file: str | Path | None, context: str | None = None) -> Access:
    """The way to the API server that *file* names, or without one to that of the cluster in which this is a pod."""
    return in_cluster() if file is None else read_kubeconfig(file, context)


def read_kubeconfig(path: str | os.PathLike[str], context: str | None = None) -> Access:
    """The access that *context* of the file gives; without one, its current context. Raises :class:`~.credentials.KubeconfigError`."""
    file = Path(path).expanduser()
    return _Reading(file, _document(file)).access(context)


def in_cluster(folder: Path = SERVICE_ACCOUNT, environment: Mapping[str, str] = os.environ) -> Access:
    """The access of a pod, by its service account. Raises :class:`~.credentials.KubeconfigError` outside of a cluster."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise KubeconfigError("kubeconfig: got none, and this is no pod (KUBERNETES_SERVICE_HOST is not set); wanted --kubeconfig FILE")
    address = f"[{host}]" if ":" in host else host
    namespace = folder / "namespace"
    return Access(
        server=f"https://{address}:{port}",
        ca=_bytes_of(folder / "ca.crt", "service account"),
        credentials=TokenFile(folder / "token"),
        namespace=namespace.read_text(encoding="utf-8").strip() if namespace.is_file() else "default",
    )


def _document(file: Path) -> Mapping[str, Any]:
    try:
        found = yaml.safe_load(file.read_bytes())
    except OSError as error:
        raise KubeconfigError(f"{file}: {(error.strerror or 'cannot be read').lower()}") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise KubeconfigError(f"{file}{place}: broken YAML") from None
    if not isinstance(found, dict) or not {"clusters", "contexts"} & found.keys():
        raise KubeconfigError(f"{file}: got no clusters and contexts, wanted a kubeconfig")
    return found


def _bytes_of(file: Path, where: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise KubeconfigError(f"{where}: {file}: {(error.strerror or 'cannot be read').lower()}") from None


@attrs.frozen
class _Reading:
    file: Path
    document: Mapping[str, Any]

    def access(self, context: str | None) -> Access:
        """The access of a context."""
        name = context or self.document.get("current-context")
        if not name:
            raise self._error("current-context: got none, wanted one, or --context NAME")
        chosen = self._named("contexts", "context", str(name), "--context" if context else "current-context")
        where = f"context {name}"
        cluster = self._named("clusters", "cluster", str(chosen.get("cluster") or ""), f"{where}: cluster")
        user_name = str(chosen.get("user") or "")
        user = self._named("users", "user", user_name, f"{where}: user") if user_name else {}
        return self._made(cluster, user, str(chosen.get("namespace") or "default"), f"user {user_name}")

    def _made(self, cluster: Mapping[str, Any], user: Mapping[str, Any], namespace: str, who: str) -> Access:
        is_insecure = bool(cluster.get("insecure-skip-tls-verify"))
        ca = self._data(cluster, "certificate-authority", "cluster")
        if is_insecure and ca is not None:
            raise self._error("cluster: got insecure-skip-tls-verify and certificate-authority, wanted one of them")
        certificate, key = self._data(user, "client-certificate", who), self._data(user, "client-key", who)
        if (certificate is None) != (key is None):
            raise self._error(f"{who}: got client-certificate without client-key or the reverse, wanted both")
        return Access(
            server=self._server(cluster),
            ca=ca,
            is_insecure=is_insecure,
            server_name=str(cluster.get("tls-server-name") or ""),
            proxy=str(cluster.get("proxy-url") or ""),
            certificate=(certificate, key) if certificate is not None and key is not None else None,
            headers=self._impersonation(user, who),
            credentials=self._credentials(user, cluster, who),
            namespace=namespace,
        )

    def _server(self, cluster: Mapping[str, Any]) -> str:
        server = str(cluster.get("server") or "")
        parts = urlsplit(server if "://" in server else f"http://{server}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise self._error(f"cluster: server: got {server or 'nothing'}, wanted https://HOST:PORT")
        return parts.geturl().rstrip("/")

    def _credentials(self, user: Mapping[str, Any], cluster: Mapping[str, Any], who: str) -> Credentials:
        if user.get("auth-provider"):
            raise self._error(f"{who}: auth-provider: got one, which Kubernetes has given up; wanted exec, a plugin")
        if user.get("tokenFile"):
            return TokenFile(self.file.parent / str(user["tokenFile"]))
        if user.get("token"):
            return token(str(user["token"]))
        if user.get("username"):
            return password(str(user["username"]), str(user.get("password") or ""))
        return self._plugin(user["exec"], cluster, who) if user.get("exec") else Anonymous()

    def _plugin(self, given: Any, cluster: Mapping[str, Any], who: str) -> ExecPlugin:
        where = f"{who}: exec"
        if not isinstance(given, dict) or not given.get("command"):
            raise self._error(f"{where}: command: got none, wanted the plugin's program")
        if given.get("apiVersion") not in VERSIONS:
            raise self._error(f"{where}: apiVersion: got {given.get('apiVersion')}, wanted {' or '.join(VERSIONS)}")
        command = str(given["command"])
        return ExecPlugin(
            where=f"{self.file}: {who}",
            command=str(self.file.parent / command) if os.sep in command else command,
            api_version=given["apiVersion"],
            arguments=[str(argument) for argument in given.get("args") or ()],
            environment={str(pair["name"]): str(pair.get("value", "")) for pair in given.get("env") or ()},
            cluster=self._told(cluster) if given.get("provideClusterInfo") else None,
            is_interactive=given.get("interactiveMode", "IfAvailable") != "Never",
            hint=str(given.get("installHint") or ""),
        )

    def _told(self, cluster: Mapping[str, Any]) -> dict[str, Any]:
        """What a plugin learns of its cluster."""
        ca = self._data(cluster, "certificate-authority", "cluster")
        told = {name: cluster[name] for name in ("server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url") if cluster.get(name)}
        if ca is not None:
            told["certificate-authority-data"] = base64.b64encode(ca).decode("ascii")
        extensions = {item.get("name"): item.get("extension") for item in cluster.get("extensions") or ()}
        return {**told, "config": extensions.get("client.authentication.k8s.io/exec")}

    def _named(self, section: str, kind: str, name: str, where: str) -> Mapping[str, Any]:
        """The entry called *name* of a section."""
        entries = self.document.get(section) or []
        try:
            known = {str(entry["name"]): entry.get(kind) or {} for entry in entries}
        except (TypeError, KeyError, AttributeError):
            raise self._error(f"{section}: wanted a list of entries with name and {kind}") from None
        if name not in known:
            names = ", ".join(known) or "none"
            raise self._error(f"{where}: got {name or 'none'}, wanted one of {section}: {names}{did_you_mean(name, known)}")
        found = known[name]
        if not isinstance(found, dict):
            raise self._error(f"{section}: {name}: wanted a mapping")
        return found

    def _data(self, entry: Mapping[str, Any], field: str, where: str) -> bytes | None:
        """The content of *field*: in the entry itself (``FIELD-data``), or in the file that it names."""
        if entry.get(f"{field}-data"):
            try:
                return base64.b64decode(str(entry[f"{field}-data"]), validate=True)
            except (binascii.Error, ValueError):
                raise self._error(f"{where}: {field}-data: wanted base64") from None
        return _bytes_of(self.file.parent / str(entry[field]), f"{self.file}: {where}: {field}") if entry.get(field) else None

    def _impersonation(self, user: Mapping[str, Any], who: str) -> dict[str, str]:
        """The header that makes the user act as another."""
        for field in ("as-groups", "as-uid", "as-user-extra"):
            if user.get(field):
                raise self._error(f"{who}: {field}: is not supported, wanted as alone")
        return {"Impersonate-User": str(user["as"])} if user.get("as") else {}

    def _error(self, text: str) -> KubeconfigError:
        return KubeconfigError(f"{self.file}: {text}")
