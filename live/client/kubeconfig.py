"""Kubeconfigs, or the files that Kubernetes puts into a pod, read as an :class:`~.http.Access`.

Of several files, as the variable KUBECONFIG names them, the first one that has an entry of a name wins, with
the whole entry, and so does the first current-context. Files that are missing are left out, and paths are
relative to the file that has them. A kubeconfig is read as manifests are, within their bounds. No message has
a value that may be a secret. Upstream: k8s.io/client-go/tools/clientcmd, and rest.InClusterConfig.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import attrs

from ...api.objects import JsonDict, JsonObject
from ...api.reading import parsed, without_user
from ...api.reading.addresses import SCHEMES, is_loopback, split_url
from ...exceptions import ManifestError, did_you_mean, one_line
from .addresses import KubeconfigError
from .http import (
    ANONYMOUS,
    NO_HEADER,
    VERSIONS,
    Access,
    CertificateFiles,
    Credentials,
    ExecPlugin,
    FixedHeader,
    TokenFile,
    fits_a_header,
)

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
LARGEST = 16 << 20
VARIABLE = "KUBECONFIG"
_SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
"""Fields of clusters and users that name files."""
_PLACE = re.compile(r", line \d+, column \d+")
_MODES = ("Never", "IfAvailable", "Always")


def access_to(
    file: str | Path | None, context: str | None = None, environment: Mapping[str, str] = os.environ
) -> Access:
    """The access to the API server that *file* names. Without *file* it is found as kubectl does: by the
    files of KUBECONFIG, or else as a pod of a cluster. Raises :class:`~.addresses.KubeconfigError`."""
    if file is not None:
        return read_kubeconfig(file, context)
    named = environment.get(VARIABLE, "")
    if named:
        files = []
        for file in dict.fromkeys(map(Path, filter(None, named.split(os.pathsep)))):
            try:
                file.stat()
            except FileNotFoundError:
                continue
            except OSError:
                pass  # reading it says why
            files.append(file)
        if not files:
            raise KubeconfigError(f"{VARIABLE}: expected a file that exists, got {one_line(named)}")
        return _access_of(files, context)
    if context is not None:
        raise KubeconfigError(f"--context: expected --kubeconfig FILE, or the variable {VARIABLE}, too")
    return in_cluster(environment)


def read_kubeconfig(path: str | os.PathLike[str], context: str | None = None, server: str = "") -> Access:
    """The access that *context* of the file gives; without one, its current context. *server* replaces that
    of its cluster. Raises :class:`~.addresses.KubeconfigError`."""
    return _access_of([Path(path).expanduser()], context, server)


def access_at(server: str, where: str) -> Access:
    """The access to the address *server*, without a kubeconfig. Raises
    :class:`~.addresses.KubeconfigError`."""
    return _Reading(where, {}).access_to({"server": server}, {}, "user")


def _access_of(files: Sequence[Path], context: str | None, server: str = "") -> Access:
    """The access that *context* gives in *files*, which count as one kubeconfig. A section that is no list
    stays, and is refused where it is read."""
    where = f"{VARIABLE}={os.pathsep.join(map(str, files))}" if len(files) > 1 else str(files[0])
    documents = list(map(_document, files))
    if not any({"clusters", "contexts"} & document.keys() for document in documents):
        raise KubeconfigError(f"{where}: expected a kubeconfig, got no clusters and contexts")
    merged: JsonDict = {}
    for document in documents:
        for field, value in document.items():
            before = merged.get(field)
            more = value if field in _SECTIONS and isinstance(value, list) else []
            merged[field] = [*before, *more] if isinstance(before, list) else before or value
    return _Reading(where, merged).access(context, server)


def in_cluster(environment: Mapping[str, str] = os.environ) -> Access:
    """The access of a pod, by its service account. Raises :class:`~.addresses.KubeconfigError` outside of a
    cluster."""
    host = environment.get("KUBERNETES_SERVICE_HOST")
    port = environment.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise KubeconfigError(
            "kubeconfig: expected --kubeconfig FILE, got none, and this is no pod (KUBERNETES_SERVICE_HOST is not set)"
        )
    return Access(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca=_bytes_of(SERVICE_ACCOUNT / "ca.crt", "service account"),
        credentials=TokenFile(SERVICE_ACCOUNT / "token"),
    )


def _document(file: Path) -> JsonObject:
    """The kubeconfig in *file*, with the paths in its entries made relative to its folder."""
    content = _bytes_of(file)
    if len(content) > LARGEST:
        raise KubeconfigError(f"{file}: expected a kubeconfig of {LARGEST} at most, got {len(content)} bytes")
    try:
        documents = parsed(content, "")
    except ManifestError as error:
        place = _PLACE.search(str(error))  # the rest may be a part of a secret
        raise KubeconfigError(
            f"{file}{place[0] if place else ''}: broken YAML, or beyond the bounds of a manifest"
        ) from None
    if len(documents) > 1 or not all(isinstance(document, dict) for document in documents):
        raise KubeconfigError(f"{file}: expected a kubeconfig, got no clusters and contexts")

    def placed(entry: Any, kind: str) -> Any:
        values = entry.get(kind) if isinstance(entry, dict) else None
        if not isinstance(values, dict):
            return entry
        paths = {
            name: str(file.parent / values[name])
            for name in _FILES
            if isinstance(values.get(name), str) and values[name]
        }
        plugin = values.get("exec")
        entry_values = {**values, **paths}
        if (
            isinstance(plugin, dict)
            and isinstance(command := plugin.get("command"), str)
            and os.sep in command
        ):
            entry_values["exec"] = {**plugin, "command": os.path.abspath(file.parent / command)}
        return {**entry, kind: entry_values}

    return {
        field: [placed(entry, _SECTIONS[field]) for entry in value]
        if field in _SECTIONS and isinstance(value, list)
        else value
        for field, value in (documents[0] if documents else {}).items()
    }


def _bytes_of(file: Path, where: str = "") -> bytes:
    try:
        return file.read_bytes()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "cannot be read").lower()
        raise KubeconfigError(f"{where}{': ' if where else ''}{file}: {reason}") from None


def _server(text: str) -> tuple[str, tuple[str, str] | None, bool] | None:
    """The URL, the user, and whether the connection is private, of ``https://user:password@host:port/path``;
    None for any other text."""
    parts = split_url(text if "://" in text else f"http://{text}")
    if parts is None or parts.scheme not in SCHEMES or parts.query or parts.fragment or "@" in parts.path:
        return None
    host = parts.netloc.rpartition("@")[2]
    user = None if parts.username is None else (unquote(parts.username), unquote(parts.password or ""))
    url = parts._replace(netloc=host).geturl().rstrip("/")
    if fits_a_header(url):
        return url, user, parts.scheme == "https" or is_loopback(parts.hostname or "")
    return None


def _is_word(value: object) -> bool:
    """Whether *value* is a text, or a number as which YAML read one."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _without_secret(url: str) -> str:
    """The beginning of *url*, up to where a secret may be."""
    return one_line(without_user(url).partition("?")[0], 100) or "nothing"


@attrs.frozen
class _Reading:
    where: str
    document: JsonObject

    def access(self, context: str | None, server: str) -> Access:
        """The access of a context, at *server* if that is given."""
        name = context or self._text(self.document, "current-context", "kubeconfig")
        if not name:
            raise self._error("current-context: expected a name, or --context NAME, got none")
        where = f"context {one_line(name)}"
        chosen = self._entry_of("contexts", "context", name, "--context" if context else "current-context")
        cluster = self._entry_of(
            "clusters", "cluster", self._text(chosen, "cluster", where), f"{where}: cluster"
        )
        user_name = self._text(chosen, "user", where)
        user = self._entry_of("users", "user", user_name, f"{where}: user") if user_name else {}
        here = {**cluster, "server": server} if server else cluster
        return self.access_to(here, user, f"user {one_line(user_name)}")

    def access_to(self, cluster: JsonObject, user: JsonObject, who: str) -> Access:
        """The access of a user of a cluster."""
        is_insecure = self._is_on(cluster, "insecure-skip-tls-verify", "cluster")
        ca = self._data(cluster, "certificate-authority", "cluster")
        if is_insecure and ca is not None:
            raise self._error("cluster: expected insecure-skip-tls-verify or certificate-authority, got both")
        certificate = self._data(user, "client-certificate", who)
        key = self._data(user, "client-key", who)
        if (certificate is None) != (key is None):
            raise self._error(f"{who}: expected client-certificate and client-key together, got one of them")
        address = self._text(cluster, "server", "cluster")
        server = _server(address)
        if server is None:
            raise self._error(f"cluster: server: expected https://HOST:PORT, got {_without_secret(address)}")
        url, named, is_safe = server
        credentials = self._credentials(user, named, cluster, who)
        files = [
            self._text(user, field, who)
            for field in ("client-certificate", "client-key")
            if not user.get(f"{field}-data")
        ]
        if certificate is not None and len(files) == 2:
            credentials = CertificateFiles(Path(files[0]), Path(files[1]), credentials)
        name = self._text(cluster, "tls-server-name", "cluster")
        proxy = self._text(cluster, "proxy-url", "cluster")
        parts = split_url(proxy)
        if proxy and (parts is None or parts.scheme not in SCHEMES):
            raise self._error(
                f"cluster: proxy-url: expected http://HOST:PORT or https://HOST:PORT, got {_without_secret(proxy)}"
            )
        impersonation = list(self._impersonation(user, who))
        if impersonation and not user.get("as"):
            raise self._error(f"{who}: as: expected a user for as-groups, as-uid and as-user-extra, got none")
        return Access(
            server=url,
            ca=ca,
            is_insecure=is_insecure,
            server_name=name,
            proxy=proxy,
            certificate=(certificate, key) if certificate is not None and key is not None else None,
            headers=impersonation,
            # As in clientcmd: without TLS, credentials could be read on the way.
            credentials=credentials if is_safe else ANONYMOUS,
        )

    def _impersonation(self, user: JsonObject, who: str) -> Iterator[tuple[str, str]]:
        """The headers with the user, and what else that has, for whom requests count."""
        extra = user.get("as-user-extra") or {}
        if not isinstance(extra, dict):
            raise self._error(f"{who}: as-user-extra: expected a mapping")
        fields = [
            ("as", "User", [user.get("as")]),
            ("as-uid", "Uid", [user.get("as-uid")]),
            ("as-groups", "Group", self._list(user, "as-groups", who)),
        ]
        for name in extra:
            escaped = quote(str(name), safe="!#$&'*+^`|")
            values = self._list({"as-user-extra": extra[name]}, "as-user-extra", who)
            fields.append(("as-user-extra", f"Extra-{escaped}", values))
        for field, header, values in fields:
            for value in values:
                if text := self._for_header(self._text({field: value}, field, who), f"{who}: {field}"):
                    yield f"Impersonate-{header}", text

    # --- who asks -------------------------------------------------------------------------------------------

    def _credentials(
        self, user: JsonObject, named: tuple[str, str] | None, cluster: JsonObject, who: str
    ) -> Credentials:
        """The credentials of the user; *named*: a user and a password in the server's address."""
        if user.get("auth-provider"):
            raise self._error(f"{who}: auth-provider: is not supported, expected exec, a plugin")
        token = self._for_header(self._text(user, "token", who), f"{who}: token")
        if file := self._text(user, "tokenFile", who):
            return TokenFile(Path(file), token)
        if token:
            return FixedHeader(f"Bearer {token}")
        if name := self._text(user, "username", who):
            named = name, self._text(user, "password", who)
        elif user.get("exec") and not (user.get("client-certificate") or user.get("client-certificate-data")):
            return self._plugin(user["exec"], cluster, f"{who}: exec")
        if named:
            return FixedHeader("Basic " + base64.b64encode(":".join(named).encode()).decode("ascii"))
        return ANONYMOUS

    def _plugin(self, entry: Any, cluster: JsonObject, where: str) -> ExecPlugin:
        if not isinstance(entry, dict) or not entry.get("command"):
            raise self._error(f"{where}: command: expected the plugin's program, got none")
        version = self._text(entry, "apiVersion", where)
        if version not in VERSIONS:
            raise self._error(
                f"{where}: apiVersion: expected {' or '.join(VERSIONS)}, got {one_line(version) or 'none'}"
            )
        mode = self._text(entry, "interactiveMode", where) or "IfAvailable"
        if mode not in _MODES:
            raise self._error(
                f"{where}: interactiveMode: expected one of {', '.join(_MODES)}, got {one_line(mode)}"
            )
        command = self._text(entry, "command", where)
        arguments = self._list(entry, "args", where)
        variables = self._list(entry, "env", where)
        if not all(isinstance(variable, dict) and variable.get("name") for variable in variables):
            raise self._error(f"{where}: env: expected a list of entries with name and value")
        return ExecPlugin(
            where=f"{self.where}: {where.removesuffix(': exec')}",
            command=command,
            api_version=version,
            arguments=[self._text({"args": argument}, "args", where) for argument in arguments],
            environment={
                self._text(variable, "name", where): self._text(variable, "value", where)
                for variable in variables
            },
            cluster=self._cluster_info(cluster) if self._is_on(entry, "provideClusterInfo", where) else None,
            is_interactive=mode != "Never",
            hint=self._text(entry, "installHint", where),
        )

    def _cluster_info(self, cluster: JsonObject) -> JsonDict:
        """The cluster in the form that plugins get."""
        ca = self._data(cluster, "certificate-authority", "cluster")
        info = {
            name: cluster[name]
            for name in (
                "server",
                "tls-server-name",
                "insecure-skip-tls-verify",
                "proxy-url",
                "disable-compression",
            )
            if cluster.get(name)
        }
        if ca is not None:
            info["certificate-authority-data"] = base64.b64encode(ca).decode("ascii")
        named = [item for item in self._list(cluster, "extensions", "cluster") if isinstance(item, dict)]
        configs = [
            item.get("extension") for item in named if item.get("name") == "client.authentication.k8s.io/exec"
        ]
        return {**info, "config": configs[-1] if configs else None}

    # --- fields ---------------------------------------------------------------------------------------------

    def _entry_of(self, section: str, kind: str, name: str, where: str) -> JsonObject:
        """The entry called *name* of a section."""
        entries = self.document.get(section) or []
        if not isinstance(entries, list) or not all(
            isinstance(entry, dict) and _is_word(entry.get("name")) for entry in entries
        ):
            raise self._error(f"{section}: expected a list of entries with name and {kind}")
        entries_by_name = {str(entry["name"]): entry.get(kind) or {} for entry in reversed(entries)}
        if name not in entries_by_name:
            names = one_line(", ".join(reversed(entries_by_name))) or "none"
            raise self._error(
                f"{where}: expected one of {section} ({names}), got {one_line(name) or 'none'}{did_you_mean(name, entries_by_name)}"
            )
        entry = entries_by_name[name]
        if not isinstance(entry, dict):
            raise self._error(f"{section}: {one_line(name)}: expected a mapping")
        return entry

    def _text(self, entry: JsonObject, field: str, where: str) -> str:
        """The text of *field*, empty if it is not there; what YAML reads as a number counts, too."""
        value = entry.get(field)
        if value is None:
            return ""
        if not _is_word(value):
            raise self._error(f"{where}: {field}: expected a text")
        return str(value)

    def _is_on(self, entry: JsonObject, field: str, where: str) -> bool:
        """Whether the switch *field* is on."""
        value = entry.get(field)
        if not isinstance(value, bool | None):
            raise self._error(f"{where}: {field}: expected true or false")
        return bool(value)

    def _list(self, entry: JsonObject, field: str, where: str) -> list[Any]:
        values = entry.get(field) or []
        if not isinstance(values, list):
            raise self._error(f"{where}: {field}: expected a list")
        return values

    def _for_header(self, text: str, where: str) -> str:
        """*text*, if it can be the value of a header."""
        if not fits_a_header(text):
            raise self._error(f"{where}: {NO_HEADER}")
        return text

    def _data(self, entry: JsonObject, field: str, where: str) -> bytes | None:
        """The content of *field*: in the entry itself (``FIELD-data``), or in the file that it names."""
        if encoded := self._text(entry, f"{field}-data", where):
            try:
                return base64.b64decode(re.sub("[\r\n]", "", encoded), validate=True)
            except (binascii.Error, ValueError):
                raise self._error(f"{where}: {field}-data: expected base64") from None
        file = self._text(entry, field, where)
        return _bytes_of(Path(file), f"{self.where}: {where}: {field}") if file else None

    def _error(self, text: str) -> KubeconfigError:
        return KubeconfigError(f"{self.where}: {text}")
