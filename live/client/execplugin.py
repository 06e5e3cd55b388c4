"""Programs that fetch credentials, as a kubeconfig names them (``exec``).

Upstream: k8s.io/client-go/plugin/pkg/client/auth/exec/exec.go; the format is client.authentication.k8s.io.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs

from .credentials import CredentialsError, Grant

VERSIONS = tuple(f"client.authentication.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))


@attrs.define
class ExecPlugin:
    """A program that prints an ExecCredential. It runs again when that has expired, and after a refusal."""

    where: str
    command: str
    api_version: str = VERSIONS[0]
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = attrs.field(factory=dict)
    cluster: Mapping[str, Any] | None = None
    """What the plugin gets to know of the cluster; None: nothing (``provideClusterInfo`` is false)."""
    is_interactive: bool = False
    """It may ask at the terminal."""
    hint: str = ""
    """How to install it."""
    _grant: Grant | None = attrs.field(default=None, init=False, repr=False)
    _expires: float | None = attrs.field(default=None, init=False)
    _running: asyncio.Lock = attrs.field(factory=asyncio.Lock, init=False, repr=False)

    async def grant(self, now: float) -> Grant:
        """The grant that the program gave last, or a new one."""
        async with self._running:
            if self._grant is None or (self._expires is not None and now >= self._expires):
                self._grant, self._expires = self._read(await self._output())
            return self._grant

    def refused(self) -> bool:
        """The program may give another grant."""
        self._grant = None
        return True

    async def _output(self) -> bytes:
        environment = {**os.environ, **self.environment, "KUBERNETES_EXEC_INFO": json.dumps(self._question())}
        stdin = None if self.is_interactive and sys.stdin is not None and sys.stdin.isatty() else asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                self.command, *self.arguments, env=environment, stdin=stdin, stdout=asyncio.subprocess.PIPE
            )
        except OSError as error:
            hint = f"; {' '.join(self.hint.split())}" if self.hint else ""
            raise self._error(f"cannot be started: {(error.strerror or str(error)).lower()}{hint}") from None
        output, _ = await process.communicate()
        if process.returncode:
            raise self._error(f"ended with status {process.returncode}")
        return output

    def _question(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"interactive": self.is_interactive}
        if self.cluster is not None:
            spec["cluster"] = self.cluster
        return {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}

    def _read(self, output: bytes) -> tuple[Grant, float | None]:
        try:
            document = json.loads(output)
        except ValueError:
            raise self._error("got no JSON, wanted an ExecCredential") from None
        status = document.get("status") if isinstance(document, dict) else None
        if not isinstance(status, dict) or document.get("kind") != "ExecCredential":
            raise self._error("got JSON without a status, wanted an ExecCredential")
        if document.get("apiVersion") != self.api_version:
            raise self._error(f"apiVersion: got {document.get('apiVersion')}, wanted {self.api_version}")
        return self._grant_of(status), self._expiry_of(status)

    def _grant_of(self, status: Mapping[str, Any]) -> Grant:
        certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
        if bool(certificate) != bool(key):
            raise self._error("got clientCertificateData without clientKeyData or the reverse, wanted both")
        if not status.get("token") and not certificate:
            raise self._error("got neither token nor clientCertificateData, wanted one")
        headers = {"Authorization": f"Bearer {status['token']}"} if status.get("token") else {}
        return Grant(headers, (str(certificate).encode(), str(key).encode()) if certificate else None)

    def _expiry_of(self, status: Mapping[str, Any]) -> float | None:
        text = status.get("expirationTimestamp")
        if text is None:
            return None
        try:
            found = datetime.fromisoformat(str(text))
        except ValueError:
            raise self._error(f"expirationTimestamp: got {text}, wanted a time as in RFC 3339") from None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()

    def _error(self, text: str) -> CredentialsError:
        return CredentialsError(f"{self.where}: plugin {self.command}: {text}")
